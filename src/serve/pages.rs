//! The frame of every page, and the pages for a login and for a problem.
//!
//! In: the content of a page. Out: markup; the templates escape every text.

use hyper::StatusCode;
use maud::{DOCTYPE, Markup, html};

use super::gate::{Gate, Session};
use super::reply::{self, Reply};

/// What a page needs to know about its reader.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    /// The token of forms in this session.
    pub form: String,
    /// Whether there is a report.
    pub has_report: bool,
}

impl Reader {
    pub(super) fn new(gate: &Gate, session: &Session, has_report: bool) -> Self {
        Self { form: gate.form_token(session), has_report }
    }

    /// The hidden field of every form.
    pub(super) fn token(&self) -> Markup {
        html! { input type="hidden" name="form-token" value=(self.form); }
    }
}

/// The links at the head of every page: address and name.
const PAGES: [(&str, &str); 5] = [
    ("/", "Lakes"),
    ("/fairness", "Fairness"),
    ("/jobs", "Questions"),
    ("/find", "Search"),
    ("/api", "API"),
];

/// A whole page; `within` is the address of the link that is marked as current.
pub(super) fn page(reader: Option<&Reader>, within: &str, title: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " - jobfate" }
                link rel="stylesheet" href="/assets/style.css";
                link rel="icon" href="data:,";
            }
            body {
                a class="skip" href="#main" { "Skip to the content" }
                @if let Some(reader) = reader {
                    nav aria-label="Pages of the portal" {
                        ul {
                            @for (address, name) in PAGES {
                                li {
                                    @if address == within {
                                        a href=(address) aria-current="page" { (name) }
                                    } @else {
                                        a href=(address) { (name) }
                                    }
                                }
                            }
                            @if reader.has_report {
                                li { a href="/report/index.html" { "Report" } }
                            }
                        }
                    }
                }
                main id="main" {
                    h1 { (title) }
                    (body)
                }
                footer { p { "Served by " (crate::PROGRAM) "." } }
                script src="/assets/script.js" {}
                script src="/assets/portal.js" {}
            }
        }
    }
}

/// The page that asks for the token.
pub(super) fn login(status: StatusCode, said: Option<&str>) -> Reply {
    let body = html! {
        p { "This portal needs a token: ask its operator." }
        form class="ask" method="post" action="/login" {
            label for="token" { "Token" }
            input id="token" name="token" type="password" autocomplete="current-password" required;
            @if let Some(said) = said { p class="wrong" role="alert" { (said) } }
            button { "Open" }
        }
    };
    reply::html(status, page(None, "", "Token", &body))
}

/// A page that says what is wrong.
pub(super) fn problem(
    reader: Option<&Reader>,
    status: StatusCode,
    title: &str,
    said: &str,
) -> Reply {
    let body = html! {
        p { (said) }
        p { a href="/" { "Back to the start page" } }
    };
    reply::html(status, page(reader, "", title, &body))
}
