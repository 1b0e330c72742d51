//! The portal, `jobfate serve`: pages of a report, forms, jobs and answers over HTTP.
//!
//! In: lakes, a folder of results, and requests. Out: pages and the JSON of commands. Nothing in a
//! request becomes a path: lakes, programs and files are chosen by names that the operator gave or
//! that a manifest lists. Nothing slow runs in this process: each question is a separate process of
//! this program, so its time, memory and output are limited, and it can be cancelled.
//!
//! ```text
//!  request ─► gate (host, origin, token) ─► routes ─► pages, api ─► ask (checked by the flags)
//!                                                          └─► queue ─► worker (a process)
//! ```
//!
//! The server is hyper with our own limits. It promises to end within 2 s and to serve 200 clients
//! at the same time. Slow clients do not affect others. `tiny_http` has no limit for slow clients;
//! `axum` leaves the same limits to us and takes 39 s of CPU to build where hyper takes 24 s (tokio
//! and maud included). One thread serves everything, since it only passes bytes on.

use std::sync::Arc;

use crate::faults::{Context, Result};

mod answers;
mod api;
mod ask;
mod asked;
mod attempts;
mod beside;
mod body;
mod cache;
mod config;
mod events;
mod fairness;
mod fields;
mod find;
mod follow;
mod form;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzed;
mod gate;
mod guide;
mod http;
mod jobs;
mod lakes;
mod look;
mod metrics;
mod names;
mod near;
mod openapi;
mod pages;
mod portal;
mod queue;
mod reply;
mod report;
mod routes;
mod runner;
mod secret;
mod start;
mod state;
mod watch;
mod worker;

pub use config::{Config, Limits};
pub use names::{Named, named};
pub use secret::new_token;
pub use worker::MEMORY;

/// Serves until SIGINT or SIGTERM.
///
/// # Errors
/// A lake, the results, the state or the address cannot be used.
pub fn run(config: Config) -> Result<()> {
    let say = config.say;
    let watched = config.watch.clone();
    let mut portal = portal::Portal::open(config)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("could not start serving")?;
    let mut followed = Vec::new();
    for (name, from) in &watched {
        let mut one = watch::Followed::open(&portal, name, from)?;
        let version = runtime.block_on(one.first(&portal))?;
        portal.lakes.add(name.clone(), version)?;
        followed.push(one);
    }
    let done = runtime.block_on(http::serve(Arc::new(portal), followed));
    // Threads that still read a file are not waited for.
    runtime.shutdown_background();
    say("stopped");
    done
}
