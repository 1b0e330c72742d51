//! The charts of `load` about arrivals: submissions by hour of the week, bursts, and how hours
//! correlate with later ones.
//!
//! In: the load of a lake. Out: charts by the stem of their files.

use super::{Length, Loaded};
use crate::charts::{
    Bar, BarChart, Chart, HeatChart, HeatRow, Line, LineChart, Scale, Stroke, Tone,
};
use crate::digits;
use crate::studies::load::arrivals::{ArrivalStudy, DAYS, HourRow, TimeOfDay};

/// The fewest hours of a log for a chart by hour of the week, and for daily patterns: two weeks.
const HOURS_MIN: f64 = 336.0;

/// If the index of dispersion without a single day is below this part of the full index, then this
/// day makes submissions bursty.
const ONE_DAY: f64 = 0.8;

/// An autocorrelation after a day below this is a weak daily rhythm: less than 4 % (its square) of
/// the variance of hours follows from the day before.
const WEAK: f64 = 0.2;

/// How long the submissions last, h.
fn length_h(arrivals: &ArrivalStudy) -> f64 {
    arrivals.hours.iter().map(|row| row.hours).sum()
}

/// Whether the log has too few days to distinguish a weekly or daily pattern from chance.
fn is_short(arrivals: &ArrivalStudy) -> bool {
    length_h(arrivals) < HOURS_MIN
}

/// A sentence about the submissions that are left out because the log lacks jobs of that time;
/// otherwise empty.
fn left_out(loaded: &Loaded) -> String {
    loaded.first_end.as_ref().map_or_else(String::new, |first| {
        format!(
            " Submissions before {} are left out: the log lacks jobs of that time.",
            first.when()
        )
    })
}

/// A sentence about what is not drawn for a short log; otherwise empty.
fn too_short(arrivals: &ArrivalStudy) -> String {
    if !is_short(arrivals) {
        return String::new();
    }
    format!(
        " Submissions by hour of the week, and how hours correlate, are not drawn: {} are too few \
        for a pattern of the week or the day.",
        digits::lasting(length_h(arrivals) * 3600.0)
    )
}

/// Submissions by hour of the week; `None` if there are too few days.
pub(super) fn hours(loaded: &Loaded) -> Option<Chart> {
    let arrivals = &loaded.arrivals;
    if is_short(arrivals) {
        return None;
    }
    let rows = arrivals.hours.chunks(24).zip(DAYS).map(|(hours, day)| HeatRow {
        name: match arrivals.time_of_day {
            TimeOfDay::FromStart => hours[0].day.clone(),
            TimeOfDay::Local | TimeOfDay::Utc => day.to_owned(),
        },
        values: hours.iter().map(|row| row.jobs_per_hour).collect(),
    });
    let clock = match (arrivals.time_of_day, &arrivals.zone) {
        (TimeOfDay::Local, Some(zone)) => format!("Days and hours in local time ({zone})"),
        (TimeOfDay::Local, None) => {
            "Days and hours in the local time of the cluster at the start of \
            the log, as published, without changes of daylight saving"
                .to_owned()
        }
        (TimeOfDay::Utc, _) => "Days and hours in UTC".to_owned(),
        (TimeOfDay::FromStart, _) => {
            "Days and hours from the first submission: the log does not say the time of day"
                .to_owned()
        }
    };
    let before = match arrivals.left_censored_out {
        0 => String::new(),
        some => format!("; {} submitted before it are left out", digits::grouped(some)),
    };
    // With dates, all days of the week are shown. With days since the start, only those with jobs
    // are shown.
    let is_counted = arrivals.time_of_day == TimeOfDay::FromStart;
    let has_jobs = |row: &HeatRow| row.values.iter().flatten().any(|value| 0.0 < *value);
    let rows: Vec<HeatRow> = rows.filter(|row| !is_counted || has_jobs(row)).collect();
    Some(Chart::Heat(HeatChart {
        title: "When jobs are submitted".to_owned(),
        caption: format!(
            "{}{clock}. {} in the window{before}.{}",
            busiest(&arrivals.hours),
            digits::counted(arrivals.jobs, "job"),
            left_out(loaded)
        ),
        x_axis: "hour of the day".to_owned(),
        x: 0.0..24.0,
        y_axis: String::new(),
        rows,
        value: "jobs per hour".to_owned(),
    }))
}

/// The hour with most submissions: `Most on Monday from 16 to 17 h: 1,440 jobs per hour, the mean
/// of 4 such hours. `.
fn busiest(hours: &[HourRow]) -> String {
    let known = hours.iter().filter_map(|own| Some((own.jobs_per_hour?, own)));
    let most = known.max_by(|one, other| one.0.total_cmp(&other.0));
    most.filter(|most| 0.0 < most.0).map_or_else(String::new, |(jobs, own)| {
        let mean = match own.hours.round() {
            hours if hours < 2.0 => String::new(),
            hours => format!(", the mean of {hours} such hours"),
        };
        format!(
            "Most on {} from {} to {} h: {} jobs per hour{mean}. ",
            own.day,
            own.hour,
            own.hour + 1,
            digits::three_digits(jobs)
        )
    })
}

