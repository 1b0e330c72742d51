//! Standard workload format 2.2: a line of 18 fields per task, below a header.
//!
//! In: tasks ordered by submission. Out: `log.swf`; `names.csv` if users, groups, programs, queues
//! or partitions got numbers; `numbers.csv` if tasks got numbers.
//!
//! A line is a task: its submission, its last attempt and its outcome. Field by field:
//!
//! | Field | Content |
//! |---|---|
//! | 1 job | the job's number if each job has one task and a number from 1 on (SWF and GWF keep 0); else a count from 1 |
//! | 2, 3, 4 submit, wait, run | seconds; of the last attempt; the run is -1 if no end is known, and without suspensions |
//! | 5, 8 processors | allocated, -1 if it never ran, and requested; parts of a core and shares are rounded up |
//! | 6, 7 CPU time, memory used | if a log has them, per processor |
//! | 9, 10 time, memory requested | seconds, KiB per processor |
//! | 11 status | 1 finished; 0 failed, lost; 5 killed, evicted, refused; -1 not ended, or unknown |
//! | 12 to 16 user, group, program, queue, partition | numbers |
//! | 17, 18 preceding job, think time | if a log has them |
//!
//! The format is that of the Parallel Workloads Archive (`swf.html`, version 2.2). Times that are
//! not whole seconds have decimals, which most readers accept, but not all.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::gather::Gathered;
use super::items::{Counts, GPU_MODELS, Item, Life, Logged, MEMORY_SHARES, Named, State};
use super::names::Numbers;
use super::scene::Scene;
use crate::faults::{Context, Result};
use crate::results::store::{Files, command_line, could_not_write};
use crate::units::MICROS_PER_SECOND;

/// The file of the log.
const LOG: &str = "log.swf";

/// Keys of the header that the program writes itself, instead of copying the lines of the log.
const OWN_KEYS: [&str; 6] =
    ["Version", "Conversion", "MaxJobs", "MaxRecords", "MaxProcs", "UnixStartTime"];

/// The meaning of fields that the format leaves open.
const NOTES: [&str; 6] = [
    "a line is a task with its last attempt: fields 3 and 4 are its wait since the first submit, and its run",
    "field 4 and field 11 are -1 for tasks that had not ended at the end of the log",
    "field 5 and field 8 are rounded up where the log counts cores or shares of a machine",
    "field 6 and field 7 are -1 where the log does not say what was used",
    "field 11 is 0 for failed and lost tasks, 5 for killed, evicted and refused ones",
    "fields 12 to 16 are numbers as logged, or those of names.csv",
];

/// Writes the log. Returns the number of tasks, and counts of what was left out.
pub(super) fn write(
    scene: &Scene<'_>,
    mut all: Gathered,
    files: &mut Files,
) -> Result<(u64, Counts)> {
    let mut counts = std::mem::take(&mut all.counts);
    let lost = all.waits_for.iter().filter(|_| !is_own(scene)).count() as u64;
    counts.add("dependencies of tasks: left out", lost);
    counts.add("GPUs of machines: left out", scene.fleet.gpus());
    counts.add("models of machines: left out", scene.models());
    let numbers = all.names.each_ref().map(super::names::Names::numbers);
    let unix_s = scene.unix_start_s(all.first_us);
    let mut log = files.create(LOG.to_owned())?;
    let header = header(scene, &all, &numbers, unix_s);
    // The format counts from 1, but a log that is already in this format keeps a job 0.
    let keeps_numbers = all.has_numbers && (!all.has_zero || is_own(scene));
    let mut ids = (!keeps_numbers).then(|| files.create("numbers.csv".to_owned())).transpose()?;
    let fail = || could_not_write(std::path::Path::new(LOG));
    log.write_all(header.as_bytes()).with_context(fail)?;
    if let Some(ids) = &mut ids {
        ids.write_all(b"number,job_id,task_index\n").with_context(fail)?;
    }
    let mut number = 0;
    all.items
        .for_each(|item| {
            number += 1;
            let job = if keeps_numbers { item.job_id } else { number };
            if let Some(ids) = &mut ids {
                writeln!(ids, "{job},{},{}", item.job_id, item.task_index)?;
            }
            line(scene, item, (job, unix_s), &numbers, &mut counts, &mut log)
        })
        .with_context(fail)?;
    files.take(log)?;
    ids.map_or(Ok(()), |ids| files.take(ids))?;
    names(&all, &numbers, files)?;
    Ok((all.items.len(), counts))
}

