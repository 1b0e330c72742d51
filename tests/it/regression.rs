//! Faults that were fixed and must not come back.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::support::{Place, golden, now, tree};

/// A fold of shards that was killed after it had stored the union left every part listed twice.
#[test]
fn a_fold_of_shards_that_was_killed_half_way_is_finished() {
    let place = Place::new().with_golden_trace();
    let shard = |shard: &str| place.ingest(&["--shard", shard]).ok();
    shard("1/2");
    shard("2/2");
    let left =
        ["manifest-1-of-2.json", "manifest-2-of-2.json"].map(|name| place.path("lake").join(name));
    let kept = left.each_ref().map(|path| fs::read(path).unwrap());
    place.ingest(&[]).ok();
    let before = place.run(&["classify", "--format", "json"]).ok().stdout;
    for (path, bytes) in left.iter().zip(kept) {
        fs::write(path, bytes).unwrap();
    }
    assert_eq!(place.run(&["classify", "--format", "json"]).ok().stdout, before);
    place.ingest(&[]).ok();
    assert!(left.iter().all(|path| !path.exists()), "the fold is finished");
    assert_eq!(place.run(&["classify", "--format", "json"]).ok().stdout, before);
}

/// Shards of different counts ran at the same time and stored parts twice.
#[test]
fn shards_of_another_count_wait() {
    let place = Place::new().with_golden_trace();
    fs::create_dir(place.path("lake")).unwrap();
    let lock = File::create(place.path("lake").join(".lock-1-of-3")).unwrap();
    lock.try_lock().unwrap();
    let run = place.ingest(&["--shard", "1/2"]);
    assert_eq!(run.code, Some(4));
    assert!(run.stderr.contains("another process is writing"), "{}", run.stderr);
    drop(lock);
    place.ingest(&["--shard", "1/2"]).ok();
}

/// A SCHEDULE before the first SUBMIT made the wait reach to the end of the window.
#[test]
fn a_wait_ends_with_the_schedule_after_the_submit() {
    //  SCHEDULE 600 |---| FAIL 700   SUBMIT 710 ..10 s.. SCHEDULE 720 |---| FINISH 5000
    let place = Place::new();
    let event = |time: u32, kind: u32| format!("{time}000000,,1,0,,{kind},u,0,1,0.5,,,\n");
    let events =
        [(600, 1), (700, 3), (710, 0), (720, 1), (5000, 4)].map(|(time, kind)| event(time, kind));
    place.part("task_events", 0, events.concat());
    place.part("job_events", 0, "600000000,,1,0,u,0,n,l\n");
    place.ingest(&[]).ok();
    let answer = place.run(&["describe", "--what", "waiting", "--format", "json"]).ok().json();
    assert_eq!(answer["rows"][0]["max"], 10.0);
    assert_eq!(answer["rows"][0]["censored"], 0);
}

/// Hashes that start with a plus were changed in CSV.
#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn a_hash_in_csv_is_the_hash() {
    let place = Place::new();
    place.part("job_events", 0, "600,,1,0,+a/b=,0,=1+1,l\n");
    place.ingest(&[]).ok();
    let text = place.run(&["query", "q01", "--format", "csv"]).ok();
    assert!(text.stdout_text().contains(",+a/b=,'=1+1,"), "{}", text.stdout_text());
}

/// A threshold outside of the grid gave an empty list.
#[test]
fn harmed_jobs_of_any_threshold_are_listed() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    let harmed = |threshold: &str| {
        let args = [
            "sweep",
            "--cpu",
            "slots",
            "--thresholds",
            "10,20",
            "--harmed",
            threshold,
            "--format",
            "csv",
        ];
        place.run(&args).ok().stdout_text().lines().count() - 1
    };
    assert!(0 < harmed("1"));
    assert_eq!(harmed("400"), 0);
}

/// A log with another name counted as "already in the lake", and all answers were those of the
/// first log.
#[test]
fn another_log_is_not_the_one_in_the_lake() {
    let place = Place::new();
    let text = fs::read_to_string(golden("logs/small.swf")).unwrap();
    fs::write(place.path("one.swf"), &text).unwrap();
    fs::write(place.path("two.swf"), text.replace(" 1 ", " 2 ")).unwrap();
    let ingest = |log: &str| place.run(&["ingest", log, "--lake", "lake", "--max-rejects", "50%"]);
    ingest("one.swf").ok();
    let run = ingest("two.swf");
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    for said in ["but from another file (`one.swf`, ", "; now `two.swf`, "] {
        assert!(run.stderr.contains(said), "{said} in {}", run.stderr);
    }
    ingest("one.swf").ok();
}

