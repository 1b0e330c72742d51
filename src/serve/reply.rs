//! Replies, and the headers that all replies have.

use hyper::body::Bytes;
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, RETRY_AFTER, SET_COOKIE,
};
use hyper::{Response, StatusCode};
use maud::Markup;
use serde_json::{Value, json};
use tokio::sync::mpsc::Receiver;

use super::body::Body;

/// A reply.
pub(super) type Reply = Response<Body>;

/// Everything is loaded from this portal, and pages contain no inline script or style.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// The headers of every reply.
const HEADERS: [(&str, &str); 6] = [
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// A reply of bytes.
pub(super) fn bytes(status: StatusCode, kind: &'static str, bytes: impl Into<Bytes>) -> Reply {
    reply(status, kind, Body::Whole(bytes.into()))
}

fn reply(status: StatusCode, kind: &'static str, body: Body) -> Reply {
    let mut reply = Response::new(body);
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    for (name, value) in HEADERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    reply
}

/// A page.
pub(super) fn html(status: StatusCode, page: Markup) -> Reply {
    bytes(status, "text/html; charset=utf-8", page.into_string())
}

/// A line of text.
pub(super) fn text(status: StatusCode, text: impl Into<String>) -> Reply {
    bytes(status, "text/plain; charset=utf-8", text.into())
}

/// JSON as it is.
pub(super) fn json_bytes(status: StatusCode, body: impl Into<Bytes>) -> Reply {
    bytes(status, "application/json", body)
}

/// An error, and the parameter that is wrong.
pub(super) fn json_error(status: StatusCode, parameter: Option<&str>, said: &str) -> Reply {
    let error: Value = json!({ "error": said, "parameter": parameter });
    json_bytes(status, format!("{error}\n"))
}

/// A stream of events.
pub(super) fn events(events: Receiver<Bytes>) -> Reply {
    reply(StatusCode::OK, "text/event-stream", Body::Events(events))
}

/// A redirect to another page, after a form.
pub(super) fn see(place: &str) -> Reply {
    let mut reply = text(StatusCode::SEE_OTHER, "");
    // A text that is not a valid header is not an address either.
    let place = HeaderValue::from_str(place).unwrap_or(HeaderValue::from_static("/"));
    reply.headers_mut().insert(LOCATION, place);
    reply
}

/// Adds a cookie to a reply.
pub(super) fn with_cookie(mut reply: Reply, cookie: &str) -> Reply {
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        reply.headers_mut().append(SET_COOKIE, cookie);
    }
    reply
}

/// The method is not allowed.
pub(super) fn wrong_method(allowed: &'static str) -> Reply {
    let mut reply = text(StatusCode::METHOD_NOT_ALLOWED, "this method is not allowed here\n");
    reply.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    reply
}

/// The portal is busy; the client may ask again later.
pub(super) fn busy(said: &str) -> Reply {
    let mut reply = json_error(StatusCode::SERVICE_UNAVAILABLE, None, said);
    reply.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("5"));
    reply
}
