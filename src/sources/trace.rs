//! What kind of trace a file or folder holds, and which files of it are parts of which table.
//!
//! In: a path, and perhaps the kind that the user says it is. Out: a [`TraceFolder`]. The kind is
//! told from the layout of a folder, or from the first lines of a file; where neither tells it,
//! that is an error and never a guess. Nothing is read beyond the first lines.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::blocks::{BlockReader, TextBlock};
use super::folder::sorted_names;
use super::google_2019::files;
use super::{RawPart, SourceError, SourceErrorKind, TraceFolder};
use crate::schema::{Source, Table};

/// What the first lines of a file tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileKind {
    /// A log of a kind of trace.
    Log(Source),
    /// The machines of a Rumen log.
    Topology,
}

/// Finds the parts of a trace. Without `source` its kind is told from what is there; `table` says
/// that the path is a flat folder of parts of that table of the Google trace.
pub fn open_trace(
    path: &Path,
    source: Option<Source>,
    table: Option<Table>,
) -> Result<TraceFolder, SourceError> {
    let fail = |kind| SourceError::new(path, kind);
    if !path.exists() {
        return Err(fail(SourceErrorKind::NoFolder));
    }
    let is_2019 = match source {
        None => table.is_none() && files::is_export(path)?,
        Some(source) => source.is_google() && source != Source::Google2011,
    };
    if is_2019 {
        return files::list(path, source.unwrap_or(Source::Google2019));
    }
    let is_google = source == Some(Source::Google2011)
        || source.is_none() && (table.is_some() || path.is_dir() && has_tables(path)?);
    if is_google {
        return if path.is_dir() {
            TraceFolder::open(path, table)
        } else {
            Err(fail(SourceErrorKind::NotAFolder))
        };
    }
    if path.is_dir() { open_folder(path, source) } else { open_file(path, source) }
}

/// Whether a folder is laid out in tables.
fn has_tables(path: &Path) -> Result<bool, SourceError> {
    let names = sorted_names(path)?;
    Ok(names.iter().any(|name| name.parse::<Table>().is_ok() && path.join(name).is_dir()))
}

/// A folder with one log in it.
fn open_folder(path: &Path, source: Option<Source>) -> Result<TraceFolder, SourceError> {
    let fail = |kind| SourceError::new(path, kind);
    let mut logs: Vec<(String, Source)> = Vec::new();
    let mut topologies = Vec::new();
    let mut ignored = Vec::new();
    for name in sorted_names(path)? {
        let file = path.join(&name);
        // What cannot be read as text is no log; a log that is damaged says so when it is read.
        match file.is_file().then(|| kind_of(&file).ok().flatten()).flatten() {
            Some(FileKind::Log(kind)) if source.is_none_or(|source| source == kind) => {
                logs.push((name, kind));
            }
            Some(FileKind::Topology) => topologies.push(name),
            _ if is_note(&name) => {}
            _ => ignored.push(name),
        }
    }
    match (&logs[..], source) {
        ([(name, kind)], _) => {
            let beside = match &topologies[..] {
                [only] if *kind == Source::Rumen => Some(path.join(only)),
                _ => None,
            };
            let mut folder = log_parts(&path.join(name), *kind, beside.as_deref())?;
            folder.ignored = ignored;
            Ok(folder)
        }
        ([], Some(source)) => Err(fail(SourceErrorKind::NoLog(source))),
        ([], None) => Err(fail(SourceErrorKind::NoTable)),
        (logs, _) => {
            let names = logs.iter().map(|(name, _)| name.clone()).collect();
            Err(fail(SourceErrorKind::SeveralLogs(names)))
        }
    }
}

/// Files that lie beside logs and are none: checksums, licences, descriptions.
fn is_note(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    ["SUM", "SUMS", "README", "LICENSE", "NOTICE"].iter().any(|end| upper.ends_with(end))
        || Path::new(name).extension().is_some_and(|end| end == "md" || end == "sha256")
}

fn open_file(path: &Path, source: Option<Source>) -> Result<TraceFolder, SourceError> {
    let fail = |kind| SourceError::new(path, kind);
    let kind = match source {
        Some(source) => source,
        None => match kind_of(path)? {
            Some(FileKind::Log(kind)) => kind,
            Some(FileKind::Topology) => return Err(fail(SourceErrorKind::OnlyTopology)),
            None => return Err(fail(SourceErrorKind::UnknownFormat)),
        },
    };
    let beside = if kind == Source::Rumen { topology_beside(path)? } else { None };
    log_parts(path, kind, beside.as_deref())
}

