//! Arrivals of jobs: by hour and day of the week, and in bursts.
//!
//! In: the times of submissions. Out: jobs per hour of the week, the index of dispersion (variance
//! over mean of the counts per window; 1 for a Poisson process) and the autocorrelation of counts.
//! For a log with dates, hours are those of its zone, including daylight saving. A change within an
//! hour counts from the next hour on. Jobs submitted before the window have no known time. They are
//! counted, but otherwise left out.

use serde::{Deserialize, Serialize};

use crate::digits::lasting;
use crate::facts::window::{BEGIN_2011_US, Windows};
use crate::lake::Lake;
use crate::schema::Source;
use crate::sources::zone::Zone;
use crate::studies::calendar::{Calendar, TWENTY_YEARS_US};
use crate::units::{MICROS_PER_DAY, MICROS_PER_SECOND, micros_to_seconds};

/// Submissions of jobs.
#[derive(Clone, Debug, Default)]
pub struct Arrivals {
    times_us: Vec<i64>,
    /// Jobs submitted before the window; left out.
    pub before: u64,
}

/// Names of the days of the week.
pub const DAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Lengths of the windows in which jobs are counted, s.
const WINDOWS_S: [i64; 6] = [10, 60, 300, 3600, 21_600, 86_400];

/// The fewest windows for which a variance is computed.
const WINDOWS_MIN: usize = 8;

/// The most windows that are counted. A span with more windows has no row for that length.
const WINDOWS_MAX: i64 = 1 << 22;

/// Longest span with an autocorrelation, hours (thirty years), because each lag costs a pass.
const HOURS_MAX: i64 = 1 << 18;

/// Longest lag of the autocorrelation, hours: two weeks.
const LAG_HOURS_MAX: usize = 336;

/// The position of time 0 of the trace clock within the week.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clock {
    /// From Sunday 0:00 of local time to time 0, µs.
    pub since_sunday_us: i64,
    /// Which time of day the clock shows.
    pub tells: TimeOfDay,
    /// If set, the time of day is that in the zone of this calendar, including daylight saving.
    pub calendar: Option<Calendar>,
}

/// Which time of day a clock shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeOfDay {
    /// Local time at the cluster.
    Local,
    /// Coordinated universal time: the clock counts from 1970.
    Utc,
    /// No time of day: days and hours count from the first submission.
    FromStart,
}

impl Clock {
    /// The clock of a lake. For the Google traces it is published: 600 s after time 0 it is 19:00
    /// on Sunday, 1 May 2011, in New York, or 0:00 on Wednesday, 1 May 2019, in Los Angeles,
    /// without changes of daylight saving. For a log with dates it is that of its zone. For other
    /// logs it is read from `StartTime` in the header.
    pub fn of(lake: &Lake) -> Self {
        let calendar = Calendar::of(lake, None).filter(|calendar| calendar.is_told);
        if let Some(calendar) = calendar {
            let is_utc = calendar.zone == Zone::utc();
            let tells = if is_utc { TimeOfDay::Utc } else { TimeOfDay::Local };
            return Self { since_sunday_us: 0, tells, calendar: Some(calendar) };
        }
        let hours = |hours: i64| hours * 3600 * MICROS_PER_SECOND;
        let begin_us = 600 * MICROS_PER_SECOND;
        let known = match lake.source() {
            Source::Google2011 => Some(hours(19) - begin_us),
            Source::Google2019 | Source::Google2019AllocSets => Some(hours(3 * 24) - begin_us),
            _ => lake.header("StartTime").find_map(of_text),
        };
        let tells = if known.is_some() { TimeOfDay::Local } else { TimeOfDay::FromStart };
        Self::new(known.unwrap_or(0), tells)
    }

    /// A clock without a zone.
    const fn new(since_sunday_us: i64, tells: TimeOfDay) -> Self {
        Self { since_sunday_us, tells, calendar: None }
    }

