//! Cui and others (2014): TQST, which finds slow tasks through slow nodes.
//!
//! In: the [`Settings`] that the paper leaves open (its table of machines is lost). Out: response
//! times and copies of TQST, YARN's speculation and LATE for 20, 100 and 500 tasks of five sizes on
//! nine slaves, and verdicts on the paper's claims in each of these 15 cells. As in the paper, all
//! three use one criterion for slow tasks. The worked example (5 against 4 minutes) is a test in
//! this file.

use rayon::prelude::*;

use super::setting::{self, Fault};
use super::{Curve, Estimate, Figure, Point};
use crate::claims::{Cell, Claim, Parameter, Settled, direction};
use crate::replay::cluster::Cluster;
use crate::replay::engine::{Keep, Plan, replay};
use crate::replay::inputs::Inputs;
use crate::replay::policies::PolicyPlan;
use crate::replay::workload::{Column, UNITS, Workload};

/// Sizes of a task's input, MB.
const SIZES_MB: [f64; 5] = [0.1, 1.0, 10.0, 32.0, 64.0];
/// The number of tasks of a job, and the paper's figures that show backups and response times.
const TASKS: [(usize, &str, &str); 3] =
    [(20, "figure 2", "figure 5"), (100, "figure 3", "figure 6"), (500, "figure 4", "figure 7")];
/// Number of slaves in the paper.
const SLAVES: usize = 9;
/// Number of machines that hold the input of a task.
const REPLICAS: usize = 2;
/// The paper's criterion for a slow task: in the slowest share by rate, and below a share of the
/// mean.
const CRITERION: [Option<f64>; 2] = [Some(0.2), Some(0.5)];

/// The settings that the paper leaves open, and its criterion.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Speeds of the nine slaves, before some are slowed down.
    pub speeds: Vec<f64>,
    /// Number of slaves that are slowed down: the last ones.
    pub slow_nodes: usize,
    /// The share of their speed that is left.
    pub slow_speed: f64,
    /// Tasks that a slave runs at once.
    pub slots: usize,
    /// Minimum time of a task on a slave of speed 1, s.
    pub task_least_s: f64,
    /// Additional time per MB, s.
    pub task_per_mb_s: f64,
    /// Deviation of an attempt's work.
    pub noise: f64,
    /// Additional work if the input is not on the machine, as a share.
    pub away: f64,
    /// Share of the tasks that are slow, by rate; with `None`, every algorithm uses its own
    /// criterion.
    pub slow_share: Option<f64>,
    /// Share of the mean rate below which a task is slow.
    pub slow_rate: Option<f64>,
    /// Time after which LATE and TQST may consider a task slow, s.
    pub age_s: f64,
    /// The same time for YARN.
    pub yarn_age_s: f64,
    /// Time between two heartbeats, s.
    pub heartbeat_s: f64,
    /// Whether TQST knows the speeds of the slaves from an earlier job.
    pub knows_nodes: bool,
    /// Whether TQST hands out waiting tasks before copies; its Algorithm 2 has the opposite order.
    pub tasks_first: bool,
    /// The first seed.
    pub seed: u64,
    /// Number of runs of each setting.
    pub runs: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            speeds: vec![1.0; SLAVES],
            slow_nodes: 1,
            slow_speed: 0.2,
            slots: 2,
            task_least_s: 5.0,
            task_per_mb_s: 1.0,
            noise: 0.1,
            away: 0.0,
            slow_share: CRITERION[0],
            slow_rate: CRITERION[1],
            age_s: 60.0,
            yarn_age_s: 0.0,
            heartbeat_s: 1.0,
            knows_nodes: false,
            tasks_first: false,
            seed: 0,
            runs: 10,
        }
    }
}

/// A share as written.
fn share_or_off(share: Option<f64>) -> String {
    share.map_or_else(|| "off".to_owned(), |share| share.to_string())
}

