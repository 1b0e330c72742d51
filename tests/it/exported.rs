//! A log that was exported several times. Every study gives the answers of the last export.
//!
//! ```text
//!  jobs            |=====|      |===========|    |====|
//!  first export    | ended |    | RUNNING |            until here
//!  second export                | ended     |    | ended |
//! ```

use std::fmt::Write;

use proptest::prelude::*;

use super::support::Place;

/// A job: submit, wait, run and suspension, s; CPUs; time limit, min; state.
type Job = (i64, i64, i64, i64, i64, i64, &'static str);

const HEADER: &str = "JobID|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|AllocCPUS|ReqCPUS|\
    TimelimitRaw|TotalCPU|NodeList\n";

/// The first submission: 2024-01-01, so that all jobs are of one month.
const BEGIN_S: i64 = 1_704_067_200;

fn jobs() -> impl Strategy<Value = Vec<Job>> {
    let suspended = prop_oneof![2 => Just(0), 1 => 1_i64..9_000];
    let state = prop::sample::select(vec!["COMPLETED", "FAILED", "TIMEOUT"]);
    let job =
        (0_i64..60_000, 0_i64..1_000, 10_i64..50_000, suspended, 1_i64..32, 1_i64..900, state);
    prop::collection::vec(job, 2..15)
}

/// The rows of an export at the time `until`: jobs that had begun by then and that ended at `from`
/// or later.
fn rows(jobs: &[Job], [from, until]: [i64; 2]) -> String {
    let mut rows = String::new();
    for (id, &(submit, wait, run, suspended, cpus, limit, state)) in (1..).zip(jobs) {
        let start = submit + wait;
        let end = start + run + suspended;
        if until <= start || end <= from {
            continue;
        }
        // Half of the CPUs are used; a suspension is at the end.
        let (state, ends, ran) = if end <= until {
            (state, (BEGIN_S + end).to_string(), run)
        } else {
            ("RUNNING", "Unknown".to_owned(), run.min(until - start))
        };
        let used = ran * cpus / 2;
        let clock = format!("{}:{:02}:{:02}", used / 3600, used / 60 % 60, used % 60);
        let (submit, start) = (BEGIN_S + submit, BEGIN_S + start);
        writeln!(
            rows,
            "{id}|u{}|a{}|p|{state}|{submit}|{start}|{ends}|{ran}|{cpus}|{cpus}|{limit}|{clock}|n{}",
            id % 3,
            id % 2,
            id % 4
        )
        .expect("a text takes all");
    }
    rows
}

const QUESTIONS: [&[&str]; 7] = [
    &["account", "--cpu", "requested"],
    &["account", "--cpu", "measured"],
    &["account", "--cpu", "slots", "--group-by", "user"],
    &["describe", "--what", "estimates"],
    &["monthly"],
    &["load", "--interval", "6h"],
    &["sweep", "--cpu", "requested", "--rules", "slurm:of=requested,limit={50,100}"],
];

/// The answers from a log in one or several files.
fn answers(files: &[(&str, String)]) -> Vec<String> {
    let place = Place::new();
    for (name, rows) in files {
        place.raw(name, format!("{HEADER}{rows}"));
    }
    place.run(&["ingest", "trace", "--lake", "lake"]).ok();
    let answer = |question: &&[&str]| {
        let run = place.run(&[question, &["--lake", "lake", "--format", "csv"][..]].concat());
        format!("{question:?}\n{}", run.ok().stdout_text())
    };
    QUESTIONS.iter().map(answer).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(12) })]
    #[test]
    #[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
    fn the_last_export_counts(jobs in jobs(), cut in 1_i64..100_000) {
        let last = jobs.iter().map(|&(submit, wait, run, out, ..)| submit + wait + run + out + 1);
        let last = last.max().unwrap();
        let expected = answers(&[("all.txt", rows(&jobs, [0, last]))]);
        let [first, second] = [rows(&jobs, [0, cut]), rows(&jobs, [cut, last])];
        // In one file, and in two.
        let one = answers(&[("one.txt", format!("{first}{second}"))]);
        prop_assert_eq!(&one, &expected);
        if !first.is_empty() && !second.is_empty() {
            let two = answers(&[("2024-01.txt", first), ("2024-02.txt", second)]);
            prop_assert_eq!(&two, &expected);
        }
    }
}

/// Exports by time of end. The second job runs next to the first, but is not in the file with the
/// first.
#[test]
fn the_capacity_is_that_of_the_whole_log() {
    let day = 86_400;
    let job = |id: u32, [start, end]: [i64; 2], cpus: u32| {
        let (start, end, run) = (BEGIN_S + start, BEGIN_S + end, end - start);
        format!("{id}|u|a|p|COMPLETED|{start}|{start}|{end}|{run}|{cpus}|{cpus}|60|1:00:00|n{id}\n")
    };
    let [first, second] = [job(1, [4 * day, 5 * day], 40), job(2, [day, 32 * day], 4)];
    let one = answers(&[("all.txt", format!("{first}{second}"))]);
    assert!(one.iter().any(|answer| answer.contains(",44.0,")), "{one:?}");
    assert_eq!(answers(&[("2024-01.txt", first), ("2024-02.txt", second)]), one);
}

