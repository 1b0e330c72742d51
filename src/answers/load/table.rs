//! The tables of `load`.
//!
//! In: integrals per interval. Out: means over intervals, null if an amount is unknown.

use arrow::record_batch::RecordBatch;

use super::{LoadPlan, Totals};
use crate::digits;
use crate::results::frame::Frame;
use crate::schema::EventType;
use crate::studies::load::arrivals::ArrivalStudy;
use crate::studies::load::fragmentation::Fragmentation;
use crate::studies::load::strips::{Strip, Strips};
use crate::studies::load::{Amount, By, Cells, Load};
use crate::studies::meter::{CpuDefinition, MemoryDefinition, Resource};
use crate::units::{CpuTime, MICROS_PER_SECOND, micros_to_seconds};

/// Whether an amount is known in an interval. Usage is known within the span of its table, or
/// everywhere if the log records it. Waits are known if the log records them, and memory and GPUs
/// if any attempt requests them. All other amounts are always known.
pub(super) fn known(load: &Load, amount: Amount) -> impl Fn(usize) -> bool + '_ {
    let at = load.asked.at;
    let counts = load.counts;
    let is_recorded = match amount {
        Amount::Pending | Amount::CpuPending if !load.knows_waits => false,
        Amount::CpuUsed => load.recorded[0],
        Amount::MemoryUsed => load.recorded[1],
        Amount::MemoryAllocated | Amount::MemoryPending => {
            let is_waiting = amount == Amount::MemoryPending;
            counts.without_memory_request < counts.attempts && (load.knows_waits || !is_waiting)
        }
        Amount::GpusAllocated => load.knows_gpus(),
        Amount::GpusPending => load.knows_gpus() && load.knows_waits,
        _ => true,
    };
    let is_used = matches!(amount, Amount::CpuUsed | Amount::MemoryUsed);
    move |idx| {
        let usage = load.usage.filter(|_| is_used);
        is_recorded
            || usage
                .is_some_and(|span| span.from_us < at.end_of(idx) && at.start_of(idx) < span.to_us)
    }
}

/// The unit of CPU over time, without its seconds.
pub(super) fn cpu_unit(load: &Load) -> &'static str {
    let unit = CpuDefinition::Requested.unit(load.source);
    unit.strip_suffix("-s").unwrap_or(unit)
}

/// The unit of memory over time, without its seconds.
pub(super) fn memory_unit(load: &Load) -> &'static str {
    let unit = MemoryDefinition::Requested.unit(load.source);
    unit.strip_suffix("-s").unwrap_or(unit)
}

/// Whether a group has any of an amount.
pub(super) fn has_any(load: &Load, cells: &Cells, amount: Amount) -> bool {
    means(load, cells, amount).iter().any(|mean| mean.is_some_and(|mean| 0.0 < mean))
}

/// The plural of a unit.
pub(super) fn several(unit: &str) -> String {
    if matches!(unit, "core" | "processor" | "slot") { format!("{unit}s") } else { unit.to_owned() }
}

/// The mean of an amount in each interval; `None` if it is unknown.
pub(super) fn means(load: &Load, cells: &Cells, amount: Amount) -> Vec<Option<f64>> {
    let known = known(load, amount);
    let sums = cells.amounts(amount).iter().enumerate();
    sums.map(|(idx, &sum)| mean(load, idx, sum).filter(|_| known(idx))).collect()
}

/// The mean of a capacity in each interval; `None` if it is unknown.
pub(super) fn capacity(load: &Load, sums: Option<&Vec<CpuTime>>) -> Vec<Option<f64>> {
    let count = load.asked.at.count();
    (0..count).map(|idx| mean(load, idx, *sums?.get(idx)?)).collect()
}

fn mean(load: &Load, idx: usize, sum: CpuTime) -> Option<f64> {
    let length_s = load.asked.at.length_s(idx);
    (0.0 < length_s).then(|| sum.seconds() / length_s)
}