/// Parts of several traces in one folder made one lake.
#[test]
fn part_names_that_contradict_each_other_are_refused() {
    let line = "600,,7,0,u,1,n,l\n";
    for (name, said) in [
        (
            "part-00001-of-00500.csv",
            "its name says 500 parts of table `job_events`, another name says 3",
        ),
        ("part-00009-of-00003.csv", "its number is beyond the last part"),
    ] {
        let place = Place::new();
        place.raw("job_events/part-00000-of-00003.csv", line);
        place.raw(&format!("job_events/{name}"), line);
        let run = place.ingest(&[]);
        assert_eq!(run.code, Some(3), "{}", run.stderr);
        assert!(run.stderr.contains(said), "{said} in {}", run.stderr);
    }
    // A row id would have too many bits.
    let place = Place::new();
    place.raw("part-8388608.csv", line);
    assert_eq!(place.ingest(&["--table", "job_events"]).code, Some(3));
    let place = Place::new();
    place.raw("collection_events-8388608.json", "{}\n");
    assert_eq!(place.ingest(&[]).code, Some(3));
}

/// A pipe among the parts made the program wait forever.
#[test]
fn a_part_that_is_no_file_is_refused() {
    let place = Place::new();
    place.part("job_events", 0, "600,,7,0,u,1,n,l\n");
    let pipe = place.path("trace/job_events/part-00001-of-00002.csv");
    assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
    for command in [&["ingest", "trace", "--lake", "lake"][..], &["verify", "trace"]] {
        let run = place.run(command);
        assert_eq!(run.code, Some(3), "{}", run.stderr);
        assert!(run.stderr.contains("it is not a regular file"), "{}", run.stderr);
    }
}

/// Every file with a name ending in `.parquet`, even in linked folders, counted as a leftover of a
/// killed run.
#[test]
fn an_ingest_removes_nothing_that_it_did_not_make() {
    let place = Place::new().with_golden_trace();
    place.run(&["ingest", "trace", "--lake", "other"]).ok();
    let other = tree(&place.path("other"));
    let kept =
        ["machine_events/mine.parquet", "job_events/sub/part-00000-00001.parquet", ".work-notes/a"];
    for name in kept {
        let path = place.path("lake").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "mine").unwrap();
    }
    symlink("../other/task_constraints", place.path("lake/task_constraints")).unwrap();
    place.ingest(&["--tables", "job_events,machine_events"]).ok();
    for name in kept {
        assert!(place.path("lake").join(name).exists(), "{name}");
    }
    assert!(tree(&place.path("other")) == other, "another lake is as it was");
}

/// A user's folder was treated as an incomplete synthetic trace.
#[test]
fn an_analysis_without_a_trace_removes_no_folder_of_the_user() {
    let place = Place::new();
    fs::create_dir_all(place.path("found/synthetic-trace")).unwrap();
    fs::write(place.path("found/synthetic-trace/mine.txt"), "mine").unwrap();
    let run = place.run(&["analyze", "--out", "found"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("is not a synthetic trace (`mine.txt`)"), "{}", run.stderr);
    assert!(place.path("found/synthetic-trace/mine.txt").exists());
}

/// If results were in the folder in which their report keeps its copies, they became empty; links
/// were followed.
#[test]
fn a_report_takes_no_folder_with_results_or_links() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    for folder in ["found/data", "found/charts"] {
        place.run(&["account", "--cpu", "slots", "--out", folder]).ok();
        let before = tree(&place.path(folder));
        assert_eq!(place.run(&["report", folder, "--out", "found"]).code, Some(2));
        assert!(before == tree(&place.path(folder)), "{folder}");
    }
    place.run(&["report", "found/charts", "--out", "pages"]).ok();
    fs::write(place.path("victim"), "whole").unwrap();
    fs::remove_file(place.path("pages/index.html")).unwrap();
    symlink("../victim", place.path("pages/index.html")).unwrap();
    assert_eq!(place.run(&["report", "found/charts", "--out", "pages"]).code, Some(2));
    assert_eq!(fs::read(place.path("victim")).unwrap(), b"whole");
}

