//! The kill rules of the sweep, on top of any policy.
//!
//! In: the starts and ends of a task's attempts as they happen. Out: whether the task is condemned
//! now. The rules are those of [`studies::rules`](crate::studies::rules), with the same notation;
//! they process one event after another, not a whole history. A combination of rules condemns a
//! task once each of them has fired at some time. Copies count as attempts of their task, unless
//! another attempt finished first. A custom rule gets the history of the task so far at each event.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::ended_jobs::EndedJobs;
use super::foreseen::HistoryWatch;
use super::journal::Kind;
use super::retries::RetryWatch;
use super::state::State;
use super::workload::Workload;
use crate::facts::events::Event;
use crate::facts::tasks::{Attempt, EndedBy, TaskView};
use crate::notation::NotationError;
use crate::schema::EventType;
use crate::studies::rules::{HOUR_US, OwnRule, Owner, Rule, RuleGrid};
use crate::units::MICROS_PER_SECOND;

/// The name of the kill rule in a policy.
pub const NAME: &str = "kill";

/// The rule that is used if none is given.
const USUAL: &str = "events=20";

/// Maximum number of joined rules: each uses one bit of a task's mask.
const CONDITIONS_MAX: usize = 32;

/// Splits a policy into the part without the kill rule, if there is any, and the kill rule. The
/// rule is everything after `kill:`, since it may itself have parts joined by `+`.
pub(super) fn split(text: &str) -> Result<(Option<&str>, Option<RuleGrid>), NotationError> {
    let mut start = 0;
    for part in text.split('+') {
        let end = start + part.len();
        let (name, rule) = part.split_once(':').unwrap_or((part, ""));
        if name.trim() == NAME {
            let rule = if rule.trim().is_empty() {
                format!("{USUAL}{}", &text[end..])
            } else {
                text[end - rule.len()..].to_owned()
            };
            let is_kill = |part: &str| part.split(':').next().is_some_and(|it| it.trim() == NAME);
            if text[end..].split('+').any(is_kill) {
                let (kind, name, key) = ("policy", text.to_owned(), NAME.to_owned());
                return Err(NotationError::Twice { kind, name, key });
            }
            let others = (0 < start).then(|| &text[..start - 1]);
            return Ok((others, Some(with_one_parameter(rule.parse()?)?)));
        }
        start = end + 1;
    }
    Ok((Some(text), None))
}

/// Rejects a rule that a policy cannot use: it must have exactly one parameter.
pub(super) fn with_one_parameter(rule: RuleGrid) -> Result<RuleGrid, NotationError> {
    let is_own = matches!(rule.rule, Rule::Own(_));
    if CONDITIONS_MAX <= rule.and.len() {
        let (kind, name) = ("policy", NAME.to_owned());
        let key = rule.and[CONDITIONS_MAX - 1].0.name().to_owned();
        return Err(NotationError::TooMany { kind, name, key, expected: "32 kill rules" });
    }
    if rule.grid.len() == 1 && (rule.is_given || is_own) {
        return Ok(rule);
    }
    Err(NotationError::BadValue {
        kind: "policy",
        name: NAME.to_owned(),
        key: "rule",
        value: rule.to_string(),
        expected: "a kill rule with one parameter, such as `kill:failures=3`",
    })
}

/// The history of a task that custom rules get.
#[derive(Debug, Default)]
struct Seen {
    events: Vec<Event>,
    attempts: Vec<Attempt>,
}

/// The state of the kill rules, for all tasks.
#[derive(Debug)]
pub(super) struct KillWatch<'a> {
    plan: &'a RuleGrid,
    conditions: Vec<(&'a Rule, i64)>,
    /// By task, a bit for each condition that has fired.
    fired: Vec<u32>,
    /// By task, the failures since the last other end of an attempt.
    in_row: Vec<u16>,
    /// By task, the time in attempts that did not finish, µs.
    dead_us: Vec<i64>,
    /// The times of the restarts within the last hour, for tasks with restarts.
    restarts_us: FxHashMap<u32, VecDeque<i64>>,
    /// By task, only with a custom rule.
    seen: FxHashMap<u32, Seen>,
    has_own: bool,
    /// Only with a rule about retries or limits.
    retries: Option<RetryWatch>,
    /// Only with a rule about the past of users.
    history: Option<HistoryWatch<'a>>,
    /// Whether a task has just been submitted or started and must be checked.
    is_back: bool,
    jobs: EndedJobs,
}

