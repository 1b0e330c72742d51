//! The jobs of two replays, compared one by one.

use serde::{Deserialize, Serialize};

use super::jobs::JobEnd;

/// The limits of a difference between two responses; they count as different if it exceeds both.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tolerance {
    /// Seconds.
    pub seconds: f64,
    /// As a share of the response under the baseline.
    #[serde(rename = "part_of_response")]
    pub share: f64,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self { seconds: 1.0, share: 0.01 }
    }
}

impl Tolerance {
    fn is_passed(self, change_s: f64, baseline_s: f64) -> bool {
        self.seconds < change_s && self.share * baseline_s < change_s
    }
}

/// Jobs that were slower or faster than under a baseline, paired by job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Paired {
    /// Jobs that were over in both runs, without a condemned task.
    pub jobs: usize,
    /// Jobs that took longer than under the baseline by more than the tolerance.
    pub hurt: usize,
    /// Jobs that took less time by more than the tolerance.
    pub helped: usize,
    /// Jobs that finished under the baseline, but now have a condemned or unfinished task.
    pub harmed: usize,
    /// Mean of response over response under the baseline; `None` if no job took time there.
    pub mean_ratio: Option<f64>,
    /// Mean of response minus response under the baseline, s; `None` without jobs.
    pub mean_change_s: Option<f64>,
}

/// Pairs two runs of a workload by job. A job counts as hurt or helped if its response differs by
/// more than the tolerance.
#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 jobs")]
pub fn pair(ours: &[JobEnd], baseline: &[JobEnd], tolerance: Tolerance) -> Paired {
    let mut paired = Paired::default();
    let (mut sum, mut timed, mut change_s) = (0.0, 0_usize, 0.0);
    for (ours, baseline) in ours.iter().zip(baseline) {
        paired.harmed += usize::from(baseline.is_finished && !ours.is_finished);
        let Some((ours, baseline)) = (ours.response_s.zip(baseline.response_s))
            .filter(|_| !ours.is_condemned && !baseline.is_condemned)
        else {
            continue;
        };
        paired.jobs += 1;
        change_s += ours - baseline;
        paired.hurt += usize::from(tolerance.is_passed(ours - baseline, baseline));
        paired.helped += usize::from(tolerance.is_passed(baseline - ours, baseline));
        if 0.0 < baseline {
            sum += ours / baseline;
            timed += 1;
        }
    }
    paired.mean_change_s = (0 < paired.jobs).then(|| change_s / paired.jobs as f64);
    paired.mean_ratio = (0 < timed).then(|| sum / timed as f64);
    paired
}

#[cfg(test)]
mod tests {
    use super::super::fates::{Begun, fates};
    use super::super::paired::*;
    use crate::replay::journal::{Entry, Journal, Kind};
    use crate::replay::workload::NONE;

    #[test]
    fn a_job_is_hurt_by_more_than_a_second_and_more_than_a_share() {
        let job = |response_s: f64| JobEnd {
            response_s: Some(response_s),
            is_finished: true,
            is_condemned: false,
        };
        for (baseline_s, ours_s, expected) in [
            (0.0, 0.000_001, (0, 0)),
            (0.0, 1.5, (1, 0)),
            (10.0, 10.9, (0, 0)),
            (10.0, 11.1, (1, 0)),
            (10.0, 8.9, (0, 1)),
            (1000.0, 1009.0, (0, 0)),
            (1000.0, 1011.0, (1, 0)),
            (1000.0, 989.0, (0, 1)),
        ] {
            let paired = pair(&[job(ours_s)], &[job(baseline_s)], Tolerance::default());
            assert_eq!((paired.hurt, paired.helped), expected, "{baseline_s} {ours_s}");
        }
        assert_eq!(pair(&[], &[], Tolerance::default()).mean_ratio, None);
    }

    #[test]
    fn attempts_that_run_side_by_side_are_distinguished() {
        let mut begun = Begun::new(2);
        begun.put(0, 1, 10);
        begun.put(0, 2, 20);
        begun.put(1, 1, 30);
        begun.put(0, 3, 40);
        assert_eq!((begun.take(0, 1), begun.take(0, 1)), (Some(10), None));
        begun.put(0, 4, 50);
        let rest = [(0, 2), (0, 4), (1, 1), (0, 3), (1, 2)];
        let taken = rest.map(|(task, attempt)| begun.take(task, attempt));
        assert_eq!(taken, [Some(20), Some(50), Some(30), Some(40), None]);
    }

    #[test]
    fn a_task_goes_on_when_one_of_its_attempts_makes_room() {
        let entry = |at_us, kind, attempt| Entry { at_us, kind, task: 0, machine: 0, attempt };
        let mut journal = Journal::default();
        journal.add(Entry { machine: NONE, ..entry(1, Kind::Submit, 0) });
        for entry in [entry(2, Kind::Start, 1), entry(3, Kind::Copy, 2), entry(4, Kind::Evict, 2)] {
            journal.add(entry);
        }
        assert_eq!(fates(&journal, 1).end_us, [None]);
        journal.add(entry(9, Kind::Finish, 1));
        let fates = fates(&journal, 1);
        assert_eq!((fates.submit_us[0], fates.start_us[0]), (Some(1), Some(2)));
        assert_eq!((fates.end_us[0], fates.run_us[0]), (Some(9), Some(7)));
    }
}
