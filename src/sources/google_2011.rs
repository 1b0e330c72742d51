//! Google cluster-usage trace v2.1 (May 2011): lines of CSV without a header to typed rows.
//!
//! In: a block of whole lines. Out: a [`RowBlock`] with the rows and the rejects. The columns of a
//! file are in the order of [`Table::columns`], except in `task_constraints`: the trace's schema
//! file and its document disagree on the order of the last three columns ([`ColumnOrder::detect`]).
//! A field is missing if it is empty; no other value counts as missing.
//!
//! Sources: "Google cluster-usage traces: format + schema" (Reiss, Wilkes, Hellerstein, 2011)
//! and the trace's own `schema.csv`.

use super::blocks::TextBlock;
use super::fields::{self, CarefulTime};
use super::part::{HandOut, PartParser};
use super::reject::{Reject, RejectReason, reject_text};
use super::rows::{Cells, RowBlock};
use crate::schema::{self, AMOUNT_MAX, Column, ColumnType, Source, Table};

/// The lake's column (by position) that each field of a line fills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ColumnOrder(Vec<usize>);

/// The order of `task_constraints` in `schema.csv`: operator, name, value.
const OPERATOR_FIRST: [usize; 6] = [0, 1, 2, 3, 4, 5];
/// The order in the document: name, value, operator.
const OPERATOR_LAST: [usize; 6] = [0, 1, 2, 4, 5, 3];

impl ColumnOrder {
    /// The order of the lake.
    pub(crate) fn of(table: Table) -> Self {
        Self((0..table.columns(Source::Google2011).len()).collect())
    }

    /// Puts items from the order of the lake into that of the file.
    fn put<T>(&self, items: Vec<T>) -> Vec<T> {
        let mut items: Vec<Option<T>> = items.into_iter().map(Some).collect();
        self.0
            .iter()
            .map(|&idx| items[idx].take().expect("an order names each column once"))
            .collect()
    }

    /// Puts items from the order of the file into that of the lake.
    fn put_back<T>(&self, items: Vec<T>) -> Vec<T> {
        let mut placed: Vec<(usize, T)> = self.0.iter().copied().zip(items).collect();
        placed.sort_by_key(|(idx, _)| *idx);
        placed.into_iter().map(|(_, item)| item).collect()
    }

    /// Detects the order of a file from its first lines.
    ///
    /// Only `task_constraints` is ambiguous: the operator is the field that is a digit from 0 to 3
    /// in more of the first 1,000 lines. If both fields are equal in this, the order is that of
    /// `schema.csv`.
    pub(crate) fn detect(table: Table, lines: &[u8]) -> Self {
        if table != Table::TaskConstraints {
            return Self::of(table);
        }
        let is_operator = |field: Option<&&[u8]>| matches!(field, Some([b'0'..=b'3']));
        let (mut first_count, mut last_count) = (0_u32, 0_u32);
        for line in lines.split(|&byte| byte == b'\n').take(1000) {
            let fields: Vec<&[u8]> = line.trim_ascii_end().split(|&byte| byte == b',').collect();
            first_count += u32::from(is_operator(fields.get(3)));
            last_count += u32::from(is_operator(fields.get(5)));
        }
        let order = if first_count < last_count { OPERATOR_LAST } else { OPERATOR_FIRST };
        Self(order.to_vec())
    }
}

/// Parses the blocks of one part.
pub(crate) struct Parser {
    part: u32,
    order: ColumnOrder,
}

impl Parser {
    /// A parser of part number `part` of `table`, which begins with `lines`.
    pub(crate) fn new(table: Table, part: u32, lines: &[u8]) -> Self {
        Self { part, order: ColumnOrder::detect(table, lines) }
    }
}

impl PartParser for Parser {
    fn parse(
        &mut self,
        text: &TextBlock,
        first_line: u64,
        rows: &mut RowBlock,
        _hand_out: &mut HandOut<'_>,
    ) {
        parse_block(&self.order, self.part, first_line, text.padded(), text.len(), rows);
    }
}

/// A parsed field, or why it was refused.
type FieldResult<T> = Result<T, RejectReason>;

