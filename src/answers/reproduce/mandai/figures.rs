//! The figures of the paper of 2017, drawn from the loaded parts.
//!
//! In: our curves. Out: one chart per figure, with the printed values of the paper as marks. Values
//! cannot be read from the figures of the paper, so the marks are numbers from its text.

use super::DAY_S;
use crate::answers::describe::Described;
use crate::answers::sentences::capital;
use crate::charts::{Chart, Line, LineChart, Stroke, outcome_tone};

/// Table 3.1.2: the share of CPU time per outcome, %.
pub(crate) const CPU_SHARES: [(&str, f64); 4] =
    [("finished", 0.710), ("failed", 0.931), ("killed", 43.175), ("running", 54.377)];

/// A value that the paper prints, in the colour of a curve.
struct Mark {
    curve: &'static str,
    points: &'static [(f64, f64)],
}

/// Section 3.1: the shortest, median and longest duration of a job.
const DURATIONS: Mark =
    Mark { curve: "all", points: &[(0.001, 0.0), (180.0, 0.5), (29.0 * DAY_S, 1.0)] };

/// Section 3.1: 75 % of the jobs have one task, the largest has 90,050.
const SIZES: Mark = Mark { curve: "all", points: &[(1.0, 0.75), (90_050.0, 1.0)] };

/// Section 4.1: more than 20 % of the failed or killed tasks have more than 3 events. Section 4.2:
/// the longest sequence of a finished task.
const EVENTS: [Mark; 2] = [
    Mark { curve: "failed or killed", points: &[(3.0, 0.8)] },
    Mark { curve: "finished", points: &[(280.0, 1.0)] },
];

/// Section 4.2: CPU saved at T, %.
const SAVED: [Mark; 2] = [
    Mark { curve: "failed", points: &[(10.0, 89.0), (300.0, 36.0)] },
    Mark { curve: "killed", points: &[(10.0, 15.0), (300.0, 0.1)] },
];

/// Section 4.2: finished jobs harmed at T.
const HARMED: Mark = Mark { curve: "", points: &[(10.0, 246.0), (280.0, 0.0), (300.0, 0.0)] };

/// Figures 3.1.1 (all jobs) and 3.2.1 (by outcome, without running jobs).
pub(crate) fn durations(described: &Described) -> Vec<(String, Chart)> {
    pair(described, ["figure-3.1.1", "figure-3.2.1"], DURATIONS)
}

/// Figures 3.1.2 (all jobs) and 3.2.2 (by outcome).
pub(crate) fn sizes(described: &Described) -> Vec<(String, Chart)> {
    pair(described, ["figure-3.1.2", "figure-3.2.2"], SIZES)
}

/// A figure of all jobs, and one of the three outcomes. The paper prints no values for the second.
fn pair(described: &Described, names: [&str; 2], mark: Mark) -> Vec<(String, Chart)> {
    let none = "The paper prints no value of this figure.";
    let marked = marked(only(&described.chart, names[0], &["all"]), &[mark]);
    let split = only(&described.chart, names[1], &["finished", "failed", "killed"]);
    vec![(names[0].to_owned(), marked), (names[1].to_owned(), noted(split, none))]
}

/// Figure 4.1.1: events of tasks.
pub(crate) fn events(described: &Described, name: &str) -> (String, Chart) {
    let chart = only(&described.chart, "figure-4.1.1", &["finished", "failed", "killed"]);
    (name.to_owned(), marked(chart, &EVENTS))
}

/// Figures 4.2.1 and 4.2.2: the savings and the harm of a rule.
pub(crate) fn of_sweep([saved, harmed]: [LineChart; 2]) -> [(String, Chart); 2] {
    let saved = only(&Chart::Lines(saved), "figure-4.2.1", &["failed", "killed"]);
    let harmed = only(&Chart::Lines(harmed), "figure-4.2.2", &[""]);
    [
        ("figure-4.2.1".to_owned(), marked(saved, &SAVED)),
        ("figure-4.2.2".to_owned(), marked(harmed, &[HARMED])),
    ]
}

/// The bars of table 3.1.2, with the share in the paper next to ours.
pub(crate) fn with_published_shares(chart: Chart) -> Chart {
    let Chart::Bars(mut bars) = chart else { return chart };
    for bar in &mut bars.bars {
        let published = CPU_SHARES.iter().find(|(outcome, _)| *outcome == bar.label);
        if let Some((_, share)) = published {
            bar.note = format!("{} (paper: {share:.3} %)", bar.note);
        }
    }
    Chart::Bars(bars)
}

/// The chart under the name of the figure, with only the curves of these names.
fn only(chart: &Chart, figure: &str, names: &[&str]) -> Chart {
    let Chart::Lines(chart) = chart else { return chart.clone() };
    let is_kept = |line: &&Line| names.contains(&line.name.as_str());
    let lines: Vec<Line> = chart.lines.iter().filter(is_kept).cloned().collect();
    let title = format!("{}: {}", figure.replacen('-', " ", 1), chart.title.to_lowercase());
    let title = title.replace("cpu", "CPU").replace("killing at t", "killing at T");
    Chart::Lines(LineChart { title: capital(&title), lines, ..chart.clone() })
}

/// The chart with the paper's values as rings.
fn marked(chart: Chart, marks: &[Mark]) -> Chart {
    let Chart::Lines(mut chart) = noted(chart, "Rings: values that the paper prints.") else {
        unreachable!("the figures of the paper are curves")
    };
    for mark in marks {
        let name = match mark.curve {
            "" => "paper".to_owned(),
            curve => format!("{curve}, paper"),
        };
        chart.lines.push(Line {
            name,
            points: mark.points.to_vec(),
            band: Vec::new(),
            tone: outcome_tone(mark.curve),
            stroke: Stroke::Rings,
        });
    }
    Chart::Lines(chart)
}

/// The chart with a further sentence at the start of its caption.
fn noted(chart: Chart, sentence: &str) -> Chart {
    match chart {
        Chart::Lines(chart) => {
            let caption = format!("{sentence} {}", chart.caption);
            Chart::Lines(LineChart { caption, ..chart })
        }
        other => other,
    }
}
