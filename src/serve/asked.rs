//! A form for every command with an answer. Its flags are the fields, and its answer is a job.

use hyper::StatusCode;
use maud::{Markup, html};

use super::ask::{Parameter, Wrong, forms};
use super::fields::{guided, in_a_form, label, problem, said, summary};
use super::form::Pairs;
use super::guide;
use super::lakes::At;
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
        p class="lead" { (guide::question(name)) " " (in_a_form(&portal.asks.about(name))) "." }
        (form(portal, reader, name, pairs, wrong))
    };
    reply::html(status, pages::page(Some(reader), "", &titled(name), &body))
}

fn form(portal: &Portal, reader: &Reader, name: &str, pairs: &Pairs, wrong: &[Wrong]) -> Markup {
    let lake = pairs.get("lake").and_then(|name| portal.lakes.find(name));
    let parameters = parameters(portal, name, lake.or(portal.lakes.all().first()));
    let labelled = |name: &str| {
        let is_known = parameters.iter().any(|one| one.name == name);
        if name == "lake" { Some("Cluster".to_owned()) } else { is_known.then(|| label(name)) }
    };
    let (basic, advanced): (Vec<Parameter>, Vec<Parameter>) =
        parameters.iter().cloned().partition(|one| guide::is_basic(name, &one.name));
    let fields = |some: &[Parameter]| {
        html! {
            div class="fields" {
                @for one in some { (guided(one, pairs, wrong, guide::examples(name, &one.name))) }
            }
        }
    };
    // A folded field with a value or a mistake would be overlooked.
    let is_open = advanced
        .iter()
        .any(|one| pairs.get(&one.name).is_some() || said(wrong, &one.name).is_some());
    html! {
        (summary(wrong, labelled))
        form class="ask" method="post" action={ "/ask/" (name) } {
            (reader.token())
            (clusters(portal, name, pairs, wrong))
            (fields(&basic))
            @if !advanced.is_empty() {
                details class="advanced" open[is_open] { summary { "Advanced" } (fields(&advanced)) }
            }
            div class="buttons" { button { "Run" } }
        }
        details { summary { "What the fields mean" }
            dl class="parameters" {
                @for one in &parameters {
                    dt { (label(&one.name)) }
                    dd { (in_a_form(&one.help)) "." @if let Some(more) = &one.more { " " (in_a_form(more)) } }
                }
            }
        }
    }
}

/// The fields of a form. The default policies are those of the lake's kind of trace.
fn parameters(portal: &Portal, name: &str, lake: Option<&At>) -> Vec<Parameter> {
    let mut all = portal.asks.parameters(name);
    for one in all.iter_mut().filter(|one| one.name == "policies" && one.default.is_none()) {
        one.default = lake.map(|at| at.now().policies.clone());
    }
    all
}

/// The choice of a lake; one that cannot answer is grey, with the reason.
fn clusters(portal: &Portal, name: &str, pairs: &Pairs, wrong: &[Wrong]) -> Markup {
    let all: Vec<(&At, Option<String>)> =
        portal.lakes.all().iter().map(|at| (at, guide::unanswerable(name, &at.now()))).collect();
    let usual = all.iter().find(|(_, why)| why.is_none()).map(|(at, _)| at.name.as_str());
    // A form that was sent without a cluster is shown as it was sent.
    let chosen = pairs.get("lake").or(usual.filter(|_| said(wrong, "lake").is_none()));
    html! {
        fieldset id="lake" tabindex="-1" {
            legend { "Cluster" }
            (problem("lake", said(wrong, "lake")))
            div class="choices" {
                @for (at, why) in &all {
                    label class="choice" {
                        input type="radio" name="lake" value=(at.name) disabled[why.is_some()]
                            checked[why.is_none() && chosen == Some(at.name.as_str())];
                        span class=[why.is_some().then_some("grey")] {
                            (at.name) @if let Some(why) = why { " (cannot be asked: " (why) ")" }
                        }
                    }
                }
            }
            @if usual.is_none() { p class="help" { "No cluster of this portal can answer this question." } }
        }
    }
}

/// Handles a sent form: starts the job, or shows the form again with what is wrong.
pub(super) fn submit(portal: &Portal, reader: &Reader, name: &str, sent: &Pairs) -> Option<Reply> {
    if forms().all(|known| known != name) {
        return None;
    }
    let refused = |wrong: Wrong| Some(page(portal, reader, name, sent, &[wrong]));
    if let Some(said) = portal.lakes.unnamed(sent.get("lake")) {
        return refused(Wrong::of("lake", said));
    }
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
