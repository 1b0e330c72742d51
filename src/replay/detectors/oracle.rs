//! Flags exactly the stragglers, at the first heartbeat that shows them: the upper bound.
//!
//! Only this detector gets the truth; if it is unknown (in a live cluster), it flags no attempt.

use std::sync::Arc;

use super::{Detector, Family, Flag, GroupInfo, Kind, Outlook, Plan, Scene};

/// The description of the detector.
pub(super) const KIND: Kind = Kind {
    name: "oracle",
    about: "knows the true durations and flags exactly the stragglers",
    curve: ("", &[]),
    family: Family::Others,
    steers: false,
    #[cfg(test)]
    variants: &[],
    read: |_| Ok(Arc::new(Oracle)),
};

#[derive(Debug)]
struct Oracle;

struct Knowing {
    straggles: Vec<bool>,
}

impl Plan for Oracle {
    fn build(&self, group: &GroupInfo<'_>) -> Box<dyn Detector> {
        Box::new(Knowing { straggles: group.straggles.unwrap_or_default().to_vec() })
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

impl Detector for Knowing {
    fn judge(&mut self, scene: &Scene<'_>, flags: &mut Vec<Flag>) {
        for (position, running) in scene.running.iter().enumerate() {
            let straggles = self.straggles.get(running.attempt as usize).copied();
            if straggles.unwrap_or(false) && !running.has_copy {
                flags.push(Flag::copy(position));
            }
        }
    }

    /// A straggler is flagged at its first heartbeat, so no flag follows until an attempt begins.
    fn quiet_until_us(&self, _scene: &Scene<'_>, _outlook: Outlook) -> i64 {
        i64::MAX
    }
}
