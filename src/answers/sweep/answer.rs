//! The results of a sweep, as they are stored and read back, and their sentence.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::answers::condition::{condition, name_of};
use crate::answers::sentences::{aside, most_of, percent};
use crate::digits::{counted, grouped, grouped_signed};
use crate::results::shares::Terms;
use crate::studies::censoring::Censoring;
use crate::studies::kill_sweep::{ByOutcome, PlanePoint, Sweep, SweepRow};
use crate::studies::outcomes::Classes;
use crate::studies::rules::RuleGrid;
use crate::studies::selection::Selection;

/// The answer of `sweep`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SweepAnswer {
    /// The definition of CPU time, or of another resource, that is added up.
    pub cpu: String,
    /// How outcomes are defined.
    pub classes: Classes,
    /// Unit of every sum.
    pub unit: Cow<'static, str>,
    /// The jobs, tasks or attempts that cross the edges of the window.
    pub censoring: Censoring,
    /// Finished jobs with tasks loaded.
    pub finished_jobs_with_tasks: Option<u64>,
    /// Restarts: attempts after the first of their task.
    pub restarts: u64,
    /// Restarts after an attempt that was evicted.
    pub restarts_after_eviction: u64,
    /// Attempts closed at the end of their job.
    pub attempts_closed_with_job: u64,
    /// CPU of attempts closed at the end of their job.
    pub closed_with_job_cpu: Option<f64>,
    /// All CPU by outcome.
    pub total_cpu: ByOutcome<f64>,
    /// The first rule.
    pub rule: String,
    /// The rows of the first rule.
    pub rows: Vec<SweepRow>,
    /// The other rules, with their rows.
    pub rules: Vec<Sweep>,
    /// All rules in one plane.
    pub plane: Vec<PlanePoint>,
    /// The numerator and denominator of each share.
    #[serde(flatten)]
    pub terms: Terms,
    /// The sweeps by rule and group, if the sweep is split.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<Sweep>>,
    /// The rule and threshold that were chosen on earlier jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selection: Option<Selection>,
    /// The reason if there is nothing to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nothing: Option<String>,
}

/// The settings that pages need.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct SweepSettings {
    /// The price of a harmed job, CPU-seconds.
    pub price: f64,
}

impl SweepAnswer {
    /// Every rule with its rows.
    pub(crate) fn sweeps(&self) -> impl Iterator<Item = (&str, &[SweepRow])> {
        let others = self.rules.iter().map(|sweep| (sweep.rule.as_str(), sweep.rows.as_slice()));
        std::iter::once((self.rule.as_str(), self.rows.as_slice())).chain(others)
    }

    /// The name of what is saved, in words: CPU, or requested CPU.
    pub(crate) fn cpu_words(&self) -> &'static str {
        if self.cpu == "requested" { "requested CPU" } else { "CPU" }
    }

    /// The meanings of the rules that save or harm anything, and of the words in the charts.
    pub(super) fn names(&self) -> Vec<(String, String)> {
        const WORDS: [(&str, &str); 4] = [
            ("T", "the parameter of a rule"),
            ("harmed job", "a job that finished, of which the rule would have killed a task"),
            (
                "net CPU saved",
                "CPU after the kill in jobs that did not finish or still ran, minus the CPU that killed tasks of \
                finished jobs had spent",
            ),
            ("Pareto front", "settings for which no other one saves more and harms as few jobs"),
        ];
        let acts = |rows: &[SweepRow]| rows.iter().any(SweepRow::has_effect);
        let none_acts = self.sweeps().all(|(_, rows)| !acts(rows));
        let told = self.sweeps().filter(|(_, rows)| none_acts || acts(rows));
        let rules = told.filter_map(|(name, _)| {
            let known: RuleGrid = name.parse().ok()?;
            let shown = match name_of(name) {
                own if own == name => name.to_owned(),
                own => format!("{own} ({name})"),
            };
            Some((shown, known.rule.about().to_owned()))
        });
        let words = WORDS.iter().map(|(name, said)| ((*name).to_owned(), (*said).to_owned()));
        rules.chain(words).collect()
    }

    /// The sentence with the CPU that the first threshold of the first rule would have saved, and
    /// the jobs that it would have harmed.
    pub(crate) fn sentence(&self) -> Option<String> {
        let row = self.rows.first()?;
        let interval = row.interval.clone().unwrap_or_default();
        let saved = row.saved_share.get("failed").map_or_else(String::new, |share| {
            let said = aside([
                bounds(interval.saved_share_of("failed"), percent),
                most_of(row.largest_saved_share.get("failed"), "it"),
            ]);
            let cpu = self.cpu_words();
            format!(" would have saved {} of the {cpu} of failed jobs{said} and", percent(share))
        });
        #[expect(clippy::cast_possible_truncation, reason = "a count of jobs, shown whole")]
        let jobs = bounds(interval.harmed_jobs, |jobs| grouped_signed(jobs.round() as i64));
        let harmed = match self.finished_jobs_with_tasks {
            Some(all) => {
                format!(
                    "{} of {} with tasks",
                    grouped(row.harmed_jobs?),
                    counted(all, "finished job")
                )
            }
            None => counted(row.harmed_jobs?, "finished job"),
        };
        Some(format!(
            "Killing tasks {}{saved} would have harmed {harmed}{}",
            condition(&self.rule, row.threshold),
            aside([jobs, concentration(row)]),
        ))
    }
}

