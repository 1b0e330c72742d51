//! The lakes of the portal, by the names that the operator gave.
//!
//! In: names and folders. Out: versions. A lake that has grown is a new version, and every result
//! belongs to one version. A request chooses a name and never a folder.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use crate::defaults::Defaults;
use crate::facts::machines::MachineEvents;
use crate::faults::{Result, Usage};
use crate::lake::{Lake, TableEntry};
use crate::schema::Table;
use crate::sources::hex;
use crate::units::micros_to_seconds;

/// A lake as it is now.
#[derive(Debug)]
pub(super) struct Version {
    /// Its folder.
    pub path: PathBuf,
    /// A hash of its parts, which differs once the lake has grown.
    pub stamp: String,
    /// The kind of trace.
    pub source: String,
    /// Rows by table.
    pub rows: Vec<(Table, u64)>,
    /// The first and the last event of all tables with times, s of the clock of the trace.
    pub clock: Option<[f64; 2]>,
    /// Whether its machines come and go. A log may record only that they exist.
    pub has_failures: bool,
    /// The policies that `replay` compares by default.
    pub policies: String,
    /// Manifests with their sizes and times, to detect a change.
    seen: Vec<(PathBuf, u64, SystemTime)>,
    /// Whether the folder is removed when the version is no longer used.
    is_ours: bool,
}

/// A lake by its name.
#[derive(Debug)]
pub(super) struct At {
    /// The name that pages show.
    pub name: String,
    now: Mutex<Arc<Version>>,
}

/// All lakes, in the operator's order.
#[derive(Debug)]
pub(super) struct Lakes(Vec<At>);

impl Version {
    /// Opens the lake in a folder.
    pub(super) fn open(path: &Path, is_ours: bool) -> Result<Self> {
        let seen = seen(path);
        let lake = Lake::open(path)?;
        let mut sum = Sha256::new();
        let mut rows = Vec::new();
        for table in Table::ALL {
            let Some(entry) = lake.manifest.table(table) else { continue };
            rows.push((table, entry.rows()));
            entry.parts.iter().for_each(|part| {
                sum.update(format!("{table} {} {} {}\n", part.part, part.rows, part.sha256));
            });
        }
        let stamp = hex(&sum.finalize())[..16].to_owned();
        let source = lake.source().name().to_owned();
        let (clock, has_failures) = (clock_of(&lake), has_failures(&lake));
        let policies = Defaults::of(&lake).policies.join(" ");
        let path = path.to_owned();
        Ok(Self { path, stamp, source, rows, clock, has_failures, policies, seen, is_ours })
    }
}

impl Drop for Version {
    fn drop(&mut self) {
        if self.is_ours {
            // A folder that cannot be removed now is removed at the next start.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

/// The time between the first and the last event of a table, s.
pub(super) fn span_of(lake: &Lake, table: Table) -> Option<f64> {
    let entry = lake.manifest.table(table)?;
    let first = entry.parts.iter().filter_map(|part| part.min_time_us).min()?;
    Some(micros_to_seconds(entry.max_time_us()? - first))
}

/// The first and the last event of the tables of jobs and tasks, s. Tables of machines are left
/// out: machines of a log exist from time 0 on, which is not a date of the log.
fn clock_of(lake: &Lake) -> Option<[f64; 2]> {
    let tables = [Table::JobEvents, Table::TaskEvents];
    let entries = || tables.iter().filter_map(|table| lake.manifest.table(*table));
    let parts = entries().flat_map(|entry| &entry.parts);
    let first = parts.filter_map(|part| part.min_time_us).min()?;
    let last = entries().filter_map(TableEntry::max_time_us).max()?;
    Some([first, last].map(micros_to_seconds))
}

/// Whether a machine of the lake ever came or went. Always true for lakes that are not of a log, and
/// for a log whose machines cannot be read: the study then says why.
fn has_failures(lake: &Lake) -> bool {
    if !lake.source().is_log() {
        return true;
    }
    MachineEvents::read(lake).map_or_else(
        |_| lake.has(Table::MachineEvents),
        |read| read.events.iter().any(|event| event.time_us != 0),
    )
}

/// The manifests of a lake as they are on disk.
fn seen(path: &Path) -> Vec<(PathBuf, u64, SystemTime)> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut all: Vec<(PathBuf, u64, SystemTime)> = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("manifest"))
        .filter_map(|entry| {
            let about = entry.metadata().ok()?;
            Some((entry.path(), about.len(), about.modified().ok()?))
        })
        .collect();
    all.sort();
    all
}

impl At {
    /// The lake as it is now.
    pub(super) fn now(&self) -> Arc<Version> {
        Arc::clone(&self.now.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the version; holders of the earlier one keep it.
    pub(super) fn put(&self, version: Version) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(version);
    }

    /// Reads the lake again if its manifests have changed; returns whether it is a new version.
    pub(super) fn refresh(&self) -> bool {
        let now = self.now();
        if now.is_ours || seen(&now.path) == now.seen {
            return false;
        }
        // A manifest that is being replaced now will be read the next time.
        let Ok(next) = Version::open(&now.path, false) else { return false };
        let is_other = next.stamp != now.stamp;
        self.put(next);
        is_other
    }
}

impl Lakes {
    /// Opens all lakes.
    pub(super) fn open(named: &[(String, PathBuf)]) -> Result<Self> {
        let mut all = Self(Vec::new());
        for (name, path) in named {
            all.add(name.clone(), Version::open(path, false)?)?;
        }
        Ok(all)
    }