impl Settings {
    pub(super) fn parameters(&self) -> Vec<Parameter> {
        let given = |key, value: &str, about| Parameter {
            key,
            value: value.to_owned(),
            settled: Settled::Given,
            about,
        };
        let mut all = vec![
            given("slaves", &SLAVES.to_string(), "slaves; the table of their kinds is lost"),
            given("tasks", "20, 100, 500", "tasks of a job"),
            given("size_mb", "0.1, 1, 10, 32, 64", "input of a task, MB"),
            given("replicas", &REPLICAS.to_string(), "slaves that hold the input of a task"),
        ];
        let criterion = [
            ("slow_share", self.slow_share, "slowest part by rate; `off`: each its own criterion"),
            ("slow_rate", self.slow_rate, "part of the mean rate below which a task is slow"),
        ];
        all.extend(criterion.into_iter().zip(CRITERION).map(|((key, value, about), of_paper)| {
            let settled = if value == of_paper { Settled::Given } else { Settled::Open };
            Parameter { key, value: share_or_off(value), settled, about }
        }));
        let open = self.open_parameters().into_iter();
        all.extend(open.map(|(key, value, about)| Parameter {
            key,
            value,
            settled: Settled::Open,
            about,
        }));
        all
    }

    fn open_parameters(&self) -> [(&'static str, String, &'static str); 15] {
        let speeds: Vec<String> = self.speeds.iter().map(ToString::to_string).collect();
        [
            ("speeds", speeds.join("/"), "speeds of the nine slaves before some are slowed"),
            ("slow_nodes", self.slow_nodes.to_string(), "slaves that are slowed: the last ones"),
            ("slow_speed", self.slow_speed.to_string(), "part of their speed left to them"),
            ("slots", self.slots.to_string(), "tasks that a slave runs at once"),
            (
                "task_least_s",
                self.task_least_s.to_string(),
                "time of a task without input on speed 1, s",
            ),
            (
                "task_per_mb_s",
                self.task_per_mb_s.to_string(),
                "time of a task per MB on speed 1, s",
            ),
            ("noise", self.noise.to_string(), "deviation of an attempt's work, a share"),
            ("away", self.away.to_string(), "more work where the input is not, a share"),
            ("age_s", self.age_s.to_string(), "time after which LATE and TQST may call it slow, s"),
            ("yarn_age_s", self.yarn_age_s.to_string(), "the same of YARN, s; its code knows none"),
            ("heartbeat_s", self.heartbeat_s.to_string(), "time between two heartbeats, s"),
            (
                "knows_nodes",
                self.knows_nodes.to_string(),
                "whether TQST knows the speeds from an earlier job",
            ),
            (
                "tasks_first",
                self.tasks_first.to_string(),
                "whether TQST starts new tasks before copies",
            ),
            ("seed", self.seed.to_string(), "seed of the first run"),
            ("runs", self.runs.to_string(), "runs of each setting"),
        ]
    }

    pub(super) fn set(&mut self, key: &str, value: &str) -> Result<(), Fault> {
        let seconds = || setting::number(value, 0.0..=1e5, "seconds from 0 to 1e5");
        match key {
            "speeds" => self.speeds = speeds_of(value)?,
            "slow_nodes" => {
                self.slow_nodes = setting::count(value, 0..=SLAVES, "a number of slaves to 9")?;
            }
            "slow_speed" => {
                self.slow_speed = setting::number(value, 0.001..=1.0, "a part from 0.001 to 1")?;
            }
            "slots" => self.slots = setting::count(value, 1..=64, "a number from 1 to 64")?,
            "task_least_s" => {
                self.task_least_s =
                    setting::number(value, 0.001..=1e5, "seconds from 0.001 to 1e5")?;
            }
            "task_per_mb_s" => {
                self.task_per_mb_s = setting::number(value, 0.0..=1e4, "seconds from 0 to 1e4")?;
            }
            "noise" => self.noise = setting::number(value, 0.0..=2.0, "a deviation from 0 to 2")?,
            "away" => self.away = setting::number(value, 0.0..=100.0, "a share from 0 to 100")?,
            "slow_share" => self.slow_share = part_or_off(value)?,
            "slow_rate" => self.slow_rate = part_or_off(value)?,
            "age_s" => self.age_s = seconds()?,
            "yarn_age_s" => self.yarn_age_s = seconds()?,
            "heartbeat_s" => {
                self.heartbeat_s = setting::number(value, 0.01..=1e5, "seconds from 0.01 to 1e5")?;
            }
            "knows_nodes" => self.knows_nodes = setting::flag(value)?,
            "tasks_first" => self.tasks_first = setting::flag(value)?,
            "seed" => self.seed = setting::seed(value)?,
            "runs" => self.runs = setting::runs(value)?,
            _ => return Err(Fault::Unknown),
        }
        Ok(())
    }

