//! Studies that are folded in parts, as on the workers of a cluster, have the same digits as the
//! whole.

use std::collections::{BTreeMap, BTreeSet};

use jobfate::answers::account::AccountPlan;
use jobfate::answers::classify::{By as Entity, classification};
use jobfate::answers::describe::DescribePlan;
use jobfate::answers::detect::plan::{DetectAsked, prepare};
use jobfate::answers::pass::pass;
use jobfate::answers::spread::{Errand, Folded, Parts, Question, study};
use jobfate::answers::study::{Definitions, plans_of};
use jobfate::answers::sweep::plan::{SweepPlan, asked};
use jobfate::answers::sweep::{harmed_table, sweep_all};
use jobfate::answers::words::{Section, Setting};
use jobfate::answers::work::answer;
use jobfate::facts::machines::MachineEvents;
use jobfate::facts::window::Windows;
use jobfate::fairness::gather::{Accrual, By, Cluster, Machines, Part, Plan, gather, gather_parts};
use jobfate::fairness::history::Grid;
use jobfate::faults::Failure;
use jobfate::lake::Lake;
use jobfate::replay::detect::walk::Walked;
use jobfate::replay::detect::{DetectPlan, FlagRow, detect_walked};
use jobfate::schema::Table;
use jobfate::studies::episodes::count;
use jobfate::studies::fold::fold;
use jobfate::studies::ledger::{CpuDefinition, ledger};
use jobfate::studies::load::{self, Intervals};
use jobfate::studies::machines::ran::running;
use jobfate::studies::machines::{end_of, fleet};
use jobfate::studies::meter::Meter;
use jobfate::studies::samples::{OutcomeOf, Split, What, collect};
use proptest::prelude::*;
use proptest::test_runner::Config;

use super::drawn::{Job, jobs, lake};
use super::support::Place;

/// Number of random traces.
const TRACES: u32 = 24;

fn section(options: &[(&str, &[&str])]) -> Section {
    let many = |words: &[&str]| Setting::Many(words.iter().map(|&word| word.to_owned()).collect());
    options.iter().map(|&(name, words)| (name.to_owned(), many(words))).collect()
}

/// The result of workers for a study in a number of parts. The request of each part was written as
/// text and parsed.
fn parts(lake: &Lake, windows: Windows, count: u32, errand: &Errand) -> Parts {
    let definitions = Definitions { cpu: Some(CpuDefinition::Slots), ..Definitions::default() };
    // The study is the second of two, so that the tasks of both are counted.
    let errands = vec![Errand::Account(BTreeMap::new()), errand.clone()];
    let question = Question::of(lake, (windows, definitions), count, errands);
    let question = Question::read(&serde_json::to_string(&question).unwrap()).unwrap();
    Parts((count..2 * count).map(|task| answer(&question, task).unwrap()).collect())
}

fn plan<P: jobfate::answers::study::Plan>(name: &str, section: &Section) -> P {
    let definitions = Definitions { cpu: Some(CpuDefinition::Slots), ..Definitions::default() };
    plans_of::<P>(name, section, &definitions).unwrap().remove(0)
}

fn flagged(lake: &Lake, windows: Windows, plan: &DetectPlan, parts: Option<&Parts>) -> String {
    let walks: Option<Vec<Vec<Vec<Walked>>>> = parts.map(|parts| parts.read().unwrap());
    let mut walks = walks.map(|ranges| ranges.into_iter().flatten());
    let walks = std::iter::from_fn(|| Some(walks.as_mut().and_then(Iterator::next)));
    let mut flags: Vec<FlagRow> = Vec::new();
    let outcome = detect_walked(lake, windows, plan, walks, |some| {
        flags.extend_from_slice(some);
        Ok::<(), Failure>(())
    });
    format!("{:?}\n{flags:?}", outcome.unwrap())
}

