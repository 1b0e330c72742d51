//! Turns the tally into the truth: positions become names, exact sums become seconds.

use std::collections::BTreeMap;

use super::config::WINDOW_START;
use super::event::{SEQUENCE_CLASSES, TERMINAL_CLASSES};
use super::parts::PartsWritten;
use super::scene::Scene;
use super::sweep::{DEFINITIONS, thresholds};
use super::table::Table;
use super::tally::{CpuTally, SweepTally, Tally, UNMATCHED};
use super::truth::{
    CpuLedger, CpuSpent, Durations, FORMAT, LastTimes, Outcomes, Quality, Stragglers, SweepRow,
    Truth, Unannounced,
};
use super::units::{ExactCpu, cpu_seconds, float};

/// Returns the truth of a finished trace.
pub(super) fn conclude(scene: &Scene, mut tally: Tally, parts: PartsWritten) -> Truth {
    Truth {
        format: FORMAT,
        config: scene.config.clone(),
        times: LastTimes {
            window_start_us: WINDOW_START,
            window_end_us: scene.window.end,
            last_job_event_us: tally.last_job_event,
            last_task_event_us: tally.last_task_event,
            last_usage_end_us: tally.last_usage_end,
        },
        rows: Table::ALL
            .into_iter()
            .map(|table| (table.name().to_owned(), tally.rows[table.index()]))
            .collect(),
        jobs: tally.jobs,
        jobs_in_task_events: tally.jobs_in_task_events,
        jobs_without_tasks: tally.jobs_without_tasks,
        jobs_unknown: tally.jobs_unknown,
        tasks: tally.tasks,
        users: tally.users.len() as u64,
        job_names: tally.job_names.len() as u64,
        logical_names: tally.logical_names.len() as u64,
        cpu: ledgers(&tally),
        sweep: sweep_rows(&mut tally),
        durations: durations(&tally),
        stragglers: stragglers(&mut tally),
        quality: quality(&mut tally),
        job_event_types: tally.job_event_types,
        task_event_types: tally.task_event_types,
        job_sequences: tally.job_sequences,
        task_sequences: tally.task_sequences,
        job_outcomes: with_every_class(tally.job_outcomes),
        task_outcomes: with_every_class(tally.task_outcomes),
        tasks_per_job: tally.tasks_per_job,
        events_per_task: tally.events_per_task,
        attempts_per_task: tally.attempts_per_task,
        cpu_counts: tally.counts,
        machines: tally.machines,
        rejects: parts.rejects,
        crlf_lines: parts.crlf_lines,
        parts_without_last_newline: parts.without_last_newline,
        parts_of_two_members: parts.of_two_members,
        left_out: parts.left_out,
    }
}

/// Maps names of classes to their values.
fn named<T: Copy>(names: &[&str], values: &[T]) -> BTreeMap<String, T> {
    names.iter().zip(values).map(|(name, value)| ((*name).to_owned(), *value)).collect()
}

fn seconds(names: &[&str], values: &[ExactCpu]) -> BTreeMap<String, f64> {
    let values: Vec<f64> = values.iter().copied().map(cpu_seconds).collect();
    named(names, &values)
}

fn with_every_class(mut outcomes: Outcomes) -> Outcomes {
    for name in SEQUENCE_CLASSES {
        outcomes.sequence.entry(name.to_owned()).or_default();
    }
    for name in TERMINAL_CLASSES {
        outcomes.terminal.entry(name.to_owned()).or_default();
    }
    outcomes
}

/// Names of the outcomes of a job, with `unmatched` last.
fn sequence_outcomes() -> Vec<&'static str> {
    SEQUENCE_CLASSES.into_iter().chain(["unmatched"]).collect()
}

fn ledgers(tally: &Tally) -> BTreeMap<String, CpuLedger> {
    let outside = [tally.outside, 0, 0];
    let ledger = |cpu: &CpuTally, outside: ExactCpu| CpuLedger {
        sequence: seconds(&SEQUENCE_CLASSES, &cpu.by_sequence),
        terminal: seconds(&TERMINAL_CLASSES, &cpu.by_terminal),
        unmatched: cpu_seconds(cpu.by_sequence[UNMATCHED]),
        outside_attempts: cpu_seconds(outside),
        total: cpu_seconds(cpu.by_sequence.iter().sum::<ExactCpu>() + outside),
    };
    DEFINITIONS
        .iter()
        .zip(tally.cpu.iter().zip(outside))
        .map(|(name, (cpu, outside))| ((*name).to_owned(), ledger(cpu, outside)))
        .collect()
}

