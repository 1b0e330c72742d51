//! The traps of each kind of log, one per row: the text of the log, and the events or messages that
//! follow.
//!
//! ```text
//!  a log with the trap in it ──► ingest ──► events, cells, rejects, counted remarks, or a refusal
//! ```
//!
//! Events are those of `task_events` in the order of the file, as `type@second`.

use std::fmt::Write;
use std::fs;

use arrow::array::Array;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use jobfate::schema::{ROW_ID, Table};

use super::support::Place;

/// A trap: its name, the files, the arguments of `ingest`, the events, and the messages or rows.
struct Trap {
    what: &'static str,
    files: &'static [(&'static str, &'static str)],
    args: &'static [&'static str],
    /// `None` if the ingest is refused.
    events: Option<&'static str>,
    says: &'static [&'static str],
}

/// Events and rows of a lake as text.
fn rows(place: &Place) -> (String, String) {
    let lake = place.lake();
    let (mut events, mut cells) = (Vec::new(), String::new());
    for table in Table::ALL.into_iter().filter(|&table| lake.has(table)) {
        let names: Vec<&'static str> = std::iter::once(ROW_ID)
            .chain(table.columns(lake.source()).iter().map(|column| column.name))
            .collect();
        lake.scan(table, None, &names, |batch| {
            for row in 0..batch.num_rows() {
                let cell = |name: &str| {
                    let idx = names.iter().position(|known| *known == name)?;
                    let column = batch.column(idx);
                    let options = FormatOptions::default();
                    let format = ArrayFormatter::try_new(column, &options).unwrap();
                    column.is_valid(row).then(|| format.value(row).to_string())
                };
                if table == Table::TaskEvents {
                    let time_us: i64 = cell("time_us").unwrap().parse().unwrap();
                    let id: i64 = cell(ROW_ID).unwrap().parse().unwrap();
                    // In the order of the lines: without the turns of events at one instant.
                    let id = id & !(3 << 38);
                    let kind = cell("event_type").unwrap();
                    events.push((id, format!("{kind}@{}", time_us / 1_000_000)));
                }
                write!(cells, "{table}").unwrap();
                for name in &names[1..] {
                    if let Some(cell) = cell(name) {
                        write!(cells, " {name}={cell}").unwrap();
                    }
                }
                cells.push('\n');
            }
        })
        .unwrap();
    }
    events.sort();
    let events: Vec<String> = events.into_iter().map(|(_, event)| event).collect();
    (events.join(" "), cells)
}

fn check(trap: &Trap) -> Result<(), String> {
    let place = Place::new();
    for (name, text) in trap.files {
        match name.strip_prefix('/') {
            Some(name) => {
                fs::write(place.path(name), text).unwrap();
            }
            None => {
                place.raw(name, text);
            }
        }
    }
    let run = place.ingest(&[&["--max-rejects", "100%"], trap.args].concat());
    let mut text = run.stderr.clone();
    match (trap.events, run.code) {
        (None, Some(2 | 3)) => {}
        (Some(expected), Some(0)) => {
            let (events, cells) = rows(&place);
            if events != expected {
                return Err(format!("{}: {events}, not {expected}\n{text}{cells}", trap.what));
            }
            for table in ["task_events", "machine_events"] {
                text += &place.rejects(table, 0);
            }
            text += &cells;
        }
        (_, code) => return Err(format!("{}: {code:?}\n{text}", trap.what)),
    }
    match trap.says.iter().find(|said| !text.contains(**said)) {
        Some(said) => Err(format!("{}: nothing says `{said}`:\n{text}", trap.what)),
        None => Ok(()),
    }
}

#[track_caller]
fn check_all(traps: &[Trap]) {
    let wrong: Vec<String> = traps.iter().filter_map(|trap| check(trap).err()).collect();
    assert!(wrong.is_empty(), "{} traps:\n\n{}", wrong.len(), wrong.join("\n\n"));
}

const fn trap(
    what: &'static str,
    files: &'static [(&'static str, &'static str)],
    events: &'static str,
    says: &'static [&'static str],
) -> Trap {
    Trap { what, files, args: &[], events: Some(events), says }
}

/// The same if nothing is read.
const fn refused(
    what: &'static str,
    files: &'static [(&'static str, &'static str)],
    says: &'static [&'static str],
) -> Trap {
    Trap { what, files, args: &[], events: None, says }
}

/// A log of Slurm with a header line.
macro_rules! slurm {
    ($what:literal, $header:literal, $lines:expr, $events:expr, $says:expr) => {
        trap($what, &[("log.txt", concat!($header, "\n", $lines, "\n"))], $events, $says)
    };
}

