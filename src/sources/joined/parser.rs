//! The parser of the table.

use rustc_hash::FxHashSet;
use sha2::{Digest, Sha256};

use super::columns::{Form, columns, header};
use super::python::to_json;
use crate::schema::{JOINED_SAMPLE, Table};
use crate::sources::blocks::TextBlock;
use crate::sources::folder::RawPart;
use crate::sources::google_2019::Parser;
use crate::sources::part::{HandOut, Notes, PartParser};
use crate::sources::records::fields::{Fields, whole};
use crate::sources::records::quotes::Quotes;
use crate::sources::records::{Fault, Line};
use crate::sources::reject::{Reject, RejectReason, reject_text};
use crate::sources::rows::RowBlock;
use crate::sources::{SourceError, fields};

const SEPARATOR: Option<u8> = Some(b',');

const EVENT_AGAIN: &str = "repeated events, joined to another usage window: left out";
const WINDOW_AGAIN: &str = "repeated usage windows, joined to another event: left out";
const CONTRADICTED: &str = "`event` contradicts `instance_events_type`: the number is used";
const TIME_OF_ROW: &str =
    "events of collections have no time: the time of the instance's event is used";

/// The names of v3's types of events.
const TYPES: [&str; 11] = [
    "SUBMIT",
    "QUEUE",
    "ENABLE",
    "SCHEDULE",
    "EVICT",
    "FAIL",
    "FINISH",
    "KILL",
    "LOST",
    "UPDATE_PENDING",
    "UPDATE_RUNNING",
];

/// Parses the rows of the file for one of its tables.
pub(in crate::sources) struct Joined {
    inner: Parser,
    names: Vec<String>,
    fields: Fields,
    /// The lines of a record that may continue in the next block.
    quotes: Quotes,
    /// The keys of the rows so far.
    seen: FxHashSet<[u8; 16]>,
    /// The current record as an object.
    object: Vec<u8>,
}

impl Joined {
    /// The parser of a part whose text starts with `begin`.
    pub(in crate::sources) fn new(part: &RawPart, begin: &[u8]) -> Result<Self, SourceError> {
        Ok(Self {
            inner: Parser::new(part)?,
            names: header(begin).unwrap_or_default(),
            fields: Fields::default(),
            quotes: Quotes::of(SEPARATOR),
            seen: FxHashSet::default(),
            object: Vec::new(),
        })
    }

    /// Adds the rows of a record, which begins in line `number`.
    fn record(&mut self, Line { number, raw }: Line<'_>, rows: &mut RowBlock) {
        let text = raw.strip_suffix(b"\r").unwrap_or(raw);
        if !text.trim_ascii().is_empty()
            && let Err((column, reason)) = self.rows_of(text, number, rows)
        {
            let text = reject_text(text);
            rows.rejects.push(Reject { line: number, column, reason, text });
        }
    }

    fn rows_of(&mut self, record: &[u8], number: u64, rows: &mut RowBlock) -> Result<(), Fault> {
        if number == 1 {
            return Ok(());
        }
        self.fields.split_into(self.names.len(), record)?;
        let table = self.inner.table;
        self.write_object(record, table)?;
        self.inner.remark(JOINED_SAMPLE);
        if table == Table::TaskEvents && self.is_contradicted(record) {
            self.inner.remark(CONTRADICTED);
        }
        let key = self.key(record, table);
        if !self.seen.insert(key) {
            let is_window = table == Table::TaskUsage;
            self.inner.remark(if is_window { WINDOW_AGAIN } else { EVENT_AGAIN });
            return Ok(());
        }
        if table == Table::JobEvents {
            self.inner.remark(TIME_OF_ROW);
        }
        let object = std::mem::take(&mut self.object);
        let done = self.inner.line(&object, number, rows);
        self.object = object;
        done
    }

    /// A field by the name of its column; empty if the file has no such column.
    fn field<'a>(&'a self, record: &'a [u8], name: &str) -> &'a [u8] {
        let place = self.names.iter().position(|known| known == name);
        place.map_or(&[][..], |place| self.fields.get(record, place))
    }

    /// Half of the SHA-256 of the fields that identify a row of a table. The machine of a window is
    /// not among them: it is that of the event, and one window may be joined to events on several
    /// machines.
    fn key(&self, record: &[u8], table: Table) -> [u8; 16] {
        let own: &[&str] = match table {
            Table::JobEvents => &["time", "collections_events_type"],
            Table::TaskUsage => &["start_time", "end_time", "instance_index"],
            _ => &["time", "instance_events_type", "instance_index"],
        };
        let mut sum = Sha256::new();
        for name in own.iter().chain(&["collection_id", "collection_type", "cluster"]) {
            sum.update(without_fraction(self.field(record, name)));
            sum.update(b",");
        }
        let (sum, mut half) = (sum.finalize(), [0; 16]);
        half.copy_from_slice(&sum[..16]);
        half
    }

