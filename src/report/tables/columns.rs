//! The contents of the columns of stored tables, and the columns that a page shows.
//!
//! In: the names of columns in files. Out: their kinds, their order on a page, the columns that
//! only the file has, and the bounds and units that a page writes next to a value.

use crate::answers::{describe, machines};
use crate::report::headings::heading;
use crate::report::pivoted;
use crate::results::Table;
use crate::results::kind::Kind;

/// Whether whole numbers in this column are names.
pub(super) fn is_name(column: &str) -> bool {
    column.ends_with("_id")
        || matches!(
            column,
            "user"
                | "job_name"
                | "machine"
                | "sequence"
                | "priority"
                | "figure"
                | "size"
                | "account"
                | "queue"
        )
}

/// Whether a column holds shares of a whole.
pub(super) fn is_share(column: &str) -> bool {
    let is_of_whole = |word: &str| {
        matches!(word, "share" | "chance" | "precision" | "recall" | "accuracy" | "utilisation")
    };
    matches!(column, "false_positive_rate" | "budget" | "waited_longer_than")
        || column.split('_').any(is_of_whole)
}

/// Columns of measures between 0 and 1 that are not shares of a whole.
pub(super) const MEASURES: [&str; 3] = ["auc", "brier_score", "f1"];

/// Rates that pages show per 1,000 task-hours, as charts do.
pub(super) const PER_TASK_HOUR: [&str; 3] =
    ["false_alarms_per_task_hour", "rate_in_calm", "rate_in_shift"];

/// The column that lists which values of a row are only lower bounds. The cells of these values
/// show it.
pub(super) const LOWER_BOUNDS: &str = "at_least";

/// Columns that are not named in the note about columns of zeros.
pub(super) const UNNOTED: [&str; 2] = ["censored", "left_censored"];

/// The column with the unit of CPU, GPU and memory times.
pub(super) const UNIT: &str = "unit";

pub(super) fn is_unit(column: &str) -> bool {
    column == UNIT || column.ends_with("_unit")
}

/// A column with a number that defines the row.
pub(super) const THRESHOLD: &str = "threshold";

/// The order of columns after the names: the harm, what is gained by it, and the share of a single
/// job. At the right end, most screens would cut them off.
fn rank(column: &str) -> usize {
    match column {
        "harmed_jobs" | "jobs_harmed" | "jobs_hurt" => 0,
        "net_cpu" | "earlier_share" => 1,
        "net_share" | "largest_earlier_share" => 2,
        _ => 3,
    }
}

/// The columns in the order of the page: names and thresholds, then harm, then the rest.
pub(super) fn with_harm_first(header: &[String], mut columns: Vec<usize>) -> Vec<usize> {
    let of = |idx: &usize| header.get(*idx).map_or("", String::as_str);
    let is_key = |column: &str| {
        let is_what = matches!(column, "rule" | "policy" | "detector" | "budget" | THRESHOLD);
        is_name(column) || is_what || is_unit(column)
    };
    let keys = columns.iter().take_while(|idx| is_key(of(idx))).count();
    columns[keys..].sort_by_key(|idx| rank(of(idx)));
    columns
}

/// Columns of `fairness.csv` that the table of all users above it already shows in words.
const OF_USERS: [&str; 8] = [
    "share",
    "ran_cpu_s",
    "peak_cores",
    "peak_gpus",
    "peak_at_s",
    "first_use_s",
    "last_use_s",
    "largest_step_share",
];

pub(super) fn is_shown_above(table: &Table, column: &str) -> bool {
    table.file == "fairness.csv" && (OF_USERS.contains(&column) || is_usage(table, column))
}

/// Whether a column repeats the usage of users: a bill without prices equals the usage.
fn is_usage(table: &Table, column: &str) -> bool {
    let place = |name: &str| table.header.iter().position(|known| known == name);
    let is_bill = column.starts_with("metered") && column.ends_with("_cv");
    let usage = place("cpu_s").zip(place(column).filter(|_| is_bill));
    usage.is_some_and(|(usage, bill)| table.rows.iter().all(|row| row.get(usage) == row.get(bill)))
}

