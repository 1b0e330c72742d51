//! The scores of the rules, and their forms.

use arrow::record_batch::RecordBatch;
use serde_json::json;

use super::answer::{PredictAnswer, when_predicted};
use super::plan::PredictPlan;
use super::{KIND, SHARES, charts};
use crate::answers::load::Length;
use crate::answers::study::Plan;
use crate::digits;
use crate::facts::window::Windows;
use crate::faults::Result;
use crate::lake::Lake;
use crate::results::frame::Frame;
use crate::results::kind::Kind;
use crate::results::shares::Terms;
use crate::results::store::{Answer, Files};
use crate::schema::Table;
use crate::studies::predict::past::Past;
use crate::studies::predict::progress::Progress;
use crate::studies::predict::rules::Predictor;
use crate::studies::predict::score::Score;
use crate::units::micros_to_seconds;

/// The past of the jobs, and the scores of all rules.
pub struct Predicted {
    pub past: Past,
    pub scores: Vec<Score>,
    /// A sentence about what counts as the name of a job, if jobs in the trace have several names.
    of_names: Option<&'static str>,
}

/// The name of a job in the traces of Google, whose jobs have two names.
const LOGICAL: &str =
    "The name of a job is its `logical_job_name` here, which runs of one program share";

/// Predicts the jobs of a lake with every rule.
///
/// # Errors
/// The lake has no `job_events`, they cannot be read, or a rule needs an age that is not given.
pub fn predicted(lake: &Lake, windows: Windows, plan: &PredictPlan) -> Result<Predicted> {
    let mut rules: Vec<Predictor> = Vec::new();
    for rule in &plan.rules {
        if !rules.contains(rule) {
            rules.push(*rule);
        }
    }
    let asks_tasks = rules.contains(&Predictor::HazardEvents);
    plan.check_alone()?;
    let mut past = Past::read(lake, windows, plan.age.map_or(0, Length::micros))?;
    if asks_tasks {
        past.progress = Some(Progress::read(lake, windows, &past.steps)?);
    }
    // Without classes, `class` is the same as the rule of all jobs. It is dropped from the default
    // list, but stays in any other list.
    if plan.rules == Predictor::usual() && past.steps.iter().all(|step| step.who.class.is_none()) {
        rules.retain(|rule| *rule != Predictor::Class);
    }
    let scores = crate::studies::predict::predict(&past, &rules);
    let of_names = lake.source().is_google().then_some(LOGICAL);
    Ok(Predicted { past, scores, of_names })
}

impl Predicted {
    /// Which jobs are not counted, as a sentence without its full stop.
    pub fn edges(&self) -> String {
        let Past { jobs, jobs_before_window, jobs_without_end, jobs_too_short, .. } = self.past;
        let short = match jobs_too_short {
            0 => String::new(),
            count => format!("{} that ended before the age, ", digits::grouped(count)),
        };
        let unseen = match self.past.jobs_without_tasks() {
            0 => String::new(),
            count => {
                format!("{} without tasks in the loaded parts by then, ", digits::grouped(count))
            }
        };
        let learned = match jobs_before_window + jobs_too_short {
            0 => "",
            _ => "; rules also learn from those of them that ended with FINISH, FAIL or KILL",
        };
        format!(
            "of {}, {short}{unseen}{} that ended but were submitted before the window (or have no recorded SUBMIT) and {} without FINISH, FAIL \
            or KILL as the last event are not counted{}",
            digits::counted(jobs, "job"),
            digits::grouped(jobs_before_window),
            digits::grouped(jobs_without_end),
            learned
        )
    }

    /// A row per rule.
    pub fn table(&self) -> RecordBatch {
        let rows = || self.scores.iter();
        Frame::default()
            .text("rule", rows().map(|row| row.rule.as_str()))
            .about("The prediction rule, as written on the command line")
            .count("jobs", rows().map(|row| row.jobs))
            .float("accuracy", rows().map(|row| row.accuracy))
            .float("precision", rows().map(|row| row.precision))
            .about("Share of the jobs predicted not to finish that did not")
            .float("recall", rows().map(|row| row.recall))
            .about("Share of the jobs that did not finish that were predicted not to")
            .float("false_positive_rate", rows().map(|row| row.false_positive_rate))
            .float("auc", rows().map(|row| row.auc))
            .float("brier_score", rows().map(|row| row.brier_score))
            .count("true_positives", rows().map(|row| row.true_positives))
            .about("Jobs predicted not to finish that did not")
            .count("false_positives", rows().map(|row| row.false_positives))
            .about("Jobs predicted not to finish that did")
            .count("true_negatives", rows().map(|row| row.true_negatives))
            .about("Jobs predicted to finish that did")
            .count("false_negatives", rows().map(|row| row.false_negatives))
            .about("Jobs predicted to finish that did not")
            .batch()
    }

