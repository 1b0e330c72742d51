//! The files that the JSON of a result names, with size and checksum.
//!
//! In: files below a folder. Out: whether each file is still as it was written.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::files;

/// A file of an answer, as its JSON names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultFile {
    /// The file, without its folder.
    pub file: String,
    /// Its size, bytes.
    pub bytes: u64,
    /// CRC-32 of its bytes.
    pub crc32: u32,
}

impl ResultFile {
    /// The file `file` below a folder, with its current size and checksum.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn of(folder: &Path, file: &str) -> io::Result<Self> {
        let path = folder.join(file);
        let bytes = fs::metadata(&path)?.len();
        Ok(Self { file: file.to_owned(), bytes, crc32: files::crc32_of(&path)? })
    }

    /// Whether the file of this name below a folder is unchanged.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn is_in(&self, folder: &Path) -> io::Result<bool> {
        let path = folder.join(&self.file);
        let about = fs::metadata(&path)?;
        let is_like = about.is_file() && about.len() == self.bytes;
        Ok(is_like && files::crc32_of(&path)? == self.crc32)
    }
}
