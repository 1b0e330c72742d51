//! Two rules about running tasks at the same time, as in `poisson+yarn`.
//!
//! In: two rules in the order of the notation. Out: one rule that combines both.
//!
//! ```text
//!  heartbeat   first judges ─► second judges ─► restarts of both are carried out
//!  copies      those that go before waiting tasks: first, second ─► waiting tasks
//!                                                    ─► the other copies: first, second
//! ```
//! - Both judge the same running attempts before any action. A restart wins over a copy: if one
//!   rule has restarted a task, a copy that the other rule requested before is not made. No attempt
//!   is restarted twice.
//! - Each rule keeps its own heartbeat; the longer one is a multiple of the shorter.
//! - A waiting task starts only on machines that both rules allow.

use std::collections::BTreeSet;

use super::{Heartbeat, Place, PolicyPlan, Speculation, Wish};
use crate::notation::NotationError;
use crate::replay::journal::Kind as Happening;
use crate::replay::state::State;

/// One of the two rules.
struct Side {
    rule: Box<dyn Speculation>,
    /// Tasks that the other rule has restarted since this one last judged.
    restarted: BTreeSet<u32>,
}

impl Side {
    fn wish(&mut self, state: &State<'_>, place: &mut Place<'_>, is_early: bool) -> Option<Wish> {
        let restarted = &self.restarted;
        let mut place = |task: u32, suits: &dyn Fn(u32) -> bool| {
            if restarted.contains(&task) { None } else { place(task, suits) }
        };
        if is_early {
            self.rule.next_early(state, &mut place)
        } else {
            self.rule.next(state, &mut place)
        }
    }
}

struct Both {
    sides: [Side; 2],
}

/// Combines the rules of a policy.
pub(super) fn build(plan: &PolicyPlan, state: &State<'_>) -> Option<Box<dyn Speculation>> {
    let first = plan.speculation.1.build(state);
    let second = plan.second_speculation.as_ref().and_then(|(_, plan)| plan.build(state));
    match (first, second) {
        (Some(first), Some(second)) => {
            let side = |rule| Side { rule, restarted: BTreeSet::new() };
            Some(Box::new(Both { sides: [side(first), side(second)] }))
        }
        (first, second) => first.or(second),
    }
}

/// The common heartbeat: the shorter of the two periods.
pub(super) fn heartbeat(plan: &PolicyPlan) -> Option<Heartbeat> {
    let first = plan.speculation.1.heartbeat();
    let second = plan.second_speculation.as_ref().and_then(|(_, plan)| plan.heartbeat());
    match (first, second) {
        (Some(first), Some(second)) => Some(Heartbeat {
            period_us: first.period_us.min(second.period_us),
            sees_lone_tasks: first.sees_lone_tasks || second.sees_lone_tasks,
        }),
        (first, second) => first.or(second),
    }
}

/// Rejects two heartbeats if neither is a multiple of the other.
pub(super) fn check(plan: &PolicyPlan) -> Result<(), NotationError> {
    let Some((name, second)) = &plan.second_speculation else { return Ok(()) };
    let Some((first, second)) = plan.speculation.1.heartbeat().zip(second.heartbeat()) else {
        return Ok(());
    };
    let (one, other) = (first.period_us, second.period_us);
    if one.max(other) % one.min(other).max(1) == 0 {
        return Ok(());
    }
    Err(NotationError::BadValue {
        kind: "policy",
        name: name.to_string(),
        key: "heartbeat_s",
        value: crate::units::micros_to_seconds(other).to_string(),
        expected: "a multiple or a whole part of the heartbeat of the other rule",
    })
}

impl Speculation for Both {
    fn heartbeat_us(&self) -> Option<i64> {
        self.sides.iter().filter_map(|side| side.rule.heartbeat_us()).min()
    }

    fn is_watching(&self) -> bool {
        self.sides.iter().any(|side| side.rule.is_watching())
    }

