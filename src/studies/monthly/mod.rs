//! A log by calendar month: use and waste of each account and user, waits and ends of jobs, and how
//! much of their time limits was unused.
//!
//! In: the lake of a log, a definition of CPU time, and a time zone. Out: [`Monthly`]. An attempt
//! that runs into the next month is split at midnight in the zone. So the months of all accounts
//! add up exactly to the total of [`ledger`](super::ledger). A job counts in the month of its last
//! event.
//!
//! ```text
//!            December     |     January
//!  attempt        |=======|=========|
//!                  CPU of   CPU of    the job counts here
//! ```

mod calendar;
mod fold;
mod sums;

pub use super::calendar::Calendar;
pub use calendar::{Covered, covered, month_count};
pub use fold::{Asked, fold};
pub use sums::{Ends, Limits, Monthly, Sums, Used};
