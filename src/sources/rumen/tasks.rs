//! The tasks of a job of a Rumen trace, one after the other.
//!
//! In: the object of a job. Out: each task from its JSON, passed to the caller and then dropped. A
//! job of a million tasks takes the memory of its text and of one task.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use super::super::json::each_item;
use super::super::records::Fault;
use super::super::reject::RejectReason;

/// The most attempts of a task; Hadoop stops after a few.
const ATTEMPTS_MAX: usize = 10_000;

/// Removes the backslashes that Hadoop's history puts before dots.
pub(super) fn unescaped(name: &str) -> String {
    name.replace('\\', "")
}

/// A list of tasks in a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum List {
    /// Map tasks.
    Maps,
    /// Reduce tasks.
    Reduces,
    /// Setup and cleanup.
    Others,
}

/// A task.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LoggedTask {
    #[serde(rename = "taskID")]
    pub task_id: String,
    pub task_type: Option<String>,
    pub task_status: Option<String>,
    #[serde(default, deserialize_with = "attempts")]
    pub attempts: Vec<LoggedAttempt>,
}

/// An attempt; times are milliseconds, -1 or 0 if they are missing.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LoggedAttempt {
    #[serde(rename = "attemptID")]
    pub attempt_id: Option<String>,
    pub start_time: Option<i64>,
    pub finish_time: Option<i64>,
    pub result: Option<String>,
    pub host_name: Option<String>,
    pub location: Option<Location>,
    pub shuffle_finished: Option<i64>,
    pub sort_finished: Option<i64>,
}

/// Where an attempt ran.
#[derive(Debug, Deserialize)]
pub(super) struct Location {
    /// The last of the layers, which is the host.
    #[serde(default, deserialize_with = "last")]
    pub layers: Option<String>,
}

/// Passes the tasks of a job to `take`: maps first, then reduces, then the others, each with its
/// list.
pub(super) fn in_order(object: &[u8], take: &mut Take<'_>) -> Result<(), Fault> {
    let mut seen: Vec<List> = Vec::new();
    walk(object, &|_| false, &mut |_, _| Ok(()), &mut seen)?;
    if seen.is_sorted() {
        return walk(object, &|_| true, take, &mut Vec::new());
    }
    [List::Maps, List::Reduces, List::Others]
        .into_iter()
        .try_for_each(|list| walk(object, &|found| found == list, take, &mut Vec::new()))
}

/// Takes a task and its list.
pub(super) type Take<'a> = dyn FnMut(List, LoggedTask) -> Result<(), Fault> + 'a;

/// Passes the tasks of the wanted lists to `take`, and adds all lists to `seen`.
fn walk(
    object: &[u8],
    is_wanted: &dyn Fn(List) -> bool,
    take: &mut Take<'_>,
    seen: &mut Vec<List>,
) -> Result<(), Fault> {
    let mut fault = None;
    let job = Job { is_wanted, take, seen, fault: &mut fault };
    let mut json = serde_json::Deserializer::from_slice(object);
    let read = json.deserialize_map(job).and_then(|()| json.end());
    match (fault, read) {
        (Some(fault), _) => Err(fault),
        (None, Err(_)) => Err(("", RejectReason::BadValue)),
        (None, Ok(())) => Ok(()),
    }
}

/// A key of a job.
#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum Key {
    MapTasks,
    ReduceTasks,
    OtherTasks,
    #[serde(other)]
    Other,
}

/// Visits a job.
struct Job<'t, 'f> {
    is_wanted: &'t dyn Fn(List) -> bool,
    take: &'t mut Take<'f>,
    seen: &'t mut Vec<List>,
    fault: &'t mut Option<Fault>,
}

impl<'de> Visitor<'de> for Job<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a job")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Key>()? {
            let list = match key {
                Key::MapTasks => List::Maps,
                Key::ReduceTasks => List::Reduces,
                Key::OtherTasks => List::Others,
                Key::Other => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            if self.seen.contains(&list) {
                return Err(A::Error::custom("a list of tasks occurs twice"));
            }
            self.seen.push(list);
            if (self.is_wanted)(list) {
                let tasks = Tasks { list, take: &mut *self.take, fault: &mut *self.fault };
                map.next_value_seed(tasks)?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Visits a list of tasks, or null.
struct Tasks<'t, 'f> {
    list: List,
    take: &'t mut Take<'f>,
    fault: &'t mut Option<Fault>,
}

impl<'de> DeserializeSeed<'de> for Tasks<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let Self { list, take, fault } = self;
        each_item(deserializer, |task| {
            take(list, task).map_err(|found| {
                *fault = Some(found);
                "a task is at fault"
            })
        })
    }
}

/// The attempts of a task; an error if there are too many.
fn attempts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<LoggedAttempt>, D::Error> {
    let mut all = Vec::new();
    each_item(deserializer, |attempt| {
        if all.len() == ATTEMPTS_MAX {
            return Err("too many attempts");
        }
        all.push(attempt);
        Ok(())
    })?;
    Ok(all)
}

/// The last text of a list.
fn last<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let mut last = None;
    each_item(deserializer, |name| {
        last = Some(name);
        Ok(())
    })?;
    Ok(last)
}
