//! Google cluster-usage trace v3 (May 2019): objects of JSON, one a line, to typed rows.
//!
//! In: lines as `BigQuery` exports its tables (64-bit numbers as text or as numbers, fields without
//! a value absent or null), or rows of the same tables as Parquet, put into that form by the
//! reader of blocks. Out: the tables of the lake under the event numbers of v2.1.
//!
//! ```text
//!  collection_events ─► job_events          0 SUBMIT 3 SCHEDULE 4 EVICT 5 FAIL 6 FINISH 7 KILL ...
//!  instance_events   ─► task_events    v2.1 0        1          2       3      4        5
//!                   └─► task_constraints, a row per demand of an event
//!  instance_usage    ─► task_usage
//!  machine_events, machine_attributes
//! ```
//!
//! - QUEUE and ENABLE have no number in v2.1 and change nothing that its events tell: such rows
//!   are left out, and counted. So are the rows of alloc sets in a lake of jobs, whose usage
//!   is that of the jobs inside, and of jobs in a lake of alloc sets.
//! - An instance does not name its user. `user` and `different_machines` (1 in `max_per_machine`)
//!   of `task_events` are those of the collection, where `collection_events` lies beside.
//! - 0 stands for no alloc set and for no machine, -1 for no part of an alloc set; those cells are
//!   missing. -1 as a machine is a dedicated one, and stays.
//! - `missing_info` is one less than the trace's `missing_type`, as v2.1 counts.
//! - `row_id` of constraints holds line × 256 + place in the line.
//!
//! Source: "Google cluster-usage traces v3" (Wilkes, 2020) and its protocol buffer.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use self::owners::Collections;
use super::SourceError;
use super::blocks::TextBlock;
use super::folder::RawPart;
use super::part::{Notes, PartParser};
use super::rows::{Cell, Reject, RejectReason, RowBlock, reject_text};
use crate::schema::{AMOUNT_MAX, Source, Table, row_id};

pub(super) mod files;
pub(super) mod owners;
pub(super) mod tables;
#[cfg(test)]
mod tests;

/// A column and what is wrong there.
type Fault = (&'static str, RejectReason);

/// What a row is left out for.
const NO_NUMBER: &str = "QUEUE or ENABLE, which v2.1 does not have: left out";
const ALLOC_SET: &str = "of an alloc set: left out, see --source google-2019-alloc-sets";
const JOB: &str = "of a job: left out, see --source google-2019";
const NO_KIND: &str = "collection type missing: taken as a job";

/// Rows that the constraints of one line may make.
const CONSTRAINTS_MAX: usize = 256;

/// A field as it stands in an object.
#[derive(Clone, Debug, Default, PartialEq)]
enum Raw<'a> {
    /// Absent or null.
    #[default]
    Missing,
    Whole(i64),
    Float(f64),
    Bool(bool),
    Text(Cow<'a, str>),
    /// A list or an object, or a number out of range.
    Odd,
}

impl<'de: 'a, 'a> Deserialize<'de> for Raw<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Raw<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_unit<E>(self) -> Result<Raw<'de>, E> {
                Ok(Raw::Missing)
            }

            fn visit_bool<E>(self, value: bool) -> Result<Raw<'de>, E> {
                Ok(Raw::Bool(value))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Raw<'de>, E> {
                Ok(Raw::Whole(value))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Raw<'de>, E> {
                Ok(i64::try_from(value).map_or(Raw::Odd, Raw::Whole))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Raw<'de>, E> {
                Ok(Raw::Float(value))
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Raw<'de>, E> {
                Ok(Raw::Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Raw<'de>, E> {
                Ok(Raw::Text(Cow::Owned(text.to_owned())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Raw<'de>, A::Error> {
                while items.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Raw::Odd)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut items: A) -> Result<Raw<'de>, A::Error> {
                while items.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Raw::Odd)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl Raw<'_> {
    /// A whole number, which may be written as text.
    fn whole(&self) -> Result<Option<i64>, RejectReason> {
        match self {
            Self::Missing => Ok(None),
            Self::Whole(value) => Ok(Some(*value)),
            Self::Text(text) => text.parse().map(Some).map_err(|_| RejectReason::BadValue),
            _ => Err(RejectReason::BadValue),
        }
    }

    /// A number, which may be written as text.
    fn float(&self) -> Result<Option<f64>, RejectReason> {
        let value = match self {
            Self::Missing => return Ok(None),
            #[expect(clippy::cast_precision_loss, reason = "rounded as the text would be")]
            Self::Whole(value) => *value as f64,
            Self::Float(value) => *value,
            Self::Text(text) => text.parse().map_err(|_| RejectReason::BadValue)?,
            Self::Bool(_) | Self::Odd => return Err(RejectReason::BadValue),
        };
        if value.is_finite() { Ok(Some(value)) } else { Err(RejectReason::BadValue) }
    }
}

