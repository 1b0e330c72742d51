//! Values of a JSON object by their paths, and the attempts that an object holds.
//!
//! In: an object and a path. Out: the values at the path. `a.b[0].c` gives one value; `[-1]` is the
//! last item of a list, `[*]` are all of them. `list[].a` is `a` of the current attempt, where
//! `list` is the list of attempts that a map names.

use std::borrow::Cow;

use serde_json::Value;

use crate::sources::map::{Field, Map, MappedColumn};

/// A row that holds the attempts of a job, and the next one that is read.
#[derive(Default)]
pub(super) struct Attempts {
    /// The row; `None` if it is not JSON.
    row: Option<Value>,
    /// The number of items of its list, and the positions of the attempts among them.
    items: usize,
    places: Vec<usize>,
    next: usize,
}

/// An attempt that took place has a value in at least one of these columns.
const TIMES: [Field; 4] = [Field::Start, Field::End, Field::Run, Field::Wait];

impl Attempts {
    /// The attempts of a row: the items of its list that have a time. A job without attempts is
    /// read once.
    pub(super) fn of(row: Option<Value>, map: &Map) -> Self {
        let list = row.as_ref().zip(map.attempts.as_ref());
        let items = list.and_then(|(row, path)| at_path(row, path)).and_then(Value::as_array);
        let items = items.map_or(0, Vec::len);
        let mut attempts = Self { row, items, places: Vec::new(), next: 0 };
        let is_time = |column: &&MappedColumn| {
            TIMES.contains(&column.field) && rest_of_attempt(map, &column.name).is_some()
        };
        let times = || map.columns.iter().filter(is_time);
        let has_begun =
            |place: &usize| times().any(|column| attempts.text(map, column, *place).is_some());
        let places: Vec<usize> = (0..items).filter(has_begun).collect();
        attempts.places = places;
        attempts
    }

    pub(super) fn count(&self) -> usize {
        self.places.len().max(1)
    }

    /// Goes on to the next attempt.
    pub(super) fn step(&mut self) {
        self.next += 1;
    }

    /// The place of the attempt that was read last, from 0, and whether it is the last of its job.
    pub(super) fn place(&self) -> (usize, bool) {
        (self.next.saturating_sub(1), self.count() <= self.next)
    }

    /// The place of the current attempt in the list.
    pub(super) fn in_list(&self) -> usize {
        self.places.get(self.place().0).copied().unwrap_or(usize::MAX)
    }

    /// Whether the row is JSON.
    pub(super) fn is_json(&self) -> bool {
        self.row.is_some()
    }

    /// The keys of the row.
    pub(super) fn keys(&self) -> impl Iterator<Item = &String> {
        self.row.as_ref().and_then(Value::as_object).into_iter().flat_map(|row| row.keys())
    }

    /// Calls `take` with the values at a path, of all attempts.
    fn each_of_all<'a>(&'a self, map: &Map, path: &str, take: &mut dyn FnMut(&'a Value)) {
        (0..self.items.max(1)).for_each(|idx| self.each(map, (path, idx), take));
    }

    /// Whether one of these rows has a value at a path. It may also be in a list that is empty in
    /// all of them.
    pub(super) fn have(rows: &[Self], map: &Map, path: &str) -> bool {
        let (mut is_found, mut is_full) = (false, false);
        let list = path.rfind('[').map(|end| &path[..end]);
        for row in rows {
            row.each_of_all(map, path, &mut |_| is_found = true);
            row.each_of_all(map, list.unwrap_or(path), &mut |value| {
                is_full |= value.as_array().is_some_and(|items| !items.is_empty());
            });
        }
        is_found || !is_full && list.is_some_and(|list| Self::have(rows, map, list))
    }

    /// The text of a column, of attempt `idx` of the list: its values, joined by commas, or their
    /// number; `None` without any.
    pub(super) fn text(
        &self,
        map: &Map,
        column: &MappedColumn,
        idx: usize,
    ) -> Option<Cow<'_, str>> {
        let (mut text, mut count) = (None::<Cow<'_, str>>, 0_usize);
        self.each(map, (&column.name, idx), &mut |value| {
            let value: Cow<'_, str> = match value {
                Value::Null => return,
                Value::String(text) => text.trim().into(),
                value => value.to_string().into(),
            };
            if map.missing.iter().any(|missing| *missing == value) {
                return;
            }
            count += 1;
            text = Some(match text.take() {
                None => value,
                Some(before) => format!("{before},{value}").into(),
            });
        });
        if column.is_count { text.map(|_| count.to_string().into()) } else { text }
    }

    /// Calls `take` with the values at a path, of attempt `idx` if the path is one of attempts.
    fn each<'a>(&'a self, map: &Map, (path, idx): (&str, usize), take: &mut dyn FnMut(&'a Value)) {
        let Some(row) = &self.row else { return };
        match rest_of_attempt(map, path) {
            None => each_at(row, path, take),
            Some((list, rest)) => {
                let items = at_path(row, list).and_then(Value::as_array);
                if let Some(item) = items.and_then(|items| items.get(idx)) {
                    each_at(item, rest, take);
                }
            }
        }
    }
}

/// The list of attempts of a map and the path within one of them, if a path is `list[].path`.
fn rest_of_attempt<'a>(map: &'a Map, path: &'a str) -> Option<(&'a str, &'a str)> {
    let list = map.attempts.as_deref()?;
    let rest = path.strip_prefix(list)?.strip_prefix("[]")?;
    Some((list, rest.strip_prefix('.').unwrap_or(rest)))
}

/// Calls `take` with the values at `path`: the key of that name, or else the path.
fn each_at<'a>(row: &'a Value, path: &str, take: &mut dyn FnMut(&'a Value)) {
    match row.get(path) {
        Some(value) => take(value),
        None if path.is_empty() => take(row),
        None => each_step(row, path, take),
    }
}

fn each_step<'a>(at: &'a Value, path: &str, take: &mut dyn FnMut(&'a Value)) {
    let path = path.strip_prefix('.').unwrap_or(path);
    if path.is_empty() {
        return take(at);
    }
    if let Some((place, rest)) = path.strip_prefix('[').and_then(|path| path.split_once(']')) {
        let Some(items) = at.as_array() else { return };
        if place == "*" {
            return items.iter().for_each(|item| each_step(item, rest, take));
        }
        let Ok(place) = place.parse::<i64>() else { return };
        let count = i64::try_from(items.len()).unwrap_or(i64::MAX);
        let idx = usize::try_from(if place < 0 { place + count } else { place });
        if let Some(item) = idx.ok().and_then(|idx| items.get(idx)) {
            each_step(item, rest, take);
        }
        return;
    }
    let end = path.find(['.', '[']).unwrap_or(path.len());
    if let Some(value) = at.get(&path[..end]) {
        each_step(value, &path[end..], take);
    }
}

/// The first value at a path.
fn at_path<'a>(row: &'a Value, path: &str) -> Option<&'a Value> {
    let mut found = None;
    each_at(row, path, &mut |value| {
        found.get_or_insert(value);
    });
    found
}
