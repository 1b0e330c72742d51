//! A raw trace into a lake: what is missing is read, spread over buckets and stored.
//!
//! In: an [`IngestPlan`]. Out: a lake in which every part that stands in
//! the manifest is whole, and an [`IngestOutcome`] with what was stored and what was wrong.
//!
//! A thread takes a segment, reads its parts one after the other, and writes one file per bucket.
//! A bad part spoils only itself: its segment is done again without it, the others go on, and it
//! is named at the end. What is wrong with the machine (a full disk) stops everything at once.
//!
//! ```text
//!  claim segment ─► read parts ─► spread rows ─► files beside ─► rename ─► manifest
//!                                                              killed here: files without an
//!                                                              entry, removed by the next run
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::manifest::{MANIFEST, Manifest, PartEntry, manifest_files};
use super::plan::{IngestPlan, MaxRejects, Segment, bucket_count_of, segments};
use super::writer::{SegmentWriter, WrittenFile};
use super::{FileEntry, LakeError, LakeErrorKind};
use crate::cells;
use crate::digits::counted;
use crate::files;
use crate::schema::Table;
use crate::sources::part::{PartStop, PartSummary, Progress, read_part};
use crate::sources::{RawPart, Reject, RowBlock, expected_line};

/// Rejects kept in memory before a share is judged against the lines read so far.
const REJECTS_HELD: usize = 100_000;

/// Rejects shown in an error.
const REJECTS_SHOWN: usize = 10;

/// A part that could not be stored.
#[derive(Debug)]
pub struct FailedPart {
    /// The part.
    pub part: RawPart,
    /// Why.
    pub error: LakeError,
}

/// What an ingest did.
#[derive(Debug, Default)]
pub struct IngestOutcome {
    /// Parts stored by this run, by table and number.
    pub stored: Vec<(Table, PartEntry)>,
    /// Parts that the lake had already.
    pub skipped: usize,
    /// Parts with a fault.
    pub failed: Vec<FailedPart>,
    /// Whether the user stopped it.
    pub is_cancelled: bool,
}

/// Ingests what the lake does not have yet.
///
/// # Errors
///
/// What is wrong with the lake or the machine. Faults of single parts stand in the outcome.
pub fn ingest(plan: &IngestPlan, progress: &Progress) -> Result<IngestOutcome, LakeError> {
    files::create_folder(&plan.lake)
        .map_err(|error| LakeError::new(&plan.lake, LakeErrorKind::Io(error)))?;
    let _lock = lock(plan)?;
    let (manifest, own) = open_manifest(plan)?;
    check_unchanged(plan, &manifest)?;
    remove_leftovers(plan, &manifest)?;
    let segments = segments(plan, &manifest);
    let wanted: usize = plan.parts.values().map(Vec::len).sum();
    let skipped = plan
        .parts
        .iter()
        .flat_map(|(&table, parts)| parts.iter().map(move |part| (table, part.part)))
        .filter(|&(table, part)| manifest.has_part(table, part))
        .count();
    debug_assert!(skipped <= wanted, "a part is skipped at most once");
    let bucket_count = manifest.bucket_count;
    let state = Mutex::new(State {
        manifest: own,
        outcome: IngestOutcome { skipped, ..IngestOutcome::default() },
    });
    let next = AtomicUsize::new(0);
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(plan.threads).build().map_err(|error| {
            LakeError::new(&plan.lake, LakeErrorKind::Io(std::io::Error::other(error)))
        })?;
    // One driver per thread, so that a thread that waits within a segment never starts another.
    let ends: Vec<Result<(), LakeError>> = pool.broadcast(|context| {
        let folder = work_folder(plan).join(context.index().to_string());
        fs::create_dir_all(&folder)
            .map_err(|error| LakeError::new(&folder, LakeErrorKind::Io(error)))?;
        let mut writer: Option<SegmentWriter> = None;
        while let Some(segment) = segments.get(next.fetch_add(1, Ordering::Relaxed)) {
            if progress.is_cancelled.load(Ordering::Relaxed) {
                break;
            }
            if writer.as_ref().is_none_or(|writer| writer.table() != segment.table) {
                writer =
                    Some(SegmentWriter::new(segment.table, plan.source, bucket_count, &folder));
            }
            let writer = writer.as_mut().expect("made above");
            if let Err(error) = store_segment(plan, segment, writer, progress, &state) {
                next.store(segments.len(), Ordering::Relaxed);
                return Err(error);
            }
        }
        Ok(())
    });
    // The folder is empty but for what an error left; the next run removes it all the same.
    let _ = fs::remove_dir_all(work_folder(plan));
    ends.into_iter().collect::<Result<(), LakeError>>()?;
    let mut outcome = state.into_inner().expect("no thread panicked with the lock").outcome;
    outcome.is_cancelled = progress.is_cancelled.load(Ordering::Relaxed);
    outcome.stored.sort_by_key(|(table, part)| (*table, part.part));
    outcome.failed.sort_by_key(|failed| (failed.part.table, failed.part.part));
    Ok(outcome)
}