fn check(place: &Place, count: u32) {
    let lake = place.lake();
    let windows = Windows::of(&lake);
    let count = count.min(lake.bucket_count());

    let asks = section(&[("group-by", &["user", "priority"])]);
    let of_account = plan::<AccountPlan>("account", &asks).asked(&lake).unwrap();
    let found = parts(&lake, windows, count, &Errand::Account(asks));
    let [here, there] = [None, Some(&found)]
        .map(|found| format!("{:?}", ledger(&study(&lake, windows, &of_account, found).unwrap())));
    assert_eq!(here, there, "account");

    let rules = ["failures", "dead-time={1,9,90}", "events+failures=2", "k8s:per=job"];
    let asks = section(&[("rules", &rules), ("bootstrap", &["20"]), ("train-until", &["0.002"])]);
    let of_plan = SweepPlan { harmed: Some(4), ..plan::<SweepPlan>("sweep", &asks) };
    let of_sweep = asked(&of_plan, &lake).unwrap();
    let found = parts(&lake, windows, count, &Errand::Sweep(asks, Some(4)));
    let [here, there] = [None, Some(&found)].map(|found| {
        let study = study(&lake, windows, &of_sweep, found).unwrap();
        let harmed = harmed_table(&study, study.asked.all_harmed_at.unwrap());
        format!("{:?} {harmed:?}", sweep_all(&study, 10.0))
    });
    assert_eq!(here, there, "sweep");

    let asks = section(&[("min-tasks", &["1"]), ("heartbeat", &["3"])]);
    let (_, of_detect) = prepare(&plan::<DetectAsked>("detect", &asks), &lake).unwrap();
    let found = parts(&lake, windows, count, &Errand::Detect(asks));
    assert_eq!(
        flagged(&lake, windows, &of_detect, None),
        flagged(&lake, windows, &of_detect, Some(&found)),
        "detect"
    );

    for (accrual, keeps) in [(Accrual::End, true), (Accrual::Running, false)] {
        let of_usage = Plan {
            meter: Meter::Cpu(CpuDefinition::Requested),
            accrual,
            by: By::User,
            machines: Machines::Each,
            separate_users: true,
            grid: Grid { start_us: 0, interval_us: 17_000_000, count: 40 },
            shown_from: 2,
            keeps_ends: keeps,
            keeps_machines: keeps,
        };
        let name = "one".to_owned();
        let errand = Errand::Usage { plan: of_usage, name: name.clone(), shift_us: 5 };
        let cluster = Cluster { name, lake: place.lake(), windows, shift_us: 5 };
        let found = parts(&lake, windows, count, &errand).read::<Vec<Part>>().unwrap();
        let here = gather(std::slice::from_ref(&cluster), &of_usage).unwrap();
        let there = gather_parts(&cluster, &of_usage, found).unwrap();
        assert_eq!(format!("{here:?}"), format!("{there:?}"), "usage");
    }
}

/// Compares the outcomes of tasks and the distributions of one pass with separate runs of each.
fn check_descriptions(
    (lake, windows): (&Lake, Windows),
    definitions: &Definitions,
    (folded, of_describe): (&Folded, &Section),
) {
    let classes = definitions.classes;
    let alone = classification(lake, windows, Entity::Task, classes, None).unwrap();
    let found = folded.tasks("tasks").unwrap().finish(classes);
    assert_eq!(format!("{alone:?}"), format!("{found:?}"), "tasks");
    let plans = plans_of::<DescribePlan>("describe", of_describe, definitions).unwrap();
    assert_eq!(plans.len(), 4);
    // A random trace may have no tasks, or no events of jobs. Questions without rows are left out.
    let has_rows = |table| lake.manifest.table(table).is_some_and(|entry| 0 < entry.rows());
    let [of_jobs, of_tasks] = [Table::JobEvents, Table::TaskEvents].map(has_rows);
    let has_answer = |what| if what == What::JobDurations { of_jobs } else { of_tasks };
    let asked = plans.iter().filter(|plan| has_answer(plan.what)).map(|plan| {
        let split = Split { classes: plan.classes, of: OutcomeOf::Job, group_by: plan.group_by };
        (plan.what, split)
    });
    let asked: Vec<(What, Split)> = asked.collect();
    let alone = collect(lake, windows, &asked).unwrap();
    let found = folded.samples("describe").unwrap();
    assert_eq!(format!("{alone:?}"), format!("{found:?}"), "describe");
}