const SLURM: &[Trap] = &[
    slurm!(
        "times without a zone are UTC, and that is said",
        "JobID|State|Submit|Start|End|NCPUS",
        "7|COMPLETED|1970-01-02T00:00:00|1970-01-02T00:00:10|1970-01-02T00:00:20|1",
        "0@86400 1@86410 4@86420",
        &["times without a zone: taken as UTC (`--timezone` says otherwise): 1"]
    ),
    Trap {
        args: &["--timezone", "+02:00"],
        ..slurm!(
            "times of a zone that is given",
            "JobID|State|Submit|Start|End|NCPUS",
            "7|COMPLETED|1970-01-02T02:00:00|1970-01-02T02:00:10|1970-01-02T02:00:20|1",
            "0@86400 1@86410 4@86420",
            &[]
        )
    },
    slurm!(
        "lines of one job id are attempts of one task, in order of start",
        "JobID|State|Submit|Start|End|NCPUS",
        "7|PREEMPTED|100|110|120|1\n7|NODE_FAIL|100|130|140|1\n7|COMPLETED|100|150|160|1",
        "0@100 1@110 2@120 1@130 6@140 1@150 4@160",
        &["job_id=7 task_index=0"]
    ),
    slurm!(
        "without `--duplicates` earlier and later attempts are missing",
        "JobID|State|Submit|Start|End|NCPUS",
        "7|PREEMPTED|100|110|120|1\n8|REQUEUED|100|110|120|1\n9|COMPLETED|100|110|120|1",
        "0@100 1@110 2@120 0@100 1@110 2@120 0@100 1@110 4@120",
        &[
            "preempted or requeued, and no later record of the job in its file (see `--duplicates`): 2"
        ]
    ),
    slurm!(
        "every state ends an attempt as the table says, and is kept",
        "JobID|State|Submit|Start|End|NCPUS",
        "1|FAILED|100|110|120|1\n2|OUT_OF_MEMORY|100|110|120|1\n3|TIMEOUT|100|110|120|1\n4|DEADLINE|100|110|120|1\n5|BOOT_FAIL|100|110|120|1\n6|CANCELLED by 1000|100|110|120|1",
        "0@100 1@110 3@120 0@100 1@110 3@120 0@100 1@110 3@120 0@100 1@110 3@120 0@100 1@110 6@120 0@100 1@110 5@120",
        &[
            "end_reason=OUT_OF_MEMORY",
            "end_reason=TIMEOUT",
            "end_reason=DEADLINE",
            "end_reason=BOOT_FAIL"
        ]
    ),
    slurm!(
        "cancelled while pending: no start",
        "JobID|State|Submit|Start|End|NCPUS|NodeList",
        "7|CANCELLED by 1000|100|Unknown|120|0|None assigned",
        "0@100 5@120",
        &[]
    ),
    slurm!(
        "what runs or waits is open",
        "JobID|State|Submit|Start|End|NCPUS",
        "1|RUNNING|100|110|Unknown|1\n2|PENDING|100|Unknown|Unknown|1\n3|SUSPENDED|100|110|Unknown|1\n4|RESIZING|100|110|Unknown|1",
        "0@100 1@110 0@100 0@100 1@110 0@100 1@110",
        &[]
    ),
    slurm!(
        "memory with suffixes, per node and per CPU",
        "JobID|State|Start|End|NCPUS|NNodes|ReqMem",
        "1|FAILED|110|120|4|2|1000Mn\n2|FAILED|110|120|4|2|1000Mc\n3|FAILED|110|120|4|2|1.5G\n4|FAILED|110|120|4|2|1T\n5|FAILED|110|120|4|2|64K",
        "0@110 1@110 3@120 0@110 1@110 3@120 0@110 1@110 3@120 0@110 1@110 3@120 0@110 1@110 3@120",
        &[
            "memory_request=2048000",
            "memory_request=4096000",
            "memory_request=1572864",
            "memory_request=10737418",
            "memory_request=64"
        ]
    ),
    slurm!(
        "a request for everything is the mark of `per CPU`",
        "JobID|State|Start|End|NCPUS|NNodes|ReqMem",
        "1|FAILED|110|120|4|1|2147486648Mn",
        "0@110 1@110 3@120",
        &["memory_request=12288000", "memory requested per CPU: multiplied by the CPUs: 1"]
    ),
    slurm!(
        "what was allocated differs from what was requested",
        "JobID|State|Start|End|ReqTRES|AllocTRES",
        "1|FAILED|110|120|cpu=2,mem=1G|cpu=8,mem=4G",
        "0@110 1@110 3@120",
        &["cpu_request=8", "requested_processors=2", "memory_request=1048576"]
    ),
    slurm!(
        "elements of arrays, several of them in a record, and heterogeneous jobs",
        "JobID|JobIDRaw|State|Submit|Start|End|NCPUS",
        "123_4|125|FAILED|100|110|120|1\n123_[5-9%2]|123|PENDING|100|Unknown|Unknown|1\n130+0|130|FAILED|100|110|120|1\n130+1|131|FAILED|100|110|120|1",
        "0@100 1@110 3@120 0@100 0@100 1@110 3@120 0@100 1@110 3@120",
        &[
            "array_job_id=123 array_index=4",
            "het_job_id=130",
            "records of several array elements: each counts as one job: 1"
        ]
    ),
    slurm!(
        "machines between brackets",
        "JobID|State|Start|End|NCPUS|NodeList",
        "1|FAILED|110|120|4|cpn-f13-[01-03,07]",
        "0@110 1@110 3@120",
        &[
            "machine_name=cpn-f13-01",
            "machine_name=cpn-f13-03",
            "machine_name=cpn-f13-07",
            "ran on several machines: all in `node_list`, none in `machine_id`: 1"
        ]
    ),
    slurm!(
        "a name with the separator, as the last column",
        "JobID|State|Start|End|NCPUS|JobName",
        "1|FAILED|110|120|4|a|b|c",
        "0@110 1@110 3@120",
        &["=a|b|c"]
    ),
    slurm!(
        "a name with the separator, elsewhere",
        "JobID|JobName|State|Start|End|NCPUS",
        "1|a|b|FAILED|110|120|4\n2|a|FAILED|110|120|4",
        "0@110 1@110 3@120",
        &["too_many_columns"]
    ),
    slurm!(
        "GPUs, with and without a model",
        "JobID|State|Start|End|NCPUS|AllocTRES",
        "1|FAILED|110|120|4|cpu=4,gres/gpu=2\n2|FAILED|110|120|4|cpu=4,gres/gpu:a100=3\n3|FAILED|110|120|4|gres/gpu:a100=4,gres/gpu=4",
        "0@110 1@110 3@120 0@110 1@110 3@120 0@110 1@110 3@120",
        &["gpu_request=2", "gpu_request=3.0 gpu_model=a100", "gpu_request=4.0 gpu_model=a100"]
    ),
    slurm!(
        "time limits, and words for none",
        "JobID|State|Start|End|NCPUS|Timelimit",
        "1|FAILED|110|120|1|1-02:03:04\n2|FAILED|110|120|1|UNLIMITED\n3|FAILED|110|120|1|Partition_Limit\n4|FAILED|110|120|1|soon",
        "0@110 1@110 3@120 0@110 1@110 3@120 0@110 1@110 3@120",
        &["requested_time_us=93784000000", "Timelimit", "bad_value"]
    ),
    slurm!(
        "steps",
        "JobID|State|Start|End|NCPUS",
        "1|FAILED|110|120|4\n1.batch|FAILED|110|120|4\n1.0|FAILED|110|120|4",
        "0@110 1@110 3@120",
        &["steps of jobs: left out: 2"]
    ),
    slurm!(
        "an end that follows from the run time",
        "State|Start|Elapsed",
        "FAILED|110|00:00:10",
        "0@110 1@110 3@120",
        &[
            "no job id: the number of the line: 1",
            "no end time: start and run time: 1",
            "no submit time: submitted at the start: 1",
            "processors unknown: no CPU time is charged: 1"
        ]
    ),
    refused(
        "no state",
        &[("log.txt", "JobID|Submit|Start|End\n7|1|2|3\n")],
        &["its header has no column `State`"],
    ),
    Trap {
        args: &["--source", "slurm"],
        ..refused(
            "no end, and nothing that it follows from",
            &[("log.txt", "JobID|State|Submit|Start\n7|FAILED|1|2\n")],
            &[
                "its header has no column `End (or Elapsed)`",
                "export again, with this command: TZ=UTC sacct",
            ],
        )
    },
];

