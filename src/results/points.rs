//! The numbers behind a chart, as a table.
//!
//! In: a chart. Out: a row for each bar, point, field or span that is drawn. The names of the axes
//! are the meanings of the columns. The rows hold exactly the drawn numbers, with all digits.

use arrow::record_batch::RecordBatch;

use super::frame::Frame;
use crate::charts::{
    Area, AreaChart, AtRisk, Bar, BarChart, Chart, FlowChart, ForestChart, GanttChart, HeatChart,
    Line, LineChart, MapChart,
};

/// The numbers of a chart.
pub(super) fn points(chart: &Chart) -> RecordBatch {
    match chart {
        Chart::Bars(chart) | Chart::LogBars(chart) => bars(chart),
        Chart::Lines(chart) => curves(&[chart], false, &[]),
        Chart::Panels(chart) => curves(&chart.panels.iter().collect::<Vec<_>>(), true, &[]),
        Chart::Survival(chart) => curves(&[&chart.plot], false, &chart.at_risk),
        Chart::Flow(chart) => ways(chart),
        Chart::Gantt(chart) => spans(chart),
        Chart::Maps(chart) => maps(chart),
        Chart::Areas(chart) => areas(chart),
        Chart::Heat(chart) => heat(chart),
        Chart::Forest(chart) => intervals(chart),
        Chart::Timed(own) => points(&own.known()),
    }
}

fn bars(chart: &BarChart) -> RecordBatch {
    let frame = Frame::default()
        .text("name", chart.bars.iter().map(|bar| &bar.label))
        .about("what the bar stands for")
        .float("value", chart.bars.iter().map(|bar| Some(bar.value)))
        .about(&chart.value_axis)
        .text("note", chart.bars.iter().map(|bar| &bar.note))
        .about("what is written beside the bar");
    if chart.bars.iter().all(|bar| bar.part.is_none()) {
        return frame.batch();
    }
    let part = |bar: &Bar| Some(bar.part.map_or(0.0, |part| part.0));
    frame.float("part", chart.bars.iter().map(part)).about("the last part of the bar").batch()
}

/// A point of a curve, with the bounds of its band at this point.
struct Point<'a> {
    panel: &'a str,
    curve: &'a str,
    x: f64,
    y: Option<f64>,
    band: Option<(f64, f64)>,
    at_risk: Option<u64>,
}

fn curves(panels: &[&LineChart], has_panels: bool, at_risk: &[AtRisk]) -> RecordBatch {
    let mut points: Vec<Point<'_>> = Vec::new();
    for panel in panels {
        for line in &panel.lines {
            points.extend(points_of(&panel.title, line));
        }
    }
    for row in at_risk {
        let own = row.counts.iter().map(|&(x, count)| Point {
            panel: "",
            curve: &row.name,
            x,
            y: None,
            band: None,
            at_risk: Some(count),
        });
        points.extend(own);
    }
    let frame = if has_panels {
        let panels = points.iter().map(|point| point.panel);
        Frame::default().text("panel", panels).about("the plot")
    } else {
        Frame::default()
    };
    let axis = |of: fn(&LineChart) -> &String| panels.first().map_or("", |panel| of(panel));
    let frame = frame
        .text("curve", points.iter().map(|point| point.curve))
        .about("the name of the curve")
        .float("x", points.iter().map(|point| Some(point.x)))
        .about(axis(|panel| &panel.x_axis))
        .float("y", points.iter().map(|point| point.y))
        .about(axis(|panel| &panel.y_axis))
        .float("low", points.iter().map(|point| point.band.map(|band| band.0)))
        .about("lower bound of the band")
        .float("high", points.iter().map(|point| point.band.map(|band| band.1)))
        .about("upper bound of the band");
    if at_risk.is_empty() {
        return frame.batch();
    }
    frame
        .maybe_count("at_risk", points.iter().map(|point| point.at_risk))
        .about("how many are still followed just before x; in rows of their own")
        .batch()
}

/// The paths of a flow, with the node in each stage.
fn ways(chart: &FlowChart) -> RecordBatch {
    let name_of = |stage: usize, node: usize| {
        chart.stages.get(stage).and_then(|nodes| nodes.get(node)).map_or("", |node| &node.name)
    };
    let frame = (0..chart.stages.len()).fold(Frame::default(), |frame, stage| {
        let names = chart
            .ways
            .iter()
            .map(|way| way.nodes.get(stage).map_or("", |&node| name_of(stage, node)));
        frame.text(&format!("stage_{}", stage + 1), names).about("the node in this stage")
    });
    frame.count("count", chart.ways.iter().map(|way| way.count)).about(&chart.unit).batch()
}

