//! The tables of a log by month.

use arrow::record_batch::RecordBatch;

use super::units::{by_use, hours};
use crate::answers::load::{fate_columns, with_most};
use crate::facts::jobs::TERMINAL_OUTCOMES;
use crate::results::frame::Frame;
use crate::studies::load::jobs::FateRow;
use crate::studies::monthly::{Ends, Limits, Monthly, Sums};
use crate::studies::quantile;
use crate::units::{CpuTime, micros_to_seconds};

/// The name of the row for all users who have no separate row.
const OTHERS: &str = "(others)";

/// Use by account and month. Months are in order; within a month, the accounts with most CPU time
/// come first.
pub(super) fn use_of_months(monthly: &Monthly, unit: &str) -> RecordBatch {
    let totals = monthly.by_month();
    let mut rows: Vec<(String, &str, Sums, CpuTime)> = Vec::new();
    for (month, total) in &totals {
        for (account, sums) in by_use(monthly.in_month(*month)) {
            rows.push((month.to_string(), account, sums, total.used.cpu));
        }
    }
    let frame = Frame::default()
        .text("month", rows.iter().map(|row| row.0.as_str()))
        .about("Calendar month; an attempt that runs into the next is cut at midnight")
        .text("account", rows.iter().map(|row| row.1))
        .about("Account that the jobs were charged to");
    let sums: Vec<&Sums> = rows.iter().map(|row| &row.2).collect();
    let shares = rows.iter().map(|row| row.2.used.cpu.share_of(row.3)).collect();
    sums_columns(frame, &sums, ("month_share", shares), unit, monthly.has_gpus).batch()
}

/// All accounts, month by month.
pub(super) fn months(monthly: &Monthly, unit: &str) -> RecordBatch {
    let (months, total) = (monthly.by_month(), monthly.total().used.cpu);
    let names: Vec<String> = months.keys().map(ToString::to_string).collect();
    let frame = Frame::default().text("month", &names).about("Calendar month");
    let shares = months.values().map(|sums| sums.used.cpu.share_of(total)).collect();
    let sums: Vec<&Sums> = months.values().collect();
    sums_columns(frame, &sums, ("share", shares), unit, monthly.has_gpus).batch()
}

/// Accounts over the whole log; those with most CPU time come first.
pub(super) fn accounts(monthly: &Monthly, unit: &str) -> RecordBatch {
    let (rows, total) = (by_use(monthly.by_account()), monthly.total().used.cpu);
    let frame = Frame::default()
        .text("account", rows.iter().map(|row| row.0))
        .about("Account that the jobs were charged to");
    let shares = rows.iter().map(|row| row.1.used.cpu.share_of(total)).collect();
    let sums: Vec<&Sums> = rows.iter().map(|row| &row.1).collect();
    sums_columns(frame, &sums, ("share", shares), unit, monthly.has_gpus).batch()
}

/// The users with most use, and all other users together.
pub(super) fn users(monthly: &Monthly, unit: &str, most: usize) -> RecordBatch {
    let total = monthly.total().used.cpu;
    let all = monthly.users.iter().map(|(name, user)| (name.as_str(), user.0.clone()));
    let mut rows = by_use(all);
    if most < rows.len() {
        let others = rows.split_off(most);
        rows.push((OTHERS, Sums::of(others.iter().map(|user| &user.1))));
    }
    let account = |name: &str| {
        let accounts = &monthly.users.get(name)?.1;
        let mut all: Vec<(&String, &CpuTime)> = accounts.iter().collect();
        all.sort_by(|one, other| other.1.cmp(one.1).then(one.0.cmp(other.0)));
        all.first().map(|first| first.0.as_str())
    };
    let frame = Frame::default()
        .text("user", rows.iter().map(|row| row.0))
        .about("User; `(others)` are all who have no row of their own")
        .maybe_text("account", rows.iter().map(|row| account(row.0)))
        .about("Account in which the user used most");
    let shares = rows.iter().map(|row| row.1.used.cpu.share_of(total)).collect();
    let sums: Vec<&Sums> = rows.iter().map(|row| &row.1).collect();
    sums_columns(frame, &sums, ("share", shares), unit, monthly.has_gpus).batch()
}

/// Adds the columns of sums to the columns that name the rows.
fn sums_columns(
    frame: Frame,
    sums: &[&Sums],
    (share, shares): (&str, Vec<Option<f64>>),
    unit: &str,
    has_gpus: bool,
) -> Frame {
    let fates: Vec<FateRow> = sums.iter().map(|sums| sums.fate()).collect();
    let of = |cpu: fn(&Sums) -> CpuTime| sums.iter().map(move |sums| Some(hours(cpu(sums))));
    let whose = if share == "share" { "the whole log" } else { "the month" };
    let mut frame = frame
        .count("users", sums.iter().map(|sums| sums.users.len() as u64))
        .count("jobs", sums.iter().map(|sums| sums.jobs))
        .about("Jobs; in a month those whose last event is in it")
        .count("not_finished_jobs", sums.iter().map(|sums| sums.not_finished))
        .about("Those of them whose last terminal event is not FINISH, or that have not ended")
        .float("cpu_h", of(|sums| sums.used.cpu))
        .about("CPU time of all attempts")
        .unit(unit)
        .float(share, shares)
        .about(&format!("Share of the CPU time of {whose}"))
        .float("wasted_cpu_h", of(|sums| sums.wasted.cpu))
        .about("CPU time of attempts that ended, but not with FINISH")
        .unit(unit)
        .float("wasted_share", sums.iter().map(|sums| sums.wasted.cpu.share_of(sums.used.cpu)))
        .about("Share of `cpu_h` in attempts that ended, but not with FINISH")
        .float("late_cpu_h", of(|sums| sums.late.cpu))
        .about("The part of `wasted_cpu_h` in attempts that ran for at least `--late`")
        .unit(unit);
    if has_gpus {
        frame = frame
            .float("gpu_h", of(|sums| sums.used.gpu))
            .about("GPUs times the time for which attempts held them")
            .unit("GPU-h")
            .float("wasted_gpu_h", of(|sums| sums.wasted.gpu))
            .about("The part of `gpu_h` in attempts that ended, but not with FINISH")
            .unit("GPU-h")
            .float("late_gpu_h", of(|sums| sums.late.gpu))
            .about("The part of `wasted_gpu_h` in attempts that ran for at least `--late`")
            .unit("GPU-h");
    }
    frame
        .float("wait_s_median", fates.iter().map(|fate| fate.wait_s_median))
        .about("First SUBMIT to first SCHEDULE of these jobs, the median")
        .float("wait_s_p95", fates.iter().map(|fate| fate.wait_s_p95))
        .about("First SUBMIT to first SCHEDULE of these jobs, the 95 % quantile (R-7)")
}