/// Parses the whole lines in `text[..len]`, the first of which is line `first_line` of `part`, into
/// `block`, which it clears first.
///
/// `text` continues for at least [`fields::PADDING`] bytes after `len`, and `text[len - 1]` is a
/// line feed.
pub(crate) fn parse_block(
    order: &ColumnOrder,
    part: u32,
    first_line: u64,
    text: &[u8],
    len: usize,
    block: &mut RowBlock,
) {
    debug_assert!(len + fields::PADDING <= text.len(), "a block is padded");
    block.clear();
    let columns = order.put(block.column_list().iter().collect());
    block.columns = order.put(std::mem::take(&mut block.columns));
    let mut at = 0;
    let mut line = first_line;
    while at < len {
        match parse_line(&columns, block, text, at) {
            Ok(next) => {
                block.row_ids.push(schema::row_id(part, line));
                at = next;
            }
            Err(fault) => {
                block.drop_unfinished_row();
                let end =
                    at + memchr::memchr(b'\n', &text[at..len]).expect("a block ends with a line");
                let raw = text[at..end].strip_suffix(b"\r").unwrap_or(&text[at..end]);
                if let Err(reject) = parse_again(&columns, block, raw, fault) {
                    block.drop_unfinished_row();
                    block.rejects.push(Reject { line, ..reject });
                } else {
                    block.row_ids.push(schema::row_id(part, line));
                }
                at = end + 1;
            }
        }
        line += 1;
    }
    block.line_count = line - first_line;
    block.columns = order.put_back(std::mem::take(&mut block.columns));
}

/// A field position and what is wrong there.
type Fault = (usize, RejectReason);

/// Parses the line at `start` into `block` and returns where the next one begins.
#[expect(clippy::inline_always, reason = "measured: a call per field costs a tenth of the parser")]
#[inline(always)]
fn parse_line(
    columns: &[&Column],
    block: &mut RowBlock,
    text: &[u8],
    start: usize,
) -> Result<usize, Fault> {
    let row = block.row_ids.len();
    let mut at = start;
    let last = columns.len() - 1;
    for (field_idx, (column, data)) in columns.iter().zip(&mut block.columns).enumerate() {
        // Most values begin with a byte above `,`, so one comparison rules out an empty field.
        if text[at] <= b',' && matches!(text[at], b',' | b'\n' | b'\r') {
            if column.is_mandatory {
                return Err((field_idx, RejectReason::EmptyMandatory));
            }
            data.cells.push_missing();
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a block has far fewer than 2^32 rows"
            )]
            data.nulls.push(row as u32);
        } else {
            at = match parse_field(column.kind, &mut data.cells, text, at) {
                Ok(end) => end,
                Err(reason) => return Err((field_idx, reason)),
            };
        }
        if field_idx < last {
            if text[at] != b',' {
                return Err((field_idx, RejectReason::TooFewColumns));
            }
            at += 1;
        }
    }
    match text[at] {
        b'\n' => Ok(at + 1),
        b'\r' if text[at + 1] == b'\n' => Ok(at + 2),
        _ => Err((last, RejectReason::TooManyColumns)),
    }
}

/// Parses one field that is not empty and returns where it ends.
#[expect(clippy::inline_always, reason = "measured: a call per field costs a tenth of the parser")]
#[inline(always)]
fn parse_field(kind: ColumnType, cells: &mut Cells, text: &[u8], at: usize) -> FieldResult<usize> {
    match (kind, cells) {
        (ColumnType::Float, Cells::F32(cells)) => {
            if let Some((value, end)) = fields::quick_float(text, at)
                && matches!(text[end], b',' | b'\n' | b'\r')
            {
                cells.push(value);
                return Ok(end);
            }
            let (field, end) = field_at(text, at);
            cells.push(fields::careful_f32(field).ok_or(RejectReason::BadValue)?);
            Ok(end)
        }
        (ColumnType::Amount, Cells::F32(cells)) => {
            // The quick parser does not read a minus sign.
            if let Some((value, end)) = fields::quick_float(text, at)
                && matches!(text[end], b',' | b'\n' | b'\r')
                && value <= AMOUNT_MAX
            {
                cells.push(value);
                return Ok(end);
            }
            let (field, end) = field_at(text, at);
            cells.push(amount_of(field)?);
            Ok(end)
        }
        (ColumnType::Time, Cells::I64(cells)) => {
            let (value, end) = match quick_i64(text, at) {
                Some(quick) => quick,
                None => careful_time_at(text, at)?,
            };
            cells.push(value);
            Ok(end)
        }
        (ColumnType::Id, Cells::I64(cells)) => {
            let (value, end) = i64_at(text, at)?;
            cells.push(value);
            Ok(end)
        }
        (ColumnType::Int, Cells::I32(cells)) => {
            let (value, end) = i64_at(text, at)?;
            cells.push(i32::try_from(value).map_err(|_| RejectReason::BadValue)?);
            Ok(end)
        }
        (ColumnType::Event(max), Cells::I32(cells)) => {
            let (value, end) = i64_at(text, at)?;
            cells.push(known_event(value, max)?);
            Ok(end)
        }
        (ColumnType::Bool, Cells::Bool(cells)) => {
            let (field, end) = field_at(text, at);
            cells.push(fields::careful_bool(field).ok_or(RejectReason::BadValue)?);
            Ok(end)
        }
        (ColumnType::Text, cells) => {
            let (field, end) = field_at(text, at);
            // A line with quotes is parsed again with the csv crate, which removes them.
            if field.contains(&b'"') {
                return Err(RejectReason::BadValue);
            }
            cells.push_text(fields::careful_text(field).ok_or(RejectReason::BadValue)?);
            Ok(end)
        }
        _ => unreachable!("cells are made from the column's kind"),
    }
}

