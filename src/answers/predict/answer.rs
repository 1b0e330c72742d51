//! The accuracy of predictions, as it is stored and read back, and its sentence.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::answers::sentences::{capital, percent};
use crate::digits::{counted, grouped, instant, is_date, six_digits};
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
    /// Jobs that ended before they reached that age.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs_too_short: Option<u64>,
    /// Jobs that had no task in the loaded parts by that age.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs_without_tasks: Option<u64>,
    /// All jobs.
    pub jobs_in_all: u64,
    /// Judged jobs for which a job of the same user and name had ended before their submission;
    /// `None` in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs_with_past: Option<u64>,
    /// A sentence that says what counts as the name of a job, if jobs in the trace have several
    /// names; empty in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_names: Option<Cow<'static, str>>,
    /// Jobs that ended, but were submitted before the window or have no recorded submission.
    pub jobs_before_window: u64,
    /// Jobs without FINISH, FAIL or KILL as the last event.
    pub jobs_without_end: u64,
    /// The numerator and denominator of each share.
    #[serde(flatten)]
    pub terms: Terms,
    /// The reason if there is nothing to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nothing: Option<String>,
}

impl PredictAnswer {
    /// The text of all sentences. The first says whether a rule is right more often than one
    /// prediction for all jobs, at their submission or later, and which jobs it finds. Further
    /// sentences say how accurate it is, what other rules do, and which jobs were judged.
    pub(crate) fn sentence(&self) -> Option<String> {
        let (rule, area) = best(&self.rules)?;
        let first = headline(&self.rules, rule, self.age_s)?;
        let counts =
            format!("a job counts as predicted not to finish if the chance of that is {THRESHOLD}");
        let all = [
            Some(first),
            self.of_names.as_deref().map(str::to_owned),
            self.seldom_known(rule),
            Some(format!("{} ({counts})", right(rule))),
            too_sure(rule),
            self.finds_more(rule),
            of_one_day(rule),
            self.others(rule),
            Some(self.ranking(rule, area)),
            Some(self.judged(rule)),
        ];
        Some(all.into_iter().flatten().collect::<Vec<String>>().join(". "))
    }

    /// A sentence with the share of jobs for which no job of the same user and name ended before.
    /// `None` if this share is not large, or not known.
    #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
    fn seldom_known(&self, rule: &Score) -> Option<String> {
        let known = self.jobs_with_past.filter(|_| 0 < rule.jobs)? as f64 / rule.jobs as f64;
        (known < SELDOM).then(|| {
            let new = percent(1.0 - known);
            format!("For {new} of the jobs, no job of the same user and name had finished, failed or been killed before they were submitted")
        })
    }

    /// A sentence about at most two rules that find clearly more of the failed jobs than the best
    /// rule, whose rank may depend on killed jobs. `None` if there are no such rules.
    fn finds_more(&self, best: &Score) -> Option<String> {
        let (own, _) = found_of(best, "failed")?;
        let known = self.rules.iter().filter_map(|rule| Some((found_of(rule, "failed")?.0, rule)));
        let mut more: Vec<(f64, &Score)> =
            known.filter(|(share, _)| HARDLY <= share - own).collect();
        more.sort_by(|one, other| other.0.total_cmp(&one.0));
        let said = more.iter().take(2).map(|(share, rule)| {
            let right = rule.precision.map_or_else(String::new, |precision| {
                format!("; {} of its predictions are right", percent(precision))
            });
            format!("`{}` ({}{right})", short_name(&rule.rule), percent(*share))
        });
        let said: Vec<String> = said.collect();
        (!said.is_empty()).then(|| {
            format!(
                "More of the failed jobs than these {} are found by {}",
                percent(own),
                said.join(" and by ")
            )
        })
    }

    /// A sentence about the rules that rank jobs best.
    fn ranking(&self, rule: &Score, area: f64) -> String {
        let others = as_good(&self.rules, rule);
        let others = if others.is_empty() {
            " ranks".to_owned()
        } else {
            format!(" and {} rank", others.join(", "))
        };
        let closer = self.closer(rule).unwrap_or_default();
        let name = short_name(&rule.rule);
        format!("`{name}`{others} jobs best ({BY_AREA}, {area:.3}; 0.5 is chance){closer}")
    }

