//! The promises of the library to programs that use it.
//!
//! The programs of `examples/` run; meaningless questions are refused; a call that its caller stops
//! leaves no incomplete files.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use jobfate::prelude::*;

#[path = "../../examples/ingest.rs"]
mod ingest;
#[path = "../../examples/outcomes.rs"]
mod outcomes;
#[path = "../../examples/own_detector.rs"]
mod own_detector;
#[path = "../../examples/own_index.rs"]
mod own_index;
#[path = "../../examples/own_kill_rule.rs"]
mod own_kill_rule;
#[path = "../../examples/own_source.rs"]
mod own_source;

#[test]
fn the_programs_of_the_examples_run() {
    outcomes::main().unwrap();
    own_kill_rule::main().unwrap();
    own_detector::main().unwrap();
    own_index::main().unwrap();
    own_source::main().unwrap();
    ingest::main().unwrap();
}

#[test]
fn every_example_is_short_and_run() {
    let own = include_str!("library.rs");
    for entry in std::fs::read_dir(super::support::repository().join("examples")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        assert!(own.contains(&format!("    {name}::main()")), "{name} is not run");
        let lines = std::fs::read_to_string(&path).unwrap().lines().count();
        let most = if name == "own_source" { 55 } else { 40 };
        assert!(lines <= most, "{name} has {lines} lines");
    }
}

/// The type of a callback.
type Callback = Box<dyn FnMut(Progress) -> ControlFlow<()> + Send>;

fn stop_if(is_enough: bool) -> ControlFlow<()> {
    if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// Stops a call at its `number`-th report, and counts the later reports.
fn stop_at(
    number: u64,
) -> (impl FnMut(Progress) -> ControlFlow<()> + Send + 'static, Arc<Mutex<Vec<Progress>>>) {
    let words = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&words);
    let callback = move |progress: Progress| {
        let mut told = told.lock().unwrap();
        told.push(progress);
        stop_if(told.len() as u64 == number)
    };
    (callback, words)
}

#[test]
fn progress_rises_to_the_end_of_every_question() {
    let sample = Sample::lake().unwrap();
    let check = |ask: &dyn Fn(Callback)| {
        let (callback, words) = stop_at(0);
        ask(Box::new(callback));
        let words = words.lock().unwrap();
        let last = words.last().expect("progress was reported");
        assert_eq!(last.done, last.total);
        assert!(0 < last.total && 4 <= words.len(), "{} words", words.len());
        assert!(words.windows(2).all(|pair| pair[0].done <= pair[1].done));
    };
    check(&|callback| drop(sample.study().on_progress(callback).ledger().unwrap()));
    check(&|callback| {
        let late = "late".parse().unwrap();
        drop(sample.detect([late]).on_progress(callback).run().unwrap());
    });
    check(&|callback| drop(Usage::of(&sample).on_progress(callback).gather().unwrap()));
}

#[test]
fn a_question_that_is_stopped_says_so_and_goes_no_further() {
    let sample = Sample::lake().unwrap();
    let whole = format!("{:?}", sample.study().ledger().unwrap());
    for number in [1, 2, 5] {
        let (callback, words) = stop_at(number);
        let error = sample.study().on_progress(callback).ledger().unwrap_err();
        assert!(error.is_cancelled(), "{error}");
        assert_eq!(words.lock().unwrap().len() as u64, number, "not called again");
        let (callback, words) = stop_at(number);
        let error = Usage::of(&sample).on_progress(callback).gather().unwrap_err();
        assert!(error.is_cancelled(), "{error}");
        assert_eq!(words.lock().unwrap().len() as u64, number);
    }
    assert_eq!(format!("{:?}", sample.study().ledger().unwrap()), whole, "the lake is as it was");
}

