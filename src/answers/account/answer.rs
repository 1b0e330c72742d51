//! A ledger as it is stored and read back, and its sentences.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::answers::sentences::{Ends, aside, most_of, noun_of, percent};
use crate::digits::{counted, grouped, six_digits};
use crate::results::envelope::there;
use crate::results::rows::TableRows;
use crate::results::shares::Terms;
use crate::studies::censoring::Censoring;
use crate::studies::ledger::{EndRow, ReasonAmount};
use crate::studies::meter::{Meter, Resource};
use crate::studies::outcomes::Classes;

/// The answer of `account`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AccountAnswer {
    /// The quantity that is added up and its definition; `"cpu": "measured"` in JSON.
    #[serde(flatten)]
    pub meter: Meter,
    /// How outcomes are defined.
    pub classes: Classes,
    /// Unit of every sum.
    pub unit: Cow<'static, str>,
    /// Per outcome (and group).
    pub rows: TableRows<AccountRow>,
    /// The amounts of all attempts by how they ended; with `outside_attempts` they add up to the
    /// total. `None` for memory, if the amounts are not known, and if the definition (`published`)
    /// has only jobs.
    pub ends: Option<Vec<EndRow>>,
    /// The amounts by outcome and reason, if a log records reasons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<ReasonAmount>,
    /// The amount used by jobs without a row in `job_events`. This field and the next two are
    /// `None` if no attempt records the amount.
    pub unmatched: Option<f64>,
    /// The amount in usage windows, or parts of them, that are outside all attempts.
    pub outside_attempts: Option<f64>,
    /// The total: all rows and the two amounts above.
    pub total: Option<f64>,
    /// Usage windows.
    pub windows: u64,
    /// Windows without a rate, counted as 0.
    pub windows_without_rate: u64,
    /// Windows that overlap an earlier one, counted like all others.
    pub windows_overlapping: u64,
    /// Attempts.
    pub attempts: u64,
    /// Attempts without a request (or a record of GPUs or of used memory), which count as 0 in the
    /// definitions that use it.
    pub attempts_without_request: u64,
    /// Attempts without an end event, closed at the end of their job.
    pub attempts_closed_with_job: u64,
    /// Attempts counted with the CPU time that the log records.
    pub attempts_with_cpu_time: u64,
    /// The jobs, tasks or attempts that cross the edges of the window.
    pub censoring: Censoring,
    /// The resource that is added up.
    pub resource: Resource,
    /// The CPU time of attempts closed at the end of their job: `None` for memory, `Some(None)` if
    /// the definition (`published`) has only jobs.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "there")]
    pub closed_with_job_cpu: Option<Option<f64>>,
    /// The same for memory time.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "there")]
    pub closed_with_job_memory: Option<Option<f64>>,
    /// The numerator and denominator of each share.
    #[serde(flatten)]
    pub terms: Terms,
    /// The reason if there is nothing to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nothing: Option<String>,
}

/// A line of a ledger.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct AccountRow {
    /// The outcome of the jobs.
    pub outcome: String,
    /// Jobs.
    pub jobs: Option<u64>,
    /// Jobs with tasks loaded.
    pub jobs_with_tasks: Option<u64>,
    /// The amount: CPU time or memory time, in the unit of the answer.
    #[serde(alias = "memory")]
    pub cpu: Option<f64>,
    /// Share of the total.
    pub share: Option<f64>,
    /// The share of this amount that the largest job used.
    pub largest_job_share: Option<f64>,
}

impl AccountAnswer {
    /// The rows of an outcome: one, or one per group.
    pub(crate) fn of_outcome(&self, outcome: &str) -> Vec<AccountRow> {
        self.rows.iter().filter(|row| row.outcome == outcome).collect()
    }

    /// The sum of a number over the rows of an outcome.
    pub(crate) fn sum_of(&self, outcome: &str, of: fn(&AccountRow) -> Option<f64>) -> f64 {
        self.of_outcome(outcome).iter().filter_map(of).sum()
    }

    /// Jobs that finished.
    pub(crate) fn finished(&self) -> u64 {
        self.of_outcome("finished").iter().filter_map(|row| row.jobs).sum()
    }

    /// The definition of CPU time; `None` for memory.
    fn cpu(&self) -> Option<String> {
        matches!(self.meter, Meter::Cpu(_)).then(|| self.meter.to_string())
    }

    /// The sentence about the part of the total that finished jobs used.
    pub(crate) fn sentence(&self, ends: Ends) -> Option<String> {
        let (unit, cpu, total) = (&self.unit, self.cpu()?, self.total?);
        if total <= 0.0 {
            return Some(format!("No {} is known ({cpu})", noun_of(&cpu)));
        }
        let amount = format!("{} {unit}, {cpu}{}", six_digits(total), self.told());
        let unmatched = self.unmatched.unwrap_or(0.0);
        let finished = self.sum_of("finished", |row| row.cpu) / total;
        let unknown = (unmatched + self.sum_of("unknown", |row| row.cpu)) / total;
        let rest = if unknown < UNKNOWN_SAID {
            String::new()
        } else {
            format!(", jobs of unknown outcome {}", percent(unknown))
        };
        let jobs = self.rows.iter().filter_map(|row| row.jobs_with_tasks).sum::<u64>();
        let jobs = if jobs == 0 { String::new() } else { format!(" of {}", counted(jobs, "job")) };
        // Each job is in one group, so the largest job of all is the largest of some group.
        let own = self.of_outcome("finished").into_iter();
        let largest = own.filter_map(|row| Some(row.largest_job_share? * row.cpu?));
        let largest = largest.fold(0.0, f64::max) / (finished * total).max(f64::MIN_POSITIVE);
        let used = self.meter.verb();
        let (who, sum) = match ends {
            Ends::Known => ("Jobs that finished", format!("what finished jobs {used}")),
            Ends::Assumed => (
                "Jobs that ran to an end that the log does not record",
                format!("what they {used}"),
            ),
        };
        let said = aside([Some(amount), most_of(Some(largest), &sum)]);
        let noun = noun_of(&cpu);
        Some(format!("{who} {used} {} of the {noun}{jobs}{said}{rest}", percent(finished)))
    }