fn over(parts: &[Option<f64>], wholes: &[Option<f64>]) -> Vec<Option<f64>> {
    let share = |(part, whole): (&Option<f64>, &Option<f64>)| {
        Some((*part)? / whole.filter(|&whole| whole != 0.0)?)
    };
    parts.iter().zip(wholes).map(share).collect()
}

fn less(wholes: &[Option<f64>], parts: &[Option<f64>]) -> Vec<Option<f64>> {
    wholes.iter().zip(parts).map(|(whole, part)| Some((*whole)? - (*part)?)).collect()
}

/// The columns of a resource: name, amounts, capacity, unit.
type Columns<'a> = (&'a str, Amounts, Option<&'a Vec<CpuTime>>, &'static str);

/// The allocated amount, the used amount (`None` for GPUs), and the amount that waiting tasks
/// request.
type Amounts = (Amount, Option<Amount>, Amount);

fn resources<'a>(plan: &LoadPlan, load: &'a Load) -> Vec<Columns<'a>> {
    use Amount::{
        CpuAllocated, CpuPending, CpuUsed, GpusAllocated, GpusPending, MemoryAllocated,
        MemoryPending, MemoryUsed,
    };
    let wants = |resource| plan.resource.is_none_or(|wanted| wanted == resource);
    let capacity = &load.capacity;
    let cpu =
        ("cpu", (CpuAllocated, Some(CpuUsed), CpuPending), capacity.cpu.as_ref(), cpu_unit(load));
    let memory = (
        "memory",
        (MemoryAllocated, Some(MemoryUsed), MemoryPending),
        capacity.memory.as_ref(),
        memory_unit(load),
    );
    let gpu = ("gpu", (GpusAllocated, None, GpusPending), capacity.gpus.as_ref(), "GPUs");
    let all = [(Resource::Cpu, cpu), (Resource::Memory, memory), (Resource::Gpu, gpu)];
    let is_known = |resource| resource != Resource::Gpu || load.knows_gpus();
    all.into_iter()
        .filter(|(resource, _)| wants(*resource) && is_known(*resource))
        .map(|(_, columns)| columns)
        .collect()
}

/// The start and the end of the interval of each row, s. An interval has one row per group.
fn keys(load: &Load, groups: usize) -> (Vec<f64>, Vec<f64>) {
    let at = load.asked.at;
    let rows = || (0..at.count()).flat_map(move |idx| std::iter::repeat_n(idx, groups));
    let starts = rows().map(|idx| micros_to_seconds(at.start_of(idx))).collect();
    (starts, rows().map(|idx| micros_to_seconds(at.end_of(idx))).collect())
}

/// The values of groups (one column each) row by row: all groups of the first interval, then all
/// groups of the next one.
fn by_row<T: Copy>(columns: &[Vec<T>]) -> Vec<T> {
    let count = columns.first().map_or(0, Vec::len);
    (0..count).flat_map(|idx| columns.iter().map(move |column| column[idx])).collect()
}

