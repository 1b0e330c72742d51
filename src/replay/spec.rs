//! Clusters and workloads from a specification instead of a trace.
//!
//! In: `cluster:nodes=100,speeds=1..16,period_s=30` and `tasks:count=1000,size=100`, with a seed.
//! Out: a checked [`Cluster`] or [`Workload`]. A node's speed, load and failures depend only on the
//! seed and its number, so a change of one key does not affect anything else.

use std::fmt;
use std::str::FromStr;

use super::cluster::{Change, Cluster, ClusterError, MachineChange, Notice, Remark, Utilisation};
use super::gpus::{ANY_MODEL, GPUS_MAX, Gpus};
use super::random::{Draws, Purpose};
use super::workload::{Column, UNITS, Workload, WorkloadError};
use crate::notation::{Notation, NotationError};

/// A distribution of numbers: `4`, `1..16` (uniform), `1..=16` (uniform whole numbers), `1/1/4` (in
/// turn), `lognormal(0;0.5)` (mean and deviation of the logarithm).
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    /// Always the same number.
    Constant(f64),
    /// Uniform between two bounds.
    Range(f64, f64),
    /// Uniform whole numbers, including both bounds.
    Whole(f64, f64),
    /// The listed numbers in turn.
    List(Vec<f64>),
    /// Normal logarithms.
    LogNormal(f64, f64),
}

impl Law {
    /// The number at a position.
    pub fn draw(&self, draws: Draws, place: u64) -> f64 {
        match self {
            Self::Constant(value) => *value,
            Self::Range(from, to) => from + (to - from) * draws.uniform(place, 0),
            Self::Whole(from, to) => from + ((to - from + 1.0) * draws.uniform(place, 0)).floor(),
            Self::List(values) => {
                let idx = place % values.len() as u64;
                values[usize::try_from(idx).expect("below the length")]
            }
            Self::LogNormal(mean, deviation) => (mean + deviation * draws.normal(place, 0)).exp(),
        }
    }

    /// Whether every number is at least a bound.
    fn is_from(&self, least: f64) -> bool {
        match self {
            Self::Constant(value) => least <= *value,
            Self::Range(from, to) | Self::Whole(from, to) => least <= *from && from <= to,
            Self::List(values) => values.iter().all(|value| least <= *value),
            Self::LogNormal(_, deviation) => 0.0 <= *deviation,
        }
    }
}

/// The text is not a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoLaw;

impl FromStr for Law {
    type Err = NoLaw;

    fn from_str(text: &str) -> Result<Self, NoLaw> {
        let number = |text: &str| {
            text.trim().parse::<f64>().ok().filter(|value| value.is_finite()).ok_or(NoLaw)
        };
        if let Some(inner) = text.strip_prefix("lognormal(").and_then(|rest| rest.strip_suffix(')'))
        {
            let (mean, deviation) = inner.split_once(';').ok_or(NoLaw)?;
            return Ok(Self::LogNormal(number(mean)?, number(deviation)?));
        }
        if let Some((from, to)) = text.split_once("..=") {
            return Ok(Self::Whole(number(from)?, number(to)?));
        }
        if let Some((from, to)) = text.split_once("..") {
            return Ok(Self::Range(number(from)?, number(to)?));
        }
        if text.contains('/') {
            return text.split('/').map(number).collect::<Result<_, _>>().map(Self::List);
        }
        number(text).map(Self::Constant)
    }
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(value) => write!(f, "{value}"),
            Self::Range(from, to) => write!(f, "{from}..{to}"),
            Self::Whole(from, to) => write!(f, "{from}..={to}"),
            Self::List(values) => {
                let values: Vec<String> = values.iter().map(ToString::to_string).collect();
                f.write_str(&values.join("/"))
            }
            Self::LogNormal(mean, deviation) => write!(f, "lognormal({mean};{deviation})"),
        }
    }
}

const LAW: &str = "numbers like `4`, `1..16`, `1..=16`, `1/1/4` or `lognormal(0;0.5)`";

/// The node and second of a failure: `3@90`, with nodes counted from 1.
#[derive(Clone, Debug, Default, PartialEq)]
struct Listed(Vec<(u32, f64)>);

impl FromStr for Listed {
    type Err = NoLaw;

    fn from_str(text: &str) -> Result<Self, NoLaw> {
        let read = |item: &str| {
            let (node, at_s) = item.split_once('@').ok_or(NoLaw)?;
            let node: u32 = node.trim().parse().map_err(|_| NoLaw)?;
            let at_s: f64 = at_s.trim().parse().map_err(|_| NoLaw)?;
            (0 < node && at_s.is_finite() && 0.0 <= at_s)
                .then_some((node.saturating_sub(1), at_s))
                .ok_or(NoLaw)
        };
        text.split('/').map(read).collect::<Result<_, _>>().map(Self)
    }
}

