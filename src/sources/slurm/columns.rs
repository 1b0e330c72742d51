//! Assigns the fields of a line to columns, and reads their values.

use super::super::records::amounts::tally;
use super::super::records::clock::{Clock, first};
use super::super::records::fields::{Fields, span_us, whole};
use super::super::records::lines::{Lines, first_line, names_of};
use super::super::records::{Fault, Remarks};
use super::super::reject::RejectReason;
use super::super::zone::{Instant, Stamp};
use super::super::{SourceErrorKind, fields};
use crate::units::MICROS_PER_SECOND;

macro_rules! columns {
    ($($name:ident $text:literal,)+) => {
        /// A column of `sacct` that is read.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Col {
            $($name,)+
        }

        impl Col {
            const ALL: &'static [(Self, &'static str)] = &[$((Self::$name, $text),)+];

            /// The name as `sacct` prints it.
            pub(super) const fn name(self) -> &'static str {
                Self::ALL[self as usize].1
            }
        }
    };
}

columns! {
    JobId "JobID", JobIdRaw "JobIDRaw", JobName "JobName", Cluster "Cluster", Partition "Partition",
    Qos "QOS", Account "Account", Group "Group", User "User",
    Submit "Submit", Eligible "Eligible", Start "Start", End "End",
    Elapsed "Elapsed", ElapsedRaw "ElapsedRaw", CpuTime "CPUTime", CpuTimeRaw "CPUTimeRAW",
    Planned "Planned", PlannedCpu "PlannedCPU", PlannedCpuRaw "PlannedCPURAW",
    Reserved "Reserved", ResvCpu "ResvCPU", ResvCpuRaw "ResvCPURAW",
    Timelimit "Timelimit", TimelimitRaw "TimelimitRaw", TotalCpu "TotalCPU",
    ExitCode "ExitCode", State "State",
    NNodes "NNodes", NCpus "NCPUS", AllocCpus "AllocCPUS", ReqCpus "ReqCPUS", ReqMem "ReqMem",
    ReqTres "ReqTRES", AllocTres "AllocTRES", ReqGres "ReqGRES", AllocGres "AllocGRES",
    NodeList "NodeList",
}

impl Col {
    /// The column with a name; `None` if it is not read.
    fn of(name: &str) -> Option<Self> {
        let known = Self::ALL.iter().find(|(_, known)| known.eq_ignore_ascii_case(name));
        known.map(|(column, _)| *column)
    }
}

/// The fields of Open `XDMoD`'s export, which has no header, as in its `sacct --format`.
const XDMOD: &str = "jobid,jobidraw,cluster,partition,qos,account,group,gid,user,uid,submit,\
    eligible,start,end,elapsed,exitcode,state,nnodes,ncpus,reqcpus,reqmem,reqtres,alloctres,\
    timelimit,nodelist,jobname";

/// Separators that an export may have.
const SEPARATORS: [u8; 4] = *b"|\t;,";

/// The position of each column.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) lines: Lines,
    pub(super) places: [Option<usize>; Col::ALL.len()],
    /// The names of the columns that are read.
    pub(super) names: String,
}

impl Layout {
    /// The layout of an export, from its first line.
    ///
    /// # Errors
    /// A column is missing and does not follow from the others, or the columns are aligned with
    /// blanks.
    pub(super) fn of(begin: &[u8]) -> Result<Self, SourceErrorKind> {
        let line = first_line(begin);
        if is_aligned(line) {
            return Err(SourceErrorKind::Aligned);
        }
        let Some((separator, columns)) = header_of(line) else {
            let columns: Vec<Option<Col>> = XDMOD.split(',').map(Col::of).collect();
            return Ok(Self::new(b'|', &columns, None));
        };
        let layout = Self::new(separator, &columns, Some(line.to_vec()));
        layout.check().map_err(SourceErrorKind::MissingColumn)?;
        Ok(layout)
    }

