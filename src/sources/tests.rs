//! Common code for tests of formats: a text in, its rows and events out.

use super::blocks::{BlockReader, TextBlock};
use super::reading::Reading;
use super::zone::Zone;
use super::{Cells, Notes, RawPart, RowBlock, parser_of};
use crate::schema::{Source, Table};
use crate::units::MICROS_PER_SECOND;

/// The rows and notes of a text.
pub(super) struct Rows {
    pub block: RowBlock,
    pub notes: Notes,
}

impl Rows {
    /// A cell as text; `-` if it is missing.
    pub(super) fn cell(&self, column: &str, row: usize) -> String {
        let idx = self.block.table.column_idx(self.block.source, column).expect("a column");
        let data = &self.block.columns[idx];
        if 0 < data.absent || data.nulls.contains(&u32::try_from(row).unwrap()) {
            return "-".to_owned();
        }
        match &data.cells {
            Cells::I64(cells) => cells[row].to_string(),
            Cells::I32(cells) => cells[row].to_string(),
            Cells::F32(cells) => cells[row].to_string(),
            Cells::Bool(cells) => cells[row].to_string(),
            Cells::Text { ends, bytes } => bytes[super::range_of(ends, row)].to_owned(),
            Cells::Lists { ends, values } => {
                format!("{:?}", &values[super::range_of(ends, row)])
            }
        }
    }

    pub(super) fn rejects(&self) -> Vec<String> {
        self.block
            .rejects
            .iter()
            .map(|reject| format!("{} {} {}", reject.line, reject.column, reject.reason.name()))
            .collect()
    }

    /// The events of all jobs, times in seconds.
    pub(super) fn history(&self) -> String {
        self.history_of((0..self.block.row_ids.len()).collect())
    }

    /// The same in the order of the lake.
    pub(super) fn history_in_time(&self) -> String {
        let mut rows: Vec<usize> = (0..self.block.row_ids.len()).collect();
        let time_us = |row: usize| self.cell("time_us", row).parse::<i64>().unwrap();
        rows.sort_by_key(|&row| (time_us(row), self.block.row_ids[row]));
        self.history_of(rows)
    }

    fn history_of(&self, rows: Vec<usize>) -> String {
        const NAMES: [&str; 6] = ["SUBMIT", "SCHEDULE", "EVICT", "FAIL", "FINISH", "KILL"];
        let events: Vec<String> = rows
            .into_iter()
            .map(|row| {
                let time_us: i64 = self.cell("time_us", row).parse().unwrap();
                let kind: usize = self.cell("event_type", row).parse().unwrap();
                format!("{} {}", time_us / MICROS_PER_SECOND, NAMES[kind])
            })
            .collect();
        events.join(", ")
    }
}

/// Parses a text in one block.
pub(super) fn parsed(source: Source, table: Table, text: &str) -> Rows {
    parsed_in(None, source, table, text)
}

/// The same, with a zone for times without one.
pub(super) fn parsed_in(zone: Option<Zone>, source: Source, table: Table, text: &str) -> Rows {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    std::fs::write(&path, text).unwrap();
    let part = RawPart {
        source,
        table,
        part: 0,
        of: Some(1),
        path: path.clone(),
        bytes: 0,
        joined: Vec::new(),
        beside: None,
        owners: None,
        own: None,
        reading: std::sync::Arc::new(Reading { zone, ..Reading::default() }),
    };
    parsed_part(&part)
}

/// Parses a file of a log.
pub(super) fn parsed_part(part: &RawPart) -> Rows {
    let (table, source) = (part.table, part.source);
    let begin = super::begin_of(&part.path).unwrap();
    let mut parser = parser_of(part, &begin).unwrap();
    let mut block = RowBlock::new(table, source, 0);
    let mut last = RowBlock::new(table, source, 0);
    let mut reader = BlockReader::of_files(&part.path, &part.joined).unwrap();
    let (mut text, mut first_line) = (TextBlock::default(), 1);
    while let Some(lines) = reader.next_block(text).unwrap() {
        let mut rows = RowBlock::new(table, source, 0);
        parser.parse(&lines, first_line, &mut rows, &mut |_| unreachable!("the texts are small"));
        first_line += rows.line_count;
        block.line_count += rows.line_count;
        let all: Vec<u32> = (0..u32::try_from(rows.row_ids.len()).unwrap()).collect();
        block.append(&rows, &all);
        block.rejects.append(&mut rows.rejects);
        text = lines;
    }
    parser.finish(&mut last, &mut |_| unreachable!("the texts are small"));
    let all: Vec<u32> = (0..u32::try_from(last.row_ids.len()).unwrap()).collect();
    block.append(&last, &all);
    block.rejects.append(&mut last.rejects);
    Rows { notes: parser.notes(), block }
}

/// Compares the events of a log, in both tables of events.
#[track_caller]
pub(super) fn check(source: Source, text: &str, expected: &str) {
    for table in [Table::JobEvents, Table::TaskEvents] {
        let rows = parsed(source, table, text);
        assert_eq!(rows.rejects(), Vec::<String>::new(), "{text}");
        assert_eq!(rows.history(), expected, "{text}");
    }
}
