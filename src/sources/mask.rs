//! Replaces names by keyed hashes, so that a lake can be shared.
//!
//! In: rows, rejects and the header of a part, and a key. Out: the same without the name of any
//! person, group, machine, queue or program. Each name is replaced by `h:` and 16 digits: the first
//! 64 bits of HMAC-SHA-256 (RFC 2104) of its kind and the name. Under the same key, the same name
//! has the same hash in every lake. Numbers that are computed from names (of machines, and of jobs
//! and tasks without a number) are replaced too. The text of rejects is dropped, and so are the
//! entries of headers that are not in `HEADER`. A text column holds names unless it is in `WORDS`.
//! Of a state, only the first word is kept (`CANCELLED` of `CANCELLED by 1001`). In a mapped table,
//! it is the part that the map spells; other states of such a table count as names.

use std::fmt;
use std::io;
use std::path::Path;

use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};

use super::digest::hex;
use super::map::Map;
use super::records::fields::expand_nodes;
use super::records::numbers::{NAMED_FROM, named_index};
use super::records::states::spelt;
use super::rows::{Cells, ColumnData, RowBlock};
use crate::schema::{SYSTEM_MACHINE, Source};

/// The fewest bytes of a key.
pub const KEY_MIN: usize = 16;

/// The block size of SHA-256, bytes.
const BLOCK: usize = 64;

/// Text columns that hold words of a format, not names.
const WORDS: [&str; 7] = [
    "gpu_model",
    "task_type",
    "depends_on",
    "start_after_collection_ids",
    "owner_kind",
    "phase",
    "job_structure",
];

/// Keys of a header that describe how to read a log.
const HEADER: [&str; 12] = [
    "Version",
    "UnixStartTime",
    "TimeZone",
    "TimeZoneString",
    "StartTime",
    "EndTime",
    "MaxJobs",
    "MaxRecords",
    "MaxNodes",
    "MaxProcs",
    "MaxRuntime",
    "timezone",
];

/// A key for hashing names.
#[derive(Clone, PartialEq, Eq)]
pub struct Mask {
    key: [u8; BLOCK],
}

/// A file could not be used as a key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// It could not be read.
    #[error("could not read the key file `{}`", .0.display())]
    Read(std::path::PathBuf, #[source] io::Error),
    /// It is too short: anyone with the lake could try all such keys.
    #[error("the key in `{}` has {} bytes: a key has at least {KEY_MIN}", .0.display(), .1)]
    Short(std::path::PathBuf, usize),
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mask({})", self.fingerprint())
    }
}

impl Mask {
    /// The key in a file, without blanks and line ends after it.
    ///
    /// # Errors
    /// It could not be read, or is shorter than [`KEY_MIN`] bytes.
    pub fn of_file(path: &Path) -> Result<Self, KeyError> {
        let key = std::fs::read(path).map_err(|error| KeyError::Read(path.to_owned(), error))?;
        let key = key.trim_ascii_end();
        if key.len() < KEY_MIN {
            return Err(KeyError::Short(path.to_owned(), key.len()));
        }
        Ok(Self::of(key))
    }

    fn of(key: &[u8]) -> Self {
        let mut padded = [0; BLOCK];
        if BLOCK < key.len() {
            padded[..32].copy_from_slice(&Sha256::digest(key));
        } else {
            padded[..key.len()].copy_from_slice(key);
        }
        Self { key: padded }
    }

    /// HMAC-SHA-256 of a text, given in pieces.
    fn hmac(&self, text: &[&[u8]]) -> [u8; 32] {
        let pass = |pad: u8, texts: &[&[u8]]| -> [u8; 32] {
            let mut hasher = Sha256::new();
            hasher.update(self.key.map(|byte| byte ^ pad));
            for text in texts {
                hasher.update(text);
            }
            hasher.finalize().into()
        };
        let inner = pass(0x36, text);
        pass(0x5C, &[&inner])
    }

    /// A value that identifies the key without revealing it.
    pub fn fingerprint(&self) -> String {
        hex(&self.hmac(&[b"jobfate key"])[..8])
    }

    /// The hash that replaces a name.
    pub(crate) fn name(&self, kind: &str, name: &str) -> String {
        let hash = self.hmac(&[kind.as_bytes(), b"\0", name.as_bytes()]);
        format!("h:{}", hex(&hash[..8]))
    }

    /// The number of 62 bits that replaces a number computed from a name.
    fn number(&self, kind: &str, number: i64) -> i64 {
        let hash = self.hmac(&[kind.as_bytes(), b"\0", &number.to_le_bytes()]);
        let bits = u64::from_le_bytes(hash[..8].try_into().expect("8 of 32 bytes"));
        i64::try_from(bits >> 2).expect("62 bits")
    }

    /// The entries of a header that hold no names.
    pub(crate) fn header(header: &[(String, String)]) -> Vec<(String, String)> {
        header.iter().filter(|(key, _)| HEADER.contains(&key.as_str())).cloned().collect()
    }
}