/// The ledger of GPU time.
const OF_GPUS: &str = "account-gpu.csv";

/// The start of the names of all tables about GPU time.
const GPU_TABLES: &str = "account-gpu";

/// Whether a table has CPU or GPU time by outcome.
fn is_ledger(table: &Table) -> bool {
    ["account.csv", OF_GPUS].contains(&table.file.as_str())
}

/// The heading of a column, which may depend on its table.
pub(super) fn heading_in(table: &Table, column: &str) -> String {
    let is_account = is_ledger(table);
    let is_described = |kind: &Kind<'_>| table.file.starts_with(kind.name);
    let is_by_job = is_account || describe::KINDS.iter().any(is_described);
    match column {
        "outcome" if is_by_job => "outcome of the job".to_owned(),
        // Jobs may be known for a longer time than tasks.
        "jobs_with_tasks" if is_account => "of these with loaded tasks".to_owned(),
        "tasks" if is_account => "their tasks".to_owned(),
        "finished" if table.file == "finish-given-events.csv" => "whose job finished".to_owned(),
        "cpu" if table.file.starts_with(GPU_TABLES) => "GPU time".to_owned(),
        // A user may have several accounts.
        "account" if table.file == "monthly-users.csv" => "account with most of it".to_owned(),
        "utilisation" if table.file == "replay-time.csv" => {
            "CPU requested, of what policies may fill".to_owned()
        }
        "cpu_requested" if table.file == "replay-record.csv" => {
            "CPU requested, of what the machines have".to_owned()
        }
        // Outages may be known for a longer time than tasks.
        "attempts" | "jobs" if table.file == "machine-details.csv" => {
            format!("{column} while tasks are loaded")
        }
        _ => pivoted::heading(column).unwrap_or_else(|| heading(column)),
    }
}

/// A square of a unit has no meaning for readers.
pub(super) const VARIANCE: &str = "variance";

/// Whether a column counts waits, although the log records none.
pub(super) fn counts_no_waits(table: &Table, column: &str) -> bool {
    let place = table.header.iter().position(|known| known == column);
    let is_zero = |row: &Vec<String>| place.is_some_and(|idx| row[idx] == "0");
    column == "jobs_with_wait" && table.rows.iter().all(is_zero)
}

/// Whether a column about jobs with a page has the same information in every row. For outcomes: the
/// one by the exact sequence equals the one by the last event. For tasks and attempts: every job
/// has one. For running times: the CPU time of each job is known.
pub(super) fn says_the_same(table: &Table, column: &str) -> bool {
    let place = |name: &str| table.header.iter().position(|known| known == name);
    let Some(own) = place(column).filter(|_| table.file == "jobs.csv") else { return false };
    let all = |is_same: &dyn Fn(&Vec<String>) -> bool| table.rows.iter().all(is_same);
    match column {
        "outcome_sequence" => {
            place("outcome_terminal").is_some_and(|other| all(&|row| row[own] == row[other]))
        }
        "tasks" | "attempts" => all(&|row| row[own] == "1"),
        // The CPU time that a job requested says more than the running time of its tasks.
        "running_s" => {
            place("requested_cpu").is_some_and(|other| all(&|row| !row[other].is_empty()))
        }
        _ => false,
    }
}

/// Whether a column repeats the number of jobs in every row, since each job has one task.
pub(super) fn repeats_jobs(table: &Table, column: &str) -> bool {
    let place = |name: &str| table.header.iter().position(|known| known == name);
    let is_count = is_ledger(table) && matches!(column, "jobs_with_tasks" | "tasks");
    let both = place("jobs").zip(place(column)).filter(|_| is_count);
    both.is_some_and(|(jobs, own)| table.rows.iter().all(|row| row.get(jobs) == row.get(own)))
}

