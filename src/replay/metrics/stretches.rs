//! Amounts over time, in stretches of equal length.
//!
//! In: amounts, each with the time span in which it held. Out: its mean in each stretch. Sums are
//! exact.

/// The number of stretches of a chart over time. It is the same for the record and for the
/// policies, since means over longer stretches have lower peaks.
pub(crate) const STRETCHES: usize = 400;

/// Stretches of equal length from the first to the last instant; the last one may be shorter.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lengths {
    first_us: i64,
    last_us: i64,
    stretch_us: i64,
    count: usize,
}

impl Lengths {
    pub(super) fn new([first_us, last_us]: [i64; 2], count: usize) -> Self {
        let (count, span_us) = (count.max(1), last_us - first_us);
        let parts = i64::try_from(count).unwrap_or(i64::MAX);
        let stretch_us = (span_us / parts + i64::from(span_us % parts != 0)).max(1);
        Self { first_us, last_us, stretch_us, count }
    }

    /// The stretches in a time span, and how much of the span is in each, µs.
    pub(super) fn parts(self, from_us: i64, to_us: i64) -> impl Iterator<Item = (usize, i64)> {
        let mut at_us = from_us;
        std::iter::from_fn(move || {
            if to_us <= at_us {
                return None;
            }
            let idx = (at_us - self.first_us) / self.stretch_us;
            let end_us = self.first_us.saturating_add((idx + 1).saturating_mul(self.stretch_us));
            let (until_us, since_us) = (end_us.min(to_us), at_us);
            at_us = until_us;
            let idx = usize::try_from(idx).expect("never before the first");
            Some((idx.min(self.count - 1), until_us - since_us))
        })
    }

    /// The start and end of each stretch, µs, without empty ones.
    pub(super) fn all(self) -> impl Iterator<Item = [i64; 2]> {
        let ends = (0..self.count).scan(self.first_us, move |from_us, _| {
            let own = [*from_us, from_us.saturating_add(self.stretch_us).min(self.last_us)];
            *from_us = own[1];
            Some(own)
        });
        ends.take_while(|[from_us, to_us]| from_us < to_us)
    }
}

/// Amounts over time.
#[derive(Clone, Debug, Default)]
pub struct Stretches {
    lengths: Lengths,
    /// Amount x µs in each stretch.
    sums: Vec<i128>,
}

impl Stretches {
    /// No amounts, in `count` stretches of a span of time, µs.
    pub fn new([first_us, last_us]: [i64; 2], count: usize) -> Self {
        let lengths = Lengths::new([first_us, last_us.max(first_us)], count);
        Self { lengths, sums: vec![0; lengths.count] }
    }

    /// The same stretches without amounts.
    #[must_use]
    pub fn cleared(&self) -> Self {
        Self { lengths: self.lengths, sums: vec![0; self.sums.len()] }
    }

    /// Adds an amount that held from one instant to another, µs. Time outside of the span does not
    /// count.
    pub fn add(&mut self, [from_us, to_us]: [i64; 2], amount: u64) {
        let Lengths { first_us, last_us, .. } = self.lengths;
        for (idx, part_us) in self.lengths.parts(from_us.max(first_us), to_us.min(last_us)) {
            self.sums[idx] += i128::from(part_us) * i128::from(amount);
        }
    }

    /// Adds the amounts of the same stretches; none if the others have none.
    pub fn join(&mut self, others: &Self) {
        if self.sums.is_empty() {
            self.clone_from(others);
            return;
        }
        for (own, other) in self.sums.iter_mut().zip(&others.sums) {
            *own += other;
        }
    }

    /// The end of each stretch, µs, and the mean amount in it.
    pub fn means(&self) -> impl Iterator<Item = (i64, f64)> {
        self.lengths.all().zip(&self.sums).map(|([from_us, to_us], sum)| {
            (to_us, shown(*sum) / shown(i128::from(to_us - from_us)))
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "shown, not added up")]
pub(super) fn shown(sum: i128) -> f64 {
    sum as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Promise: each amount counts for its own time, and no time outside of the span counts.
        /// Compares two joined halves with a sum amount by amount and stretch by stretch.
        #[test]
        fn amounts_count_for_their_time(
            amounts in prop::collection::vec((-50..500_i64, 0..400_i64, 0..9_u64), 0..20),
            first_us in 0..100_i64,
            length_us in 0..500_i64,
            count in 1..40_usize,
        ) {
            let span = [first_us, first_us + length_us];
            let mut halves = [Stretches::new(span, count), Stretches::new(span, count)];
            for (idx, &(from_us, for_us, amount)) in amounts.iter().enumerate() {
                halves[idx % 2].add([from_us, from_us + for_us], amount);
            }
            let mut joined = Stretches::default();
            for half in &halves {
                joined.join(half);
            }
            let mut from_us = first_us;
            for (to_us, mean) in joined.means() {
                let overlap = |at_us: i64, for_us: i64| {
                    u64::try_from((at_us + for_us).min(to_us) - at_us.max(from_us)).unwrap_or(0)
                };
                let sum: u64 =
                    amounts.iter().map(|&(at_us, for_us, amount)| overlap(at_us, for_us) * amount).sum();
                let expected = shown(i128::from(sum)) / shown(i128::from(to_us - from_us));
                prop_assert!((mean - expected).abs() < 1e-9, "{mean} in place of {expected}");
                from_us = to_us;
            }
            prop_assert_eq!(from_us, span[1]);
        }
    }
}
