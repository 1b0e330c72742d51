//! Charts of a kill sweep: what each rule saves and harms, by its parameter.
//!
//! In: sweeps, with intervals if jobs were resampled. Out: charts by the stem of their files.

use super::drawn::{NEXT_TO_NOTHING, band_note, definition, drawn, saved_of};
use super::lost_jobs;
use super::plane_chart::{best_of, plane_chart};
use crate::answers::condition::{condition, name_of};
use crate::answers::sentences;
use crate::charts::{Chart, Line, LineChart, PanelChart, Scale, Stroke, Tone, outcome_tone};
use crate::digits;
use crate::studies::fold::Study;
use crate::studies::kill_sweep::{Sweep, SweepRow, plane, total_cpu};
use crate::studies::selection::{Interval, Selection};

/// A point, with the bounds of its interval if it has one.
type Bounded = (f64, Option<(f64, f64)>);

/// Two charts: all rules in one plane, and the savings and harm of each rule.
pub(crate) fn charts(
    study: &Study,
    sweeps: &[Sweep],
    selection: Option<&Selection>,
) -> Vec<(String, Chart)> {
    vec![
        ("sweep-plane".to_owned(), plane_chart(study, sweeps, selection)),
        ("sweep-rules".to_owned(), rules_chart(study, sweeps)),
    ]
}

/// Figures 4.2.1 and 4.2.2 of the paper of 2017 for one rule, with all values of T.
pub(crate) fn of_paper(study: &Study, sweep: &Sweep) -> [LineChart; 2] {
    let own = std::slice::from_ref(sweep);
    let found =
        best_of(&plane(study, own), own, false, (saved_of(study), lost_jobs(&total_cpu(study))));
    let caption = caption(study, own, Shown::All, &found);
    let of = |title: &str, plot: LineChart| LineChart {
        title: title.to_owned(),
        caption: caption.clone(),
        ..plot
    };
    [
        of("CPU saved by killing at T", saved_plot(study, sweep)),
        of("finished jobs harmed by killing at T", harmed_plot(sweep)),
    ]
}

/// The values of T that the curves of a chart have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    All,
    /// Only the values up to the point from which nothing is saved or harmed any more.
    Cut,
}

/// The savings of each rule, and below them its harm, over its parameter.
fn rules_chart(study: &Study, sweeps: &[Sweep]) -> Chart {
    let what = saved_of(study);
    let drawn = drawn(sweeps).0;
    let (seen, flat) = seen(&drawn);
    let (told, is_cut): (Vec<Sweep>, Vec<bool>) =
        seen.iter().map(|sweep| until_flat(sweep)).unzip();
    let columns = told.len().clamp(1, COLUMNS);
    let rows = told.chunks(columns).flat_map(|row| {
        // In a log without a status, nothing can be saved.
        let saved = row.iter().map(|sweep| saved_plot(study, sweep)).filter(has_points);
        saved.chain(row.iter().map(harmed_plot)).collect::<Vec<LineChart>>()
    });
    let panels: Vec<LineChart> = rows.collect();
    let title = if panels.len() == told.len() {
        "Finished jobs harmed, by rule".to_owned()
    } else {
        format!("{what} saved and finished jobs harmed, by rule")
    };
    let shown = if is_cut.contains(&true) { Shown::Cut } else { Shown::All };
    // The chart of the plane comes first, and already says which rule saves most.
    let saves = drawn.iter().any(|sweep| has_points(&saved_plot(study, sweep)));
    let found = if saves { String::new() } else { most_harm(&drawn) };
    let caption = caption(study, sweeps, shown, &found) + &flat;
    Chart::Panels(PanelChart { title, caption, panels, columns })
}

/// If a rule saves less than this share of every outcome, its curve looks flat next to those of
/// other rules.
const HARDLY_SEEN: f64 = 0.01;

