//! The only place that writes to the user: data to stdout, everything else to stderr.
//!
//! In: text and running totals. Out: lines, and a progress bar when stderr is a terminal. A
//! reader that goes away (a broken pipe) changes nothing of what is done, nor how it ends. A stdout
//! that is closed from the start counts as `/dev/null`: Rust opens that in its place before `main`,
//! and the two cannot be told apart.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::sources::part::Progress;

/// Writes data to stdout. A reader that has gone away is no error: what is done goes on, and how
/// it ends is told by the exit code.
pub(crate) fn data(text: &str) -> io::Result<()> {
    data_bytes(text.as_bytes())
}

/// Writes data that is no text to stdout.
pub(crate) fn data_bytes(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        wrote => wrote,
    }
}

/// Writes a line about what is going on.
pub(crate) fn note(text: impl AsRef<str>) {
    // Nobody is left to be told that nobody reads this.
    let _ = writeln!(io::stderr(), "{}", text.as_ref());
}

/// Writes a line about something the user should look at.
pub(crate) fn warn(text: impl AsRef<str>) {
    note(format!("warning: {}", text.as_ref()));
}

/// A bar that follows a [`Progress`] until it is dropped; nothing when stderr is no terminal.
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

impl Bar {
    /// Follows `progress` up to `total`.
    pub(crate) fn follow(what: &str, counts: Counts, total: u64, progress: &Arc<Progress>) -> Self {
        let template = match counts {
            Counts::Bytes => "{msg} [{bar:30}] {bytes}/{total_bytes} {bytes_per_sec}, {eta} left",
            Counts::Percent => "{msg} [{bar:30}] {pos} %, {eta} left",
        };
        let style =
            ProgressStyle::with_template(template).expect("the template is checked by a test");
        let target = if io::stderr().is_terminal() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(total), target)
            .with_style(style)
            .with_message(what.to_owned());
        let is_over = Arc::new(AtomicBool::new(false));
        let follower = thread::spawn({
            let (bar, progress, is_over) =
                (bar.clone(), Arc::clone(progress), Arc::clone(&is_over));
            move || {
                while !is_over.load(Ordering::Relaxed) {
                    bar.set_position(match counts {
                        Counts::Bytes => progress.raw_bytes.load(Ordering::Relaxed),
                        Counts::Percent => progress.rows.load(Ordering::Relaxed),
                    });
                    thread::park_timeout(Duration::from_millis(100));
                }
            }
        });
        Self { drawn: bar, is_over, follower: Some(follower) }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(follower) = self.follower.take() {
            follower.thread().unpark();
            // A bar that failed to draw is no reason to fail.
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
    }
}
