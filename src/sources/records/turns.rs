//! Attempts of a task, one after the other.
//!
//! In: the begins and ends of all attempts, in any order. Out: those of a history in which the task
//! has one attempt at a time.

use super::{FINISH, KILL, Remarks};

/// The begin or end of an attempt.
pub(in crate::sources) trait Timed: Sized {
    /// Its time, µs, and the number of its event.
    fn at(&self) -> (i64, i32);

    /// The end of the attempt that this begins.
    fn ended(&self, at: (i64, i32)) -> Self;
}

/// The begin of an attempt and its end, if it has one.
pub(in crate::sources) struct Attempt<E> {
    pub begin: E,
    pub end: Option<E>,
}

impl<E: Timed> Attempt<E> {
    /// Its begin and end, µs; without an end, 2^63-1.
    fn span(&self) -> (i64, i64) {
        let begin_us = self.begin.at().0;
        (begin_us, self.end.as_ref().map_or(i64::MAX, |end| end.at().0))
    }

    fn has_finished(&self) -> bool {
        self.end.as_ref().is_some_and(|end| end.at().1 == FINISH)
    }
}

/// The events of attempts one after the other. The attempt that decides the task is whole: the
/// first to finish, or else the last to end. An attempt that still runs when the next begins ends
/// there. An attempt that begins later, while another runs, is left out. So is an attempt that
/// begins after the first has finished, and does not finish itself: the task no longer needs it. If
/// the task `has_failed`, finished attempts do not decide, and none is left out for that reason.
///
/// ```text
///  a0  |----FAIL                             |----FAIL
///  a1          |-----------------KILL                |-----KILL
///  a2                |---------FINISH                      |---------FINISH
///  a3                    |-KILL
/// ```
pub(in crate::sources) fn in_turn<E: Timed>(
    mut attempts: Vec<Attempt<E>>,
    has_failed: bool,
    remarks: &mut Remarks,
) -> Vec<E> {
    attempts.sort_by_key(|own| (own.span(), !own.has_finished()));
    let places = || 0..attempts.len();
    let end_us = |place: &usize| attempts[*place].span().1;
    let finished = places().filter(|place| !has_failed && attempts[*place].has_finished());
    let finished = finished.min_by_key(end_us);
    let is_done = finished.is_some();
    let Some(deciding) = finished.or_else(|| places().max_by_key(end_us)) else {
        return Vec::new();
    };
    let mut kept: Vec<Attempt<E>> = Vec::with_capacity(attempts.len());
    for (place, own) in attempts.into_iter().enumerate() {
        let busy_until_us = kept.last().map_or(i64::MIN, |before| before.span().1);
        if deciding < place && own.begin.at().0 < busy_until_us {
            remarks.add("attempts beside the one that decides their task: left out");
        } else if deciding < place && is_done && !own.has_finished() {
            remarks.add("attempts after their task was done that did not finish: left out");
        } else {
            kept.push(own);
        }
    }
    let next_us: Vec<i64> = kept.iter().skip(1).map(|own| own.begin.at().0).collect();
    for (own, next_us) in kept.iter_mut().zip(next_us) {
        if let Some((end_us, kind)) = own.end.as_ref().map(Timed::at)
            && next_us < end_us
        {
            remarks.add("attempts that still ran when the next began: end there");
            let kind = if kind == FINISH { KILL } else { kind };
            own.end = Some(own.begin.ended((next_us, kind)));
        }
    }
    kept.into_iter().flat_map(|own| std::iter::once(own.begin).chain(own.end)).collect()
}
