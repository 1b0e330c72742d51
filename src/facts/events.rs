//! The events of each job or task of a bucket, grouped and in order.
//!
//! In: `job_events` or `task_events` of one bucket. Out: [`Histories`], in which the events of a
//! job or task are adjacent, in (time, `row_id`) order. Rows of the lake are already ordered by
//! time, so this is a hash look-up and a counting sort; only rows out of order are sorted.

use arrow::array::AsArray;
use arrow::datatypes::{ArrowPrimitiveType, Int32Type, Int64Type};
use arrow::record_batch::RecordBatch;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::FactError;
use crate::lake::Lake;
use crate::schema::{EventType, ROW_ID, Table};

/// A job (with task 0) or a task.
pub type EntityId = (i64, i32);

/// The events of every entity of a bucket.
#[derive(Debug, Default)]
pub struct Histories {
    /// The entities, in the order of their first row.
    pub ids: Vec<EntityId>,
    /// Entity `i` has the events from `starts[i]` up to `starts[i + 1]`.
    starts: Vec<u32>,
    events: Vec<Event>,
    index: FxHashMap<EntityId, u32>,
}

/// One event of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, µs.
    pub time_us: i64,
    /// The file order.
    pub row_id: i64,
    /// The event type.
    pub event_type: EventType,
    /// The number of the row in reading order of the bucket.
    pub row: u32,
}

/// Events in file order, from which [`Histories`] are made.
#[derive(Debug, Default)]
pub struct Rows {
    ids: Vec<EntityId>,
    index: FxHashMap<EntityId, u32>,
    /// The entity of each row.
    owners: Vec<u32>,
    events: Vec<Event>,
}

impl Rows {
    /// No rows, with room for this many.
    pub fn with_room(rows: usize) -> Self {
        // A task that runs has at least three events, most have some more.
        let entities = rows / 4;
        Self {
            ids: Vec::with_capacity(entities),
            index: FxHashMap::with_capacity_and_hasher(entities, FxBuildHasher),
            owners: Vec::with_capacity(rows),
            events: Vec::with_capacity(rows),
        }
    }

    /// Adds a batch of `table`, with at least its [`columns`].
    pub fn add(&mut self, table: Table, batch: &RecordBatch) {
        let jobs = i64_column(batch, "job_id");
        let tasks = (table != Table::JobEvents).then(|| i32_column(batch, "task_index"));
        let (times, row_ids) = (i64_column(batch, "time_us"), i64_column(batch, ROW_ID));
        let types = i32_column(batch, "event_type");
        for row in 0..batch.num_rows() {
            let id = (jobs[row], tasks.map_or(0, |tasks| tasks[row]));
            let next = u32::try_from(self.ids.len()).expect("a bucket has fewer than 2^32 tasks");
            self.owners.push(*self.index.entry(id).or_insert_with(|| {
                self.ids.push(id);
                next
            }));
            self.events.push(Event {
                time_us: times[row],
                row_id: row_ids[row],
                event_type: EventType::of(types[row]).expect("readers check event numbers"),
                row: u32::try_from(self.events.len()).expect("a bucket has fewer than 2^32 rows"),
            });
        }
    }

    /// Groups the rows by entity.
    pub fn histories(self) -> Histories {
        let starts = starts_of(&self.owners, self.ids.len());
        let mut next = starts.clone();
        let blank = Event { time_us: 0, row_id: 0, event_type: EventType::Submit, row: 0 };
        let mut events = vec![blank; self.events.len()];
        for (event, owner) in self.events.into_iter().zip(self.owners) {
            let slot = &mut next[owner as usize];
            events[*slot as usize] = event;
            *slot += 1;
        }
        let mut histories = Histories { ids: self.ids, starts, events, index: self.index };
        histories.order();
        histories
    }
}

/// The position at which the rows of each of `count` owners start once they are grouped, and the
/// end of the last.
pub(super) fn starts_of(owners: &[u32], count: usize) -> Vec<u32> {
    let mut starts = vec![0_u32; count + 1];
    for &owner in owners {
        starts[owner as usize + 1] += 1;
    }
    for owner in 0..count {
        starts[owner + 1] += starts[owner];
    }
    starts
}

impl Histories {
    /// Groups the rows of `batches`, with at least the [`columns`] of the table.
    pub fn of(table: Table, batches: &[RecordBatch]) -> Self {
        let mut rows = Rows::default();
        for batch in batches {
            rows.add(table, batch);
        }
        rows.histories()
    }

