//! Reads a log of JSON objects that follow each other, or are the items of lists.
//!
//! In: blocks of text. Out: each whole object, passed to the source one at a time. Text that is not
//! an object, and an object that the source refuses, is a reject at the line where it begins.
//! Memory holds one object, never a list.

pub(super) mod containers;
mod envelope;
mod objects;
pub(super) mod pick;
mod reader;
pub(super) mod value;

use super::part::{HandOut, Notes};
use super::records::Fault;
use super::rows::RowBlock;

pub(super) use self::envelope::is_list;
pub(super) use self::reader::{ObjectParser, ObjectReader, each_item};

/// The beginning of a file without a byte order mark.
fn without_mark(begin: &[u8]) -> &[u8] {
    begin.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(begin)
}

/// Makes rows of the objects of a file.
pub(super) trait ObjectFormat: Send {
    /// Adds the rows of an object, or returns its fault.
    fn object(
        &mut self,
        raw: &[u8],
        rows: &mut RowBlock,
        hand_out: &mut HandOut<'_>,
    ) -> Result<(), Fault>;

    /// Whether this table reports the rejects.
    fn has_rejects(&self) -> bool {
        true
    }

    /// Adds the rows that are complete only at the end of the file.
    fn end(&mut self, _rows: &mut RowBlock, _hand_out: &mut HandOut<'_>) {}

    /// The notes about the file.
    fn notes(&mut self) -> Notes;
}