/// Whether the lake comes from this format, or from the other format with the same lines.
fn is_own(scene: &Scene<'_>) -> bool {
    scene.lake.source().is_workload_format()
}

fn header(scene: &Scene<'_>, all: &Gathered, numbers: &[Numbers; 7], unix_s: i64) -> String {
    let lake = scene.lake;
    let mut text = String::from("; Version: 2.2\n");
    let mut add = |key: &str, value: &str| {
        let value: String = value.chars().filter(|char| !char.is_control()).collect();
        writeln!(text, "; {key}: {value}").expect("a string takes everything");
    };
    let logged: Vec<(&str, &str)> =
        if is_own(scene) { lake.header_lines().collect() } else { Vec::new() };
    let said = |key: &str| logged.iter().find(|(known, _)| *known == key).map(|(_, value)| *value);
    for &(key, value) in logged.iter().filter(|(key, _)| !OWN_KEYS.contains(key)) {
        add(if key.is_empty() { "Note" } else { key }, value);
    }
    if said("Computer").is_none() {
        add("Computer", lake.source().name());
    }
    if said("Installation").is_none() {
        add("Installation", "unknown");
    }
    let (program, command) = (crate::PROGRAM, command_line());
    add("Conversion", &format!("{program}, from {}: {command}", lake.source().name()));
    let count = all.items.len().to_string();
    add("MaxJobs", &count);
    add("MaxRecords", &count);
    let procs = scene.all_processors().map(|count| count.to_string());
    let procs =
        said("MaxProcs").map(str::to_owned).or(procs.filter(|_| said("MaxNodes").is_none()));
    if let Some(procs) = &procs {
        add("MaxProcs", procs);
    }
    if said("MaxNodes").is_none() && !scene.fleet.is_system && 0 < scene.fleet.len() {
        add("MaxNodes", &scene.fleet.len().to_string());
    }
    match said("UnixStartTime") {
        Some(value) => add("UnixStartTime", value),
        None if 0 < unix_s => add("UnixStartTime", &unix_s.to_string()),
        None => add("UnixStartTime", "0"),
    }
    for (named, keys) in [(Named::Queue, "Queue"), (Named::Partition, "Partition")] {
        let (names, numbers) = (&all.names[named as usize], &numbers[named as usize]);
        if said(&format!("Max{keys}s")).is_none() && !names.sorted().is_empty() {
            add(&format!("Max{keys}s"), &names.sorted().len().to_string());
        }
        for (name, place) in names.sorted().into_iter().filter(|_| !numbers.is_kept).take(1000) {
            let number = numbers.get(i64::try_from(place).ok()).unwrap_or(0);
            add(keys, &format!("{number} {name}"));
        }
    }
    for note in NOTES.iter().filter(|_| !is_own(scene)) {
        add("Note", note);
    }
    if scene.is_of_shares() {
        let cores = scene.plan.cores;
        add("Note", &format!("a processor stands for 1/{cores} of the largest machine"));
    }
    text
}

