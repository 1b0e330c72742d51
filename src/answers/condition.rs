//! When a kill rule kills, in words.

use crate::digits::{counted, lasting};

/// The rule whose thresholds are time limits, in per cent of the requested time.
pub(crate) const LIMITS: &str = "slurm:of=requested";

/// The words that follow the number of such a limit.
pub(crate) const OF_REQUESTED: &str = " % of the requested time";

/// The name of a rule as charts and tables show it.
pub(crate) fn name_of(rule: &str) -> &str {
    if rule == LIMITS { "share of the time limit" } else { rule }
}

/// When a rule kills: `after 10 events`, `after 3 failures in a row`, `by k8s:backoff_limit=6`.
pub(crate) fn condition(rule: &str, threshold: i64) -> String {
    let name = rule.split(['+', '~', '=']).next().unwrap_or(rule);
    let counts = |noun: &str| match u64::try_from(threshold) {
        Ok(count) => counted(count, noun),
        Err(_) => format!("{threshold} {noun}s"),
    };
    let after = match name {
        _ if rule == LIMITS => return format!("at {threshold}{OF_REQUESTED}"),
        "events" => counts("event"),
        "failures" => format!("{} in a row", counts("failure")),
        "dead-time" => format!("{} of dead time", seconds(threshold)),
        // A single restart is always within an hour of itself, so the words have no time limit.
        "restarts" if threshold == 1 => "at the first restart".to_owned(),
        "restarts" => format!("{} within an hour", counts("restart")),
        _ => return format!("by {rule}"),
    };
    let after = if after.starts_with("at ") { after } else { format!("after {after}") };
    if name == rule { after } else { format!("{after} ({rule})") }
}

/// A parameter in seconds, shown in the largest unit that fits.
#[expect(clippy::cast_precision_loss, reason = "a parameter, which is rounded for a sentence")]
fn seconds(threshold: i64) -> String {
    lasting(threshold as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_is_named_with_what_it_counts() {
        assert_eq!(condition("dead-time", 28_800), "after 8 h of dead time");
        assert_eq!(condition("dead-time", 60), "after 60 s of dead time");
        assert_eq!(condition("events", 1), "after 1 event");
        assert_eq!(condition("restarts", 1), "at the first restart");
        assert_eq!(condition("restarts", 2), "after 2 restarts within an hour");
        assert_eq!(
            condition("restarts+failures=2", 1),
            "at the first restart (restarts+failures=2)"
        );
        assert_eq!(condition(LIMITS, 75), "at 75 % of the requested time");
        assert_eq!([name_of(LIMITS), name_of("events")], ["share of the time limit", "events"]);
        assert_eq!(condition("k8s:backoff_limit=6", 6), "by k8s:backoff_limit=6");
        assert_eq!(
            condition("failures+events=5", 3),
            "after 3 failures in a row (failures+events=5)"
        );
    }
}
