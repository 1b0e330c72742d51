//! Headings of tables in words, and which columns are lengths of time or instants.
//!
//! In: the name of a column as files have it. Out: a heading for readers. Files keep their names;
//! a script finds a column by the name in the file.

use crate::digits::lasting;

/// Headings that cannot be built from the words of a name.
const KNOWN: [(&str, &str); 101] = [
    ("among", "among the settings of"),
    ("asked_cpu_h", "CPU (h) that limits allow"),
    ("at_least", "lower bounds"),
    ("auc", "area under ROC"),
    ("brier_score", "Brier score"),
    ("budget", "limit, share of the job's slot time"),
    ("capacity_away_share", "CPU lost in all outages"),
    ("capacity_lost_share", "CPU lost in outages that ended"),
    ("censored", "open at the end"),
    ("chance_at_least", "threshold (smallest chance)"),
    ("chance_from", "chance from"),
    ("chance_mean", "mean chance"),
    ("chance_to", "chance to"),
    ("chosen_rule", "chosen on earlier jobs"),
    ("chosen_threshold", "T"),
    ("condemned", "tasks killed by a rule"),
    ("condemned_at_end", "of these tasks, finished by then"),
    ("condemned_tasks", "tasks that it acts on"),
    ("copies_won", "copies that end first"),
    ("copy_s", "slot time of copies"),
    ("declined", "flags beyond the limit"),
    ("delay_median_s", "median delay"),
    ("destroyed_cpu_share", "destroyed, of the CPU of finished jobs"),
    ("earlier_s", "job time saved"),
    ("earlier_share", "job time saved, share of all"),
    ("elsewhere", "started again on another machine"),
    ("ended_waiting", "ended before any attempt"),
    ("exponential_mean_s", "mean if exponential"),
    ("f1", "F1"),
    ("failed_elsewhere", "failed there too"),
    ("false_alarms_in_calm", "false alarms in other hours"),
    ("false_alarms_in_neither", "false alarms in hours left out"),
    ("false_alarms_in_shift", "false alarms in hours of change"),
    ("false_alarms_per_task_hour", "false alarms per 1,000 task-hours"),
    ("false_negatives", "wrongly predicted to finish"),
    ("false_positives", "wrongly predicted not to finish"),
    ("flags_unjudged", "flags on tasks that are not judged"),
    ("harmed_jobs", "harmed jobs"),
    ("hindsight_rule", "best for later jobs, in hindsight"),
    ("hindsight_threshold", "T in hindsight"),
    ("hits", "right flags"),
    ("in_episodes_share", "of all events"),
    ("is_on_front", "on the front"),
    ("is_shift", "hour of change"),
    ("is_straggler", "straggler"),
    ("jobs_ended", "of these ended"),
    ("jobs_helped", "jobs that end sooner"),
    ("jobs_hurt", "jobs that end later"),
    ("jobs_with_wait", "with a known wait"),
    ("known_intervals", "intervals in which it is known"),
    ("largest_destroyed_share", "largest job's share of the destroyed CPU"),
    ("largest_earlier_share", "largest job's share of the saved time"),
    ("largest_job_share", "largest job, % of this row"),
    ("largest_saved_share", "largest job's share of the saved CPU"),
    ("largest_used_share", "largest job's share of the used CPU"),
    ("largest_wasted_share", "largest job's share of the wasted CPU"),
    ("late_cpu_h", "wasted CPU (h) in long runs"),
    ("lead_median_s", "median lead"),
    ("lead_median_share", "median lead, share of the task"),
    ("left_censored", "from before the window"),
    ("length_median_s", "median length"),
    ("lost_cpu_s", "CPU time lost in outages that ended"),
    ("lost_s", "slot time of copies that lost"),
    ("lost_share", "copies that lost, share of all slot time"),
    ("machines_down", "machines away at least once"),
    ("machines_first", "machines with this configuration when first seen"),
    ("metered_cv", "charged value (metered)"),
    ("missed", "missed stragglers"),
    ("month_share", "share of the month"),
    ("not_finished", "not finished"),
    ("not_finished_jobs", "jobs that did not finish"),
    ("not_finished_share", "share that did not finish"),
    ("outcome_sequence", "outcome by event sequence"),
    ("outcome_terminal", "outcome by last event"),
    ("overruns", "longer than requested"),
    ("p_exponential", "p (exponential)"),
    ("predicted_share", "share predicted not to finish"),
    ("rate_in_calm", "per 1,000 task-hours, in other hours"),
    ("rate_in_shift", "per 1,000 task-hours, in hours of change"),
    ("ratio_to_before", "median over that of the hours before"),
    ("reached", "attempts that reached the limit"),
    ("reached_cpu_h", "CPU (h) of these attempts"),
    ("running_s", "running, summed over tasks"),
    ("spared_s", "slot time spared"),
    ("started", "copies started"),
    ("test_gain", "later jobs: worth at the price"),
    ("test_harmed_jobs", "later jobs: harmed"),
    ("test_net_cpu", "later jobs: net CPU"),
    ("threshold_unit", "unit of the threshold"),
    ("train_harmed_jobs", "earlier jobs: harmed"),
    ("train_net_cpu", "earlier jobs: net CPU"),
    ("true_negatives", "rightly predicted to finish"),
    ("true_positives", "rightly predicted not to finish"),
    ("truth", "definition of a straggler"),
    ("up_after_return", "up since a return"),
    ("up_from_start", "up since the start"),
    ("used_cpu_h", "CPU (h) while running"),
    ("user_share", "of this user"),
    ("utilisation", "CPU requested until the last end"),
    ("waited_longer_than", "similar jobs of others that waited less"),
    ("won", "copies that end first"),
];

