//! Headings of table columns for readers, where the name in the file needs one.
//!
//! In: the name of a column. Out: the heading. Files keep the names; a column without an entry has
//! its own name, with spaces. The script of a sweep finds its columns by their names, so those stay.

/// Names of columns, and their headings.
const HEADINGS: [(&str, &str); 40] = [
    ("auc", "area under ROC"),
    ("brier_score", "Brier score"),
    ("true_positives", "rightly predicted not to finish"),
    ("false_positives", "wrongly predicted not to finish"),
    ("true_negatives", "rightly predicted to finish"),
    ("false_negatives", "wrongly predicted to finish"),
    ("predicted_share", "share predicted not to finish"),
    ("chance_at_least", "threshold (smallest chance)"),
    ("chance_mean", "mean chance"),
    ("chance_from", "chance from"),
    ("chance_to", "chance to"),
    ("not_finished_share", "share that did not finish"),
    ("flags_unjudged", "flags on tasks that are not judged"),
    ("hits", "right flags"),
    ("missed", "missed stragglers"),
    ("f1", "F1"),
    ("false_alarms_per_task_hour", "false alarms per task-hour"),
    ("lead_median_s", "median lead (s)"),
    ("lead_median_share", "median lead, share of the task"),
    ("delay_median_s", "median delay (s)"),
    ("copies_won", "copies that end first"),
    ("won", "copies that end first"),
    ("started", "copies started"),
    ("declined", "flags beyond the limit"),
    ("budget", "limit, share of the job's slot time"),
    ("copy_s", "slot time of copies (s)"),
    ("lost_s", "slot time of copies that lost (s)"),
    ("lost_share", "slot time of copies that lost"),
    ("spared_s", "slot time spared (s)"),
    ("earlier_s", "job time saved (s)"),
    ("earlier_share", "job time saved"),
    ("truth", "definition of a straggler"),
    ("is_shift", "hour of change"),
    ("ratio_to_before", "median over that of the hours before"),
    ("length_median_s", "median length (s)"),
    ("false_alarms_in_shift", "false alarms in hours of change"),
    ("false_alarms_in_calm", "false alarms in other hours"),
    ("false_alarms_in_neither", "false alarms in hours left out"),
    ("rate_in_shift", "per task-hour, in hours of change"),
    ("rate_in_calm", "per task-hour, in other hours"),
];

/// Further headings of the tables that describe distributions and machines.
const FURTHER: [(&str, &str); 7] = [
    ("running_s", "running"),
    ("ended_waiting", "ended before any attempt"),
    ("censored", "open at the end"),
    ("left_censored", "from before the window"),
    ("overruns", "longer than requested"),
    ("elsewhere", "started again on another machine"),
    ("failed_elsewhere", "failed there too"),
];

/// The heading of a column.
pub(super) fn heading(column: &str) -> &str {
    let known = HEADINGS.iter().chain(&FURTHER).find(|(name, _)| *name == column);
    known.map_or(column, |(_, heading)| heading)
}
