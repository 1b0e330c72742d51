//! The kill rules of the sweep on top of any policy.
//!
//! In: the starts and ends of a task's attempts as they happen. Out: whether it is condemned now.
//! The rules are those of [`studies::rules`](crate::studies::rules), told of one event after
//! another instead of reading a whole history; several have to fire, each at any time so far.
//! Copies count as attempts of their task, but for those that another overtook.

use std::collections::VecDeque;
use std::fmt;

use rustc_hash::FxHashMap;

use super::journal::Kind;
use super::state::State;
use super::workload::Workload;
use crate::notation::{Notation, NotationError};
use crate::studies::rules::{HOUR_US, Rule, SpareKey};
use crate::units::MICROS_PER_SECOND;

/// The name of the kill rule in a policy.
pub const NAME: &str = "kill";

/// Events after which a task is condemned where no rule is named.
const EVENTS_DEFAULT: i64 = 20;

/// Rules that all have to fire before a task is condemned, and tasks that never are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KillPlan {
    conditions: Vec<(Rule, i64)>,
    spare: Vec<(SpareKey, Vec<String>)>,
}

/// What each rule's parameter is said to be in errors.
const fn expected(rule: &Rule) -> &'static str {
    match rule {
        Rule::Events => "a number of events from 1",
        Rule::Failures => "a number of failures in a row from 1",
        Rule::DeadTime => "a time in whole seconds from 1",
        Rule::Restarts => "a number of restarts within an hour from 1",
        Rule::Own(_) => "a number from 1",
    }
}

const fn spare_name(key: SpareKey) -> &'static str {
    match key {
        SpareKey::Priority => "spare-priority",
        SpareKey::Class => "spare-class",
        SpareKey::User => "spare-user",
    }
}

impl KillPlan {
    /// Takes the parameters of `kill`: thresholds by rule, and lists of values to spare.
    pub(super) fn read(notation: &mut Notation) -> Result<Self, NotationError> {
        let mut conditions = Vec::new();
        for rule in Rule::ALL {
            let Some(name) = rule.known_name() else { continue };
            // 0, which cannot be given, stands for a rule that was not.
            let threshold =
                notation.take_if(name, expected(&rule), 0, |&threshold| 0 < threshold)?;
            if 0 < threshold {
                conditions.push((rule, threshold));
            }
        }
        if conditions.is_empty() {
            conditions.push((Rule::Events, EVENTS_DEFAULT));
        }
        let mut spare = Vec::new();
        for key in SpareKey::ALL {
            let expected = match key {
                SpareKey::User => "names joined by `~`",
                SpareKey::Priority | SpareKey::Class => "numbers joined by `~`",
            };
            let is_value = |value: &str| {
                !value.is_empty() && (key == SpareKey::User || value.parse::<i32>().is_ok())
            };
            let text =
                notation.take_if(spare_name(key), expected, String::new(), |text: &String| {
                    text.split('~').all(is_value)
                })?;
            if !text.is_empty() {
                spare.push((key, text.split('~').map(str::to_owned).collect()));
            }
        }
        Ok(Self { conditions, spare })
    }

    /// Whether the task is one of those that are never condemned.
    fn spares(&self, workload: &Workload, task: u32) -> bool {
        self.spare.iter().any(|(key, values)| {
            let number = |number: Option<i32>| {
                number.is_some_and(|number| values.iter().any(|value| value.parse() == Ok(number)))
            };
            match key {
                SpareKey::Priority => number(workload.priority.get(task)),
                SpareKey::Class => number(workload.class.get(task).map(i32::from)),
                SpareKey::User => {
                    let name = workload.user_names.get(workload.user.get(task) as usize);
                    name.is_some_and(|name| values.iter().any(|value| unescaped(value) == *name))
                }
            }
        })
    }
}

/// A user's name in which `+` and `,`, which mean something in a policy, are `%2B` and `%2C`, and
/// `%` may be `%25`.
fn unescaped(name: &str) -> String {
    name.replace("%2B", "+").replace("%2C", ",").replace("%25", "%")
}

