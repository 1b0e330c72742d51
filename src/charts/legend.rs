//! The names of curves: within the plot where that covers none of them, else above it.
//!
//! In: curves in pixels, and their names. Out: a legend that covers no curve.

use std::ops::Range;

use plotters::chart::ChartContext;
use plotters::coord::{CoordTranslate, Shift};
use plotters::prelude::{
    Circle, Color, DrawingArea, DrawingAreaErrorKind, DrawingBackend, PathElement,
    SeriesLabelPosition, Text,
};

use super::bars::font;
use super::lines::{Line, LineChart, Stroke};
use super::theme;

/// The names of the curves of a chart, measured.
pub(super) struct Legend<'c> {
    zoom: u32,
    /// Curves that have a name, and the width of the name in pixels.
    entries: Vec<(&'c Line, i32)>,
}

/// Width of the sample of a curve with the gap behind it, and margin, at zoom 1.
const SWATCH: u32 = 24;
const MARGIN: u32 = 12;

/// Above the plot: height of a row, gap between names, and where rows begin, at zoom 1.
const ROW: i32 = 18;
const GAP: i32 = 18;
const LEFT: i32 = 16;

fn pixels(size: u32) -> i32 {
    i32::try_from(size).expect("a picture is small")
}

impl<'c> Legend<'c> {
    /// Measures the names.
    pub(super) fn of<DB: DrawingBackend>(
        chart: &'c LineChart,
        area: &DrawingArea<DB, Shift>,
        zoom: u32,
    ) -> Result<Self, DrawingAreaErrorKind<DB::ErrorType>> {
        let style = font(theme::TEXT, zoom, &theme::INK);
        let named = chart.lines.iter().filter(|line| !line.name.is_empty());
        let entries = named.map(|line| {
            let (width, _) = area.estimate_text_size(&line.name, &style)?;
            Ok((line, pixels(width)))
        });
        Ok(Self { zoom, entries: entries.collect::<Result<_, _>>()? })
    }

    /// Where it covers no curve, as pixels from the corner of the plot; none where it would
    /// everywhere.
    pub(super) fn place(
        &self,
        curves: &[Vec<(i32, i32)>],
        (xs, ys): &(Range<i32>, Range<i32>),
    ) -> Option<(i32, i32)> {
        let Some(widest) = self.entries.iter().map(|entry| entry.1).max() else {
            return Some((0, 0));
        };
        let count = i32::try_from(self.entries.len()).expect("a chart has few curves");
        // The distance of lines that plotters takes.
        let line = pixels(theme::TEXT * self.zoom * 5 / 4);
        let margins = pixels(2 * MARGIN * self.zoom);
        let size = [margins + pixels(SWATCH * self.zoom) + widest, margins + count * line];
        free_place(curves, size, xs, ys)
    }

    /// Draws it within the plot.
    pub(super) fn draw_within<'a, DB: DrawingBackend + 'a, CT: CoordTranslate>(
        &self,
        plot: &mut ChartContext<'a, DB, CT>,
        place: (i32, i32),
    ) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
        if self.entries.is_empty() {
            return Ok(());
        }
        plot.configure_series_labels()
            .position(SeriesLabelPosition::Coordinate(place.0, place.1))
            .legend_area_size(SWATCH * self.zoom)
            .margin(MARGIN * self.zoom)
            .label_font(font(theme::TEXT, self.zoom, &theme::INK))
            .background_style(theme::PAPER.mix(0.85))
            .border_style(theme::GRID)
            .draw()
    }

    /// Draws it in rows at the top of an area, and returns what is left of that.
    pub(super) fn draw_above<DB: DrawingBackend>(
        &self,
        area: &DrawingArea<DB, Shift>,
    ) -> Result<DrawingArea<DB, Shift>, DrawingAreaErrorKind<DB::ErrorType>> {
        let z = pixels(self.zoom);
        let widths: Vec<i32> =
            self.entries.iter().map(|entry| pixels(SWATCH) * z + entry.1).collect();
        let width = pixels(area.dim_in_pixel().0) - 2 * LEFT * z;
        let (spots, rows) = in_rows(&widths, GAP * z, width);
        for ((line, _), (x, row)) in self.entries.iter().zip(spots) {
            let (x, y) = (LEFT * z + x, (ROW * row + ROW / 2) * z);
            let color = line.tone.color();
            let stroke = color.stroke_width(2 * self.zoom);
            if line.stroke == Stroke::Rings {
                area.draw(&Circle::new((x + 9 * z, y), 5 * self.zoom, stroke))?;
            } else {
                area.draw(&PathElement::new([(x, y), (x + 18 * z, y)], stroke))?;
            }
            let style = font(theme::TEXT, self.zoom, &theme::INK);
            let at = (x + pixels(SWATCH) * z, y - 6 * z);
            area.draw(&Text::new(line.name.clone(), at, style))?;
        }
        Ok(area.split_vertically(ROW * rows * z).1)
    }
}

/// Lays out pieces of some widths in rows; where each begins and in which row, and how many rows.
fn in_rows(widths: &[i32], gap: i32, width: i32) -> (Vec<(i32, i32)>, i32) {
    let (mut x, mut row) = (0, 0);
    let spots = widths.iter().map(|own| {
        if 0 < x && width < x + own {
            (x, row) = (0, row + 1);
        }
        let spot = (x, row);
        x += own + gap;
        spot
    });
    (spots.collect(), row + 1)
}