/// The jobs that a saved share refers to, in words. Jobs that were still running at the end are
/// included.
pub(crate) fn lost_jobs(total_cpu: &ByOutcome<f64>) -> &'static str {
    match total_cpu.get("running") {
        Some(open) if 0.0 < open => "jobs that did not finish or still ran",
        _ => "jobs that did not finish",
    }
}

/// An interval in words, such as `95 % interval 5.2 % to 38.4 %`; `None` if jobs were not
/// resampled.
fn bounds(bounds: Option<(f64, f64)>, text: impl Fn(f64) -> String) -> Option<String> {
    let (low, high) = bounds?;
    Some(format!("95 % interval {} to {}", text(low), text(high)))
}

/// A clause if one job has most of the work that a kill would have destroyed.
fn concentration(row: &SweepRow) -> Option<String> {
    let largest = row.harmed.first().map(|job| job.destroyed_cpu);
    let shares = largest.zip(row.destroyed_cpu.filter(|cpu| 0.0 < *cpu));
    let share = row.largest_destroyed_share.or_else(|| shares.map(|(largest, all)| largest / all));
    most_of(share, "the work destroyed")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_value, json};

    use super::*;

    fn said(answer: Value) -> String {
        from_value::<SweepAnswer>(answer).unwrap().sentence().unwrap()
    }

    #[test]
    fn the_first_rule_is_reported() {
        let row = json!({"threshold": 10, "saved_share": {"failed": 0.89}, "harmed_jobs": 1});
        assert_eq!(
            said(json!({"rule": "events", "rows": [row]})),
            "Killing tasks after 10 events would have saved 89.0 % of the CPU of failed jobs and would have harmed 1 finished job"
        );
    }

    #[test]
    fn a_figure_of_one_job_says_so_with_its_interval() {
        let of = |largest: f64| {
            json!({"rule": "events", "rows": [{"threshold": 10, "harmed_jobs": 8,
                "saved_share": {"failed": 0.349}, "destroyed_cpu": 100.0,
                "interval": {"saved_share_failed_low": 0.052, "saved_share_failed_high": 0.384,
                    "harmed_jobs_low": 4.0, "harmed_jobs_high": 14.0},
                "largest_destroyed_share": largest}]})
        };
        let whole = "Killing tasks after 10 events would have saved 34.9 % of the CPU of failed jobs (95 % interval 5.2 % to 38.4 %) and would have harmed 8 finished jobs (95 % interval 4 to 14)";
        assert_eq!(said(of(0.2)), whole);
        assert_eq!(
            said(of(0.977)),
            format!(
                "{}; one job makes up 97.7 % of the work destroyed)",
                &whole[..whole.len() - 1]
            )
        );
        let mut older = of(0.2);
        older["rows"][0]["largest_destroyed_share"] = Value::Null;
        let job = json!({"job_id": 1, "user": null, "job_name": null, "condemned_tasks": 1,
            "destroyed_cpu": 97.7});
        older["rows"][0]["harmed"] = json!([job]);
        assert!(said(older).ends_with("; one job makes up 97.7 % of the work destroyed)"));
        let mut whole = of(0.2);
        whole["finished_jobs_with_tasks"] = json!(12_231);
        whole["rows"][0]["largest_saved_share"] = json!({"failed": 0.9});
        assert_eq!(
            said(whole),
            "Killing tasks after 10 events would have saved 34.9 % of the CPU of failed jobs (95 % interval 5.2 % to 38.4 %; one job makes up 90.0 % of it) and would have harmed 8 of 12,231 finished jobs with tasks (95 % interval 4 to 14)"
        );
    }
}
