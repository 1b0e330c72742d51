//! The portal's own folder: its secret, saved indices and jobs, in plain files.
//!
//! In: values. Out: files that exist completely or not at all, even if the portal is killed. Names
//! of files are checksums, never text that a user typed.
//!
//! ```text
//!  state/secret                 32 bytes, for cookies and forms
//!        indices/<id>.json      an index that a user saved
//!        jobs/<id>/job.json     a question, how it went, and which folder has its answer
//!        jobs/<id>/out-<n>/     the answer
//!        watch/<id>/            what is taken from a followed log or folder, and its lakes
//!        work/                  files of running questions; emptied at the start
//! ```

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::secret::random;
use crate::faults::{Context, Result, Usage};
use crate::files::{self, FolderLock};
use crate::sources::hex;

/// The folder of the portal. It is locked as long as this value exists.
#[derive(Debug)]
pub(super) struct State {
    folder: PathBuf,
    /// For cookies and forms.
    pub secret: [u8; 32],
    #[expect(dead_code, reason = "held, not read")]
    lock: FolderLock,
}

/// Values by id, and the files that are damaged.
type Kept<T> = (Vec<(String, T)>, Vec<PathBuf>);

/// Seconds since 1970.
pub(super) fn clock() -> u64 {
    let since = wall_clock().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// The time of the system, to compare with times of files.
#[expect(clippy::disallowed_methods, reason = "compared with the times of files")]
pub(super) fn wall_clock() -> SystemTime {
    SystemTime::now()
}

/// The id of a text: 16 hex digits of its SHA-256.
pub(super) fn id_of(text: &str) -> String {
    hex(&Sha256::digest(text))[..16].to_owned()
}

/// Whether a text has the format of such an id.
pub(super) fn is_id(text: &str) -> bool {
    text.len() == 16
        && text.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase())
}

impl State {
    /// Opens the folder, which is created if it does not exist; fails if another portal uses it.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let taken =
            || Usage(format!("another portal uses `{}`: give another --state", folder.display()));
        let failed = || format!("could not use `{}`", folder.display());
        private_folder(folder).with_context(failed)?;
        let lock = FolderLock::take(folder).with_context(failed)?.ok_or_else(taken)?;
        for name in ["indices", "jobs", "work"] {
            private_folder(&folder.join(name)).with_context(failed)?;
        }
        empty(&folder.join("work")).with_context(failed)?;
        let secret = secret(&folder.join("secret"))?;
        // Workers run in another folder, so paths must be absolute.
        let folder = folder.canonicalize().with_context(failed)?;
        Ok(Self { folder, secret, lock })
    }

    /// The folder in which workers run.
    pub(super) fn work(&self) -> PathBuf {
        self.folder.join("work")
    }

    /// The folder of a job.
    pub(super) fn job(&self, id: &str) -> PathBuf {
        debug_assert!(is_id(id), "ids are checked where they come in");
        self.folder.join("jobs").join(id)
    }

    /// The folder of a log that is followed.
    pub(super) fn followed(&self, name: &str) -> io::Result<PathBuf> {
        let folder = self.folder.join("watch").join(id_of(name));
        private_folder(&folder)?;
        Ok(folder)
    }

    /// Stores a saved index, on disk when this returns.
    pub(super) fn put_index(&self, id: &str, value: &impl Serialize) -> io::Result<()> {
        put(&self.folder.join("indices").join(format!("{id}.json")), value)
    }

    /// Removes a saved index.
    pub(super) fn remove_index(&self, id: &str) -> io::Result<()> {
        fs::remove_file(self.folder.join("indices").join(format!("{id}.json")))?;
        files::sync_folder(&self.folder.join("indices"))
    }

    /// Every saved index, and the files that are damaged.
    pub(super) fn indices<T: DeserializeOwned>(&self) -> io::Result<Kept<T>> {
        let (mut good, mut bad) = (Vec::new(), Vec::new());
        for path in entries(&self.folder.join("indices"))? {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            if path.extension().is_none_or(|end| end != "json") || !is_id(&stem) {
                continue;
            }
            match get(&path) {
                Some(value) => good.push((stem, value)),
                None => bad.push(path),
            }
        }
        Ok((good, bad))
    }

    /// Stores the record of a job.
    pub(super) fn put_job(&self, id: &str, value: &impl Serialize) -> io::Result<()> {
        private_folder(&self.job(id))?;
        put(&self.job(id).join("job.json"), value)
    }

    /// Every stored job; damaged records are left out.
    pub(super) fn jobs<T: DeserializeOwned>(&self) -> io::Result<Vec<(String, T)>> {
        let mut all = Vec::new();
        for path in entries(&self.folder.join("jobs"))? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if let Some(value) = get(&path.join("job.json")).filter(|_| is_id(&name)) {
                all.push((name, value));
            }
        }
        Ok(all)
    }
}