    /// `` , but the chances that `overall` gives are closer (Brier score 0.120 instead of 0.122)
    /// ``: the rule that ranks best may give less accurate chances. `None` if both scores are
    /// written the same.
    fn closer(&self, best: &Score) -> Option<String> {
        let known = self.rules.iter().filter_map(|rule| Some((rule.brier_score?, rule)));
        let (least, rule) = known.min_by(|one, other| one.0.total_cmp(&other.0))?;
        let [least, own] = [least, best.brier_score?].map(|score| format!("{score:.3}"));
        (least != own).then(|| {
            format!(
                ", but the chances that `{}` gives are closer (Brier score {least} instead of {own})",
                short_name(&rule.rule)
            )
        })
    }

    /// A sentence with the accuracy of a simple rule, and of the rule that is right most often;
    /// `None` if neither is worth a sentence.
    fn others(&self, best: &Score) -> Option<String> {
        match (self.of_last(best), self.right_more_often(best)) {
            (Some(last), Some(other)) => Some(format!("{last}; {other}")),
            (last, other) => last.or_else(|| other.as_deref().map(capital)),
        }
    }

    /// The accuracy of a simple rule: the outcome of the last job of the same name. `None` if it is
    /// the best rule, or was not requested.
    fn of_last(&self, best: &Score) -> Option<String> {
        let last = self.rules.iter().find(|rule| rule.rule == LAST && rule.rule != best.rule)?;
        let (name, accuracy) = (in_words(&last.rule), percent(last.accuracy?));
        Some(format!("A simple rule, {name}, is right for {accuracy}"))
    }

    /// The rule that is right most often, if it is not the best one. `None` if the difference is
    /// less than a tenth of a per cent, or if another sentence already names this rule.
    fn right_more_often(&self, best: &Score) -> Option<String> {
        let known = self.rules.iter().filter_map(|rule| Some((rule.accuracy?, rule)));
        let (accuracy, rule) = known.max_by(|one, other| one.0.total_cmp(&other.0))?;
        let is_said = is_hardly_better(best) && is_hardly_better(rule);
        (best.accuracy? + 0.001 <= accuracy && rule.rule != LAST && !is_said).then(|| {
            format!("{} is right most often, for {}", in_words(&rule.rule), percent(accuracy))
        })
    }

    /// A sentence about which jobs are judged and what their outcome is. Studies of outcomes may
    /// count all jobs, and may use all of their events.
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
            FINISH, FAIL or KILL, which is their outcome here",
            grouped(rule.jobs),
            counted(self.jobs_in_all, "job"),
        )
    }
}

/// The rules of a stored answer, each with the data that it predicts from.
pub(super) fn names(answer: &PredictAnswer) -> Vec<(String, String)> {
    let about = |rule: &Score| {
        let known: Predictor = rule.rule.parse().ok()?;
        let shown = match short_name(&rule.rule) {
            own if own == rule.rule => own,
            own => format!("{own} ({})", rule.rule),
        };
        Some((shown, format!("{}: {}", known.words(), known.about())))
    };
    answer.rules.iter().filter_map(about).collect()
}

/// The largest difference of areas that a sentence calls equal.
const EQUAL_AREA: f64 = 0.001;

/// The other rules whose area is less than `EQUAL_AREA` below the best one, in their notation.
fn as_good(rules: &[Score], best: &Score) -> Vec<String> {
    let is_near = |auc: f64| best.auc.is_some_and(|most| most - auc < EQUAL_AREA);
    let others =
        rules.iter().filter(|rule| rule.rule != best.rule && rule.auc.is_some_and(is_near));
    others.map(|rule| format!("`{}`", short_name(&rule.rule))).collect()
}

/// `94.3 % of the jobs that do not finish (66.6 % of 10,058 failed and 95.3 % of 270,833 killed
/// ones, by the last event)`.
fn found(rule: &Score) -> String {
    let Some(recall) = rule.recall else { return "no job, since all finish".to_owned() };
    let of = |name: &str| {
        let (share, jobs) = found_of(rule, name)?;
        Some(format!("{} of {} {name}", percent(share), grouped(jobs)))
    };
    let each = of("failed").zip(of("killed")).map_or_else(String::new, |(failed, killed)| {
        format!(" ({failed} and {killed} ones, by the last event)")
    });
    format!("{} of the jobs that do not finish{each}", percent(recall))
}

