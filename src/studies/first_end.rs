//! Whether a log has only the jobs that ended at or after some instant. An export that selects jobs
//! by time of end makes such a log.
//!
//! In: the jobs of a log. Out: the instant of the first end, if too many jobs began long before it.
//! In that case, jobs that had ended earlier are missing, so use and load before the instant are
//! too low. Of the jobs submitted before it, the log has only those that waited or ran long. Waits
//! and running times that include these jobs are biased towards long ones.
//!
//! ```text
//!  exported   |·······----------|--          jobs with an end from here on
//!  missing    |--  ----   ---   |
//!             first start       first end
//! ```

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::digits::{counted, is_date, lasting, utc};
use crate::facts::FactError;
use crate::facts::bucket::Bucket;
use crate::facts::jobs::Job;
use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::schema::Table;
use crate::units::micros_to_seconds;

/// The fewest jobs that must have begun more than a median running time before the first end. In a
/// complete log, each such job has about an even chance to end before that instant. The chance that
/// none of ten does is one in a thousand.
const EARLY_MIN: usize = 10;

/// The first end in a log that seems to be selected by time of end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstEnd {
    /// The instant, µs.
    pub at_us: i64,
    /// Jobs that began more than a median running time before the instant.
    pub early: u64,
    /// The median running time, µs.
    pub median_us: i64,
    /// Whether a job is open at the end of the log. If not, jobs that still ran when the log was
    /// written are missing as well.
    pub has_open: bool,
    /// How the jobs submitted before the instant change means.
    pub means: Means,
}

/// Mean waits and running times of jobs that ran and ended, µs. Each pair is the mean over all
/// jobs, and the mean without the jobs submitted before the first end. `None` if there are no such
/// jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Means {
    /// Jobs that were submitted before the first end.
    pub submitted_before: u64,
    /// Mean wait.
    pub wait_us: Option<[i64; 2]>,
    /// Mean running time.
    pub run_us: Option<[i64; 2]>,
}

/// The smallest difference of two means that is reported, as a share of the larger.
const DIFFERENCE: f64 = 0.01;

impl Means {
    /// The means for a first end.
    fn of(jobs: &[Life], at_us: i64) -> Self {
        let is_before = |job: &&Life| job.submit_us.is_some_and(|submit_us| submit_us < at_us);
        let mean = |of: fn(&Life) -> Option<i64>| {
            let all: Vec<i64> = jobs.iter().filter_map(of).collect();
            let later = jobs.iter().filter(|job| !is_before(job));
            let later: Vec<i64> = later.filter_map(of).collect();
            mean_us(&all).zip(mean_us(&later)).map(<[i64; 2]>::from)
        };
        Self {
            submitted_before: jobs.iter().filter(is_before).count() as u64,
            wait_us: mean(|job| Some(job.start_us? - job.submit_us?)),
            run_us: mean(|job| Some(job.end_us - job.start_us?)),
        }
    }

    /// How the jobs submitted before the first end change means, as a sentence. `None` if no mean
    /// changes by more than 1 %.
    pub fn said(&self) -> Option<String> {
        let named = [("wait of jobs that started", self.wait_us), ("running time", self.run_us)];
        let differ = named.into_iter().filter_map(|(name, means)| {
            let [all, later] = means?.map(micros_to_seconds);
            let is_told = DIFFERENCE * all.max(later) < (all - later).abs();
            is_told.then(|| {
                format!("the mean {name} is {} instead of {}", lasting(later), lasting(all))
            })
        });
        let differ: Vec<String> = differ.collect();
        let without = counted(self.submitted_before, "job");
        (!differ.is_empty())
            .then(|| format!("Without the {without} submitted before, {}", differ.join(", and ")))
    }
}

fn mean_us(values: &[i64]) -> Option<i64> {
    let sum: i128 = values.iter().copied().map(i128::from).sum();
    let count = i128::try_from(values.len()).ok().filter(|&count| 0 < count)?;
    i64::try_from(sum / count).ok()
}

