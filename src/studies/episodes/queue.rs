//! The interval in which most tasks waited.
//!
//! In: the mean number of waiting tasks of each interval. Out: the interval with most waiting
//! tasks, and the interval from which their number rose.

use super::Counts;

/// A queue is reported if it is at least this many times the mean of all intervals.
const QUEUE_TIMES: f64 = 2.0;

/// The longest queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Queue {
    /// The interval from which the number of waiting tasks rose without a pause.
    pub first: usize,
    /// The interval with most waiting tasks.
    pub last: usize,
    /// The mean number of waiting tasks in the first interval.
    pub from: f64,
    /// The mean number of waiting tasks in the last interval.
    pub most: f64,
    /// The mean of all fully known intervals.
    pub mean: f64,
}

impl Queue {
    /// The longest queue of a log, if it is far longer than usual and has at least `least` tasks.
    pub fn of(counts: &Counts, least: u64) -> Option<Self> {
        let whole = |idx: usize| counts.waiting[idx].filter(|_| counts.is_whole(idx));
        let waiting: Vec<Option<f64>> = (0..counts.asked.at.count()).map(whole).collect();
        Self::among(&waiting, least)
    }

    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 intervals and tasks")]
    fn among(waiting: &[Option<f64>], least: u64) -> Option<Self> {
        let known = || waiting.iter().enumerate().filter_map(|(idx, tasks)| Some((idx, (*tasks)?)));
        // If several intervals have the same number, the first one counts.
        let (peak, most) = known().reduce(|one, next| if one.1 < next.1 { next } else { one })?;
        let mean = known().map(|(_, tasks)| tasks).sum::<f64>() / known().count() as f64;
        let (mut first, mut from) = (peak, most);
        while let Some(before) = first.checked_sub(1)
            && let Some(tasks) = waiting[before].filter(|tasks| *tasks < from)
        {
            (first, from) = (before, tasks);
        }
        let is_long = least as f64 <= most && QUEUE_TIMES * mean <= most;
        is_long.then_some(Self { first, last: peak, from, most, mean })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_queue_is_reported_with_its_rise() {
        let queue = |tasks: &[f64], least| {
            let tasks: Vec<Option<f64>> =
                tasks.iter().map(|own| Some(*own).filter(|own| 0.0 <= *own)).collect();
            Queue::among(&tasks, least)
        };
        let most = queue(&[9.0, 3.0, 2.0, 6.0, 40.0, 40.0, 5.0], 10).unwrap();
        assert_eq!((most.first, most.last, most.from, most.most), (2, 4, 2.0, 40.0));
        assert!((most.mean - 15.0).abs() < 1e-12);
        assert_eq!(queue(&[9.0, 3.0, 2.0, 6.0, 40.0, 40.0, 5.0], 41), None, "too few");
        assert_eq!(queue(&[30.0, 20.0, 40.0], 10), None, "below twice the mean");
        // A rise starts after an interval that is not fully known.
        let most = queue(&[0.0, -1.0, 1.0, 40.0, 0.0, 0.0], 10).unwrap();
        assert_eq!((most.first, most.last), (2, 3));
        assert_eq!(queue(&[-1.0], 1), None);
    }
}
