//! Limits for any detector: a budget of copies, and a minimum age.
//!
//! In: a detector and its limits. Out: a detector that passes on only the flags within them. A flag
//! that is held back is not stored, and the detector is not informed. So a detector that waits
//! after a flag also waits after this one, and does not choose another attempt instead.

use super::{Detector, Ended, Flag, Outlook, Scene, Standing};
use crate::notation::{Notation, NotationError};

/// Limits around a detector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The copies that may run at once, as a share of the running attempts; no limit by default.
    /// One copy is always allowed.
    pub budget: Option<f64>,
    /// The age before which an attempt is not flagged, s; 0 by default.
    pub min_age_s: f64,
}

impl Limits {
    /// Reads `budget` and `min_age_s`.
    pub(super) fn read(notation: &mut Notation) -> Result<Self, NotationError> {
        let budget =
            notation.number("budget", "a share of at least 0", f64::MAX, 0.0..=f64::MAX)?;
        Ok(Self {
            budget: (budget < f64::MAX).then_some(budget),
            min_age_s: notation.number("min_age_s", "a time in seconds", 0.0, 0.0..)?,
        })
    }

    /// The limits that are set, as written.
    pub(super) fn parameters(&self) -> Vec<(&'static str, String)> {
        let budget = self.budget.map(|budget| ("budget", budget.to_string()));
        let min_age_s = (0.0 < self.min_age_s).then(|| ("min_age_s", self.min_age_s.to_string()));
        budget.into_iter().chain(min_age_s).collect()
    }

    /// Applies these limits to a detector.
    pub(super) fn around(&self, detector: Box<dyn Detector>) -> Box<dyn Detector> {
        if self.budget.is_none() && self.min_age_s == 0.0 {
            return detector;
        }
        Box::new(Limited { detector, limits: *self, found: Vec::new(), has_held: false })
    }
}

struct Limited {
    detector: Box<dyn Detector>,
    limits: Limits,
    found: Vec<Flag>,
    /// Whether a flag was held back at the last heartbeat.
    has_held: bool,
}

impl Detector for Limited {
    fn started(&mut self, attempt: u32, task: u32, start_us: i64) {
        self.detector.started(attempt, task, start_us);
    }

    fn ended(&mut self, end: &Ended) {
        self.detector.ended(end);
    }

    fn judge(&mut self, scene: &Scene<'_>, flags: &mut Vec<Flag>) {
        self.found.clear();
        self.has_held = false;
        self.detector.judge(scene, &mut self.found);
        let mut copies = f64::from(scene.copies);
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 attempts run")]
        let allowed = self
            .limits
            .budget
            .map_or(f64::MAX, |share| (share * scene.running.len() as f64).max(1.0));
        for flag in &self.found {
            let is_old = self.limits.min_age_s <= scene.running[flag.position].age_s(scene.now_us);
            if is_old && copies + 1.0 <= allowed {
                copies += 1.0;
                flags.push(*flag);
            } else {
                self.has_held = true;
            }
        }
    }

    fn judges_lone_tasks(&self) -> bool {
        self.detector.judges_lone_tasks()
    }

    fn quiet_until_us(&self, scene: &Scene<'_>, outlook: Outlook) -> i64 {
        if self.has_held { scene.now_us } else { self.detector.quiet_until_us(scene, outlook) }
    }

    fn reads_reports(&self, scene: &Scene<'_>) -> bool {
        self.detector.reads_reports(scene)
    }

    fn heeds_slots(&self, scene: &Scene<'_>) -> bool {
        self.detector.heeds_slots(scene)
    }

    fn suits(&self, scene: &Scene<'_>, machine: u32) -> bool {
        self.detector.suits(scene, machine)
    }

    fn very_slow(&self, scene: &Scene<'_>, machines: &mut Vec<u32>) {
        self.detector.very_slow(scene, machines);
    }

    fn standing(&self, scene: &Scene<'_>, machine: u32) -> Standing {
        self.detector.standing(scene, machine)
    }

    fn probed(&mut self, machine: u32, speed: f64) {
        self.detector.probed(machine, speed);
    }
}
