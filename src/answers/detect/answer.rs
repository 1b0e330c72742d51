//! The scores of detectors, as they are stored and read back, and their sentence.

use serde::{Deserialize, Serialize};

use super::order::sort;
use crate::answers::sentences::percent;
use crate::digits::counted;
use crate::replay::detect::copies::CopyRow;
use crate::replay::detect::score::Score;
use crate::replay::detect::shifts::Shifts;
use crate::replay::detect::{DetectorRow, GroupCounts};
use crate::replay::detectors::KINDS;
use crate::results::shares::Terms;

/// The answer of `detect`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DetectAnswer {
    /// The definitions of a straggler; the first one decides.
    pub truths: Vec<String>,
    /// The number of stragglers by definition.
    pub stragglers: Vec<u64>,
    /// Counts of groups, tasks and attempts; `None` in older results.
    pub counts: Option<GroupCounts>,
    /// Time that attempts ran, hours.
    pub task_hours: f64,
    /// The sum of the response times of all groups, hours. A response time lasts from the first
    /// event of a group to the last end of any of its attempts.
    pub response_hours: f64,
    /// The detectors that the user requested.
    pub rows: Vec<DetectorRow>,
    /// The detectors that the program added, for a curve or a comparison of windows.
    pub added: Vec<DetectorRow>,
    /// For each detector, scores by value of its main parameter.
    pub curves: Vec<DetectCurve>,
    /// The dry run of copies.
    pub copies: Vec<CopyRow>,
    /// The state of the cluster hour by hour.
    pub shifts: Option<Shifts>,
    /// The numerator and denominator of each share.
    #[serde(flatten)]
    pub terms: Terms,
    /// The reason if there is nothing to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nothing: Option<String>,
}

/// The scores of a detector by value of its main parameter.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DetectCurve {
    /// The detector.
    pub detector: String,
    /// The parameter.
    pub parameter: String,
    /// Its values with their scores.
    pub points: Vec<DetectPoint>,
}

/// The score of a detector at one value of its main parameter.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DetectPoint {
    /// The value.
    pub value: String,
    /// The score.
    pub score: Score,
}

impl DetectAnswer {
    /// The number of stragglers by the definition that decides, in words.
    pub(crate) fn stragglers(&self) -> Option<String> {
        Some(counted(*self.stragglers.first()?, "straggler"))
    }

    /// The detector with the best F1, and its score. Detectors in `bounds` are left out.
    pub(crate) fn best(&self, bounds: &[&str]) -> Option<(&str, &Score)> {
        let others = self.rows.iter().filter(|row| !bounds.contains(&row.detector.as_str()));
        let scored = others.filter_map(|row| {
            let score = row.scores.first()?;
            Some((score.f1?, row.detector.as_str(), score))
        });
        let (_, name, score) = scored.max_by(|one, other| one.0.total_cmp(&other.0))?;
        Some((name, score))
    }

    /// The meaning of each built-in detector of the answer, in the order of the charts; the bounds
    /// come last.
    pub(super) fn names(&self) -> Vec<(String, String)> {
        let about = |row: &DetectorRow| {
            let own = row.detector.split(':').next()?;
            let kind = KINDS.iter().find(|kind| kind.name == own)?;
            Some((row.detector.clone(), kind.about.to_owned()))
        };
        let saved = |row: &DetectorRow| {
            let mut copies = self.copies.iter().filter(|copy| copy.budget.is_none());
            copies.find(|copy| copy.detector == row.detector)?.earlier_share
        };
        let mut rows: Vec<&DetectorRow> = self.rows.iter().collect();
        sort(&mut rows, saved);
        rows.into_iter().filter_map(about).collect()
    }

    /// The F1 of a detector by each definition of a straggler after the first. The second value is
    /// true if, by all these definitions, no detector outside `bounds` is better.
    pub(crate) fn other_truths(&self, name: &str, bounds: &[&str]) -> Option<(Vec<f64>, bool)> {
        let own = self.rows.iter().find(|row| row.detector == name)?;
        let others: Option<Vec<f64>> = own.scores.iter().skip(1).map(|score| score.f1).collect();
        let others = others.filter(|scores| !scores.is_empty())?;
        let rivals = self.rows.iter().filter(|row| !bounds.contains(&row.detector.as_str()));
        let is_best = rivals
            .flat_map(|row| row.scores.iter().skip(1).zip(&others))
            .all(|(score, own)| score.f1.is_none_or(|f1| f1 <= *own));
        Some((others, is_best))
    }

    /// The sentence with the number of stragglers that the best detector would have found.
    pub(crate) fn sentence(&self) -> Option<String> {
        let (name, score) = self.best(&["oracle"])?;
        let judged = self.counts.map_or_else(String::new, |counts| {
            let (tasks, groups) = (counts.judged_tasks, counts.groups);
            format!(" among {} in {}", counted(tasks, "judged task"), counted(groups, "group"))
        });
        Some(format!(
            "Of {}{judged}, {name} would have found {}; {} of its flags on judged tasks were right: the best F1 of the detectors in this run",
            self.stragglers()?,
            percent(score.recall?),
            percent(score.precision?),
        ))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn detectors_are_explained_in_the_order_of_the_charts() {
        let row = |name: &str, f1: f64| json!({"detector": name, "scores": [{"f1": f1}]});
        let copies = |name: &str, saved: f64| json!({"detector": name, "earlier_share": saved});
        let answer: DetectAnswer = from_value(json!({
            "rows": [row("none", 0.0), row("oracle", 1.0), row("late", 0.2), row("spark", 0.1),
                row("flink", 0.1)],
            "copies": [copies("oracle", 0.5), copies("late", 0.01), copies("spark", 0.01),
                copies("flink", 0.03)]}))
        .unwrap();
        let names: Vec<String> = answer.names().into_iter().map(|name| name.0).collect();
        assert_eq!(names, ["flink", "late", "spark", "oracle", "none"]);
    }

    #[test]
    fn the_best_detector_is_reported() {
        let score = |f1: f64, recall: f64| {
            json!({"hits": 0, "false_alarms": 0, "missed": 0, "f1": f1, "recall": recall,
                "precision": 0.5})
        };
        let row = |name: &str, scores: [serde_json::Value; 2]| {
            json!({"detector": name, "settings": "", "flags": 0, "flags_unjudged": 0,
                "scores": scores})
        };
        let answer: DetectAnswer = from_value(json!({"stragglers": [397, 1], "rows": [
            row("oracle", [score(1.0, 1.0), score(1.0, 1.0)]),
            row("late", [score(0.4, 0.3), score(0.9, 0.9)]),
            row("tqst", [score(0.6, 0.75), score(0.1, 0.1)])]}))
        .unwrap();
        assert_eq!(
            answer.sentence().unwrap(),
            "Of 397 stragglers, tqst would have found 75.0 %; 50.0 % of its flags on judged tasks were right: the best F1 of the detectors in this run"
        );
    }
}