#[test]
fn detectors_that_are_stopped_have_handed_out_whole_buckets() {
    let sample = Sample::lake().unwrap();
    let question = || {
        let late: DetectorPlan = "late:min_age_s=0".parse().unwrap();
        sample.detect([late, "hadoop".parse().unwrap()]).tasks_min(2)
    };
    let mut all = Vec::new();
    question().run_with(|flags| all.push(flags.to_vec())).unwrap();
    assert_eq!(all.len(), 4, "one hand-out for each bucket");
    assert!(all.iter().any(|flags| !flags.is_empty()));
    // Stops in the third bucket.
    let is_enough = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&is_enough);
    let stop = move |_| stop_if(told.load(Ordering::Relaxed));
    let mut kept = Vec::new();
    let error = question()
        .on_progress(stop)
        .run_with(|flags| {
            kept.push(flags.to_vec());
            is_enough.store(kept.len() == 2, Ordering::Relaxed);
        })
        .unwrap_err();
    assert!(error.is_cancelled(), "{error}");
    assert_eq!(kept, all[..2], "two buckets, whole");
}

#[test]
fn a_replay_that_is_stopped_keeps_what_has_happened_by_then() {
    let (cluster, _) = Cluster::of_speeds(vec![1.0; 10]).check().unwrap();
    let work_us = (0..10_000).map(|task| SECOND + 997 * task % (5 * SECOND)).collect();
    let workload = Workload::plain(10_000, Column::Each(work_us)).check().unwrap();
    let policy: PolicyPlan = "fifo+late".parse().unwrap();
    let plan = || ReplayPlan::new(&cluster, &workload, &policy).seed(7);
    let whole = replay(&plan()).unwrap();
    let (callback, words) = stop_at(0);
    assert_eq!(replay(&plan().on_progress(callback)).unwrap(), whole, "a report changes nothing");
    let words = words.lock().unwrap();
    assert!(4 <= words.len() && words.windows(2).all(|pair| pair[0].done <= pair[1].done));
    assert_eq!(words.last().map(|last| (last.done, last.total)), Some((10_000, 10_000)));
    for number in [1, 4] {
        let (callback, words) = stop_at(number);
        let mut stopped = replay(&plan().on_progress(callback)).unwrap();
        assert!(stopped.is_cancelled && stopped.last_us < whole.last_us);
        assert_eq!(words.lock().unwrap().len() as u64, number, "not called again");
        stopped.is_cancelled = false;
        assert_eq!(stopped, replay(&plan().until(stopped.last_us)).unwrap(), "message {number}");
    }
}

#[test]
#[cfg(feature = "sql")]
fn a_query_that_is_stopped_gives_no_rows() {
    let sample = Sample::lake().unwrap();
    let settings = Settings::new(Windows::of(&sample), vec![1]);
    let query = Query::find("q01").unwrap();
    let rows = query.run(&sample, &settings).unwrap().num_rows();
    assert!(0 < rows);
    let (callback, words) = stop_at(2);
    let watched = sample.on_progress(callback);
    let error = Error::from(query.run(&watched, &settings).unwrap_err());
    assert!(error.is_cancelled(), "{error}");
    assert_eq!(words.lock().unwrap().len(), 2);
    assert_eq!(query.run(&sample, &settings).unwrap().num_rows(), rows);
}

#[test]
fn an_ingest_that_is_stopped_keeps_whole_parts_and_goes_on_later() {
    let trace = Sample::trace().unwrap();
    let ingest = |lake: &str| Ingest::of(&trace).unwrap().into(trace.join(lake)).buckets(2);
    let whole = ingest("whole").run().unwrap();
    let rows = |lake: &Lake| -> u64 {
        let tables = Table::ALL.into_iter().filter(|&table| lake.has(table));
        tables
            .flat_map(|table| lake.batches(table).columns(["row_id"]).unwrap())
            .map(|batch| batch.num_rows() as u64)
            .sum()
    };
    assert_eq!(whole.rows(), rows(whole.lake.as_ref().unwrap()));
    let mut kept = Vec::new();
    for share in [0.0, 0.5, 0.7, 0.9] {
        let callback = move |progress: Progress| stop_if(share <= progress.share());
        let stopped = ingest("stopped").threads(1).on_progress(callback).run().unwrap();
        assert!(stopped.is_cancelled);
        // The reported rows are those that a reader finds in addition to the earlier ones.
        let there = stopped.lake.as_ref().map_or(0, rows);
        assert_eq!(there, kept.last().copied().unwrap_or(0) + stopped.rows());
        kept.push(there);
    }
    assert!(0 < kept[3] && kept[3] < whole.rows(), "stopped in the middle: {kept:?}");
    let rest = ingest("stopped").run().unwrap();
    assert!(!rest.is_cancelled && 0 < rest.skipped);
    assert_eq!(kept[3] + rest.rows(), whole.rows());
    let [one, other] = [&whole, &rest].map(|ingested| ingested.lake.as_ref().unwrap());
    let text = |lake: &Lake| format!("{:?}", lake.study().ledger().unwrap());
    assert_eq!(text(one), text(other));
    std::fs::remove_dir_all(trace).unwrap();
}

