//! The meanings of the columns of answers: a name has the same meaning in every table.
//!
//! In: the name of a column. Out: its unit, which follows from the end of the name, and a line
//! about it. If a meaning differs between tables, the table sets it (`Frame::about`).

/// How names end, and the unit for each ending.
const UNITS: &[(&str, &str)] = &[
    ("memory_s", "memory-s"),
    ("requested_s", "CPU-s"),
    ("measured_s", "CPU-s"),
    ("outside_s", "CPU-s"),
    ("published_s", "CPU-s"),
    ("cpu_s", "CPU-s"),
    ("cpu_capacity_s", "CPU-s"),
    ("memory_capacity_s", "memory-s"),
    ("cpu_until_then_s", "CPU-s"),
    ("cpu_afterwards_s", "CPU-s"),
    ("_us", "us"),
    ("_s_mean", "s"),
    ("_s_median", "s"),
    ("_s_p95", "s"),
    ("_s_p99", "s"),
    ("_s_change", "s"),
    ("_s", "s"),
    ("_hours", "h"),
    ("_days", "d"),
    ("_bytes", "B"),
    ("_percent", "%"),
    ("_task_hour", "1/h"),
    ("_gain", "CPU-s"),
];

/// The unit that follows from the end of a name. Bounds of an interval have the unit of their
/// column.
pub(crate) fn unit(column: &str) -> Option<&'static str> {
    let name = bounded(column).map_or(column, |(name, _)| name);
    UNITS.iter().find(|(end, _)| name.ends_with(end)).map(|(_, unit)| *unit)
}

/// For a bound: the column with the interval, and which side of it this is.
fn bounded(column: &str) -> Option<(&str, &'static str)> {
    let lower = column.strip_suffix("_low").map(|name| (name, "Lower"));
    lower.or_else(|| column.strip_suffix("_high").map(|name| (name, "Upper")))
}

/// The meaning of a column; `None` if it is not in the glossary.
pub(crate) fn meaning(column: &str) -> Option<String> {
    if let Some((name, side)) = bounded(column) {
        return Some(format!("{side} bound of the 95 % interval of `{name}`"));
    }
    if let Some(known) = MEANINGS.iter().find(|(name, _)| *name == column) {
        return Some(known.1.to_owned());
    }
    if let Some(outcome) = column.strip_prefix("saved_share_") {
        return Some(format!("`saved_cpu` of {outcome} jobs over all CPU of {outcome} jobs"));
    }
    [
        ("train_", "On earlier jobs: "),
        ("test_", "On later jobs: "),
        (
            "hindsight_",
            "In hindsight: \
    ",
        ),
    ]
    .iter()
    .find_map(|(begin, when)| {
        let of = meaning(column.strip_prefix(begin)?)?;
        Some(format!("{when}{of}"))
    })
}

