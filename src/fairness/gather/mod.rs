//! Usage over time from lakes: the usage of each user in each interval.
//!
//! In: lakes and a grouping. Out: a [`History`](crate::fairness::history::History). Every bucket is
//! processed separately and sums are exact. So the number of threads or buckets does not change a
//! digit. A test compares the sums of users with those of the ledger.
//!
//! ```text
//!  task      SUBMIT ···· SCHEDULE ======================= FINISH
//!  running   waiting     | CPU of each interval as it runs |
//!  end       waiting                                       ^ all of it here (the paper's)
//!  interval  [----------)[----------)[----------)[----------)
//! ```
//!
//! A task waits from its SUBMIT until it is scheduled or ends, with the request that is known at
//! each time. A user exists from the first submission on, and belongs to the group of that
//! submission. No value in an interval depends on later events. With `end`, an attempt that is
//! still open is counted but not charged.

mod extra;
mod fleet;
mod fold;
mod gathering;
mod interned;
mod merge;
mod parts;
mod people;
mod plan;

pub use self::gathering::{Gathering, gather, gather_parts, gather_range};
pub use self::parts::{Counts, Part};
pub use self::plan::{Accrual, By, CELLS_MAX, Cluster, GatherError, Machines, Plan};
