//! Reads a part (plain text, gzip or Parquet) as blocks of whole lines, and computes its checksum.
//! The objects of a JSON array and the rows of a Parquet file are read as lines of JSON.
//!
//! In: a path, or a part of several files, which are read as if they were one. Out: blocks that end
//! with a line feed and are padded for the parsers, then the SHA-256 and the size of the raw file.
//! Every byte of the file is read, inflated and hashed exactly once. A stream that is cut short,
//! fails its CRC or is not gzip at all is an error and never a short file.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use super::array_text::{ArrayText, is_array};
use super::digest::{HashingFile, READ_BYTES, RawDigest, ReadSum};
use super::fields::PADDING;
use super::parquet_text::TextOfTable;
use super::{SourceError, SourceErrorKind};

/// Text per block: small enough to stay in a core's cache between inflating and parsing.
const BLOCK_BYTES: usize = 128 * 1024;

/// The longest line, bytes; a longer one is an error.
const LINE_MAX: usize = 64 * 1024 * 1024;

/// Whole lines of a part; `text()` ends with a line feed.
#[derive(Debug, Default)]
pub struct TextBlock {
    buffer: Vec<u8>,
    len: usize,
    begins_file: bool,
}

impl TextBlock {
    /// A block of these lines; a last line without a line feed gets one.
    #[cfg(any(test, fuzzing))]
    pub(crate) fn of(lines: &[u8]) -> Self {
        let mut buffer = lines.to_vec();
        if !lines.ends_with(b"\n") {
            buffer.push(b'\n');
        }
        let len = buffer.len();
        buffer.resize(len + PADDING, 0);
        Self { buffer, len, begins_file: false }
    }

    /// Whether it is the first block of a file; a part may have several files.
    pub(crate) fn begins_file(&self) -> bool {
        self.begins_file
    }

    /// The lines and the padding after them.
    pub(crate) fn padded(&self) -> &[u8] {
        &self.buffer
    }

    /// Bytes of text in [`TextBlock::padded`].
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The lines.
    pub fn text(&self) -> &[u8] {
        &self.buffer[..self.len]
    }

    /// The lines without their ends, each with its number; the first has the number `first`.
    pub(crate) fn lines(&self, first: u64) -> impl Iterator<Item = (u64, &[u8])> {
        let text = self.text();
        let lines = text.strip_suffix(b"\n").unwrap_or(text).split(|&byte| byte == b'\n');
        let without_return = |line| <[u8]>::strip_suffix(line, b"\r").unwrap_or(line);
        (first..).zip(lines.map(without_return))
    }
}

/// Reads a part block by block. Each block belongs to one file.
pub(crate) struct BlockReader {
    path: PathBuf,
    input: Input,
    /// Set if the file is a JSON array.
    array: Option<ArrayText>,
    carry: Vec<u8>,
    /// Whether no block of the file has been returned, and whether the file was read to its end.
    is_new: bool,
    is_done: bool,
    /// The files that follow.
    rest: VecDeque<PathBuf>,
}

enum Input {
    Plain(BufReader<HashingFile>),
    Gzip(Box<MultiGzDecoder<BufReader<HashingFile>>>),
    Table(Box<TextOfTable>),
}

impl Input {
    /// Opens a file; `before` is the sum of the files before it.
    fn open(path: &Path, before: ReadSum) -> Result<Self, SourceError> {
        let fail = |kind| SourceError::new(path, kind);
        if path.extension().is_some_and(|extension| extension == "parquet") {
            return Ok(Self::Table(Box::new(TextOfTable::open(path)?)));
        }
        let file = File::open(path).map_err(|error| fail(SourceErrorKind::Open(error)))?;
        let mut raw = BufReader::with_capacity(READ_BYTES, HashingFile::new(file, before));
        let is_called_gzip = path.extension().is_some_and(|extension| extension == "gz");
        let begin = raw.fill_buf().map_err(|error| fail(SourceErrorKind::Read(error)))?;
        match begin {
            [0x1F, 0x8B, ..] => Ok(Self::Gzip(Box::new(MultiGzDecoder::new(raw)))),
            [] if is_called_gzip => Err(fail(SourceErrorKind::EmptyGzip)),
            _ if is_called_gzip => Err(fail(SourceErrorKind::NotGzip)),
            _ => Ok(Self::Plain(raw)),
        }
    }

    /// The sum of everything read so far, for the next file.
    fn sum(&self) -> ReadSum {
        match self {
            Self::Plain(raw) => raw.get_ref().sum(),
            Self::Gzip(decoder) => decoder.get_ref().get_ref().sum(),
            // A Parquet file is always a separate part.
            Self::Table(_) => ReadSum::default(),
        }
    }
}

impl Read for Input {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(raw) => raw.read(target),
            Self::Gzip(decoder) => decoder.read(target),
            Self::Table(table) => table.read(target),
        }
    }
}

