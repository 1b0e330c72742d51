//! The CPU of a job on its page: the CPU that its attempts requested and used, over time.
//!
//! In: a job of a stored result. Out: a chart with both, a sentence about it, and the CPU time that
//! a log records for the job. Time without recorded usage is left blank; the sentence gives the
//! share of the time with recorded usage.

use super::text::{clock, instant, lasting, percent_said};
use crate::answers::sentences::short;
use crate::answers::sweep::{JobDetail, JobUse};
use crate::charts::{Area, AreaChart, Chart, Tone};
use crate::digits::{counted, three_digits, unit_of_time, unit_of_use};
use crate::results::missing::Missing;

/// Requests that vary by no more than this, relative to the largest, are a flat line.
const FLAT: f64 = 0.01;

/// The CPU that running attempts requested, if nothing else is known and the request was nearly
/// constant.
pub(super) fn flat(job: &JobDetail) -> Option<String> {
    let cpu = job.cpu.as_ref().filter(|cpu| cpu.used.is_none())?;
    let most = cpu.requested.iter().copied().reduce(f64::max).filter(|most| 0.0 < *most)?;
    let least = cpu.requested.iter().copied().fold(most, f64::min);
    let unit = if job.cpu_unit.is_empty() { "CPU" } else { job.cpu_unit.as_ref() };
    let in_all = in_all(job, cpu.requested.iter().sum::<f64>() * cpu.interval_s);
    ((1.0 - FLAT) * most <= least)
        .then(|| format!("{} {unit} all the time, {in_all} in all", three_digits(most)))
}

/// The CPU that running attempts requested and used; `None` if [`flat`] describes it.
pub(super) fn over_time(job: &JobDetail, missing: &Missing, id: &str) -> Option<Chart> {
    let cpu = job.cpu.as_ref().filter(|_| flat(job).is_none())?;
    // Intervals are joined in pairs to keep pages small: a report has a hundred of them.
    let interval_s = 2.0 * cpu.interval_s;
    let requested = cpu.requested.chunks_exact(2);
    let requested: Vec<Option<f64>> =
        requested.map(|pair| Some(f64::midpoint(pair[0], pair[1]))).collect();
    let used = cpu.used.iter().flat_map(|used| used.means.chunks_exact(2));
    let used: Vec<Option<f64>> = used.map(joined).collect();
    let count = u32::try_from(requested.len().max(used.len())).ok()?;
    let (unit, per) = unit_of_time(interval_s * f64::from(count));
    let cpu_s = cpu.requested.iter().sum::<f64>() * cpu.interval_s;
    let requested_in_all = if 0.0 < cpu_s {
        format!(" In all they requested {}.", in_all(job, cpu_s))
    } else {
        String::new()
    };
    let said = format!(
        "{}; each value is the mean over {}.{requested_in_all} From {} on ({}).{}",
        at_most(&requested, &used)?,
        lasting(interval_s),
        instant(cpu.start_s),
        clock(Some(cpu.start_s)),
        cpu.used.as_ref().map_or_else(String::new, use_known),
    );
    let (y_axis, names) = match (requested.is_empty(), used.is_empty()) {
        (false, false) => ("CPU", ["requested", "used"]),
        (false, true) => ("CPU requested", [""; 2]),
        (true, _) => ("CPU used", [""; 2]),
    };
    let of = |name: &str, values: Vec<Option<f64>>, tone| {
        let name = name.to_owned();
        (!values.is_empty()).then_some(Area { name, values, tone }).into_iter().collect()
    };
    let chart = Chart::Areas(AreaChart {
        title: format!("CPU of job {} over time", short(id)),
        caption: said,
        x_axis: format!("time since its first attempt ({unit})"),
        y_axis: match job.cpu_unit.as_ref() {
            "" => y_axis.to_owned(),
            unit => format!("{y_axis} ({unit})"),
        },
        edges: (0..=count).map(|edge| f64::from(edge) * interval_s / per).collect(),
        // A dark line is visible both on a pale area and above it.
        areas: of(names[0], requested, if names[0].is_empty() { Tone::Blue } else { Tone::Sky }),
        lines: of(names[1], used, Tone::Ink),
    });
    let end_s = cpu.start_s + interval_s * f64::from(count);
    Some(missing.within([cpu.start_s, end_s]).over_time(chart, cpu.start_s, per))
}