pub(super) fn bursts(loaded: &Loaded) -> Vec<(String, Chart)> {
    let arrivals = &loaded.arrivals;
    let mut charts = Vec::new();
    let points: Vec<(f64, f64)> = arrivals
        .dispersion
        .iter()
        .filter_map(|row| {
            #[expect(clippy::cast_precision_loss, reason = "at most a day")]
            Some((row.window_s as f64, row.dispersion?))
        })
        .collect();
    let variation = arrivals.interarrival_variation.map_or_else(String::new, |variation| {
        let variation = digits::three_digits(variation);
        format!(" The standard deviation of the times between submissions is {variation} times their mean (1 for a Poisson process).")
    });
    if let Some((window_s, dispersion)) = points.last() {
        let last = arrivals.dispersion.iter().rfind(|row| row.dispersion.is_some());
        let without = last.and_then(|row| row.without_busiest_day);
        let without = without.filter(|without| *without < ONE_DAY * dispersion);
        let without = without.map_or_else(String::new, |without| {
            format!(" Without the busiest day it is {}.", digits::three_digits(without))
        });
        let bars = points.iter().map(|(window_s, dispersion)| Bar {
            label: words_of(*window_s),
            value: *dispersion,
            note: digits::three_digits(*dispersion),
            tone: Tone::Blue,
            part: None,
        });
        let chart = BarChart {
            title: "How bursty submissions are".to_owned(),
            caption: format!(
                "In windows of {}, the variance of the number of jobs is {} times that of a Poisson \
                process with the same mean.{without} Drawn is the variance over the mean of the submitted jobs per \
                window, by the length of the window; 1 for a Poisson process.{variation}{}{}",
                words_of(*window_s),
                digits::three_digits(*dispersion),
                left_out(loaded),
                too_short(arrivals)
            ),
            value_axis: "variance over mean".to_owned(),
            bars: bars.collect(),
        };
        charts.push(("load-dispersion".to_owned(), chart.on_fitting_axis()));
    }
    charts.extend(autocorrelation(arrivals));
    charts
}

/// How submissions of one hour correlate with those of later hours; `None` if the log is short.
fn autocorrelation(arrivals: &ArrivalStudy) -> Option<(String, Chart)> {
    let lags = arrivals.hourly_autocorrelation.iter().enumerate();
    #[expect(clippy::cast_precision_loss, reason = "at most two weeks")]
    let points: Vec<(f64, f64)> = lags.map(|(lag, &value)| (lag as f64, value)).collect();
    if points.len() <= 24 || is_short(arrivals) {
        return None;
    }
    let chart = LineChart {
        title: "How submissions of one hour correlate with those of later hours".to_owned(),
        caption: format!(
            "{}Autocorrelation of the submitted jobs per hour. Daily patterns have peaks at \
            multiples of 24.",
            most_alike(&points)
        ),
        x_axis: "lag (h)".to_owned(),
        y_axis: "autocorrelation".to_owned(),
        x_scale: Scale::Linear,
        y_from: 0.0,
        lines: vec![Line {
            name: String::new(),
            points,
            band: Vec::new(),
            tone: Tone::Blue,
            stroke: Stroke::Straight,
        }],
    };
    Some(("load-autocorrelation".to_owned(), Chart::Lines(chart)))
}

/// A window of whole seconds, in words.
fn words_of(window_s: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "at most a day")]
    let whole = window_s as i64;
    Length::seconds(whole).words()
}

/// The autocorrelation a day later, and the lag of the first clear peak beyond half a day, if there
/// is one: a peak that is at least half as prominent as the most prominent one. Values near lag 0
/// are high in any log, and a small bump on the slope that falls from there is higher than a clear
/// peak at its foot.
fn most_alike(points: &[(f64, f64)]) -> String {
    const FROM_H: f64 = 12.0;
    let Some((_, a_day)) = points.iter().find(|point| point.0 == 24.0) else {
        return String::new();
    };
    let peaks = (1..points.len().saturating_sub(1)).filter(|&at| {
        let own = points[at].1;
        FROM_H <= points[at].0 && 0.0 < own && points[at - 1].1 < own && points[at + 1].1 <= own
    });
    let peaks: Vec<(f64, (f64, f64))> =
        peaks.map(|at| (prominence(points, at), points[at])).collect();
    let most = peaks.iter().map(|peak| peak.0).fold(0.0, f64::max);
    // A daily rhythm has a peak at each multiple of a day; the first of them is its period.
    let most = peaks.iter().find(|peak| most <= 2.0 * peak.0).map(|peak| peak.1);
    let peak = match most {
        Some((24.0, _)) => ", the first clear peak beyond half a day".to_owned(),
        Some((lag, value)) => {
            format!("; the first clear peak beyond half a day is at {lag} h ({value:.2})")
        }
        None => "; there is no peak beyond half a day".to_owned(),
    };
    let is_daily = most.is_some_and(|(lag, _)| lag == 24.0);
    let rhythm = match *a_day {
        weak if weak <= 0.0 => "No daily rhythm: after",
        weak if weak < WEAK => "At most a weak daily rhythm: after",
        _ if is_daily => "A daily rhythm: after",
        _ => "After",
    };
    format!("{rhythm} 24 h the autocorrelation is {a_day:.2}{peak}. ")
}

