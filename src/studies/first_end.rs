//! Whether a log holds only the jobs that ended from some instant on, as an export by time of end
//! does.
//!
//! In: the jobs of a log. Out: the instant of the first end, if too many jobs began long before it.
//! Jobs that had already ended are missing then, so that use, load, waits and shares before that
//! instant are too low.
//!
//! ```text
//!  exported   |·······----------|--          jobs with an end from here on
//!  missing    |--  ----   ---   |
//!             first start       first end
//! ```

use rayon::prelude::*;

use crate::digits::{counted, is_date, lasting, utc};
use crate::facts::FactError;
use crate::facts::bucket::Bucket;
use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::schema::Table;
use crate::units::micros_to_seconds;

/// The fewest jobs that began a median running time or more before the first end. In a log of all
/// jobs, each of them has about an even chance to end before: that none does is one in a thousand.
const EARLY_MIN: usize = 10;

/// The first end in a log that seems to be selected by time of end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstEnd {
    /// The instant, µs.
    pub at_us: i64,
    /// Jobs that began a median running time or more before it.
    pub early: u64,
    /// The median running time, µs.
    pub median_us: i64,
    /// Whether a job is open at the end of the log. If none is, those that still ran when it was
    /// written are missing as well.
    pub has_open: bool,
}

/// The start of a job, if any, and its end, µs.
type Life = (Option<i64>, i64);

/// What else a log lacks that was selected by time of end and has no open job.
pub(crate) const LACKS_OPEN: &str = "No job is open at its end: those that still ran then seem to be missing \
    too, so that use and load are too low towards the end as well";

impl FirstEnd {
    /// The first end of a lake; `None` if the jobs that ended earlier are not missed.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn of(lake: &Lake, windows: Windows) -> Result<Option<Self>, FactError> {
        if !lake.source().is_log() || !lake.has(Table::JobEvents) {
            return Ok(None);
        }
        let parts = (0..lake.bucket_count()).into_par_iter().map(|number| {
            let jobs = Bucket::of(lake, number, windows).jobs_without_names()?;
            let ended = jobs.jobs.iter().filter(|job| job.is_ended());
            let lives: Vec<Life> =
                ended.map(|job| (job.first_schedule_us, job.last_event_us)).collect();
            let has_open = lives.len() < jobs.jobs.len();
            Ok((lives, has_open))
        });
        let parts: Vec<(Vec<Life>, bool)> = parts.collect::<Result<_, FactError>>()?;
        let has_open = parts.iter().any(|part| part.1);
        let lives: Vec<Life> = parts.into_iter().flat_map(|part| part.0).collect();
        Ok(Self::of_lives(&lives).map(|first| Self { has_open, ..first }))
    }

    /// The same for the starts, if any, and the ends of jobs.
    fn of_lives(lives: &[Life]) -> Option<Self> {
        let at_us = lives.iter().map(|&(_, end_us)| end_us).min()?;
        let ran = || lives.iter().filter_map(|&(start_us, end_us)| Some((start_us?, end_us)));
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
        })
    }

    /// The instant in words.
    pub fn when(&self) -> String {
        let seconds = micros_to_seconds(self.at_us);
        match u64::try_from(self.at_us / 1_000_000) {
            Ok(since) if is_date(seconds) => utc(since),
            _ => format!("{} of the log", lasting(seconds)),
        }
    }

    /// The instant on the clock of the trace, s, and in words.
    pub fn instant(&self) -> (f64, String) {
        (micros_to_seconds(self.at_us), self.when())
    }

    /// What is missing, in a sentence without its full stop.
    pub fn said(&self) -> String {
        format!(
            "no job ended before {}, though {} began {} (the median running time) or more before \
            that: the log seems to hold only jobs that ended from then on, so that use, load and \
            waits before are too low{}",
            self.when(),
            counted(self.early, "job"),
            lasting(micros_to_seconds(self.median_us)),
            if self.has_open { String::new() } else { format!(". {LACKS_OPEN}") },
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Jobs that begin one after the other and run for the given times.
    fn lives(runs: &[i64]) -> Vec<(Option<i64>, i64)> {
        let begin = (0..).step_by(10);
        begin.zip(runs).map(|(start, run)| (Some(start), start + run)).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        /// Promise: what was cut off by time of end is found, and a whole log is not suspected.
        #[test]
        fn a_log_that_is_selected_by_end_is_found(
            runs in prop::collection::vec(prop_oneof![9 => 1_i64..20, 1 => 2_000_i64..4_000], 400..600),
        ) {
            let whole = lives(&runs);
            prop_assert_eq!(FirstEnd::of_lives(&whole), None);
            // Everything that ended in the first half is left out.
            let cut_us = 2_000;
            let kept: Vec<(Option<i64>, i64)> =
                whole.iter().copied().filter(|(_, end)| cut_us <= *end).collect();
            let long = kept.iter().filter(|(start, _)| start.unwrap() < cut_us - 20).count();
            let found = FirstEnd::of_lives(&kept);
            if EARLY_MIN <= long {
                let found = found.unwrap();
                // If several long jobs begin around the cut, the first end comes some time after it.
                prop_assert_eq!(Some(found.at_us), kept.iter().map(|one| one.1).min());
                prop_assert!(long as u64 <= found.early);
            }
        }
    }

    #[test]
    fn few_jobs_and_jobs_that_never_ran_show_nothing() {
        assert_eq!(FirstEnd::of_lives(&[]), None);
        assert_eq!(FirstEnd::of_lives(&[(None, 5)]), None);
        assert_eq!(FirstEnd::of_lives(&lives(&[1000; 9])), None);
        // Jobs of the same length: each begins at most that long before the first end.
        assert_eq!(FirstEnd::of_lives(&lives(&[1000; 300])), None);
    }

    #[test]
    fn the_instant_is_a_date_or_a_time_of_the_log() {
        let at = |at_us| FirstEnd { at_us, early: 12, median_us: 420_000_000, has_open: false };
        assert_eq!(at(3_600_000_000).when(), "60 min of the log");
        assert!(at(1_483_056_180_000_000).said().starts_with("no job ended before 2016-12-30"));
        assert!(at(0).said().ends_with("towards the end as well"));
        assert!(!FirstEnd { has_open: true, ..at(0) }.said().contains("No job is open"));
    }
}
