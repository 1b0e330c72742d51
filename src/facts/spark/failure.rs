//! Failures of Spark, with the lines of its log that explain them.

use crate::facts::FactError;

/// Lines of Spark's log that are shown when it fails.
const LINES_SHOWN: usize = 12;

pub(super) fn failed(problem: String) -> FactError {
    let hint = "see Spark's own log; running the same command again starts from the beginning";
    FactError::Spark { problem, hint }
}

/// The lines of a log that explain a failure, without duplicates: the last errors and causes, since
/// the final error is decisive. If there are none, the last lines.
pub(super) fn explained(stderr: &str, stdout: &str) -> String {
    let all = || stdout.lines().chain(stderr.lines()).filter(|line| !line.trim().is_empty());
    let explains = |line: &&str| {
        ["ERROR", "Error", "Exception", "Caused by", "FATAL"].iter().any(|word| line.contains(word))
            && !line.trim_start().starts_with("at ")
    };
    let mut lines: Vec<&str> = Vec::new();
    for line in all().filter(explains) {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    if lines.is_empty() {
        lines = all().collect();
    }
    lines[lines.len().saturating_sub(LINES_SHOWN)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_errors_of_a_log_explain_a_failure() {
        let log = "INFO x\n26/11/21 ERROR SparkContext: no master\n  at a.b.Exception(c)\nmore";
        assert_eq!(explained(log, ""), "26/11/21 ERROR SparkContext: no master");
        assert_eq!(explained("one\n\ntwo\n", ""), "one\ntwo");
        assert_eq!(
            explained("Error: b\nError: b\nCaused by: c\nError: b", ""),
            "Error: b\nCaused by: c"
        );
        let many: Vec<String> = (0..20).map(|line| format!("line {line}")).collect();
        assert_eq!(explained(&many.join("\n"), "").lines().count(), LINES_SHOWN);
    }
}