/// The rules with visible savings, and a sentence about the others. All rules if none has visible
/// savings.
fn seen<'a>(drawn: &[&'a Sweep]) -> (Vec<&'a Sweep>, String) {
    let is_seen = |sweep: &&&Sweep| {
        let shares = sweep.rows.iter().flat_map(|row| row.saved_share.iter());
        shares
            .filter(|(outcome, _)| *outcome != "finished")
            .any(|(_, share)| Some(HARDLY_SEEN) <= share)
    };
    let (seen, flat): (Vec<&Sweep>, Vec<&Sweep>) = drawn.iter().partition(is_seen);
    if seen.is_empty() || flat.is_empty() {
        return (drawn.to_vec(), String::new());
    }
    let names: Vec<&str> = flat.iter().map(|sweep| name_of(&sweep.rule)).collect();
    let said = format!(
        " Only in the table, because they save under {} of every outcome: {}.",
        sentences::percent(HARDLY_SEEN),
        names.join(", ")
    );
    (seen, said)
}

/// The caption for the savings and harm of rules over their parameters.
fn caption(study: &Study, sweeps: &[Sweep], shown: Shown, found: &str) -> String {
    let what = saved_of(study);
    let (drawn, left_out) = drawn(sweeps);
    let said = if drawn.iter().any(|sweep| has_points(&saved_plot(study, sweep))) {
        format!(
            "Above: {what} saved, which is the {what} after the kill, as a share of all {what} of jobs \
             of that outcome. Below: finished jobs of which at least one task would be killed."
        )
    } else {
        "Finished jobs of which at least one task would be killed.".to_owned()
    };
    let one_job = of_one_job(&drawn);
    let bands = sweeps.first().map_or("", band_note);
    let beyond = match shown {
        Shown::All => "",
        Shown::Cut => {
            " Beyond the last T that is drawn, a rule harms no job and saves under 0.1 % of any outcome."
        }
    };
    format!("{found}{one_job}{said}{bands}{beyond}{left_out} {}", definition(study))
}

/// A sentence about outcomes for which one job has most of the largest saving, so that the curve
/// shows this job more than all others. Empty if there are none.
fn of_one_job(drawn: &[&Sweep]) -> String {
    let rows = || drawn.iter().flat_map(|sweep| &sweep.rows);
    let said = ["failed", "killed", "running"].into_iter().filter_map(|outcome| {
        let known = rows().filter_map(|row| Some((row.saved_share.get(outcome)?, row)));
        let (share, row) = known.max_by(|one, other| one.0.total_cmp(&other.0))?;
        let largest = row.largest_saved_share.get(outcome);
        let largest = largest.filter(|_| WORTH_A_WORD <= share);
        sentences::most_of(largest, &format!("the largest saving in {outcome} jobs"))
    });
    let said: Vec<String> = said.collect();
    if said.is_empty() {
        return String::new();
    }
    format!("{}. ", sentences::capital(&said.join("; ")))
}

/// The smallest saving in an outcome that this sentence considers.
const WORTH_A_WORD: f64 = 0.1;

/// Whether a plot has a point.
fn has_points(plot: &LineChart) -> bool {
    plot.lines.iter().any(|line| !line.points.is_empty())
}

/// The rows of a sweep without its flat end, and whether rows were left out. The flat end has rows
/// that harm nothing and save next to nothing, even in their intervals; its first row is kept.
fn until_flat(sweep: &Sweep) -> (Sweep, bool) {
    let is_small = |share: f64| share.abs() < NEXT_TO_NOTHING;
    let is_flat = |row: &SweepRow| {
        let interval = row.interval.as_ref();
        let bounds = |of: fn(&Interval) -> Option<(f64, f64)>| {
            let (low, high) = interval.and_then(of).unwrap_or((0.0, 0.0));
            [low, high]
        };
        let mut shares = row.saved_share.iter().filter_map(|(_, share)| share).chain(row.net_share);
        let outcomes = row
            .saved_share
            .iter()
            .filter_map(|(outcome, _)| interval.and_then(|own| own.saved_share_of(outcome)));
        let mut widths = outcomes.flat_map(|(low, high)| [low, high]);
        row.harmed_jobs.unwrap_or(0) == 0
            && shares.all(is_small)
            && widths.all(is_small)
            && bounds(|own| own.net_share).into_iter().all(is_small)
            && bounds(|own| own.harmed_jobs) == [0.0, 0.0]
    };
    let last = sweep.rows.iter().rposition(|row| !is_flat(row));
    let kept = last.map_or(sweep.rows.len(), |last| (last + 2).max(FEWEST)).min(sweep.rows.len());
    let rows = sweep.rows[..kept].to_vec();
    (Sweep { rows, ..sweep.clone() }, kept < sweep.rows.len())
}

