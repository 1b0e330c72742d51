//! What happened in a replay, line by line.
//!
//! In: one entry per event, in order. Out: five arrays (time, kind, task, machine, attempt) that
//! can be written to a table and read back, and a text with one line per entry. A journal that was
//! read back equals the live one.
//!
//! ```text
//!  0 start t1 m1
//!  25 copy t1 m3
//!  50 finish t1 m3
//!  50 cancel t1 m1
//! ```

use std::fmt;

use super::workload::NONE;

/// The kind of an event.
///
/// The numbers are stored: raise the version of the format when they change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
#[non_exhaustive]
pub enum Kind {
    /// A task was submitted, or came back after a failure.
    Submit = 0,
    /// An original attempt of a task began.
    Start = 1,
    /// A copy began.
    Copy = 2,
    /// A probe began.
    Probe = 3,
    /// An attempt completed its work, and its task is done.
    Finish = 4,
    /// An attempt failed.
    Fail = 5,
    /// The other attempts of a task that is done (or has failed) were killed.
    Cancel = 6,
    /// An attempt was killed so that its task starts again.
    Restart = 7,
    /// An attempt was evicted.
    Evict = 8,
    /// An attempt was lost with its machine.
    Lost = 9,
    /// The task was killed by its user or its limit.
    Kill = 10,
    /// The task was killed by a kill rule.
    Condemn = 11,
    /// A probe ended.
    ProbeEnd = 12,
    /// A task asks for more than any machine has, and never runs.
    Refuse = 13,
    /// A machine joined.
    MachineJoin = 14,
    /// A machine left.
    MachineLeave = 15,
    /// A machine changed.
    MachineChange = 16,
    /// The scheduler learned that a machine is gone.
    Notice = 17,
    /// An attempt still ran when the replay ended.
    Cut = 18,
}

/// Every kind with its name, in the order of the numbers.
pub const KINDS: [(Kind, &str); 19] = [
    (Kind::Submit, "submit"),
    (Kind::Start, "start"),
    (Kind::Copy, "copy"),
    (Kind::Probe, "probe"),
    (Kind::Finish, "finish"),
    (Kind::Fail, "fail"),
    (Kind::Cancel, "cancel"),
    (Kind::Restart, "restart"),
    (Kind::Evict, "evict"),
    (Kind::Lost, "lost"),
    (Kind::Kill, "kill"),
    (Kind::Condemn, "condemn"),
    (Kind::ProbeEnd, "probe_end"),
    (Kind::Refuse, "refuse"),
    (Kind::MachineJoin, "machine_join"),
    (Kind::MachineLeave, "machine_leave"),
    (Kind::MachineChange, "machine_change"),
    (Kind::Notice, "notice"),
    (Kind::Cut, "cut"),
];

impl Kind {
    /// The kind with a stored number.
    pub fn of(number: u8) -> Option<Self> {
        KINDS.get(usize::from(number)).map(|(kind, _)| *kind)
    }

    /// The name of the kind.
    pub fn word(self) -> &'static str {
        KINDS[self as usize].1
    }

    /// Whether an attempt begins with this kind.
    pub fn is_begin(self) -> bool {
        matches!(self, Self::Start | Self::Copy | Self::Probe)
    }

    /// Whether an attempt ends with this kind, if the entry names a machine.
    pub fn is_end(self) -> bool {
        matches!(
            self,
            Self::Finish
                | Self::Fail
                | Self::Cancel
                | Self::Restart
                | Self::Evict
                | Self::Lost
                | Self::Kill
                | Self::Condemn
                | Self::ProbeEnd
                | Self::Cut
        )
    }

    /// Whether this kind ends an attempt whose work is wasted although the task continues: another
    /// attempt was quicker or replaces it.
    pub fn is_waste(self) -> bool {
        matches!(self, Self::Cancel | Self::Restart | Self::Evict | Self::Lost)
    }
}

/// A line of the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The time, µs.
    pub at_us: i64,
    /// The kind.
    pub kind: Kind,
    /// The task; `u32::MAX` for an event of a machine.
    pub task: u32,
    /// The machine; `u32::MAX` if there is none.
    pub machine: u32,
    /// The attempt's number among those of its task, from 1; 0 if there is none.
    pub attempt: u16,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_seconds(f, self.at_us)?;
        write!(f, " {}", self.kind.word())?;
        if self.task != NONE {
            write!(f, " t{}", self.task + 1)?;
        }
        if self.machine != NONE {
            write!(f, " m{}", self.machine + 1)?;
        }
        Ok(())
    }
}

