//! The hosts of a Rumen trace: the leaves of a tree of racks.
//!
//! In: JSON of nodes with a `name` and `children`. Out: the hosts in the order of the file with
//! their racks, and a row of `machine_events` for each, from time 0. Their capacities are unknown.

use std::path::Path;

use serde::Deserialize;

use super::super::blocks::{TextBlock, each_block};
use super::super::part::{HandOut, PartParser};
use super::super::reject::{Reject, RejectReason, reject_text};
use super::super::rows::{Cell, RowBlock};
use super::super::{SourceError, SourceErrorKind};
use super::tasks::unescaped;
use crate::schema::row_id;

/// The largest topology, bytes; ten thousand hosts take a tenth of it.
const TEXT_MAX: usize = 16 << 20;

/// A host.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Host {
    pub name: String,
    /// The names between the root and the host.
    pub rack: String,
}

#[derive(Deserialize)]
struct Node {
    name: Option<String>,
    children: Option<Vec<Self>>,
}

/// Lists the hosts of a tree; `None` if the text is not a tree.
fn hosts(text: &[u8]) -> Option<Vec<Host>> {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let root: Node = serde_json::from_slice(text).ok()?;
    let mut found = Vec::new();
    for child in root.children.unwrap_or_default() {
        walk(child, "", &mut found);
    }
    Some(found)
}

fn walk(node: Node, rack: &str, found: &mut Vec<Host>) {
    let name = unescaped(&node.name.unwrap_or_default());
    match node.children {
        None => found.push(Host { name, rack: rack.to_owned() }),
        Some(children) => {
            let rack = format!("{rack}/{}", name.trim_start_matches('/'));
            for child in children {
                walk(child, &rack, found);
            }
        }
    }
}

/// Reads the hosts of a topology.
pub(super) fn read(path: &Path) -> Result<Vec<Host>, SourceError> {
    let (mut text, mut is_whole) = (Vec::new(), true);
    each_block(path, |block| {
        is_whole &= text.len() + block.len() <= TEXT_MAX;
        if is_whole {
            text.extend_from_slice(block.text());
        }
    })?;
    let found = hosts(&text).filter(|_| is_whole);
    found.ok_or_else(|| SourceError::new(path, SourceErrorKind::BadTopology))
}

/// Makes rows of a topology.
pub(super) struct Parser {
    pub(super) part: u32,
    pub(super) text: Vec<u8>,
}

impl PartParser for Parser {
    fn parse(
        &mut self,
        text: &TextBlock,
        _first_line: u64,
        rows: &mut RowBlock,
        _hand_out: &mut HandOut<'_>,
    ) {
        rows.clear();
        rows.line_count = memchr::memchr_iter(b'\n', text.text()).count() as u64;
        // A truncated topology is not a tree, and becomes a reject at the end.
        let room = TEXT_MAX.saturating_sub(self.text.len()).min(text.len());
        self.text.extend_from_slice(&text.text()[..room]);
    }

    fn finish(&mut self, rows: &mut RowBlock, _hand_out: &mut HandOut<'_>) {
        let Some(hosts) = hosts(&self.text) else {
            let text = reject_text(&self.text);
            rows.rejects.push(Reject { line: 1, column: "", reason: RejectReason::BadValue, text });
            return;
        };
        for (number, host) in (1..).zip(&hosts) {
            let cells = [
                Cell::I64(0),
                Cell::I64(number),
                Cell::I32(0),
                Cell::Missing,
                Cell::Missing,
                Cell::Missing,
                Cell::Text(&host.name),
                Cell::Text(&host.rack),
            ];
            rows.push_row(row_id(self.part, number.unsigned_abs()), &cells);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_are_hosts() {
        let text = br#"{"name":"<root>","children":[
            {"name":"10\\.0","children":[{"name":"a\\.x","children":null},{"name":"b"}]},
            {"name":"empty","children":[]},{"name":"c","children":null}]}"#;
        let host = |name: &str, rack: &str| Host { name: name.into(), rack: rack.into() };
        assert_eq!(
            hosts(text),
            Some(vec![host("a.x", "/10.0"), host("b", "/10.0"), host("c", "")])
        );
        assert_eq!(hosts(b"{\"name\":1}"), None);
        assert_eq!(hosts(b"[]"), None);
        assert_eq!(hosts(b"{\"name\":\"<root>\",\"children\":null}"), Some(Vec::new()));
    }
}
