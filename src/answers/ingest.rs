//! The plan of `ingest`: which parts of a trace become a lake, and how.
//!
//! In: flags or a file. Out: a plan, checked against the folder of the trace.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::answers::Said;
use crate::answers::words::{self, maybe, readers};
use crate::faults::{Failure, Hindered, Result, Usage};
use crate::lake::Origin;
use crate::lake::manifest::ranges;
use crate::lake::plan::{Cut, IngestPlan, MaxRejects, Shard, choose_parts};
use crate::progress;
use crate::schema::{Family, Source, Table};
use crate::sources::map::Map;
use crate::sources::mask::{KeyError, Mask};
use crate::sources::propose::ready;
use crate::sources::reading::Reading;
use crate::sources::reading::UserFrom;
use crate::sources::zone::Zone;
use crate::sources::{TraceFolder, check_begin, open_trace};

/// What to ingest and how; shared with `analyze`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct IngestChoice {
    /// Kind of trace, by default recognised from its content
    #[cfg_attr(feature = "cli", arg(long, value_name = "KIND", long_help = source_help(ALLOC_SETS)))]
    #[serde(with = "maybe")]
    pub source: Option<Source>,

    /// Map of the columns of any table of jobs or attempts
    ///
    /// A file made by `jobfate map FILE`, or the name of a map that comes with the program
    /// (`jobfate map --list`). Implies --source mapped.
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map: Option<PathBuf>,

    /// Time zone of times without a zone, UTC by default
    #[cfg_attr(feature = "cli", arg(long, value_name = "ZONE", allow_hyphen_values = true, long_help = timezone_help()))]
    #[serde(with = "maybe")]
    pub timezone: Option<Zone>,

    /// Name that is the user of a pod, `namespace` by default
    #[cfg_attr(feature = "cli", arg(long, value_name = "FROM", long_help = user_from_help()))]
    #[serde(with = "maybe")]
    pub user_from: Option<UserFrom>,

    /// Key that replaces names, so that the lake can be shared
    ///
    /// A file of at least 16 bytes, such as `head -c 32 /dev/urandom | base64 > key`. Users,
    /// accounts, groups, queues, machines and the names of jobs become keyed hashes (HMAC-SHA-256):
    /// the same name gives the same hash in all lakes made with the key. Rejected lines are stored
    /// without their text, and headers without names. Anyone with the key can test whether a
    /// guessed name is in the lake, so store the key separately.
    #[cfg_attr(feature = "cli", arg(long, value_name = "KEYFILE"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anonymize: Option<PathBuf>,

    /// Table name, if `TRACE_DIR` directly contains its parts
    ///
    /// Only for the Google trace.
    #[cfg_attr(feature = "cli", arg(long, value_name = "TABLE", conflicts_with = "tables"))]
    #[serde(with = "maybe")]
    pub table: Option<Table>,

    /// Tables to ingest, all by default
    ///
    /// For example `--tables job_events,task_events`.
    #[cfg_attr(feature = "cli", arg(long, value_name = "TABLE,...", value_delimiter = ','))]
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "write_tables",
        deserialize_with = "read_tables"
    )]
    pub tables: Option<Vec<Table>>,

    /// Numbers of the parts to ingest, all by default
    ///
    /// For example `--parts 0-13,15`. Tables of a single part (`machine_events`,
    /// `machine_attributes`) are always read completely.
    #[cfg_attr(feature = "cli", arg(long, value_name = "RANGES", value_parser = parse_ranges))]
    #[serde(with = "maybe")]
    pub parts: Option<PartNumbers>,

    /// Lines of a part that may be rejected [default: 0.1%]
    ///
    /// A count (`100`) or a share of the part's lines (`0.1%`). A line that cannot become a row is
    /// rejected. All rejects are counted, and the first 256 MB of each part are kept under
    /// `rejects/` in the lake with line, column and reason. A part with more rejects is not
    /// ingested, and the exit code is 3.
    #[cfg_attr(feature = "cli", arg(long, value_name = "COUNT|PERCENT"))]
    #[serde(with = "maybe")]
    pub max_rejects: Option<MaxRejects>,

    /// Number of buckets of a new lake, by size by default
    ///
    /// Rows are spread over buckets by job. More buckets mean less memory for commands and smaller
    /// files.
    #[cfg_attr(feature = "cli", arg(long, value_name = "COUNT", value_parser = parse_buckets))]
    #[serde(deserialize_with = "buckets")]
    pub buckets: Option<u32>,

    /// This program's share of the work, `I/N`
    ///
    /// N processes, on N machines with a shared file system, can fill one lake in parallel. Start
    /// each with the same arguments and its own I from 1 to N.
    #[cfg_attr(feature = "cli", arg(long, value_name = "I/N"))]
    #[serde(skip)]
    pub shard: Option<Shard>,

    /// Start even if disk or memory seem too small
    ///
    /// Before it starts, ingest estimates from the file sizes how much disk and memory it needs,
    /// and stops if there is less.
    #[cfg_attr(feature = "cli", arg(long))]
    #[serde(skip)]
    pub force: bool,

    /// Number of threads, one per core by default
    #[cfg_attr(feature = "cli", arg(long, value_name = "COUNT", value_parser = crate::units::whole(1..=1024u16)))]
    #[serde(skip)]
    pub threads: Option<u16>,
}

