//! The first page: the lakes, and the questions that can be asked about them.

use maud::{Markup, html};

use super::ask::{answers, forms};
use super::form::encoded;
use super::pages::{self, Reader};
use super::portal::Portal;
use crate::digits::grouped;
use crate::schema::Table;

/// The first page.
pub(super) fn page(portal: &Portal, reader: &Reader) -> Markup {
    let body = html! {
        p class="lead" { "Who used how much of these clusters, when, and was it fair?" }
        (lakes(portal))
        h2 { "Ask" }
        ul class="ways" {
            li { a href="/fairness" { "Fairness" } " of users or groups, by built-in indices or your own: a template, a formula or a program." }
            li { a href="/find" { "Search" } " for a job, a user or a machine." }
            @for name in forms() {
                li { a href={ "/ask/" (name) } { (titled(name)) } ": " (portal.asks.about(name)) "." }
            }
            li { "Checks of a lake (" code { "verify" } ") and published results (" code { "reproduce" } ") read files beside it; the operator runs these commands." }
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
                @for title in ["Job events", "Days of job events", "Task events", "Days of task events"] {
                    th scope="col" class="number" { (title) }
                }
                th scope="col" { "Tables" }
            } }
            tbody {
                @for at in portal.lakes.all() {
                    @let now = at.now();
                    @let rows = |of: Table| now.rows.iter().find(|(table, _)| *table == of).map(|found| found.1);
                    @let days = |of: Table| now.spans.iter().find(|(table, _)| *table == of).map(|found| found.1 / 86_400.0);
                    tr {
                        td { a href={ "/fairness?lake=" (encoded(&at.name)) } { (at.name) } }
                        td { (now.source) }
                        @for table in [Table::JobEvents, Table::TaskEvents] {
                            td class="number" { @if let Some(rows) = rows(table) { (grouped(rows)) } }
                            td class="number" { @if let Some(days) = days(table) { (format!("{days:.1}")) } }
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
        @for name in answers() {
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
