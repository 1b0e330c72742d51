//! Writes a whole trace: draws jobs batch by batch, spills their rows, then writes the parts.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use rayon::prelude::*;

use super::conclude::conclude;
use super::config::{Form, SynthConfig};
use super::fate::jobs_to_make;
use super::job::make_job;
use super::machines::write_machines;
use super::parts::{Slices, write_parts};
use super::scene::Scene;
use super::spill::{RowBuffers, SortedSlice, Spill, SpilledSlices};
use super::table::{Table, schema_csv};
use super::tally::Tally;
use super::truth::Truth;
use super::{SynthError, SynthErrorKind, SynthProgress, SynthStage};

/// Jobs that one thread makes at a time.
const CHUNK_JOBS: u64 = 8;
/// Jobs in memory at a time: a batch is made while the previous one is spilled.
const BATCH_JOBS: u64 = 256;
/// Folder of the spilled rows, removed at the end.
const SPILL_DIR: &str = ".spill";
/// Files that are written after the tables, in order.
const SUMS: &str = "SHA256SUM";
const SCHEMA: &str = "schema.csv";
const TRUTH: &str = "truth.json";

/// Writes a synthetic trace to `dir`, which must be empty or absent, and returns its truth.
///
/// Uses rayon's current thread pool; its size does not change the bytes.
pub fn write_trace(
    config: &SynthConfig,
    dir: &Path,
    progress: &(dyn Fn(SynthProgress) + Sync),
) -> Result<Truth, SynthError> {
    let window = config.window(dir)?;
    prepare(dir)?;
    let scene = Scene::new(config, window);
    let spill_dir = dir.join(SPILL_DIR);
    let written = write_tables(&scene, dir, &spill_dir, progress);
    if written.is_err() && spill_dir.exists() {
        // The error that was found first is reported, not an error of this removal.
        let _ = fs::remove_dir_all(&spill_dir);
    }
    written
}

/// Removes an unfinished trace of [`write_trace`], if there is one. If the folder has any other
/// file, nothing is removed and the name of that file is returned.
///
/// # Errors
/// The folder cannot be read or removed.
pub fn remove_unfinished(dir: &Path) -> Result<Option<String>, SynthError> {
    if !dir.exists() {
        return Ok(None);
    }
    let is_ours = |name: &str| {
        Table::ALL.iter().any(|table| table.name() == name)
            || [SPILL_DIR, SUMS, SCHEMA].contains(&name)
            || Path::new(name) == Path::new(TRUTH).with_extension("new")
    };
    for entry in fs::read_dir(dir).map_err(SynthError::io(dir))? {
        let entry = entry.map_err(SynthError::io(dir))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !is_ours(&name) {
            return Ok(Some(name));
        }
    }
    fs::remove_dir_all(dir).map_err(SynthError::io(dir))?;
    Ok(None)
}

/// Creates the folder, or refuses one that is not empty.
fn prepare(dir: &Path) -> Result<(), SynthError> {
    fs::create_dir_all(dir).map_err(SynthError::io(dir))?;
    let mut entries = fs::read_dir(dir).map_err(SynthError::io(dir))?;
    match entries.next() {
        None => Ok(()),
        Some(_) => Err(SynthError::new(dir, SynthErrorKind::NotEmpty)),
    }
}

fn write_tables(
    scene: &Scene,
    dir: &Path,
    spill_dir: &Path,
    progress: &(dyn Fn(SynthProgress) + Sync),
) -> Result<Truth, SynthError> {
    let (mut tally, spilled) = make_jobs(scene, spill_dir, progress)?;
    let (machine_events, machine_attributes) = write_machines(scene, &mut tally);
    tally.add_rows(Table::MachineEvents, machine_events.row_count());
    tally.add_rows(Table::MachineAttributes, machine_attributes.row_count());
    let slices = Slices {
        spilled,
        machine_events: SortedSlice::from_buffer(machine_events),
        machine_attributes: SortedSlice::from_buffer(machine_attributes),
    };
    let parts = write_parts(scene, &slices, dir, progress)?;
    slices.spilled.remove()?;
    write_file(&dir.join(SUMS), parts.checksums.as_bytes())?;
    if scene.config.form == Form::Google2011 {
        write_file(&dir.join(SCHEMA), schema_csv().as_bytes())?;
    }
    let truth = conclude(scene, tally, parts);
    let path = dir.join(TRUTH);
    let json = serde_json::to_vec_pretty(&truth)
        .map_err(|error| SynthError::new(&path, SynthErrorKind::Json(error)))?;
    // Written last and renamed: if it exists, the trace is complete.
    sync_folders(dir)?;
    let beside = path.with_extension("new");
    write_file(&beside, &json)?;
    fs::rename(&beside, &path).map_err(SynthError::io(&path))?;
    sync_folders(dir)?;
    Ok(truth)
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), SynthError> {
    let mut file = File::create(path).map_err(SynthError::io(path))?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(SynthError::io(path))
}

/// Syncs the names in a folder and its subfolders, so that they survive a power failure.
fn sync_folders(folder: &Path) -> Result<(), SynthError> {
    for entry in fs::read_dir(folder).map_err(SynthError::io(folder))? {
        let path = entry.map_err(SynthError::io(folder))?.path();
        if path.is_dir() {
            sync_folders(&path)?;
        }
    }
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(SynthError::io(folder))
}

/// Rows and counts of a few jobs.
struct Made {
    rows: RowBuffers,
    tally: Tally,
}

/// Makes all jobs in order, one batch ahead of the spilling.
fn make_jobs(
    scene: &Scene,
    spill_dir: &Path,
    progress: &(dyn Fn(SynthProgress) + Sync),
) -> Result<(Tally, SpilledSlices), SynthError> {
    let total = jobs_to_make(scene);
    let mut spill = Spill::create(spill_dir, scene.window, scene.config.part_count as usize)?;
    let mut tally = Tally::new();
    let mut waiting: Vec<Made> = Vec::new();
    let mut next = 0;
    while next < total || !waiting.is_empty() {
        let batch = next..total.min(next + BATCH_JOBS);
        next = batch.end;
        let (made, spilled) = rayon::join(
            || make_batch(scene, batch),
            || waiting.iter().try_for_each(|each| spill.append(&each.rows)),
        );
        spilled?;
        for each in waiting {
            tally.merge(each.tally);
        }
        waiting = made;
        progress(SynthProgress { stage: SynthStage::Jobs, done: next, total });
    }
    Ok((tally, spill.finish()?))
}

fn make_batch(scene: &Scene, jobs: std::ops::Range<u64>) -> Vec<Made> {
    let chunk_count = (jobs.end - jobs.start).div_ceil(CHUNK_JOBS);
    let starts: Vec<u64> = (0..chunk_count).map(|chunk| jobs.start + chunk * CHUNK_JOBS).collect();
    starts
        .into_par_iter()
        .with_max_len(1)
        .map(|start| {
            let mut made = Made { rows: RowBuffers::default(), tally: Tally::new() };
            for number in start..jobs.end.min(start + CHUNK_JOBS) {
                make_job(scene, number, &mut made.rows, &mut made.tally);
            }
            for (table, rows) in made.rows.iter() {
                made.tally.add_rows(table, rows.row_count());
            }
            made
        })
        .collect()
}
