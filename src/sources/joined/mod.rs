//! The trace of 2019 as one joined CSV, `borg_traces_data.csv`, split into its tables again.
//!
//! In: a table with a header. A row is an event of an instance, its collection and one window of
//! its usage; events and windows repeat in other rows. Out: the objects of the original tables, for
//! the [`Parser`] of those; repetitions are left out and counted.
//!
//! ```text
//!  row ─┬─► collections_events_type, user, ...    ─► job_events
//!       ├─► instance_events_type, request, ...    ─► task_events, task_constraints
//!       └─► start_time, end_time, usage, ...      ─► task_usage
//! ```
//!
//! - Ids get the number of the cell as their last digit, since each cell numbers its own
//!   collections and machines.
//! - Types are the numbers of v3. The column `event` names them in alphabetical order, which
//!   contradicts the trace. It is not read, but rows in which it contradicts the number are
//!   counted.
//! - The event of a collection has no time; it gets the time of the row.
//! - Resources and lists are texts as Python prints them, with line ends inside quotes.
//!
//! The file is a sample: most events of an instance are not in it, so sequences and totals are not
//! those of the trace. Every lake gets a remark about this.

use rustc_hash::FxHashSet;
use sha2::{Digest, Sha256};

use self::python::to_json;
use super::blocks::TextBlock;
use super::folder::RawPart;
use super::google_2019::Parser;
use super::part::{HandOut, Notes, PartParser};
use super::records::Fault;
use super::records::fields::{Fields, whole};
use super::records::lines::names_of;
use super::reject::{Reject, RejectReason, reject_text};
use super::rows::RowBlock;
use super::{SourceError, fields};
use crate::schema::Table;

mod python;

/// The tables that a joined file fills.
pub(crate) const TABLES: [Table; 4] =
    [Table::JobEvents, Table::TaskEvents, Table::TaskUsage, Table::TaskConstraints];

/// The columns that a header must have.
const NEEDED: [&str; 4] = ["time", "instance_events_type", "collection_id", "instance_index"];

/// The longest record, bytes; in a longer one, a quote is not closed.
const RECORD_MAX: usize = 1 << 20;

const SAMPLE: &str = "rows of a joined sample: sequences and totals are not those of the trace";
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

/// The conversion of a column to a field of an object.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// A number or a name.
    Plain,
    /// An id that is unique within a cell.
    Id,
    /// Ids in brackets.
    Ids,
    /// A dictionary or list as Python prints it.
    Literal,
}

/// The columns of a table: the name in the file, the field of the object, and the conversion.
fn columns(table: Table) -> &'static [(&'static str, &'static str, Form)] {
    use Form::{Id, Ids, Literal, Plain};
    match table {
        Table::JobEvents => &[
            ("time", "time", Plain),
            ("collections_events_type", "type", Plain),
            ("collection_id", "collection_id", Id),
            ("collection_type", "collection_type", Plain),
            ("scheduling_class", "scheduling_class", Plain),
            ("priority", "priority", Plain),
            ("alloc_collection_id", "alloc_collection_id", Id),
            ("user", "user", Plain),
            ("collection_name", "collection_name", Plain),
            ("collection_logical_name", "collection_logical_name", Plain),
            ("start_after_collection_ids", "start_after_collection_ids", Ids),
            ("vertical_scaling", "vertical_scaling", Plain),
            ("scheduler", "scheduler", Plain),
        ],
        Table::TaskUsage => &[
            ("start_time", "start_time", Plain),
            ("end_time", "end_time", Plain),
            ("collection_id", "collection_id", Id),
            ("collection_type", "collection_type", Plain),
            ("instance_index", "instance_index", Plain),
            ("machine_id", "machine_id", Id),
            ("alloc_collection_id", "alloc_collection_id", Id),
            ("average_usage", "average_usage", Literal),
            ("maximum_usage", "maximum_usage", Literal),
            ("random_sample_usage", "random_sample_usage", Literal),
            ("assigned_memory", "assigned_memory", Plain),
            ("page_cache_memory", "page_cache_memory", Plain),
            ("cycles_per_instruction", "cycles_per_instruction", Plain),
            ("memory_accesses_per_instruction", "memory_accesses_per_instruction", Plain),
            ("sample_rate", "sample_rate", Plain),
            ("cpu_usage_distribution", "cpu_usage_distribution", Literal),
            ("tail_cpu_usage_distribution", "tail_cpu_usage_distribution", Literal),
        ],
        _ => &[
            ("time", "time", Plain),
            ("instance_events_type", "type", Plain),
            ("collection_id", "collection_id", Id),
            ("collection_type", "collection_type", Plain),
            ("scheduling_class", "scheduling_class", Plain),
            ("priority", "priority", Plain),
            ("alloc_collection_id", "alloc_collection_id", Id),
            ("instance_index", "instance_index", Plain),
            ("machine_id", "machine_id", Id),
            ("user", "user", Plain),
            ("resource_request", "resource_request", Literal),
            ("constraint", "constraint", Literal),
        ],
    }
}

