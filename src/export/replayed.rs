//! The life of each task in a replay, from its journal.
//!
//! In: the Parquet file that `replay --journal` stores, ordered by time. Out: the life of each task
//! in it: its first submission, the decisive attempt, and its end. Times are on the clock of the
//! replay. Each task takes about 150 bytes of memory.

use std::fs::File;
use std::path::Path;

use arrow::array::{Array, AsArray};
use arrow::datatypes::Int64Type;
use arrow::record_batch::RecordBatch;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use rustc_hash::FxHashMap;

use super::items::{Key, Life, State};
use crate::faults::{BadFile, Context, Result};

/// The tasks of a journal.
#[derive(Debug, Default)]
pub(super) struct Replayed {
    tasks: FxHashMap<Key, Task>,
}

#[derive(Debug)]
struct Task {
    life: Life,
    /// Running attempts: number, start, machine.
    running: Vec<(i64, i64, Option<i64>)>,
}

/// A line of the journal about a task.
struct Line<'a> {
    at_us: i64,
    event: &'a str,
    key: Key,
    machine: Option<i64>,
    attempt: i64,
}

impl Replayed {
    /// Reads a journal.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let shown = path.display();
        let file = File::open(path).with_context(|| format!("could not open `{shown}`"))?;
        let bad = |problem: String| BadFile { path: path.to_owned(), problem };
        let damaged = |error: String| bad(format!("is damaged, or not a Parquet file: {error}"));
        let reader = ParquetRecordBatchReaderBuilder::try_new(file)
            .and_then(ParquetRecordBatchReaderBuilder::build)
            .map_err(|error| damaged(error.to_string()))?;
        let mut all = Self::default();
        for batch in reader {
            let batch = batch.map_err(|error| damaged(error.to_string()))?;
            all.add(&batch).map_err(|lack| bad(format!("is not a journal: {lack}")))?;
        }
        Ok(all)
    }

    /// The number of tasks.
    pub(super) fn len(&self) -> u64 {
        self.tasks.len() as u64
    }

    /// The life of a task; `None` if the journal does not have it.
    pub(super) fn life(&self, key: Key) -> Option<Life> {
        let task = self.tasks.get(&key)?;
        let mut life = task.life;
        if let Some(&(_, start_us, machine_id)) = task.running.last() {
            life.state = State::Running;
            (life.start_us, life.end_us, life.machine_id) = (Some(start_us), None, machine_id);
        }
        Some(life)
    }

    fn add(&mut self, batch: &RecordBatch) -> Result<(), String> {
        let column =
            |name: &str| batch.column_by_name(name).ok_or(format!("it has no column `{name}`"));
        let ints = |name: &str| {
            let numbers = column(name)?.as_primitive_opt::<Int64Type>();
            numbers.ok_or_else(|| format!("column `{name}` does not hold whole numbers"))
        };
        let (times, attempts, machines) = (ints("time_us")?, ints("attempt")?, ints("machine_id")?);
        let (jobs, tasks) = (ints("job_id")?, ints("task_index")?);
        let events = column("event")?.as_string_opt::<i32>();
        let events = events.ok_or("column `event` does not hold words")?;
        for row in (0..batch.num_rows()).filter(|&row| jobs.is_valid(row)) {
            let key = (jobs.value(row), tasks.value(row));
            let machine = machines.is_valid(row).then(|| machines.value(row));
            let (at_us, attempt) = (times.value(row), attempts.value(row));
            self.line(&Line { at_us, event: events.value(row), key, machine, attempt })?;
        }
        Ok(())
    }

    fn line(&mut self, line: &Line<'_>) -> Result<(), String> {
        let task = self.tasks.entry(line.key).or_insert_with(|| Task {
            life: Life {
                submit_us: line.at_us,
                start_us: None,
                end_us: None,
                state: State::Waiting,
                attempts: 0,
                earlier_us: 0,
                is_joined: false,
                ran_us: None,
                machine_id: None,
            },
            running: Vec::new(),
        });
        match line.event {
            "submit" => task.life.state = State::Waiting,
            "start" | "copy" => {
                task.life.attempts += 1;
                task.running.push((line.attempt, line.at_us, line.machine));
            }
            "finish" => task.end(line, State::Finished),
            "fail" => task.end(line, State::Failed),
            "kill" | "condemn" => task.end(line, State::Killed),
            "refuse" => task.end(line, State::Refused),
            "evict" => task.end(line, State::Evicted),
            "lost" => task.end(line, State::Lost),
            "cancel" | "restart" => task.running.retain(|running| running.0 != line.attempt),
            "probe" | "probe_end" | "cut" => {}
            other => return Err(format!("it has an event `{other}`")),
        }
        Ok(())
    }
}

impl Task {
    /// Ends an attempt, or the wait if none is running.
    fn end(&mut self, line: &Line<'_>, state: State) {
        let at = self.running.iter().position(|running| running.0 == line.attempt);
        let ended = at.map(|at| self.running.remove(at));
        if let Some((_, start_us, machine_id)) = ended {
            if let (Some(start_us), Some(end_us)) = (self.life.start_us, self.life.end_us) {
                self.life.earlier_us += end_us - start_us;
            }
            (self.life.start_us, self.life.machine_id) = (Some(start_us), machine_id);
        }
        if ended.is_some() || self.life.start_us.is_none() {
            self.life.end_us = Some(line.at_us);
        }
        self.life.state = state;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_task_never_started_and_a_killed_one_did() {
        let mut all = Replayed::default();
        for (at_us, event, job) in
            [(1, "submit", 1), (2, "refuse", 1), (3, "submit", 2), (4, "start", 2), (9, "kill", 2)]
        {
            all.line(&Line { at_us, event, key: (job, 0), machine: None, attempt: 1 }).unwrap();
        }
        let found = [1, 2].map(|job| all.life((job, 0)).unwrap());
        let found = found.map(|life| (life.state, life.start_us, life.end_us));
        let expected = [(State::Refused, None, Some(2)), (State::Killed, Some(4), Some(9))];
        assert_eq!(found, expected);
    }
}
