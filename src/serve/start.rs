//! The first page: the lakes, and the questions that can be asked about them.

use maud::{Markup, html};

use super::ask::{ANSWERS, FORMS};
use super::form::encoded;
use super::pages::{self, Reader};
use super::portal::Portal;
use crate::digits::grouped;

/// The first page.
pub(super) fn page(portal: &Portal, reader: &Reader) -> Markup {
    let body = html! {
        p class="lead" { "Who used how much of these clusters, when, and was it fair?" }
        (lakes(portal))
        h2 { "Ask" }
        ul class="ways" {
            li { a href="/fairness" { "Fairness" } " of users or groups, by built-in indices or your own: a template, a formula or a program." }
            li { a href="/find" { "Search" } " for a job, a user or a machine." }
            @for name in FORMS {
                li { a href={ "/ask/" (name) } { (titled(name)) } ": " (portal.asks.about(name)) "." }
            }
            @if reader.has_report { li { a href="/report/index.html" { "Report" } " of the stored results." } }
        }
    };
    pages::page(Some(reader), "/", "Lakes", &body)
}

/// A name with a capital first letter.
pub(super) fn titled(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn lakes(portal: &Portal) -> Markup {
    html! {
        div class="table" { table class="data" {
            caption { "Clusters" }
            thead { tr {
                th scope="col" { "Lake" }
                th scope="col" { "Trace" }
                th scope="col" class="number" { "Days" }
                th scope="col" class="number" { "Job events" }
                th scope="col" class="number" { "Task events" }
                th scope="col" { "Tables" }
            } }
            tbody {
                @for at in portal.lakes.all() {
                    @let now = at.now();
                    @let rows = |name: &str| now.rows.iter().find(|(table, _)| table.to_string() == name).map(|found| found.1);
                    tr {
                        td { a href={ "/fairness?lake=" (encoded(&at.name)) } { (at.name) } }
                        td { (now.source) }
                        @match now.hours {
                            Some((first, last)) => td class="number" { (format!("{:.1}", (last - first) / 86_400.0)) },
                            None => td {},
                        }
                        @for table in ["job_events", "task_events"] {
                            td class="number" { @if let Some(rows) = rows(table) { (grouped(rows)) } }
                        }
                        td { (now.rows.iter().map(|(table, _)| table.to_string()).collect::<Vec<_>>().join(", ")) }
                    }
                }
            }
        } }
    }
}

/// The page of the API.
pub(super) fn api(portal: &Portal, reader: &Reader) -> Markup {
    let body = html! {
        p class="lead" {
            "Every answer is JSON, as its command prints it with " code { "--format json" } ". "
            a href="/api/openapi.json" { "OpenAPI document" } "."
        }
        @for name in ANSWERS {
            section {
                h2 id=(name) { a href={ "/api/" (name) } { "/api/" (name) } }
                p { (portal.asks.about(name)) "." }
                details {
                    summary { "Parameters" }
                    dl class="parameters" {
                        dt { code { "lake" } } dd { "The lake; by default the first." }
                        @for parameter in portal.asks.parameters(name) {
                            dt { code { (parameter.name) } }
                            dd { (parameter.help) "." @if let Some(more) = &parameter.more { " " (more) } }
                        }
                    }
                }
            }
        }
    };
    pages::page(Some(reader), "/api", "API", &body)
}