#[test]
fn the_rows_of_an_ingest_in_progress_are_those_that_are_stored() {
    use jobfate::lake::ingest::ingest;
    use jobfate::lake::manifest::Origin;
    use jobfate::lake::plan::{Cut, IngestPlan, choose_parts};
    use jobfate::sources::part;

    let trace = Sample::trace().unwrap();
    // If a segment has a bad part, it is read again without this part.
    let bad = std::fs::read_dir(trace.join("task_events")).unwrap().next().unwrap().unwrap();
    let bytes = std::fs::read(bad.path()).unwrap();
    std::fs::write(bad.path(), &bytes[..bytes.len() / 2]).unwrap();
    let folder = jobfate::sources::open_trace(&trace, None, None).unwrap();
    let plan = IngestPlan {
        lake: trace.join("lake"),
        source: folder.source,
        origin: Origin::Original,
        parts: choose_parts(&folder, None, None),
        max_rejects: MaxRejects::default(),
        bucket_count: Some(2),
        shard: None,
        threads: 2,
        cut: Cut::default(),
    };
    let progress = part::Progress::default();
    let outcome = ingest(&plan, &progress).unwrap();
    assert_eq!(outcome.failed.len(), 1);
    let stored: u64 = outcome.stored.iter().map(|(_, part)| part.rows).sum();
    assert_eq!(progress.rows.load(Ordering::Relaxed), stored);
    std::fs::remove_dir_all(trace).unwrap();
}

#[test]
fn what_makes_no_sense_is_refused_with_a_reason() {
    let sample = Sample::lake().unwrap();
    let trace = Sample::trace().unwrap();
    let check = |refused: Result<(), Error>, part: &str| {
        let error = refused.expect_err(part);
        let mut said = error.to_string();
        let mut cause = std::error::Error::source(&error);
        while let Some(error) = cause {
            said = format!("{said}: {error}");
            cause = error.source();
        }
        assert!(said.contains(part), "{said}");
    };
    let events = || "events".parse::<KillRule>().unwrap();
    let swept = |grid: &[i64]| sample.study().rule(events().over(grid.to_vec())).sweeps().map(drop);
    check(swept(&[40, 10]), "threshold 10 comes after 40, but thresholds must ascend");
    check(swept(&[10, 10]), "threshold 10 comes after 10");
    check(swept(&[]), "kill rule `events` has no thresholds");
    check(sample.study().sweeps().map(drop), "there is no kill rule to sweep");
    let usage = || Usage::of(&sample);
    check(usage().cpu(Cpu::Published).gather().map(drop), "cannot be `published`");
    check(usage().every(0).gather().map(drop), "intervals of 0 µs");
    check(usage().every(-HOUR).gather().map(drop), "intervals of -3600000000 µs");
    let mut gathered = usage().gather().unwrap();
    gathered.history.keeps_ends = false;
    let slowdown = gathered.evaluate(&mut *index("slowdown").unwrap()).map(drop);
    check(slowdown, "reads the ends of tasks, which this usage does not contain");
    let late = || "late".parse::<DetectorPlan>().unwrap();
    check(sample.detect([late()]).truths([]).run().map(drop), "0 ground truths");
    check(
        sample.detect([late()]).heartbeat(0).run().map(drop),
        "the time between heartbeats is 0 µs",
    );
    check(sample.detect([late(), late()]).run().map(drop), "two detectors are called `late`");
    let least = sample.detect([late()]).tasks_min(0).run().map(drop);
    check(least, "the smallest group is 0 tasks, but must be at least 1");
    let early = "the setting `window_end` is refused: the end of the window, 0.000005 s, is before";
    check(sample.study().window_end(5).ledger().map(drop), early);
    check(sample.detect([late()]).window_end(5).run().map(drop), early);
    let last_us = Windows::of(&sample).task_end_us.max(Windows::of(&sample).job_end_us);
    assert_eq!(Windows::ending(&sample, Some(last_us - 1)).unwrap_err().last_us, last_us);
    assert_eq!(Windows::ending(&sample, Some(last_us)).unwrap().task_end_us, last_us);
    sample.study().window_end(last_us + DAY).ledger().unwrap();
    let rows = || sample.batches(Table::TaskEvents);
    check(rows().bucket(99).columns(["time_us"]).map(drop), "no bucket 99: the lake has 4, from 0");
    check(rows().columns(["tim_us"]).map(drop), "table `task_events` has no column `tim_us`");
    let ingest = || Ingest::of(&trace).unwrap().into(trace.join("lake"));
    check(ingest().buckets(0).run().map(drop), "the number of buckets is 0");
    check(ingest().threads(0).run().map(drop), "the number of threads is 0");
    assert!(!trace.join("lake").exists(), "nothing was made");
    assert!(Shard::new(7, 3).is_err() && Shard::new(0, 3).is_err() && Shard::new(3, 3).is_ok());
    std::fs::remove_dir_all(trace).unwrap();
}