/// What it holds, or nothing where it is absent or null.
fn or_default<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// CPU and memory.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Resources<'a> {
    cpus: Raw<'a>,
    memory: Raw<'a>,
}

/// A demand on a machine.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Constraint<'a> {
    name: Raw<'a>,
    value: Raw<'a>,
    relation: Raw<'a>,
}

/// A line of any of the tables: fields that another table has stay missing.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Line<'a> {
    time: Raw<'a>,
    #[serde(rename = "type")]
    kind: Raw<'a>,
    collection_id: Raw<'a>,
    scheduling_class: Raw<'a>,
    missing_type: Raw<'a>,
    collection_type: Raw<'a>,
    priority: Raw<'a>,
    alloc_collection_id: Raw<'a>,
    user: Raw<'a>,
    collection_name: Raw<'a>,
    collection_logical_name: Raw<'a>,
    parent_collection_id: Raw<'a>,
    #[serde(deserialize_with = "or_default")]
    start_after_collection_ids: Vec<Raw<'a>>,
    max_per_machine: Raw<'a>,
    max_per_switch: Raw<'a>,
    vertical_scaling: Raw<'a>,
    scheduler: Raw<'a>,
    instance_index: Raw<'a>,
    machine_id: Raw<'a>,
    alloc_instance_index: Raw<'a>,
    #[serde(deserialize_with = "or_default")]
    resource_request: Resources<'a>,
    #[serde(deserialize_with = "or_default", alias = "constraints")]
    constraint: Vec<Constraint<'a>>,
    start_time: Raw<'a>,
    end_time: Raw<'a>,
    #[serde(deserialize_with = "or_default")]
    average_usage: Resources<'a>,
    #[serde(deserialize_with = "or_default")]
    maximum_usage: Resources<'a>,
    #[serde(deserialize_with = "or_default", alias = "random_sampled_usage")]
    random_sample_usage: Resources<'a>,
    assigned_memory: Raw<'a>,
    page_cache_memory: Raw<'a>,
    cycles_per_instruction: Raw<'a>,
    memory_accesses_per_instruction: Raw<'a>,
    sample_rate: Raw<'a>,
    #[serde(deserialize_with = "or_default")]
    cpu_usage_distribution: Vec<Raw<'a>>,
    #[serde(deserialize_with = "or_default")]
    tail_cpu_usage_distribution: Vec<Raw<'a>>,
    switch_id: Raw<'a>,
    #[serde(deserialize_with = "or_default")]
    capacity: Resources<'a>,
    platform_id: Raw<'a>,
    missing_data_reason: Raw<'a>,
    name: Raw<'a>,
    value: Raw<'a>,
    deleted: Raw<'a>,
}

/// Cells of a row as they are read, the first fault kept.
struct Cells<'c> {
    cells: Vec<Cell<'c>>,
    fault: Option<Fault>,
}

impl<'c> Cells<'c> {
    fn new() -> Self {
        Self { cells: Vec::with_capacity(24), fault: None }
    }