/// The points of a curve, then the positions of its band at which the curve has no point.
fn points_of<'a>(panel: &'a str, line: &'a Line) -> Vec<Point<'a>> {
    let curve = line.name.as_str();
    let band_at = |x: f64| {
        let place = line.band.iter().find(|bound| bound.0.to_bits() == x.to_bits());
        place.map(|bound| (bound.1, bound.2))
    };
    let own = line.points.iter();
    let mut points: Vec<Point<'_>> = own
        .map(|&(x, y)| Point { panel, curve, x, y: Some(y), band: band_at(x), at_risk: None })
        .collect();
    let has_point = |x: f64| line.points.iter().any(|point| point.0.to_bits() == x.to_bits());
    let alone = line.band.iter().filter(|bound| !has_point(bound.0));
    points.extend(alone.map(|&(x, low, high)| {
        let band = Some((low, high));
        Point { panel, curve, x, y: None, band, at_risk: None }
    }));
    points
}

fn spans(chart: &GanttChart) -> RecordBatch {
    // A row without a name belongs to the one above it.
    let name_of = |row: usize| {
        let above = chart.rows.iter().take(row + 1).rev();
        above.map(String::as_str).find(|name| !name.is_empty()).unwrap_or("")
    };
    Frame::default()
        .text("row", chart.spans.iter().map(|span| name_of(span.row)))
        .about("the row of the span")
        .float("from", chart.spans.iter().map(|span| Some(span.from)))
        .about(&chart.time_axis)
        .float("until", chart.spans.iter().map(|span| Some(span.to)))
        .about(&chart.time_axis)
        .text("label", chart.spans.iter().map(|span| &span.label))
        .about("what is written on the span")
        .batch()
}

fn intervals(chart: &ForestChart) -> RecordBatch {
    let cells = chart.columns.iter().flat_map(|column| {
        let rows = chart.rows.iter().zip(&column.values);
        rows.map(|(name, value)| (&column.axis, name, *value))
    });
    let cells: Vec<_> = cells.collect();
    let each = || cells.iter();
    Frame::default()
        .text("measure", each().map(|cell| cell.0))
        .about("the column, with its unit")
        .text("name", each().map(|cell| cell.1))
        .about("the name of the row")
        .float("value", each().map(|cell| cell.2.map(|own| own.value)))
        .about("the value; null where it is not known")
        .float("low", each().map(|cell| cell.2.map(|own| own.low)))
        .about("lower bound of the interval")
        .float("high", each().map(|cell| cell.2.map(|own| own.high)))
        .about("upper bound of the interval")
        .batch()
}

fn maps(chart: &MapChart) -> RecordBatch {
    let [(x_axis, xs), (y_axis, ys)] = [&chart.x, &chart.y];
    let mut cells = Vec::new();
    for panel in &chart.panels {
        for (row, y) in panel.fields.chunks(xs.len().max(1)).zip(ys) {
            cells.extend(row.iter().zip(xs).map(|(field, x)| (&panel.name, x, y, field)));
        }
    }
    Frame::default()
        .text("panel", cells.iter().map(|cell| cell.0))
        .about("the map")
        .text("x", cells.iter().map(|cell| cell.1))
        .about(x_axis)
        .text("y", cells.iter().map(|cell| cell.2))
        .about(y_axis)
        .float("share", cells.iter().map(|cell| Some(cell.3.share)))
        .about("from 0 to 1, how dark the field is")
        .text("label", cells.iter().map(|cell| &cell.3.label))
        .about("what is written on the field")
        .batch()
}

fn areas(chart: &AreaChart) -> RecordBatch {
    let of = |kind: &'static str, areas: &[Area]| {
        let cells = areas.iter().flat_map(|area| {
            let intervals = chart.edges.windows(2).enumerate();
            intervals.map(|(idx, edges)| {
                let value = area.values.get(idx).copied().flatten();
                (kind, area.name.clone(), edges[0], edges[1], value)
            })
        });
        cells.collect::<Vec<_>>()
    };
    let mut cells = of("area", &chart.areas);
    cells.extend(of("line", &chart.lines));
    Frame::default()
        .text("kind", cells.iter().map(|cell| cell.0))
        .about("`area`, stacked on those before it, or `line`")
        .text("name", cells.iter().map(|cell| &cell.1))
        .about("what the area or line stands for")
        .float("from", cells.iter().map(|cell| Some(cell.2)))
        .about(&chart.x_axis)
        .float("until", cells.iter().map(|cell| Some(cell.3)))
        .about(&chart.x_axis)
        .float("value", cells.iter().map(|cell| cell.4))
        .about(&chart.y_axis)
        .batch()
}

