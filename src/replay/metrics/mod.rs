//! Numbers of a replay, read from its journal.
//!
//! In: a [`Journal`](crate::replay::journal::Journal) and its workload. Out: waiting, response and
//! slowdown of tasks and jobs, use of machines over time, wasted CPU time, and the jobs hurt and
//! helped compared with another run. Quantiles are R-7; statistics of no values are `None`.
//!
//! ```text
//!  submit      first start            end
//!  |--waiting--|------------------------|      response = end - submit
//! ```

mod fates;
mod fragmentation;
mod groups;
mod jobs;
mod measures;
mod moved;
mod paired;
mod samples;
mod spread;
mod stretches;
mod tally;

pub use self::fates::{BOUND_S, Fates, fates};
pub use self::fragmentation::{CAUSES, GpuFragmentation, GpuSample, gpu_fragmentation};
pub use self::groups::{GroupRow, GroupedBy, SizeOf, by_group};
pub use self::jobs::{JobEnd, cut_jobs, job_ends};
pub use self::measures::{Metrics, measure, measure_with_jobs};
pub use self::moved::{Moved, moved};
pub use self::paired::{Paired, Tolerance, pair};
pub use self::samples::{Endings, Sample};
pub use self::spread::Spread;
pub(crate) use self::stretches::STRETCHES;
pub use self::stretches::Stretches;