    fn put(&mut self, column: &'static str, cell: Result<Cell<'c>, RejectReason>) {
        self.cells.push(cell.unwrap_or_else(|reason| {
            self.fault.get_or_insert((column, reason));
            Cell::Missing
        }));
    }

    fn nothing(&mut self) {
        self.cells.push(Cell::Missing);
    }

    fn time(&mut self, column: &'static str, raw: &Raw<'_>) {
        let time = match raw.whole() {
            Ok(Some(time)) if time < 0 => Err(RejectReason::NegativeTime),
            other => must(other).map(Cell::I64),
        };
        self.put(column, time);
    }

    fn id(&mut self, column: &'static str, raw: &Raw<'_>) {
        self.put(column, must(raw.whole()).map(Cell::I64));
    }

    /// An id that is missing where it is `nobody`.
    fn id_or(&mut self, column: &'static str, raw: &Raw<'_>, nobody: i64) {
        self.put(column, raw.whole().map(|id| id.filter(|&id| id != nobody).into()));
    }

    fn int(&mut self, column: &'static str, raw: &Raw<'_>) {
        self.put(column, small(raw).map(Cell::from));
    }

    fn amount(&mut self, column: &'static str, raw: &Raw<'_>) {
        self.put(
            column,
            raw.float().and_then(|amount| amount.map(amount_of).transpose()).map(Cell::from),
        );
    }

    #[expect(clippy::cast_possible_truncation, reason = "the lake keeps 32 bits")]
    fn float(&mut self, column: &'static str, raw: &Raw<'_>) {
        self.put(column, raw.float().map(|value| value.map(|value| value as f32).into()));
    }

    fn text(&mut self, column: &'static str, raw: &'c Raw<'_>) {
        let text = match raw {
            Raw::Missing => Ok(Cell::Missing),
            Raw::Text(text) if text.is_empty() => Ok(Cell::Missing),
            Raw::Text(text) => Ok(Cell::Text(text)),
            _ => Err(RejectReason::BadValue),
        };
        self.put(column, text);
    }

    fn event(&mut self, event: Result<i32, RejectReason>) {
        self.put("event_type", event.map(Cell::I32));
    }

    /// The row, or the first thing that is wrong with it.
    fn push(self, row_id: i64, rows: &mut RowBlock) -> Result<(), Fault> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        rows.push_row(row_id, &self.cells);
        Ok(())
    }
}

fn must<T>(value: Result<Option<T>, RejectReason>) -> Result<T, RejectReason> {
    value?.ok_or(RejectReason::EmptyMandatory)
}

fn small(raw: &Raw<'_>) -> Result<Option<i32>, RejectReason> {
    let narrow = |value: i64| i32::try_from(value).map_err(|_| RejectReason::BadValue);
    raw.whole()?.map(narrow).transpose()
}

#[expect(clippy::cast_possible_truncation, reason = "the lake keeps 32 bits")]
fn amount_of(amount: f64) -> Result<f32, RejectReason> {
    let amount = amount as f32;
    if (0.0..=AMOUNT_MAX).contains(&amount) { Ok(amount) } else { Err(RejectReason::OutOfRange) }
}

fn amounts(list: &[Raw<'_>]) -> Result<Vec<f32>, RejectReason> {
    list.iter().map(|raw| amount_of(must(raw.float())?)).collect()
}

/// The list, missing where it is empty.
fn list(values: &Result<Vec<f32>, RejectReason>) -> Result<Cell<'_>, RejectReason> {
    match values {
        Ok(values) if values.is_empty() => Ok(Cell::Missing),
        Ok(values) => Ok(Cell::Floats(values)),
        Err(reason) => Err(*reason),
    }
}

/// The v2.1 number of an event; nothing for QUEUE and ENABLE.
fn event_of(raw: &Raw<'_>) -> Result<Option<i32>, RejectReason> {
    match must(raw.whole())? {
        0 => Ok(Some(0)),
        1 | 2 => Ok(None),
        event @ 3..=10 => Ok(i32::try_from(event - 2).ok()),
        _ => Err(RejectReason::UnknownEventType),
    }
}