    fn heartbeat(&mut self, state: &State<'_>, restarts: &mut Vec<u32>) {
        let mut slots_of = [const { BTreeSet::new() }; 2];
        for (side, slots) in self.sides.iter_mut().zip(&mut slots_of) {
            let is_due = |period_us: i64| state.now_us.checked_rem(period_us) == Some(0);
            if side.rule.heartbeat_us().is_some_and(is_due) {
                side.restarted.clear();
                let mut wanted = Vec::new();
                side.rule.heartbeat(state, &mut wanted);
                slots.extend(wanted.iter().copied());
                wanted.retain(|slot| !restarts.contains(slot));
                restarts.append(&mut wanted);
            }
        }
        for (side, slots) in self.sides.iter_mut().zip(slots_of.iter().rev()) {
            let tasks = slots.iter().map(|&slot| state.attempts.task[slot as usize]);
            side.restarted.extend(tasks);
        }
    }

    fn next(&mut self, state: &State<'_>, place: &mut Place<'_>) -> Option<Wish> {
        self.sides.iter_mut().find_map(|side| side.wish(state, place, false))
    }

    fn next_early(&mut self, state: &State<'_>, place: &mut Place<'_>) -> Option<Wish> {
        let mut early = self.sides.iter_mut().filter(|side| side.rule.goes_first());
        early.find_map(|side| side.wish(state, place, true))
    }

    fn goes_first(&self) -> bool {
        self.sides.iter().any(|side| side.rule.goes_first())
    }

    fn has_later_wishes(&self) -> bool {
        self.sides.iter().any(|side| !side.rule.goes_first())
    }

    fn steers(&self) -> bool {
        self.sides.iter().any(|side| side.rule.steers())
    }

    fn allows(&self, state: &State<'_>, machine: u32, task: u32) -> bool {
        self.sides.iter().all(|side| side.rule.allows(state, machine, task))
    }

    fn submitted(&mut self, state: &State<'_>, task: u32) {
        self.sides.iter_mut().for_each(|side| side.rule.submitted(state, task));
    }

    fn started(&mut self, state: &State<'_>, slot: u32) {
        self.sides.iter_mut().for_each(|side| side.rule.started(state, slot));
    }

    fn ending(&mut self, state: &State<'_>, slot: u32, how: Happening) {
        self.sides.iter_mut().for_each(|side| side.rule.ending(state, slot, how));
    }

    fn lost(&mut self, state: &State<'_>, slot: u32) {
        self.sides.iter_mut().for_each(|side| side.rule.lost(state, slot));
    }