/// What the threads share.
struct State {
    manifest: Manifest,
    outcome: IngestOutcome,
}

/// Locks of a lake; they end with the process, however it ends.
struct Locks(#[expect(dead_code, reason = "held, not read")] Vec<File>);

/// An ingest without shards excludes every other; a shard excludes only its own number.
fn lock(plan: &IngestPlan) -> Result<Locks, LakeError> {
    let open = |name: &str| {
        let path = plan.lake.join(name);
        File::create(&path).map_err(|error| LakeError::new(&path, LakeErrorKind::Io(error)))
    };
    let busy = |result: Result<(), TryLockError>| match result {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(LakeError::new(&plan.lake, LakeErrorKind::Busy)),
        Err(TryLockError::Error(error)) => {
            Err(LakeError::new(&plan.lake, LakeErrorKind::Io(error)))
        }
    };
    let all = open(".lock")?;
    let Some(shard) = plan.shard else {
        busy(all.try_lock())?;
        return Ok(Locks(vec![all]));
    };
    busy(all.try_lock_shared())?;
    // Programs that cut the work into another number of shards would store parts twice.
    let own_count = format!("-of-{}", shard.count);
    for entry in fs::read_dir(&plan.lake)
        .map_err(|error| LakeError::new(&plan.lake, LakeErrorKind::Io(error)))?
    {
        let entry = entry.map_err(|error| LakeError::new(&plan.lake, LakeErrorKind::Io(error)))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(".lock-") && !name.ends_with(&own_count) {
            busy(open(&name)?.try_lock())?;
        }
    }
    let own = open(&format!(".lock-{}-of-{}", shard.index, shard.count))?;
    busy(own.try_lock())?;
    Ok(Locks(vec![all, own]))
}

fn own_manifest_path(plan: &IngestPlan) -> PathBuf {
    plan.lake.join(match plan.shard {
        None => MANIFEST.to_owned(),
        Some(shard) => format!("manifest-{}-of-{}.json", shard.index, shard.count),
    })
}

fn work_folder(plan: &IngestPlan) -> PathBuf {
    plan.lake.join(match plan.shard {
        None => ".work".to_owned(),
        Some(shard) => format!(".work-{}-of-{}", shard.index, shard.count),
    })
}

/// Returns the manifest of the whole lake and the one that this writer owns, both stored.
fn open_manifest(plan: &IngestPlan) -> Result<(Manifest, Manifest), LakeError> {
    let own_path = own_manifest_path(plan);
    let Some(all) = Manifest::load(&plan.lake)? else {
        let new = Manifest::new(
            plan.source,
            plan.origin,
            plan.bucket_count.unwrap_or_else(|| bucket_count_of(&plan.parts)),
        );
        new.store(&own_path)?;
        return Ok((new.clone(), new));
    };
    if all.source != plan.source || all.origin != plan.origin {
        let found = format!("{} ({:?})", all.source, all.origin).to_lowercase();
        let wanted = format!("{} ({:?})", plan.source, plan.origin).to_lowercase();
        let kind = LakeErrorKind::OtherSource { found, wanted };
        return Err(LakeError::new(&plan.lake, kind));
    }
    if plan.shard.is_none() {
        // Fold what shards have left: first the union, then their files go.
        all.store(&own_path)?;
        for path in manifest_files(&plan.lake)?.into_iter().filter(|path| *path != own_path) {
            fs::remove_file(&path)
                .map_err(|error| LakeError::new(&path, LakeErrorKind::Io(error)))?;
        }
        return Ok((all.clone(), all));
    }
    let own = if own_path.exists() {
        Manifest::load_one(&own_path)?
    } else {
        let new = Manifest::new(all.source, all.origin, all.bucket_count);
        new.store(&own_path)?;
        new
    };
    Ok((all, own))
}

/// Refuses to mix two traces: a part in the lake must come from a file of the same name and size.
fn check_unchanged(plan: &IngestPlan, manifest: &Manifest) -> Result<(), LakeError> {
    let told = |name: &str, bytes: u64| format!("`{name}`, {}", counted(bytes, "byte"));
    for (&table, parts) in &plan.parts {
        let Some(entry) = manifest.table(table) else { continue };
        for part in parts {
            let stored = entry
                .parts
                .binary_search_by_key(&part.part, |entry| entry.part)
                .map(|idx| &entry.parts[idx]);
            if let Ok(stored) = stored
                && (stored.of, &stored.raw_file, stored.raw_bytes)
                    != (part.of, &part.file_name(), part.bytes)
            {
                let kind = LakeErrorKind::PartChanged {
                    table,
                    part: part.part,
                    stored: told(&stored.raw_file, stored.raw_bytes),
                    found: told(&part.file_name(), part.bytes),
                };
                return Err(LakeError::new(&part.path, kind));
            }
        }
    }
    Ok(())
}

/// Removes what a killed run left: its work folder, and files that no manifest records.
fn remove_leftovers(plan: &IngestPlan, manifest: &Manifest) -> Result<(), LakeError> {
    let fail = |path: &Path, error| LakeError::new(path, LakeErrorKind::Io(error));
    let work = work_folder(plan);
    if work.exists() {
        fs::remove_dir_all(&work).map_err(|error| fail(&work, error))?;
    }
    if plan.shard.is_some() {
        // Another shard may just have renamed a file that it has not recorded yet.
        return Ok(());
    }
    let recorded: BTreeSet<PathBuf> = manifest
        .tables
        .values()
        .flat_map(|entry| &entry.files)
        .map(|file| plan.lake.join(&file.path))
        .collect();
    for entry in fs::read_dir(&plan.lake).map_err(|error| fail(&plan.lake, error))? {
        let path = entry.map_err(|error| fail(&plan.lake, error))?.path();
        let name =
            path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if is_work_of_shard(&name) {
            fs::remove_dir_all(&path).map_err(|error| fail(&path, error))?;
        }
    }
    for table in Table::ALL {
        let folder = plan.lake.join(table.name());
        for file in segment_files(&folder).map_err(|error| fail(&folder, error))? {
            if !recorded.contains(&file) {
                fs::remove_file(&file).map_err(|error| fail(&file, error))?;
            }
        }
    }
    Ok(())
}

/// Whether a name is `.work-I-of-N`.
fn is_work_of_shard(name: &str) -> bool {
    let numbers = name.strip_prefix(".work-").and_then(|rest| rest.split_once("-of-"));
    numbers.is_some_and(|(index, count)| [index, count].into_iter().all(is_number))
}

/// Whether a name is `part-A-B.parquet` or `part-A-B-RUN.parquet`, as this program calls its files.
fn is_segment(name: &str) -> bool {
    let numbers = name.strip_prefix("part-").and_then(|rest| rest.strip_suffix(".parquet"));
    numbers.is_some_and(|numbers| {
        (2..=3).contains(&numbers.split('-').count()) && numbers.split('-').all(is_number)
    })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The files of a table that this program may have made, in its folder and those of its buckets;
/// links lead elsewhere and are left alone.
fn segment_files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    if !fs::symlink_metadata(folder).is_ok_and(|about| about.is_dir()) {
        return Ok(found);
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (kind, name) = (entry.file_type()?, entry.file_name().to_string_lossy().into_owned());
        if kind.is_dir() && name.starts_with("bucket=") {
            found.extend(segment_files(&entry.path())?);
        } else if kind.is_file() && is_segment(&name) {
            found.push(entry.path());
        }
    }
    Ok(found)
}

/// Stores a segment, again without a part that turns out to be bad.
fn store_segment(
    plan: &IngestPlan,
    segment: &Segment,
    writer: &mut SegmentWriter,
    progress: &Progress,
    state: &Mutex<State>,
) -> Result<(), LakeError> {
    let mut parts = segment.parts.clone();
    while !parts.is_empty() {
        writer.abandon();
        let mut read = Vec::new();
        let mut bad = None;
        for (part_idx, part) in parts.iter().enumerate() {
            match read_one(plan, part, writer, progress) {
                Ok(done) => read.push(done),
                Err(PartStop::Cancelled) => return Ok(()),
                Err(PartStop::Source(error)) => {
                    bad =
                        Some((part_idx, LakeError::new(&part.path, LakeErrorKind::Source(error))));
                }
                Err(PartStop::Sink(error)) if error.kind.is_bad_data() => {
                    bad = Some((part_idx, error));
                }
                Err(PartStop::Sink(error)) => return Err(error),
            }
            if bad.is_some() {
                break;
            }
        }
        let Some((part_idx, error)) = bad else {
            let written = writer.finish()?;
            return publish(plan, segment.table, &parts, read, written, state);
        };
        let part = parts.remove(part_idx);
        let mut state = state.lock().expect("no thread panicked with the lock");
        state.outcome.failed.push(FailedPart { part, error });
    }
    Ok(())
}

/// A part that was read to its end.
struct ReadPart {
    entry: PartEntry,
    rejects: Vec<Reject>,
}

fn read_one(
    plan: &IngestPlan,
    part: &RawPart,
    writer: &mut SegmentWriter,
    progress: &Progress,
) -> Result<ReadPart, PartStop<LakeError>> {
    let mut rejects: Vec<Reject> = Vec::new();
    let mut seen = Seen::default();
    let summary = read_part(part, progress, |block| {
        seen.add(block);
        rejects.append(&mut block.rejects);
        if REJECTS_HELD < rejects.len() || matches!(plan.max_rejects, MaxRejects::Count(_)) {
            judge(plan, part, &rejects, &seen)?;
        }
        progress.rows.fetch_add(block.row_ids.len() as u64, Ordering::Relaxed);
        writer.push(block)
    })?;
    judge(plan, part, &rejects, &seen).map_err(PartStop::Sink)?;
    // Few lines may pass under a limit and still all be of another table; who allows all of them
    // has been asked.
    let may_all_be_bad = plan.max_rejects == MaxRejects::Percent(100.0);
    if 0 < seen.lines && !may_all_be_bad && is_other_trace(&rejects, &seen) {
        return Err(PartStop::Sink(other_trace(part, &rejects)));
    }
    let entry = seen.into_entry(part, &summary, &rejects, plan.max_rejects);
    Ok(ReadPart { entry, rejects })
}

/// What was seen of a part so far.
#[derive(Default)]
struct Seen {
    lines: u64,
    rows: u64,
    min_time_us: Option<i64>,
    max_time_us: Option<i64>,
}

impl Seen {
    fn add(&mut self, block: &RowBlock) {
        self.lines += block.line_count;
        self.rows += block.row_ids.len() as u64;
        for &time in block.i64_cells(0) {
            self.min_time_us = Some(self.min_time_us.map_or(time, |min| min.min(time)));
            if time != i64::MAX {
                self.max_time_us = Some(self.max_time_us.map_or(time, |max| max.max(time)));
            }
        }
    }

    fn into_entry(
        self,
        part: &RawPart,
        summary: &PartSummary,
        rejects: &[Reject],
        max: MaxRejects,
    ) -> PartEntry {
        let mut reasons = BTreeMap::new();
        for reject in rejects {
            *reasons.entry(reject.reason.name().to_owned()).or_insert(0) += 1;
        }
        PartEntry {
            part: part.part,
            of: part.of,
            raw_file: part.file_name(),
            raw_bytes: summary.digest.bytes,
            sha256: summary.digest.sha256.clone(),
            lines: summary.line_count,
            rows: self.rows,
            rejects: reasons,
            min_time_us: self.min_time_us,
            max_time_us: self.max_time_us,
            remarks: summary
                .notes
                .remarks
                .iter()
                .map(|(&wording, &count)| (wording.to_owned(), count))
                .collect(),
            header: summary.notes.header.clone(),
            max_rejects: max.to_string(),
            segment: String::new(),
        }
    }
}

/// Decides whether a part has given too few rows.
fn judge(
    plan: &IngestPlan,
    part: &RawPart,
    rejects: &[Reject],
    seen: &Seen,
) -> Result<(), LakeError> {
    let count = rejects.len() as u64;
    if plan.max_rejects.allows(count, seen.lines) {
        return Ok(());
    }
    if is_other_trace(rejects, seen) {
        return Err(other_trace(part, rejects));
    }
    let first = rejects.iter().take(REJECTS_SHOWN).cloned().collect();
    let allowed = plan.max_rejects.to_string();
    let kind = LakeErrorKind::TooManyRejects { count, lines: seen.lines, allowed, first };
    Err(LakeError::new(&part.path, kind))
}

/// Whether not a single line has the right number of columns.
fn is_other_trace(rejects: &[Reject], seen: &Seen) -> bool {
    seen.rows == 0 && !rejects.is_empty() && rejects.iter().all(|reject| reject.column.is_empty())
}

fn other_trace(part: &RawPart, rejects: &[Reject]) -> LakeError {
    let first = rejects.iter().take(REJECTS_SHOWN).cloned().collect();
    let kind =
        LakeErrorKind::OtherTrace { expected: expected_line(part), kind: part.source, first };
    LakeError::new(&part.path, kind)
}

/// Gives the files of a segment their names and records its parts.
fn publish(
    plan: &IngestPlan,
    table: Table,
    parts: &[RawPart],
    read: Vec<ReadPart>,
    written: Vec<WrittenFile>,
    state: &Mutex<State>,
) -> Result<(), LakeError> {
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return Ok(()) };
    let segment = format!("part-{:05}-{:05}", first.part, last.part);
    write_rejects(plan, parts, &read)?;
    let mut entries = Vec::new();
    let mut folders = BTreeSet::new();
    for file in written {
        let run = if file.run == 0 { String::new() } else { format!("-{}", file.run) };
        let path = match table.job_column() {
            Some(_) => format!("{table}/bucket={:02}/{segment}{run}.parquet", file.bucket),
            None => format!("{table}/{segment}{run}.parquet"),
        };
        let target = plan.lake.join(&path);
        let folder = target.parent().expect("a file lies in a folder").to_owned();
        let fail = |error| LakeError::new(&target, LakeErrorKind::Io(error));
        files::create_folder(&folder).map_err(fail)?;
        fs::rename(&file.beside, &target).map_err(fail)?;
        folders.insert(folder);
        let WrittenFile { bucket, rows, bytes, crc32, .. } = file;
        entries.push(FileEntry { path, bucket, rows, bytes, crc32 });
    }
    folders.insert(plan.lake.join(table.name()));
    folders.insert(plan.lake.clone());
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        files::sync_folder(folder)
            .map_err(|error| LakeError::new(folder, LakeErrorKind::Io(error)))?;
    }
    let part_entries: Vec<PartEntry> =
        read.into_iter().map(|part| PartEntry { segment: segment.clone(), ..part.entry }).collect();
    let mut state = state.lock().expect("no thread panicked with the lock");
    state.manifest.record(table, part_entries.clone(), entries);
    state.manifest.store(&own_manifest_path(plan))?;
    state.outcome.stored.extend(part_entries.into_iter().map(|part| (table, part)));
    Ok(())
}

