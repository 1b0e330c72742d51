//! Ingests a raw trace into a lake: reads missing parts, spreads them over buckets and stores them.
//!
//! In: an [`IngestPlan`]. Out: a lake in which every part of the manifest is complete, and an
//! [`IngestOutcome`] with the stored and failed parts.
//!
//! A thread takes a segment, reads its parts in order, and writes them into one file. A bad part
//! affects only itself: its segment is written again without it, the others continue, and it is
//! reported at the end. A machine error (a full disk) stops everything immediately.
//!
//! ```text
//!  claim segment ─► read parts ─► spread rows ─► temp. file  ─► rename ─► journal ─► manifest
//!                                                             killed here: a file without    └ at the end
//!                                                             an entry, removed by the next run
//! ```

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::journal::{self, Journal, JournalEntry};
use super::leftovers::remove_leftovers;
use super::locks::{LOCK, lock, own_manifest_path, work_folder};
use super::manifest::{Manifest, PartEntry, manifest_files};
use super::part::{ReadPart, read_one};
use super::plan::{IngestPlan, Segment, bucket_count_of, segments};
use super::writer::{SegmentWriter, WrittenFile};
use super::{FileEntry, LakeError, LakeErrorKind};
use crate::digits::counted;
use crate::faults::NoThreads;
use crate::files;
use crate::schema::Table;
use crate::sources::RawPart;
use crate::sources::mask::Mask;
use crate::sources::part::{PartStop, Progress};

/// A part that could not be stored.
#[derive(Debug)]
#[non_exhaustive]
pub struct FailedPart {
    /// The part.
    pub part: RawPart,
    /// Why it failed.
    pub error: LakeError,
}

/// The result of an ingest.
#[derive(Debug, Default)]
pub struct IngestOutcome {
    /// Parts stored by this run, by table and number.
    pub stored: Vec<(Table, PartEntry)>,
    /// Parts that were already in the lake.
    pub skipped: usize,
    /// Parts that failed.
    pub failed: Vec<FailedPart>,
    /// Whether the caller stopped it. The lake then holds all parts in [`stored`](Self::stored),
    /// each complete. Running the same ingest again does the rest.
    pub is_cancelled: bool,
}

/// Ingests parts that are not in the lake yet.
///
/// # Errors
///
/// A problem of the lake or the machine. Faults of single parts are in the outcome. A run that
/// stored nothing in a new lake leaves nothing behind.
pub fn ingest(plan: &IngestPlan, progress: &Progress) -> Result<IngestOutcome, LakeError> {
    plan.check()?;
    let was_there = plan.lake.exists();
    files::create_folder(&plan.lake)
        .map_err(|error| LakeError::new(&plan.lake, LakeErrorKind::Io(error)))?;
    let _lock = lock(plan)?;
    let mut outcome = ingest_alone(plan, progress);
    // A shard without any work has stored nothing and is done.
    let is_done =
        outcome.as_ref().is_ok_and(|outcome| outcome.failed.is_empty() && !outcome.is_cancelled);
    if !is_done
        && remove_empty_lake(plan, was_there)
        && let Ok(outcome) = &mut outcome
    {
        outcome.stored.clear();
    }
    outcome
}

/// Ingests while the lock is held.
fn ingest_alone(plan: &IngestPlan, progress: &Progress) -> Result<IngestOutcome, LakeError> {
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
    let bytes = segments.iter().flat_map(|segment| &segment.parts).map(|part| part.bytes);
    progress.watch.expect(bytes.sum());
    let bucket_count = manifest.bucket_count;
    let own_path = own_manifest_path(plan);
    let state = Mutex::new(State {
        manifest: own,
        journal: Journal::beside(&own_path),
        outcome: IngestOutcome { skipped, ..IngestOutcome::default() },
    });
    let next = AtomicUsize::new(0);
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(plan.threads).build().map_err(|error| {
            LakeError::new(&plan.lake, LakeErrorKind::Threads(NoThreads(error.to_string())))
        })?;
    // One task per thread, so that a thread that waits within a segment never starts another.
    let ends: Vec<Result<(), LakeError>> = pool.broadcast(|context| {
        let folder = work_folder(plan).join(context.index().to_string());
        fs::create_dir_all(&folder)
            .map_err(|error| LakeError::new(&folder, LakeErrorKind::Io(error)))?;
        let mut writer: Option<SegmentWriter> = None;
        while let Some(segment) = segments.get(next.fetch_add(1, Ordering::Relaxed)) {
            if progress.is_stopped() {
                break;
            }
            if writer.as_ref().is_none_or(|writer| writer.table() != segment.table) {
                writer = Some(SegmentWriter::new(
                    segment.table,
                    plan.source,
                    bucket_count,
                    &folder,
                    plan.cut,
                ));
            }
            let writer = writer.as_mut().expect("made above");
            if let Err(error) = store_segment(plan, segment, writer, progress, &state) {
                next.store(segments.len(), Ordering::Relaxed);
                return Err(error);
            }
        }
        Ok(())
    });
    // The folder is empty unless an error left files; the next run removes those anyway.
    let _ = fs::remove_dir_all(work_folder(plan));
    let State { manifest, mut outcome, .. } =
        state.into_inner().expect("no thread panicked with the lock");
    let folded = if outcome.stored.is_empty() { Ok(()) } else { fold(&manifest, &own_path) };
    ends.into_iter().collect::<Result<(), LakeError>>()?;
    folded?;
    outcome.is_cancelled = progress.is_stopped();
    outcome.stored.sort_by_key(|(table, part)| (*table, part.part));
    outcome.failed.sort_by_key(|failed| (failed.part.table, failed.part.part));
    Ok(outcome)
}

