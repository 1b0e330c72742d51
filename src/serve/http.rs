//! Connections: limits on their number and on slow clients, and how they end.
//!
//! In: a listener. Out: replies of [`routes`](super::routes). A client that sends no head, or does
//! not read, only occupies a connection for some seconds. Connections beyond the limit wait. At
//! SIGINT or SIGTERM, requests in progress are answered, jobs end, and the server ends after at
//! most 1.5 s.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Polled, Poll, ready};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Sleep, sleep, timeout};

use super::portal::Portal;
use super::watch::{Followed, follow};
use super::{routes, runner};
use crate::faults::{Context, Result};

/// Largest number of open connections; further ones wait to be accepted.
const CONNECTIONS_MAX: usize = 512;

/// Time limit for the head of a request, also of the next one on the same connection.
const HEAD: Duration = Duration::from_secs(5);

/// A client that reads nothing for this long is disconnected.
const STALL: Duration = Duration::from_secs(15);

/// Largest head of a request, bytes.
const HEAD_MAX: usize = 64 << 10;

/// Time that requests in progress have at the end.
const GRACE: Duration = Duration::from_millis(1500);

/// The message to the operator at the start.
fn listening(at: SocketAddr) -> String {
    let others = if at.ip().is_loopback() {
        ""
    } else {
        " (requests for any other name or address of this machine are refused: name each with --host)"
    };
    format!("listening on http://{at}/{others}")
}

/// Serves until a signal.
pub(super) async fn serve(portal: Arc<Portal>, followed: Vec<Followed>) -> Result<()> {
    let listener = portal.listener().and_then(TcpListener::from_std).context("could not listen")?;
    let catch = |kind| signal(kind).context("could not catch signals");
    let (mut interrupt, mut end) =
        (catch(SignalKind::interrupt())?, catch(SignalKind::terminate())?);
    let mut background = runner::begin(&portal);
    for one in followed {
        background.spawn(follow(Arc::clone(&portal), one));
    }
    (portal.say)(&listening(portal.at));
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut clients = JoinSet::new();
    loop {
        let accepted = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await)
        };
        tokio::select! {
            _ = interrupt.recv() => break,
            _ = end.recv() => break,
            Some(_) = clients.join_next() => {}
            (place, accepted) = accepted => match accepted {
                Ok((stream, _)) => {
                    let portal = Arc::clone(&portal);
                    clients.spawn(async move {
                        client(stream, portal).await;
                        drop(place);
                    });
                }
                // Most likely no file descriptor is free; connections that close free some.
                Err(_) => sleep(Duration::from_millis(50)).await,
            },
        }
    }
    drop(listener);
    portal.stop();
    let all = async {
        while clients.join_next().await.is_some() {}
        while background.join_next().await.is_some() {}
    };
    // Requests that are not answered by now are cut off.
    let _ = timeout(GRACE, all).await;
    Ok(())
}

/// Serves one client, until it disconnects or the portal stops.
async fn client(stream: TcpStream, portal: Arc<Portal>) {
    let _ = stream.set_nodelay(true);
    let mut stopped = portal.stopped();
    let _open = portal.metrics.connection();
    let answer = service_fn(|request| {
        let portal = Arc::clone(&portal);
        async move { Ok::<_, Infallible>(routes::answer(portal, request).await) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(HEAD_MAX);
    let io = TokioIo::new(Patient { stream, stalled: None });
    let mut connection = std::pin::pin!(http.serve_connection(io, answer));
    // An error means that the client left or did not send HTTP: there is nothing to reply.
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = stopped.wait_for(|is_over| *is_over) => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

/// A connection that fails if its client does not read for `STALL`.
struct Patient {
    stream: TcpStream,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Patient {
    fn judge<T>(
        &mut self,
        context: &mut Polled<'_>,
        done: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if done.is_ready() {
            self.stalled = None;
            return done;
        }
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(STALL)));
        ready!(stalled.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Patient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Polled<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Patient {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Polled<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(context, done)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Polled<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Polled<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