fn private_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut all: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    all.sort();
    Ok(all)
}

fn empty(folder: &Path) -> io::Result<()> {
    for path in entries(folder)? {
        if path.is_dir() && !path.is_symlink() {
            fs::remove_dir_all(&path)?;
        } else {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// Writes a value with its checksum; a reader sees the earlier value or the new one.
fn put(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_string_pretty(value).map_err(io::Error::other)?;
    files::write_whole(path, files::sealed(&text).as_bytes())
}

/// Reads a value; `None` if it is missing, cut off or changed.
fn get<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let text = fs::read_to_string(path).ok().filter(|text| files::is_sealed(text))?;
    let mut value: Value = serde_json::from_str(&text).ok()?;
    value.as_object_mut()?.shift_remove("checksum");
    serde_json::from_value(value).ok()
}

/// The secret, which is drawn at the first start.
fn secret(path: &Path) -> Result<[u8; 32]> {
    if let Some(known) = fs::read(path).ok().and_then(|bytes| bytes.try_into().ok()) {
        return Ok(known);
    }
    let drawn = random::<32>()?;
    let write = || {
        let beside = path.with_extension("new");
        let mut options = fs::OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
        file.write_all(&drawn)?;
        file.sync_all()?;
        fs::rename(&beside, path)
    };
    write().with_context(|| format!("could not write `{}`", path.display()))?;
    Ok(drawn)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_stored_is_there_and_what_was_cut_off_is_not() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("state");
        let state = State::open(&folder).unwrap();
        assert!(State::open(&folder).unwrap_err().to_string().contains("another portal"));
        let (one, other) = (id_of("a"), id_of("b"));
        let value = json!({"name": "<script>", "checksum_of": 1});
        state.put_index(&one, &value).unwrap();
        state.put_index(&other, &json!({"name": "b"})).unwrap();
        // A kill in the middle of a write leaves an extra file, never half of one.
        fs::write(folder.join(format!("indices/{one}.new")), "{\"na").unwrap();
        let path = folder.join(format!("indices/{other}.json"));
        fs::write(&path, &fs::read(&path).unwrap()[..9]).unwrap();
        let secret = state.secret;
        drop(state);
        let state = State::open(&folder).unwrap();
        let (good, bad) = state.indices::<Value>().unwrap();
        assert_eq!(good, [(one.clone(), value)]);
        assert_eq!(bad.len(), 1);
        assert_eq!(state.secret, secret);
        state.remove_index(&one).unwrap();
        assert!(state.indices::<Value>().unwrap().0.is_empty());
    }

    #[test]
    fn no_text_is_an_id_that_leads_elsewhere() {
        assert!(is_id(&id_of("x")));
        for bad in [
            "",
            "..",
            "../../etc/passwd",
            "ABCDEF0123456789",
            "0123456789abcde/",
            "0123456789abcdef0",
        ] {
            assert!(!is_id(bad), "{bad}");
        }
    }
}
