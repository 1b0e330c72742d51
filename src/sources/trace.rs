//! Recognises the trace in a file or folder, and assigns its files to tables.
//!
//! In: a path, and perhaps the kind of trace that the user gives. Out: a [`TraceFolder`]. The kind
//! is recognised from the layout of a folder, or from the first lines of a file. If neither is
//! known, an error describes what was seen; nothing is guessed. Only the first lines are read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::blocks::{BlockReader, TextBlock};
use super::folder::sorted_names;
use super::format::FileKind;
use super::google_2019::files;
use super::reading::{Files, Reading};
use super::{
    RawPart, SourceError, SourceErrorKind, TraceFolder, alibaba, begin_of, format_of, joined, swf,
};
use crate::schema::{Source, Table};

/// Finds the parts of a trace. Without `source`, its kind is recognised; with `table`, the path is
/// a flat folder of parts of that table of the Google trace.
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
    if is_2019 && !(path.is_file() && joined::is_seen(&begin_of(path)?)) {
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

/// Whether a folder has folders named after tables.
fn has_tables(path: &Path) -> Result<bool, SourceError> {
    let names = sorted_names(path)?;
    Ok(names.iter().any(|name| name.parse::<Table>().is_ok() && path.join(name).is_dir()))
}

/// The files of a folder, by kind.
#[derive(Default)]
struct Sorted {
    logs: Vec<(String, Source)>,
    topologies: Vec<String>,
    nodes: Vec<PathBuf>,
    ignored: Vec<String>,
    /// Descriptions of the ignored files.
    seen: Vec<String>,
}

/// Sorts the files of a folder by kind.
fn sorted_files(path: &Path, source: Option<Source>) -> Result<Sorted, SourceError> {
    let mut files = Sorted::default();
    let Sorted { logs, topologies, nodes, ignored, seen } = &mut files;
    for name in sorted_names(path)? {
        let file = path.join(&name);
        if source == Some(Source::Mapped) {
            // Only the map describes their contents.
            if file.is_file() && !is_note(&name) && !name.ends_with(".toml") {
                logs.push((name, Source::Mapped));
            }
            continue;
        }
        // A file that is not text is not a log. Damaged gzip, and a file that the system cannot
        // read, might be one: it is an error and not left out.
        let is_lost = |kind: &SourceErrorKind| kind.is_damaged_gzip() || !kind.is_bad_data();
        let kind = match file.is_file().then(|| kind_of(&file)).transpose() {
            Err(error) if is_lost(&error.kind) && !is_note(&name) => return Err(error),
            kind => kind.ok().flatten(),
        };
        match kind {
            Some(Ok(FileKind::Log(kind))) if source.is_none_or(|source| source == kind) => {
                logs.push((name, kind));
            }
            Some(Ok(FileKind::Topology)) => topologies.push(name),
            // The list of nodes of pods is found again from its log.
            Some(Ok(FileKind::Nodes)) => nodes.push(file),
            _ if is_note(&name) => {}
            kind => {
                if let Some(Err(what)) = kind {
                    seen.push(format!("`{name}`: {what}"));
                }
                ignored.push(name);
            }
        }
    }
    Ok(files)
}

/// Opens a folder with one log.
fn open_folder(path: &Path, source: Option<Source>) -> Result<TraceFolder, SourceError> {
    let fail = |kind| SourceError::new(path, kind);
    let Sorted { logs, topologies, nodes, ignored, mut seen } = sorted_files(path, source)?;
    if let Some(&(_, source)) = logs.first()
        && matches!(source, Source::Alibaba2017 | Source::Alibaba2018)
        && logs.iter().all(|(_, kind)| *kind == source)
    {
        let mut tables: Vec<PathBuf> = logs.iter().map(|(name, _)| path.join(name)).collect();
        tables.extend(nodes);
        let folder = alibaba::files::tables(source, path, &tables)?;
        return Ok(TraceFolder { ignored, ..folder });
    }
    match (&logs[..], source) {
        ([(name, kind)], _) => {
            let beside = match &topologies[..] {
                [only] if *kind == Source::Rumen => Some(path.join(only)),
                _ if *kind == Source::Openb => nodes_beside(&path.join(name))?,
                _ => None,
            };
            let mut folder = log_parts(&path.join(name), *kind, beside.as_deref())?;
            folder.ignored = ignored;
            Ok(folder)
        }
        ([], Some(source)) => Err(fail(SourceErrorKind::NoLog(source))),
        ([], None) if seen.is_empty() => Err(fail(SourceErrorKind::NoTable)),
        ([], None) => {
            let more = seen.len().saturating_sub(FILES_SAID);
            seen.truncate(FILES_SAID);
            seen.extend((0 < more).then(|| format!("and {more} more")));
            Err(fail(SourceErrorKind::NothingKnown(seen)))
        }
        (logs @ [(_, kind), ..], _)
            if kind.has_files() && logs.iter().all(|(_, other)| other == kind) =>
        {
            let paths: Vec<PathBuf> = logs.iter().map(|(name, _)| path.join(name)).collect();
            let mut folder = files_of_log(&paths, *kind)?;
            folder.ignored = ignored;
            Ok(folder)
        }
        ([(first, _), rest @ ..], _)
            if logs.iter().all(|(_, kind)| *kind == Source::Kubernetes) =>
        {
            let rest: Vec<PathBuf> = rest.iter().map(|(name, _)| path.join(name)).collect();
            let mut folder = log_parts(&path.join(first), Source::Kubernetes, None)?;
            for part in folder.parts.values_mut().flatten() {
                *part = part.clone().joined_by(&rest)?;
            }
            Ok(TraceFolder { ignored, ..folder })
        }
        (logs, _) => {
            let names = logs.iter().map(|(name, _)| name.clone()).collect();
            Err(fail(SourceErrorKind::SeveralLogs(names)))
        }
    }
}

/// Whether a file is not a log but often found next to one: checksums, licences, descriptions.
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
            Ok(FileKind::Log(kind)) => kind,
            Ok(FileKind::Topology | FileKind::Nodes) => {
                return Err(fail(SourceErrorKind::OnlyTopology));
            }
            Err(what) => return Err(fail(SourceErrorKind::UnknownFormat(what))),
        },
    };
    let beside = match kind {
        Source::Rumen => topology_beside(path)?,
        Source::Openb => nodes_beside(path)?,
        Source::Alibaba2017 | Source::Alibaba2018 => {
            return alibaba::files::tables(kind, path, &[path.to_owned()]);
        }
        _ => None,
    };
    log_parts(path, kind, beside.as_deref())
}

