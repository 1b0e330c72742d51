//! Promises of every picture, for any contents and width: no text overlaps another, none is cut
//! off, and none is too small to print.

use proptest::prelude::*;

use super::canvas::{Align, Canvas, Mark, width_of};
use super::*;

/// Left, top, right and bottom of every text.
fn boxes(canvas: &Canvas) -> Vec<([f64; 4], String)> {
    let texts = canvas.head.iter().chain(&canvas.marks).filter_map(|mark| match mark {
        Mark::Text { at: (x, y), text, size, align, is_turned, .. } => {
            let length = width_of(text, *size);
            let back = match align {
                Align::Left => 0.0,
                Align::Middle => length / 2.0,
                Align::Right => length,
            };
            // From the foot of a capital to its head.
            let high = 0.72 * size;
            let at = if *is_turned {
                [x - high, y + back - length, *x, y + back]
            } else {
                [x - back, y - high, x - back + length, *y]
            };
            Some((at, text.clone()))
        }
        _ => None,
    });
    texts.collect()
}

/// The problem of a picture, if there is one.
fn fault(chart: &Chart, look: Look) -> Option<String> {
    let canvas = drawn(chart, look);
    let boxes = boxes(&canvas);
    let (width, height, above) = (look.width, canvas.height, canvas.head_height);
    for (idx, ([left, top, right, bottom], text)) in boxes.iter().enumerate() {
        if *left < -0.5 || width + 0.5 < *right || *top < -above || height < *bottom {
            return Some(format!(
                "`{text}` is cut: {left:.1} to {right:.1} of {width}, {top:.1} to {bottom:.1} of {height:.1}"
            ));
        }
        for ([other_left, other_top, other_right, other_bottom], other) in &boxes[..idx] {
            let across = right.min(*other_right) - left.max(*other_left);
            let down = bottom.min(*other_bottom) - top.max(*other_top);
            if 0.5 < across && 0.5 < down {
                return Some(format!("`{text}` lies on `{other}`"));
            }
        }
    }
    // 7.5 points are 10 pixels of 1/96 in.
    let smallest = canvas.head.iter().chain(&canvas.marks).filter_map(|mark| match mark {
        Mark::Text { size, .. } => Some(*size),
        _ => None,
    });
    let smallest = smallest.fold(f64::MAX, f64::min);
    (smallest < 10.0).then(|| format!("text of {smallest} pixels"))
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{1,9}( [a-z]{1,9}){0,3}", "[a-z]{1,40}", Just(String::new())]
}

fn amount() -> impl Strategy<Value = f64> {
    prop_oneof![0.0..1.0_f64, 0.0..1e4_f64, 0.0..1e12_f64]
}

fn tone() -> impl Strategy<Value = Tone> {
    (0..Tone::SERIES.len()).prop_map(|idx| Tone::SERIES[idx])
}

fn lines() -> impl Strategy<Value = LineChart> {
    let stroke = prop_oneof![
        Just(Stroke::Straight),
        Just(Stroke::Steps),
        Just(Stroke::Marked),
        Just(Stroke::Rings),
        Just(Stroke::Points),
        Just(Stroke::Label)
    ];
    let points = prop::collection::vec((amount(), amount()), 0..12).prop_map(|mut points| {
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        points
    });
    let line = (words(), points, tone(), stroke).prop_map(|(name, points, tone, stroke)| Line {
        name,
        points,
        band: Vec::new(),
        tone,
        stroke,
    });
    let lines = prop::collection::vec(line, 0..9);
    (words(), words(), words(), words(), any::<bool>(), lines).prop_map(
        |(title, caption, x_axis, y_axis, is_log, lines)| {
            let x_scale = if is_log { Scale::Log } else { Scale::Linear };
            LineChart { title, caption, x_axis, y_axis, x_scale, y_from: 0.0, lines }
        },
    )
}

fn bars() -> impl Strategy<Value = Chart> {
    let bar = (words(), amount(), words(), tone()).prop_map(|(label, value, note, tone)| Bar {
        label,
        value,
        note,
        tone,
        part: None,
    });
    (words(), words(), words(), prop::collection::vec(bar, 0..9)).prop_map(
        |(title, caption, value_axis, bars)| {
            Chart::Bars(BarChart { title, caption, value_axis, bars })
        },
    )
}