#[test]
fn slurm() {
    check_all(SLURM);
}

const ALIBABA: &[Trap] = &[
    trap(
        "2017: 0 and less is before the trace; plan_cpu 50 is half a core",
        &[("batch_task.csv", "-60,90,3,1,4,Terminated,50,0.1\n0,90,3,2,1,Failed,50,0.1\n")],
        "0@0 1@0 4@90 0@0 1@0 3@90",
        &[
            "times before the trace: set to its start: 1",
            "cpu_request=2.0 ",
            "no start time: started when it was created: 2",
        ],
    ),
    trap(
        "2017: what is ready or waits is submitted only; cancelled is killed",
        &[(
            "batch_task.csv",
            "10,90,3,1,1,Ready,50,0.1\n10,90,3,2,1,Waiting,50,0.1\n10,90,3,3,1,Running,50,0.1\n10,90,3,4,1,Cancelled,50,0.1\n",
        )],
        "0@10 0@10 0@10 1@10 0@10 1@10 5@90",
        &["state=Ready", "state=Cancelled"],
    ),
    trap(
        "2017: tries of instances, of which one lost against its backup; ids that are missing",
        &[
            ("batch_task.csv", "5,90,3,1,1,Terminated,50,0.1\n"),
            (
                "batch_instance.csv",
                "10,20,3,1,17,Failed,1,2,1.5,0.5,0.2,0.1\n30,90,3,1,18,Terminated,2,2,,,,\n40,80,3,1,18,Interrupted,1,1,,,,\n40,0,3,1,18,Failed,1,1,,,,\n1,2,,,18,Failed,1,1,,,,\n",
            ),
            ("server_event.csv", "0,17,add,,64,0.7,0.5\n50,17,softerror,disk_full,,,\n"),
        ],
        "0@10 1@10 3@20 1@30 4@90 0@40 1@40 5@80 0@40 1@40",
        &[
            "task_index=1",
            "attempt=2",
            "mean_cpu=0.5 max_cpu=1.5",
            "instances without a job or a task, a known gap of the trace: left out: 1",
            "ended, but no end time: left open: 1",
            "tries of unnamed instances: matched in the order of the rows: 1",
            "errors of machines without a duration: the machine stays: 1",
        ],
    ),
    trap(
        "2018: no submit time; an end of 0 is open; the graph is in the name",
        &[(
            "batch_task.csv",
            "M2_1,8,j_3,1,Terminated,10,90,100,0.5\nM1,1,j_3,1,Terminated,10,0,100,0.5\n",
        )],
        "0@10 1@10 4@90 0@10 1@10",
        &[
            "no submit time: submitted at the start: 2",
            "ended, but no end time: left open: 1",
            "depends_on=1",
            "cpu_request=8.0 ",
        ],
    ),
    trap(
        "2018: only the latest state of a task is there: what waits was submitted, what runs is open",
        &[(
            "batch_task.csv",
            "M1,2,j_3,1,Running,10,0,100,0.5\nM2,1,j_3,1,Waiting,0,0,100,0.5\nM3,1,j_3,1,Failed,10,90,100,0.5\nM4,1,j_3,1,Cancelled,10,90,100,0.5\n",
        )],
        "0@10 1@10 0@0 0@10 1@10 3@90 0@10 1@10 5@90",
        &[
            "only the latest state of a task is recorded: earlier tries are missing: 4",
            "not started and without a time: submitted at the start of the trace: 1",
        ],
    ),
    trap(
        "2018: -1 and 101 are no percentages",
        &[("batch_task.csv", "M1,1,j_3,1,Failed,10,90,-1,101\n")],
        "0@10 1@10 3@90",
        &["amounts of -1 or 101: unknown: 2", "CPU request unknown: no CPU time is charged: 1"],
    ),
    trap(
        "2018: a backup that lost is left out, and does not decide over its task or job",
        &[
            ("batch_task.csv", "M1,1,j_3,1,Terminated,10,90,100,0.5\n"),
            (
                "batch_instance.csv",
                "ins_1,M1,j_3,1,Terminated,10,90,m_1,1,2,1,2,3,4\nins_1,M1,j_3,1,Interrupted,20,90,m_2,2,2,1,2,3,4\n",
            ),
        ],
        "0@10 1@10 4@90",
        &[
            "backups that lost (Interrupted): left out: 1",
            "job_events time_us=90000000 job_id=3 event_type=4",
        ],
    ),
    trap(
        "a line that is cut, and a state that does not exist",
        &[("batch_task.csv", "10,90,3,1,1,Failed,50,0.1\n10,90,3,1\n10,90,3,3,1,Gone,50,0.1\n")],
        "0@10 1@10 3@90",
        &["too_few_columns", "unknown_event_type"],
    ),
];

