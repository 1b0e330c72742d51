//! Progress as a fraction of whole numbers, and exact comparisons of values derived from it.
//!
//! In: how much is done of how much. Out: rates and times left that compare exactly. Two attempts
//! whose rates are equal as fractions compare as equal: no decision depends on the rounding of a
//! quotient. This module contains no rule.

use std::cmp::Ordering;

/// The share of an attempt's work that is done, from none to all.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    done: u64,
    total: u64,
}

/// The parts of a progress that is known only as a float.
const PARTS: f64 = 9_007_199_254_740_992.0; // 2^53

impl Progress {
    /// No work is done.
    pub const NONE: Self = Self { done: 0, total: 1 };

    /// All work is done.
    pub const ALL: Self = Self { done: 1, total: 1 };

    /// `done` of `total`, at most all of it; `None` if `total` is 0. Equal fractions give equal
    /// values; if the lowest terms of a fraction have more than 63 bits, the last bits are lost.
    pub fn of(done: u128, total: u128) -> Option<Self> {
        let done = done.min(total);
        let (done, total) = match (u64::try_from(done), u64::try_from(total)) {
            (_, Ok(0)) => return None,
            // Below 2^53, a quotient is rounded once without reduction.
            (Ok(done), Ok(total)) if total >> 53 == 0 => (done, total),
            _ => in_lowest_terms(done, total),
        };
        Some(Self { done, total })
    }

    /// `done` of `total`, and at most `percent` of it; `None` if `total` is 0.
    #[inline]
    pub fn of_at_most(done: u128, total: u128, percent: u8) -> Option<Self> {
        let most = Self { done: percent.into(), total: 100 };
        let is_limited = percent < 100;
        if let (Ok(done), Ok(total)) = (u64::try_from(done), u64::try_from(total))
            && 0 < total
            && total >> 53 == 0
        {
            let is_past = total <= done || u64::from(percent) * total < done * 100;
            let known = Self { done: done.min(total), total };
            return Some(if is_limited && is_past { most } else { known });
        }
        let known = Self::of(done, total)?;
        Some(if is_limited { known.min(most) } else { known })
    }

    /// A progress that is known only as a float: whole parts of 2^-53.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 2^53")]
    pub fn of_value(value: f64) -> Self {
        Self { done: (value.clamp(0.0, 1.0) * PARTS).round() as u64, total: PARTS as u64 }
    }

    /// Work done of work to do, both in any unit; `None` if there is no work.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 2^53")]
    pub fn of_work(done: f64, total: f64) -> Option<Self> {
        if !(0.0 < total && total.is_finite()) {
            return None;
        }
        // Whole numbers below 2^53 are used directly.
        if total < PARTS && total.fract() == 0.0 && done.fract() == 0.0 {
            let done = done.clamp(0.0, total);
            return Some(Self { done: done as u64, total: total as u64 });
        }
        // A power of two keeps whole numbers exact.
        let scale = (52.0 - total.log2().floor()).exp2();
        let whole = |work: f64| (work.max(0.0) * scale).round() as u128;
        Self::of(whole(done), whole(total))
    }

    /// The parts done, of [`total`](Self::total).
    pub fn done(self) -> u64 {
        self.done
    }

    /// The parts of the whole; at least 1.
    pub fn total(self) -> u64 {
        self.total
    }

    /// The parts left, of [`total`](Self::total).
    pub fn left(self) -> u64 {
        self.total - self.done
    }

    /// The share from 0 to 1, rounded once: equal fractions give equal values.
    #[expect(clippy::cast_precision_loss, reason = "rounded here and nowhere else")]
    pub fn value(self) -> f64 {
        self.done as f64 / self.total as f64
    }
}

/// The fraction in lowest terms, without its last bits if they do not fit.
fn in_lowest_terms(done: u128, total: u128) -> (u64, u64) {
    let (mut one, mut other) = (total, done);
    while other != 0 {
        (one, other) = (other, one % other);
    }
    let (done, total) = (done / one, total / one);
    let shift = (128 - total.leading_zeros()).saturating_sub(63);
    let fit = |value: u128| u64::try_from(value >> shift).expect("63 bits are left");
    (fit(done), fit(total))
}

impl PartialEq for Progress {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Progress {}

impl PartialOrd for Progress {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Progress {
    fn cmp(&self, other: &Self) -> Ordering {
        let product = |one: u64, other: u64| u128::from(one) * u128::from(other);
        product(self.done, other.total).cmp(&product(other.done, self.total))
    }
}

/// A fraction that is compared by value; a denominator of 0 means infinity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ratio {
    /// The numerator.
    pub(super) top: u128,
    /// The denominator.
    pub(super) bottom: u128,
}

impl Ratio {
    /// Compares two fractions exactly.
    pub(super) fn compare(self, other: Self) -> Ordering {
        let products = self.top.checked_mul(other.bottom).zip(other.top.checked_mul(self.bottom));
        products.map_or_else(|| self.compare_by_parts(other), |(own, its)| own.cmp(&its))
    }

