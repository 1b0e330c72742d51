//! A form for every command with an answer: its flags as fields, its answer as a job.

use hyper::StatusCode;
use maud::{Markup, html};

use super::ask::{Wrong, forms};
use super::fields::{field, label, problem, said, summary};
use super::form::Pairs;
use super::pages::{self, Reader};
use super::portal::Portal;
use super::queue::Spec;
use super::reply::{self, Reply};
use super::runner;
use super::start::titled;

/// The form of a command.
pub(super) fn show(portal: &Portal, reader: &Reader, name: &str, query: &Pairs) -> Option<Reply> {
    forms().any(|known| known == name).then(|| page(portal, reader, name, query, &[]))
}

fn page(portal: &Portal, reader: &Reader, name: &str, pairs: &Pairs, wrong: &[Wrong]) -> Reply {
    let status = if wrong.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let body = html! {
        p class="lead" { (portal.asks.about(name)) "." }
        (form(portal, reader, name, pairs, wrong))
    };
    reply::html(status, pages::page(Some(reader), "", &titled(name), &body))
}

fn form(portal: &Portal, reader: &Reader, name: &str, pairs: &Pairs, wrong: &[Wrong]) -> Markup {
    let parameters = portal.asks.parameters(name);
    let labelled = |name: &str| {
        let is_known = parameters.iter().any(|one| one.name == name);
        if name == "lake" { Some("Cluster".to_owned()) } else { is_known.then(|| label(name)) }
    };
    html! {
        (summary(wrong, labelled))
        form class="ask" method="post" action={ "/ask/" (name) } {
            (reader.token())
            fieldset id="lake" tabindex="-1" {
                legend { "Cluster" }
                (problem("lake", said(wrong, "lake")))
                div class="choices" {
                    @for (place, at) in portal.lakes.all().iter().enumerate() {
                        @let is_first = place == 0 && pairs.get("lake").is_none();
                        label class="choice" {
                            input type="radio" name="lake" value=(at.name) checked[is_first || pairs.get("lake") == Some(at.name.as_str())];
                            (at.name)
                        }
                    }
                }
            }
            div class="fields" { @for one in &parameters { (field(one, pairs, wrong)) } }
            div class="buttons" { button { "Run" } }
        }
        details { summary { "What the fields mean" }
            dl class="parameters" {
                @for one in &parameters {
                    dt { code { (one.name) } }
                    dd { (one.help) "." @if let Some(more) = &one.more { " " (more) } }
                }
            }
        }
    }
}

/// Handles a sent form: starts the job, or shows the form again with what is wrong.
pub(super) fn submit(portal: &Portal, reader: &Reader, name: &str, sent: &Pairs) -> Option<Reply> {
    if forms().all(|known| known != name) {
        return None;
    }
    let refused = |wrong: Wrong| Some(page(portal, reader, name, sent, &[wrong]));
    let lakes = match portal.lakes.chosen(sent.all("lake")) {
        Ok(lakes) if lakes.len() == 1 => lakes.iter().map(|at| at.name.clone()).collect(),
        Ok(_) => return refused(Wrong::of("lake", "choose one lake")),
        Err(said) => return refused(Wrong::of("lake", said)),
    };
    let is_own = |key: &str| matches!(key, "lake" | "form-token");
    let others = sent.filled().filter(|(key, _)| !is_own(key));
    let words = match portal.asks.words(name, others.clone()) {
        Ok(words) => words,
        Err(wrong) => return refused(wrong),
    };
    let mut kept = Pairs::default();
    sent.get("lake").into_iter().for_each(|lake| kept.push("lake", lake));
    others.for_each(|(key, value)| kept.push(key, value));
    let page = format!("/ask/{name}?{}", kept.query());
    let spec = Spec { command: name.to_owned(), lakes, words, files: Vec::new(), page };
    match runner::ask(portal, &spec) {
        Ok(id) => Some(reply::see(&format!("/jobs/{id}"))),
        Err(said) => refused(Wrong { parameter: None, said }),
    }
}
