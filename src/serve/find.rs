//! Search: a job, a user or a machine by its id, with its events and attempts.
//!
//! In: a lake, a kind and an id. Out: the page with what `look` finds.

use hyper::StatusCode;
use maud::{Markup, PreEscaped, html};

use super::attempts::Row;
use super::beside::{self, Beside};
use super::form::{Pairs, encoded};
use super::lakes::At;
use super::look::{Found, TIME, look};
use super::near;
use super::pages::{self, Reader};
use super::portal::Portal;
use super::reply::{self, Reply};
use super::start::titled;
use crate::digits::grouped;
use crate::progress;
use crate::report::clock;
use crate::report::html::{Cell, table};

/// What can be searched for.
const KINDS: [&str; 3] = ["job", "user", "machine"];

/// The page of a search.
pub(super) async fn show(portal: &Portal, reader: &Reader, query: &Pairs) -> Reply {
    let id = query.get("id").map(str::trim).unwrap_or_default().to_owned();
    let what = query.get("what").filter(|what| KINDS.contains(what)).unwrap_or("job").to_owned();
    let lake = match portal.lakes.chosen(query.get("lake").into_iter()) {
        Ok(lakes) => lakes[0],
        Err(said) => {
            let title = "Not found";
            return pages::problem(Some(reader), StatusCode::NOT_FOUND, title, &said);
        }
    };
    let form = form(portal, &lake.name, &what, &id);
    let found = if query.get("list").is_some() {
        names_of(portal, lake, &what, None).await
    } else if id.is_empty() {
        html! {}
    } else {
        let (version, name) = (lake.now(), lake.name.clone());
        let Ok(place) = portal.looks.acquire().await else { return reply::busy("stopping") };
        let (wanted, of) = (id.clone(), what.clone());
        let look = move || look(&version.path, &of, &wanted);
        let looked = tokio::task::spawn_blocking(look).await;
        // The search for similar names waits for its own permit.
        drop(place);
        match looked {
            Ok(Ok(found)) => {
                let is_user = what == "user" && !found.is_empty();
                let beside = beside::of_user(portal, reader, (&name, &id), is_user).await;
                let shown = shown(&found, &beside, (name.as_str(), what.as_str(), id.as_str()));
                let is_unknown = what != "job" && found.is_empty();
                let near = if is_unknown {
                    Some(names_of(portal, lake, &what, Some(&id)).await)
                } else {
                    None
                };
                html! { (shown) @if let Some(near) = near { (near) } }
            }
            Ok(Err(error)) => html! { p class="wrong" { (error) } },
            Err(_) => html! { p class="wrong" { "The search failed." } },
        }
    };
    let body = html! { (form) (found) };
    reply::html(StatusCode::OK, pages::page(Some(reader), "/find", "Search", &body))
}

/// The users or machines of a lake: those with names similar to a given one, or a list.
async fn names_of(portal: &Portal, lake: &At, what: &str, near_to: Option<&str>) -> Markup {
    let version = lake.now();
    let Ok(_place) = portal.looks.acquire().await else { return html! {} };
    let wanted = what.to_owned();
    let look = move || near::known(&version.path, &wanted, progress::now() + TIME);
    let cut = |is_cut| {
        html! { @if is_cut { p { "The search took too long and was ended: there may be others." } } }
    };
    match (tokio::task::spawn_blocking(look).await, near_to) {
        (Ok(Ok(known)), Some(name)) => {
            html! { (near::suggested(&lake.name, name, &known)) (cut(known.is_cut)) }
        }
        (Ok(Ok(known)), None) => {
            html! { (near::list(&lake.name, &known)) (cut(known.is_cut)) }
        }
        (Ok(Err(error)), _) => html! { p class="wrong" { (error) } },
        (Err(_), _) => html! { p class="wrong" { "The search failed." } },
    }
}

fn form(portal: &Portal, lake: &str, what: &str, id: &str) -> Markup {
    html! {
        form class="ask" method="get" action="/find" {
            div class="fields" {
                div class="field" {
                    label for="lake" { "Cluster" }
                    select id="lake" name="lake" {
                        @for at in portal.lakes.all() { option value=(at.name) selected[at.name == lake] { (at.name) } }
                    }
                }
                div class="field" {
                    label for="what" { "Search for" }
                    select id="what" name="what" { @for kind in KINDS { option value=(kind) selected[kind == what] { (kind) } } }
                }
                div class="field" {
                    label for="id" { "Id or name" }
                    input id="id" name="id" value=(id) maxlength="500" autocomplete="off" required;
                }
            }
            div class="buttons" { button { "Search" } }
            p class="help" {
                "You do not know a name?"
                @for what in ["user", "machine"] {
                    " " (titled(what)) "s of"
                    @for at in portal.lakes.all() {
                        " " a href=(near::list_of(&at.name, what)) { (at.name) }
                    }
                    "."
                }
            }
        }
    }
}

fn shown(found: &Found, beside: &Beside, (lake, what, id): (&str, &str, &str)) -> Markup {
    let page = html! {
        h2 { (titled(what)) " " (id) }
        @if found.is_empty() { p { "The trace " (lake) " has no " (what) " with this id." } }
        @if found.is_cut { p class="wrong" { "The search was stopped after " (TIME.as_secs()) " s: rows may be missing." } }
        @if let Some(said) = &found.failed { p class="wrong" { (said) } }
        (PreEscaped(&found.drawings))
        (beside.part)
        @for (caption, header, rows, count) in &found.tables {
            @if !rows.is_empty() { (PreEscaped(rows_table(caption, header, rows, *count, lake))) }
        }
    };
    match &beside.job {
        Some((job, phase)) => html! { div id="live" data-job=(job) data-phase=(phase) { (page) } },
        None => page,
    }
}

/// A table in which jobs, users and machines link to their own pages.
fn rows_table(caption: &str, header: &[String], rows: &[Row], count: usize, lake: &str) -> String {
    let caption = if rows.len() < count {
        format!("{caption}: the first {} of {}", grouped(rows.len() as u64), grouped(count as u64))
    } else {
        caption.to_owned()
    };
    let cell = |name: &str, text: &str| {
        let kind = name.trim_end_matches("_id");
        if KINDS.contains(&kind) && !text.is_empty() {
            let to = format!("/find?lake={}&what={kind}&id={}", encoded(lake), encoded(text));
            return Cell::link(text, &to);
        }
        match name {
            _ if name.ends_with("_s") => Cell::instant(text.parse().ok()),
            "events" => Cell::of(text),
            _ => Cell::name(text),
        }
    };
    // A column without any value is left out.
    let is_known = |column: &usize| rows.iter().any(|row| !row.2[*column].is_empty());
    let known: Vec<usize> = (0..header.len()).filter(is_known).collect();
    let cells: Vec<Vec<Cell>> = rows
        .iter()
        .map(|row| known.iter().map(|&column| cell(&header[column], &row.2[column])).collect())
        .collect();
    let first = known.iter().find(|&&column| header[column].ends_with("_s"));
    let clock = first.map_or("", |&column| clock(rows[0].2[column].parse().ok()));
    let caption = if clock.is_empty() { caption } else { format!("{caption} ({clock})") };
    let names: Vec<String> =
        known.iter().map(|&column| header[column].trim_end_matches("_s").to_owned()).collect();
    table(&caption, &names, &cells)
}
