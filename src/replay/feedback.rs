//! When users submit: at the recorded times, or in reaction to the ends of their earlier jobs.
//!
//! In: for each job its user, its recorded submission and its recorded end. Out: what each job
//! follows ([`Submission`]): the end of an earlier job, its submission, or the clock. A job follows
//! only events before its recorded submission, so if all jobs end as recorded, every job is
//! submitted at its recorded time.
//!
//! ```text
//!  recorded  |==a==|...|==b==|...|===c===|           |==e==|       think times: ... up to the gap
//!                          |==d==|                                 d came while b ran, after a
//!  slower    |=====a=====|...|=====b=====|...|===c===| |==e==|
//!                           ...|=====d=====|
//! ```
//! - A job that was submitted within a gap after the end of another job of its user follows that
//!   end, after the recorded think time. If there are several such ends, it follows the last.
//! - Without such an end, a job that was submitted within a gap after the submission of a job of
//!   its user that still ran keeps its distance from that submission.
//! - Every other job starts a session. It is submitted at its recorded time, because users have
//!   regular hours, but not before the end of the job that ended last before it in the record.
//! - If the log names a job that had to end first, the job follows that end after any gap.
//!
//! The gap is 20 minutes by default, as for sessions in Shmueli and Feitelson (2009) and Zakay and
//! Feitelson (2014), whose models differ in details. Jobs without a user keep their recorded times.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;
use std::str::FromStr;

use rustc_hash::FxHashMap;
use serde::{Serialize, Serializer};

use super::dependencies::Lists;
use super::workload::Workload;
use crate::notation::{Notation, NotationError, write_notation};

/// When users submit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrivals {
    /// At the recorded times.
    #[default]
    Open,
    /// In reaction to the ends of their earlier jobs.
    Closed {
        /// The longest think time within a session, s.
        gap_s: i64,
    },
}

/// The default gap between sessions, s.
const GAP_S: i64 = 1200;

/// The largest gap that is accepted, s: a hundred days.
const GAP_MAX_S: i64 = 8_640_000;

impl FromStr for Arrivals {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Self, NotationError> {
        let mut notation = Notation::parse("kind of arrivals", text)?;
        let arrivals = match notation.name() {
            "open" => Self::Open,
            "closed" => {
                let expected = "a time in whole seconds from 0 to 8640000";
                let is_gap = |gap_s: &i64| (0..=GAP_MAX_S).contains(gap_s);
                Self::Closed { gap_s: notation.take_if("gap_s", expected, GAP_S, is_gap)? }
            }
            _ => return Err(notation.unknown_name(["open", "closed"])),
        };
        notation.finish()?;
        Ok(arrivals)
    }
}

impl fmt::Display for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open => f.write_str("open"),
            Self::Closed { gap_s: GAP_S } => f.write_str("closed"),
            Self::Closed { gap_s } => write_notation(f, "closed", &[("gap_s", gap_s)]),
        }
    }
}

impl Serialize for Arrivals {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A recorded job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stay {
    /// The number of its user, if known.
    pub user: Option<u32>,
    /// When it was submitted, µs.
    pub submit_us: i64,
    /// When it ended, µs; `None` if no end is known.
    pub end_us: Option<i64>,
    /// The job that had to end first, if the log names one.
    pub after: Option<u32>,
}

/// When a job is submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submission {
    /// At this time, µs.
    At(i64),
    /// Some time after the submission of a job.
    With {
        /// The job.
        job: u32,
        /// The time, µs.
        delay_us: i64,
    },
    /// Some time after the end of a job, but not before a given time.
    After {
        /// The job.
        job: u32,
        /// The think time, µs.
        delay_us: i64,
        /// The earliest time, µs.
        not_before_us: i64,
    },
}