    /// Writes the further tables.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn put_details(&self, files: &mut Files) -> Result<()> {
        files.table("predict-outcomes", &self.outcomes())?;
        files.table("predict-days", &self.days())?;
        files.table("predict-calibration", &self.calibration())?;
        files.table("predict-curves", &self.curves())
    }

    /// The rows of a table that has several rows per rule, and a frame with the column that names
    /// the rule.
    fn by_rule<T>(&self, of: fn(&Score) -> &[T]) -> (Frame, Vec<&T>) {
        let all =
            || self.scores.iter().flat_map(|score| of(score).iter().map(move |row| (score, row)));
        let frame = Frame::default()
            .text("rule", all().map(|(score, _)| score.rule.as_str()))
            .about("The prediction rule, as written on the command line");
        (frame, all().map(|(_, row)| row).collect())
    }

    pub(super) fn outcomes(&self) -> RecordBatch {
        let (frame, rows) = self.by_rule(|score| &score.outcomes);
        let all = || rows.iter();
        frame
            .text("outcome", all().map(|row| row.outcome.as_ref()))
            .count("jobs", all().map(|row| row.jobs))
            .count("predicted_not_to_finish", all().map(|row| row.predicted_not_to_finish))
            .float("predicted_share", all().map(|row| row.predicted_share))
            .batch()
    }

    pub(super) fn days(&self) -> RecordBatch {
        let (frame, rows) = self.by_rule(|score| &score.days);
        let all = || rows.iter();
        frame
            .int("day", all().map(|row| row.day))
            .about("Day of the trace clock on which the jobs were submitted; of a clock that counts from 1970, days since then")
            .count("jobs", all().map(|row| row.jobs))
            .float("not_finished_share", all().map(|row| row.not_finished_share))
            .float("accuracy", all().map(|row| row.accuracy))
            .float("precision", all().map(|row| row.precision))
            .about("Share of the jobs predicted not to finish that did not")
            .float("recall", all().map(|row| row.recall))
            .about("Share of the jobs that did not finish that were predicted not to")
            .float("false_positive_rate", all().map(|row| row.false_positive_rate))
            .batch()
    }

    pub(super) fn calibration(&self) -> RecordBatch {
        let (frame, rows) = self.by_rule(|score| &score.calibration);
        let all = || rows.iter();
        frame
            .float("chance_from", all().map(|row| Some(row.chance_from)))
            .float("chance_to", all().map(|row| Some(row.chance_to)))
            .count("jobs", all().map(|row| row.jobs))
            .float("chance_mean", all().map(|row| row.chance_mean))
            .float("not_finished_share", all().map(|row| row.not_finished_share))
            .batch()
    }

    fn curves(&self) -> RecordBatch {
        let (frame, rows) = self.by_rule(|score| &score.curve);
        let all = || rows.iter();
        frame
            .float("chance_at_least", all().map(|row| Some(row.chance_at_least)))
            .float("precision", all().map(|row| row.precision))
            .about("Share of the jobs predicted not to finish that did not")
            .float("recall", all().map(|row| row.recall))
            .about("Share of the jobs that did not finish that were predicted not to")
            .float("false_positive_rate", all().map(|row| row.false_positive_rate))
            .batch()
    }

    /// The answer in all its forms.
    pub fn answer<'a>(&self, windows: Windows, table: &'a RecordBatch) -> Answer<'a> {
        let rules: Vec<&str> = self.scores.iter().map(|score| score.rule.as_str()).collect();
        let (past, age_us) = (&self.past, self.past.age_us);
        let settings = if 0 < age_us {
            let age = format!("{}s", micros_to_seconds(age_us));
            json!({"rules": rules, "windows": windows, "age": age})
        } else {
            json!({"rules": rules, "windows": windows})
        };
        let with_tasks = Kind { tables: &[Table::JobEvents, Table::TaskEvents], ..KIND };
        Answer {
            kind: if past.progress.is_some() { with_tasks } else { KIND },
            table,
            json: json!(self.found()),
            settings,
            charts: charts::charts(
                &self.scores,
                &self.edges(),
                &when_predicted(Some(micros_to_seconds(self.past.age_us))),
            ),
        }
    }

    /// The answer: the first rule, and all rules.
    pub(super) fn found(&self) -> PredictAnswer {
        let Self { past, scores, of_names } = self;
        let first = scores.first();
        let has_age = 0 < past.age_us;
        let unseen = has_age && past.progress.is_some();
        let none = if 0 < past.jobs_too_short {
            let age_s = digits::six_digits(micros_to_seconds(past.age_us));
            format!("No job that is counted reached the age of {age_s} s before it ended.")
        } else {
            "No job was submitted in the window and ended with FINISH, FAIL or KILL.".to_owned()
        };
        let is_empty = first.is_none_or(|score| score.jobs == 0);
        PredictAnswer {
            first: first.cloned(),
            rules: scores.clone(),
            age_s: has_age.then(|| micros_to_seconds(past.age_us)),
            jobs_too_short: has_age.then_some(past.jobs_too_short),
            jobs_without_tasks: unseen.then(|| past.jobs_without_tasks()),
            jobs_in_all: past.jobs,
            jobs_with_past: Some(crate::studies::predict::with_past(past)),
            of_names: of_names.map(Into::into),
            jobs_before_window: past.jobs_before_window,
            jobs_without_end: past.jobs_without_end,
            terms: Terms::of(&SHARES),
            nothing: first.and_then(one_sided).or_else(|| is_empty.then_some(none)),
        }
    }
}

/// The reason why there is nothing to predict: all counted jobs ended in the same way.
fn one_sided(score: &Score) -> Option<String> {
    let finished = score.false_positives + score.true_negatives;
    let how = match (finished, score.jobs) {
        (_, 0) => return None,
        (0, _) => "did not finish",
        (finished, jobs) if finished == jobs => "finished, or count as finished",
        _ => return None,
    };
    let jobs = digits::counted(score.jobs, "job");
    Some(format!("All {jobs} that ended {how}: there is nothing to predict."))
}
