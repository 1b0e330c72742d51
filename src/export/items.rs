//! A task as exports write it, in a record of fixed size.
//!
//! In: the events, attempts and cells of a task. Out: an [`Item`] with its submission, last
//! attempt, outcome and requests, and the same as [`WORDS`] numbers for a file on disk. Nothing
//! here depends on a format.

use std::collections::BTreeMap;

use crate::facts::tasks::{Attempt, EndedBy, TaskView};
use crate::schema::{EventType, Source};

/// How often each kind of data occurred that a format cannot hold, by description.
#[derive(Debug, Default)]
pub(super) struct Counts(pub BTreeMap<&'static str, u64>);

impl Counts {
    /// Adds `count` to a description.
    pub(super) fn add(&mut self, wording: &'static str, count: u64) {
        if 0 < count {
            *self.0.entry(wording).or_default() += count;
        }
    }

    /// Adds one if a condition holds.
    pub(super) fn see(&mut self, is_so: bool, wording: &'static str) {
        self.add(wording, u64::from(is_so));
    }
}

/// Descriptions that several formats count.
pub(super) const MEMORY_SHARES: &str = "memory requests as shares of a machine: left out";
pub(super) const GPU_MODELS: &str = "models of GPUs that tasks ask for: left out";

/// A task: its job and its index.
pub(super) type Key = (i64, i64);

/// A group of tasks on which other tasks depend: their job, and their number in its graph.
pub(super) type Stage = (i64, i64);

/// The outcome of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Waiting,
    Running,
    /// Its job ended, and the loaded parts do not contain the outcome of the task.
    EndedWithJob,
    Finished,
    Failed,
    Killed,
    Evicted,
    Lost,
    /// A replay refused it, because no machine is large enough for it.
    Refused,
}

impl State {
    const ALL: [Self; 9] = [
        Self::Waiting,
        Self::Running,
        Self::EndedWithJob,
        Self::Finished,
        Self::Failed,
        Self::Killed,
        Self::Evicted,
        Self::Lost,
        Self::Refused,
    ];

    /// The name. It is the same as in `classify`, if it exists there.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "pending",
            Self::Running => "running",
            Self::EndedWithJob => "unknown",
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Killed => "killed",
            Self::Evicted => "evicted",
            Self::Lost => "lost",
            Self::Refused => "refused",
        }
    }

    /// The state after an event that ends an attempt.
    fn of(kind: EventType) -> Self {
        match kind {
            EventType::Finish => Self::Finished,
            EventType::Fail => Self::Failed,
            EventType::Kill => Self::Killed,
            EventType::Evict => Self::Evicted,
            _ => Self::Lost,
        }
    }
}

/// The submission of a task, and its last attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Life {
    pub submit_us: i64,
    /// Start of its last attempt.
    pub start_us: Option<i64>,
    /// End of its last attempt; without an attempt, end of its wait.
    pub end_us: Option<i64>,
    pub state: State,
    pub attempts: i64,
    /// Running time of all attempts except the last.
    pub earlier_us: i64,
    /// Running time of its last attempt, if the attempt was suspended and therefore ran for less
    /// than the time from start to end.
    pub ran_us: Option<i64>,
    pub machine_id: Option<i64>,
    /// Whether partial runs of a log are joined into this one.
    pub is_joined: bool,
}

impl Life {
    /// The life of a task; `None` if no event shows whether it waits, runs or has ended.
    pub(super) fn of(task: &TaskView<'_>, source: Source) -> Option<Self> {
        let known = task.events.iter().filter(|event| event.time_us < i64::MAX);
        let last = known.clone().rev().find(|event| event.event_type.is_deciding())?;
        let submit = known.clone().find(|event| event.event_type == EventType::Submit);
        let first_us = known.clone().next()?.time_us;
        let begun = || task.attempts.iter().filter(|attempt| attempt.start_us < i64::MAX);
        let attempt = begun().next_back();
        let (state, end_us) = match (last.event_type, attempt) {
            (EventType::Submit, _) => (State::Waiting, None),
            (EventType::Schedule, Some(attempt)) if attempt.ended_by == EndedBy::Job => {
                (State::EndedWithJob, Some(attempt.end_us))
            }
            (EventType::Schedule, _) => (State::Running, None),
            (kind, Some(attempt)) => (State::of(kind), Some(attempt.end_us)),
            (kind, None) => (State::of(kind), Some(last.time_us)),
        };
        let all_us: i64 = begun().map(Attempt::run_us).sum();
        let last_us = attempt.map_or(0, Attempt::run_us);
        let mut life = Self {
            submit_us: submit.map_or(first_us, |event| event.time_us),
            start_us: attempt.map(|attempt| attempt.start_us),
            end_us,
            state,
            attempts: i64::try_from(begun().count()).unwrap_or(i64::MAX),
            earlier_us: all_us - last_us,
            ran_us: attempt.and_then(|attempt| attempt.ran_us),
            machine_id: attempt.and_then(|attempt| attempt.machine_id),
            is_joined: false,
        };
        // Partial runs continue each other instead of restarting, so the run includes all of them.
        if source.is_workload_format() && 1 < life.attempts {
            life.start_us = begun().next().map(|attempt| attempt.start_us);
            life.end_us = life.end_us.and(life.start_us).map(|start_us| start_us + all_us);
            (life.attempts, life.earlier_us, life.ran_us) = (1, 0, None);
            life.is_joined = true;
        }
        Some(life)
    }

