//! Text of a page: escaped names, figures, and what results are called.

use std::fmt::Write;

use crate::cells::is_hidden;
use crate::digits::six_digits;

/// Text as it may stand in a page or in an attribute.
pub(super) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            // What a browser would not show, shown.
            hidden if is_hidden(hidden) && hidden != '\n' => {
                let _ = write!(safe, "{}", hidden.escape_unicode());
            }
            other => safe.push(other),
        }
    }
    safe
}

/// A number as a reader wants it: six digits, without zeros that say nothing.
pub(super) fn figure_text(number: f64) -> String {
    let text = six_digits(number);
    if text.contains('.') && !text.contains('e') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Results and tables in the words of a reader.
const CAPTIONS: [(&str, &str); 26] = [
    ("classify-jobs", "What became of the jobs"),
    ("classify-tasks", "What became of the tasks"),
    ("classify", "What became of them"),
    ("account", "CPU time by outcome"),
    ("account-memory", "Memory time by outcome"),
    ("job-durations", "How long jobs last (s)"),
    ("job-survival", "How many jobs last longer"),
    ("tasks-per-job", "Tasks of each job"),
    ("events-per-task", "Events of each task"),
    ("waiting", "How long tasks wait for their first attempt (s)"),
    ("attempts", "Attempts of each task"),
    ("finish-given-events", "The chance to finish, given the number of events so far"),
    ("sweep", "Killing tasks by a rule"),
    ("sweep-selection", "The rule chosen on earlier jobs"),
    ("detect", "Scores of the detectors"),
    ("detect-settings", "The parameters of each detector"),
    ("detect-truths", "Scores under other definitions of a straggler"),
    ("detect-copies", "A dry run of the copies"),
    ("detect-hours", "Hour by hour"),
    ("detect-flags", "Every flag"),
    ("replay", "The policies side by side"),
    ("fairness", "The heaviest users and their indices"),
    ("verify", "Checks of the tables"),
    ("mandai", "Mandai, Kawahara and Kasahara (2017)"),
    ("ota", "Ota and Aida (2009)"),
    ("replay-seeds", "Seed by seed"),
];

/// A result or table in the words of a reader.
pub(super) fn caption(name: &str) -> String {
    let known = CAPTIONS.iter().find(|caption| caption.0 == name);
    known.map_or_else(|| heading(name), |caption| caption.1.to_owned())
}

fn heading(name: &str) -> String {
    let text = name.replace('-', " ");
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
