//! Memory of every command, and of `ingest`, `verify` and `detect` on inputs made to need much memory: small files that unpack to many lines, and very long headers, objects and names. The help says how much they take: 200 MB, and 200 MB per thread, for any size of the input, and at most 256 MB for data that must be held until the end of a file.
//!
//! For the commands that read a lake, the limits of the test are those in their help.

use std::fmt::Write;
use std::fs;
use std::io::Read;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::support::Place;

const MB: u64 = 1 << 20;

/// The memory that every run may take with one thread.
const BASE: u64 = 400 * MB;

/// The additional memory that may be held until the end of a file or object.
const HELD: u64 = 256 * MB;

/// Runs the program and returns its exit code, its output and its peak memory.
fn peak(place: &Place, args: &[&str]) -> (Option<i32>, String, u64) {
    let mut command = place.command(args);
    command
        .env("RAYON_NUM_THREADS", "1")
        .env("POLARS_MAX_THREADS", "1")
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut errors = child.stderr.take().unwrap();
    let said = thread::spawn(move || {
        let mut text = String::new();
        errors.read_to_string(&mut text).unwrap();
        text
    });
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    loop {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        most = most.max(kib.unwrap_or(0) * 1024);
        if let Some(ended) = child.try_wait().unwrap() {
            return (ended.code(), said.join().unwrap(), most);
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Writes a repeated text as gzip; the whole text is never in memory.
fn packed(place: &Place, name: &str, begin: &str, line: &str, count: usize, end: &str) {
    use std::io::Write;
    let path = place.path(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = GzEncoder::new(fs::File::create(path).unwrap(), Compression::fast());
    file.write_all(begin.as_bytes()).unwrap();
    let block = line.repeat(1000);
    for _ in 0..count / 1000 {
        file.write_all(block.as_bytes()).unwrap();
    }
    file.write_all(end.as_bytes()).unwrap();
    file.finish().unwrap();
}

#[track_caller]
fn check(place: &Place, trace: &str, more: &[&str], code: i32, bound: u64) -> String {
    let ingest = [&["ingest", trace, "--lake", "lake", "--threads", "1"], more].concat();
    let (found, said, most) = peak(place, &ingest);
    assert_eq!(found, Some(code), "{trace}: {said}");
    assert!(most < bound, "ingest {trace}: {} MB of {}", most / MB, bound / MB);
    let (_, _, most) = peak(place, &["verify", trace]);
    assert!(most < bound, "verify {trace}: {} MB of {}", most / MB, bound / MB);
    said
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn rejects_without_number_go_to_disk() {
    // 12 million lines in a few kilobytes: 700 MB if each were kept in memory.
    let place = Place::new();
    let name = "trace/job_events/part-00000-of-00001.csv.gz";
    packed(&place, name, "600,,7,0,u,1,n,l\n", "\n", 12_000_000, "601,,7,1,u,1,n,l\n");
    let said = check(&place, "trace", &["--max-rejects", "99999999999"], 0, BASE);
    assert!(said.contains("too_few_columns 12,000,000"), "{said}");
    let rejects = place.path("lake/rejects/job_events/part-00000.csv");
    let bytes = fs::metadata(rejects).unwrap().len();
    assert!(200 * MB < bytes && bytes < 300 * MB, "{bytes}");
    let remark = "lines without a row beyond the first 256 MiB: counted, not stored";
    assert!(said.contains(remark), "{said}");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn a_header_without_end_is_cut() {
    let place = Place::new();
    let job = "1 0 1 60 2 -1 -1 2 100 -1 1 1 1 -1 0 -1 -1 -1\n";
    packed(
        &place,
        "log.swf.gz",
        "; Note: it goes on\n",
        ";   and on and on and on\n",
        5_000_000,
        job,
    );
    let said = check(&place, "log.swf.gz", &[], 0, BASE);
    assert!(said.contains("left out: 4,990,001"), "{said}");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn parts_of_runs_are_held_up_to_a_bound() {
    let place = Place::new();
    let piece = "1 0 1 60 2 -1 -1 2 100 -1 2 1 1 -1 0 -1 -1 -1\n";
    packed(&place, "log.swf.gz", "; Version: 2\n", piece, 500_000, "");
    let said = check(&place, "log.swf.gz", &["--max-rejects", "100%"], 0, BASE + HELD);
    assert!(said.contains("too_many_partial_runs"), "{said}");
}

/// A job of Rumen with the given number of tasks, each with one attempt, and a user name of the
/// given length.
fn rumen(tasks: usize, user: usize, attempts: &str) -> String {
    let mut text = format!(
        "{{\"jobID\":\"job_1_1\",\"user\":\"{}\",\"submitTime\":1000,\"launchTime\":1001,\
         \"finishTime\":9000,\"outcome\":\"SUCCESS\",\"mapTasks\":[",
        "u".repeat(user)
    );
    for task in 0..tasks {
        let comma = if task == 0 { "" } else { "," };
        writeln!(text, "{comma}{{\"taskID\":\"t{task}\",\"attempts\":[{attempts}]}}").unwrap();
    }
    text.push_str("]}\n");
    text
}

const ATTEMPT: &str = "{\"attemptID\":\"a_0\",\"startTime\":2000,\"finishTime\":3000,\"result\":\"SUCCESS\",\"hostName\":\"/r/h\"}";

#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn one_large_object_takes_its_text_and_no_more() {
    let place = Place::new();
    // A name of 4 KB in each of 180,000 rows would be 720 MB, in two tables.
    fs::write(place.path("jobs-trace.json"), rumen(60_000, 4000, ATTEMPT)).unwrap();
    check(&place, "jobs-trace.json", &[], 0, BASE + HELD);
    let count = place.run(&["query", "q02", "--format", "csv"]).ok();
    assert_eq!(count.stdout_text().lines().count(), 60_001);
    // A longer text is not a name.
    fs::write(place.path("long-trace.json"), rumen(2, 5000, ATTEMPT)).unwrap();
    let run = place.run(&["ingest", "long-trace.json", "--lake", "other", "--max-rejects", "5"]);
    assert!(run.stderr.contains("out_of_range"), "{}", run.stderr);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn an_object_that_means_far_more_than_it_says_is_refused() {
    let place = Place::new();
    let many = vec!["{}"; 300_000].join(",");
    fs::write(place.path("many-trace.json"), rumen(3, 10, &many)).unwrap();
    let ingest = ["--max-rejects", "100%"];
    let said = check(&place, "many-trace.json", &ingest, 0, BASE + HELD);
    assert!(said.contains("bad_value"), "{said}");
    // One object of more than 300 MB.
    let place = Place::new();
    let begin = "{\"jobID\":\"job_1_1\",\"mapTasks\":[\n";
    packed(
        &place,
        "huge-trace.json.gz",
        begin,
        &format!("{{\"taskID\":\"{}\"}},\n", "t".repeat(80)),
        3_200_000,
        "]}\n",
    );
    let said = check(&place, "huge-trace.json.gz", &ingest, 0, BASE + HELD);
    assert!(said.contains("out_of_range 1"), "{said}");
}

/// 450,000 jobs of one task took 6 GB in an earlier version, although none of them is judged.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn detect_keeps_nothing_of_jobs_too_small_to_be_judged() {
    let place = Place::new();
    let mut log = "; MaxNodes: 100\n; MaxProcs: 100\n".to_owned();
    for job in 1..=450_000 {
        writeln!(log, "{job} {} 0 60 1 -1 -1 1 60 -1 1 {} 1 1 1 1 -1 -1", job * 10, job % 50)
            .unwrap();
    }
    fs::write(place.path("small-jobs.swf"), log).unwrap();
    place.run(&["ingest", "small-jobs.swf", "--lake", "lake"]).ok();
    let (code, said, most) = peak(&place, &["detect", "--lake", "lake"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("left out: 450,000 groups with too few finished tasks"), "{said}");
    assert!(most <= BASE, "detect: {} MB of {}", most / MB, BASE / MB);
}

/// A number in the help's sentence about memory: the number before the given unit, as in `100 MB`.
fn said(help: &str, behind: &str) -> u64 {
    let at = help.find("\nMemory: ").expect("the help speaks of memory");
    let words: Vec<&str> = help[at..].split_whitespace().collect();
    let place = words.windows(behind.split(' ').count() + 1).find(|some| {
        some[1..].iter().map(|word| word.trim_end_matches([',', '.', ';'])).eq(behind.split(' '))
    });
    place.unwrap_or_else(|| panic!("no number before `{behind}`: {help}"))[0]
        .replace(',', "")
        .parse()
        .unwrap()
}

/// Promise: the memory of `ingest` grows with the jobs of a log by at most the amount in its help,
/// also with two threads, which read the jobs and the tasks at the same time.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn a_log_takes_what_the_help_of_ingest_says() {
    const JOBS: [u64; 2] = [100_000, 400_000];
    // For blocks, rows and buckets that are not yet full.
    const SLACK: u64 = 48 * MB;
    let clock = |second: u64| {
        let (day, hour, minute) = (1 + second / 86_400, second / 3_600 % 24, second / 60 % 60);
        format!("2024-03-{day:02}T{hour:02}:{minute:02}:{:02}", second % 60)
    };
    let place = Place::new();
    place.raw("jobs.toml", "[columns]\njob = 'id'\nuser = 'user'\nsubmit = { column = 'a', unit = 's' }\nstart = { column = 'b', unit = 's' }\nend = { column = 'c', unit = 's' }\n");
    let openb = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n";
    let slurm = "JobID|User|Account|Submit|Start|End|State|NCPUS|NodeList\n";
    let line_of = |kind: &str, id: u64| match kind {
        "slurm" => {
            let [submit, start, end] = [id, id + 5, id + 60].map(clock);
            format!("{id}|u{}|a|{submit}|{start}|{end}|COMPLETED|4|n{}\n", id % 97, id % 50)
        }
        "openb" => format!("pod-{id},4000,1000,1,500,,LS,Succeeded,{id},{},{}\n", id + 99, id + 5),
        "mapped" => format!("{id},u{},{id},{},{}\n", id % 97, id + 5, id + 60),
        "alibaba-2017" => format!("{id},{},{},{},3,Terminated,50,0.01\n", id + 99, id / 6, id % 6),
        _ => format!("M{}_1,3,j_{},1,Terminated,{id},{},100,0.5\n", id % 6, id / 6, id + 99),
    };
    let help = place.run(&["ingest", "--help"]).ok().stdout_text().to_owned();
    let of_logs = said(&help, "bytes for each job a Rumen trace");
    let of_2017 = said(&help, "(2017) or");
    let of_2018 = said(&help, "bytes (2018)");
    let job = said(&help, "for each job (2017:") / 6;
    for (kind, name, begin, more, bytes) in [
        ("slurm", "log.sacct", slurm, "--source slurm", of_logs),
        ("openb", "openb_pod_list_default.csv", openb, "--source openb", of_logs),
        ("mapped", "t.csv", "id,user,a,b,c\n", "--map trace/jobs.toml", of_logs),
        ("alibaba-2017", "batch_task.csv", "", "--source alibaba-2017", of_2017 + job),
        ("alibaba-2018", "batch_task.csv", "", "--source alibaba-2018", of_2018 + job),
    ] {
        let [few, many] = JOBS.map(|count| {
            let lines: String = (1..=count).map(|id| line_of(kind, id)).collect();
            let trace = format!("{kind}-{count}/{name}");
            place.raw(&trace, begin.to_owned() + &lines);
            let trace = format!("trace/{trace}");
            let lake = format!("{kind}-{count}");
            let args = ["ingest", &trace, "--lake", &lake, "--threads", "2", "--buckets", "8"];
            let more: Vec<&str> = more.split(' ').collect();
            let (code, text, most) = peak(&place, &[&args[..], &more].concat());
            assert_eq!(code, Some(0), "{kind}: {text}");
            most
        });
        let allowed = bytes * (JOBS[1] - JOBS[0]) + SLACK;
        let grown = many.saturating_sub(few);
        assert!(grown <= allowed, "{kind}: {} MB more, {} MB", grown / MB, allowed / MB);
    }
}

/// Promise: every command that reads a lake takes at most the memory in its help, by number of
/// rows.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn each_command_takes_what_its_help_says() {
    const JOBS: u64 = 120_000;
    // SUBMIT, SCHEDULE and FINISH, of the job and of its task.
    const ROWS: u64 = 6 * JOBS;
    let place = Place::new();
    let mut log = "; MaxNodes: 100\n; MaxProcs: 100\n".to_owned();
    for job in 1..=JOBS {
        writeln!(log, "{job} {} 0 60 1 -1 -1 1 60 -1 1 {} 1 1 1 1 -1 -1", job * 10, job % 50)
            .unwrap();
    }
    fs::write(place.path("log.swf"), log).unwrap();
    let ingest = ["ingest", "log.swf", "--lake", "lake", "--threads", "1", "--buckets", "1"];
    let (code, text, most) = peak(&place, &ingest);
    assert_eq!(code, Some(0), "{text}");
    assert!(most < BASE + 20 * JOBS, "ingest: {} MB", most / MB);
    for command in [
        "classify",
        "describe --what events-per-task",
        "account --cpu slots",
        "sweep --cpu slots --bootstrap 100",
        "detect",
        "fairness --out stored",
        "replay --policies fifo",
        "query q02 --format csv",
        "verify",
        "report stored --out pages",
        "replay --policies fifo --out runs --journal",
        "journal runs/journal-1.parquet",
        "export --as swf --out as-swf",
        "export --as opendc --out as-opendc",
        "export --as wta --out as-wta",
        "export --as batsim --journal runs/journal-1.parquet --out as-batsim",
        "reproduce ota",
        "analyze --out whole",
    ] {
        let args: Vec<&str> = command.split(' ').collect();
        let help = place.run(&[args[0], "--help"]).ok().stdout_text().to_owned();
        let more = match args[0] {
            "report" => {
                let json = fs::metadata(place.path("stored/result.json")).unwrap().len();
                said(&help, "times the size") * json
            }
            "journal" => 0,
            "replay" | "analyze" | "export" => {
                let besides = said(&help, "bytes for each task");
                said(&help, "bytes for each row") * ROWS + besides * JOBS
            }
            _ => said(&help, "bytes for each row") * ROWS,
        };
        let base = match args[0] {
            "verify" => 200,
            "reproduce" => 150,
            _ => said(&help, "MB"),
        };
        let args = match args[0] {
            "report" | "journal" => args,
            _ => [&args[..], &["--lake", "lake"]].concat(),
        };
        let (code, text, most) = peak(&place, &args);
        assert_eq!(code, Some(0), "{command}: {text}");
        let bound = base * MB + more;
        assert!(most < bound, "{command}: {} MB of {}", most / MB, bound / MB);
    }
}

/// Promise: commands that read no lake, or the lake of another trace, also take at most the memory
/// in their help.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn commands_without_a_log_take_what_their_help_says() {
    const JOBS: u64 = 3000;
    let place = Place::new();
    let help = |command: &str| place.run(&[command, "--help"]).ok().stdout_text().to_owned();
    let synth = help("synth");
    let bound = said(&synth, "MB") * MB + said(&synth, "bytes for each job") * JOBS;
    for (folder, more) in [("trace", &["--days", "1"][..]), ("cell", &["--source", "google-2019"])]
    {
        let jobs = JOBS.to_string();
        let args = [&["synth", folder, "--jobs", &jobs], more].concat();
        let (code, text, most) = peak(&place, &args);
        assert_eq!(code, Some(0), "{text}");
        assert!(most < bound, "{args:?}: {} MB of {}", most / MB, bound / MB);
    }
    let reproduce = help("reproduce");
    for study in ["tan", "asahara", "cui"] {
        let (code, text, most) = peak(&place, &["reproduce", study, "--runs", "1"]);
        assert_eq!(code, Some(0), "{text}");
        let bound = said(&reproduce, "MB per thread") * MB;
        assert!(most < bound, "reproduce {study}: {} MB of {}", most / MB, bound / MB);
    }
    place.run(&["ingest", "trace", "--lake", "lake", "--buckets", "1"]).ok();
    let lake = place.lake();
    let rows: u64 = lake.manifest.tables.values().map(jobfate::lake::TableEntry::rows).sum();
    let (code, text, most) = peak(&place, &["reproduce", "mandai", "--lake", "lake"]);
    assert!(matches!(code, Some(0 | 1)), "{text}");
    let bound = 150 * MB + said(&reproduce, "bytes for each row") * rows;
    assert!(reproduce.contains("mandai and ota take 150 MB"), "{reproduce}");
    assert!(most < bound, "reproduce mandai: {} MB of {}", most / MB, bound / MB);
}

/// Promise: the help of every command says how much memory it takes.
#[test]
fn every_command_states_its_memory() {
    let place = Place::new();
    for command in jobfate_commands(&place) {
        let help = place.run(&[&command, "--help"]).ok().stdout_text().to_owned();
        // These commands write a text that is already in memory.
        let is_exempt = ["completions", "man"].contains(&command.as_str());
        assert!(is_exempt || help.contains("\nMemory: "), "{command}: {help}");
    }
}

/// The names of all commands, from the help.
fn jobfate_commands(place: &Place) -> Vec<String> {
    let help = place.run(&["--help"]).ok().stdout_text().to_owned();
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty() && *name != "help").map(str::to_owned).collect()
}
