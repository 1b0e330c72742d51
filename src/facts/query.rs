//! The queries of `queries/`: their texts, their inputs, and the settings of all queries.
//!
//! The header of a query names its inputs: tables of the lake, other queries (which run first),
//! `settings` (one row: the ends of the windows, and where open attempts are closed) and
//! `thresholds` (one column). An optional table is empty if the lake lacks it. A query that names
//! sources runs only on their lakes: it reads columns that no other lake has.

use super::FactError;
use super::window::Windows;
use crate::lake::Lake;
use crate::schema::{Source, Table};

/// A query of `queries/`.
#[derive(Debug, PartialEq, Eq)]
pub struct Query {
    /// The name of the file without `.sql`, and of the table in other queries.
    pub name: &'static str,
    /// The text of the file.
    pub text: &'static str,
}

macro_rules! queries {
    ($($name:literal),+ $(,)?) => {
        [$(Query { name: $name, text: include_str!(concat!("../../queries/", $name, ".sql")) }),+]
    };
}

/// Every query, ordered by number. A test compares this with the folder.
pub static QUERIES: [Query; 32] = queries![
    "q01_job_outcomes",
    "q02_task_outcomes",
    "q03_attempts",
    "q04_job_sizes",
    "q05_cpu_held",
    "q06_windows_in_attempts",
    "q07_cpu_measured",
    "q08_crossings",
    "q09_held_after_crossings",
    "q10_machine_periods",
    "q11_cpu_published",
    "q12_measured_after_crossings",
    "q13_usage_by_user_hour",
    "q14_job_requests",
    "q15_memory_held",
    "q16_memory_measured",
    "q17_attempt_facts",
    "q18_cluster_by_hour",
    "q19_machines",
    "q20_previous_jobs",
    "q21_evictions",
    "q22_event_types",
    "q23_course_machines",
    "q24_course_capacity",
    "q25_course_classes",
    "q26_course_evictions",
    "q27_course_locality",
    "q28_course_requests",
    "q29_course_peaks",
    "q30_course_priorities",
    "q31_course_failures",
    "q32_course_waits",
];

/// The name of the answer that holds all facts.
pub const FACTS: &str = "facts";

/// Whether an answer is one of the facts.
pub(crate) fn is_fact(name: &str) -> bool {
    QUERIES.iter().any(|query| query.name == name)
}

/// The names of all queries.
pub fn names() -> Vec<&'static str> {
    QUERIES.iter().map(|query| query.name).collect()
}

/// The inputs of a query in addition to the lake.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// When and how open jobs and attempts are closed.
    pub windows: Windows,
    /// Thresholds of events.
    pub thresholds: Vec<i64>,
}

impl Settings {
    /// Settings with these windows, and with thresholds, which are numbers of events.
    pub fn new(windows: Windows, thresholds: Vec<i64>) -> Self {
        Self { windows, thresholds }
    }
}

impl Query {
    /// Finds a query by number (`q01`) or name.
    pub fn find(name: &str) -> Result<&'static Self, FactError> {
        QUERIES
            .iter()
            .find(|query| query.name == name || query.number() == name)
            .ok_or_else(|| FactError::UnknownQuery { name: name.to_owned() })
    }

    /// Its number, such as `q01`.
    pub fn number(&self) -> &'static str {
        self.name.split('_').next().unwrap_or(self.name)
    }

    /// A line of the header, without its label: `-- Key:      job_id` gives `job_id`.
    fn header(&self, label: &str) -> &'static str {
        self.text
            .lines()
            .find_map(|line| line.strip_prefix("-- ")?.strip_prefix(label)?.strip_prefix(':'))
            .map(str::trim)
            .unwrap_or_default()
    }

    /// The question it answers.
    pub fn question(&self) -> &'static str {
        self.header("Question")
    }

    fn listed(&self, label: &str) -> impl Iterator<Item = &'static str> {
        self.header(label).split(", ").filter(|name| !name.is_empty())
    }

    /// The sources whose lakes it can read: all, unless its header names some.
    pub fn sources(&self) -> Vec<Source> {
        let named: Vec<Source> =
            self.listed("Sources").filter_map(|name| name.parse().ok()).collect();
        if named.is_empty() { Source::ALL.to_vec() } else { named }
    }

    /// Refuses a lake of another source, or without the tables that it needs.
    pub(super) fn require(&self, lake: &Lake) -> Result<(), FactError> {
        let sources = self.sources();
        if !sources.contains(&lake.source()) {
            let (query, found) = (self.name, lake.source());
            return Err(FactError::OtherSource { query, found, sources });
        }
        for table in self.tables() {
            lake.require(table)?;
        }
        Ok(())
    }

    /// The columns by which its rows are sorted; together they are unique.
    pub fn key(&self) -> Vec<&'static str> {
        self.listed("Key").collect()
    }

    /// The tables of the lake that it needs, directly or through other queries.
    pub fn tables(&self) -> Vec<Table> {
        let mut tables = Vec::new();
        for name in self.listed("Tables") {
            match (name.parse(), Self::find(name)) {
                (Ok(table), _) => tables.push(table),
                (_, Ok(query)) => tables.extend(query.tables()),
                _ => {}
            }
        }
        tables.sort();
        tables.dedup();
        tables
    }

    /// The names of its inputs: tables (including optional ones), other queries, `settings`,
    /// `thresholds`.
    pub(super) fn reads(&self) -> impl Iterator<Item = &'static str> {
        self.listed("Tables").chain(self.listed("Optional"))
    }

    /// Whether its rows depend on thresholds, directly or through other queries.
    pub fn takes_thresholds(&self) -> bool {
        self.listed("Tables")
            .any(|name| name == "thresholds" || Self::find(name).is_ok_and(Self::takes_thresholds))
    }

    /// The optional tables that it reads, directly or through other queries.
    pub(super) fn optional_tables(&self) -> Vec<Table> {
        let own = self.listed("Optional").filter_map(|name| name.parse().ok());
        let queries = self.listed("Tables").filter_map(|name| Self::find(name).ok());
        own.chain(queries.flat_map(Self::optional_tables)).collect()
    }

    /// Whether its text may contain a column of that name.
    pub(super) fn names(&self, column: &str) -> bool {
        self.text
            .split(|char: char| !char.is_alphanumeric() && char != '_')
            .any(|word| word == column)
    }

    /// Whether it can run bucket by bucket.
    #[cfg(feature = "sql")]
    pub(super) fn is_keyed_by_job(&self) -> bool {
        self.key().first() == Some(&"job_id")
    }
}

