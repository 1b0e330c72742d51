//! Combines the snapshots of things that change, such as pods.
//!
//! In: snapshots in any order, each with the attempts that it shows. Out: each thing once, with the
//! attempts of all its snapshots. A final snapshot, to which no later one can add anything, is
//! handed out immediately; other things are held until the end.
//!
//! Attempts of a thing do not overlap. So two attempts that start at the same time are one, unless
//! they have different numbers and the earlier ended when it started.

use std::mem::{swap, take};

use rustc_hash::{FxHashMap, FxHashSet};

/// An attempt that a snapshot shows.
#[derive(Clone, Debug, Default)]
pub(in crate::sources) struct Attempt {
    /// How many attempts were before it, if the snapshot shows this.
    pub number: Option<i64>,
    /// Its submit time, if that is not the submit time of its task.
    pub submit_us: Option<i64>,
    pub start_us: Option<i64>,
    pub end: Option<(i64, i32)>,
    /// Whether the time of its end is not known, so that another time is used.
    pub is_end_unknown: bool,
    pub reason: Option<String>,
    pub exit_code: Option<String>,
    /// Remarks about it.
    pub remarks: Vec<&'static str>,
}

/// A step of an attempt that a line reports.
#[derive(Clone, Copy)]
pub(in crate::sources) enum Step {
    Submit,
    Start,
    /// The event that ended it, and the reason.
    End(i32, &'static str),
}

impl Attempt {
    /// Adds a step; steps may be repeated and come in any order.
    pub(in crate::sources) fn learn(&mut self, step: Step, at_us: i64) {
        let first = |known: Option<i64>| Some(known.map_or(at_us, |known| known.min(at_us)));
        self.submit_us = first(self.submit_us);
        match step {
            Step::Submit => {}
            Step::Start => self.start_us = first(self.start_us),
            // The first end counts: an evicted pod is killed afterwards.
            Step::End(kind, reason) => {
                let told = self.end.zip(self.reason.as_deref());
                if told.is_none_or(|told| ((at_us, kind), reason) < told) {
                    (self.end, self.reason) = (Some((at_us, kind)), Some(reason.to_owned()));
                }
            }
        }
    }

    /// Ends it at `at_us`. If that is not known, it ends when it started, else when it was
    /// submitted, else at `or_us`.
    pub(in crate::sources) fn end_with(
        &mut self,
        kind: i32,
        at_us: Option<i64>,
        or_us: Option<i64>,
    ) {
        self.is_end_unknown = at_us.is_none();
        let begun_us = self.start_us.or(self.submit_us).or(or_us);
        self.end = at_us.or(begun_us).zip(Some(kind));
    }

    /// Its sort key among the attempts of a task.
    fn order(&self) -> (Option<i64>, Option<i64>, bool) {
        let (at_us, has_begun) = self.place();
        (at_us, self.number, has_begun)
    }

    /// Its time, and whether it has started: the same in every snapshot.
    fn place(&self) -> (Option<i64>, bool) {
        (self.start_us.or(self.submit_us), self.start_us.is_some())
    }

    /// Whether `next`, which starts no earlier, is the same attempt in another snapshot.
    fn is_same(&self, next: &Self) -> bool {
        let is_instant = self.start_us.is_some() && self.start_us == self.end.map(|end| end.0);
        let numbers = self.number.zip(next.number);
        let is_numbered_apart = numbers.is_some_and(|(number, next)| number != next);
        self.place() == next.place() && !(is_instant && is_numbered_apart)
    }

    /// Takes the start and the end from an earlier snapshot, if it has none.
    fn keep(&mut self, early: Self) {
        self.start_us = self.start_us.or(early.start_us);
        let knows_end = |one: &Self| one.end.is_some() && !one.is_end_unknown;
        if !knows_end(self) && knows_end(&early) {
            *self = Self { start_us: self.start_us, submit_us: self.submit_us, ..early };
        }
    }