    /// Sorts the events of entities whose rows were not in order.
    fn order(&mut self) {
        for entity in 0..self.ids.len() {
            let events =
                &mut self.events[self.starts[entity] as usize..self.starts[entity + 1] as usize];
            if !events.is_sorted_by_key(|event| (event.time_us, event.row_id)) {
                events.sort_unstable_by_key(|event| (event.time_us, event.row_id));
            }
        }
    }

    /// Reads and groups a bucket's events.
    pub fn read(lake: &Lake, table: Table, bucket: u32) -> Result<Self, FactError> {
        let mut rows = Rows::with_room(lake.rows_of(table, bucket));
        lake.scan(table, Some(bucket), columns(table), |batch| rows.add(table, &batch))?;
        Ok(rows.histories())
    }

    /// The number of entities.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are no entities.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The events of an entity, in order.
    pub fn events(&self, entity: usize) -> &[Event] {
        &self.events[self.starts[entity] as usize..self.starts[entity + 1] as usize]
    }

    /// The position of an entity.
    #[inline]
    pub fn find(&self, id: EntityId) -> Option<usize> {
        self.index.get(&id).map(|&entity| entity as usize)
    }
}

/// The columns that [`Histories`] needs.
pub fn columns(table: Table) -> &'static [&'static str] {
    match table {
        Table::JobEvents => &[ROW_ID, "time_us", "job_id", "event_type"],
        _ => &[ROW_ID, "time_us", "job_id", "task_index", "event_type"],
    }
}

/// Returns a column of whole 64-bit numbers without missing cells.
pub fn i64_column<'a>(batch: &'a RecordBatch, name: &str) -> &'a [i64] {
    batch
        .column_by_name(name)
        .expect("the column was requested")
        .as_primitive::<Int64Type>()
        .values()
}

/// Returns a column of whole 32-bit numbers without missing cells.
pub fn i32_column<'a>(batch: &'a RecordBatch, name: &str) -> &'a [i32] {
    batch
        .column_by_name(name)
        .expect("the column was requested")
        .as_primitive::<Int32Type>()
        .values()
}

/// The cells of a column of numbers over all batches, including missing ones.
pub(crate) fn optional_cells<T: ArrowPrimitiveType>(
    batches: &[RecordBatch],
    column: &str,
) -> Vec<Option<T::Native>> {
    let mut cells = Vec::with_capacity(batches.iter().map(RecordBatch::num_rows).sum());
    for batch in batches {
        add_optional_cells::<T>(&mut cells, batch, column);
    }
    cells
}

/// Adds the cells of a column of numbers of a batch.
pub(crate) fn add_optional_cells<T: ArrowPrimitiveType>(
    cells: &mut Vec<Option<T::Native>>,
    batch: &RecordBatch,
    column: &str,
) {
    let column = batch.column_by_name(column).expect("the column was requested");
    cells.extend(column.as_primitive::<T>().iter());
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Int32Array, Int64Array};
    use arrow::datatypes::{DataType, Field, Schema};

    use super::*;

    /// Rows of (`row_id`, time, job, task, type).
    fn batch(rows: &[(i64, i64, i64, i32, i32)]) -> RecordBatch {
        let int = |name: &str| Field::new(name, DataType::Int32, false);
        let long = |name: &str| Field::new(name, DataType::Int64, false);
        let fields = vec![
            long(ROW_ID),
            long("time_us"),
            long("job_id"),
            int("task_index"),
            int("event_type"),
        ];
        RecordBatch::try_new(
            Arc::new(Schema::new(fields)),
            vec![
                Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.0))),
                Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.1))),
                Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.2))),
                Arc::new(Int32Array::from_iter_values(rows.iter().map(|row| row.3))),
                Arc::new(Int32Array::from_iter_values(rows.iter().map(|row| row.4))),
            ],
        )
        .unwrap()
    }

    #[test]
    fn events_of_a_task_lie_together_in_order_of_time_then_row() {
        //  task (1,0):  SUBMIT 5 (row 2), SCHEDULE 5 (row 9, a later part), FINISH 8
        let batches = [
            batch(&[(9, 5, 1, 0, 1), (3, 6, 1, 1, 0)]),
            batch(&[(2, 5, 1, 0, 0), (10, 8, 1, 0, 4)]),
        ];
        let histories = Histories::of(Table::TaskEvents, &batches);
        assert_eq!(histories.ids, [(1, 0), (1, 1)]);
        let types: Vec<i32> =
            histories.events(0).iter().map(|event| event.event_type.number()).collect();
        assert_eq!(types, [0, 1, 4]);
        assert_eq!(histories.find((1, 1)), Some(1));
        assert_eq!(histories.find((2, 0)), None);
    }
}