fn gantt() -> impl Strategy<Value = Chart> {
    let span = (0..6_usize, amount(), 0.0..1e3_f64, words(), tone(), any::<bool>()).prop_map(
        |(row, from, length, label, tone, is_wait)| GanttSpan {
            row,
            from,
            to: from + length,
            label,
            tone,
            is_wait,
        },
    );
    let rows = prop::collection::vec(words(), 6);
    let legend = prop::collection::vec((words(), tone()), 0..6);
    // Bars in a row do not overlap, like attempts on a machine.
    let spans = prop::collection::vec(span, 0..1);
    (words(), words(), rows, spans, legend).prop_map(|(title, time_axis, rows, spans, legend)| {
        let caption = String::new();
        Chart::Gantt(GanttChart { title, caption, time_axis, rows, spans, legend })
    })
}

fn maps() -> impl Strategy<Value = Chart> {
    let names = || prop::collection::vec("[0-9]{1,4}", 1..6);
    (words(), words(), words(), names(), names(), prop::collection::vec(words(), 0..5)).prop_map(
        |(title, x, y, columns, rows, panels)| {
            let fields = columns.len() * rows.len();
            let field = MapField { share: 0.5, label: "7".to_owned() };
            let panel = |name| MapPanel { name, fields: vec![field.clone(); fields] };
            Chart::Maps(MapChart {
                title,
                caption: String::new(),
                x: (x, columns),
                y: (y, rows),
                panels: panels.into_iter().map(panel).collect(),
            })
        },
    )
}

fn areas() -> impl Strategy<Value = Chart> {
    let area = || {
        (words(), prop::collection::vec(prop::option::of(amount()), 5), tone())
            .prop_map(|(name, values, tone)| Area { name, values, tone })
    };
    let areas = || prop::collection::vec(area(), 0..5);
    (words(), words(), words(), 0.1..1e6_f64, areas(), areas()).prop_map(
        |(title, x_axis, y_axis, step, areas, lines)| {
            let (edges, caption) = ((0..6).map(|at| f64::from(at) * step).collect(), String::new());
            Chart::Areas(AreaChart { title, caption, x_axis, y_axis, edges, areas, lines })
        },
    )
}

fn heat() -> impl Strategy<Value = Chart> {
    let row = (words(), prop::collection::vec(prop::option::of(amount()), 0..30))
        .prop_map(|(name, values)| HeatRow { name, values });
    let rows = prop::collection::vec(row, 0..9);
    (words(), words(), 0.1..1e6_f64, words(), rows, words()).prop_map(
        |(title, x_axis, end, y_axis, rows, value)| {
            let (caption, x) = (String::new(), 0.0..end);
            Chart::Heat(HeatChart { title, caption, x_axis, x, y_axis, rows, value })
        },
    )
}

fn forest() -> impl Strategy<Value = Chart> {
    let interval = (amount(), amount(), amount()).prop_map(|(one, two, three)| {
        let mut all = [one, two, three];
        all.sort_by(f64::total_cmp);
        let [low, value, high] = all;
        Interval { low, value, high }
    });
    let values = prop::collection::vec(prop::option::of(interval), 9);
    let notes = prop_oneof![Just(Vec::new()), prop::collection::vec(words(), 9)];
    let scale = prop_oneof![Just(Scale::Linear), Just(Scale::Log)];
    let axis = prop_oneof![words(), words().prop_map(|name| format!("{name} (min)"))];
    let column =
        (axis, values, tone(), notes, scale).prop_map(|(axis, values, tone, notes, scale)| {
            ForestColumn { axis, values, notes, scale, tone }
        });
    let columns = prop::collection::vec(column, 0..4);
    (words(), words(), prop::collection::vec(words(), 0..9), columns).prop_map(
        |(title, caption, rows, columns)| {
            Chart::Forest(ForestChart { title, caption, rows, columns })
        },
    )
}

fn panels() -> impl Strategy<Value = Chart> {
    (words(), words(), prop::collection::vec(lines(), 0..5), 1..4_usize).prop_map(
        |(title, caption, panels, columns)| {
            Chart::Panels(PanelChart { title, caption, panels, columns })
        },
    )
}

fn survival() -> impl Strategy<Value = Chart> {
    let row = (words(), tone(), any::<u64>()).prop_map(|(name, tone, most)| {
        let times = round_times(0.01, 1e12).into_iter();
        let counts = times.zip(0..).map(|(time, at)| (time, most >> (at / 3))).collect();
        AtRisk { name, tone, counts }
    });
    (lines(), prop::collection::vec(row, 0..6)).prop_map(|(plot, at_risk)| {
        let plot = LineChart { x_scale: Scale::Log, ..plot };
        Chart::Survival(SurvivalChart { plot, at_risk })
    })
}

