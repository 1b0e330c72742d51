//! From a request to a reply.
//!
//! In: a request. Out: a reply, for any request. The gate comes first. After it, a path contains
//! only fixed words, names that are looked up in lists, and ids of a fixed format.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::http::request::Parts;
use hyper::{Method, Request, StatusCode};
use tokio::time::timeout;

use super::form::{Pairs, decoded};
use super::gate::{Refused, Session};
use super::pages::{self, Reader};
use super::portal::Portal;
use super::reply::{self, Reply};
use super::report::kind_of;
use super::state::is_id;
use super::{answers, api, asked, beside, fairness, find, jobs, openapi, start};
use crate::progress;

/// Limits of the time and the size of the body of a form.
const BODY: Duration = Duration::from_secs(10);
const BODY_MAX: usize = 256 << 10;

/// A longer body is read up to this many bytes before it is refused: a browser that is still sending
/// shows no reply.
const REFUSED_MAX: usize = 8 << 20;

/// Largest number of segments of a path.
const SEGMENTS_MAX: usize = 8;

/// A request that passed the gate.
pub(super) struct Ask {
    /// The segments of the path, decoded.
    pub path: Vec<String>,
    /// The query.
    pub query: Pairs,
    /// The form of a POST.
    pub form: Option<Pairs>,
    /// Who reads the reply.
    pub reader: Reader,
}

/// Answers a request.
pub(super) async fn answer(portal: Arc<Portal>, request: Request<Incoming>) -> Reply {
    let begun = progress::now();
    let (head, body) = request.into_parts();
    let reply = match portal.gate.check_origin(&head) {
        Err(refused) => {
            portal.metrics.refuse();
            refusal(refused)
        }
        Ok(()) => inside(&portal, &head, body).await,
    };
    portal.metrics.reply(reply.status().as_u16(), begun.elapsed());
    reply
}

