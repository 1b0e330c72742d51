//! Files that exist completely or not at all, checksums that show whether they are unchanged, and
//! locks on folders.
//!
//! In: bytes, or a file in the same folder. Out: a file under its final name, safe even if the
//! power fails immediately afterwards. It is written, synced and renamed, and then the folder is
//! synced.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::sources::hex;

/// Syncs the names in a folder, so that they survive a power failure.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    let here = Path::new(".");
    File::open(if folder.as_os_str().is_empty() { here } else { folder })?.sync_all()
}

/// Creates a folder and its missing parents.
pub fn create_folder(folder: &Path) -> io::Result<()> {
    create_folders(folder).map(|_| ())
}

/// Creates the missing folders and returns them, innermost first.
fn create_folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let is_new = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
    let new: Vec<PathBuf> = folder.ancestors().take_while(is_new).map(Path::to_path_buf).collect();
    fs::create_dir_all(folder)?;
    new.iter().filter_map(|path| path.parent()).try_for_each(sync_folder)?;
    Ok(new)
}

/// Writes a whole file atomically: a reader sees the old one or the new one.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = path.with_extension("new");
    let mut file = File::create(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    sync_folder(path.parent().unwrap_or(Path::new("")))
}

/// A lock that keeps other processes from writing into a folder.
///
/// The folder is created if it does not exist, and removed at the end if it is still empty.
#[derive(Debug)]
pub struct FolderLock {
    folder: PathBuf,
    /// The folders that were created for the lock, innermost first.
    made: Vec<PathBuf>,
    /// The locked file; `None` if the file system has no locks.
    file: Option<File>,
}

impl FolderLock {
    /// Locks a folder; `None` if another process holds it.
    pub(crate) fn take(folder: &Path) -> io::Result<Option<Self>> {
        let mut made = Vec::new();
        loop {
            made.extend(create_folders(folder)?);
            let file = match lock_of(folder) {
                // The previous holder may have removed or replaced the folder.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Ok(Held::Here(file)) if !is_at(&file, folder) => continue,
                Ok(Held::ByAnother) => return Ok(None),
                Ok(Held::Unknown) => None,
                Ok(Held::Here(file)) => Some(file),
                Err(error) => return Err(error),
            };
            return Ok(Some(Self { folder: folder.to_owned(), made, file }));
        }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        for folder in &self.made {
            // Fails if the folder is not empty, as intended.
            let _ = fs::remove_dir(folder);
        }
        // A child process that is just starting may hold a copy of the file.
        if let Some(file) = &self.file {
            let _ = file.unlock();
        }
    }
}

enum Held {
    Here(File),
    ByAnother,
    /// The file system has no locks.
    Unknown,
}

fn lock_of(folder: &Path) -> io::Result<Held> {
    let file = File::open(folder)?;
    Ok(match file.try_lock() {
        Ok(()) => Held::Here(file),
        Err(TryLockError::WouldBlock) => Held::ByAnother,
        Err(TryLockError::Error(_)) => Held::Unknown,
    })
}

/// Whether an open folder is still the one at a path.
fn is_at(file: &File, path: &Path) -> bool {
    file.metadata().map(identity_of).is_ok_and(|here| Some(here) == identity(path))
}

/// The identity of the folder at a path; `None` if there is none.
pub(crate) fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).map(identity_of).ok()
}

#[cfg(unix)]
#[expect(clippy::needless_pass_by_value, reason = "required by `map`")]
fn identity_of(about: fs::Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;

    (about.dev(), about.ino())
}

#[cfg(not(unix))]
#[expect(clippy::needless_pass_by_value, reason = "required by `map`")]
fn identity_of(_: fs::Metadata) -> (u64, u64) {
    (0, 0)
}

/// Exchanges a folder with another one in one step.
///
/// If the system cannot do that, `place` is missing for an instant.
pub(crate) fn exchange(new: &Path, place: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};

        let done = renameat_with(CWD, new, CWD, place, RenameFlags::EXCHANGE);
        match done.map_err(io::Error::from) {
            Ok(()) => return Ok(()),
            Err(error) if can_exchange(&error) => return Err(error),
            Err(_) => {}
        }
    }
    exchange_in_steps(new, place)
}

/// Whether an error is about this exchange, rather than about exchanges in general.
#[cfg(target_os = "linux")]
fn can_exchange(error: &io::Error) -> bool {
    !matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported)
}

