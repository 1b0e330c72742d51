//! The cells of a row, of a table of fields or of JSON objects.
//!
//! In: a line. Out: for each column of the map the text of its cell, copied, so that both kinds of
//! table are read alike. A JSON column may lie deeper: `attempts[0].start_time`, `[-1]` for the last.

use serde_json::Value;

use super::super::records::Fault;
use super::super::records::fields::Fields;
use super::super::rows::RejectReason;
use super::map::Map;
use crate::notation::Mistake;

/// Rows that are looked at to learn which keys JSON objects have.
const ROWS_LOOKED_AT: usize = 1000;

/// How the rows of a table are written, and the cells of one of them.
pub(super) struct TableRows {
    shape: Shape,
    fields: Fields,
    /// The texts of the cells, one after the other.
    texts: Vec<u8>,
    /// Where each column of the map stands in them; `None` where it is missing.
    cells: Vec<Option<(usize, usize)>>,
}

enum Shape {
    /// Fields between separators: the place of each column of the map, how many there are, and
    /// whether the first line names them.
    Fields { places: Vec<Option<usize>>, count: usize, header: Option<Vec<u8>> },
    /// JSON objects.
    Json,
}

/// The first line of a text that is not blank.
pub(super) fn first_line(begin: &[u8]) -> &[u8] {
    let begin = begin.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(begin);
    let mut lines = begin.split(|&byte| byte == b'\n');
    let line = lines.find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The fields of a line, as texts.
pub(super) fn names_of(line: &[u8], separator: u8) -> Vec<String> {
    let mut fields = Fields::default();
    fields.split(line, separator);
    let of = |idx| String::from_utf8_lossy(fields.get(line, idx)).into_owned();
    (0..fields.len()).map(of).collect()
}

/// Whether a text begins like objects of JSON.
pub(super) fn is_json(begin: &[u8]) -> bool {
    first_line(begin).trim_ascii_start().starts_with(b"{")
}

/// What a table that is one array gets.
pub(super) const ONE_ARRAY: &str = "the table is one JSON array; make each of its objects a line \
    of its own first: `jq -c '.[]' FILE > FILE.jsonl`";

/// Whether a text begins like one array of JSON objects, of which no line is a row.
pub(super) fn is_array(begin: &[u8]) -> bool {
    let begin = begin.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(begin).trim_ascii_start();
    begin.strip_prefix(b"[").is_some_and(|rest| rest.trim_ascii_start().starts_with(b"{"))
}

impl TableRows {
    /// The rows of a table that begins so; a column of the map that it does not have.
    pub(super) fn of(map: &Map, begin: &[u8]) -> Result<Self, Mistake> {
        if is_array(begin) {
            return Err(map.wrong(ONE_ARRAY));
        }
        let shape =
            if is_json(begin) { Self::json(map, begin)? } else { Self::fields(map, begin)? };
        Ok(Self {
            shape,
            fields: Fields::default(),
            texts: Vec::new(),
            cells: vec![None; map.columns.len()],
        })
    }

    fn fields(map: &Map, begin: &[u8]) -> Result<Shape, Mistake> {
        let line = first_line(begin);
        let (names, header) = match &map.names {
            Some(names) => (names.clone(), None),
            None => (names_of(line, map.separator), Some(line.to_vec())),
        };
        let mut places = Vec::new();
        for column in &map.columns {
            let place = names.iter().position(|name| *name == column.name);
            if place.is_none() && !column.is_optional {
                return Err(map.lacks(column, &names));
            }
            places.push(place);
        }
        Ok(Shape::Fields { places, count: names.len(), header })
    }

    fn json(map: &Map, begin: &[u8]) -> Result<Shape, Mistake> {
        let lines = begin.split(|&byte| byte == b'\n').take(ROWS_LOOKED_AT);
        let rows: Vec<Value> =
            lines.filter_map(|line| serde_json::from_slice(line.trim_ascii()).ok()).collect();
        for column in map.columns.iter().filter(|column| !column.is_optional) {
            if !rows.iter().any(|row| at_path(row, &column.name).is_some()) {
                let mut found: Vec<String> = Vec::new();
                for key in rows.iter().filter_map(Value::as_object).flat_map(|row| row.keys()) {
                    if !found.contains(key) {
                        found.push(key.clone());
                    }
                }
                return Err(map.lacks(column, &found));
            }
        }
        Ok(Shape::Json)
    }

    /// Reads the cells of a line; false for one that is the header.
    pub(super) fn read(&mut self, map: &Map, line: u64, raw: &[u8]) -> Result<bool, Fault> {
        self.texts.clear();
        self.cells.fill(None);
        match &self.shape {
            Shape::Json => {
                let row: Value =
                    serde_json::from_slice(raw).map_err(|_| ("", RejectReason::BadValue))?;
                for (cell, column) in self.cells.iter_mut().zip(&map.columns) {
                    let text = match at_path(&row, &column.name) {
                        None | Some(Value::Null) => continue,
                        Some(Value::String(text)) => text.trim().to_owned(),
                        Some(value) => value.to_string(),
                    };
                    if !map.missing.contains(&text) {
                        let from = self.texts.len();
                        self.texts.extend_from_slice(text.as_bytes());
                        *cell = Some((from, self.texts.len()));
                    }
                }
            }
            Shape::Fields { places, count, header } => {
                if line == 1 && header.is_some() || header.as_deref() == Some(raw) {
                    return Ok(false);
                }
                self.fields.split(raw, map.separator);
                if self.fields.len() == count + 1 && raw.ends_with(&[map.separator]) {
                    self.fields.drop_last();
                }
                match self.fields.len() {
                    len if len < *count => return Err(("", RejectReason::TooFewColumns)),
                    len if *count < len => return Err(("", RejectReason::TooManyColumns)),
                    _ => {}
                }
                for (cell, place) in self.cells.iter_mut().zip(places) {
                    let Some(place) = *place else { continue };
                    let text = self.fields.get(raw, place);
                    if !map.missing.iter().any(|missing| missing.as_bytes() == text) {
                        let from = self.texts.len();
                        self.texts.extend_from_slice(text);
                        *cell = Some((from, self.texts.len()));
                    }
                }
            }
        }
        Ok(true)
    }

    /// The text of a column of the map, if it is not missing.
    pub(super) fn cell(&self, idx: usize) -> Option<&[u8]> {
        self.cells[idx].map(|(from, to)| &self.texts[from..to])
    }
}

/// The value at `name`, or else at the path `a.b[0].c`.
pub(super) fn at_path<'a>(row: &'a Value, name: &str) -> Option<&'a Value> {
    if let Some(value) = row.get(name) {
        return Some(value);
    }
    if !name.contains(['.', '[']) {
        return None;
    }
    let mut at = row;
    for step in name.split('.') {
        let (key, places) = step.split_once('[').unwrap_or((step, ""));
        at = at.get(key)?;
        for place in places.split('[').filter(|place| !place.is_empty()) {
            let place: i64 = place.strip_suffix(']')?.parse().ok()?;
            let all = at.as_array()?;
            let idx = if place < 0 { place + i64::try_from(all.len()).ok()? } else { place };
            at = all.get(usize::try_from(idx).ok()?)?;
        }
    }
    Some(at)
}