/// Text about `--source` that only the help of `ingest` has.
#[cfg(feature = "cli")]
const ALLOC_SETS: &str =
    "; google-2019-alloc-sets reads only the alloc sets of the trace of 2019, as jobs";

/// The help of `--source`; `more` is added at the end of its sentence.
pub fn source_help(more: &str) -> String {
    let known = Source::ALL.into_iter().filter(|source| source.is_recognised());
    let names: Vec<&str> = known.map(Source::name).collect();
    format!(
        "Kind of trace, by default recognised from its content\n\n{}, or mapped with --map{more}.",
        names.join(", ")
    )
}

#[cfg(feature = "cli")]
fn timezone_help() -> String {
    format!(
        "Time zone of times without a zone, UTC by default\n\nOnly for {}. `UTC`, an offset such as \
        `+01:00`, or a name such as `Europe/Berlin`. `sacct` prints times in the zone of its machine, \
        unless it is called with `TZ=UTC`.",
        Source::names_of(Source::lacks_zone)
    )
}

#[cfg(feature = "cli")]
fn user_from_help() -> String {
    format!(
        "Name that is the user of a pod, `namespace` by default\n\nOnly for {}. `namespace`, or \
        `label:KEY` for the value of a label, such as `label:team`.",
        Source::names_of(Source::chooses_user)
    )
}

/// The help of `ingest`: what it reads, how it reads each format, and how much memory it takes.
pub fn about() -> String {
    // The formats with the longest description come first.
    let families = [Family::Google, Family::Cores, Family::Slots, Family::Processors];
    let of = |family| Source::ALL.into_iter().filter(move |source| source.family() == family);
    let formats = families.into_iter().flat_map(of).map(Source::help);
    let paragraphs = [READS].into_iter().chain(formats).chain([MEMORY]);
    let paragraphs: Vec<&str> = paragraphs.filter(|text| !text.is_empty()).collect();
    paragraphs.join("\n\n")
}

/// The beginning of the help of `ingest`.
const READS: &str = "Read a downloaded trace into a lake of Parquet tables\n\nReads the Google traces \
    of 2011 and 2019, logs in the standard or grid workload format (SWF, GWF), Rumen traces of \
    Hadoop jobs with the topology file in the same folder, and the accounting of Slurm (a file or a \
    folder of files); plain or .gz, JSON also as one array. A log fills `job_events`, `task_events` \
    and `machine_events`; each job of SWF, GWF and Slurm is one task.";

/// The end of the help of `ingest`.
const MEMORY: &str = "Memory: 200 MB, and 200 MB per thread (250 MB in a lake of 128 buckets or \
    more), for a trace of any size. In addition, SWF and GWF take 20 bytes for each job and at most \
    64 MB for runs that are logged in parts; Slurm, openb and mapped tables 300 bytes for each job; \
    a Rumen trace the size of its largest job (at most 256 MB); the Google trace of 2019 40 bytes \
    for each collection (24 for each row of the joined CSV); the traces of Alibaba 400 (2017) or 80 \
    bytes (2018) for each task and 150 for each job (2017: and 100 for each instance with several \
    attempts); Kubernetes 800 bytes for each pod, and a few kB for each that may still change (open, \
    or started again).";

/// A set of part numbers, written as ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartNumbers(BTreeSet<u32>);

/// An error: the text is not a list of part numbers.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not a list of part numbers such as `0-13,15`")]
pub struct PartNumbersError(String);

impl FromStr for PartNumbers {
    type Err = PartNumbersError;

