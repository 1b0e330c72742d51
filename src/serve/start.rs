//! The first page: the lakes, and the questions that can be asked about them.

use maud::{Markup, html};

use super::ask::{answers, forms};
use super::form::encoded;
use super::guide;
use super::pages::{self, Reader};
use super::portal::Portal;
use crate::digits::grouped;
use crate::report::instant;
use crate::schema::Table;

/// The first page.
pub(super) fn page(portal: &Portal, reader: &Reader) -> Markup {
    let body = html! {
        p class="lead" { "Who used how much of these clusters, when, and was it fair?" }
        (lakes(portal))
        h2 { "Ask" }
        ul class="ways" {
            li { a href="/fairness" { (guide::question("fairness")) } " Built-in indices, or your own: a template, a formula or a program." }
            li { a href="/find" { "What became of one job, user or machine?" } }
            @for name in forms() {
                li { a href={ "/ask/" (name) } { (guide::question(name)) } (cannot(portal, name)) }
            }
            @if reader.has_report { li { a href="/report/index.html" { "The report" } " of the stored results." } }
        }
        p class="source" { code { "verify" } " (which checks the data) and " code { "reproduce" } " (which compares published results) also read files that the portal does not serve: its operator runs them on the command line." }
    };
    pages::page(Some(reader), "/", "Lakes", &body)
}

/// The lakes that cannot answer a command, shown in grey after its question.
fn cannot(portal: &Portal, name: &str) -> Markup {
    let all = portal.lakes.all();
    let why: Vec<(String, String)> = all
        .iter()
        .filter_map(|at| Some((at.name.clone(), guide::unanswerable(name, &at.now())?)))
        .collect();
    html! {
        @for (lake, why) in &why { span class="grey" { " Not for " (lake) ": " (why) "." } }
    }
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
                th scope="col" { "Cluster" }
                th scope="col" { "Format" }
                th scope="col" { "From" }
                th scope="col" { "Until" }
                th scope="col" class="number" { "Days" }
                @for title in ["Events of jobs", "Events of tasks"] {
                    th scope="col" class="number" { (title) }
                }
                th scope="col" { "Tables" }
            } }
            tbody {
                @for at in portal.lakes.all() {
                    @let now = at.now();
                    @let rows = |of: Table| now.rows.iter().find(|(table, _)| *table == of).map(|found| found.1);
                    tr {
                        td { a href={ "/fairness?lake=" (encoded(&at.name)) } { (at.name) } }
                        td { (now.source) }
                        @match now.clock {
                            Some([first, last]) => {
                                td { (instant(first)) } td { (instant(last)) }
                                td class="number" { (format!("{:.1}", (last - first) / 86_400.0)) }
                            }
                            None => { td {} td {} td {} }
                        }
                        @for table in [Table::JobEvents, Table::TaskEvents] {
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
            a href="/api/openapi.json" { "OpenAPI document" } ". A request names the lake and the parameters: "
            code { "curl 'http://HOST/api/classify?lake=" (portal.lakes.all().first().map_or("NAME", |at| at.name.as_str())) "'" }
            "; a portal with a token also needs the header " code { "Authorization: Bearer TOKEN" } "."
        }
        @for name in answers() {
            section {
                h2 id=(name) { code { "/api/" (name) } }
                p { (guide::question(name)) " " (portal.asks.about(name)) "." }
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
