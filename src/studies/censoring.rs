//! How many values of a statistic cross the edges of the window.
//!
//! In: counts. Out: one [`Censoring`] per statistic, stored and reported with it. The trace uses
//! the time 0 for events before its window, and 2^63-1 for events after it:
//!
//! ```text
//!  0        600 s                            2,506,200 s      2^63-1
//!  |----------|=============window================|--------------|
//!  left-censored: treated as begun at 0           censored: closed at the window's end
//! ```

use serde::{Deserialize, Deserializer, Serialize};

/// How many of the counted jobs, tasks or attempts cross an edge of the window, and whether the
/// statistic includes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Censoring {
    /// What is counted: `jobs`, `tasks` or `attempts`.
    pub of: &'static str,
    /// Begun before the window (at time 0); included, with the time as written.
    pub left_censored: u64,
    /// Begun before the window; left out.
    pub left_censored_out: u64,
    /// Open at the window's end and closed there. If values are counts (such as of events), these
    /// are the values that may still grow. `None` for statistics without an end.
    pub censored: Option<u64>,
    /// Open at the window's end; left out.
    pub censored_out: u64,
    /// Waits that ended without an attempt; `None` for other quantities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_waiting: Option<u64>,
    /// Whether values are counts (they may still grow) rather than times (they are cut).
    #[serde(skip)]
    pub is_of_counts: bool,
}

/// The allowed values of `Censoring::of`.
const COUNTED: [&str; 3] = ["jobs", "tasks", "attempts"];

/// The stored form of [`Censoring`], for reading. Fields that are missing in older results are 0 or
/// `None`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Stored {
    of: String,
    left_censored: u64,
    left_censored_out: u64,
    censored: Option<u64>,
    censored_out: u64,
    ended_waiting: Option<u64>,
}

impl<'de> Deserialize<'de> for Censoring {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        let stored = Stored::deserialize(source)?;
        Ok(Self {
            of: COUNTED.into_iter().find(|known| *known == stored.of).unwrap_or(""),
            left_censored: stored.left_censored,
            left_censored_out: stored.left_censored_out,
            censored: stored.censored,
            censored_out: stored.censored_out,
            ended_waiting: stored.ended_waiting,
            is_of_counts: false,
        })
    }
}
