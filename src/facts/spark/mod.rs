//! Runs the queries on an existing Spark: a standalone cluster, YARN, Kubernetes, or `local`.
//!
//! In: queries, and a lake that Spark sees at the same path or at a given one. Out: the same
//! answers as from the embedded Polars. Spark is started as `spark-sql` with one file of SQL: a
//! view per table of the lake, then each query, unchanged, written as Parquet, and a view of that
//! for the queries that read it. The facts are in a separate folder of the lake until they are
//! read.
//!
//! ```text
//!  lake/task_events/*.parquet ─► view task_events ─► q03 ─► .facts-1234/q03_attempts/
//!                                                              └─► view q03_attempts ─► q05 ...
//! ```

mod answers;
mod failure;
mod folder;
mod program;
mod script;
mod spread;

pub use self::program::{Spark, parse_conf, parse_master};
pub use self::spread::{COMMAND, line_of};