/// Answers a request that is meant for this host and not sent by another site.
async fn inside(portal: &Arc<Portal>, head: &Parts, body: Incoming) -> Reply {
    let path = head.uri.path();
    if !matches!(head.method, Method::GET | Method::HEAD | Method::POST) {
        return reply::wrong_method("GET, HEAD, POST");
    }
    if path == "/healthz" {
        return reply::text(StatusCode::OK, "ok\n");
    }
    if let Some(asset) = path.strip_prefix("/assets/") {
        return asset_of(asset);
    }
    let form = if head.method == Method::POST {
        match form(head, body).await {
            Ok(form) => Some(form),
            Err(reply) => return reply,
        }
    } else {
        None
    };
    if path == "/login" {
        return login(portal, head, form.as_ref());
    }
    if portal.gate.check_token(&head.headers).is_err() {
        portal.metrics.refuse();
        return unknown(path);
    }
    let (session, cookie) = match portal.gate.session(&head.headers) {
        Some(session) => (session, None),
        None => match Session::new() {
            Ok(session) => {
                let cookie = portal.gate.cookie(&session);
                (session, Some(cookie))
            }
            Err(error) => {
                return reply::text(StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n"));
            }
        },
    };
    if let Some(form) = &form
        && portal.gate.check_form(&head.headers, form.get("form-token")).is_err()
    {
        portal.metrics.refuse();
        return refusal(Refused::Form);
    }
    let reply = match read(portal, head, form, &session) {
        Ok(ask) => route(portal, ask).await,
        Err(reply) => *reply,
    };
    // If the portal has a token, only the login page sets a cookie; a client that sends the token
    // with each request needs none.
    match cookie.filter(|_| !portal.gate.has_token()) {
        Some(cookie) => reply::with_cookie(reply, &cookie),
        None => reply,
    }
}

/// The path and the query of a request.
fn read(
    portal: &Portal,
    head: &Parts,
    form: Option<Pairs>,
    session: &Session,
) -> Result<Ask, Box<Reply>> {
    let reader = Reader::new(&portal.gate, session, portal.report.is_some());
    let bad = |said: &str| {
        let is_api = head.uri.path().starts_with("/api/");
        Box::new(if is_api {
            reply::json_error(StatusCode::BAD_REQUEST, None, said)
        } else {
            pages::problem(
                Some(&reader),
                StatusCode::BAD_REQUEST,
                "The request cannot be read",
                said,
            )
        })
    };
    let path: Option<Vec<String>> = head.uri.path().split('/').skip(1).map(decoded).collect();
    let path = path.filter(|path| path.len() <= SEGMENTS_MAX);
    let path = path.ok_or_else(|| bad("the address cannot be read"))?;
    let query = Pairs::read(head.uri.query().unwrap_or_default()).map_err(|said| bad(&said))?;
    Ok(Ask { path, query, form, reader })
}

/// The page or answer for a request that passed the gate.
async fn route(portal: &Arc<Portal>, ask: Ask) -> Reply {
    let reader = ask.reader.clone();
    let words: Vec<&str> = ask.path.iter().map(String::as_str).collect();
    let page = |page| reply::html(StatusCode::OK, page);
    let is_post = ask.form.is_some();
    match words.as_slice() {
        _ if is_post => sent(portal, &words, &reader, &ask.form.unwrap_or_default()),
        [""] => page(start::page(portal, &reader)),
        ["api"] => page(start::api(portal, &reader)),
        ["metrics"] => reply::text(StatusCode::OK, portal.metrics.text(&portal.gauges())),
        ["api", "openapi.json"] => {
            let document = openapi::document(&portal.asks, &portal.lakes);
            reply::json_bytes(StatusCode::OK, format!("{document:#}\n"))
        }
        ["api", name] => api::answer(portal, name, &ask.query).await,
        ["report", rest @ ..] => {
            let found = portal.report.as_ref().and_then(|report| report.find(&rest.join("/")));
            match found {
                Some((path, kind)) => file(path, kind).await,
                None => missing(&reader),
            }
        }
        ["fairness"] => fairness::page::show(portal, &reader, &ask.query).await,
        ["ask", name] => {
            asked::show(portal, &reader, name, &ask.query).unwrap_or_else(|| missing(&reader))
        }
        ["jobs"] => page(jobs::list(portal, &reader)),
        ["jobs", id] => jobs::show(portal, &reader, id).await,
        ["jobs", id, "data" | "charts", name] if is_id(id) => {
            match answers::file(portal, id, name) {
                Some(path) => file(path, kind_of(name)).await,
                None => missing(&reader),
            }
        }
        ["find"] => find::show(portal, &reader, &ask.query).await,
        ["events"] => listen(portal, ask.query.get("job")),
        _ => missing(&reader),
    }
}

/// Handles a sent form.
fn sent(portal: &Portal, words: &[&str], reader: &Reader, form: &Pairs) -> Reply {
    match words {
        ["fairness"] => fairness::page::submit(portal, reader, form),
        ["ask", name] => {
            asked::submit(portal, reader, name, form).unwrap_or_else(|| missing(reader))
        }
        ["jobs", id] => jobs::act(portal, reader, id, form),
        ["find"] => beside::submit(portal, reader, form),
        ["indices", id] if is_id(id) => forget(portal, reader, id, form),
        _ => missing(reader),
    }
}

/// Removes a saved index.
fn forget(portal: &Portal, reader: &Reader, id: &str, form: &Pairs) -> Reply {
    if form.get("action") != Some("remove") || !portal.saved.remove(id) {
        return missing(reader);
    }
    match portal.state.remove_index(id) {
        Ok(()) => reply::see("/fairness"),
        Err(error) => {
            let said = format!("It could not be removed: {error}");
            pages::problem(Some(reader), StatusCode::INTERNAL_SERVER_ERROR, "Not removed", &said)
        }
    }
}

/// Sends events to a page; the job that it shows runs again when its lake grows.
fn listen(portal: &Arc<Portal>, job: Option<&str>) -> Reply {
    let follower = job.filter(|id| is_id(id)).map(|id| Follower::new(portal, id));
    match portal.hub.listen(portal.stopped(), follower) {
        Some(events) => reply::events(events),
        None => reply::busy("too many pages are open"),
    }
}

/// A page that shows a job.
struct Follower(Arc<Portal>, String);

impl Follower {
    fn new(portal: &Arc<Portal>, id: &str) -> Self {
        portal.queue.follow(id, true);
        Self(Arc::clone(portal), id.to_owned())
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.0.queue.follow(&self.1, false);
    }
}

/// The contents of a file that a list names.
pub(super) async fn file(path: std::path::PathBuf, kind: &'static str) -> Reply {
    let read = tokio::task::spawn_blocking(move || std::fs::read(path)).await;
    match read {
        Ok(Ok(bytes)) => reply::bytes(StatusCode::OK, kind, bytes),
        _ => reply::text(StatusCode::NOT_FOUND, "the file no longer exists\n"),
    }
}

/// The body of a form.
async fn form(head: &Parts, body: Incoming) -> Result<Pairs, Reply> {
    let kind = head.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
    if kind.trim() != "application/x-www-form-urlencoded" {
        let said = "a form is `application/x-www-form-urlencoded`\n";
        return Err(reply::text(StatusCode::UNSUPPORTED_MEDIA_TYPE, said));
    }
    let bad = |said: String| reply::text(StatusCode::BAD_REQUEST, format!("{said}\n"));
    let Ok(read) = timeout(BODY, whole(body)).await else {
        return Err(reply::text(StatusCode::REQUEST_TIMEOUT, "the form did not arrive in time\n"));
    };
    let Some(bytes) = read.map_err(|error| bad(error.to_string()))? else {
        let said = format!("A form has at most {} kB: go back and shorten it.", BODY_MAX >> 10);
        let status = StatusCode::PAYLOAD_TOO_LARGE;
        return Err(pages::problem(None, status, "The form is too long", &said));
    };
    let text = std::str::from_utf8(&bytes).map_err(|error| bad(error.to_string()))?;
    Pairs::read(text).map_err(bad)
}

/// The bytes of a body; `None` if there are too many.
async fn whole(mut body: Incoming) -> hyper::Result<Option<Vec<u8>>> {
    let declared = hyper::body::Body::size_hint(&body).lower();
    let (mut bytes, mut length) = (Vec::new(), 0);
    while declared <= REFUSED_MAX as u64 && length <= REFUSED_MAX {
        let Some(frame) = body.frame().await else { break };
        let Ok(data) = frame?.into_data() else { continue };
        length += data.len();
        if length <= BODY_MAX {
            bytes.extend_from_slice(&data);
        }
    }
    let is_whole = length <= BODY_MAX && declared <= BODY_MAX as u64;
    Ok(is_whole.then_some(bytes))
}

/// The page that asks for the token, and the reply to its form.
fn login(portal: &Portal, head: &Parts, form: Option<&Pairs>) -> Reply {
    if !portal.gate.has_token() || portal.gate.session(&head.headers).is_some() {
        return reply::see("/");
    }
    let Some(form) = form else { return pages::login(StatusCode::OK, None) };
    if !form.get("token").is_some_and(|given| portal.gate.is_token(given)) {
        portal.metrics.refuse();
        return pages::login(StatusCode::UNAUTHORIZED, Some("This is not the token."));
    }
    match Session::new() {
        Ok(session) => reply::with_cookie(reply::see("/"), &portal.gate.cookie(&session)),
        Err(error) => reply::text(StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")),
    }
}

/// The reply to a request without the token.
fn unknown(path: &str) -> Reply {
    if path.starts_with("/api/") || path == "/metrics" || path == "/events" {
        let said = "a token is needed: `Authorization: Bearer TOKEN`";
        return reply::json_error(StatusCode::UNAUTHORIZED, None, said);
    }
    pages::login(StatusCode::UNAUTHORIZED, None)
}

fn refusal(refused: Refused) -> Reply {
    let (status, said) = match refused {
        Refused::Host => (
            StatusCode::MISDIRECTED_REQUEST,
            "this host name does not belong to the portal: its operator can add it with --host NAME\n",
        ),
        Refused::Origin => {
            (StatusCode::FORBIDDEN, "requests from pages of other sites are not allowed\n")
        }
        Refused::Token => (StatusCode::UNAUTHORIZED, "a token is needed\n"),
        Refused::Form => (
            StatusCode::FORBIDDEN,
            "this form belongs to another session: reload its page and send the form again\n",
        ),
    };
    reply::text(status, said)
}

pub(super) fn missing(reader: &Reader) -> Reply {
    pages::problem(Some(reader), StatusCode::NOT_FOUND, "Not found", "There is no such page.")
}

/// The style and the scripts that pages load.
fn asset_of(name: &str) -> Reply {
    let style = "text/css; charset=utf-8";
    let script = "text/javascript; charset=utf-8";
    match name {
        "style.css" => {
            let own = include_str!("portal.css");
            reply::bytes(StatusCode::OK, style, format!("{}{own}", crate::report::style()))
        }
        "script.js" => reply::bytes(StatusCode::OK, script, crate::report::SCRIPT),
        "portal.js" => reply::bytes(StatusCode::OK, script, include_str!("portal.js")),
        _ => reply::text(StatusCode::NOT_FOUND, "not found\n"),
    }
}