    /// A clause with the share of attempts whose CPU time the log records. Empty if the log records
    /// it for none or for all attempts.
    #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 attempts")]
    fn told(&self) -> String {
        let (told, all) = (self.attempts_with_cpu_time, self.attempts);
        if told == 0 || all <= told {
            return String::new();
        }
        let share = percent(told as f64 / all as f64);
        format!(" as the log records it for {share} of the attempts")
    }

    /// The sentence about attempts that are closed at the end of their job, if there are any.
    pub(crate) fn closed(&self) -> Option<String> {
        let attempts = Some(self.attempts_closed_with_job).filter(|count| 0 < *count)?;
        let cpu = self.closed_with_job_cpu.flatten().map_or_else(String::new, |cpu| {
            let total = self.total.filter(|total| 0.0 < *total);
            let of_total = total.map_or_else(String::new, |total| {
                format!(", {} of the total", percent(cpu / total))
            });
            format!(
                " The CPU time of these attempts is {} {}{of_total}.",
                six_digits(cpu),
                self.unit
            )
        });
        let (have, job) = if attempts == 1 {
            ("has", "is closed at the end of its job")
        } else {
            ("have", "are closed at the end of their job")
        };
        Some(format!(
            "{} of {} {have} no end in the loaded parts and {job}.{cpu}",
            grouped(attempts),
            counted(self.attempts, "attempt"),
        ))
    }
}

/// The sentence leaves out a share of unknown outcomes below this.
const UNKNOWN_SAID: f64 = 0.0005;

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_value, json};

    use super::*;

    fn of(more: &Value, rows: &[Value]) -> AccountAnswer {
        let mut answer = json!({"cpu": "slots", "unit": "task-s", "total": 200.0, "rows": rows});
        for (key, value) in more.as_object().into_iter().flatten() {
            answer[key] = value.clone();
        }
        from_value(answer).unwrap()
    }

    fn said(more: &Value, rows: &[Value]) -> String {
        of(more, rows).sentence(Ends::Known).unwrap()
    }

    #[test]
    fn a_ledger_is_reported_by_what_finished_jobs_used() {
        let row = |outcome: &str, cpu: f64| json!({"outcome": outcome, "cpu": cpu});
        let whole = "Jobs that finished used 25.0 % of the CPU time (200 task-s, slots)";
        assert_eq!(said(&json!({}), &[row("finished", 50.0), row("failed", 150.0)]), whole);
        // With groups, the sentence is about their sum.
        let row = |group: &str, outcome: &str, cpu: f64| json!({"priority": group, "outcome": outcome, "cpu": cpu});
        let groups = [
            row("0", "finished", 10.0),
            row("0", "failed", 70.0),
            row("9", "finished", 40.0),
            row("9", "failed", 80.0),
        ];
        assert_eq!(said(&json!({}), &groups), whole);
        let rows = [
            json!({"outcome": "finished", "cpu": 50.0, "largest_job_share": 0.75, "jobs_with_tasks": 3}),
            json!({"outcome": "failed", "cpu": 150.0, "jobs_with_tasks": 4}),
        ];
        assert_eq!(
            said(&json!({}), &rows),
            "Jobs that finished used 25.0 % of the CPU time of 7 jobs (200 task-s, slots; one job makes up 75.0 % of what finished jobs used)"
        );
        assert_eq!(
            said(&json!({"unmatched": 50.0}), &[json!({"outcome": "finished", "cpu": 150.0})]),
            "Jobs that finished used 75.0 % of the CPU time (200 task-s, slots), jobs of unknown outcome 25.0 %"
        );
    }

    #[test]
    fn jobs_whose_end_no_log_tells_are_not_said_to_have_finished() {
        let answer = of(&json!({}), &[json!({"outcome": "finished", "jobs": 9, "cpu": 150.0})]);
        assert_eq!(answer.finished(), 9);
        assert_eq!(
            answer.sentence(Ends::Assumed).unwrap(),
            "Jobs that ran to an end that the log does not record used 75.0 % of the CPU time \
            (200 task-s, slots)"
        );
    }

    #[test]
    fn attempts_without_an_end_are_reported_with_their_part_of_the_total() {
        let more =
            json!({"attempts": 90, "attempts_closed_with_job": 7, "closed_with_job_cpu": 5.0});
        assert_eq!(
            of(&more, &[]).closed().unwrap(),
            "7 of 90 attempts have no end in the loaded parts and are closed at the end of their job. \
            The CPU time of these attempts is 5 task-s, 2.5 % of the total."
        );
        assert_eq!(of(&json!({"attempts": 90}), &[]).closed(), None);
    }

    #[test]
    fn memory_time_has_no_sentence_about_cpu_time() {
        let memory = json!({"memory": "requested", "total": 1.0, "rows": []});
        assert_eq!(from_value::<AccountAnswer>(memory).unwrap().sentence(Ends::Known), None);
    }
}
