//! The cluster over time: capacity, requests, use and queue.
//!
//! In: a lake, a length of intervals, and a key of groups. Out: [`Load`]: per interval and group,
//! the exact integrals of capacity, requests of running attempts, use and waiting requests, and
//! counts of events. It takes one pass over the buckets. Sums are exact, so the total of all
//! intervals equals that of [`ledger`](super::ledger), for any interval and any number of threads.
//!
//! ```text
//!  task       SUBMIT ····· SCHEDULE =================== FINISH
//!  pending    |-- request --|
//!  allocated                |-------- request ----------|
//!  used                      |~~~ windows inside ~~~~|
//!  capacity   machines that are up
//! ```

mod alike;
pub mod arrivals;
mod capacity;
mod fold;
pub mod fragmentation;
pub mod groups;
pub mod intervals;
pub mod jobs;
pub(crate) mod level;
pub mod sizes;
pub mod strips;
mod sums;

pub(in crate::studies) use alike::Alike;
pub use alike::Compared;
pub use capacity::{Capacity, span_of};
pub(in crate::studies) use fold::waits;
pub use fold::{Adding, Asked, Counts, Load, Part, Span, fold};
pub use groups::{By, Groups};
pub use intervals::Intervals;
pub(in crate::studies) use jobs::whole;
pub use sums::Cells;
pub(super) use sums::Sums;

/// A quantity that is added up over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// CPU requests of running attempts.
    CpuAllocated,
    /// Used CPU.
    CpuUsed,
    /// CPU requests of waiting tasks.
    CpuPending,
    /// Memory requests of running attempts.
    MemoryAllocated,
    /// Used memory.
    MemoryUsed,
    /// Memory requests of waiting tasks.
    MemoryPending,
    /// GPU requests of running attempts.
    GpusAllocated,
    /// GPU requests of waiting tasks.
    GpusPending,
    /// Running tasks.
    Running,
    /// Waiting tasks.
    Pending,
}
