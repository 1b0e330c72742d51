//! `GET /api/...`: the JSON of a command, as `--format json` prints it.
//!
//! In: the name of a command and parameters that are its flags. Out: the bytes that a process of
//! the command prints. A cached answer is valid until one of its lakes grows.

use std::sync::Arc;

use hyper::StatusCode;
use hyper::body::Bytes;
use tokio::time::timeout;

use super::ask::{Wrong, answers};
use super::form::Pairs;
use super::lakes::Version;
use super::metrics::Question;
use super::portal::Portal;
use super::reply::{self, Reply};
use super::worker::{self, End, Meter, Order};

/// The command line of a question, and the versions of its lakes. Their files stay on disk while
/// the caller holds the versions.
pub(super) fn question(
    portal: &Portal,
    name: &str,
    pairs: &Pairs,
) -> Result<(Vec<String>, Vec<Arc<Version>>), Wrong> {
    let lakes = portal.lakes.chosen(pairs.all("lake")).map_err(|said| Wrong::of("lake", said))?;
    if name != "fairness" && 1 < lakes.len() {
        return Err(Wrong::of("lake", format!("`{name}` takes one lake")));
    }
    let others = pairs.filled().filter(|(key, _)| *key != "lake");
    let words = portal.asks.words(name, others)?;
    let versions: Vec<Arc<Version>> = lakes.iter().map(|at| at.now()).collect();
    let folders = lakes.iter().zip(&versions).map(|(at, version)| {
        let folder = version.path.display();
        if name == "fairness" {
            format!("--lake={}={folder}", at.name)
        } else {
            format!("--lake={folder}")
        }
    });
    Ok((std::iter::once(name.to_owned()).chain(folders).chain(words).collect(), versions))
}

/// Answers a question.
pub(super) async fn answer(portal: &Portal, name: &str, pairs: &Pairs) -> Reply {
    if answers().all(|known| known != name) {
        let known: Vec<&str> = answers().collect();
        let said = format!("there is no such answer (known: {})", known.join(", "));
        return reply::json_error(StatusCode::NOT_FOUND, None, &said);
    }
    let (mut words, versions) = match question(portal, name, pairs) {
        Ok(question) => question,
        Err(wrong) => {
            let parameter = wrong.parameter.as_deref();
            return reply::json_error(StatusCode::BAD_REQUEST, parameter, &wrong.said);
        }
    };
    words.push("--format=json".to_owned());
    let stamps: Vec<&str> = versions.iter().map(|version| version.stamp.as_str()).collect();
    let key = format!("{words:?} {stamps:?}");
    if let Some(known) = portal.cache.get(&key) {
        return reply::json_bytes(StatusCode::OK, known);
    }
    let Ok(Ok(_place)) = timeout(portal.limits.time, portal.workers.acquire()).await else {
        return reply::busy("all workers are busy: ask again later");
    };
    // The question that held the permit before may have been the same.
    if let Some(known) = portal.cache.get(&key) {
        return reply::json_bytes(StatusCode::OK, known);
    }
    let order = order(portal, words);
    let outcome = match worker::run(&order, &Meter::default(), portal.end()).await {
        Ok(outcome) => outcome,
        Err(error) => {
            let said = format!("the question could not be started: {error}");
            return reply::json_error(StatusCode::INTERNAL_SERVER_ERROR, None, &said);
        }
    };
    let status = match outcome.end {
        End::Code(0) => {
            portal.metrics.question(Question::Answered);
            let answer = Bytes::from(outcome.stdout);
            portal.cache.put(key, answer.clone());
            return reply::json_bytes(StatusCode::OK, answer);
        }
        End::Code(2) => StatusCode::BAD_REQUEST,
        End::Code(3) => StatusCode::UNPROCESSABLE_ENTITY,
        End::Code(_) | End::Killed => StatusCode::INTERNAL_SERVER_ERROR,
        End::Time | End::Output | End::Cancelled => StatusCode::SERVICE_UNAVAILABLE,
    };
    let is_error = matches!(outcome.end, End::Code(_));
    portal.metrics.question(if is_error { Question::Failed } else { Question::Stopped });
    reply::json_error(status, None, &outcome.error(&order))
}

/// An order for a worker, with the limits of answers.
fn order(portal: &Portal, words: Vec<String>) -> Order {
    Order {
        program: portal.program.clone(),
        words,
        folder: portal.state.work(),
        time: portal.limits.time,
        memory: portal.limits.memory,
        threads: portal.threads,
    }
}