    /// Adapts a clock without a known time of day to the time of the first submission.
    fn from(self, first_us: i64) -> Self {
        match self.tells {
            TimeOfDay::FromStart if TWENTY_YEARS_US <= first_us => {
                Self::new(SINCE_SUNDAY_1970_US, TimeOfDay::Utc)
            }
            TimeOfDay::FromStart => {
                Self::new(-first_us.rem_euclid(7 * MICROS_PER_DAY), TimeOfDay::FromStart)
            }
            _ => self,
        }
    }

    /// The clock for a span of this length. In a span of more than a thousand years the zone is
    /// ignored, and hours are in UTC.
    fn within(self, length_us: i64) -> Self {
        let begin_us = self.calendar.as_ref().map(|calendar| calendar.begin_us);
        match begin_us.filter(|_| ZONED_MAX_US < length_us) {
            Some(begin_us) => {
                let since_us = begin_us.rem_euclid(WEEK_US) + SINCE_SUNDAY_1970_US;
                Self::new(since_us, TimeOfDay::Utc)
            }
            None => self,
        }
    }

    /// The hour of the week of an instant, from Sunday 0:00.
    fn hour_of_week(&self, time_us: i64) -> usize {
        let hour = self.since_sunday(time_us) / (3600 * MICROS_PER_SECOND);
        usize::try_from(hour % 168).expect("below 168")
    }

    /// The time from a Sunday 0:00, at most two weeks earlier, to an instant, µs. It cannot
    /// overflow, even for times near the limits of integers.
    fn since_sunday(&self, time_us: i64) -> i64 {
        let (time_us, since_us) = match &self.calendar {
            Some(calendar) => (calendar.local_us(time_us), SINCE_SUNDAY_1970_US),
            None => (time_us, self.since_sunday_us),
        };
        time_us.rem_euclid(WEEK_US) + since_us.rem_euclid(WEEK_US)
    }

    /// Whether the changes of daylight saving in the week after this instant add up to zero.
    fn is_steady(&self, time_us: i64) -> bool {
        self.calendar.as_ref().is_none_or(|calendar| {
            let next_us = time_us.saturating_add(WEEK_US);
            calendar.local_us(next_us).saturating_sub(calendar.local_us(time_us)) == WEEK_US
        })
    }
}

const WEEK_US: i64 = 7 * MICROS_PER_DAY;

/// The longest span with hours in a zone.
const ZONED_MAX_US: i64 = 365_250 * MICROS_PER_DAY;

/// The time from Sunday 0:00 to 1 January 1970, a Thursday.
const SINCE_SUNDAY_1970_US: i64 = 4 * MICROS_PER_DAY;

/// Reads a text such as `Fri Oct 01 00:00:03 PDT 1993` as µs since Sunday.
fn of_text(text: &str) -> Option<i64> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let day = words.first().filter(|day| 3 <= day.len())?.get(..3)?;
    let day = DAYS.iter().position(|name| name.starts_with(day))?;
    let clock = words.iter().find(|word| word.contains(':'))?;
    let parts: Vec<i64> = clock.split(':').filter_map(|part| part.parse().ok()).collect();
    let [hours, minutes, seconds] = parts[..] else { return None };
    let day = i64::try_from(day).ok()?;
    Some(((day * 24 + hours) * 3600 + minutes * 60 + seconds) * MICROS_PER_SECOND)
}

/// Jobs that were submitted in one hour of the week.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HourRow {
    /// The name of the day; `day 1` and so on if it is unknown.
    pub day: String,
    /// The hour of the day, 0 to 23.
    pub hour: usize,
    /// Jobs.
    pub jobs: u64,
    /// The number of times that this hour of the week occurs in the trace.
    pub hours: f64,
    /// Jobs per hour.
    pub jobs_per_hour: Option<f64>,
}

