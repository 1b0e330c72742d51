//! The clusters of a log.
//!
//! In: the cluster of each row. Out: the numbers of the jobs; several clusters may use the same
//! numbers. The jobs of the cluster that the first rows of the log name keep their numbers. A job
//! of another cluster gets a hash of the cluster and the job id. The files of a log count as one.

use std::path::Path;

use super::quotes::Quotes;
use super::{Line, RecordFormat, Remarks, number_of_name};
use crate::sources::SourceError;
use crate::sources::blocks::{BlockReader, TextBlock};
use crate::sources::folder::RawPart;

/// The clusters of a log.
#[derive(Clone, Debug, Default)]
pub(in crate::sources) struct Clusters {
    /// The cluster whose jobs keep their numbers.
    own: Option<Box<str>>,
}

impl Clusters {
    /// The clusters of the log that a part belongs to. `format` returns the format of a file, from
    /// its path, the beginning of its text and its number.
    ///
    /// # Errors
    /// A file of the log cannot be read.
    pub(in crate::sources) fn of<F: RecordFormat>(
        part: &RawPart,
        begin: &[u8],
        format: impl Fn(&Path, &[u8], u32) -> Result<F, SourceError>,
    ) -> Result<Self, SourceError> {
        let paths = part.reading.files.paths();
        if paths.len() < 2 {
            let (_, own) = first_of(&mut format(&part.path, begin, part.part)?, begin);
            return Ok(Self { own });
        }
        // Some files may have a header and no row.
        for (number, path) in (0..).zip(paths) {
            let block = BlockReader::open(path)?.next_block(TextBlock::default())?;
            let begin = block.as_ref().map_or(&[][..], TextBlock::text);
            let (rows, own) = first_of(&mut format(path, begin, number)?, begin);
            if 0 < rows {
                return Ok(Self { own });
            }
        }
        Ok(Self::default())
    }

    /// The number of a job of another cluster than the log's own; `None` for a job of the log's own
    /// cluster, or without an id.
    pub(in crate::sources) fn number_elsewhere(
        &self,
        cluster: Option<&str>,
        job: Option<&str>,
        remarks: &mut Remarks,
    ) -> Option<i64> {
        let cluster = cluster.filter(|&cluster| self.own.as_deref() != Some(cluster))?;
        remarks.add("jobs of another cluster: identified by cluster and job id");
        job.map(|job| number_of_name(format!("{cluster}/{job}").as_bytes()))
    }
}

/// The number of rows that are examined. In a log that names clusters, usually one of its first
/// rows does so.
const ROWS: usize = 1000;

/// The number of rows of a text up to the first row that names a cluster, including it, and that
/// cluster.
fn first_of(format: &mut impl RecordFormat, begin: &[u8]) -> (usize, Option<Box<str>>) {
    let (mut own, mut rows) = (None, 0);
    let separator = format.separator_of_quotes();
    Quotes::each_of(begin, separator, |line: Line<'_>| {
        format.attempt_count(line.raw);
        if let Ok(Some(record)) = format.record(line, &mut Remarks::default()) {
            rows += 1;
            own = record.cluster.map(Box::from);
        }
        own.is_none() && rows < ROWS
    });
    (rows, own)
}