/// Writes the line of a task.
fn line(
    scene: &Scene<'_>,
    item: &Item,
    (job, unix_s): (i64, i64),
    numbers: &[Numbers; 7],
    counts: &mut Counts,
    to: &mut impl Write,
) -> io::Result<()> {
    // The line is kept as logged, because a reader makes the same assumptions again.
    let is_logged = is_own(scene) && scene.plan.journal.is_none() && item.life.attempts <= 1;
    let is_logged = is_logged && !matches!(item.log.status, Some(2..=4));
    let is_logged = is_logged && !scene.plan.whole_seconds;
    let life = scene.life(item);
    let (submit_us, wait_us, run_us, status) =
        if is_logged { logged(item, &life) } else { derived(scene, &life, counts) };
    let submit_us = submit_us - unix_s * MICROS_PER_SECOND;
    let processors = scene.processors(item, counts);
    counts.see(processors.is_none(), "tasks without a CPU request: processors are -1");
    let (log, [had, asked]) =
        (per_processor(item, processors), counts_of(scene, item, &life, processors));
    let is_whole = |time_us: i64| time_us % MICROS_PER_SECOND == 0;
    let times = [Some(submit_us), wait_us, run_us].into_iter().flatten();
    counts.see(!times.into_iter().all(is_whole), "lines with a time that is not whole seconds");
    // Logs of one task per job have the index 0.
    counts.see(item.task_index > 0, "tasks of a job with several: each is written as a job");
    counts.see(item.gpu.is_some_and(|gpus| 0.0 < gpus), "GPU requests: left out");
    counts.see(item.name(Named::GpuModel).is_some(), GPU_MODELS);
    let memory = log.requested_memory_kib.or_else(|| {
        let kib = f64::from(item.memory?) * scene.mib_per_unit? * 1024.0;
        #[expect(clippy::cast_possible_truncation, reason = "amounts have 32 bits in the lake")]
        #[expect(clippy::cast_precision_loss, reason = "no task has 2^52 processors")]
        Some((kib / processors.unwrap_or(1).max(1) as f64) as f32)
    });
    counts.see(memory.is_none() && item.memory.is_some(), MEMORY_SHARES);
    counts.see(item.name(Named::EndReason).is_some(), "reasons why tasks ended: left out");
    let name = |named: Named| numbers[named as usize].get(item.name(named)).unwrap_or(-1);
    write!(to, "{job} {} {} {}", seconds(Some(submit_us)), seconds(wait_us), seconds(run_us))?;
    write!(to, " {} {}", had.unwrap_or(-1), seconds(log.cpu_time_us))?;
    write!(to, " {} {}", amount(log.used_memory_kib), asked.unwrap_or(-1))?;
    write!(to, " {} {}", seconds(item.log.requested_time_us), amount(memory))?;
    write!(to, " {} {} {}", status.unwrap_or(-1), name(Named::User), name(Named::Group))?;
    let (queue, partition) = (name(Named::Queue), name(Named::Partition));
    write!(to, " {} {queue} {partition}", name(Named::Program))?;
    let (before, think) = (item.log.preceding_job, item.log.think_time_us);
    writeln!(to, " {} {}", before.unwrap_or(-1), seconds(think))
}

/// The CPU request of a task, if it is not a whole number of processors.
fn part_of(item: &Item) -> Option<f32> {
    item.cpu.filter(|cpu| cpu.fract() != 0.0)
}

/// Allocated and requested processors; `rounded` is the request, rounded up. A task that never ran
/// has no allocated processors. A log records what a task had, but this does not apply to a replay.
fn counts_of(
    scene: &Scene<'_>,
    item: &Item,
    life: &Life,
    rounded: Option<i64>,
) -> [Option<i64>; 2] {
    let has_run = life.start_us.is_some() && life.state != State::Waiting;
    if !scene.lake.source().is_log() {
        return [rounded.filter(|_| has_run), rounded];
    }
    let logged = item.log.processors.filter(|_| has_run || scene.plan.journal.is_none());
    // The columns of a log can hold only whole numbers of processors.
    let part = rounded.filter(|_| part_of(item).is_some());
    let had = part.filter(|_| has_run);
    [logged.or(had), item.log.requested_processors.or(part)]
}