/// The spread of the counts per window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dispersion {
    /// Length of a window, s.
    pub window_s: i64,
    /// Whole windows.
    pub windows: usize,
    /// Mean number of jobs per window.
    pub mean: f64,
    /// The variance.
    pub variance: f64,
    /// The variance over the mean; 1 for a Poisson process.
    pub dispersion: Option<f64>,
    /// The same without the day with most jobs; days are counted from the start. `None` if too few
    /// windows are left.
    #[serde(default)]
    pub without_busiest_day: Option<f64>,
    /// Correlation of the counts of neighbouring windows.
    pub autocorrelation: Option<f64>,
}

/// When jobs arrive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ArrivalStudy {
    /// Jobs.
    pub jobs: u64,
    /// Jobs submitted before the window; left out.
    pub left_censored_out: u64,
    /// The time of day to which the hours refer.
    pub time_of_day: TimeOfDay,
    /// The zone of the hours, if they follow its daylight saving.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// The time from the last submission to the end of the log, s.
    #[serde(default)]
    pub without_s: f64,
    /// Standard deviation over mean of the times between submissions; 1 for a Poisson process.
    pub interarrival_variation: Option<f64>,
    /// By hour of the week.
    pub hours: Vec<HourRow>,
    /// By window length.
    pub dispersion: Vec<Dispersion>,
    /// Autocorrelation of the hourly counts, by lag in hours from 0.
    pub hourly_autocorrelation: Vec<f64>,
}

/// The smallest share of a log, at its end and without submissions, that is reported.
const QUIET_MIN: f64 = 0.05;

impl ArrivalStudy {
    /// A sentence about the time from the last submission to the end of a log of this length,
    /// without a full stop. `None` if that time is short.
    pub fn quiet_end(&self, length_s: f64) -> Option<String> {
        (QUIET_MIN * length_s < self.without_s).then(|| {
            format!(
                "the last job was submitted {} before the end of the log",
                lasting(self.without_s)
            )
        })
    }
}

impl Arrivals {
    pub(super) fn add(&mut self, time_us: i64, is_before: bool) {
        if is_before {
            self.before += 1;
        } else if time_us < i64::MAX {
            self.times_us.push(time_us);
        }
    }

    /// Leaves out submissions before an instant, if the log does not have all earlier jobs.
    pub fn leave_out_before(&mut self, at_us: i64) {
        self.times_us.retain(|time_us| at_us <= *time_us);
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.times_us.extend(other.times_us);
        self.before += other.before;
    }

    /// Describes the submissions of a lake.
    pub fn study(&self, clock: Clock, windows: Windows) -> ArrivalStudy {
        let mut times = self.times_us.clone();
        times.sort_unstable();
        let first = times.first().copied().unwrap_or(0);
        let last = times.last().copied().unwrap_or(0);
        let end_us = windows.job_end_us.max(last);
        // The span of a trace with a window is the window, which starts 600 s after time 0. The
        // span of a log is from its first submission to the end of the hour of the last one,
        // because the log may have no jobs that were submitted later.
        let has_window = 0 < windows.first_us;
        let from_us = if has_window { BEGIN_2011_US.min(first) } else { first };
        let clock = clock.from(from_us);
        let hour_us = 3600 * MICROS_PER_SECOND;
        let hour_ends_us = last.saturating_add(hour_us - clock.since_sunday(last) % hour_us);
        let to_us = if has_window { end_us } else { hour_ends_us.min(end_us) };
        let clock = clock.within(to_us.saturating_sub(from_us));
        let is_short = (to_us - from_us) / (3600 * MICROS_PER_SECOND) <= HOURS_MAX;
        let hourly = counts(&times, [from_us, to_us], 3600).filter(|_| is_short);
        let hourly = hourly.unwrap_or_default();
        let lags = LAG_HOURS_MAX.min(hourly.len() / 2);
        ArrivalStudy {
            jobs: times.len() as u64,
            left_censored_out: self.before,
            time_of_day: clock.tells,
            zone: clock.calendar.as_ref().map(|calendar| calendar.zone.to_string()),
            without_s: if times.is_empty() { 0.0 } else { micros_to_seconds(end_us - last) },
            interarrival_variation: interarrival_variation(&times),
            hours: hours_of_week(&times, &clock, [from_us, to_us]),
            dispersion: WINDOWS_S
                .into_iter()
                .filter_map(|window_s| {
                    let counts = counts(&times, [from_us, to_us], window_s)?;
                    (WINDOWS_MIN <= counts.len()).then(|| dispersion(window_s, &counts))
                })
                .collect(),
            hourly_autocorrelation: (0..=lags)
                .filter_map(|lag| autocorrelation(&hourly, lag))
                .collect(),
        }
    }
}