/// Keeps the lines that gave no row, as CSV, one file per part.
fn write_rejects(plan: &IngestPlan, parts: &[RawPart], read: &[ReadPart]) -> Result<(), LakeError> {
    for (part, read) in parts.iter().zip(read) {
        if read.rejects.is_empty() {
            continue;
        }
        let folder = plan.lake.join("rejects").join(part.table.name());
        let path = folder.join(format!("part-{:05}.csv", part.part));
        let fail = |error| LakeError::new(&path, LakeErrorKind::Io(error));
        files::create_folder(&folder).map_err(fail)?;
        let mut writer = csv::Writer::from_writer(Vec::new());
        let rows = read.rejects.iter().map(|reject| {
            let reason = reject.reason.name();
            [
                part.part.to_string(),
                reject.line.to_string(),
                reject.column.into(),
                reason.into(),
                cells::guarded(&reject.text).into_owned(),
            ]
        });
        let header = ["part", "line", "column", "reason", "text"].map(str::to_owned);
        for row in std::iter::once(header).chain(rows) {
            writer.write_record(row).expect("writing to memory cannot fail");
        }
        let bytes = writer.into_inner().expect("writing to memory cannot fail");
        files::write_whole(&path, &bytes).map_err(fail)?;
    }
    Ok(())
}