/// An optional number.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Given(Option<f64>);

impl Given {
    fn is_amount(&self) -> bool {
        self.0.is_some_and(|amount| (1e-6..=1e6).contains(&amount))
    }
}

impl FromStr for Given {
    type Err = std::num::ParseFloatError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(|number| Self(Some(number)))
    }
}

/// An optional number of GPUs of a machine.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Count(Option<u8>);

const GPUS: &str = "a number of GPUs from 0 to 64";

impl FromStr for Count {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(|number| Self(Some(number)))
    }
}

/// Nodes, their speeds and sizes, the load of other users, and failures.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterSpec {
    /// The specification as written.
    written: String,
    nodes: u32,
    speeds: Law,
    cpu: f64,
    /// Memory; not checked if not given.
    memory: Option<f64>,
    /// GPUs of every model; not checked if not given.
    gpus: Count,
    /// Time between new draws of the load, s; 0 without load.
    period_s: f64,
    /// Share of the nodes that fail once, uniformly within `span_s`.
    fail_share: f64,
    /// Single failures.
    fails: Listed,
    /// Mean time until the next failure of a node, s; 0 for none.
    mtbf_s: f64,
    /// Mean time until a failed node returns, s; 0 for never.
    mttr_s: f64,
    /// The time up to which failures are drawn, s.
    span_s: f64,
    /// Time until a loss is noticed, s; negative for never.
    notice_s: f64,
    /// The time at which every node changes its speed, s; negative for never.
    change_s: f64,
    /// The factor of this change.
    change: f64,
}

impl FromStr for ClusterSpec {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Self, NotationError> {
        let mut notation = Notation::parse("specification", text)?;
        if notation.name() != "cluster" {
            return Err(notation.unknown_name(["cluster"]));
        }
        let (seconds, amount) = ("a time in seconds", "an amount from 0.000001 to 1000000");
        let span = 0.0..=1e9;
        let spec = Self {
            written: text.to_owned(),
            nodes: notation.take_if(
                "nodes",
                "a number of nodes from 1 to 1000000",
                100,
                |nodes: &u32| (1..=1_000_000).contains(nodes),
            )?,
            speeds: notation.take_if("speeds", LAW, Law::Constant(1.0), |law| law.is_from(1e-9))?,
            cpu: notation.number("cpu", amount, 1.0, 1e-6..=1e6)?,
            memory: notation.take_if("memory", amount, Given(None), Given::is_amount)?.0,
            gpus: notation.take_if("gpus", GPUS, Count(None), |gpus: &Count| {
                gpus.0.is_some_and(|count| usize::from(count) <= GPUS_MAX)
            })?,
            period_s: notation.take_if(
                "period_s",
                "0, or a time from 0.001 s",
                0.0,
                |&period_s: &f64| period_s == 0.0 || (1e-3..=1e9).contains(&period_s),
            )?,
            fail_share: notation.number("fail_share", "a share from 0 to 1", 0.0, 0.0..=1.0)?,
            fails: notation.take("fails", "failures like `3@90/5@120`", Listed::default())?,
            mtbf_s: notation.number("mtbf_s", seconds, 0.0, span.clone())?,
            mttr_s: notation.number("mttr_s", seconds, 0.0, span.clone())?,
            span_s: notation.number("span_s", seconds, 86_400.0, span)?,
            notice_s: notation.number("notice_s", "seconds, or -1 for never", 0.0, -1.0..=1e9)?,
            change_s: notation.number("change_s", "seconds, or -1 for never", -1.0, -1.0..=1e9)?,
            change: notation.number("change", "a factor above 0", 1.0, 1e-6..=1e6)?,
        };
        notation.finish()?;
        Ok(spec)
    }
}

impl fmt::Display for ClusterSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

/// Maximum expected number of failures of a cluster.
const FAILURES_MAX: f64 = 1e6;