/// Every query with its question, the tables that it needs and its sources, in lines of at most
/// `width` characters if the screen has a width.
pub fn list(width: Option<usize>) -> String {
    let mut list = String::new();
    for query in &QUERIES {
        let tables: Vec<&str> = query.tables().iter().map(|table| table.name()).collect();
        let sources: Vec<&str> = query.sources().iter().map(|source| source.name()).collect();
        let only = match sources.len() {
            count if count == Source::ALL.len() => String::new(),
            _ => format!("; {} only", sources.join(", ")),
        };
        let (name, question, tables) = (query.name, query.question(), tables.join(", "));
        let whole = format!("{question} ({tables}{only})");
        let line = format!("{name:28} {whole}\n");
        match width {
            Some(width) if width < line.chars().count() => {
                list.extend([name, "\n", &indented(&whole, width)]);
            }
            _ => list.push_str(&line),
        }
    }
    list
}

/// A sentence in lines of at most `width` characters, including an indent of four.
fn indented(text: &str, width: usize) -> String {
    const INDENT: &str = "    ";
    let (mut lines, mut line) = (String::new(), INDENT.to_owned());
    for word in text.split(' ') {
        if width < line.chars().count() + word.chars().count() && INDENT.len() < line.len() {
            lines.push_str(line.trim_end());
            lines.push('\n');
            INDENT.clone_into(&mut line);
        }
        line.push_str(word);
        line.push(' ');
    }
    lines + line.trim_end() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_no_longer_than_the_terminal() {
        let text = "What became of every job? (job_events, task_events)";
        for width in 24..80 {
            let lines = indented(text, width);
            assert!(lines.lines().all(|line| line.len() <= width), "{width}: {lines}");
            let words: Vec<&str> = lines.split_whitespace().collect();
            assert_eq!(words.join(" "), text);
        }
    }

    #[test]
    fn queries_are_found_by_number_and_name() {
        assert_eq!(Query::find("q03").unwrap().name, "q03_attempts");
        assert_eq!(Query::find("q03_attempts").unwrap().name, "q03_attempts");
        assert!(Query::find("q99").is_err());
    }

    #[test]
    fn every_query_says_what_it_needs() {
        for query in &QUERIES {
            assert!(!query.question().is_empty(), "{}", query.name);
            assert!(!query.key()[0].is_empty(), "{}", query.name);
            assert!(!query.tables().is_empty(), "{}", query.name);
            let sources = query.listed("Sources");
            assert!(
                sources.map(str::parse::<Source>).all(|source| source.is_ok()),
                "{}",
                query.name
            );
        }
        let with_thresholds = QUERIES.iter().filter(|query| query.takes_thresholds());
        assert_eq!(with_thresholds.map(Query::number).collect::<Vec<_>>(), ["q08", "q09", "q12"]);
        assert_eq!(Query::find("q12").unwrap().tables(), [Table::TaskEvents, Table::TaskUsage]);
    }
}