/// Stores a manifest that includes its journal, and removes the journal.
fn fold(manifest: &Manifest, path: &Path) -> Result<(), LakeError> {
    manifest.store(path)?;
    journal::remove(path)
}

/// State shared by the threads.
struct State {
    /// Everything that this writer has stored, in this run and earlier.
    manifest: Manifest,
    /// The part of it that is not in the manifest file yet.
    journal: Journal,
    outcome: IngestOutcome,
}

/// Cleans up after a run that stored nothing useful: removes its manifest and the files in it. If
/// the lake is empty and no other process writes into it, the folders and the lock go too. Returns
/// whether its manifest is gone. Anything that cannot be removed stays: the next run treats a lake
/// without parts as new.
fn remove_empty_lake(plan: &IngestPlan, was_there: bool) -> bool {
    let own_path = own_manifest_path(plan);
    let own = Manifest::load_one(&own_path).ok().filter(Manifest::holds_nothing);
    let is_gone = own.is_some() && fs::remove_file(&own_path).is_ok();
    if is_gone {
        let _ = journal::remove(&own_path);
    }
    if let Some(own) = own.filter(|_| is_gone) {
        for file in own.tables.values().flat_map(|entry| &entry.files) {
            let _ = fs::remove_file(plan.lake.join(&file.path));
        }
    }
    let _ = fs::remove_dir_all(work_folder(plan));
    let is_empty = matches!(Manifest::load(&plan.lake), Ok(None));
    if plan.shard.is_some() || !is_empty {
        return is_gone;
    }
    // Only empty folders are removed, so files of others stay.
    for &table in plan.source.tables() {
        let folder = plan.lake.join(table.name());
        let _ = fs::remove_dir(folder);
    }
    if !was_there {
        let _ = fs::remove_file(plan.lake.join(LOCK));
        let _ = fs::remove_dir(&plan.lake);
    }
    is_gone
}

/// Removes the manifests of a lake without stored parts, so that they do not tie it to a trace. A
/// shard checks only its own: others may be running.
fn forget_empty(plan: &IngestPlan) -> Result<(), LakeError> {
    let own_path = own_manifest_path(plan);
    let paths = if plan.shard.is_some() {
        Vec::from_iter(own_path.exists().then_some(own_path))
    } else {
        manifest_files(&plan.lake)?
    };
    let mut empty = Vec::new();
    for path in paths {
        if !Manifest::load_one(&path)?.tables.is_empty() {
            return Ok(());
        }
        empty.push(path);
    }
    empty.iter().try_for_each(|path| {
        fs::remove_file(path).map_err(|error| LakeError::new(path, LakeErrorKind::Io(error)))?;
        journal::remove(path)
    })
}

/// Returns the manifest of the whole lake and that of this writer, both stored.
fn open_manifest(plan: &IngestPlan) -> Result<(Manifest, Manifest), LakeError> {
    let own_path = own_manifest_path(plan);
    forget_empty(plan)?;
    let anonymized = plan.parts.values().flatten().find_map(|part| part.reading.mask.as_deref());
    let anonymized = anonymized.map(Mask::fingerprint);
    let Some(all) = Manifest::load(&plan.lake)? else {
        let bucket_count = plan.bucket_count.unwrap_or_else(|| bucket_count_of(&plan.parts));
        let new = Manifest::new(plan.source, plan.origin, bucket_count).anonymized_by(anonymized);
        journal::remove(&own_path)?;
        new.store(&own_path)?;
        return Ok((new.clone(), new));
    };
    if all.source != plan.source || all.origin != plan.origin {
        let found = format!("{} ({:?})", all.source, all.origin).to_lowercase();
        let wanted = format!("{} ({:?})", plan.source, plan.origin).to_lowercase();
        let kind = LakeErrorKind::OtherSource { found, wanted };
        return Err(LakeError::new(&plan.lake, kind));
    }
    if all.anonymized != anonymized {
        return Err(LakeError::new(&plan.lake, LakeErrorKind::OtherKey));
    }
    if plan.shard.is_none() {
        // Merge the files of shards and of a killed run: first store the union, then remove their
        // files.
        fold(&all, &own_path)?;
        for path in manifest_files(&plan.lake)?.into_iter().filter(|path| *path != own_path) {
            fs::remove_file(&path)
                .map_err(|error| LakeError::new(&path, LakeErrorKind::Io(error)))?;
            journal::remove(&path)?;
        }
        return Ok((all.clone(), all));
    }
    let own = if own_path.exists() {
        let own = Manifest::load_one(&own_path)?;
        fold(&own, &own_path)?;
        own
    } else {
        let new = Manifest::new(all.source, all.origin, all.bucket_count)
            .anonymized_by(all.anonymized.clone());
        journal::remove(&own_path)?;
        new.store(&own_path)?;
        new
    };
    Ok((all, own))
}

