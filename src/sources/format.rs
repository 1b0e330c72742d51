//! The description of a format.
//!
//! In: a part, and the beginning of its text. Out: a parser, the form of a line in words, and
//! whether a file is of this format.

use super::SourceError;
use super::folder::RawPart;
use super::part::PartParser;
use crate::schema::Source;

/// A parser, or why there is none.
type Made = Result<Box<dyn PartParser>, SourceError>;

/// How a source is read.
pub(super) struct Format {
    /// Makes the parser of a part whose text has this beginning.
    pub parser: fn(&RawPart, &[u8]) -> Made,
    /// The expected form of a line, for the message if no line of a file has it.
    pub line: fn(&RawPart) -> String,
    /// How a file is recognised.
    pub seen: Seen,
}

/// How a file is recognised by its first lines.
#[derive(Clone, Copy)]
pub(super) enum Seen {
    /// Text that is not JSON.
    Lines(fn(&[u8]) -> Option<FileKind>),
    /// JSON objects.
    Json(fn(&[u8]) -> Option<FileKind>),
    /// JSON objects with the first of these keys that is found.
    Keys(&'static [(&'static str, FileKind)]),
    /// Not by its first lines: by the layout of its folder or the form of most of its lines, which
    /// only `trace` examines, or not at all.
    Otherwise,
}

/// The kind of a file, from its first lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    /// A log of a kind of trace.
    Log(Source),
    /// The machines of a Rumen log.
    Topology,
    /// The machines of a log of pods or of batch tasks.
    Nodes,
}

impl Seen {
    /// The kind of a file with this text, if it is of the format.
    pub(super) fn kind_of(self, text: &[u8], is_json: bool) -> Option<FileKind> {
        let has = |key: &str| memchr::memmem::find(text, format!("\"{key}\"").as_bytes()).is_some();
        match self {
            Self::Json(seen) if is_json => seen(text),
            Self::Keys(keys) if is_json => {
                keys.iter().find(|(key, _)| has(key)).map(|(_, kind)| *kind)
            }
            Self::Lines(seen) if !is_json => seen(text),
            _ => None,
        }
    }
}
