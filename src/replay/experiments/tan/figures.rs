//! Figures 1 to 4 of the paper.

use super::lines::{Line, Ratio, extreme, steps_across, steps_along, under_both};
use super::runs::{SPEEDS, Setting};
use super::settings::Settings;
use crate::claims::{Claim, Published, direction};
use crate::replay::experiments::Figure;
use crate::replay::experiments::figure::mark;

pub(super) fn figure(name: &str, title: &str, lines: &[Line], claims: Vec<Claim>) -> Figure {
    Figure {
        name: name.to_owned(),
        title: title.to_owned(),
        axes: ("copies beside the original".to_owned(), "ratio to the work queue, %".to_owned()),
        curves: Ratio::ALL
            .iter()
            .flat_map(|ratio| lines.iter().map(|line| line.curve(*ratio)))
            .collect(),
        marks: Vec::new(),
        claims,
        remarks: Vec::new(),
    }
}

/// Figure 1: 100 nodes, 1,000 tasks of size 100, four speed ranges.
pub fn figure_1(settings: &Settings) -> Figure {
    let lines = SPEEDS.map(|speed| {
        let setting = Setting::new(100, 1_000, 100.0, speed);
        Line::of(format!("speeds 1 to {speed}"), &setting, settings, settings.runs)
    });
    let place = "section 4.2, figure 1";
    let mut claims = under_both("the ratio rises with the copies R", |ratio, claim| {
        direction(place, claim, &steps_along(&lines, ratio))
    });
    claims.extend(under_both("the ratio rises with the range of speeds", |ratio, claim| {
        direction(place, claim, &steps_across(&lines, ratio))
    }));
    figure("1", "Ratio to the work queue by copies and range of speeds", &lines, claims)
}

/// Figure 2: task sizes from 1 to 20, 40, 60 and 80. Nodes, tasks and speeds are not stated; we use
/// those of figure 1 with speeds from 1 to 16.
pub fn figure_2(settings: &Settings) -> Figure {
    let lines = [20.0, 40.0, 60.0, 80.0].map(|size| {
        let (nodes, tasks) = (settings.figure_2_nodes, settings.figure_2_tasks);
        let mut setting = Setting::new(nodes, tasks, size, settings.figure_2_speed);
        setting.sizes = settings.figure_2_sizes.bounds(size);
        let (from, to) = setting.sizes;
        Line::of(format!("sizes {from} to {to}"), &setting, settings, settings.runs)
    });
    let claims = under_both("the ratio rises with the range of task sizes", |ratio, claim| {
        direction("section 4.2, figure 2", claim, &steps_across(&lines, ratio))
    });
    Figure {
        remarks: vec![format!(
            "The paper does not state nodes, tasks and speeds; {}, {} and 1 to {} are taken.",
            settings.figure_2_nodes, settings.figure_2_tasks, settings.figure_2_speed
        )],
        ..figure("2", "Ratio to the work queue by copies and range of sizes", &lines, claims)
    }
}

/// The largest and smallest mean that the paper prints for a figure, and a claim about the
/// direction.
fn extremes(
    settings: &Settings,
    place: &str,
    lines: &[Line],
    (largest, smallest): (Published, Published),
) -> Vec<Claim> {
    let mut claims = Vec::new();
    for (published, word, is_largest) in [(largest, "largest", true), (smallest, "smallest", false)]
    {
        claims.extend(under_both(&format!("{word} mean ratio, %"), |ratio, claim| {
            let found = published.beside(place, claim, &extreme(lines, ratio, is_largest));
            if settings.is_fitted() { found.fitted("period_s") } else { found }
        }));
    }
    claims
}

/// Marks the largest and smallest mean that the paper prints. The paper does not say at which
/// points they are. Its text suggests unlimited copies for the largest and one copy for the
/// smallest.
fn with_extremes(figure: Figure, [largest, smallest]: [(&str, f64); 2]) -> Figure {
    let curve = |line: &str| format!("{line}, {}", Ratio::SpeedUp.name());
    Figure {
        marks: vec![
            mark(&curve(largest.0), "unlimited", largest.1),
            mark(&curve(smallest.0), "1", smallest.1),
        ],
        remarks: vec![format!(
            "The paper prints the largest ({} %) and the smallest mean ({} %) without their points; \
             they are marked where its sentences place them.",
            largest.1, smallest.1
        )],
        ..figure
    }
}

/// Figure 3: 10,000 tasks of size 100, speeds 1 to 16, 100 to 400 nodes.
pub fn figure_3(settings: &Settings) -> Figure {
    let lines = [100, 200, 300, 400].map(|nodes| {
        let setting = Setting::new(nodes, 10_000, 100.0, 16.0);
        Line::of(format!("{nodes} nodes"), &setting, settings, settings.tenth())
    });
    let place = "section 4.2, figure 3";
    let published = (Published::mean(24.75, 0.01, 10).against(0.0), Published::mean(0.0, 0.01, 10));
    let mut claims = extremes(settings, place, &lines, published);
    claims.extend(under_both("the ratio rises with the nodes", |ratio, claim| {
        direction(place, claim, &steps_across(&lines, ratio))
    }));
    let title = "Ratio to the work queue by copies and nodes";
    with_extremes(figure("3", title, &lines, claims), [("400 nodes", 24.75), ("100 nodes", 0.0)])
}

/// Figure 4: 100 nodes, 10,000 to 40,000 tasks of size 100, speeds 1 to 16.
pub fn figure_4(settings: &Settings) -> Figure {
    let lines = [10_000, 20_000, 30_000, 40_000].map(|tasks| {
        let setting = Setting::new(100, tasks, 100.0, 16.0);
        Line::of(format!("{tasks} tasks"), &setting, settings, settings.tenth())
    });
    let place = "section 4.2, figure 4";
    let published = (
        Published::mean(6.66, 0.01, 10).against(0.0),
        Published::mean(0.05, 0.01, 10).against(0.0),
    );
    let mut claims = extremes(settings, place, &lines, published);
    claims.extend(under_both("the ratio falls with the tasks", |ratio, claim| {
        let mut falls = steps_across(&lines, ratio);
        falls.iter_mut().flat_map(|cell| &mut cell.values).for_each(|value| *value = -*value);
        direction(place, claim, &falls)
    }));
    let title = "Ratio to the work queue by copies and tasks";
    with_extremes(
        figure("4", title, &lines, claims),
        [("10000 tasks", 6.66), ("40000 tasks", 0.05)],
    )
}