    fn from_str(text: &str) -> Result<Self, PartNumbersError> {
        parse_ranges(text)
    }
}

impl fmt::Display for PartNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<u32> = self.0.iter().copied().collect();
        f.write_str(&ranges(&numbers).replace(", ", ","))
    }
}

readers! {
    buckets: Option<u32> = parsed_if(parse_buckets);
}

fn read_tables<'de, D: serde::Deserializer<'de>>(
    source: D,
) -> Result<Option<Vec<Table>>, D::Error> {
    words::parsed_list(source, str::parse).map(Some)
}

#[expect(clippy::ref_option, reason = "serde passes fields by reference")]
fn write_tables<S: serde::Serializer>(
    tables: &Option<Vec<Table>>,
    to: S,
) -> Result<S::Ok, S::Error> {
    words::texts::serialize(tables.as_deref().unwrap_or_default(), to)
}

/// The most buckets of a lake.
const BUCKETS_MAX: u32 = 4096;

fn parse_buckets(text: &str) -> Result<u32, String> {
    let count = text.parse::<u32>().ok().filter(|count| (1..=BUCKETS_MAX).contains(count));
    count.ok_or_else(|| format!("`{text}` is not a number of buckets from 1 to {BUCKETS_MAX}"))
}

fn parse_ranges(text: &str) -> Result<PartNumbers, PartNumbersError> {
    let bad = || PartNumbersError(text.to_owned());
    let mut numbers = BTreeSet::new();
    for range in text.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) =
            (first.parse().map_err(|_| bad())?, last.parse().map_err(|_| bad())?);
        if last < first || 1_000_000 < last {
            return Err(bad());
        }
        numbers.extend(first..=last);
    }
    Ok(PartNumbers(numbers))
}

/// Plans an ingest and checks it against the folder of the trace.
///
/// # Errors
/// The folder is not a trace, an option does not fit its kind, it has none of the chosen tables
/// and parts, or the lake would be the folder itself.
pub fn plan(
    trace: &Path,
    lake: &Path,
    choice: &IngestChoice,
    say: fn(&Said),
) -> Result<IngestPlan> {
    let folder = choice.folder(trace)?;
    check_lake(lake, trace, &folder)?;
    for name in &folder.ignored {
        say(&Said::warning(format!(
            "`{name}` is neither a table of the trace nor a part of one: skipped"
        )));
    }
    let numbers = choice.parts.as_ref().map(|parts| &parts.0);
    let parts = choose_parts(&folder, choice.tables.as_deref(), numbers);
    if parts.is_empty() {
        return Err(Usage("the folder has none of the chosen tables and parts".to_owned()).into());
    }
    for table in choice.tables.iter().flatten().filter(|table| !parts.contains_key(table)) {
        say(&Said::warning(format!(
            "the folder has no table `{table}`, or none of its chosen parts"
        )));
    }
    Ok(IngestPlan {
        lake: lake.to_owned(),
        source: folder.source,
        origin: Origin::of_folder(trace),
        parts,
        max_rejects: choice.max_rejects.unwrap_or_default(),
        bucket_count: choice.buckets,
        shard: choice.shard,
        threads: choice.threads.map_or_else(progress::core_count, usize::from),
        cut: Cut::default(),
    })
}

/// Refuses a lake inside the raw trace: in its folder, or in the folder of a table.
fn check_lake(lake: &Path, trace: &Path, folder: &TraceFolder) -> Result<(), Usage> {
    let Ok(place) = lake.canonicalize() else { return Ok(()) };
    let parts = folder.parts.values().flatten().filter_map(|part| part.path.parent());
    let of_tables = parts.filter(|folder| *folder != trace && folder.starts_with(trace));
    let mut folders = of_tables.chain([trace]).filter_map(|path| path.canonicalize().ok());
    if folders.any(|folder| folder == place) {
        let text = format!(
            "`{}` is a folder of the raw trace: give another folder with --lake",
            lake.display()
        );
        return Err(Usage(text));
    }
    Ok(())
}

impl IngestChoice {
    /// The name of an option that the user gave, including options that a file cannot have. `None`
    /// if there is none.
    pub fn first_given(&self) -> Option<String> {
        let others = [
            ("shard", self.shard.is_some()),
            ("force", self.force),
            ("threads", self.threads.is_some()),
        ];
        let mut others = others.into_iter().filter(|option| option.1);
        words::write(self).into_keys().next().or_else(|| Some(others.next()?.0.to_owned()))
    }