fn flow() -> impl Strategy<Value = Chart> {
    let node = (words(), tone()).prop_map(|(name, tone)| FlowNode { name, tone });
    let stages = prop::collection::vec(prop::collection::vec(node, 4), 3);
    let way = (prop::collection::vec(0..4_usize, 3), 0..10_000_000_u64)
        .prop_map(|(nodes, count)| FlowWay { nodes, count });
    (words(), words(), stages, prop::collection::vec(way, 0..9)).prop_map(
        |(title, caption, stages, ways)| {
            let unit = "jobs".to_owned();
            Chart::Flow(FlowChart { title, caption, unit, stages, ways })
        },
    )
}

fn gapped() -> impl Strategy<Value = Chart> {
    let chart = prop_oneof![lines().prop_map(Chart::Lines), gantt(), panels(), areas(), heat()];
    (chart, -1e3..1e6_f64, 1.0..1e6_f64).prop_map(|(chart, from, length)| {
        chart.over_time(vec![[from, from + length]], "Hatched.", None)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn no_text_of_a_picture_lies_on_another_or_is_cut(
        chart in prop_oneof![lines().prop_map(Chart::Lines), bars(), gantt(), maps(), panels(), areas(), heat(), forest(),
            survival(), flow(), gapped()],
        width_in in prop_oneof![Just(3.3), Just(7.0), 2.5..20.0_f64],
        is_titled in any::<bool>(),
    ) {
        for look in [Look::SCREEN, Look::paper(width_in).unwrap()] {
            let look = Look { is_titled, ..look };
            prop_assert_eq!(fault(&chart, look), None);
        }
    }
}

/// Promise: plots below each other fit on a page of paper. If there is no space for the wanted
/// number of columns, a title that all plots share is only below the last plot of each column.
#[test]
fn many_plots_fit_on_a_narrow_page() {
    let plot = |x_axis: &str| LineChart {
        title: "one".into(),
        caption: String::new(),
        x_axis: x_axis.into(),
        y_axis: "y".into(),
        x_scale: Scale::Linear,
        y_from: 0.0,
        lines: Vec::new(),
    };
    let of = |axes: [&str; 6], columns, look| {
        let (title, caption) = (String::new(), String::new());
        let panels = axes.map(plot).into();
        drawn(&Chart::Panels(PanelChart { title, caption, panels, columns }), look)
    };
    let titles = |canvas: &Canvas| boxes(canvas).iter().filter(|one| one.1 == "x").count();
    let paper = Look::paper(3.3).unwrap();
    assert_eq!(titles(&of(["x"; 6], 3, paper)), 2);
    assert_eq!(titles(&of(["x", "x", "x", "x", "x", "z"], 3, paper)), 5);
    assert_eq!(titles(&of(["x"; 6], 2, paper)), 6);
    assert_eq!(titles(&of(["x"; 6], 3, Look::SCREEN)), 6);
    for columns in [1, 2, 3] {
        let canvas = of(["x"; 6], columns, paper);
        assert!(canvas.height < 2.8 * paper.width, "{columns}: {}", canvas.height);
    }
}

/// Promise: measures of a dozen detectors, some of them below others, fit on half a page of paper.
#[test]
fn many_intervals_fit_on_a_narrow_page() {
    let paper = Look::paper(3.3).unwrap();
    let of = |axes: &[&str]| {
        let interval = |value| Some(Interval { low: value / 2.0, value, high: value * 1.1 });
        let column = |axis: &&str| {
            let values = (1..=13).map(|place| interval(7.0 * f64::from(place))).collect();
            ForestColumn::new((*axis).into(), values, Tone::Blue)
        };
        let forest = ForestChart {
            title: "Title".into(),
            caption: String::new(),
            rows: (1..=13).map(|place| format!("ytsaurus{place}")).collect(),
            columns: axes.iter().map(column).collect(),
        };
        drawn(&Chart::Forest(forest), paper).height / paper.width * 3.3
    };
    for axes in [
        &["precision (%)", "recall (%)", "lead time (s)"][..],
        &["in hours of change (per 1,000 task-hours)", "in other hours (per 1,000 task-hours)"],
    ] {
        assert!(of(axes) < 5.0, "{axes:?}: {} in", of(axes));
    }
}

/// One chart of each kind.
fn one_of_each() -> Vec<Chart> {
    let bar = |label: &str, value| Bar {
        label: label.into(),
        value,
        note: "1,000 (50.0 %)".into(),
        tone: outcome_tone(label),
        part: None,
    };
    let bars = Chart::Bars(BarChart {
        title: "Title".into(),
        caption: "Caption <with> & signs".into(),
        value_axis: "jobs".into(),
        bars: vec![bar("finished", 1000.0), bar("failed", 0.0)],
    });
    let line = Line {
        name: "all".into(),
        points: vec![(0.0, 0.0), (1.0, 0.25), (10.0, 1.0)],
        band: Vec::new(),
        tone: Tone::Ink,
        stroke: Stroke::Steps,
    };
    let plain_lines = |x_scale| LineChart {
        title: "Title".into(),
        caption: "Caption".into(),
        x_axis: "x (s)".into(),
        y_axis: "y".into(),
        x_scale,
        y_from: 0.0,
        lines: vec![line.clone()],
    };
    let lines = |x_scale| Chart::Lines(plain_lines(x_scale));
    let span = |row, from| GanttSpan {
        row,
        from,
        to: from + 2.0,
        label: "9/1".into(),
        tone: Tone::Green,
        is_wait: false,
    };
    let gantt = Chart::Gantt(GanttChart {
        title: "Title".into(),
        caption: "Caption".into(),
        time_axis: "s".into(),
        rows: vec!["7".into(), String::new()],
        spans: vec![span(0, 0.0), span(1, 1.0)],
        legend: vec![("finished".into(), Tone::Green)],
    });
    let field = |share| MapField { share, label: "3".into() };
    let maps = Chart::Maps(MapChart {
        title: "Title".into(),
        caption: "Caption".into(),
        x: ("x".into(), vec!["1".into(), "2".into()]),
        y: ("y".into(), vec!["a".into()]),
        panels: vec![MapPanel { name: "one".into(), fields: vec![field(0.0), field(1.0)] }],
    });
    let panels = Chart::Panels(PanelChart {
        title: "Title".into(),
        caption: "Caption".into(),
        panels: ["one", "two"]
            .map(|name| LineChart { title: name.into(), ..plain_lines(Scale::Linear) })
            .into(),
        columns: 2,
    });
    let mut all = vec![bars, lines(Scale::Linear), lines(Scale::Log), panels, gantt, maps];
    all.extend(areas_and_fields());
    all.extend(forest_survival_and_flow(plain_lines(Scale::Log)));
    all
}

/// One chart of intervals, one of survival and one of flow.
fn forest_survival_and_flow(plot: LineChart) -> [Chart; 3] {
    let interval = |value| Some(Interval { low: value / 2.0, value, high: value * 1.5 });
    let column = |axis: &str| {
        ForestColumn::new(axis.into(), vec![interval(20.0), None, interval(60.0)], Tone::Blue)
    };
    let forest = Chart::Forest(ForestChart {
        title: "Title".into(),
        caption: "Caption".into(),
        rows: ["late", "yarn", "spark"].map(str::to_owned).into(),
        columns: vec![column("precision (%)"), column("recall (%)")],
    });
    let counts = round_times(1.0, 10.0).into_iter().map(|time| (time, 7)).collect();
    let survival = Chart::Survival(SurvivalChart {
        plot,
        at_risk: vec![AtRisk { name: "all".into(), tone: Tone::Ink, counts }],
    });
    let node = |name: &str| FlowNode { name: name.into(), tone: outcome_tone(name) };
    let flow = Chart::Flow(FlowChart {
        title: "Title".into(),
        caption: "Caption".into(),
        unit: "jobs".into(),
        stages: vec![vec![node("submitted")], vec![node("finished"), node("failed")]],
        ways: vec![
            FlowWay { nodes: vec![0, 0], count: 3 },
            FlowWay { nodes: vec![0, 1], count: 1 },
        ],
    });
    [forest, survival, flow]
}

/// One chart of areas and one of cells.
fn areas_and_fields() -> [Chart; 2] {
    let area = |tone, values: [f64; 2]| Area {
        name: "free".into(),
        values: values.map(Some).into(),
        tone,
    };
    let areas = Chart::Areas(AreaChart {
        title: "Title".into(),
        caption: "Caption".into(),
        x_axis: "h".into(),
        y_axis: "CPU".into(),
        edges: vec![0.0, 1.0, 2.0],
        areas: vec![area(Tone::Blue, [1.0, 2.0]), area(Tone::Sky, [0.0, 2.0])],
        lines: vec![area(Tone::Ink, [5.0, 5.0])],
    });
    let row = |name: &str| HeatRow { name: name.into(), values: vec![Some(1.0), None, Some(2.0)] };
    let heat = Chart::Heat(HeatChart {
        title: "Title".into(),
        caption: "Caption".into(),
        x_axis: "hour".into(),
        x: 0.0..24.0,
        y_axis: String::new(),
        rows: vec![row("Sunday"), row("Monday")],
        value: "jobs".into(),
    });
    [areas, heat]
}

/// Formats that this build can draw.
const DRAWN: &[ChartFormat] =
    if cfg!(feature = "charts") { &ChartFormat::ALL } else { &[ChartFormat::Svg] };

/// Promise: the error for a format that cannot be drawn names the feature for it.
#[test]
fn a_missing_painter_names_its_feature() {
    let [chart, _] = areas_and_fields();
    for format in ChartFormat::ALL.into_iter().filter(|format| !DRAWN.contains(format)) {
        let said = file_of(&chart, Look::SCREEN, format).unwrap_err().to_string();
        assert!(said.contains("feature `charts`") && said.contains(format.ending()), "{said}");
    }
}

#[test]
fn a_chart_is_the_same_bytes_each_time() {
    for chart in one_of_each() {
        for look in [Look::SCREEN, Look::paper(3.3).unwrap()] {
            for &format in DRAWN {
                let bytes = file_of(&chart, look, format).unwrap();
                assert_eq!(bytes, file_of(&chart, look, format).unwrap());
            }
        }
        let svg = svg_of(&chart);
        assert!(svg.contains("Title") && !svg.contains("<with>"), "names are escaped");
        assert!(svg.contains("<title>"), "values are shown");
        let (rest, [width, height]) = without_head(&svg).unwrap();
        assert!(!rest.contains("Title") && width == 840.0 && 100.0 < height, "{rest}");
    }
}

#[test]
fn empty_charts_are_drawn_and_not_a_crash() {
    let draw = |chart| {
        for look in [Look::SCREEN, Look::paper(2.5).unwrap()] {
            for &format in DRAWN {
                file_of(&chart, look, format).unwrap();
            }
        }
    };
    let text = String::new;
    let bars = BarChart { title: text(), caption: text(), value_axis: text(), bars: Vec::new() };
    draw(Chart::Bars(bars));
    let gantt = GanttChart {
        title: text(),
        caption: text(),
        time_axis: text(),
        rows: Vec::new(),
        spans: Vec::new(),
        legend: Vec::new(),
    };
    draw(Chart::Gantt(gantt));
    let maps = MapChart {
        title: text(),
        caption: text(),
        x: (text(), Vec::new()),
        y: (text(), Vec::new()),
        panels: Vec::new(),
    };
    draw(Chart::Maps(maps));
    let areas = AreaChart {
        title: text(),
        caption: text(),
        x_axis: text(),
        y_axis: text(),
        edges: Vec::new(),
        areas: Vec::new(),
        lines: Vec::new(),
    };
    draw(Chart::Areas(areas));
    let heat = HeatChart {
        title: text(),
        caption: text(),
        x_axis: text(),
        x: 0.0..0.0,
        y_axis: text(),
        rows: Vec::new(),
        value: text(),
    };
    draw(Chart::Heat(heat));
    let (rows, columns) = (Vec::new(), Vec::new());
    draw(Chart::Forest(ForestChart { title: text(), caption: text(), rows, columns }));
    let (unit, stages, ways) = (text(), Vec::new(), Vec::new());
    draw(Chart::Flow(FlowChart { title: text(), caption: text(), unit, stages, ways }));
    let (panels, columns) = (Vec::new(), 3);
    draw(Chart::Panels(PanelChart { title: text(), caption: text(), panels, columns }));
    for x_scale in [Scale::Linear, Scale::Log, Scale::Root] {
        let lines = LineChart {
            title: text(),
            caption: text(),
            x_axis: text(),
            y_axis: text(),
            x_scale,
            y_from: 0.0,
            lines: Vec::new(),
        };
        draw(Chart::Survival(SurvivalChart { plot: lines.clone(), at_risk: Vec::new() }));
        draw(Chart::Lines(lines));
    }
}
