//! Instants, and offsets from UTC as text.

/// When the clock of a zone shows a time; seconds or microseconds since 1970, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sources) enum Instant {
    /// At one instant.
    Once(i64),
    /// At two: the clock was set back in between.
    Twice(i64, i64),
    /// Never: the clock was set forward. The instant has the offset from before the change.
    Never(i64),
}

impl Instant {
    /// The first instant.
    pub(in crate::sources) const fn first(self) -> i64 {
        match self {
            Self::Once(at) | Self::Never(at) | Self::Twice(at, _) => at,
        }
    }

    /// The second instant, if there are two.
    pub(in crate::sources) const fn second(self) -> Option<i64> {
        match self {
            Self::Twice(_, second) => Some(second),
            Self::Once(_) | Self::Never(_) => None,
        }
    }

    /// The start and end that fit a run time best, if either has two instants. The span may be
    /// longer than the run time, because of suspensions, but not shorter.
    pub(in crate::sources) fn fit(start: Self, end: Self, run: i64) -> (i64, i64) {
        let of = |instant: Self| [Some(instant.first()), instant.second()].into_iter().flatten();
        let pairs = of(start).flat_map(|start| of(end).map(move |end| (start, end)));
        let misfit = |&(start, end): &(i64, i64)| {
            let longer = end - start - run;
            (longer < 0, longer.abs())
        };
        pairs.min_by_key(misfit).unwrap_or((start.first(), end.first()))
    }

    pub(super) fn map(self, of: impl Fn(i64) -> i64) -> Self {
        match self {
            Self::Once(at) => Self::Once(of(at)),
            Self::Twice(first, second) => Self::Twice(of(first), of(second)),
            Self::Never(at) => Self::Never(of(at)),
        }
    }
}

/// Reads an offset: `+01:00`, `+0100` or `+01`, in seconds.
pub(super) fn offset_of(text: &[u8]) -> Option<i32> {
    let (sign, digits) = match text {
        [b'+', digits @ ..] => (1, digits),
        [b'-', digits @ ..] => (-1, digits),
        _ => return None,
    };
    let two = |pair: &[u8]| -> Option<i32> {
        let is_number = pair.len() == 2 && pair.iter().all(u8::is_ascii_digit);
        is_number.then(|| i32::from(pair[0] - b'0') * 10 + i32::from(pair[1] - b'0'))
    };
    let (hours, minutes) = match digits.len() {
        2 => (two(digits)?, 0),
        4 => (two(&digits[..2])?, two(&digits[2..])?),
        5 if digits[2] == b':' => (two(&digits[..2])?, two(&digits[3..])?),
        _ => return None,
    };
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}
