//! The clusters of a log.
//!
//! In: the cluster of each row. Out: the numbers of jobs, which several clusters may share. The jobs of the
//! cluster that the first row of the log names keep their own; those of others have a hash of the
//! cluster and the job id. The files of a log have one first row.

use std::path::Path;

use super::{Line, RecordFormat, Remarks, number_of_name};
use crate::sources::SourceError;
use crate::sources::blocks::{BlockReader, TextBlock};
use crate::sources::folder::RawPart;

/// The clusters of a log.
#[derive(Clone, Debug, Default)]
pub(in crate::sources) struct Clusters {
    /// The one whose jobs keep their numbers.
    own: Option<Box<str>>,
}

impl Clusters {
    /// The clusters of the log that a part belongs to. `format` returns the format of a file, from its
    /// path, the beginning of its text and its number.
    ///
    /// # Errors
    /// The first file of the log cannot be read.
    pub(in crate::sources) fn of<F: RecordFormat>(
        part: &RawPart,
        begin: &[u8],
        format: impl Fn(&Path, &[u8], u32) -> Result<F, SourceError>,
    ) -> Result<Self, SourceError> {
        let first = part.reading.files.first().filter(|first| **first != part.path);
        let Some(path) = first else {
            return Ok(Self { own: first_of(&mut format(&part.path, begin, part.part)?, begin) });
        };
        let block = BlockReader::open(path)?.next_block(TextBlock::default())?;
        let begin = block.as_ref().map_or(&[][..], TextBlock::text);
        Ok(Self { own: first_of(&mut format(path, begin, 0)?, begin) })
    }

    /// The number of a job of another cluster than the log's own; `None` for a job of its own, or
    /// without an id.
    pub(in crate::sources) fn number_elsewhere(
        &mut self,
        cluster: Option<&str>,
        job: Option<&str>,
        remarks: &mut Remarks,
    ) -> Option<i64> {
        let cluster = cluster?;
        if *cluster == **self.own.get_or_insert_with(|| cluster.into()) {
            return None;
        }
        remarks.add("jobs of another cluster: identified by cluster and job id");
        job.map(|job| number_of_name(format!("{cluster}/{job}").as_bytes()))
    }
}

/// How many lines are looked at; a log whose rows name a cluster mostly does so in its first.
const LINES: usize = 1000;

/// The cluster of the first row of a text that names one.
fn first_of(format: &mut impl RecordFormat, begin: &[u8]) -> Option<Box<str>> {
    let lines = begin.split(|&byte| byte == b'\n').take(LINES);
    (1..).zip(lines).find_map(|(number, raw)| {
        let raw = raw.strip_suffix(b"\r").unwrap_or(raw);
        let found = format.record(Line::of(number, raw), &mut Remarks::default());
        found.ok().flatten()?.cluster.map(Box::from)
    })
}