/// What each job follows.
pub fn submissions(stays: &[Stay], gap_us: i64) -> Vec<Submission> {
    let mut submissions: Vec<Submission> =
        stays.iter().map(|stay| Submission::At(stay.submit_us)).collect();
    let mut of_user: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for (job, stay) in (0..).zip(stays) {
        if let Some(user) = stay.user {
            of_user.entry(user).or_default().push(job);
        }
    }
    #[expect(clippy::iter_over_hash_type, reason = "users are independent of each other")]
    for jobs in of_user.values_mut() {
        jobs.sort_by_key(|&job| stays[job as usize].submit_us);
        follow(jobs, stays, gap_us, &mut submissions);
    }
    for (idx, stay) in stays.iter().enumerate() {
        let named = stay.after.and_then(|job| Some((job, stays[job as usize].end_us?)));
        if let Some((job, end_us)) = named.filter(|(_, end_us)| *end_us <= stay.submit_us)
            && stays[job as usize].submit_us < stay.submit_us
        {
            let delay_us = stay.submit_us - end_us;
            submissions[idx] = Submission::After { job, delay_us, not_before_us: 0 };
        }
    }
    submissions
}

/// A time in µs, and the job with an event at that time.
type Point = (i64, u32);

/// Finds what each job of a user follows; `jobs` are in order of submission.
fn follow(jobs: &[u32], stays: &[Stay], gap_us: i64, submissions: &mut [Submission]) {
    let mut running: BinaryHeap<Reverse<(i64, u32)>> = BinaryHeap::new();
    // The job that ended last, and the job submitted last, before the present instant.
    let (mut ended, mut before): (Option<Point>, Option<Point>) = (None, None);
    let same =
        |one: &u32, other: &u32| stays[*one as usize].submit_us == stays[*other as usize].submit_us;
    for at_once in jobs.chunk_by(same) {
        let submit_us = stays[at_once[0] as usize].submit_us;
        while let Some(&Reverse(end)) = running.peek().filter(|end| end.0.0 <= submit_us) {
            ended = Some(end);
            running.pop();
        }
        let is_near = |point: &Point| submit_us - point.0 <= gap_us;
        let near_end = ended.filter(is_near);
        let submission = match (near_end, before.filter(is_near), ended) {
            (Some((end_us, job)), _, _) => {
                Submission::After { job, delay_us: submit_us - end_us, not_before_us: 0 }
            }
            (None, Some((before_us, job)), _) => {
                Submission::With { job, delay_us: submit_us - before_us }
            }
            (None, None, Some((_, job))) => {
                Submission::After { job, delay_us: 0, not_before_us: submit_us }
            }
            (None, None, None) => Submission::At(submit_us),
        };
        for &job in at_once {
            submissions[job as usize] = submission;
            running.extend(stays[job as usize].end_us.map(|end_us| Reverse((end_us, job))));
        }
        before = Some((submit_us, at_once[0]));
    }
}

/// The jobs of a workload, and what each follows.
#[derive(Clone, Debug, PartialEq)]
pub struct Feedback {
    /// By job.
    submission: Vec<Submission>,
    tasks: Lists,
    followers: Lists,
    /// The first recorded arrival of each job, µs.
    first_us: Vec<i64>,
}

/// The number of jobs by what they follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Followed {
    /// The end of an earlier job, after a think time.
    pub ends: u64,
    /// An earlier submission.
    pub submissions: u64,
    /// The clock, but not before the end of an earlier job.
    pub sessions: u64,
    /// Only the clock.
    pub recorded: u64,
}

