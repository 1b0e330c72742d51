//! What is left out to save time changes nothing: replays with and without it give the same journal.

use std::sync::Arc;

use proptest::prelude::*;

use super::engine::{Outcome, Plan, replay};
use super::policies::{Order, OrderPlan, Passing, PolicyPlan};
use super::properties::{cluster, machine, notice, task, workload};
use super::state::State;

/// An order whose tasks are looked at one by one.
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
    let rules = ["none", "none", "wqr", "tqst:heartbeat_s=3", "late:age_s=2,heartbeat_s=3"];
    let kills = ["", "", "+kill:events=5", "+kill:restarts=1"];
    let (orders, places) =
        (prop::sample::select(orders.to_vec()), prop::sample::select(places.to_vec()));
    let (rules, kills) =
        (prop::sample::select(rules.to_vec()), prop::sample::select(kills.to_vec()));
    (orders, places, rules, kills)
        .prop_map(|(order, place, rule, kill)| format!("{order}+{place}+{rule}{kill}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

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
            replay(&Plan { seed: 1, ..Plan::new(&cluster, &workload, policy) })
        };
        prop_assert_eq!(run(&searched), run(&plain), "{}", text);
    }
}
