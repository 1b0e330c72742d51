//! The parser of a part: its lines become rows.

use std::sync::Arc;

use super::cells::{Cells, amounts, event_of, list, missing_of};
use super::line::{LINE_MAX, Line};
use super::owners::Collections;
use crate::schema::{Source, Table, row_id};
use crate::sources::json::value::{Raw, must};
use crate::sources::part::{HandOut, Notes, PartParser};
use crate::sources::records::{self, Fault};
use crate::sources::reject::RejectReason;
use crate::sources::rows::{Cell, RowBlock};
use crate::sources::{RawPart, SourceError, TextBlock};

/// The remarks about rows.
pub(super) const NO_NUMBER: &str = "QUEUE or ENABLE, which v2.1 does not have: left out";
pub(super) const ALLOC_SET: &str = "of an alloc set: left out, see --source google-2019-alloc-sets";
pub(super) const JOB: &str = "of a job: left out, see --source google-2019";
pub(super) const NO_KIND: &str = "collection type missing: counted as a job";

/// The most constraints of one line.
const CONSTRAINTS_MAX: usize = 256;

/// Whether a line may contain constraints.
fn demands(text: &[u8]) -> bool {
    let says = |key: &[u8]| memchr::memmem::find(text, key).is_some();
    says(b"\"relation\"") || says(b"\"name\"")
}

/// Parses the blocks of one part for one of its tables.
pub(in crate::sources) struct Parser {
    part: u32,
    pub(in crate::sources) table: Table,
    /// Whether alloc sets are wanted instead of jobs.
    is_of_alloc_sets: bool,
    collections: Arc<Collections>,
    notes: Notes,
}

impl Parser {
    pub(in crate::sources) fn new(part: &RawPart) -> Result<Self, SourceError> {
        let owners = part.owners.as_ref().map(|owners| owners.collections()).transpose()?;
        Ok(Self {
            part: part.part,
            table: part.table,
            is_of_alloc_sets: part.source == Source::Google2019AllocSets,
            collections: owners.unwrap_or_default(),
            notes: Notes::default(),
        })
    }

    /// Counts a remark.
    pub(in crate::sources) fn remark(&mut self, wording: &'static str) {
        self.notes.remark(wording, 1);
    }

    /// Whether a line belongs in this lake, which is of jobs or of alloc sets.
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
    ///
    /// # Errors
    /// The line is bad.
    pub(in crate::sources) fn line(
        &mut self,
        text: &[u8],
        number: u64,
        rows: &mut RowBlock,
    ) -> Result<(), Fault> {
        // Few instances have constraints: skipping the other lines halves the time.
        if self.table == Table::TaskConstraints && !demands(text) {
            return Ok(());
        }
        if LINE_MAX < text.len() {
            return Err(("", RejectReason::OutOfRange));
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

    /// Adds one row per constraint.
    fn constraints(&self, line: &Line<'_>, number: u64, rows: &mut RowBlock) -> Result<(), Fault> {
        if CONSTRAINTS_MAX < line.constraint.len() {
            return Err(("comparison_operator", RejectReason::TooManyColumns));
        }
        let before = rows.row_ids.len();
        for (place, constraint) in (0_u64..).zip(&line.constraint) {
            let mut cells = Cells::new();
            cells.time("time_us", &line.time);
            cells.id("job_id", &line.collection_id);
            cells.put("task_index", must(line.instance_index.small()).map(Cell::I32));
            let relation = must(constraint.relation.small()).and_then(|relation| {
                let is_known = (0..=7).contains(&relation);
                is_known.then_some(relation).ok_or(RejectReason::UnknownEventType)
            });
            cells.put("comparison_operator", relation.map(Cell::I32));
            cells.text("attribute_name", &constraint.name);
            if constraint.name.is_absent() {
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
    fn parse(
        &mut self,
        text: &TextBlock,
        first_line: u64,
        rows: &mut RowBlock,
        _hand_out: &mut HandOut<'_>,
    ) {
        records::Line::each(text, first_line, rows, |line, rows| {
            self.line(line.raw.trim_ascii(), line.number, rows)
        });
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

pub(super) fn task<'c>(
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
    cells.put("task_index", must(line.instance_index.small()).map(Cell::I32));
    cells.id_or("machine_id", &line.machine_id, 0);
    cells.event(event);
    match owner {
        Some(_) => cells.put("user", Ok(owner.into())),
        None => cells.text("user", &line.user),
    }
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
    Ok(raw.small()?.filter(|&index| index != -1).into())
}

fn usage(line: &Line<'_>, id: i64, rows: &mut RowBlock) -> Result<(), Fault> {
    let (all, tail) =
        (amounts(&line.cpu_usage_distribution), amounts(&line.tail_cpu_usage_distribution));
    let mut cells = Cells::new();
    cells.time("start_time_us", &line.start_time);
    cells.time("end_time_us", &line.end_time);
    cells.id("job_id", &line.collection_id);
    cells.put("task_index", must(line.instance_index.small()).map(Cell::I32));
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
    // The trace defines it only inside an alloc set.
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
    cells.event(must(line.kind.small()).and_then(|kind| match kind {
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
    if line.name.is_absent() {
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
