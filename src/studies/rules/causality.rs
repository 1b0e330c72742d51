//! Tests that no rule uses the future: events after a kill never change the kill.

use proptest::prelude::*;

use super::of_job::JobEnds;
use super::{Owner, Rule, RuleGrid};
use crate::facts::events::Event;
use crate::facts::tasks::{Attempt, EndedBy, TaskView};
use crate::schema::EventType;
use crate::units::MICROS_PER_SECOND;

/// Every rule and every way of counting. The `history` rules that check again while a job runs are
/// tested in `history`, because they need other jobs.
const RULES: [&str; 16] = [
    "events={2,3,5,8}",
    "failures={1,2,3}",
    "dead-time={60,300,600,1200}",
    "restarts={1,2,3}",
    "k8s:backoff_limit={0,1,2,4}",
    "k8s:backoff_limit={0,1,2,4},on=fail+evict",
    "k8s:backoff_limit={0,1,2},per=task",
    "spark:max_failures={1,2,3}",
    "spark:max_failures={1,2},per=task,on=fail+evict",
    "hadoop:max_attempts={1,2,3},on=fail+evict",
    "slurm:limit={60,300,900}",
    "slurm:limit={50,100,150},of=requested",
    "history:p={0.5,0.7,0.95},after=120",
    "history:p={0.5,0.7,0.95},after=60,per=job,tasks=2",
    "events={2,3,5}+failures=2",
    "restarts={1,2}+dead-time=120",
];

/// End of the window, s.
const END_S: i64 = 100_000;

/// Random times are multiples of this, s, so that events, ages and limits often coincide.
const STEP_S: i64 = 30;

/// Events of a task as (s, type).
type Life = Vec<(i64, u8)>;

/// Attempts from each SCHEDULE to the next deciding event, or to the end of the window.
fn attempts(life: &Life) -> Vec<Attempt> {
    let starts = life.iter().enumerate().filter(|(_, event)| event.1 == 1);
    let attempt = |(place, &(start_s, _)): (usize, &(i64, u8))| {
        let end = life[place + 1..].iter().find(|event| (1..=6).contains(&event.1));
        Attempt {
            start_us: start_s * MICROS_PER_SECOND,
            end_us: end.map_or(END_S, |end| end.0) * MICROS_PER_SECOND,
            ended_by: end.map_or(EndedBy::Nothing, |end| {
                EndedBy::Event(EventType::of(end.1).expect("drawn from the types"))
            }),
            cpu_request: None,
            memory: None,
            gpus: None,
            cpu_used: None,
            requested_us: Some(200 * MICROS_PER_SECOND),
            ran_us: None,
            machine_id: None,
            row: 0,
        }
    };
    starts.map(attempt).collect()
}

/// When a rule kills the first task of a job, or ends the job, for each parameter.
fn kills(rule: &RuleGrid, lives: &[Life]) -> Vec<i64> {
    let owner = Owner { chance: Some(0.8), ..Owner::default() };
    let (mut ends, mut times) = (JobEnds::default(), Vec::new());
    for (task_index, life) in (0..).zip(lives) {
        let events: Vec<Event> = (0..)
            .zip(life)
            .map(|(row_id, &(at_s, kind))| Event {
                time_us: at_s * MICROS_PER_SECOND,
                row_id,
                event_type: EventType::of(kind).expect("drawn from the types"),
                row: 0,
            })
            .collect();
        let task = TaskView {
            job_id: 1,
            task_index,
            events: &events,
            attempts: &attempts(life),
            windows: &[],
            priority: 0,
            phase: None,
            requested_us: Some(200 * MICROS_PER_SECOND),
            job_end_us: None,
        };
        if rule.ends_jobs() {
            ends.add(rule, &task, owner);
        } else if task_index == 0 {
            rule.kill_times(&task, owner, &mut times).expect("no rule of the program fails");
        }
    }
    ends.close(rule);
    if rule.ends_jobs() { ends.of(1).to_vec() } else { times }
}

fn sorted(mut life: Life) -> Life {
    life.sort_by_key(|event| event.0);
    for event in &mut life {
        event.0 *= STEP_S;
    }
    life
}

#[test]
fn every_rule_is_among_them() {
    let rules: Vec<RuleGrid> =
        RULES.iter().map(|text| text.parse().expect("it is a rule")).collect();
    for name in Rule::NAMES {
        assert!(rules.iter().any(|rule| rule.rule.name() == name), "{name}");
    }
}

proptest! {
    /// Two histories that are equal up to an instant have the same kills up to that instant. Events
    /// after a kill never change the kill.
    #[test]
    fn the_future_moves_no_kill(
        before in prop::collection::vec(prop::collection::vec((0_i64..60, 0_u8..7), 1..8), 1..4),
        futures in prop::collection::vec(
            prop::collection::vec(prop::collection::vec((1_i64..60, 0_u8..7), 0..6), 3), 2,
        ),
        cut in 0_i64..60,
    ) {
        let cut_s = cut * STEP_S;
        let past: Vec<Life> = before
            .into_iter()
            .map(|life| sorted(life).into_iter().filter(|event| event.0 <= cut_s).collect())
            .collect();
        let with = |future: &[Life]| -> Vec<Life> {
            let later = |life: &Life| {
                let mut life = sorted(life.clone());
                for event in &mut life {
                    event.0 += cut_s;
                }
                life
            };
            past.iter().zip(future).map(|(past, life)| [past.clone(), later(life)].concat()).collect()
        };
        for text in RULES {
            let rule: RuleGrid = text.parse().expect("it is a rule");
            let known = |lives: &[Life]| -> Vec<i64> {
                let is_past = |time: &i64| *time <= cut_s * MICROS_PER_SECOND;
                kills(&rule, lives).into_iter().filter(is_past).collect()
            };
            prop_assert_eq!(known(&with(&futures[0])), known(&with(&futures[1])), "{}", text);
        }
    }
}