/// Words that have another form in a heading.
const WORDS: [(&str, &str); 8] = [
    ("cpu", "CPU"),
    ("gpu", "GPU"),
    ("gpus", "GPUs"),
    ("id", "id"),
    ("eup", "effective user priority"),
    ("us", "(µs)"),
    ("h", "(h)"),
    ("d", "(d)"),
];

/// The heading of a column.
pub(crate) fn heading(column: &str) -> String {
    if let Some((_, said)) = KNOWN.iter().find(|(known, _)| *known == column) {
        return (*said).to_owned();
    }
    let in_words = is_length(column) || is_instant(column);
    let words: Vec<&str> = column.split('_').collect();
    let mut said: Vec<String> = Vec::new();
    let mut idx = 0;
    while let Some(word) = words.get(idx) {
        idx += 1;
        // A parameter of an index: `half_life_s_604800`.
        if let ["life", "s", seconds] = words.get(idx..idx + 3).unwrap_or_default()
            && *word == "half"
            && let Ok(seconds) = seconds.parse()
        {
            said.push(format!("half-life {}", lasting(seconds)));
            idx += 3;
            continue;
        }
        match *word {
            "s" if in_words => {}
            "s" if said.last().is_some_and(|last| is_used_over_time(last)) => {
                said.push("time".to_owned());
            }
            "s" => said.push("(s)".to_owned()),
            word => {
                let known = WORDS.iter().find(|(known, _)| *known == word);
                said.push(known.map_or(word, |(_, said)| said).to_owned());
            }
        }
    }
    said.join(" ")
}

/// Whether seconds of this are an amount rather than a length of time, as CPU-seconds are.
fn is_used_over_time(word: &str) -> bool {
    ["cpu", "gpu", "memory"].contains(&word.to_lowercase().as_str())
}

/// Whether a column holds lengths of time in seconds.
pub(crate) fn is_length(column: &str) -> bool {
    let words: Vec<&str> = column.split('_').collect();
    let seconds = words.iter().position(|word| *word == "s");
    // A number after the unit is a parameter of an index: `half_life_s_604800`.
    let is_parameter = words.iter().any(|word| word.parse::<f64>().is_ok());
    seconds.is_some_and(|at| 0 < at)
        && !is_parameter
        && !is_instant(column)
        && !words.iter().any(|word| is_used_over_time(word))
}

/// Whether a column holds CPU, GPU or memory time in seconds: `lost_cpu_s`.
pub(crate) fn is_use(column: &str) -> bool {
    let name = column.strip_suffix("_s").filter(|_| !is_instant(column));
    name.is_some_and(|name| name.split('_').any(is_used_over_time))
}

/// Whether a column is an amount of CPU, GPU or memory time in the unit that its row names:
/// `net_cpu`, `test_gain_low`.
pub(crate) fn is_use_by_unit(column: &str) -> bool {
    let is_amount = |word: &str| word == "gain" || is_used_over_time(word);
    column.split('_').any(is_amount) && column.split('_').all(|word| word != "share")
}

/// Whether a column holds instants, in seconds on the clock of the trace.
pub(crate) fn is_instant(column: &str) -> bool {
    matches!(column, "start_s" | "end_s" | "time_s" | "first_use_s" | "last_use_s")
        || column.ends_with("_at_s")
}

/// Whether a column holds statistics in the unit that its row names.
pub(crate) fn is_statistic(column: &str) -> bool {
    matches!(column, "min" | "mean" | "median" | "max")
        || column.strip_prefix('p').is_some_and(|rank| rank.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_words() {
        for (column, said) in [
            ("wait_s_mean", "wait mean"),
            ("waiting_s", "waiting"),
            ("cpu_s", "CPU time"),
            ("ran_cpu_s", "ran CPU time"),
            ("wasted_cpu_h", "wasted CPU (h)"),
            ("start_us", "start (µs)"),
            ("p25_s", "p25"),
            ("condor_half_life_s_604800_eup", "condor half-life 7 d effective user priority"),
            ("machines_first", "machines with this configuration when first seen"),
            ("metered_cv", "charged value (metered)"),
            ("is_shift", "hour of change"),
            ("job_id", "job id"),
            ("Memory share", "Memory share"),
        ] {
            assert_eq!(heading(column), said, "{column}");
        }
    }

    #[test]
    fn amounts_over_time_are_no_lengths() {
        for column in ["wait_s_p95", "response_s_change", "running_s", "length_median_s"] {
            assert!(is_length(column), "{column}");
        }
        for column in [
            "cpu_s",
            "lost_cpu_s",
            "memory_s",
            "start_s",
            "peak_at_s",
            "s",
            "users",
            "condor_half_life_s_604800_eup",
        ] {
            assert!(!is_length(column), "{column}");
        }
        for (column, is_told, is_by_unit) in [
            ("cpu_s", true, true),
            ("lost_cpu_s", true, true),
            ("cpu_until_then_s", true, true),
            ("net_cpu", false, true),
            ("test_gain_low", false, true),
            ("destroyed_cpu_share", false, false),
            ("memory", false, true),
            ("running_s", false, false),
            ("wasted_cpu_h", false, true),
        ] {
            assert_eq!((is_use(column), is_use_by_unit(column)), (is_told, is_by_unit), "{column}");
        }
        assert!(is_statistic("p99") && is_statistic("mean") && !is_statistic("price"));
    }
}