impl fmt::Display for KillPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAME)?;
        let mut mark = ':';
        for (rule, threshold) in &self.conditions {
            write!(f, "{mark}{}={threshold}", rule.name())?;
            mark = ',';
        }
        self.spare.iter().try_for_each(|(key, values)| {
            write!(f, "{mark}{}={}", spare_name(*key), values.join("~"))
        })
    }
}

/// What is remembered of every task.
#[derive(Debug)]
pub(super) struct KillWatch<'a> {
    plan: &'a KillPlan,
    /// A bit per condition that has fired.
    fired: Vec<u8>,
    /// Failures since the last other end of an attempt.
    in_row: Vec<u16>,
    /// Time in attempts that came to nothing, µs.
    dead_us: Vec<i64>,
    /// Restarts within the last hour, of tasks that had some.
    restarts_us: FxHashMap<u32, VecDeque<i64>>,
}

impl<'a> KillWatch<'a> {
    pub(super) fn new(plan: &'a KillPlan, task_count: usize) -> Self {
        Self {
            plan,
            fired: vec![0; task_count],
            in_row: vec![0; task_count],
            dead_us: vec![0; task_count],
            restarts_us: FxHashMap::default(),
        }
    }

    /// An attempt of a task that had one before begins.
    pub(super) fn restarted(&mut self, task: u32, now_us: i64) {
        let Some(wanted) = self.threshold(&Rule::Restarts) else { return };
        let restarts_us = self.restarts_us.entry(task).or_default();
        restarts_us.push_back(now_us);
        while restarts_us.front().is_some_and(|&restart_us| restart_us < now_us - HOUR_US) {
            restarts_us.pop_front();
        }
        if wanted <= i64::try_from(restarts_us.len()).unwrap_or(i64::MAX) {
            self.fire(task, &Rule::Restarts);
        }
    }

    /// An attempt that ran for `ran_us` ends.
    pub(super) fn ended(&mut self, task: u32, how: Kind, ran_us: i64) {
        let idx = task as usize;
        let is_failure = how == Kind::Fail;
        if !is_failure && !matches!(how, Kind::Evict | Kind::Lost | Kind::Restart) {
            return;
        }
        self.in_row[idx] = if is_failure { self.in_row[idx].saturating_add(1) } else { 0 };
        self.dead_us[idx] += ran_us;
        let reached =
            |threshold: Option<i64>, found| threshold.is_some_and(|wanted| wanted <= found);
        if reached(self.threshold(&Rule::Failures), i64::from(self.in_row[idx])) {
            self.fire(task, &Rule::Failures);
        }
        if reached(self.threshold(&Rule::DeadTime), self.dead_us[idx] / MICROS_PER_SECOND) {
            self.fire(task, &Rule::DeadTime);
        }
    }

    /// Whether a task is condemned, which has had so many events.
    pub(super) fn condemns(&mut self, state: &State<'_>, task: u32, events: u16) -> bool {
        if self.threshold(&Rule::Events).is_some_and(|threshold| threshold < i64::from(events)) {
            self.fire(task, &Rule::Events);
        }
        let all = (1_u8 << self.plan.conditions.len()) - 1;
        self.fired[task as usize] == all && !self.plan.spares(state.workload, task)
    }

    fn threshold(&self, rule: &Rule) -> Option<i64> {
        self.plan.conditions.iter().find(|(other, _)| other == rule).map(|found| found.1)
    }

