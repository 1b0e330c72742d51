//! How often predictions were right, as it is stored and read back, and its sentence.

use serde::{Deserialize, Serialize};

use crate::answers::sentences::percent;
use crate::digits::{counted, grouped, six_digits};
use crate::results::shares::Terms;
use crate::studies::predict::rules::Predictor;
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
    /// Jobs that ended but were submitted before the window, or whose submission is not recorded.
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
        let as_good = as_good(&self.rules, rule);
        let (do_rank, alone) = match as_good.as_slice() {
            [] => ("ranks", String::new()),
            others => ("rank", format!(" and {}", others.join(", "))),
        };
        let when = when_predicted(self.age_s);
        Some(format!(
            "{}{}, `{}` (the best by ROC) is right for {} of {}{}{}. `{}` finds {}{}. A job counts as predicted \
            not to finish if the chance of that is {THRESHOLD}. `{}`{alone} {do_rank} jobs best ({BY_AREA}, \
            {area:.3}; 0.5 is chance). {}",
            if is_hardly_better(rule) {
                format!("Hardly: {}", &when[..1])
            } else {
                when[..1].to_uppercase()
            },
            &when[1..],
            rule.rule,
            percent(accuracy),
            counted(rule.jobs, "job"),
            without_rule(rule).unwrap_or_default(),
            self.of_last(rule).unwrap_or_default()
                + &self.right_more_often(rule).unwrap_or_default(),
            rule.rule,
            found(rule),
            rule.precision.map_or_else(String::new, |share| {
                format!(
                    "; {} of its predictions that a job does not finish are right",
                    percent(share)
                )
            }),
            rule.rule,
            self.judged(rule),
        ))
    }

    /// The accuracy of the simplest rule: what became of the last job of the same name. `None` if it
    /// is the best one itself, or was not asked for.
    fn of_last(&self, best: &Score) -> Option<String> {
        let last = self.rules.iter().find(|rule| rule.rule == LAST && rule.rule != best.rule)?;
        Some(format!("; the simplest rule, `{LAST}`, for {}", percent(last.accuracy?)))
    }

    /// The rule that is right most often, if that is not the best one; `None` if the difference is not
    /// seen in a tenth of a per cent, or if it is the simplest rule, which is named anyway.
    fn right_more_often(&self, best: &Score) -> Option<String> {
        let known = self.rules.iter().filter_map(|rule| Some((rule.accuracy?, rule)));
        let (accuracy, rule) = known.max_by(|one, other| one.0.total_cmp(&other.0))?;
        (best.accuracy? + 0.001 <= accuracy && rule.rule != LAST)
            .then(|| format!("; `{}` is right most often, for {}", rule.rule, percent(accuracy)))
    }

    /// Which jobs are judged, and what their outcome is: studies of outcomes may count all jobs, and
    /// by all of their events.
    fn judged(&self, rule: &Score) -> String {
        let alive = if self.age_s.is_some_and(|age_s| 0.0 < age_s) {
            ", had not ended by then"
        } else {
            ""
        };
        let seen = match self.jobs_without_tasks {
            Some(_) => ", had a task in the loaded parts by then",
            None => "",
        };
        format!(
            "Judged are {} of {}: those that were submitted in the window{alive}{seen} and ended with \
            FINISH, FAIL or KILL. This last event alone is the outcome here; where outcomes go by the \
            exact sequence of events, some of these jobs are `other`, such as those killed before \
            the start",
            grouped(rule.jobs),
            counted(self.jobs_in_all, "job"),
        )
    }
}

/// The rules of a stored answer, each with what it predicts by.
pub(super) fn names(answer: &PredictAnswer) -> Vec<(String, String)> {
    let about = |rule: &Score| {
        let known: Predictor = rule.rule.parse().ok()?;
        Some((rule.rule.clone(), known.about().to_owned()))
    };
    answer.rules.iter().filter_map(about).collect()
}

/// The largest difference of areas that a sentence calls equal.
const EQUAL_AREA: f64 = 0.001;

/// The other rules whose area is the same to three decimals, in their notation.
fn as_good(rules: &[Score], best: &Score) -> Vec<String> {
    let is_near = |auc: f64| best.auc.is_some_and(|most| most - auc < EQUAL_AREA);
    let others =
        rules.iter().filter(|rule| rule.rule != best.rule && rule.auc.is_some_and(is_near));
    others.map(|rule| format!("`{}`", rule.rule)).collect()
}

