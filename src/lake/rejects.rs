//! Writes rejected lines to disk.
//!
//! In: rejects of a part, as they occur. Out: a CSV file next to the lake's tables, and its entry
//! in the manifest. Only the first few rejects and the counts are in memory; at most [`BYTES_MAX`]
//! of text is stored, and further rejects are only counted.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::PathBuf;

use super::{LakeError, LakeErrorKind};
use crate::cells;
use crate::sources::{Reject, RejectReason};

/// Most bytes of rejects that are stored per part.
const BYTES_MAX: u64 = 256 << 20;

/// Rejects shown in an error.
const SHOWN: usize = 10;

/// The reason under which lines are counted if their text is not stored.
pub(super) const LEFT_OUT: &str = "lines without a row beyond the first 256 MiB: counted, not \
stored";

/// The rejects of a part so far.
pub(super) struct RejectLog {
    part: u32,
    /// The file, once there is a reject.
    beside: PathBuf,
    writer: Option<csv::Writer<BufWriter<File>>>,
    bytes: u64,
    /// The first rejects.
    pub(super) first: Vec<Reject>,
    reasons: BTreeMap<RejectReason, u64>,
    /// Whether all of them concern the whole line rather than one column.
    pub(super) are_of_lines: bool,
    left_out: u64,
}

/// The rejects of a completely read part.
pub(super) struct Rejected {
    /// The file, if there is any.
    pub(super) beside: Option<PathBuf>,
    /// Numbers of rejects, by reason.
    pub(super) reasons: BTreeMap<String, u64>,
    /// Number of rejects that are not in the file.
    pub(super) left_out: u64,
}

impl RejectLog {
    /// A log for the rejects of a part, written to `beside`.
    pub(super) fn new(part: u32, beside: PathBuf) -> Self {
        Self {
            part,
            beside,
            writer: None,
            bytes: 0,
            first: Vec::new(),
            reasons: BTreeMap::new(),
            are_of_lines: true,
            left_out: 0,
        }
    }

    /// Number of rejects.
    pub(super) fn count(&self) -> u64 {
        self.reasons.values().sum()
    }

    /// Adds further rejects.
    pub(super) fn add(&mut self, rejects: &mut Vec<Reject>) -> Result<(), LakeError> {
        for reject in rejects.drain(..) {
            *self.reasons.entry(reject.reason).or_default() += 1;
            self.are_of_lines &= reject.column.is_empty();
            if self.bytes < BYTES_MAX {
                self.write(&reject)
                    .map_err(|error| LakeError::new(&self.beside, LakeErrorKind::Io(error)))?;
            } else {
                self.left_out += 1;
            }
            if self.first.len() < SHOWN {
                self.first.push(reject);
            }
        }
        Ok(())
    }

    fn write(&mut self, reject: &Reject) -> io::Result<()> {
        let writer = match &mut self.writer {
            Some(writer) => writer,
            none => {
                let mut writer =
                    csv::Writer::from_writer(BufWriter::new(File::create(&self.beside)?));
                writer.write_record(["part", "line", "column", "reason", "text"])?;
                none.insert(writer)
            }
        };
        let (part, line) = (self.part.to_string(), reject.line.to_string());
        let text = cells::guarded(&reject.text);
        let (column, reason) = (reject.column, reject.reason.name());
        self.bytes += [&part, &line, column, reason, &text]
            .map(|cell| cell.len() as u64 + 1)
            .iter()
            .sum::<u64>();
        writer.write_record([&part, &line, column, reason, &text])?;
        Ok(())
    }

    /// Syncs the file to disk.
    pub(super) fn finish(self) -> Result<Rejected, LakeError> {
        let beside = match self.writer {
            None => None,
            Some(writer) => {
                let fail = |error| LakeError::new(&self.beside, LakeErrorKind::Io(error));
                let buffered = writer.into_inner().map_err(|error| fail(error.into_error()))?;
                let file = buffered.into_inner().map_err(|error| fail(error.into_error()))?;
                file.sync_all().map_err(fail)?;
                Some(self.beside)
            }
        };
        let reasons =
            self.reasons.into_iter().map(|(reason, count)| (reason.name().to_owned(), count));
        Ok(Rejected { beside, reasons: reasons.collect(), left_out: self.left_out })
    }
}
