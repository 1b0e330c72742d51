//! What happened in a replay, line by line.
//!
//! In: one entry per event, in order. Out: the entries again, and a text with one line per entry.
//!
//! ```text
//!  0 start t1 m1
//!  25 copy t1 m3
//!  50 finish t1 m3
//!  50 cancel t1 m1
//! ```
//!
//! Entries beyond 1.5 million (36 MB) are packed to about nine bytes each and written to a
//! temporary file without a name. So a journal of any length takes at most this much memory. If the
//! file cannot be written, for example because the disk is full, entries stay in memory.

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use super::workload::NONE;

/// Entries that a journal keeps in memory: 36 MB.
const IN_MEMORY: usize = 24 * PIECE;

/// Entries in a piece.
const PIECE: usize = 64 * 1024;

/// The kind of an event.
///
/// The numbers are stored: raise the version of the format when they change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
#[non_exhaustive]
pub enum Kind {
    /// A task was submitted, or waits again after a failure.
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
    /// A task requests more than any machine has, and never runs.
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
    /// The job, and the index of the task in the job.
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

/// The entries of a replay, with times that never decrease.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    pieces: Vec<Piece>,
    /// The last entries, which do not yet fill a piece.
    open: Vec<Entry>,
    len: usize,
    /// Entries of the pieces in memory.
    kept: usize,
    /// The file of the other pieces, and its length.
    file: Option<(Arc<Mutex<File>>, u64)>,
    /// Other limits, used in tests.
    limits: Option<(usize, usize)>,
}

/// A full piece.
#[derive(Clone, Debug)]
enum Piece {
    Kept(Arc<Vec<Entry>>),
    /// The position in the file, and the number of bytes.
    Written(u64, usize),
}

/// A packed entry: the time since the previous entry, the number of the kind, the task and the
/// machine (each plus 1; 0 if there is none), and the attempt.
type Packed = (i64, u8, u32, u32, u16);

fn packed(entries: &[Entry]) -> Vec<u8> {
    let mut before_us = 0;
    let rows = entries.iter().map(|entry| {
        let since_us = entry.at_us.wrapping_sub(std::mem::replace(&mut before_us, entry.at_us));
        let number = |number: u32| number.wrapping_add(1);
        (since_us, entry.kind as u8, number(entry.task), number(entry.machine), entry.attempt)
    });
    let rows: Vec<Packed> = rows.collect();
    postcard::to_allocvec(&rows).expect("numbers can always be packed")
}

fn unpacked(bytes: &[u8]) -> Vec<Entry> {
    let rows: Vec<Packed> = postcard::from_bytes(bytes).expect("a piece as it was packed");
    let mut at_us = 0_i64;
    let entries = rows.into_iter().map(|(since_us, kind, task, machine, attempt)| {
        at_us = at_us.wrapping_add(since_us);
        let kind = Kind::of(kind).expect("a kind as it was packed");
        let number = |number: u32| number.wrapping_sub(1);
        Entry { at_us, kind, task: number(task), machine: number(machine), attempt }
    });
    entries.collect()
}

impl Journal {
    /// Adds an entry.
    #[inline]
    pub fn add(&mut self, entry: Entry) {
        self.open.push(entry);
        self.len += 1;
        if self.limits().0 <= self.open.len() {
            self.close_piece();
        }
    }

    /// The entries in a piece, and those in memory.
    fn limits(&self) -> (usize, usize) {
        self.limits.unwrap_or((PIECE, IN_MEMORY))
    }

