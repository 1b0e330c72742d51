//! Values of a statistic that cross the edges of the window.
//!
//! In: counts. Out: one [`Censoring`] per statistic, stored and reported with it. The trace writes
//! 0 for what happened before its window and 2^63-1 for what happened after it:
//!
//! ```text
//!  0        600 s                            2,506,200 s      2^63-1
//!  |----------|=============window================|--------------|
//!  left-censored: taken to begin at 0             censored: closed at the window's end
//! ```

use serde::Serialize;

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
    /// Open at the window's end and closed there; for counts (such as of events), those that may
    /// still grow. None for statistics without an end.
    pub censored: Option<u64>,
    /// Open at the window's end; left out.
    pub censored_out: u64,
    /// Waits that ended without an attempt; none for other quantities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_waiting: Option<u64>,
    /// Whether values are counts (they may still grow) rather than times (they are cut).
    #[serde(skip)]
    pub is_of_counts: bool,
}