impl<'a> KillWatch<'a> {
    pub(super) fn new(plan: &'a RuleGrid, workload: &'a Workload) -> Self {
        let conditions = plan.conditions().expect("a policy's kill rule has one parameter");
        let task_count = workload.task_count;
        Self {
            plan,
            retries: RetryWatch::new(&conditions),
            history: HistoryWatch::new(&conditions, workload),
            is_back: false,
            jobs: EndedJobs::new(workload, conditions.iter().any(|(rule, _)| rule.ends_jobs())),
            has_own: conditions.iter().any(|(rule, _)| matches!(rule, Rule::Own(_))),
            conditions,
            fired: vec![0; task_count],
            in_row: vec![0; task_count],
            dead_us: vec![0; task_count],
            restarts_us: FxHashMap::default(),
            seen: FxHashMap::default(),
        }
    }

    /// A task begins to wait.
    pub(super) fn submitted(&mut self, state: &State<'_>, task: u32) {
        self.see(task, state.now_us, EventType::Submit);
        if let Some(history) = &mut self.history {
            history.submitted(state.workload.job.get(task), state.now_us);
            self.is_back = true;
        }
    }

    /// An original attempt of a task begins.
    pub(super) fn started(&mut self, task: u32, now_us: i64, is_first: bool) {
        self.see(task, now_us, EventType::Schedule);
        self.is_back = self.history.is_some();
        if !is_first && self.conditions.iter().any(|(rule, _)| **rule == Rule::Restarts) {
            let restarts_us = self.restarts_us.entry(task).or_default();
            restarts_us.push_back(now_us);
            while restarts_us.front().is_some_and(|&restart_us| restart_us < now_us - HOUR_US) {
                restarts_us.pop_front();
            }
            let count = i64::try_from(restarts_us.len()).unwrap_or(i64::MAX);
            self.fire(task, &Rule::Restarts, |wanted| wanted <= count);
        }
    }

    /// An attempt that ran for `ran_us` ends.
    pub(super) fn ended(&mut self, state: &State<'_>, task: u32, how: Kind, ran_us: i64) {
        let (idx, now_us) = (task as usize, state.now_us);
        if self.retries.is_some() && !self.spares(state, task) {
            let (retries, fired) = (self.retries.as_mut(), &mut self.fired[idx]);
            let owner = (task, state.workload.job.get(task));
            retries.expect("a rule uses retries").ended(owner, how, |bit, ends_job| {
                *fired |= 1 << bit;
                if ends_job {
                    self.jobs.end(owner.1);
                }
            });
        }
        let event = match how {
            Kind::Fail => EventType::Fail,
            Kind::Evict => EventType::Evict,
            Kind::Lost => EventType::Lost,
            Kind::Restart => EventType::Kill,
            _ => return,
        };
        self.see(task, now_us, event);
        self.in_row[idx] = if how == Kind::Fail { self.in_row[idx].saturating_add(1) } else { 0 };
        self.dead_us[idx] += ran_us;
        let (in_row, dead_s) = (i64::from(self.in_row[idx]), self.dead_us[idx] / MICROS_PER_SECOND);
        self.fire(task, &Rule::Failures, |wanted| wanted <= in_row);
        self.fire(task, &Rule::DeadTime, |wanted| wanted <= dead_s);
    }

    /// Whether a task with `events` events is condemned.
    pub(super) fn condemns(&mut self, state: &State<'_>, task: u32, events: u16) -> bool {
        self.fire(task, &Rule::Events, |threshold| threshold < i64::from(events));
        if self.has_own {
            self.ask_own(state, task);
        }
        if std::mem::take(&mut self.is_back) {
            self.look(state, task);
        }
        if self.has_ended(state, task) {
            return true;
        }
        let all = u32::MAX >> (u32::BITS - u32::try_from(self.conditions.len()).unwrap_or(1));
        self.fired[task as usize] == all && !self.spares(state, task)
    }

    /// Whether a rule has ended the job of a task, and the rules do not spare the task.
    pub(super) fn has_ended(&self, state: &State<'_>, task: u32) -> bool {
        self.jobs.has(state.workload.job.get(task)) && !self.spares(state, task)
    }

