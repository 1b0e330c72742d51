//! Updates of open pages, as server-sent events.
//!
//! In: events of the portal. Out: lines of JSON to every open page. A page that is too slow gets
//! the message to reload itself; the number of open pages is limited.

use std::sync::Arc;
use std::time::Duration;

use hyper::body::Bytes;
use serde::Serialize;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast, mpsc, watch};
use tokio::time::interval;

/// Pages that listen at once.
const PAGES_MAX: usize = 200;

/// Events that a slow page may be behind.
const BEHIND_MAX: usize = 256;

/// How often a page hears something, so that it knows that the portal is there.
const PULSE: Duration = Duration::from_secs(10);

/// Something that pages show.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum Event {
    /// A job went on.
    Job {
        /// Which.
        id: String,
        /// What it does now.
        phase: &'static str,
        /// How much of it is done.
        percent: Option<u64>,
    },
    /// A lake has grown.
    Lake {
        /// Which.
        name: String,
    },
    /// Too much happened to be told.
    Lost,
}

/// Tells pages what happens.
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
    /// Tells every page.
    pub(super) fn tell(&self, event: Event) {
        // There may be no listener.
        let _ = self.sender.send(event);
    }

    /// Pages that listen.
    pub(super) fn listeners(&self) -> usize {
        self.sender.receiver_count()
    }

    /// What a page hears until it goes, or everything ends; none where too many listen. `held` is
    /// dropped then.
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
