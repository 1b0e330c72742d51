//! The state that all requests share.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;

use tokio::sync::{Semaphore, watch};

use super::ask::Asks;
use super::cache::Cache;
use super::config::{Config, Limits};
use super::events::Hub;
use super::fairness::own::Shelf;
use super::gate::Gate;
use super::lakes::Lakes;
use super::metrics::{Gauge, Metrics};
use super::queue::Queue;
use super::report::Report;
use super::state::State;
use super::worker;
use crate::faults::{Context, Result};

/// The state that all requests share.
#[derive(Debug)]
pub(super) struct Portal {
    pub gate: Gate,
    pub lakes: Lakes,
    pub report: Option<Report>,
    pub state: State,
    pub asks: Asks,
    pub cache: Cache,
    pub hub: Hub,
    pub queue: Queue,
    /// Indices that users saved.
    pub saved: Shelf,
    /// Programs of the operator, by name.
    pub programs: Vec<(String, String)>,
    /// Prints a message for the operator.
    pub say: fn(&str),
    pub metrics: Metrics,
    pub limits: Limits,
    /// One permit for each question that runs at the same time.
    pub workers: Semaphore,
    /// One permit for each search at the same time.
    pub looks: Semaphore,
    /// The path of this program.
    pub program: PathBuf,
    /// Threads of a worker.
    pub threads: usize,
    /// The address that it listens on.
    pub at: SocketAddr,
    listener: TcpListener,
    stop: watch::Sender<bool>,
}

/// Clients that may wait to be accepted while the portal is busy; the system may allow fewer.
const UNACCEPTED_MAX: i32 = 1024;

/// Listens with a longer queue than the 128 places of the standard library. A client that finds no
/// place tries again only after a second or more.
fn listen(at: SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(at)?;
    rustix::net::listen(&listener, UNACCEPTED_MAX)?;
    Ok(listener)
}

impl Portal {
    /// Opens the state, the lakes and the report, and listens.
    pub(super) fn open(config: Config) -> Result<Self> {
        let listener = listen(config.listen)
            .with_context(|| format!("could not listen on {}", config.listen))?;
        let at = listener.local_addr().context("could not listen")?;
        let state = State::open(&config.state)?;
        let lakes = Lakes::open(&absolute(&config.lakes)?)?;
        let (saved, damaged) = state.indices().context("could not read the saved indices")?;
        for path in damaged {
            (config.say)(&format!("warning: `{}` is damaged and left out", path.display()));
        }
        let queue = Queue::of(state.jobs().context("could not read the jobs")?);
        let report = config.results.as_deref().map(Report::open).transpose()?;
        let port = at.port();
        let own = at.ip().is_loopback().then_some(["localhost", "127.0.0.1", "[::1]"]);
        let own = own.into_iter().flatten().map(|name| format!("{name}:{port}"));
        let mut hosts: Vec<String> = own.chain([at.to_string()]).collect();
        // A name without a port is that of a proxy on the default port.
        hosts.extend(config.hosts.iter().cloned());
        let gate = Gate::new(hosts, config.token, state.secret);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let limits = config.limits;
        Ok(Self {
            gate,
            lakes,
            report,
            state,
            asks: Asks::new(config.commands),
            cache: Cache::default(),
            hub: Hub::default(),
            queue,
            saved: Shelf::of(saved),
            programs: config.programs,
            say: config.say,
            metrics: Metrics::default(),
            limits,
            workers: Semaphore::new(limits.workers),
            looks: Semaphore::new(limits.workers),
            program: worker::this_program().context("could not find this program")?,
            threads: cores.div_ceil(limits.workers).max(1),
            at,
            listener,
            stop: watch::Sender::new(false),
        })
    }

    /// A copy of the listener, not blocking.
    pub(super) fn listener(&self) -> io::Result<TcpListener> {
        let listener = self.listener.try_clone()?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    }

    /// Stops everything that runs.
    pub(super) fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// A receiver that is true when everything must stop.
    pub(super) fn stopped(&self) -> watch::Receiver<bool> {
        self.stop.subscribe()
    }

    /// Waits until everything must stop.
    pub(super) async fn end(&self) {
        // The sender lives as long as the portal, so this cannot fail.
        let _ = self.stopped().wait_for(|is_over| *is_over).await;
    }

    /// The gauges that are shown with the counters.
    pub(super) fn gauges(&self) -> Vec<Gauge> {
        #[expect(clippy::cast_precision_loss, reason = "a handful")]
        let busy = (self.limits.workers - self.workers.available_permits()) as f64;
        let [waiting, running] = self.queue.open();
        #[expect(clippy::cast_precision_loss, reason = "a handful")]
        let count = |count: usize| count as f64;
        vec![
            ("workers_busy", "Questions that run now", busy),
            ("jobs_waiting", "Jobs that wait", count(waiting)),
            ("jobs_running", "Jobs that run", count(running)),
            ("pages_listening", "Open pages that get updates", count(self.hub.listeners())),
            ("saved_indices", "Indices that users saved", count(self.saved.all().len())),
        ]
    }
}

/// The lakes with absolute folders, since workers run in another folder.
fn absolute(lakes: &[(String, PathBuf)]) -> Result<Vec<(String, PathBuf)>> {
    let absolute = |(name, path): &(String, PathBuf)| {
        let whole = path
            .canonicalize()
            .with_context(|| format!("could not open the lake `{}`", path.display()))?;
        Ok((name.clone(), whole))
    };
    lakes.iter().map(absolute).collect()
}
