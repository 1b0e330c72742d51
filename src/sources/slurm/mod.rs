//! Slurm: what `sacct` prints, one line per attempt of a job.
//!
//! In: lines of fields between `|` (or tab, comma, semicolon), with a header that names the
//! columns, or the 26 fields of Open `XDMoD` without one. Out: the events that [`super::records`]
//! makes of attempts. Lines of the same job id (`--duplicates`) are attempts of one task. An
//! element of an array is a separate job, and so is a component of a heterogeneous job, as in
//! Slurm. Steps are left out and counted.
//!
//! ```text
//!  Submit             Start                              End
//!    SUBMIT ............ SCHEDULE ------------------------ by State
//! ```
//!
//! | State | End |
//! |---|---|
//! | COMPLETED | FINISH |
//! | FAILED, `OUT_OF_MEMORY`, TIMEOUT, DEADLINE, `LAUNCH_FAILED`, `SPECIAL_EXIT` | FAIL |
//! | CANCELLED, REVOKED | KILL |
//! | PREEMPTED, REQUEUED | EVICT |
//! | `NODE_FAIL`, `BOOT_FAIL` | LOST |
//! | RUNNING, PENDING, SUSPENDED, ... | none: open |
//!
//! | Missing | Derived value |
//! |---|---|
//! | `Submit` | `Eligible`; else `Start` minus the wait; else `Start` |
//! | the wait | `Planned`, `Reserved`; or of `ResvCPURAW`, `PlannedCPURAW`, `ResvCPU`, `PlannedCPU` / the CPUs |
//! | `Start` | `End` minus the run time; without `End`, `Eligible` or else `Submit` plus the wait |
//! | `End` of a job that never started | when it became eligible plus the wait; else `Submit` |
//! | `End`, or one before `Start` plus the run time | `Start` plus the run time |
//! | the run time | `ElapsedRaw`, `Elapsed`; or `CPUTimeRAW` or `CPUTime` / the CPUs |
//! | the number of nodes | that of `AllocTRES`, else of `ReqTRES` |
//! | a plain job id | minus a hash of `JobID` |
//! | any job id | the number of the line plus part × 2^40 |
//!
//! Derived values are counted as remarks. Times are ISO 8601 or seconds since 1970; without a zone
//! they are in the zone of `--timezone`, by default UTC.

mod columns;
mod format;
mod life;
mod values;

pub(super) use self::columns::seen_as;
pub(super) use self::format::parser;

#[cfg(test)]
mod tests;
