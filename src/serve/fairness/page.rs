//! The fairness page: the form, and above it the answer to the question in the address.
//!
//! In: an address, or a sent form. Out: a page; after a form, a redirect to an address that
//! contains the whole question and can be shared. Opening an address starts nothing; only a form
//! does.

use hyper::StatusCode;
use maud::{Markup, html};

use super::own::{self, Saved};
use super::{KEPT, canonical, form, question};
use crate::serve::answers;
use crate::serve::ask::Wrong;
use crate::serve::form::Pairs;
use crate::serve::guide;
use crate::serve::pages::{self, Reader};
use crate::serve::portal::Portal;
use crate::serve::queue::Spec;
use crate::serve::reply::{self, Reply};
use crate::serve::runner;
use crate::serve::state::id_of;

/// The introduction of the page.
const LEAD: &str = "Choose clusters, a window and indices, or enter a custom index; then compare the users under each index.";

/// The page of an address.
pub(in crate::serve) async fn show(portal: &Portal, reader: &Reader, query: &Pairs) -> Reply {
    if let Some(id) = query.get("load") {
        let saved: Option<Saved> = portal.saved.get(id);
        let Some(saved) = saved else {
            let said = "This index is no longer saved.";
            return pages::problem(Some(reader), StatusCode::NOT_FOUND, "Not found", said);
        };
        let form = form::form(portal, reader, &saved.pairs(), &[]);
        return page(StatusCode::OK, reader, &html! { (form) });
    }
    let is_asked = canonical(query).filled().any(|(name, _)| name != "lake");
    if !is_asked {
        let form = form::form(portal, reader, query, &[]);
        return page(StatusCode::OK, reader, &html! { p class="lead" { (LEAD) } (form) });
    }
    let spec = match question(portal, query) {
        Ok(spec) => spec,
        Err(wrong) => {
            let form = form::form(portal, reader, query, &wrong);
            let body = html! { (form::mistakes(portal, &wrong)) (form) };
            return page(StatusCode::BAD_REQUEST, reader, &body);
        }
    };
    let id = runner::id_of_spec(&spec);
    let job = portal.queue.get(&id);
    let mut wrong = Vec::new();
    if let Some(said) = job.as_ref().and_then(|job| job.record.error.as_deref()) {
        wrong.push(placed(said));
    }
    // The index that was saved last is the last one that is selected.
    let kept = query.get(KEPT).and_then(|_| portal.saved.get(query.all("saved").last()?));
    let answer = if let Some(job) = &job {
        answers::live(portal, reader, &id, job).await
    } else if kept.is_some() {
        html! {}
    } else {
        html! { p { "Not evaluated yet." } }
    };
    let body = html! {
        @if let Some(saved) = &kept { (is_saved(saved)) }
        section id="answer" {
            (answer)
        }
        details open[job.is_none() || !wrong.is_empty()] class="change" {
            summary { "Change the question" }
            (form::form(portal, reader, query, &wrong))
        }
    };
    let body = html! { p class="lead" { (guide::question("fairness")) } (body) };
    let whole = pages::page(Some(reader), "/fairness", &title(&spec), &body);
    reply::html(StatusCode::OK, whole)
}

/// The title of an answer: clusters and indices, so that open pages can be distinguished.
fn title(spec: &Spec) -> String {
    let of_words = spec.words.iter().filter_map(|word| {
        let index = word.strip_prefix("--index=").or(word.strip_prefix("--index-program="))?;
        Some(index.split([':', '=']).next().unwrap_or_default().to_owned())
    });
    let of_files = spec.files.iter().filter(|file| file.flag != "--accounts=");
    let mut indices: Vec<String> =
        of_words.chain(of_files.map(|file| file.title().to_owned())).collect();
    indices.dedup();
    let by = if indices.is_empty() { String::new() } else { format!(": {}", indices.join(", ")) };
    format!("Fairness of {}{by}", spec.lakes.join(" and "))
}