impl BlockReader {
    /// Opens a file. Gzip is recognised by the first bytes; a file named `.gz` must be gzip.
    pub(crate) fn open(path: &Path) -> Result<Self, SourceError> {
        Ok(Self {
            path: path.to_owned(),
            input: Input::open(path, ReadSum::default())?,
            array: None,
            carry: Vec::new(),
            is_new: true,
            is_done: false,
            rest: VecDeque::new(),
        })
    }

    /// Opens several files, which are read one after the other.
    pub(crate) fn of_files(path: &Path, rest: &[PathBuf]) -> Result<Self, SourceError> {
        Ok(Self { rest: rest.iter().cloned().collect(), ..Self::open(path)? })
    }

    /// Opens the next file; false if there is none.
    fn follow(&mut self) -> Result<bool, SourceError> {
        let Some(path) = self.rest.pop_front() else { return Ok(false) };
        // If it does not open, the previous input and its sum remain.
        self.input = Input::open(&path, self.input.sum())?;
        (self.path, self.array, self.is_new, self.is_done) = (path, None, true, false);
        Ok(true)
    }

    /// Raw bytes read so far.
    pub(crate) fn raw_bytes(&self) -> u64 {
        match &self.input {
            Input::Plain(raw) => raw.get_ref().bytes(),
            Input::Gzip(decoder) => decoder.get_ref().get_ref().bytes(),
            Input::Table(table) => table.raw_bytes(),
        }
    }

    /// Returns the next block, reusing the memory of an old one; `None` at the end of the part.
    pub(crate) fn next_block(
        &mut self,
        mut old: TextBlock,
    ) -> Result<Option<TextBlock>, SourceError> {
        loop {
            if self.is_done && !self.follow()? {
                return Ok(None);
            }
            if let Some(block) = self.block(std::mem::take(&mut old))? {
                return Ok(Some(block));
            }
        }
    }

    /// The next block of the file; `None` at its end.
    fn block(&mut self, old: TextBlock) -> Result<Option<TextBlock>, SourceError> {
        let mut buffer = old.buffer;
        buffer.clear();
        buffer.append(&mut self.carry);
        let mut len = buffer.len();
        let mut wanted = len + BLOCK_BYTES;
        loop {
            buffer.resize(wanted + PADDING, 0);
            len += self.fill(&mut buffer[len..wanted])?;
            if self.is_new && self.array.is_none() && is_array(&buffer[..len]) {
                self.array = Some(ArrayText::new(buffer[..len].to_vec()));
                len = self.fill(&mut buffer[..wanted])?;
            }
            if len < wanted {
                self.is_done = true;
                // A last line without a line feed is read like any other.
                if 0 < len && buffer[len - 1] != b'\n' {
                    buffer[len] = b'\n';
                    len += 1;
                }
                break;
            }
            if let Some(last) = memchr::memrchr(b'\n', &buffer[..len]) {
                self.carry.extend_from_slice(&buffer[last + 1..len]);
                len = last + 1;
                break;
            }
            if LINE_MAX < len {
                return Err(SourceError::new(&self.path, SourceErrorKind::EndlessLine));
            }
            wanted = (wanted + len).min(LINE_MAX + 1);
        }
        buffer.resize(len + PADDING, 0);
        let begins_file = std::mem::take(&mut self.is_new);
        Ok((0 < len).then_some(TextBlock { buffer, len, begins_file }))
    }

    /// Fills `target` unless the file ends first.
    fn fill(&mut self, target: &mut [u8]) -> Result<usize, SourceError> {
        let mut len = 0;
        while len < target.len() {
            let read = match &mut self.array {
                Some(array) => array.read(&mut self.input, &mut target[len..]),
                None => self.input.read(&mut target[len..]),
            };
            match read {
                Ok(0) => break,
                Ok(count) => len += count,
                Err(error) => {
                    return Err(SourceError::new(&self.path, SourceErrorKind::of_read(error)));
                }
            }
        }
        Ok(len)
    }

    /// Returns size and checksum; call it after the last block.
    pub(crate) fn finish(self) -> RawDigest {
        let file = match self.input {
            Input::Plain(raw) => raw.into_inner(),
            Input::Gzip(decoder) => decoder.into_inner().into_inner(),
            Input::Table(table) => return table.finish(),
        };
        file.finish()
    }
}

