//! Which field of a line is which column.

use super::super::records::Fault;
use super::super::records::fields::Fields;
use super::super::rows::RejectReason;

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
                match self {
                    $(Self::$name => $text,)+
                }
            }
        }
    };
}

columns! {
    JobId "JobID",
    JobIdRaw "JobIDRaw",
    Cluster "Cluster",
    Partition "Partition",
    Qos "QOS",
    Account "Account",
    Group "Group",
    User "User",
    Submit "Submit",
    Eligible "Eligible",
    Start "Start",
    End "End",
    Elapsed "Elapsed",
    ElapsedRaw "ElapsedRaw",
    ExitCode "ExitCode",
    State "State",
    NNodes "NNodes",
    NCpus "NCPUS",
    AllocCpus "AllocCPUS",
    ReqCpus "ReqCPUS",
    ReqMem "ReqMem",
    ReqTres "ReqTRES",
    AllocTres "AllocTRES",
    ReqGres "ReqGRES",
    AllocGres "AllocGRES",
    Timelimit "Timelimit",
    TimelimitRaw "TimelimitRaw",
    NodeList "NodeList",
    JobName "JobName",
    CpuTimeRaw "CPUTimeRAW",
    TotalCpu "TotalCPU",
    Planned "Planned",
    Reserved "Reserved",
    ResvCpuRaw "ResvCPURAW",
    PlannedCpuRaw "PlannedCPURAW",
}

/// The fields of Open `XDMoD`'s export, which has no header.
const XDMOD: [Option<Col>; 26] = {
    use Col::{
        Account, AllocTres, Cluster, Elapsed, Eligible, End, ExitCode, Group, JobId, JobIdRaw,
        JobName, NCpus, NNodes, NodeList, Partition, Qos, ReqCpus, ReqMem, ReqTres, Start, State,
        Submit, Timelimit, User,
    };
    [
        Some(JobId),
        Some(JobIdRaw),
        Some(Cluster),
        Some(Partition),
        Some(Qos),
        Some(Account),
        Some(Group),
        None,
        Some(User),
        None,
        Some(Submit),
        Some(Eligible),
        Some(Start),
        Some(End),
        Some(Elapsed),
        Some(ExitCode),
        Some(State),
        Some(NNodes),
        Some(NCpus),
        Some(ReqCpus),
        Some(ReqMem),
        Some(ReqTres),
        Some(AllocTres),
        Some(Timelimit),
        Some(NodeList),
        Some(JobName),
    ]
};

/// Separators that an export may have.
const SEPARATORS: [u8; 4] = *b"|\t;,";

/// Where each column stands.
#[derive(Debug)]
pub(super) struct Layout {
    separator: u8,
    places: [Option<usize>; Col::ALL.len()],
    count: usize,
    /// Whether the job's name is the last field, which may hold separators.
    is_name_last: bool,
    header: Option<Vec<u8>>,
}

impl Layout {
    /// Told from the first line; the name of a column that is missing where the rest does not tell
    /// enough.
    pub(super) fn of(begin: &[u8]) -> Result<Self, String> {
        let line = first_line(begin);
        let Some((separator, columns)) = header_of(line) else {
            return Ok(Self::new(b'|', &XDMOD, None));
        };
        let layout = Self::new(separator, &columns, Some(line.to_vec()));
        layout.check()?;
        Ok(layout)
    }

    fn new(separator: u8, columns: &[Option<Col>], header: Option<Vec<u8>>) -> Self {
        let mut places = [None; Col::ALL.len()];
        for (idx, column) in columns.iter().enumerate() {
            if let Some(column) = column {
                // A column that was asked for twice is the same twice.
                places[*column as usize].get_or_insert(idx);
            }
        }
        let is_name_last = columns.last() == Some(&Some(Col::JobName));
        Self { separator, places, count: columns.len(), is_name_last, header }
    }

    /// Where a column stands.
    pub(super) fn place(&self, column: Col) -> Option<usize> {
        self.places[column as usize]
    }

    /// Whether the log has a column.
    pub(super) fn has(&self, column: Col) -> bool {
        self.place(column).is_some()
    }

