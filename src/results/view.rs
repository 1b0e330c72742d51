//! The shown part of a table: chosen columns, sorted rows, and lines that fit a terminal.
//!
//! In: a batch with metadata about units and default columns, the choices of the user, and a width.
//! Out: a batch of the chosen rows and columns, or text. Columns that are not shown are always
//! named.
//!
//! ```text
//!  fits           -> one line per row, headers in several lines
//!  few rows       -> turned: one line per column
//!  otherwise      -> pieces, each with the first column
//! ```

use arrow::array::{ArrayRef, AsArray, UInt64Array, make_comparator};
use arrow::compute::{SortOptions, take_record_batch};
use arrow::datatypes::{DataType, Field, Float64Type};
use arrow::record_batch::RecordBatch;
use serde_json::Value;

use crate::cells::is_hidden;
use crate::digits;
use crate::faults::{Result, Usage};
use crate::results::forms::cell;
use crate::results::frame::{UNIT, VIEW, WHOLE, noted, unit_in_header};

/// The shown rows and columns, and the width in characters.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// The chosen columns; empty for the default, `all` for all.
    pub columns: Vec<String>,
    /// The column to sort by, as `NAME`, `NAME:asc` or `NAME:desc`.
    pub sort: Option<String>,
    /// The largest number of rows.
    pub top: Option<usize>,
    /// The chosen width, in characters.
    pub width: Option<usize>,
}

impl View {
    /// Whether rows or columns other than the default are chosen.
    pub fn is_chosen(&self) -> bool {
        !self.columns.is_empty() || self.sort.is_some() || self.top.is_some()
    }

    /// The chosen rows and columns; all if none are chosen.
    ///
    /// # Errors
    /// A column does not exist, or a direction is not `asc` or `desc`.
    pub fn of(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let mut shown = match &self.sort {
            Some(text) => sorted(batch, text)?,
            None => batch.clone(),
        };
        if let Some(top) = self.top {
            shown = shown.slice(0, top.min(shown.num_rows()));
        }
        if self.columns.is_empty() || self.columns == ["all"] {
            return Ok(shown);
        }
        let places: Result<Vec<usize>> =
            self.columns.iter().map(|name| place(batch, name, "--columns")).collect();
        Ok(shown.project(&places?)?)
    }

    /// Checks the chosen columns, without making rows.
    ///
    /// # Errors
    /// A column does not exist, or a direction is not `asc` or `desc`.
    pub fn check(&self, batch: &RecordBatch) -> Result<()> {
        self.of(&batch.slice(0, 0)).map(drop)
    }

    /// The columns that a terminal shows, and the names of the other columns.
    pub fn of_terminal(&self, batch: &RecordBatch) -> Result<(RecordBatch, Vec<String>)> {
        let schema = batch.schema();
        let is_shown = |field: &Field| noted(field, VIEW).is_some();
        let fields = || schema.fields().iter().enumerate();
        if !self.columns.is_empty() || !fields().any(|(_, field)| is_shown(field)) {
            return Ok((batch.clone(), Vec::new()));
        }
        let (shown, others): (Vec<_>, Vec<_>) = fields().partition(|(_, field)| is_shown(field));
        let places: Vec<usize> = shown.into_iter().map(|(place, _)| place).collect();
        let others = others.into_iter().filter(|(_, field)| !says_only_units(batch, field));
        let others = others.map(|(_, field)| field.name().clone()).collect();
        Ok((batch.project(&places)?, others))
    }
}

/// The position of the column that a flag names.
fn place(batch: &RecordBatch, name: &str, flag: &str) -> Result<usize> {
    let schema = batch.schema();
    schema.index_of(name).map_err(|_| {
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        Usage(format!("{flag}: there is no column `{name}` (there are: {})", names.join(", ")))
            .into()
    })
}

/// The rows sorted by a column, as `NAME`, `NAME:asc` or `NAME:desc`; rows without a value come
/// last.
fn sorted(batch: &RecordBatch, text: &str) -> Result<RecordBatch> {
    let (name, descending) = match text.split_once(':') {
        None | Some((_, "asc")) => (text.trim_end_matches(":asc"), false),
        Some((name, "desc")) => (name, true),
        Some((_, other)) => {
            let problem = format!("--sort: `{other}` is not a direction (asc or desc)");
            return Err(Usage(problem).into());
        }
    };
    let column = batch.column(place(batch, name, "--sort")?);
    let options = SortOptions { descending, nulls_first: false };
    let compare = make_comparator(column, column, options)?;
    let mut rows: Vec<usize> = (0..batch.num_rows()).collect();
    rows.sort_by(|&one, &other| compare(one, other));
    let rows: UInt64Array = rows.into_iter().map(|row| row as u64).collect();
    Ok(take_record_batch(batch, &rows)?)
}

