//! Size and SHA-256 of files as stored on disk.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::{SourceError, SourceErrorKind};

/// Raw bytes per read.
pub(super) const READ_BYTES: usize = 256 * 1024;

/// Size and checksum of a raw file that was read to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawDigest {
    /// Size of the file on disk.
    pub bytes: u64,
    /// SHA-256 of the file on disk, in hexadecimal.
    pub sha256: String,
}

/// A file that is hashed as it is read.
pub(super) struct HashingFile {
    file: File,
    sum: ReadSum,
}

/// What has been read so far.
#[derive(Clone, Default)]
pub(super) struct ReadSum {
    hasher: Sha256,
    bytes: u64,
}

impl HashingFile {
    /// A file that has not been read yet; `before` is the sum of the files before it.
    pub(super) fn new(file: File, before: ReadSum) -> Self {
        Self { file, sum: before }
    }

    /// The sum of everything read so far, for the next file.
    pub(super) fn sum(&self) -> ReadSum {
        self.sum.clone()
    }

    /// Bytes read so far.
    pub(super) fn bytes(&self) -> u64 {
        self.sum.bytes
    }

    /// Size and checksum of what was read.
    pub(super) fn finish(self) -> RawDigest {
        RawDigest { bytes: self.sum.bytes, sha256: hex(&self.sum.hasher.finalize()) }
    }
}

impl Read for HashingFile {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.file.read(target) {
                Ok(count) => {
                    self.sum.hasher.update(&target[..count]);
                    self.sum.bytes += count as u64;
                    return Ok(count);
                }
                // Not every caller retries an interrupted read.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Reads a whole file and returns its size and checksum.
pub fn digest_file(path: &Path) -> Result<RawDigest, SourceError> {
    let fail = |kind| SourceError::new(path, kind);
    let file = File::open(path).map_err(|error| fail(SourceErrorKind::Open(error)))?;
    let mut hashing = HashingFile::new(file, ReadSum::default());
    let mut buffer = vec![0; READ_BYTES];
    while 0 < hashing.read(&mut buffer).map_err(|error| fail(SourceErrorKind::Read(error)))? {}
    Ok(hashing.finish())
}

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
        text
    })
}