    fn new(separator: u8, columns: &[Option<Col>], header: Option<Vec<u8>>) -> Self {
        let mut places = [None; Col::ALL.len()];
        for (idx, column) in columns.iter().enumerate() {
            if let Some(column) = column {
                // A repeated column has the same values.
                places[*column as usize].get_or_insert(idx);
            }
        }
        // The name of a job may hold separators.
        let is_last_open = columns.last() == Some(&Some(Col::JobName));
        let lines = Lines { separator, count: columns.len(), header, is_last_open };
        let names: Vec<&str> = columns.iter().flatten().map(|column| column.name()).collect();
        Self { lines, places, names: names.join(",") }
    }

    /// Whether the log has a column.
    pub(super) fn has(&self, column: Col) -> bool {
        self.places[column as usize].is_some()
    }

    /// Checks that the state and the times of attempts are given or can be derived.
    fn check(&self) -> Result<(), String> {
        let has_any = |columns: &[Col]| columns.iter().any(|&column| self.has(column));
        let of_cpus = [Col::NCpus, Col::AllocCpus, Col::AllocTres, Col::ReqCpus, Col::ReqTres];
        let has_cpus = has_any(&of_cpus);
        let is_of_cpus = has_any(&[Col::CpuTimeRaw, Col::CpuTime]);
        let has_run = has_any(&[Col::Elapsed, Col::ElapsedRaw]) || is_of_cpus && has_cpus;
        let waits_of_cpus = [Col::ResvCpuRaw, Col::PlannedCpuRaw, Col::ResvCpu, Col::PlannedCpu];
        let has_wait =
            has_any(&[Col::Planned, Col::Reserved]) || has_cpus && has_any(&waits_of_cpus);
        let has_left = has_wait && has_any(&[Col::Submit, Col::Eligible]);
        let missing = match (self.has(Col::Start), self.has(Col::End)) {
            _ if !self.has(Col::State) => "State",
            (true, true) => return Ok(()),
            (false, false) if !has_left && has_any(&waits_of_cpus) => "AllocCPUS (or Start)",
            (false, false) if !has_left => "Start",
            _ if has_run => return Ok(()),
            _ if is_of_cpus => "AllocCPUS (or Elapsed)",
            (_, false) => "End (or Elapsed)",
            (false, true) => "Start (or Elapsed)",
        };
        Err(missing.to_owned())
    }
}

/// The separator and columns of a header, if a line is one: it names at least two columns, and a
/// state or a job id is among them.
fn header_of(line: &[u8]) -> Option<(u8, Vec<Option<Col>>)> {
    SEPARATORS.into_iter().find_map(|separator| {
        let names = names_of(line, separator);
        let mut columns: Vec<Option<Col>> = names.iter().map(|name| Col::of(name)).collect();
        if line.ends_with(&[separator]) {
            columns.pop();
        }
        let known = columns.iter().flatten().count();
        let tells = [Col::JobId, Col::JobIdRaw, Col::State];
        let is_told = tells.iter().any(|&column| columns.contains(&Some(column)));
        (2 <= known && is_told).then_some((separator, columns))
    })
}

/// Whether columns name jobs and their states.
fn names_jobs(columns: &[Option<Col>]) -> bool {
    [Col::JobId, Col::State].iter().all(|&column| columns.contains(&Some(column)))
}

/// Whether a line is a header whose columns are aligned with blanks, as without `--parsable2`.
fn is_aligned(line: &[u8]) -> bool {
    let words = str::from_utf8(line).unwrap_or_default().split_ascii_whitespace();
    header_of(line).is_none() && names_jobs(&words.map(Col::of).collect::<Vec<_>>())
}