#[test]
fn each_attempt_has_its_own_time_limit() {
    let place = Place::new();
    let log = format!(
        "{HEADER}1|u|a|p|PREEMPTED|{}|{}|{}|1800|4|4|60|0:00:00|n1\n\
        1|u|a|p|COMPLETED|{}|{}|{}|12000|4|4|240|0:00:00|n1\n",
        BEGIN_S,
        BEGIN_S,
        BEGIN_S + 1_800,
        BEGIN_S + 2_400,
        BEGIN_S + 3_600,
        BEGIN_S + 15_600,
    );
    place.raw("log.txt", log);
    place.run(&["ingest", "trace", "--lake", "lake"]).ok();
    let run = place.run(&["describe", "--what", "estimates", "--format", "json"]).ok();
    let answer: serde_json::Value = serde_json::from_str(run.stdout_text()).unwrap();
    let all = &answer["rows"][0];
    // 30 of 60 minutes, and 200 of 240.
    assert_eq!(all["min"].as_f64().unwrap(), 50.0, "{all}");
    assert!((all["max"].as_f64().unwrap() - 200.0 / 2.4).abs() < 1e-6, "{all}");
    assert_eq!(all["overruns"], 0, "{all}");
}

#[test]
fn the_whole_system_is_no_machine_with_a_strip() {
    let place = Place::new();
    let day = format!("{}|{}|{}|86400", BEGIN_S, BEGIN_S, BEGIN_S + 86_400);
    let row = |id: u32, cpus: u32, nodes: &str| {
        format!("{id}|u|a|p|COMPLETED|{day}|{cpus}|{cpus}|60|0:00:00|{nodes}\n")
    };
    let strips = |rows: String, lake: &str| {
        place.raw("log.txt", format!("{HEADER}{rows}"));
        place.run(&["ingest", "trace", "--lake", lake]).ok();
        place.run(&["load", "--interval", "1d", "--lake", lake, "--out", lake]).ok();
        std::fs::read_to_string(place.path(&format!("{lake}/load-by-machine.csv"))).ok()
    };
    let both = strips(row(1, 4, "n1") + &row(2, 8, "n2"), "both").unwrap();
    let machines: std::collections::BTreeSet<&str> =
        both.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    assert!(machines.len() == 2 && !machines.contains("1"), "{both}");
    // It is unknown how a job is spread over its machines.
    assert_eq!(strips(row(1, 4, "n[1-2]") + &row(2, 8, "n3"), "several"), None);
}

/// Checks that the pages of a log that was cut have the notice about it; returns the start of the
/// folded notice.
fn notices_are_told(page: &dyn Fn(&str) -> String) -> String {
    // Pages fold the part about its effect on numbers.
    let notice = |tag: &str| {
        format!(
            "<{tag}>The log seems to hold only jobs that ended from 2024-01-11 00:00:00 on, and none \
            that still ran at its end."
        )
    };
    let (whole, folded) = (notice("p class=\"notice\""), notice("summary"));
    // A page that has it as a finding does not repeat it as a notice.
    let quality = page("quality");
    assert!(!quality.contains(&whole) && quality.contains("Jobs that ended earlier, or"));
    for name in ["index", "months", "load", "replay", "fairness", "distributions"] {
        assert!(page(name).contains(&folded) && !page(name).contains(&whole), "{name}");
    }
    folded
}

