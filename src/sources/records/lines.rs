//! Lines of fields between separators, with or without a header.

use super::Fault;
use super::fields::Fields;
use crate::sources::blocks::TextBlock;
use crate::sources::reject::{Reject, RejectReason, reject_text};
use crate::sources::rows::RowBlock;

/// A line of a log.
#[derive(Clone, Copy)]
pub(in crate::sources) struct Line<'a> {
    /// Its number in the file, from 1.
    pub number: u64,
    pub raw: &'a [u8],
}

impl<'a> Line<'a> {
    /// A line, without a byte order mark.
    pub(in crate::sources) fn of(number: u64, raw: &'a [u8]) -> Self {
        let raw = raw.strip_prefix(b"\xEF\xBB\xBF").filter(|_| number == 1).unwrap_or(raw);
        Self { number, raw }
    }

    /// Calls `take` with it unless it is blank; a fault becomes a reject.
    pub(super) fn read(
        self,
        rows: &mut RowBlock,
        take: impl FnOnce(Self, &mut RowBlock) -> Result<(), Fault>,
    ) {
        if !self.raw.trim_ascii().is_empty()
            && let Err((column, reason)) = take(self, rows)
        {
            let text = reject_text(self.raw);
            rows.rejects.push(Reject { line: self.number, column, reason, text });
        }
    }

    /// Calls `take` with the lines of a block that are not blank, without a byte order mark; faults
    /// become rejects. `first_line` is the number of the first line.
    pub(in crate::sources) fn each(
        text: &'a TextBlock,
        first_line: u64,
        rows: &mut RowBlock,
        mut take: impl FnMut(Line<'a>, &mut RowBlock) -> Result<(), Fault>,
    ) {
        rows.clear();
        for (number, raw) in text.lines(first_line) {
            Line::of(number, raw).read(rows, &mut take);
            rows.line_count = number + 1 - first_line;
        }
    }
}

/// The form of the lines of a table.
#[derive(Debug)]
pub(in crate::sources) struct Lines {
    pub separator: u8,
    /// The number of fields of a line.
    pub count: usize,
    /// The line that names the columns.
    pub header: Option<Vec<u8>>,
    /// Whether the last field may hold separators.
    pub is_last_open: bool,
}

impl Lines {
    /// Whether a line is the header, which may be repeated.
    pub(in crate::sources) fn is_header(&self, line: &[u8]) -> bool {
        self.header.as_deref() == Some(line)
    }

    /// Splits a line into fields.
    ///
    /// # Errors
    /// There are fewer or more than in the header, or a quote is not closed.
    pub(in crate::sources) fn split(&self, line: &[u8], fields: &mut Fields) -> Result<(), Fault> {
        fields.split(line, self.separator);
        if fields.is_open() {
            return Err(("", RejectReason::LineEndInQuotes));
        }
        // `sacct --parsable` ends lines with a separator, including the header.
        let end = [self.separator];
        let is_closed = self.header.as_ref().is_some_and(|header| header.ends_with(&end));
        if is_closed && self.count < fields.len() && line.ends_with(&end) {
            fields.drop_last();
        }
        if self.count < fields.len() {
            if self.is_last_open {
                fields.join_from(self.count - 1);
            } else if fields.len() == self.count + 1 && line.ends_with(&end) {
                fields.drop_last();
            }
        }
        match fields.len() {
            len if len < self.count => Err(("", RejectReason::TooFewColumns)),
            len if self.count < len => Err(("", RejectReason::TooManyColumns)),
            _ => Ok(()),
        }
    }
}

/// The first line of a text that is not blank, without a byte order mark.
pub(in crate::sources) fn first_line(begin: &[u8]) -> &[u8] {
    let begin = begin.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(begin);
    let mut lines = begin.split(|&byte| byte == b'\n');
    let line = lines.find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The fields of a line, as texts.
pub(in crate::sources) fn names_of(line: &[u8], separator: u8) -> Vec<String> {
    let mut fields = Fields::default();
    fields.split(line, separator);
    let of = |idx| String::from_utf8_lossy(fields.get(line, idx)).into_owned();
    (0..fields.len()).map(of).collect()
}