    /// Compares whole parts first, then the inverted remainders, as in Euclid's algorithm. This
    /// never overflows.
    fn compare_by_parts(self, other: Self) -> Ordering {
        let (mut one, mut other) = (self, other);
        loop {
            if one.bottom == 0 || other.bottom == 0 {
                return (one.bottom == 0).cmp(&(other.bottom == 0));
            }
            let whole = (one.top / one.bottom).cmp(&(other.top / other.bottom));
            if whole != Ordering::Equal {
                return whole;
            }
            // a/b < c/d exactly if d/c < b/a.
            let turned = |ratio: Self| Self { top: ratio.bottom, bottom: ratio.top % ratio.bottom };
            (one, other) = (turned(other), turned(one));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A product as digits of 32 bits, so that products of any size can be compared.
    fn product(factors: &[u128]) -> Vec<u32> {
        let mut digits = vec![1_u32];
        for &factor in factors {
            let mut sum = vec![0_u64; digits.len() + 5];
            for (at, &digit) in digits.iter().enumerate() {
                for part in 0..4 {
                    let bits = (factor >> (32 * part)) & 0xFFFF_FFFF;
                    let mut carry = u128::from(digit) * bits;
                    let mut place = at + part;
                    while carry != 0 {
                        carry += u128::from(sum[place]);
                        sum[place] = (carry & 0xFFFF_FFFF) as u64;
                        carry >>= 32;
                        place += 1;
                    }
                }
            }
            digits = sum.into_iter().map(|digit| u32::try_from(digit).unwrap()).collect();
        }
        while digits.last() == Some(&0) {
            digits.pop();
        }
        digits.reverse();
        digits
    }

    fn compared(one: &[u32], other: &[u32]) -> Ordering {
        one.len().cmp(&other.len()).then_with(|| one.cmp(other))
    }

    fn a_number() -> impl Strategy<Value = u128> {
        (any::<u128>(), 0_u32..128).prop_map(|(bits, shift)| bits >> shift)
    }

    proptest! {
        #[test]
        fn ratios_compare_as_their_cross_products(
            (a, b) in (a_number(), a_number()),
            (c, d) in (a_number(), a_number()),
            same in any::<bool>(),
        ) {
            let (c, d) = if same { (a, b) } else { (c, d) };
            prop_assume!(b != 0 && d != 0);
            let expected = compared(&product(&[a, d]), &product(&[c, b]));
            let (one, other) = (Ratio { top: a, bottom: b }, Ratio { top: c, bottom: d });
            prop_assert_eq!(one.compare(other), expected);
            prop_assert_eq!(one.compare_by_parts(other), expected);
        }

        #[test]
        fn equal_fractions_are_equal_however_they_are_written(
            done in 0_u64..1 << 40, total in 1_u64..1 << 40, factor in 1_u64..1 << 20,
        ) {
            let wide = |factor: u64| {
                let times = u128::from(factor);
                Progress::of(u128::from(done) * times, u128::from(total) * times).unwrap()
            };
            prop_assert_eq!(wide(1), wide(factor));
            prop_assert_eq!(wide(1).value().to_bits(), wide(factor).value().to_bits());
            let huge = Progress::of(u128::from(done) << 80, u128::from(total) << 80).unwrap();
            prop_assert_eq!(wide(1), huge);
            #[expect(clippy::cast_precision_loss, reason = "below 2^53")]
            let (done, total) = (done as f64, total as f64);
            prop_assert_eq!(wide(1), Progress::of_work(done, total).unwrap());
        }
    }

    #[test]
    fn infinite_ratios_are_the_largest_and_equal() {
        let infinite = Ratio { top: 5, bottom: 0 };
        let large = Ratio { top: u128::MAX, bottom: 1 };
        for compare in [Ratio::compare, Ratio::compare_by_parts] {
            assert_eq!(compare(infinite, large), Ordering::Greater);
            assert_eq!(compare(large, infinite), Ordering::Less);
            assert_eq!(compare(infinite, Ratio { top: 9, bottom: 0 }), Ordering::Equal);
        }
    }

    #[test]
    fn values_are_shares_from_none_to_all() {
        assert_eq!(Progress::of(3, 4).unwrap().value(), 0.75);
        assert_eq!(Progress::of(9, 4).unwrap().value(), 1.0);
        assert!(Progress::of(0, 0).is_none());
        assert_eq!(Progress::of_value(0.875).value(), 0.875);
        assert_eq!(Progress::of_value(7.0).value(), 1.0);
        assert!(Progress::of_work(1.0, 0.0).is_none());
    }
}
