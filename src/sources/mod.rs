//! Raw files to typed rows and rejects: the only place that knows a format's quirks.
//!
//! In: the folder or file of a trace. Out: its kind and its parts ([`open_trace`]), and for each
//! part blocks of typed rows ([`RowBlock`]) with the lines that gave no row. No line is dropped
//! silently, and no value gets a default silently.
//!
//! A format is one file or folder, with an arm of `format_of`: its `FORMAT` has a `PartParser` that
//! makes rows from the text of a part, and a way to recognise it. Formats share `records` (rows of
//! accounting logs), `json` (JSON objects), `log` (SWF and GWF) and [`zone`] (time zones).

use std::path::Path;

use self::format::Format;
use crate::schema::Source;

mod alibaba;
pub(crate) mod alibaba_2017;
pub(crate) mod alibaba_2018;
mod array_text;
pub(crate) mod blocks;
pub mod checksums;
mod digest;
mod error;
pub(crate) mod fields;
pub mod folder;
mod format;
pub(crate) mod google_2011;
pub(crate) mod google_2019;
pub(crate) mod gwf;
pub(crate) mod joined;
mod json;
pub(crate) mod kubernetes;
pub(crate) mod log;
pub mod map;
pub mod mapped;
pub mod mask;
mod names;
pub(crate) mod openb;
mod parquet_text;
pub mod parser;
pub mod part;
pub mod propose;
pub mod reading;
pub(crate) mod records;
mod reject;
mod repeats;
pub mod rows;
pub(crate) mod rumen;
pub(crate) mod slurm;
pub(crate) mod swf;
#[cfg(test)]
mod tests;
pub mod trace;
pub mod zone;

pub use blocks::TextBlock;
pub(crate) use digest::hex;
pub use digest::{RawDigest, digest_file};
pub use error::{SourceError, SourceErrorKind};
pub(crate) use folder::part_count_of_name;
pub use folder::{RawPart, TraceFolder};
pub use google_2019::owners::Owners;
pub use part::Notes;
pub use reject::{Reject, RejectReason};
pub(crate) use rows::range_of;
pub use rows::{Cell, Cells, ColumnData, RowBlock, RowError};
pub use trace::open_trace;

/// The parser for a part whose text begins with `begin`.
pub(crate) fn parser_of(
    part: &RawPart,
    begin: &[u8],
) -> Result<Box<dyn part::PartParser>, SourceError> {
    if let Some(own) = &part.own {
        let (table, part, path) = (part.table, part.part, &part.path);
        return Ok(own.of(parser::OwnPart { table, part, path, begin }));
    }
    (format_of(part.source).parser)(part, begin)
}

/// The format of each source.
const fn format_of(source: Source) -> &'static Format {
    match source {
        Source::Google2011 => &google_2011::FORMAT,
        Source::Google2019 | Source::Google2019AllocSets => &joined::FORMAT,
        Source::Swf => &swf::FORMAT,
        Source::Gwf => &gwf::FORMAT,
        Source::Rumen => &rumen::FORMAT,
        Source::Slurm => &slurm::FORMAT,
        Source::Openb => &openb::FORMAT,
        Source::Alibaba2017 => &alibaba_2017::FORMAT,
        Source::Alibaba2018 => &alibaba_2018::FORMAT,
        Source::Kubernetes => &kubernetes::FORMAT,
        Source::Mapped => &mapped::FORMAT,
    }
}

/// Refuses a file whose first lines are not what its format needs.
///
/// # Errors
/// The file cannot be read, or lacks a column.
pub(crate) fn check_begin(part: &RawPart) -> Result<(), SourceError> {
    let begin = begin_of(&part.path)?;
    let reading = std::sync::Arc::new(reading::Reading {
        zone: part.reading.zone.clone(),
        map: part.reading.map.clone(),
        user_from: part.reading.user_from.clone(),
        mask: part.reading.mask.clone(),
        files: reading::Files::default(),
    });
    parser_of(&RawPart { reading, ..part.clone() }, &begin).map(|_| ())
}

/// The first whole lines of a file.
///
/// # Errors
/// The file cannot be read.
pub fn begin_of(path: &Path) -> Result<Vec<u8>, SourceError> {
    let block = blocks::BlockReader::open(path)?.next_block(TextBlock::default())?;
    Ok(block.map(|block| block.text().to_vec()).unwrap_or_default())
}

/// The expected form of a line, for the message that no line of a file has it.
pub(crate) fn expected_line(part: &RawPart) -> String {
    if part.own.is_some() {
        return format!("a row of table `{}`", part.table);
    }
    (format_of(part.source).line)(part)
}