#[test]
fn alibaba() {
    check_all(ALIBABA);
}

const PODS: &str = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n";

#[test]
fn openb() {
    assert!(PODS.starts_with("name,cpu_milli"));
    macro_rules! pods {
        ($what:literal, $lines:literal, $events:literal, $says:expr) => {
            trap(
                $what,
                &[(
                    "openb_pod_list.csv",
                    concat!(
                        "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n",
                        $lines
                    ),
                )],
                $events,
                $says,
            )
        };
    }
    check_all(&[
        pods!(
            "running with a deletion is killed",
            "openb-pod-1,4000,1024,1,460,V100|A10,LS,Running,5,90,7\n",
            "0@5 1@7 5@90",
            &["pods deleted while they ran: killed: 1", "gpu_request=0.46", "gpu_model=V100|A10"]
        ),
        pods!(
            "pending with a deletion never ran",
            "openb-pod-1,4000,1024,2,1000,,LS,Pending,5,90,\n",
            "0@5 5@90",
            &["pods deleted before they were scheduled: killed: 1", "gpu_request=2"]
        ),
        pods!(
            "creation at 0, and no deletion",
            "openb-pod-1,4000,1024,0,0,,LS,Running,0,,7\n",
            "0@0 1@7",
            &["pods without a deletion: open: 1"]
        ),
        pods!(
            "a phase that does not exist, and an amount that is none",
            "openb-pod-1,4000,1024,0,0,,LS,Gone,0,,7\nopenb-pod-2,much,1024,0,0,,LS,Failed,0,9,7\nopenb-pod-3,1,1,0,0,,LS,Failed,0,9,7\n",
            "0@0 1@7 3@9",
            &["pod_phase", "unknown_event_type", "cpu_milli", "bad_value"]
        ),
        refused(
            "nodes alone",
            &[("nodes.csv", "sn,cpu_milli,memory_mib,gpu,model\nn-1,1,1,0,\n")],
            &["error"],
        ),
    ]);
}

