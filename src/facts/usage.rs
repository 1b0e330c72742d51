//! The data to read about the tasks of a bucket in addition to their events.

/// The data to read about each task in addition to its events and its CPU requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// The usage windows with their CPU rate, or the CPU time that a log records.
    Read,
    /// Nothing more.
    Skip,
    /// The memory requests, and the usage windows with this column of memory.
    Memory(&'static str),
    /// The memory requests.
    MemoryRequests,
    /// The used memory that a log records.
    UsedMemory,
    /// The requests of GPUs.
    Gpus,
    /// The requests of memory and GPUs, and everything of [`Usage::Read`]; of its windows also this
    /// column of memory, if any.
    ReadWithRequests(Option<&'static str>),
}

impl Usage {
    /// Whether this covers what `other` needs; extra requests do no harm.
    pub(super) fn holds(self, other: Self) -> bool {
        self == other || matches!((self, other), (Self::ReadWithRequests(_), Self::Read))
    }

    /// The column of the usage windows that is read, if any.
    pub(super) const fn column(self) -> Option<&'static str> {
        match self {
            Self::Read | Self::ReadWithRequests(_) => Some("mean_cpu_rate"),
            Self::Memory(column) => Some(column),
            Self::Skip | Self::MemoryRequests | Self::UsedMemory | Self::Gpus => None,
        }
    }

    /// The column of memory that is read along with the CPU rate, if any.
    pub(super) const fn beside(self) -> Option<&'static str> {
        match self {
            Self::ReadWithRequests(column) => column,
            _ => None,
        }
    }

    pub(super) const fn is_of_memory_requests(self) -> bool {
        matches!(self, Self::Memory(_) | Self::MemoryRequests | Self::ReadWithRequests(_))
    }

    pub(super) const fn is_of_gpus(self) -> bool {
        matches!(self, Self::Gpus | Self::ReadWithRequests(_))
    }

    pub(super) const fn is_of_cpu(self) -> bool {
        matches!(self, Self::Read | Self::ReadWithRequests(_))
    }
}