/// Counts per whole window from the start of a span; `None` if there would be too many windows.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 2^22")]
fn counts(times: &[i64], [from_us, to_us]: [i64; 2], window_s: i64) -> Option<Vec<u32>> {
    let length_us = window_s * MICROS_PER_SECOND;
    let whole = (to_us - from_us) / length_us;
    if WINDOWS_MAX < whole {
        return None;
    }
    let mut counts = vec![0_u32; whole.max(0) as usize];
    for time in times {
        if let Some(count) = counts.get_mut(((time - from_us) / length_us) as usize) {
            *count += 1;
        }
    }
    Some(counts)
}

#[expect(clippy::cast_precision_loss, reason = "at most 2^22 windows")]
fn moments(counts: &[u32]) -> (f64, f64) {
    let length = counts.len() as f64;
    let mean = counts.iter().map(|&count| f64::from(count)).sum::<f64>() / length;
    let squares = counts.iter().map(|&count| (f64::from(count) - mean).powi(2)).sum::<f64>();
    (mean, squares / length)
}

fn dispersion(window_s: i64, counts: &[u32]) -> Dispersion {
    let (mean, variance) = moments(counts);
    Dispersion {
        window_s,
        windows: counts.len(),
        mean,
        variance,
        dispersion: (0.0 < mean).then(|| variance / mean),
        without_busiest_day: without_busiest_day(window_s, counts),
        autocorrelation: autocorrelation(counts, 1),
    }
}

/// The variance over the mean of counts, without the counts of the day with most jobs.
fn without_busiest_day(window_s: i64, counts: &[u32]) -> Option<f64> {
    let each = usize::try_from(86_400 / window_s).ok().filter(|each| 0 < *each)?;
    let sum = |day: &[u32]| day.iter().map(|&count| u64::from(count)).sum::<u64>();
    let (busiest, _) = counts.chunks(each).map(sum).enumerate().max_by_key(|day| day.1)?;
    let days = counts.chunks(each).enumerate().filter(|(day, _)| *day != busiest);
    let rest: Vec<u32> = days.flat_map(|(_, day)| day).copied().collect();
    let (mean, variance) = moments(&rest);
    (WINDOWS_MIN - 1 <= rest.len() && 0.0 < mean).then(|| variance / mean)
}

/// The autocorrelation of counts at a lag, relative to the variance of all counts. `None` if all
/// counts are the same.
#[expect(clippy::cast_precision_loss, reason = "at most 2^22 windows")]
fn autocorrelation(counts: &[u32], lag: usize) -> Option<f64> {
    let (mean, variance) = moments(counts);
    let pairs = counts.iter().zip(counts.get(lag..)?);
    let products = pairs.map(|(&one, &other)| (f64::from(one) - mean) * (f64::from(other) - mean));
    (0.0 < variance).then(|| products.sum::<f64>() / counts.len() as f64 / variance)
}

#[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
fn interarrival_variation(times: &[i64]) -> Option<f64> {
    let gaps: Vec<f64> = times.windows(2).map(|two| micros_to_seconds(two[1] - two[0])).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let squares = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>();
    (1 < gaps.len() && 0.0 < mean).then(|| (squares / gaps.len() as f64).sqrt() / mean)
}