#[test]
fn swf() {
    check_all(&[
        trap(
            "more than 18 fields",
            &[("log.swf", "1 5 2 3 1 -1 -1 1 -1 -1 1 3 1 -1 0 -1 -1 -1 9 9\n")],
            "0@5 1@7 4@10",
            &["lines with more than 18 fields: the first 18 are read: 1"],
        ),
        trap(
            "-1 everywhere",
            &[(
                "log.swf",
                "; MaxProcs: 8\n1 5 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n2 5 -1 3 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n",
            )],
            "0@5 0@5 1@5 4@8",
            &[
                "neither run time nor status: submitted only: 1",
                "status unknown, has run: taken as finished: 1",
                "wait unknown: started at the submit: 1",
            ],
        ),
        trap(
            "headers with and without a blank, in other letters, of several lines, with a mark of their encoding",
            &[(
                "log.swf",
                "\u{FEFF};MaxNodes: 64\r\n; MaxProcs: 128 (one cabinet)\r\n; Note: a\r\n;   and b\r\n;\r\n;UnixStartTime: 5\r\n1 5 2 3 1 -1 -1 1 -1 -1 0 3 1 -1 0 -1 -1 -1\r\n",
            )],
            "0@5 1@7 3@10",
            &["cpu_capacity=128"],
        ),
        trap(
            "a cancelled job without a start, and a part of a run",
            &[(
                "log.swf",
                "1 5 2 -1 -1 -1 -1 1 -1 -1 5 3 1 -1 0 -1 -1 -1\n2 5 2 10 1 -1 -1 1 -1 -1 2 3 1 -1 0 -1 -1 -1\n2 -1 3 10 1 -1 -1 1 -1 -1 3 3 1 -1 0 -1 -1 -1\n",
            )],
            "0@5 5@7 0@5 1@7 2@17 1@20 4@30",
            &["cancelled before a start: SUBMIT and KILL: 1"],
        ),
        trap(
            "a line that is cut, a number twice, words",
            &[(
                "log.swf",
                "0 5 -1 -1 1 -1 -1 1 -1 -1 -1 3 1 -1 0 -1 -1 -1\n1 5 2 3 1 -1 -1 1 -1 -1 1 3 1 -1 0 -1 -1 -1\n1 5 2 3 1 -1 -1 1 -1 -1 1 3 1 -1 0 -1 -1 -1\n2 5 2\n3 5 2 x 1 -1 -1 1 -1 -1 1 3 1 -1 0 -1 -1 -1\n",
            )],
            "0@5 0@5 1@7 4@10",
            &["duplicate_job", "too_few_columns", "run_us", "bad_value"],
        ),
    ]);
}

const MAP: &str = "[columns]\njob='j'\nsubmit={column='a',unit='min'}\nstart={column='b',unit='min'}\nend={column='c',unit='min'}\nstate='s'\ncpus='n'\n[states]\nok='finished'\nbad='failed'\n";