/// Whether a text begins like the output of `sacct`.
pub(in crate::sources) fn seen_as(text: &[u8]) -> bool {
    let line = first_line(text);
    if let Some((separator, columns)) = header_of(line) {
        let times =
            [Col::Start, Col::End, Col::Submit, Col::Eligible, Col::Elapsed, Col::ElapsedRaw];
        let has_times = columns.iter().flatten().any(|column| times.contains(column));
        // With `|`, an export without a state or without times is recognised, so that the error
        // names the missing column; with other separators it may be any table, such as one with
        // `job_id` and `cpus`.
        let is_own = names_jobs(&columns) || columns.iter().all(Option::is_some);
        return match separator {
            b'|' => has_times || names_jobs(&columns),
            _ => has_times && is_own && columns.contains(&Some(Col::State)),
        };
    }
    let fields: Vec<&[u8]> = line.split(|&byte| byte == b'|').collect();
    let is_time = |field: &[u8]| field.len() == 19 && field[4] == b'-' && field[10] == b'T';
    is_aligned(line)
        || XDMOD.split(',').count() <= fields.len()
            && is_time(fields[10])
            && fields[16].first().is_some_and(u8::is_ascii_uppercase)
}

/// A value of a row; `None` if it is missing.
type Value<T> = Result<Option<T>, Fault>;

/// A line that was split into fields.
pub(super) struct Row<'a> {
    pub(super) layout: &'a Layout,
    pub(super) fields: &'a Fields,
    pub(super) line: &'a [u8],
    pub(super) clock: &'a Clock,
}

impl<'a> Row<'a> {
    /// The field of a column; empty if it is missing.
    pub(super) fn raw(&self, column: Col) -> &'a [u8] {
        self.layout.places[column as usize].map_or(&[][..], |idx| self.fields.get(self.line, idx))
    }

    /// A text; words such as `Unknown` are missing.
    pub(super) fn text(&self, column: Col) -> Value<&'a str> {
        match fields::careful_text(self.raw(column)) {
            None => Err((column.name(), RejectReason::BadValue)),
            Some("" | "Unknown" | "None" | "None assigned" | "(null)" | "N/A") => Ok(None),
            Some(text) => Ok(Some(text)),
        }
    }

    /// A time, µs since 1970; the first if the clock showed it twice.
    pub(super) fn time(&self, column: Col, remarks: &mut Remarks) -> Value<i64> {
        Ok(self.instant(column, remarks)?.map(|instant| first(instant, remarks)))
    }

    /// The instant of a time, which may be ambiguous, µs since 1970. Time 0 of a clock means an
    /// unknown time.
    pub(super) fn instant(&self, column: Col, remarks: &mut Remarks) -> Value<Instant> {
        let raw = self.raw(column);
        if matches!(raw, b"" | b"Unknown" | b"None" | b"N/A" | b"0" | b"NONE") {
            return Ok(None);
        }
        if let Some(seconds) = whole(raw) {
            return Ok(Some(Instant::Once(seconds * MICROS_PER_SECOND)));
        }
        let stamp = Stamp::iso(raw).ok_or((column.name(), RejectReason::BadValue))?;
        let instant = self.clock.instant(stamp, remarks);
        if instant.first() == 0 || stamp == Stamp::Local(0) {
            remarks.add_once("1970-01-01T00:00:00: taken as an unknown time");
            return Ok(None);
        }
        Ok(Some(instant))
    }

    /// A length of time, µs.
    pub(super) fn span(&self, column: Col) -> Value<i64> {
        match self.raw(column) {
            b"" | b"Unknown" | b"INVALID" => Ok(None),
            raw => span_us(raw).map(Some).ok_or((column.name(), RejectReason::BadValue)),
        }
    }

    /// A count; 0 is missing.
    pub(super) fn count(&self, column: Col) -> Value<i32> {
        let count = match self.raw(column) {
            b"" | b"Unknown" | b"N/A" => Some(0),
            raw => tally(raw).and_then(|count| i32::try_from(count).ok()),
        };
        let count = count.ok_or((column.name(), RejectReason::BadValue))?;
        Ok(Some(count).filter(|&count| 0 < count))
    }
}
