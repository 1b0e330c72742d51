//! Promises of every chart for grey print and for readers with deuteranopia.
//!
//! Whatever their colours, curves differ by their dash, marked points by their shape, and stacked
//! areas by strokes. Bars, intervals and bands have names next to them, and bars over time have a
//! sign at their end. Cells become darker with larger values.

use proptest::prelude::*;

use super::canvas::{At, Canvas, Mark};
use super::theme::Ink;
use super::*;

/// The linear light of a colour: red, green, blue, each from 0 to 1 (IEC 61966-2-1).
fn light(ink: Ink) -> [f64; 3] {
    let (red, green, blue) = ink.color;
    [red, green, blue].map(|one| {
        let one = f64::from(one) / 255.0;
        if one <= 0.04045 { one / 12.92 } else { ((one + 0.055) / 1.055).powf(2.4) }
    })
}

fn times(matrix: [[f64; 3]; 3], light: [f64; 3]) -> [f64; 3] {
    matrix.map(|row| row.iter().zip(light).map(|(one, other)| one * other).sum())
}

/// A colour as seen without green cones (Machado, Oliveira and Fernandes, 2009, severity 1).
fn deuteranopia(ink: Ink) -> [f64; 3] {
    const SEEN: [[f64; 3]; 3] = [
        [0.367_322, 0.860_646, -0.227_968],
        [0.280_085, 0.672_501, 0.047_413],
        [-0.011_820, 0.042_940, 0.968_881],
    ];
    times(SEEN, light(ink)).map(|one| one.clamp(0.0, 1.0))
}

/// Tristimulus values under D65.
fn xyz(light: [f64; 3]) -> [f64; 3] {
    const OF: [[f64; 3]; 3] = [
        [0.412_456_4, 0.357_576_1, 0.180_437_5],
        [0.212_672_9, 0.715_152_2, 0.072_175_0],
        [0.019_333_9, 0.119_192_0, 0.950_304_1],
    ];
    times(OF, light)
}

/// The luminance of a colour, which grey print shows.
fn grey(ink: Ink) -> f64 {
    xyz(light(ink))[1]
}

