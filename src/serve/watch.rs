//! Lakes of logs and folders that grow while the portal serves.
//!
//! In: logs and folders to follow. Out: successive versions of lakes, and messages to the pages. A
//! log is read again as a whole, from its copy, into a new lake. Questions about the earlier lake
//! are still answered from it. The new lake equals that of a single ingest. Parts of a folder are
//! added one by one, each completely.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{interval, sleep};

use super::follow::{Folder, Log};
use super::lakes::Version;
use super::portal::Portal;
use super::runner::grown;
use super::state::wall_clock;
use super::worker::{self, End, Meter, Order};
use crate::faults::{Context, Hindered, Result, Usage};

/// How often logs and folders are checked.
const LOOK: Duration = Duration::from_millis(500);

/// A followed log or folder.
#[derive(Debug)]
pub(super) struct Followed {
    name: String,
    folder: PathBuf,
    what: What,
    rounds: u64,
}

#[derive(Debug)]
enum What {
    Log(Log),
    Folder(Folder),
}

impl Followed {
    /// Starts to follow a file or a folder.
    pub(super) fn open(portal: &Portal, name: &str, from: &Path) -> Result<Self> {
        let failed = || format!("could not follow `{}`", from.display());
        let about = fs::metadata(from).with_context(failed)?;
        let folder = portal.state.followed(name).with_context(failed)?;
        let is_packed = from.extension().is_some_and(|end| end == "gz");
        if is_packed && about.is_file() {
            let said = format!(
                "`{}` is compressed: --watch follows plain files and folders",
                from.display()
            );
            return Err(Usage(said).into());
        }
        // Lakes of logs are made again from what an earlier portal has copied.
        for entry in fs::read_dir(&folder).with_context(failed)?.flatten() {
            if entry.file_name().to_string_lossy().starts_with("lake-") {
                fs::remove_dir_all(entry.path()).with_context(failed)?;
            }
        }
        let what = if about.is_dir() {
            What::Folder(Folder::open(from, &folder).with_context(failed)?)
        } else {
            What::Log(Log::open(from, &folder).with_context(failed)?)
        };
        Ok(Self { name: name.to_owned(), folder, what, rounds: 0 })
    }

    /// The first version of the lake.
    pub(super) async fn first(&mut self, portal: &Portal) -> Result<Version> {
        self.take().with_context(|| format!("could not read what `{}` follows", self.name))?;
        match self.ingest(portal).await {
            Ok(version) => Ok(version),
            Err(said) => {
                let said =
                    format!("what `{}` follows cannot be read as a lake yet: {said}", self.name);
                Err(Hindered(said).into())
            }
        }
    }

    fn take(&mut self) -> std::io::Result<u64> {
        match &mut self.what {
            What::Log(log) => log.take(),
            What::Folder(folder) => folder.take(wall_clock()),
        }
    }

    /// Reads what was taken so far into a lake.
    async fn ingest(&mut self, portal: &Portal) -> Result<Version, String> {
        self.rounds += 1;
        let (from, lake) = match &self.what {
            What::Log(log) => (log.copy(), self.folder.join(format!("lake-{}", self.rounds))),
            What::Folder(folder) => (folder.links(), self.folder.join("lake")),
        };
        let is_log = matches!(self.what, What::Log(_));
        let order = Order {
            program: portal.program.clone(),
            words: vec![
                "ingest".to_owned(),
                from.display().to_string(),
                format!("--lake={}", lake.display()),
            ],
            folder: portal.state.work(),
            time: portal.limits.job_time,
            memory: portal.limits.memory,
            threads: portal.threads,
        };
        let outcome = worker::run(&order, &Meter::default(), portal.end()).await;
        let outcome = outcome.map_err(|error| error.to_string())?;
        // A damaged part of a folder does not affect the others.
        if outcome.end != End::Code(0) && (is_log || !matches!(outcome.end, End::Code(_))) {
            return Err(outcome.error(&order));
        }
        Version::open(&lake, is_log).map_err(|error| {
            let said = outcome.error(&order);
            if outcome.end == End::Code(0) { error.to_string() } else { said }
        })
    }
}

/// Follows until the portal stops.
pub(super) async fn follow(portal: Arc<Portal>, mut followed: Followed) {
    let mut ticks = interval(LOOK);
    loop {
        tokio::select! {
            () = portal.end() => return,
            _ = ticks.tick() => {}
        }
        let come = followed.take();
        match come {
            Ok(0) => continue,
            Ok(_) => {}
            Err(error) => {
                (portal.say)(&format!("warning: `{}` could not be read: {error}", followed.name));
                sleep(LOOK * 10).await;
                continue;
            }
        }
        let begun = crate::progress::now();
        match followed.ingest(&portal).await {
            Ok(version) => {
                if let Some(at) = portal.lakes.find(&followed.name) {
                    let is_other = at.now().stamp != version.stamp;
                    at.put(version);
                    portal.metrics.follow(begun.elapsed());
                    if is_other {
                        grown(&portal, &followed.name);
                    }
                }
            }
            Err(_) if *portal.stopped().borrow() => return,
            Err(said) => {
                (portal.say)(&format!("warning: `{}` was not read again: {said}", followed.name));
            }
        }
    }
}