/// Waits and slowdowns by queue and size.
pub(super) fn waits(monthly: &Monthly) -> RecordBatch {
    let (queues, fates): (Vec<&str>, Vec<FateRow>) = monthly.waits().into_iter().unzip();
    let frame = Frame::default()
        .text("queue", queues)
        .about("Queue of the job, which is the partition of a Slurm log")
        .text("size", fates.iter().map(|row| row.name.as_str()))
        .about("Processors of the job");
    with_most(fate_columns(frame, &fates), &monthly.most_in_waits()).batch()
}

/// How and why jobs ended. Within an outcome, the reasons with most CPU time come first.
pub(super) fn ends(monthly: &Monthly, unit: &str) -> RecordBatch {
    let total = monthly.total().used.cpu;
    let mut rows: Vec<(&(u8, String), &Ends)> = monthly.ends.iter().collect();
    rows.sort_by(|one, other| {
        let by_cpu = other.1.used.cpu.cmp(&one.1.used.cpu);
        one.0.0.cmp(&other.0.0).then(by_cpu).then(one.0.1.cmp(&other.0.1))
    });
    let reason = |key: &'_ (u8, String)| -> bool { !key.1.is_empty() };
    let frame = Frame::default()
        .text("outcome", rows.iter().map(|row| TERMINAL_OUTCOMES[usize::from(row.0.0)]))
        .about("Outcome of the jobs by their last terminal event")
        .maybe_text(
            "end_reason",
            rows.iter().map(|row| Some(row.0.1.as_str()).filter(|_| reason(row.0))),
        )
        .count("jobs", rows.iter().map(|row| row.1.jobs))
        .float("cpu_h", rows.iter().map(|row| Some(hours(row.1.used.cpu))))
        .about("CPU time of their attempts")
        .unit(unit)
        .float("share", rows.iter().map(|row| row.1.used.cpu.share_of(total)))
        .about("Share of the CPU time of the whole log")
        .float("wasted_cpu_h", rows.iter().map(|row| Some(hours(row.1.wasted))))
        .about("CPU time of those of their attempts that did not finish")
        .unit(unit)
        .count("wasted_attempts", rows.iter().map(|row| row.1.wasted_attempts))
        .about("Attempts that did not finish and used CPU time");
    if !monthly.has_gpus {
        return frame.batch();
    }
    let gpu = rows.iter().map(|row| Some(hours(row.1.used.gpu)));
    frame
        .float("gpu_h", gpu)
        .about("GPUs times the time for which they were held")
        .unit("GPU-h")
        .batch()
}

/// The time that attempts requested with their limits, and the time that they used.
pub(super) fn limits(monthly: &Monthly, unit: &str) -> RecordBatch {
    let rows = || monthly.limits.values();
    let median = |of: fn(&[i64; 2]) -> f64| {
        rows().map(move |limits: &Limits| {
            let mut values: Vec<f64> = limits.times_us.iter().map(of).collect();
            values.sort_unstable_by(f64::total_cmp);
            quantile(&values, 0.5)
        })
    };
    Frame::default()
        .text("queue", monthly.limits.keys())
        .about("Queue of the job, which is the partition of a Slurm log")
        .count("attempts", rows().map(|limits| limits.times_us.len() as u64))
        .about("Attempts with a time limit that ended")
        .float("limit_s_median", median(|times| micros_to_seconds(times[0])))
        .about("The time limit, the median")
        .float("run_s_median", median(|times| micros_to_seconds(times[1])))
        .about("The running time, the median")
        .float("asked_cpu_h", rows().map(|limits| Some(hours(limits.asked))))
        .about("Time limit times processors")
        .unit(unit)
        .float("used_cpu_h", rows().map(|limits| Some(hours(limits.used))))
        .about("Running time times processors of these attempts, whatever CPU time means")
        .unit(unit)
        .float("used_share", rows().map(|limits| limits.used.share_of(limits.asked)))
        .about("`used_cpu_h` over `asked_cpu_h`")
        .count("reached", rows().map(|limits| limits.reached))
        .about("Attempts that ran as long as their limit, or longer")
        .float("reached_cpu_h", rows().map(|limits| Some(hours(limits.reached_cpu))))
        .about("CPU time of attempts that reached their limit")
        .unit(unit)
        .batch()
}
