//! Backup tasks: near the end of a group, every running task gets a copy.
//!
//! Dean and Ghemawat (OSDI'04) start backups "when the operation is close to completion" and
//! publish no number, so the threshold is a parameter. Progress and age are not used; a task is
//! copied once.

use std::sync::Arc;

use super::support::{WAITING, Waiting, copy_slow, word};
use super::{Detector, Family, Flag, GroupInfo, Kind, Outlook, Plan, Running, Scene};
use crate::notation::{Notation, NotationError};

/// The description of the detector.
pub(super) const KIND: Kind = Kind {
    name: "google",
    about: "copies all tasks that still run near the end of the job (OSDI'04)",
    curve: ("share", &["0.99", "0.98", "0.95", "0.9", "0.8", "0.5"]),
    family: Family::Hadoop,
    steers: false,
    #[cfg(test)]
    variants: &["waiting=ignored,share=0.5", "share=0.3", "share=0.1,waiting=ignored,budget=0.3"],
    read: |notation| Ok(Arc::new(Config::read(notation)?)),
};

#[derive(Clone, Copy, Debug)]
struct Config {
    /// Share of the group's tasks that must be over; 0.95 is our choice, none is published.
    share: f64,
    /// Whether waiting tasks block backups; `first` by default.
    waiting: Waiting,
}

impl Config {
    fn read(notation: &mut Notation) -> Result<Self, NotationError> {
        Ok(Self {
            share: notation.number("share", "a share from 0 to 1", 0.95, 0.0..=1.0)?,
            waiting: notation.choice("waiting", "`first` or `ignored`", Waiting::First, WAITING)?,
        })
    }
}

impl Plan for Config {
    fn build(&self, _group: &GroupInfo<'_>) -> Box<dyn Detector> {
        Box::new(Google { config: *self })
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![("share", self.share.to_string()), ("waiting", word(WAITING, &self.waiting))]
    }
}

struct Google {
    config: Config,
}

impl Google {
    /// Whether all running tasks get a backup now.
    fn is_near_end(&self, scene: &Scene<'_>) -> bool {
        let is_held = self.config.waiting == Waiting::First && 0 < scene.waiting;
        let is_near = self.config.share * f64::from(scene.task_count) <= f64::from(scene.over);
        is_near && !is_held
    }
}

impl Detector for Google {
    fn judge(&mut self, scene: &Scene<'_>, flags: &mut Vec<Flag>) {
        if self.is_near_end(scene) {
            copy_slow(scene, flags, |running| !running.was_copied);
        }
    }

    fn reads_reports(&self, scene: &Scene<'_>) -> bool {
        self.is_near_end(scene)
    }

    fn quiet_until_us(&self, scene: &Scene<'_>, _outlook: Outlook) -> i64 {
        let is_open = |running: &Running| !running.has_copy && !running.was_copied;
        let is_done = !self.is_near_end(scene) || !scene.running.iter().any(is_open);
        if is_done { i64::MAX } else { scene.now_us }
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
}
