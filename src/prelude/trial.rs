//! A small generated lake for examples and trials.

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{Error, Ingest};
use crate::lake::Lake;
use crate::synth::{SynthConfig, write_trace};

/// A generated lake of a few hundred jobs in a temporary folder, which is removed on drop.
///
/// It is the same every time: ten hours of a small cluster, with every kind of outcome, restarts,
/// stragglers and measured use.
#[derive(Debug)]
pub struct Sample {
    folder: PathBuf,
    lake: Lake,
}

impl Sample {
    /// Writes the raw trace and ingests it.
    ///
    /// # Errors
    /// The temporary folder cannot be written.
    pub fn lake() -> Result<Self, Error> {
        let folder = Self::trace()?;
        Ingest::of(&folder)?.into(folder.join("lake")).buckets(4).run()?;
        let lake = Lake::open(folder.join("lake"))?;
        Ok(Self { folder, lake })
    }

    /// Writes only the raw trace, into a new temporary folder that is not removed.
    ///
    /// # Errors
    /// The temporary folder cannot be written.
    pub fn trace() -> Result<PathBuf, Error> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let folder =
            std::env::temp_dir().join(format!("jobfate-sample-{}-{number}", std::process::id()));
        let config = SynthConfig {
            job_count: 300,
            days: 10.0 / 24.0,
            part_count: 4,
            ..SynthConfig::default()
        };
        write_trace(&config, &folder, &|_| ())?;
        Ok(folder)
    }
}

impl Deref for Sample {
    type Target = Lake;

    fn deref(&self) -> &Lake {
        &self.lake
    }
}

impl Drop for Sample {
    fn drop(&mut self) {
        // A folder that cannot be removed stays, like other temporary files.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
