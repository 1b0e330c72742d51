//! The indices of a user next to those of the other users, on the page of the user.
//!
//! In: a lake and a user. Out: the charts of the report, from the answer to the usual question
//! about the lake, or a form that asks this question if it has not been asked yet. Opening a page
//! starts nothing.

use hyper::StatusCode;
use maud::{Markup, PreEscaped, html};

use super::answers::{read, state};
use super::fairness::question;
use super::form::{Pairs, encoded};
use super::pages::{self, Reader};
use super::portal::Portal;
use super::queue::{Job, Spec};
use super::reply::{self, Reply};
use super::runner;
use crate::report::fairness::user_beside;

/// The indices that are drawn: usage so far, and the priority with a half-life.
const INDICES: [&str; 2] = ["metered", "condor"];

/// The usual question about a lake.
fn usual(portal: &Portal, lake: &str) -> Result<Spec, String> {
    let mut pairs = Pairs::default();
    pairs.push("lake", lake);
    for index in INDICES {
        pairs.push("use", index);
    }
    let first = |wrong: Vec<super::ask::Wrong>| wrong.first().map(|bad| bad.said.clone());
    question(portal, &pairs).map_err(|wrong| first(wrong).unwrap_or_default())
}

/// The address of the page of a user.
fn page_of(lake: &str, user: &str) -> String {
    format!("/find?lake={}&what=user&id={}", encoded(lake), encoded(user))
}

/// A part of the page of a user, and the job that it is made from. When the job changes, the whole
/// page is updated, since its scripts read all of its tables.
pub(super) struct Beside {
    pub part: Markup,
    /// Its id and its phase.
    pub job: Option<(String, &'static str)>,
}

impl Beside {
    fn alone(part: Markup) -> Self {
        Self { part, job: None }
    }
}

/// The part for the page of a user; empty on other pages.
pub(super) async fn of_user(
    portal: &Portal,
    reader: &Reader,
    (lake, user): (&str, &str),
    is_user: bool,
) -> Beside {
    if !is_user {
        return Beside::alone(html! {});
    }
    let spec = match usual(portal, lake) {
        Ok(spec) => spec,
        Err(said) => return Beside::alone(html! { p class="wrong" { (said) } }),
    };
    let id = runner::id_of_spec(&spec);
    let heading = html! { h2 { "Usage and indices of this user and of the others" } };
    let Some(job) = portal.queue.get(&id) else {
        return Beside::alone(html! {
            (heading)
            p { "They are shown here after the usage of all users of " (lake) " has been evaluated." }
            form class="buttons" method="post" action="/find" {
                (reader.token())
                input type="hidden" name="lake" value=(lake);
                input type="hidden" name="id" value=(user);
                button { "Evaluate" }
            }
        });
    };
    let drawn = drawn(portal, &id, &job, user).await;
    let part = html! {
        (heading)
        (state(portal, reader, &id, &job))
        (drawn)
        p class="source" { a href=(spec.page) { "All users under these indices" } }
    };
    Beside { part, job: Some((id, job.record.phase.word())) }
}

/// The charts, if there is an answer.
async fn drawn(portal: &Portal, id: &str, job: &Job, user: &str) -> Markup {
    let Some(answer) = &job.record.answer else { return html! {} };
    let (folder, user) = (portal.state.job(id).join(&answer.folder), user.to_owned());
    let draw = move || {
        let results = read(&folder)?;
        Ok::<_, String>(results.iter().find_map(|result| user_beside(result, &user)))
    };
    match tokio::task::spawn_blocking(draw).await {
        Ok(Ok(Some(charts))) => html! { (PreEscaped(charts)) },
        Ok(Ok(None)) => html! { p { "This user used no CPU time in the loaded parts." } },
        Ok(Err(said)) => html! { p class="wrong" { (said) } },
        Err(_) => html! { p class="wrong" { "The answer could not be drawn." } },
    }
}

/// Asks the usual question, and redirects to the page of the user.
pub(super) fn submit(portal: &Portal, reader: &Reader, form: &Pairs) -> Reply {
    let of = |name: &str| form.get(name).unwrap_or_default();
    let asked = usual(portal, of("lake")).and_then(|spec| runner::ask(portal, &spec));
    match asked {
        Ok(_) => reply::see(&page_of(of("lake"), of("id"))),
        Err(said) => pages::problem(Some(reader), StatusCode::BAD_REQUEST, "Not evaluated", &said),
    }
}