/// The fewest values of T in a curve, if the sweep has as many.
const FEWEST: usize = 3;

/// The most rules in a row of the chart.
const COLUMNS: usize = 4;

/// One curve over the parameters, with a band if jobs were resampled.
#[expect(clippy::cast_precision_loss, reason = "a place on paper")]
fn curve(
    name: &str,
    tone: Tone,
    sweep: &Sweep,
    value: &dyn Fn(&SweepRow) -> Option<Bounded>,
) -> Line {
    let known: Vec<(f64, Bounded)> =
        sweep.rows.iter().filter_map(|row| Some((row.threshold as f64, value(row)?))).collect();
    let band =
        known.iter().filter_map(|(x, (_, bounds))| bounds.map(|(low, high)| (*x, low, high)));
    Line {
        name: name.to_owned(),
        points: known.iter().map(|(x, (y, _))| (*x, *y)).collect(),
        band: band.collect(),
        tone,
        stroke: Stroke::Marked,
    }
}

/// A logarithmic axis if the largest threshold is more than 15 times the smallest.
fn x_scale(sweep: &Sweep) -> Scale {
    let thresholds = || sweep.rows.iter().map(|row| row.threshold);
    let (least, most) = (thresholds().min().unwrap_or(1), thresholds().max().unwrap_or(1));
    if 0 < least && least.saturating_mul(15) < most { Scale::Log } else { Scale::Linear }
}

fn saved_plot(study: &Study, sweep: &Sweep) -> LineChart {
    let percent = |bounds: (f64, f64)| (bounds.0 * 100.0, bounds.1 * 100.0);
    let lines = ["failed", "killed", "running", "evicted", "other"]
        .into_iter()
        .filter(|outcome| study.outcomes().contains(outcome))
        // An outcome that does not occur has no CPU, and therefore no share.
        .filter(|outcome| sweep.rows.iter().any(|row| row.saved_share.get(outcome).is_some()))
        .map(|outcome| {
            curve(outcome, outcome_tone(outcome), sweep, &|row| {
                let share = row.saved_share.get(outcome)?;
                let bounds = row.interval.as_ref().and_then(|found| found.saved_share_of(outcome));
                Some((share * 100.0, bounds.map(percent)))
            })
        })
        .collect();
    plot(sweep, &format!("{} saved (%)", saved_of(study)), lines)
}

fn harmed_plot(sweep: &Sweep) -> LineChart {
    #[expect(clippy::cast_precision_loss, reason = "a place on paper")]
    let line = curve("", Tone::Ink, sweep, &|row| {
        let bounds = row.interval.as_ref().and_then(|interval| interval.harmed_jobs);
        Some((row.harmed_jobs? as f64, bounds))
    });
    plot(sweep, "harmed jobs", vec![line])
}

/// A plot over the parameter of a rule.
fn plot(sweep: &Sweep, y_axis: &str, lines: Vec<Line>) -> LineChart {
    LineChart {
        title: name_of(&sweep.rule).to_owned(),
        caption: String::new(),
        x_axis: axis_of(sweep),
        y_axis: y_axis.to_owned(),
        x_scale: x_scale(sweep),
        y_from: 0.0,
        lines,
    }
}

/// The title of the axis of a parameter. For a length of time, the title ends in the unit, so that
/// the ticks are in words.
fn axis_of(sweep: &Sweep) -> String {
    match sweep.parameter.strip_prefix("s ") {
        Some(of_what) => format!("T, time {of_what} (s)"),
        None => format!("T ({})", sweep.parameter),
    }
}

