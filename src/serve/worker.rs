//! Questions as processes of this program, with enforced limits.
//!
//! In: the words of a command. Out: its output, or why it was stopped. The environment of the
//! process has only the search paths, the place of temporary files and the limits. Its stdin stays
//! open while the portal runs. The process ends when stdin closes, so a killed portal leaves no
//! process behind. The process watches its own memory, and reports its progress on stderr.

use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

use crate::progress::{TELL, TOLD};

/// The environment variable with the memory that a worker may use, bytes.
pub const MEMORY: &str = "JOBFATE_WORKER_MEMORY";

/// Longest answer, bytes.
pub(super) const OUTPUT_MAX: u64 = 64 << 20;

/// Largest number of lines of stderr that are kept, and of characters in each.
const SAID_MAX: usize = 100;
const LINE_MAX: usize = 2000;

/// Time that a worker has to end after the request to stop.
const GRACE: Duration = Duration::from_millis(400);

/// The command of a worker, and its limits.
#[derive(Debug)]
pub(super) struct Order {
    /// The path of this program.
    pub program: PathBuf,
    /// Its arguments.
    pub words: Vec<String>,
    /// The folder in which it runs.
    pub folder: PathBuf,
    /// Its time limit.
    pub time: Duration,
    /// Its memory limit, bytes.
    pub memory: u64,
    /// Its number of threads.
    pub threads: usize,
}

/// How a worker ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It exited with this code.
    Code(i32),
    /// It took too long.
    Time,
    /// It printed too much.
    Output,
    /// It was stopped by `stop`.
    Cancelled,
    /// A signal ended it.
    Killed,
}

/// The result of a worker.
#[derive(Debug)]
pub(super) struct Outcome {
    /// How it ended.
    pub end: End,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Lines of its stderr, without those about progress.
    pub said: Vec<String>,
}

impl Outcome {
    /// What went wrong, as a text: the error with its causes and the hint.
    pub(super) fn error(&self, order: &Order) -> String {
        match &self.end {
            End::Time => {
                format!("stopped after {} s, the time limit of this portal", order.time.as_secs())
            }
            End::Output => "stopped: the answer is too long for this portal".to_owned(),
            End::Cancelled => "cancelled".to_owned(),
            End::Killed => "the process was killed".to_owned(),
            End::Code(code) => {
                let told = |line: &String| {
                    let rest =
                        line.strip_prefix("error: ").or_else(|| line.strip_prefix("cause: "));
                    let hint = || line.strip_prefix("hint: ").map(|hint| format!("({hint})"));
                    rest.map(str::to_owned).or_else(hint)
                };
                let told: Vec<String> = self.said.iter().filter_map(told).collect();
                if told.is_empty() { format!("exit code {code}") } else { told.join(": ") }
            }
        }
    }

    /// The notes of the answer: lines that are not about an error.
    pub(super) fn notes(&self) -> impl Iterator<Item = &str> {
        let is_wrong =
            |line: &&str| ["error: ", "cause: ", "hint: "].iter().any(|it| line.starts_with(it));
        self.said.iter().map(String::as_str).filter(move |line| !is_wrong(line))
    }
}

/// The progress of a worker.
#[derive(Debug, Default)]
pub(super) struct Meter {
    done: AtomicU64,
    total: AtomicU64,
}

impl Meter {
    /// The percentage that is done; `None` before anything is known.
    pub(super) fn percent(&self) -> Option<u64> {
        let (done, total) = (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed));
        (0 < total).then(|| (done.saturating_mul(100) / total).min(100))
    }

    fn take(&self, line: &str) {
        let mut numbers = line.split(' ').map_while(|word| word.parse().ok());
        if let (Some(done), Some(total)) = (numbers.next(), numbers.next()) {
            self.done.store(done, Ordering::Relaxed);
            self.total.store(total, Ordering::Relaxed);
        }
    }
}