    /// Running time of its last attempt, without suspensions, if it has ended.
    pub(super) fn run_us(&self) -> Option<i64> {
        let length_us = self.end_us? - self.start_us?;
        Some(self.ran_us.map_or(length_us, |ran_us| ran_us.min(length_us)))
    }

    /// The same life, with times in whole multiples of `unit_us` microseconds, rounded half up.
    pub(super) fn rounded(self, unit_us: i64) -> Self {
        Self {
            submit_us: rounded(self.submit_us, unit_us),
            start_us: self.start_us.map(|time_us| rounded(time_us, unit_us)),
            end_us: self.end_us.map(|time_us| rounded(time_us, unit_us)),
            ran_us: self.ran_us.map(|time_us| rounded(time_us, unit_us)),
            ..self
        }
    }
}

/// A time in whole units, rounded half up.
fn rounded(time_us: i64, unit_us: i64) -> i64 {
    let down = time_us.div_euclid(unit_us) * unit_us;
    if unit_us <= 2 * (time_us - down) { down.saturating_add(unit_us) } else { down }
}

/// Cells of a log of parallel jobs, as they are written in the log.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Logged {
    pub wait_us: Option<i64>,
    pub run_us: Option<i64>,
    pub status: Option<i64>,
    pub processors: Option<i64>,
    pub requested_processors: Option<i64>,
    pub requested_time_us: Option<i64>,
    pub cpu_time_us: Option<i64>,
    pub used_memory_kib: Option<f32>,
    pub requested_memory_kib: Option<f32>,
    pub preceding_job: Option<i64>,
    pub think_time_us: Option<i64>,
}

/// The kinds of names of a task, in the order of [`Item::names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    User,
    Group,
    Program,
    Queue,
    Partition,
    GpuModel,
    EndReason,
}

impl Named {
    /// All kinds, in order.
    pub(super) const ALL: [Self; 7] = [
        Self::User,
        Self::Group,
        Self::Program,
        Self::Queue,
        Self::Partition,
        Self::GpuModel,
        Self::EndReason,
    ];

    /// The word for the kind in files.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Group => "group",
            Self::Program => "executable",
            Self::Queue => "queue",
            Self::Partition => "partition",
            Self::GpuModel => "gpu_model",
            Self::EndReason => "end_reason",
        }
    }
}

/// A task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Item {
    pub life: Life,
    /// Its first row in the lake, which gives its order in the raw files.
    pub row_id: i64,
    pub job_id: i64,
    pub task_index: i64,
    /// Its position in reading order, from 1.
    pub number: i64,
    /// Its number in the graph of its job. The number comes from its name, or is its index if it
    /// has no name.
    pub stage: Option<i64>,
    pub log: Logged,
    /// The requests; CPU and memory are in the units of the lake.
    pub cpu: Option<f32>,
    pub memory: Option<f32>,
    pub gpu: Option<f32>,
    /// Its names, as positions in the lists of names.
    pub names: [Option<i64>; Named::ALL.len()],
}

/// Numbers per item on disk.
pub(super) const WORDS: usize = 34;

/// The mark of a missing number on disk; times and ids never come near it.
const NONE: i64 = i64::MIN;

impl Item {
    /// The stage of the task.
    pub(super) fn stage(&self) -> Option<Stage> {
        Some((self.job_id, self.stage?))
    }

    /// The sort key of items.
    pub(super) fn key(&self) -> (i64, i64, i64, i64) {
        (self.life.submit_us, self.row_id, self.job_id, self.task_index)
    }