fn sweep_rows(tally: &mut Tally) -> Vec<SweepRow> {
    let outcomes = sequence_outcomes();
    let row = |(threshold, cell): (u32, &mut SweepTally)| {
        let mut harmed_job_ids = std::mem::take(&mut cell.harmed_jobs);
        harmed_job_ids.sort_unstable();
        let spent = |definition: usize| CpuSpent {
            saved_cpu: seconds(&outcomes, &cell.saved[definition]),
            destroyed_cpu: cpu_seconds(cell.destroyed[definition]),
            harmed_jobs_cpu: cpu_seconds(cell.harmed_cpu[definition]),
        };
        SweepRow {
            threshold,
            condemned_tasks: named(&outcomes, &cell.condemned),
            harmed_jobs: harmed_job_ids.len() as u64,
            harmed_job_ids,
            cpu: named_cpu(spent),
        }
    };
    thresholds().into_iter().zip(&mut tally.sweep).map(row).collect()
}

fn named_cpu(spent: impl Fn(usize) -> CpuSpent) -> BTreeMap<String, CpuSpent> {
    (0..).zip(DEFINITIONS).map(|(position, name)| (name.to_owned(), spent(position))).collect()
}

fn durations(tally: &Tally) -> BTreeMap<String, Durations> {
    let all: Vec<(i64, bool)> = tally.durations.iter().flatten().copied().collect();
    let classes = SEQUENCE_CLASSES.into_iter().zip(tally.durations.iter());
    classes
        .chain([("all", &all)])
        .filter_map(|(name, values)| Some((name.to_owned(), describe(values)?)))
        .collect()
}

/// Describes durations; `None` if there are none. The variance (n Σx² − (Σx)²) / n² uses whole
/// numbers up to the last step; n Σx² stays below 2^127 for ten million jobs of 29 days.
#[expect(clippy::cast_precision_loss, reason = "the only rounding of exact sums")]
fn describe(values: &[(i64, bool)]) -> Option<Durations> {
    let mut sorted: Vec<i64> = values.iter().map(|(value, _)| *value).collect();
    sorted.sort_unstable();
    let (min_us, max_us) = (*sorted.first()?, *sorted.last()?);
    let middle = sorted.len() / 2;
    let lower = sorted[middle - usize::from(sorted.len().is_multiple_of(2))];
    let count = sorted.len() as i128;
    let sum: i128 = sorted.iter().copied().map(i128::from).sum();
    let squares: i128 = sorted.iter().map(|value| i128::from(*value).pow(2)).sum();
    let ended = || values.iter().filter(|(_, is_ended)| *is_ended);
    Some(Durations {
        count: sorted.len() as u64,
        ended_count: ended().count() as u64,
        sum_us: sorted.iter().sum(),
        ended_sum_us: ended().map(|(value, _)| value).sum(),
        min_us,
        median_us: float(sorted[middle] + lower) / 2.0,
        max_us,
        variance_s2: (count * squares - sum * sum) as f64 / (count * count) as f64 / 1e12,
    })
}

fn stragglers(tally: &mut Tally) -> Stragglers {
    let mut tasks = std::mem::take(&mut tally.stragglers);
    tasks.sort_unstable();
    Stragglers {
        jobs_judged: tally.jobs_judged,
        jobs_left_out: tally.jobs_left_out,
        jobs_without_finished_task: tally.jobs_without_finished_task,
        straggler_count: tally.straggler_count,
        tasks,
    }
}

fn quality(tally: &mut Tally) -> Quality {
    let duplicates = [
        (Table::TaskEvents, tally.duplicate_task_events),
        (Table::TaskUsage, tally.duplicate_usage),
    ];
    Quality {
        job_ties: tally.job_ties,
        job_ties_after_zero: tally.job_ties_after_zero,
        task_ties: tally.task_ties,
        task_ties_after_zero: tally.task_ties_after_zero,
        illegal_job_transitions: std::mem::take(&mut tally.illegal_job_transitions),
        illegal_task_transitions: std::mem::take(&mut tally.illegal_task_transitions),
        schedule_while_running: tally.schedule_while_running,
        terminal_without_schedule: std::mem::take(&mut tally.terminal_without_schedule),
        duplicate_rows: Table::ALL
            .into_iter()
            .map(|table| {
                let count = duplicates.iter().find(|(other, _)| *other == table);
                (table.name().to_owned(), count.map_or(0, |(_, count)| *count))
            })
            .collect(),
        usage_without_task: tally.usage_without_task,
        tasks_with_usage_only: tally.stray_tasks,
        machines_never_announced: Unannounced {
            machines: tally.unannounced.len() as u64,
            task_event_rows: tally.unannounced_task_rows,
            usage_rows: tally.unannounced_usage_rows,
        },
        job_missing_info: std::mem::take(&mut tally.job_missing_info),
        task_missing_info: std::mem::take(&mut tally.task_missing_info),
        job_rows_at_zero: tally.job_rows_at_zero,
        task_rows_at_zero: tally.task_rows_at_zero,
    }
}