/// Runs a worker until it ends, reaches a limit, or `stop` is ready.
///
/// # Errors
/// It could not be started.
pub(super) async fn run(
    order: &Order,
    meter: &Meter,
    stop: impl Future<Output = ()>,
) -> std::io::Result<Outcome> {
    let mut child = begin(order)?;
    let missing = || Error::other("the worker has no pipes");
    let mut stdout = child.stdout.take().ok_or_else(missing)?.take(OUTPUT_MAX + 1);
    let stderr = child.stderr.take().ok_or_else(missing)?;
    let (mut printed, mut said) = (Vec::new(), Vec::new());
    let end = {
        let work = async {
            // A worker that prints too much is not waited for.
            let read = async {
                stdout.read_to_end(&mut printed).await?;
                let is_long = OUTPUT_MAX < printed.len() as u64;
                if is_long { Err(Error::from(ErrorKind::FileTooLarge)) } else { Ok(()) }
            };
            let listen = async {
                listen(stderr, meter, &mut said).await;
                Ok(())
            };
            tokio::try_join!(read, listen)?;
            child.wait().await
        };
        tokio::select! {
            status = work => match status {
                Err(error) if error.kind() == ErrorKind::FileTooLarge => End::Output,
                status => status?.code().map_or(End::Killed, End::Code),
            },
            () = sleep(order.time) => End::Time,
            () = stop => End::Cancelled,
        }
    };
    if !matches!(end, End::Code(_) | End::Killed) {
        finish(&mut child).await;
    }
    Ok(Outcome { end, stdout: printed, said })
}

fn begin(order: &Order) -> std::io::Result<Child> {
    let mut command = Command::new(&order.program);
    command.args(&order.words).current_dir(&order.folder).env_clear();
    for name in ["PATH", "TMPDIR", "LD_LIBRARY_PATH"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command
        .env(MEMORY, order.memory.to_string())
        .env(TELL, "yes")
        .env("RAYON_NUM_THREADS", order.threads.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
}

/// Reads the stderr of a worker: notes, errors and progress.
async fn listen(stderr: impl AsyncRead + Unpin, meter: &Meter, said: &mut Vec<String>) {
    let mut lines = BufReader::new(stderr).split(b'\n');
    while let Ok(Some(line)) = lines.next_segment().await {
        let line = String::from_utf8_lossy(&line);
        match line.strip_prefix(TOLD) {
            Some(numbers) => meter.take(numbers),
            None if said.len() < SAID_MAX => said.push(line.chars().take(LINE_MAX).collect()),
            None => {}
        }
    }
}

/// Asks a worker to end, so that it can also end programs that it started, and kills it if it does
/// not.
async fn finish(child: &mut Child) {
    let pid = child.id().and_then(|id| i32::try_from(id).ok());
    if let Some(pid) = pid {
        let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
        if timeout(GRACE, child.wait()).await.is_ok() {
            return;
        }
    }
    let _ = child.kill().await;
}

/// The path of this program. It works even if the file of the program was replaced.
pub(super) fn this_program() -> std::io::Result<PathBuf> {
    let running = Path::new("/proc/self/exe");
    if running.exists() { Ok(running.to_owned()) } else { std::env::current_exe() }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::time::Instant;

    use super::*;

    /// Runs a shell as a worker.
    fn shell(script: &str, seconds: u64, stop: impl Future<Output = ()>) -> (Outcome, Option<u64>) {
        let order = Order {
            program: "/bin/sh".into(),
            words: vec!["-c".to_owned(), script.to_owned()],
            folder: "/".into(),
            time: Duration::from_secs(seconds),
            memory: 1 << 30,
            threads: 1,
        };
        let meter = Meter::default();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let outcome = runtime.block_on(run(&order, &meter, stop)).unwrap();
        (outcome, meter.percent())
    }

    #[test]
    fn what_a_worker_prints_and_says_comes_back() {
        let script = "echo answer; echo note >&2; printf '\\001progress 3 4\\n' >&2; exit 2";
        let (outcome, percent) = shell(script, 5, pending());
        assert_eq!((outcome.end, percent), (End::Code(2), Some(75)));
        assert_eq!(
            (outcome.stdout.as_slice(), outcome.said),
            (&b"answer\n"[..], vec!["note".to_owned()])
        );
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "how long a worker lives")]
    fn time_output_and_cancelling_end_a_worker() {
        let begun = Instant::now();
        assert_eq!(shell("exec sleep 60", 1, pending()).0.end, End::Time);
        assert_eq!(shell("exec sleep 60", 60, sleep_a_little()).0.end, End::Cancelled);
        assert_eq!(shell("trap '' TERM; while :; do :; done", 1, pending()).0.end, End::Time);
        assert_eq!(shell("exec cat /dev/zero", 60, pending()).0.end, End::Output);
        assert!(begun.elapsed() < Duration::from_secs(15));
    }

    async fn sleep_a_little() {
        sleep(Duration::from_millis(100)).await;
    }
}