impl ClusterSpec {
    /// Builds the cluster with a seed.
    pub fn build(&self, seed: u64) -> Result<(Cluster, Vec<Remark>), ClusterError> {
        let draws = Draws::new(seed, Purpose::Speed);
        let failures = f64::from(self.nodes) * self.span_s / (self.mtbf_s + self.mttr_s);
        if 0.0 < self.mtbf_s && 0.0 < self.mttr_s && FAILURES_MAX < failures {
            return Err(ClusterError::Failures(failures));
        }
        let speeds = (0..u64::from(self.nodes)).map(|node| self.speeds.draw(draws, node));
        let mut cluster = Cluster::of_speeds(speeds.collect());
        let count = cluster.machine_count();
        cluster.cpu = vec![amount(self.cpu); count];
        cluster.memory = vec![self.memory.map(amount); count];
        cluster.gpus = self.gpus.0.map_or_else(Vec::new, |gpus| {
            let gpus = Gpus { count: gpus, model: ANY_MODEL };
            vec![gpus; count]
        });
        if 0.0 < self.period_s {
            let period_us = micros(self.period_s).max(1);
            cluster.utilisation = Some(Utilisation { period_us, left: (0.0, 1.0), seed });
        }
        cluster.notice =
            if self.notice_s < 0.0 { Notice::Never } else { Notice::After(micros(self.notice_s)) };
        cluster.changes = self.failures(seed);
        if 0.0 <= self.change_s {
            let at_us = micros(self.change_s);
            cluster.changes.extend((0..).zip(&cluster.speed).map(|(machine, speed)| {
                MachineChange { at_us, machine, change: Change::Speed(speed * self.change) }
            }));
        }
        cluster.check()
    }

    fn failures(&self, seed: u64) -> Vec<MachineChange> {
        let times = Draws::new(seed, Purpose::FailureTime);
        let mut changes = Vec::new();
        let mut fail = |machine: u32, at_s: f64, down_s: Option<f64>| {
            changes.push(MachineChange { at_us: micros(at_s), machine, change: Change::Leaves });
            if let Some(down_s) = down_s {
                let at_us = micros(at_s + down_s);
                changes.push(MachineChange { at_us, machine, change: Change::Joins });
            }
        };
        let recovery = (0.0 < self.mttr_s).then_some(self.mttr_s);
        for &(machine, at_s) in &self.fails.0 {
            fail(machine, at_s, recovery);
        }
        let choice = Draws::new(seed, Purpose::FailureChoice);
        let mut nodes: Vec<u32> = (0..self.nodes).collect();
        nodes.sort_by_key(|&node| choice.bits(node.into(), 0));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share")]
        let failing = (self.fail_share * f64::from(self.nodes)).round() as usize;
        for &node in &nodes[..failing] {
            fail(node, self.span_s * times.uniform(node.into(), 0), recovery);
        }
        if 0.0 < self.mtbf_s {
            for node in 0..self.nodes {
                let (mut at_s, mut number) = (0.0, 1_u64);
                loop {
                    let exponential = |which, mean: f64| {
                        -mean * (1.0 - times.uniform(node.into(), number + which)).ln()
                    };
                    at_s += exponential(0, self.mtbf_s);
                    if self.span_s < at_s {
                        break;
                    }
                    let down_s = recovery.map(|mean_s| exponential(1, mean_s));
                    fail(node, at_s, down_s);
                    let Some(down_s) = down_s else { break };
                    at_s += down_s;
                    number += 2;
                }
            }
        }
        changes
    }
}

/// Tasks, their sizes and arrivals.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskSpec {
    count: u32,
    size: Law,
    /// Mean time between two jobs, s; 0 if all arrive at the same time.
    every_s: f64,
    /// Tasks per job; 0 for a single job.
    job_tasks: u32,
    users: u32,
    cpu: f64,
    memory: f64,
    noise: f64,
}

impl FromStr for TaskSpec {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Self, NotationError> {
        let mut notation = Notation::parse("specification", text)?;
        if notation.name() != "tasks" {
            return Err(notation.unknown_name(["tasks"]));
        }
        let amount = "an amount from 0 to 1000000";
        let spec = Self {
            count: notation.take("count", "a number of tasks", 1_000)?,
            size: notation.take_if("size", LAW, Law::Constant(100.0), |law| law.is_from(0.0))?,
            every_s: notation.number("every_s", "a time in seconds", 0.0, 0.0..=1e9)?,
            job_tasks: notation.take("job_tasks", "a number of tasks, 0 for one job", 0)?,
            users: notation.take_if("users", "a number from 1", 1, |&users: &u32| 0 < users)?,
            cpu: notation.number("cpu", amount, 1.0, 0.0..=1e6)?,
            memory: notation.number("memory", amount, 0.0, 0.0..=1e6)?,
            noise: notation.number("noise", "a share from 0 to 1", 0.0, 0.0..=1.0)?,
        };
        notation.finish()?;
        Ok(spec)
    }
}

