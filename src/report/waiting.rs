//! Who waited: how many tasks waited at any time, in which groups, and of which users.
//!
//! In: a stored load. Out: sentences. A job counts as waiting until its first task starts. A task
//! counts as waiting at any time when it waits, including after an eviction.

use crate::answers::load::LoadAnswer;
use crate::answers::sentences::{percent, short};
use crate::digits::{counted, grouped_decimal, lasting, six_digits};

use super::text::user_name;

/// The waiting tasks of a load.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Waiting {
    /// The smallest and the largest number of waiting tasks in an interval, as means over the
    /// interval.
    tasks: Option<[f64; 2]>,
    /// The length of an interval, s.
    interval_s: f64,
    /// The sum of the times that tasks waited, and of the times that they ran, s.
    pending_s: f64,
    running_s: f64,
    /// The kind of the groups, such as `priority_band`.
    by: String,
    /// The groups, each with its part of the time that tasks waited; the largest first.
    groups: Vec<(String, f64)>,
}

impl Waiting {
    /// A queue is not mentioned if tasks waited for less than this part of the time that they ran.
    const SEEN: f64 = 0.01;

    /// The largest number of groups or users that are named.
    const NAMED_MAX: usize = 3;

    /// If the waits of jobs are less than this part of the waits of tasks, they do not show whose
    /// tasks waited.
    const FAR: f64 = 0.5;

    pub(super) fn of(load: &LoadAnswer) -> Self {
        let waiting = load.rows.iter().filter_map(|row| row.pending_tasks);
        let tasks = waiting.fold(None, |range: Option<[f64; 2]>, tasks| {
            Some(range.map_or([tasks; 2], |[least, most]| [least.min(tasks), most.max(tasks)]))
        });
        let pending_s = load.totals.pending_s.unwrap_or(0.0);
        let mut groups: Vec<(String, f64)> = load
            .waiting
            .iter()
            .filter(|_| 0.0 < pending_s)
            .map(|group| (group.name.clone(), group.pending_s / pending_s))
            .collect();
        groups.sort_by(|one, other| other.1.total_cmp(&one.1));
        Self {
            tasks,
            interval_s: load.interval_s,
            pending_s,
            running_s: load.totals.running_s.unwrap_or(0.0),
            by: load.by.to_string(),
            groups,
        }
    }

    /// `10,434 to 27,390 tasks waited at any time`; `None` for a short queue.
    pub(super) fn range(&self) -> Option<String> {
        let is_seen = Self::SEEN * self.running_s <= self.pending_s && 0.0 < self.pending_s;
        let [least, most] = self.tasks.filter(|[_, most]| is_seen && 1.0 <= *most)?;
        let [least, most] = [least, most].map(|tasks| grouped_decimal(tasks, 0));
        Some(format!("{least} to {most} tasks waited at any time"))
    }

    /// The queue, and the groups with most of the time that tasks waited. Outcomes are known only
    /// afterwards, so they are not used as groups of waiting tasks.
    pub(super) fn of_tasks(&self) -> Option<String> {
        let said = format!("{} (means over {})", self.range()?, lasting(self.interval_s));
        let kind = match self.by.as_str() {
            "priority_band" => "the priority band",
            "user" => "user",
            "user_group" => "the account",
            _ => return Some(said),
        };
        let name = |name: &str| if self.by == "user" { short(name) } else { name.to_owned() };
        let groups = self.groups.iter().take(Self::NAMED_MAX).filter(|group| 0.001 <= group.1);
        let groups: Vec<String> =
            groups.map(|(own, part)| format!("{} has {}", name(own), percent(*part))).collect();
        if groups.is_empty() {
            return Some(said);
        }
        Some(format!("{said}: of their waiting time, {kind} {}", groups.join(", ")))
    }

    /// The users with most of the time that jobs waited. Each user is given with its number of jobs
    /// and their waiting time, s. The length of time for which jobs are known is given if it is not
    /// that of tasks.
    pub(super) fn of_jobs(
        &self,
        users: &[(&str, u64, f64)],
        known_for: Option<&str>,
    ) -> Vec<String> {
        let total: f64 = users.iter().map(|user| user.2).sum();
        if total <= 0.0 {
            return Vec::new();
        }
        let mut most: Vec<&(&str, u64, f64)> = users.iter().collect();
        most.sort_by(|one, other| other.2.total_cmp(&one.2));
        let named = most.iter().take(Self::NAMED_MAX).map(|(user, jobs, wait_s)| {
            let name = short(user_name(user));
            format!("{name} has {} ({})", percent(wait_s / total), counted(*jobs, "job"))
        });
        let named = named.collect::<Vec<String>>().join(", ");
        let span = known_for.map_or_else(String::new, |span| format!(" in {span}"));
        let mut said = vec![format!(
            "Of the time that jobs waited for their first start{span}, {} in all, user {named}",
            lasting(total)
        )];
        if self.range().is_some() && total < Self::FAR * self.pending_s && self.by != "user" {
            said.push(format!(
                "Tasks waited far longer, {} task-h in all: they also wait after an eviction, or never start. Whose \
                these tasks are is not in the results (`load --by user` has it)",
                six_digits(self.pending_s / 3600.0)
            ));
        }
        said
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(by: &str) -> Waiting {
        Waiting {
            tasks: Some([10_433.6, 27_389.9]),
            interval_s: 300.0,
            pending_s: 36e6,
            running_s: 360e6,
            by: by.to_owned(),
            groups: vec![
                ("free".to_owned(), 0.577),
                ("other".to_owned(), 0.4229),
                ("x".to_owned(), 1e-4),
            ],
        }
    }

    #[test]
    fn the_groups_with_most_waiting_are_named() {
        assert_eq!(
            waiting("priority_band").of_tasks().as_deref(),
            Some(
                "10,434 to 27,390 tasks waited at any time (means over 5 min): of their waiting time, the \
                priority band free has 57.7 %, other has 42.3 %"
            )
        );
        assert!(waiting("outcome").of_tasks().unwrap().ends_with("(means over 5 min)"));
        // A queue that is short compared with the running tasks.
        let short = Waiting { pending_s: 3.5e6, ..waiting("priority_band") };
        assert_eq!((short.of_tasks(), short.range()), (None, None));
    }

    #[test]
    fn the_users_with_most_waiting_are_named() {
        let users = [("ann", 3, 10.0), ("bob", 1_450, 80.0), ("cat", 2, 6.0), ("dan", 1, 4.0)];
        let said = waiting("priority_band").of_jobs(&users, None);
        assert_eq!(
            said[0],
            "Of the time that jobs waited for their first start, 100 s in all, user bob has 80.0 % (1,450 jobs), \
            ann has 10.0 % (3 jobs), cat has 6.0 % (2 jobs)"
        );
        assert!(said[1].starts_with("Tasks waited far longer, 10,000 task-h in all: "), "{said:?}");
        // If jobs have one task each, the jobs are the tasks.
        let alike = Waiting { pending_s: 100.0, running_s: 1.0, ..waiting("outcome") };
        assert_eq!(alike.of_jobs(&users, Some("29 d")).len(), 1);
        assert!(alike.of_jobs(&[("ann", 3, 0.0)], None).is_empty());
    }
}
