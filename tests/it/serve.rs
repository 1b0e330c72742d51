//! The portal: the same answers as the commands, no access without permission, no saved data lost.
//!
//! Each test starts a separate portal on a free port. It writes HTTP directly, so that requests can
//! be malformed.

#![expect(clippy::print_stderr, reason = "what was measured")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::engines::{python, script};
use super::support::{Place, now, skipped};

/// A portal that is killed at the end of the test.
struct Portal {
    child: Child,
    port: u16,
    said: Mutex<BufReader<std::process::ChildStderr>>,
}

impl Drop for Portal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A reply.
#[derive(Debug)]
struct Reply {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Reply {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }
}

/// A lake of a small synthetic trace, made once.
fn lake() -> &'static Path {
    static MADE: OnceLock<Place> = OnceLock::new();
    static PATH: OnceLock<std::path::PathBuf> = OnceLock::new();
    let place = MADE.get_or_init(|| {
        let place = Place::new();
        place.run(&["synth", "trace", "--jobs", "120", "--days", "1", "--seed", "7"]).ok();
        place.run(&["ingest", "trace", "--lake", "lake"]).ok();
        place
    });
    PATH.get_or_init(|| place.path("lake"))
}

/// Starts a portal on the lake.
fn portal(place: &Place, more: &[&str]) -> Portal {
    let lake = format!("--lake=lake={}", lake().display());
    start(place, &[&[lake.as_str()], more].concat())
}

fn start(place: &Place, flags: &[&str]) -> Portal {
    let args = [&["serve", "--listen", "127.0.0.1:0", "--state", "state"], flags].concat();
    let mut command = place.command(&args);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    let port = loop {
        line.clear();
        assert!(0 < said.read_line(&mut line).unwrap(), "the portal starts");
        if let Some(address) = line.trim().strip_prefix("listening on http://127.0.0.1:") {
            break address.trim_end_matches('/').parse().unwrap();
        }
    };
    Portal { child, port, said: Mutex::new(said) }
}

/// Reads a reply to its end; `None` if there is no complete reply. If no byte arrives, prints the
/// result of the read on stderr.
fn read(stream: &mut TcpStream) -> Option<Reply> {
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    let mut bytes = Vec::new();
    let end = stream.read_to_end(&mut bytes);
    if bytes.is_empty() {
        eprintln!("{end:?}");
    }
    match end {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::ConnectionReset && !bytes.is_empty() => {}
        Err(_) => return None,
    }
    let at = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..at]).into_owned();
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let mut body = bytes[at + 4..].to_vec();
    if head.to_lowercase().contains("transfer-encoding: chunked") {
        body = unchunked(&body);
    }
    Some(Reply { status, head, body })
}

fn unchunked(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(at) = rest.windows(2).position(|two| two == b"\r\n") {
        let length = usize::from_str_radix(std::str::from_utf8(&rest[..at]).unwrap(), 16).unwrap();
        body.extend(&rest[at + 2..at + 2 + length]);
        rest = &rest[at + length + 4..];
    }
    body
}

impl Portal {
    fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).unwrap()
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Sends a request unchanged.
    fn raw(&self, text: &str) -> Option<Reply> {
        let mut stream = self.connect();
        let connected = now();
        // The portal may refuse the request before all of it is sent.
        let _ = stream.write_all(text.as_bytes());
        let reply = read(&mut stream);
        if reply.is_none() {
            eprintln!("no reply, {:?} after connecting", connected.elapsed());
        }
        reply
    }

    fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Reply {
        let mut text =
            format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", self.host());
        for (name, value) in headers {
            let _ = write!(text, "{name}: {value}\r\n");
        }
        self.raw(&format!("{text}\r\n")).unwrap_or_else(|| panic!("{path}: no reply"))
    }

    fn get(&self, path: &str) -> Reply {
        self.get_with(path, &[])
    }

    /// Sends a form of a session.
    fn post(&self, session: &Session, path: &str, fields: &[(&str, &str)]) -> Reply {
        let token = [("form-token", session.form.as_str())];
        let body = encoded(&[&token, fields].concat());
        let origin = format!("http://{}", self.host());
        self.post_raw(path, &[("Origin", &origin), ("Cookie", &session.cookie)], &body)
    }

    fn post_raw(&self, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let mut text = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\n",
            self.host(),
            body.len()
        );
        for (name, value) in headers {
            let _ = write!(text, "{name}: {value}\r\n");
        }
        self.raw(&format!("{text}\r\n{body}")).unwrap_or_else(|| panic!("{path}: no reply"))
    }

    /// Starts a session.
    fn session(&self) -> Session {
        let reply = self.get("/fairness");
        let cookie = reply.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        Session {
            form: between(&reply.text(), "name=\"form-token\" value=\"", "\"").unwrap(),
            cookie,
        }
    }

    /// Loads a page until its job has ended.
    fn ended(&self, path: &str) -> String {
        for _ in 0..600 {
            let text = self.get(path).text();
            let phase = between(&text, "data-phase=\"", "\"").unwrap_or_default();
            if !matches!(phase.as_str(), "waiting" | "running") {
                return text;
            }
            thread::sleep(Duration::from_millis(100));
        }
        panic!("{path}: the job does not end");
    }

    fn signal(&self, name: &str) {
        let status = Command::new("kill").args([name, &self.child.id().to_string()]).status();
        assert!(status.unwrap().success());
    }
}

/// The session of a browser.
struct Session {
    cookie: String,
    form: String,
}

fn between(text: &str, begin: &str, end: &str) -> Option<String> {
    Some(text.split_once(begin)?.1.split_once(end)?.0.to_owned())
}

fn encoded(pairs: &[(&str, &str)]) -> String {
    let word = |text: &str| -> String {
        text.bytes()
            .map(|byte| match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                    char::from(byte).to_string()
                }
                other => format!("%{other:02X}"),
            })
            .collect()
    };
    let pairs: Vec<String> =
        pairs.iter().map(|(name, value)| format!("{}={}", word(name), word(value))).collect();
    pairs.join("&")
}

fn location(reply: &Reply) -> String {
    assert_eq!(
        reply.status,
        303,
        "{}",
        between(&reply.text(), "class=\"wrong\"", "</div>").unwrap_or_default()
    );
    reply.header("location").unwrap().to_owned()
}