    /// Converts the item to numbers.
    pub(super) fn words(&self) -> [i64; WORDS] {
        let (life, log) = (&self.life, &self.log);
        let may = |value: Option<i64>| value.unwrap_or(NONE);
        let real = |value: Option<f32>| value.map_or(NONE, |value| i64::from(value.to_bits()));
        let state = State::ALL.iter().position(|state| *state == life.state).unwrap_or(0);
        let mut words = [0; WORDS];
        let fixed: [i64; WORDS - 7] = [
            life.submit_us,
            may(life.start_us),
            may(life.end_us),
            i64::try_from(state).unwrap_or(0),
            life.attempts,
            life.earlier_us,
            may(life.machine_id),
            self.row_id,
            self.job_id,
            self.task_index,
            self.number,
            may(log.wait_us),
            may(log.run_us),
            may(log.status),
            may(log.processors),
            may(log.requested_processors),
            may(log.requested_time_us),
            may(log.cpu_time_us),
            real(log.used_memory_kib),
            real(log.requested_memory_kib),
            may(log.preceding_job),
            may(log.think_time_us),
            real(self.cpu),
            real(self.memory),
            real(self.gpu),
            may(self.stage),
            may(life.ran_us),
        ];
        words[..fixed.len()].copy_from_slice(&fixed);
        for (word, name) in words[fixed.len()..].iter_mut().zip(self.names) {
            *word = may(name);
        }
        words
    }

    /// Converts these numbers to the item.
    pub(super) fn of_words(words: &[i64; WORDS]) -> Self {
        let may = |at: usize| Some(words[at]).filter(|&word| word != NONE);
        let real =
            |at: usize| may(at).and_then(|bits| u32::try_from(bits).ok()).map(f32::from_bits);
        let state = usize::try_from(words[3]).ok().and_then(|at| State::ALL.get(at).copied());
        Self {
            life: Life {
                submit_us: words[0],
                start_us: may(1),
                end_us: may(2),
                state: state.unwrap_or(State::Waiting),
                attempts: words[4],
                earlier_us: words[5],
                is_joined: false,
                ran_us: may(26),
                machine_id: may(6),
            },
            row_id: words[7],
            job_id: words[8],
            task_index: words[9],
            number: words[10],
            log: Logged {
                wait_us: may(11),
                run_us: may(12),
                status: may(13),
                processors: may(14),
                requested_processors: may(15),
                requested_time_us: may(16),
                cpu_time_us: may(17),
                used_memory_kib: real(18),
                requested_memory_kib: real(19),
                preceding_job: may(20),
                think_time_us: may(21),
            },
            cpu: real(22),
            memory: real(23),
            gpu: real(24),
            stage: may(25),
            names: std::array::from_fn(|at| may(WORDS - 7 + at)),
        }
    }

    /// The position of a name in the list of its kind.
    pub(super) fn name(&self, named: Named) -> Option<i64> {
        self.names[named as usize]
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::export) fn item(submit_us: i64, job_id: i64) -> Item {
        Item {
            life: Life {
                submit_us,
                start_us: Some(submit_us + 2),
                end_us: None,
                state: State::Lost,
                attempts: 3,
                earlier_us: 4,
                is_joined: false,
                ran_us: Some(1),
                machine_id: Some(-5),
            },
            row_id: 6,
            job_id,
            task_index: 8,
            number: 9,
            stage: Some(12),
            log: Logged {
                wait_us: Some(-1),
                run_us: None,
                status: Some(2),
                processors: Some(3),
                requested_processors: None,
                requested_time_us: Some(5),
                cpu_time_us: Some(6),
                used_memory_kib: Some(0.5),
                requested_memory_kib: None,
                preceding_job: Some(10),
                think_time_us: Some(11),
            },
            cpu: Some(0.25),
            memory: None,
            gpu: Some(1.5),
            names: [Some(0), None, Some(7), None, Some(1), None, Some(12)],
        }
    }

    #[test]
    fn an_item_comes_back_from_its_numbers() {
        let item = item(1_000, -7);
        assert_eq!(Item::of_words(&item.words()), item);
    }

    #[test]
    fn times_are_rounded_half_up() {
        let round = |time_us: i64| {
            let life = Life { submit_us: time_us, ..item(0, 1).life };
            life.rounded(1000).submit_us
        };
        assert_eq!([0, 499, 500, 1499, 1500, -500].map(round), [0, 0, 1000, 1000, 2000, 0]);
    }
}
