//! How often predictions were right, as it is stored and read back, and its sentence.

use serde::{Deserialize, Serialize};

use crate::answers::sentences::percent;
use crate::digits::{counted, six_digits};
use crate::results::shares::Terms;
use crate::studies::predict::score::Score;

/// The answer of `predict`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PredictAnswer {
    /// The first rule.
    #[serde(flatten)]
    pub first: Option<Score>,
    /// All rules.
    pub rules: Vec<Score>,
    /// The age at which jobs are predicted, s; `None` at submission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_s: Option<f64>,
    /// Jobs that ended before that age.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs_too_short: Option<u64>,
    /// Jobs without tasks in the loaded parts by that age.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs_without_tasks: Option<u64>,
    /// All jobs.
    pub jobs_in_all: u64,
    /// Jobs that ended but were submitted before the window.
    pub jobs_before_window: u64,
    /// Jobs without FINISH, FAIL or KILL as the last event.
    pub jobs_without_end: u64,
    /// The numerator and denominator of each share.
    #[serde(flatten)]
    pub terms: Terms,
    /// The reason, if there is nothing to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nothing: Option<String>,
}

impl PredictAnswer {
    /// The sentence: how often the best rule is right about a job, at its submission or later.
    pub(crate) fn sentence(&self) -> Option<String> {
        let right = self.rules.iter().filter_map(|rule| Some((rule.accuracy?, rule)));
        let (accuracy, rule) = right.max_by(|one, other| one.0.total_cmp(&other.0))?;
        let share = |share: Option<f64>, before: &str, after: &str| {
            let share = share.map(percent);
            share.map_or_else(String::new, |share| format!("{before} {share} {after}"))
        };
        let when = when_predicted(self.age_s);
        Some(format!(
            "{}{}, `{}` is right about {} of {}{}{}{}",
            when[..1].to_uppercase(),
            &when[1..],
            rule.rule,
            percent(accuracy),
            counted(rule.jobs, "job"),
            without_rule(rule).unwrap_or_default(),
            share(rule.recall, "; it finds", "of those that do not finish"),
            share(rule.precision, ", and", " of those that it predicts not to finish do not"),
        ))
    }
}

/// The accuracy of one prediction for all jobs: ` (87.3 % if all were predicted to finish)`.
#[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
fn without_rule(rule: &Score) -> Option<String> {
    let lost = rule.true_positives + rule.false_negatives;
    let jobs = Some(rule.jobs).filter(|jobs| 0 < *jobs)?;
    let finished = jobs.checked_sub(lost)?;
    let (most, not) = if lost <= finished { (finished, "") } else { (lost, "not ") };
    let share = percent(most as f64 / jobs as f64);
    Some(format!(" ({share} if all were predicted {not}to finish)"))
}

/// When jobs are predicted: `at submission`, `3,600 s after submission`.
pub(crate) fn when_predicted(age_s: Option<f64>) -> String {
    let age_s = age_s.filter(|age_s| 0.0 < *age_s);
    age_s.map_or_else(
        || "at submission".to_owned(),
        |age_s| format!("{} s after submission", six_digits(age_s)),
    )
}
