//! A claim of a paper, the result of a new run, and the verdict.
//!
//! In: the sentence or number of the paper, and the values of our runs. Out: a [`Claim`] with our
//! number, its 95 % interval and one of five verdicts. The rules are the same for every paper: no
//! range is set by hand, and a number that equals ours is always reproduced.
//!
//! | Claim | Reproduced | Same direction |
//! |---|---|---|
//! | a [number](Published) | inside the prediction interval of the mean of as many runs as the paper has | outside, but on the same side of the neutral value (no effect) |
//! | a [`direction`] | the mean and interval of every cell are on the claimed side | every mean is, some interval is not |
//! | a [`bound`] | the mean of every cell keeps it | |
//!
//! A cell is one setting that the sentence covers, such as a number of nodes or a size.

mod claim;
mod parameter;
mod spread;
mod tally;

use serde::Serialize;

pub use claim::{Cell, Claim, Judged, Published, Side, WORKED_EXAMPLE, bound, direction};
pub use parameter::{Parameter, Settled};
pub(crate) use spread::student_975;
pub use tally::{Tally, headline};

/// The verdict on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Neither the number nor the direction holds, or the reverse holds.
    NotReproduced,
    /// The sign or order holds, but not the size.
    SameDirection,
    /// The number is in our interval, or the sentence holds in every cell.
    Reproduced,
    /// A parameter was fitted to this number, so the number is not evidence.
    Fitted,
    /// The paper prints no number, or a table is not available.
    CannotBeCompared,
}

impl Verdict {
    /// All verdicts, most important first.
    pub const ALL: [Self; 5] = [
        Self::NotReproduced,
        Self::SameDirection,
        Self::Reproduced,
        Self::Fitted,
        Self::CannotBeCompared,
    ];

    /// The verdict in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotReproduced => "not reproduced",
            Self::SameDirection => "same direction",
            Self::Reproduced => "reproduced",
            Self::Fitted => "fitted",
            Self::CannotBeCompared => "cannot be compared",
        }
    }

    /// The verdict in JSON and CSV.
    pub const fn key(self) -> &'static str {
        match self {
            Self::NotReproduced => "not_reproduced",
            Self::SameDirection => "same_direction",
            Self::Reproduced => "reproduced",
            Self::Fitted => "fitted",
            Self::CannotBeCompared => "cannot_be_compared",
        }
    }
}
