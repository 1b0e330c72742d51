//! The answer of `sweep`: CPU saved and jobs harmed, by threshold.
//!
//! In: a study of kill rules. Out: a row per rule and threshold, all rules in one plane, and the
//! rule chosen on earlier jobs.

mod answer;
pub(crate) mod charts;
pub mod closeup;
mod drawn;
mod gentle;
mod harms;
pub(crate) mod job_cpu;
mod job_record;
mod jobs;
pub mod plan;
mod plane_chart;
mod result;
pub(crate) mod step;
mod swept;
mod tables;

use crate::results::kind::Kind;
use crate::results::shares::{Share, share};
use crate::schema::{STARTS, Table};

pub(crate) use answer::lost_jobs;
pub use answer::{SweepAnswer, SweepSettings};
pub(crate) use gentle::{costlier, destroyed, destroys_more, gentler, gentlest};
pub use job_cpu::{JobCpu, JobUse, ToldUse};
pub use job_record::JobRecord;
pub use jobs::{JobDetail, JobDetails, JobEvent, JobKill, JobTask, TaskAttempt, UserOutcomes};
pub use plan::SweepPlan;
pub use result::{answer, put_details};
pub use swept::{Swept, check_sides, sweep_all};
pub(crate) use tables::{FEW_TASKS, lost_tasks, sum_of};
pub use tables::{harmed_table, selection_line, selection_table, table_of};

/// The shares in a sweep. The shares of a group refer to the jobs of the group.
pub const SHARES: [Share; 9] = [
    share("saved_share", "saved_cpu of the outcome", "CPU of all jobs of the outcome"),
    share(
        "largest_saved_share",
        "largest saved_cpu of one job",
        "saved_cpu (in JSON per outcome; in the table for all jobs that did not finish)",
    ),
    share(
        "largest_saved_in_all",
        "largest saved_cpu of one job",
        "saved_cpu of all jobs that did not finish or are unmatched",
    ),
    share("harmed_jobs_share", "harmed_jobs", "finished jobs with tasks loaded"),
    share("destroyed_cpu_share", "destroyed_cpu", "CPU of finished jobs, in the loaded parts"),
    share("largest_destroyed_share", "largest destroyed_cpu of one job", "destroyed_cpu"),
    share("harmed_jobs_cpu_share", "harmed_jobs_cpu", "CPU of finished jobs, in the loaded parts"),
    share("largest_harmed_cpu_share", "largest harmed_jobs_cpu of one job", "harmed_jobs_cpu"),
    share(
        "net_share",
        "net_cpu",
        "CPU of jobs that did not finish or are unmatched, in the loaded parts",
    ),
];

/// The result.
pub const KIND: Kind<'static> = Kind {
    captions: &[
        ("sweep-plane", "Settings that are named, or that none beats in CPU saved and jobs harmed"),
        ("sweep-selection", "The rule chosen on earlier jobs"),
    ],
    tables: &[Table::JobEvents, Table::TaskEvents],
    remarks: &["status ", STARTS, "run time shorter", "pods deleted"],
    meters: true,
    sentence: Some(|it| it.found::<SweepAnswer>()?.sentence()),
    names: Some(|it| it.found().map(SweepAnswer::names).unwrap_or_default()),
    figure: Some("sweep-plane"),
    ..Kind::called("sweep", "Killing tasks by a rule").holding::<SweepAnswer>()
};
