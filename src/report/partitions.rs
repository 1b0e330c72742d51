//! How long the jobs of a partition waited, and how much of their time limits they used, for its
//! page.
//!
//! In: the stored months of a log, whose queues are its partitions. Out: pairs and a table as HTML.

use super::html::{self, Cell};
use super::text::{lasting, percent_said};
use crate::answers::load::OfSize;
use crate::answers::monthly::{self, MonthlyAnswer, OfQueue};
use crate::digits::{counted, grouped, three_digits};
use crate::results::Stored;

/// Processor time of attempts with a limit, as a share of the time that their limits allow.
const USED_OF_LIMITS: &str = "share of the time limits that was used";

/// Facts about a partition from the months of a log.
#[derive(Default)]
pub(super) struct Partition {
    unit: String,
    sizes: Vec<OfSize>,
    limits: Option<OfQueue>,
}

impl Partition {
    /// The partition with this name; empty if the months were not computed.
    pub(super) fn of(name: &str, results: &[Stored]) -> Self {
        let mut months = results.iter().filter(|result| result.name == monthly::KIND.name);
        let Some(answer) = months.next().and_then(Stored::found::<MonthlyAnswer>) else {
            return Self::default();
        };
        Self {
            unit: answer.unit.trim_end_matches("-s").to_owned(),
            sizes: answer.waits.iter().filter(|row| row.queue == name).collect(),
            limits: answer.limits.iter().find(|row| row.queue == name),
        }
    }

    /// The number of jobs, and how much of their time limits they used.
    pub(super) fn facts(&self) -> Vec<(&'static str, String)> {
        if self.sizes.is_empty() {
            return Vec::new();
        }
        let jobs: u64 = self.sizes.iter().map(|row| row.jobs).sum();
        let mut facts = vec![("jobs", grouped(jobs))];
        let Some(limits) = &self.limits else { return facts };
        let times = [limits.limit_s_median, limits.run_s_median].map(|time| time.map(lasting));
        let known = ["median time limit", "median running time"].into_iter().zip(times);
        facts.extend(known.filter_map(|(name, time)| Some((name, time?))));
        facts.extend(limits.used_share.map(|share| (USED_OF_LIMITS, percent_said(share))));
        if 0 < limits.reached && 0.0 < limits.used_cpu_h {
            let share = limits.reached_cpu_h / limits.used_cpu_h;
            let used = format!(
                "{} of {}, with {} {}-h ({} of the CPU time)",
                grouped(limits.reached),
                counted(limits.attempts, "attempt"),
                three_digits(limits.reached_cpu_h),
                self.unit,
                percent_said(share)
            );
            facts.push(("reached their time limit", used));
        }
        facts
    }

    /// `54.8 % of it is of 4 attempts that reached their time limit`; `None` if none did.
    pub(super) fn at_limit(&self) -> Option<String> {
        let limits = self.limits.as_ref()?;
        (0 < limits.reached && 0.0 < limits.used_cpu_h).then(|| {
            let attempts = counted(limits.reached, "attempt");
            let share = percent_said(limits.reached_cpu_h / limits.used_cpu_h);
            format!("{share} of it is of {attempts} that reached their time limit")
        })
    }

    /// The jobs by size; empty if they are unknown.
    pub(super) fn table(&self) -> String {
        if self.sizes.is_empty() {
            return String::new();
        }
        let header = [
            "processors",
            "jobs",
            "median wait",
            "95 % wait at most",
            "median running time",
            "median bounded slowdown",
        ];
        let row = |row: &OfSize| {
            vec![
                Cell::name(&row.size),
                Cell::of(&row.jobs.to_string()),
                Cell::lasting(row.wait_s_median),
                Cell::lasting(row.wait_s_p95),
                Cell::lasting(row.run_s_median),
                Cell::rounded(row.slowdown_median.unwrap_or(f64::NAN)),
            ]
        };
        let rows: Vec<Vec<Cell>> = self.sizes.iter().map(row).collect();
        html::named_table("Its jobs by size", &header.map(str::to_owned), str::to_owned, &rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_has_its_jobs_and_its_limits() {
        let sizes = [("5-16", 40), ("17-64", 5)].map(|(size, jobs)| OfSize {
            size: size.to_owned(),
            jobs,
            wait_s_median: Some(90.0),
            ..OfSize::default()
        });
        let limits = OfQueue {
            attempts: 45,
            limit_s_median: Some(7200.0),
            used_cpu_h: 200.0,
            used_share: Some(0.25),
            reached: 4,
            reached_cpu_h: 110.0,
            ..OfQueue::default()
        };
        let own =
            Partition { unit: "processor".to_owned(), sizes: sizes.into(), limits: Some(limits) };
        let facts = [
            ("jobs", "45"),
            ("median time limit", "2 h"),
            (USED_OF_LIMITS, "25.0 %"),
            (
                "reached their time limit",
                "4 of 45 attempts, with 110 processor-h (55.0 % of the CPU time)",
            ),
        ];
        assert_eq!(own.facts(), facts.map(|(name, said)| (name, said.to_owned())));
        let lead = "55.0 % of it is of 4 attempts that reached their time limit";
        assert_eq!(own.at_limit().as_deref(), Some(lead));
        assert!(own.table().contains(">90 s<"), "{}", own.table());
        assert_eq!(
            (Partition::default().facts(), Partition::default().table()),
            Default::default()
        );
    }
}
