//! Backfilling for any order: `sjf:backfill=easy`, `fair:backfill=conservative`.
//!
//! In: an order of waiting tasks. Out: the same order, with reservations. As `easy`,
//! `backfill=easy` makes a reservation for the first task that fits nowhere. As `conservative`,
//! `backfill=conservative` makes one for every waiting task, from its submission on. The order then
//! decides which of several tasks submitted at the same time is booked first, and which booking is
//! moved first when room is freed.
//!
//! An order without a [`Line`] is copied to a line before tasks are handed out, which takes time in
//! proportion to the number of waiting tasks.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::{Backfill, Depth, Order, OrderPlan, Passing, ReadOrder, conservative, easy};
use crate::notation::{Notation, NotationError};
use crate::replay::line::Line;
use crate::replay::state::State;

const KEY: &str = "backfill";

const CHOICES: [(&str, Backfill); 3] =
    [("none", Backfill::None), ("easy", Backfill::Easy), ("conservative", Backfill::Conservative)];

/// Reads an order and how its later tasks may pass earlier ones.
pub(super) fn read(
    name: &'static str,
    read: ReadOrder,
    notation: &mut Notation,
) -> Result<Arc<dyn OrderPlan>, NotationError> {
    if [easy::KIND.name, conservative::KIND.name].contains(&name) {
        return read(notation);
    }
    let expected = "`none`, `easy` or `conservative`";
    let backfill = notation.choice(KEY, expected, Backfill::None, &CHOICES)?;
    let word = CHOICES.iter().find(|(_, choice)| *choice == backfill).map_or("", |found| found.0);
    // With backfilling, first come, first served has its own line.
    let inner = match (name, backfill) {
        ("fifo", Backfill::Easy) => easy::read(notation)?,
        _ => read(notation)?,
    };
    let wrong = |expected: &'static str| NotationError::BadValue {
        kind: "policy",
        name: name.to_owned(),
        key: KEY,
        value: word.to_owned(),
        expected,
    };
    let has = |key: &str, value: &str| {
        inner.parameters().iter().any(|(other, text)| *other == key && text == value)
    };
    match backfill {
        Backfill::None => return Ok(inner),
        _ if has("preempt", "yes") => {
            return Err(wrong("`none`: who reserves does not evict; add `preempt=no`"));
        }
        Backfill::Conservative if inner.parameters().iter().any(|(key, _)| *key == "depth") => {
            return Err(wrong("`none` or `easy`, since `depth` is given"));
        }
        _ => {}
    }
    let inner = match (name, backfill) {
        ("fifo", Backfill::Conservative) => conservative::read(notation)?,
        _ => inner,
    };
    Ok(Arc::new(Plan { inner, backfill, word }))
}

#[derive(Debug)]
struct Plan {
    inner: Arc<dyn OrderPlan>,
    backfill: Backfill,
    word: &'static str,
}

impl OrderPlan for Plan {
    fn build(&self, state: &State<'_>, seed: u64) -> Box<dyn Order> {
        let inner = self.inner.build(state, seed);
        let depth = match inner.passing().depth {
            Depth::First => Depth::All,
            depth => depth,
        };
        let predict = inner.passing().predict;
        let passing = Passing { depth, backfill: self.backfill, preempts: 0, predict };
        let line = inner.line().is_none().then(Line::default);
        Box::new(Backfilled { inner, line, passing })
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        let mut parameters = self.inner.parameters();
        parameters.push((KEY, self.word.to_owned()));
        parameters
    }

    fn uses_estimates(&self) -> bool {
        true
    }

    fn books_ahead(&self) -> bool {
        self.backfill == Backfill::Conservative
    }

    fn assumes(&self) -> Option<&'static str> {
        self.inner.assumes()
    }
}

struct Backfilled {
    inner: Box<dyn Order>,
    /// The waiting tasks in their current order, if the order has no line itself.
    line: Option<Line>,
    passing: Passing,
}

impl Order for Backfilled {
    fn push(&mut self, state: &State<'_>, task: u32) {
        self.inner.push(state, task);
    }

    fn push_front(&mut self, state: &State<'_>, task: u32) {
        self.inner.push_front(state, task);
    }

    fn peek(&mut self, state: &State<'_>) -> Option<u32> {
        self.inner.peek(state)
    }

    fn pop(&mut self) {
        self.inner.pop();
    }

    fn forget(&mut self, task: u32) {
        if let Some(line) = &mut self.line {
            line.remove(task);
        }
        self.inner.forget(task);
    }

    fn line(&self) -> Option<&Line> {
        self.line.as_ref().or_else(|| self.inner.line())
    }

    fn refresh(&mut self, state: &State<'_>) {
        self.inner.refresh(state);
        let Some(line) = &mut self.line else { return };
        *line = Line::default();
        let (mut tasks, mut seen) = (Vec::new(), FxHashSet::default());
        while let Some(task) = self.inner.peek(state) {
            self.inner.pop();
            // If a task waits again before its last entry was removed, it is listed twice.
            if seen.insert(task) {
                tasks.push(task);
                line.push_back(task, state.ask_of(task));
            }
        }
        for &task in tasks.iter().rev() {
            self.inner.push_front(state, task);
        }
    }

    fn is_by_arrival(&self) -> bool {
        self.inner.is_by_arrival()
    }

    fn passing(&self) -> Passing {
        self.passing
    }

    fn period_us(&self) -> Option<i64> {
        self.inner.period_us()
    }

    fn reorder(&mut self, state: &State<'_>) {
        self.inner.reorder(state);
    }

    fn follows_usage(&self) -> bool {
        self.inner.follows_usage()
    }

    fn usage(&mut self, state: &State<'_>, task: u32, begins: bool) {
        self.inner.usage(state, task, begins);
    }
}