/// `94.3 % of the jobs that do not finish (66.6 % of 10,058 failed and 95.3 % of 270,833 killed ones,
/// by their last event)`.
fn found(rule: &Score) -> String {
    let Some(recall) = rule.recall else { return "no job, since all finish".to_owned() };
    let of = |name: &str| {
        let own = rule.outcomes.iter().find(|own| own.outcome == name && 0 < own.jobs)?;
        Some(format!("{} of {} {name}", percent(own.predicted_share?), grouped(own.jobs)))
    };
    let each = of("failed").zip(of("killed")).map_or_else(String::new, |(failed, killed)| {
        format!(" ({failed} and {killed} ones, by the last event)")
    });
    format!("{} of the jobs that do not finish{each}", percent(recall))
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

/// The rule that predicts what became of the last job of the same user and name.
const LAST: &str = "last";

/// A gain in accuracy below this is hardly one.
const HARDLY: f64 = 0.01;

/// The accuracy of one prediction for all jobs: ` (57.8 % if all were predicted to finish)`, and
/// whether the rule is hardly better.
fn without_rule(rule: &Score) -> Option<String> {
    let (share, they_finish) = of_all(rule)?;
    let (share, not) = (percent(share), if they_finish { "" } else { "not " });
    let gain = gain(rule)?;
    let hardly = if gain < HARDLY { ", hardly less" } else { "" };
    let hardly = if gain <= 0.0 { ", not less" } else { hardly };
    Some(format!(" ({share} if all were predicted {not}to finish{hardly})"))
}

/// Whether a rule is hardly right more often than one prediction for all jobs.
fn is_hardly_better(rule: &Score) -> bool {
    gain(rule).is_some_and(|gain| gain < HARDLY)
}

/// By how much a rule is right more often than the better of the two predictions for all jobs.
fn gain(rule: &Score) -> Option<f64> {
    let all = of_all(rule)?;
    Some(rule.accuracy? - all.0)
}

/// The accuracy of the better of the two predictions for all jobs, and whether that is that they
/// finish; `None` without jobs.
#[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
fn of_all(rule: &Score) -> Option<(f64, bool)> {
    let lost = rule.true_positives + rule.false_negatives;
    let jobs = Some(rule.jobs).filter(|jobs| 0 < *jobs)?;
    let finished = jobs.checked_sub(lost)?;
    Some((lost.max(finished) as f64 / jobs as f64, lost <= finished))
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
            [rule("last", 0.68, 0.79), rule("logistic", 0.72, 0.8), rule("other", 0.72, 0.8)];
        assert_eq!(best(&rules).unwrap().0.rule, "logistic");
        let of = |rules: &[Score]| -> PredictAnswer {
            serde_json::from_value(serde_json::json!({
                "rules": rules, "jobs_in_all": 120, "jobs_before_window": 0, "jobs_without_end": 0,
                "of": {}, "numerators": {}}))
            .unwrap()
        };
        let more = |accuracy| of(&[rule("logistic", 0.72, 0.8), rule("rate", 0.7, accuracy)]);
        let said = more(0.83).sentence().unwrap();
        assert!(
            said.contains("not less); `rate` is right most often, for 83.0 %. `logistic`"),
            "{said}"
        );
        assert!(!more(0.8004).sentence().unwrap().contains("most often"));
        let answer = of(&rules);
        assert_eq!(
            answer.sentence().unwrap(),
            "Hardly: at submission, `logistic` (the best by ROC) is right for 80.0 % of 100 jobs (80.0 % if all were predicted to \
            finish, not less); the simplest rule, `last`, for 79.0 %. `logistic` finds 25.0 % of the jobs \
            that do not finish; 50.0 % of its predictions that a job does not finish are right. A job \
            counts as predicted not to finish if the chance of that is above 0.5. `logistic` and `other` rank jobs \
            best (the largest area under the ROC curve, 0.720; 0.5 is chance). Judged are 100 of 120 jobs: those that were \
            submitted in the window and ended with FINISH, FAIL or KILL. This last event alone is the \
            outcome here; where outcomes go by the exact sequence of events, some of these jobs are \
            `other`, such as those killed before the start"
        );
    }
}