/// Promise: `/api/COMMAND?FLAG=VALUE` returns what `COMMAND --FLAG VALUE --format json` prints;
/// only the reported command line differs.
#[test]
fn the_api_gives_what_the_command_prints() {
    let place = Place::new();
    let portal = portal(&place, &[]);
    let lake = lake().display().to_string();
    for (name, pairs) in [
        ("classify", vec![]),
        ("classify", vec![("by", "task"), ("classes", "terminal")]),
        ("account", vec![("cpu", "slots")]),
        (
            "account",
            vec![("resource", "memory"), ("memory", "requested"), ("group-by", "priority")],
        ),
        ("describe", vec![("what", "events-per-task")]),
        ("load", vec![("interval", "1h")]),
        ("machines", vec![]),
        (
            "sweep",
            vec![("cpu", "requested"), ("thresholds", "2,5"), ("rules", "events,failures={2,3}")],
        ),
        (
            "sweep",
            vec![
                ("cpu", "requested"),
                ("rules", "history:p={0.5,0.9},per=job,tasks=2,history:p={0.5,0.9},by=events"),
                ("train-until", "0.5"),
            ],
        ),
        ("detect", vec![]),
        ("replay", vec![("policies", "fifo"), ("until", "6")]),
        ("predict", vec![]),
        ("predict", vec![("age", "10m"), ("rules", "hazard,hazard-events")]),
        (
            "fairness",
            vec![
                ("index", "condor:half_life_s=3600"),
                ("index", "jain"),
                ("top", "3"),
                ("what-if", "yes"),
            ],
        ),
    ] {
        let reply = portal.get(&format!("/api/{name}?{}", encoded(&pairs)));
        assert_eq!(reply.status, 200, "{name} {pairs:?}: {}", reply.text());
        assert_eq!(reply.header("content-type"), Some("application/json"));
        let lake = if name == "fairness" { format!("lake={lake}") } else { lake.clone() };
        let mut args = vec![
            name.to_owned(),
            "--format".to_owned(),
            "json".to_owned(),
            "--lake".to_owned(),
            lake,
        ];
        for (flag, value) in &pairs {
            args.push(format!("--{flag}"));
            args.extend((*value != "yes").then(|| (*value).to_owned()));
        }
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let (mut ours, mut theirs) = (reply.json(), place.run(&args).ok().json());
        for answer in [&mut ours, &mut theirs] {
            answer.as_object_mut().unwrap().remove("command").unwrap();
        }
        assert_eq!(ours, theirs, "{name} {pairs:?}");
    }
}

/// Promise: the `OpenAPI` document lists exactly the available parameters, and answers have the keys
/// that it names.
#[test]
fn the_openapi_document_is_what_is_answered() {
    let place = Place::new();
    let portal = portal(&place, &[]);
    let document = portal.get("/api/openapi.json").json();
    let keys = document["components"]["schemas"]["Answer"]["required"].as_array().unwrap();
    let mut parameter_count = 0;
    for (path, about) in document["paths"].as_object().unwrap() {
        let Some(parameters) = about["get"]["parameters"].as_array() else {
            assert_eq!(portal.get(path).status, 200, "{path}");
            continue;
        };
        let answer = portal.get(path);
        // This trace has no dates.
        let is_answered = path != "/api/monthly";
        let status = if is_answered { 200 } else { 400 };
        assert_eq!(answer.status, status, "{path}: {}", answer.text());
        assert!(
            !is_answered
                || keys.iter().all(|key| answer.json().get(key.as_str().unwrap()).is_some()),
            "{path}"
        );
        let unknown = portal.get(&format!("{path}?no-such=1"));
        assert_eq!((unknown.status, unknown.json()["parameter"].as_str()), (400, Some("no-such")));
        let listed = unknown.json()["error"].as_str().unwrap().to_owned();
        for parameter in parameters {
            let name = parameter["name"].as_str().unwrap();
            assert!(name == "lake" || listed.contains(name), "{path}: {name}");
            assert!(
                !["out", "format", "engine", "accounts", "formula", "index-file", "index-program"]
                    .contains(&name)
            );
            parameter_count += 1;
            // An invalid value is refused with the name of the parameter, so the parameter exists.
            let schema = &parameter["schema"];
            let words =
                if schema["enum"].is_null() { &schema["items"]["enum"] } else { &schema["enum"] };
            if words.is_array() {
                let reply = portal.get(&format!("{path}?{}", encoded(&[(name, "no such word")])));
                assert_eq!((reply.status, reply.json()["parameter"].as_str()), (400, Some(name)));
            }
        }
    }
    assert!(60 < parameter_count, "{parameter_count}");
}

/// Promise: only the portal's own host, pages and forms are answered.
#[test]
fn other_hosts_and_sites_are_refused() {
    let place = Place::new();
    let portal = portal(&place, &[]);
    let ask = |host: &str, more: &str| {
        let text = format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n");
        portal.raw(&text).unwrap().status
    };
    let own = portal.host();
    assert_eq!(ask(&own, ""), 200);
    assert_eq!(ask(&format!("localhost:{}", portal.port), ""), 200);
    for host in ["evil.example", "127.0.0.1", "localhost", "127.0.0.1:1", ""] {
        assert_eq!(ask(host, ""), 421, "{host}");
    }
    assert_eq!(ask(&own, "Host: evil.example\r\n"), 421);
    assert_eq!(ask(&own, "Origin: http://evil.example\r\n"), 403);
    assert_eq!(ask(&own, "Origin: null\r\n"), 403);
    assert_eq!(ask(&own, "Sec-Fetch-Site: cross-site\r\n"), 403);
    let session = portal.session();
    let origin = format!("http://{own}");
    let body = encoded(&[("form-token", &session.form), ("use", "jain"), ("action", "evaluate")]);
    let sent =
        |headers: &[(&str, &str)], body: &str| portal.post_raw("/fairness", headers, body).status;
    let (ours, cookie) = (("Origin", origin.as_str()), ("Cookie", session.cookie.as_str()));
    assert_eq!(sent(&[ours, cookie], &body), 303);
    assert_eq!(sent(&[cookie], &body), 403, "a form without an origin");
    assert_eq!(sent(&[("Origin", "http://evil.example"), cookie], &body), 403);
    assert_eq!(sent(&[ours], &body), 403, "a form without a session");
    assert_eq!(sent(&[ours, cookie], "use=jain"), 403, "a form without its token");
    let other = portal.session();
    assert_eq!(sent(&[ours, ("Cookie", &other.cookie)], &body), 403, "the form of another session");
}

/// Promise: if a token is set, only `/healthz` is answered without it. After a login a cookie is
/// enough. Pages never contain the token or the cookie.
#[test]
fn without_the_token_nobody_gets_in() {
    let place = Place::new();
    fs::write(place.path("token"), "0123456789abcdef-token\n").unwrap();
    let portal = portal(&place, &["--token-file", "token"]);
    for path in [
        "/",
        "/fairness",
        "/api/account",
        "/api/openapi.json",
        "/metrics",
        "/jobs",
        "/find",
        "/events",
        "/report/index.html",
    ] {
        let reply = portal.get(path);
        assert_eq!(reply.status, 401, "{path}");
        assert!(!reply.text().contains("lake"), "{path}");
        assert_eq!(
            portal.get_with(path, &[("Authorization", "Bearer 0123456789abcdef-toke")]).status,
            401
        );
    }
    assert_eq!(portal.get("/healthz").status, 200);
    let bearer = ("Authorization", "Bearer 0123456789abcdef-token");
    assert_eq!(portal.get_with("/api/account?cpu=slots", &[bearer]).status, 200);
    let origin = format!("http://{}", portal.host());
    let login = |token: &str| {
        portal.post_raw("/login", &[("Origin", &origin)], &encoded(&[("token", token)]))
    };
    assert_eq!(login("wrong").status, 401);
    let reply = login("0123456789abcdef-token");
    let cookie = reply.header("set-cookie").unwrap().to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    assert!(!cookie.contains("0123456789abcdef"));
    let page = portal.get_with("/", &[("Cookie", cookie.split(';').next().unwrap())]);
    assert!(page.status == 200 && !page.text().contains("0123456789abcdef-token"));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    // Other machines need a token: it is generated, and printed once.
    let mut command = place.command(&[
        "serve",
        "--lake",
        &lake().display().to_string(),
        "--state",
        "other",
        "--listen",
        "0.0.0.0:0",
    ]);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(line.starts_with("token: ") && 40 < line.len(), "{line}");
}

