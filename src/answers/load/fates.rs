//! The tables of how long jobs waited and ran: by request, by size and by user.
//!
//! In: the jobs of a load. Out: a row per class or user.

use arrow::record_batch::RecordBatch;

use crate::results::frame::Frame;
use crate::studies::load::jobs::{FateRow, JobSums};

/// Waits and slowdowns of jobs by request.
pub(super) fn requests(key: &str, fates: &[FateRow]) -> RecordBatch {
    let meaning =
        "The last known requests of the job's tasks, added up; the lower bound is included";
    named_fates(key, meaning, fates).batch()
}

/// Waits and slowdowns by size, with the user who has most of these jobs.
pub(super) fn sizes(sums: &JobSums) -> RecordBatch {
    let frame = named_fates("size", "Tasks of the job; processors for a log", &sums.by_size());
    with_most(frame, &sums.most_by_size()).batch()
}

/// Adds, to each row, the user with most of the jobs that have a wait.
pub(crate) fn with_most(frame: Frame, most: &[Option<(&str, u64)>]) -> Frame {
    frame
        .maybe_text("most_user", most.iter().map(|most| most.map(|most| most.0)))
        .about("The user with most of the jobs with a wait")
        .maybe_count("most_user_jobs", most.iter().map(|most| most.map(|most| most.1)))
        .about("That user's jobs with a wait")
}

/// Waits and slowdowns by user, compared with other users whose jobs are similar.
pub(super) fn users(sums: &JobSums) -> RecordBatch {
    let (users, compared) = (sums.by_user(), sums.compared());
    let of = |row: &FateRow| compared.get(row.name.as_str()).copied().unwrap_or_default();
    named_fates("user", "The user, as named in the trace", &users)
        .count("jobs_compared", users.iter().map(|row| of(row).jobs))
        .about(
            "Jobs with a wait for which others have at least 10 with the same queue (or priority band) \
            and class of sizes",
        )
        .float("waited_longer_than", users.iter().map(|row| of(row).waited_longer_than()))
        .about(
            "The part of those jobs of others that waited less (equal waits count half), the mean over the \
            jobs compared: 0.5 is even, 1 means that all others came first",
        )
        .batch()
}

fn named_fates(key: &str, meaning: &'static str, fates: &[FateRow]) -> Frame {
    let names = fates.iter().map(|row| row.name.as_str());
    fate_columns(Frame::default().text(key, names).about(meaning), fates)
}

/// Adds the columns of waits and slowdowns of jobs, a row for each of `fates`.
pub(crate) fn fate_columns(frame: Frame, fates: &[FateRow]) -> Frame {
    let of = |value: fn(&FateRow) -> Option<f64>| fates.iter().map(value).collect::<Vec<_>>();
    let counts = |value: fn(&FateRow) -> u64| fates.iter().map(value).collect::<Vec<_>>();
    frame
        .count("jobs", counts(|row| row.jobs))
        .count("jobs_with_wait", counts(|row| row.jobs_with_wait))
        .about("Jobs that were submitted in the window and started")
        .count("jobs_ended", counts(|row| row.jobs_ended))
        .about("Jobs that were submitted in the window, started and ended")
        .float("wait_s_mean", of(|row| row.wait_s_mean))
        .about("First SUBMIT to first SCHEDULE, the mean")
        .float("wait_s_median", of(|row| row.wait_s_median))
        .about("First SUBMIT to first SCHEDULE, the median")
        .float("wait_s_p95", of(|row| row.wait_s_p95))
        .about("First SUBMIT to first SCHEDULE, the 95 % quantile (R-7)")
        .float("run_s_mean", of(|row| row.run_s_mean))
        .about("First SCHEDULE to the end, without suspensions; the mean")
        .float("run_s_median", of(|row| row.run_s_median))
        .about("First SCHEDULE to the end, without suspensions; the median")
        .float("slowdown_mean", of(|row| row.slowdown_mean))
        .about("First SUBMIT to the end over the run time (at least 10 s), at least 1; the mean")
        .float("slowdown_median", of(|row| row.slowdown_median))
        .about("First SUBMIT to the end over the run time (at least 10 s), at least 1; the median")
        .float("slowdown_p95", of(|row| row.slowdown_p95))
        .about("First SUBMIT to the end over the run time (at least 10 s), at least 1; the 95 % quantile (R-7)")
        .count("jobs_under_10s", counts(|row| row.jobs_under_10s))
        .about("Jobs with a slowdown that ran for less than 10 s: most of it is their wait over 10 s")
        .float("slowdown_mean_of_longer", of(|row| row.slowdown_mean_of_longer))
        .about("The mean slowdown of the jobs that ran for 10 s or longer")
}