fn amount_of(field: &[u8]) -> FieldResult<f32> {
    let amount = fields::careful_f32(field).ok_or(RejectReason::BadValue)?;
    if (0.0..=AMOUNT_MAX).contains(&amount) { Ok(amount) } else { Err(RejectReason::OutOfRange) }
}

fn known_event(value: i64, max: i32) -> FieldResult<i32> {
    match i32::try_from(value) {
        Ok(event) if (0..=max).contains(&event) => Ok(event),
        _ => Err(RejectReason::UnknownEventType),
    }
}

#[expect(clippy::inline_always, reason = "measured: a call per field costs a tenth of the parser")]
#[inline(always)]
fn quick_i64(text: &[u8], at: usize) -> Option<(i64, usize)> {
    let (value, end) = fields::quick_digits(text, at)?;
    #[expect(clippy::cast_possible_wrap, reason = "at most 18 digits")]
    matches!(text[end], b',' | b'\n' | b'\r').then_some((value as i64, end))
}

#[expect(clippy::inline_always, reason = "measured: a call per field costs a tenth of the parser")]
#[inline(always)]
fn i64_at(text: &[u8], at: usize) -> FieldResult<(i64, usize)> {
    if let Some(quick) = quick_i64(text, at) {
        return Ok(quick);
    }
    let (field, end) = field_at(text, at);
    Ok((fields::careful_i64(field).ok_or(RejectReason::BadValue)?, end))
}

fn careful_time_at(text: &[u8], at: usize) -> FieldResult<(i64, usize)> {
    let (field, end) = field_at(text, at);
    Ok((time_of(field)?, end))
}

fn time_of(field: &[u8]) -> FieldResult<i64> {
    match fields::careful_time(field) {
        CarefulTime::Time(time) => Ok(time),
        CarefulTime::Negative => Err(RejectReason::NegativeTime),
        CarefulTime::Bad => Err(RejectReason::BadValue),
    }
}

/// Returns the field that begins at `at` and where it ends; CR LF ends a line like LF.
#[inline]
fn field_at(text: &[u8], at: usize) -> (&[u8], usize) {
    let length = memchr::memchr2(b',', b'\n', &text[at..]).expect("a block ends with a line feed");
    let mut end = at + length;
    if text[end] == b'\n' && at < end && text[end - 1] == b'\r' {
        end -= 1;
    }
    (&text[at..end], end)
}