    fn concluded(&mut self, state: &State<'_>, task: u32) {
        self.sides.iter_mut().for_each(|side| side.rule.concluded(state, task));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::SpeculationPlan;
    use super::*;
    use crate::replay::cluster::Cluster;
    use crate::replay::engine::{Plan, replay};
    use crate::replay::state::{Phase, Role};
    use crate::replay::workload::{Column, Workload};

    const SECOND: i64 = 1_000_000;

    /// A rule that performs the given actions at its heartbeat at 3 s.
    #[derive(Clone, Debug, Default)]
    struct Script {
        restarts: Vec<u32>,
        copies: Vec<u32>,
        goes_first: bool,
        wishes: Vec<u32>,
    }

    impl SpeculationPlan for Script {
        fn build(&self, _: &State<'_>) -> Option<Box<dyn Speculation>> {
            Some(Box::new(self.clone()))
        }
        fn heartbeat(&self) -> Option<Heartbeat> {
            Some(Heartbeat { period_us: 3 * SECOND, sees_lone_tasks: true })
        }
        fn parameters(&self) -> Vec<(&'static str, String)> {
            Vec::new()
        }
    }

    impl Speculation for Script {
        fn heartbeat_us(&self) -> Option<i64> {
            Some(3 * SECOND)
        }
        fn heartbeat(&mut self, state: &State<'_>, restarts: &mut Vec<u32>) {
            let is_time = state.now_us == 3 * SECOND;
            self.wishes = if is_time { self.copies.clone() } else { Vec::new() };
            let slots = self.restarts.iter().flat_map(|&task| state.of_task(task));
            restarts.extend(slots.filter(|_| is_time));
        }
        fn next(&mut self, state: &State<'_>, place: &mut Place<'_>) -> Option<Wish> {
            let running = |task: u32| state.tasks.phase[task as usize] == Phase::Running;
            self.wishes.iter().copied().filter(|&task| running(task)).find_map(|task| {
                let machine = place(task, &|_| true)?;
                Some(Wish { task, machine, role: Role::Copy })
            })
        }
        fn goes_first(&self) -> bool {
            self.goes_first
        }
    }

    fn copies(tasks: &[u32]) -> Script {
        Script { copies: tasks.to_vec(), ..Script::default() }
    }

    /// The actions at 3 s on tasks of 10 s on three machines; the third task arrives then.
    fn at_3_s(tasks: usize, first: &Script, second: &Script) -> String {
        let mut workload = Workload::plain(tasks, Column::Same(10 * SECOND));
        let arrivals = (0..tasks).map(|task| if task < 2 { 0 } else { 3 * SECOND });
        workload.arrival_us = Column::Each(arrivals.collect());
        let workload = workload.check().unwrap();
        let cluster = Cluster::of_speeds(vec![1.0; 3]).check().unwrap().0;
        let policy = PolicyPlan {
            speculation: ("first".into(), Arc::new(first.clone())),
            second_speculation: Some(("second".into(), Arc::new(second.clone()))),
            .."fifo".parse().unwrap()
        };
        let journal = replay(&Plan::new(&cluster, &workload, &policy)).unwrap().journal.unwrap();
        let lines = journal.to_string();
        let lines = lines.lines().filter_map(|line| line.strip_prefix("3 "));
        lines.filter(|line| !line.starts_with("submit")).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn a_restart_wins_over_the_copy_that_the_other_wished_for() {
        let restarts = Script { restarts: vec![0], ..Script::default() };
        let expected = "restart t1 m1, start t1 m3, copy t2 m1";
        assert_eq!(at_3_s(2, &restarts, &copies(&[0, 1])), expected);
        assert_eq!(at_3_s(2, &copies(&[0, 1]), &restarts), expected);
        assert_eq!(at_3_s(2, &restarts, &restarts), "restart t1 m1, start t1 m3", "once");
    }

    #[test]
    fn copies_of_the_first_go_before_those_of_the_second() {
        assert_eq!(at_3_s(2, &copies(&[1]), &copies(&[0])), "copy t2 m3");
        assert_eq!(at_3_s(2, &copies(&[0]), &copies(&[1])), "copy t1 m3");
    }

    #[test]
    fn each_keeps_its_place_before_or_after_waiting_tasks() {
        let early = |tasks: &[u32]| Script { goes_first: true, ..copies(tasks) };
        assert_eq!(at_3_s(3, &copies(&[0]), &copies(&[1])), "start t3 m3");
        assert_eq!(at_3_s(3, &copies(&[0]), &early(&[1])), "copy t2 m3");
        assert_eq!(at_3_s(3, &early(&[0]), &copies(&[1])), "copy t1 m3");
        // The later copies are also made after an early rule that requests none.
        assert_eq!(at_3_s(2, &early(&[]), &copies(&[1])), "copy t2 m3");
    }

    #[test]
    fn two_rules_print_as_they_are_read() {
        for text in ["fifo+wqr:copies=1,order=forward,depth=9+oracle", "fifo+oracle"] {
            assert_eq!(text.parse::<PolicyPlan>().unwrap().to_string(), text);
        }
        let both: PolicyPlan = "poisson+yarn".parse().unwrap();
        assert_eq!(both.to_string().parse::<PolicyPlan>().unwrap(), both);
        assert_eq!(
            (&*both.speculation.0, &*both.second_speculation.unwrap().0),
            ("poisson", "yarn")
        );
        let alone: PolicyPlan = "none+yarn".parse().unwrap();
        assert_eq!(alone, "yarn".parse().unwrap());
        let check = |text: &str, expected: &str| {
            assert_eq!(text.parse::<PolicyPlan>().unwrap_err().to_string(), expected);
        };
        check("late+late:age_s=2", "policy `late+late:age_s=2`: `late` is given twice");
        check(
            "late+yarn+wqr",
            "policy `late+yarn+wqr`: `wqr` is one too many: at most one or two rules about running tasks can be combined",
        );
        check(
            "late+yarn:heartbeat_s=2",
            "policy `yarn`: `heartbeat_s=2` is not a multiple or a whole part of the heartbeat of \
             the other rule",
        );
    }
}