/// A sentence about the setting that harms most, for a log in which nothing can be saved. Empty if
/// no setting harms a job.
fn most_harm(sweeps: &[&Sweep]) -> String {
    let rows = sweeps.iter().flat_map(|sweep| sweep.rows.iter().map(|row| (&sweep.rule, row)));
    let known = rows.filter_map(|(rule, row)| Some((row.harmed_jobs?, rule, row.threshold)));
    match known.max_by_key(|one| one.0).filter(|one| 0 < one.0) {
        Some((jobs, rule, threshold)) => format!(
            "Killing tasks {} harms most: {}. ",
            condition(rule, threshold),
            digits::counted(jobs, "finished job")
        ),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_curve_of_one_job_is_named_and_times_have_ticks_in_words() {
        let row = |share: f64, largest: f64| -> SweepRow {
            serde_json::from_value(serde_json::json!({"threshold": 60,
                "saved_share": {"failed": share, "killed": 0.1},
                "largest_saved_share": {"failed": largest, "killed": 0.2}}))
            .unwrap()
        };
        let of = |rows: Vec<SweepRow>| Sweep {
            rows,
            parameter: "s in dead attempts".into(),
            ..Sweep::default()
        };
        let said = |rows: Vec<SweepRow>| of_one_job(&[&of(rows)]);
        assert_eq!(
            said(vec![row(0.6, 0.95), row(0.1, 0.2)]),
            "One job makes up 95.0 % of the largest saving in failed jobs. "
        );
        assert_eq!(said(vec![row(0.6, 0.2), row(0.1, 0.95)]), "");
        assert_eq!(said(vec![row(0.09, 0.95)]), "", "a small saving");
        assert_eq!(axis_of(&of(Vec::new())), "T, time in dead attempts (s)");
        let events = Sweep { parameter: "events".into(), ..Sweep::default() };
        assert_eq!(axis_of(&events), "T (events)");
    }

    /// Promise: rules whose savings look flat next to those of others are only in the table, and
    /// the caption names them.
    #[test]
    fn rules_that_save_hardly_anything_have_no_panel() {
        let of = |rule: &str, failed: f64| {
            let row = serde_json::json!({"threshold": 1, "saved_share": {"finished": 0.5, "failed": failed}});
            let rows = vec![serde_json::from_value(row).unwrap()];
            Sweep { rule: rule.to_owned(), rows, ..Sweep::default() }
        };
        let (much, little) = (of("restarts", 0.6), of("failures", 0.006));
        let (kept, said) = seen(&[&much, &little]);
        assert_eq!((kept.len(), kept[0].rule.as_str()), (1, "restarts"));
        assert_eq!(
            said,
            " Only in the table, because they save under 1.0 % of every outcome: failures."
        );
        let (kept, said) = seen(&[&little]);
        assert_eq!((kept.len(), said.as_str()), (1, ""));
    }

    proptest! {
        /// Promise: the rows that are left out at the end of a curve save and harm nothing, even in
        /// their intervals. One such row stays, and no curve has fewer than the fewest rows.
        #[test]
        fn only_a_flat_end_of_a_curve_is_left_out(
            rows in prop::collection::vec((0..3_u64, 0..3_u32, prop::bool::weighted(0.2)), 1..15),
        ) {
            let row = |(threshold, &(harmed, net, is_wide)): (i64, &(u64, u32, bool))| SweepRow {
                threshold,
                harmed_jobs: Some(harmed / 2),
                net_share: Some(f64::from(net / 2)),
                interval: is_wide.then(|| Interval {
                    harmed_jobs: Some((0.0, 1.0)),
                    ..Interval::default()
                }),
                ..SweepRow::default()
            };
            let sweep = Sweep { rows: (0..).zip(&rows).map(row).collect(), ..Sweep::default() };
            let (kept, is_cut) = until_flat(&sweep);
            let count = kept.rows.len();
            prop_assert_eq!(is_cut, count < rows.len());
            let is_flat = |own: &(u64, u32, bool)| own.0 < 2 && own.1 < 2 && !own.2;
            prop_assert!(rows[count..].iter().all(is_flat));
            if is_cut {
                prop_assert!(FEWEST <= count && is_flat(&rows[count - 1]));
                let flat = rows.iter().rev().take_while(|own| is_flat(own)).count();
                prop_assert!(flat == rows.len() || count == FEWEST.max(rows.len() - flat + 1));
            }
        }
    }
}