/// A row per interval.
pub(super) fn intervals(
    plan: &LoadPlan,
    load: &Load,
    fragmentation: Option<&Fragmentation>,
) -> RecordBatch {
    let (starts, ends) = keys(load, 1);
    let mut frame = Frame::default()
        .float("start_s", starts.into_iter().map(Some))
        .about("Start of the interval, on the trace clock")
        .float("end_s", ends.into_iter().map(Some))
        .about("End of the interval, on the trace clock");
    for (name, (allocated, used, pending), sums, unit) in resources(plan, load) {
        let of = |amount| means(load, &load.all, amount);
        let (allocated, used, pending) = (of(allocated), used.map(of), of(pending));
        let capacity = capacity(load, sums);
        frame = frame
            .float(&format!("{name}_capacity"), capacity.iter().copied())
            .unit(unit)
            .about("Capacity of the machines in service, the mean over the interval");
        frame = amount_columns(frame, name, unit, (&allocated, used.as_deref(), &pending));
        frame = frame
            .float(&format!("{name}_allocated_share"), over(&allocated, &capacity))
            .about("Requests of running attempts over the capacity; above 1 if overcommitted");
        if let Some(used) = &used {
            frame = frame
                .float(&format!("{name}_used_share"), over(used, &allocated))
                .about("What was used over the requests of running attempts");
        }
        frame = frame
            .float(&format!("{name}_free"), less(&capacity, &allocated))
            .unit(unit)
            .about("Capacity minus requests of running attempts; below 0 if overcommitted");
        if let Some(used) = &used {
            frame = frame
                .float(&format!("{name}_idle"), less(&capacity, used))
                .unit(unit)
                .about("Capacity minus what was used");
        }
    }
    if let Some(known) = fragmentation {
        frame = fragmentation_columns(frame, (plan, load), known);
    }
    frame = frame
        .float("machines", capacity(load, load.capacity.machines.as_ref()))
        .about("Machines in service, the mean over the interval");
    frame = task_columns(frame, load, &[&load.all]);
    frame = frame
        .maybe_count(
            "submitted_jobs",
            match &load.jobs {
                Some(jobs) => jobs.iter().map(|&count| Some(count)).collect(),
                None => vec![None; load.asked.at.count()],
            },
        )
        .about("Jobs that were submitted (first SUBMIT)");
    viewed(frame)
}

/// A text with the GPU time of the machines that no attempt held.
pub(super) fn idle_gpus(totals: &Totals) -> String {
    let known = totals.gpu_capacity_s.flatten().zip(totals.gpu_allocated_s.flatten());
    let Some((all_s, held_s)) = known else {
        return "GPUs of the machines are not recorded: it is unknown how many were idle".into();
    };
    let [all, held, idle] = [all_s, held_s, all_s - held_s].map(digits::six_digits);
    if all_s < held_s {
        return format!(
            "GPUs of the machines: {all} GPU-s; attempts held {held} GPU-s, which is more"
        );
    }
    format!(
        "GPUs of the machines: {all} GPU-s, of which attempts held {held} GPU-s; {idle} GPU-s were \
        idle (held by no attempt). The use of held GPUs is not recorded"
    )
}

/// Notes about unknown free capacity, and about waits that are left out.
pub(super) fn fragmentation_notes(known: &Fragmentation) -> impl Iterator<Item = String> {
    let unknown = "fragmented capacity is unknown: the trace does not record when tasks wait, the \
        capacity of machines, or where tasks run";
    let unknown = known.free[0].is_none().then(|| unknown.to_owned());
    let waits = digits::counted(known.without_request, "wait");
    let left_out = (0 < known.without_request)
        .then(|| format!("left out: {waits} of tasks without a recorded request"));
    unknown.into_iter().chain(left_out)
}

fn fragmentation_columns(
    mut frame: Frame,
    (plan, load): (&LoadPlan, &Load),
    known: &Fragmentation,
) -> Frame {
    // A machine has several GPUs, and traces do not record which of them an attempt used.
    for (name, _, _, unit) in resources(plan, load).into_iter().filter(|own| own.0 != "gpu") {
        let idx = usize::from(name == "memory");
        let [free, fragmented] =
            [&known.free, &known.fragmented].map(|sums| capacity(load, sums[idx].as_ref()));
        frame = frame
            .float(&format!("{name}_free_on_machines"), free.iter().copied())
            .unit(unit)
            .about("Capacity minus requests of running attempts, machine by machine and at least 0")
            .float(&format!("{name}_fragmented"), fragmented.iter().copied())
            .unit(unit)
            .about("The part of it on machines that no waiting task fits, while tasks wait")
            .float(&format!("{name}_fragmented_share"), over(&fragmented, &free))
            .about("What is fragmented over what is free on machines");
    }
    frame
}

/// Means of the allocated amount, of the used amount (`None` for GPUs), and of the amount that
/// waiting tasks request.
type Means<'a> = (&'a [Option<f64>], Option<&'a [Option<f64>]>, &'a [Option<f64>]);

