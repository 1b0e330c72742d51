//! The table of each file of a folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::super::format::FileKind;
use super::super::records::fields::whole;
use super::super::records::states::named;
use super::super::{RawPart, SourceError, SourceErrorKind, TraceFolder, begin_of};
use super::STATES;
use crate::schema::{Source, Table};

/// A table of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sources) enum Kind {
    /// `batch_task`.
    Tasks,
    /// `batch_instance`.
    Instances,
    /// `machine_meta` of 2018, `server_event` of 2017.
    Machines,
}

impl Kind {
    /// The table of a text, judging by its first two lines; `None` if it is not recognised.
    pub(in crate::sources) fn of(source: Source, text: &[u8]) -> Option<Self> {
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        text.split(|&byte| byte == b'\n').take(2).find_map(|line| Self::of_line(source, line))
    }

    /// The same for a text that must be of tasks or instances: tasks if it is not recognised.
    pub(in crate::sources) fn of_jobs(source: Source, text: &[u8]) -> Self {
        Self::of(source, text).filter(|kind| *kind != Self::Machines).unwrap_or(Self::Tasks)
    }

    fn of_line(source: Source, line: &[u8]) -> Option<Self> {
        let fields: Vec<&[u8]> = line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).collect();
        let is_state = |at: usize| named(STATES, fields[at]).is_some();
        let are_whole = |places: &[usize]| places.iter().all(|&at| whole(fields[at]).is_some());
        let is_time =
            |at: usize| whole(fields[at].strip_prefix(b"-").unwrap_or(fields[at])).is_some();
        let is_told = |kind: &Self| {
            fields.len() == kind.field_count(source)
                && match (source, kind) {
                    (Source::Alibaba2017, Self::Tasks) => {
                        is_state(5) && is_time(0) && is_time(1) && are_whole(&[2, 3])
                    }
                    (Source::Alibaba2017, Self::Instances) => {
                        is_state(5) && is_time(0) && are_whole(&[6, 7])
                    }
                    (Source::Alibaba2017, Self::Machines) => {
                        is_time(0)
                            && are_whole(&[1])
                            && [&b"add"[..], b"softerror", b"harderror"].contains(&fields[2])
                    }
                    (_, Self::Tasks) => is_state(4) && are_whole(&[1, 5]),
                    (_, Self::Instances) => is_state(4) && are_whole(&[5, 8, 9]),
                    (_, Self::Machines) => fields[0].starts_with(b"m_") && are_whole(&[1, 4]),
                }
        };
        [Self::Tasks, Self::Instances, Self::Machines].into_iter().find(is_told)
    }

    /// The number of fields of a line.
    pub(in crate::sources) fn field_count(self, source: Source) -> usize {
        match (source, self) {
            (Source::Alibaba2017, Self::Tasks) => 8,
            (Source::Alibaba2017, Self::Instances) => 12,
            (_, Self::Tasks) => 9,
            (_, Self::Instances) => 14,
            (_, Self::Machines) => 7,
        }
    }
}

/// The expected form of a line.
pub(in crate::sources) const LINE: &str = "the fields of a task, an instance or a machine";

/// The kind of a file of a trace.
pub(in crate::sources) fn kind_of(source: Source, text: &[u8]) -> Option<FileKind> {
    Some(match Kind::of(source, text)? {
        Kind::Machines => FileKind::Nodes,
        _ => FileKind::Log(source),
    })
}

/// Assigns the files of a trace, or a single file, to the tables of the lake.
///
/// # Errors
/// Two files hold the same table, or no file holds jobs.
pub(in crate::sources) fn tables(
    source: Source,
    at: &Path,
    paths: &[PathBuf],
) -> Result<TraceFolder, SourceError> {
    let fail = |kind| SourceError::new(at, kind);
    let (mut tasks, mut instances, mut machines) = (None, None, None);
    for path in paths {
        let place = match Kind::of(source, &begin_of(path)?) {
            Some(Kind::Instances) => &mut instances,
            Some(Kind::Machines) => &mut machines,
            // A file that only `--source` identifies is read as tasks: its rejects show what is
            // wrong.
            _ => &mut tasks,
        };
        if place.replace(path).is_some() {
            let names = paths.iter().map(|path| path.display().to_string()).collect();
            return Err(fail(SourceErrorKind::SeveralLogs(names)));
        }
    }
    let Some(of_jobs) = tasks.or(instances) else {
        return Err(fail(SourceErrorKind::OnlyTopology));
    };
    let of = |table, path: &Path| RawPart::of_file(source, table, (0, Some(1)), path);
    let beside = instances.and(tasks).cloned();
    let mut parts = BTreeMap::new();
    let jobs = of(Table::JobEvents, of_jobs)?;
    // Each of the two tables is read together with the other.
    let instances_beside = tasks.and(instances).cloned();
    parts.insert(Table::JobEvents, vec![RawPart { beside: instances_beside, ..jobs }]);
    let rows = of(Table::TaskEvents, instances.unwrap_or(of_jobs))?;
    parts.insert(Table::TaskEvents, vec![RawPart { beside, ..rows }]);
    if let Some(path) = machines {
        parts.insert(Table::MachineEvents, vec![of(Table::MachineEvents, path)?]);
    }
    let path = of_jobs.parent().map(Path::to_owned).unwrap_or_default();
    Ok(TraceFolder { path, source, parts, ignored: Vec::new() })
}
