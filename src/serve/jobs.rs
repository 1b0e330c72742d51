//! Jobs: the list, the page of a job, and its actions.

use hyper::StatusCode;
use maud::{Markup, html};

use super::answers;
use super::form::Pairs;
use super::pages::{self, Reader};
use super::portal::Portal;
use super::queue::Job;
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
            @if all.is_empty() { p { "No question was asked yet." } } @else { (table(&all)) }
        }
    };
    pages::page(Some(reader), "/jobs", "Jobs", &body)
}

fn table(all: &[(String, Job)]) -> Markup {
    html! {
        div class="table" { table class="data" {
            caption { "Questions, the newest first" }
            thead { tr { th scope="col" { "Question" } th scope="col" { "Lakes" } th scope="col" { "State" }
                th scope="col" class="number" { "Seconds" } th scope="col" { "Asked (UTC)" } th scope="col" { "Flags" } } }
            tbody {
                @for (id, job) in all {
                    @let record = &job.record;
                    tr {
                        td { a href={ "/jobs/" (id) } { (record.spec.command) } }
                        td { (record.spec.lakes.join(", ")) }
                        td { (record.phase.word()) }
                        @match record.took_s {
                            Some(took) => td class="number" data-value=(took) { (format!("{took:.1}")) },
                            None => td {},
                        }
                        td { (utc(record.asked_s)) }
                        td { (record.spec.words.join(" ")) @for file in &record.spec.files { " " (file.flag) (file.field) } }
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
        let said = "This job is no longer kept.";
        return pages::problem(Some(reader), StatusCode::NOT_FOUND, "Not found", said);
    };
    let spec = &job.record.spec;
    let title = format!("{} of {}", super::start::titled(&spec.command), spec.lakes.join(", "));
    let body = html! {
        p class="lead" { a href=(spec.page) { "Change the question" } }
        section id="answer" { (answers::live(portal, reader, id, &job).await) }
    };
    reply::html(StatusCode::OK, pages::page(Some(reader), "/jobs", &title, &body))
}

/// Cancels a job, or has it worked on again.
pub(super) fn act(portal: &Portal, reader: &Reader, id: &str, sent: &Pairs) -> Reply {
    let job = is_id(id).then(|| portal.queue.get(id)).flatten();
    let Some(job) = job else {
        let said = "This job is no longer kept.";
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

/// Seconds since 1970 as a date and a time.
fn utc(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days since 0000-03-01, in years that begin in March (Hinnant, "chrono-compatible low-level
    // date algorithms").
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}",
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(utc(0), "1970-01-01 00:00:00");
        assert_eq!(utc(951_782_400), "2000-02-29 00:00:00");
        assert_eq!(utc(1_795_412_345), "2026-11-23 05:39:05");
    }
}
