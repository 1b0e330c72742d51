//! Which steps of an analysis are complete, and from which inputs.
//!
//! In: `steps.json` of an earlier run. Out: the analysis of the folder, and per step a mark (a
//! checksum of its inputs) and the files that it wrote. A step is complete while its mark and its
//! files are unchanged. The mark is removed before the step starts, so incomplete results never
//! count as complete.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::faults::{Context, Result, Usage};
use crate::files;
use crate::results::store;
use crate::results::{ANALYSIS_STEPS as FILE, RESULT_VERSION, ResultFile};
use crate::sources::hex;

/// A step that was done.
#[derive(Debug, Serialize, Deserialize)]
struct Mark {
    made_from: String,
    /// The files that the step wrote, relative to the folder of the analysis.
    files: Vec<ResultFile>,
}

/// The steps that were done.
pub struct Marks {
    out: PathBuf,
    /// Folders in the folder of the analysis that each hold the results of one step.
    folders: Vec<&'static str>,
    steps: Steps,
}

/// The contents of `steps.json`.
#[derive(Default, Serialize, Deserialize)]
struct Steps {
    /// The checksum of the last analysis that was begun.
    analysis_sha256: String,
    steps: BTreeMap<String, Mark>,
}

/// Files, with the times of their last change.
pub(crate) type Listing = BTreeMap<String, SystemTime>;

impl Marks {
    /// Begins an analysis; existing marks are those of earlier runs.
    ///
    /// # Errors
    /// `steps.json` cannot be read or written, or it is a file of another kind.
    pub fn begin(out: &Path, folders: Vec<&'static str>, analysis_sha256: &str) -> Result<Self> {
        let mut steps = Self::load(out)?;
        analysis_sha256.clone_into(&mut steps.analysis_sha256);
        let marks = Self { out: out.to_owned(), folders, steps };
        marks.store()?;
        Ok(marks)
    }

    /// Refuses a folder in which `steps.json` is a file of another kind.
    pub fn check(out: &Path) -> Result<()> {
        Self::load(out).map(|_| ())
    }

    fn load(out: &Path) -> Result<Steps> {
        let path = out.join(FILE);
        let text = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Steps::default()),
            text => text.with_context(|| format!("could not read `{}`", path.display()))?,
        };
        if let Ok(steps) = serde_json::from_slice(&text) {
            return Ok(steps);
        }
        // Earlier versions stored only the marks; their steps are done again.
        match serde_json::from_slice::<BTreeMap<String, Mark>>(&text) {
            Ok(_) => Ok(Steps::default()),
            Err(_) => Err(Usage(format!(
                "`{}` does not belong to an earlier analysis: move it away, or give another --out",
                path.display()
            ))
            .into()),
        }
    }

    /// Whether the results of a step exist, are unchanged, and were made from the same inputs.
    pub fn has(&self, step: &str, made_from: &str) -> bool {
        self.steps.steps.get(step).is_some_and(|mark| {
            mark.made_from == made_from
                && mark.files.iter().all(|file| file.is_in(&self.out).unwrap_or(false))
        })
    }

    /// Removes the mark of a step that is about to begin.
    pub fn remove(&mut self, step: &str) -> Result<()> {
        if self.steps.steps.remove(step).is_some() { self.store() } else { Ok(()) }
    }

    /// Marks a step as complete. Its results are the files that have changed since `before`.
    pub fn put(&mut self, step: &str, made_from: String, before: &Listing) -> Result<()> {
        let now = self.listing()?;
        let is_new = |file: &(&String, &SystemTime)| before.get(file.0) != Some(file.1);
        let mark = |(file, _): (&String, &SystemTime)| {
            ResultFile::of(&self.out, file)
                .with_context(|| format!("could not read `{}`", self.out.join(file).display()))
        };
        let files = now.iter().filter(is_new).map(mark).collect::<Result<Vec<_>>>()?;
        self.steps.steps.insert(step.to_owned(), Mark { made_from, files });
        self.store()
    }

    /// Records in the results of an earlier step that they belong to this analysis.
    pub fn adopt(&mut self, step: &str) -> Result<()> {
        let Some(mark) = self.steps.steps.get_mut(step) else { return Ok(()) };
        let mut is_changed = false;
        for file in mark.files.iter_mut().filter(|file| file.file.ends_with(".json")) {
            store::adopt(&self.out.join(&file.file))?;
            let now = ResultFile::of(&self.out, &file.file).with_context(|| {
                format!("could not read `{}`", self.out.join(&file.file).display())
            })?;
            is_changed |= now != *file;
            *file = now;
        }
        if is_changed { self.store() } else { Ok(()) }
    }

    /// The files in the folder of the analysis and in the folders of its steps.
    pub fn listing(&self) -> Result<Listing> {
        let mut found = Listing::new();
        for folder in std::iter::once("").chain(self.folders.iter().copied()) {
            let path = self.out.join(folder);
            if !path.is_dir() {
                continue;
            }
            let failed = || format!("could not read `{}`", path.display());
            for entry in fs::read_dir(&path).with_context(failed)? {
                let entry = entry.with_context(failed)?;
                let about = entry.metadata().with_context(failed)?;
                let name = Path::new(folder).join(entry.file_name()).to_string_lossy().into_owned();
                if about.is_file() && name != FILE {
                    found.insert(name, about.modified().with_context(failed)?);
                }
            }
        }
        Ok(found)
    }

    fn store(&self) -> Result<()> {
        let path = self.out.join(FILE);
        let text = serde_json::to_string_pretty(&self.steps)? + "\n";
        files::write_whole(&path, text.as_bytes())
            .with_context(|| format!("could not write `{}`", path.display()))
    }
}

/// A checksum of everything that determines the results of a step: `texts`, the words of its
/// command, and the files named in these words.
pub fn made_from(texts: &[&str], words: &[String]) -> String {
    let mut hasher = Sha256::new();
    hasher.update(RESULT_VERSION.to_le_bytes());
    for text in [crate::PROGRAM].iter().chain(texts) {
        hasher.update(text);
        hasher.update([0]);
    }
    for word in words {
        hasher.update(word);
        hasher.update([0]);
        // Files of accounts, factors or formulas: other contents lead to other results.
        for file in files_in(word) {
            let bytes = fs::read(file).unwrap_or_default();
            hasher.update(&bytes);
            // An index file names further files, in quotes and relative to its folder.
            let folder = file.parent().unwrap_or(Path::new(""));
            for quoted in String::from_utf8_lossy(&bytes).split('"').skip(1).step_by(2) {
                let further = folder.join(quoted);
                if further.is_file() {
                    hasher.update(fs::read(further).unwrap_or_default());
                }
            }
        }
    }
    hex(&hasher.finalize())
}

/// The files that a word names in any position: after a key, in a list, in a notation.
fn files_in(word: &str) -> Vec<&Path> {
    let signs = ['=', ',', ':'];
    let begins = std::iter::once(0).chain(word.match_indices(signs).map(|(at, _)| at + 1));
    let ends = || word.match_indices(signs).map(|(at, _)| at).chain([word.len()]);
    let pieces = begins.flat_map(|begin| {
        ends().filter(move |&end| begin < end).map(move |end| Path::new(&word[begin..end]))
    });
    pieces.filter(|path| path.is_file()).collect()
}
