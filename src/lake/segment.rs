//! The format of a file of the lake: complete Parquet streams one after another, and a footer for
//! all of them.
//!
//! In: the rows of each bucket as a Parquet stream. Out: one Parquet file that any tool can read.
//! The rows of a bucket (a stretch) can be read separately, by their position, which the manifest
//! records. A stretch is a complete Parquet file itself, with offsets from its own start; the
//! footer of the file lists the same row groups with offsets from the start of the file.
//!
//! ```text
//!  PAR1 │ stretch of bucket 0 │ stretch of bucket 1 │ ... │ footer of all row groups │ PAR1
//!       │ PAR1 columns footer PAR1 │
//! ```

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use bytes::{Buf, Bytes};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMetaData, FileMetaData, KeyValue, ParquetMetaData, ParquetMetaDataWriter,
    RowGroupMetaData,
};
use parquet::file::reader::{ChunkReader, Length};
use serde::{Deserialize, Serialize};

use super::reads;
use crate::schema::Table;

/// The first and last bytes of a Parquet file.
const MAGIC: &[u8] = b"PAR1";

/// The key in the footer that holds the bucket of each row group.
const BUCKETS_KEY: &str = "jobfate.bucket_of_row_group";

/// Ranges closer together than this are read in one step.
const GAP_BYTES: u64 = 16 << 10;

/// Bytes read for the header of a page that is not in memory.
const HEADER_BYTES: u64 = 4 << 10;

/// The rows of a bucket in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The bucket; 0 in tables that are not spread.
    pub bucket: u32,
    /// Rows in it.
    pub rows: u64,
    /// Its length in the file.
    pub bytes: u64,
    /// CRC-32 of its bytes.
    pub crc32: u32,
}

/// The stretches of a file in file order; the first follows the four bytes with which every Parquet
/// file begins.
///
/// In the manifest they are a text of `BUCKET:ROWS:BYTES:CRC32`, separated by spaces; the CRC-32 is
/// hexadecimal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Stretches(pub Vec<Stretch>);

impl From<Stretches> for String {
    fn from(stretches: Stretches) -> Self {
        let mut text = Self::new();
        for (idx, Stretch { bucket, rows, bytes, crc32 }) in stretches.0.iter().enumerate() {
            let gap = if idx == 0 { "" } else { " " };
            write!(text, "{gap}{bucket}:{rows}:{bytes}:{crc32:08x}")
                .expect("writing to a string cannot fail");
        }
        text
    }
}

impl TryFrom<String> for Stretches {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let read = |word: &str| {
            let mut fields = word.split(':');
            let mut next = || fields.next();
            let (bucket, rows, bytes, crc32) = (next()?, next()?, next()?, next()?);
            let stretch = Stretch {
                bucket: bucket.parse().ok()?,
                rows: rows.parse().ok()?,
                bytes: bytes.parse().ok()?,
                crc32: u32::from_str_radix(crc32, 16).ok()?,
            };
            fields.next().is_none().then_some(stretch)
        };
        let bad = |word: &str| format!("`{word}` is not BUCKET:ROWS:BYTES:CRC32");
        text.split_whitespace()
            .map(|word| read(word).ok_or_else(|| bad(word)))
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

impl Stretches {
    /// The stretches, each with its start in the file.
    pub(super) fn places(&self) -> impl Iterator<Item = (u64, Stretch)> {
        let mut next = MAGIC.len() as u64;
        self.0.iter().map(move |&stretch| {
            let start = next;
            next = next.saturating_add(stretch.bytes);
            (start, stretch)
        })
    }

