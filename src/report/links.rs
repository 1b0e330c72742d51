//! The links to the pages of jobs, machines and users.
//!
//! In: the results of a report. Out: the jobs, machines and users that have a page, and the file of
//! each. Files are named by numbers, so no name of a trace becomes a path.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::answers::fairness::FairnessAnswer;
use crate::answers::list;
use crate::answers::machines::MachineDetails;
use crate::answers::study::Topic;
use crate::answers::sweep::{JobDetail, JobDetails};
use crate::fairness::gather::By;
use crate::fairness::history::known_name;
use crate::results::Stored;
use crate::results::kind::{Kind, Pages};

/// The largest number of pages of users, and of pages of machines in fairness. The users or
/// machines with most CPU time have pages.
pub(super) const PAGES_MAX: usize = 100;

/// The folder of the pages of jobs.
pub(super) const JOBS: &str = "jobs";

/// The pages for the names in tables.
#[derive(Default)]
pub(crate) struct Links {
    jobs: FxHashSet<String>,
    machines: FxHashMap<String, String>,
    users: FxHashMap<String, String>,
}

impl Links {
    /// The links of a report.
    pub(super) fn of(results: &[Stored]) -> Self {
        let users = of_kind(results, Pages::Users).flat_map(user_files);
        let machines = of_kind(results, Pages::Machines);
        let machines = machines.filter_map(Stored::found::<MachineDetails>);
        let machines = machines.flat_map(|found| &found.machines).map(|own| own.machine_id);
        Self {
            jobs: jobs_of(results).map(|job| job.job_id.to_string()).collect(),
            machines: machines.map(|id| (id.to_string(), file_of_machine(id))).collect(),
            users: users.collect(),
        }
    }

    /// Whether a job has a page.
    pub(super) fn has_job(&self, id: &str) -> bool {
        self.jobs.contains(id)
    }

    /// Whether a table with this header links to pages of jobs.
    pub(super) fn are_in(&self, header: &[String]) -> bool {
        !self.jobs.is_empty() && header.iter().any(|column| column == "job_id")
    }

    /// The page for the name in a cell, if there is one.
    pub(super) fn page(&self, column: &str, cell: &str) -> Option<String> {
        match column {
            "job_id" => self.jobs.contains(cell).then(|| format!("{JOBS}/{cell}.html")),
            "machine_id" => self.machines.get(cell).cloned(),
            "user" => self.users.get(cell).cloned(),
            _ => None,
        }
    }
}

/// The results of kinds that have these pages.
pub(super) fn of_kind(results: &[Stored], pages: Pages) -> impl Iterator<Item = &Stored> {
    let has = move |kind: &Kind<'_>| kind.pages == Some(pages);
    results
        .iter()
        .filter(move |result| list::kinds().any(|kind| kind.name == result.name && has(kind)))
}

/// The page with the results of a kind, found by the name of the kind.
pub(super) fn page_of(name: &str) -> Option<&'static str> {
    let of = |topic: &'static Topic| {
        list::kinds_on(topic).any(|kind| kind.name == name).then_some(topic.file)
    };
    list::topics().into_iter().find_map(of)
}

/// The file of a page, from the position of its item in an order.
pub(super) fn file_of(folder: &str, place: usize) -> String {
    format!("{folder}/{:04}.html", place + 1)
}

/// The file of the page of a machine. An id has no leading zero, unlike the numbered files of
/// fairness.
pub(super) fn file_of_machine(id: i64) -> String {
    format!("machines/{id}.html")
}

/// The users with pages: name and file. Empty if usage is not grouped by user.
fn user_files(result: &Stored) -> Vec<(String, String)> {
    let of_users = result.found::<FairnessAnswer>().filter(|answer| answer.by == By::User);
    let users = of_users.into_iter().flat_map(|answer| &answer.users).take(PAGES_MAX).enumerate();
    let known = users.filter_map(|(place, user)| {
        Some((known_name(&user.user)?.to_owned(), file_of("users", place)))
    });
    known.collect()
}

/// The jobs with a page.
pub(super) fn jobs_of(results: &[Stored]) -> impl Iterator<Item = &JobDetail> {
    let details = of_kind(results, Pages::Jobs).filter_map(Stored::found::<JobDetails>);
    details.flat_map(|found| &found.jobs)
}

/// The jobs with a page, grouped by user.
pub(super) fn jobs_by_user(results: &[Stored]) -> FxHashMap<&str, Vec<&JobDetail>> {
    let mut all: FxHashMap<&str, Vec<&JobDetail>> = FxHashMap::default();
    for job in jobs_of(results) {
        if let Some(user) = &job.user {
            all.entry(user).or_default().push(job);
        }
    }
    all
}