    #[cold]
    fn close_piece(&mut self) {
        let entries = std::mem::take(&mut self.open);
        let is_full = self.limits().1 < self.kept + entries.len();
        let written = is_full.then(|| self.write(&packed(&entries)).ok()).flatten();
        if written.is_some() {
            // Reuses the memory of the written entries.
            self.open = entries;
            self.open.clear();
            self.pieces.extend(written);
        } else {
            self.kept += entries.len();
            self.open.reserve_exact(entries.len());
            self.pieces.push(Piece::Kept(Arc::new(entries)));
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<Piece> {
        let (file, len) = match &mut self.file {
            Some(file) => file,
            none => none.insert((Arc::new(Mutex::new(tempfile::tempfile()?)), 0)),
        };
        // A copy of this journal reads the file, and must not find other entries there.
        let file = Arc::get_mut(file).ok_or(io::ErrorKind::ResourceBusy)?;
        let file = file.get_mut().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(*len))?;
        file.write_all(bytes)?;
        let piece = Piece::Written(*len, bytes.len());
        *len += bytes.len() as u64;
        Ok(piece)
    }

    /// Number of entries.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether the journal has no entries.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The time of the last entry, µs.
    ///
    /// # Panics
    /// The temporary file of a long journal cannot be read.
    pub fn last_us(&self) -> Option<i64> {
        let closed = || self.read(self.pieces.last()?).last().copied();
        self.open.last().copied().or_else(closed).map(|entry| entry.at_us)
    }

    /// The entries, in order.
    ///
    /// # Panics
    /// The temporary file of a long journal cannot be read.
    pub fn entries(&self) -> impl Iterator<Item = Entry> + '_ {
        let closed = self.pieces.iter().flat_map(|piece| {
            let entries = self.read(piece);
            (0..entries.len()).map(move |idx| entries[idx])
        });
        closed.chain(self.open.iter().copied())
    }

    fn read<'a>(&self, piece: &'a Piece) -> Cow<'a, [Entry]> {
        let (from, len) = match piece {
            Piece::Kept(entries) => return Cow::Borrowed(entries),
            Piece::Written(from, len) => (*from, *len),
        };
        let (file, _) = self.file.as_ref().expect("pieces are written to a file");
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = vec![0; len];
        file.seek(SeekFrom::Start(from))
            .and_then(|_| file.read_exact(&mut bytes))
            .expect("the temporary file of a journal can be read");
        Cow::Owned(unpacked(&bytes))
    }
}

/// Whether the entries are the same, in memory or in a file.
impl PartialEq for Journal {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.entries().eq(other.entries())
    }
}

impl Eq for Journal {}

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
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn kinds_are_numbered_in_order() {
        for (number, (kind, _)) in (0..).zip(KINDS) {
            assert_eq!(kind as u8, number);
            assert_eq!(Kind::of(number), Some(kind));
        }
        assert_eq!(Kind::of(19), None);
    }

    fn entries() -> impl Strategy<Value = Vec<Entry>> {
        let number = || prop_oneof![0..200_000_u32, Just(0), Just(NONE - 1), Just(NONE)];
        let row = (0..1_i64 << 40, 0..KINDS.len(), number(), number(), any::<u16>());
        let entry = |(at_us, kind, task, machine, attempt): (i64, usize, u32, u32, u16)| Entry {
            at_us,
            kind: KINDS[kind].0,
            task,
            machine,
            attempt,
        };
        prop::collection::vec(row.prop_map(entry), 0..90)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
        /// Compares with a list, for different sizes of pieces and of the part in memory.
        #[test]
        fn a_journal_gives_back_what_was_added(
            list in entries(),
            piece in 1_usize..20,
            in_memory in 0_usize..60,
        ) {
            let mut journal = Journal { limits: Some((piece, in_memory)), ..Journal::default() };
            let mut other = Journal::default();
            for &entry in &list {
                journal.add(entry);
                other.add(entry);
                prop_assert_eq!(journal.last_us(), Some(entry.at_us));
            }
            prop_assert_eq!(journal.entries().collect::<Vec<_>>(), list.clone());
            prop_assert_eq!(journal.len(), list.len());
            prop_assert!(journal.kept <= in_memory.max(piece));
            prop_assert_eq!(journal.file.is_some(), in_memory < list.len() / piece * piece);
            // Two copies read the same file at the same time.
            let mut copy = journal.clone();
            prop_assert!(journal.entries().eq(copy.entries()));
            let last = Entry { at_us: 1 << 41, kind: Kind::Cut, task: 0, machine: 0, attempt: 1 };
            (0..2 * piece).for_each(|_| copy.add(last));
            prop_assert!(journal.entries().eq(copy.entries().take(list.len())));
            prop_assert_eq!(&journal, &other);
            other.add(last);
            prop_assert_ne!(&journal, &other);
        }
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