fn heat(chart: &HeatChart) -> RecordBatch {
    let mut cells = Vec::new();
    for row in &chart.rows {
        #[expect(clippy::cast_precision_loss, reason = "a row has far fewer than 2^52 fields")]
        let (count, length) = (row.values.len() as f64, chart.x.end - chart.x.start);
        let mut from = chart.x.start;
        for (number, value) in (1_u32..).zip(&row.values) {
            let until = chart.x.start + length * f64::from(number) / count;
            cells.push((&row.name, from, until, *value));
            from = until;
        }
    }
    Frame::default()
        .text("row", cells.iter().map(|cell| cell.0))
        .about(&chart.y_axis)
        .float("from", cells.iter().map(|cell| Some(cell.1)))
        .about(&chart.x_axis)
        .float("until", cells.iter().map(|cell| Some(cell.2)))
        .about(&chart.x_axis)
        .float("value", cells.iter().map(|cell| cell.3))
        .about(&chart.value)
        .batch()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::{FlowNode, FlowWay, Scale, SurvivalChart, Tone};
    use crate::results::forms;

    fn text(chart: &Chart) -> String {
        String::from_utf8(forms::csv(&points(chart)).unwrap()).unwrap()
    }

    #[test]
    fn a_band_stands_beside_its_point_and_alone_where_there_is_none() {
        let word = |word: &str| word.to_owned();
        let line = Line {
            band: vec![(1.0, 0.25, 0.75), (2.0, 0.5, 1.5)],
            ..Line::steps(word("a"), vec![(0.0, 0.0), (1.0, 0.5)], Tone::Blue)
        };
        let chart = Chart::Lines(LineChart {
            title: word("title"),
            caption: word(""),
            x_axis: word("threshold"),
            y_axis: word("share"),
            x_scale: Scale::Linear,
            y_from: 0.0,
            lines: vec![line],
        });
        let expected = "curve,x,y,low,high\na,0.0,0.0,,\na,1.0,0.5,0.25,0.75\na,2.0,,0.5,1.5\n";
        assert_eq!(text(&chart), expected);
        let schema = points(&chart).schema();
        let about =
            |name: &str| schema.field_with_name(name).unwrap().metadata()["meaning"].clone();
        assert_eq!([about("x"), about("y")], ["threshold", "share"]);
    }

    #[test]
    fn a_survival_has_its_numbers_at_risk_and_a_flow_its_ways() {
        let word = |word: &str| word.to_owned();
        let plot = LineChart {
            title: word("title"),
            caption: word(""),
            x_axis: word("s"),
            y_axis: word("share"),
            x_scale: Scale::Log,
            y_from: 0.0,
            lines: vec![Line::steps(word("a"), vec![(1.0, 0.5)], Tone::Blue)],
        };
        let at_risk = vec![AtRisk { name: word("a"), tone: Tone::Blue, counts: vec![(1.0, 7)] }];
        let chart = Chart::Survival(SurvivalChart { plot, at_risk });
        assert_eq!(text(&chart), "curve,x,y,low,high,at_risk\na,1.0,0.5,,,\na,1.0,,,,7\n");
        let node = |name: &str| FlowNode { name: word(name), tone: Tone::Blue };
        let chart = Chart::Flow(FlowChart {
            title: word("title"),
            caption: word(""),
            unit: word("jobs"),
            stages: vec![vec![node("here")], vec![node("x"), node("y")]],
            ways: vec![FlowWay { nodes: vec![0, 1], count: 3 }],
        });
        assert_eq!(text(&chart), "stage_1,stage_2,count\nhere,y,3\n");
    }

    #[test]
    fn an_area_has_a_row_for_each_interval() {
        let area = |name: &str, values: &[Option<f64>]| Area {
            name: name.to_owned(),
            values: values.to_vec(),
            tone: Tone::Blue,
        };
        let chart = Chart::Areas(AreaChart {
            title: String::new(),
            caption: String::new(),
            x_axis: "day".to_owned(),
            y_axis: "cores".to_owned(),
            edges: vec![0.0, 1.0, 2.5],
            areas: vec![area("used", &[Some(3.0), None])],
            lines: vec![area("there", &[Some(4.0), Some(5.0)])],
        });
        assert_eq!(
            text(&chart),
            "kind,name,from,until,value\narea,used,0.0,1.0,3.0\narea,used,1.0,2.5,\n\
             line,there,0.0,1.0,4.0\nline,there,1.0,2.5,5.0\n"
        );
    }
}
