//! Lines that could not be used, and why.

use std::fmt::{self, Write as _};

/// A line that could not be used. Kept, counted and reported; never dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reject {
    /// 1-based line in the unpacked file.
    pub line: u64,
    /// The column at fault; empty if the whole line is.
    pub column: &'static str,
    /// What is wrong.
    pub reason: RejectReason,
    /// The line, cut at 4 KiB.
    pub text: String,
}

impl fmt::Display for Reject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line)?;
        if !self.column.is_empty() {
            write!(f, ", column `{}`", self.column)?;
        }
        write!(f, ": {}: ", self.reason.name())?;
        self.text.chars().take(120).try_for_each(|letter| {
            if letter.is_control() {
                write!(f, "{}", letter.escape_debug())
            } else {
                f.write_char(letter)
            }
        })
    }
}

/// Longest text kept of a rejected line, in bytes.
pub(super) const REJECT_TEXT_MAX: usize = 4096;

/// The text that is kept of a rejected line.
pub(crate) fn reject_text(raw: &[u8]) -> String {
    String::from_utf8_lossy(&raw[..raw.len().min(REJECT_TEXT_MAX)]).into_owned()
}

/// What is wrong with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RejectReason {
    /// The line ends before the last column.
    TooFewColumns,
    /// The line continues after the last column.
    TooManyColumns,
    /// A quote that is not closed: in its line, for a format of one line per row; within 1 MiB, for
    /// a mapped table.
    LineEndInQuotes,
    /// A mandatory field is empty.
    EmptyMandatory,
    /// A field does not parse.
    BadValue,
    /// An event, state or operator that the source does not have.
    UnknownEventType,
    /// A time below 0.
    NegativeTime,
    /// A job that an earlier line has.
    DuplicateJob,
    /// An amount below 0 or above [`crate::schema::AMOUNT_MAX`], or a number, name or line that is
    /// too large.
    OutOfRange,
    /// A partial run, if there are more than can be held until the end of the file.
    TooManyPartialRuns,
}

impl RejectReason {
    /// The reason as written in `rejects/` and in the manifest.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TooFewColumns => "too_few_columns",
            Self::TooManyColumns => "too_many_columns",
            Self::LineEndInQuotes => "line_end_in_quotes",
            Self::EmptyMandatory => "empty_mandatory",
            Self::BadValue => "bad_value",
            Self::UnknownEventType => "unknown_event_type",
            Self::NegativeTime => "negative_time",
            Self::DuplicateJob => "duplicate_job",
            Self::OutOfRange => "out_of_range",
            Self::TooManyPartialRuns => "too_many_partial_runs",
        }
    }
}