#[test]
fn mapped() {
    assert!(MAP.starts_with("[columns]"));
    macro_rules! table {
        ($what:literal, $map:expr, $table:literal, $events:expr, $says:expr) => {
            Trap {
                what: $what,
                files: &[("table.csv", $table), ("/map.toml", $map)],
                args: &["--map", "map.toml"],
                events: $events,
                says: $says,
            }
        };
    }
    check_all(&[
        table!(
            "minutes as the unit, and a state that the map does not know",
            MAP,
            "j,a,b,c,s,n\n7,1,2,3,ok,4\n8,1,2,3,gone,4\n",
            Some("0@60 1@120 4@180"),
            &["unknown_event_type", "cpu_request=4"]
        ),
        table!(
            "a column that the table does not have",
            "[columns]\njob='j'\nstart={column='b',unit='min'}\nend={column='zz',unit='min'}\n",
            "j,a,b,c,s,n\n7,1,2,3,ok,4\n",
            None,
            &["zz", "line 4"]
        ),
        table!(
            "a unit that does not exist",
            "[columns]\njob='j'\nstart={column='b',unit='fortnights'}\nend={column='c',unit='min'}\n",
            "j,a,b,c,s,n\n7,1,2,3,ok,4\n",
            None,
            &["fortnights", "line 3"]
        ),
        table!(
            "an outcome that does not exist",
            "[columns]\njob='j'\nstart={column='b',unit='s'}\nend={column='c',unit='s'}\nstate='s'\n[states]\nok='great'\n",
            "j,a,b,c,s,n\n7,1,2,3,ok,4\n",
            None,
            &["great", "line 7"]
        ),
        table!(
            "local times without a zone",
            "[columns]\njob='j'\nstart={column='b',format='%d.%m.%Y %H:%M:%S'}\nrun={column='c',unit='s'}\n",
            "j,b,c\n7,02.01.1970 00:00:00,10\n",
            Some("0@86400 1@86400 4@86410"),
            &["times without a zone"]
        ),
        table!(
            "PAI: the header is a file of its own; only Terminated is success; start is the submission",
            include_str!("../../src/sources/propose/ready/pai.toml"),
            "a,i,u,Terminated,10.0,90.0\nb,i,u,Failed,10.0,90.0\nc,i,u,Running,10.0,\nd,i,u,Waiting,10.0,\n",
            Some("0@10 1@10 4@90 0@10 1@10 3@90 0@10 1@10 0@10"),
            &["CPUs unknown: no CPU time is charged", "no submit time: submitted at the start: 3"]
        ),
        table!(
            "Philly: one JSON array; `None` for a time; earlier attempts are assumed to have failed; local time of the site",
            include_str!("../../src/sources/propose/ready/philly.toml"),
            "[{\"jobid\":\"a\",\"user\":\"u\",\"vc\":\"v\",\"status\":\"Failed\",\"submitted_time\":\"2017-10-09 00:00:00\",\"attempts\":[{\"start_time\":\"2017-10-09 00:01:00\",\"end_time\":\"2017-10-09 00:02:00\",\"detail\":[]},{\"start_time\":\"2017-10-09 00:03:00\",\"end_time\":\"2017-10-09 00:04:00\",\"detail\":[]}]},\n{\"jobid\":\"b\",\"user\":\"u\",\"vc\":\"v\",\"status\":\"Pass\",\"submitted_time\":\"2017-10-09 00:00:00\",\"attempts\":[{\"start_time\":\"2017-10-09 00:01:00\",\"end_time\":\"None\",\"detail\":[]}]},\n{\"jobid\":\"c\",\"user\":\"u\",\"vc\":\"v\",\"status\":\"Killed\",\"submitted_time\":\"2017-10-09 00:00:00\",\"attempts\":[]}]\n",
            Some(
                "0@1507532400 1@1507532460 3@1507532520 0@1507532580 1@1507532580 3@1507532640 0@1507532400 1@1507532460 0@1507532400"
            ),
            &["ended, but no end time: left open"]
        ),
    ]);
}

/// Every state of Slurm, for maps of logs with these states, and the event with which it ends an
/// attempt.
const SLURM_STATES: [(&str, &str); 14] = [
    ("COMPLETED", " 4@30"),
    ("FAILED", " 3@30"),
    ("TIMEOUT", " 3@30"),
    ("OUT_OF_MEMORY", " 3@30"),
    ("DEADLINE", " 3@30"),
    ("CANCELLED", " 5@30"),
    ("CANCELLED by 1000", " 5@30"),
    ("PREEMPTED", " 2@30"),
    ("REQUEUED", " 2@30"),
    ("NODE_FAIL", " 6@30"),
    ("BOOT_FAIL", " 6@30"),
    ("RUNNING", ""),
    ("SUSPENDED", ""),
    ("RESIZING", ""),
];

#[test]
fn ready_maps_know_every_state_of_slurm() {
    for (name, header, line) in [
        (
            "helios",
            "job_id,user,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,vc",
            "u1,2,8,1,STATE,1970-01-01 00:00:10,1970-01-01 00:00:20,1970-01-01 00:00:30,vc1",
        ),
        (
            "acme",
            "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time",
            "u1,1,2,8,Pretrain,STATE,1970-01-01 00:00:10,1970-01-01 00:00:20,1970-01-01 00:00:30",
        ),
        (
            "pm100",
            "job_id,user_id,num_gpus_alloc,num_cores_alloc,num_nodes_alloc,time_limit,job_state,submit_time,start_time,end_time",
            "u1,2,8,1,60,STATE,1970-01-01 00:00:10,1970-01-01 00:00:20,1970-01-01 00:00:30",
        ),
    ] {
        let place = Place::new();
        let (mut table, mut expected) = (format!("{header}\n"), Vec::new());
        for (job, (state, end)) in SLURM_STATES.into_iter().enumerate() {
            writeln!(table, "{job},{}", line.replace("STATE", state)).unwrap();
            expected.push(format!("0@10 1@20{end}"));
        }
        place.raw("log.csv", &table);
        let run = place.ingest(&["--map", name]).ok();
        let (events, cells) = rows(&place);
        assert_eq!(events, expected.join(" "), "{name}: {}", run.stderr);
        assert!(cells.contains("gpu_request=2"), "{name}: {cells}");
        assert!(cells.contains("end_reason=OUT_OF_MEMORY"), "{name}: {cells}");
    }
}