    /// Checks a task by the past of its user.
    pub(super) fn look(&mut self, state: &State<'_>, task: u32) {
        if self.history.is_none() || self.spares(state, task) {
            return;
        }
        let owner = (task, state.workload.job.get(task));
        let (history, fired) = (self.history.as_mut(), &mut self.fired[task as usize]);
        history.expect("a rule uses the past of users").look(state, owner, |bit, ends_job| {
            *fired |= 1 << bit;
            if ends_job {
                self.jobs.end(owner.1);
            }
        });
    }

    /// The times at which a task that begins now is checked, µs.
    pub(super) fn looks_us(&self, now_us: i64) -> Vec<i64> {
        self.history.as_ref().map(|history| history.looks_us(now_us)).unwrap_or_default()
    }

    /// A task is over.
    pub(super) fn concluded(&mut self, state: &State<'_>, task: u32) {
        if let Some(history) = &mut self.history {
            history.concluded(state, task);
        }
    }

    /// Takes the time that a task waits before it is tried again, µs.
    pub(super) fn take_wait_us(&mut self, task: u32) -> i64 {
        self.retries.as_mut().map_or(0, |retries| retries.take_wait_us(task))
    }

    /// Whether a rule has ended a job, and its tasks have not been taken yet.
    pub(super) fn is_ending(&self) -> bool {
        self.jobs.has_any()
    }

    /// Takes the tasks of a job that has just been ended.
    pub(super) fn take_ended(&mut self) -> Option<Vec<u32>> {
        self.jobs.take()
    }

    /// The limits on the running time of an attempt, µs, with the number of the condition.
    pub(super) fn limits_us(&self, state: &State<'_>, task: u32) -> Vec<(usize, i64)> {
        let Some(retries) = &self.retries else { return Vec::new() };
        retries.limits_us(state.workload.requested_us.get(task)).collect()
    }

    /// An attempt of a task has reached a limit.
    pub(super) fn reached(&mut self, task: u32, condition: usize) {
        self.fired[task as usize] |= 1 << condition;
    }

    /// Whether a task is never killed.
    pub(super) fn spares(&self, state: &State<'_>, task: u32) -> bool {
        let workload = state.workload;
        let user = workload.user_names.get(workload.user.get(task) as usize);
        let class = workload.class.get(task).map(i32::from);
        let user = user.map(String::as_str);
        let owner = Owner { scheduling_class: class, user, ..Owner::default() };
        self.plan.spares(workload.priority.get(task), owner)
    }

    /// Marks the conditions of a rule whose parameter is reached.
    fn fire(&mut self, task: u32, rule: &Rule, is_reached: impl Fn(i64) -> bool) {
        for (bit, (_, parameter)) in
            self.conditions.iter().enumerate().filter(|(_, (other, _))| *other == rule)
        {
            self.fired[task as usize] |= u32::from(is_reached(*parameter)) << bit;
        }
    }

    /// Records an event for custom rules.
    fn see(&mut self, task: u32, now_us: i64, event_type: EventType) {
        if !self.has_own {
            return;
        }
        let Seen { events, attempts } = self.seen.entry(task).or_default();
        let row = u32::try_from(events.len()).unwrap_or(u32::MAX);
        events.push(Event { time_us: now_us, row_id: i64::from(row), event_type, row });
        match event_type {
            EventType::Submit => {}
            EventType::Schedule => attempts.push(Attempt {
                start_us: now_us,
                end_us: now_us,
                ended_by: EndedBy::Nothing,
                cpu_request: None,
                memory: None,
                gpus: None,
                machine_id: None,
                cpu_used: None,
                requested_us: None,
                ran_us: None,
                row,
            }),
            end => {
                if let Some(attempt) = attempts.last_mut().filter(|attempt| attempt.is_open()) {
                    (attempt.end_us, attempt.ended_by) = (now_us, EndedBy::Event(end));
                }
            }
        }
    }