/// Compares the counts of events, and the attempts on machines that left, with separate runs of
/// each.
fn check_events((lake, windows): (&Lake, Windows), folded: &Folded) {
    let found = folded.counts("episodes").unwrap();
    assert_eq!(found.asked.at.length_us, 50_000_000);
    let alone = count(lake, windows, found.asked.clone()).unwrap();
    assert_eq!(format!("{alone:?}"), format!("{found:?}"), "episodes");
    let events = MachineEvents::read(lake).unwrap();
    let outages = fleet(&events, end_of(&events, windows)).outages;
    let [alone, found] = [None, folded.machines("machines")]
        .map(|known| running(lake, windows, &outages, known).unwrap());
    assert_eq!(alone, found, "machines");
}

/// The same jobs on machine 5, which alternately leaves and returns at these instants, s.
fn with_outages(jobs: &[Job], instants: &BTreeSet<u64>) -> Place {
    let place = lake(jobs, "job_events,task_events,task_usage");
    let lines = instants.iter().enumerate();
    let lines = lines.map(|(idx, at)| format!("{at}000000,5,{},p,0.5,0.5", idx % 2));
    place.raw("machine_events/part-00000-of-00001.csv", lines.collect::<Vec<_>>().join("\n"));
    place.ingest(&["--tables", "machine_events"]).ok();
    place
}

/// Compares one pass over the lake for several studies with separate runs of each.
fn check_pass(place: &Place, cpu: CpuDefinition) {
    let lake = place.lake();
    let windows = Windows::of(&lake);
    let definitions = Definitions { cpu: Some(cpu), ..Definitions::default() };
    let of_account = section(&[("group-by", &["user"])]);
    let of_sweep =
        section(&[("rules", &["failures", "events+failures=2"]), ("bootstrap", &["20"])]);
    let one = |name: &str, word: &str| (name.to_owned(), Setting::One(word.to_owned()));
    let every = |interval: &str| Section::from([one("interval", interval)]);
    let of_load =
        |interval: &str, by: &str| Section::from([one("interval", interval), one("by", by)]);
    let of_usage = |interval_us| Plan {
        meter: Meter::Cpu(cpu),
        accrual: Accrual::Running,
        by: By::User,
        machines: Machines::Each,
        separate_users: false,
        grid: Grid { start_us: 0, interval_us, count: 40 },
        shown_from: 0,
        keeps_ends: true,
        keeps_machines: true,
    };
    let usage = |interval_us| Errand::Usage {
        plan: of_usage(interval_us),
        name: "one".to_owned(),
        shift_us: 0,
    };
    let whats = ["events-per-task", "waiting", "job-durations", "estimates"];
    let of_describe = section(&[("what", &whats)]);
    let errands = [
        ("tasks", Errand::Tasks),
        ("describe", Errand::Describe(of_describe.clone())),
        ("first", usage(17_000_000)),
        ("account", Errand::Account(of_account.clone())),
        ("detect", Errand::Detect(Section::default())),
        ("sweep", Errand::Sweep(of_sweep.clone(), None)),
        ("second", usage(60_000_000)),
        ("load", Errand::Load(of_load("9000", "user"))),
        // One part for each bucket would fill the memory.
        ("finely", Errand::Load(of_load("20", "class"))),
        ("episodes", Errand::Episodes(every("50"))),
        ("machines", Errand::Machines),
    ];
    let folded = pass(&lake, (windows, definitions), &errands).unwrap();

    let plans = plans_of::<AccountPlan>("account", &of_account, &definitions).unwrap();
    let alone = ledger(&fold(&lake, windows, &plans[0].asked(&lake).unwrap()).unwrap());
    let found = ledger(&folded.outcomes("account").unwrap());
    assert_eq!(format!("{alone:?}"), format!("{found:?}"), "account, {cpu}");

    let plans = plans_of::<SweepPlan>("sweep", &of_sweep, &definitions).unwrap();
    let alone = fold(&lake, windows, &asked(&plans[0], &lake).unwrap()).unwrap();
    let found = folded.outcomes("sweep").unwrap();
    let [alone, found] = [alone, found].map(|study| format!("{:?}", sweep_all(&study, 10.0)));
    assert_eq!(alone, found, "sweep, {cpu}");

    for (name, interval_us) in [("first", 17_000_000), ("second", 60_000_000)] {
        let cluster = Cluster { name: "one".to_owned(), lake: place.lake(), windows, shift_us: 0 };
        let alone = gather(std::slice::from_ref(&cluster), &of_usage(interval_us)).unwrap();
        let found = folded.usage(name).unwrap();
        assert_eq!(format!("{alone:?}"), format!("{found:?}"), "{name}, {cpu}");
    }
    let found = folded.load("load").unwrap();
    let Intervals { length_us, start_us, end_us, .. } = found.asked.at;
    assert_eq!((length_us, found.asked.by), (9_000_000_000, load::By::User));
    let alone = load::fold(&lake, windows, &found.asked).unwrap();
    assert_eq!(format!("{alone:?}"), format!("{found:?}"), "load, {cpu}");
    assert!((end_us - start_us) / 20_000_000 < 20_000 || folded.load("finely").is_none());
    check_descriptions((&lake, windows), &definitions, (&folded, &of_describe));
    check_events((&lake, windows), &folded);
    assert!(folded.outcomes("account").is_none(), "it is handed out once");
    assert!(folded.outcomes("detect").is_none(), "detectors walk by themselves");
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::with_cases(TRACES) })]
    #[test]
    fn a_pass_finds_what_each_study_finds_alone(
        jobs in jobs(),
        instants in prop::collection::btree_set(0_u64..300, 1..9),
        cpu in prop::sample::select(vec![
            CpuDefinition::Measured, CpuDefinition::Requested, CpuDefinition::Slots,
        ]),
    ) {
        check_pass(&with_outages(&jobs, &instants), cpu);
    }

    #[test]
    fn parts_put_together_are_the_whole(jobs in jobs(), count in 1_u32..9) {
        check(&lake(&jobs, "job_events,task_events,task_usage"), count);
    }
}