    /// The parts of a trace, with the way to read each.
    ///
    /// # Errors
    /// The folder is not a trace of this kind, or an option is for another kind.
    pub fn folder(&self, trace: &Path) -> Result<TraceFolder> {
        check_table(self.source, self.table)?;
        let source = match (self.source, &self.map) {
            (None, Some(_)) => Some(Source::Mapped),
            (Some(source), Some(_)) if source != Source::Mapped => {
                return Err(Usage(format!("--map is for --source mapped, not {source}")).into());
            }
            (source, _) => source,
        };
        let mut folder = open_trace(trace, source, self.table)?;
        self.tell(&mut folder)?;
        Ok(folder)
    }

    /// Sets the way in which the parts are read.
    fn tell(&self, folder: &mut TraceFolder) -> Result<()> {
        let source = folder.source;
        if self.timezone.is_some() && !source.lacks_zone() {
            let known = Source::names_of(Source::lacks_zone);
            let said = format!("--timezone is for {known}; the times of {source} have no zone");
            return Err(Usage(said).into());
        }
        let map = match &self.map {
            Some(path) => Some(Arc::new(map_of(path)?)),
            None if source == Source::Mapped => {
                let said = "--source mapped needs --map FILE.toml, which says what the columns are: \
                    `jobfate map FILE` proposes one";
                return Err(Usage(said.to_owned()).into());
            }
            None => None,
        };
        if self.user_from.is_some() && !source.chooses_user() {
            let known = Source::names_of(Source::chooses_user);
            let said = format!("--user-from is for {known}; {source} records its users");
            return Err(Usage(said).into());
        }
        let mask = self.anonymize.as_deref().map(key_of).transpose()?.map(Arc::new);
        if self.timezone.is_none() && map.is_none() && self.user_from.is_none() && mask.is_none() {
            return Ok(());
        }
        let mut parts = folder.parts.values_mut().flatten().peekable();
        let files = parts.peek().map(|part| part.reading.files.anew()).unwrap_or_default();
        let reading = Arc::new(Reading {
            zone: self.timezone.clone(),
            map,
            user_from: self.user_from.clone(),
            mask,
            files,
        });
        for part in parts {
            part.reading = Arc::clone(&reading);
        }
        if source == Source::Mapped {
            check_columns(folder)?;
        }
        Ok(())
    }
}

/// Reads the key from a file.
fn key_of(path: &Path) -> Result<Mask> {
    Mask::of_file(path).map_err(|error| match &error {
        KeyError::Read(_, cause) => Hindered(format!("{error}: {cause}")).into(),
        KeyError::Short(..) => Failure::from(Usage(error.to_string())),
    })
}

/// Reads the map in a file, or finds the built-in map of this name.
///
/// # Errors
/// The file cannot be read, or it is not a map.
pub fn map_of(path: &Path) -> Result<Map> {
    let ready = path.to_str().and_then(ready::find).filter(|_| !path.exists());
    let text = match ready {
        Some(ready) => ready.text.to_owned(),
        None => std::fs::read_to_string(path).map_err(|error| {
            Hindered(format!(
                "could not read the map `{}`: {error} (`jobfate map --list` lists those that come \
                with the program)",
                path.display()
            ))
        })?,
    };
    let wrong = |mistake| Usage(format!("the map `{}` is wrong in {mistake}", path.display()));
    Ok(Map::read(&text).map_err(wrong)?)
}

/// Refuses files of a mapped table that lack a required column, before any rows are read.
fn check_columns(folder: &TraceFolder) -> Result<()> {
    for part in folder.parts.values().next().into_iter().flatten() {
        check_begin(part)?;
    }
    Ok(())
}

/// Refuses `--table` for other traces: only parts of the Google trace can be directly in a folder.
///
/// # Errors
/// A table is named for another kind of trace.
fn check_table(source: Option<Source>, table: Option<Table>) -> Result<()> {
    match (source, table) {
        (Some(source), Some(_)) if source != Source::Google2011 => {
            Err(Usage(format!("--table is for google-2011; a {source} log is one file")).into())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_ranges_are_read() {
        let numbers = parse_ranges("0-2,5").unwrap().0;
        assert_eq!(numbers.into_iter().collect::<Vec<u32>>(), [0, 1, 2, 5]);
        for odd in ["", "a", "3-1", "1-", "-1", "0-99999999"] {
            assert!(parse_ranges(odd).is_err(), "{odd}");
        }
    }
}