/// If the reader of stdout had exited, a failed check passed, and an analysis stopped.
#[test]
fn a_closed_stdout_changes_no_verdict() {
    let place = Place::new();
    place.run(&["synth", "trace", "--jobs", "20", "--days", "0.2", "--parts", "2"]).ok();
    let unread = |args: &[&str]| {
        let mut command = place.command(args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        drop(child.stdout.take());
        child.wait().unwrap().code()
    };
    assert_eq!(unread(&["analyze", "trace", "--out", "found"]), Some(0));
    assert!(place.path("found/report/index.html").exists());
    fs::write(place.path("trace/job_events/part-00000-of-00002.csv.gz"), "").unwrap();
    assert_eq!(unread(&["verify", "trace"]), Some(1));
    let full = File::options().write(true).open("/dev/full").unwrap();
    let help = place.command(&["--help"]).stdout(full).stderr(Stdio::null()).status();
    assert_eq!(help.unwrap().code(), Some(4));
}

/// An answer without an open stdout counted as printed, because the runtime had opened `/dev/null`.
#[test]
#[cfg(target_os = "linux")]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn an_answer_without_a_stdout_is_an_error() {
    let place = Place::new();
    place.run(&["synth", "trace", "--jobs", "20", "--days", "0.2", "--parts", "2"]).ok();
    let jobfate = |words: &str, to: &str| place.shell(&format!("$JOBFATE {words} {to}"));
    jobfate("ingest trace --lake lake", ">&-").ok();
    jobfate("replay --policies fifo --out runs --journal", "").ok();
    for words in [
        "verify --lake lake",
        "verify trace",
        "classify",
        "describe",
        "account",
        "sweep",
        "detect",
        "fairness",
        "replay",
        "journal runs/journal-1.parquet",
        "report runs --out pages",
        "query q01",
        "query --list",
        "reproduce mandai",
        "analyze --lake lake --out found",
        "classify --format json --out kept",
        "completions bash",
        "man",
        "--help",
        "--version",
    ] {
        let run = jobfate(words, ">&-");
        assert_eq!(run.code, Some(4), "{words}: {}", run.stderr);
        assert!(run.stderr.contains("error: stdout is closed"), "{words}: {}", run.stderr);
        // `/dev/null` is a valid stdout, and a reader may close the pipe early.
        if !words.starts_with("reproduce") && !words.starts_with("analyze") {
            assert_eq!(jobfate(words, "> /dev/null").code, Some(0), "{words}");
            let cut = jobfate(words, "| head -c 1 > /dev/null; exit ${PIPESTATUS[0]}");
            assert_eq!(cut.code, Some(0), "{words}: {}", cut.stderr);
        }
    }
    assert!(!place.path("found").exists(), "nothing was begun");
}

/// Numbers out of range were misread, panicked, took all memory or never ended.
#[test]
fn numbers_that_make_no_sense_are_refused() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    let slots = ["sweep", "--cpu", "slots"];
    for more in [
        ["--price", "nan"],
        ["--price", "-5"],
        ["--price", "inf"],
        ["--bootstrap", "18446744073709551615"],
    ] {
        assert_eq!(place.run(&[&slots[..], &more].concat()).code, Some(2), "{more:?}");
    }
    for scale in ["nan", "0", "-1"] {
        assert_eq!(place.run(&["synth", "none", "--scale", scale]).code, Some(2), "{scale}");
    }
    fs::write(place.path("analysis.toml"), "[sweep]\nprice = 0x10\n").unwrap();
    assert_eq!(place.run(&["analyze", "--config", "analysis.toml"]).code, Some(2));
    let last = ["replay", "--policies", "fifo", "--seed", "18446744073709551615", "--seeds", "2"];
    place.run(&last).ok();
    let end =
        ["fairness", "--cpu", "slots", "--interval", "31536000", "--window-end=9223372036854"];
    assert_eq!(place.run(&end).code, Some(2));
}

/// An index program with an endless answer was never stopped.
#[test]
fn a_program_that_says_more_and_more_is_stopped() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    let flood = "#!/bin/sh\nexec awk 'BEGIN { h = \"columns\"; v = \"value\\t0\"; \
        for (i = 0; i < 6000; i++) { h = h \"\\tc\" i; v = v \"\\t0.12345\" } \
        print h; for (;;) print v }'\n";
    let program = place.path("flood");
    fs::write(&program, flood).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let begin = now();
    let args = ["fairness", "--cpu", "slots", "--index-program", "x=./flood", "--time-limit", "1"];
    let run = place.run(&args);
    assert!(run.stderr.contains("answered twice for user 0"), "{}", run.stderr);
    assert!(begin.elapsed() < Duration::from_secs(15), "{:?}", begin.elapsed());
}

