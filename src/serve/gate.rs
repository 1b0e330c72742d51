//! Access checks: host, origin, token and the tokens of forms.
//!
//! In: the head of a request. Out: a session, or why it is refused. Hosts are compared, so that no
//! other site can point its own name here (DNS rebinding). Origins are compared, so that no page of
//! another site can send requests. A client without a token learns only that one is needed.

use hyper::header::{AUTHORIZATION, COOKIE, HOST, HeaderName, ORIGIN};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method};

use super::secret::{is_same, mark, random};
use crate::faults::Result;
use crate::sources::hex;

/// The name of the cookie.
const NAME: &str = "jobfate";

/// The headers in which a browser describes the page that sends a request.
const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

/// The hosts, the token and the secret by which requests are checked.
#[derive(Debug)]
pub(super) struct Gate {
    /// `name:port` as browsers write it.
    hosts: Vec<String>,
    token: Option<String>,
    secret: [u8; 32],
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// Its host is not a host of the portal.
    Host,
    /// It comes from a page of another site.
    Origin,
    /// It has no token, or a wrong one.
    Token,
    /// Its form does not belong to its session.
    Form,
}

/// The session of a browser, by its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Session(String);

impl Session {
    /// Begins a session, for a request that needs no token or has shown it.
    pub(super) fn new() -> Result<Self> {
        Ok(Self(hex(&random::<16>()?)))
    }
}

impl Gate {
    pub(super) fn new(hosts: Vec<String>, token: Option<String>, secret: [u8; 32]) -> Self {
        Self { hosts, token, secret }
    }

    /// Whether a token is needed.
    pub(super) fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// Refuses a request that is meant for another host, or comes from another site.
    pub(super) fn check_origin(&self, head: &Parts) -> Result<(), Refused> {
        let named = text(&head.headers, &HOST).filter(|host| self.is_known(host));
        // A request that names its host twice could mean either.
        let is_once = head.headers.get_all(HOST).iter().count() == 1;
        let target = head.uri.authority().is_none_or(|target| self.is_known(target.as_str()));
        if named.is_none() || !is_once || !target {
            return Err(Refused::Host);
        }
        let changes = head.method == Method::POST;
        let is_ours = |origin: &str| {
            let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            host.is_some_and(|host| self.is_known(host))
        };
        match head.headers.get(ORIGIN) {
            Some(origin) if !origin.to_str().is_ok_and(is_ours) => return Err(Refused::Origin),
            None if changes => return Err(Refused::Origin),
            _ => {}
        }
        // A link on another site may lead to a page; no other request may come from there.
        let is_link = text(&head.headers, &MODE) == Some("navigate") && !changes;
        match text(&head.headers, &SITE) {
            None | Some("same-origin" | "none") => Ok(()),
            Some(_) if is_link && !head.uri.path().starts_with("/api/") => Ok(()),
            Some(_) => Err(Refused::Origin),
        }
    }

    fn is_known(&self, host: &str) -> bool {
        self.hosts.iter().any(|known| known.eq_ignore_ascii_case(host))
    }

    /// Refuses a request without the token and without a cookie that was given for it.
    pub(super) fn check_token(&self, headers: &HeaderMap) -> Result<(), Refused> {
        if self.token.is_none() || self.session(headers).is_some() {
            return Ok(());
        }
        let given = text(headers, &AUTHORIZATION).and_then(|text| text.strip_prefix("Bearer "));
        if given.is_some_and(|given| self.is_token(given)) { Ok(()) } else { Err(Refused::Token) }
    }

    /// Whether a text is the token.
    pub(super) fn is_token(&self, given: &str) -> bool {
        self.token.as_deref().is_some_and(|token| is_same(token, given.trim()))
    }

    /// The session of a request.
    pub(super) fn session(&self, headers: &HeaderMap) -> Option<Session> {
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut values = cookies.flat_map(|text| text.split(';')).filter_map(|pair| {
            pair.trim().strip_prefix(NAME)?.strip_prefix('=').map(str::to_owned)
        });
        values.find_map(|value| {
            let (id, given) = value.split_once('.')?;
            is_same(&self.session_mark(id), given).then(|| Session(id.to_owned()))
        })
    }

    /// The cookie of a session.
    pub(super) fn cookie(&self, session: &Session) -> String {
        let Session(id) = session;
        format!("{NAME}={id}.{}; Path=/; HttpOnly; SameSite=Strict", self.session_mark(id))
    }

    /// The mark in a cookie; it is not valid under another token.
    fn session_mark(&self, id: &str) -> String {
        let purpose = format!("session of {}", self.token.as_deref().unwrap_or_default());
        mark(&self.secret, &purpose, id)
    }

    /// The token that every form of a session contains.
    pub(super) fn form_token(&self, session: &Session) -> String {
        mark(&self.secret, "form", &session.0)
    }

