//! Flows from stage to stage, as bands whose width is the amount (Sankey, 1898).
//!
//! ```text
//!  █ submitted ▒▒▒▒▒▒▒▒ █ scheduled ▒▒▒▒▒▒▒▒ █ finished      a bar per node; its height,
//!  █  1,000    ▒▒▒▒▒▒▒▒ █    900    ▒▒▒▒     █   800         and that of a band, is the amount
//!              ░░░░     █ never       ░░░░░░ █ killed
//! ```

use super::canvas::{Align, At, Canvas, Mark, Place, Shape, count, shortened, width_of};
use super::says;
use super::theme::{Ink, Tone};
use crate::digits::grouped;

/// Amounts that flow from stage to stage.
#[derive(Clone, Debug)]
pub struct FlowChart {
    /// The title.
    pub title: String,
    /// Definition, source and censoring, below the title.
    pub caption: String,
    /// What is counted: jobs.
    pub unit: String,
    /// The nodes of each stage: stages from left to right, nodes from top to bottom.
    pub stages: Vec<Vec<FlowNode>>,
    /// Groups that pass the same nodes, each with its node in every stage.
    pub ways: Vec<FlowWay>,
}

/// A node of a stage.
#[derive(Clone, Debug)]
pub struct FlowNode {
    /// Its name.
    pub name: String,
    /// Its colour.
    pub tone: Tone,
}

/// A way through all stages.
#[derive(Clone, Debug)]
pub struct FlowWay {
    /// For each stage, the position of the node that the group passes.
    pub nodes: Vec<usize>,
    /// The number of jobs in the group.
    pub count: u64,
}

/// A drawn node: the upper edge and the height of its bar.
#[derive(Clone, Copy, Debug, Default)]
struct Bar {
    top: f64,
    high: f64,
    count: u64,
}

/// Number of steps along the edge of a band.
const STEPS: u32 = 12;

/// Height of a name with its number below, as a multiple of the text height.
const LABEL: f64 = 2.7;

/// Height of the light field behind a name and its number, as a multiple of the text height.
const BEHIND: f64 = 2.4;

/// The share of the picture's width for names at the right.
const NAMES: f64 = 0.34;

impl FlowChart {
    /// The amount at each node of a stage.
    fn counts(&self, stage: usize) -> Vec<u64> {
        let mut counts = vec![0; self.stages[stage].len()];
        for way in &self.ways {
            if let Some(count) = way.nodes.get(stage).and_then(|&node| counts.get_mut(node)) {
                *count += way.count;
            }
        }
        counts
    }

    fn total(&self) -> u64 {
        self.ways.iter().map(|way| way.count).sum()
    }

    /// The amount from one node to a node of the next stage.
    fn between(&self, stage: usize, from: usize, to: usize) -> u64 {
        let is_it = |way: &&FlowWay| way.nodes.get(stage..stage + 2) == Some(&[from, to][..]);
        self.ways.iter().filter(is_it).map(|way| way.count).sum()
    }

    /// An amount with its share of the total.
    fn said(&self, amount: u64) -> String {
        #[expect(clippy::cast_precision_loss, reason = "a share for display")]
        let share = amount as f64 / self.total().max(1) as f64 * 100.0;
        let share = match share {
            share if 0.0 < share && share < 0.1 => "<0.1".to_owned(),
            share if 99.9 < share && share < 100.0 => ">99.9".to_owned(),
            share => format!("{share:.1}"),
        };
        format!("{} ({share} %)", grouped(amount))
    }
}