impl Feedback {
    /// The jobs of a checked workload, with what each follows.
    pub fn new(workload: &Workload, submission: Vec<Submission>) -> Self {
        let job_count = workload.job_count();
        assert_eq!(submission.len(), job_count, "one submission per job");
        let of_task = (0..).take(workload.task_count).map(|task| (workload.job.get(task), task));
        let mut first_us = vec![i64::MAX; job_count];
        for (job, task) in of_task.clone() {
            let first_us = &mut first_us[job as usize];
            *first_us = (*first_us).min(workload.arrival_us.get(task));
        }
        let followed = |(job, submission): (u32, &Submission)| match *submission {
            Submission::At(_) => None,
            Submission::With { job: before, .. } | Submission::After { job: before, .. } => {
                Some((before, job))
            }
        };
        let followers = Lists::new(job_count, (0..).zip(&submission).filter_map(followed));
        Self { tasks: Lists::new(job_count, of_task), followers, submission, first_us }
    }

    /// Counts the jobs by what they follow.
    pub fn followed(&self) -> Followed {
        let mut followed = Followed::default();
        for submission in &self.submission {
            *match submission {
                Submission::At(_) => &mut followed.recorded,
                Submission::With { .. } => &mut followed.submissions,
                Submission::After { not_before_us: 0, .. } => &mut followed.ends,
                Submission::After { .. } => &mut followed.sessions,
            } += 1;
        }
        followed
    }

    /// The tasks of a job.
    pub fn tasks_of(&self, job: u32) -> &[u32] {
        self.tasks.of(job)
    }

    /// The arrival of a task whose job is submitted at `submit_us`, µs: the distance from its job's
    /// submission is as recorded.
    pub fn arrival_us(&self, workload: &Workload, task: u32, submit_us: i64) -> i64 {
        let first_us = self.first_us[workload.job.get(task) as usize];
        submit_us.saturating_add(workload.arrival_us.get(task) - first_us)
    }

