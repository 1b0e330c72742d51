//! Decides which parts of a chart are worth drawing.
//!
//! In: a chart. Out: the same chart without zeros, and with equal curves drawn once under all their
//! names; `None` if a sentence can replace the chart.

use super::{
    AreaChart, BarChart, Chart, FlowChart, ForestChart, ForestColumn, LineChart, PanelChart,
    Stroke, SurvivalChart, TimedChart,
};

/// The chart without empty parts; `None` if nothing is left to compare.
pub fn worth_drawing(chart: &Chart) -> Option<Chart> {
    match chart {
        Chart::Bars(bars) => self::bars(bars).map(Chart::Bars),
        Chart::LogBars(bars) => self::bars(bars).map(Chart::LogBars),
        Chart::Lines(lines) => self::lines(lines).map(Chart::Lines),
        Chart::Panels(panels) => self::panels(panels).map(Chart::Panels),
        Chart::Areas(areas) => self::areas(areas).map(Chart::Areas),
        Chart::Forest(forest) => self::forest(forest).map(Chart::Forest),
        Chart::Survival(survival) => self::survival(survival).map(Chart::Survival),
        Chart::Flow(flow) => self::flow(flow).map(Chart::Flow),
        Chart::Timed(own) => {
            let chart = Box::new(worth_drawing(&own.chart)?);
            Some(Chart::Timed(TimedChart { chart, ..own.clone() }))
        }
        other => Some(other.clone()),
    }
}

/// Bars above zero; `None` if there are fewer than two, since a single bar is just a number.
fn bars(chart: &BarChart) -> Option<BarChart> {
    let bars: Vec<_> = chart.bars.iter().filter(|bar| bar.value != 0.0).cloned().collect();
    (1 < bars.len()).then(|| BarChart { bars, ..chart.clone() })
}

/// Rows with a value; `None` if there are fewer than two, since a single row is just a number.
fn forest(chart: &ForestChart) -> Option<ForestChart> {
    let is_told = |row: usize| {
        chart.columns.iter().any(|column| column.values.get(row).is_some_and(Option::is_some))
    };
    let told: Vec<usize> = (0..chart.rows.len()).filter(|&row| is_told(row)).collect();
    let columns = chart.columns.iter().map(|column| ForestColumn {
        values: told.iter().map(|&row| column.values.get(row).copied().flatten()).collect(),
        notes: told.iter().filter_map(|&row| column.notes.get(row).cloned()).collect(),
        ..column.clone()
    });
    let rows = told.iter().map(|&row| chart.rows[row].clone()).collect();
    let forest = ForestChart { rows, columns: columns.collect(), ..chart.clone() };
    (1 < told.len()).then_some(forest)
}

/// Distinct curves; `None` if all of them are zero throughout.
fn lines(chart: &LineChart) -> Option<LineChart> {
    let mut points = chart.lines.iter().flat_map(|line| &line.points);
    if points.all(|point| point.1 == 0.0) {
        return None;
    }
    let mut kept: Vec<super::Line> = Vec::new();
    for line in &chart.lines {
        let is_curve = matches!(line.stroke, Stroke::Steps | Stroke::Straight);
        let twin = kept.iter_mut().find(|known| {
            is_curve
                && known.stroke == line.stroke
                && 1 < line.points.len()
                && known.points == line.points
                && known.band == line.band
                && !known.name.is_empty()
                && !line.name.is_empty()
        });
        match twin {
            Some(twin) => twin.name = format!("{} = {}", twin.name, line.name),
            None => kept.push(line.clone()),
        }
    }
    Some(LineChart { lines: kept, ..chart.clone() })
}

/// The curves, with all numbers at risk.
fn survival(chart: &SurvivalChart) -> Option<SurvivalChart> {
    Some(SurvivalChart { plot: lines(&chart.plot)?, ..chart.clone() })
}