    /// Adds a lake; its name must be new.
    pub(super) fn add(&mut self, name: String, version: Version) -> Result<()> {
        if self.find(&name).is_some() {
            let said = format!(
                "two lakes are called `{name}`: give them different names with --lake NAME=DIR"
            );
            return Err(Usage(said).into());
        }
        self.0.push(At { name, now: Mutex::new(Arc::new(version)) });
        Ok(())
    }

    pub(super) fn all(&self) -> &[At] {
        &self.0
    }

    /// Whether most of a common clock would be empty, because the times of the lakes are far apart.
    pub(super) fn are_apart(lakes: &[&At]) -> bool {
        is_mostly_empty(lakes.iter().filter_map(|at| at.now().clock).collect())
    }

    /// The lake with a name.
    pub(super) fn find(&self, name: &str) -> Option<&At> {
        self.0.iter().find(|at| at.name == name)
    }

    /// The given names that no lake has.
    pub(super) fn gone<'a>(&self, names: &'a [String]) -> Vec<&'a str> {
        names.iter().map(String::as_str).filter(|name| self.find(name).is_none()).collect()
    }

    /// The mistake of a form without the name of a lake, if the portal has several.
    pub(super) fn unnamed(&self, name: Option<&str>) -> Option<&'static str> {
        let is_open = name.is_none() && 1 < self.0.len();
        is_open.then_some("choose a cluster: this portal has several")
    }

    /// The lakes with the given names; the first lake if there is no name.
    pub(super) fn chosen<'a>(
        &self,
        names: impl Iterator<Item = &'a str>,
    ) -> Result<Vec<&At>, String> {
        let mut chosen: Vec<&At> = Vec::new();
        for name in names {
            let known = || self.0.iter().map(|at| at.name.as_str()).collect::<Vec<_>>().join(", ");
            let at = self.find(name).ok_or_else(|| {
                let cut: String = name.chars().take(40).collect();
                format!("no lake is called `{cut}` (known: {})", known())
            })?;
            if chosen.iter().all(|other| other.name != at.name) {
                chosen.push(at);
            }
        }
        if chosen.is_empty() {
            chosen.extend(self.0.first());
        }
        Ok(chosen)
    }
}

/// Whether more than half of the time from the first to the last of these spans is in none of them.
fn is_mostly_empty(mut spans: Vec<[f64; 2]>) -> bool {
    spans.sort_by(|one, other| one[0].total_cmp(&other[0]));
    let Some(&[begin, _]) = spans.first() else { return false };
    let (mut end, mut empty) = (begin, 0.0);
    for [from, to] in spans {
        empty += (from - end).max(0.0);
        end = end.max(to);
    }
    end - begin < 2.0 * empty
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_common_clock_is_left_only_if_it_would_be_mostly_empty() {
        // Two months of one site, one second apart.
        assert!(!is_mostly_empty(vec![[31.0, 59.0], [0.0, 30.9]]));
        assert!(!is_mostly_empty(vec![[0.0, 10.0], [5.0, 20.0]]));
        assert!(is_mostly_empty(vec![[0.0, 29.0], [15_000.0, 15_011.0]]));
        // Two of the three overlap, the third is years later.
        assert!(is_mostly_empty(vec![[0.0, 20.0], [10.0, 30.0], [900.0, 910.0]]));
        assert!(!is_mostly_empty(vec![[4.0, 5.0]]) && !is_mostly_empty(Vec::new()));
    }
}