/// The first submission and the first start of a job, if known, and its end, µs.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_field_names, reason = "each has its unit")]
struct Life {
    submit_us: Option<i64>,
    start_us: Option<i64>,
    end_us: i64,
}

/// What else is missing in a log that was selected by time of end and has no open job.
pub(crate) const LACKS_OPEN: &str = "No job is open at its end: those that still ran then seem to be missing \
    too, so that use and load are too low towards the end as well";

/// The effect of missing jobs on numbers that include earlier time, as sentences without the last
/// full stop.
pub(crate) const LACKS_EARLY: &str = "Use and load of earlier time are too low. Of the jobs submitted before, \
    only those that waited or ran long are in the log: waits and running times that include them lean to \
    long ones, and shares of users to long jobs";

/// An instant of a log, µs, in words: its date if the log has dates.
pub(crate) fn instant_text(at_us: i64) -> String {
    let seconds = micros_to_seconds(at_us);
    match u64::try_from(at_us / 1_000_000) {
        Ok(since) if is_date(seconds) => utc(since),
        _ => format!("{} of the log", lasting(seconds)),
    }
}

impl FirstEnd {
    /// The first end of a lake; `None` if no jobs seem to be missing.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn of(lake: &Lake, windows: Windows) -> Result<Option<Self>, FactError> {
        // The Google traces have the jobs of a window of time, so no job is missing in this way.
        if lake.source().is_google() || !lake.has(Table::JobEvents) {
            return Ok(None);
        }
        let parts = (0..lake.bucket_count()).into_par_iter().map(|number| {
            let jobs = Bucket::of(lake, number, windows).jobs_without_names()?;
            let ended = jobs.jobs.iter().filter(|job| job.is_ended());
            let life = |job: &Job| Life {
                submit_us: job.first_submit_us,
                start_us: job.first_schedule_us,
                end_us: job.last_event_us,
            };
            let lives: Vec<Life> = ended.map(life).collect();
            let has_open = lives.len() < jobs.jobs.len();
            Ok((lives, has_open))
        });
        let parts: Vec<(Vec<Life>, bool)> = parts.collect::<Result<_, FactError>>()?;
        let has_open = parts.iter().any(|part| part.1);
        let lives: Vec<Life> = parts.into_iter().flat_map(|part| part.0).collect();
        Ok(Self::of_lives(&lives).map(|first| Self { has_open, ..first }))
    }

    /// The same, from the jobs that ended.
    fn of_lives(lives: &[Life]) -> Option<Self> {
        let at_us = lives.iter().map(|life| life.end_us).min()?;
        let ran = || lives.iter().filter_map(|life| Some((life.start_us?, life.end_us)));
        let mut lengths: Vec<i64> = ran().map(|(start_us, end_us)| end_us - start_us).collect();
        if lengths.is_empty() {
            return None;
        }
        let middle = lengths.len() / 2;
        let median_us = *lengths.select_nth_unstable(middle).1;
        let early = ran().filter(|(start_us, _)| *start_us < at_us - median_us).count();
        (EARLY_MIN <= early).then_some(Self {
            at_us,
            early: early as u64,
            median_us,
            has_open: false,
            means: Means::of(lives, at_us),
        })
    }

    /// The instant in words.
    pub fn when(&self) -> String {
        instant_text(self.at_us)
    }

    /// The instant on the clock of the trace, s, and in words.
    pub fn instant(&self) -> (f64, String) {
        (micros_to_seconds(self.at_us), self.when())
    }

    /// What is missing, in a sentence without its full stop.
    pub fn said(&self) -> String {
        format!(
            "no job ended before {}, though {} began {} (the median running time) or more before \
            that: the log seems to hold only jobs that ended from then on, so that use and load before \
            are too low, and waits and running times of jobs submitted before lean to long ones{}{}",
            self.when(),
            counted(self.early, "job"),
            lasting(micros_to_seconds(self.median_us)),
            self.means.said().map_or_else(String::new, |said| format!(". {said}")),
            if self.has_open { String::new() } else { format!(". {LACKS_OPEN}") },
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Jobs that start one after another and run for the given times.
    fn lives(runs: &[i64]) -> Vec<Life> {
        let life = |(start, run): (i64, &i64)| Life {
            submit_us: Some(start),
            start_us: Some(start),
            end_us: start + run,
        };
        (0..).step_by(10).zip(runs).map(life).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        /// Promise: a log that was cut by time of end is found, and a complete log is not reported.
        #[test]
        fn a_log_that_is_selected_by_end_is_found(
            runs in prop::collection::vec(prop_oneof![9 => 1_i64..20, 1 => 2_000_i64..4_000], 400..600),
        ) {
            let whole = lives(&runs);
            prop_assert_eq!(FirstEnd::of_lives(&whole), None);
            // All jobs that ended before the cut are left out.
            let cut_us = 2_000;
            let kept: Vec<Life> =
                whole.iter().copied().filter(|life| cut_us <= life.end_us).collect();
            let long = kept.iter().filter(|life| life.start_us.unwrap() < cut_us - 20).count();
            let found = FirstEnd::of_lives(&kept);
            if EARLY_MIN <= long {
                let found = found.unwrap();
                // If several long jobs begin around the cut, the first end is after the cut.
                prop_assert_eq!(Some(found.at_us), kept.iter().map(|one| one.end_us).min());
                prop_assert!(long as u64 <= found.early);
                // Jobs are cut off, so the mean of the remaining jobs is too long.
                let [all, later] = found.means.run_us.unwrap();
                prop_assert!(later <= all, "{} {}", later, all);
            }
        }
    }

    #[test]
    fn few_jobs_and_jobs_that_never_ran_show_nothing() {
        assert_eq!(FirstEnd::of_lives(&[]), None);
        let never = Life { submit_us: Some(0), start_us: None, end_us: 5 };
        assert_eq!(FirstEnd::of_lives(&[never]), None);
        assert_eq!(FirstEnd::of_lives(&lives(&[1000; 9])), None);
        // All jobs have the same length, so none begins more than that length before the first end.
        assert_eq!(FirstEnd::of_lives(&lives(&[1000; 300])), None);
    }

    #[test]
    fn the_instant_is_a_date_or_a_time_of_the_log() {
        let at = |at_us| FirstEnd {
            at_us,
            early: 12,
            median_us: 420_000_000,
            has_open: false,
            means: Means::default(),
        };
        assert_eq!(at(3_600_000_000).when(), "60 min of the log");
        assert!(at(1_483_056_180_000_000).said().starts_with("no job ended before 2016-12-30"));
        assert!(at(0).said().ends_with("towards the end as well"));
        assert!(!FirstEnd { has_open: true, ..at(0) }.said().contains("No job is open"));
    }

    #[test]
    fn what_early_jobs_do_to_means_is_reported() {
        let job = |submit_s: i64, start_s: i64, end_s: i64| Life {
            submit_us: Some(submit_s * 1_000_000),
            start_us: Some(start_s * 1_000_000),
            end_us: end_s * 1_000_000,
        };
        let jobs = [job(0, 60, 1_000), job(1_000, 1_000, 1_060), job(2_000, 2_000, 2_140)];
        let means = Means::of(&jobs, 1_000_000_000);
        assert_eq!((means.submitted_before, means.run_us), (1, Some([380_000_000, 100_000_000])));
        assert_eq!(
            means.said().unwrap(),
            "Without the 1 job submitted before, the mean wait of jobs that started is 0 s instead of 20 s, and the mean \
            running time is 100 s instead of 6.33 min"
        );
        assert_eq!(Means::of(&jobs[1..], 1_000_000_000).said(), None);
        assert_eq!(Means::of(&[], 0), Means::default());
    }
}
