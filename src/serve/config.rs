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
    /// The address to listen on.
    pub listen: SocketAddr,
    /// Further names under which browsers know the portal, such as that of a proxy.
    pub hosts: Vec<String>,
    /// The token that clients need, if any.
    pub token: Option<String>,
    /// Programs that users may choose as an index, by name.
    pub programs: Vec<(String, String)>,
    /// Logs and folders that are followed as they grow, by the names of their lakes.
    pub watch: Vec<(String, PathBuf)>,
    /// Limits of questions.
    pub limits: Limits,
    /// The commands of this program. Their flags are the parameters of questions.
    pub commands: clap::Command,
    /// Prints a message for the operator.
    pub say: fn(&str),
}

/// Limits of questions.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Questions that run at the same time.
    pub workers: usize,
    /// Time limit of an answer.
    pub time: Duration,
    /// Time limit of a job of the queue.
    pub job_time: Duration,
    /// Memory limit of a question, bytes.
    pub memory: u64,
}
