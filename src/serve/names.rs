//! The names of lakes, from the operator's command line.
//!
//! In: `NAME=DIR` or `DIR`, of lakes and of what is followed. Out: a different name for each. A
//! folder without a name is called by its last part. If another folder has the same last part, it
//! is called by the name of its parent folder. If that name is taken too, it gets a number. The
//! same command line always gives the same names.

use std::path::{Path, PathBuf};

use crate::answers::fairness::plan::named_lake;
use crate::faults::{Result, Usage};

/// Lakes and followed paths by their names.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// Lakes.
    pub lakes: Vec<(String, PathBuf)>,
    /// Logs and folders that are followed.
    pub watch: Vec<(String, PathBuf)>,
    /// What the operator should know about names that are not the last part of a path.
    pub notes: Vec<String>,
}

/// A path, with the name that the operator gave or the one that follows from it.
struct One {
    path: PathBuf,
    given: Option<String>,
    /// The last part of the path.
    last: String,
}

impl One {
    /// Reads a lake, or a followed path. The name of a followed path is its file stem.
    fn read(text: &str, is_watched: bool) -> Self {
        let (name, path) = named_lake(text);
        if path.as_os_str() != text {
            return Self { path, given: Some(name.clone()), last: name };
        }
        let stem = path.file_stem().filter(|_| is_watched);
        let last = stem.map_or_else(|| last_of(&path).unwrap_or(name), plain);
        Self { path, given: None, last }
    }
}

/// A part of a path as a name. A name is written before `=`, so it cannot contain one.
fn plain(part: &std::ffi::OsStr) -> String {
    let is_bad = |letter: char| letter == '=' || letter.is_control();
    part.to_string_lossy().replace(is_bad, "-")
}

/// The last part of a path, also of `.` and `..`.
fn last_of(path: &Path) -> Option<String> {
    let whole = || path.canonicalize().ok()?.file_name().map(plain);
    path.file_name().map(plain).or_else(whole)
}

/// The name of the folder around a path.
fn around(path: &Path) -> Option<String> {
    let whole = std::path::absolute(path).ok()?;
    last_of(whole.parent()?)
}

/// The names of lakes and of followed paths.
///
/// # Errors
/// The same name was given twice.
pub fn named(lakes: &[String], watch: &[String]) -> Result<Named> {
    let mut all: Vec<One> = lakes.iter().map(|text| One::read(text, false)).collect();
    all.extend(watch.iter().map(|text| One::read(text, true)));
    let mut names: Vec<String> = Vec::new();
    for (place, one) in all.iter().enumerate() {
        let twice = |other: &One| other.given.is_some() && other.given == one.given;
        if all[..place].iter().any(twice) {
            let said = format!("two lakes are called `{}`; name them: --lake NAME=DIR", one.last);
            return Err(Usage(said).into());
        }
        let is_single = all.iter().filter(|other| other.last == one.last).count() == 1;
        names.push(match &one.given {
            Some(name) => name.clone(),
            None if is_single => one.last.clone(),
            None => around(&one.path).unwrap_or_else(|| one.last.clone()),
        });
    }
    let mut notes = Vec::new();
    for (place, one) in all.iter().enumerate().filter(|(_, one)| one.given.is_none()) {
        let is_taken = |name: &String| {
            let mut others = names.iter().zip(&all).enumerate();
            others.any(|(other, (taken, it))| {
                taken == name && other != place && (other < place || it.given.is_some())
            })
        };
        if is_taken(&names[place]) {
            let numbered = (2..).map(|number| format!("{}-{number}", names[place]));
            let mut free = numbered.filter(|name| names.iter().all(|taken| taken != name));
            names[place] = free.next().expect("there are more numbers than lakes");
        }
        if names[place] != one.last {
            notes.push(format!("`{}` is called `{}`", one.path.display(), names[place]));
        }
    }
    let mut pairs = names.into_iter().zip(all.into_iter().map(|one| one.path));
    let lakes = pairs.by_ref().take(lakes.len()).collect();
    Ok(Named { lakes, watch: pairs.collect(), notes })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn names(lakes: &[&str], watch: &[&str]) -> Vec<String> {
        let of = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let found = named(&of(lakes), &of(watch)).unwrap();
        found.lakes.into_iter().chain(found.watch).map(|(name, _)| name).collect()
    }

    #[test]
    fn equal_folder_names_get_the_name_around_them_and_then_numbers() {
        for (lakes, watch, said) in [
            (vec!["/a/lake"], vec![], vec!["lake"]),
            (vec!["/a/lake", "/b/lake"], vec![], vec!["a", "b"]),
            (vec!["/b/lake", "/a/lake", "/c/other"], vec![], vec!["b", "a", "other"]),
            (vec!["/x/a/lake", "/y/a/lake"], vec![], vec!["a", "a-2"]),
            (vec!["/x/a/lake", "/y/a/lake", "/z/a-2"], vec![], vec!["a", "a-3", "a-2"]),
            (vec!["lake=/a/lake", "/b/lake"], vec![], vec!["lake", "b"]),
            (vec!["/a/lake", "/b/lake", "b=/c"], vec![], vec!["a", "b-2", "b"]),
            (vec!["/a/jobs"], vec!["/b/jobs.swf"], vec!["a", "b"]),
            (vec![], vec!["/a/jobs.swf", "/b/jobs.swf"], vec!["a", "b"]),
            (vec!["/lake", "/a/lake"], vec![], vec!["lake", "a"]),
        ] {
            assert_eq!(names(&lakes, &watch), said, "{lakes:?} {watch:?}");
        }
        let twice = ["a=/x".to_owned(), "a=/y".to_owned()];
        assert!(named(&twice, &[]).unwrap_err().to_string().contains("called `a`"));
    }

    proptest! {
        #[test]
        fn each_has_a_name_of_its_own(
            folders in prop::collection::vec(("[ab]", "[ab=]{1,2}", any::<bool>()), 1..8),
            split in 0..8_usize,
        ) {
            let texts: Vec<String> =
                folders.iter().map(|(around, last, _)| format!("/{around}/{last}")).collect();
            let (lakes, watch) = texts.split_at(split.min(texts.len()));
            let found = named(lakes, watch).unwrap();
            prop_assert_eq!(&found, &named(lakes, watch).unwrap());
            let all: Vec<&(String, PathBuf)> = found.lakes.iter().chain(&found.watch).collect();
            let paths: Vec<String> = all.iter().map(|one| one.1.display().to_string()).collect();
            prop_assert_eq!(paths, texts);
            let distinct: BTreeSet<&str> = all.iter().map(|one| one.0.as_str()).collect();
            prop_assert_eq!(distinct.len(), all.len());
            prop_assert!(all.iter().all(|one| !one.0.is_empty() && !one.0.contains('=')));
        }
    }
}