pub(super) fn draw(chart: &FlowChart, canvas: &mut Canvas) {
    canvas.set_head(&chart.title, &chart.caption);
    let look = canvas.look;
    let (size, margin) = (look.text, look.margin());
    if chart.total() == 0 || chart.stages.is_empty() {
        canvas.height = margin;
        return;
    }
    let bars: Vec<Vec<Bar>> =
        (0..chart.stages.len()).map(|at| bars_of(chart, at, canvas)).collect();
    let last = chart.stages.len() - 1;
    let texts = chart.stages[last].iter().zip(&bars[last]).filter(|(_, bar)| 0 < bar.count);
    let texts = texts.flat_map(|(node, bar)| [node.name.clone(), chart.said(bar.count)]);
    let names = texts.map(|text| width_of(&text, size)).fold(0.0, f64::max).min(NAMES * look.width);
    let thick = 0.8 * size;
    let right = look.width - margin - names - 0.5 * size - thick;
    let step = if last == 0 { 0.0 } else { (right - margin) / count(last) };
    let left = |stage: usize| margin + count(stage) * step;
    for stage in 0..last {
        bands(chart, stage, [left(stage) + thick, left(stage + 1)], &bars, canvas);
    }
    for (stage, nodes) in chart.stages.iter().enumerate() {
        let room = if stage == last { names } else { step - thick - size };
        for (node, bar) in nodes.iter().zip(&bars[stage]).filter(|(_, bar)| 0 < bar.count) {
            let at = (left(stage), bar.top);
            canvas.fill(at, (thick, bar.high), node.tone.ink());
            let (x, middle) = (at.0 + thick + 0.5 * size, bar.top + bar.high / 2.0);
            let said = chart.said(bar.count);
            let said = if width_of(&said, size) <= room { said } else { grouped(bar.count) };
            let texts = [node.name.as_str(), &said].map(|text| shortened(text, room, size));
            if stage != last {
                // Bands pass behind the names of all stages but the last.
                let wide = texts.iter().map(|text| width_of(text, size)).fold(0.0, f64::max);
                let at = (x - 0.2 * size, middle - 0.5 * BEHIND * size);
                let ink = Ink::PAPER.with_opacity(0.7);
                canvas.fill(at, (wide + 0.4 * size, BEHIND * size), ink);
            }
            for (text, down) in texts.iter().zip([-0.6, 0.6]) {
                canvas.text(text, (x, middle + down * size), Align::Left, size, Ink::TEXT);
            }
            #[expect(clippy::cast_precision_loss, reason = "shown with six digits")]
            let amounts = [(chart.unit.as_str(), bar.count as f64)];
            let shape = Shape::Area(at, (thick, bar.high));
            canvas.places.push(Place { shape, says: says(&node.name, &amounts, None) });
        }
    }
    let lowest = bars.iter().flatten().filter(|bar| 0 < bar.count);
    let lowest = lowest.map(|bar| bar.top + bar.high.max(LABEL * size)).fold(0.0, f64::max);
    canvas.height = lowest + margin;
}

/// The bars of a stage. Heights are in proportion to amounts; bars are spaced so that names do not
/// touch.
fn bars_of(chart: &FlowChart, stage: usize, canvas: &Canvas) -> Vec<Bar> {
    let look = canvas.look;
    let counts = chart.counts(stage);
    let mut y = look.margin();
    let slots = counts.into_iter().map(|count| {
        if count == 0 {
            return Bar::default();
        }
        let high = height(chart, count, canvas).max(1.0);
        let slot = high.max(LABEL * look.text);
        let top = y + (slot - high) / 2.0;
        y += slot + 0.5 * look.text;
        Bar { top, high, count }
    });
    slots.collect()
}

/// The height of an amount.
#[expect(clippy::cast_precision_loss, reason = "a length for display")]
fn height(chart: &FlowChart, count: u64, canvas: &Canvas) -> f64 {
    let whole = 0.7 * canvas.look.plot_height(canvas.look.width);
    whole * count as f64 / chart.total().max(1) as f64
}

/// Draws the bands from a stage to the next, in the colour of their target.
fn bands(
    chart: &FlowChart,
    stage: usize,
    [left, right]: [f64; 2],
    bars: &[Vec<Bar>],
    canvas: &mut Canvas,
) {
    let mut tops: [Vec<f64>; 2] =
        [stage, stage + 1].map(|stage| bars[stage].iter().map(|bar| bar.top).collect());
    for (from, source) in chart.stages[stage].iter().enumerate() {
        for (to, target) in chart.stages[stage + 1].iter().enumerate() {
            let amount = chart.between(stage, from, to);
            if amount == 0 {
                continue;
            }
            let high = height(chart, amount, canvas);
            let [start, end] = [tops[0][from], tops[1][to]];
            (tops[0][from], tops[1][to]) = (start + high, end + high);
            let shown = high.max(0.8);
            let points = band([(left, start), (right, end)], shown);
            canvas.marks.push(Mark::Area { points, ink: target.tone.ink().with_opacity(0.32) });
            let middle = (f64::midpoint(left, right), f64::midpoint(start, end) + shown / 2.0);
            let name = format!("{} to {}", source.name, target.name);
            #[expect(clippy::cast_precision_loss, reason = "shown with six digits")]
            let says = says(&name, &[(chart.unit.as_str(), amount as f64)], None);
            canvas.places.push(Place { shape: Shape::Point(middle), says });
        }
    }
}