/// Rejects held lines that a spreadsheet would run as formulas, unchanged.
#[test]
fn rejects_are_no_formulas() {
    let place = Place::new();
    place.raw("machine_events/part-00000-of-00001.csv", "0,5,0,x,0.5,0.5\n=1+1\n");
    place.ingest(&["--max-rejects", "50%"]).ok();
    assert!(place.rejects("machine_events", 0).ends_with(",'=1+1\n"));
}

/// A program that ignored signals kept running after its index was stopped.
#[test]
fn an_index_program_ends_with_its_index() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    let program = place.path("deaf");
    let text = "#!/bin/sh\ntrap '' INT TERM HUP PIPE\necho $$ > pid\nwhile :; do sleep 1; done\n";
    fs::write(&program, text).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    for signal in ["-INT", "-TERM"] {
        let args = ["fairness", "--cpu", "slots", "--index-program", "x=./deaf"];
        let mut child = place.command(&args).stderr(Stdio::null()).spawn().unwrap();
        let begin = now();
        let pid = loop {
            match fs::read_to_string(place.path("pid")) {
                Ok(pid) if pid.ends_with('\n') => break pid.trim().to_owned(),
                _ => assert!(begin.elapsed() < Duration::from_secs(30), "the program starts"),
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        fs::remove_file(place.path("pid")).unwrap();
        Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130));
        let begin = now();
        while is_alive(&pid) {
            assert!(begin.elapsed() < Duration::from_secs(5), "it is still there");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// The replay processed every heartbeat of tens of years in which nothing happens.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn a_replay_passes_over_empty_years() {
    let place = Place::new();
    // A job of 2^31 s next to a usual one.
    let log = "; MaxNodes: 4\n; MaxProcs: 4\n\
        1 0 0 2147483648 1 -1 -1 1 2147483648 -1 1 1 1 1 1 1 -1 -1\n\
        2 10 0 60 1 -1 -1 1 60 -1 1 2 1 1 1 1 -1 -1\n";
    fs::write(place.path("long.swf"), log).unwrap();
    place.run(&["ingest", "long.swf", "--lake", "lake"]).ok();
    let begin = now();
    let policies = ["fifo", "fair", "fair+late", "fifo+yarn", "random+tqst"];
    let cluster = ["--cluster", "cluster:nodes=4,cpu=1,memory=1", "--window-end", "2147490000"];
    let args = [&["replay", "--format", "csv", "--policies"], &policies[..], &cluster].concat();
    let run = place.run(&args).ok();
    assert!(begin.elapsed() < Duration::from_mins(1), "{:?}", begin.elapsed());
    let ends: Vec<&str> = run.stdout_text().lines().skip(1).collect();
    assert_eq!(ends.len(), policies.len(), "{}", run.stdout_text());
    for line in ends {
        assert!(line.contains("2147483648"), "the makespan: {line}");
    }
    // Fair shares include all skipped periods. User 2 has waited longer for a machine, and user 1
    // has had it longer, so the last task of user 2 is first.
    let job = |number: i32, arrival_s: i32, length_s: i32, user: i32| {
        format!(
            "{number} {arrival_s} 0 {length_s} 1 -1 -1 1 {length_s} -1 1 {user} 1 1 1 1 -1 -1\n"
        )
    };
    let mut log = "; MaxNodes: 1\n; MaxProcs: 1\n".to_owned();
    (1..=10).for_each(|number| log += &job(number, (number - 1) * 900, 900, 2));
    log += &(job(11, 9000, 20_000, 1) + &job(12, 9001, 60, 1) + &job(13, 9002, 60, 2));
    fs::write(place.path("shares.swf"), log).unwrap();
    place.run(&["ingest", "shares.swf", "--lake", "lake2"]).ok();
    let starts = |interval: &str| {
        let policy = format!("fair:half_life_s=7200,interval_s={interval}");
        let args = ["replay", "--lake", "lake2", "--policies", &policy, "--journal", "--out", "j"];
        place.run(&args).ok();
        let text = fs::read_to_string(place.path("j/journal-1.txt")).unwrap();
        let starts = text.lines().filter(|line| line.contains(" start "));
        starts.map(str::to_owned).collect::<Vec<String>>()
    };
    let (all, passed_over) = (starts("0.05"), starts("0.002"));
    assert!(all[11].contains(" 13/0 "), "{all:?}");
    assert_eq!(all, passed_over);
}

/// Clusters can be too large for memory, and speeds can change faster than any task ends.
#[test]
fn clusters_have_limits() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    for (cluster, said) in [
        ("cluster:nodes=4294967295", "from 1 to 1000000"),
        ("cluster:period_s=1e-7", "a time from 0.001 s"),
        ("cluster:mtbf_s=1e-9,mttr_s=1e-9,span_s=1e9", "at most 1 million failures"),
    ] {
        let run = place.run(&["replay", "--cluster", cluster]);
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains(said), "{said} in {}", run.stderr);
    }
}