/// The list of nodes in the folder of a table of pods: the one of all nodes, or the only one.
fn nodes_beside(path: &Path) -> Result<Option<PathBuf>, SourceError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let mut lists = Vec::new();
    for name in sorted_names(folder)? {
        let file = folder.join(&name);
        let is_list = name.contains("node") && file.is_file();
        // A file that cannot be read is not a list of nodes.
        if is_list && matches!(kind_of(&file), Ok(Ok(FileKind::Nodes))) {
            lists.push((!name.contains("all_node"), file));
        }
    }
    lists.sort();
    let is_told = lists.len() == 1 || lists.first().is_some_and(|(is_part, _)| !is_part);
    Ok(lists.into_iter().next().map(|(_, file)| file).filter(|_| is_told))
}

/// The topology in the folder of a Rumen trace, with `topology` instead of `trace` in its name.
fn topology_beside(path: &Path) -> Result<Option<PathBuf>, SourceError> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if !name.contains("trace") {
        return Ok(None);
    }
    let stem = name.replace("trace", "topology");
    let stem = stem.strip_suffix(".gz").unwrap_or(&stem);
    for name in [format!("{stem}.gz"), stem.to_owned()] {
        let candidate = path.with_file_name(name);
        if candidate.is_file() && kind_of(&candidate)? == Ok(FileKind::Topology) {
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
    // Of the Google traces, only the joined file of 2019 is a log.
    let tables = if source.is_google() { &joined::TABLES[..] } else { source.tables() };
    for &table in tables {
        let (path, beside) = match (source, table) {
            (Source::Rumen | Source::Openb, Table::MachineEvents) => match beside {
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

/// The files of a log, in the order of their names, as the parts of each table that they fill.
fn files_of_log(paths: &[PathBuf], source: Source) -> Result<TraceFolder, SourceError> {
    let mut parts: BTreeMap<Table, Vec<RawPart>> = BTreeMap::new();
    let files = Files::of(paths.to_vec());
    let reading = Arc::new(Reading { files, ..Reading::default() });
    for &table in source.tables() {
        for (number, path) in (0..).zip(paths) {
            let part = RawPart::of_file(source, table, (number, None), path)?;
            let part = RawPart { reading: Arc::clone(&reading), ..part };
            parts.entry(table).or_default().push(part);
        }
    }
    let path = paths.first().and_then(|path| path.parent()).map(Path::to_owned).unwrap_or_default();
    Ok(TraceFolder { path, source, parts, ignored: Vec::new() })
}

/// The number of jobs that are examined to recognise a log.
const LINES_LOOKED_AT: usize = 100;

/// The number of files of a folder that an error describes.
const FILES_SAID: usize = 3;

/// The kind of a file from its first lines, or a description of what was seen.
fn kind_of(path: &Path) -> Result<Result<FileKind, String>, SourceError> {
    let mut reader = BlockReader::open(path)?;
    let block = reader.next_block(TextBlock::default())?;
    Ok(block.map_or_else(|| Err("it is empty".to_owned()), |block| kind_of_text(block.text())))
}

fn kind_of_text(text: &[u8]) -> Result<FileKind, String> {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text).trim_ascii_start();
    if let Some(what) = no_text(text) {
        return Err(what.to_owned());
    }
    let is_json = text.first() == Some(&b'{');
    // Pods may have any label, including the keys of Rumen. So sources are tried from the last to
    // the first.
    let mut seen = Source::ALL.into_iter().rev().map(|source| format_of(source).seen);
    let found = seen.find_map(|seen| seen.kind_of(text, is_json));
    if let Some(kind) = found {
        return Ok(kind);
    }
    if is_json {
        return Err(seen_in_json(text));
    }
    let is_comment = |line: &&[u8]| matches!(line.first(), Some(b';' | b'#'));
    let lines = || text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let comment = lines().find(|line| is_comment(line)).map(|line| line[0]);
    let jobs: Vec<&[u8]> = lines()
        .filter(|line| !line.is_empty() && !is_comment(line))
        .take(LINES_LOOKED_AT)
        .collect();
    let Some(first) = jobs.first() else {
        // The file has only a header: only SWF begins its lines with a semicolon.
        return match comment {
            Some(b';') => Ok(FileKind::Log(Source::Swf)),
            Some(_) => Err("it contains only lines that begin with `#`".to_owned()),
            None => Err("it is empty".to_owned()),
        };
    };
    for source in [Source::Gwf, Source::Swf] {
        let count = jobs.iter().filter(|line| kind_of_job(line, comment) == Some(source)).count();
        // Some lines may be truncated, or hold names.
        if jobs.len() < 2 * count {
            return Ok(FileKind::Log(source));
        }
    }
    Err(seen_in(first, comment))
}

/// A description of a JSON object of no known kind.
fn seen_in_json(text: &[u8]) -> String {
    let says = |key: &[u8]| memchr::memmem::find(text, key).is_some();
    if says(b"\"collection_id\"") || says(b"\"machine_id\"") {
        "it contains JSON objects like those of the Google trace of 2019, but its name is not that \
        of an export file (`instance_events-000000000000.json.gz`)"
            .to_owned()
    } else {
        "it contains a JSON object with neither `jobID` (a Rumen job) nor `children` (a topology) nor \
        `apiVersion` (Kubernetes)"
            .to_owned()
    }
}

/// A description of a file that does not begin like text; `None` for text.
fn no_text(text: &[u8]) -> Option<&'static str> {
    const MAGICS: [(&[u8], &str); 6] = [
        (b"PK\x03\x04", "it is a zip archive"),
        (b"BZh", "it is compressed with bzip2"),
        (b"\xFD7zXZ", "it is compressed with xz"),
        (b"\x28\xB5\x2F\xFD", "it is compressed with zstd"),
        (b"PAR1", "it is Parquet, but no file of the Google trace of 2019 has this name"),
        (b"<", "it begins like a page of HTML or XML"),
    ];
    let known = MAGICS.iter().find(|(magic, _)| text.starts_with(magic));
    let begin = &text[..text.len().min(512)];
    known.map(|(_, what)| *what).or(begin.contains(&0).then_some("it is not text"))
}

/// A description of a first line that is not a job.
fn seen_in(line: &[u8], comment: Option<u8>) -> String {
    let spaced: Vec<&[u8]> = fields_of(line).collect();
    let by_comma = line.split(|&byte| byte == b',').count();
    if spaced.len() < by_comma {
        return format!(
            "its first line has {by_comma} fields between commas, as a part of the Google trace of \
             2011 may have: give their folder, or name the table with `--table`"
        );
    }
    let odd = spaced.iter().take(swf::FIELD_COUNT).position(|field| !is_number(field));
    let is_odd = odd.filter(|_| swf::FIELD_COUNT <= spaced.len()).map(|at| {
        let shown: String = String::from_utf8_lossy(spaced[at]).chars().take(20).collect();
        format!(", and field {} (`{}`) is not a number", at + 1, shown.escape_debug())
    });
    let header = match comment {
        Some(b'#') => ", below a header with `#` as GWF has",
        Some(_) => ", below a header with `;` as SWF has",
        None => "",
    };
    format!(
        "its first job has {} fields{header}{}; a job of SWF has 18 or more, the first 18 of them \
         numbers, one of GWF 29 or 30",
        spaced.len(),
        is_odd.unwrap_or_default()
    )
}

fn fields_of(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty())
}

fn is_number(field: &[u8]) -> bool {
    field.iter().all(|byte| byte.is_ascii_digit() || b"-+.eE".contains(byte))
}

/// The format of a job, from the number of its fields and their contents.
fn kind_of_job(line: &[u8], comment: Option<u8>) -> Option<Source> {
    let by_space = fields_of(line).count();
    let by_tab = line.split(|&byte| byte == b'\t').count();
    let is_gwf = |count| (29..=30).contains(&count);
    if (is_gwf(by_space) || is_gwf(by_tab)) && comment != Some(b';') {
        return Some(Source::Gwf);
    }
    // A header with `;` is enough for SWF: its lines may be truncated.
    let numbers = if comment == Some(b';') { 1 } else { swf::FIELD_COUNT };
    let is_standard = comment != Some(b'#')
        && numbers <= by_space
        && fields_of(line).take(numbers).all(is_number);
    is_standard.then_some(Source::Swf)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<FileKind>) {
        assert_eq!(kind_of_text(text.as_bytes()).ok(), expected, "{text}");
    }

    #[test]
    fn a_format_is_known_from_its_first_lines() {
        let swf = Some(FileKind::Log(Source::Swf));
        let gwf = Some(FileKind::Log(Source::Gwf));
        let job = "1 0 -1 5 1 -1 -1 -1 -1 -1 1 1 1 -1 -1 -1 -1 -1";
        check("; Version: 2.2\n", swf);
        check(job, swf);
        check(&format!("{job} 7 8.5 -1"), swf);
        check(&format!("a line of names\n{job}\n{job}\n"), swf);
        check(&format!("; cut off\n{job}\n1 2 3"), swf);
        check(&format!("; with more\n{job} x y z\n"), swf);
        check(&format!("\u{FEFF}; Computer: x\r\n\r\n{job}\r\n"), swf);
        check(&format!("# GWF\n{job} -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n"), gwf);
        check(&format!("{job} -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n"), gwf);
        check(&format!("a b c\t{}\n", vec!["-1"; 28].join("\t")), gwf);
        check(
            " {\"priority\":\"NORMAL\",\"jobID\":\"job_1_1\"}",
            Some(FileKind::Log(Source::Rumen)),
        );
        check("{\n \"name\" : \"<root>\", \"children\" : [] }", Some(FileKind::Topology));
    }

    #[test]
    fn what_is_of_no_kind_is_described() {
        let check = |text: &str, part: &str| {
            let said = kind_of_text(text.as_bytes()).unwrap_err();
            assert!(said.contains(part), "{text}: {said}");
        };
        let job = "1 0 -1 5 1 -1 -1 -1 -1 -1 1 1 1 -1 -1 -1 -1";
        check("", "it is empty");
        check("\n\n", "it is empty");
        check("# only a comment", "only lines that begin with `#`");
        check("0,5,0,HofL=,0.5,0.2493\n", "6 fields between commas");
        check("{\"a\":1}", "with neither `jobID`");
        check("{\"collection_id\":1}", "the Google trace of 2019");
        check("<html>", "HTML");
        check("PK\u{3}\u{4}...", "zip");
        check("a\0b", "not text");
        check("a b c", "its first job has 3 fields; a job of SWF has 18 or more");
        check(job, "17 fields;");
        check(&format!("{job} x"), "18 fields, and field 18 (`x`) is not a number");
        check(&format!("# GWF\n{job} -1"), "18 fields, below a header with `#` as GWF has");
    }
}
