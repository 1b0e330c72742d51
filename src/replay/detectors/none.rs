//! Flags no attempt: the lower bound of every comparison.

use std::sync::Arc;

use super::{Detector, Family, Flag, GroupInfo, Kind, Outlook, Plan, Scene};

/// The description of the detector.
pub(super) const KIND: Kind = Kind {
    name: "none",
    about: "never flags",
    curve: ("", &[]),
    family: Family::Others,
    steers: false,
    #[cfg(test)]
    variants: &[],
    read: |_| Ok(Arc::new(Never)),
};

#[derive(Debug)]
struct Never;

impl Plan for Never {
    fn build(&self, _group: &GroupInfo<'_>) -> Box<dyn Detector> {
        Box::new(Self)
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

impl Detector for Never {
    fn judge(&mut self, _scene: &Scene<'_>, _flags: &mut Vec<Flag>) {}

    fn quiet_until_us(&self, _scene: &Scene<'_>, _outlook: Outlook) -> i64 {
        i64::MAX
    }
}
