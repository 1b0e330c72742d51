//! Orders by the requested time and processors of a task, never by its true running time.
//!
//! `r` is the time that the user requested, as `--estimates` says for `easy`: in seconds and at
//! least 1. If no request is known, it is the recorded running time. `n` is the requested CPU, in
//! the units of the lake (processors in a log), `s` the time of submission, s on the clock of the
//! trace, at least 1, and `w` the time waited, s. Among equals, the task submitted first comes
//! first; a task that waits again after a failure or an eviction keeps its old place.
//!
//! | Order | First is the one with | Source |
//! |---|---|---|
//! | `sjf`, `ljf` | the least, the most `r` | |
//! | `smallest`, `largest` | the least, the most `n` | |
//! | `wfp3` | the most `(w/r)^3 n` | Tang et al. 2009 |
//! | `unicep` | the most `w/(log2(n) r)`; with `n` up to 1 it goes before all others | Tang et al. 2009 (UNICEF) |
//! | `f1` | the least `log10(r) n + 870 log10(s)` | Carastan-Santos, de Camargo 2017 |
//! | `f2` | the least `sqrt(r) n + 25600 log10(s)` | the same |
//! | `f3` | the least `r n + 6860000 log10(s)` | the same |
//! | `f4` | the least `r sqrt(n) + 530000 log10(s)` | the same |
//!
//! The formulas are those of the papers as quoted in later code; the papers themselves were not
//! available. F1 to F4 were fitted on logs whose clock begins at 0.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::passing::{depth_parameter, take_depth};
use super::{Depth, Kind, Order, OrderPlan, Passing, Read};
use crate::notation::{Notation, NotationError};
use crate::replay::line::Line;
use crate::replay::state::State;
use crate::units::micros_to_seconds;

/// The data that an order uses.
#[derive(Clone, Copy, Debug)]
struct Request {
    /// Time, s.
    r: f64,
    /// Processors.
    n: f64,
    /// Submission, s.
    s: f64,
}

impl Request {
    #[expect(clippy::cast_precision_loss, reason = "requests are far below 2^53")]
    fn of(state: &State<'_>, task: u32) -> Self {
        let workload = state.workload;
        Self {
            r: micros_to_seconds(workload.estimate_us(task, 0)).max(1.0),
            n: workload.cpu.get(task) as f64 / 1e6,
            s: micros_to_seconds(state.arrival_us(task)).max(1.0),
        }
    }
}

/// A score; the task with the lowest score goes first.
#[derive(Clone, Copy, Debug)]
enum Score {
    /// A score that stays constant.
    Fixed(fn(Request) -> f64),
    /// A score that changes with the time waited, s.
    Waiting(fn(Request, f64) -> f64),
}

macro_rules! orders {
    ($($kind:ident $name:literal $(($word:literal))? $about:literal $score:expr;)*) => {
        $(pub(super) const $kind: Kind = Kind {
            name: $name,
            about: $about,
            word: concat!($($word)?),
            read: Read::ByRequest(|notation| read($score, notation)),
        };)*
    };
}

orders! {
    SJF "sjf" ("requested time") "The least requested time first" Score::Fixed(|task| task.r);
    LJF "ljf" ("requested time") "The most requested time first" Score::Fixed(|task| -task.r);
    SMALLEST "smallest" ("CPU") "The least requested CPU first" Score::Fixed(|task| task.n);
    LARGEST "largest" ("CPU") "The most requested CPU first" Score::Fixed(|task| -task.n);
    WFP3 "wfp3" "The most (wait / requested time)^3 x CPU first (Tang et al. 2009)"
        Score::Waiting(wfp3);
    UNICEP "unicep" "The most wait / (log2(CPU) x requested time) first (Tang et al. 2009)"
        Score::Waiting(unicep);
    F1 "f1" "The least log10(time) x CPU + 870 log10(submission) (Carastan-Santos 2017)"
        Score::Fixed(|task| task.r.log10() * task.n + 870.0 * task.s.log10());
    F2 "f2" "The least sqrt(time) x CPU + 25600 log10(submission)"
        Score::Fixed(|task| task.r.sqrt() * task.n + 25_600.0 * task.s.log10());
    F3 "f3" "The least time x CPU + 6860000 log10(submission)"
        Score::Fixed(|task| task.r * task.n + 6_860_000.0 * task.s.log10());
    F4 "f4" "The least time x sqrt(CPU) + 530000 log10(submission)"
        Score::Fixed(|task| task.r * task.n.sqrt() + 530_000.0 * task.s.log10());
}

fn wfp3(task: Request, waited_s: f64) -> f64 {
    -(waited_s / task.r).powi(3) * task.n
}

