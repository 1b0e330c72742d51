//! Jobs: their questions, their states, and which of them run.
//!
//! In: questions. Out: records, and the next job to run. The same question is the same job. If it
//! is asked again after its lakes have grown, it runs again, and its earlier answer stays until the
//! new one is complete. The record of a job is on disk before any page shows it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, watch};

use super::worker::Meter;

/// Largest number of jobs that wait.
pub(super) const WAITING_MAX: usize = 50;

/// Largest number of jobs that are kept; the oldest are removed first.
const KEPT_MAX: usize = 200;

/// A question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Spec {
    /// The command.
    pub command: String,
    /// The names of the lakes.
    pub lakes: Vec<String>,
    /// Its flags, checked.
    pub words: Vec<String>,
    /// Texts that the command reads as files.
    pub files: Vec<Text>,
    /// The page that shows it.
    pub page: String,
}

/// A text that a command reads as a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Text {
    /// The field in which it was entered.
    pub field: String,
    /// The word of the command line up to the path.
    pub flag: String,
    /// The text.
    pub content: String,
}

impl Text {
    /// The name of a custom index, or else that of the field.
    pub(super) fn title(&self) -> &str {
        let of_file = || {
            let name = self.content.lines().find_map(|line| line.strip_prefix("name = \""))?;
            name.split_once('"').map(|(name, _)| name)
        };
        let formula = self.flag.strip_prefix("--formula=");
        let name = match formula {
            Some(name) => Some(name.trim_end_matches('=')),
            None if self.flag == "--index-file=" => of_file(),
            None => None,
        };
        name.filter(|name| !name.is_empty()).unwrap_or(&self.field)
    }
}

/// The state of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Phase {
    /// It waits for a worker.
    Waiting,
    /// It runs.
    Running,
    /// It has an answer.
    Done,
    /// It ended with an error.
    Failed,
    /// A user cancelled it.
    Cancelled,
    /// The portal stopped before it ended.
    Interrupted,
}

impl Phase {
    /// The phase as a word.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
        }
    }

    /// Whether it waits or runs.
    pub(super) const fn is_open(self) -> bool {
        matches!(self, Self::Waiting | Self::Running)
    }
}

/// The stored record of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    /// The question.
    pub spec: Spec,
    /// Its state.
    pub phase: Phase,
    /// When it was asked last, seconds since 1970.
    pub asked_s: u64,
    /// How long the last run took, s.
    pub took_s: Option<f64>,
    /// The error of the last run.
    pub error: Option<String>,
    /// The notes of the answer.
    pub notes: Vec<String>,
    /// The last answer.
    pub answer: Option<Answer>,
    /// How often it was started.
    pub rounds: u64,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Answer {
    /// Its folder, within that of the job.
    pub folder: String,
    /// The versions of the lakes from which it was computed.
    pub stamps: Vec<String>,
}

/// A job that may be running.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub record: Record,
    /// Its progress.
    pub meter: Arc<Meter>,
    /// Tells it to stop.
    pub cancel: watch::Sender<bool>,
    /// The number of pages that show it.
    followers: usize,
}

/// All jobs.
#[derive(Debug, Default)]
pub(super) struct Queue {
    inner: Mutex<Inner>,
    /// Notified when a job waits.
    pub more: Notify,
}

#[derive(Debug, Default)]
struct Inner {
    jobs: BTreeMap<String, Job>,
    waiting: VecDeque<String>,
}

impl Job {
    fn new(record: Record) -> Self {
        let (meter, cancel) = (Arc::default(), watch::Sender::new(false));
        Self { record, meter, cancel, followers: 0 }
    }
}

