//! What can happen in a replay, and in which order things of the same instant happen.
//!
//! ```text
//!  time ──►   ends of attempts │ machines leave, change, join │ tasks arrive │ kills │ heartbeat
//!             └──────────────── one instant, then the policy hands out work ──────────────────┘
//! ```

/// Everything that can happen in a replay. The list is closed on purpose: a new event makes every
/// `match` that forgot it fail to compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An attempt has done its work. A `generation` that is no longer the slot's is void.
    AttemptEnded {
        /// Its place among the running attempts.
        slot: u32,
        /// The generation of that place when this was foreseen.
        generation: u32,
    },
    /// A machine joins, leaves or changes: the entry of the cluster's list of changes.
    MachineChanged {
        /// Position in the list.
        change: u32,
    },
    /// The scheduler learns that a machine is gone.
    LossNoticed {
        /// The machine.
        machine: u32,
    },
    /// A task has waited long enough after a failure.
    WaitOver {
        /// The task.
        task: u32,
        /// Whether it goes behind its equals.
        is_behind: bool,
    },
    /// An attempt has run for as long as a kill rule lets it.
    LimitReached {
        /// Its task.
        task: u32,
        /// Its number among the attempts of the task.
        attempt: u16,
        /// The place of the rule among those that have to fire.
        condition: u8,
    },
    /// A kill rule looks at a task that has come to an age.
    Looked {
        /// The task.
        task: u32,
    },
    /// A task's user kills it.
    TaskKilled {
        /// The task.
        task: u32,
    },
    /// The speculation rule looks at the running attempts.
    Heartbeat,
    /// The order of the waiting tasks is worked out again.
    Reorder,
}

/// The rank of arrivals, which are not in the queue but in the workload.
pub const ARRIVAL_RANK: u8 = 3;

impl Event {
    /// Order among events of the same instant. What frees capacity comes before what asks for it,
    /// so a task can start on a slot that was released in the same microsecond.
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

    /// Whether it comes back period after period and by itself changes nothing about who runs.
    pub const fn is_timer(self) -> bool {
        matches!(self, Self::Reorder | Self::Heartbeat)
    }
}