/// The cells of a log. Cells per CPU are converted to cells per processor if the request was
/// rounded up.
fn per_processor(item: &Item, rounded: Option<i64>) -> Logged {
    let mut log = item.log;
    if let Some((cpu, count)) = part_of(item).zip(rounded) {
        #[expect(clippy::cast_precision_loss, reason = "no task has 2^52 processors")]
        let share = f64::from(cpu) / count as f64;
        #[expect(clippy::cast_possible_truncation, reason = "amounts have 32 bits in the lake")]
        let scaled = |amount: f32| (f64::from(amount) * share) as f32;
        #[expect(clippy::cast_possible_truncation, reason = "a part of a known time")]
        #[expect(clippy::cast_precision_loss, reason = "a log is far shorter than 2^53 µs")]
        let part = |time_us: i64| (time_us as f64 * share).round() as i64;
        log.cpu_time_us = log.cpu_time_us.map(part);
        log.used_memory_kib = log.used_memory_kib.map(scaled);
        log.requested_memory_kib = log.requested_memory_kib.map(scaled);
    }
    log
}

/// Submit, wait, run and status.
type Times = (i64, Option<i64>, Option<i64>, Option<i64>);

/// The times as logged. A job that was registered late has a negative wait.
fn logged(item: &Item, life: &Life) -> Times {
    let late_us = item.log.wait_us.filter(|&wait_us| wait_us < 0).unwrap_or(0);
    let submit_us = if life.start_us.is_some() { life.submit_us - late_us } else { life.submit_us };
    (submit_us, item.log.wait_us, item.log.run_us, item.log.status)
}

/// The times from the last attempt.
fn derived(scene: &Scene<'_>, life: &Life, counts: &mut Counts) -> Times {
    let status = match life.state {
        State::Finished => Some(1),
        State::Failed | State::Lost => Some(0),
        State::Killed | State::Evicted | State::Refused => Some(5),
        State::Waiting | State::Running | State::EndedWithJob => None,
    };
    for (state, wording) in [
        (State::Lost, "lost tasks: written as failed"),
        (State::Evicted, "evicted tasks that did not return: written as killed"),
        (State::Refused, "tasks that the replay refused: written as killed before they started"),
        (State::Running, "tasks still running at the end: without a run time"),
        (State::EndedWithJob, "tasks that ended with their job: without a status"),
    ] {
        counts.see(life.state == state, wording);
    }
    match life.state {
        State::Waiting => (life.submit_us, None, None, None),
        State::Running => (life.submit_us, scene.wait_us(life, counts), None, None),
        _ => (life.submit_us, scene.wait_us(life, counts), life.run_us(), status),
    }
}

/// Seconds with as many decimals as needed; -1 if there is no time.
fn seconds(time_us: Option<i64>) -> String {
    let Some(time_us) = time_us else { return "-1".to_owned() };
    let (whole, rest) = (time_us / MICROS_PER_SECOND, (time_us % MICROS_PER_SECOND).abs());
    let sign = if time_us < 0 && whole == 0 { "-" } else { "" };
    match rest {
        0 => format!("{whole}"),
        rest => format!("{sign}{whole}.{}", format!("{rest:06}").trim_end_matches('0')),
    }
}

fn amount(value: Option<f32>) -> String {
    value.map_or_else(|| "-1".to_owned(), |value| value.to_string())
}

/// Writes the names that got numbers.
fn names(all: &Gathered, numbers: &[Numbers; 7], files: &mut Files) -> Result<()> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    let is_any = |named: &&Named| !numbers[**named as usize].is_kept;
    let written = [Named::User, Named::Group, Named::Program, Named::Queue, Named::Partition];
    let mut rows = 0;
    for &named in written.iter().filter(is_any) {
        if rows == 0 {
            csv.write_record(["field", "number", "name"])?;
        }
        for (name, place) in all.names[named as usize].sorted() {
            let number = numbers[named as usize].get(i64::try_from(place).ok()).unwrap_or(0);
            csv.write_record([named.word(), &number.to_string(), &crate::cells::guarded(name)])?;
            rows += 1;
        }
    }
    if rows == 0 {
        return Ok(());
    }
    let text = csv.into_inner().map_err(csv::IntoInnerError::into_error).context("no CSV")?;
    files.put("names.csv".to_owned(), &text)
}