/// Names and what they mean.
const MEANINGS: &[(&str, &str)] = &[
    // Keys.
    ("job_id", "The job's number in the trace"),
    ("task_index", "The task's number within the job"),
    ("machine_id", "The machine's number in the trace"),
    ("attempt", "The attempt, 1, 2, ... within the task"),
    ("window_id", "The usage window's row number in the lake"),
    ("user", "The user, as named in the trace"),
    ("job_name", "The job's name, as in the trace"),
    ("group", "The group of users, as in the trace"),
    ("partition", "The partition or site, as in the trace"),
    ("class", "The scheduling class"),
    ("scheduling_class", "The scheduling class, the last seen"),
    ("priority", "The priority, the last seen"),
    ("end_reason", "Why the job or task ended, as the log has it; empty while it is open"),
    ("policy", "The policy, as written on the command line"),
    ("detector", "The detector, with all its parameters"),
    ("rule", "The kill rule, as written on the command line"),
    ("table", "The table of the lake"),
    ("cluster", "The cluster: the name of its lake"),
    ("machine", "The machine's number; null for a class of machines"),
    ("platform", "Micro-architecture of the machine"),
    ("site", "Site or partition of the machine"),
    ("hour", "The hour, counted from time 0"),
    ("hour_us", "Where the hour begins"),
    ("period", "The period of the machine, 1, 2, ..."),
    ("event", "What happened"),
    ("event_type", "The event, by its number in the trace"),
    ("unit", "The unit of CPU time in this row"),
    ("threshold_unit", "What the threshold counts"),
    ("phase", "The phase of the job; null if the trace records none"),
    // Outcomes.
    ("sequence", "The event types in order, one digit each; null for all other sequences"),
    ("outcome", "What became of the jobs"),
    ("outcome_sequence", "The outcome by the exact event sequence"),
    ("outcome_terminal", "The outcome by the last terminal event"),
    ("ended_by", "The event that ended the attempt; null if it is open or ended with its job"),
    ("ended", "How the attempt ended"),
    ("count", "How many"),
    ("share", "Share of the total"),
    ("jobs", "Jobs"),
    ("jobs_with_tasks", "Jobs with tasks in the loaded parts"),
    ("tasks", "Tasks with at least one event"),
    ("users", "Users"),
    ("rows", "Rows"),
    ("event_count", "Events"),
    ("task_count", "Tasks with at least one event"),
    ("attempt_count", "Attempts"),
    ("window_count", "Usage windows"),
    // Times.
    ("time_us", "When it happened, on the trace clock"),
    ("start_us", "Where it starts, on the trace clock"),
    ("end_us", "Where it ends, on the trace clock; null while it is open"),
    ("first_event_us", "The first event, on the trace clock"),
    ("first_submit_us", "The first SUBMIT, on the trace clock; null where there is none"),
    ("first_schedule_us", "The first SCHEDULE, on the trace clock; null where there is none"),
    ("last_event_us", "The last event, on the trace clock"),
    ("condemned_us", "The event at which the rule condemns the task, on the trace clock"),
    ("flagged_us", "When the task was flagged, on the trace clock"),
    ("wait_us", "From the first SUBMIT to the first SCHEDULE after it, or to the end of the wait"),
    ("wait_end", "How the wait ended: started, ended before any attempt, or open"),
    ("ended_us", "The last terminal event, if no SUBMIT or SCHEDULE follows; null otherwise"),
    ("is_open", "Whether the task is pending or running at the end of the window"),
    ("requested_time_us", "The running time that was requested; null where the log has none"),
    ("time_s", "Time"),
    ("end_s", "End of the interval, from the start of the span"),
    ("duration_s", "From the first SCHEDULE to the last event"),
    // CPU and machines.
    ("cpu", "CPU time, in the unit that `unit` names"),
    ("cpu_s", "CPU time, in the unit that `unit` names"),
    ("cpu_request", "CPU requested; null if there is none"),
    ("memory", "Memory of one machine"),
    ("cpu_capacity", "CPU of the machine; null where unknown"),
    ("memory_capacity", "Memory of the machine; null where unknown"),
    ("mean_cpu_rate", "Mean CPU rate of the window"),
    ("mean_rate", "Mean CPU rate over the job's windows, weighted by their length"),
    ("mean_capacity", "Mean CPU capacity of the windows' machines, weighted alike"),
    ("slots_s", "Running time over all attempts"),
    ("requested_s", "CPU request times running time"),
    ("measured_s", "Measured CPU inside attempts"),
    ("closed_slots_s", "Running time of attempts that are closed with their job"),
    ("closed_measured_s", "Measured CPU inside attempts that are closed with their job"),
    ("outside_s", "Measured CPU outside attempts"),
    ("published_s", "CPU by the definition of the paper of 2017"),
    ("saved_slots_s", "Running time after the crossing"),
    ("saved_requested_s", "Requested CPU after the crossing"),
    ("saved_measured_s", "Measured CPU inside attempts after the crossing"),
    ("attempts_without_request", "Attempts without a request, counted as 0"),
    ("windows_without_rate", "Windows without a mean CPU rate, counted as 0"),
    ("requested_memory_s", "Memory request times the time from start to end"),
    ("waiting_s", "Time for which tasks wait, from each SUBMIT"),
    ("cpu_capacity_s", "CPU of the machines in service times time; null where unknown"),
    ("memory_capacity_s", "Memory of the machines in service times time; null where unknown"),
    ("closed_requested_memory_s", "The part of it in attempts that are closed with their job"),
    ("attempts_without_memory", "Attempts without a memory request, counted as 0"),
    ("windows_without_canonical", "Windows without a canonical memory, counted as 0"),
    ("canonical_memory_s", "Canonical memory times time inside attempts"),
    ("outside_canonical_memory_s", "Canonical memory times time outside attempts"),
    ("closed_canonical_memory_s", "The part in attempts that are closed with their job"),
    ("windows_without_assigned", "Windows without an assigned memory, counted as 0"),
    (
        "assigned_memory_s",
        "Assigned memory (of the container, used or not) times time inside attempts",
    ),
    ("outside_assigned_memory_s", "Assigned memory times time outside attempts"),
    ("closed_assigned_memory_s", "The part in attempts that are closed with their job"),
    ("windows_overlapping", "Windows that start before an earlier one of the task has ended"),
    // Distributions.
    ("mean", "Mean"),
    ("variance", "Variance of the population"),
    ("min", "Smallest value"),
    ("p25", "25 % quantile (R-7)"),
    ("median", "Median"),
    ("p75", "75 % quantile (R-7)"),
    ("p90", "90 % quantile (R-7)"),
    ("p99", "99 % quantile (R-7)"),
    ("max", "Largest value"),
    ("value", "The value"),
    ("censored", "Values that are cut off by the end of the window"),
    ("at_least", "Statistics that are lower bounds because values are censored"),
    ("overruns", "Attempts that ran longer than their user requested"),
    ("ended_waiting", "Waits that ended with the task or its job, before any attempt"),
    ("left_censored", "Values of jobs or tasks that began before the window (time 0)"),
    ("at_risk", "Jobs still observed just before this time"),
    ("events", "Events of the task so far"),
    ("finished", "Those that finished"),
    ("chance", "Share of `tasks` whose job finished"),
    ("share_at_or_below", "Share of the values at or below `value`"),
    // Kill sweep.
    ("threshold", "The parameter of the rule: a task is condemned beyond it"),
    ("condemned_tasks", "Tasks that the rule condemns"),
    ("harmed_jobs", "Finished jobs with at least one condemned task"),
    ("harmed_at_end", "Harmed jobs whose condemned tasks are all `condemned_at_end`"),
    ("harmed_jobs_share", "`harmed_jobs` over the finished jobs with tasks loaded"),
    ("destroyed_cpu", "CPU that condemned tasks of finished jobs used before the kill"),
    ("destroyed_cpu_share", "`destroyed_cpu` over all CPU of finished jobs"),
    ("harmed_jobs_cpu", "All CPU of the harmed jobs"),
    ("harmed_jobs_cpu_share", "`harmed_jobs_cpu` over all CPU of finished jobs"),
    ("net_cpu", "CPU saved in jobs that did not finish, minus `destroyed_cpu`"),
    ("net_share", "`net_cpu` over all CPU of jobs that did not finish"),
    ("is_on_front", "Whether no other point saves as much with less harm"),
    ("named", "Whether sentences about the sweep name the setting"),
    ("gain", "Net CPU minus the price of the harmed jobs"),
    ("among", "The rules that the choice was made from"),
    ("chosen_rule", "The rule that was chosen"),
    ("chosen_threshold", "Its parameter"),
    ("chosen_threshold_unit", "What its threshold counts"),
    ("hindsight_rule", "The best rule in hindsight"),
    ("hindsight_threshold", "Its parameter"),
    ("hindsight_threshold_unit", "What its threshold counts"),
    // Detectors.
    ("flags", "Tasks that were flagged"),
    ("flags_unjudged", "Flags on attempts that are not judged"),
    ("hits", "Stragglers that were flagged"),
    ("false_alarms", "Other judged tasks that were flagged"),
    ("missed", "Stragglers that were not flagged"),
    ("accuracy", "Share of the jobs that were predicted correctly"),
    ("false_positive_rate", "Share of the finished jobs that were predicted not to finish"),
    (
        "auc",
        "Chance that a job that does not finish has a larger predicted chance than one that does; a tie counts half",
    ),
    ("brier_score", "Mean square of the predicted chance minus what came true (1 or 0)"),
    ("predicted_not_to_finish", "Jobs that were predicted not to finish"),
    ("predicted_share", "`predicted_not_to_finish` over `jobs`"),
    ("not_finished_share", "Share of the jobs that did not finish"),
    ("chance_from", "Smallest predicted chance of the row"),
    ("chance_to", "End of the row's range of predicted chances"),
    ("chance_mean", "Mean predicted chance not to finish"),
    ("chance_at_least", "Smallest predicted chance at which a job is predicted not to finish"),
    ("precision", "`hits` over the judged flags"),
    ("recall", "`hits` over the stragglers"),
    ("f1", "Harmonic mean of precision and recall"),
    ("false_alarms_per_task_hour", "False alarms per hour that a task ran"),
    ("lead_p25_s", "Time from a hit to the end of its attempt: a quarter of the hits have less"),
    ("lead_p75_s", "Time from a hit to the end of its attempt: a quarter of the hits have more"),
    ("lead_median_s", "Median time from a hit to the end of its attempt"),
    ("lead_median_share", "Median share of a hit's attempt that was left at the flag"),
    (
        "delay_median_s",
        "Median time from becoming a straggler to the flag; below 0 if flagged before",
    ),
    ("copies_won", "Copies that finished before their original"),
    ("truth", "What counts as a straggler"),
    ("stragglers", "Stragglers by that definition"),
    ("progress", "Progress of the task when it was flagged"),
    ("action", "The action that it would have started"),
    ("verdict", "What was found"),
    ("is_straggler", "Whether the flagged task is a straggler; null where it is not judged"),
    ("settings", "The detector with all its parameters"),
    ("budget", "Share of a group's slot time that its copies may take; null for no limit"),
    ("started", "Copies started"),
    ("won", "Copies that finished first"),
    ("declined", "Flags for which no budget was left"),
    ("copy_s", "Slot time of all copies"),
    ("lost_s", "Slot time of the copies that lost"),
    ("lost_share", "`lost_s` over the slot time of all attempts"),
    ("spared_s", "Slot time that originals did not need because their copy won"),
    ("earlier_s", "Time by which jobs ended earlier, summed over jobs"),
    ("earlier_share", "`earlier_s` over the response time of all jobs"),
    ("largest_earlier_share", "The part of `earlier_s` in the job with the most, over `earlier_s`"),
    ("finished_tasks", "Judged tasks that finished in the hour"),
    ("length_median_s", "Their median length"),
    ("ratio_to_before", "That median over the median of the hours before"),
    ("is_shift", "Whether this counts as a shift"),
    ("task_hours", "Time that attempts ran"),
    // Replay.
    ("seeds", "Number of seeds that the means are over"),
    ("makespan_s", "From the first submit to the last end"),
    ("refused", "Tasks that are larger than any machine"),
    ("utilisation", "Mean CPU in use over the available CPU, which is capacity x `overcommit`"),
    ("waiting", "Waiting tasks, mean over the period"),
    ("copies", "Copies started"),
    ("restarts", "Attempts killed in order to restart them"),
    ("preemptions", "Attempts evicted to make room"),
    ("condemned", "Tasks that a kill rule condemned"),
    (
        "used_cpu_s",
        "CPU requested times machine time, over all attempts, in the unit that `unit` names",
    ),
    ("wasted_cpu_s", "CPU of attempts that were overtaken by a copy, restarted, lost or evicted"),
    ("largest_used_share", "CPU used by the job with the most, over `used_cpu_s`"),
    ("largest_wasted_share", "CPU wasted by the job with the most, over `wasted_cpu_s`"),
    ("free_gpu_s", "Free GPU time of the machines present"),
    (
        "fragmented_gpu_s",
        "Free GPU time that no waiting task could be given, while any requested GPUs",
    ),
    ("fragmented_gpu_share", "`fragmented_gpu_s` over `free_gpu_s`"),
    ("expected_gpu_s", "Free GPU time that could not be given to a task, the mean over all tasks"),
    ("expected_gpu_share", "`expected_gpu_s` over `free_gpu_s`"),
    ("jobs_hurt", "Jobs with a longer response time than under the first policy"),
    ("jobs_helped", "Jobs with a shorter response time than under the first policy"),
    (
        "jobs_harmed",
        "Jobs that finish under the first policy but not under this one, mostly because a kill rule \
        killed a task of them",
    ),
    (
        "user_fairness",
        "Jain's index of the users' mean bounded slowdowns; 1 if all are slowed down equally",
    ),
    ("response_s_mean", "Mean response time of jobs: first submit to last end"),
    ("response_s_median", "Median response time of jobs"),
    ("response_s_p95", "95 % quantile of the response times of jobs"),
    ("response_s_p99", "99 % quantile of the response times of jobs"),
    (
        "response_s_change",
        "Mean change of a job's response time against the first policy; without jobs of which a kill \
        rule killed a task",
    ),
    ("difference_s", "Mean response time minus that of the first policy under the same seed"),
    ("waiting_s_mean", "Mean time of tasks from their first submit to their first start"),
    ("waiting_s_p99", "99 % quantile of that time"),
    (
        "slowdown_mean",
        "Mean bounded slowdown, by run times of at least 10 s: under `load` of all jobs that ended, \
        under `replay` of the tasks that finished",
    ),
    // Fairness.
    ("peak_cores", "Most cores in use over an interval that is in the log as a whole"),
    ("peak_gpus", "Most GPUs in use over an interval that is in the log as a whole"),
    ("peak_at_s", "Start of that interval, from the start of the span"),
    ("first_use_s", "Start of the first interval with usage, from the start of the span"),
    ("last_use_s", "Last instant of use, from the start of the span"),
    ("largest_step_share", "Largest share of the user's usage in one interval"),
    ("load", "CPU in use over the available CPU"),
    ("load_before", "Load in the interval before"),
    ("at_s", "When it happened, from the start of the span"),
    ("cpu_until_then_s", "CPU time used until then"),
    ("cpu_afterwards_s", "CPU time used afterwards"),
    ("one", "One of the two indices"),
    ("other", "The other"),
    ("spearman_end", "Spearman's rank correlation of users at the end of the span"),
    ("kendall_end", "Kendall's rank correlation of users at the end of the span"),
    ("spearman_mean", "Mean of Spearman's rank correlation over the intervals"),
    ("users_moved", "Users whose rank differs at the end"),
    ("most_moved", "The user whose rank differs most"),
    ("most_places", "By how many places"),
    ("index", "The index, as written on the command line"),
    ("column", "The name of the index's value"),
    ("interval", "The interval, from 0"),
    ("heaviest", "The user with the largest usage of it"),
    ("heaviest_share", "That user's share of its usage"),
    // Reproductions and checks.
    ("what", "The statement"),
    ("paper", "The published figure"),
    ("ours", "Our figure; null where it could not be computed"),
    ("note", "What to know when comparing the two"),
    ("check", "What the check found"),
    ("parts", "Parts of the table"),
    (
        "condemned_at_end",
        "Condemned tasks that had finished for good at the instant of their kill: nothing is saved",
    ),
    ("largest_saved_share", "CPU saved in the job with the most, over all CPU saved"),
    ("largest_destroyed_share", "CPU destroyed in the job with the most, over `destroyed_cpu`"),
    ("largest_job_share", "CPU of the job with the most, over `cpu`"),
    ("place_one", "The user's place in the order under one index"),
    ("place_other", "The place under the other index"),
    ("places_up", "By how many places the user moves up under the other index; below 0 for down"),
    ("sum_right", "Parts whose checksum equals that of the list"),
    ("sum_wrong", "Parts whose checksum differs from the list"),
    ("not_listed", "Parts that the list of checksums does not name"),
    ("unreadable", "Parts that could not be read to the end"),
    ("lines", "Lines"),
    ("lines_without_row", "Lines that would give no row"),
    ("item", "Where the paper states it"),
    ("figure", "The figure of the paper"),
    ("figure_verdict", "The verdict on the figure as a whole"),
    ("from", "Lower end of the accepted range; null where there is none"),
    ("to", "Upper end of the accepted range; null where there is none"),
    ("reading", "The variant of what the paper leaves open; empty for the default"),
    ("curve", "The curve of the figure"),
    ("x", "The position on the axis"),
    ("runs", "Number of runs that the mean is over"),
    ("result", "The result that is compared"),
    (
        "settings_differ",
        "Settings that differ; differences of the data are on the page of the comparison",
    ),
    ("changed", "Rows with a change"),
    ("only_first", "Rows only in the first"),
    ("only_second", "Rows only in the second"),
    (
        "largest_change",
        "The change that is largest in relation to the largest number of its column",
    ),
    ("query", "The query"),
    ("question", "What it answers"),
    ("attempts_closed_with_job", "Attempts without an end that are closed at the end of their job"),
    ("closed_requested_s", "CPU request times running time of attempts closed with their job"),
    ("arrivals", "When users submit: open, as recorded; closed, in reaction to their jobs"),
    ("jobs_submitted", "Jobs that were submitted"),
    ("moved_s_mean", "Mean time by which jobs were submitted later than recorded"),
    ("depth_cuts", "Instants at which tasks waited beyond the depth although a machine had room"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_tidy_and_stand_once() {
        let names: BTreeSet<&str> = MEANINGS.iter().map(|(name, _)| *name).collect();
        assert_eq!(names.len(), MEANINGS.len());
        for &(name, text) in MEANINGS {
            let is_snake = |letter: char| {
                letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_'
            };
            assert!(name.chars().all(is_snake), "{name}");
            assert!(
                (!text.ends_with('.') || text.ends_with("...")) && !text.contains('\n'),
                "{name}: {text}"
            );
        }
    }

    #[test]
    fn ends_of_names_say_units() {
        for (name, unit) in [
            ("start_us", Some("us")),
            ("makespan_s", Some("s")),
            ("response_s_low", Some("s")),
            ("task_hours", Some("h")),
            ("share", None),
            ("jobs", None),
            ("status", None),
        ] {
            assert_eq!(super::unit(name), unit, "{name}");
        }
    }

    #[test]
    fn bounds_and_parts_are_described_by_what_they_are_of() {
        assert_eq!(
            meaning("net_share_low").as_deref(),
            Some("Lower bound of the 95 % interval of `net_share`")
        );
        assert!(meaning("train_net_cpu").is_some_and(|text| text.starts_with(
            "On earlier jobs: \
        CPU"
        )));
        assert!(meaning("unheard_of").is_none());
    }
}