/// The table with all rules of a sweep in one plane.
const PLANE: &str = "sweep-plane.csv";

/// The column of this table that marks the settings that no other setting beats.
pub(super) const ON_FRONT: &str = "is_on_front";

/// Whether a page shows a row. In the plane of a sweep, it shows two kinds of settings if they save
/// something: those that no other setting beats, and those that sentences name. The table of the
/// sweep has the other settings.
pub(super) fn is_on_page(table: &Table, row: &[String]) -> bool {
    let text = |name: &str| {
        let place = table.header.iter().position(|known| known == name);
        place.and_then(|idx| row.get(idx)).map_or("", String::as_str)
    };
    let is_best = text(ON_FRONT) == "true" || !text("named").is_empty();
    table.file != PLANE || is_best && text("net_cpu").parse::<f64>() != Ok(0.0)
}

/// Whether a table repeats the one above it: a plane in which one setting beats all others.
pub(in crate::report) fn repeats_others(table: &Table) -> bool {
    table.file == PLANE && table.rows.iter().filter(|row| is_on_page(table, row)).count() < 2
}

/// Columns that are always kept, because the script of the page uses them.
pub(super) fn columns_kept(table: &Table) -> &'static [&'static str] {
    if table.file == "sweep.csv" { &["threshold", "net_cpu", "harmed_jobs"] } else { &[] }
}

/// Whether a row is a configuration that no machine had when it was last seen.
pub(super) fn has_no_machines(table: &Table, row: &[String]) -> bool {
    // The file and its column of counts have the same name as the study.
    let name = machines::KIND.name;
    table.file == format!("{name}.csv") && has_zero(table, row, name)
}

/// Whether such a configuration also has no outage: the page then does not show it.
pub(super) fn is_bare(table: &Table, row: &[String]) -> bool {
    has_no_machines(table, row) && has_zero(table, row, "outages")
}

fn has_zero(table: &Table, row: &[String], column: &str) -> bool {
    let place = table.header.iter().position(|name| name == column);
    place.and_then(|idx| row.get(idx)).is_some_and(|count| count == "0")
}

/// Columns that few readers compare, by file. With them, the table would be too wide to read.
const IN_FILE_ONLY: [(&str, &[&str]); 11] = [
    (
        "episodes.csv",
        &[
            "first_at_s",
            "last_at_s",
            "reason_share",
            "jobs",
            "job_share",
            "machine_id",
            "machine_share",
            "machines_left",
            "together_with",
            "users",
        ],
    ),
    (
        "load.csv",
        &[
            "end_s",
            "cpu_free",
            "memory_free",
            "machines",
            "submitted_tasks",
            "started_tasks",
            "evicted_tasks",
            "failed_tasks",
            "finished_tasks",
            "killed_tasks",
            "lost_tasks",
            "submitted_jobs",
        ],
    ),
    ("monthly-users.csv", &["users"]),
    ("monthly-waits.csv", &["run_s_mean", "jobs_ended"]),
    ("predict.csv", &["true_positives", "false_positives", "true_negatives", "false_negatives"]),
    (
        "sweep.csv",
        &[
            "condemned_at_end",
            "harmed_at_end",
            "saved_share_killed",
            "saved_share_running",
            "saved_share_other",
            "harmed_jobs_share",
            "largest_saved_share",
            "largest_destroyed_share",
        ],
    ),
    ("sweep-selection.csv", &["train_gain", "hindsight_gain"]),
    ("detect.csv", &["flags_unjudged", "lead_median_share", "delay_median_s"]),
    (
        "replay.csv",
        &[
            "response_s_p95",
            "largest_used_share",
            "largest_wasted_share",
            "response_s_change",
            "depth_cuts",
        ],
    ),
    ("machines-spells.csv", &["likelihood_ratio", "misfit"]),
    (
        "machines.csv",
        &[
            "machines_first",
            "outages_ended",
            "outage_s_min",
            "outage_s_max",
            "up_cpu_s",
            "gone_cpu_s",
        ],
    ),
];