fn amount_columns(frame: Frame, name: &str, unit: &str, all: Means<'_>) -> Frame {
    let (allocated, used, pending) = all;
    let mut frame = frame
        .float(&format!("{name}_allocated"), allocated.iter().copied())
        .unit(unit)
        .about("Requests of running attempts, the mean over the interval");
    if let Some(used) = used {
        frame = frame.float(&format!("{name}_used"), used.iter().copied()).unit(unit).about(
            "What running attempts used, the mean over the interval; null where not recorded",
        );
    }
    frame
        .float(&format!("{name}_pending"), pending.iter().copied())
        .unit(unit)
        .about("Requests of waiting tasks, the mean over the interval")
}

fn task_columns(frame: Frame, load: &Load, groups: &[&Cells]) -> Frame {
    let amounts = |amount| -> Vec<Option<f64>> {
        by_row(&groups.iter().map(|cells| means(load, cells, amount)).collect::<Vec<_>>())
    };
    let events = |event| -> Vec<u64> {
        by_row(&groups.iter().map(|cells| cells.events(event).to_vec()).collect::<Vec<_>>())
    };
    frame
        .float("running_tasks", amounts(Amount::Running))
        .about("Running tasks, the mean over the interval")
        .float("pending_tasks", amounts(Amount::Pending))
        .about("Waiting tasks, the mean over the interval")
        .count("submitted_tasks", events(EventType::Submit))
        .about("SUBMIT events of tasks")
        .count("started_tasks", events(EventType::Schedule))
        .about("SCHEDULE events of tasks")
        .count("evicted_tasks", events(EventType::Evict))
        .about("EVICT events of tasks")
        .count("failed_tasks", events(EventType::Fail))
        .about("FAIL events of tasks")
        .count("finished_tasks", events(EventType::Finish))
        .about("FINISH events of tasks")
        .count("killed_tasks", events(EventType::Kill))
        .about("KILL events of tasks")
        .count("lost_tasks", events(EventType::Lost))
        .about("LOST events of tasks")
}

/// A row per interval and group.
pub(super) fn stacked(plan: &LoadPlan, load: &Load) -> RecordBatch {
    let groups: Vec<&Cells> = load.groups.iter().map(|(_, cells)| cells).collect();
    let (starts, ends) = keys(load, groups.len());
    let count = load.asked.at.count();
    let names = (0..count).flat_map(|_| load.groups.iter().map(|(name, _)| name.as_str()));
    let by = load.asked.by;
    let mut frame = Frame::default()
        .float("start_s", starts.into_iter().map(Some))
        .about("Start of the interval, on the trace clock")
        .float("end_s", ends.into_iter().map(Some))
        .about("End of the interval, on the trace clock")
        .text(by.name(), names)
        .about(match by {
            By::PriorityBand => "The band of the task's priority",
            By::Account => "The account or group of the user",
            By::Qos => "The quality of service of the job",
            By::Class => "The scheduling class of the job",
            By::User => "The user of the job",
            By::Outcome => "The outcome of the job",
        });
    for (name, (allocated, used, pending), _, unit) in resources(plan, load) {
        let of = |amount| {
            by_row(&groups.iter().map(|cells| means(load, cells, amount)).collect::<Vec<_>>())
        };
        let (allocated, used, pending) = (of(allocated), used.map(of), of(pending));
        frame = amount_columns(frame, name, unit, (&allocated, used.as_deref(), &pending));
    }
    viewed(task_columns(frame, load, &groups))
}

fn viewed(frame: Frame) -> RecordBatch {
    let names = [
        "start_s",
        "end_s",
        "priority_band",
        "scheduling_class",
        "user",
        "user_group",
        "outcome",
        "cpu_capacity",
        "cpu_allocated",
        "cpu_used",
        "memory_capacity",
        "memory_allocated",
        "memory_used",
        "gpu_capacity",
        "gpu_allocated",
        "gpu_pending",
        "running_tasks",
        "pending_tasks",
    ];
    frame.view(&names).batch()
}

