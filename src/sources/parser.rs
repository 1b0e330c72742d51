//! The interface of a format: a parser that makes rows from the text of a part.
//!
//! In: whole lines of text, block by block. Out: typed rows and rejects. The formats that come with
//! the program implement it, and so does a custom one ([`ParserOf`]).

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::blocks::TextBlock;
use super::rows::RowBlock;
use crate::schema::Table;

/// The header of a file, and the assumptions that were made to read its rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// The lines of its header as key and value, in file order; keys may repeat.
    pub header: Vec<(String, String)>,
    /// How often each assumption was made, by its wording.
    pub remarks: BTreeMap<&'static str, u64>,
}

impl Notes {
    /// Adds `count` to the count of an assumption.
    pub(super) fn remark(&mut self, wording: &'static str, count: u64) {
        if 0 < count {
            *self.remarks.entry(wording).or_default() += count;
        }
    }
}

/// Takes the rows so far and leaves the block empty.
pub type HandOut<'a> = dyn FnMut(&mut RowBlock) + 'a;

/// The most rows and rejects that are held before they are handed out, and the most bytes of names
/// in them.
const ROWS_HELD: usize = 1 << 16;
const TEXT_HELD: usize = 16 << 20;

/// Hands out the rows if there are many.
pub(super) fn hand_out_many(rows: &mut RowBlock, hand_out: &mut HandOut<'_>) {
    if ROWS_HELD <= rows.row_ids.len() + rows.rejects.len() || TEXT_HELD <= rows.text_bytes() {
        hand_out(rows);
    }
}

/// Makes rows of the text of one part, block by block.
///
/// Every format implements this trait. A parser gets whole lines in file order, and fills the rows
/// and rejects of the given block. It reads no other file, except those that belong to its part.
pub trait PartParser: Send {
    /// Parses the lines of `text` into `rows`, which it clears first, and sets `rows.line_count` to
    /// their number. The number of the first line is `first_line` (from 1). If the rows could
    /// become too many for memory, some are handed out before the rest is parsed.
    fn parse(
        &mut self,
        text: &TextBlock,
        first_line: u64,
        rows: &mut RowBlock,
        hand_out: &mut HandOut<'_>,
    );

    /// Adds the rows and rejects that are complete only at the end of the file; `rows` is empty
    /// when this is called.
    fn finish(&mut self, _rows: &mut RowBlock, _hand_out: &mut HandOut<'_>) {}

    /// The notes about the file; called after [`PartParser::finish`].
    fn notes(&mut self) -> Notes {
        Notes::default()
    }
}

/// The part of a custom format that a parser reads.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct OwnPart<'a> {
    /// The table of its rows.
    pub table: Table,
    /// Its number among the parts of the table, from 0; see [`row_id`](crate::schema::row_id).
    pub part: u32,
    /// The file.
    pub path: &'a Path,
    /// The beginning of its text: whole lines.
    pub begin: &'a [u8],
}

/// Makes the parser of a part of a custom format.
pub trait ParserOf: Send + Sync {
    /// The parser of a part.
    fn parser(&self, part: OwnPart<'_>) -> Box<dyn PartParser>;
}

impl<F> ParserOf for F
where
    F: Fn(OwnPart<'_>) -> Box<dyn PartParser> + Send + Sync,
{
    fn parser(&self, part: OwnPart<'_>) -> Box<dyn PartParser> {
        self(part)
    }
}

/// A custom format, shared by its parts.
#[derive(Clone)]
pub struct OwnParser(Arc<dyn ParserOf>);

impl OwnParser {
    /// The format that `parser` reads.
    pub fn new(parser: impl ParserOf + 'static) -> Self {
        Self(Arc::new(parser))
    }

    /// The parser of a part.
    pub(super) fn of(&self, part: OwnPart<'_>) -> Box<dyn PartParser> {
        self.0.parser(part)
    }
}

impl fmt::Debug for OwnParser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnParser")
    }
}

impl PartialEq for OwnParser {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for OwnParser {}