#[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
fn hours_of_week(times: &[i64], clock: &Clock, [from_us, to_us]: [i64; 2]) -> Vec<HourRow> {
    let hour_us = 3600 * MICROS_PER_SECOND;
    let (mut jobs, mut lengths) = ([0_u64; 168], [0_i64; 168]);
    for &time in times {
        jobs[clock.hour_of_week(time)] += 1;
    }
    let mut at = from_us;
    while at < to_us {
        // Whole weeks are added in one step, because a log may cover years. Without a zone, all
        // weeks are the same.
        let whole = (to_us - at) / WEEK_US;
        let weeks = if clock.calendar.is_some() { whole.min(1) } else { whole };
        if 0 < weeks && clock.is_steady(at) {
            for length in &mut lengths {
                *length += weeks * hour_us;
            }
            at += weeks * WEEK_US;
            continue;
        }
        let within = clock.since_sunday(at) % hour_us;
        let next = at.saturating_add(hour_us - within).min(to_us);
        lengths[clock.hour_of_week(at)] += next - at;
        at = next;
    }
    let row = |idx: usize| {
        let hours = micros_to_seconds(lengths[idx]) / 3600.0;
        let day = idx / 24;
        HourRow {
            day: match clock.tells {
                TimeOfDay::FromStart => format!("day {}", day + 1),
                TimeOfDay::Local | TimeOfDay::Utc => DAYS[day].to_owned(),
            },
            hour: idx % 24,
            jobs: jobs[idx],
            hours,
            jobs_per_hour: (0.0 < hours).then(|| jobs[idx] as f64 / hours),
        }
    };
    (0..168).map(row).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::window::OpenAttempts;

    #[test]
    fn the_busiest_day_can_be_left_out_of_the_dispersion() {
        // Days of two windows; the third day has 40 + 2. Without it: mean 2, variance 2/3.
        let counts = [1, 2, 3, 2, 40, 2, 1, 3, 2, 1, 3];
        let found = without_busiest_day(43_200, &counts).unwrap();
        assert!((found - 2.0 / 3.0 / 2.0).abs() < 1e-12, "{found}");
        assert_eq!(without_busiest_day(43_200, &counts[..8]), None, "six windows are left");
    }

    /// One time far from all others does not cost much time or memory.
    #[test]
    fn a_span_of_thousands_of_years_is_studied_at_once() {
        for end_us in [i64::MAX / 2, i64::MAX - 1, i64::MAX] {
            let (first_us, open_attempts) = (0, OpenAttempts::default());
            let windows =
                Windows { job_end_us: end_us, task_end_us: end_us, first_us, open_attempts };
            let mut arrivals = Arrivals::default();
            for time in [1, 2, end_us.min(i64::MAX - 1)] {
                arrivals.add(time, false);
            }
            let calendar = Calendar {
                zone: Zone::utc(),
                unknown_zone: None,
                is_told: true,
                begin_us: 1_300_000_000 * MICROS_PER_SECOND,
            };
            let zoned = Clock { calendar: Some(calendar), ..Clock::new(0, TimeOfDay::Local) };
            let own = [0, WEEK_US - 1].map(|since_us| Clock::new(since_us, TimeOfDay::FromStart));
            for clock in own.into_iter().chain([zoned]) {
                let study = arrivals.study(clock, windows);
                assert_eq!(study.jobs, 3);
                assert!(study.hourly_autocorrelation.is_empty() && study.dispersion.is_empty());
                let hours: f64 = study.hours.iter().map(|row| row.hours).sum();
                let span = micros_to_seconds(end_us) / 3600.0;
                assert!((hours / span - 1.0).abs() < 1e-9, "{hours} {span}");
            }
        }
    }

    /// Promise: the 600 s before the window of a trace do not count as time in which jobs could
    /// arrive.
    #[test]
    fn time_before_the_window_is_not_observed() {
        let open_attempts = OpenAttempts::default();
        let end_us = 2 * 3600 * MICROS_PER_SECOND + BEGIN_2011_US;
        let windows =
            Windows { job_end_us: end_us, task_end_us: end_us, first_us: 1, open_attempts };
        let mut arrivals = Arrivals::default();
        (0..7_200).step_by(7).for_each(|second| {
            arrivals.add(BEGIN_2011_US + second * MICROS_PER_SECOND, false);
        });
        let clock = Clock::new(0, TimeOfDay::FromStart);
        let study = arrivals.study(clock, windows);
        let hours: f64 = study.hours.iter().map(|row| row.hours).sum();
        assert!((hours - 2.0).abs() < 1e-9, "{hours}");
        let of = |window_s| study.dispersion.iter().find(|row| row.window_s == window_s).unwrap();
        assert_eq!(of(10).windows, 720);
        assert!(of(10).variance < 0.25, "one or two jobs in every window");
    }

    /// Promise: if the submissions of a log end before the log ends, its counts vary no more than
    /// those of a log that ends with the last submission. The rest of the log is reported.
    #[test]
    fn the_end_of_a_log_without_submissions_is_no_time_in_which_jobs_could_arrive() {
        let (first_us, open_attempts) = (0, OpenAttempts::default());
        let mut arrivals = Arrivals::default();
        (0..40_000).step_by(7).for_each(|second| arrivals.add(second * MICROS_PER_SECOND, false));
        let clock = Clock::new(0, TimeOfDay::FromStart);
        let [short, long] = [43_200, 400_000].map(|end_s| {
            let end_us = end_s * MICROS_PER_SECOND;
            let windows =
                Windows { job_end_us: end_us, task_end_us: end_us, first_us, open_attempts };
            arrivals.study(clock.clone(), windows)
        });
        assert_eq!((&short.dispersion, &short.hours), (&long.dispersion, &long.hours));
        assert_eq!((short.without_s, long.without_s), (3_202.0, 360_002.0));
        assert_eq!(short.quiet_end(100_000.0), None);
        assert_eq!(
            long.quiet_end(400_000.0).unwrap(),
            "the last job was submitted 4.17 d before the end of the log"
        );
    }

    #[test]
    fn the_clock_of_a_log_is_read() {
        let since = |hours: i64, seconds: i64| Some((hours * 3600 + seconds) * MICROS_PER_SECOND);
        assert_eq!(of_text("Fri Oct 01 00:00:03 PDT 1993"), since(5 * 24, 3));
        assert_eq!(of_text("Sunday, 19:00:00"), since(19, 0));
        assert_eq!(of_text("1993-10-01"), None);
        assert_eq!(of_text("é"), None);
    }

    /// The time of day, and the days and hours, of submissions in a log with an unknown place.
    fn told_of(seconds: [i64; 2]) -> (TimeOfDay, Vec<(String, usize)>) {
        let times_us = seconds.map(|time| time * MICROS_PER_SECOND).to_vec();
        let (end_us, open_attempts) = (times_us[1], OpenAttempts::JobEnd);
        let windows =
            Windows { job_end_us: end_us, task_end_us: end_us, first_us: 0, open_attempts };
        let clock = Clock::new(0, TimeOfDay::FromStart);
        let study = Arrivals { times_us, before: 0 }.study(clock, windows);
        let rows = study.hours.into_iter().filter(|row| 0 < row.jobs);
        (study.time_of_day, rows.map(|row| (row.day, row.hour)).collect())
    }

    #[test]
    fn a_log_without_a_place_is_reported_in_utc_or_from_its_start() {
        // 17:46:03 on Tuesday, 21 April 2009, UTC, and 27 hours later.
        let (told, rows) = told_of([1_240_335_963, 1_240_335_963 + 27 * 3600]);
        let days = [("Tuesday".to_owned(), 17), ("Wednesday".to_owned(), 20)];
        assert_eq!((told, rows), (TimeOfDay::Utc, days.to_vec()));
        // A log with a clock that starts at an arbitrary time.
        let (told, rows) = told_of([90_000, 90_000 + 27 * 3600]);
        let days = [("day 1".to_owned(), 0), ("day 2".to_owned(), 3)];
        assert_eq!((told, rows), (TimeOfDay::FromStart, days.to_vec()));
    }

    proptest! {
        /// Promise: hours of the week are those of the clock of the zone, including daylight
        /// saving. Compared with a count of every quarter of an hour.
        #[test]
        fn hours_of_the_week_follow_the_clock_of_the_zone(
            (place, begin_day) in (0_usize..4, 14_000_i64..20_000),
            (from, quarters) in (0_i64..700, 1_i64..40_000),
            jobs in prop::collection::vec(0_i64..40_000, 0..20),
        ) {
            const QUARTER_US: i64 = 900 * MICROS_PER_SECOND;
            let zones = ["Europe/Berlin", "America/New_York", "Australia/Sydney", "UTC"];
            let calendar = Calendar {
                zone: zones[place].parse().expect("the system has zone files"),
                unknown_zone: None,
                is_told: true,
                begin_us: begin_day * MICROS_PER_DAY,
            };
            let hour_of = |time_us: i64| {
                let local_us = calendar.zone.local_us(time_us + calendar.begin_us);
                let hours = local_us.div_euclid(3600 * MICROS_PER_SECOND) + 4 * 24;
                usize::try_from(hours.rem_euclid(168)).unwrap()
            };
            let (from_us, to_us) = (from * QUARTER_US, (from + quarters) * QUARTER_US);
            let times: Vec<i64> = jobs.iter().map(|job| from_us + job % quarters * QUARTER_US).collect();
            let (mut lengths, mut counts) = ([0.0; 168], [0; 168]);
            (from..from + quarters).for_each(|at| lengths[hour_of(at * QUARTER_US)] += 0.25);
            for &time_us in &times {
                counts[hour_of(time_us)] += 1;
            }
            let clock =
                Clock { calendar: Some(calendar.clone()), ..Clock::new(0, TimeOfDay::Local) };
            let rows = hours_of_week(&times, &clock, [from_us, to_us]);
            for (row, (length, count)) in rows.iter().zip(lengths.iter().zip(counts)) {
                prop_assert_eq!((row.hours, row.jobs), (*length, count), "{} {}", &row.day, row.hour);
            }
        }
    }

    #[test]
    fn bursts_scatter_more_than_even_arrivals() {
        // Hours with 4 and 0 jobs in turn: mean 2, variance 4, dispersion 2, and a negative
        // correlation of neighbours.
        let counts = [4, 0].repeat(50);
        let own = dispersion(3600, &counts);
        assert_eq!((own.mean, own.variance, own.dispersion), (2.0, 4.0, Some(2.0)));
        assert!((autocorrelation(&counts, 1).unwrap() + 0.99).abs() < 1e-12);
        assert!((autocorrelation(&counts, 2).unwrap() - 0.98).abs() < 1e-12);
        assert_eq!(autocorrelation(&[3, 3, 3], 1), None);
    }

    #[test]
    fn hours_of_the_week_are_as_long_as_the_span() {
        // Ten days from Sunday 19:00 on, with a job at the start of each hour.
        let clock = Clock::new(19 * 3600 * MICROS_PER_SECOND, TimeOfDay::Local);
        let times: Vec<i64> = (0..240).map(|hour| hour * 3600 * MICROS_PER_SECOND).collect();
        let rows = hours_of_week(&times, &clock, [0, 10 * MICROS_PER_DAY]);
        assert_eq!(rows.iter().map(|row| row.hours).sum::<f64>(), 240.0);
        assert!(rows.iter().all(|row| row.jobs_per_hour == Some(1.0)));
        let twice: Vec<&HourRow> = rows.iter().filter(|row| row.jobs == 2).collect();
        assert_eq!((twice.len(), twice[0].day.as_str(), twice[0].hour), (72, "Sunday", 19));
    }
}