/// How far a peak rises above the higher of the two lowest points that separate it from higher ones
/// (or from the ends of the line).
fn prominence(points: &[(f64, f64)], at: usize) -> f64 {
    let own = points[at].1;
    let lowest = |side: &mut dyn Iterator<Item = &(f64, f64)>| {
        side.map(|point| point.1).take_while(|value| *value <= own).fold(own, f64::min)
    };
    let left = lowest(&mut points[..at].iter().rev());
    let right = lowest(&mut points[at + 1..].iter());
    own - left.max(right)
}

#[cfg(test)]
mod tests {
    use super::{busiest, most_alike, prominence, too_short};
    use crate::studies::load::arrivals::{ArrivalStudy, HourRow, TimeOfDay};

    #[test]
    fn a_log_of_less_than_two_weeks_has_no_pattern_of_the_week() {
        let study = |hours: f64| ArrivalStudy {
            without_s: 0.0,
            jobs: 1,
            left_censored_out: 0,
            time_of_day: TimeOfDay::Utc,
            zone: None,
            interarrival_variation: None,
            hours: vec![HourRow {
                day: "Sunday".to_owned(),
                hour: 0,
                jobs: 1,
                hours,
                jobs_per_hour: Some(1.0 / hours),
            }],
            dispersion: Vec::new(),
            hourly_autocorrelation: Vec::new(),
        };
        assert_eq!(too_short(&study(336.0)), "");
        let said = too_short(&study(266.4));
        assert!(said.contains("are not drawn: 11.1 d are too few for a pattern"), "{said}");
    }

    fn said(value: impl Fn(f64) -> f64) -> String {
        let points: Vec<(f64, f64)> = (0..60).map(f64::from).map(|lag| (lag, value(lag))).collect();
        most_alike(&points)
    }

    #[test]
    fn a_falling_flank_is_no_peak() {
        assert_eq!(
            said(|lag| 1.0 - lag / 50.0),
            "After 24 h the autocorrelation is 0.52; there is no peak beyond half a day. "
        );
        let daily = |lag: f64| 0.5 * (1.0 + (lag / 24.0 * std::f64::consts::TAU).cos()) - lag / 1e3;
        assert_eq!(
            said(daily),
            "A daily rhythm: after 24 h the autocorrelation is 0.98, the first clear peak beyond half a day. "
        );
        let negative = |lag: f64| if lag == 30.0 { -0.25 } else { -0.5 };
        assert!(said(negative).ends_with("no peak beyond half a day. "));
        assert!(said(negative).starts_with("No daily rhythm: after 24 h"), "{}", said(negative));
        let weak = said(|lag| if lag == 15.0 { 0.21 } else { 0.17 });
        assert!(
            weak.starts_with(
                "At most a weak daily rhythm: after 24 h the autocorrelation is 0.17;"
            ),
            "{weak}"
        );
        let other = |lag: f64| if lag == 30.0 { 0.75 } else { 0.5 };
        assert_eq!(
            said(other),
            "After 24 h the autocorrelation is 0.50; the first clear peak beyond half a day is at 30 h \
            (0.75). "
        );
        // A bump on the slope is higher than the peak of the day, but less prominent.
        let slope = |lag: f64| match lag {
            15.0 => 0.65,
            24.0 => 0.6,
            lag => 1.0 - lag / 40.0,
        };
        let bump = said(slope);
        assert!(
            bump.starts_with("A daily rhythm: after 24 h the autocorrelation is 0.60,"),
            "{bump}"
        );
    }

    #[test]
    fn a_peak_is_as_prominent_as_it_rises_above_the_valleys_beside_it() {
        let line: Vec<(f64, f64)> =
            (0..).map(f64::from).zip([5.0, 1.0, 3.0, 2.0, 4.0, 0.0]).collect();
        assert_eq!(prominence(&line, 2), 1.0, "a higher peak is beyond the valley of 2");
        assert_eq!(prominence(&line, 4), 3.0, "the valley of 1 is on the way to 5");
    }

    #[test]
    fn the_busiest_hour_is_a_mean_of_such_hours() {
        let row = |hour: usize, hours: f64, jobs: u32| HourRow {
            day: "Friday".to_owned(),
            hour,
            jobs: 0,
            hours,
            jobs_per_hour: (0.0 < hours).then(|| f64::from(jobs) / hours),
        };
        let mut hours = [row(15, 4.0, 6156), row(16, 4.0, 6160), row(17, 0.0, 0)];
        assert_eq!(
            busiest(&hours),
            "Most on Friday from 16 to 17 h: 1,540 jobs per hour, the mean of 4 such hours. "
        );
        hours[1] = row(16, 1.0, 1540);
        assert_eq!(busiest(&hours), "Most on Friday from 16 to 17 h: 1,540 jobs per hour. ");
        assert_eq!(busiest(&[row(17, 0.0, 0), row(18, 4.0, 0)]), "");
    }
}