/// Handles a sent form: asks the question, or saves the index.
pub(in crate::serve) fn submit(portal: &Portal, reader: &Reader, sent: &Pairs) -> Reply {
    let refused = |wrong: &[Wrong]| {
        let form = form::form(portal, reader, sent, wrong);
        let body = html! { (form::mistakes(portal, wrong)) (form) };
        page(StatusCode::UNPROCESSABLE_ENTITY, reader, &body)
    };
    if sent.get("action") == Some("save") {
        return match save(portal, sent) {
            Ok(mut pairs) => {
                pairs.push(KEPT, "yes");
                reply::see(&format!("/fairness?{}", pairs.query()))
            }
            Err(wrong) => refused(&wrong),
        };
    }
    let spec = match question(portal, sent) {
        Ok(spec) => spec,
        Err(wrong) => return refused(&wrong),
    };
    match runner::ask(portal, &spec) {
        Ok(_) => reply::see(&with_something(&spec.page)),
        Err(said) => refused(&[Wrong { parameter: None, said }]),
    }
}

/// The message that an index is saved, and what the user can do with it.
fn is_saved(saved: &Saved) -> Markup {
    html! {
        p class="kept" role="status" {
            "Your index is saved as " b { (saved.name) } ". It is selected below under \"Saved indices\": choose \
            further indices and press \"Evaluate\". Everyone who can open this portal can select it."
        }
    }
}

/// Adds a field to an address that has only clusters; otherwise the page would show an empty form.
fn with_something(page: &str) -> String {
    let query = page.split_once('?').map_or("", |(_, query)| query);
    let pairs = Pairs::read(query).unwrap_or_default();
    if pairs.filled().any(|(name, _)| name != "lake") {
        return page.to_owned();
    }
    let join = if query.is_empty() { "" } else { "&" };
    format!("{page}{join}own-kind=none")
}

/// Saves the entered index; returns the fields of an address that selects it.
fn save(portal: &Portal, sent: &Pairs) -> Result<Pairs, Vec<Wrong>> {
    if !own::is_entered(sent) {
        return Err(vec![Wrong::of(own::KIND, "enter an index: there is nothing to save")]);
    }
    own::read(&portal.programs, sent)?;
    let name = own::name(sent).map_err(|bad| vec![bad])?;
    let id = id_of(name);
    let saved = Saved::of(name, sent);
    let known: Option<Saved> = portal.saved.get(&id);
    if known.is_some_and(|known| known != saved) && sent.get("replace").is_none() {
        let said = "another index is saved under this name: choose another name, or tick `Replace`";
        return Err(vec![Wrong::of(own::NAME, said)]);
    }
    portal.state.put_index(&id, &saved).map_err(|error| {
        vec![Wrong { parameter: None, said: format!("it could not be saved: {error}") }]
    })?;
    portal.saved.put(&id, saved);
    let mut kept = Pairs::default();
    for (field, value) in canonical(sent).filled().filter(|(field, _)| !own::is_field(field)) {
        if !(field == "saved" && value == id) {
            kept.push(field, value);
        }
    }
    kept.push("saved", &id);
    Ok(kept)
}

/// An error of the command, at the field that it is about.
fn placed(said: &str) -> Wrong {
    let flag = said.strip_prefix("--").and_then(|rest| rest.split([' ', ',', ':']).next());
    let parameter = match flag {
        Some(flag) => Some(flag.to_owned()),
        None if said.contains("your shares") => Some(super::SHARES.to_owned()),
        None => None,
    };
    Wrong { parameter, said: said.to_owned() }
}

fn page(status: StatusCode, reader: &Reader, body: &Markup) -> Reply {
    reply::html(status, pages::page(Some(reader), "/fairness", "Fairness", body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::queue::Text;

    #[test]
    fn a_title_names_clusters_and_indices() {
        let words = ["--index=metered", "--index=condor:half_life_s=21600", "--index=condor"];
        let file = |flag: &str, field: &str| Text {
            field: field.to_owned(),
            flag: flag.to_owned(),
            content: String::new(),
        };
        let mut spec = Spec {
            command: "fairness".to_owned(),
            lakes: vec!["one".to_owned(), "two".to_owned()],
            words: words.map(str::to_owned).into(),
            files: vec![
                file("--accounts=", "your shares"),
                file("--formula=My budget=", "your formula"),
            ],
            page: String::new(),
        };
        assert_eq!(title(&spec), "Fairness of one and two: metered, condor, My budget");
        (spec.words, spec.files) = Default::default();
        assert_eq!(title(&spec), "Fairness of one and two");
    }
}