/// A column as text.
#[derive(Clone)]
struct Column {
    /// The name in pieces, which may be on separate lines. If the name does not end in the unit,
    /// the unit is the last piece.
    name: Vec<String>,
    cells: Vec<String>,
    is_text: bool,
    /// Whether its text may be cut off in a narrow table.
    is_cut: bool,
}

/// A table with more rows is not turned.
const TURNED_MAX: usize = 8;

/// The length to which text is cut before a table is divided into pieces.
const NAME_MIN: usize = 24;

/// Spaces between two columns.
const GAP: usize = 2;

/// A table in lines of at most `width` characters, if possible.
pub fn fitted(batch: &RecordBatch, width: usize) -> String {
    let mut columns = columns_of(batch);
    if columns.is_empty() {
        return String::new();
    }
    if let Some(text) = upright(&columns, width) {
        return text;
    }
    if 0 < batch.num_rows()
        && batch.num_rows() <= TURNED_MAX
        && let Some(text) = turned(&columns, width)
    {
        return text;
    }
    for column in columns.iter_mut().filter(|column| column.is_cut) {
        column.cells.iter_mut().for_each(|cell| *cell = cut(cell, NAME_MIN));
    }
    upright(&columns, width).unwrap_or_else(|| in_pieces(&columns, width))
}

fn columns_of(batch: &RecordBatch) -> Vec<Column> {
    let schema = batch.schema();
    let fields = schema.fields().iter().zip(batch.columns());
    fields
        .filter(|(field, _)| !says_only_units(batch, field))
        .map(|(field, column)| {
            let cells = if let Some(numbers) = column.as_primitive_opt::<Float64Type>() {
                aligned(&numbers.iter().collect::<Vec<Option<f64>>>())
            } else {
                let grouping = Grouping::of(field.name());
                let cut = Cut::of(field);
                (0..batch.num_rows()).map(|row| table_cell(column, row, grouping, cut)).collect()
            };
            let is_text = column.data_type() == &DataType::Utf8;
            let is_cut = is_text && Cut::of(field) == Cut::Long;
            Column { name: pieces(field), cells, is_text, is_cut }
        })
        .collect()
}

/// Whether a column `unit` or `..._unit` only repeats units that are in the header of another
/// column.
pub(crate) fn says_only_units(batch: &RecordBatch, field: &Field) -> bool {
    if field.name() != "unit" && !field.name().ends_with("_unit") {
        return false;
    }
    let schema = batch.schema();
    let column = batch.column_by_name(field.name());
    let Some(cells) = column.and_then(|column| column.as_string_opt::<i32>()) else {
        return false;
    };
    let in_headers = |unit: &str| schema.fields().iter().any(|one| noted(one, UNIT) == Some(unit));
    let mut cells = cells.iter();
    cells
        .next()
        .flatten()
        .is_some_and(|unit| in_headers(unit) && cells.all(|other| other == Some(unit)))
}

/// The pieces of a name, each with its underscore at the end, and the unit.
fn pieces(field: &Field) -> Vec<String> {
    let mut pieces: Vec<String> = field.name().split_inclusive('_').map(str::to_owned).collect();
    pieces.extend(unit_in_header(field));
    pieces
}

/// The numbers of a column with the same number of decimals. It is enough for six significant
/// digits of the largest number and three of the smallest, but at most six. A number that would be
/// rounded to 0 is written with six significant digits, so `0` is always exactly 0.
fn aligned(numbers: &[Option<f64>]) -> Vec<String> {
    let known = || numbers.iter().flatten().filter(|number| number.is_finite());
    let largest = known().fold(0.0_f64, |most, number| most.max(number.abs()));
    let is_whole = known().all(|number| number.fract() == 0.0);
    let smallest = known().filter(|number| **number != 0.0).map(|number| number.abs());
    let smallest = smallest.fold(largest, f64::min);
    let magnitude = |number: f64| if number == 0.0 { 0.0 } else { number.log10().floor() };
    let wanted = (5.0 - magnitude(largest)).max(2.0 - magnitude(smallest));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 6")]
    let decimals = if is_whole { 0 } else { wanted.clamp(0.0, 6.0) as usize };
    let text = |number: f64| {
        let written = digits::grouped_decimal(number, decimals);
        let is_lost = number != 0.0 && !written.bytes().any(|byte| matches!(byte, b'1'..=b'9'));
        if number == 0.0 || is_lost || 1e15 <= number.abs() || !number.is_finite() {
            digits::six_digits(number)
        } else {
            written
        }
    };
    numbers.iter().map(|number| number.map_or_else(|| "-".to_owned(), text)).collect()
}

