//! Values and how often each occurs, in a few bytes each.
//!
//! In: whole numbers with their censoring. Out: the same values, sorted and packed, for merging,
//! iteration and quantiles.

/// A value and the effects of the window's edges on it, in eight bytes.
///
/// The amount (whole microseconds or a count, at most 2^59 - 1) is stored above the four flags, so
/// values sort by amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Value(i64);

/// Whether something began before the window, continues after it, or waited and never started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "four facts that do not depend on each other")]
pub struct Edges {
    /// Begun before the window, at time 0.
    pub is_left_censored: bool,
    /// A part of the value is before the window: the true value is larger, or may be larger. This
    /// is false for a job that was submitted before the window and started in it, because its
    /// duration counts from the start.
    pub is_cut_before: bool,
    /// Cut off at the end of the window: the true value is larger.
    pub is_censored: bool,
    /// A wait that ended without an attempt.
    pub is_unstarted: bool,
}

impl Value {
    const CUT: i64 = 8;
    const UNSTARTED: i64 = 4;
    const LEFT: i64 = 2;
    const RIGHT: i64 = 1;

    /// Packs an amount (clamped to 0 and 2^59 - 1) and its flags.
    pub fn new(amount: i64, edges: Edges) -> Self {
        const LARGEST: i64 = i64::MAX >> 4;
        let cut = if edges.is_cut_before { Self::CUT } else { 0 };
        let unstarted = if edges.is_unstarted { Self::UNSTARTED } else { 0 };
        let left = if edges.is_left_censored { Self::LEFT } else { 0 };
        let right = if edges.is_censored { Self::RIGHT } else { 0 };
        Self((amount.clamp(0, LARGEST) << 4) | cut | unstarted | left | right)
    }

    /// Whole microseconds, or a count.
    pub const fn amount(self) -> i64 {
        self.0 >> 4
    }

    /// Whether the true value is larger.
    pub const fn is_censored(self) -> bool {
        self.0 & Self::RIGHT != 0
    }

    /// Whether it is a wait that ended without an attempt.
    pub const fn is_unstarted(self) -> bool {
        self.0 & Self::UNSTARTED != 0
    }

    /// Whether it began before the window.
    pub const fn is_left_censored(self) -> bool {
        self.0 & Self::LEFT != 0
    }

    /// Whether the true value is larger, or may be larger: a part of it is after or before the
    /// window.
    pub const fn is_lower_bound(self) -> bool {
        self.0 & (Self::RIGHT | Self::CUT) != 0
    }
}

/// Values in ascending order, with how often each occurs.
///
/// A trace has tens of millions of different waits. Each is stored as its difference from the
/// previous value and, if it occurs more than once, its count. That takes three to four bytes
/// instead of sixteen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Per value: twice the difference, plus 1 if a count follows; then the count. Seven bits per
    /// byte.
    bytes: Vec<u8>,
    largest: Option<Value>,
}

impl From<Vec<Value>> for Counted {
    fn from(mut values: Vec<Value>) -> Self {
        values.sort_unstable();
        let mut counted = Self::default();
        for run in values.chunk_by(|one, other| one == other) {
            counted.push(run[0], run.len() as u64);
        }
        counted
    }
}

/// Iterates over the values of a [`Counted`] and how often each occurs.
#[derive(Clone, Debug)]
pub struct Runs<'a> {
    bytes: &'a [u8],
    before: i64,
}

impl Runs<'_> {
    fn number(&mut self) -> Option<u64> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let (&byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
            shift += 7;
        }
    }
}

impl Iterator for Runs<'_> {
    type Item = (Value, u64);

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.number()?;
        self.before += (step >> 1).cast_signed();
        let count = if step & 1 == 1 { self.number()? } else { 1 };
        Some((Value(self.before), count))
    }
}

/// All values of one amount, with any flags.
#[derive(Clone, Copy, Debug)]
pub(super) struct Same {
    pub amount: i64,
    pub count: u64,
    pub censored: u64,
}

impl Counted {
    /// Adds a value larger than all earlier ones.
    fn push(&mut self, value: Value, count: u64) {
        let step = (value.0 - self.largest.map_or(0, |before| before.0)).cast_unsigned() << 1;
        self.number(step | u64::from(1 < count));
        if 1 < count {
            self.number(count);
        }
        self.largest = Some(value);
    }