    /// Applies the custom rules to a task.
    fn ask_own(&mut self, state: &State<'_>, task: u32) {
        let Some(seen) = self.seen.get_mut(&task) else { return };
        if let Some(attempt) = seen.attempts.last_mut().filter(|attempt| attempt.is_open()) {
            attempt.end_us = state.now_us;
        }
        let view = TaskView {
            job_id: i64::from(state.workload.job.get(task)),
            task_index: i32::try_from(task).unwrap_or(i32::MAX),
            events: &seen.events,
            attempts: &seen.attempts,
            windows: &[],
            priority: state.workload.priority.get(task).unwrap_or(0),
            phase: None,
            requested_us: None,
            job_end_us: None,
        };
        let kills = |rule: &OwnRule, parameter| {
            rule.kill_us(&view, parameter).is_some_and(|at_us| at_us <= state.now_us)
        };
        for (bit, (rule, parameter)) in self.conditions.iter().enumerate() {
            if let Rule::Own(rule) = rule
                && kills(rule, *parameter)
            {
                self.fired[task as usize] |= 1 << bit;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::cluster::Cluster;
    use super::super::workload::Column;
    use super::*;
    use crate::studies::rules::{Counted, Retries, Scope, System};

    fn plan(text: &str) -> Result<RuleGrid, String> {
        let (_, rule) = split(text).map_err(|error| error.to_string())?;
        rule.ok_or_else(|| "no kill rule".to_owned())
    }

    #[test]
    fn a_kill_rule_is_that_of_a_sweep_with_one_parameter() {
        for (text, written) in [
            ("kill", "events=20"),
            ("fifo+late+kill:failures=3", "failures=3"),
            (
                "kill:events=9+dead-time=600~priority=9~user=a%2Bb",
                "events=9+dead-time=600~priority=9~user=a%2Bb",
            ),
        ] {
            assert_eq!(plan(text).unwrap().to_string(), written);
        }
        assert_eq!(split("fifo+late+kill:failures=3").unwrap().0, Some("fifo+late"));
        let check = |text: &str, expected: &str| assert_eq!(plan(text).unwrap_err(), expected);
        check(
            "kill:failures=0",
            "kill rule `failures`: `failures=0` is not a number of failures in a row from 1",
        );
        check(
            "kill:failures",
            "policy `kill`: `rule=failures` is not a kill rule with one parameter, such as \
             `kill:failures=3`",
        );
        for text in ["kill:events=10+kill:events=20", "kill+kill"] {
            let twice = format!("policy `fifo+{text}`: `kill` is given twice");
            check(&format!("fifo+{text}"), &twice);
        }
        check(
            "kill:events=3+late",
            "there is no kill rule `late` (known: events, failures, dead-time, restarts, k8s, \
             spark, hadoop, slurm, history)",
        );
    }

    #[test]
    fn tasks_are_spared_by_priority_class_and_user() {
        let mut workload = Workload::plain(2, Column::Same(1));
        workload.priority = Column::Each(vec![Some(9), Some(1)]);
        workload.class = Column::Each(vec![None, Some(3)]);
        workload.user = Column::Each(vec![1, 0]);
        workload.user_names = vec!["b,".to_owned(), "a+b%".to_owned()];
        let cluster = Cluster::of_speeds(vec![1.0]);
        let state = State::new(&workload, &cluster, 0);
        let check = |text: &str, expected: [bool; 2]| {
            let plan = plan(text).unwrap();
            let watch = KillWatch::new(&plan, &workload);
            assert_eq!([0, 1].map(|task| watch.spares(&state, task)), expected, "{text}");
        };
        check("kill", [false, false]);
        check("kill:events=2~priority=9~priority=10", [true, false]);
        check("kill:events=2~class=3", [false, true]);
        check("kill:events=2~class=0", [false, false]);
        check("kill:events=2~user=a%2Bb%25", [true, false]);
        check("kill:events=2~user=b%2C~priority=9", [true, true]);
        check("kill:events=2~user=b", [false, false]);
    }

    /// The life of a task: attempts as (wait, run, how it ends), s.
    fn lives() -> impl Strategy<Value = Vec<(i64, i64, u8)>> {
        prop::collection::vec(
            (0_i64..2000, 0_i64..2000, prop::sample::select(vec![2_u8, 3, 3, 6])),
            1..12,
        )
    }

    fn rules() -> impl Strategy<Value = Vec<(Rule, i64)>> {
        let threshold = |rule: Rule| match rule {
            Rule::Events => (1_i64..30).boxed(),
            Rule::Failures | Rule::Restarts => (1_i64..5).boxed(),
            Rule::DeadTime => (1_i64..8000).boxed(),
            Rule::Retries(_) => (1_i64..6).boxed(),
            _ => (1_i64..4).boxed(),
        };
        // A custom rule in addition to the built-in ones: the number of evictions.
        let own = RuleGrid::own("evicted", [1], |task: &TaskView<'_>, count: i64| {
            task.nth_within(EventType::Evict, usize::try_from(count).ok()?, i64::MAX)
        });
        // Retries of single tasks; retries of jobs need an engine.
        let retries = [
            Retries { counted: Counted::FailuresAndEvictions, ..Retries::of(System::Kubernetes) },
            Retries::of(System::Spark),
        ];
        let retries = retries.map(|of| Rule::Retries(Retries { scope: Scope::Task, ..of }));
        let all: Vec<Rule> = Rule::USUAL.into_iter().chain([own.rule]).chain(retries).collect();
        prop::sample::subsequence(all, 1..=3).prop_flat_map(move |rules| {
            rules.into_iter().map(|rule| (Just(rule.clone()), threshold(rule))).collect::<Vec<_>>()
        })
    }

    /// The instant at which the rules condemn a task, given one event after another.
    fn followed(life: &[(i64, i64, u8)], plan: &RuleGrid) -> Option<i64> {
        let workload = Workload::plain(1, Column::Same(1));
        let cluster = Cluster::of_speeds(vec![1.0]);
        let mut state = State::new(&workload, &cluster, 0);
        let mut watch = KillWatch::new(plan, &workload);
        let (mut now_us, mut events) = (0, 1);
        watch.submitted(&state, 0);
        for (number, (waits, runs, how)) in life.iter().enumerate() {
            state.now_us = now_us;
            if watch.condemns(&state, 0, events) {
                return Some(now_us);
            }
            now_us += waits * MICROS_PER_SECOND;
            events += 1;
            state.now_us = now_us;
            watch.started(0, now_us, number == 0);
            if watch.condemns(&state, 0, events) {
                return Some(now_us);
            }
            now_us += runs * MICROS_PER_SECOND;
            let how = match how {
                2 => Kind::Evict,
                3 => Kind::Fail,
                _ => Kind::Lost,
            };
            state.now_us = now_us;
            watch.ended(&state, 0, how, runs * MICROS_PER_SECOND);
            events += 1;
            if watch.condemns(&state, 0, events) {
                return Some(now_us);
            }
            events += 1;
            watch.submitted(&state, 0);
        }
        watch.condemns(&state, 0, events).then_some(now_us)
    }

    proptest! {
        /// The rules get one event after another, and fire when the rules of the sweep do, which
        /// see all events.
        #[test]
        fn the_rules_are_those_of_the_sweep(life in lives(), rules in rules()) {
            let kind = |number: u8| EventType::of(number).unwrap();
            let event = |time_us: i64, number| Event { time_us, row_id: 0, event_type: kind(number), row: 0 };
            let (mut events, mut attempts) = (vec![event(0, 0)], Vec::new());
            let mut now_us = 0;
            for &(waits, runs, how) in &life {
                let start_us = now_us + waits * MICROS_PER_SECOND;
                now_us = start_us + runs * MICROS_PER_SECOND;
                events.extend([event(start_us, 1), event(now_us, how), event(now_us, 0)]);
                attempts.push(Attempt {
                    start_us,
                    end_us: now_us,
                    ended_by: EndedBy::Event(kind(how)),
                    cpu_request: None,
                    memory: None,
                    gpus: None,
                    cpu_used: None,
                    requested_us: None,
                    ran_us: None,
                    machine_id: None,
                    row: 0,
                });
            }
            let task = TaskView {
                job_id: 1,
                task_index: 0,
                events: &events,
                attempts: &attempts,
                windows: &[],
                priority: 0,
                phase: None,
                requested_us: None,
                job_end_us: None,
            };
            let (first, others) = rules.split_first().unwrap();
            let plan = RuleGrid {
                and: others.to_vec(),
                ..RuleGrid::new(first.0.clone(), vec![first.1])
            };
            let mut times = Vec::new();
            plan.kill_times(&task, Owner::default(), &mut times).unwrap();
            prop_assert_eq!(followed(&life, &plan), times.first().copied());
        }
    }
}