fn unicep(task: Request, waited_s: f64) -> f64 {
    if task.n <= 1.0 { f64::NEG_INFINITY } else { -waited_s / (task.n.log2() * task.r) }
}

#[derive(Debug)]
struct Plan {
    score: Score,
    depth: Depth,
}

fn read(score: Score, notation: &mut Notation) -> Result<Arc<dyn OrderPlan>, NotationError> {
    Ok(Arc::new(Plan { score, depth: take_depth(notation)? }))
}

impl OrderPlan for Plan {
    fn build(&self, state: &State<'_>, _seed: u64) -> Box<dyn Order> {
        let passing = Passing { depth: self.depth, ..Passing::default() };
        let (line, score) = match self.score {
            // If users react, the times of submission are not known in advance.
            Score::Fixed(score) if !state.is_closed() => (Line::ranked(ranks(state, score)), None),
            score => (Line::default(), Some(score)),
        };
        Box::new(ByRequest { line, score, waiting: BTreeSet::new(), passing })
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        depth_parameter(self.depth).into_iter().collect()
    }

    fn uses_estimates(&self) -> bool {
        true
    }
}

/// The rank of every task among all tasks, by a constant score.
fn ranks(state: &State<'_>, score: fn(Request) -> f64) -> Vec<u32> {
    let scores: Vec<f64> =
        (0..).take(state.workload.task_count).map(|task| score(Request::of(state, task))).collect();
    let mut order: Vec<u32> = (0..).take(scores.len()).collect();
    order.sort_by(|&one, &other| scores[one as usize].total_cmp(&scores[other as usize]));
    let mut ranks = vec![0; order.len()];
    for (rank, task) in (0..).zip(order) {
        ranks[task as usize] = rank;
    }
    ranks
}

/// Waiting tasks by a score of their requests.
#[derive(Debug)]
struct ByRequest {
    line: Line,
    /// The score, if it changes or cannot be ranked in advance.
    score: Option<Score>,
    /// The waiting tasks; only if `score` is set.
    waiting: BTreeSet<u32>,
    passing: Passing,
}

impl Order for ByRequest {
    fn push(&mut self, state: &State<'_>, task: u32) {
        self.push_front(state, task);
    }

    fn push_front(&mut self, state: &State<'_>, task: u32) {
        self.line.push_front(task, state.ask_of(task));
        if self.score.is_some() {
            self.waiting.insert(task);
        }
    }

    fn peek(&mut self, _state: &State<'_>) -> Option<u32> {
        self.line.first()
    }

    fn pop(&mut self) {
        if let Some(task) = self.line.first() {
            self.forget(task);
        }
    }

    fn forget(&mut self, task: u32) {
        self.line.remove(task);
        self.waiting.remove(&task);
    }

    fn line(&self) -> Option<&Line> {
        Some(&self.line)
    }

    fn refresh(&mut self, state: &State<'_>) {
        let Some(score) = self.score else { return };
        let waited_s = |task: u32| micros_to_seconds(state.now_us - state.arrival_us(task));
        let score = |task: u32| match score {
            Score::Fixed(score) => score(Request::of(state, task)),
            Score::Waiting(score) => score(Request::of(state, task), waited_s(task)),
        };
        let mut scored: Vec<(f64, i64, u32)> = (self.waiting.iter())
            .map(|&task| (score(task), state.arrival_us(task), task))
            .collect();
        scored.sort_by(|one, other| {
            one.0.total_cmp(&other.0).then((one.1, one.2).cmp(&(other.1, other.2)))
        });
        self.line = Line::default();
        for (_, _, task) in scored {
            self.line.push_back(task, state.ask_of(task));
        }
    }

    fn passing(&self) -> Passing {
        self.passing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The score of a task that requested `r` s and `n` processors at `s` and has waited `w` s.
    fn score(kind: &Kind, (r, n, s, w): (f64, f64, f64, f64)) -> f64 {
        let rule = match kind.name {
            "wfp3" => Score::Waiting(wfp3),
            "unicep" => Score::Waiting(unicep),
            _ => unreachable!("those that change"),
        };
        let task = Request { r, n, s };
        match rule {
            Score::Fixed(score) => score(task),
            Score::Waiting(score) => score(task, w),
        }
    }

    #[test]
    fn scores_are_those_of_the_formulas() {
        // A job of 100 s on 8 processors that has waited 200 s: (200/100)^3 x 8 = 64, and
        // 200 / (3 x 100) = 2/3.
        let job = (100.0, 8.0, 1000.0, 200.0);
        assert!((score(&WFP3, job) + 64.0).abs() < 1e-9);
        assert!((score(&UNICEP, job) + 2.0 / 3.0).abs() < 1e-9);
        assert_eq!(score(&UNICEP, (100.0, 1.0, 1000.0, 0.0)), f64::NEG_INFINITY);
    }
}
