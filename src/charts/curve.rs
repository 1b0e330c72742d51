//! Curves, and the charts that hold them.

use super::axes::Scale;
use super::canvas::At;
use super::theme::Tone;

/// Curves over one pair of axes.
#[derive(Clone, Debug)]
pub struct LineChart {
    /// The title.
    pub title: String,
    /// Definition, source and censoring, below the title.
    pub caption: String,
    /// Title of the horizontal axis, with its unit.
    pub x_axis: String,
    /// Title of the vertical axis, with its unit.
    pub y_axis: String,
    /// The scale of x.
    pub x_scale: Scale,
    /// Start of the vertical axis. The axis starts lower if a point is lower. Not 0 only if the
    /// title says so.
    pub y_from: f64,
    /// The curves.
    pub lines: Vec<Line>,
}

/// Several plots side by side: one figure. Axes of the same name have the same range.
#[derive(Clone, Debug)]
pub struct PanelChart {
    /// The title.
    pub title: String,
    /// Definition, source and censoring, below the title.
    pub caption: String,
    /// The plots, row by row; the title of each is its name.
    pub panels: Vec<LineChart>,
    /// Plots per row, if they fit.
    pub columns: usize,
}

/// One curve.
#[derive(Clone, Debug)]
pub struct Line {
    /// The name. Empty if the curve belongs to another curve or needs no name; a curve without a
    /// name is solid.
    pub name: String,
    /// Points from left to right.
    pub points: Vec<At>,
    /// Points (x, lower bound, upper bound); may be empty.
    pub band: Vec<(f64, f64, f64)>,
    /// Colour, dash and marker.
    pub tone: Tone,
    /// How points are joined.
    pub stroke: Stroke,
}

impl Line {
    /// A staircase without a band.
    pub const fn steps(name: String, points: Vec<At>, tone: Tone) -> Self {
        Self { name, points, band: Vec::new(), tone, stroke: Stroke::Steps }
    }
}

/// How the points of a curve are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// By straight lines.
    Straight,
    /// By steps: a value holds until the next point (distributions).
    Steps,
    /// By straight lines, with each point marked.
    Marked,
    /// By a thin, faint line: the range of a marked point.
    Whisker,
    /// Not joined; each point is a ring: values from another source next to a curve.
    Rings,
    /// Not joined; each point is marked.
    Points,
    /// Not joined: the name is written next to each point if there is space for it, and not in the
    /// legend.
    Label,
}