/// Errors in the user's files and settings had the exit code for problems of the machine.
#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn what_is_wrong_has_its_code() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    fs::write(place.path("latin"), b"\xe9 = 1\n").unwrap();
    place.run(&["query", "q01", "--out", "facts"]).ok();
    place.run(&["replay", "--policies", "fifo", "--journal", "--out", "replay"]).ok();
    let journal = fs::read(place.path("replay/journal-1.parquet")).unwrap();
    fs::write(place.path("cut.parquet"), &journal[..journal.len() / 2]).unwrap();
    for (args, code, said) in [
        (&["journal", "cut.parquet"][..], 3, "is damaged, or not a Parquet file"),
        (&["journal", "latin"], 3, "is damaged, or not a Parquet file"),
        (&["journal", "facts/q01_job_outcomes.parquet"], 3, "is not a journal: it has no column"),
        (&["journal", "none.parquet"], 4, "could not open"),
        (&["journal", "facts"], 4, "could not read `facts`"),
        (&["replay", "--machines", "1e-320"], 2, "--machines selects no machine"),
        (&["fairness", "--formula", "x=latin"], 2, "could not read `latin`"),
        (&["fairness", "--index-file", "latin"], 2, "could not read `latin`"),
        (&["fairness", "--accounts", "latin"], 2, "could not read `latin`"),
        (&["fairness", "--formula", "x=none"], 4, "could not read `none`"),
        (&["analyze", "--config", "latin"], 2, "`latin` is not text"),
    ] {
        let run = place.run(args);
        assert_eq!(run.code, Some(code), "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains(said), "{said} in {}", run.stderr);
    }
}

const SWF: &str = "; MaxNodes: 4\n; MaxProcs: 4\n";

fn swf_job(number: i32, arrival_s: i64, length_s: i64, cores: i32) -> String {
    let rest = format!("-1 -1 {cores} {length_s} -1 1 1 1 1 1 1 -1 -1");
    format!("{number} {arrival_s} 0 {length_s} {cores} {rest}\n")
}

/// A job that no machine can take counted as a job that took no time.
#[test]
fn refused_jobs_have_no_response() {
    let place = Place::new();
    let log = SWF.to_owned() + &swf_job(1, 0, 100, 4) + &swf_job(2, 200, 100, 1);
    fs::write(place.path("log.swf"), log).unwrap();
    place.run(&["ingest", "log.swf", "--lake", "lake"]).ok();
    let replay = |cluster: &str| {
        let args = ["replay", "--policies", "fifo", "--cluster", cluster, "--format", "json"];
        place.run(&args).ok().json()["policies"][0].clone()
    };
    let found = replay("cluster:nodes=2,cpu=1,memory=1");
    assert_eq!(found["refused"], 1);
    assert_eq!(found["metrics"]["job_response_s"]["mean"], 100.0);
    let none = replay("cluster:nodes=2,cpu=0.5,memory=1");
    assert_eq!(none["refused"], 2);
    assert!(none["metrics"]["job_response_s"].is_null());
}

/// At every heartbeat, all periods of an attempt were read again.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn heartbeats_and_periods_go_together() {
    let place = Place::new();
    let log = SWF.to_owned() + &swf_job(1, 0, 864_000, 1) + &swf_job(2, 10, 864_000, 1);
    fs::write(place.path("log.swf"), log).unwrap();
    place.run(&["ingest", "log.swf", "--lake", "lake"]).ok();
    let begin = now();
    let cluster = "cluster:nodes=2,cpu=1,memory=1,period_s=10";
    place.run(&["replay", "--policies", "fifo+late", "fifo+tqst", "--cluster", cluster]).ok();
    assert!(begin.elapsed() < Duration::from_mins(1), "{:?}", begin.elapsed());
}