/// A text, cut to at most `longest` characters.
fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        None => text.to_owned(),
        Some(_) => text.chars().take(longest - 1).chain(std::iter::once('…')).collect(),
    }
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// The header of a column in lines of at most `width` characters.
fn header_lines(column: &Column, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for piece in &column.name {
        match lines.last_mut() {
            Some(line) if length(line) + length(piece) <= width => line.push_str(piece),
            _ => lines.push(piece.trim_start().to_owned()),
        }
    }
    lines
}

/// The smallest possible width of a column.
fn narrowest(column: &Column) -> usize {
    let all = column.cells.iter().chain(&column.name);
    all.map(|text| length(text.trim_start())).max().unwrap_or(0)
}

/// The table with a line per row; `None` if this is too wide.
fn upright(columns: &[Column], width: usize) -> Option<String> {
    let mut widths: Vec<usize> = columns.iter().map(narrowest).collect();
    let total = widths.iter().sum::<usize>() + GAP * (columns.len() - 1);
    if width < total {
        return None;
    }
    // The remaining width is given to the headers with most lines.
    let mut left = width - total;
    loop {
        let lines = |place: usize, width: usize| header_lines(&columns[place], width).len();
        let most = (0..columns.len()).map(|place| lines(place, widths[place])).max()?;
        if most <= 1 || left == 0 {
            break;
        }
        let wider = |place: usize| {
            (widths[place]..=widths[place].saturating_add(left))
                .find(|&wide| lines(place, wide) < most)
        };
        let tallest = (0..columns.len()).filter(|&place| lines(place, widths[place]) == most);
        let grown: Option<Vec<(usize, usize)>> =
            tallest.map(|place| Some((place, wider(place)?))).collect();
        let Some(grown) = grown else { break };
        let cost: usize = grown.iter().map(|&(place, wide)| wide - widths[place]).sum();
        if left < cost {
            break;
        }
        left -= cost;
        for (place, wide) in grown {
            widths[place] = wide;
        }
    }
    let headers: Vec<Vec<String>> =
        columns.iter().zip(&widths).map(|(column, &width)| header_lines(column, width)).collect();
    let tall = headers.iter().map(Vec::len).max().unwrap_or(0);
    let mut text = String::new();
    for line in 0..tall {
        push_line(&mut text, columns, &widths, headers.iter().map(|own| own_line(own, line, tall)));
    }
    for row in 0..columns[0].cells.len() {
        push_line(&mut text, columns, &widths, columns.iter().map(|one| one.cells[row].as_str()));
    }
    Some(text)
}

/// The part of a header on a line. The last line of each header is just above the cells; the
/// tallest header has `tall` lines.
fn own_line(lines: &[String], line: usize, tall: usize) -> &str {
    (line + lines.len()).checked_sub(tall).map_or("", |line| lines[line].as_str())
}

fn push_line<'a>(
    text: &mut String,
    columns: &[Column],
    widths: &[usize],
    cells: impl Iterator<Item = &'a str>,
) {
    let cells: Vec<String> = cells
        .zip(columns)
        .zip(widths)
        .map(
            |((cell, column), &width)| {
                if column.is_text { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            },
        )
        .collect();
    text.push_str(cells.join("  ").trim_end());
    text.push('\n');
}

/// The table with a line per column; `None` if this is too wide.
fn turned(columns: &[Column], width: usize) -> Option<String> {
    let names = Column {
        name: Vec::new(),
        cells: columns.iter().map(|column| column.name.concat()).collect(),
        is_text: true,
        is_cut: false,
    };
    let row = |row: usize| Column {
        name: Vec::new(),
        cells: columns.iter().map(|column| column.cells[row].clone()).collect(),
        is_text: false,
        is_cut: false,
    };
    let all: Vec<Column> =
        std::iter::once(names).chain((0..columns[0].cells.len()).map(row)).collect();
    let text = upright(&all, width)?;
    // These columns have no headers, so the empty header line is removed.
    Some(text.trim_start_matches('\n').to_owned())
}

/// The columns in pieces that fit, each of which starts with the first column.
fn in_pieces(columns: &[Column], width: usize) -> String {
    let mut text = String::new();
    let mut rest = &columns[1..];
    loop {
        let mut count = rest.len();
        let piece = |count: usize| [&columns[..1], &rest[..count]].concat();
        while 1 < count && upright(&piece(count), width).is_none() {
            count -= 1;
        }
        let piece = piece(count);
        // A piece that does not fit with a single further column is wider than the terminal.
        let widest = upright(&piece, width).or_else(|| upright(&piece, usize::MAX));
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&widest.unwrap_or_default());
        rest = &rest[count..];
        if rest.is_empty() {
            return text;
        }
    }
}

