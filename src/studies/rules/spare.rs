//! Tasks that a kill rule spares.
//!
//! In: a task's priority and owner. Out: whether the task is never killed. Numbers are compared as
//! numbers; an unknown value spares no task.

use crate::studies::predict::hazards::Moment;

/// The keys by which tasks can be spared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpareKey {
    /// The task's priority.
    Priority,
    /// The job's scheduling class.
    Class,
    /// The job's user.
    User,
}

impl SpareKey {
    /// All keys.
    pub const ALL: [Self; 3] = [Self::Priority, Self::Class, Self::User];

    /// The name in the notation.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Priority => "priority",
            Self::Class => "class",
            Self::User => "user",
        }
    }

    /// Whether a task has this value.
    pub(super) fn is_of(self, value: &str, priority: Option<i32>, owner: Owner<'_>) -> bool {
        let is_number = |number: Option<i32>| {
            number.is_some_and(|number| value.parse::<i32>().is_ok_and(|value| value == number))
        };
        match self {
            Self::Priority => is_number(priority),
            Self::Class => is_number(owner.scheduling_class),
            Self::User => owner.user == Some(value),
        }
    }
}

/// The owner of a task, to decide whether it is spared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Owner<'a> {
    /// The job's scheduling class.
    pub scheduling_class: Option<i32>,
    /// The job's user.
    pub user: Option<&'a str>,
    /// The chance that the job does not finish, if a rule needs it.
    pub chance: Option<f64>,
    /// The chance while it runs, if a rule needs it.
    pub moment: Option<Moment<'a>>,
}