#[test]
fn workers_of_another_version_refuse() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    let question = Question::of(
        &place.lake(),
        (Windows::of(&place.lake()), Definitions::default()),
        1,
        vec![Errand::Account(BTreeMap::new())],
    );
    let text = serde_json::to_string(&question).unwrap();
    let other = text.replace(env!("CARGO_PKG_VERSION"), "0.0.1");
    let file = place.path("question.json");
    std::fs::write(&file, other).unwrap();
    let run = place.run(&["work", file.to_str().unwrap()]);
    assert_eq!(run.code, Some(2));
    assert!(
        run.stderr.contains("but the program that started it has version 0.0.1"),
        "{}",
        run.stderr
    );
}

#[test]
fn workers_with_another_lake_refuse() {
    let place = Place::new().with_golden_trace();
    place.ingest(&["--tables", "job_events"]).ok();
    let (windows, definitions) = (Windows::of(&place.lake()), Definitions::default());
    let errands = vec![Errand::Account(BTreeMap::new())];
    let question = Question::of(&place.lake(), (windows, definitions), 1, errands);
    place.ingest(&[]).ok();
    let error = answer(&question, 0).unwrap_err();
    assert!(error.to_string().contains("has other parts"), "{error}");
}

#[test]
fn a_study_that_cannot_be_folded_is_left_to_its_own_step() {
    let place = Place::new().with_golden_trace();
    place.ingest(&["--tables", "task_events"]).ok();
    let (lake, windows) = (place.lake(), Windows::of(&place.lake()));
    let definitions = Definitions { cpu: Some(CpuDefinition::Slots), ..Definitions::default() };
    let history = section(&[("rules", &["history:p=0.5"])]);
    let errands =
        [("sweep", Errand::Sweep(history, None)), ("account", Errand::Account(Section::default()))];
    let folded = pass(&lake, (windows, definitions), &errands).unwrap();
    assert!(folded.outcomes("account").is_some());
    assert!(folded.outcomes("sweep").is_none(), "a past needs job_events");
}