/// A log that holds only jobs that ended from an instant on. Every page with numbers that include
/// the time before says so. Bursts are counted from then on. No study counts as completely
/// answered.
#[test]
fn pages_of_a_log_cut_by_time_of_end_say_so() {
    let place = Place::new();
    let (day, late) = (86_400, 10 * 86_400);
    let row = |id: i64, start: i64, end: i64| {
        // Two users come later than the others, one of them while jobs are missing.
        let user = match id {
            8 => "early",
            100 => "tardy",
            _ => "u",
        };
        format!(
            "{id}|{user}|a|p|COMPLETED|{start}|{start}|{end}|{}|1|1|99999|00:00:01|n1\n",
            end - start
        )
    };
    // Twenty jobs of several days that end on the tenth day, then a hundred short ones.
    let start =
        |n: i64| BEGIN_S + if n < 9 { n * day * 3 / 4 } else { 6 * day + (n - 8) * day / 4 };
    let long = (0..20).map(|n| row(n, start(n), BEGIN_S + late + n));
    let short = (0..100).map(|n| {
        let start = BEGIN_S + late + n * 300;
        row(20 + n, start, start + 60)
    });
    let rows: String = long.chain(short).collect();
    place.raw("log.sacct", format!("{HEADER}{rows}"));
    place.run(&["analyze", "trace/log.sacct", "--out", "found", "--quiet"]).ok();
    let page = |name: &str| {
        std::fs::read_to_string(place.path(&format!("found/report/{name}.html"))).unwrap()
    };
    let folded = notices_are_told(&page);
    // A study without an answer has no page, and the first page gives the reason.
    assert!(!place.path("found/report/machines.html").exists());
    assert!(page("index").contains("<li>Machine outages<br>"));
    let average = "from 2024-01-11 00:00:00 on, ";
    assert!(page("load").contains(average), "the average is that of the whole part");
    assert!(page("load").contains("Submissions before 2024-01-11 00:00:00 are left out"));
    for name in ["load", "fairness"] {
        assert!(page(name).contains(">jobs that had ended are not in the log<"), "{name}");
    }
    let fairness = page("fairness");
    let came = fairness.find("First used something when capacity was free").unwrap();
    let came = &fairness[came..came + fairness[came..].find("</table>").unwrap()];
    assert!(came.contains("tardy") && !came.contains("early"), "{came}");
    let json = std::fs::read(place.path("found/fairness/result.json")).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let all = json["answer"]["suggestions"]["came_when_free"].to_string();
    assert!(all.contains("tardy") && all.contains("early"), "{all}");
    let quality = page("quality");
    assert!(quality.contains("No study is complete before 2024-01-11 00:00:00: "), "{quality}");
    let missing = "<h3>Jobs that ended earlier, or still ran at the end, are missing</h3><p>No job ended before 2024-01-11";
    assert!(quality.contains(missing), "{quality}");
    assert!(quality.contains("; jobs are missing, see above"), "{quality}");
    assert!(!quality.contains(">whole<") && !quality.contains("no part of them is missing"));
    let load = std::fs::read(place.path("found/load.json")).unwrap();
    let load: serde_json::Value = serde_json::from_slice(&load).unwrap();
    assert_eq!(load["answer"]["arrivals"]["jobs"], 100, "{}", load["answer"]["arrivals"]);
    // Charts start at the tenth day after the first submission.
    let shown = format!(" data-whole=\"{late}\"");
    assert!(
        page("load").contains(&shown) && fairness.contains(" data-whole=\""),
        "{}",
        page("load")
    );
    // The page says that no running jobs are in the log, unless there is one.
    let open = "No job is open at its end";
    assert!(page("index").contains(open) && page("load").contains(open));
    let running = row(200, BEGIN_S + late + day, 0).replace("COMPLETED", "RUNNING");
    let running = running.replace(&format!("|0|{}|", -(BEGIN_S + late + day)), "||0|");
    place.raw("log.sacct", format!("{HEADER}{rows}{running}"));
    place.run(&["ingest", "trace", "--lake", "open", "--quiet"]).ok();
    place.run(&["load", "--lake", "open", "--out", "open-load", "--quiet"]).ok();
    place.run(&["report", "open-load"]).ok();
    let load = std::fs::read_to_string(place.path("open-load/report/load.html")).unwrap();
    let whole = folded.replace(", and none that still ran at its end", "");
    assert!(folded != whole && load.contains(&whole), "{running} {load}");
    assert!(!load.contains(&folded) && !load.contains(open), "{running} {load}");
}

/// A log with times without a zone. The first page says that they are read as UTC.
#[test]
fn a_zone_that_is_assumed_is_reported_beside_the_dates() {
    let place = Place::new();
    let row = "1|u|a|p|COMPLETED|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-02T00:00:00|86400|1|1|99999|\
        00:00:01|n1\n";
    place.raw("log.sacct", format!("{HEADER}{row}"));
    for (zone, is_assumed) in [(None, true), (Some("Europe/Berlin"), false)] {
        let lake = if is_assumed { "assumed" } else { "given" };
        let log = ["ingest", "trace/log.sacct", "--lake", lake, "--quiet"];
        let zone: Vec<&str> = zone.into_iter().flat_map(|zone| ["--timezone", zone]).collect();
        place.run(&[&log[..], &zone].concat()).ok();
        let out = format!("{lake}-found/classify");
        place.run(&["classify", "--lake", lake, "--out", &out, "--quiet"]).ok();
        place.run(&["report", &format!("{lake}-found"), "--out", &format!("{lake}-report")]).ok();
        let page = place.path(&format!("{lake}-report/index.html"));
        let page = std::fs::read_to_string(page).unwrap();
        assert_eq!(page.contains("; the log names no time zone: taken as UTC)"), is_assumed);
        assert!(page.contains(" UTC (24 h"), "{page}");
    }
}
