//! Reads one part to the end: inflates, hashes and parses it. Parsing runs on a second core if one
//! is idle.
//!
//! In: a [`RawPart`], whose format a `PartParser` reads. Out: row blocks in file order, handed to a
//! sink, then a [`PartSummary`]. A block is parsed while the next one is inflated, so that the last
//! part of a table does not leave cores idle. If no core is idle, the block is parsed on the same
//! core, while it is still in the cache.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::SourceError;
use super::blocks::{BlockReader, TextBlock};
use super::digest::RawDigest;
use super::folder::RawPart;
pub(super) use super::parser::hand_out_many;
pub use super::parser::{HandOut, Notes, PartParser};
use super::rows::RowBlock;
use crate::progress::Watch;

/// The result of reading a part.
#[derive(Clone, Debug)]
pub struct PartSummary {
    /// Size and checksum of the raw file.
    pub digest: RawDigest,
    /// Lines, usable or not.
    pub line_count: u64,
    /// The notes about the file.
    pub notes: Notes,
}

/// The progress of a run, and whether it should stop; shared by its threads.
#[derive(Debug, Default)]
pub struct Progress {
    /// Raw bytes read so far.
    pub raw_bytes: AtomicU64,
    /// Rows stored so far, in parts that are in the lake.
    pub rows: AtomicU64,
    /// Set to stop at the next block.
    pub is_cancelled: AtomicBool,
    /// A callback that gets the progress in raw bytes and may stop the run.
    pub watch: Watch,
}

impl Progress {
    /// Whether the run should stop.
    pub fn is_stopped(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed) || self.watch.is_stopped()
    }

    /// Adds raw bytes that were read.
    fn read(&self, bytes: u64) {
        self.raw_bytes.fetch_add(bytes, Ordering::Relaxed);
        // The reader checks `is_stopped` before the next block.
        let _ = self.watch.step(bytes);
    }
}

/// Why a part was not read to its end.
#[derive(Debug)]
pub enum PartStop<E> {
    /// The file is at fault.
    Source(SourceError),
    /// The sink returned an error.
    Sink(E),
    /// The user stopped it.
    Cancelled,
}

/// Reads `part` and hands its blocks to `sink` in file order.
pub fn read_part<E: Send>(
    part: &RawPart,
    progress: &Progress,
    mut sink: impl FnMut(&mut RowBlock) -> Result<(), E> + Send,
) -> Result<PartSummary, PartStop<E>> {
    let mut reader = BlockReader::of_files(&part.path, &part.joined).map_err(PartStop::Source)?;
    let mut line_count = 0;
    let mut current = reader.next_block(TextBlock::default()).map_err(PartStop::Source)?;
    let begin = current.as_ref().map_or(&[][..], TextBlock::text);
    let mut parser = super::parser_of(part, begin).map_err(PartStop::Source)?;
    let mut rows = RowBlock::new(part.table, part.source, 0);
    let mut spare = TextBlock::default();
    let mut seen_bytes = 0;
    while let Some(block) = current {
        if progress.is_stopped() {
            return Err(PartStop::Cancelled);
        }
        let first_line = line_count + 1;
        let mut handed = Ok(());
        let (next, handed_lines) = rayon::join(
            || reader.next_block(std::mem::take(&mut spare)),
            || {
                let mut lines = 0;
                parser.parse(&block, first_line, &mut rows, &mut |full| {
                    lines += full.line_count;
                    if handed.is_ok() {
                        handed = sink(full);
                    }
                    full.clear();
                });
                lines
            },
        );
        handed.map_err(PartStop::Sink)?;
        line_count += handed_lines + rows.line_count;
        progress.read(reader.raw_bytes() - seen_bytes);
        seen_bytes = reader.raw_bytes();
        sink(&mut rows).map_err(PartStop::Sink)?;
        spare = block;
        current = next.map_err(PartStop::Source)?;
    }
    progress.read(reader.raw_bytes() - seen_bytes);
    rows.clear();
    let mut handed = Ok(());
    parser.finish(&mut rows, &mut |full| {
        if handed.is_ok() {
            handed = sink(full);
        }
        full.clear();
    });
    handed.map_err(PartStop::Sink)?;
    if !rows.row_ids.is_empty() || !rows.rejects.is_empty() {
        sink(&mut rows).map_err(PartStop::Sink)?;
    }
    Ok(PartSummary { digest: reader.finish(), line_count, notes: parser.notes() })
}

/// Inflates (or just reads) a part and drops the text, as a baseline for [`read_part`]. Returns the
/// bytes of the text.
pub fn inflate_part(part: &RawPart) -> Result<u64, SourceError> {
    let mut reader = BlockReader::of_files(&part.path, &part.joined)?;
    let mut bytes = 0;
    let mut block = TextBlock::default();
    while let Some(next) = reader.next_block(block)? {
        bytes += next.len() as u64;
        block = next;
    }
    Ok(bytes)
}
