//! The types of events of jobs and tasks.

/// The type of an event of a job or task, with its number in the lake. The list is that of the
/// trace of 2019. It is extended only if another trace needs more types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum EventType {
    /// It may be scheduled from now on.
    Submit = 0,
    /// It starts to run on a machine.
    Schedule = 1,
    /// It lost its machine to something else.
    Evict = 2,
    /// It failed because of its own error.
    Fail = 3,
    /// It completed its work.
    Finish = 4,
    /// Its user, or another program, killed it.
    Kill = 5,
    /// Its end is missing in the trace.
    Lost = 6,
    /// Its request changed while it waited.
    UpdatePending = 7,
    /// Its request changed while it ran.
    UpdateRunning = 8,
    /// It was held back (2019).
    Queue = 9,
    /// It may continue after it was held back (2019).
    Enable = 10,
}

impl EventType {
    /// Every type, by number.
    pub const ALL: [Self; 11] = [
        Self::Submit,
        Self::Schedule,
        Self::Evict,
        Self::Fail,
        Self::Finish,
        Self::Kill,
        Self::Lost,
        Self::UpdatePending,
        Self::UpdateRunning,
        Self::Queue,
        Self::Enable,
    ];

    /// The type with this number; `None` for an unknown number.
    pub fn of(number: impl TryInto<usize>) -> Option<Self> {
        Self::ALL.get(number.try_into().ok()?).copied()
    }

    /// Its number in columns of the lake.
    pub const fn number(self) -> i32 {
        self as i32
    }

    /// Its number as a character of a sequence: `0` to `9`, and `A` for 10.
    pub const fn digit(self) -> u8 {
        match self as u8 {
            digit @ 0..=9 => b'0' + digit,
            letter => b'A' + letter - 10,
        }
    }

    /// Its name in the trace.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Submit => "SUBMIT",
            Self::Schedule => "SCHEDULE",
            Self::Evict => "EVICT",
            Self::Fail => "FAIL",
            Self::Finish => "FINISH",
            Self::Kill => "KILL",
            Self::Lost => "LOST",
            Self::UpdatePending => "UPDATE_PENDING",
            Self::UpdateRunning => "UPDATE_RUNNING",
            Self::Queue => "QUEUE",
            Self::Enable => "ENABLE",
        }
    }

    /// Whether it ends an attempt.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Evict | Self::Fail | Self::Finish | Self::Kill | Self::Lost)
    }

    /// Whether it decides the state of its job or task: waiting, running or ended.
    pub const fn is_deciding(self) -> bool {
        matches!(self, Self::Submit | Self::Schedule) || self.is_terminal()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_letters_and_types_agree() {
        for (number, kind) in EventType::ALL.into_iter().enumerate() {
            assert_eq!(EventType::of(number), Some(kind));
            assert_eq!(usize::try_from(kind.number()), Ok(number));
        }
        assert_eq!(EventType::ALL.map(EventType::digit), *b"0123456789A");
        assert_eq!((EventType::of(11), EventType::of(-1)), (None, None));
    }
}
