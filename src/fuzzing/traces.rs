//! Checks of the parsers of traces: no input makes a parser panic, no line is lost silently, and
//! block boundaries make no difference.

use std::path::PathBuf;
use std::sync::Arc;

use crate::schema::{Source, Table};
use crate::sources::blocks::TextBlock;
use crate::sources::fields::PADDING;
use crate::sources::joined::TABLES;
use crate::sources::map::Map;
use crate::sources::propose::propose;
use crate::sources::reading::Reading;
use crate::sources::{Notes, RawPart, RowBlock, google_2011, parser_of};

use super::choice;

/// Everything that a parser returned for a text.
#[derive(Debug, PartialEq)]
struct Parsed {
    rows: RowBlock,
    notes: Notes,
}

/// A part of a table, and how the user wants it to be read.
fn part_of(source: Source, table: Table, reading: Reading) -> RawPart {
    RawPart {
        source,
        table,
        part: 3,
        of: None,
        path: PathBuf::from("fuzzed"),
        bytes: 0,
        joined: Vec::new(),
        beside: None,
        owners: None,
        own: None,
        reading: Arc::new(reading),
    }
}

/// Parses a text in blocks. Each block ends at the first line end at least `step` bytes after its
/// start.
fn parsed(part: &RawPart, text: &[u8], step: usize) -> Parsed {
    let (source, table) = (part.source, part.table);
    let Ok(mut parser) = parser_of(part, text) else {
        // A column is missing from the header: this is reported before any line is read.
        return Parsed { rows: RowBlock::new(table, source, 0), notes: Notes::default() };
    };
    let (mut all, mut block) = (RowBlock::new(table, source, 0), RowBlock::new(table, source, 0));
    let mut add = |block: &mut RowBlock| {
        let rows: Vec<u32> = (0..).take(block.row_ids.len()).collect();
        all.append(block, &rows);
        all.rejects.append(&mut block.rejects);
        all.line_count += block.line_count;
    };
    let mut rest = text;
    let mut first_line = 1;
    while !rest.is_empty() {
        let from = step.min(rest.len() - 1);
        let end = memchr::memchr(b'\n', &rest[from..]).map_or(rest.len(), |at| from + at + 1);
        let (lines, after) = rest.split_at(end);
        let mut handed_lines = 0;
        parser.parse(&TextBlock::of(lines), first_line, &mut block, &mut |full| {
            handed_lines += full.line_count;
            add(full);
            full.clear();
        });
        first_line += handed_lines + block.line_count;
        add(&mut block);
        rest = after;
    }
    block.clear();
    parser.finish(&mut block, &mut |full| {
        add(full);
        full.clear();
    });
    add(&mut block);
    Parsed { notes: parser.notes(), rows: all }
}

/// Checks what must hold for every format, and returns the rows and notes.
fn check(source: Source, table: Table, text: &[u8]) -> Parsed {
    check_part(&part_of(source, table, Reading::default()), text)
}

/// The same as `check`, for a part with settings of the user.
fn check_part(part: &RawPart, text: &[u8]) -> Parsed {
    let (source, table) = (part.source, part.table);
    let whole = parsed(part, text, usize::MAX);
    let cut = parsed(part, text, 1 + text.len() / 3);
    assert_eq!(whole, cut, "{source} {table}: where the text is cut");
    let line_count = text.split_inclusive(|&byte| byte == b'\n').count() as u64;
    assert_eq!(whole.rows.line_count, line_count);
    for reject in &whole.rows.rejects {
        // An empty topology is not a tree of hosts; the error names its first line.
        let last = line_count.max(1);
        assert!((1..=last).contains(&reject.line), "{reject:?} of {line_count} lines");
    }
    for (column, data) in whole.rows.column_list().iter().zip(&whole.rows.columns) {
        assert!(data.nulls.is_sorted());
        assert!(data.absent == 0 || data.nulls.is_empty());
        let has_all = data.absent == 0 && data.nulls.is_empty();
        assert!(!column.is_mandatory || has_all, "{}", column.name);
    }
    let mut ids = whole.rows.row_ids.clone();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), whole.rows.row_ids.len(), "a row's id is its own");
    whole
}