    /// The jobs that follow no other job, and when they are submitted, µs.
    pub fn first(&self) -> impl Iterator<Item = (u32, i64)> + '_ {
        (0..).zip(&self.submission).filter_map(|(job, submission)| match *submission {
            Submission::At(at_us) => Some((job, at_us)),
            _ => None,
        })
    }

    /// The jobs that follow the submission of a job, and when they are submitted, µs.
    pub fn on_submission(&self, job: u32, at_us: i64) -> impl Iterator<Item = (u32, i64)> + '_ {
        self.followers.of(job).iter().filter_map(move |&follower| {
            match self.submission[follower as usize] {
                Submission::With { delay_us, .. } => {
                    Some((follower, at_us.saturating_add(delay_us)))
                }
                _ => None,
            }
        })
    }

    /// The jobs that follow the end of a job, and when they are submitted, µs.
    pub fn on_end(&self, job: u32, at_us: i64) -> impl Iterator<Item = (u32, i64)> + '_ {
        self.followers.of(job).iter().filter_map(move |&follower| {
            match self.submission[follower as usize] {
                Submission::After { delay_us, not_before_us, .. } => {
                    Some((follower, at_us.saturating_add(delay_us).max(not_before_us)))
                }
                _ => None,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::replay::cluster::Cluster;
    use crate::replay::drawn::drawn;
    use crate::replay::engine::{Outcome, Plan, replay};
    use crate::replay::metrics::{fates, job_ends, moved};
    use crate::replay::policies::PolicyPlan;
    use crate::replay::properties::{cluster, machine, notice, task, workload};
    use crate::replay::workload::Column;
    use crate::units::MICROS_PER_SECOND;

    const S: i64 = MICROS_PER_SECOND;

    /// A job of a user with its submission and end, s.
    fn stay(user: u32, submit_s: i64, over_s: i64) -> Stay {
        let end_us = (0 <= over_s).then_some(over_s * S);
        Stay { user: Some(user), submit_us: submit_s * S, end_us, after: None }
    }

    fn after(job: u32, delay_s: i64, not_before_s: i64) -> Submission {
        Submission::After { job, delay_us: delay_s * S, not_before_us: not_before_s * S }
    }

    #[test]
    fn a_session_is_a_chain_of_ends_and_think_times() {
        //  a 0 |---| 100   b 150 |---| 200        f 5000 |   g 5010 |   of user 0
        //                      d 170 |------| 400
        //                        c 210 |--- never ends
        let stays = [
            stay(0, 0, 100),
            stay(0, 150, 200),
            stay(0, 170, 400),
            stay(0, 210, -1),
            stay(1, 180, 190),
            stay(0, 5000, 6000),
            stay(0, 5010, 5020),
        ];
        let found = submissions(&stays, 1200 * S);
        let with = |job, delay_s: i64| Submission::With { job, delay_us: delay_s * S };
        assert_eq!(
            found,
            [
                Submission::At(0),
                after(0, 50, 0),
                after(0, 70, 0),
                after(1, 10, 0),
                Submission::At(180 * S),
                // A session begins at its recorded time, but not before the end of d, which ended
                // last before it.
                after(2, 0, 5000),
                with(5, 10),
            ]
        );
        // With a gap of 10 s only c follows an end; d came while b ran, but 20 s after its
        // submission.
        let short = submissions(&stays, 10 * S);
        assert_eq!(short[1..4], [after(0, 0, 150), after(0, 0, 170), after(1, 10, 0)]);
    }

    #[test]
    fn jobs_of_an_instant_follow_the_same_and_a_named_job_comes_first() {
        let mut stays =
            [stay(0, 0, 5), stay(0, 0, 0), stay(0, 7, 9), stay(0, 7, 8), stay(3, 90, 95)];
        stays[4].after = Some(2);
        let found = submissions(&stays, 20 * S);
        assert_eq!(found[..2], [Submission::At(0); 2]);
        assert_eq!(found[2..], [after(0, 2, 0), after(0, 2, 0), after(2, 81, 0)]);
        // If the named job ended after the submission, the job cannot have waited for it.
        stays[2].end_us = Some(91 * S);
        assert_eq!(submissions(&stays, 20 * S)[4], Submission::At(90 * S));
    }

    #[test]
    fn arrivals_print_back() {
        for text in ["open", "closed", "closed:gap_s=0", "closed:gap_s=3600"] {
            assert_eq!(text.parse::<Arrivals>().unwrap().to_string(), text);
        }
        let check = |text: &str, expected: &str| {
            assert_eq!(text.parse::<Arrivals>().unwrap_err().to_string(), expected);
        };
        check(
            "close",
            "there is no kind of arrivals `close` (known: open, closed); did you mean `closed`?",
        );
        check(
            "closed:gap_s=-1",
            "kind of arrivals `closed`: `gap_s=-1` is not a time in whole seconds from 0 to 8640000",
        );
        check("open:gap_s=5", "kind of arrivals `open` has no parameter `gap_s` (it takes: none)");
    }

    /// The jobs with their times in a replay.
    fn recorded(workload: &Workload, outcome: &Outcome) -> Vec<Stay> {
        let none = Stay { user: None, submit_us: i64::MAX, end_us: Some(0), after: None };
        let mut stays = vec![none; workload.job_count()];
        for task in (0..).take(workload.task_count) {
            let stay = &mut stays[workload.job.get(task) as usize];
            stay.user = Some(workload.user.get(task)).filter(|&user| user != 0);
            stay.submit_us = stay.submit_us.min(workload.arrival_us.get(task));
            let end_us = outcome.end_us[task as usize];
            stay.end_us = stay.end_us.zip(end_us).map(|(one, another)| one.max(another));
        }
        stays
    }

    fn closed(plan: &Plan<'_>, stays: &[Stay], gap_us: i64) -> Outcome {
        let feedback = Feedback::new(plan.workload, submissions(stays, gap_us));
        replay(&Plan { feedback: Some(&feedback), ..plan.clone() }).unwrap()
    }

    #[test]
    fn a_slower_cluster_is_waited_for() {
        //  open    a 0 |-----| 10     b 12 |-----| 22     x of another user 0 |-----| 10
        //  one machine is slower:    x 0 |-| 10  a |-----| 20  ..2 s..  b 22 |-----| 32
        let mut workload = Workload::plain(3, Column::Same(10 * S));
        workload.arrival_us = Column::Each(vec![0, 0, 12 * S]);
        workload.user = Column::Each(vec![2, 1, 1]);
        workload.job = Column::Each(vec![0, 1, 2]);
        let workload = workload.check().unwrap();
        let stays = [stay(2, 0, 10), stay(1, 0, 10), stay(1, 12, 22)];
        let (cluster, _) = Cluster::of_speeds(vec![1.0]).check().unwrap();
        let policy: PolicyPlan = "fifo".parse().unwrap();
        let plan = Plan::new(&cluster, &workload, &policy);
        let found = closed(&plan, &stays, 1200 * S);
        let starts = [0, 10, 22].map(|at_s| Some(at_s * S));
        assert_eq!(found.first_start_us, starts);
        // Response and move are measured from the replayed submission.
        let journal = found.journal.as_ref().unwrap();
        let ends = job_ends(&fates(journal, 3), &workload);
        let responses: Vec<Option<f64>> = ends.iter().map(|end| end.response_s).collect();
        assert_eq!(responses, [Some(10.0), Some(20.0), Some(10.0)]);
        let moved = moved(journal, &workload);
        assert_eq!((moved.jobs_submitted, moved.moved_s_mean), (3, Some(10.0 / 3.0)));
        // With open arrivals, b would have come at 12 s and waited for 8 s.
        assert_eq!(replay(&plan).unwrap().first_start_us, [0, 10, 20].map(|at_s| Some(at_s * S)));
    }

    const POLICIES: [&str; 10] = [
        "fifo",
        "priority",
        "easy",
        "conservative",
        "shortest",
        "sjf",
        "f1",
        "wfp3:backfill=easy",
        "fair:interval_s=7",
        "fifo+late:heartbeat_s=3",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { cases: drawn(4_000), failure_persistence: None, ..ProptestConfig::default() })]

        /// Closed arrivals reproduce the recorded ones, and no job follows a later event.
        #[test]
        fn with_the_recorded_schedule_closed_arrivals_are_the_recorded_ones(
            tasks in prop::collection::vec(task(), 1..30),
            machines in prop::collection::vec(machine(), 1..4),
            notice in notice(),
            policy in prop::sample::select(POLICIES.to_vec()),
            gap_s in prop::sample::select(vec![0, 3, 20, 1000]),
        ) {
            let workload = workload(&tasks, 0.0);
            let cluster = cluster(&machines, None, notice, false);
            let policy: PolicyPlan = policy.parse().unwrap();
            let plan = Plan { seed: 3, ..Plan::new(&cluster, &workload, &policy) };
            let open = replay(&plan).unwrap();
            let stays = recorded(&workload, &open);
            for (stay, submission) in stays.iter().zip(submissions(&stays, gap_s * S)) {
                let (job, known_us) = match submission {
                    Submission::At(at_us) => {
                        prop_assert_eq!(at_us, stay.submit_us);
                        continue;
                    }
                    Submission::With { job, .. } => (job, Some(stays[job as usize].submit_us)),
                    Submission::After { job, .. } => (job, stays[job as usize].end_us),
                };
                prop_assert!(known_us.is_some_and(|known_us| known_us <= stay.submit_us));
                prop_assert!(stays[job as usize].submit_us < stay.submit_us);
                prop_assert_eq!(stays[job as usize].user, stay.user);
            }
            let again = closed(&plan, &stays, gap_s * S);
            let times = |outcome: &Outcome| {
                let fates = fates(outcome.journal.as_ref().unwrap(), workload.task_count);
                (fates.submit_us, fates.start_us, fates.end_us)
            };
            prop_assert_eq!(times(&open), times(&again));
            prop_assert_eq!(open.sums, again.sums);
        }
    }
}