/// A row per machine of the sample and per piece of the span.
pub(super) fn machines(plan: &LoadPlan, load: &Load) -> RecordBatch {
    let Strips { at, machines, .. } = &load.strips;
    let rows = || {
        let all = move |strip| (0..at.count()).map(move |piece| (strip, piece));
        machines.iter().flat_map(all)
    };
    let mean = |sum: CpuTime, piece: usize| {
        let length_s = at.length_s(piece);
        (0.0 < length_s).then(|| sum.seconds() / length_s)
    };
    let mut frame = Frame::default()
        .int("machine_id", rows().map(|(strip, _)| strip.machine_id))
        .about("A machine of the sample: at most 40, evenly spaced in their order by capacity")
        .float("start_s", rows().map(|(_, piece)| Some(micros_to_seconds(at.start_of(piece)))))
        .about("Start of the piece of time, on the trace clock")
        .float("end_s", rows().map(|(_, piece)| Some(micros_to_seconds(at.end_of(piece)))))
        .about("End of the piece of time, on the trace clock");
    for (name, _, _, unit) in resources(plan, load).into_iter().filter(|own| own.0 != "gpu") {
        let idx = usize::from(name == "memory");
        let capacity = |(strip, piece): (&Strip, usize)| {
            strip.capacity[idx].as_ref().and_then(|sums| mean(sums[piece], piece))
        };
        frame = frame
            .float(&format!("{name}_capacity"), rows().map(capacity))
            .unit(unit)
            .about("Capacity of the machine, the mean over the time; 0 while it was away")
            .float(
                &format!("{name}_allocated"),
                rows().map(|(strip, piece)| mean(strip.allocated[idx][piece], piece)),
            )
            .unit(unit)
            .about("Requests of the attempts that ran on it, the mean over the time")
            .float(
                &format!("{name}_allocated_share"),
                rows().map(|(strip, piece)| strip.share(idx, piece)),
            )
            .about("Requests of the attempts on it over its capacity");
    }
    frame
        .float("running_tasks", rows().map(|(strip, piece)| mean(strip.running[piece], piece)))
        .about("Tasks that ran on it, the mean over the time")
        .batch()
}

/// Submitted jobs by hour of the week.
pub(super) fn hours(arrivals: &ArrivalStudy) -> RecordBatch {
    let rows = || arrivals.hours.iter();
    Frame::default()
        .text("day", rows().map(|row| row.day.as_str()))
        .about("Day of the week, in local time if the zone of the log is known, else in UTC; `day 1` is the first day of a log without dates")
        .count("hour", rows().map(|row| row.hour as u64))
        .about("Hour of the day, 0 to 23")
        .count("jobs", rows().map(|row| row.jobs))
        .float("hours", rows().map(|row| Some(row.hours)))
        .about("How many such hours the trace has")
        .float("jobs_per_hour", rows().map(|row| row.jobs_per_hour))
        .about("Jobs per such hour")
        .batch()
}

/// Variance and correlation of counts of submissions, by length of the window.
pub(super) fn dispersion(arrivals: &ArrivalStudy) -> RecordBatch {
    let rows = || arrivals.dispersion.iter();
    Frame::default()
        .float(
            "window_s",
            rows().map(|row| Some(micros_to_seconds(row.window_s * MICROS_PER_SECOND))),
        )
        .about("Length of the windows in which submissions are counted")
        .count("windows", rows().map(|row| row.windows as u64))
        .about("Whole windows in the trace")
        .float("mean", rows().map(|row| Some(row.mean)))
        .float("variance", rows().map(|row| Some(row.variance)))
        .float("dispersion", rows().map(|row| row.dispersion))
        .about("Variance over mean of the counts; 1 for a Poisson process")
        .float("autocorrelation", rows().map(|row| row.autocorrelation))
        .about("Correlation of the counts of neighbouring windows")
        .batch()
}