    /// The speeds, with some slaves slowed down.
    fn slowed(&self) -> Vec<f64> {
        let first = SLAVES - self.slow_nodes;
        let slowed = |(slave, speed): (usize, &f64)| {
            if slave < first { *speed } else { speed * self.slow_speed }
        };
        self.speeds.iter().enumerate().map(slowed).collect()
    }
}

fn speeds_of(text: &str) -> Result<Vec<f64>, Fault> {
    let what = "nine speeds from 0.001 to 1000 as in 1/1/1/1/1/1/0.8/0.8/0.8";
    let speeds = text.split('/').map(|one| setting::number(one, 0.001..=1e3, what));
    let speeds = speeds.collect::<Result<Vec<f64>, Fault>>()?;
    if speeds.len() == SLAVES { Ok(speeds) } else { Err(Fault::Value(what)) }
}

fn part_or_off(text: &str) -> Result<Option<f64>, Fault> {
    if text == "off" {
        return Ok(None);
    }
    setting::number(text, 0.0..=1.0, "a part from 0 to 1, or off").map(Some)
}

/// The positions of the paper's algorithms in [`policies`], where `none` comes first.
const LATE: usize = 1;
const YARN: usize = 2;
const TQST: usize = 3;

fn policies(settings: &Settings) -> [(&'static str, String); 4] {
    let nodes = if settings.knows_nodes { "known" } else { "unknown" };
    let (copies, waiting) =
        if settings.tasks_first { ("last", "first") } else { ("first", "ignored") };
    let all = format!(
        "heartbeat_s={},slow_share={},slow_rate={}",
        settings.heartbeat_s,
        share_or_off(settings.slow_share),
        share_or_off(settings.slow_rate)
    );
    let (age_s, yarn_age_s) = (settings.age_s, settings.yarn_age_s);
    [
        ("none", "none".to_owned()),
        ("late", format!("late:copies=last,age_s={age_s},{all}")),
        ("yarn", format!("yarn:copies=last,age_s={yarn_age_s},{all}")),
        (
            "tqst",
            format!("tqst:nodes={nodes},copies={copies},waiting={waiting},age_s={age_s},{all}"),
        ),
    ]
}

#[expect(clippy::cast_possible_truncation, reason = "a few minutes")]
fn micros(seconds: f64) -> i64 {
    (seconds * 1e6).round() as i64
}

/// The result of one run.
#[derive(Clone, Copy, Debug)]
struct Run {
    response_s: f64,
    copies: f64,
}

/// Selects one number of a run.
type Pick = fn(&Run) -> f64;

fn measure(settings: &Settings, tasks: usize, size_mb: f64, policy: &str) -> Vec<Run> {
    let policy: PolicyPlan = policy.parse().expect("a valid policy");
    let mut cluster = Cluster::of_speeds(settings.slowed());
    cluster.cpu = vec![settings.slots as u64 * UNITS; SLAVES];
    let cluster = cluster.check().expect("speeds are positive").0;
    let work_s = settings.task_least_s + settings.task_per_mb_s * size_mb;
    let mut without_places = Workload::plain(tasks, Column::Same(micros(work_s)));
    without_places.noise = settings.noise;
    (0..settings.runs)
        .into_par_iter()
        .map(|number| {
            let seed = settings.seed + number as u64;
            let mut workload = without_places.clone();
            if 0.0 < settings.away {
                workload.inputs = Inputs::drawn(tasks, SLAVES, REPLICAS, settings.away, seed);
            }
            let workload = workload.check().expect("lengths are positive");
            let plan = Plan::new(&cluster, &workload, &policy);
            let outcome = replay(&Plan { seed, journal: Keep::Sums, ..plan })
                .expect("a policy of the list can be replayed");
            let copies = u32::try_from(outcome.copies).expect("fewer than 2^32");
            let makespan_us = outcome.makespan_us.unwrap_or(i64::MAX);
            Run {
                response_s: crate::units::micros_to_seconds(makespan_us),
                copies: f64::from(copies),
            }
        })
        .collect()
}

/// Response times and copies for one number of tasks, by size; all runs of algorithms and sizes use
/// the same random draws.
fn experiment(settings: &Settings, (tasks, backups, times): (usize, &str, &str)) -> Figure {
    let policies = policies(settings);
    let runs: Vec<Vec<Vec<Run>>> = policies
        .iter()
        .map(|(_, policy)| {
            SIZES_MB.iter().map(|&size_mb| measure(settings, tasks, size_mb, policy)).collect()
        })
        .collect();
    let curve = |idx: usize, what: &str, pick: Pick| {
        let points = SIZES_MB.iter().zip(&runs[idx]).map(|(size_mb, runs)| Point {
            x: size_mb.to_string(),
            value: Estimate::of(&runs.iter().map(pick).collect::<Vec<f64>>()),
        });
        Curve { name: format!("{}, {what}", policies[idx].0), points: points.collect() }
    };
    let curves = (0..policies.len()).flat_map(|idx| {
        [curve(idx, "response, s", |run| run.response_s), curve(idx, "copies", |run| run.copies)]
    });
    Figure {
        name: format!("{tasks} tasks"),
        title: format!("Response time and copies of {tasks} tasks by size"),
        axes: ("MB per task".to_owned(), "seconds, copies".to_owned()),
        curves: curves.collect(),
        marks: Vec::new(),
        claims: claims(tasks, [backups, times], &runs),
        remarks: Vec::new(),
    }
}

/// The four claims of the paper; the three comparisons are checked in every cell separately. `runs`
/// is by algorithm, size and run.
fn claims(tasks: usize, [backups, times]: [&str; 2], runs: &[Vec<Vec<Run>>]) -> Vec<Claim> {
    let mut claims = Vec::new();
    // By how much the second is larger than the first, run by run.
    let less = |one: &[Run], other: &[Run], pick: Pick| -> Vec<f64> {
        one.iter().zip(other).map(|(one, other)| pick(other) - pick(one)).collect()
    };
    let copies: Pick = |run| run.copies;
    let time: Pick = |run| run.response_s;
    for (idx, size_mb) in SIZES_MB.iter().enumerate() {
        let [late, yarn, tqst] = [LATE, YARN, TQST].map(|algorithm| &runs[algorithm][idx]);
        for (place, claim, one, other, pick) in [
            (backups, "TQST launches fewer backups than LATE", tqst, late, copies),
            (backups, "TQST launches fewer backups than YARN", tqst, yarn, copies),
            (times, "YARN answers sooner than LATE, s", yarn, late, time),
            (times, "TQST answers sooner than LATE, s", tqst, late, time),
            (times, "TQST answers sooner than YARN, s", tqst, yarn, time),
        ] {
            let name = format!("{tasks} tasks of {size_mb} MB");
            let cell = Cell::new(name.clone(), less(one, other, pick));
            claims.push(direction(place, &format!("{claim}: {name}"), &[cell]));
        }
    }
    for (name, algorithm) in [("LATE", LATE), ("YARN", YARN), ("TQST", TQST)] {
        let cells = (1..SIZES_MB.len()).map(|idx| {
            let name = format!("{} to {} MB", SIZES_MB[idx - 1], SIZES_MB[idx]);
            Cell::new(name, less(&runs[algorithm][idx - 1], &runs[algorithm][idx], copies))
        });
        let claim = format!("backups of {name} grow with the data of a task: {tasks} tasks");
        claims.push(direction(backups, &claim, &cells.collect::<Vec<_>>()));
    }
    claims
}

/// Runs the experiment for every number of tasks.
pub fn reproduce(settings: &Settings) -> Vec<Figure> {
    TASKS.map(|job| experiment(settings, job)).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::Verdict;
    use crate::replay::journal::Kind;

    /// Minutes for the 12 tasks of the worked example; the slow slave is the first or the last
    /// machine, so it is served first or last if several are free.
    fn minutes(slow_is_first: bool, policy: &str) -> f64 {
        let mut speeds = vec![1.0; 4];
        speeds[if slow_is_first { 0 } else { 3 }] = 1.0 / 3.0;
        let cluster = Cluster::of_speeds(speeds).check().unwrap().0;
        let workload = Workload::plain(12, Column::Same(60_000_000)).check().unwrap();
        let policy: PolicyPlan = policy.parse().unwrap();
        let outcome = replay(&Plan::new(&cluster, &workload, &policy)).unwrap();
        crate::units::micros_to_seconds(outcome.makespan_us.unwrap()) / 60.0
    }

    /// ```text
    ///  slave 4 (1/3)  |----------- t4 -----------|---- t11 ------x
    ///  slave 1        |- t1 --|- t5 --|- t8 --|- t12 -|
    ///  slave 2        |- t2 --|- t6 --|- t9 --|       |copy of t11|     5 minutes
    ///  slave 3        |- t3 --|- t7 --|- t10 -|
    ///                 0       1       2       3       4           5
    /// ```
    #[test]
    fn the_worked_example_takes_four_minutes_instead_of_five() {
        let hadoop = "first-fit+hadoop:age_from=attempt,heartbeat_s=1";
        assert_eq!(minutes(true, "first-fit"), 6.0, "no copies, slave 4 served first");
        assert_eq!(minutes(true, hadoop), 5.0, "a copy of what is a minute old");
        assert_eq!(minutes(false, hadoop), 4.0, "slave 4 served last");
        for slow_is_first in [true, false] {
            let tqst = minutes(slow_is_first, "first-fit+tqst:nodes=known,heartbeat_s=1");
            assert_eq!(tqst, 4.0);
        }
    }

    /// The four claims of `experiments.md`, as an independent list: the figures of 20, 100 and 500
    /// tasks, the sentence, and whether it applies to every size or to all sizes together.
    const PUBLISHED: [([&str; 3], &str, bool); 8] = [
        (BACKUPS, "TQST launches fewer backups than LATE", true),
        (BACKUPS, "TQST launches fewer backups than YARN", true),
        (BACKUPS, "backups of LATE grow with the data of a task", false),
        (BACKUPS, "backups of YARN grow with the data of a task", false),
        (BACKUPS, "backups of TQST grow with the data of a task", false),
        (RESPONSE, "YARN answers sooner than LATE, s", true),
        (RESPONSE, "TQST answers sooner than LATE, s", true),
        (RESPONSE, "TQST answers sooner than YARN, s", true),
    ];
    const BACKUPS: [&str; 3] = ["figure 2", "figure 3", "figure 4"];
    const RESPONSE: [&str; 3] = ["figure 5", "figure 6", "figure 7"];

    #[test]
    fn every_claim_has_a_row_and_no_row_is_without_a_claim() {
        let mut expected = Vec::new();
        for (places, sentence, is_of_size) in PUBLISHED {
            for (place, tasks) in places.iter().zip(["20 tasks", "100 tasks", "500 tasks"]) {
                if is_of_size {
                    for size in ["0.1 MB", "1 MB", "10 MB", "32 MB", "64 MB"] {
                        expected
                            .push((place.to_string(), format!("{sentence}: {tasks} of {size}")));
                    }
                } else {
                    expected.push((place.to_string(), format!("{sentence}: {tasks}")));
                }
            }
        }
        let figures = reproduce(&Settings { runs: 1, ..Settings::default() });
        let rows = figures.into_iter().flat_map(|figure| figure.claims);
        let mut rows: Vec<_> = rows.map(|claim| (claim.place, claim.claim)).collect();
        rows.sort();
        expected.sort();
        assert_eq!(rows, expected);
    }

    /// Runs in which every claim holds: copies (none, LATE, YARN, TQST) and times, by size.
    fn as_published(copies: [f64; 4], response_s: [f64; 4]) -> Vec<Vec<Vec<Run>>> {
        let of = |algorithm: usize, size: usize, run: usize| {
            let (size, run) = ([0.0, 1.0, 2.0, 3.0, 4.0][size], [0.0, 0.01, 0.02][run]);
            let copies = copies[algorithm];
            Run {
                copies: copies + size * copies.signum() + run,
                response_s: response_s[algorithm] + run,
            }
        };
        let sizes = |algorithm| {
            (0..5).map(move |size| (0..3).map(|run| of(algorithm, size, run)).collect())
        };
        (0..4).map(|algorithm| sizes(algorithm).collect()).collect()
    }

    #[test]
    fn the_paper_put_in_as_ours_is_reproduced_and_its_reverse_is_not() {
        let verdicts = |copies, response_s| -> std::collections::BTreeSet<Verdict> {
            let runs = as_published(copies, response_s);
            claims(20, ["", ""], &runs).into_iter().map(|claim| claim.verdict).collect()
        };
        let published = verdicts([1.0, 30.0, 20.0, 10.0], [50.0, 40.0, 30.0, 20.0]);
        assert_eq!(published, [Verdict::Reproduced].into());
        // The opposite order of copies and of times, and copies that decrease as the size grows.
        let reverse = verdicts([-1.0, -30.0, -20.0, -10.0], [20.0, 20.0, 30.0, 40.0]);
        assert_eq!(reverse, [Verdict::NotReproduced].into());
    }

    #[test]
    fn slowed_slaves_are_the_last_ones() {
        let mut settings = Settings::default();
        settings.set("speeds", "1/1/1/1/1/1/1/2/4").unwrap();
        settings.set("slow_nodes", "2").unwrap();
        settings.set("slow_speed", "0.25").unwrap();
        assert_eq!(settings.slowed(), [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 1.0]);
    }

    #[test]
    fn the_criterion_is_given_until_it_is_changed() {
        let mut settings = Settings::default();
        let settled = |settings: &Settings| {
            let all = settings.parameters();
            all.into_iter().find(|one| one.key == "slow_share").unwrap().settled
        };
        assert_eq!(settled(&settings), Settled::Given);
        settings.set("slow_share", "off").unwrap();
        assert_eq!(settled(&settings), Settled::Open);
        assert!(policies(&settings)[LATE].1.contains("slow_share=off,slow_rate=0.5"));
    }

    /// Algorithm 2: a free machine that is not slow gets a copy before a new task.
    ///
    /// ```text
    ///  slave 9 (0.21)  |--- two tasks of 238 s ---|      slow from 60 s on
    ///  slaves 1 to 8   |- 50 s -|- 50 s -|- 50 s -|...   free at 100 s
    /// ```
    #[test]
    fn copies_go_before_new_tasks_only_by_the_order_of_the_algorithm() {
        let first_copy_s = |tasks_first: bool| {
            let settings =
                Settings { tasks_first, noise: 0.0, slow_speed: 0.21, ..Settings::default() };
            let mut cluster = Cluster::of_speeds(settings.slowed());
            cluster.cpu = vec![2 * UNITS; SLAVES];
            let cluster = cluster.check().unwrap().0;
            let workload = Workload::plain(100, Column::Same(50_000_000)).check().unwrap();
            let policy: PolicyPlan = policies(&settings)[TQST].1.parse().unwrap();
            let outcome = replay(&Plan::new(&cluster, &workload, &policy)).unwrap();
            let journal = outcome.journal.unwrap();
            let first = journal.entries().find(|entry| entry.kind == Kind::Copy);
            first.map(|entry| entry.at_us / 1_000_000)
        };
        assert_eq!(first_copy_s(false), Some(100));
        // 98 tasks on 16 slots: the last two begin at 300 s, when slave 9 is long done.
        assert_eq!(first_copy_s(true), None);
    }
}
