//! The cells of a row, from a line of fields or a JSON object.
//!
//! In: a line, or the lines of a row with line ends in quotes. Out: for each column of the map the
//! text of its cell, copied, so that both kinds of table are read in the same way. A column of JSON
//! may be a path; its values are joined by commas, or counted.

use serde_json::Value;

use super::super::map::Map;
use super::super::records::Fault;
use super::super::records::fields::Fields;
use super::super::records::lines::{Lines, first_line, names_of};
use super::super::records::quotes::first_record;
use super::super::reject::RejectReason;
use super::paths::Attempts;
use crate::notation::Mistake;

/// The number of rows that are searched for the keys of JSON objects.
const ROWS_LOOKED_AT: usize = 1000;

/// The form of the rows of a table, and the cells of the current row.
pub(super) struct TableRows {
    shape: Shape,
    fields: Fields,
    /// The attempts of the current row, for JSON.
    attempts: Attempts,
    /// Whether a cell of the current row has a line end.
    pub(super) has_line_end: bool,
    /// The texts of the cells, one after the other.
    texts: Vec<u8>,
    /// The range of each column of the map in `texts`; `None` if the cell is missing.
    cells: Vec<Option<(usize, usize)>>,
}

enum Shape {
    /// Fields between separators, and the place of each column of the map.
    Fields { lines: Lines, places: Vec<Option<usize>> },
    /// JSON objects.
    Json,
}

/// Whether a text begins like objects of JSON.
pub(in crate::sources) fn is_json(begin: &[u8]) -> bool {
    first_line(begin).trim_ascii_start().starts_with(b"{")
}

impl TableRows {
    /// The rows of a table that starts with `begin`; an error if it lacks a column of the map.
    pub(super) fn of(map: &Map, begin: &[u8]) -> Result<Self, Mistake> {
        if map.attempts.is_some() && !is_json(begin) && !begin.trim_ascii().is_empty() {
            let problem = "`attempts` is for JSON objects, and this table has lines of fields";
            return Err(Mistake::at(map.text(), 0, 0, problem.to_owned()));
        }
        let shape =
            if is_json(begin) { Self::json(map, begin)? } else { Self::fields(map, begin)? };
        Ok(Self {
            shape,
            fields: Fields::default(),
            attempts: Attempts::default(),
            has_line_end: false,
            texts: Vec::new(),
            cells: vec![None; map.columns.len()],
        })
    }

    fn fields(map: &Map, begin: &[u8]) -> Result<Shape, Mistake> {
        let line = first_record(begin, map.separator);
        let (names, header) = match &map.names {
            Some(names) => (names.clone(), None),
            None => (names_of(&line, map.separator), Some(line)),
        };
        let mut places = Vec::new();
        for column in &map.columns {
            let place = names.iter().position(|name| *name == column.name);
            if place.is_none() && !column.is_optional {
                return Err(map.lacks(column, &names));
            }
            places.push(place);
        }
        let (separator, count) = (map.separator, names.len());
        Ok(Shape::Fields { lines: Lines { separator, count, header, is_last_open: false }, places })
    }

    fn json(map: &Map, begin: &[u8]) -> Result<Shape, Mistake> {
        let lines = begin.split(|&byte| byte == b'\n').take(ROWS_LOOKED_AT);
        let rows: Vec<Value> =
            lines.filter_map(|line| serde_json::from_slice(line.trim_ascii()).ok()).collect();
        let rows: Vec<Attempts> =
            rows.into_iter().map(|row| Attempts::of(Some(row), map)).collect();
        for column in map.columns.iter().filter(|column| !column.is_optional) {
            if !Attempts::have(&rows, map, &column.name) {
                let mut found: Vec<String> = Vec::new();
                for key in rows.iter().flat_map(Attempts::keys) {
                    if !found.contains(key) {
                        found.push(key.clone());
                    }
                }
                return Err(map.lacks(column, &found));
            }
        }
        Ok(Shape::Json)
    }

    /// The separator of its fields, which may have line ends in quotes.
    pub(super) fn separator(&self) -> Option<u8> {
        match &self.shape {
            Shape::Fields { lines, .. } => Some(lines.separator),
            Shape::Json => None,
        }
    }

    /// Begins a line; returns the number of attempts in it, each of which [`read`](Self::read)
    /// reads in turn.
    pub(super) fn begin(&mut self, map: &Map, raw: &[u8]) -> usize {
        if let Shape::Fields { .. } = self.shape {
            return 1;
        }
        self.attempts = Attempts::of(serde_json::from_slice(raw).ok(), map);
        self.attempts.count()
    }

    /// The place of the current attempt among those of its line, from 0, and whether it is the
    /// last.
    pub(super) fn place(&self) -> (usize, bool) {
        match self.shape {
            Shape::Fields { .. } => (0, true),
            Shape::Json => self.attempts.place(),
        }
    }

    /// Reads the cells of the next attempt of a line, with spaces for line ends; false for the
    /// header.
    pub(super) fn read(&mut self, map: &Map, raw: &[u8]) -> Result<bool, Fault> {
        self.texts.clear();
        self.cells.fill(None);
        match &self.shape {
            Shape::Json => {
                self.attempts.step();
                if !self.attempts.is_json() {
                    return Err(("", RejectReason::BadValue));
                }
                for (cell, column) in self.cells.iter_mut().zip(&map.columns) {
                    let text = self.attempts.text(map, column, self.attempts.in_list());
                    *cell = text.and_then(|text| keep(map, &mut self.texts, text.as_bytes()));
                }
            }
            Shape::Fields { lines, places } => {
                if lines.is_header(raw) {
                    return Ok(false);
                }
                lines.split(raw, &mut self.fields)?;
                for (cell, place) in self.cells.iter_mut().zip(places) {
                    let Some(place) = *place else { continue };
                    *cell = keep(map, &mut self.texts, self.fields.get(raw, place));
                }
            }
        }
        self.has_line_end = self.texts.iter().copied().any(is_line_end);
        self.texts.iter_mut().filter(|byte| is_line_end(**byte)).for_each(|byte| *byte = b' ');
        Ok(true)
    }

    /// The text of a column of the map, if it is not missing.
    pub(super) fn cell(&self, idx: usize) -> Option<&[u8]> {
        self.cells[idx].map(|(from, to)| &self.texts[from..to])
    }
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Appends the text of a cell and returns its range; `None` if the text counts as missing.
fn keep(map: &Map, texts: &mut Vec<u8>, text: &[u8]) -> Option<(usize, usize)> {
    if map.missing.iter().any(|missing| missing.as_bytes() == text) {
        return None;
    }
    let from = texts.len();
    texts.extend_from_slice(text);
    Some((from, texts.len()))
}