/// No content of a file of the operator is in a reply.
#[track_caller]
fn assert_safe(reply: &Reply, what: &str) {
    let text = reply.text();
    assert!(!text.contains("very secret") && !text.contains("root:"), "{what}");
}

/// Promise: no path from a request is used on the disk.
#[test]
fn no_parameter_leads_out() {
    let place = Place::new();
    fs::write(place.path("secret.txt"), "a very secret line\n").unwrap();
    let portal = portal(&place, &[]);
    let secret = place.path("secret.txt").display().to_string();
    let ways = [
        secret.as_str(),
        "../secret.txt",
        "../../../../../../etc/passwd",
        "/etc/passwd",
        "..%2fsecret.txt",
        "file:///etc/passwd",
    ];
    for way in ways {
        for path in [
            format!("/report/{way}"),
            format!("/assets/{way}"),
            format!("/jobs/{way}"),
            format!("/{way}"),
            format!("/jobs/0123456789abcdef/data/{way}"),
            format!("/ask/{way}"),
            format!("/api/{way}"),
            format!("/find?{}", encoded(&[("lake", way), ("id", "1")])),
            format!("/find?{}", encoded(&[("what", way), ("id", way)])),
            format!("/fairness?{}", encoded(&[("load", way)])),
            format!("/fairness?{}", encoded(&[("saved", way)])),
            format!("/events?{}", encoded(&[("job", &way[..way.len().min(3)]), ("job", way)])),
        ] {
            if path.starts_with("/events") {
                continue;
            }
            let reply = portal.get(&path.replace(' ', "%20"));
            assert_safe(&reply, &path);
            assert!(reply.status < 500, "{path}");
        }
    }
}

/// Promise: no flag and no field of a request names a file.
#[test]
fn no_question_leads_out() {
    let place = Place::new();
    fs::write(place.path("secret.txt"), "a very secret line\n").unwrap();
    let portal = portal(&place, &[]);
    let session = portal.session();
    let secret = place.path("secret.txt").display().to_string();
    let document = portal.get("/api/openapi.json").json();
    for (path, about) in document["paths"].as_object().unwrap() {
        for parameter in about["get"]["parameters"].as_array().into_iter().flatten() {
            let name = parameter["name"].as_str().unwrap();
            for value in [
                secret.clone(),
                format!("metered:charges={secret}"),
                format!("condor:factors={secret}"),
                format!("x={secret}"),
            ] {
                assert_safe(&portal.get(&format!("{path}?{}", encoded(&[(name, &value)]))), name);
            }
        }
    }
    for (field, value) in [
        ("with-metered", format!("charges={secret}")),
        ("with-condor", format!("factors={secret}")),
        ("own-program", secret.clone()),
        ("index-program", format!("x={secret}")),
        ("accounts", secret.clone()),
        ("formula", format!("x={secret}")),
        ("index-file", secret.clone()),
        ("out", "../out".to_owned()),
    ] {
        let fields = [
            ("use", "metered"),
            ("use", "condor"),
            ("own-kind", "program"),
            ("own-name", "x"),
            (field, &value),
            ("action", "evaluate"),
        ];
        let reply = portal.post(&session, "/fairness", &fields);
        assert_eq!(reply.status, 422, "{field}");
        assert_safe(&reply, field);
    }
    assert!(!place.path("out").exists());
}

/// Promise: clients that are slow, endless or too large do not affect others, and are closed within
/// seconds.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn slow_and_large_requests_end() {
    let place = Place::new();
    let portal = portal(&place, &[]);
    let (begun, host) = (now(), portal.host());
    let mut slow: Vec<TcpStream> = (0..100).map(|_| portal.connect()).collect();
    for (idx, stream) in slow.iter_mut().enumerate() {
        // An empty request, half a head, and a form that does not arrive.
        let text = match idx % 3 {
            0 => String::new(),
            1 => format!("GET / HTTP/1.1\r\nHost: {host}\r\nX: "),
            _ => format!(
                "POST /fairness HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\nuse="
            ),
        };
        stream.write_all(text.as_bytes()).unwrap();
    }
    let asked = now();
    assert_eq!(portal.get("/").status, 200);
    assert!(asked.elapsed() < Duration::from_secs(2), "others are answered meanwhile");
    for mut stream in slow {
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(
            rest.is_empty() || String::from_utf8_lossy(&rest).contains(" 408 "),
            "{}",
            String::from_utf8_lossy(&rest)
        );
    }
    assert!(begun.elapsed() < Duration::from_secs(25), "{:?}", begun.elapsed());
    let session = portal.session();
    let million = "1+".repeat(500_000);
    let reply = portal.post(
        &session,
        "/fairness",
        &[("own-kind", "formula"), ("own-name", "x"), ("own-formula", &million)],
    );
    assert_eq!(reply.status, 413);
    assert!(reply.text().contains("<h1>The form is too long</h1>"), "{}", reply.text());
    let long = format!(
        "GET /?{} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n",
        "a".repeat(200_000)
    );
    assert!(portal.raw(&long).is_none_or(|reply| matches!(reply.status, 414 | 431)));
    let many = format!(
        "GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{}\r\n",
        "X: y\r\n".repeat(2000)
    );
    assert!(portal.raw(&many).is_none_or(|reply| matches!(reply.status, 400 | 431)));
    for wrong in [
        "\r\n\r\n",
        "GET\r\n\r\n",
        "\0\0\0\0\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "PUT / HTTP/1.1\r\nHost: x\r\n\r\n",
    ] {
        assert!(portal.raw(wrong).is_none_or(|reply| 400 <= reply.status), "{wrong:?}");
    }
    assert_eq!(portal.get("/healthz").status, 200);
}