    /// Writes the columns of a table as an object.
    fn write_object(&mut self, record: &[u8], table: Table) -> Result<(), Fault> {
        let mut object = std::mem::take(&mut self.object);
        object.clear();
        object.push(b'{');
        let cell = match self.field(record, "cluster") {
            b"" => Ok(0),
            text => whole(without_fraction(text))
                .filter(|cell| (0..=9).contains(cell))
                .ok_or(("cluster", RejectReason::OutOfRange)),
        };
        let written = cell.and_then(|cell| {
            for &(column, key, form) in columns(table) {
                let text = self.field(record, column);
                if !is_missing(text) {
                    put(&mut object, (key, form), text, cell).map_err(|reason| (key, reason))?;
                }
            }
            Ok(())
        });
        object.push(b'}');
        self.object = object;
        written
    }

    /// Whether the column `event` names another type than the number.
    fn is_contradicted(&self, record: &[u8]) -> bool {
        let name = self.field(record, "event");
        let number = whole(without_fraction(self.field(record, "instance_events_type")));
        let named = number.and_then(|number| TYPES.get(usize::try_from(number).ok()?));
        !name.is_empty() && named.is_some_and(|named| named.as_bytes() != name)
    }
}

/// Whether a text is one that pandas writes for a missing value.
fn is_missing(text: &[u8]) -> bool {
    matches!(text, b"" | b"nan" | b"NaN" | b"None" | b"<NA>" | b"null")
}

/// A whole number without the `.0` that pandas adds if other values of the column are missing.
/// Pandas then writes 2^63-1, the time after the trace, as `9.223372036854776e+18`; this gives
/// 2^63-1 again.
fn without_fraction(text: &[u8]) -> &[u8] {
    match text {
        b"9.223372036854776e+18" => b"9223372036854775807",
        _ => text.strip_suffix(b".0").unwrap_or(text),
    }
}

/// Writes a field of an object.
fn put(
    object: &mut Vec<u8>,
    (key, form): (&str, Form),
    text: &[u8],
    cell: i64,
) -> Result<(), RejectReason> {
    let bad = RejectReason::BadValue;
    if object.len() > 1 {
        object.push(b',');
    }
    object.extend_from_slice(format!("\"{key}\":").as_bytes());
    let id = |text: &[u8]| {
        let text = str::from_utf8(without_fraction(text)).map_err(|_| bad)?;
        let id = text.parse::<i64>().map_err(|_| bad)?;
        // Ids up to 0 are special values, the same in every cell.
        let in_cell = || id.checked_mul(10)?.checked_add(cell);
        if id <= 0 { Ok(id) } else { in_cell().ok_or(RejectReason::OutOfRange) }
    };
    match form {
        Form::Plain => {
            let text = fields::careful_text(without_fraction(text)).ok_or(bad)?;
            object.extend_from_slice(serde_json::Value::from(text).to_string().as_bytes());
        }
        Form::Id => object.extend_from_slice(id(text)?.to_string().as_bytes()),
        Form::Ids => {
            let digits = text.split(|byte| !byte.is_ascii_digit()).filter(|text| !text.is_empty());
            let ids: Vec<String> =
                digits.map(|text| Ok(id(text)?.to_string())).collect::<Result<_, _>>()?;
            object.extend_from_slice(format!("[{}]", ids.join(",")).as_bytes());
        }
        Form::Literal => to_json(text, object).ok_or(bad)?,
    }
    Ok(())
}

impl PartParser for Joined {
    fn parse(
        &mut self,
        text: &TextBlock,
        first_line: u64,
        rows: &mut RowBlock,
        _hand_out: &mut HandOut<'_>,
    ) {
        rows.clear();
        let mut quotes = std::mem::replace(&mut self.quotes, Quotes::of(SEPARATOR));
        for (number, raw) in text.lines(first_line) {
            quotes.add(Line::of(number, raw), &mut |line| self.record(line, rows));
            rows.line_count = number + 1 - first_line;
        }
        self.quotes = quotes;
    }

    fn finish(&mut self, rows: &mut RowBlock, _hand_out: &mut HandOut<'_>) {
        let mut quotes = std::mem::replace(&mut self.quotes, Quotes::of(SEPARATOR));
        quotes.finish(&mut |line| self.record(line, rows));
    }

    fn notes(&mut self) -> Notes {
        self.inner.notes()
    }
}