/// The same lines with every field in quotes; only the careful parser reads quotes.
fn quoted(text: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let fields: Vec<Vec<u8>> =
            line.split(|&byte| byte == b',').map(|field| [b"\"", field, b"\""].concat()).collect();
        all.extend(fields.join(&b','));
        all.push(b'\n');
    }
    all
}

/// Google 2011: each line is a row or a reject, and the fast parser gives the same result as the
/// careful one.
pub fn csv(input: &[u8]) {
    let (which, text) = choice(input);
    let table = Table::ALL[which % Table::ALL.len()];
    let Parsed { rows, .. } = check(Source::Google2011, table, text);
    assert_eq!((rows.row_ids.len() + rows.rejects.len()) as u64, rows.line_count);
    if text.contains(&b'"') {
        return;
    }
    let order = google_2011::ColumnOrder::detect(table, text);
    let mut padded = quoted(text);
    let len = padded.len();
    padded.resize(len + PADDING, 0);
    let mut careful = RowBlock::new(table, Source::Google2011, 0);
    google_2011::parse_block(&order, 3, 1, &padded, len, &mut careful);
    assert_eq!((&rows.row_ids, &rows.columns), (&careful.row_ids, &careful.columns));
    let places = |rows: &RowBlock| -> Vec<_> {
        rows.rejects.iter().map(|reject| (reject.line, reject.column, reject.reason)).collect()
    };
    assert_eq!(places(&rows), places(&careful));
}

/// Google 2019: each line that is not blank is a row or a reject, or is left out for a reason that
/// is counted.
pub fn json(input: &[u8]) {
    let (which, text) = choice(input);
    let table = Table::ALL[which % Table::ALL.len()];
    let is_of_sets = which / Table::ALL.len() % 2 == 1;
    let source = if is_of_sets { Source::Google2019AllocSets } else { Source::Google2019 };
    let Parsed { rows, notes } = check(source, table, text);
    if table != Table::TaskConstraints {
        let told = rows.row_ids.len() as u64
            + rows.rejects.len() as u64
            + notes.remarks.values().sum::<u64>();
        let lines = text.split(|&byte| byte == b'\n');
        let filled = lines.filter(|line| !line.trim_ascii().is_empty()).count() as u64;
        assert!(filled <= told, "{filled} lines, {told} told of");
    }
}

/// The header of the joined file of 2019, with the columns that decide which rows are used.
const JOINED: &[u8] =
    b",time,instance_events_type,collection_id,scheduling_class,collection_type,priority,\
instance_index,machine_id,resource_request,user,start_after_collection_ids,start_time,end_time,\
average_usage,cpu_usage_distribution,cluster,event,collections_events_type\n";

/// The joined file of 2019, with or without its header: no record is lost silently.
pub fn joined(input: &[u8]) {
    let (which, rest) = choice(input);
    let table = TABLES[which / 2 % TABLES.len()];
    let text = if which % 2 == 0 { [JOINED, rest].concat() } else { rest.to_vec() };
    check(Source::Google2019, table, &text);
}

