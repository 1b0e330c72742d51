//! Survival curves with a table below them: the numbers at risk at round times.
//!
//! ```text
//!  1 │‾‾\___              the curves as in any plot
//!    │    \____
//!    └──┬─────┬────
//!      1 min  1 h   duration
//!  number at risk         each number is below the tick of its time
//!  all  980   120
//! ```

use super::canvas::{Align, Canvas, shortened, width_of};
use super::curve::LineChart;
use super::durations;
use super::lines::plot;
use super::theme::{Ink, Tone};
use crate::digits::grouped;

/// Survival curves and the numbers at risk.
#[derive(Clone, Debug)]
pub struct SurvivalChart {
    /// The curves.
    pub plot: LineChart,
    /// A row of numbers for each group.
    pub at_risk: Vec<AtRisk>,
}

/// The numbers at risk of a group.
#[derive(Clone, Debug)]
pub struct AtRisk {
    /// The group, named like its curve.
    pub name: String,
    /// The colour of its curve.
    pub tone: Tone,
    /// Round times, each with the number at risk just before it.
    pub counts: Vec<(f64, u64)>,
}

impl AtRisk {
    /// The number at a tick of the axis; `None` if the tick is not one of the times.
    fn at(&self, time: f64) -> Option<u64> {
        let is_it = |one: &&(f64, u64)| (one.0 - time).abs() <= time * 1e-9;
        self.counts.iter().find(is_it).map(|one| one.1)
    }
}

/// The times at which an axis from `low` to `high` can have a tick: digits times powers of ten, and
/// lengths of time that people name, in order.
#[expect(clippy::cast_possible_truncation, reason = "powers of ten of a number")]
pub(crate) fn round_times(low: f64, high: f64) -> Vec<f64> {
    let low = if 0.0 < low { low } else { 1.0 };
    let (first, last) = (low.log10().floor() as i32, high.max(low).log10().ceil() as i32);
    let powers = first..=last;
    let digits = |power: i32| (1..10).map(move |one| f64::from(one) * 10_f64.powi(power));
    let mut times: Vec<f64> = powers.flat_map(digits).chain(durations::times(low, high)).collect();
    times.sort_by(f64::total_cmp);
    times.dedup_by(|one, other| (*one - *other).abs() <= *other * 1e-9);
    times
}

/// Pixels from one row to the next, as a multiple of the text height.
const ROW: f64 = 1.3;

/// The share of the picture's width for names of groups.
const NAMES: f64 = 0.25;

/// The rows that have numbers. Rows with the same numbers become one row with all their names.
fn joined(at_risk: &[AtRisk]) -> Vec<AtRisk> {
    let mut all: Vec<AtRisk> = Vec::new();
    for row in at_risk.iter().filter(|row| !row.counts.is_empty()) {
        match all.iter_mut().find(|known| known.counts == row.counts) {
            Some(known) => known.name = format!("{}, {}", known.name, row.name),
            None => all.push(row.clone()),
        }
    }
    all
}

pub(super) fn draw(chart: &SurvivalChart, canvas: &mut Canvas) {
    let (size, margin) = (canvas.look.text, canvas.look.margin());
    let at_risk = joined(&chart.at_risk);
    let rows = || at_risk.iter();
    let names = rows().map(|row| width_of(&row.name, size)).fold(0.0, f64::max);
    let names = names.min(NAMES * canvas.look.width);
    let largest = rows().flat_map(|row| &row.counts).map(|one| one.1).max().unwrap_or(0);
    // The first number may be at the left edge of the plot.
    let wide = width_of(&grouped(largest), size);
    let left = if names == 0.0 { 0.0 } else { names + 0.5 * wide + 0.7 * size };
    let frame = plot(&chart.plot, left, canvas);
    if names == 0.0 {
        return;
    }
    let ticks = frame.labelled(canvas).into_iter();
    let times: Vec<f64> = ticks.filter(|&time| rows().all(|row| row.at(time).is_some())).collect();
    let place = |time: f64| frame.at(time, 0.0).0;
    let inside = ..=canvas.look.width - 0.5 * wide;
    let fits = |times: &[f64]| {
        let apart = times.windows(2).map(|pair| place(pair[1]) - place(pair[0]));
        apart.fold(f64::MAX, f64::min) >= wide + 0.8 * size
    };
    // If not all numbers fit, they are only at powers of ten, or only at whole units of time.
    let is_power = |time: f64| (time.log10() - time.log10().round()).abs() < 1e-6;
    let is_unit = |time: f64| [1.0, 60.0, 3600.0, 86_400.0].contains(&time);
    let is_of_time = durations::name_of(&chart.plot.x_axis).is_some();
    let is_round = |time: f64| if is_of_time { is_unit(time) } else { is_power(time) };
    let round: Vec<f64> = times.iter().copied().filter(|&time| is_round(time)).collect();
    let every = |step: usize| round.iter().copied().step_by(step).collect::<Vec<f64>>();
    let choices = std::iter::once(times).chain((1..=4).map(every));
    let Some(times) = choices.into_iter().find(|times| fits(times)) else { return };
    let mut y = canvas.height + 0.7 * size;
    canvas.text("number at risk", (margin, y), Align::Left, size, Ink::FAINT);
    for row in rows() {
        y += ROW * size;
        let name = shortened(&row.name, names, size);
        canvas.text(&name, (margin, y), Align::Left, size, row.tone.text_ink());
        for &time in times.iter().filter(|&&time| inside.contains(&place(time))) {
            let text = row.at(time).map_or_else(String::new, grouped);
            canvas.text(&text, (place(time), y), Align::Middle, size, Ink::TEXT);
        }
    }
    canvas.height = y + ROW * size;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_with_the_same_numbers_share_a_row() {
        let row = |name: &str, counts: &[(f64, u64)]| AtRisk {
            name: name.to_owned(),
            tone: Tone::Ink,
            counts: counts.to_vec(),
        };
        let found = joined(&[
            row("all", &[(1.0, 5)]),
            row("failed", &[]),
            row("finished", &[(1.0, 5)]),
            row("killed", &[(1.0, 4)]),
        ]);
        let names: Vec<&str> = found.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["all, finished", "killed"]);
    }

    #[test]
    fn round_times_hold_every_tick_of_an_axis() {
        let times = round_times(0.3, 40.0);
        for tick in [0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0] {
            assert!(times.iter().any(|time| (time - tick).abs() < 1e-12), "{tick} in {times:?}");
        }
        assert!(round_times(0.0, 0.0).contains(&1.0));
        let times = round_times(0.3, 1e5);
        assert!([60.0, 600.0, 21_600.0, 86_400.0].iter().all(|time| times.contains(time)));
    }
}
