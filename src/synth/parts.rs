//! The parts of the tables: sorted slices, gzipped and hashed, in parallel.
//!
//! In: spilled slices and the machine tables. Out: `<table>/part-?????-of-?????.csv.gz`, or the
//! files of an export, and the SHA-256 of each. Each thread holds one slice. Bad lines of a dirty
//! trace are added here, so all earlier steps see only good rows.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::Compression;
use flate2::write::GzEncoder;
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::config::Form;
use super::dirty::DirtyPart;
use super::export::{self, Exporter};
use super::scene::Scene;
use super::spill::{SortedSlice, SpilledSlices};
use super::table::Table;
use super::tally::bump;
use super::{SynthError, SynthProgress, SynthStage};

/// Level 3 takes half the CPU time of level 6 and 4 % more space: 20,000 jobs took 10.6 s and 227
/// MB at level 3, 20.2 s and 218 MB at level 6 (zlib-rs, everything included).
const LEVEL: Compression = Compression::new(3);

/// Bytes passed to the compressor per call.
const CHUNK: usize = 64 * 1024;

/// Totals over all parts.
#[derive(Debug, Default)]
pub(super) struct PartsWritten {
    /// `SHA256SUM`, in its own format.
    pub(super) checksums: String,
    pub(super) rejects: BTreeMap<String, BTreeMap<String, u64>>,
    pub(super) crlf_lines: BTreeMap<String, u64>,
    pub(super) without_last_newline: Vec<String>,
    pub(super) of_two_members: Vec<String>,
    pub(super) left_out: BTreeMap<String, BTreeMap<String, u64>>,
}

/// Counts of one part.
struct PartWritten {
    table: Table,
    name: String,
    sha256: String,
    faults: BTreeMap<String, u64>,
    crlf_lines: u64,
    lacks_newline: bool,
    has_two_members: bool,
    left_out: BTreeMap<String, u64>,
}

/// The sources of slices.
pub(super) struct Slices {
    pub(super) spilled: SpilledSlices,
    pub(super) machine_events: SortedSlice,
    pub(super) machine_attributes: SortedSlice,
}

/// Writes every part of every table, and reports each to `progress`.
pub(super) fn write_parts(
    scene: &Scene,
    slices: &Slices,
    dir: &Path,
    progress: &(dyn Fn(SynthProgress) + Sync),
) -> Result<PartsWritten, SynthError> {
    let mut plan = Vec::new();
    // The largest table comes first, so that no thread still has to write it at the end.
    for table in Table::ALL.into_iter().rev() {
        let is_export = scene.config.form == Form::Google2019;
        if table == Table::TaskUsage && !scene.config.with_usage
            || is_export && export::name_of(table).is_none()
        {
            continue;
        }
        if !is_export {
            let folder = dir.join(table.name());
            fs::create_dir(&folder).map_err(SynthError::io(&folder))?;
        }
        let parts = if table.is_sliced() { scene.config.part_count as usize } else { 1 };
        plan.extend((0..parts).map(|part| (table, part, parts)));
    }
    let done = AtomicU64::new(0);
    let total = plan.len() as u64;
    let mut parts = plan
        .into_par_iter()
        .with_max_len(1)
        .map(|(table, part, parts)| {
            let written = write_one(scene, slices, (table, part, parts), dir)?;
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            progress(SynthProgress { stage: SynthStage::Parts, done, total });
            Ok(written)
        })
        .collect::<Result<Vec<_>, SynthError>>()?;
    parts.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(collect(parts))
}

fn collect(parts: Vec<PartWritten>) -> PartsWritten {
    let mut all = PartsWritten::default();
    for part in parts {
        all.checksums.extend([&part.sha256, " *", &part.name, "\n"]);
        let table = part.table.name().to_owned();
        if !part.faults.is_empty() {
            let counts = all.rejects.entry(table.clone()).or_default();
            for (fault, count) in part.faults {
                *counts.entry(fault).or_default() += count;
            }
        }
        for (of, count) in part.left_out {
            *all.left_out.entry(table.clone()).or_default().entry(of).or_default() += count;
        }
        if part.crlf_lines > 0 {
            *all.crlf_lines.entry(table).or_default() += part.crlf_lines;
        }
        if part.lacks_newline {
            all.without_last_newline.push(part.name.clone());
        }
        if part.has_two_members {
            all.of_two_members.push(part.name);
        }
    }
    all
}