/// An order and a rule that return the given periods, one per call.
#[derive(Debug)]
struct Odd(Mutex<Vec<i64>>);

impl Odd {
    fn new(periods_us: &[i64]) -> Self {
        Self(Mutex::new(periods_us.iter().rev().copied().collect()))
    }

    fn again(&self) -> Self {
        Self(Mutex::new(self.0.lock().unwrap().clone()))
    }
}

impl OrderPlan for Odd {
    fn build(&self, _: &State<'_>, _seed: u64) -> Box<dyn Order> {
        Box::new(self.again())
    }
}

impl Order for Odd {
    fn push(&mut self, _: &State<'_>, _task: u32) {}

    fn push_front(&mut self, _: &State<'_>, _task: u32) {}

    fn peek(&mut self, state: &State<'_>) -> Option<u32> {
        (0..).zip(&state.tasks.phase).find(|(_, phase)| **phase == Phase::Waiting).map(|one| one.0)
    }

    fn pop(&mut self) {}

    fn period_us(&self) -> Option<i64> {
        self.0.lock().unwrap().pop()
    }
}

impl SpeculationPlan for Odd {
    fn build(&self, _: &State<'_>) -> Option<Box<dyn Speculation>> {
        Some(Box::new(self.again()))
    }
}

impl Speculation for Odd {
    fn heartbeat_us(&self) -> Option<i64> {
        self.0.lock().unwrap().pop()
    }

    fn next(&mut self, _: &State<'_>, _place: &mut Place<'_>) -> Option<Wish> {
        None
    }
}

#[test]
fn a_policy_that_cannot_be_replayed_is_refused_with_a_reason() {
    let (mut cluster, _) = Cluster::of_speeds(vec![1.0; 2]).check().unwrap();
    let mut workload = Workload::plain(5, Column::Same(10 * SECOND)).check().unwrap();
    let policy = |text: &str| text.parse::<PolicyPlan>().unwrap();
    let refused = |policy: &PolicyPlan| {
        replay(&ReplayPlan::new(&cluster, &workload, policy)).unwrap_err().to_string()
    };
    let order = |periods_us: &[i64]| policy("fifo").with_order("odd", Odd::new(periods_us));
    let rule = |periods_us: &[i64]| policy("fifo").with_speculation("odd", Odd::new(periods_us));
    let least = "but must be at least 1 µs";
    for period_us in [0, -1, i64::MIN] {
        let said = refused(&order(&[period_us]));
        assert_eq!(said, format!("the period of order `odd` is {period_us} µs, {least}"));
        let said = refused(&rule(&[period_us]));
        assert_eq!(said, format!("the period of rule `odd` is {period_us} µs, {least}"));
    }
    // The period is read only once, so a later period of 0 cannot cause a division by zero.
    for policy in [order(&[SECOND, 0, 0, 0]), rule(&[SECOND, 0, 0, 0])] {
        let outcome = replay(&ReplayPlan::new(&cluster, &workload, &policy)).unwrap();
        assert_eq!(outcome.makespan_us, Some(30 * SECOND));
    }
    for heartbeat_s in [0.0, -1.0, 1e-7, f64::NAN, f64::INFINITY] {
        let late: DetectorPlan = "late".parse().unwrap();
        let error = policy("fifo").with_detector(late, heartbeat_s).unwrap_err().to_string();
        let said = format!("policy `late`: `heartbeat_s={heartbeat_s}` is not a time from 0.001");
        assert!(error.starts_with(&said), "{error}");
    }
    workload.gpus = Column::Same(GpuAsk::new(1, 1000, u64::MAX));
    cluster.gpus = vec![Gpus { count: 1, model: u64::MAX }; 2];
    let conservative = policy("conservative");
    let error = Error::from(
        replay(&ReplayPlan::new(&cluster, &workload, &conservative)).expect_err("no booking"),
    );
    assert!(error.to_string().starts_with("order `conservative` cannot replay tasks with GPUs"));
}

/// A custom index with a custom error.
struct Capped(Arc<AtomicU64>);

#[derive(Debug)]
struct TooMuch(f64);

impl std::fmt::Display for TooMuch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} CPU-seconds are too much", self.0)
    }
}

