//! A limit on the heartbeats of a replay.
//!
//! In: a policy and the replayed workload. Out: a note if there are many heartbeats, or a refusal
//! if there are too many.

use crate::digits;
use crate::faults::{Result, Usage};
use crate::replay::engine::heartbeats;
use crate::replay::policies::PolicyPlan;
use crate::replay::workload::Workload;

/// The most heartbeats of a replay; more would take hours.
const HEARTBEATS_MAX: f64 = 1e9;

/// From this number on, a note gives the possible number of heartbeats.
const HEARTBEATS_MANY: f64 = 1e7;

/// Refuses a policy that may have too many heartbeats, and returns a note for one with many.
///
/// # Errors
/// The policy may have too many heartbeats.
pub(super) fn check_heartbeats(
    name: &str,
    workload: &Workload,
    policy: &PolicyPlan,
) -> Result<Option<String>> {
    let Some(count) = heartbeats(workload, policy).filter(|count| HEARTBEATS_MANY < *count) else {
        return Ok(None);
    };
    let shown = digits::six_digits(count.round());
    if HEARTBEATS_MAX < count {
        return Err(Usage(format!(
            "policy `{name}` would need up to {shown} heartbeats, more than {}; give a longer `heartbeat_s`, or replay a part with --from and --until",
            digits::six_digits(HEARTBEATS_MAX)
        ))
        .into());
    }
    Ok(Some(format!("{name}: up to {shown} heartbeats")))
}