/// The largest request and the largest use at one time.
fn at_most(requested: &[Option<f64>], used: &[Option<f64>]) -> Option<String> {
    let most = |values: &[Option<f64>]| {
        values.iter().copied().flatten().reduce(f64::max).map(three_digits)
    };
    match (most(requested), most(used)) {
        (Some(requested), Some(used)) => Some(format!(
            "Its running attempts requested at most {requested} at once, and used at most {used}"
        )),
        (Some(requested), None) => {
            Some(format!("Its running attempts requested at most {requested} at once"))
        }
        (None, Some(used)) => Some(format!("Its running attempts used at most {used} at once")),
        (None, None) => None,
    }
}

/// The unit for the requested CPU time of a job, if the largest amount is `top` s, and how many
/// seconds make one unit.
pub(super) fn unit_of_request(job: &JobDetail, top: f64) -> (String, f64) {
    let unit = if job.cpu_unit.is_empty() { "CPU" } else { job.cpu_unit.as_ref() };
    unit_of_use(&format!("{unit}-s"), top)
}

/// A CPU time that a job requested, in words.
fn in_all(job: &JobDetail, cpu_s: f64) -> String {
    let (unit, per) = unit_of_request(job, cpu_s);
    format!("{} {unit}", three_digits(cpu_s / per))
}

/// The mean of two intervals of the same length. If only one is recorded, the other counts as 0.
fn joined(pair: &[Option<f64>]) -> Option<f64> {
    let is_known = pair.iter().any(Option::is_some);
    is_known.then(|| pair.iter().flatten().sum::<f64>() / 2.0)
}

/// The share of the request that was used, and the share of the running time for which usage is
/// recorded.
fn use_known(used: &JobUse) -> String {
    let of_request = of_request(used.cpu_s, used.requested_cpu_s);
    if 1.0 <= used.recorded_share {
        return format!(
            " In total they used {}{of_request}; usage is recorded for all the time that they ran.",
            cpu_time(used.cpu_s)
        );
    }
    let of_request = of_request.replace("requested", "requested in that time");
    format!(
        " Usage is recorded for {} of the time that they ran: they used {}{of_request}. Time \
        without recorded usage is left blank; attempts without it add nothing.",
        percent_said(used.recorded_share),
        cpu_time(used.cpu_s)
    )
}

/// The CPU time that a log records for the job.
pub(super) fn used(job: &JobDetail) -> Option<String> {
    let used = job.told_use?;
    let of = if job.attempt_count == used.attempts {
        String::new()
    } else {
        format!(" (recorded of {})", counted(used.attempts, "attempt"))
    };
    Some(format!(
        "{}{}{of}",
        cpu_time(used.cpu_s),
        of_request(used.cpu_s, Some(used.requested_cpu_s))
    ))
}

fn of_request(cpu_s: f64, requested_s: Option<f64>) -> String {
    let known = requested_s.filter(|requested_s| 0.0 < *requested_s);
    known.map_or_else(String::new, |requested_s| {
        format!(", {} of what was requested", percent_said(cpu_s / requested_s))
    })
}