/// Parses a line again that the quick parser refused. Quotes are removed, and a line that is really
/// wrong becomes a reject. A wrong number of columns is reported before a problem of a single
/// field.
fn parse_again(
    columns: &[&Column],
    block: &mut RowBlock,
    raw: &[u8],
    fault: Fault,
) -> Result<(), Reject> {
    let reject = |column: &'static str, reason: RejectReason| Reject {
        line: 0,
        column,
        reason,
        text: reject_text(raw),
    };
    let name = |field_idx: usize| columns[field_idx].name;
    if !raw.contains(&b'"') {
        let field_count = 1 + memchr::memchr_iter(b',', raw).count();
        return Err(match field_count {
            count if count < columns.len() => reject("", RejectReason::TooFewColumns),
            count if columns.len() < count => reject("", RejectReason::TooManyColumns),
            _ => match fault {
                // A stray CR ends a field early; the number of columns is right, so the value is
                // bad.
                (idx, RejectReason::TooFewColumns | RejectReason::TooManyColumns) => {
                    reject(name(idx), RejectReason::BadValue)
                }
                (idx, _) if has_stray_cr(raw, idx) => reject(name(idx), RejectReason::BadValue),
                (idx, reason) => reject(name(idx), reason),
            },
        });
    }
    let mut record = csv::ByteRecord::new();
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(raw);
    if !matches!(reader.read_byte_record(&mut record), Ok(true))
        || reader.position().byte() < raw.len() as u64
    {
        return Err(reject("", RejectReason::BadValue));
    }
    match record.len() {
        count if count < columns.len() => return Err(reject("", RejectReason::TooFewColumns)),
        count if columns.len() < count => return Err(reject("", RejectReason::TooManyColumns)),
        _ => {}
    }
    #[expect(clippy::cast_possible_truncation, reason = "a block has far fewer than 2^32 rows")]
    let row = block.row_ids.len() as u32;
    for (field_idx, field) in record.iter().enumerate() {
        let data = &mut block.columns[field_idx];
        if field.is_empty() {
            if columns[field_idx].is_mandatory {
                return Err(reject(name(field_idx), RejectReason::EmptyMandatory));
            }
            data.cells.push_missing();
            data.nulls.push(row);
        } else {
            push_careful(columns[field_idx].kind, &mut data.cells, field)
                .map_err(|reason| reject(name(field_idx), reason))?;
        }
    }
    Ok(())
}

/// Whether a field of a line without quotes contains a CR, at which the quick parser ended it.
fn has_stray_cr(raw: &[u8], field_idx: usize) -> bool {
    let field = raw.split(|&byte| byte == b',').nth(field_idx);
    field.is_some_and(|field| field.contains(&b'\r'))
}

