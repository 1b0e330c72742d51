//! Reads one part to the end: inflating, hashing and parsing, the last on a second core if one
//! is idle.
//!
//! In: a [`RawPart`]. Out: row blocks in file order, handed to a sink, then a [`PartSummary`].
//! Blocks are parsed while the next one is inflated, so that the last part of a table does not
//! leave cores idle, and a block is parsed on the same core, still in its cache, when none is.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::SourceError;
use super::blocks::{BlockReader, RawDigest, TextBlock};
use super::folder::RawPart;
use super::google_2011::{self, ColumnOrder};
use super::rows::RowBlock;

/// What was found in a part.
#[derive(Clone, Debug)]
pub struct PartSummary {
    /// Size and checksum of the raw file.
    pub digest: RawDigest,
    /// Lines, usable or not.
    pub line_count: u64,
}

/// Shared by everything that runs for a user: how far it is, and whether it should stop.
#[derive(Debug, Default)]
pub struct Progress {
    /// Raw bytes read so far.
    pub raw_bytes: AtomicU64,
    /// Rows stored so far.
    pub rows: AtomicU64,
    /// Set to stop at the next block.
    pub is_cancelled: AtomicBool,
}

/// Why a part was not read to its end.
#[derive(Debug)]
pub enum PartStop<E> {
    /// The file is at fault.
    Source(SourceError),
    /// The sink said so.
    Sink(E),
    /// The user said so.
    Cancelled,
}

/// Reads `part` and hands its blocks to `sink` in file order.
pub fn read_part<E>(
    part: &RawPart,
    progress: &Progress,
    mut sink: impl FnMut(&mut RowBlock) -> Result<(), E>,
) -> Result<PartSummary, PartStop<E>> {
    let mut reader = BlockReader::open(&part.path).map_err(PartStop::Source)?;
    let mut line_count = 0;
    let mut current = reader.next_block(TextBlock::default()).map_err(PartStop::Source)?;
    let order = ColumnOrder::detect(part.table, current.as_ref().map_or(&[], TextBlock::text));
    let mut rows = RowBlock::new(part.table, 0);
    let mut spare = TextBlock::default();
    let mut seen_bytes = 0;
    while let Some(block) = current {
        if progress.is_cancelled.load(Ordering::Relaxed) {
            return Err(PartStop::Cancelled);
        }
        let first_line = line_count + 1;
        let (next, ()) = rayon::join(
            || reader.next_block(std::mem::take(&mut spare)),
            || {
                google_2011::parse_block(
                    &order,
                    part.part,
                    first_line,
                    block.padded(),
                    block.len(),
                    &mut rows,
                );
            },
        );
        line_count += rows.line_count;
        progress.raw_bytes.fetch_add(reader.raw_bytes() - seen_bytes, Ordering::Relaxed);
        seen_bytes = reader.raw_bytes();
        sink(&mut rows).map_err(PartStop::Sink)?;
        spare = block;
        current = next.map_err(PartStop::Source)?;
    }
    progress.raw_bytes.fetch_add(reader.raw_bytes() - seen_bytes, Ordering::Relaxed);
    Ok(PartSummary { digest: reader.finish(), line_count })
}

/// Inflates (or just reads) a part and throws the text away: the yardstick for [`read_part`].
pub fn inflate_part(part: &RawPart) -> Result<u64, SourceError> {
    let mut reader = BlockReader::open(&part.path)?;
    let mut bytes = 0;
    let mut block = TextBlock::default();
    while let Some(next) = reader.next_block(block)? {
        bytes += next.len() as u64;
        block = next;
    }
    Ok(bytes)
}