/// CPU time in words.
fn cpu_time(cpu_s: f64) -> String {
    if cpu_s < 3600.0 {
        format!("{} CPU-seconds", three_digits(cpu_s))
    } else {
        format!("{} CPU-hours", three_digits(cpu_s / 3600.0))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn job(value: &Value) -> JobDetail {
        serde_json::from_value(value.clone()).unwrap()
    }

    fn drawn(value: &Value) -> (AreaChart, String) {
        let chart = over_time(&job(value), &Missing::default(), "7").unwrap();
        let said = chart.caption().to_owned();
        let Chart::Areas(chart) = chart else { panic!() };
        (chart, said)
    }

    #[test]
    fn a_job_is_drawn_over_time_with_what_it_requested() {
        let cpu =
            json!({"start_s": 3600.0, "interval_s": 900.0, "requested": [1.0, 1.0, 2.0, 3.0]});
        let (chart, said) = drawn(&json!({"cpu": cpu, "cpu_unit": "NCU"}));
        assert!(said.starts_with("Its running attempts requested at most 2.5 at once"), "{said}");
        assert_eq!(chart.y_axis, "CPU requested (NCU)");
        let axis = "time since its first attempt (min)";
        assert_eq!((chart.edges, chart.x_axis.as_str()), (vec![0.0, 30.0, 60.0], axis));
        assert!(chart.lines.is_empty() && !said.contains("used"), "{said}");
        assert!(over_time(&job(&json!({"cpu": null})), &Missing::default(), "7").is_none());
        // The request never changes, so a sentence replaces the chart.
        let of = |requested: [f64; 4]| {
            let cpu = json!({"start_s": 0.0, "interval_s": 900.0, "requested": requested});
            let job = job(&json!({"cpu": cpu, "cpu_unit": "NCU"}));
            assert_ne!(flat(&job).is_some(), over_time(&job, &Missing::default(), "7").is_some());
            flat(&job)
        };
        assert_eq!(of([2.0, 2.0, 1.99, 2.0]).unwrap(), "2 NCU all the time, 2 NCU-h in all");
        assert_eq!(of([2.0, 2.0, 1.9, 2.0]), None);
    }

    #[test]
    fn what_a_job_used_is_drawn_beside_it_as_far_as_it_is_recorded() {
        let used = json!({"means": [0.5, 0.7, null, 1.0, null, null], "cpu_s": 7920.0,
            "requested_cpu_s": 15_840.0, "recorded_share": 0.5});
        let cpu =
            json!({"start_s": 0.0, "interval_s": 900.0, "requested": vec![2.0; 6], "used": used});
        let (chart, said) = drawn(&json!({"cpu": cpu}));
        assert_eq!(chart.lines[0].values, [Some(0.6), Some(0.5), None]);
        assert_eq!(
            (chart.areas[0].name.as_str(), chart.lines[0].name.as_str()),
            ("requested", "used")
        );
        assert!(
            said.starts_with(
                "Its running attempts requested at most 2 at once, and used at most 0.6; each"
            ),
            "{said}"
        );
        assert!(
            said.contains(
                "Usage is recorded for 50.0 % of the time that they ran: they used \
            2.2 CPU-hours, 50.0 % of what was requested in that time."
            ),
            "{said}"
        );
        assert!(
            said.contains("the mean over 30 min. In all they requested 3 CPU-h. From"),
            "{said}"
        );
        // No request is known.
        let used = json!({"means": [0.5, 0.5], "cpu_s": 30.0, "requested_cpu_s": null, "recorded_share": 1.0});
        let cpu = json!({"start_s": 0.0, "interval_s": 30.0, "requested": [], "used": used});
        let (chart, said) = drawn(&json!({"cpu": cpu}));
        assert!(chart.areas.is_empty() && chart.y_axis == "CPU used");
        assert!(
            said.ends_with(
                "In total they used 30 CPU-seconds; usage is recorded for all the time \
            that they ran."
            ),
            "{said}"
        );
    }

    #[test]
    fn a_log_says_what_a_job_used() {
        let told = json!({"cpu_s": 1800.0, "requested_cpu_s": 3600.0, "attempts": 1});
        let said = used(&job(&json!({"attempt_count": 1, "told_use": told})));
        assert_eq!(said.unwrap(), "1,800 CPU-seconds, 50.0 % of what was requested");
        assert_eq!(used(&job(&json!({"told_use": null}))), None);
    }
}