/// The contrast of two luminances (WCAG 2).
fn contrast(one: f64, other: f64) -> f64 {
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// The perceived difference of two colours (CIE 1976 L*a*b*).
fn apart(one: [f64; 3], other: [f64; 3]) -> f64 {
    let lab = |light: [f64; 3]| {
        let [x, y, z] = xyz(light);
        let [x, y, z] = [x / 0.950_47, y, z / 1.088_83].map(|one| {
            if one <= 216.0 / 24_389.0 {
                (24_389.0 / 27.0 * one + 16.0) / 116.0
            } else {
                one.cbrt()
            }
        });
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    };
    lab(one).iter().zip(lab(other)).map(|(one, other)| (one - other).powi(2)).sum::<f64>().sqrt()
}

fn pairs() -> impl Iterator<Item = (Tone, Tone)> {
    Tone::ALL
        .into_iter()
        .enumerate()
        .flat_map(|(idx, one)| Tone::ALL[..idx].iter().map(move |&two| (one, two)))
}

/// A plot with a curve of each tone.
fn plot(tones: &[Tone], stroke: Stroke) -> LineChart {
    let line = |(&tone, at): (&Tone, u8)| Line {
        name: format!("{tone:?}"),
        points: vec![(1.0, f64::from(at)), (10.0, f64::from(at) + 1.0)],
        band: Vec::new(),
        tone,
        stroke,
    };
    LineChart {
        title: String::new(),
        caption: String::new(),
        x_axis: "s".to_owned(),
        y_axis: "share".to_owned(),
        x_scale: Scale::Log,
        y_from: 0.0,
        lines: tones.iter().zip(0..).map(line).collect(),
    }
}

/// The dashes and luminances of the curves of a picture. A solid curve has no dashes; two curves
/// may both be solid if their grey differs enough.
fn curves(chart: &Chart, look: Look) -> Vec<(Vec<f64>, f64)> {
    let canvas = drawn(chart, look);
    let found = canvas.marks.iter().filter_map(|mark| match mark {
        Mark::Path { width, dash, ink, .. } if *width == look.stroke() => {
            Some((dash.to_vec(), grey(*ink)))
        }
        _ => None,
    });
    let mut found: Vec<(Vec<f64>, f64)> = found.collect();
    found.dedup();
    found
}

/// The lowest allowed contrast of solid lines, and of touching areas.
const LINES_MIN: f64 = 2.0;
const AREAS_MIN: f64 = 1.1;

proptest! {
    #[test]
    fn curves_are_distinguished_in_grey(
        count in 2..8_usize, is_survival in any::<bool>(), is_panel in any::<bool>(),
        width_in in prop_oneof![Just(3.3), Just(7.0)],
    ) {
        let plot = plot(&Tone::ALL[..count], Stroke::Straight);
        let chart = match (is_survival, is_panel) {
            (true, _) => Chart::Survival(SurvivalChart { plot, at_risk: Vec::new() }),
            (false, true) => {
                let (title, caption) = (String::new(), String::new());
                Chart::Panels(PanelChart { title, caption, panels: vec![plot], columns: 1 })
            }
            (false, false) => Chart::Lines(plot),
        };
        let found = curves(&chart, Look::paper(width_in).expect("a width of papers"));
        prop_assert!(count <= found.len(), "{found:?}");
        for (idx, one) in found.iter().enumerate() {
            for two in found[..idx].iter().filter(|two| one.1 != two.1) {
                prop_assert!(
                    one.0 != two.0 || LINES_MIN <= contrast(one.1, two.1), "{one:?} {two:?}"
                );
            }
        }
    }
}

#[test]
fn marked_points_differ_by_their_form() {
    for (one, two) in pairs() {
        assert_ne!(one.style().1, two.style().1, "{one:?} {two:?}");
    }
}

#[test]
fn tones_differ_without_green_cones() {
    // Without green cones, grey looks like purple: the two differ by dash and marker. Only the
    // legend of a replay's attempts has areas or bars in both colours.
    let near = [Tone::Purple, Tone::Grey];
    for (one, two) in pairs().filter(|(one, two)| !(near.contains(one) && near.contains(two))) {
        let apart = apart(deuteranopia(one.ink()), deuteranopia(two.ink()));
        assert!(10.0 <= apart, "{one:?} {two:?} {apart}");
    }
}

#[test]
fn words_on_bars_can_be_read() {
    for tone in Tone::ALL {
        let contrast = contrast(grey(tone.ink()), grey(tone.ink().for_text()));
        assert!(4.5 <= contrast, "{tone:?} {contrast}");
    }
}

/// Directions of the strokes over a picture, and the signs, in drawing order.
fn strokes_of(canvas: &Canvas) -> Vec<Vec<(i64, i64)>> {
    #[expect(clippy::cast_possible_truncation, reason = "a direction, in hundredths")]
    let way = |[from, to]: &[At; 2]| {
        let (right, down) = (to.0 - from.0, to.1 - from.1);
        let length = right.hypot(down) / 100.0;
        ((right / length).round() as i64, (down / length).round() as i64)
    };
    let found = canvas.marks.iter().filter_map(|mark| match mark {
        Mark::Strokes { strokes, .. } => {
            let mut ways: Vec<(i64, i64)> = strokes.iter().map(way).collect();
            ways.sort_unstable();
            ways.dedup();
            Some(ways)
        }
        _ => None,
    });
    found.collect()
}

#[test]
fn stacked_areas_and_their_names_are_distinguished_in_grey() {
    let area = |tone: &Tone| Area {
        name: format!("{tone:?}"),
        values: vec![Some(3.0), Some(5.0)],
        tone: *tone,
    };
    let alone = |tone: &Tone| {
        let chart = Chart::Areas(AreaChart {
            title: String::new(),
            caption: String::new(),
            x_axis: "h".to_owned(),
            y_axis: "CPU".to_owned(),
            edges: vec![0.0, 1.0, 2.0],
            areas: vec![area(tone)],
            lines: Vec::new(),
        });
        let found = strokes_of(&drawn(&chart, Look::paper(3.3).expect("a width of papers")));
        // The sample next to the name looks like the area.
        assert!(found.is_empty() || found.len() == 2 && found[0] == found[1], "{tone:?} {found:?}");
        found.into_iter().next().unwrap_or_default()
    };
    for (one, two) in pairs() {
        let is_apart = LINES_MIN <= contrast(grey(one.ink()), grey(two.ink()));
        assert!(is_apart || alone(&one) != alone(&two), "{one:?} {two:?}");
    }
}

#[test]
fn bars_over_time_and_their_names_bear_the_same_sign() {
    let sign = |tone: Tone| {
        let span =
            GanttSpan { row: 0, from: 0.0, to: 1.0, label: String::new(), tone, is_wait: false };
        let chart = Chart::Gantt(GanttChart {
            title: String::new(),
            caption: String::new(),
            time_axis: "h".to_owned(),
            rows: vec![String::new()],
            spans: vec![span],
            legend: vec![("name".to_owned(), tone)],
        });
        let ink = tone.ink().for_text();
        let shape = |mark: &Mark| match mark {
            Mark::Path { points, ink: own, .. } | Mark::Area { points, ink: own }
                if *own == ink =>
            {
                let (x, y) = points[0];
                #[expect(clippy::cast_possible_truncation, reason = "tenths of a pixel")]
                let at = |(to_x, to_y): &At| {
                    (((to_x - x) * 10.0).round() as i64, ((to_y - y) * 10.0).round() as i64)
                };
                Some(points.iter().map(at).collect::<Vec<(i64, i64)>>())
            }
            Mark::Ring { ink: own, .. } if *own == ink => Some(vec![(0, 0)]),
            Mark::Dot { ink: own, .. } if *own == ink => Some(Vec::new()),
            _ => None,
        };
        let canvas = drawn(&chart, Look::SCREEN);
        let found: Vec<Vec<(i64, i64)>> = canvas.marks.iter().filter_map(shape).collect();
        assert!(!found.is_empty() && found.len().is_multiple_of(2), "{tone:?}");
        let (legend, bar) = found.split_at(found.len() / 2);
        assert_eq!(legend, bar, "{tone:?}");
        legend.to_vec()
    };
    for (one, two) in pairs() {
        assert_ne!(sign(one), sign(two), "{one:?} {two:?}");
    }
}

#[test]
fn areas_that_touch_differ_in_grey() {
    for pair in Tone::SERIES.windows(2) {
        let contrast = contrast(grey(pair[0].ink()), grey(pair[1].ink()));
        assert!(AREAS_MIN <= contrast, "{pair:?} {contrast}");
    }
}

#[test]
fn fields_become_darker_the_more_they_hold() {
    let row = |name: &str| HeatRow {
        name: name.to_owned(),
        values: (1..20).map(|at| Some(f64::from(at))).collect(),
    };
    let heat = Chart::Heat(HeatChart {
        title: String::new(),
        caption: String::new(),
        x_axis: "h".to_owned(),
        x: 0.0..19.0,
        y_axis: String::new(),
        rows: vec![row("a")],
        value: "jobs".to_owned(),
    });
    let fields = (0..20).map(|at| MapField { share: f64::from(at) / 19.0, label: String::new() });
    let names = |count: usize| (0..count).map(|at| at.to_string()).collect();
    let maps = Chart::Maps(MapChart {
        title: String::new(),
        caption: String::new(),
        x: (String::new(), names(20)),
        y: (String::new(), names(1)),
        panels: vec![MapPanel { name: String::new(), fields: fields.collect() }],
    });
    for chart in [heat, maps] {
        let canvas = drawn(&chart, Look::SCREEN);
        let boxes = canvas.marks.iter().filter_map(|mark| match mark {
            Mark::Box { at, ink, .. } => Some((at.1, *ink)),
            _ => None,
        });
        let boxes: Vec<(f64, Ink)> = boxes.collect();
        // The row of cells; the legend of the scale is above it.
        let lowest = boxes.iter().map(|own| own.0).fold(f64::MIN, f64::max);
        let row: Vec<Ink> = boxes.iter().filter(|own| own.0 == lowest).map(|own| own.1).collect();
        assert!(19 <= row.len());
        for pair in row.windows(2) {
            assert!(grey(pair[1]) < grey(pair[0]));
            assert!(xyz(deuteranopia(pair[1]))[1] < xyz(deuteranopia(pair[0]))[1]);
        }
    }
}