/// Whether a table of jobs with a page shows outcomes by the exact sequence of events, while some
/// outcomes differ by the last event. The table then needs only one column of outcomes.
fn goes_by_sequence(table: &Table) -> bool {
    const SEQUENCE: &str = "outcome_sequence";
    let has_it = table.header.iter().any(|column| column == SEQUENCE);
    table.file == "jobs.csv" && has_it && !says_the_same(table, SEQUENCE)
}

/// Whether a column is only in the file.
pub(super) fn is_in_file_only(table: &Table, column: &str) -> bool {
    // A load that is split has a row for each part in each interval.
    let is_split =
        table.file.starts_with("load-by-") && table.header.iter().any(|own| own == "end_s");
    if column == "outcome_terminal" && goes_by_sequence(table) {
        return true;
    }
    let file = if is_split { "load.csv" } else { table.file.as_str() };
    let of_file = |known: &(&str, &[&str])| known.0 == file && known.1.contains(&column);
    // The caption of the chart of a distribution gives this count for all outcomes.
    let is_described = describe::KINDS.iter().any(|kind| file == format!("{}.csv", kind.name));
    is_described && column == "left_censored" || IN_FILE_ONLY.iter().any(of_file)
}

/// The columns by which the rows of a table are sorted on a page, the largest values first; unknown
/// values count as 0.
pub(super) fn sorted_by(table: &Table) -> &'static [&'static str] {
    match table.file.as_str() {
        "detect.csv" => &["earlier_share", "f1"],
        "predict.csv" => &["auc"],
        "jobs.csv" => &["requested_cpu", "running_s"],
        _ => &[],
    }
}

/// Whether a table is folded even if it is short, because a chart shows its values or they are
/// details.
pub(super) fn is_folded(table: &Table) -> bool {
    is_of_policies(table)
        || table.file.ends_with("-curves.csv")
        || matches!(
            table.file.as_str(),
            "detect-copies.csv"
                | "detect-hours.csv"
                | "detect-settings.csv"
                | "detect-shifts.csv"
                | "detect-truths.csv"
                | "detect-windows.csv"
                | "predict-calibration.csv"
                | "replay-record.csv"
                | "replay-time.csv"
        )
}

/// The columns of a table that belong to a value in another column and are written in the same
/// cell.
pub(super) struct Beside {
    /// The columns with the lower and the upper bound of the interval: `<name>_low` and
    /// `<name>_high`.
    pub bounds: Option<(usize, usize)>,
    /// The column with the unit, `<name>_unit`.
    pub unit: Option<usize>,
}

/// The columns that are written next to the value of a column.
pub(super) fn beside(header: &[String], column: &str) -> Beside {
    let place = |end: &str| {
        let is_it = |known: &String| known.strip_suffix(end).is_some_and(|name| name == column);
        header.iter().position(is_it)
    };
    Beside { bounds: place("_low").zip(place("_high")), unit: place("_unit") }
}

/// Whether a column is written next to the values of another column: `net_share_low` is in the
/// cells of `net_share`.
pub(super) fn is_beside(header: &[String], column: &str) -> bool {
    let name = ["_low", "_high", "_unit"].iter().find_map(|end| column.strip_suffix(end));
    let Some(name) = name.filter(|name| header.iter().any(|known| known == name)) else {
        return false;
    };
    let Beside { bounds, unit } = beside(header, name);
    let places = bounds.into_iter().flat_map(|(low, high)| [low, high]).chain(unit);
    places.into_iter().any(|idx| header[idx] == column)
}

/// Whether a table has one row of one replay per policy: the page already has these policies next
/// to each other, in words.
fn is_of_policies(table: &Table) -> bool {
    let is_of_several = |column: &String| matches!(column.as_str(), "seeds" | "arrivals");
    table.file == "replay.csv" && !table.header.iter().any(is_of_several)
}