    /// Adds the start and the end that other lines report. Times before the submit belong to
    /// another attempt.
    pub(in crate::sources) fn close(&mut self, asked_us: Option<i64>, learned: Self) {
        if self.end.is_some() && !self.is_end_unknown {
            return;
        }
        let start_us = learned.start_us.filter(|&start_us| asked_us <= Some(start_us));
        self.start_us = self.start_us.or(start_us);
        let begun_us = self.start_us.or(asked_us);
        if let Some(end) = learned.end.filter(|end| begun_us <= Some(end.0)) {
            (self.end, self.is_end_unknown) = (Some(end), false);
            self.reason = learned.reason;
            self.remarks.clear();
        }
    }
}

/// The attempts of two snapshots in order; `all` is from the later snapshot. If there was never
/// more than one attempt, both show the same one.
pub(in crate::sources) fn joined(
    mut all: Vec<Attempt>,
    early: Vec<Attempt>,
    were_several: bool,
) -> Vec<Attempt> {
    if !were_several {
        if let Some(last) = all.last_mut() {
            for early in early {
                last.keep(early);
            }
        }
        return all;
    }
    if let [last] = all.as_slice()
        && last.number.is_none()
        && last.is_end_unknown
    {
        return ended(early, last);
    }
    all.extend(early);
    all.sort_by_key(Attempt::order);
    all.dedup_by(|next, first| {
        let is_same = first.is_same(next);
        if is_same && first.end.is_none() && next.end.is_some() {
            swap(next, first);
        }
        is_same
    });
    all
}

/// The attempts of earlier snapshots. A later snapshot shows the end of the last one, but not the
/// time. If that attempt was open, it ends when it started.
fn ended(mut early: Vec<Attempt>, last: &Attempt) -> Vec<Attempt> {
    early.sort_by_key(Attempt::order);
    if let Some(open) = early.last_mut().filter(|open| open.end.is_none()) {
        open.end = open.start_us.or(open.submit_us).zip(last.end.map(|end| end.1));
        open.is_end_unknown = true;
        (open.reason, open.remarks) = (last.reason.clone(), last.remarks.clone());
    }
    early
}

/// The attempts before the first that snapshots show, as one attempt. It starts when the thing got
/// its place: from then on, it no longer waited. `None` if they show the first attempt.
pub(in crate::sources) fn before(attempts: &[Attempt], placed_us: Option<i64>) -> Option<Attempt> {
    let first = attempts.first().filter(|first| first.number.is_some_and(|number| 0 < number))?;
    let start_us = placed_us.filter(|&at_us| first.start_us.is_some_and(|start| at_us < start))?;
    Some(Attempt { start_us: Some(start_us), ..Attempt::default() })
}

/// Whether snapshots no longer show some of the attempts.
pub(in crate::sources) fn has_gap(attempts: &[Attempt]) -> bool {
    let numbers = attempts.iter().filter_map(|attempt| attempt.number);
    numbers.zip(0..).any(|(number, place)| place < number)
}

/// Attempts in order. One that was seen before its start and after it becomes one.
pub(in crate::sources) fn settled(attempts: Vec<Attempt>) -> Vec<Attempt> {
    let mut all: Vec<Attempt> = Vec::new();
    for mut attempt in attempts {
        if let Some(waited) = all.pop_if(|last| last.start_us.is_none()) {
            attempt.submit_us = waited.submit_us;
        }
        all.push(attempt);
    }
    all
}

/// The snapshots of things, by key.
pub(in crate::sources) struct Snapshots<T> {
    /// The keys of things that were handed out.
    ended: FxHashSet<u64>,
    open: FxHashMap<u64, T>,
    /// The number of snapshots of things that had been seen before.
    pub repeats: u64,
}

impl<T> Default for Snapshots<T> {
    fn default() -> Self {
        Self { ended: FxHashSet::default(), open: FxHashMap::default(), repeats: 0 }
    }
}

impl<T> Snapshots<T> {
    /// Adds a snapshot. A final one is returned, unless the thing was returned before; any other is
    /// held, and `join` combines two of the same thing.
    pub(in crate::sources) fn add(
        &mut self,
        key: u64,
        snapshot: T,
        is_last: bool,
        join: impl Fn(T, T) -> T,
    ) -> Option<T> {
        if self.ended.contains(&key) {
            self.repeats += 1;
            return None;
        }
        let before = self.open.remove(&key);
        self.repeats += u64::from(before.is_some());
        if is_last {
            self.ended.insert(key);
            return Some(snapshot);
        }
        let snapshot = match before {
            Some(before) => join(before, snapshot),
            None => snapshot,
        };
        self.open.insert(key, snapshot);
        None
    }

    /// The things that are held, in any order.
    pub(in crate::sources) fn take_held(&mut self) -> Vec<T> {
        take(&mut self.open).into_values().collect()
    }
}