/// The outline of a band: along its upper edge, and back along the lower one.
fn band([(left, start), (right, end)]: [At; 2], high: f64) -> Vec<At> {
    let upper = (0..=STEPS).map(|at| {
        let share = f64::from(at) / f64::from(STEPS);
        // Horizontal at both ends.
        let bent = share * share * (3.0 - 2.0 * share);
        (left + (right - left) * share, start + (end - start) * bent)
    });
    let upper: Vec<At> = upper.collect();
    let lower: Vec<At> = upper.iter().rev().map(|&(x, y)| (x, y + high)).collect();
    upper.into_iter().chain(lower).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::charts::Look;

    fn chart(ways: &[([usize; 3], u64)]) -> FlowChart {
        let node = |name: usize| FlowNode { name: name.to_string(), tone: Tone::Blue };
        FlowChart {
            title: String::new(),
            caption: String::new(),
            unit: "jobs".to_owned(),
            stages: (0..3).map(|_| (0..4).map(node).collect()).collect(),
            ways: ways
                .iter()
                .map(|&(nodes, count)| FlowWay { nodes: nodes.into(), count })
                .collect(),
        }
    }

    #[test]
    fn names_over_bands_have_a_light_field_behind_them() {
        let chart = chart(&[([0, 1, 2], 5), ([0, 2, 1], 3)]);
        let mut canvas = Canvas::new(Look::paper(3.3).unwrap());
        draw(&chart, &mut canvas);
        let fields = canvas.marks.iter().filter_map(|mark| match mark {
            Mark::Box { at, size, ink } if ink.opacity < 1.0 => Some((*at, *size)),
            _ => None,
        });
        let fields: Vec<(At, At)> = fields.collect();
        let names = canvas.marks.iter().filter_map(|mark| match mark {
            Mark::Text { at, .. } => Some(*at),
            _ => None,
        });
        let right = canvas.look.width * (1.0 - NAMES);
        for name in names.filter(|name| name.0 < right) {
            let is_over =
                |(at, size): &(At, At)| at.0 <= name.0 && at.1 <= name.1 && name.1 <= at.1 + size.1;
            assert!(fields.iter().any(is_over), "{name:?} {fields:?}");
        }
        assert_eq!(fields.len(), 3);
    }

    proptest! {
        /// Promise: every stage shows the total, each node sends out what it receives, and heights
        /// are in proportion to amounts.
        #[test]
        fn nothing_is_lost_between_stages(
            ways in prop::collection::vec(((0..4_usize, 0..4_usize, 0..4_usize), 0..1_000_u64), 0..20),
        ) {
            let ways: Vec<([usize; 3], u64)> =
                ways.into_iter().map(|((one, two, three), count)| ([one, two, three], count)).collect();
            let chart = chart(&ways);
            let canvas = Canvas::new(Look::SCREEN);
            for stage in 0..3 {
                prop_assert_eq!(chart.counts(stage).iter().sum::<u64>(), chart.total());
                let of_node = |node: usize| ways.iter().filter(move |way| way.0[stage] == node);
                for (node, bar) in bars_of(&chart, stage, &canvas).iter().enumerate() {
                    let own: u64 = of_node(node).map(|way| way.1).sum();
                    prop_assert_eq!(bar.count, own);
                    if 1.0 < bar.high {
                        let ratio = bar.high / height(&chart, chart.total(), &canvas);
                        #[expect(clippy::cast_precision_loss, reason = "small")]
                        let share = own as f64 / chart.total() as f64;
                        prop_assert!((ratio - share).abs() < 1e-9);
                    }
                }
            }
            for node in 0..4 {
                let came: u64 = (0..4).map(|from| chart.between(0, from, node)).sum();
                let left: u64 = (0..4).map(|to| chart.between(1, node, to)).sum();
                prop_assert_eq!(came, left);
            }
        }
    }
}