/// The topology that lies beside a Rumen trace, under the same name but for that word.
fn topology_beside(path: &Path) -> Result<Option<PathBuf>, SourceError> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if !name.contains("trace") {
        return Ok(None);
    }
    let stem = name.replace("trace", "topology");
    let stem = stem.strip_suffix(".gz").unwrap_or(&stem);
    for name in [format!("{stem}.gz"), stem.to_owned()] {
        let candidate = path.with_file_name(name);
        if candidate.is_file() && kind_of(&candidate)? == Some(FileKind::Topology) {
            return Ok(Some(candidate));
        }
    }
    Ok(None)
}

/// The file as part 0 of each table that it fills.
fn log_parts(
    path: &Path,
    source: Source,
    beside: Option<&Path>,
) -> Result<TraceFolder, SourceError> {
    let mut parts = BTreeMap::new();
    for &table in source.tables() {
        let (path, beside) = match (source, table) {
            (Source::Rumen, Table::MachineEvents) => match beside {
                Some(topology) => (topology.to_owned(), None),
                None => continue,
            },
            _ => (path.to_owned(), beside.map(Path::to_owned)),
        };
        let part = RawPart::of_file(source, table, (0, Some(1)), &path)?;
        let part = RawPart { beside, ..part };
        parts.insert(table, vec![part]);
    }
    let path = path.parent().map(Path::to_owned).unwrap_or_default();
    Ok(TraceFolder { path, source, parts, ignored: Vec::new() })
}

/// Tells a file from its first lines; `None` where they could be anything.
fn kind_of(path: &Path) -> Result<Option<FileKind>, SourceError> {
    let mut reader = BlockReader::open(path)?;
    let block = reader.next_block(TextBlock::default())?;
    Ok(block.and_then(|block| kind_of_text(block.text())))
}

fn kind_of_text(text: &[u8]) -> Option<FileKind> {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text).trim_ascii_start();
    if text.first() == Some(&b'{') {
        let says = |key: &[u8]| memchr::memmem::find(text, key).is_some();
        return if says(b"\"jobID\"") {
            Some(FileKind::Log(Source::Rumen))
        } else if says(b"\"children\"") {
            Some(FileKind::Topology)
        } else {
            None
        };
    }
    let mut comment = None;
    for line in text.split(|&byte| byte == b'\n') {
        let line = line.trim_ascii();
        match line.first() {
            None => {}
            Some(&byte @ (b';' | b'#')) => comment = comment.or(Some(byte)),
            Some(_) => return kind_of_job(line, comment),
        }
    }
    // A header alone: only the standard format begins its lines with a semicolon.
    (comment == Some(b';')).then_some(FileKind::Log(Source::Swf))
}

/// Tells a log from its first job, by the number of fields.
fn kind_of_job(line: &[u8], comment: Option<u8>) -> Option<FileKind> {
    let by_space = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).count();
    let by_tab = line.split(|&byte| byte == b'\t').count();
    let is_gwf = |count| (29..=30).contains(&count);
    if (is_gwf(by_space) || is_gwf(by_tab)) && comment != Some(b';') {
        Some(FileKind::Log(Source::Gwf))
    } else if (by_space == 18 || comment == Some(b';')) && comment != Some(b'#') {
        let is_number = |byte: &u8| byte.is_ascii_digit() || b"-+.eE".contains(byte);
        let mut first = line.split(u8::is_ascii_whitespace);
        first.next()?.iter().all(is_number).then_some(FileKind::Log(Source::Swf))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<FileKind>) {
        assert_eq!(kind_of_text(text.as_bytes()), expected, "{text}");
    }

    #[test]
    fn a_format_is_told_from_its_first_lines() {
        let swf = Some(FileKind::Log(Source::Swf));
        let gwf = Some(FileKind::Log(Source::Gwf));
        let job = "1 0 -1 5 1 -1 -1 -1 -1 -1 1 1 1 -1 -1 -1 -1 -1";
        check("; Version: 2.2\n", swf);
        check(job, swf);
        check(&format!("\u{FEFF}; Computer: x\r\n\r\n{job}\r\n"), swf);
        check(&format!("# GWF\n{job} -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n"), gwf);
        check(&format!("{job} -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n"), gwf);
        check(&format!("a b c\t{}\n", vec!["-1"; 28].join("\t")), gwf);
        check(
            " {\"priority\":\"NORMAL\",\"jobID\":\"job_1_1\"}",
            Some(FileKind::Log(Source::Rumen)),
        );
        check("{\n \"name\" : \"<root>\", \"children\" : [] }", Some(FileKind::Topology));
        for other in [
            "",
            "\n\n",
            "# only a comment",
            "0,5,0,HofL=,0.5,0.2493\n",
            "{\"a\":1}",
            "<html>",
            "a b c",
        ] {
            check(other, None);
        }
    }
}