/// Parses a whole field with the careful parsers.
fn push_careful(kind: ColumnType, cells: &mut Cells, field: &[u8]) -> FieldResult<()> {
    let bad = RejectReason::BadValue;
    match (kind, cells) {
        (ColumnType::Time, Cells::I64(cells)) => cells.push(time_of(field)?),
        (ColumnType::Id, Cells::I64(cells)) => cells.push(fields::careful_i64(field).ok_or(bad)?),
        (ColumnType::Int, Cells::I32(cells)) => {
            cells.push(
                fields::careful_i64(field).and_then(|value| value.try_into().ok()).ok_or(bad)?,
            );
        }
        (ColumnType::Event(max), Cells::I32(cells)) => {
            cells.push(known_event(fields::careful_i64(field).ok_or(bad)?, max)?);
        }
        (ColumnType::Float, Cells::F32(cells)) => {
            cells.push(fields::careful_f32(field).ok_or(bad)?);
        }
        (ColumnType::Amount, Cells::F32(cells)) => cells.push(amount_of(field)?),
        (ColumnType::Bool, Cells::Bool(cells)) => {
            cells.push(fields::careful_bool(field).ok_or(bad)?);
        }
        (ColumnType::Text, cells) => cells.push_text(fields::careful_text(field).ok_or(bad)?),
        _ => unreachable!("cells are made from the column's kind"),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(table: Table, lines: &[u8]) -> RowBlock {
        let mut text = lines.to_vec();
        text.resize(lines.len() + fields::PADDING, 0);
        let mut block = RowBlock::new(table, Source::Google2011, 0);
        parse_block(&ColumnOrder::detect(table, lines), 0, 1, &text, lines.len(), &mut block);
        block
    }

    /// Parses one line of `machine_events` and compares the result.
    fn check(line: &[u8], expected: Result<(), (&str, RejectReason)>) {
        let mut lines = line.to_vec();
        lines.push(b'\n');
        let block = parse(Table::MachineEvents, &lines);
        let got =
            block.rejects.first().map_or(Ok(()), |reject| Err((reject.column, reject.reason)));
        assert_eq!(got, expected, "{}", String::from_utf8_lossy(line));
        assert_eq!(block.row_ids.len() + block.rejects.len(), 1);
        for column in &block.columns {
            let len = match &column.cells {
                Cells::I64(cells) => cells.len(),
                Cells::I32(cells) => cells.len(),
                Cells::F32(cells) => cells.len(),
                Cells::Bool(cells) => cells.len(),
                Cells::Text { ends, .. } | Cells::Lists { ends, .. } => ends.len(),
            };
            assert_eq!(len, block.row_ids.len(), "columns stay of one length");
        }
    }

    #[test]
    fn good_lines_are_taken() {
        check(b"0,5,0,HofL=,0.5,0.2493", Ok(()));
        check(b"0,5,0,HofL=,0.5,0.2493\r", Ok(()));
        check(b"0,5,0,,,", Ok(()));
        check(b"0,5,0,,,\r", Ok(()));
        check(b"18446744073709551615,5,2,,1,1e-3", Ok(()));
        check(b"0,-7,0,\"a,b\"\"c\",0.5,0.2493", Ok(()));
    }

    #[test]
    fn bad_lines_say_what_is_wrong_and_where() {
        use RejectReason::{
            BadValue, EmptyMandatory, NegativeTime, OutOfRange, TooFewColumns, TooManyColumns,
            UnknownEventType,
        };
        check(b"0,5,0,x,1048576,0.5", Ok(()));
        check(b"0,5,0,x,1048577,0.5", Err(("cpu_capacity", OutOfRange)));
        check(b"0,5,0,x,1e20,0.5", Err(("cpu_capacity", OutOfRange)));
        check(b"0,5,0,x,0.5,-1e-9", Err(("memory_capacity", OutOfRange)));
        check(b"0,5,0,x,-0.5,\"0.5\"", Err(("cpu_capacity", OutOfRange)));
        check(b"", Err(("", TooFewColumns)));
        check(b"0,5,0", Err(("", TooFewColumns)));
        check(b"0,5,0,x,0.5,0.5,9", Err(("", TooManyColumns)));
        check(b"0,5,0,x,0.5,0.5,", Err(("", TooManyColumns)));
        check(b",5,0,x,0.5,0.5", Err(("time_us", EmptyMandatory)));
        check(b"-1,5,0,x,0.5,0.5", Err(("time_us", NegativeTime)));
        check(b" 1,5,0,x,0.5,0.5", Err(("time_us", BadValue)));
        check(b"+1,5,0,x,0.5,0.5", Err(("time_us", BadValue)));
        check(b"1.5,5,0,x,0.5,0.5", Err(("time_us", BadValue)));
        check(b"18446744073709551616,5,0,x,0.5,0.5", Err(("time_us", BadValue)));
        check(b"0,9223372036854775808,0,x,0.5,0.5", Err(("machine_id", BadValue)));
        check(b"0,5,3,x,0.5,0.5", Err(("event_type", UnknownEventType)));
        check(b"0,5,-1,x,0.5,0.5", Err(("event_type", UnknownEventType)));
        check(b"0,5,1.0,x,0.5,0.5", Err(("event_type", BadValue)));
        check(b"0,5,0,x,abc,0.5", Err(("cpu_capacity", BadValue)));
        check(b"0,5,0,x,inf,0.5", Err(("cpu_capacity", BadValue)));
        check(b"0,5,0,x,0.5 ,0.5", Err(("cpu_capacity", BadValue)));
        check(b"0,5,0,\xFF\xFE,0.5,0.5", Err(("platform_id", BadValue)));
        check(b"0,5,0,a\0b,0.5,0.5", Err(("platform_id", BadValue)));
        check(b"0,5\r,0,x,0.5,0.5", Err(("machine_id", BadValue)));
        check(b"time,machine ID,event type,platform ID,CPUs,Memory", Err(("time_us", BadValue)));
        check(b"0,5,0,\"x,0.5,0.5", Err(("", TooFewColumns)));
    }

    #[test]
    fn the_order_of_constraints_is_found_out() {
        let schema_order = parse(Table::TaskConstraints, b"0,1,2,1,name=,5\n0,1,2,0,name=,\n");
        let document_order = parse(Table::TaskConstraints, b"0,1,2,name=,5,1\n0,1,2,name=,,0\n");
        assert!(schema_order.rejects.is_empty() && document_order.rejects.is_empty());
        assert_eq!(format!("{:?}", schema_order.columns), format!("{:?}", document_order.columns));
    }

    #[test]
    fn lines_are_counted_from_one() {
        let block = parse(Table::MachineEvents, b"0,5,0,,,\nbad\n0,6,0,,,\n");
        assert_eq!(block.row_ids, [1, 3]);
        assert_eq!(block.rejects[0].line, 2);
        assert_eq!(block.line_count, 3);
    }
}