impl std::error::Error for TooMuch {}

impl std::fmt::Display for Capped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("capped")
    }
}

impl Index for Capped {
    fn columns(&self) -> Vec<String> {
        vec!["used".to_owned()]
    }

    fn begin(&mut self, _: &History) -> Result<(), FairnessError> {
        Ok(())
    }

    fn step(&mut self, step: &Step<'_>, _: &mut Readings) -> Result<(), FairnessError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        match step.used.iter().find(|used| 10.0 < used.cpu_s) {
            Some(used) => Err(FairnessError::own(&*self, TooMuch(used.cpu_s))),
            None => Ok(()),
        }
    }
}

#[test]
fn an_own_index_runs_on_another_thread_and_fails_with_its_own_error() {
    let sample = Sample::lake().unwrap();
    let usage = Usage::of(&sample).gather().unwrap();
    let steps = Arc::new(AtomicU64::new(0));
    let mut index: Box<dyn Index> = Box::new(Capped(Arc::clone(&steps)));
    let error = std::thread::scope(|scope| {
        scope.spawn(|| usage.evaluate(&mut *index).unwrap_err()).join().unwrap()
    });
    assert_eq!(error.to_string(), "the index `capped` failed");
    let cause = std::error::Error::source(&error).expect("it has a cause");
    assert!(cause.downcast_ref::<TooMuch>().is_some(), "{cause}");
    assert!(0 < steps.load(Ordering::Relaxed));
}

#[test]
fn own_detectors_are_distinguished_by_their_parameters() {
    #[derive(Clone, Debug)]
    struct Old(f64);

    impl Detector for Old {
        fn judge(&mut self, scene: &Scene<'_>, flags: &mut Vec<Flag>) {
            let old = |running: &Running| self.0 < running.age_s(scene.now_us);
            let running = scene.running.iter().enumerate();
            let wanted = running.filter(|(_, running)| old(running) && !running.was_copied);
            flags.extend(wanted.map(|(position, _)| Flag::copy(position)));
        }
    }

    let sample = Sample::lake().unwrap();
    let old =
        |age_s: f64| DetectorPlan::own(format!("old-{}", 1), Old(age_s)).parameter("age_s", age_s);
    let found = sample.detect([old(100.0), old(1000.0)]).tasks_min(2).run().unwrap();
    assert_eq!(found.rows[0].detector, "old-1:age_s=100");
    assert_eq!(found.rows[1].detector, "old-1:age_s=1000");
    assert!(found.rows[1].flags < found.rows[0].flags, "the patient one flags fewer");
}

