//! Updates of open pages, as server-sent events.
//!
//! In: events of the portal. Out: lines of JSON to every open page. A page that is too slow gets a
//! message to reload its contents. The number of open pages is limited.

use std::sync::Arc;
use std::time::Duration;

use hyper::body::Bytes;
use serde::Serialize;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast, mpsc, watch};
use tokio::time::interval;

/// Largest number of pages that listen at the same time.
const PAGES_MAX: usize = 200;

/// Largest number of events that a slow page may be behind.
const BEHIND_MAX: usize = 256;

/// How often an empty message is sent to each page, to show that the portal is still there.
const PULSE: Duration = Duration::from_secs(10);

/// A change that pages show.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum Event {
    /// A job changed or made progress.
    Job {
        /// Its id.
        id: String,
        /// Its phase.
        phase: &'static str,
        /// Its progress; `None` if unknown.
        percent: Option<u64>,
    },
    /// A lake has grown.
    Lake {
        /// Its name.
        name: String,
    },
    /// The page was too slow and missed events.
    Lost,
}

/// Sends events to pages.
#[derive(Debug)]
pub(super) struct Hub {
    sender: broadcast::Sender<Event>,
    places: Arc<Semaphore>,
}

impl Default for Hub {
    fn default() -> Self {
        let places = Arc::new(Semaphore::new(PAGES_MAX));
        Self { sender: broadcast::Sender::new(BEHIND_MAX), places }
    }
}

impl Hub {
    /// Sends an event to every page.
    pub(super) fn tell(&self, event: Event) {
        // There may be no listener.
        let _ = self.sender.send(event);
    }

    /// The number of pages that listen.
    pub(super) fn listeners(&self) -> usize {
        self.sender.receiver_count()
    }

    /// The messages to a page, until it closes or the portal stops; `None` if too many pages
    /// listen. `held` is dropped at the end.
    pub(super) fn listen(
        &self,
        stopped: watch::Receiver<bool>,
        held: impl Send + 'static,
    ) -> Option<mpsc::Receiver<Bytes>> {
        let place = Arc::clone(&self.places).try_acquire_owned().ok()?;
        let (to, from) = mpsc::channel(8);
        let events = self.sender.subscribe();
        tokio::spawn(async move {
            pass_on(events, to, stopped, place).await;
            drop(held);
        });
        Some(from)
    }
}

async fn pass_on(
    mut events: broadcast::Receiver<Event>,
    to: mpsc::Sender<Bytes>,
    mut stopped: watch::Receiver<bool>,
    _place: OwnedSemaphorePermit,
) {
    let mut pulse = interval(PULSE);
    loop {
        let line = tokio::select! {
            _ = stopped.wait_for(|is_over| *is_over) => return,
            () = to.closed() => return,
            _ = pulse.tick() => Bytes::from_static(b": here\n\n"),
            event = events.recv() => match event {
                Ok(event) => line(&event),
                Err(RecvError::Lagged(_)) => line(&Event::Lost),
                Err(RecvError::Closed) => return,
            },
        };
        if to.send(line).await.is_err() {
            return;
        }
    }
}

fn line(event: &Event) -> Bytes {
    let text = serde_json::to_string(event).unwrap_or_default();
    Bytes::from(format!("data: {text}\n\n"))
}
