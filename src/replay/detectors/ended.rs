//! Attempts that have ended, and how.

/// The number that means an unknown machine.
pub const NO_MACHINE: u32 = u32::MAX;

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// It completed its work.
    Finished,
    /// It failed, or was evicted or lost.
    Failed,
    /// Its user killed it.
    Killed,
}

/// An attempt that has just ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The attempt.
    pub attempt: u32,
    /// Its task.
    pub task: u32,
    /// The machine it ran on.
    pub machine: u32,
    /// When it was started, µs.
    pub start_us: i64,
    /// When it ended, µs.
    pub end_us: i64,
    /// How it ended.
    pub how: End,
}

impl Ended {
    /// The running time, µs.
    pub fn length_us(&self) -> i64 {
        self.end_us - self.start_us
    }
}
