//! Stores rows until parts are written: buffers of one batch, and files by table and time slice.
//!
//! A record is the row's time and length (8 + 4 bytes, little endian) and its text with the line
//! end. Within a slice, records are in generation order, which orders rows with equal times. Memory
//! holds at most [`SLICE_BUFFER`] bytes per table and slice.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::SynthError;
use super::config::Window;
use super::table::Table;

const HEADER: usize = 12;
const SLICE_BUFFER: usize = 64 * 1024;

/// Rows of one table in generation order.
#[derive(Debug, Default)]
pub(super) struct RowBuffer {
    bytes: Vec<u8>,
    last: usize,
    row_count: u64,
}

impl RowBuffer {
    /// Appends a row; `write` writes its text without the line end.
    pub(super) fn push(&mut self, time: i64, write: impl FnOnce(&mut Vec<u8>)) {
        self.last = self.bytes.len();
        self.bytes.extend_from_slice(&time.to_le_bytes());
        self.bytes.extend_from_slice(&[0; 4]);
        write(&mut self.bytes);
        self.bytes.push(b'\n');
        let length = self.bytes.len() - self.last - HEADER;
        let length = u32::try_from(length).expect("a row is short").to_le_bytes();
        self.bytes[self.last + 8..self.last + HEADER].copy_from_slice(&length);
        self.row_count += 1;
    }

    /// Appends the last row again.
    pub(super) fn repeat_last(&mut self) {
        let end = self.bytes.len();
        self.bytes.extend_from_within(self.last..end);
        self.last = end;
        self.row_count += 1;
    }

    pub(super) fn row_count(&self) -> u64 {
        self.row_count
    }
}

/// Splits spilled bytes into records: time, and the whole record.
fn records(bytes: &[u8]) -> impl Iterator<Item = (i64, &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (time, length) = rest.get(..HEADER)?.split_at(8);
        let time = i64::from_le_bytes(time.try_into().expect("8 bytes"));
        let length = u32::from_le_bytes(length.try_into().expect("4 bytes"));
        let (record, after) = rest.split_at(HEADER + usize::try_from(length).expect("32 bits"));
        rest = after;
        Some((time, record))
    })
}

/// One buffer per sliced table, in the order of [`Table::SLICED`].
#[derive(Debug, Default)]
pub(super) struct RowBuffers([RowBuffer; 4]);

impl RowBuffers {
    pub(super) fn table(&mut self, table: Table) -> &mut RowBuffer {
        &mut self.0[slot(table)]
    }

    /// Each table with its rows.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Table, &RowBuffer)> {
        Table::SLICED.into_iter().zip(&self.0)
    }
}

fn slot(table: Table) -> usize {
    Table::SLICED.iter().position(|each| *each == table).expect("only sliced tables are spilled")
}

/// The spill files of a trace, in a separate folder.
pub(super) struct Spill {
    dir: PathBuf,
    window: Window,
    part_count: usize,
    buffers: Vec<Vec<u8>>,
}

impl Spill {
    /// Creates the folder.
    pub(super) fn create(
        dir: &Path,
        window: Window,
        part_count: usize,
    ) -> Result<Self, SynthError> {
        fs::create_dir(dir).map_err(SynthError::io(dir))?;
        let buffers = vec![Vec::new(); Table::SLICED.len() * part_count];
        Ok(Self { dir: dir.to_owned(), window, part_count, buffers })
    }

    /// Distributes the rows of a batch over the slices.
    pub(super) fn append(&mut self, batch: &RowBuffers) -> Result<(), SynthError> {
        for (table, rows) in batch.iter() {
            for (time, record) in records(&rows.bytes) {
                let part = self.window.part_of(time);
                let buffer = &mut self.buffers[slot(table) * self.part_count + part];
                buffer.extend_from_slice(record);
                if buffer.len() >= SLICE_BUFFER {
                    let path = spill_path(&self.dir, table, part);
                    flush(&path, buffer)?;
                }
            }
        }
        Ok(())
    }

    /// Writes the rest of the buffers, and returns the slices for reading.
    pub(super) fn finish(mut self) -> Result<SpilledSlices, SynthError> {
        for table in Table::SLICED {
            for part in 0..self.part_count {
                let buffer = &mut self.buffers[slot(table) * self.part_count + part];
                flush(&spill_path(&self.dir, table, part), buffer)?;
            }
        }
        Ok(SpilledSlices { dir: self.dir })
    }
}

fn spill_path(dir: &Path, table: Table, part: usize) -> PathBuf {
    dir.join(format!("{}-{part:05}", table.name()))
}

/// Appends the buffer to its file. The file is reopened each time: a trace has more slices than a
/// process may have open files.
fn flush(path: &Path, buffer: &mut Vec<u8>) -> Result<(), SynthError> {
    if buffer.is_empty() {
        return Ok(());
    }
    let file = OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file: File| file.write_all(buffer)).map_err(SynthError::io(path))?;
    buffer.clear();
    Ok(())
}

/// Spilled rows, ready to be read back slice by slice.
pub(super) struct SpilledSlices {
    dir: PathBuf,
}

impl SpilledSlices {
    /// Reads one slice and removes its file.
    pub(super) fn take(&self, table: Table, part: usize) -> Result<SortedSlice, SynthError> {
        let path = spill_path(&self.dir, table, part);
        if !path.exists() {
            return Ok(SortedSlice::default());
        }
        let bytes = fs::read(&path).map_err(SynthError::io(&path))?;
        fs::remove_file(&path).map_err(SynthError::io(&path))?;
        Ok(SortedSlice::new(bytes))
    }

    /// Removes the folder, which is empty once every slice has been read.
    pub(super) fn remove(self) -> Result<(), SynthError> {
        fs::remove_dir_all(&self.dir).map_err(SynthError::io(&self.dir))
    }
}

/// The rows of one part in (time, generation order).
#[derive(Debug, Default)]
pub(super) struct SortedSlice {
    bytes: Vec<u8>,
    /// Time, start and end of the text.
    order: Vec<(i64, usize, usize)>,
}

impl SortedSlice {
    fn new(bytes: Vec<u8>) -> Self {
        let mut order = Vec::new();
        let mut at = 0;
        for (time, record) in records(&bytes) {
            order.push((time, at + HEADER, at + record.len()));
            at += record.len();
        }
        // The position in the file is the generation order, so an unstable sort is enough.
        order.sort_unstable();
        Self { bytes, order }
    }

    /// Sorts rows that were never written to a file.
    pub(super) fn from_buffer(rows: RowBuffer) -> Self {
        Self::new(rows.bytes)
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// The text of each row with its line end.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[u8]> {
        self.order.iter().map(|(_, start, end)| &self.bytes[*start..*end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_out_by_time_and_then_as_they_were_made() {
        let mut rows = RowBuffer::default();
        for (time, text) in [(5, "a"), (3, "b"), (5, "c"), (3, "d")] {
            rows.push(time, |out| out.extend_from_slice(text.as_bytes()));
        }
        rows.repeat_last();
        assert_eq!(rows.row_count(), 5);
        let sorted = SortedSlice::from_buffer(rows);
        let text: Vec<u8> = sorted.rows().flatten().copied().collect();
        assert_eq!(text, b"b\nd\nd\na\nc\n");
    }
}
