//! The settings of the operator.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// The settings of the operator.
#[derive(Debug)]
pub struct Config {
    /// Lakes by the names under which pages show them.
    pub lakes: Vec<(String, PathBuf)>,
    /// A report, or a folder of results with one.
    pub results: Option<PathBuf>,
    /// The folder of saved indices and jobs.
    pub state: PathBuf,
    /// The address.
    pub listen: SocketAddr,
    /// Further names under which browsers know the portal, such as that of a proxy.
    pub hosts: Vec<String>,
    /// What clients must know, if anything.
    pub token: Option<String>,
    /// Programs that users may choose as an index, by name.
    pub programs: Vec<(String, String)>,
    /// Logs and folders that are followed as they grow.
    pub watch: Vec<(String, PathBuf)>,
    /// What one question may take.
    pub limits: Limits,
    /// The commands of this program, whose flags are the parameters of questions.
    pub commands: clap::Command,
    /// Says something to the operator.
    pub say: fn(&str),
}

/// What one question may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Questions that are worked on at once.
    pub workers: usize,
    /// Time for an answer.
    pub time: Duration,
    /// Time for a job of the queue.
    pub job_time: Duration,
    /// Memory, bytes.
    pub memory: u64,
}
