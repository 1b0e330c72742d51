//! The events of a replay, and their order within an instant.
//!
//! ```text
//!  time ──►   ends of attempts │ machines leave, change, join │ tasks arrive │ kills │ heartbeat
//!             └──────────────── one instant, then the policy hands out work ──────────────────┘
//! ```

/// The kinds of events in a replay. The list is closed on purpose: if a new event is added, every
/// `match` without it fails to compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An attempt has done its work. The event is void if the slot has a newer `generation`.
    AttemptEnded {
        /// Its slot among the running attempts.
        slot: u32,
        /// The generation of the slot when the event was predicted.
        generation: u32,
    },
    /// A machine joins, leaves or changes, as in the cluster's list of changes.
    MachineChanged {
        /// The position in the list.
        change: u32,
    },
    /// The scheduler learns that a machine is gone.
    LossNoticed {
        /// The machine.
        machine: u32,
    },
    /// A task has waited for its back-off after a failure.
    WaitOver {
        /// The task.
        task: u32,
        /// Whether it goes behind its equals.
        is_behind: bool,
    },
    /// An attempt has reached the time limit of a kill rule.
    LimitReached {
        /// Its task.
        task: u32,
        /// Its number among the attempts of the task.
        attempt: u16,
        /// The number of the condition of the rule.
        condition: u8,
    },
    /// A task has reached an age at which a kill rule checks it.
    Looked {
        /// The task.
        task: u32,
    },
    /// The user of a task kills it.
    TaskKilled {
        /// The task.
        task: u32,
    },
    /// The speculation rule judges the running attempts.
    Heartbeat,
    /// The waiting tasks are sorted again.
    Reorder,
}

/// The rank of arrivals, which are in the workload and not in the queue.
pub const ARRIVAL_RANK: u8 = 3;

impl Event {
    /// The order of events at the same instant. Events that free capacity come before events that
    /// use it, so a task can start on a slot that was released in the same microsecond.
    pub const fn rank(self) -> u8 {
        match self {
            Self::AttemptEnded { .. } => 0,
            Self::MachineChanged { .. } => 1,
            Self::LossNoticed { .. } => 2,
            Self::WaitOver { .. } => ARRIVAL_RANK,
            Self::TaskKilled { .. } | Self::LimitReached { .. } | Self::Looked { .. } => 4,
            Self::Reorder => 5,
            Self::Heartbeat => 6,
        }
    }

    /// Whether the event repeats periodically and does not start or end attempts itself.
    pub const fn is_timer(self) -> bool {
        matches!(self, Self::Reorder | Self::Heartbeat)
    }
}
