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
    /// The sentence: which rule is best, and how often it is right about a job, at its submission
    /// or later.
    pub(crate) fn sentence(&self) -> Option<String> {
        let (rule, area) = best(&self.rules)?;
        let accuracy = rule.accuracy?;
        let share = |share: Option<f64>, before: &str, after: &str| {
            let share = share.map(percent);
            share.map_or_else(String::new, |share| format!("{before} {share} {after}"))
        };
        let when = when_predicted(self.age_s);
        Some(format!(
            "{}{}, `{}` ranks jobs best ({BY_AREA}, {area:.2}). If a job is predicted not to finish \
            when its chance not to is {THRESHOLD}, `{}` is right about {} of {}{}{}{}",
            when[..1].to_uppercase(),
            &when[1..],
            rule.rule,
            rule.rule,
            percent(accuracy),
            counted(rule.jobs, "job"),
            without_rule(rule).unwrap_or_default(),
            share(rule.recall, "; it finds", "of those that do not finish"),
            share(rule.precision, ", and", "of those that it predicts not to finish do not"),
        ))
    }
}

/// How the best rule is chosen, in words.
pub(super) const BY_AREA: &str = "the largest area under the ROC curve";

/// The chance from which jobs are predicted not to finish, in words.
pub(super) const THRESHOLD: &str = "above 0.5";

/// The best rule in each sentence and caption: the one with the largest area under the ROC curve,
/// which depends on no threshold; of equal ones the first. With the area.
pub(super) fn best(rules: &[Score]) -> Option<(&Score, f64)> {
    let known = rules.iter().filter_map(|rule| Some((rule, rule.auc?)));
    known.reduce(|most, next| if most.1 < next.1 { next } else { most })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(name: &str, auc: f64, accuracy: f64) -> Score {
        Score {
            rule: name.to_owned(),
            jobs: 100,
            auc: Some(auc),
            accuracy: Some(accuracy),
            precision: Some(0.5),
            recall: Some(0.25),
            true_positives: 5,
            false_positives: 5,
            true_negatives: 75,
            false_negatives: 15,
            ..Score::default()
        }
    }

    #[test]
    fn the_best_rule_ranks_best_and_not_by_accuracy() {
        let rules =
            [rule("rate", 0.68, 0.9), rule("logistic", 0.72, 0.8), rule("other", 0.72, 0.8)];
        assert_eq!(best(&rules).unwrap().0.rule, "logistic");
        let answer: PredictAnswer = serde_json::from_value(serde_json::json!({
            "rules": rules, "jobs_in_all": 0, "jobs_before_window": 0, "jobs_without_end": 0,
            "of": {}, "numerators": {}}))
        .unwrap();
        assert_eq!(
            answer.sentence().unwrap(),
            "At submission, `logistic` ranks jobs best (the largest area under the ROC curve, 0.72). \
            If a job is predicted not to finish when its chance not to is above 0.5, `logistic` is \
            right about 80.0 % of 100 jobs (80.0 % if all were predicted to finish); it finds 25.0 % \
            of those that do not finish, and 50.0 % of those that it predicts not to finish do not"
        );
    }
}
