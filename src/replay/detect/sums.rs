//! Results of detectors, summed over the groups of a lake.
//!
//! In: each judged group, in the order of the groups. Out: the [`DetectOutcome`], and the flags of
//! each bucket.

use super::copies::{Copies, CopyRow};
use super::groups::Group;
use super::outcome::Judged;
use super::score::Tally;
use super::shifts::Hours;
use super::{DetectOutcome, DetectPlan, DetectorRow, FlagRow, GroupCounts};
use crate::units::micros_to_seconds;

fn group_number(groups: u64) -> u32 {
    u32::try_from(groups).expect("a trace has fewer than 2^32 groups")
}

/// Sums over groups.
pub(super) struct Sums {
    pub counts: GroupCounts,
    running_us: i128,
    span_us: i128,
    stragglers: Vec<u64>,
    tallies: Vec<Tally>,
    /// By group and truth, the length that stragglers exceed, µs.
    lines_us: Vec<f64>,
    flag_counts: Vec<u64>,
    unjudged: Vec<u64>,
    copies: Vec<Vec<Copies>>,
    hours: Hours,
    /// The flags of the groups added since the caller last took the flags.
    pub flags: Vec<FlagRow>,
}

impl Sums {
    pub(super) fn new(plan: &DetectPlan) -> Self {
        let detector_count = plan.detectors.len();
        Self {
            counts: GroupCounts::default(),
            running_us: 0,
            span_us: 0,
            stragglers: vec![0; plan.truths.len()],
            tallies: vec![Tally::new(plan.truths.len()); detector_count],
            lines_us: Vec::new(),
            flag_counts: vec![0; detector_count],
            unjudged: vec![0; detector_count],
            copies: vec![vec![Copies::default(); plan.budgets.len()]; detector_count],
            hours: Hours::new(detector_count),
            flags: Vec::new(),
        }
    }

    /// Adds a replayed group.
    pub(super) fn add(&mut self, group: &Group, judged: &Judged) {
        let Judged { answers, walked, units, copies } = judged;
        let number = group_number(self.counts.groups);
        self.lines_us.extend(answers.iter().map(|answers| answers.line_us));
        let counts = &mut self.counts;
        counts.groups += 1;
        counts.tasks += group.task_indices.len() as u64;
        counts.judged_tasks += group.units.len() as u64;
        counts.attempts += group.attempts.len() as u64;
        counts.left_censored += group.left_censored;
        counts.unfinished += group.unfinished;
        counts.attempts_closed_with_job += group.closed_with_job;
        counts.task_heartbeats += walked.task_heartbeats;
        for unit in &group.units {
            let attempt = &group.attempts[unit.attempt as usize];
            self.hours.finished(attempt.end_us, micros_to_seconds(attempt.length_us()));
        }
        let ends_us = group.attempts.iter().map(|attempt| attempt.end_us);
        let last_us = ends_us.fold(group.begun_us(), i64::max);
        self.span_us += i128::from(last_us - group.begun_us());
        for attempt in &group.attempts {
            self.running_us += i128::from(attempt.length_us());
            self.hours.ran(attempt.start_us, attempt.end_us);
        }
        for (sum, answers) in self.stragglers.iter_mut().zip(answers) {
            *sum += answers.count();
        }
        for (sums, group_sums) in self.copies.iter_mut().zip(copies) {
            sums.iter_mut().zip(group_sums).for_each(|(sums, its)| sums.merge(its));
        }
        for (detector, flags) in walked.flags.iter().enumerate() {
            self.tallies[detector].add(number, group, units, answers, flags);
            self.flag_counts[detector] += flags.len() as u64;
            for flag in flags {
                let attempt = &group.attempts[flag.attempt as usize];
                let unit = units[flag.attempt as usize];
                let is_straggler = unit.map(|unit| answers[0].straggles[unit as usize]);
                self.unjudged[detector] += u64::from(unit.is_none());
                if is_straggler == Some(false) {
                    self.hours.false_alarm(detector, flag.time_us);
                }
                self.flags.push(FlagRow {
                    detector,
                    job_id: group.job_id,
                    phase: group.phase.clone(),
                    task_index: group.task_indices[attempt.task as usize],
                    start_us: attempt.start_us,
                    flagged_us: flag.time_us,
                    end_us: attempt.end_us,
                    how: attempt.how,
                    progress: flag.progress,
                    action: flag.action,
                    is_straggler,
                });
            }
        }
    }

    pub(super) fn outcome(self, plan: &DetectPlan) -> DetectOutcome {
        #[expect(clippy::cast_precision_loss, reason = "hours are shown, not added up")]
        let [task_hours, response_hours] =
            [self.running_us, self.span_us].map(|micros| micros as f64 / 3.6e9);
        let names: Vec<String> =
            plan.detectors.iter().map(|detector| detector.written().to_owned()).collect();
        let rows = names
            .iter()
            .enumerate()
            .map(|(idx, name)| DetectorRow {
                detector: name.clone(),
                settings: plan.detectors[idx].to_string(),
                flags: self.flag_counts[idx],
                flags_unjudged: self.unjudged[idx],
                scores: (0..plan.truths.len())
                    .map(|truth| {
                        let place = |group: u32| group as usize * plan.truths.len() + truth;
                        let line_us = |group| self.lines_us[place(group)];
                        self.tallies[idx].score(truth, line_us, task_hours)
                    })
                    .collect(),
            })
            .collect();
        let copies = names
            .iter()
            .zip(&self.copies)
            .flat_map(|(name, by_budget)| {
                plan.budgets.iter().zip(by_budget).map(|(&budget, sums)| {
                    CopyRow::new(name.clone(), budget, sums, self.running_us, self.span_us)
                })
            })
            .collect();
        DetectOutcome {
            counts: self.counts,
            task_hours,
            response_hours,
            stragglers: self.stragglers,
            rows,
            copies,
            shifts: self.hours.outcome(plan.shift, &names),
        }
    }
}
