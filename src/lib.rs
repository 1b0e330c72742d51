//! jobfate: what became of every job in a cluster trace.
pub mod charts;
pub mod cli;
pub mod facts;
pub mod lake;
pub mod schema;
pub mod sources;
pub mod studies;
pub mod synth;
pub mod units;
/// Name and version of this program, as stored in what it writes.
pub const PROGRAM: &str = concat!("jobfate ", env!("CARGO_PKG_VERSION"));