/// A table in aligned columns, without a limit of the width. A unit that is the same in all rows is
/// in the header.
pub fn table(batch: &RecordBatch) -> String {
    let schema = batch.schema();
    let columns: Vec<(Vec<String>, bool)> = schema
        .fields()
        .iter()
        .zip(batch.columns())
        .filter(|(field, _)| !says_only_units(batch, field))
        .map(|(field, column)| {
            let unit = unit_in_header(field).unwrap_or_default();
            let mut cells = vec![format!("{}{unit}", field.name())];
            let grouping = Grouping::of(field.name());
            let cut = Cut::of(field);
            cells.extend((0..batch.num_rows()).map(|row| table_cell(column, row, grouping, cut)));
            (cells, column.data_type() == &DataType::Utf8)
        })
        .collect();
    let widths: Vec<usize> = columns
        .iter()
        .map(|(cells, _)| cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in 0..=batch.num_rows() {
        let cells: Vec<String> = columns
            .iter()
            .zip(&widths)
            .map(|((cells, is_text), &width)| {
                if *is_text {
                    format!("{:<width$}", cells[row])
                } else {
                    format!("{:>width$}", cells[row])
                }
            })
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// A cell as text for readers.
fn table_cell(column: &ArrayRef, row: usize, grouping: Grouping, cut: Cut) -> String {
    match cell(column, row) {
        Value::Null => "-".to_owned(),
        Value::String(text) => {
            let text: String = text.chars().flat_map(visible).collect();
            if cut == Cut::Long { shortened(&text) } else { text }
        }
        Value::Number(number) => match number.as_i64() {
            Some(whole) if grouping == Grouping::Plain => whole.to_string(),
            Some(whole) => digits::grouped_signed(whole),
            None => digits::six_digits(number.as_f64().unwrap_or(f64::NAN)),
        },
        other => other.to_string(),
    }
}

/// Whether a table cuts the text of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    /// Names that are too long are cut.
    Long,
    /// Nothing is cut, because a sentence without its end cannot be understood.
    Nothing,
}

impl Cut {
    /// The rule for a column.
    fn of(field: &Field) -> Self {
        if noted(field, WHOLE).is_some() { Self::Nothing } else { Self::Long }
    }
}

/// How whole numbers are written in a table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Grouping {
    /// `2,012,242`, for counts and times.
    Thousands,
    /// `6255532702`, for ids, which are copied into other commands.
    Plain,
}

impl Grouping {
    /// The rule for a column.
    fn of(column: &str) -> Self {
        if column.ends_with("_id") { Self::Plain } else { Self::Thousands }
    }
}

/// The longest text of a cell. Event sequences of crash loops have thousands of digits.
const CELL_MAX: usize = 60;

/// Cuts a long name and adds its full length in characters. CSV and JSON have the whole name.
fn shortened(text: &str) -> String {
    let length = text.chars().count();
    if length <= CELL_MAX {
        return text.to_owned();
    }
    let kept: String = text.chars().take(CELL_MAX - 12).collect();
    format!("{kept}… ({length})")
}

/// Escapes control characters, so that a name cannot control the terminal.
fn visible(letter: char) -> impl Iterator<Item = char> {
    let escaped: Vec<char> =
        if is_hidden(letter) { letter.escape_default().collect() } else { vec![letter] };
    escaped.into_iter()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::results::frame::Frame;

    fn sample() -> RecordBatch {
        Frame::default()
            .text("policy", ["fifo", "fair+late:cap=0.1", "priority"])
            .float("response_s_mean", [Some(15_308.952), None, Some(0.25)])
            .count("jobs_hurt", [1, 2_012_242, 3])
            .float("cpu", [Some(0.5), Some(1e-9), Some(0.0625)])
            .unit("NCU-s")
            .text("unit", ["NCU-s"; 3])
            .view(&["policy", "cpu"])
            .batch()
    }

    #[test]
    fn headers_take_several_lines_where_there_is_no_room() {
        let expected = [
            "                    response_                    cpu",
            "policy                 s_mean  jobs_hurt     (NCU-s)",
            "fifo               15,308.952          1    0.500000",
            "fair+late:cap=0.1           -  2,012,242  1.00000e-9",
            "priority                0.250          3    0.062500",
        ];
        assert_eq!(fitted(&sample(), 52).lines().collect::<Vec<&str>>(), expected);
    }

    #[test]
    fn sentences_stay_whole_however_narrow_the_terminal() {
        let long = "one of the sentences of a paper, too long for a terminal of 40 characters";
        for width in [1, 20, 40, 80, 200] {
            let frame = |frame: Frame| {
                let rows = frame.text("verdict", ["reproduced"; 20]).text("name", [long; 20]);
                fitted(&rows.batch(), width)
            };
            let text = frame(Frame::default().text("claim", [long; 20]).whole());
            assert!(20 <= text.matches(long).count(), "{width}: {text}");
        }
    }

    #[test]
    fn sentences_are_whole_and_long_names_are_not_where_there_is_no_terminal() {
        let long = "a".repeat(100);
        let of = |frame: Frame| table(&frame.batch());
        assert!(of(Frame::default().text("claim", [&long]).whole()).contains(&long));
        assert!(of(Frame::default().text("name", [&long])).contains("… (100)"));
    }

    #[test]
    fn rows_are_sorted_and_those_without_a_value_come_last() {
        let by = |sort: &str| {
            let view = View { sort: Some(sort.to_owned()), top: Some(2), ..View::default() };
            let batch = view.of(&sample()).unwrap();
            let names = batch.column(0).as_string::<i32>();
            names.iter().map(|name| name.unwrap().to_owned()).collect::<Vec<String>>()
        };
        assert_eq!(by("response_s_mean"), ["priority", "fifo"]);
        assert_eq!(by("response_s_mean:desc"), ["fifo", "priority"]);
        assert_eq!(by("policy"), ["fair+late:cap=0.1", "fifo"]);
        for sort in ["nothing", "policy:up"] {
            let view = View { sort: Some(sort.to_owned()), ..View::default() };
            assert!(view.of(&sample()).is_err(), "{sort}");
        }
    }

    #[test]
    fn a_terminal_shows_the_columns_of_the_view_and_names_the_others() {
        let (shown, others) = View::default().of_terminal(&sample()).unwrap();
        assert_eq!(shown.num_columns(), 2);
        assert_eq!(others, ["response_s_mean", "jobs_hurt"]);
        let all = View { columns: vec!["all".to_owned()], ..View::default() };
        assert_eq!(all.of_terminal(&sample()).unwrap().0.num_columns(), 5);
    }

    proptest! {
        /// No line is wider than the terminal, and no number is lost.
        #[test]
        fn whatever_a_table_holds_it_fits(
            columns in prop::collection::vec(
                ("[a-z]{1,8}(_[a-z]{1,8}){0,3}", prop::collection::vec(prop::option::of(-1e9..1e9_f64), 12)),
                1..9,
            ),
            rows in 1..12_usize,
            width in 60..140_usize,
        ) {
            let names: Vec<String> = (0..rows).map(|row| format!("row {row}")).collect();
            let mut frame = Frame::default().text("key", &names);
            for (name, cells) in &columns {
                frame = frame.float(name, cells[..rows].iter().copied());
            }
            let batch = frame.batch();
            let text = fitted(&batch, width);
            for line in text.lines() {
                prop_assert!(length(line) <= width, "{line}");
            }
            for (_, cells) in &columns {
                for cell in aligned(&cells[..rows]) {
                    prop_assert!(text.contains(&cell), "{cell} in\n{text}");
                }
            }
            for name in &names {
                prop_assert!(text.contains(name.as_str()));
            }
        }
    }

    fn odd_names() -> RecordBatch {
        Frame::default()
            .text("name", ["a", "=1+1,\"x\"", "tab\u{1b}[31m"])
            .int("count", [1, 2_012_242, -5])
            .float("share", [Some(0.5), None, Some(1.0 / 3.0)])
            .batch()
    }

    #[test]
    fn a_table_is_aligned_and_harmless() {
        let text = table(&odd_names());
        assert_eq!(
            text,
            "name               count     share\n\
             a                      1  0.500000\n\
             =1+1,\"x\"       2,012,242         -\n\
             tab\\u{1b}[31m         -5  0.333333\n"
        );
    }
}
