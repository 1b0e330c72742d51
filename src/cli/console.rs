//! The only module that writes to the user: data to stdout, everything else to stderr.
//!
//! In: text and running totals. Out: lines, and a progress bar if stderr is a terminal, or lines of
//! progress if the parent program requests them. A broken pipe does not change the work or the exit
//! code. It is an error if stdout is closed from the start, because no answer can be written.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use terminal_size::terminal_size_of;

use super::early::is_stdout_closed;
use jobfate::answers::Said;
use jobfate::progress;
use jobfate::sources::part::Progress;

/// Writes data to stdout. A closed reader is not an error: the work continues and determines the
/// exit code.
pub(crate) fn data(text: &str) -> io::Result<()> {
    data_bytes(text.as_bytes())
}

/// Writes binary data to stdout.
pub(crate) fn data_bytes(bytes: &[u8]) -> io::Result<()> {
    check_stdout()?;
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        wrote => wrote,
    }
}

/// Fails if stdout is closed.
pub(crate) fn check_stdout() -> io::Result<()> {
    if is_stdout_closed() {
        let problem =
            "stdout is closed, but the answer goes there: redirect it to a file or to `/dev/null`";
        return Err(io::Error::new(io::ErrorKind::NotConnected, problem));
    }
    Ok(())
}

/// The width of stdout in characters, if it is a terminal.
pub(crate) fn width() -> Option<usize> {
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let told = || std::env::var("COLUMNS").ok()?.parse().ok();
    let measured = terminal_size_of(&stdout).map(|(width, _)| usize::from(width.0));
    measured.filter(|&width| 0 < width).or_else(told).or(Some(80))
}

/// Whether only warnings and errors are written to stderr.
static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// Writes only warnings and errors to stderr from now on.
pub(crate) fn be_quiet() {
    IS_QUIET.store(true, Ordering::Relaxed);
}

fn is_quiet() -> bool {
    IS_QUIET.load(Ordering::Relaxed)
}

/// Writes a line about the current work; empty text writes nothing.
pub(crate) fn note(text: impl AsRef<str>) {
    if !is_quiet() && !text.as_ref().is_empty() {
        problem(text);
    }
}

/// The assumptions so far, and whether they are written at the end.
static ASSUMED: Mutex<(Vec<String>, bool)> = Mutex::new((Vec::new(), false));

/// From now on keeps assumptions until [`assumptions`] writes them, so that they do not appear
/// between tables.
pub(crate) fn keep_assumptions() {
    if let Ok(mut assumed) = ASSUMED.lock() {
        assumed.1 = true;
    }
}

/// Writes each assumption once.
pub(crate) fn assume(text: &str) {
    let Ok(mut assumed) = ASSUMED.lock() else { return };
    if assumed.0.iter().all(|known| known != text) {
        assumed.0.push(text.to_owned());
        if !assumed.1 {
            note(format!("assumed: {text}"));
        }
    }
}

/// Writes the kept assumptions.
pub(crate) fn assumptions() {
    let Ok(mut assumed) = ASSUMED.lock() else { return };
    if std::mem::take(&mut assumed.1) {
        assumed.0.iter().for_each(|text| note(format!("assumed: {text}")));
    }
}

/// Writes a warning.
pub(crate) fn warn(text: impl AsRef<str>) {
    problem(format!("warning: {}", text.as_ref()));
}

/// Writes the notes of an answer.
pub(crate) fn say(said: &Said) {
    match said {
        Said::Note(text) => note(text),
        Said::Assumption(text) => assume(text),
        Said::Warning(text) => warn(text),
    }
}

/// Writes a line about an error.
pub(crate) fn problem(text: impl AsRef<str>) {
    // stderr is closed: there is nowhere to report the error.
    let _ = writeln!(io::stderr(), "{}", text.as_ref());
}

/// A bar that follows a [`Progress`] until it is dropped; hidden if stderr is not a terminal.
pub(crate) struct Bar {
    drawn: ProgressBar,
    is_over: Arc<AtomicBool>,
    follower: Option<JoinHandle<()>>,
}

/// What a bar counts.
#[derive(Clone, Copy)]
pub(crate) enum Counts {
    /// Raw bytes.
    Bytes,
    /// Hundredths of the work.
    Percent,
}

/// The layout of a bar of work: a part, a rate and the remaining time.
const WORK: &str = "{msg} [{bar:30}] {percent} % of {human_len} {prefix}, {per_sec}, {eta} left";

impl Bar {
    /// Follows `progress` up to `total`.
    pub(crate) fn follow(what: &str, counts: Counts, total: u64, progress: &Arc<Progress>) -> Self {
        let template = match counts {
            Counts::Bytes => "{msg} [{bar:30}] {bytes}/{total_bytes} {bytes_per_sec}, {eta} left",
            Counts::Percent => "{msg} [{bar:30}] {pos} %, {eta} left",
        };
        let progress = Arc::clone(progress);
        let bar = drawn(template, what).with_prefix("");
        bar.set_length(total);
        Self::updated(bar, move |bar| {
            bar.set_position(match counts {
                Counts::Bytes => progress.raw_bytes.load(Ordering::Relaxed),
                Counts::Percent => progress.rows.load(Ordering::Relaxed),
            });
        })
    }

    /// Follows the work from now on, counted in `units`.
    pub(crate) fn of_work(what: &str, units: &'static str) -> Self {
        progress::restart();
        Self::updated(drawn(WORK, what).with_prefix(units), |bar| {
            let (done, expected) = progress::so_far();
            bar.set_length(expected);
            bar.set_position(done);
        })
    }

    /// A bar that is updated ten times per second.
    fn updated(bar: ProgressBar, update: impl Fn(&ProgressBar) + Send + 'static) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let is_told = std::env::var_os(progress::TELL).is_some();
        // Without a bar or lines of progress, no thread is needed.
        let follower = (is_told || !bar.is_hidden()).then(|| {
            let (bar, is_over) = (bar.clone(), Arc::clone(&is_over));
            thread::spawn(move || {
                let mut told = (0, 0);
                while !is_over.load(Ordering::Relaxed) {
                    update(&bar);
                    let now = (bar.position(), bar.length().unwrap_or(0));
                    if is_told && now != told {
                        let (done, total) = now;
                        problem(format!("{}{done} {total} {}", progress::TOLD, bar.message()));
                        told = now;
                    }
                    thread::park_timeout(Duration::from_millis(100));
                }
            })
        });
        Self { drawn: bar, is_over, follower }
    }
}

/// A bar on stderr; hidden if stderr is not a terminal, or with --quiet.
fn drawn(template: &str, what: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).expect("the template is checked by a test");
    let target = if io::stderr().is_terminal() && !is_quiet() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    ProgressBar::with_draw_target(Some(0), target).with_style(style).with_message(what.to_owned())
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(follower) = self.follower.take() {
            follower.thread().unpark();
            // A bar that cannot be drawn does not count as an error.
            let _ = follower.join();
        }
        self.drawn.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_of_both_kinds_can_be_drawn() {
        let progress = Arc::new(Progress::default());
        for counts in [Counts::Bytes, Counts::Percent] {
            drop(Bar::follow("test", counts, 10, &progress));
        }
        drop(Bar::of_work("test", "rows"));
    }
}
