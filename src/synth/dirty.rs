//! Known bad lines that are added to the good lines of a dirty trace.
//!
//! In: a good row. Out: the same row with exactly one fault, which `sources/` must reject under
//! the name of the fault. Bad lines are extra lines: no good row is replaced, and the last line of
//! a part is good.

use super::draw::{Draws, Stream};
use super::table::{Column, ColumnKind, Need, Table};

/// The fault of a planted line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    TooFewColumns,
    TooManyColumns,
    EmptyMandatory,
    BadValue,
    NegativeTime,
    UnknownEventType,
}

impl Fault {
    /// All faults; the last one needs a column of event types.
    const ALL: [Self; 6] = [
        Self::TooFewColumns,
        Self::TooManyColumns,
        Self::EmptyMandatory,
        Self::BadValue,
        Self::NegativeTime,
        Self::UnknownEventType,
    ];

    /// The name in `truth.json`.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::TooFewColumns => "too_few_columns",
            Self::TooManyColumns => "too_many_columns",
            Self::EmptyMandatory => "empty_mandatory",
            Self::BadValue => "bad_value",
            Self::NegativeTime => "negative_time",
            Self::UnknownEventType => "unknown_event_type",
        }
    }
}

/// Good rows per planted bad line, apart from the bad lines that every part gets.
const ROWS_PER_FAULT: usize = 5_000;

/// The share of good lines that end in CRLF.
const CRLF_CHANCE: f64 = 0.005;

/// The faults of one part, from last to first row, and their random draws.
pub(super) struct DirtyPart {
    table: Table,
    draws: Draws,
    /// (row before which the bad line is inserted, fault). The next fault is the last element.
    faults: Vec<(usize, Fault)>,
}

impl DirtyPart {
    pub(super) fn draw(seed: u64, table: Table, part: usize, row_count: usize) -> Self {
        let number = (table.index() as u64) << 32 | part as u64;
        let mut draws = Draws::new(seed, Stream::DirtyPart, number);
        let has_event_type = has_kind(table, ColumnKind::EventType);
        let kinds = &Fault::ALL[..Fault::ALL.len() - usize::from(!has_event_type)];
        let least = if table.is_sliced() { 1 } else { kinds.len() };
        let count = if row_count == 0 { 0 } else { least + row_count / ROWS_PER_FAULT };
        let mut faults: Vec<(usize, Fault)> = (0..count)
            .map(|number| {
                let row = usize::try_from(draws.below(row_count as u64)).expect("a row number");
                (row, kinds[(part + number) % kinds.len()])
            })
            .collect();
        faults.sort_by_key(|(row, _)| std::cmp::Reverse(*row));
        Self { table, draws, faults }
    }

    /// Returns the next bad line to insert before `row`, with its line end.
    pub(super) fn line_before(&mut self, row: usize, text: &[u8]) -> Option<(Fault, Vec<u8>)> {
        let (_, fault) = self.faults.pop_if(|(at, _)| *at == row)?;
        Some((fault, broken(self.table, text, fault, &mut self.draws)))
    }

    /// Whether the next good line ends in CRLF.
    pub(super) fn ends_in_crlf(&mut self) -> bool {
        self.draws.chance(CRLF_CHANCE)
    }
}

fn has_kind(table: Table, kind: ColumnKind) -> bool {
    table.columns().iter().any(|column| column.kind == kind)
}

/// Returns a row with one fault, and a line end.
fn broken(table: Table, row: &[u8], fault: Fault, draws: &mut Draws) -> Vec<u8> {
    let row = row.strip_suffix(b"\n").unwrap_or(row);
    let mut fields: Vec<&[u8]> = row.split(|byte| *byte == b',').collect();
    let mut replace = |is_meant: &dyn Fn(&Column) -> bool, texts: &[&'static str]| {
        let columns: Vec<usize> =
            (0..fields.len()).filter(|position| is_meant(&table.columns()[*position])).collect();
        fields[*draws.pick(&columns)] = draws.pick(texts).as_bytes();
    };
    match fault {
        Fault::TooFewColumns => fields.truncate(fields.len() - 1),
        Fault::TooManyColumns => fields.push(b"0"),
        Fault::EmptyMandatory => replace(&|column| column.need == Need::Mandatory, &[""]),
        Fault::BadValue => {
            let is_whole = draws_whole(row);
            if is_whole || !has_kind(table, ColumnKind::Float) {
                let is_meant =
                    |column: &Column| matches!(column.kind, ColumnKind::Integer | ColumnKind::Time);
                replace(&is_meant, &["abc", "1.5", "12a", "99999999999999999999", "0x10"]);
            } else {
                let is_meant = |column: &Column| column.kind == ColumnKind::Float;
                replace(&is_meant, &["abc", "0.1.2", "1e", "0 5", "--1"]);
            }
        }
        Fault::NegativeTime => {
            replace(&|column| column.kind == ColumnKind::Time, &["-1", "-600000000"]);
        }
        Fault::UnknownEventType => {
            replace(&|column| column.kind == ColumnKind::EventType, &["9", "11", "42"]);
        }
    }
    let mut line = fields.join(&b","[..]);
    line.push(b'\n');
    line
}

/// Breaks whole numbers in about every second row, and floats in the others.
fn draws_whole(row: &[u8]) -> bool {
    row.len().is_multiple_of(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_line_has_one_fault() {
        let good = b"600,,7,0,user,1,name,logical\n";
        let mut draws = Draws::new(1, Stream::DirtyPart, 0);
        for fault in Fault::ALL {
            for _ in 0..50 {
                let line = broken(Table::JobEvents, good, fault, &mut draws);
                let text = String::from_utf8(line).unwrap();
                let fields: Vec<&str> = text.trim_end().split(',').collect();
                let difference = "600,,7,0,user,1,name,logical"
                    .split(',')
                    .zip(&fields)
                    .filter(|(before, after)| before != *after)
                    .count();
                let (columns, changes) = match fault {
                    Fault::TooFewColumns => (7, 0),
                    Fault::TooManyColumns => (9, 0),
                    _ => (8, 1),
                };
                assert_eq!((fields.len(), difference), (columns, changes), "{fault:?}: {text}");
            }
        }
    }

    #[test]
    fn every_table_can_have_its_faults() {
        for table in Table::ALL {
            let row = vec!["1"; table.columns().len()].join(",");
            let mut part = DirtyPart::draw(1, table, 0, 40_000);
            let mut count = 0;
            for at in 0..40_000 {
                while part.line_before(at, row.as_bytes()).is_some() {
                    count += 1;
                }
            }
            assert!(count >= 9, "{}: {count}", table.name());
        }
    }
}
