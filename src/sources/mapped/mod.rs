//! Any table with one row per job or per attempt, or per job with a list of its attempts, read with
//! a map.
//!
//! In: rows of fields between separators with a header, or JSON objects, one per line or in an
//! array (Parquet is converted to them); and a [`Map`](crate::sources::map::Map), which gives the
//! meaning of the columns. A field in quotes may have line ends, as in RFC 4180; they are read as
//! spaces. Out: the events that `records` makes of attempts. Rows of one job are attempts of one
//! task. No column is guessed: only columns that the map names are read, and they must exist unless
//! the map says that they are optional. A JSON object may hold a job with a list of its attempts.
//!
//! | Missing | Derived value |
//! |---|---|
//! | submit | start minus wait; else start; else end |
//! | start | end minus run; else submit plus wait |
//! | end, or one before start plus run | start plus run |
//! | state | finished if it ended |
//! | job | the number of the line plus part × 2^40 |
//!
//! Each derived value is counted as a remark.

mod format;
mod paths;
pub(super) mod table;

pub(super) use self::format::{Mapped, parser, stamp_of, whole};

#[cfg(test)]
mod tests;
