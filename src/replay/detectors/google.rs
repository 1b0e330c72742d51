//! Backup tasks: near the end of a group, everything that still runs gets a copy.
//!
//! Dean and Ghemawat (OSDI'04) start backups "when the operation is close to completion" and
//! publish no number, so the threshold is a parameter. The rule `cubed` is what the library of
//! that name (cubed-dev/cubed, `runtime/backup.py`) made of it: three times the median once half
//! of the started tasks are complete. Neither looks at progress; both copy a task once.

use std::sync::Arc;

use super::support::{WAITING, Waiting, copy_slow, entry, first_of_age_us, whole, word};
use super::{Detector, Family, Flag, GroupInfo, Kind, Outlook, Plan, Scene};
use crate::notation::{Notation, NotationError};

/// The kind.
pub(super) const KIND: Kind = Kind {
    name: "google",
    about: "backup of everything still running near the end (OSDI'04), or Cubed's version of it",
    curve: ("share", &["0.99", "0.98", "0.95", "0.9", "0.8", "0.5"]),
    family: Family::Hadoop,
    steers: false,
    #[cfg(test)]
    variants: &["waiting=ignored,share=0.5", "share=0.3", "share=0.1,waiting=ignored,budget=0.3"],
    read: |notation| Ok(Arc::new(Config::read(notation)?)),
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    NearEnd,
    Cubed,
}

const RULES: &[(&str, Rule)] = &[("near-end", Rule::NearEnd), ("cubed", Rule::Cubed)];

#[derive(Clone, Copy, Debug)]
struct Config {
    /// `near-end` (default, OSDI'04) or `cubed`.
    rule: Rule,
    /// `near-end`: share of the group's tasks that must be over; 0.95 by our choice, none is
    /// published.
    share: f64,
    /// `near-end`: whether tasks that wait for a machine hold backups off; `first` by default.
    waiting: Waiting,
    /// `cubed`: fewest started tasks; 10.
    min_started: u32,
    /// `cubed`: the quantile of the started tasks that must be complete, and is measured; 0.5.
    quantile: f64,
    /// `cubed`: an attempt is copied past this multiple of that quantile; 3.
    multiplier: f64,
}

impl Config {
    fn read(notation: &mut Notation) -> Result<Self, NotationError> {
        let share = "a share from 0 to 1";
        Ok(Self {
            rule: notation.choice("rule", "`near-end` or `cubed`", Rule::NearEnd, RULES)?,
            share: notation.number("share", share, 0.95, 0.0..=1.0)?,
            waiting: notation.choice("waiting", "`first` or `ignored`", Waiting::First, WAITING)?,
            min_started: notation.take("min_started", "a count of tasks", 10)?,
            quantile: notation.number("quantile", share, 0.5, 0.0..=1.0)?,
            multiplier: notation.number("multiplier", "a positive factor", 3.0, 1e-9..)?,
        })
    }
}

impl Plan for Config {
    fn build(&self, _group: &GroupInfo<'_>) -> Box<dyn Detector> {
        Box::new(Google { config: *self, has_started: Vec::new(), started: 0 })
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![
            ("rule", word(RULES, &self.rule)),
            ("share", self.share.to_string()),
            ("waiting", word(WAITING, &self.waiting)),
            ("min_started", self.min_started.to_string()),
            ("quantile", self.quantile.to_string()),
            ("multiplier", self.multiplier.to_string()),
        ]
    }
}

struct Google {
    config: Config,
    /// By task.
    has_started: Vec<bool>,
    started: u32,
}

impl Google {
    /// The age past which an attempt gets a backup, µs; `None` while nobody does.
    fn limit_us(&self, scene: &Scene<'_>) -> Option<f64> {
        let Config { rule, share, waiting, min_started, quantile, multiplier } = self.config;
        match rule {
            Rule::NearEnd => {
                let is_held = waiting == Waiting::First && 0 < scene.waiting;
                let is_near = share * f64::from(scene.task_count) <= f64::from(scene.over);
                (is_near && !is_held).then_some(f64::NEG_INFINITY)
            }
            Rule::Cubed => {
                if self.started < min_started {
                    return None;
                }
                let place = whole((quantile * f64::from(self.started)).ceil()).saturating_sub(1);
                let length_us = *scene.finished.lengths_us().get(place)?;
                #[expect(clippy::cast_precision_loss, reason = "a length is far below 2^53 µs")]
                Some(multiplier * length_us as f64)
            }
        }
    }
}

impl Detector for Google {
    fn started(&mut self, _attempt: u32, task: u32, _start_us: i64) {
        let has_started = entry(&mut self.has_started, task);
        self.started += u32::from(!*has_started);
        *has_started = true;
    }

    fn judge(&mut self, scene: &Scene<'_>, flags: &mut Vec<Flag>) {
        let Some(limit_us) = self.limit_us(scene) else { return };
        copy_slow(scene, flags, |running| {
            #[expect(clippy::cast_precision_loss, reason = "an age is far below 2^53 µs")]
            let age_us = (scene.now_us - running.start_us) as f64;
            limit_us < age_us && !running.was_copied
        });
    }

    fn reads_reports(&self, scene: &Scene<'_>) -> bool {
        self.limit_us(scene).is_some()
    }

    /// Only age is looked at, and only by the rule `cubed`.
    fn quiet_until_us(&self, scene: &Scene<'_>, _outlook: Outlook) -> i64 {
        let Some(limit_us) = self.limit_us(scene) else { return i64::MAX };
        first_of_age_us(scene, limit_us / 1e6, |running| !running.has_copy && !running.was_copied)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Group;

    #[test]
    fn backups_start_when_the_share_is_over() {
        let mut group = Group::of("google:share=0.9", 10);
        group.run(0, 0, 0.5).run(1, 0, 0.9);
        group.finish(2..10, 0, 50);
        assert_eq!(group.judge(60), Vec::<u32>::new(), "8 of 10 are over");
        group.stop(1, 61);
        assert_eq!(group.judge(70), [0]);
    }

    #[test]
    fn cubed_needs_half_of_the_started_complete() {
        let mut group = Group::of("google:rule=cubed", 12);
        for task in 0..7 {
            group.run(task, 0, 0.0);
        }
        group.finish(7..12, 0, 10);
        assert_eq!(group.judge(1_000), Vec::<u32>::new(), "5 complete");
        group.stop(6, 1_000);
        assert_eq!(group.judge(2_999), Vec::<u32>::new(), "the sixth took 1000 s");
        assert_eq!(group.judge(3_000), Vec::<u32>::new(), "not past it yet");
        assert_eq!(group.judge(3_001), [0, 1, 2, 3, 4, 5]);
    }
}