    /// The end of the last stretch, where the footer begins.
    pub(super) fn end(&self) -> u64 {
        self.places()
            .last()
            .map_or(MAGIC.len() as u64, |(start, stretch)| start.saturating_add(stretch.bytes))
    }
}

/// Joins Parquet streams of one schema into a file.
pub struct Joiner<W: Write> {
    out: W,
    offset: u64,
    row_groups: Vec<RowGroupMetaData>,
    buckets: String,
    about: Option<FileMetaData>,
    stretches: Vec<Stretch>,
}

impl<W: Write> Joiner<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        Ok(Self {
            out,
            offset: MAGIC.len() as u64,
            row_groups: Vec::new(),
            buckets: String::new(),
            about: None,
            stretches: Vec::new(),
        })
    }

    /// Adds the rows of a bucket: a complete Parquet stream, the contents of its footer and the
    /// CRC-32 of its bytes.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn add(
        &mut self,
        bucket: u32,
        stream: &[u8],
        about: &ParquetMetaData,
        crc32: u32,
    ) -> Result<(), ParquetError> {
        self.out.write_all(stream)?;
        for group in about.row_groups() {
            self.row_groups.push(moved(group, self.row_groups.len(), self.offset)?);
            write!(self.buckets, "{}{bucket}", if self.buckets.is_empty() { "" } else { " " })
                .expect("writing to a string cannot fail");
        }
        self.about.get_or_insert_with(|| about.file_metadata().clone());
        let rows = u64::try_from(about.file_metadata().num_rows()).unwrap_or_default();
        let bytes = stream.len() as u64;
        self.stretches.push(Stretch { bucket, rows, bytes, crc32 });
        self.offset += bytes;
        Ok(())
    }

    /// Writes the footer and returns the positions; a file has at least one stretch.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(mut self) -> Result<(W, Stretches), ParquetError> {
        let about = self.about.expect("a file has at least one stretch");
        let rows = self.row_groups.iter().map(RowGroupMetaData::num_rows).sum();
        let keys = vec![KeyValue::new(BUCKETS_KEY.to_owned(), self.buckets)];
        let about = FileMetaData::new(
            about.version(),
            rows,
            about.created_by().map(str::to_owned),
            Some(keys),
            about.schema_descr_ptr(),
            about.column_orders().cloned(),
        );
        let all = ParquetMetaData::new(about, self.row_groups);
        let mut footer = Vec::new();
        ParquetMetaDataWriter::new(&mut footer, &all).finish()?;
        self.out.write_all(&footer)?;
        Ok((self.out, Stretches(self.stretches)))
    }
}

/// The row group as in the footer of the whole file.
pub(super) fn moved(
    group: &RowGroupMetaData,
    ordinal: usize,
    by: u64,
) -> Result<RowGroupMetaData, ParquetError> {
    let by = i64::try_from(by)?;
    let columns: Result<Vec<ColumnChunkMetaData>, ParquetError> = group
        .columns()
        .iter()
        .map(|chunk| {
            let dictionary = chunk.dictionary_page_offset().map(|offset| offset + by);
            chunk
                .clone()
                .into_builder()
                .set_data_page_offset(chunk.data_page_offset() + by)
                .set_dictionary_page_offset(dictionary)
                .build()
        })
        .collect();
    let mut moved = group
        .clone()
        .into_builder()
        .set_column_metadata(columns?)
        .set_ordinal(i32::try_from(ordinal)?);
    if let Some(offset) = group.file_offset() {
        moved = moved.set_file_offset(offset + by);
    }
    moved.build()
}

/// A stretch of a file that a Parquet reader sees as a separate file.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    table: Table,
    file: Arc<File>,
    start: u64,
    len: u64,
    /// Ranges of it in memory, ascending.
    held: Vec<(u64, Bytes)>,
}

impl Piece {
    /// Opens `len` bytes of a file of a table from `start`; nothing is read yet.
    pub(super) fn open(table: Table, path: &Path, start: u64, len: u64) -> io::Result<Self> {
        Ok(Self { table, file: Arc::new(File::open(path)?), start, len, held: Vec::new() })
    }

    /// Its length.
    pub(super) fn size(&self) -> u64 {
        self.len
    }