/// The day of submission with most of the jobs that do not finish, if it has half or more of them.
/// No earlier job predicts such a burst.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a count of jobs"
)]
fn of_one_day(rule: &Score) -> Option<String> {
    let all = rule.true_positives + rule.false_negatives;
    let known = rule.days.iter().filter_map(|day| {
        let lost = (day.not_finished_share? * day.jobs as f64).round() as u64;
        Some((lost, day.day))
    });
    let (most, day) = known.max()?;
    let is_told = 1 < rule.days.len() && MANY <= most && all <= most.saturating_mul(2);
    is_told.then(|| {
        let start_s = day as f64 * DAY_S;
        let when =
            if is_date(start_s) { on_date(start_s) } else { format!("day {day} of the trace") };
        format!(
            "{} of the {} that do not finish were submitted on one day ({when})",
            grouped(most),
            counted(all, "job")
        )
    })
}

/// A burst has at least this many jobs.
const MANY: u64 = 100;

/// Seconds per day.
const DAY_S: f64 = 86_400.0;

/// The date of an instant.
fn on_date(seconds: f64) -> String {
    let whole = instant(seconds);
    whole.split(' ').next().unwrap_or(&whole).to_owned()
}

/// The criterion for the best rule, in words.
pub(super) const BY_AREA: &str = "the largest area under the ROC curve";

/// The chance from which jobs are predicted not to finish, in words.
pub(super) const THRESHOLD: &str = "above 0.5";

/// The best rule in each sentence and caption, and its area. It has the largest area under the ROC
/// curve, which does not depend on a threshold. Of equal rules, the first is taken.
pub(super) fn best(rules: &[Score]) -> Option<(&Score, f64)> {
    let known = rules.iter().filter_map(|rule| Some((rule, rule.auc?)));
    known.reduce(|most, next| if most.1 < next.1 { next } else { most })
}

/// The rule that predicts the outcome of the last job of the same user and name.
const LAST: &str = "last";

/// The smallest gain in accuracy that counts.
const HARDLY: f64 = 0.01;

/// If fewer jobs than this share have earlier jobs of their name, a sentence says so.
const SELDOM: f64 = 0.5;

/// Whether a rule is right more often than one prediction for all jobs, and which jobs it finds. If
/// the best rule is not, the first word is "No"; if no rule is, the sentence names the one that is
/// right most often.
fn headline(rules: &[Score], rule: &Score, age_s: Option<f64>) -> Option<String> {
    let (accuracy, when) = (percent(rule.accuracy?), when_predicted(age_s));
    let (name, jobs) = (in_words(&rule.rule), counted(rule.jobs, "job"));
    let of_all = of_all(rule).map(|(share, they_finish)| (percent(share), they_finish));
    if let Some((share, they_finish)) = of_all.as_ref().filter(|_| is_hardly_better(rule)) {
        let they = if *they_finish { "all jobs finish" } else { "no job finishes" };
        let known = rules.iter().filter_map(|rule| Some((rule.accuracy?, rule)));
        let (most, top) = known.reduce(|most, next| if most.0 < next.0 { next } else { most })?;
        return Some(if is_hardly_better(top) {
            format!(
                "No: {when}, no rule is clearly better than to predict that {they}, which is right for {share} of \
                {jobs}; the best, {}, is right for {}",
                in_words(&top.rule),
                percent(most)
            )
        } else {
            format!(
                "No: {when}, the rule that ranks best, {name}, is right for {accuracy} of {jobs}; to predict that \
                {they} is right for {share}"
            )
        });
    }
    let without = of_all.map_or_else(String::new, |(share, they_finish)| {
        let not = if they_finish { "" } else { "not " };
        format!(" ({share} if all were predicted {not}to finish)")
    });
    let finds = finds(rule).unwrap_or_default();
    Some(format!("{finds}: {when}, {name} is right for {accuracy} of {jobs}{without}"))
}