/// Pixels between a legend and the edge of the plot.
const LEGEND_GAP: i32 = 6;

/// The first place at which a legend of some width and height covers no curve and no edge of a
/// band; none where it would everywhere. `xs` and `ys` are the plot's, in the pixels of the curves.
fn free_place(
    curves: &[Vec<(i32, i32)>],
    legend: [i32; 2],
    xs: &Range<i32>,
    ys: &Range<i32>,
) -> Option<(i32, i32)> {
    let places = |of: &Range<i32>, own: i32| {
        let room = of.end - of.start - own;
        [LEGEND_GAP, room / 2, room - LEGEND_GAP]
    };
    let [left, middle, right] = places(xs, legend[0]);
    let [top, centre, bottom] = places(ys, legend[1]);
    let corners = [(right, top), (right, bottom), (left, top), (left, bottom)];
    let edges = [(right, centre), (middle, top), (middle, bottom), (left, centre)];
    let fits = |&(x, y): &(i32, i32)| 0 <= x && 0 <= y;
    let is_free = |&(x, y): &(i32, i32)| {
        let (x, y) = (xs.start + x, ys.start + y);
        let cover = [(x, x + legend[0]), (y, y + legend[1])];
        let mut pieces = curves.iter().flat_map(|curve| pieces(curve));
        !pieces.any(|(&from, &to)| crosses(from, to, cover))
    };
    let mut all = corners.into_iter().chain(edges).chain([(middle, centre)]);
    all.find(|place| fits(place) && is_free(place))
}

/// The straight pieces of a curve, and its last point.
fn pieces(curve: &[(i32, i32)]) -> impl Iterator<Item = (&(i32, i32), &(i32, i32))> {
    curve.iter().zip(curve.iter().skip(1).chain(curve.last()))
}

/// Whether a straight piece, or a mere point, has a part within a rectangle, given by its range of
/// either coordinate.
fn crosses(from: (i32, i32), to: (i32, i32), cover: [(i32, i32); 2]) -> bool {
    let (mut enters, mut leaves) = (0.0_f64, 1.0_f64);
    for ((from, to), (low, high)) in [(from.0, to.0), (from.1, to.1)].into_iter().zip(cover) {
        let [from, to, low, high] = [from, to, low, high].map(f64::from);
        if from == to {
            if from < low || high < from {
                return false;
            }
            continue;
        }
        let cuts = [(low - from) / (to - from), (high - from) / (to - from)];
        enters = enters.max(cuts[0].min(cuts[1]));
        leaves = leaves.min(cuts[0].max(cuts[1]));
    }
    enters <= leaves
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_legend_covers_no_curve_where_there_is_room() {
        //   0                  99
        //   | \______    +----+      a fall, then low: room at the upper right
        //   |        \__ |    |
        let fall = [(0, 0), (10, 60), (99, 95)];
        let place = |curves: &[&[(i32, i32)]]| {
            let curves: Vec<Vec<(i32, i32)>> = curves.iter().map(|curve| curve.to_vec()).collect();
            free_place(&curves, [30, 30], &(0..100), &(0..100))
        };
        assert_eq!(place(&[]), Some((64, 6)));
        assert_eq!(place(&[&fall]), Some((64, 6)));
        assert_eq!(place(&[&[(70, 20)]]), Some((64, 64)));
        // A long straight piece has no point in there and is covered all the same.
        let high = [(0, 10), (99, 10)];
        assert_eq!(place(&[&high]), Some((64, 64)));
        assert_eq!(place(&[&high, &fall, &[(50, 10)]]), Some((64, 35)));
        // Nowhere.
        let zigzag: Vec<(i32, i32)> = (0..20).map(|idx| (idx * 5, idx % 2 * 99)).collect();
        assert_eq!(place(&[&zigzag]), None);
    }

    #[test]
    fn a_piece_crosses_where_a_part_of_it_lies_within() {
        let crosses = |from, to| crosses(from, to, [(10, 20), (10, 20)]);
        assert!(
            crosses((0, 15), (30, 15)) && crosses((12, 0), (12, 16)) && crosses((0, 0), (30, 30))
        );
        assert!(!crosses((0, 9), (30, 9)) && !crosses((0, 30), (9, 0)));
        assert!(crosses((15, 15), (15, 15)));
    }

    #[test]
    fn names_stand_in_rows_that_fit() {
        assert_eq!(in_rows(&[40, 40, 40], 10, 100), (vec![(0, 0), (50, 0), (0, 1)], 2));
        assert_eq!(in_rows(&[200, 10], 10, 100), (vec![(0, 0), (0, 1)], 2));
    }

    proptest! {
        /// Looked at pixel by pixel.
        #[test]
        fn no_legend_covers_a_curve(
            curve in prop::collection::vec((0_i32..100, 0_i32..100), 1..9),
            legend in [10_i32..60, 10_i32..60],
        ) {
            if let Some((x, y)) = free_place(std::slice::from_ref(&curve), legend, &(0..100), &(0..100)) {
                for pair in curve.windows(2) {
                    for step in 0..=200 {
                        let at = |from: i32, to: i32| from * (200 - step) + to * step;
                        let (px, py) = (at(pair[0].0, pair[1].0), at(pair[0].1, pair[1].1));
                        let is_within = |at: i32, low: i32, own: i32| 200 * low < at && at < 200 * (low + own);
                        prop_assert!(!(is_within(px, x, legend[0]) && is_within(py, y, legend[1])));
                    }
                }
            }
        }
    }
}