impl TaskSpec {
    /// Builds the workload with a seed.
    pub fn build(&self, seed: u64) -> Result<Workload, WorkloadError> {
        let sizes = Draws::new(seed, Purpose::Size);
        let work_us = match self.size {
            Law::Constant(size) => Column::Same(micros(size)),
            _ => Column::Each(
                (0..u64::from(self.count)).map(|t| micros(self.size.draw(sizes, t))).collect(),
            ),
        };
        let count = usize::try_from(self.count).expect("a usize holds a u32");
        let mut workload = Workload::plain(count, work_us);
        let job = |task: u32| task.checked_div(self.job_tasks).unwrap_or(0);
        if 0 < self.job_tasks {
            workload.job = Column::Each((0..self.count).map(job).collect());
            workload.group = workload.job.clone();
        }
        if 1 < self.users {
            workload.user = Column::Each((0..self.count).map(|t| job(t) % self.users).collect());
        }
        if 0.0 < self.every_s {
            let draws = Draws::new(seed, Purpose::Arrival);
            let (mut at_s, mut times_us) = (0.0, Vec::with_capacity(count));
            for task in 0..self.count {
                if task == 0 || self.job_tasks == 0 || job(task - 1) != job(task) {
                    at_s -= self.every_s * (1.0 - draws.uniform(task.into(), 0)).ln();
                }
                times_us.push(micros(at_s));
            }
            workload.arrival_us = Column::Each(times_us);
        }
        workload.cpu = Column::Same(amount(self.cpu));
        workload.memory = Column::Same(amount(self.memory));
        workload.noise = self.noise;
        workload.check()
    }
}

#[expect(clippy::cast_possible_truncation, reason = "saturates at the end of time")]
fn micros(seconds: f64) -> i64 {
    (seconds * 1e6).round() as i64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1,000,000")]
#[expect(clippy::cast_precision_loss, reason = "a million")]
fn amount(value: f64) -> u64 {
    (value * UNITS as f64).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cluster(text: &str) -> Cluster {
        text.parse::<ClusterSpec>().unwrap().build(7).unwrap().0
    }

    #[test]
    fn speeds_follow_their_law() {
        let range = cluster("cluster:nodes=500,speeds=1..16").speed;
        assert!(range.iter().all(|speed| (1.0..16.0).contains(speed)));
        let mean = range.iter().sum::<f64>() / 500.0;
        assert!((mean - 8.5).abs() < 0.6, "{mean}");
        assert_eq!(cluster("cluster:nodes=3,speeds=1/4").speed, [1.0, 4.0, 1.0]);
        for law in ["4", "1..16", "1..=16", "1/1/4", "lognormal(0;0.5)"] {
            assert_eq!(law.parse::<Law>().unwrap().to_string(), law);
        }
    }

    #[test]
    fn failures_are_listed_drawn_or_recurring() {
        let changes = |text: &str| cluster(text).changes;
        let listed = changes("cluster:nodes=5,fails=2@90,mttr_s=10");
        let at = |at_us, machine, change| MachineChange { at_us, machine, change };
        assert_eq!(listed, [at(90_000_000, 1, Change::Leaves), at(100_000_000, 1, Change::Joins)]);
        let drawn = changes("cluster:nodes=100,fail_share=0.1,span_s=50");
        assert_eq!(drawn.len(), 10);
        assert!(drawn.iter().all(|change| change.at_us <= 50_000_000));
        let recurring = changes("cluster:nodes=50,mtbf_s=100,mttr_s=1,span_s=10000");
        let failures = recurring.iter().filter(|change| change.change == Change::Leaves).count();
        assert!((4_500..5_500).contains(&failures), "{failures}");
        let slower = changes("cluster:nodes=2,speeds=4,change_s=90,change=0.25");
        assert_eq!(slower[1], at(90_000_000, 1, Change::Speed(1.0)));
    }

    #[test]
    fn tasks_arrive_in_jobs() {
        let spec: TaskSpec =
            "tasks:count=6,size=1..=3,every_s=10,job_tasks=3,users=2".parse().unwrap();
        let workload = spec.build(1).unwrap();
        assert_eq!(workload.job_count(), 2);
        let Column::Each(times) = &workload.arrival_us else { panic!("each has its own") };
        assert!(times[0] == times[2] && times[2] < times[3] && times[3] == times[5]);
        assert_eq!(workload.user.get(4), 1);
    }

    #[test]
    fn typos_are_errors() {
        let error = |text: &str| text.parse::<ClusterSpec>().unwrap_err().to_string();
        assert_eq!(
            error("cluster:nodes=0"),
            "specification `cluster`: `nodes=0` is not a number of nodes from 1 to 1000000"
        );
        assert!(
            error("cluster:node=3").starts_with("specification `cluster` has no parameter `node`")
        );
        assert!(error("cluster:speeds=16..1").contains("is not numbers like"));
        assert!(error("cluster:fails=0@3").contains("is not failures like"));
    }
}