fn exchange_in_steps(new: &Path, place: &Path) -> io::Result<()> {
    let mut aside = new.as_os_str().to_owned();
    aside.push("-earlier");
    let aside = PathBuf::from(aside);
    fs::rename(place, &aside)?;
    if let Err(error) = fs::rename(new, place) {
        fs::rename(&aside, place)?;
        return Err(error);
    }
    fs::rename(&aside, new)
}

/// A file that is written sequentially, with its size and checksum.
pub(crate) struct Summed {
    file: File,
    bytes: u64,
    crc32: crc32fast::Hasher,
}

impl Summed {
    /// Writes into an empty file.
    pub(crate) fn of(file: File) -> Self {
        Self { file, bytes: 0, crc32: crc32fast::Hasher::new() }
    }

    /// Syncs the file and returns its size and its CRC-32.
    pub(crate) fn finish(self) -> io::Result<(u64, u32)> {
        self.file.sync_all()?;
        Ok((self.bytes, self.crc32.finalize()))
    }
}

impl Write for Summed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.crc32.update(&bytes[..count]);
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The CRC-32 of a file.
pub(crate) fn crc32_of(path: &Path) -> io::Result<u32> {
    let mut file = File::open(path)?;
    let mut crc32 = crc32fast::Hasher::new();
    let mut buffer = vec![0; 1 << 18];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(crc32.finalize()),
            Ok(count) => crc32.update(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The CRC-32 of a file. The sums of some stretches, given in order as (start, length, sum), are
/// known, so these are not read again.
pub(crate) fn crc32_around(
    path: &Path,
    known: impl Iterator<Item = (u64, u64, u32)>,
) -> io::Result<u32> {
    let mut file = File::open(path)?;
    let mut crc32 = crc32fast::Hasher::new();
    let mut at = 0;
    for (start, len, sum) in known {
        io::copy(&mut (&mut file).take(start - at), &mut HashedBy(&mut crc32))?;
        crc32.combine(&crc32fast::Hasher::new_with_initial_len(sum, len));
        at = start + len;
        file.seek(io::SeekFrom::Start(at))?;
    }
    io::copy(&mut file, &mut HashedBy(&mut crc32))?;
    Ok(crc32.finalize())
}

/// A writer that only hashes.
struct HashedBy<'a>(&'a mut crc32fast::Hasher);

impl Write for HashedBy<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The text of a JSON object with, as its last field, a SHA-256 of the text without that field.
pub(crate) fn sealed(object: &str) -> String {
    let open = object.strip_suffix("\n}").expect("a pretty object");
    format!("{open}{SEAL}{}{SEAL_END}", sum_of(object))
}

/// The SHA-256 that [`sealed`] adds to the text of a JSON object.
pub(crate) fn sum_of(object: &str) -> String {
    hex(&Sha256::digest(object))
}

/// Whether a text is unchanged since it was [`sealed`].
pub(crate) fn is_sealed(text: &str) -> bool {
    text.rsplit_once(SEAL).is_some_and(|(open, _)| sealed(&format!("{open}\n}}")) == text)
}

const SEAL: &str = ",\n  \"checksum\": \"";
const SEAL_END: &str = "\"\n}\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_locked_by_one_and_removed_if_nothing_came() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("a/b");
        let lock = FolderLock::take(&folder).unwrap().unwrap();
        assert!(FolderLock::take(&folder).unwrap().is_none());
        drop(lock);
        assert!(!place.path().join("a").exists());
        drop(
            FolderLock::take(&folder)
                .unwrap()
                .inspect(|_| fs::write(folder.join("x"), "").unwrap()),
        );
        assert!(folder.join("x").exists());
    }

    #[test]
    fn folders_change_places_either_way() {
        let here = tempfile::tempdir().unwrap();
        let path = |name: &str| here.path().join(name);
        for swap in [exchange, exchange_in_steps] {
            for name in ["old", "new"] {
                fs::create_dir_all(path(name)).unwrap();
                fs::write(path(name).join(name), "").unwrap();
            }
            swap(&path("new"), &path("old")).unwrap();
            assert!(path("old/new").exists() && path("new/old").exists());
            assert_eq!(fs::read_dir(here.path()).unwrap().count(), 2);
            for name in ["old", "new"] {
                fs::remove_dir_all(path(name)).unwrap();
            }
        }
    }

    #[test]
    fn a_seal_holds_for_the_very_text() {
        let text = sealed("{\n  \"a\": 1\n}");
        assert!(text.starts_with("{\n  \"a\": 1,\n  \"checksum\": \""), "{text}");
        assert!(is_sealed(&text));
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            assert!(!is_sealed(&String::from_utf8(bytes).unwrap()), "byte {at}");
            assert!(!is_sealed(&text[..at]), "cut at {at}");
        }
    }
}