fn write_one(
    scene: &Scene,
    slices: &Slices,
    (table, part, parts): (Table, usize, usize),
    dir: &Path,
) -> Result<PartWritten, SynthError> {
    let name = match (scene.config.form, export::name_of(table)) {
        (Form::Google2019, Some(name)) => format!("{name}-{part:012}.json.gz"),
        _ => format!("{}/part-{part:05}-of-{parts:05}.csv.gz", table.name()),
    };
    let path = dir.join(&name);
    let taken;
    let slice = match table {
        Table::MachineEvents => &slices.machine_events,
        Table::MachineAttributes => &slices.machine_attributes,
        _ => {
            taken = slices.spilled.take(table, part)?;
            &taken
        }
    };
    let mut written = PartWritten {
        table,
        name,
        sha256: String::new(),
        faults: BTreeMap::new(),
        crlf_lines: 0,
        lacks_newline: false,
        has_two_members: false,
        left_out: BTreeMap::new(),
    };
    let mut exporter = match (scene.config.form, table) {
        (Form::Google2011, _) => None,
        (Form::Google2019, Table::TaskEvents) => {
            Some(Exporter::new(table, &slices.spilled.take(Table::TaskConstraints, part)?))
        }
        (Form::Google2019, _) => Some(Exporter::new(table, &SortedSlice::default())),
    };
    let has_rows = slice.len() > 0;
    let is_first_dirty = scene.is_dirty() && part == 0 && has_rows;
    written.lacks_newline = is_first_dirty && table == Table::JobEvents;
    written.has_two_members =
        is_first_dirty && matches!(table, Table::TaskEvents | Table::TaskUsage);
    let dirt =
        scene.is_dirty().then(|| DirtyPart::draw(scene.config.seed, table, part, slice.len()));
    let file = File::create_new(&path).map_err(SynthError::io(&path))?;
    let sha256 = write_rows(slice, dirt, exporter.as_mut(), &mut written, file)
        .map_err(SynthError::io(&path))?;
    written.sha256 = sha256;
    written.left_out = exporter.map_or_else(BTreeMap::new, |exporter| exporter.left_out);
    Ok(written)
}

/// Writes the lines of one part, and returns its SHA-256.
fn write_rows(
    slice: &SortedSlice,
    mut dirt: Option<DirtyPart>,
    mut exporter: Option<&mut Exporter>,
    written: &mut PartWritten,
    file: File,
) -> io::Result<String> {
    let target = Hashing { file: BufWriter::with_capacity(CHUNK, file), hash: Sha256::new() };
    let mut encoder = GzEncoder::new(target, LEVEL);
    let mut chunk = Vec::with_capacity(2 * CHUNK);
    let last = slice.len().wrapping_sub(1);
    for (number, text) in slice.rows().enumerate() {
        let from = chunk.len();
        let mut is_crlf = false;
        if let Some(dirt) = &mut dirt {
            while let Some((fault, line)) = dirt.line_before(number, text) {
                bump(&mut written.faults, fault.name());
                chunk.extend_from_slice(&line);
            }
            is_crlf = dirt.ends_in_crlf() && !(written.lacks_newline && number == last);
        }
        match &mut exporter {
            Some(exporter) => exporter.push(text, &mut chunk),
            None => chunk.extend_from_slice(text),
        }
        if is_crlf {
            written.crlf_lines += 1;
            chunk.pop();
            chunk.extend_from_slice(b"\r\n");
        } else if written.lacks_newline && number == last {
            chunk.pop();
        }
        if written.has_two_members && number == slice.len() / 2 {
            let cut = from + (chunk.len() - from) / 2;
            encoder.write_all(&chunk[..cut])?;
            chunk.drain(..cut);
            encoder = GzEncoder::new(encoder.finish()?, LEVEL);
        }
        if chunk.len() >= CHUNK {
            encoder.write_all(&chunk)?;
            chunk.clear();
        }
    }
    encoder.write_all(&chunk)?;
    encoder.finish()?.finish()
}

/// Writes to a file and hashes the written bytes.
struct Hashing {
    file: BufWriter<File>,
    hash: Sha256,
}

impl Hashing {
    /// Syncs the file and returns its checksum.
    fn finish(self) -> io::Result<String> {
        self.file.into_inner()?.sync_all()?;
        Ok(hex(&self.hash.finalize()))
    }
}

impl Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.hash.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).expect("4 bits");
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