/// The header of a text, if it is that of a joined file.
fn header(text: &[u8]) -> Option<Vec<String>> {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let names = names_of(line, b',');
    NEEDED.iter().all(|name| names.iter().any(|known| known == name)).then_some(names)
}

/// Whether a text begins like a joined file.
pub(super) fn is_seen(text: &[u8]) -> bool {
    header(text).is_some()
}

/// Parses the rows of the file for one of its tables.
pub(super) struct Joined {
    inner: Parser,
    names: Vec<String>,
    fields: Fields,
    /// The current record, which may continue in the next block, the line where it begins, and
    /// whether the next byte is inside quotes.
    open: Vec<u8>,
    begun: u64,
    is_quoted: bool,
    /// The keys of the rows so far.
    seen: FxHashSet<[u8; 16]>,
    /// The current record as an object.
    object: Vec<u8>,
}

impl Joined {
    /// The parser of a part whose text starts with `begin`.
    pub(super) fn new(part: &RawPart, begin: &[u8]) -> Result<Self, SourceError> {
        Ok(Self {
            inner: Parser::new(part)?,
            names: header(begin).unwrap_or_default(),
            fields: Fields::default(),
            open: Vec::new(),
            begun: 0,
            is_quoted: false,
            seen: FxHashSet::default(),
            object: Vec::new(),
        })
    }

    /// Adds the rows of the current record and ends it.
    fn record(&mut self, rows: &mut RowBlock) {
        let record = std::mem::take(&mut self.open);
        self.is_quoted = false;
        let text = record.strip_suffix(b"\r").unwrap_or(&record);
        if !text.trim_ascii().is_empty()
            && let Err((column, reason)) = self.rows_of(text, rows)
        {
            let text = reject_text(text);
            rows.rejects.push(Reject { line: self.begun, column, reason, text });
        }
        self.open = record;
        self.open.clear();
    }

    fn rows_of(&mut self, record: &[u8], rows: &mut RowBlock) -> Result<(), Fault> {
        if self.begun == 1 {
            return Ok(());
        }
        self.fields.split_into(self.names.len(), record)?;
        let table = self.inner.table;
        self.write_object(record, table)?;
        if table == Table::TaskEvents {
            self.inner.remark(SAMPLE);
            if self.is_contradicted(record) {
                self.inner.remark(CONTRADICTED);
            }
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
        let done = self.inner.line(&object, self.begun, rows);
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
fn without_fraction(text: &[u8]) -> &[u8] {
    text.strip_suffix(b".0").unwrap_or(text)
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
        let mut number = first_line;
        let lines = text.text().strip_suffix(b"\n").unwrap_or_default();
        for line in lines.split(|&byte| byte == b'\n') {
            // A line end inside quotes does not end the record.
            if self.is_quoted {
                self.open.push(b'\n');
            } else {
                self.begun = number;
            }
            self.open.extend_from_slice(line);
            number += 1;
            self.is_quoted ^= memchr::memchr_iter(b'"', line).count() % 2 == 1;
            if !self.is_quoted || RECORD_MAX < self.open.len() {
                self.record(rows);
            }
        }
        rows.line_count = number - first_line;
    }

    fn finish(&mut self, rows: &mut RowBlock, _hand_out: &mut HandOut<'_>) {
        if !self.open.is_empty() {
            self.record(rows);
        }
    }

    fn notes(&mut self) -> Notes {
        self.inner.notes()
    }
}
