//! When a kill rule kills, in words.

use serde_json::Value;

use crate::digits::counted;

/// Time limits in per cent of the requested time, as a rule.
pub(crate) const LIMITS: &str = "slurm:of=requested";

/// What such a limit is a part of.
pub(crate) const OF_REQUESTED: &str = " % of the requested time";

/// When a rule kills: `after 10 events`, `after 3 failures in a row`, `by k8s:backoff_limit=6`.
pub(crate) fn condition(rule: &str, threshold: &Value) -> String {
    let name = rule.split(['+', '~', '=']).next().unwrap_or(rule);
    let counts = |noun: &str| match threshold.as_u64() {
        Some(count) => counted(count, noun),
        None => format!("{threshold} {noun}s"),
    };
    let after = match name {
        _ if rule == LIMITS => return format!("at {threshold}{OF_REQUESTED}"),
        "events" => counts("event"),
        "failures" => format!("{} in a row", counts("failure")),
        "dead-time" => format!("{threshold} s of dead time"),
        "restarts" => format!("{} within an hour", counts("restart")),
        _ => return format!("by {rule}"),
    };
    if name == rule { format!("after {after}") } else { format!("after {after} ({rule})") }
}