/// Resident memory of a process, kB.
fn memory_kb(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Promise: 200 clients connect at the same time and are answered, even if the portal is busy at
/// first. If the system has no place for a connection, the client tries again after one second.
#[test]
fn clients_wait_in_line_for_a_busy_portal() {
    let most = fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap_or_default();
    if most.trim().parse::<u32>().is_ok_and(|most| most < 256) {
        return skipped("the system lets fewer than 256 clients wait");
    }
    let place = Place::new();
    let portal = portal(&place, &[]);
    let send = |signal: &str| {
        let sent = Command::new("kill").args([signal, &portal.child.id().to_string()]).status();
        assert!(sent.unwrap().success());
    };
    send("-STOP");
    let at = SocketAddr::from(([127, 0, 0, 1], portal.port));
    let connect = |_| TcpStream::connect_timeout(&at, Duration::from_millis(900));
    let waiting: Vec<_> = (0..200).map(connect).collect();
    send("-CONT");
    let asked =
        format!("GET /healthz HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", portal.host());
    for (number, stream) in waiting.into_iter().enumerate() {
        let mut stream = stream.unwrap_or_else(|error| panic!("client {number}: {error}"));
        stream.write_all(asked.as_bytes()).unwrap();
        assert_eq!(read(&mut stream).expect("a reply").status, 200, "client {number}");
    }
}

/// Promise: 200 clients at the same time are answered, without errors and in little memory.
#[test]
fn many_clients_are_answered_at_once() {
    let place = Place::new();
    let portal = portal(&place, &[]);
    let seconds = std::env::var("JOBFATE_SERVE_SECONDS").ok().and_then(|text| text.parse().ok());
    let end = now() + Duration::from_secs(seconds.unwrap_or(2));
    let mut times: Vec<Duration> = thread::scope(|scope| {
        let client = |number: usize| {
            let portal = &portal;
            scope.spawn(move || {
                let mut times = Vec::new();
                while times.is_empty() || now() < end {
                    let begun = now();
                    let path = ["/", "/fairness", "/api/account?cpu=slots", "/healthz", "/metrics"]
                        [(number + times.len()) % 5];
                    assert_eq!(portal.get(path).status, 200, "{path}");
                    times.push(begun.elapsed());
                }
                times
            })
        };
        let clients: Vec<_> = (0..200).map(client).collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    times.sort();
    let p99 = times[times.len() * 99 / 100];
    let megabytes = memory_kb(portal.child.id()) / 1024;
    eprintln!(
        "200 clients: {} requests, p50 {:?}, p99 {p99:?}, {megabytes} MB",
        times.len(),
        times[times.len() / 2]
    );
    assert!(p99 < Duration::from_secs(10) && megabytes < 200, "p99 {p99:?}, {megabytes} MB");
}

/// An index program that answers with a number for every user, after a delay if `seconds` is not 0.
fn program(place: &Place, seconds: u32) -> String {
    let path = place.path("index.sh");
    let script = format!(
        "#!/bin/sh\necho $$ > {}\nsleep {seconds}\nprintf 'columns\\tscore\\n'\nwhile IFS= read -r line; do\n\
         case \"$line\" in interval*) seen=' ';; done) echo done;; use[!r]*) set -- $line\n\
         case \"$seen\" in *\" $2 \"*) ;; *) printf 'value\\t%s\\t7\\n' \"$2\"; seen=\"$seen$2 \";; esac;; esac\ndone\n",
        place.path("pid").display()
    );
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    format!("ours={}", path.display())
}

/// Whether the program ends within some seconds; its new parent may take some time to reap it.
fn is_gone(place: &Place) -> bool {
    let pid = fs::read_to_string(place.path("pid")).unwrap();
    let runs = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
    };
    for _ in 0..100 {
        if !runs() {
            return true;
        }
        thread::sleep(Duration::from_millis(100));
    }
    false
}

/// Evaluates and saves an index of each kind; returns the ids under which they are saved.
fn enter(portal: &Portal, kinds: &[(&str, Vec<(&str, &str)>)]) -> BTreeSet<String> {
    let session = portal.session();
    let mut ids = BTreeSet::new();
    for (kind, fields) in kinds {
        let name = format!("my {kind} <b>");
        let own = [("own-kind", *kind), ("own-name", name.as_str()), ("use", "metered")];
        let all = [own.as_slice(), fields].concat();
        let shared = location(&portal.post(
            &session,
            "/fairness",
            &[all.as_slice(), &[("action", "evaluate")]].concat(),
        ));
        let page = portal.ended(&shared);
        assert!(
            page.contains("data-phase=\"done\""),
            "{kind}: {:?}",
            between(&page, "class=\"wrong\"", "</div>")
        );
        let drawn = ["(metered)", "(my "].map(|index| page.contains(index));
        assert_eq!(drawn, [true; 2], "{kind}: a chart of each index");
        assert!(
            page.contains("my ") && !page.contains("<b>\"") && !page.contains(&name),
            "names are escaped"
        );
        let saved = location(&portal.post(
            &session,
            "/fairness",
            &[all.as_slice(), &[("action", "save")]].concat(),
        ));
        let told = portal.get(&saved).text();
        assert!(told.contains("Your index is saved as"), "{told}");
        assert!(!told.contains("Not evaluated yet"), "it says what to do next");
        ids.insert(between(&format!("{saved}&"), "saved=", "&").unwrap());
    }
    ids
}

/// Promise: an index can be entered in three ways, evaluated and saved. It still exists after the
/// portal is killed.
#[test]
fn an_index_of_each_kind_is_entered_saved_and_found_again() {
    let place = Place::new();
    let named = program(&place, 0);
    let flags = ["--index-program", named.as_str()];
    let mut portal = portal(&place, &flags);
    let kinds: [(&str, Vec<(&str, &str)>); 3] = [
        ("template", vec![("own-template", "decay"), ("own-decay-half_life_s", "3600")]),
        (
            "formula",
            vec![(
                "own-formula",
                "state level = 0\r\nupdate level = level + usage\r\ndisplay level",
            )],
        ),
        ("program", vec![("own-program", "ours")]),
    ];
    let ids = enter(&portal, &kinds);
    assert_eq!(ids.len(), 3);
    portal.signal("-KILL");
    portal.child.wait().unwrap();
    portal = self::portal(&place, &flags);
    let session = portal.session();
    let form = portal.get("/fairness").text();
    assert!(kinds.iter().all(|(kind, _)| form.contains(&format!("my {kind} &lt;b&gt;"))));
    // Each loaded index is as it was entered; all together are compared.
    let id = ids.iter().map(|id| portal.get(&format!("/fairness?load={id}")).text());
    assert!(id.into_iter().any(|page| page.contains("value=\"3600\"")));
    let all: Vec<(&str, &str)> = ids.iter().map(|id| ("saved", id.as_str())).collect();
    let shared = location(&portal.post(
        &session,
        "/fairness",
        &[all.as_slice(), &[("action", "evaluate")]].concat(),
    ));
    let page = portal.ended(&shared);
    assert!(4 <= page.matches("<svg ").count(), "and what was used");
    assert!(page.contains("Similarity of the orders under two indices"));
    // Another index with the same name is saved only after a confirmation.
    let other = [
        ("own-kind", "formula"),
        ("own-name", "my formula <b>"),
        ("own-formula", "display usage"),
        ("action", "save"),
    ];
    assert_eq!(portal.post(&session, "/fairness", &other).status, 422);
    assert_eq!(
        portal
            .post(&session, "/fairness", &[other.as_slice(), &[("replace", "yes")]].concat())
            .status,
        303
    );
}

/// Promise: the portal shows the numbers of the command.
#[test]
fn the_form_gives_the_numbers_of_the_command() {
    let place = Place::new();
    let portal = portal(&place, &[]);
    let session = portal.session();
    let formula = "state level = 0\nupdate level = level * 0.5 + usage\ndisplay level";
    let fields = [
        ("use", "condor"),
        ("with-condor", "half_life_s=3600"),
        ("own-kind", "formula"),
        ("own-name", "mine"),
        ("own-formula", formula),
        ("interval", "1800"),
        ("cpu", "requested"),
        ("action", "evaluate"),
    ];
    let shared = location(&portal.post(&session, "/fairness", &fields));
    let page = portal.ended(&shared);
    let id = between(&page, "data-job=\"", "\"").unwrap();
    let ours = portal.get(&format!("/jobs/{id}/data/series.csv"));
    assert_eq!(ours.status, 200);
    fs::write(place.path("mine.formula"), formula).unwrap();
    let lake = lake().display().to_string();
    place
        .run(&[
            "fairness",
            "--lake",
            &lake,
            "--index",
            "condor:half_life_s=3600",
            "--formula",
            "mine=mine.formula",
            "--interval",
            "1800",
            "--cpu",
            "requested",
            "--out",
            "out",
        ])
        .ok();
    assert_eq!(ours.body, fs::read(place.path("out/series.csv")).unwrap());
    assert_eq!(portal.get(&format!("/jobs/{id}/data/../job.json")).status, 404);
    assert_eq!(portal.get(&format!("/jobs/{id}/data/job.json")).status, 404);
}

/// The top of a page says what is wrong, with a link to the field, which names the mistake.
fn assert_told_at_the_top(text: &str, field: &str) {
    let summary = between(text, "<div class=\"mistakes\"", "</div>").unwrap();
    for part in ["role=\"alert\"", " autofocus", &format!("href=\"#{field}\"")] {
        assert!(summary.contains(part), "{part}: {summary}");
    }
    let ids = [field.to_owned(), format!("{field}-wrong")];
    assert!(ids.iter().all(|id| text.matches(&format!("id=\"{id}\"")).count() == 1), "{ids:?}");
    let is_group = matches!(field, "use" | "lake");
    let names_it = |part: &str| part.split('"').next().unwrap().contains(&ids[1]);
    assert!(is_group || text.split("aria-describedby=\"").skip(1).any(names_it), "{field}");
}

/// Promise: every mistake is shown at its field, and hostile input has no effect.
#[test]
fn wrong_and_hostile_input_is_shown_at_its_place() {
    let place = Place::new();
    let portal = portal(&place, &[]);
    let session = portal.session();
    let deep = format!("display {}1{}", "(".repeat(3000), ")".repeat(3000));
    let long = "1+".repeat(10_000);
    let formula = |text: &'static str| {
        vec![("own-kind", "formula"), ("own-name", "x"), ("own-formula", text)]
    };
    for (fields, field, part) in [
        (formula("display usag"), "own-formula", "line 1, column 9"),
        (formula("<script>alert(1)</script>"), "own-formula", "&lt;script&gt;"),
        (formula("state a = 1\nupdate a = a +"), "own-formula", "line 2"),
        (
            vec![("own-kind", "formula"), ("own-name", "x"), ("own-formula", &deep)],
            "own-formula",
            "line 1",
        ),
        (
            vec![("own-kind", "formula"), ("own-name", "x"), ("own-formula", &long)],
            "own-formula",
            "bytes",
        ),
        (
            vec![("own-kind", "formula"), ("own-name", "a=b"), ("own-formula", "display usage")],
            "own-name",
            "contain &#39;",
        ),
        (
            vec![
                ("own-kind", "template"),
                ("own-name", "x"),
                ("own-template", "decay"),
                ("own-decay-floor", "many"),
            ],
            "own-decay-floor",
            "not a number",
        ),
        (vec![("use", "condor"), ("with-condor", "half_life_s=0")], "with-condor", "above 0"),
        (vec![("use", "<script>")], "use", "&lt;script&gt;"),
        (vec![("interval", "<script>alert(1)</script>")], "interval", "&lt;script&gt;"),
        (vec![("lake", "<script>")], "lake", "&lt;script&gt;"),
    ] {
        let reply = portal.post(
            &session,
            "/fairness",
            &[fields.as_slice(), &[("action", "evaluate")]].concat(),
        );
        let text = reply.text();
        assert_eq!(reply.status, 422, "{fields:?}");
        assert!(!text.contains("<script>"), "{fields:?}");
        let said = between(&text, "class=\"wrong\"", "</div>").unwrap_or_default();
        let plain = said.replace("&apos;", "&#39;").replace('\'', "&#39;");
        assert!(plain.contains(part), "{field}: {said}");
        assert_told_at_the_top(&text, field);
        // The mistake follows the start of its field, and the next field follows the mistake.
        let place_of = |what: &str| text.find(what).unwrap_or(usize::MAX);
        assert!(
            place_of(&format!("name=\"{field}\"")).min(place_of("<legend>Clusters"))
                < place_of("class=\"wrong\""),
            "{field}"
        );
    }
}

/// Promise: each form refuses values that the command would refuse later, at their field.
#[test]
fn what_a_command_would_refuse_is_refused_by_its_form() {
    let place = Place::new();
    let portal = portal(&place, &[]);
    let session = portal.session();
    for (path, fields, field, part) in [
        ("/fairness", vec![("use", "jain"), ("days", "1"), ("free", "7")], "free", "from 0 to 1"),
        ("/ask/load", vec![("groups", "0"), ("by", "user")], "groups", "give 1 or more"),
        ("/ask/sweep", vec![("seed", "7")], "seed", "which is not given"),
    ] {
        let reply = portal.post(&session, path, &fields);
        assert_eq!(reply.status, 422, "{path}");
        let text = reply.text();
        let said = between(&text, &format!("id=\"{field}-wrong\">"), "</div>").expect(path);
        assert!(said.contains(part), "{said}");
        assert_told_at_the_top(&text, field);
    }
    // Errors that only the command finds are also shown at their field.
    let wrong = "a line that is no share of an account";
    let shared = location(&portal.post(
        &session,
        "/fairness",
        &[("use", "slurm"), ("shares", wrong), ("action", "evaluate")],
    ));
    assert!(portal.ended(&shared).contains("id=\"shares-wrong\""));
}

/// Promise: a sweep and a replay can be started from forms and cancelled, and their results are
/// added to the pages.
#[test]
fn jobs_are_asked_cancelled_and_shown() {
    let place = Place::new();
    let named = program(&place, 60);
    let portal = portal(&place, &["--index-program", &named, "--workers", "1"]);
    let session = portal.session();
    let slow = [
        ("own-kind", "program"),
        ("own-name", "slow"),
        ("own-program", "ours"),
        ("action", "evaluate"),
    ];
    let shared = location(&portal.post(&session, "/fairness", &slow));
    let id = between(&portal.get(&shared).text(), "data-job=\"", "\"").unwrap();
    for _ in 0..100 {
        if place.path("pid").exists() {
            break;
        }
        thread::sleep(Duration::from_millis(100));
    }
    let sweep = location(&portal.post(
        &session,
        "/ask/sweep",
        &[("cpu", "requested"), ("thresholds", "2,5")],
    ));
    assert!(portal.get(&sweep).text().contains("data-phase=\"waiting\""), "one at a time");
    location(&portal.post(&session, &format!("/jobs/{id}"), &[("action", "cancel")]));
    assert!(portal.ended(&shared).contains("data-phase=\"cancelled\""));
    assert!(is_gone(&place), "the program is gone, too");
    let page = portal.ended(&sweep);
    assert!(page.contains("data-phase=\"done\"") && page.contains("<svg "), "{page}");
    assert_eq!(portal.post(&session, "/ask/sweep", &[("rules", "nonsense")]).status, 422);
    let replay =
        location(&portal.post(&session, "/ask/replay", &[("policies", "fifo"), ("until", "6")]));
    let page = portal.ended(&replay);
    // Commas separate policies too.
    let two = [("policies", "fifo,fair"), ("until", "6")];
    let both = portal.ended(&location(&portal.post(&session, "/ask/replay", &two)));
    assert!(both.contains("data-phase=\"done\"") && both.contains("fair"), "{both}");
    let killing = [("policies", "fifo+kill:history:p=0.9,by=events"), ("until", "6")];
    let killed = portal.ended(&location(&portal.post(&session, "/ask/replay", &killing)));
    assert!(killed.contains("data-phase=\"done\"") && killed.contains("history:p=0.9"), "{killed}");
    assert!(
        page.contains("data-phase=\"done\""),
        "{:?}",
        between(&page, "class=\"wrong\"", "</div>")
    );
    let list = portal.get("/jobs").text();
    assert!(list.contains(">Sweep<") && list.contains("cancelled"));
    // Choices have the names of the fields.
    assert!(list.contains("Policies: fifo; Until: 6"), "{list}");
    // The word job is used only for jobs of the cluster, and flags that the portal adds are not
    // shown.
    assert!(list.contains("<h1>Questions</h1>") && !list.contains("--time-limit"));
}

/// Promise: SIGTERM ends all processes within 2 s, and a killed portal leaves no process.
#[test]
fn the_end_is_quick_and_leaves_nothing() {
    for signal in ["-TERM", "-KILL"] {
        let place = Place::new();
        let named = program(&place, 60);
        let mut portal = portal(&place, &["--index-program", &named]);
        let session = portal.session();
        let slow = [
            ("own-kind", "program"),
            ("own-name", "slow"),
            ("own-program", "ours"),
            ("action", "evaluate"),
        ];
        location(&portal.post(&session, "/fairness", &slow));
        while !place.path("pid").exists() {
            thread::sleep(Duration::from_millis(50));
        }
        let mut events = portal.connect();
        write!(events, "GET /events HTTP/1.1\r\nHost: {}\r\n\r\n", portal.host()).unwrap();
        thread::sleep(Duration::from_millis(200));
        let begun = now();
        portal.signal(signal);
        portal.child.wait().unwrap();
        assert!(begun.elapsed() < Duration::from_secs(2), "{signal}: {:?}", begun.elapsed());
        assert!(is_gone(&place), "{signal}: the program of the worker runs on");
    }
}

/// Promise: a request that takes too much time or memory is stopped with a message.
#[test]
fn a_question_has_limits() {
    let place = Place::new();
    let named = program(&place, 60);
    let portal = portal(
        &place,
        &[
            "--index-program",
            &named,
            "--job-time-limit",
            "1",
            "--time-limit",
            "50",
            "--memory",
            "64",
        ],
    );
    let session = portal.session();
    let slow = [
        ("own-kind", "program"),
        ("own-name", "slow"),
        ("own-program", "ours"),
        ("action", "evaluate"),
    ];
    let shared = location(&portal.post(&session, "/fairness", &slow));
    let page = portal.ended(&shared);
    assert!(page.contains("data-phase=\"failed\""), "{page}");
    // 50,000 intervals of 10 columns are more than 64 MiB of values.
    let large = portal.get(
        "/api/fairness?interval=2&index=condor&index=htcondor&index=metered&index=slurm&index=sge",
    );
    assert_eq!(large.status, 500, "{}", large.text().chars().take(300).collect::<String>());
    assert!(large.text().contains("64 MiB"), "{}", large.text());
}

/// Promise: a job, a user and a machine are found by id, with their rows of the trace.
#[test]
fn jobs_users_and_machines_are_found() {
    let place = Place::new();
    let portal = portal(&place, &[]);
    let answer = portal.get("/api/fairness?index=metered").json();
    let user = answer["heaviest"][0]["user"].as_str().unwrap().to_owned();
    let page = portal.get(&format!("/find?{}", encoded(&[("what", "user"), ("id", &user)]))).text();
    let job = between(&page, "what=job&amp;id=", "\"").unwrap();
    let page = portal.get(&format!("/find?what=job&id={job}")).text();
    assert!(page.contains("SUBMIT") && page.contains("Attempts"), "{page}");
    let machine = between(&page, "what=machine&amp;id=", "\"").unwrap();
    let page = portal.get(&format!("/find?what=machine&id={machine}")).text();
    assert!(page.contains("ADD") && page.contains(&job), "the job ran there");
    for chart in ["Its load over time", "Attempts on it"] {
        let (_, after) = page.split_once(&format!("<h2>{chart}</h2>")).expect(chart);
        assert!(after.trim_start().starts_with("<figure class=\"chart drawn\"><svg "), "{chart}");
    }
    let page = portal.get("/find?what=user&list=yes").text();
    assert!(page.contains("users, those with most events of jobs first."), "{page}");
    let page = portal.get("/find?what=machine&id=999999999999").text();
    assert!(!page.contains("<svg") && page.contains("has no machine"), "{page}");
    assert!(page.contains("All machines of lake"), "{page}");
    let page = portal.get("/find?what=machine&list=yes").text();
    assert!(page.contains("machines, those with most events of tasks first."), "{page}");
    assert!(page.contains(&format!("what=machine&amp;id={machine}\"")), "{page}");
    for odd in ["", "-1", "99999999999999999999", "<script>", "1e5", "'; --"] {
        let reply = portal.get(&format!("/find?{}", encoded(&[("what", "job"), ("id", odd)])));
        assert!(reply.status == 200 && !reply.text().contains("<script>"), "{odd}");
    }
}

/// Promise: a machine of a log is found by its name; the whole system does not count as a machine.
#[test]
fn machines_of_a_log_are_found_by_name() {
    let place = Place::new();
    let job = |id: u32, node: &str| {
        let times = "2024-01-01T00:00:00Z|2024-01-01T00:00:10Z|2024-01-01T00:01:50Z";
        format!("{id}|COMPLETED|{times}|2|{node}\n")
    };
    let header = "JobID|State|Submit|Start|End|NCPUS|NodeList\n";
    place.raw("log.sacct", format!("{header}{}{}", job(1, "cpn-1"), job(2, "cpn-2")));
    place.run(&["ingest", "trace/log.sacct", "--lake", "lake"]).ok();
    let portal = start(&place, &["--lake=log=lake"]);
    let page = |id: &str| {
        portal.get(&format!("/find?{}", encoded(&[("what", "machine"), ("id", id)]))).text()
    };
    let found = page("cpn-2");
    assert!(found.contains("what=job&amp;id=2\"") && !found.contains("what=job&amp;id=1\""));
    for none in ["cpn-3", "1"] {
        assert!(page(none).contains("has no machine with this id"), "{none}");
    }
    assert!(page("cpn-3").contains("id=cpn-1\">cpn-1</a>"), "a near name is suggested");
    let list = portal.get("/find?what=machine&list=yes").text();
    assert!(list.contains("All 2 machines") && list.contains(">cpn-1</a>"), "{list}");
}

/// Promise: opening the page of a user starts nothing; only its form does. The page then shows the
/// indices of the user among those of all users, with the words of the report.
#[test]
fn the_indices_of_a_user_stand_beside_those_of_the_others() {
    let place = Place::new();
    let portal = portal(&place, &[]);
    let answer = portal.get("/api/fairness?index=metered").json();
    let user = answer["heaviest"][0]["user"].as_str().unwrap().to_owned();
    let address =
        format!("/find?{}", encoded(&[("lake", "lake"), ("what", "user"), ("id", &user)]));
    let page = portal.get(&address).text();
    assert!(page.contains(">Evaluate<") && !page.contains("data-phase"), "{page}");
    let session = portal.session();
    let asked = portal.post(&session, "/find", &[("lake", "lake"), ("id", &user)]);
    assert_eq!((asked.status, asked.header("location")), (303, Some(address.as_str())));
    let page = portal.ended(&address);
    let lake = lake().display().to_string();
    let indices = ["--index=metered", "--index=condor", "--what-if", "--chart-format=svg"];
    place.run(&[&["fairness", "--lake", &lake, "--out", "found"][..], &indices].concat()).ok();
    place.run(&["report", "found"]).ok();
    let report = fs::read_to_string(place.path("found/report/users/0001.html")).unwrap();
    for words in ["At the end its effective user priority (condor) is ", "This user "] {
        let said = between(&report, words, "</p>").unwrap();
        assert!(page.contains(&format!("{words}{said}")), "{words}{said}");
    }
    assert!(page.contains("median user") && page.contains("All users under these indices"));
    // A user without usage has no indices, and a missing lake has no question.
    assert!(!portal.get("/find?lake=lake&what=user&id=nobody").text().contains("data-phase"));
    assert_eq!(portal.post(&session, "/find", &[("lake", "other"), ("id", "x")]).status, 400);
}

/// Promise: the pages of the report are served unchanged, and no other file of its folder.
#[test]
fn the_report_is_served_as_its_manifest_lists_it() {
    let place = Place::new();
    let lake = lake().display().to_string();
    place.run(&["account", "--lake", &lake, "--cpu", "slots", "--out", "results"]).ok();
    place.run(&["report", "results"]).ok();
    let portal = portal(&place, &["--results", "results"]);
    let page = portal.get("/report/index.html");
    assert_eq!(page.body, fs::read(place.path("results/report/index.html")).unwrap());
    fs::write(place.path("results/report/stray.html"), "stray").unwrap();
    for name in ["stray.html", "files.json", "../result.json", "", "data", "%2e%2e/result.json"] {
        assert_eq!(portal.get(&format!("/report/{name}")).status, 404, "{name}");
    }
    let said = place.run(&["serve", "--lake", &lake, "--results", "state"]);
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    let said = place.run(&["serve", "--lake", &lake, "--results", "none", "--state", "other"]);
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    assert!(said.stderr.contains("jobfate analyze LAKE --out none"), "{}", said.stderr);
    assert!(portal.said.lock().is_ok());
}

/// A job of an SWF log: submission, wait, run time, processors, user.
fn swf_line(number: usize) -> String {
    let (user, run) = (number * 7 % 11, 60 + number * 13 % 900);
    format!(
        "{number} {} {} {run} {} -1 -1 {} -1 -1 1 {user} 1 -1 1 -1 -1 -1\n",
        number * 30,
        number % 40,
        1 + number % 4,
        1 + number % 4
    )
}

/// Makes the log `lake.swf` with some jobs in each folder, and in all folders but the last also the
/// lake `lake`.
fn logs_of_one_name(place: &Place, counts: &[(&str, usize)]) {
    for (number, (folder, count)) in (1..).zip(counts) {
        fs::create_dir(place.path(folder)).unwrap();
        let lines: String = (1..=*count).map(swf_line).collect();
        let log = format!("{folder}/lake.swf");
        let head = "; Version: 2.2\n; MaxProcs: 64\n; UnixStartTime: 0\n";
        fs::write(place.path(&log), format!("{head}{lines}")).unwrap();
        if number < counts.len() {
            place.run(&["ingest", &log, "--lake", &format!("{folder}/lake")]).ok();
        }
    }
}

/// If there are several clusters, no form takes the first by default.
#[track_caller]
fn assert_a_cluster_is_asked_for(portal: &Portal, session: &Session) {
    for path in ["/ask/classify", "/fairness"] {
        let reply = portal.post(session, path, &[("use", "metered")]);
        let text = reply.text();
        assert!(reply.status == 422 && text.contains("choose a cluster"), "{path}: {text}");
    }
}

/// Promise: lakes in folders of the same name are kept apart on every page, in the API, in
/// questions and after a restart, for any order on the command line.
#[test]
fn lakes_in_folders_of_the_same_name_are_distinguished() {
    let place = Place::new();
    let counts = [("one", 40), ("two", 90), ("live", 150)];
    logs_of_one_name(&place, &counts);
    let watch = ["--watch", "live/lake.swf"];
    let portal =
        start(&place, &[&["--lake", "one/lake", "--lake", "two/lake"], &watch[..]].concat());
    let total = |portal: &Portal, name: &str| {
        portal.get(&format!("/api/classify?lake={name}")).json()["total"].as_u64()
    };
    let (home, form) = (portal.get("/").text(), portal.get("/fairness").text());
    let (ask, session) = (portal.get("/ask/account").text(), portal.session());
    let mut asked = Vec::new();
    for (name, count) in counts {
        assert_eq!(total(&portal, name), Some(count as u64), "{name}");
        assert!(home.contains(&format!("/fairness?lake={name}\">{name}</a>")), "{name}");
        let value = format!("name=\"lake\" value=\"{name}\"");
        assert!([&form, &ask].iter().all(|page| page.matches(&value).count() == 1), "{name}");
        let user = portal.get(&format!("/find?lake={name}&what=user&id=1")).text();
        let own = (1..=count).filter(|number| number * 7 % 11 == 1).count();
        assert!(user.contains(&format!("Of {own} jobs")), "{name}: {own}");
        let job = location(&portal.post(&session, "/ask/classify", &[("lake", name)]));
        let page = portal.ended(&job);
        assert!(page.contains(&format!("<h1>Classify of {name}</h1>")), "{page}");
        // The answer comes before the notes.
        let answer = page.find("<p class=\"answer\">Of ").unwrap_or_else(|| panic!("{page}"));
        assert!(page.find("class=\"found\"").is_none_or(|notes| answer < notes), "{page}");
        let file = between(&page, &format!("href=\"{job}/data/"), "\"").unwrap();
        let table = portal.get(&format!("{job}/data/{file}")).text();
        let place_of = table.lines().next().unwrap().split(',').position(|name| name == "count");
        let rows = table.lines().skip(1).map(|row| row.split(',').nth(place_of.unwrap()).unwrap());
        assert_eq!(rows.map(|count| count.parse::<usize>().unwrap()).sum::<usize>(), count);
        let fields =
            [("lake", name), ("use", "metered"), ("cpu", "requested"), ("action", "evaluate")];
        let shared = location(&portal.post(&session, "/fairness", &fields));
        let id = between(&portal.ended(&shared), "data-job=\"", "\"").unwrap();
        let usage = portal.get(&format!("/jobs/{id}/data/usage.csv")).body;
        if name != "live" {
            let (lake, out) = (format!("{name}={name}/lake"), format!("out-{name}"));
            let args = ["fairness", "--index", "metered", "--cpu", "requested"];
            place.run(&[&args[..], &["--lake", &lake, "--out", &out]].concat()).ok();
            assert_eq!(usage, fs::read(place.path(&format!("{out}/usage.csv"))).unwrap());
        }
        asked.push((job, id, usage));
    }
    assert_eq!(portal.get("/api/classify?lake=lake").status, 400, "no lake has this name");
    assert_a_cluster_is_asked_for(&portal, &session);
    let both = [("lake", "one"), ("lake", "two"), ("use", "metered"), ("cpu", "requested")];
    let both = location(&portal.post(
        &session,
        "/fairness",
        &[&both[..], &[("action", "evaluate")]].concat(),
    ));
    assert!(portal.ended(&both).contains("one + two"));
    drop(portal);
    // With the lakes in another order, each answer is still that of its lake.
    let portal =
        start(&place, &[&watch[..], &["--lake", "two/lake", "--lake", "one/lake"]].concat());
    for ((name, count), (job, id, usage)) in counts.iter().zip(&asked) {
        assert_eq!(total(&portal, name), Some(*count as u64), "{name}");
        let page = portal.get(job).text();
        assert!(page.contains(&format!("of {name}</h1>")) && !page.contains("has grown"), "{name}");
        assert_eq!(&portal.get(&format!("/jobs/{id}/data/usage.csv")).body, usage);
    }
    drop(portal);
    // An answer stays after its lake is removed, and says so.
    let portal = start(&place, &["--lake", "two=two/lake"]);
    assert_eq!(portal.get("/jobs").text().matches("no longer served: one)").count(), 3);
    let [page, other] = [0, 1].map(|of: usize| portal.get(&asked[of].0).text());
    assert!(page.contains("no longer serves one") && !other.contains("no longer serves"), "{page}");
    assert!(!page.contains("Run again"));
}

/// The rows of an answer, without the fields about its origin.
fn rows_of(answer: &Value) -> Value {
    answer["table"].clone()
}

/// The answers about a followed log are those of a single ingest.
fn assert_like_the_whole(place: &Place, portal: &Portal, log: &Path) {
    fs::copy(log, place.path("whole.swf")).unwrap();
    place.run(&["ingest", "whole.swf", "--lake", "whole"]).ok();
    for (name, more) in
        [("classify", vec![]), ("account", vec!["--cpu", "requested"]), ("load", vec![])]
    {
        let query: Vec<(&str, &str)> = more
            .chunks(2)
            .map(|pair: &[&str]| (pair[0].trim_start_matches('-'), pair[1]))
            .collect();
        let ours = portal.get(&format!("/api/{name}?lake=live&{}", encoded(&query))).json();
        let theirs = place
            .run(&[&[name, "--lake", "whole", "--format", "json"], more.as_slice()].concat())
            .ok()
            .json();
        assert_eq!(rows_of(&ours), rows_of(&theirs), "{name}");
        assert_eq!(ours["inputs"][0]["rows"], theirs["inputs"][0]["rows"], "{name}");
    }
}

/// Promise: only whole lines of a growing log are read, and at the end the answers are those of a
/// single ingest.
#[test]
fn a_log_that_grows_is_followed_to_the_answer_of_the_whole() {
    let place = Place::new();
    let head = "; Version: 2.2\n; MaxProcs: 64\n; UnixStartTime: 0\n";
    let log = place.path("jobs.swf");
    let lines: Vec<String> = (1..=600).map(swf_line).collect();
    fs::write(&log, format!("{head}{}", lines[..100].concat())).unwrap();
    let portal = start(&place, &["--watch", "live=jobs.swf"]);
    let session = portal.session();
    let shared = location(&portal.post(
        &session,
        "/fairness",
        &[("lake", "live"), ("use", "metered"), ("cpu", "requested"), ("action", "evaluate")],
    ));
    let page = portal.ended(&shared);
    assert!(page.contains("data-phase=\"done\""), "{page}");
    let id = between(&page, "data-job=\"", "\"").unwrap();
    // An open page shows the question, so that it is answered again.
    let mut events = portal.connect();
    write!(events, "GET /events?job={id} HTTP/1.1\r\nHost: {}\r\n\r\n", portal.host()).unwrap();
    let rest = lines[100..].concat();
    let mut file = fs::OpenOptions::new().append(true).open(&log).unwrap();
    let mut lag = Duration::ZERO;
    for piece in rest.as_bytes().chunks(rest.len() / 5 + 7) {
        // Pieces end inside a line.
        file.write_all(piece).unwrap();
        thread::sleep(Duration::from_millis(600));
    }
    let begun = now();
    let count = |portal: &Portal| {
        let answer = portal.get("/api/classify?lake=live").json();
        answer["total"].as_u64().unwrap()
    };
    while count(&portal) < 600 {
        assert!(begun.elapsed() < Duration::from_mins(1), "{}", count(&portal));
        lag = begun.elapsed();
        thread::sleep(Duration::from_millis(100));
    }
    eprintln!("followed to the last line in {lag:?}");
    assert_like_the_whole(&place, &portal, &log);
    // The open page has the users of the whole log.
    place
        .run(&[
            "fairness",
            "--lake",
            "live=whole",
            "--index",
            "metered",
            "--cpu",
            "requested",
            "--out",
            "out",
        ])
        .ok();
    let whole = fs::read(place.path("out/usage.csv")).unwrap();
    let same = (0..300).any(|_| {
        thread::sleep(Duration::from_millis(100));
        portal.get(&format!("/jobs/{id}/data/usage.csv")).body == whole
    });
    assert!(same, "the open page follows");
}

/// Promise: a folder grows by whole parts, and ends with the answer of a single ingest.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn a_folder_that_grows_is_followed_part_by_part() {
    let place = Place::new();
    place.run(&["synth", "trace", "--jobs", "120", "--days", "1", "--seed", "9"]).ok();
    fs::create_dir_all(place.path("growing")).unwrap();
    let mut parts: Vec<std::path::PathBuf> = Vec::new();
    for table in
        fs::read_dir(place.path("trace")).unwrap().flatten().filter(|entry| entry.path().is_dir())
    {
        parts.extend(fs::read_dir(table.path()).unwrap().flatten().map(|entry| entry.path()));
    }
    parts.sort();
    let put = |part: &Path| {
        let name = part.strip_prefix(place.path("trace")).unwrap();
        let to = place.path("growing").join(name);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        let bytes = fs::read(part).unwrap();
        // Written in two pieces, like a copy over a network.
        fs::write(&to, &bytes[..bytes.len() / 2]).unwrap();
        thread::sleep(Duration::from_millis(300));
        fs::write(&to, &bytes).unwrap();
    };
    put(&parts[0]);
    thread::sleep(Duration::from_millis(2500));
    let portal = start(&place, &["--watch", "live=growing"]);
    parts[1..].iter().for_each(|part| put(part));
    place.run(&["ingest", "trace", "--lake", "whole"]).ok();
    let theirs = place
        .run(&["account", "--lake", "whole", "--cpu", "requested", "--format", "json"])
        .ok()
        .json();
    let begun = now();
    loop {
        let reply = portal.get("/api/account?lake=live&cpu=requested");
        if reply.status == 200 && rows_of(&reply.json()) == rows_of(&theirs) {
            break;
        }
        assert!(begun.elapsed() < Duration::from_mins(1), "{}", reply.text());
        thread::sleep(Duration::from_millis(300));
    }
}

/// Promise: in a real browser an index can be entered and saved, and its chart can be read. It
/// still exists after the portal is killed.
#[test]
fn a_browser_enters_an_index_and_reads_its_chart() {
    let Some(python) = python("playwright") else { return };
    let said = script(&python, "portal_pages.py", &[env!("CARGO_BIN_EXE_jobfate")]);
    if said.contains("SKIPPED:") {
        skipped(&said);
    } else {
        assert!(said.contains(" passed, 0 failed"), "{said}");
    }
}