    #[expect(clippy::cast_possible_truncation, reason = "seven bits")]
    fn number(&mut self, mut number: u64) {
        while 0x80 <= number {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    /// The values in ascending order, with how often each occurs.
    pub fn runs(&self) -> Runs<'_> {
        Runs { bytes: &self.bytes, before: 0 }
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.largest.is_none()
    }

    /// The largest value.
    pub const fn largest(&self) -> Option<Value> {
        self.largest
    }

    /// Merges the values of both.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        if self.is_empty() || other.is_empty() {
            return if self.is_empty() { other } else { self };
        }
        let mut merged = Self::default();
        merged.bytes.reserve(self.bytes.len() + other.bytes.len());
        let (mut own, mut others) = (self.runs().peekable(), other.runs().peekable());
        loop {
            let (value, count) = match (own.peek(), others.peek()) {
                (Some(&one), Some(&other)) if one.0 == other.0 => {
                    own.next();
                    others.next();
                    (one.0, one.1 + other.1)
                }
                (Some(&one), Some(&other)) if other.0 < one.0 => {
                    others.next();
                    other
                }
                (Some(&one), _) => {
                    own.next();
                    one
                }
                (None, Some(&other)) => {
                    others.next();
                    other
                }
                (None, None) => break,
            };
            merged.push(value, count);
        }
        merged
    }

    /// Counts the values that `is_in` accepts.
    pub fn count(&self, is_in: impl Fn(Value) -> bool) -> u64 {
        self.runs().filter(|run| is_in(run.0)).map(|run| run.1).sum()
    }

    /// Keeps the values that `is_in` accepts.
    pub fn retain(&mut self, is_in: impl Fn(Value) -> bool) {
        let mut rest = Self::default();
        for (value, count) in self.runs().filter(|run| is_in(run.0)) {
            rest.push(value, count);
        }
        *self = rest;
    }

    /// The values, grouped by amount.
    pub(super) fn amounts(&self) -> impl Iterator<Item = Same> + Clone {
        let mut runs = self.runs().peekable();
        std::iter::from_fn(move || {
            let (value, _) = *runs.peek()?;
            let mut same = Same { amount: value.amount(), count: 0, censored: 0 };
            while let Some((value, count)) = runs.next_if(|run| run.0.amount() == same.amount) {
                same.count += count;
                same.censored += if value.is_censored() { count } else { 0 };
            }
            Some(same)
        })
    }

    /// Quantiles by R-7 (linear between the two nearest order statistics); shares must ascend.
    pub(super) fn quantiles<const N: usize>(
        &self,
        shares: [f64; N],
        per_unit: f64,
    ) -> [Option<f64>; N] {
        let near = self.near(shares, self.count(|_| true), per_unit);
        near.map(|near| near.map(|(low, high, weight)| low + weight * (high - low)))
    }

    /// Whether each quantile grows if all values that are lower bounds grow without limit.
    pub(super) fn growing<const N: usize>(&self, shares: [f64; N]) -> [bool; N] {
        let count = self.count(|_| true);
        let mut rest = self.clone();
        rest.retain(|value| !value.is_lower_bound());
        let (now, then) = (self.near(shares, count, 1.0), rest.near(shares, count, 1.0));
        std::array::from_fn(|idx| {
            let needed = |near: Option<(f64, f64, f64)>| {
                near.map(|(low, high, weight)| (low, if weight == 0.0 { low } else { high }))
            };
            needed(now[idx]) != needed(then[idx])
        })
    }

    /// The two order statistics nearest to each share among `count` values, and the weight of the
    /// upper one. If `self` has fewer than `count` values, the missing ones count as infinite.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positions among values; amounts are below 2^53"
    )]
    fn near<const N: usize>(
        &self,
        shares: [f64; N],
        count: u64,
        per_unit: f64,
    ) -> [Option<(f64, f64, f64)>; N] {
        let Some(last) = count.checked_sub(1) else { return [None; N] };
        // One pass for all shares finds the amounts at the position rounded down, and at the next.
        let places = shares.map(|share| share * last as f64);
        let none = f64::INFINITY;
        let mut near = places.map(|place| Some((none, none, place - place.floor())));
        let mut passed = 0;
        for (value, count) in self.runs() {
            let amount = value.amount() as f64 / per_unit;
            let here = passed..passed + count;
            for (near, place) in near.iter_mut().flatten().zip(places) {
                let below = place.floor() as u64;
                if here.contains(&below) {
                    near.0 = amount;
                }
                if here.contains(&(below + 1).min(last)) {
                    near.1 = amount;
                }
            }
            passed = here.end;
        }
        near
    }
}

/// Values for tests, from amounts that are censored or not.
#[cfg(test)]
pub(super) fn values(amounts: &[(i64, bool)]) -> Counted {
    let value = |&(amount, is_censored): &(i64, bool)| {
        Value::new(amount, Edges { is_censored, ..Edges::default() })
    };
    amounts.iter().map(value).collect::<Vec<Value>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_do_not_move_amounts() {
        for bits in 0..16 {
            let [is_left_censored, is_cut_before, is_censored, is_unstarted] =
                [1, 2, 4, 8].map(|bit| bits & bit != 0);
            let edges = Edges { is_left_censored, is_cut_before, is_censored, is_unstarted };
            let value = Value::new(7, edges);
            assert_eq!(value.is_lower_bound(), is_censored || is_cut_before);
            assert_eq!(value.amount(), 7);
            assert_eq!(value.is_censored(), is_censored);
            assert_eq!(value.is_left_censored(), is_left_censored);
            assert_eq!(value.is_unstarted(), is_unstarted);
        }
        assert_eq!(Value::new(i64::MAX, Edges::default()).amount(), i64::MAX >> 4);
    }

    #[test]
    fn merged_values_are_those_of_both() {
        let (one, other) = ([(3, true), (1, false), (3, false)], [(2, false), (3, false)]);
        let merged = values(&one).merge(values(&other));
        assert_eq!(merged, values(&[one.as_slice(), &other].concat()));
        assert_eq!(merged.clone().merge(Counted::default()), merged);
    }
}