    /// Refuses a form that does not belong to the session of its request.
    pub(super) fn check_form(
        &self,
        headers: &HeaderMap,
        given: Option<&str>,
    ) -> Result<(), Refused> {
        let session = self.session(headers).ok_or(Refused::Form)?;
        let is_ours = given.is_some_and(|given| is_same(&self.form_token(&session), given));
        if is_ours { Ok(()) } else { Err(Refused::Form) }
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    fn gate(token: Option<&str>) -> Gate {
        Gate::new(vec!["localhost:8311".to_owned()], token.map(str::to_owned), [7; 32])
    }

    fn head(method: &str, uri: &str, headers: &[(&str, &str)]) -> Parts {
        let mut request = Request::builder().method(method).uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn only_pages_of_this_host_may_ask() {
        let host = ("host", "localhost:8311");
        let (ours, other) =
            (("origin", "http://localhost:8311"), ("origin", "http://evil.example"));
        let site = |site| ("sec-fetch-site", site);
        let link = ("sec-fetch-mode", "navigate");
        for (method, uri, headers, expected) in [
            ("GET", "/", vec![host], Ok(())),
            ("GET", "/", vec![("host", "LOCALHOST:8311")], Ok(())),
            ("GET", "/", vec![], Err(Refused::Host)),
            ("GET", "/", vec![("host", "evil.example")], Err(Refused::Host)),
            ("GET", "/", vec![("host", "localhost")], Err(Refused::Host)),
            ("GET", "/", vec![host, ("host", "evil.example")], Err(Refused::Host)),
            ("GET", "http://evil.example/", vec![host], Err(Refused::Host)),
            ("GET", "/", vec![host, other], Err(Refused::Origin)),
            ("GET", "/", vec![host, ("origin", "null")], Err(Refused::Origin)),
            ("POST", "/", vec![host], Err(Refused::Origin)),
            ("POST", "/", vec![host, ours], Ok(())),
            ("POST", "/", vec![host, ours, site("cross-site")], Err(Refused::Origin)),
            ("GET", "/", vec![host, site("cross-site")], Err(Refused::Origin)),
            ("GET", "/", vec![host, site("cross-site"), link], Ok(())),
            ("GET", "/api/account", vec![host, site("cross-site"), link], Err(Refused::Origin)),
            ("GET", "/api/account", vec![host, site("same-origin")], Ok(())),
        ] {
            let found = gate(None).check_origin(&head(method, uri, &headers));
            assert_eq!(found, expected, "{method} {uri} {headers:?}");
        }
    }

    #[test]
    fn a_token_is_wanted_once_and_a_cookie_is_of_one_token() {
        let (open, shut) = (gate(None), gate(Some("secret")));
        let headers = |name: &str, value: &str| head("GET", "/", &[(name, value)]).headers;
        assert!(open.check_token(&HeaderMap::new()).is_ok());
        assert_eq!(shut.check_token(&HeaderMap::new()), Err(Refused::Token));
        assert!(shut.check_token(&headers("authorization", "Bearer secret")).is_ok());
        for wrong in ["Bearer secre", "Bearer secret2", "Bearer ", "secret", "Basic secret"] {
            assert_eq!(shut.check_token(&headers("authorization", wrong)), Err(Refused::Token));
        }
        let session = Session::new().unwrap();
        let cookie = shut.cookie(&session);
        assert!(cookie.ends_with("; HttpOnly; SameSite=Strict"));
        let pair = cookie.split(';').next().unwrap();
        assert!(shut.check_token(&headers("cookie", &format!("a=b; {pair}; c=d"))).is_ok());
        assert_eq!(gate(Some("new")).check_token(&headers("cookie", pair)), Err(Refused::Token));
        assert_eq!(shut.check_token(&headers("cookie", "jobfate=aa.bb")), Err(Refused::Token));
        // The cookie of a portal without a token is not valid for one with a token.
        let stray = open.cookie(&Session::new().unwrap());
        assert_eq!(shut.check_token(&headers("cookie", &stray)), Err(Refused::Token));
    }

    #[test]
    fn a_form_is_of_its_session() {
        let gate = gate(None);
        let [one, other] = [Session::new().unwrap(), Session::new().unwrap()];
        let cookie = gate.cookie(&one);
        let headers = head("POST", "/", &[("cookie", cookie.split(';').next().unwrap())]).headers;
        let (good, bad) = (gate.form_token(&one), gate.form_token(&other));
        assert!(gate.check_form(&headers, Some(&good)).is_ok());
        assert_eq!(gate.check_form(&headers, Some(&bad)), Err(Refused::Form));
        assert_eq!(gate.check_form(&headers, None), Err(Refused::Form));
        assert_eq!(gate.check_form(&HeaderMap::new(), Some(&good)), Err(Refused::Form));
    }
}