/// Why a row was made up, as v2.1 counts.
fn missing_of(raw: &Raw<'_>) -> Result<Cell<'static>, RejectReason> {
    Ok(small(raw)?.filter(|&kind| kind != 0).map(|kind| kind - 1).into())
}

/// Whether a line may name a demand.
fn demands(text: &[u8]) -> bool {
    let says = |key: &[u8]| memchr::memmem::find(text, key).is_some();
    says(b"\"relation\"") || says(b"\"name\"")
}

/// Parses the blocks of one part for one of its tables.
pub(super) struct Parser {
    part: u32,
    table: Table,
    /// Whether the alloc sets are wanted, and not the jobs.
    is_of_alloc_sets: bool,
    collections: Arc<Collections>,
    notes: Notes,
}

impl Parser {
    pub(super) fn new(part: &RawPart) -> Result<Self, SourceError> {
        let owners = part.owners.as_ref().map(|owners| owners.collections()).transpose()?;
        Ok(Self {
            part: part.part,
            table: part.table,
            is_of_alloc_sets: part.source == Source::Google2019AllocSets,
            collections: owners.unwrap_or_default(),
            notes: Notes::default(),
        })
    }

    fn remark(&mut self, wording: &'static str) {
        *self.notes.remarks.entry(wording).or_default() += 1;
    }

    /// Whether a line is about what the lake is of.
    fn is_wanted(&mut self, line: &Line<'_>) -> Result<bool, Fault> {
        let kind = line.collection_type.whole().map_err(|reason| ("collection_type", reason))?;
        if kind.is_none() {
            self.remark(NO_KIND);
        }
        let is_alloc_set = kind == Some(1);
        if is_alloc_set != self.is_of_alloc_sets {
            self.remark(if is_alloc_set { ALLOC_SET } else { JOB });
        }
        Ok(is_alloc_set == self.is_of_alloc_sets)
    }

    /// Adds the rows of a line.
    fn line(&mut self, text: &[u8], number: u64, rows: &mut RowBlock) -> Result<(), Fault> {
        // Few instances make demands, and the others were read as tasks: half of the time.
        if self.table == Table::TaskConstraints && !demands(text) {
            return Ok(());
        }
        let line: Line<'_> =
            serde_json::from_slice(text).map_err(|_| ("", RejectReason::BadValue))?;
        let id = row_id(self.part, number);
        match self.table {
            Table::MachineEvents => machine(&line).push(id, rows),
            Table::MachineAttributes => attribute(&line).push(id, rows),
            Table::TaskUsage => {
                if self.is_wanted(&line)? {
                    usage(&line, id, rows)?;
                }
                Ok(())
            }
            Table::TaskConstraints => {
                if self.is_wanted(&line)? {
                    self.constraints(&line, number, rows)
                } else {
                    Ok(())
                }
            }
            Table::JobEvents | Table::TaskEvents => {
                if !self.is_wanted(&line)? {
                    return Ok(());
                }
                let event = event_of(&line.kind);
                let Some(event) = event.transpose() else {
                    self.remark(NO_NUMBER);
                    return Ok(());
                };
                if self.table == Table::JobEvents {
                    job(&line, event, id, rows)
                } else {
                    task(&line, event, &self.collections).push(id, rows)
                }
            }
        }
    }

    /// A row per demand.
    fn constraints(&self, line: &Line<'_>, number: u64, rows: &mut RowBlock) -> Result<(), Fault> {
        if CONSTRAINTS_MAX < line.constraint.len() {
            return Err(("comparison_operator", RejectReason::TooManyColumns));
        }
        let before = rows.row_ids.len();
        for (place, constraint) in (0_u64..).zip(&line.constraint) {
            let mut cells = Cells::new();
            cells.time("time_us", &line.time);
            cells.id("job_id", &line.collection_id);
            cells.put("task_index", must(small(&line.instance_index)).map(Cell::I32));
            let relation = must(small(&constraint.relation)).and_then(|relation| {
                let is_known = (0..=7).contains(&relation);
                is_known.then_some(relation).ok_or(RejectReason::UnknownEventType)
            });
            cells.put("comparison_operator", relation.map(Cell::I32));
            cells.text("attribute_name", &constraint.name);
            if constraint.name == Raw::Missing {
                cells.fault.get_or_insert(("attribute_name", RejectReason::EmptyMandatory));
            }
            cells.text("attribute_value", &constraint.value);
            let places = CONSTRAINTS_MAX as u64;
            if let Err(fault) = cells.push(row_id(self.part, number * places + place), rows) {
                rows.row_ids.truncate(before);
                rows.drop_unfinished_row();
                return Err(fault);
            }
        }
        Ok(())
    }
}

impl PartParser for Parser {
    fn parse(&mut self, text: &TextBlock, first_line: u64, rows: &mut RowBlock) {
        rows.clear();
        let mut number = first_line;
        // The text ends with a line feed, behind which nothing is left.
        let lines = text.text().strip_suffix(b"\n").unwrap_or_default();
        for line in lines.split(|&byte| byte == b'\n') {
            let line = line.trim_ascii();
            if !line.is_empty()
                && let Err((column, reason)) = self.line(line, number, rows)
            {
                let text = reject_text(line);
                rows.rejects.push(Reject { line: number, column, reason, text });
            }
            number += 1;
        }
        rows.line_count = number - first_line;
    }

    fn notes(&mut self) -> Notes {
        std::mem::take(&mut self.notes)
    }
}

fn job(
    line: &Line<'_>,
    event: Result<i32, RejectReason>,
    id: i64,
    rows: &mut RowBlock,
) -> Result<(), Fault> {
    let after: Result<Vec<String>, RejectReason> = (line.start_after_collection_ids.iter())
        .map(|raw| must(raw.whole()).map(|id| id.to_string()))
        .collect();
    let after = after.map(|ids| ids.join(" "));
    let mut cells = Cells::new();
    cells.time("time_us", &line.time);
    cells.put("missing_info", missing_of(&line.missing_type));
    cells.id("job_id", &line.collection_id);
    cells.event(event);
    cells.text("user", &line.user);
    cells.int("scheduling_class", &line.scheduling_class);
    cells.text("job_name", &line.collection_name);
    cells.text("logical_job_name", &line.collection_logical_name);
    cells.int("priority", &line.priority);
    cells.id_or("alloc_collection_id", &line.alloc_collection_id, 0);
    cells.id_or("parent_collection_id", &line.parent_collection_id, 0);
    let after = match &after {
        Ok(ids) if ids.is_empty() => Ok(Cell::Missing),
        Ok(ids) => Ok(Cell::Text(ids)),
        Err(reason) => Err(*reason),
    };
    cells.put("start_after_collection_ids", after);
    cells.int("max_per_machine", &line.max_per_machine);
    cells.int("max_per_switch", &line.max_per_switch);
    cells.int("vertical_scaling", &line.vertical_scaling);
    cells.int("scheduler", &line.scheduler);
    cells.push(id, rows)
}

fn task<'c>(
    line: &'c Line<'_>,
    event: Result<i32, RejectReason>,
    collections: &'c Collections,
) -> Cells<'c> {
    let collection = line.collection_id.whole().ok().flatten();
    let owner = collection.and_then(|id| collections.user(id));
    let is_apart = collection.and_then(|id| collections.is_apart(id));
    let mut cells = Cells::new();
    cells.time("time_us", &line.time);
    cells.put("missing_info", missing_of(&line.missing_type));
    cells.id("job_id", &line.collection_id);
    cells.put("task_index", must(small(&line.instance_index)).map(Cell::I32));
    cells.id_or("machine_id", &line.machine_id, 0);
    cells.event(event);
    cells.put("user", Ok(owner.into()));
    cells.int("scheduling_class", &line.scheduling_class);
    cells.int("priority", &line.priority);
    cells.amount("cpu_request", &line.resource_request.cpus);
    cells.amount("memory_request", &line.resource_request.memory);
    cells.nothing();
    cells.put("different_machines", Ok(is_apart.map_or(Cell::Missing, Cell::Bool)));
    cells.id_or("alloc_collection_id", &line.alloc_collection_id, 0);
    cells.put("alloc_instance_index", part_of_set(&line.alloc_instance_index));
    cells
}