    /// Reads a range of it.
    fn read(&self, start: u64, len: u64) -> io::Result<Bytes> {
        let is_inside = start.checked_add(len).is_some_and(|end| end <= self.len);
        if !is_inside {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let len = usize::try_from(len).map_err(io::Error::other)?;
        let mut bytes = vec![0; len];
        reads::count(self.table, len as u64);
        self.file.read_exact_at(&mut bytes, self.start + start)?;
        Ok(bytes.into())
    }

    /// Reads all of it into memory.
    pub(super) fn hold_all(&mut self) -> io::Result<&Bytes> {
        self.held = vec![(0, self.read(0, self.len)?)];
        Ok(&self.held[0].1)
    }

    /// The same stretch with some ranges (ascending) in memory, read in few steps.
    pub(super) fn holding(&self, ranges: &[(u64, u64)]) -> io::Result<Self> {
        if self.held.iter().any(|(start, bytes)| *start == 0 && bytes.len() as u64 == self.len) {
            return Ok(self.clone());
        }
        let held: io::Result<Vec<(u64, Bytes)>> = joined(ranges)
            .into_iter()
            .map(|(start, end)| Ok((start, self.read(start, end - start)?)))
            .collect();
        Ok(Self { held: held?, ..self.clone() })
    }

    /// A copy of the stretch with only some ranges (ascending) and the end from `footer` on; all
    /// other bytes are zeros, which take no memory.
    pub(super) fn sparse(&self, ranges: &[(u64, u64)], footer: u64) -> io::Result<Vec<u8>> {
        let mut all = vec![0; usize::try_from(self.len).map_err(io::Error::other)?];
        for (start, end) in joined(&[ranges, &[(footer, self.len)]].concat()) {
            let bad = |_| io::Error::from(io::ErrorKind::UnexpectedEof);
            let range = usize::try_from(start).map_err(bad)?..usize::try_from(end).map_err(bad)?;
            reads::count(self.table, end.saturating_sub(start));
            let target = all.get_mut(range).ok_or(io::ErrorKind::UnexpectedEof)?;
            self.file.read_exact_at(target, self.start + start)?;
        }
        Ok(all)
    }

    /// A range of it from `start`, if it is in memory.
    fn held(&self, start: u64) -> Option<Bytes> {
        let at = self.held.partition_point(|(begin, _)| *begin <= start).checked_sub(1)?;
        let (begin, bytes) = &self.held[at];
        let skipped = usize::try_from(start - begin).ok()?;
        (skipped < bytes.len()).then(|| bytes.slice(skipped..))
    }
}

/// Merges ranges that are close together.
fn joined(ranges: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut all: Vec<(u64, u64)> = Vec::new();
    for &(start, end) in ranges {
        match all.last_mut() {
            Some(last) if last.0 <= start && start <= last.1.saturating_add(GAP_BYTES) => {
                last.1 = last.1.max(end);
            }
            _ => all.push((start, end)),
        }
    }
    all
}

impl Length for Piece {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for Piece {
    type T = bytes::buf::Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        if let Some(held) = self.held(start) {
            return Ok(held.reader());
        }
        let len = HEADER_BYTES.min(self.len.saturating_sub(start));
        Ok(self.read(start, len)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        match self.held(start) {
            Some(held) if length <= held.len() => Ok(held.slice(..length)),
            _ => Ok(self.read(start, length as u64)?),
        }
    }
}

/// The byte range of a column chunk; `None` if its footer contradicts itself.
pub(super) fn range_of_chunk(chunk: &ColumnChunkMetaData) -> Option<(u64, u64)> {
    let first = match chunk.dictionary_page_offset() {
        Some(dictionary) => dictionary.min(chunk.data_page_offset()),
        None => chunk.data_page_offset(),
    };
    let start = u64::try_from(first).ok()?;
    let len = u64::try_from(chunk.compressed_size()).ok()?;
    Some((start, start.checked_add(len)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_come_back_from_their_text() {
        let all = Stretches(vec![
            Stretch { bucket: 0, rows: 7, bytes: 900, crc32: 0xAB },
            Stretch { bucket: 127, rows: 1, bytes: 800, crc32: u32::MAX },
        ]);
        let text = String::from(all.clone());
        assert_eq!(text, "0:7:900:000000ab 127:1:800:ffffffff");
        assert_eq!(Stretches::try_from(text), Ok(all.clone()));
        assert_eq!(Stretches::try_from(String::new()), Ok(Stretches::default()));
        for odd in ["0", "0:1:2", "0:1:2:x", "0:1:2:3:4", "-1:1:2:3", "a:1:2:3"] {
            assert!(Stretches::try_from(odd.to_owned()).is_err(), "{odd}");
        }
        let places: Vec<u64> = all.places().map(|(start, _)| start).collect();
        assert_eq!((places, all.end()), (vec![4, 904], 1704));
    }

    #[test]
    fn ranges_close_together_are_read_in_one_go() {
        let far = 10 * GAP_BYTES;
        assert_eq!(joined(&[(0, 5), (5, 9), (20, 30), (far, far + 1)]), [(0, 30), (far, far + 1)]);
        assert_eq!(joined(&[]), []);
    }

    #[test]
    fn a_piece_is_read_inside_its_bounds_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, b"0123456789").unwrap();
        let mut piece = Piece::open(Table::JobEvents, &path, 2, 5).unwrap();
        assert_eq!(piece.get_bytes(1, 3).unwrap(), "345");
        assert!(piece.get_bytes(3, 3).is_err());
        assert!(piece.get_bytes(u64::MAX, 3).is_err());
        let apart = Piece { held: Vec::new(), ..piece.clone() };
        assert_eq!(apart.sparse(&[], 4).unwrap(), [0, 0, 0, 0, b'6']);
        assert_eq!(apart.sparse(&[(0, 1)], 4).unwrap(), *b"23456", "a small gap is read as well");
        assert_eq!(piece.hold_all().unwrap(), "23456");
        assert_eq!(piece.get_bytes(0, 5).unwrap(), "23456");
        assert!(piece.get_bytes(0, 6).is_err());
    }
}
