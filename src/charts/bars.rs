//! Horizontal bars with their values next to them.

use super::axes::{Axis, Frame, Room, Scale};
use super::canvas::{Align, Canvas, Place, Shape, count, shortened, width_of};
use super::says;
use super::theme::{Ink, Tone};

/// Horizontal bars from 0.
#[derive(Clone, Debug)]
pub struct BarChart {
    /// The title.
    pub title: String,
    /// Definition and source, below the title.
    pub caption: String,
    /// Title of the axis of bar lengths, with its unit.
    pub value_axis: String,
    /// The bars from top to bottom.
    pub bars: Vec<Bar>,
}

/// One bar.
#[derive(Clone, Debug)]
pub struct Bar {
    /// Name, to the left.
    pub label: String,
    /// Length, not below 0.
    pub value: f64,
    /// Text at its end.
    pub note: String,
    /// Colour.
    pub tone: Tone,
}

/// The widest name that is placed beside its bar, as a share of the picture; wider names are placed
/// above it.
const BESIDE: f64 = 0.34;

/// The values of a note that fit into `room`, from the first one on: a value that is cut would be
/// read as another one.
fn fitting(note: &str, room: f64, size: f64) -> String {
    let ends = note.match_indices(", ").map(|(at, _)| at).chain([note.len()]);
    let fits = ends.map(|end| &note[..end]).take_while(|text| width_of(text, size) <= room);
    fits.last().map_or_else(|| shortened(note, room, size), str::to_owned)
}

pub(super) fn draw(chart: &BarChart, canvas: &mut Canvas) {
    canvas.set_head(&chart.title, &chart.caption);
    let look = canvas.look;
    let (size, margin) = (look.text, look.margin());
    let room = look.width - 2.0 * margin;
    let widest = |text: fn(&Bar) -> &str| {
        chart.bars.iter().map(|bar| width_of(text(bar), size)).fold(0.0, f64::max)
    };
    let (labels, notes) = (widest(|bar| &bar.label), widest(|bar| &bar.note));
    // If name and note leave no space for a bar, the name is above it.
    let is_above = BESIDE * room < labels || 0.66 * room < labels + notes;
    let left = margin + if is_above { 0.0 } else { labels + 0.7 * size };
    let row = size * if is_above { 3.4 } else { 2.2 };
    let width = look.width - margin - left;
    let longest = chart.bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    // Leaves space for the longest note after the longest bar.
    let taken = ((notes + size) / width).min(0.8);
    let reach = if longest == 0.0 { 1.0 } else { longest / (1.0 - taken) };
    let frame = Frame {
        left,
        top: margin,
        width,
        height: count(chart.bars.len().max(1)) * row,
        x: Axis::new(&chart.value_axis, 0.0, reach, Scale::Linear, Room::Across(width, size)),
        y: Axis::new("", 0.0, 1.0, Scale::Linear, Room::Up(1.0, size)),
    };
    frame.draw_x(canvas);
    for (idx, bar) in (0_u32..).zip(&chart.bars) {
        let top = margin + f64::from(idx) * row;
        let (from, high) =
            if is_above { (top + 1.7 * size, 1.4 * size) } else { (top + 0.3 * size, 1.6 * size) };
        let middle = from + high / 2.0;
        let end = frame.at(bar.value.max(0.0), 0.0).0;
        canvas.fill((left, from), (end - left, high), bar.tone.ink());
        let note = fitting(&bar.note, look.width - margin - end - 0.5 * size, size);
        canvas.text(&note, (end + 0.5 * size, middle), Align::Left, size, Ink::TEXT);
        if is_above {
            let label = shortened(&bar.label, width, size);
            canvas.text(
                &label,
                (left + 0.3 * size, top + 1.0 * size),
                Align::Left,
                size,
                Ink::TEXT,
            );
        } else {
            canvas.text(&bar.label, (left - 0.7 * size, middle), Align::Right, size, Ink::TEXT);
        }
        // The whole row, so that a short bar can be pointed at too.
        let mut says = says(&bar.label, &[(&chart.value_axis, bar.value)]);
        if !bar.note.is_empty() {
            says.push('\n');
            says.push_str(&bar.note);
        }
        let shape = Shape::Area((left, top), (width, row));
        canvas.places.push(Place { shape, says });
    }
    canvas.line(vec![(left, margin), (left, frame.bottom())], canvas.look.line(), Ink::TEXT);
    canvas.height = frame.bottom() + Frame::below(canvas, &frame.x.title, width) + 0.5 * margin;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_loses_whole_values_from_its_end() {
        let note = "mean 4.18 min, median 3 s, p95 25.2 h";
        let room = |text: &str| width_of(text, 10.0) + 0.1;
        assert_eq!(fitting(note, room(note), 10.0), note);
        assert_eq!(fitting(note, room(note) - 1.0, 10.0), "mean 4.18 min, median 3 s");
        assert_eq!(fitting(note, room("mean 4.18 min, med"), 10.0), "mean 4.18 min");
        assert!(fitting("86.5861234", room("86.58"), 10.0).contains('…'));
        assert_eq!(fitting("", 0.0, 10.0), "");
    }
}