/// Paths with jobs; `None` if there are fewer than two, since a single path is just a number.
fn flow(chart: &FlowChart) -> Option<FlowChart> {
    let ways: Vec<_> = chart.ways.iter().filter(|way| 0 < way.count).cloned().collect();
    (1 < ways.len()).then(|| FlowChart { ways, ..chart.clone() })
}

/// All plots, since they are in columns; `None` if none of them is worth drawing.
fn panels(chart: &PanelChart) -> Option<PanelChart> {
    chart.panels.iter().any(|panel| lines(panel).is_some()).then(|| chart.clone())
}

/// Areas that are above zero somewhere.
fn areas(chart: &AreaChart) -> Option<AreaChart> {
    let is_there = |area: &&super::Area| area.values.iter().flatten().any(|value| *value != 0.0);
    let areas: Vec<_> = chart.areas.iter().filter(is_there).cloned().collect();
    (!areas.is_empty()).then(|| AreaChart { areas, ..chart.clone() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::charts::{Bar, Line, Scale, Tone};

    fn bars_of(values: &[f64]) -> Chart {
        let bar = |value: &f64| Bar {
            label: "a".to_owned(),
            value: *value,
            note: String::new(),
            tone: Tone::Blue,
            part: None,
        };
        let text = String::new;
        let bars = values.iter().map(bar).collect();
        Chart::Bars(BarChart { title: text(), caption: text(), value_axis: text(), bars })
    }

    fn lines_of(curves: &[(&str, &[f64])]) -> Chart {
        let line = |&(name, heights): &(&str, &[f64])| {
            let points = (0..).zip(heights).map(|(x, y)| (f64::from(x), *y)).collect();
            Line::steps(name.to_owned(), points, Tone::Blue)
        };
        let text = String::new;
        Chart::Lines(LineChart {
            title: text(),
            caption: text(),
            x_axis: text(),
            y_axis: text(),
            x_scale: Scale::Linear,
            y_from: 0.0,
            lines: curves.iter().map(line).collect(),
        })
    }

    fn names(chart: &Chart) -> Vec<&str> {
        let Chart::Lines(chart) = chart else { return Vec::new() };
        chart.lines.iter().map(|line| line.name.as_str()).collect()
    }

    #[test]
    fn one_outcome_is_no_picture() {
        assert!(worth_drawing(&bars_of(&[9.0, 0.0, 0.0])).is_none());
        assert!(worth_drawing(&bars_of(&[0.0, 0.0])).is_none());
        assert!(worth_drawing(&bars_of(&[])).is_none());
        let Some(Chart::Bars(left)) = worth_drawing(&bars_of(&[9.0, 0.0, 1.0])) else { panic!() };
        assert_eq!(left.bars.len(), 2);
    }

    #[test]
    fn equal_curves_are_drawn_once_under_all_their_names() {
        let same: &[f64] = &[0.0, 1.0, 2.0];
        let left =
            worth_drawing(&lines_of(&[("fifo", same), ("fair", &[0.0, 3.0]), ("easy", same)]));
        assert_eq!(names(&left.unwrap()), ["fifo = easy", "fair"]);
        assert!(worth_drawing(&lines_of(&[("fifo", &[0.0, 0.0]), ("easy", &[0.0])])).is_none());
        assert!(worth_drawing(&lines_of(&[("fifo", &[])])).is_none());
    }

    proptest! {
        /// All values above zero remain, in the same order.
        #[test]
        fn no_value_above_zero_is_lost(values in prop::collection::vec(prop_oneof![Just(0.0), 0.1..9.0_f64], 0..9)) {
            let above: Vec<f64> = values.iter().copied().filter(|value| *value != 0.0).collect();
            match worth_drawing(&bars_of(&values)) {
                Some(Chart::Bars(left)) => {
                    let left: Vec<f64> = left.bars.iter().map(|bar| bar.value).collect();
                    prop_assert_eq!(left, above);
                }
                _ => prop_assert!(above.len() < 2),
            }
        }
    }
}