/// Times near 2^63 caused a panic, and larger arrivals became negative.
#[test]
fn a_replay_knows_the_end_of_time() {
    let place = Place::new();
    let mut events = Vec::new();
    for job in 1..8 {
        let last = (i64::MAX - 1, 5);
        let all =
            [(600_000_000, 0), (600_000_010, 1)].into_iter().chain((job == 1).then_some(last));
        events.extend(all.map(|(time, kind)| (time, job, kind)));
    }
    events.sort_unstable();
    let line =
        |(time, job, kind): &(i64, i32, u32)| format!("{time},,{job},0,5,{kind},u,0,1,0.1,0.1,,\n");
    place.part("task_events", 0, events.iter().map(line).collect::<String>());
    place.part("machine_events", 0, "0,5,0,p,1,1\n");
    place.ingest(&[]).ok();
    place.run(&["replay", "--policies", "fifo", "fair+late", "--journal", "--out", "r"]).ok();
    let log = SWF.to_owned() + &swf_job(1, 0, 60, 1) + &swf_job(2, 1_000_000_000_000, 60, 1);
    fs::write(place.path("log.swf"), log).unwrap();
    place.run(&["ingest", "log.swf", "--lake", "swf"]).ok();
    let cluster = ["--cluster", "cluster:nodes=2,cpu=1,memory=1"];
    let load = ["replay", "--lake", "swf", "--policies", "fifo", "--load", "0.001"];
    let load = [&load[..], &cluster].concat();
    let run = place.run(&load);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("at a load of 0.001"), "{}", run.stderr);
}

/// A step did not run again after a change of a file that was named after a second `=`, or in
/// another file.
#[test]
fn an_analysis_sees_every_file_that_it_follows_from() {
    let place = Place::new().with_golden_trace();
    fs::create_dir(place.path("seed=1")).unwrap();
    let formula = |factor: u32| {
        let text = format!("display score = {factor} * usage\n");
        fs::write(place.path("seed=1/f.formula"), text).unwrap();
    };
    let charges = |factor: u32| {
        fs::write(place.path("seed=1/charges.txt"), format!("machine 9001 {factor}\n")).unwrap();
    };
    let index = "name = \"bill\"\ntemplate = \"metered\"\ncharges = \"charges.txt\"\n";
    fs::write(place.path("seed=1/index.toml"), index).unwrap();
    let config = "steps = [\"fairness\"]\n[definitions]\ncpu = \"slots\"\n[fairness]\n\
        formula = \"own=seed=1/f.formula\"\nindex-file = \"seed=1/index.toml\"\n";
    fs::write(place.path("a.toml"), config).unwrap();
    let is_done = || {
        let run = place.run(&["analyze", "trace", "--config", "a.toml", "--out", "found"]).ok();
        run.stderr.contains("fairness: done before")
    };
    formula(1);
    charges(2);
    assert!(!is_done() && is_done());
    formula(3);
    assert!(!is_done() && is_done());
    charges(4);
    assert!(!is_done() && is_done());
}

/// Processes that an index program had started kept running, and the run waited for them after the
/// program had ended.
#[test]
fn an_index_program_leaves_nobody_behind() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    let program = place.path("parent");
    fs::write(&program, "#!/bin/sh\nsleep 237 &\necho $! > child\nexit 0\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let begin = now();
    let run = place.run(&["fairness", "--cpu", "slots", "--index-program", "x=./parent"]);
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert!(run.stderr.contains("before it answered"), "{}", run.stderr);
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    let child = fs::read_to_string(place.path("child")).unwrap();
    let begin = now();
    while is_alive(child.trim()) {
        assert!(begin.elapsed() < Duration::from_secs(5), "it is still there");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// An ended process is a zombie until its parent waits for it.
fn is_alive(pid: &str) -> bool {
    let state = fs::read_to_string(format!("/proc/{pid}/stat"));
    state.is_ok_and(|state| !state.contains(") Z "))
}

/// A path that is not UTF-8 caused a panic after the computation, and the result was lost.
#[test]
fn names_of_folders_need_not_be_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    let folder = OsStr::from_bytes(b"r\xff");
    let mut command = place.command(&["account", "--cpu", "slots", "--out"]);
    assert!(command.arg(folder).output().unwrap().status.success());
    assert!(place.path("").join(folder).join("result.json").exists());
}