#[test]
fn ready_maps() {
    macro_rules! ready {
        ($what:literal, $map:literal, $table:literal, $events:expr, $says:expr) => {
            Trap {
                what: $what,
                files: &[("log.csv", $table)],
                args: &["--map", $map],
                events: $events,
                says: $says,
            }
        };
    }
    check_all(&[
        ready!(
            "Helios: local times without a zone; a job that never started",
            "helios",
            "job_id,user,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time\na,u,8,64,1,COMPLETED,1970-01-02 00:00:00,1970-01-02 00:00:10,1970-01-02 00:00:20\nb,u,8,64,1,CANCELLED,1970-01-02 00:00:00,None,1970-01-02 00:00:20\n",
            Some("0@86400 1@86410 4@86420 0@86400 5@86420"),
            &["times without a zone", "gpu_request=8"]
        ),
        ready!(
            "Helios: a job that ended and never started runs no time; a state that does not exist",
            "helios",
            "job_id,user,gpu_num,state,submit_time,start_time,end_time\na,u,8,CANCELLED,1970-01-01 00:00:10,,1970-01-01 00:00:30\nb,u,8,EXPLODED,1970-01-01 00:00:10,1970-01-01 00:00:20,1970-01-01 00:00:30\nc,u,many,FAILED,1970-01-01 00:00:10,1970-01-01 00:00:20,1970-01-01 00:00:30\n",
            Some("0@10 5@30"),
            &["unknown_event_type", "3,state", "4,gpus,bad_value"]
        ),
        ready!(
            "Acme: no queue and no user in the second cluster; processors unknown",
            "acme",
            "job_id,node_num,gpu_num,type,state,submit_time,start_time,end_time\na,1,2,Pretrain,FAILED,1970-01-01 00:00:10,1970-01-01 00:00:20,1970-01-01 00:00:30\n",
            Some("0@10 1@20 3@30"),
            &["CPUs unknown: no CPU time is charged", "logical_job_name=Pretrain"]
        ),
        ready!(
            "F-DATA: nodes are no processors; the limit in seconds; times with a zone",
            "f-data",
            "jid,usr,jnam,cnumr,nnumr,adt,sdt,edt,elpl,exit state\na,u,n,48,1,1970-01-01T00:00:10+00:00,1970-01-01T00:00:20+00:00,1970-01-01T09:00:30+09:00,86400,completed\nb,u,n,96,2,1970-01-01T00:00:10+00:00,1970-01-01T00:00:20+00:00,1970-01-01T00:00:30+00:00,60,failed\n",
            Some("0@10 1@20 4@30 0@10 1@20 3@30"),
            &["requested_time_us=86400000000", "cpu_request=96"]
        ),
        ready!(
            "PM100: the limit in minutes, memory in GB",
            "pm100",
            "job_id,user_id,num_nodes_alloc,num_cores_alloc,mem_alloc,time_limit,job_state,submit_time,start_time,end_time\na,u,1,128,237,1440,TIMEOUT,1970-01-01 00:00:10,1970-01-01 00:00:20,1970-01-01 00:00:30\n",
            Some("0@10 1@20 3@30"),
            &["requested_time_us=86400000000", "memory_request=231445310", "cpu_request=128"]
        ),
        ready!(
            "PM100: a column that is needed is not there",
            "pm100",
            "job_id,user_id,num_nodes_alloc,time_limit,submit_time,start_time,end_time\na,u,1,1440,10,20,30\n",
            None,
            &["job_state"]
        ),
    ]);
}