/// A map, a line of `---`, and a table. A text without that line is only a table. The map that is
/// proposed for such a table can be read, or has gaps that the user must fill in.
pub fn mapped(input: &[u8]) {
    const BETWEEN: &[u8] = b"\n---\n";
    let (_, text) = choice(input);
    let (map, table) = match memchr::memmem::find(text, BETWEEN) {
        Some(at) => (str::from_utf8(&text[..at]).ok(), &text[at + BETWEEN.len()..]),
        None => (None, text),
    };
    let proposed = propose(table).ok().map(|proposal| proposal.text);
    if let Some(text) = &proposed
        && let Err(error) = Map::read(text)
    {
        let left = ["it names no time", "nothing says when a job ", "`state` needs a table"];
        assert!(left.iter().any(|begin| error.problem.starts_with(begin)), "{text}: {error}");
    }
    let Some(map) = map.map(str::to_owned).or(proposed).and_then(|text| Map::read(&text).ok())
    else {
        return;
    };
    let map = Arc::new(map);
    let reading = || Reading { map: Some(Arc::clone(&map)), ..Reading::default() };
    let of = |kind| part_of(Source::Mapped, kind, reading());
    if parsed(&of(Table::JobEvents), table, usize::MAX).rows.line_count == 0 {
        // A column of the map is missing from the table: this is reported before any line is read.
        return;
    }
    let [jobs, tasks] =
        [Table::JobEvents, Table::TaskEvents].map(|kind| check_part(&of(kind), table));
    assert_eq!(jobs.rows.rejects, tasks.rows.rejects);
    assert_eq!(jobs.notes.remarks, tasks.notes.remarks);
}

/// Checks a log of a kind of trace. A kind without its own arm is checked as a table of one row
/// per attempt, and the same text is also read as machines.
pub(super) fn log(source: Source, input: &[u8]) {
    match source {
        Source::Swf | Source::Gwf => jobs(source, input),
        Source::Rumen => rumen(input),
        Source::Slurm => records(source, input),
        Source::Kubernetes => kubernetes(input),
        _ => {
            records(source, input);
            check(source, Table::MachineEvents, choice(input).1);
        }
    }
}

/// A log of one line per job: each job is in both tables of events, or in neither.
fn jobs(source: Source, input: &[u8]) {
    let (_, text) = choice(input);
    let of = |table| check(source, table, text);
    let (jobs, tasks) = (of(Table::JobEvents), of(Table::TaskEvents));
    assert_eq!(jobs.rows.row_ids, tasks.rows.row_ids);
    assert_eq!(jobs.rows.rejects, tasks.rows.rejects);
    assert_eq!(jobs.notes.remarks, tasks.notes.remarks);
    let machines = of(Table::MachineEvents);
    assert!(machines.rows.row_ids.len() <= 1 && machines.rows.rejects.is_empty());
}

/// Rumen: both tables of events reject the same jobs.
fn rumen(input: &[u8]) {
    let (_, text) = choice(input);
    let of = |table| check(Source::Rumen, table, text);
    let (jobs, tasks) = (of(Table::JobEvents), of(Table::TaskEvents));
    assert_eq!(jobs.rows.rejects, tasks.rows.rejects);
    of(Table::MachineEvents);
}

/// Lists and lines of Kubernetes objects: both tables of events reject the same objects.
fn kubernetes(input: &[u8]) {
    let (_, text) = choice(input);
    let of = |table| check(Source::Kubernetes, table, text);
    let (jobs, tasks) = (of(Table::JobEvents), of(Table::TaskEvents));
    assert_eq!(jobs.rows.rejects, tasks.rows.rejects);
    assert_eq!(jobs.notes.remarks, tasks.notes.remarks);
    assert!(of(Table::MachineEvents).rows.rejects.is_empty());
}

/// A table of one row per attempt: both tables of events reject the same lines, and leave out the
/// same lines for reasons that are counted. In Slurm, machines come from the same lines.
fn records(source: Source, input: &[u8]) {
    let (_, text) = choice(input);
    let part = part_of(source, Table::JobEvents, Reading::default());
    let whole = parsed(&part, text, usize::MAX);
    if whole.rows.line_count == 0 {
        return;
    }
    let of = |table| check(source, table, text);
    let (jobs, tasks) = (of(Table::JobEvents), of(Table::TaskEvents));
    assert_eq!(jobs.rows.rejects, tasks.rows.rejects);
    assert_eq!(jobs.notes.remarks, tasks.notes.remarks);
    if source == Source::Slurm {
        assert!(of(Table::MachineEvents).rows.rejects.is_empty());
    }
}
