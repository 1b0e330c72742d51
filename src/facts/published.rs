//! CPU time by the definition of the paper of 2017: the native twin of `q11_cpu_published`.
//!
//! In: usage windows, machine capacities and job durations of a lake. Out: duration × mean CPU rate
//! × mean machine capacity of each job, both means over the job's windows weighted by their length.
//! A window without a rate, or on a machine of unknown capacity, is left out of that mean; a job
//! without windows used nothing.
//!
//! Source: Mandai, Kawahara, Kasahara (2017), section 3.1, read literally.

use arrow::array::{Array, AsArray};
use arrow::datatypes::Float32Type;
use rustc_hash::FxHashMap;

use super::FactError;
use super::events::i64_column;
use super::jobs::Jobs;
use super::tasks::closed;
use super::window::Windows;
use crate::lake::Lake;
use crate::schema::Table;
use crate::units::{CpuTime, micros_to_seconds};

/// Published CPU time by job, in normalised-CPU seconds.
pub type PublishedCpu = FxHashMap<i64, f64>;

/// The data needed to compute it, bucket by bucket.
pub struct Published(Capacities);

impl Published {
    /// Reads the machines of a lake.
    pub fn of(lake: &Lake) -> Result<Self, FactError> {
        for table in [Table::JobEvents, Table::TaskUsage, Table::MachineEvents] {
            lake.require(table)?;
        }
        Ok(Self(Capacities::read(lake)?))
    }

    /// Computes it for every job of a bucket with windows.
    pub fn of_bucket(
        &self,
        lake: &Lake,
        bucket: u32,
        windows: Windows,
        jobs: &Jobs,
    ) -> Result<PublishedCpu, FactError> {
        let mut sums = vec![Sums::default(); jobs.jobs.len()];
        let columns = ["start_time_us", "end_time_us", "job_id", "machine_id", "mean_cpu_rate"];
        lake.scan(Table::TaskUsage, Some(bucket), &columns, |batch| {
            let (starts, ends) =
                (i64_column(&batch, "start_time_us"), i64_column(&batch, "end_time_us"));
            let (ids, machines) = (i64_column(&batch, "job_id"), i64_column(&batch, "machine_id"));
            let rates = batch
                .column_by_name("mean_cpu_rate")
                .expect("the column was requested")
                .as_primitive::<Float32Type>();
            for row in 0..batch.num_rows() {
                let length = closed(ends[row], windows.job_end_us) - starts[row];
                let Some(job) = jobs.find(ids[row]).filter(|_| 0 < length) else { continue };
                let sums = &mut sums[job];
                if !rates.is_null(row) {
                    sums.rate += CpuTime::of_rate(rates.value(row), length);
                    sums.rate_us += length;
                }
                if let Some(capacity) = self.0.at(machines[row], starts[row]) {
                    sums.capacity += CpuTime::of_rate(capacity, length);
                    sums.capacity_us += length;
                }
            }
        })?;
        let cpu = jobs
            .jobs
            .iter()
            .zip(sums)
            .filter(|(_, sums)| 0 < sums.rate_us && 0 < sums.capacity_us)
            .filter_map(|(job, sums)| {
                let duration_s = micros_to_seconds(job.duration_us(windows.job_end_us)?);
                let mean_rate = sums.rate.seconds() / micros_to_seconds(sums.rate_us);
                let mean_capacity = sums.capacity.seconds() / micros_to_seconds(sums.capacity_us);
                Some((job.id, duration_s * mean_rate * mean_capacity))
            });
        Ok(cpu.collect())
    }
}

/// CPU capacity of each machine over time.
struct Capacities(FxHashMap<i64, Vec<(i64, f32)>>);

impl Capacities {
    fn read(lake: &Lake) -> Result<Self, FactError> {
        let columns = ["row_id", "time_us", "machine_id", "cpu_capacity"];
        let mut rows: Vec<(i64, i64, i64, f32)> = Vec::new();
        for batch in lake.read(Table::MachineEvents, None, &columns)? {
            let (row_ids, times) = (i64_column(&batch, "row_id"), i64_column(&batch, "time_us"));
            let machines = i64_column(&batch, "machine_id");
            let sizes = batch
                .column_by_name("cpu_capacity")
                .expect("the column was requested")
                .as_primitive::<Float32Type>();
            let known = (0..batch.num_rows()).filter(|&row| !sizes.is_null(row));
            rows.extend(
                known.map(|row| (times[row], row_ids[row], machines[row], sizes.value(row))),
            );
        }
        rows.sort_by_key(|row| (row.0, row.1));
        let mut capacities: FxHashMap<i64, Vec<(i64, f32)>> = FxHashMap::default();
        for (time, _, machine, capacity) in rows {
            capacities.entry(machine).or_default().push((time, capacity));
        }
        Ok(Self(capacities))
    }

    /// The last capacity known at `time`, or else the first known one.
    fn at(&self, machine: i64, time: i64) -> Option<f32> {
        let known = self.0.get(&machine)?;
        let after = known.partition_point(|&(since, _)| since <= time);
        known.get(after.max(1) - 1).map(|&(_, capacity)| capacity)
    }
}

/// Sums of one job's windows.
#[derive(Clone, Copy, Default)]
struct Sums {
    rate: CpuTime,
    rate_us: i64,
    capacity: CpuTime,
    capacity_us: i64,
}
