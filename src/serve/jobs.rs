//! Jobs: the list, the page of a job, and its actions. Pages call them questions, because readers
//! use the word job for jobs of the cluster.

use hyper::StatusCode;
use maud::{Markup, html};

use super::answers;
use super::fields::label;
use super::form::Pairs;
use super::guide;
use super::pages::{self, Reader};
use super::portal::Portal;
use super::queue::{Job, Phase, Spec};
use super::reply::{self, Reply};
use super::runner;
use super::state::is_id;

/// The list of jobs.
pub(super) fn list(portal: &Portal, reader: &Reader) -> Markup {
    let all = portal.queue.all();
    let [waiting, running] = portal.queue.open();
    let body = html! {
        p class="lead" {
            (running) " running, " (waiting) " waiting; at most " (portal.limits.workers) " at once."
        }
        div id="live" data-jobs="all" {
            @if all.is_empty() { p { "No question has been asked yet." } } @else { (table(portal, &all)) }
        }
    };
    pages::page(Some(reader), "/jobs", "Questions", &body)
}

/// Flags that the portal adds itself.
const ADDED: [&str; 2] = ["--what-if", "--time-limit="];

/// What a reader has chosen, in the words of the form: `Index: metered`.
fn chosen(spec: &Spec) -> String {
    let is_added = |word: &&String| ADDED.iter().any(|added| word.starts_with(added));
    let flag = |word: &str| {
        let (name, value) = word.split_once('=').unwrap_or((word, "yes"));
        // The path of a program is the operator's.
        let value = match name {
            "--index-program" => value.split_once('=').map_or(value, |(own, _)| own),
            _ => value,
        };
        (label(name.trim_start_matches('-')), value.to_owned())
    };
    let words = spec.words.iter().filter(|word| !is_added(word)).map(|word| flag(word));
    let files = spec.files.iter().map(|file| (flag(&file.flag).0, file.title().to_owned()));
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for (name, value) in words.chain(files) {
        match all.iter_mut().find(|(known, _)| *known == name) {
            Some((_, values)) => values.push(value),
            None => all.push((name, vec![value])),
        }
    }
    let said = all.into_iter().map(|(name, values)| format!("{name}: {}", values.join(", ")));
    said.collect::<Vec<String>>().join("; ")
}

fn table(portal: &Portal, all: &[(String, Job)]) -> Markup {
    html! {
        div class="table" { table class="data" {
            caption { "Questions, the newest first" }
            thead { tr { th scope="col" { "Question" } th scope="col" { "Clusters" } th scope="col" { "State" }
                th scope="col" class="number" { "Seconds" } th scope="col" { "Asked (UTC)" } th scope="col" { "Choices" } } }
            tbody {
                @for (id, job) in all {
                    @let record = &job.record;
                    tr {
                        td { a href={ "/jobs/" (id) } { (super::start::titled(&record.spec.command)) } }
                        td {
                            (record.spec.lakes.join(", "))
                            @let gone = portal.lakes.gone(&record.spec.lakes);
                            @if !gone.is_empty() { " (no longer served: " (gone.join(", ")) ")" }
                        }
                        td {
                            (record.phase.word())
                            @if record.phase == Phase::Waiting { " " (answers::waits(portal, id)) }
                        }
                        @match record.took_s {
                            Some(took) => td class="number" data-value=(took) { (format!("{took:.1}")) },
                            None => td {},
                        }
                        td { (crate::digits::utc(record.asked_s)) }
                        td { (chosen(&record.spec)) }
                    }
                }
            }
        } }
    }
}

/// The page of a job.
pub(super) async fn show(portal: &Portal, reader: &Reader, id: &str) -> Reply {
    let job = is_id(id).then(|| portal.queue.get(id)).flatten();
    let Some(job) = job else {
        let said = "This question is no longer kept.";
        return pages::problem(Some(reader), StatusCode::NOT_FOUND, "Not found", said);
    };
    let spec = &job.record.spec;
    let title = format!("{} of {}", super::start::titled(&spec.command), spec.lakes.join(", "));
    let body = html! {
        p class="lead" { (guide::question(&spec.command)) " " a href=(spec.page) { "Change the question" } }
        section id="answer" { (answers::live(portal, reader, id, &job).await) }
    };
    reply::html(StatusCode::OK, pages::page(Some(reader), "/jobs", &title, &body))
}

/// Cancels a job, or runs it again.
pub(super) fn act(portal: &Portal, reader: &Reader, id: &str, sent: &Pairs) -> Reply {
    let job = is_id(id).then(|| portal.queue.get(id)).flatten();
    let Some(job) = job else {
        let said = "This question is no longer kept.";
        return pages::problem(Some(reader), StatusCode::NOT_FOUND, "Not found", said);
    };
    match sent.get("action") {
        Some("cancel") => runner::cancel(portal, id),
        Some("again") => {
            if let Err(said) = runner::ask(portal, &job.record.spec) {
                let status = StatusCode::SERVICE_UNAVAILABLE;
                return pages::problem(Some(reader), status, "Not now", &said);
            }
        }
        _ => {}
    }
    match job.record.spec.command.as_str() {
        "fairness" => reply::see(&job.record.spec.page),
        _ => reply::see(&format!("/jobs/{id}")),
    }
}