/// Calls `take` with each block of a file.
pub(super) fn each_block(path: &Path, mut take: impl FnMut(&TextBlock)) -> Result<(), SourceError> {
    let mut reader = BlockReader::open(path)?;
    let mut block = TextBlock::default();
    while let Some(next) = reader.next_block(block)? {
        take(&next);
        block = next;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn read_back(name: &str, raw: &[u8]) -> Result<(Vec<u8>, RawDigest), SourceErrorKind> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, raw).unwrap();
        let mut reader = BlockReader::open(&path).map_err(|error| error.kind)?;
        let mut all = Vec::new();
        let mut block = TextBlock::default();
        while let Some(next) = reader.next_block(block).map_err(|error| error.kind)? {
            assert_eq!(next.text().last(), Some(&b'\n'));
            assert!(next.len() + PADDING <= next.padded().len());
            all.extend_from_slice(next.text());
            block = next;
        }
        Ok((all, reader.finish()))
    }

    #[test]
    fn blocks_join_up_to_the_text() {
        let line = "0,1,2,3,some words to fill the line\n";
        let text = line.repeat(3 * BLOCK_BYTES / line.len());
        for (name, raw) in
            [("a.csv", text.clone().into_bytes()), ("a.csv.gz", gzip(text.as_bytes()))]
        {
            let (all, digest) = read_back(name, &raw).unwrap();
            assert_eq!(all, text.as_bytes());
            assert_eq!(digest.bytes, raw.len() as u64);
        }
    }

    #[test]
    fn files_of_a_part_follow_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let files = [("a", b"1\n2".to_vec()), ("b", Vec::new()), ("c.gz", gzip(b"3\n"))];
        let paths = files.each_ref().map(|(name, raw)| {
            let path = folder.path().join(name);
            std::fs::write(&path, raw).unwrap();
            path
        });
        let mut reader = BlockReader::of_files(&paths[0], &paths[1..]).unwrap();
        let mut found = Vec::new();
        while let Some(block) = reader.next_block(TextBlock::default()).unwrap() {
            assert!(block.begins_file());
            found.push(block.text().to_vec());
        }
        assert_eq!(found, [&b"1\n2\n"[..], b"3\n"]);
        let all = files.map(|(_, raw)| raw).concat();
        std::fs::write(&paths[0], &all).unwrap();
        let digest = reader.finish();
        assert_eq!(digest.bytes, all.len() as u64);
        assert_eq!(digest, super::super::digest_file(&paths[0]).unwrap(), "as of one file");
    }

    #[test]
    fn what_was_read_stays_known_if_the_next_file_does_not_open() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["a", "gone"].map(|name| folder.path().join(name));
        std::fs::write(&paths[0], "1\n2\n").unwrap();
        let mut reader = BlockReader::of_files(&paths[0], &paths[1..]).unwrap();
        let block = reader.next_block(TextBlock::default()).unwrap().unwrap();
        let error = reader.next_block(block).unwrap_err();
        assert!(matches!(error.kind, SourceErrorKind::Open(_)));
        assert_eq!(reader.raw_bytes(), 4);
    }

    #[test]
    fn the_objects_of_an_array_are_lines() {
        let objects: Vec<String> = (0..9_000).map(|id| format!("{{\n\"id\": {id}\n}}")).collect();
        let text = format!("[\n{}\n]\n", objects.join(",\n"));
        let lines: String = objects.iter().map(|text| text.replace('\n', " ") + "\n").collect();
        assert!(BLOCK_BYTES < lines.len());
        for (name, raw) in
            [("a.json", text.clone().into_bytes()), ("a.json.gz", gzip(text.as_bytes()))]
        {
            let (all, digest) = read_back(name, &raw).unwrap();
            assert_eq!(String::from_utf8(all).unwrap(), lines);
            assert_eq!(digest.bytes, raw.len() as u64);
        }
    }

    #[test]
    fn members_of_a_gzip_are_read_one_after_the_other() {
        let raw = [gzip(b"a\nb"), gzip(b"c\nd")].concat();
        assert_eq!(read_back("a.csv.gz", &raw).unwrap().0, b"a\nbc\nd\n");
    }

    #[test]
    fn empty_is_no_error_unless_it_claims_to_be_gzip() {
        assert_eq!(read_back("a.csv", b"").unwrap().0, b"");
        assert_eq!(read_back("a.csv.gz", &gzip(b"")).unwrap().0, b"");
        assert!(matches!(read_back("a.csv.gz", b""), Err(SourceErrorKind::EmptyGzip)));
        assert!(matches!(read_back("a.csv.gz", b"1,2,3\n"), Err(SourceErrorKind::NotGzip)));
    }

    #[test]
    fn a_cut_or_damaged_gzip_is_an_error_at_every_length() {
        let raw = gzip("1,2,3\n".repeat(50).as_bytes());
        for len in 2..raw.len() {
            assert!(
                matches!(read_back("a.csv.gz", &raw[..len]), Err(SourceErrorKind::TruncatedGzip)),
                "cut at {len}"
            );
        }
        let mut damaged = raw.clone();
        let crc_at = damaged.len() - 6;
        damaged[crc_at] ^= 1;
        assert!(matches!(read_back("a.csv.gz", &damaged), Err(SourceErrorKind::CorruptGzip(_))));
    }

    #[test]
    fn a_line_longer_than_a_block_stays_whole() {
        let text = format!("{}\nb\n", "x".repeat(3 * BLOCK_BYTES + 17));
        assert_eq!(read_back("a.csv", text.as_bytes()).unwrap().0, text.as_bytes());
    }
}