/// The smallest difference at which two shares of found jobs are called different.
const UNLIKE: f64 = 0.1;

/// If a rule finds a smaller share of jobs, the answer is "In part".
const FOUND: f64 = 0.5;

/// `Yes for killed jobs (95.3 % are found), less for failed ones (66.6 %)`. `None` if all jobs
/// finish.
fn finds(rule: &Score) -> Option<String> {
    let yes = |share: f64| if share < FOUND { "In part" } else { "Yes" };
    let (Some((killed, _)), Some((failed, _))) =
        (found_of(rule, "killed"), found_of(rule, "failed"))
    else {
        let share = rule.recall?;
        let found = percent(share);
        return Some(format!("{} ({found} of the jobs that do not finish are found)", yes(share)));
    };
    let [of_killed, of_failed] = [killed, failed].map(percent);
    let said = match (killed - failed).abs() < UNLIKE {
        true => format!("{of_killed} of the killed and {of_failed} of the failed jobs are found"),
        false if failed < killed => {
            let yes = yes(killed);
            return Some(format!(
                "{yes} for killed jobs ({of_killed} are found), less for failed ones ({of_failed})"
            ));
        }
        false => {
            let yes = yes(failed);
            return Some(format!(
                "{yes} for failed jobs ({of_failed} are found), less for killed ones ({of_killed})"
            ));
        }
    };
    Some(format!("{} ({said})", yes(killed.min(failed))))
}

/// The share of the jobs of an outcome that are predicted not to finish, and their number; `None`
/// without such jobs.
fn found_of(rule: &Score, outcome: &str) -> Option<(f64, u64)> {
    let own = rule.outcomes.iter().find(|own| own.outcome == outcome && 0 < own.jobs)?;
    Some((own.predicted_share?, own.jobs))
}

/// The share of the jobs that do not finish that a rule finds, and the share of its predictions
/// that are right.
fn right(rule: &Score) -> String {
    let precision = rule.precision.map_or_else(String::new, |share| {
        let share = percent(share);
        format!("; {share} of its predictions that a job does not finish are right")
    });
    format!("`{}` finds {}{precision}", short_name(&rule.rule), found(rule))
}

/// A sentence about a rule that is too certain: the jobs with its highest chances finish far more
/// often than it predicts. It has the number of these jobs. `None` if the chances are about right,
/// or if there are few jobs.
fn too_sure(rule: &Score) -> Option<String> {
    let top = rule.calibration.iter().rfind(|bin| SURE_JOBS <= bin.jobs)?;
    let (mean, share) = (top.chance_mean?, top.not_finished_share?);
    (SURE <= mean && share <= mean - TOO_SURE).then(|| {
        format!(
            "Some of its chances are far too high: of the {1} with a chance not to finish of {2} on average, only \
            {0} did not finish",
            percent(share),
            counted(top.jobs, "job"),
            percent(mean)
        )
    })
}

/// A rule is called too sure only with at least this many jobs, at least this mean chance, and at
/// least this difference.
const SURE_JOBS: u64 = 20;
const SURE: f64 = 0.5;
const TOO_SURE: f64 = 0.25;

/// A rule in words, with its name: `` logistic regression (`logistic`) ``.
fn in_words(rule: &str) -> String {
    let name = short_name(rule);
    rule.parse::<Predictor>()
        .map_or_else(|_| format!("`{name}`"), |known| format!("{} (`{name}`)", known.words()))
}

/// The name of a rule in sentences and charts. Default parameters are left out.
pub(crate) fn short_name(rule: &str) -> String {
    let default = Predictor::ALL.into_iter().find(|known| known.to_string() == rule);
    default.map_or_else(|| rule.to_owned(), |known| known.name().to_owned())
}

/// Whether a rule is hardly more often right than one prediction for all jobs.
fn is_hardly_better(rule: &Score) -> bool {
    gain(rule).is_some_and(|gain| gain < HARDLY)
}

/// The difference in accuracy between a rule and the better of the two predictions for all jobs.
fn gain(rule: &Score) -> Option<f64> {
    let all = of_all(rule)?;
    Some(rule.accuracy? - all.0)
}