/// Refuses to mix two traces. A part in the lake must come from a file of the same name and size.
/// The number of parts must be the same too, unless its log may get more files.
fn check_unchanged(plan: &IngestPlan, manifest: &Manifest) -> Result<(), LakeError> {
    let told = |name: &str, bytes: u64| format!("`{name}`, {}", counted(bytes, "byte"));
    let count = |of: Option<u32>| of.filter(|_| !plan.source.has_files());
    for (&table, parts) in &plan.parts {
        let Some(entry) = manifest.table(table) else { continue };
        for part in parts {
            let stored = entry
                .parts
                .binary_search_by_key(&part.part, |entry| entry.part)
                .map(|idx| &entry.parts[idx]);
            if let Ok(stored) = stored
                && (count(stored.of), &stored.raw_file, stored.raw_bytes)
                    != (count(part.of), &part.stored_name(), part.bytes)
            {
                let kind = LakeErrorKind::PartChanged {
                    table,
                    part: part.part,
                    stored: told(&stored.raw_file, stored.raw_bytes),
                    found: told(&part.stored_name(), part.bytes),
                };
                return Err(LakeError::new(&part.path, kind));
            }
        }
    }
    Ok(())
}

/// Stores a segment. If a part turns out to be bad, repeats the segment without that part.
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
            let rows: u64 = read.iter().map(|part| part.entry.rows).sum();
            publish(plan, segment.table, &parts, read, written, state)?;
            progress.rows.fetch_add(rows, Ordering::Relaxed);
            return Ok(());
        };
        let part = parts.remove(part_idx);
        let mut state = state.lock().expect("no thread panicked with the lock");
        state.outcome.failed.push(FailedPart { part, error });
    }
    Ok(())
}

/// Renames the files of a segment to their final names and records its parts.
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
    publish_rejects(plan, parts, &read)?;
    let mut entries = Vec::new();
    let folder = plan.lake.join(table.name());
    for WrittenFile { beside, number, rows, bytes, crc32, stretches } in written {
        let number = if number == 0 { String::new() } else { format!("-{number}") };
        let path = format!("{table}/{segment}{number}.parquet");
        let target = plan.lake.join(&path);
        let fail = |error| LakeError::new(&target, LakeErrorKind::Io(error));
        files::create_folder(&folder).map_err(fail)?;
        fs::rename(&beside, &target).map_err(fail)?;
        entries.push(FileEntry { path, rows, bytes, crc32, stretches });
    }
    for folder in [&folder, &plan.lake].into_iter().filter(|folder| folder.is_dir()) {
        files::sync_folder(folder)
            .map_err(|error| LakeError::new(folder, LakeErrorKind::Io(error)))?;
    }
    let part_entries: Vec<PartEntry> =
        read.into_iter().map(|part| PartEntry { segment: segment.clone(), ..part.entry }).collect();
    let mut state = state.lock().expect("no thread panicked with the lock");
    state.journal.add(&JournalEntry::new(table, &part_entries, &entries))?;
    state.manifest.record(table, part_entries.clone(), entries);
    state.outcome.stored.extend(part_entries.into_iter().map(|part| (table, part)));
    Ok(())
}

/// Renames the files of rejects (one per part that has any) to their final names.
fn publish_rejects(
    plan: &IngestPlan,
    parts: &[RawPart],
    read: &[ReadPart],
) -> Result<(), LakeError> {
    for (part, read) in parts.iter().zip(read) {
        let Some(beside) = &read.rejects else { continue };
        let folder = plan.lake.join("rejects").join(part.table.name());
        let path = folder.join(format!("part-{:05}.csv", part.part));
        let fail = |error| LakeError::new(&path, LakeErrorKind::Io(error));
        files::create_folder(&folder).map_err(fail)?;
        fs::rename(beside, &path).map_err(fail)?;
        files::sync_folder(&folder).map_err(fail)?;
    }
    Ok(())
}
