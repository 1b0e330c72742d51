//! The input of Spark: a view per table of the lake, and the queries.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::facts::FactError;
use crate::facts::query::{Query, Settings};
use crate::lake::Lake;
use crate::schema::{ColumnType, ROW_ID, Source, Table};

/// Fails if a quoted name is read as text, since `"user"` would then not be a column.
const CHECK: &str = "SELECT assert_true(\"is_name\", 'names in quotes are not read as names') FROM (SELECT true AS is_name);\n";

/// The whole input of Spark.
pub(super) fn script(
    lake: &Lake,
    queries: &[&'static Query],
    settings: &Settings,
    seen: &str,
    folder: &str,
) -> Result<String, FactError> {
    let mut text = CHECK.to_owned();
    let mut known = BTreeSet::new();
    for query in queries {
        add(query, lake, settings, (seen, folder), &mut known, &mut text)?;
    }
    Ok(text)
}

/// Adds a query to the script for Spark, after its inputs.
fn add(
    query: &'static Query,
    lake: &Lake,
    settings: &Settings,
    (seen, folder): (&str, &str),
    known: &mut BTreeSet<&'static str>,
    text: &mut String,
) -> Result<(), FactError> {
    if !known.insert(query.name) {
        return Ok(());
    }
    for name in query.reads() {
        if let Ok(table) = name.parse::<Table>() {
            if known.insert(name) {
                let path = (!lake.files(table).is_empty()).then_some(seen);
                text.push_str(&view_of(table, lake.source(), path));
            }
        } else if name == "settings" || name == "thresholds" {
            if known.insert(name) {
                text.push_str(&view_of_settings(name, settings));
            }
        } else {
            add(Query::find(name)?, lake, settings, (seen, folder), known, text)?;
        }
    }
    let name = query.name;
    let path = format!("{seen}/{folder}/{name}");
    let (target, path) = (quoted(&path), quoted(&no_pattern(&path)));
    let body = query.text.trim_end().trim_end_matches(';');
    let written = write!(
        text,
        "CREATE TEMPORARY VIEW {name}_asked AS\n{body};\n\
         INSERT OVERWRITE DIRECTORY {target} USING parquet SELECT * FROM {name}_asked;\n\
         CREATE TEMPORARY VIEW {name} USING parquet OPTIONS (path {path});\n"
    );
    written.expect("writing to a string cannot fail");
    Ok(())
}

/// A table's files as a view; an empty view without files.
fn view_of(table: Table, source: Source, seen: Option<&str>) -> String {
    let columns = std::iter::once((ROW_ID, "BIGINT"))
        .chain(table.columns(source).iter().map(|column| (column.name, type_of(column.kind))));
    if let Some(seen) = seen {
        let list: Vec<String> = columns.map(|(name, kind)| format!("`{name}` {kind}")).collect();
        let path = quoted(&no_pattern(&format!("{seen}/{table}")));
        format!(
            "CREATE TEMPORARY VIEW {table} ({}) USING parquet OPTIONS (path {path}, recursiveFileLookup 'true');\n",
            list.join(", ")
        )
    } else {
        let list: Vec<String> =
            columns.map(|(name, kind)| format!("CAST(NULL AS {kind}) AS `{name}`")).collect();
        format!("CREATE TEMPORARY VIEW {table} AS SELECT {} WHERE false;\n", list.join(", "))
    }
}

const fn type_of(kind: ColumnType) -> &'static str {
    match kind {
        ColumnType::Time | ColumnType::Id | ColumnType::Long => "BIGINT",
        ColumnType::Int | ColumnType::Event(_) => "INT",
        ColumnType::Float | ColumnType::Amount => "FLOAT",
        ColumnType::Bool => "BOOLEAN",
        ColumnType::Text => "STRING",
        ColumnType::Floats => "ARRAY<FLOAT>",
    }
}

fn view_of_settings(name: &str, settings: &Settings) -> String {
    let rows: Vec<String> = if name == "settings" {
        vec![format!(
            "SELECT CAST({} AS BIGINT) AS job_window_end_us, CAST({} AS BIGINT) AS task_window_end_us, \
             CAST({} AS BIGINT) AS first_us, '{}' AS open_attempts",
            settings.windows.job_end_us,
            settings.windows.task_end_us,
            settings.windows.first_us,
            settings.windows.open_attempts
        )]
    } else {
        let one = |threshold| format!("SELECT CAST({threshold} AS BIGINT) AS threshold");
        settings.thresholds.iter().map(one).collect()
    };
    format!("CREATE TEMPORARY VIEW {name} AS\n{};\n", rows.join("\nUNION ALL "))
}

/// A text as an SQL literal.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// A path with all pattern characters escaped.
fn no_pattern(path: &str) -> String {
    let mut text = String::new();
    for letter in path.chars() {
        if "\\{}[]*?,".contains(letter) {
            text.push('\\');
        }
        text.push(letter);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::window::{OpenAttempts, Windows};

    #[test]
    fn paths_are_literals() {
        assert_eq!(quoted("/a b/it's\\x"), r"'/a b/it\'s\\x'");
        assert_eq!(no_pattern(r"/a{b}*\"), r"/a\{b\}\*\\");
    }

    #[test]
    fn thresholds_and_tables_are_views() {
        let settings = Settings {
            windows: Windows {
                job_end_us: 1,
                task_end_us: 2,
                first_us: 0,
                open_attempts: OpenAttempts::WindowEnd,
            },
            thresholds: vec![10, 20],
        };
        assert_eq!(
            view_of_settings("thresholds", &settings),
            "CREATE TEMPORARY VIEW thresholds AS\nSELECT CAST(10 AS BIGINT) AS threshold\n\
             UNION ALL SELECT CAST(20 AS BIGINT) AS threshold;\n"
        );
        assert_eq!(
            view_of_settings("settings", &settings),
            "CREATE TEMPORARY VIEW settings AS\nSELECT CAST(1 AS BIGINT) AS job_window_end_us, \
             CAST(2 AS BIGINT) AS task_window_end_us, CAST(0 AS BIGINT) AS first_us, 'window-end' AS open_attempts;\n"
        );
        let empty = view_of(Table::MachineAttributes, Source::Google2011, None);
        assert!(empty.starts_with(
            "CREATE TEMPORARY VIEW machine_attributes AS SELECT CAST(NULL AS BIGINT) AS `row_id`"
        ));
        assert!(empty.ends_with("WHERE false;\n"), "{empty}");
        let full = view_of(Table::TaskUsage, Source::Google2019, Some("s3a://b/lake"));
        assert!(full.contains("`cpu_usage_distribution` ARRAY<FLOAT>"), "{full}");
        assert!(full.contains("(path 's3a://b/lake/task_usage',"), "{full}");
    }
}
