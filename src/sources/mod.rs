//! Raw files to typed rows and rejects: the only place that knows a format's quirks.
//!
//! In: the folder or file of a trace. Out: its kind and its parts ([`open_trace`]), and for each
//! part blocks of typed rows ([`RowBlock`]) with the lines that gave no row. No line is dropped
//! silently, and no value gets a default silently.
//!
//! A format is one file or folder, with an arm of `format_of`: a `PartParser` that makes rows from
//! the text of a part, and a way to recognise it. Formats share `records` (rows of accounting
//! logs), `json` (JSON objects), `log` (SWF and GWF) and [`zone`] (time zones).

use std::path::Path;

use self::format::FileKind::{self, Log};
use self::format::{Format, Seen};
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

/// The tables of 2011.
const GOOGLE_2011: Format = Format {
    parser: |part, begin| Ok(Box::new(google_2011::Parser::new(part.table, part.part, begin))),
    line: |part| {
        let count = part.table.columns(part.source).len();
        format!("the {count} columns of table `{}`", part.table)
    },
    seen: Seen::Otherwise,
};

/// The tables of 2019, or the same joined into one file.
const GOOGLE_2019: Format = Format {
    parser: |part, begin| {
        if joined::is_seen(begin) {
            return Ok(Box::new(joined::Joined::new(part, begin)?));
        }
        Ok(Box::new(google_2019::Parser::new(part)?))
    },
    line: |part| format!("a JSON object of table `{}` of the trace of 2019", part.table),
    seen: Seen::Lines(|text| joined::is_seen(text).then_some(Log(Source::Google2019))),
};

/// How each source is read.
const fn format_of(source: Source) -> &'static Format {
    match source {
        Source::Google2011 => &GOOGLE_2011,
        Source::Google2019 | Source::Google2019AllocSets => &GOOGLE_2019,
        Source::Swf => &Format {
            parser: |part, _| Ok(Box::new(swf::parser(part))),
            line: |_| format!("the {} fields of an SWF job", swf::FIELD_COUNT),
            seen: Seen::Otherwise,
        },
        Source::Gwf => &Format {
            parser: |part, _| Ok(Box::new(gwf::parser(part))),
            line: |_| format!("the {} fields of a GWF job", gwf::FIELD_COUNT),
            seen: Seen::Otherwise,
        },
        Source::Rumen => &Format {
            parser: |part, _| rumen::parser(part),
            line: |_| "the shape of a Rumen job".to_owned(),
            seen: Seen::Keys(&[("jobID", Log(Source::Rumen)), ("children", FileKind::Topology)]),
        },
        Source::Slurm => &Format {
            parser: |part, begin| Ok(Box::new(slurm::parser(part, begin)?)),
            line: |_| "the columns of the header, or the 26 fields of Open XDMoD".to_owned(),
            seen: Seen::Lines(|text| slurm::seen_as(text).then_some(Log(Source::Slurm))),
        },
        Source::Openb => &Format {
            parser: openb::parser,
            line: |_| "the columns of a table of pods".to_owned(),
            seen: Seen::Lines(openb::kind_of),
        },
        Source::Alibaba2017 => &Format {
            parser: alibaba_2017::parser,
            line: |_| alibaba::files::LINE.to_owned(),
            seen: Seen::Lines(|text| alibaba::files::kind_of(Source::Alibaba2017, text)),
        },
        Source::Alibaba2018 => &Format {
            parser: alibaba_2018::parser,
            line: |_| alibaba::files::LINE.to_owned(),
            seen: Seen::Lines(|text| alibaba::files::kind_of(Source::Alibaba2018, text)),
        },
        Source::Kubernetes => &Format {
            parser: |part, begin| Ok(Box::new(kubernetes::parser(part, begin))),
            line: |_| "the shape of a pod, an event or a request".to_owned(),
            seen: Seen::Json(|text| kubernetes::is_seen(text).then_some(Log(Source::Kubernetes))),
        },
        Source::Mapped => &Format {
            parser: |part, begin| Ok(Box::new(mapped::parser(part, begin)?)),
            line: |_| "the columns that the map names".to_owned(),
            seen: Seen::Otherwise,
        },
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

/// The expected form of a line, for the message if no line of a file has it.
pub(crate) fn expected_line(part: &RawPart) -> String {
    if part.own.is_some() {
        return format!("a row of table `{}`", part.table);
    }
    (format_of(part.source).line)(part)
}