/// Replaces the names of the rows of one part.
pub(crate) struct Masker<'m> {
    mask: &'m Mask,
    source: Source,
    map: Option<&'m Map>,
    /// The hashes of names that were seen before, by kind and name.
    names: FxHashMap<(&'static str, String), String>,
    numbers: FxHashMap<(&'static str, i64), i64>,
}

/// The most names that are remembered.
const NAMES_HELD: usize = 1 << 16;

impl<'m> Masker<'m> {
    /// Replaces names of a part of a source, which is read with a map or without one.
    pub(crate) fn new(mask: &'m Mask, source: Source, map: Option<&'m Map>) -> Self {
        Self { mask, source, map, names: FxHashMap::default(), numbers: FxHashMap::default() }
    }

    /// Replaces the names of a block, and drops the text of its rejects.
    pub(crate) fn hide(&mut self, rows: &mut RowBlock) {
        for reject in &mut rows.rejects {
            reject.text.clear();
        }
        let columns = rows.table.columns(self.source);
        for (column, data) in columns.iter().zip(&mut rows.columns) {
            match (&mut data.cells, column.name) {
                (Cells::Text { .. }, name) => self.hide_texts(name, data),
                (Cells::I64(cells), "machine_id") if !self.source.is_google() => {
                    for cell in cells.iter_mut().filter(|cell| SYSTEM_MACHINE < **cell) {
                        *cell = SYSTEM_MACHINE + 1 + self.number("machine", *cell);
                    }
                }
                (Cells::I64(cells), "job_id" | "array_job_id" | "het_job_id") => {
                    for cell in cells.iter_mut().filter(|cell| **cell < 0) {
                        *cell = -1 - self.number("job", *cell);
                    }
                }
                (Cells::I32(cells), "task_index") if self.has_named_tasks() => {
                    for cell in cells.iter_mut().filter(|cell| NAMED_FROM <= **cell) {
                        *cell = named_index(self.number("task", i64::from(*cell)).unsigned_abs());
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether large task indices are computed from names.
    fn has_named_tasks(&self) -> bool {
        self.source.names_tasks()
    }

    fn hide_texts(&mut self, column: &'static str, data: &mut ColumnData) {
        let Cells::Text { ends, bytes } = &mut data.cells else { return };
        if WORDS.contains(&column) {
            return;
        }
        let mut hidden = String::with_capacity(bytes.len());
        let mut from = 0;
        for end in ends.iter_mut() {
            let to = usize::try_from(*end).expect("an offset");
            let text = bytes[from..to].to_owned();
            from = to;
            match column {
                _ if text.is_empty() => {}
                "state" | "end_reason" | "exit_code" if !text.contains(char::is_alphabetic) => {
                    hidden.push_str(&text);
                }
                // The text after the first word may name the user who did it.
                "state" | "end_reason" => match self.map {
                    None => hidden.push_str(text.split(' ').next().unwrap_or_default()),
                    Some(map) => {
                        match map.entry(&text).and_then(|(known, _)| spelt(known, &text)) {
                            Some(spelt) => hidden.push_str(spelt),
                            None => hidden.push_str(&self.name("state", &text)),
                        }
                    }
                },
                "node_list" => {
                    let hosts = hosts_of(&text);
                    let hashes: Vec<String> =
                        hosts.iter().map(|host| self.name("machine_name", host)).collect();
                    hidden.push_str(&hashes.join(","));
                }
                _ => hidden.push_str(&self.name(kind_of(column), &text)),
            }
            *end = u32::try_from(hidden.len()).expect("a block is small");
        }
        *bytes = hidden;
    }

    fn name(&mut self, kind: &'static str, name: &str) -> String {
        let key = (kind, name.to_owned());
        if let Some(known) = self.names.get(&key) {
            return known.clone();
        }
        if NAMES_HELD <= self.names.len() {
            self.names.clear();
        }
        let hash = self.mask.name(kind, name);
        self.names.insert(key, hash.clone());
        hash
    }

    fn number(&mut self, kind: &'static str, number: i64) -> i64 {
        if NAMES_HELD <= self.numbers.len() {
            self.numbers.clear();
        }
        let mask = self.mask;
        *self.numbers.entry((kind, number)).or_insert_with(|| mask.number(kind, number))
    }
}

/// The most machines of one list that are hashed one by one. A longer list has one hash; otherwise
/// a few bytes in brackets would become megabytes in every row.
const HOSTS_MAX: usize = 256;

/// The machines of a list, or the whole list as one name if it is too long.
fn hosts_of(list: &str) -> Vec<String> {
    let mut hosts = Vec::new();
    expand_nodes(list, &mut |host| {
        if hosts.len() <= HOSTS_MAX {
            hosts.push(host.to_owned());
        }
    });
    if HOSTS_MAX < hosts.len() { vec![list.to_owned()] } else { hosts }
}

/// The kind of names in a column; a name has the same hash in all columns of a kind.
fn kind_of(column: &'static str) -> &'static str {
    match column {
        "account" | "unix_group" | "user_group" => "group",
        "queue" | "partition" => "queue",
        "executable" | "logical_job_name" => "program",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Promise: the size of a row is bounded, even if a few bytes name many machines.
    #[test]
    fn a_long_list_of_machines_has_one_hash() {
        assert_eq!(hosts_of("n[1-3],m"), ["n1", "n2", "n3", "m"]);
        assert_eq!(hosts_of("n[1-256]").len(), HOSTS_MAX);
        assert_eq!(hosts_of("n[1-257]"), ["n[1-257]"]);
        assert_eq!(hosts_of("n[1-131072]"), ["n[1-131072]"]);
    }

    /// Test cases 1, 2, 3, 6 and 7 of RFC 4231.
    #[test]
    fn the_hash_is_that_of_rfc_4231() {
        let check = |key: &[u8], text: &[u8], expected: &str| {
            assert_eq!(hex(&Mask::of(key).hmac(&[text])), expected);
        };
        check(
            &[0x0B; 20],
            b"Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
        );
        check(
            b"Jefe",
            b"what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        );
        check(
            &[0xAA; 20],
            &[0xDD; 50],
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
        );
        check(
            &[0xAA; 131],
            b"Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
        );
        check(
            &[0xAA; 131],
            b"This is a test using a larger than block-size key and a larger than block-size data. \
            The key needs to be hashed before being used by the HMAC algorithm.",
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
        );
    }
}
