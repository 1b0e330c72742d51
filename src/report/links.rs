//! The jobs, machines and users that have pages, and the links to these.
//!
//! In: the results of a report. Out: the jobs, machines and users with pages, and the file of each. Files are
//! numbered, so no name of a trace becomes a path.

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

use crate::answers::list;
use crate::results::Stored;
use crate::results::kind::{Kind, Pages};

/// Users and machines with pages of their own, those that used most.
pub(super) const PAGES_MAX: usize = 100;

/// The folder of the pages of jobs.
pub(super) const JOBS: &str = "jobs";

/// The pages that names of a table lead to.
#[derive(Default)]
pub(crate) struct Links {
    jobs: FxHashSet<String>,
    machines: FxHashMap<String, String>,
    users: FxHashMap<String, String>,
}

impl Links {
    /// Those of a report.
    pub(super) fn of(results: &[Stored]) -> Self {
        let users = of_kind(results, Pages::Users).flat_map(user_files);
        let machines = of_kind(results, Pages::Machines);
        let machines = machines.flat_map(|result| closeups(result, "machines"));
        Self {
            jobs: jobs_of(results)
                .filter_map(|job| Some(job["job_id"].as_i64()?.to_string()))
                .collect(),
            machines: machines
                .filter_map(|own| {
                    let id = own["machine_id"].as_i64()?;
                    Some((id.to_string(), file_of_machine(id)))
                })
                .collect(),
            users: users.collect(),
        }
    }

    /// Whether a job has a page.
    pub(super) fn has_job(&self, id: &str) -> bool {
        self.jobs.contains(id)
    }

    /// Whether a table with this header is a way to pages of jobs.
    pub(super) fn are_in(&self, header: &[String]) -> bool {
        !self.jobs.is_empty() && header.iter().any(|column| column == "job_id")
    }

    /// The page of what a cell names, if it has one.
    pub(super) fn page(&self, column: &str, cell: &str) -> Option<String> {
        match column {
            "job_id" => self.jobs.contains(cell).then(|| format!("{JOBS}/{cell}.html")),
            "machine_id" => self.machines.get(cell).cloned(),
            "user" => self.users.get(cell).cloned(),
            _ => None,
        }
    }
}

/// The results of the kinds with such pages.
pub(super) fn of_kind(results: &[Stored], pages: Pages) -> impl Iterator<Item = &Stored> {
    let has = move |kind: &Kind<'_>| kind.pages == Some(pages);
    results
        .iter()
        .filter(move |result| list::kinds().any(|kind| kind.name == result.name && has(kind)))
}

/// The file of a page by its place in an order.
pub(super) fn file_of(folder: &str, place: usize) -> String {
    format!("{folder}/{:04}.html", place + 1)
}

/// The file of the page of a machine. Those numbered by a place begin with a zero, and this does not.
pub(super) fn file_of_machine(id: i64) -> String {
    format!("machines/{id}.html")
}

/// The users with pages, by name; none where usage is of something else.
fn user_files(result: &Stored) -> Vec<(String, String)> {
    let answer = result.answer();
    if answer["by"] != "user" {
        return Vec::new();
    }
    let users = answer["users"].as_array().into_iter().flatten().take(PAGES_MAX).enumerate();
    let known = users.filter_map(|(place, user)| {
        Some((user["user"].as_str()?.to_owned(), file_of("users", place)))
    });
    known.collect()
}

/// The jobs, or machines, of a result that are described from close by.
pub(super) fn closeups<'a>(result: &'a Stored, what: &str) -> &'a [Value] {
    result.answer()[what].as_array().map_or(&[], Vec::as_slice)
}

fn jobs_of(results: &[Stored]) -> impl Iterator<Item = &Value> {
    of_kind(results, Pages::Jobs).flat_map(|result| closeups(result, JOBS))
}

/// The jobs with a page, by their user.
pub(super) fn jobs_by_user(results: &[Stored]) -> FxHashMap<&str, Vec<&Value>> {
    let mut all: FxHashMap<&str, Vec<&Value>> = FxHashMap::default();
    for job in jobs_of(results) {
        if let Some(user) = job["user"].as_str() {
            all.entry(user).or_default().push(job);
        }
    }
    all
}