/// A line of a journal with the ids of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// The time, µs.
    pub at_us: i64,
    /// The kind, as [`Kind::word`].
    pub event: &'a str,
    /// The job and the index of the task in it.
    pub task: Option<(i64, i64)>,
    /// The machine.
    pub machine: Option<i64>,
    /// The attempt's number, from 1; 0 if there is none.
    pub attempt: i64,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_seconds(f, self.at_us)?;
        write!(f, " {}", self.event)?;
        if let Some((job, number)) = self.task {
            write!(f, " {job}/{number}")?;
        }
        if self.attempt != 0 {
            write!(f, " #{}", self.attempt)?;
        }
        match self.machine {
            Some(machine) => write!(f, " on {machine}"),
            None => Ok(()),
        }
    }
}

/// Writes seconds with the digits that show whole µs.
fn write_seconds(f: &mut fmt::Formatter<'_>, micros: i64) -> fmt::Result {
    let (seconds, rest) = (micros / 1_000_000, micros % 1_000_000);
    if rest == 0 {
        return write!(f, "{seconds}");
    }
    let digits = format!("{rest:06}");
    write!(f, "{seconds}.{}", digits.trim_end_matches('0'))
}

/// The journal, as one array per column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Journal {
    /// Times, µs, never decreasing.
    pub at_us: Vec<i64>,
    /// The kinds, by number, as in [`Kind::of`].
    pub kind: Vec<u8>,
    /// The tasks, by number in the workload; `u32::MAX` for an event of a machine.
    pub task: Vec<u32>,
    /// The machines, by number in the cluster; `u32::MAX` if there is none.
    pub machine: Vec<u32>,
    /// The numbers of the attempts among those of their task, from 1; 0 if there is none.
    pub attempt: Vec<u16>,
}

impl Journal {
    /// An empty journal with room for `lines` lines.
    pub fn with_room(lines: usize) -> Self {
        Self {
            at_us: Vec::with_capacity(lines),
            kind: Vec::with_capacity(lines),
            task: Vec::with_capacity(lines),
            machine: Vec::with_capacity(lines),
            attempt: Vec::with_capacity(lines),
        }
    }

    /// Adds a line.
    #[inline]
    pub fn add(&mut self, entry: Entry) {
        self.at_us.push(entry.at_us);
        self.kind.push(entry.kind as u8);
        self.task.push(entry.task);
        self.machine.push(entry.machine);
        self.attempt.push(entry.attempt);
    }

    /// Number of lines.
    pub fn len(&self) -> usize {
        self.at_us.len()
    }

    /// Whether the journal has no lines.
    pub fn is_empty(&self) -> bool {
        self.at_us.is_empty()
    }

    /// The lines, in order, up to the first unknown kind: check arrays that were read back with
    /// [`Kind::of`] first.
    pub fn entries(&self) -> impl Iterator<Item = Entry> + '_ {
        (0..self.len()).map_while(|idx| {
            Some(Entry {
                at_us: self.at_us[idx],
                kind: Kind::of(self.kind[idx])?,
                task: self.task[idx],
                machine: self.machine[idx],
                attempt: self.attempt[idx],
            })
        })
    }
}

impl fmt::Display for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for entry in self.entries() {
            writeln!(f, "{entry}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_numbered_in_order() {
        for (number, (kind, _)) in (0..).zip(KINDS) {
            assert_eq!(kind as u8, number);
            assert_eq!(Kind::of(number), Some(kind));
        }
        assert_eq!(Kind::of(19), None);
    }

    #[test]
    fn times_show_whole_microseconds() {
        let entry = |at_us| Entry { at_us, kind: Kind::Start, task: 0, machine: 2, attempt: 1 };
        assert_eq!(entry(25_000_000).to_string(), "25 start t1 m3");
        assert_eq!(entry(1_500_001).to_string(), "1.500001 start t1 m3");
        assert_eq!(entry(500_000).to_string(), "0.5 start t1 m3");
        let task = Some((3_418_309, 0));
        let mut line =
            Line { at_us: 600_500_000, event: "start", task, machine: Some(17), attempt: 1 };
        assert_eq!(line.to_string(), "600.5 start 3418309/0 #1 on 17");
        line = Line { event: "machine_leave", task: None, attempt: 0, ..line };
        assert_eq!(line.to_string(), "600.5 machine_leave on 17");
    }
}