    /// What is needed to tell attempts, and does not follow from other columns.
    fn check(&self) -> Result<(), String> {
        let has_any = |columns: &[Col]| columns.iter().any(|&column| self.has(column));
        let has_run = has_any(&[Col::Elapsed, Col::ElapsedRaw])
            || self.has(Col::CpuTimeRaw)
                && has_any(&[Col::NCpus, Col::AllocCpus, Col::AllocTres, Col::ReqCpus]);
        if !self.has(Col::State) {
            return Err("State".to_owned());
        }
        match (self.has(Col::Start), self.has(Col::End)) {
            (false, false) => Err("Start".to_owned()),
            (true, false) if !has_run => Err("End (or Elapsed)".to_owned()),
            (false, true) if !has_run => Err("Start (or Elapsed)".to_owned()),
            _ => Ok(()),
        }
    }

    /// The names of the columns that were found.
    pub(super) fn told(&self) -> String {
        let mut found: Vec<(usize, &str)> = Col::ALL
            .iter()
            .filter_map(|&(column, name)| Some((self.place(column)?, name)))
            .collect();
        found.sort_unstable();
        found.into_iter().map(|(_, name)| name).collect::<Vec<&str>>().join(",")
    }

    /// Whether a line is the header.
    pub(super) fn is_header(&self, line: &[u8]) -> bool {
        self.header.as_deref() == Some(line)
    }

    /// Tells the fields of a line apart.
    pub(super) fn split(&self, line: &[u8], fields: &mut Fields) -> Result<(), Fault> {
        fields.split(line, self.separator);
        if self.count < fields.len() {
            if self.is_name_last {
                fields.join_from(self.count - 1);
            } else if fields.len() == self.count + 1 && line.ends_with(&[self.separator]) {
                // As `--parsable` writes it.
                fields.drop_last();
            }
        }
        match fields.len() {
            len if len < self.count => Err(("", RejectReason::TooFewColumns)),
            len if self.count < len => Err(("", RejectReason::TooManyColumns)),
            _ => Ok(()),
        }
    }
}

fn first_line(begin: &[u8]) -> &[u8] {
    let begin = begin.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(begin);
    let mut lines = begin.split(|&byte| byte == b'\n');
    let line = lines.find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The separator and columns of a header, if a line is one: it names at least two columns, and a
/// state or a job id is among them.
fn header_of(line: &[u8]) -> Option<(u8, Vec<Option<Col>>)> {
    SEPARATORS.into_iter().find_map(|separator| {
        let mut fields = Fields::default();
        fields.split(line, separator);
        let of = |name: &[u8]| {
            let known =
                Col::ALL.iter().find(|(_, text)| text.as_bytes().eq_ignore_ascii_case(name));
            known.map(|(column, _)| *column)
        };
        let mut columns: Vec<Option<Col>> =
            (0..fields.len()).map(|idx| of(fields.get(line, idx))).collect();
        if line.ends_with(&[separator]) {
            columns.pop();
        }
        let known = columns.iter().flatten().count();
        let is_told = [Col::JobId, Col::JobIdRaw, Col::State]
            .iter()
            .any(|&column| columns.contains(&Some(column)));
        (2 <= known && is_told).then_some((separator, columns))
    })
}

/// Whether a text begins like what `sacct` prints.
pub(in crate::sources) fn seen_as(text: &[u8]) -> bool {
    let line = first_line(text);
    if let Some((separator, columns)) = header_of(line) {
        let is_times = |column: &Col| {
            matches!(column, Col::Start | Col::End | Col::Submit | Col::Elapsed | Col::ElapsedRaw)
        };
        // An export that lacks the state is told so; with commas it may be any table.
        let is_told = separator == b'|' || columns.contains(&Some(Col::State));
        return columns.iter().flatten().any(is_times) && is_told;
    }
    let fields: Vec<&[u8]> = line.split(|&byte| byte == b'|').collect();
    let is_time = |field: &[u8]| field.len() == 19 && field[4] == b'-' && field[10] == b'T';
    XDMOD.len() <= fields.len()
        && is_time(fields[10])
        && fields[16].first().is_some_and(u8::is_ascii_uppercase)
}