impl Queue {
    /// A queue with the jobs of an earlier portal; those that waited or ran are interrupted.
    pub(super) fn of(stored: Vec<(String, Record)>) -> Self {
        let jobs = stored.into_iter().map(|(id, mut record)| {
            if record.phase.is_open() {
                record.phase = Phase::Interrupted;
            }
            (id, Job::new(record))
        });
        let inner = Inner { jobs: jobs.collect(), waiting: VecDeque::new() };
        Self { inner: Mutex::new(inner), more: Notify::new() }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A job.
    pub(super) fn get(&self, id: &str) -> Option<Job> {
        self.inner().jobs.get(id).cloned()
    }

    /// All jobs, the most recently asked one first.
    pub(super) fn all(&self) -> Vec<(String, Job)> {
        let mut all: Vec<(String, Job)> =
            self.inner().jobs.iter().map(|(id, job)| (id.clone(), job.clone())).collect();
        all.sort_by_key(|(_, job)| std::cmp::Reverse(job.record.asked_s));
        all
    }

    /// The number of waiting jobs that come before a waiting job.
    pub(super) fn place(&self, id: &str) -> Option<usize> {
        self.inner().waiting.iter().position(|waiting| waiting == id)
    }

    /// The numbers of jobs that wait and that run.
    pub(super) fn open(&self) -> [usize; 2] {
        let inner = self.inner();
        let is = |phase: Phase| inner.jobs.values().filter(|job| job.record.phase == phase).count();
        [is(Phase::Waiting), is(Phase::Running)]
    }

    /// Puts a question into the queue and returns its record, which the caller stores. `None` if
    /// the job already waits or runs, or has an answer for `stamps`, the current versions of its
    /// lakes. It is an error if too many jobs wait.
    pub(super) fn ask(
        &self,
        id: &str,
        spec: &Spec,
        stamps: &[String],
        now_s: u64,
    ) -> Result<Option<Record>, String> {
        let mut inner = self.inner();
        if let Some(job) = inner.jobs.get(id) {
            let answered = job.record.answer.as_ref().filter(|_| job.record.phase == Phase::Done);
            if job.record.phase.is_open() || answered.is_some_and(|it| it.stamps == stamps) {
                return Ok(None);
            }
        }
        if WAITING_MAX <= inner.waiting.len() {
            return Err(format!("{WAITING_MAX} jobs are waiting: try again later"));
        }
        let fresh = Record {
            spec: spec.clone(),
            phase: Phase::Waiting,
            asked_s: now_s,
            took_s: None,
            error: None,
            notes: Vec::new(),
            answer: None,
            rounds: 0,
        };
        let job = inner.jobs.entry(id.to_owned()).or_insert_with(|| Job::new(fresh));
        let answer = job.record.answer.take();
        job.record = Record { phase: Phase::Waiting, asked_s: now_s, answer, ..job.record.clone() };
        (job.meter, job.cancel) = (Arc::default(), watch::Sender::new(false));
        let record = job.record.clone();
        inner.waiting.push_back(id.to_owned());
        drop(inner);
        self.more.notify_one();
        Ok(Some(record))
    }

    /// The next job to run, marked as running.
    pub(super) fn next(&self) -> Option<(String, Job)> {
        let mut inner = self.inner();
        while let Some(id) = inner.waiting.pop_front() {
            let Some(job) = inner.jobs.get_mut(&id) else { continue };
            if job.record.phase == Phase::Waiting {
                job.record.phase = Phase::Running;
                job.record.rounds += 1;
                return Some((id, job.clone()));
            }
        }
        None
    }

    /// Changes the record of a job; returns it.
    pub(super) fn change(&self, id: &str, change: impl FnOnce(&mut Record)) -> Option<Record> {
        let mut inner = self.inner();
        let job = inner.jobs.get_mut(id)?;
        change(&mut job.record);
        Some(job.record.clone())
    }

    /// Stops a job that waits or runs; returns its record if it had not started.
    pub(super) fn cancel(&self, id: &str) -> Option<Record> {
        let mut inner = self.inner();
        let job = inner.jobs.get_mut(id)?;
        job.cancel.send_replace(true);
        if job.record.phase != Phase::Waiting {
            return None;
        }
        job.record.phase = Phase::Cancelled;
        Some(job.record.clone())
    }

    /// Counts one more or one fewer page that shows a job.
    pub(super) fn follow(&self, id: &str, is_more: bool) {
        if let Some(job) = self.inner().jobs.get_mut(id) {
            let fewer = job.followers.saturating_sub(1);
            job.followers = if is_more { job.followers + 1 } else { fewer };
        }
    }

    /// The jobs of a lake that have an answer and that open pages show.
    pub(super) fn followed(&self, lake: &str) -> Vec<(String, Spec)> {
        let inner = self.inner();
        let is_shown = |job: &Job| {
            0 < job.followers
                && job.record.answer.is_some()
                && job.record.spec.lakes.iter().any(|name| name == lake)
        };
        let shown = inner.jobs.iter().filter(|(_, job)| is_shown(job));
        shown.map(|(id, job)| (id.clone(), job.record.spec.clone())).collect()
    }

    /// Removes the oldest jobs that ended and that no page shows, if there are too many; returns
    /// their ids.
    pub(super) fn forget(&self) -> Vec<String> {
        let mut inner = self.inner();
        let over = inner.jobs.len().saturating_sub(KEPT_MAX);
        let mut ended: Vec<(u64, String)> = inner
            .jobs
            .iter()
            .filter(|(_, job)| !job.record.phase.is_open() && job.followers == 0)
            .map(|(id, job)| (job.record.asked_s, id.clone()))
            .collect();
        ended.sort();
        let gone: Vec<String> = ended.into_iter().take(over).map(|(_, id)| id).collect();
        for id in &gone {
            inner.jobs.remove(id);
        }
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(page: &str) -> Spec {
        Spec {
            command: "sweep".to_owned(),
            lakes: vec!["a".to_owned()],
            words: Vec::new(),
            files: Vec::new(),
            page: page.to_owned(),
        }
    }

    fn stamps(text: &str) -> Vec<String> {
        vec![text.to_owned()]
    }

    #[test]
    fn the_same_question_is_one_job_until_its_lake_grows() {
        let queue = Queue::default();
        assert!(queue.ask("1", &spec("x"), &stamps("v1"), 5).unwrap().is_some());
        assert!(queue.ask("1", &spec("x"), &stamps("v1"), 6).unwrap().is_none());
        let (id, _) = queue.next().unwrap();
        assert!(queue.next().is_none() && queue.open() == [0, 1]);
        let answer = Answer { folder: "out-1".to_owned(), stamps: stamps("v1") };
        queue.change(&id, |record| {
            record.phase = Phase::Done;
            record.answer = Some(answer.clone());
        });
        assert!(queue.ask("1", &spec("x"), &stamps("v1"), 7).unwrap().is_none());
        assert!(queue.followed("a").is_empty());
        queue.follow("1", true);
        assert_eq!(queue.followed("a").len(), 1);
        // The earlier answer stays while the next one is made.
        let again = queue.ask("1", &spec("x"), &stamps("v2"), 8).unwrap().unwrap();
        assert_eq!((again.phase, again.answer), (Phase::Waiting, Some(answer)));
    }

    #[test]
    fn a_job_is_cancelled_before_it_runs_or_while_it_does() {
        let queue = Queue::default();
        for id in ["1", "2"] {
            queue.ask(id, &spec(id), &stamps("v"), 1).unwrap();
        }
        let (first, job) = queue.next().unwrap();
        assert_eq!(first, "1");
        let cancelled = job.cancel.subscribe();
        assert!(queue.cancel("1").is_none() && *cancelled.borrow());
        assert_eq!(queue.cancel("2").unwrap().phase, Phase::Cancelled);
        assert!(queue.next().is_none());
    }

    #[test]
    fn there_is_a_limit_to_what_waits_and_what_is_kept() {
        let queue = Queue::default();
        for number in 0..WAITING_MAX {
            queue.ask(&number.to_string(), &spec("x"), &stamps("v"), 1).unwrap();
        }
        assert!(queue.ask("more", &spec("x"), &stamps("v"), 1).unwrap_err().contains("waiting"));
        let record = queue.get("0").unwrap().record;
        let old = |number: usize| {
            let at = u64::try_from(number).unwrap();
            (number.to_string(), Record { asked_s: at, ..record.clone() })
        };
        let queue = Queue::of((0..KEPT_MAX + 2).map(old).collect());
        assert_eq!(queue.get("0").unwrap().record.phase, Phase::Interrupted);
        assert_eq!(queue.forget(), ["0", "1"]);
    }
}
