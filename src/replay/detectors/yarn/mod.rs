//! Speculation of Hadoop YARN (MRv2): one copy per scan, of the task that gains most.
//!
//! Times are whole milliseconds and progress has 32 bits, as in Hadoop. A task's value is its
//! estimated end minus the end of a copy started now (with the mean length of the first success of
//! each finished task); the task with the largest positive value is copied (among equal ones, the
//! first by start and task). No task is copied while a task of the group waits for a container, or
//! before 5 % of the tasks are over. The most copies that may run is the largest of `min_tasks`,
//! `cap_total` of all tasks and `cap_running` of the running ones.
//!
//! As coded, a limit (the mean plus `sigma` deviations) is computed but never used, so `sigma` has
//! no effect. With `mode=intended`, a task is copied only if its estimated running time exceeds
//! this limit. [`estimators`] describes the other differences between the modes. The mode that
//! smooths time per progress is left out. An attempt without a report has no estimate and is not
//! copied.
//!
//! Hadoop has no minimum age: manuals mention a minute, but the code only requires that an attempt
//! has reported once (an attempt without a report is `TOO_NEW` or has no estimate). `age_s` sets a
//! minimum age, by the last report. `slow_share` and `slow_rate` add the criterion of another
//! paper, see [`criterion`](super::criterion).

mod detector;
mod estimators;
mod rules;

pub(super) use detector::KIND;

#[cfg(test)]
mod golden;
