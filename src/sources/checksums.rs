//! The list of checksums in a trace folder.
//!
//! In: `SHA256SUM`, `SHA1SUM` or `MD5SUM`, the first that exists. Out: the expected sum of each
//! listed file, and a way to compute the sum of a file. Lines are `HASH *table/part` or
//! `HASH  table/part`, as the usual tools write them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::digest::hex;
use super::{SourceError, SourceErrorKind};

/// A kind of checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SumKind {
    /// SHA-256.
    Sha256,
    /// SHA-1.
    Sha1,
    /// MD5.
    Md5,
}

impl SumKind {
    const ALL: [Self; 3] = [Self::Sha256, Self::Sha1, Self::Md5];

    /// The name of the list.
    pub const fn list_name(self) -> &'static str {
        match self {
            Self::Sha256 => "SHA256SUM",
            Self::Sha1 => "SHA1SUM",
            Self::Md5 => "MD5SUM",
        }
    }

    /// Reads a file and returns its sum in hexadecimal.
    pub fn of_file(self, path: &Path) -> Result<String, SourceError> {
        match self {
            Self::Sha256 => digest::<Sha256>(path),
            Self::Sha1 => digest::<Sha1>(path),
            Self::Md5 => digest::<Md5>(path),
        }
    }
}

fn digest<D: Digest>(path: &Path) -> Result<String, SourceError> {
    let mut file =
        File::open(path).map_err(|error| SourceError::new(path, SourceErrorKind::Open(error)))?;
    let mut hasher = D::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        match file
            .read(&mut buffer)
            .map_err(|error| SourceError::new(path, SourceErrorKind::Read(error)))?
        {
            0 => return Ok(hex(&hasher.finalize())),
            count => hasher.update(&buffer[..count]),
        }
    }
}

/// The checksums listed in a folder.
#[derive(Clone, Debug)]
pub struct Checksums {
    /// Their kind.
    pub kind: SumKind,
    /// Sum by name below the folder (`table/part`).
    pub sums: BTreeMap<String, String>,
}

impl Checksums {
    /// Reads the folder's list; `None` if it has none.
    pub fn of_folder(folder: &Path) -> Result<Option<Self>, SourceError> {
        for kind in SumKind::ALL {
            let path = folder.join(kind.list_name());
            if path.exists() {
                let text = fs::read_to_string(&path)
                    .map_err(|error| SourceError::new(&path, SourceErrorKind::Open(error)))?;
                return Ok(Some(Self { kind, sums: parse(&text) }));
            }
        }
        Ok(None)
    }
}

fn parse(text: &str) -> BTreeMap<String, String> {
    text.lines()
        .filter_map(|line| {
            let (sum, name) = line.split_once(' ')?;
            let name = name.strip_prefix([' ', '*'])?.trim_start_matches("./");
            Some((name.to_owned(), sum.to_ascii_lowercase()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_a_line_are_read() {
        let sums = parse("AB12 *job_events/a.csv.gz\ncd34  ./task_events/b.csv.gz\n\nbroken\n");
        assert_eq!(sums["job_events/a.csv.gz"], "ab12");
        assert_eq!(sums["task_events/b.csv.gz"], "cd34");
        assert_eq!(sums.len(), 2);
    }

    #[test]
    fn sums_are_the_usual_ones() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "abc").unwrap();
        assert_eq!(SumKind::Md5.of_file(&path).unwrap(), "900150983cd24fb0d6963f7d28e17f72");
        assert_eq!(
            SumKind::Sha1.of_file(&path).unwrap(),
            "a9993e364706816aba3e25717850c26c9cd0d89d"
        );
        assert!(SumKind::Sha256.of_file(&path).unwrap().starts_with("ba7816bf8f01cfea"));
    }
}