    fn fire(&mut self, task: u32, rule: &Rule) {
        let position = self.plan.conditions.iter().position(|(other, _)| other == rule);
        self.fired[task as usize] |= 1 << position.expect("only conditions fire");
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::cluster::Cluster;
    use super::super::workload::Column;
    use super::*;
    use crate::facts::events::Event;
    use crate::facts::tasks::{Attempt, EndedBy, TaskView};
    use crate::schema::EventType;
    use crate::studies::rules::{Owner, RuleGrid};

    fn plan(text: &str) -> Result<KillPlan, String> {
        let mut notation = Notation::parse("policy", text).map_err(|error| error.to_string())?;
        let plan = KillPlan::read(&mut notation).map_err(|error| error.to_string())?;
        notation.finish().map_err(|error| error.to_string())?;
        Ok(plan)
    }

    #[test]
    fn rules_print_as_they_are_read_and_typos_are_refused() {
        assert_eq!(plan("kill").unwrap().to_string(), "kill:events=20");
        for text in [
            "kill:failures=3",
            "kill:events=9,dead-time=600,restarts=4,spare-priority=9~11,spare-user=a~b%2Bc",
            "kill:events=20,spare-class=3",
        ] {
            assert_eq!(plan(text).unwrap().to_string(), text);
        }
        let check = |text: &str, expected: &str| assert_eq!(plan(text).unwrap_err(), expected);
        check(
            "kill:failures=0",
            "policy `kill`: `failures=0` is not a number of failures in a row from 1",
        );
        check("kill:spare-class=a", "policy `kill`: `spare-class=a` is not numbers joined by `~`");
        check(
            "kill:fails=3",
            "policy `kill` has no parameter `fails` (it takes: events, failures, dead-time, \
             restarts, spare-priority, spare-class, spare-user); did you mean `failures`?",
        );
    }

    #[test]
    fn tasks_are_spared_by_priority_class_and_user() {
        let mut workload = Workload::plain(2, Column::Same(1));
        workload.priority = Column::Each(vec![Some(9), Some(1)]);
        workload.class = Column::Each(vec![None, Some(3)]);
        workload.user = Column::Each(vec![1, 0]);
        workload.user_names = vec!["b,".to_owned(), "a+b%".to_owned()];
        let check = |text: &str, expected: [bool; 2]| {
            let plan = plan(text).unwrap();
            assert_eq!([0, 1].map(|task| plan.spares(&workload, task)), expected, "{text}");
        };
        check("kill", [false, false]);
        check("kill:spare-priority=9~10", [true, false]);
        check("kill:spare-class=3", [false, true]);
        check("kill:spare-class=0", [false, false]);
        check("kill:spare-user=a%2Bb%25", [true, false]);
        check("kill:spare-user=b%2C,spare-priority=9", [true, true]);
        check("kill:spare-user=b", [false, false]);
    }

    /// What a task goes through: attempts as (waits, runs, how it ends), s.
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
            Rule::Own(_) => unreachable!("only rules that come with the program"),
        };
        prop::sample::subsequence(Rule::ALL.to_vec(), 1..=3).prop_flat_map(move |rules| {
            rules.into_iter().map(|rule| (Just(rule.clone()), threshold(rule))).collect::<Vec<_>>()
        })
    }

    /// The instant at which the rules condemn a task that is told of one event after another.
    fn followed(life: &[(i64, i64, u8)], plan: &KillPlan) -> Option<i64> {
        let workload = Workload::plain(1, Column::Same(1));
        let cluster = Cluster::of_speeds(vec![1.0]);
        let state = State::new(&workload, &cluster, 0);
        let mut watch = KillWatch::new(plan, 1);
        let (mut now_us, mut events) = (0, 1);
        for (number, (waits, runs, how)) in life.iter().enumerate() {
            if watch.condemns(&state, 0, events) {
                return Some(now_us);
            }
            now_us += waits * MICROS_PER_SECOND;
            events += 1;
            if 0 < number {
                watch.restarted(0, now_us);
            }
            if watch.condemns(&state, 0, events) {
                return Some(now_us);
            }
            now_us += runs * MICROS_PER_SECOND;
            let how = match how {
                2 => Kind::Evict,
                3 => Kind::Fail,
                _ => Kind::Lost,
            };
            watch.ended(0, how, runs * MICROS_PER_SECOND);
            events += 1;
            if watch.condemns(&state, 0, events) {
                return Some(now_us);
            }
            events += 1;
        }
        watch.condemns(&state, 0, events).then_some(now_us)
    }

    proptest! {
        /// Told event by event, the rules fire when those of the sweep do, which see all at once.
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
                    cpu_used: None,
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
                job_end_us: None,
            };
            let grid = RuleGrid { rule: rules[0].0.clone(), grid: vec![rules[0].1], and: rules[1..].to_vec(), spare: Vec::new() };
            let mut times = Vec::new();
            grid.kill_times(&task, Owner::default(), &mut times).unwrap();
            let plan = KillPlan { conditions: rules, spare: Vec::new() };
            prop_assert_eq!(followed(&life, &plan), times.first().copied());
        }
    }
}