#[test]
fn an_own_kill_rule_that_is_a_built_in_one_in_other_words_gives_the_same_sweep() {
    let sample = Sample::lake().unwrap();
    let grid = [1, 2, 5, 10, 20];
    let built_in = "events".parse::<KillRule>().unwrap().over(grid);
    let own = KillRule::own("more-events", grid, |task: &TaskView<'_>, count: i64| {
        Some(task.events.get(usize::try_from(count).ok()?)?.time_us)
    });
    let sweeps = sample.study().rule(built_in).rule(own).sweeps().unwrap();
    assert_eq!(sweeps[1].rule, "more-events");
    let rows = |sweep: &Sweep| format!("{:?}", sweep.rows);
    assert_eq!(rows(&sweeps[0]), rows(&sweeps[1]));
    assert!(sweeps[0].rows.iter().any(|row| row.net_cpu.is_some_and(|net| net != 0.0)));
}

#[test]
fn tasks_that_have_finished_by_the_time_of_their_kill_are_spared_on_request() {
    let sample = Sample::lake().unwrap();
    let events = || "events".parse::<KillRule>().unwrap().over([1, 2, 3]);
    let all = sample.study().rule(events()).sweeps().unwrap();
    let spared = sample.study().rule(events()).spare_finished().sweeps().unwrap();
    let mut count = 0;
    for (all, spared) in all[0].rows.iter().zip(&spared[0].rows) {
        let (harmed, at_end) = (all.harmed_jobs.unwrap(), all.harmed_at_end.unwrap());
        assert_eq!(spared.harmed_jobs, Some(harmed - at_end), "threshold {}", all.threshold);
        assert_eq!(spared.harmed_at_end, Some(0));
        count += at_end;
    }
    assert!(0 < count, "some finished with the event that condemns them");
}

/// The names that a `pub use` exports.
fn names_of(item: &str) -> Vec<&str> {
    let list = match item.split_once('{') {
        Some((_, list)) => list.trim_end_matches(['}', ';', '\n']),
        None => item.rsplit("::").next().unwrap_or(item),
    };
    list.split(',').map(str::trim).filter(|part| !part.is_empty()).collect()
}

#[test]
fn the_public_face_is_small() {
    const MOST: usize = 150;
    let source = |path: &str| {
        std::fs::read_to_string(super::support::repository().join("src").join(path)).unwrap()
    };
    // The documented items: the prelude, the decisions, and one constant. All others are hidden.
    let root = source("lib.rs");
    let lines: Vec<&str> = root.lines().collect();
    for (idx, line) in lines.iter().enumerate() {
        let Some(module) = line.strip_prefix("pub mod ") else { continue };
        let is_shown = ["prelude;", "decisions;"].contains(&module);
        let is_hidden = ["#[doc(hidden)]", "#[cfg(any(test, fuzzing))]"].contains(&lines[idx - 1]);
        assert!(
            is_shown || is_hidden,
            "{module} is documented; show it in the prelude, or hide it"
        );
    }
    let mut names: Vec<String> = vec!["PROGRAM".to_owned()];
    for entry in std::fs::read_dir(super::support::repository().join("src/prelude")).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for (at, _) in text.match_indices("\npub use crate::") {
            let item = &text[at + 1..];
            let item = &item[..=item.find(';').expect("an import ends")];
            names.extend(names_of(item).into_iter().map(str::to_owned));
        }
        for kind in ["struct", "enum", "trait", "fn", "const", "type"] {
            let of_kind = text.matches(&format!("\npub {kind} ")).count();
            names.extend((0..of_kind).map(|_| kind.to_owned()));
        }
    }
    assert!(80 < names.len(), "the items are found");
    assert!(names.len() <= MOST, "{} public items, more than {MOST}", names.len());
}