/// The accuracy of the better of the two predictions for all jobs, and whether this prediction is
/// that they finish. `None` if there are no jobs.
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
    use crate::studies::predict::score::{Bin, OfDay, OfOutcome};

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
            said.contains(
                " are right (a job counts as predicted not to finish if the chance of that is above 0.5). The rate of the user's jobs of the same name (`rate`) is right most often, for \
                83.0 %. `logistic`"
            ),
            "{said}"
        );
        assert!(!more(0.8004).sentence().unwrap().contains("most often"));
        let answer = of(&rules);
        assert_eq!(
            answer.sentence().unwrap(),
            "No: at submission, no rule is clearly better than to predict that all jobs finish, which is right for \
            80.0 % of 100 jobs; the best, logistic regression (`logistic`), is right for 80.0 %. `logistic` finds 25.0 % of the jobs that do not finish; 50.0 % of its \
            predictions that a job does not finish are right (a job counts as predicted not to finish if the chance of that is \
            above 0.5). A simple rule, the user's last job of the same \
            name (`last`), is right for 79.0 %. `logistic` and `other` rank jobs best (the largest area under the ROC curve, 0.720; 0.5 is \
            chance). Judged are 100 of 120 jobs: those that were submitted in the window and ended with FINISH, FAIL or KILL, which is their outcome here"
        );
    }

    #[test]
    fn a_day_with_most_of_the_jobs_that_do_not_finish_is_named() {
        let day = |day: i64, jobs: u64, share: f64| OfDay {
            day,
            jobs,
            not_finished_share: Some(share),
            ..OfDay::default()
        };
        let of = |days: Vec<OfDay>| {
            of_one_day(&Score {
                true_positives: 100,
                false_negatives: 300,
                days,
                ..rule("last", 0.7, 0.9)
            })
        };
        assert_eq!(
            of(vec![day(17_166, 500, 0.5), day(17_167, 300, 0.1)]).unwrap(),
            "250 of the 400 jobs that do not finish were submitted on one day (2016-12-31)"
        );
        assert!(
            of(vec![day(3, 500, 0.4), day(4, 1, 1.0)]).unwrap().ends_with("(day 3 of the trace)")
        );
        assert_eq!(of(vec![day(3, 500, 0.38), day(4, 1, 1.0)]), None);
        assert_eq!(of(vec![day(3, 500, 0.8)]), None, "there is only one day");
    }

    #[test]
    fn a_rule_that_is_too_sure_of_jobs_that_finish_says_of_how_many() {
        let of = |jobs: u64, share: f64| {
            let bin = |from: f64, jobs: u64| Bin {
                chance_from: from,
                chance_to: from + 0.1,
                jobs,
                chance_mean: Some(from + 0.05),
                not_finished_share: Some(share),
            };
            let calibration = vec![bin(0.5, 200), bin(0.9, jobs), bin(0.95, 0)];
            too_sure(&Score { calibration, ..rule("logistic", 0.7, 0.9) })
        };
        assert_eq!(
            of(37, 0.027).unwrap(),
            "Some of its chances are far too high: of the 37 jobs with a chance not to finish of 95.0 % on average, only \
            2.7 % did not finish"
        );
        assert!(
            of(19, 0.0).unwrap().contains("of the 200 jobs with a chance not to finish of 55.0 %")
        );
        assert_eq!([of(19, 0.4), of(37, 0.75)], [None, None]);
    }

    #[test]
    fn a_rule_whose_chances_are_closer_is_named() {
        let of = |brier: f64| {
            let scored = |name: &str, auc: f64, brier: f64| Score {
                brier_score: Some(brier),
                ..rule(name, auc, 0.8)
            };
            let rules = [scored("logistic", 0.72, 0.122), scored("overall", 0.6, brier)];
            let answer: PredictAnswer = serde_json::from_value(serde_json::json!({
                "rules": rules, "jobs_in_all": 120, "jobs_before_window": 0, "jobs_without_end": 0,
                "of": {}, "numerators": {}}))
            .unwrap();
            answer.sentence().unwrap()
        };
        let said = "; 0.5 is chance), but the chances that `overall` gives are closer (Brier score 0.120 instead of \
            0.122). Judged";
        assert!(of(0.1199).contains(said), "{}", of(0.1199));
        assert!(!of(0.1218).contains("Brier"), "the same in three decimals");
        assert!(!of(0.2).contains("Brier"));
    }

    #[test]
    fn a_rule_that_is_right_more_often_says_which_jobs_it_finds() {
        let of = |outcomes: &[(&'static str, f64)]| {
            let outcome = |(name, share): &(&'static str, f64)| OfOutcome {
                outcome: (*name).into(),
                jobs: 9,
                predicted_not_to_finish: 0,
                predicted_share: Some(*share),
            };
            let outcomes = outcomes.iter().map(outcome).collect();
            let own = Score { outcomes, ..rule("last", 0.7, 0.9) };
            headline(std::slice::from_ref(&own), &own, None).unwrap()
        };
        let end = ": at submission, the user's last job of the same name (`last`) is right for 90.0 % of 100 jobs \
            (80.0 % if all were predicted to finish)";
        for (outcomes, begin) in [
            (
                &[("killed", 0.95), ("failed", 0.67)][..],
                "Yes for killed jobs (95.0 % are found), less for failed ones (67.0 %)",
            ),
            (
                &[("killed", 0.2), ("failed", 0.4)],
                "In part for failed jobs (40.0 % are found), less for killed ones (20.0 %)",
            ),
            (
                &[("killed", 0.95), ("failed", 0.9)],
                "Yes (95.0 % of the killed and 90.0 % of the failed jobs are found)",
            ),
            (&[], "In part (25.0 % of the jobs that do not finish are found)"),
        ] {
            assert_eq!(of(outcomes), format!("{begin}{end}"));
        }
        let none = Score {
            true_positives: 60,
            true_negatives: 20,
            false_negatives: 15,
            ..rule("rate", 0.5, 0.7)
        };
        assert_eq!(
            headline(std::slice::from_ref(&none), &none, Some(3600.0)).unwrap(),
            "No: 3,600 s after submission, no rule is clearly better than to predict that no job finishes, which is \
            right for 75.0 % of 100 jobs; the best, the rate of the user's jobs of the same name (`rate`), is right for \
            70.0 %"
        );
        // Another rule is right more often than the rule that ranks best.
        let other = Score { accuracy: Some(0.83), ..none.clone() };
        let said = headline(&[none.clone(), other], &none, None).unwrap();
        assert!(
            said.starts_with("No: at submission, the rule that ranks best, the rate"),
            "{said}"
        );
    }

    #[test]
    fn a_past_that_is_seldom_known_and_rules_that_find_more_failed_jobs_are_named() {
        let of = |known: u64, failed: [f64; 2]| -> String {
            let scored = |name: &str, auc: f64, share: f64| Score {
                outcomes: vec![OfOutcome {
                    outcome: "failed".into(),
                    jobs: 9,
                    predicted_not_to_finish: 0,
                    predicted_share: Some(share),
                }],
                ..rule(name, auc, 0.9)
            };
            let rules =
                [scored("logistic:step=0.05", 0.9, failed[0]), scored("last", 0.8, failed[1])];
            let answer: PredictAnswer = serde_json::from_value(serde_json::json!({
                "rules": rules, "jobs_in_all": 120, "jobs_before_window": 0, "jobs_without_end": 0,
                "jobs_with_past": known, "of": {}, "numerators": {}}))
            .unwrap();
            answer.sentence().unwrap()
        };
        let text = of(11, [0.67, 0.75]);
        assert!(
            text.contains(
                ". For 89.0 % of the jobs, no job of the same user and name had finished, failed or been killed before they were submitted. "
            ),
            "{text}"
        );
        assert!(
            text.contains(
                ". More of the failed jobs than these 67.0 % are found by `last` (75.0 %; 50.0 % of its predictions \
                are right). "
            ),
            "{text}"
        );
        assert!(text.contains("logistic regression (`logistic`)"), "{text}");
        let text = of(50, [0.67, 0.675]);
        assert!(!text.contains("been killed before") && !text.contains("More of"), "{text}");
    }
}
