//! Tests that shortcuts do not change results: replays with and without them give the same journal.

use std::sync::Arc;

use proptest::prelude::*;

use super::detectors::tried;
use super::drawn::drawn;
use super::engine::{Outcome, Plan, replay};
use super::policies::{Order, OrderPlan, Passing, PolicyPlan, sleepless};
use super::properties::{cluster, machine, notice, task, workload};
use super::state::State;

/// An order whose tasks are tried one by one.
#[derive(Debug)]
struct OneByOne(Arc<dyn OrderPlan>);

impl OrderPlan for OneByOne {
    fn build(&self, state: &State<'_>, seed: u64) -> Box<dyn Order> {
        Box::new(Unsearched(self.0.build(state, seed)))
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        self.0.parameters()
    }
}

struct Unsearched(Box<dyn Order>);

impl Order for Unsearched {
    fn push(&mut self, state: &State<'_>, task: u32) {
        self.0.push(state, task);
    }

    fn push_front(&mut self, state: &State<'_>, task: u32) {
        self.0.push_front(state, task);
    }

    fn peek(&mut self, state: &State<'_>) -> Option<u32> {
        self.0.peek(state)
    }

    fn pop(&mut self) {
        self.0.pop();
    }

    fn forget(&mut self, task: u32) {
        self.0.forget(task);
    }

    fn passing(&self) -> Passing {
        self.0.passing()
    }
}

fn policies() -> impl Strategy<Value = String> {
    let orders = [
        "fifo:depth=1",
        "fifo:depth=4",
        "fifo:depth=100",
        "priority:preempt=no",
        "priority:preempt=no,depth=3",
        "priority:preempt=no,depth=100",
        "priority",
        "priority:depth=2,looks=1",
        "priority:depth=100",
    ];
    let places = ["first-free", "first-fit", "best-fit", "worst-fit", "random-fit"];
    // `tqst` is left out: it assesses machines at the first call after a heartbeat, and skipped
    // tasks do not cause a call.
    let rules = ["none", "none", "wqr", "late:age_s=2,heartbeat_s=3"];
    let kills = ["", "", "+kill:events=5", "+kill:restarts=1"];
    let (orders, places) =
        (prop::sample::select(orders.to_vec()), prop::sample::select(places.to_vec()));
    let (rules, kills) =
        (prop::sample::select(rules.to_vec()), prop::sample::select(kills.to_vec()));
    (orders, places, rules, kills)
        .prop_map(|(order, place, rule, kill)| format!("{order}+{place}+{rule}{kill}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: drawn(3_000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn waiting_tasks_that_are_searched_start_as_one_by_one(
        tasks in prop::collection::vec(task(), 1..60),
        machines in prop::collection::vec(machine(), 1..6),
        notice in notice(),
        text in policies(),
    ) {
        let (workload, cluster) = (workload(&tasks, 0.0), cluster(&machines, None, notice, false));
        let searched: PolicyPlan = text.parse().expect("a policy");
        let (name, order) = searched.order.clone();
        let plain = PolicyPlan { order: (name, Arc::new(OneByOne(order))), ..searched.clone() };
        let run = |policy: &PolicyPlan| -> Outcome {
            replay(&Plan { seed: 1, ..Plan::new(&cluster, &workload, policy) }).expect("valid input")
        };
        prop_assert_eq!(run(&searched), run(&plain), "{}", text);
    }
}

fn watched() -> impl Strategy<Value = (String, String)> {
    let orders = ["fifo", "fifo:depth=3", "priority:depth=2", "easy", "fair:interval_s=7"];
    let beats = [1, 2, 3, 7];
    let whom = ["", ",copies=last", ",nodes=known"];
    // These two names mean other rules in a policy, which have no heartbeat.
    let is_watched = |text: &String| !["none", "oracle"].contains(&text.as_str());
    let rules: Vec<String> = tried().into_iter().filter(is_watched).collect();
    (
        prop::sample::select(orders.to_vec()),
        prop::sample::select(rules),
        prop::sample::select(beats.to_vec()),
        prop::sample::select(whom.to_vec()),
    )
        .prop_map(|(order, rule, beat, whom)| {
            let joint = if rule.contains(':') { ',' } else { ':' };
            (order.to_owned(), format!("{rule}{joint}heartbeat_s={beat}{whom}"))
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: drawn(1_500), failure_persistence: None, ..ProptestConfig::default() })]

    /// Groups of several tasks with an occasional straggler, on machines that mostly have the same
    /// speed and that join, leave and grow.
    #[test]
    fn groups_that_sleep_miss_no_flag(
        tasks in prop::collection::vec(task(), 4..50),
        machines in prop::collection::vec(machine(), 2..9),
        notice in notice(),
        is_even in prop::bool::weighted(0.8),
        stretch in 1_i64..8,
        (order, rule) in watched(),
        has_second in prop::bool::weighted(0.2),
    ) {
        let mut tasks = tasks;
        for (idx, task) in tasks.iter_mut().enumerate() {
            task.stretch(if idx % 5 == 0 { 3 * stretch } else { stretch });
        }
        let mut machines = machines;
        if is_even {
            machines.iter_mut().for_each(super::properties::Machine::even_out);
        }
        let (workload, cluster) = (workload(&tasks, 0.0), cluster(&machines, None, notice, false));
        let mut policy: PolicyPlan = order.parse().expect("an order");
        let second = if has_second { "+wqr" } else { "" };
        let sleeping: PolicyPlan = format!("{order}+{rule}{second}").parse().expect("a policy");
        policy.speculation = (sleeping.speculation.0.clone(), sleepless(&rule));
        policy.second_speculation.clone_from(&sleeping.second_speculation);
        // A rule that restarts every slow attempt may restart the slowest task endlessly.
        let until_us = 1_000 * 1_000_000;
        let run = |policy: &PolicyPlan| -> Outcome {
            replay(&Plan { seed: 1, until_us, ..Plan::new(&cluster, &workload, policy) }).expect("valid input")
        };
        prop_assert_eq!(run(&sleeping), run(&policy), "{}+{}", order, rule);
    }
}
