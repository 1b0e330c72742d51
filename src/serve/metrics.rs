//! The counters of the portal, in the format of Prometheus.

use std::fmt::Write;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds of the classes of durations, s.
const ENDS: [f64; 8] = [0.005, 0.025, 0.1, 0.5, 1.0, 5.0, 30.0, 120.0];

/// Counts since the start.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    /// Replies by the first digit of their status, 1 to 5.
    replies: [AtomicU64; 5],
    /// Replies by class of duration; the last class is above all bounds.
    durations: [AtomicU64; ENDS.len() + 1],
    duration_us: AtomicU64,
    connections: AtomicI64,
    /// Ended questions, by how they ended.
    questions: [AtomicU64; 3],
    refused: AtomicU64,
    /// Time to read the last growth of a lake, µs.
    followed_us: AtomicU64,
}

/// How a question ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum Question {
    /// With an answer.
    Answered,
    /// With an error.
    Failed,
    /// At a limit, or cancelled.
    Stopped,
}

impl Question {
    const NAMES: [&'static str; 3] = ["answered", "failed", "stopped"];
}

/// Another value to show: name, meaning and value.
pub(super) type Gauge = (&'static str, &'static str, f64);

/// A counted connection; it is open until this is dropped.
pub(super) struct Open<'a>(&'a AtomicI64);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Metrics {
    /// Counts a connection until the returned value is dropped.
    pub(super) fn connection(&self) -> Open<'_> {
        self.connections.fetch_add(1, Ordering::Relaxed);
        Open(&self.connections)
    }

    /// Counts a reply.
    pub(super) fn reply(&self, status: u16, took: Duration) {
        let class = usize::from(status / 100).clamp(1, 5) - 1;
        self.replies[class].fetch_add(1, Ordering::Relaxed);
        let seconds = took.as_secs_f64();
        let class = ENDS.iter().position(|end| seconds <= *end).unwrap_or(ENDS.len());
        self.durations[class].fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.duration_us.fetch_add(micros, Ordering::Relaxed);
    }

    /// Counts a request that was refused at the gate.
    pub(super) fn refuse(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Records the time that it took to read the growth of a lake.
    pub(super) fn follow(&self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.followed_us.store(micros, Ordering::Relaxed);
    }

    /// Counts a question.
    pub(super) fn question(&self, how: Question) {
        self.questions[how as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// All values as text.
    #[expect(clippy::cast_precision_loss, reason = "a duration is shown in seconds")]
    pub(super) fn text(&self, gauges: &[Gauge]) -> String {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let mut text = String::new();
        let head = |text: &mut String, name: &str, kind: &str, about: &str| {
            let _ = writeln!(text, "# HELP jobfate_{name} {about}\n# TYPE jobfate_{name} {kind}");
        };
        head(&mut text, "replies_total", "counter", "Replies by status class");
        for (class, count) in (1..).zip(&self.replies) {
            let _ = writeln!(text, "jobfate_replies_total{{class=\"{class}xx\"}} {}", load(count));
        }
        head(&mut text, "refused_total", "counter", "Requests refused for host, origin or token");
        let _ = writeln!(text, "jobfate_refused_total {}", load(&self.refused));
        head(&mut text, "questions_total", "counter", "Questions by how they ended");
        for (name, count) in Question::NAMES.iter().zip(&self.questions) {
            let _ = writeln!(text, "jobfate_questions_total{{end=\"{name}\"}} {}", load(count));
        }
        head(
            &mut text,
            "reply_seconds",
            "histogram",
            "Time from the head of a request to its reply",
        );
        let mut so_far = 0;
        for (end, count) in ENDS.iter().zip(&self.durations) {
            so_far += load(count);
            let _ = writeln!(text, "jobfate_reply_seconds_bucket{{le=\"{end}\"}} {so_far}");
        }
        so_far += load(&self.durations[ENDS.len()]);
        let sum = load(&self.duration_us) as f64 / 1e6;
        let _ = writeln!(
            text,
            "jobfate_reply_seconds_bucket{{le=\"+Inf\"}} {so_far}\njobfate_reply_seconds_sum {sum}\n\
             jobfate_reply_seconds_count {so_far}"
        );
        let open = self.connections.load(Ordering::Relaxed) as f64;
        let followed = load(&self.followed_us) as f64 / 1e6;
        let own = [
            ("connections", "Open connections", open),
            ("follow_seconds", "Time to read the last growth of a lake", followed),
        ];
        for (name, about, value) in [&own, gauges].concat() {
            head(&mut text, name, "gauge", about);
            let _ = writeln!(text, "jobfate_{name} {value}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up() {
        let metrics = Metrics::default();
        let open = metrics.connection();
        for (status, millis) in [(200, 1), (200, 40), (404, 2000), (503, 600_000)] {
            metrics.reply(status, Duration::from_millis(millis));
        }
        metrics.question(Question::Failed);
        let text = metrics.text(&[("jobs", "Jobs", 3.0)]);
        for line in [
            "jobfate_replies_total{class=\"2xx\"} 2",
            "jobfate_reply_seconds_bucket{le=\"0.005\"} 1",
            "jobfate_reply_seconds_bucket{le=\"0.1\"} 2",
            "jobfate_reply_seconds_bucket{le=\"+Inf\"} 4",
            "jobfate_reply_seconds_sum 602.041",
            "jobfate_questions_total{end=\"failed\"} 1",
            "jobfate_connections 1",
            "# TYPE jobfate_jobs gauge\njobfate_jobs 3",
        ] {
            assert!(text.contains(&format!("{line}\n")), "{line}\n{text}");
        }
        drop(open);
        assert!(metrics.text(&[]).contains("jobfate_connections 0\n"));
    }
}