fn part_of_set(raw: &Raw<'_>) -> Result<Cell<'static>, RejectReason> {
    Ok(small(raw)?.filter(|&index| index != -1).into())
}

fn usage(line: &Line<'_>, id: i64, rows: &mut RowBlock) -> Result<(), Fault> {
    let (all, tail) =
        (amounts(&line.cpu_usage_distribution), amounts(&line.tail_cpu_usage_distribution));
    let mut cells = Cells::new();
    cells.time("start_time_us", &line.start_time);
    cells.time("end_time_us", &line.end_time);
    cells.id("job_id", &line.collection_id);
    cells.put("task_index", must(small(&line.instance_index)).map(Cell::I32));
    cells.id_or("machine_id", &line.machine_id, 0);
    cells.amount("mean_cpu_rate", &line.average_usage.cpus);
    cells.amount("canonical_memory", &line.average_usage.memory);
    cells.amount("assigned_memory", &line.assigned_memory);
    cells.nothing();
    cells.amount("total_page_cache", &line.page_cache_memory);
    cells.amount("max_memory", &line.maximum_usage.memory);
    cells.nothing();
    cells.nothing();
    cells.amount("max_cpu_rate", &line.maximum_usage.cpus);
    cells.nothing();
    cells.float("cycles_per_instruction", &line.cycles_per_instruction);
    cells.float("memory_accesses_per_instruction", &line.memory_accesses_per_instruction);
    cells.float("sample_portion", &line.sample_rate);
    cells.nothing();
    cells.amount("sampled_cpu_usage", &line.random_sample_usage.cpus);
    let is_inside = !matches!(line.alloc_collection_id.whole(), Ok(None | Some(0)));
    cells.id_or("alloc_collection_id", &line.alloc_collection_id, 0);
    // Outside of an alloc set the trace does not define it.
    let index = if is_inside { part_of_set(&line.alloc_instance_index) } else { Ok(Cell::Missing) };
    cells.put("alloc_instance_index", index);
    cells.put("cpu_usage_distribution", list(&all));
    cells.put("tail_cpu_usage_distribution", list(&tail));
    cells.push(id, rows)
}

fn machine<'c>(line: &'c Line<'_>) -> Cells<'c> {
    let mut cells = Cells::new();
    cells.time("time_us", &line.time);
    cells.id("machine_id", &line.machine_id);
    cells.event(must(small(&line.kind)).and_then(|kind| match kind {
        1..=3 => Ok(kind - 1),
        _ => Err(RejectReason::UnknownEventType),
    }));
    cells.text("platform_id", &line.platform_id);
    cells.amount("cpu_capacity", &line.capacity.cpus);
    cells.amount("memory_capacity", &line.capacity.memory);
    cells.text("switch_id", &line.switch_id);
    cells.put("missing_info", missing_of(&line.missing_data_reason));
    cells
}

fn attribute<'c>(line: &'c Line<'_>) -> Cells<'c> {
    let mut cells = Cells::new();
    cells.time("time_us", &line.time);
    cells.id("machine_id", &line.machine_id);
    cells.text("attribute_name", &line.name);
    if line.name == Raw::Missing {
        cells.fault.get_or_insert(("attribute_name", RejectReason::EmptyMandatory));
    }
    cells.text("attribute_value", &line.value);
    let deleted = match &line.deleted {
        Raw::Missing => Ok(false),
        Raw::Bool(is_deleted) => Ok(*is_deleted),
        Raw::Text(text) => text.parse().map_err(|_| RejectReason::BadValue),
        _ => Err(RejectReason::BadValue),
    };
    cells.put("is_deleted", deleted.map(Cell::Bool));
    cells
}