#[test]
fn google_2019_joined() {
    macro_rules! joined {
        ($what:literal, $rows:literal, $events:expr, $says:expr) => {
            trap(
                $what,
                &[(
                    "borg_traces_data.csv",
                    concat!(
                        ",time,instance_events_type,collection_id,priority,instance_index,machine_id,resource_request,collections_events_type,start_time,end_time,average_usage,cpu_usage_distribution,cluster,event,failed\n",
                        $rows
                    ),
                )],
                $events,
                $says,
            )
        };
    }
    check_all(&[
        joined!(
            "the number is the type, not the name beside it; line ends inside quotes; the cell in the id",
            "0,5000000,2,38,200,0,77,\"{'cpus': 0.02, 'memory': None}\",1,0,300000000,\"{'cpus': 0.5, 'memory': 0.25}\",\"[0.   0.1\n 0.2 1e-05]\",4,FAIL,1\n1,7000000,3,38,200,0,77,\"{'cpus': 0.02, 'memory': 0.1}\",1,0,300000000,\"{'cpus': 0.5, 'memory': 0.25}\",[],4,FINISH,0\n2,9000000,6,38,200,0,77,\"{'cpus': 0.02, 'memory': 0.1}\",6,300000000,600000000,\"{'cpus': 0.5, 'memory': 0.25}\",[],4,SCHEDULE,0\n",
            "1@7 4@9",
            &[
                "QUEUE or ENABLE, which v2.1 does not have: left out: 2",
                "job_id=384",
                "`event` contradicts `instance_events_type`: the number is used: 3",
                "repeated usage windows, joined to another event: left out: 1",
                "rows of a joined sample: sequences and totals are not those of the trace: 3",
                "events of collections have no time: the time of the instance's event is used",
                "cpu_request=0.02",
                "mean_cpu_rate=0.5"
            ]
        ),
        joined!(
            "rows that repeat an event",
            "0,5000000,0,38,200,0,77,,0,0,300000000,,[],4,ENABLE,0\n1,5000000,0,38,200,0,77,,0,300000000,600000000,,[],4,ENABLE,0\n",
            "0@5",
            &["repeated events, joined to another usage window: left out: 1"]
        ),
        joined!(
            "a cell beyond the eighth, a resource that is no text of Python",
            "0,5000000,0,38,200,0,77,,0,0,300000000,,[],99,ENABLE,0\n1,5000000,0,38,200,0,77,{'cpus': much},0,300000000,600000000,,[],4,ENABLE,0\n2,5000000,0,38,200,1,77,,0,300000000,600000000,,[],4,ENABLE,0\n",
            "0@5",
            &["cluster", "out_of_range", "resource_request", "bad_value"]
        ),
    ]);
}

#[test]
fn kubernetes() {
    macro_rules! pod {
        ($what:literal, $status:literal, $events:expr, $says:expr) => {
            trap(
                $what,
                &[(
                    "pods.json",
                    concat!(
                        "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a-1\",\"namespace\":\"team\",\"creationTimestamp\":\"1970-01-01T00:01:40Z\",\"ownerReferences\":[{\"kind\":\"Job\",\"name\":\"a\",\"controller\":true}]},\"spec\":{\"nodeName\":\"n1\",\"containers\":[{\"name\":\"main\",\"resources\":{\"requests\":{\"cpu\":\"500m\",\"memory\":\"1Gi\"},\"limits\":{\"nvidia.com/gpu\":\"2\"}}}]},\"status\":",
                        $status,
                        "}]}\n"
                    ),
                )],
                $events,
                $says,
            )
        };
    }
    check_all(&[
        pod!(
            "a container that ran out of memory, and is restarted",
            "{\"phase\":\"Running\",\"startTime\":\"1970-01-01T00:01:50Z\",\"containerStatuses\":[{\"name\":\"main\",\"restartCount\":1,\"state\":{\"running\":{\"startedAt\":\"1970-01-01T00:02:30Z\"}},\"lastState\":{\"terminated\":{\"startedAt\":\"1970-01-01T00:01:55Z\",\"finishedAt\":\"1970-01-01T00:02:20Z\",\"exitCode\":137,\"reason\":\"OOMKilled\"}}}]}",
            "0@100 1@110 3@140 1@150",
            &[
                "end_reason=OOMKilled",
                "cpu_request=0.5",
                "memory_request=1024",
                "gpu_request=2",
                "user=team"
            ]
        ),
        pod!(
            "a pod that was evicted",
            "{\"phase\":\"Failed\",\"reason\":\"Evicted\",\"startTime\":\"1970-01-01T00:01:50Z\",\"containerStatuses\":[{\"name\":\"main\",\"restartCount\":0,\"state\":{\"terminated\":{\"startedAt\":\"1970-01-01T00:01:55Z\",\"finishedAt\":\"1970-01-01T00:02:20Z\",\"exitCode\":1,\"reason\":\"Error\"}}}]}",
            "0@100 1@110 2@140",
            &["end_reason=Evicted"]
        ),
        pod!(
            "a pod that ended by itself",
            "{\"phase\":\"Succeeded\",\"startTime\":\"1970-01-01T00:01:50Z\",\"containerStatuses\":[{\"name\":\"main\",\"restartCount\":0,\"state\":{\"terminated\":{\"startedAt\":\"1970-01-01T00:01:55Z\",\"finishedAt\":\"1970-01-01T00:02:20Z\",\"exitCode\":0,\"reason\":\"Completed\"}}}]}",
            "0@100 1@110 4@140",
            &["machine_name=n1"]
        ),
        pod!("a pod that waits for a node", "{\"phase\":\"Pending\"}", "0@100", &[]),
        pod!("a phase that does not exist", "{\"phase\":\"Gone\"}", "", &["unknown_event_type"]),
    ]);
}
