//! Locks that decide which process may write into a lake.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use super::manifest::MANIFEST;
use super::plan::IngestPlan;
use super::{LakeError, LakeErrorKind};
use crate::files;

/// The file that a process locks while it writes into a lake.
pub(super) const LOCK: &str = ".lock";

/// Locks of a lake; the lock of the whole lake is the first. They are released when the process
/// ends.
pub(super) struct Locks(Vec<File>);

impl Drop for Locks {
    fn drop(&mut self) {
        // A child process that is just starting may hold copies of the files, so closing them here
        // would not release the locks.
        for file in &self.0 {
            let _ = file.unlock();
        }
    }
}

/// An ingest without shards excludes every other; a shard excludes only its own number.
pub(super) fn lock(plan: &IngestPlan) -> Result<Locks, LakeError> {
    let fail = |error| LakeError::new(&plan.lake, LakeErrorKind::Io(error));
    loop {
        let locks = try_lock(plan)?;
        // A run that left nothing behind may have removed the folder or the file in the meantime. A
        // lock on a deleted file excludes no other process.
        let held = locks.0[0].metadata().map_err(fail)?;
        let named = fs::metadata(plan.lake.join(LOCK));
        if named.is_ok_and(|named| (named.dev(), named.ino()) == (held.dev(), held.ino())) {
            return Ok(locks);
        }
        files::create_folder(&plan.lake).map_err(fail)?;
    }
}

pub(super) fn try_lock(plan: &IngestPlan) -> Result<Locks, LakeError> {
    let open = |name: &str| {
        let path = plan.lake.join(name);
        File::create(&path).map_err(|error| LakeError::new(&path, LakeErrorKind::Io(error)))
    };
    let busy = |result: Result<(), TryLockError>| match result {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(LakeError::new(&plan.lake, LakeErrorKind::Busy)),
        Err(TryLockError::Error(error)) => {
            Err(LakeError::new(&plan.lake, LakeErrorKind::Io(error)))
        }
    };
    let all = open(LOCK)?;
    let Some(shard) = plan.shard else {
        busy(all.try_lock())?;
        return Ok(Locks(vec![all]));
    };
    busy(all.try_lock_shared())?;
    // Programs with a different number of shards would store parts twice.
    let own_count = format!("-of-{}", shard.count());
    for entry in fs::read_dir(&plan.lake)
        .map_err(|error| LakeError::new(&plan.lake, LakeErrorKind::Io(error)))?
    {
        let entry = entry.map_err(|error| LakeError::new(&plan.lake, LakeErrorKind::Io(error)))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(".lock-") && !name.ends_with(&own_count) {
            busy(open(&name)?.try_lock())?;
        }
    }
    let own = open(&format!(".lock-{}-of-{}", shard.index(), shard.count()))?;
    busy(own.try_lock())?;
    Ok(Locks(vec![all, own]))
}

pub(super) fn own_manifest_path(plan: &IngestPlan) -> PathBuf {
    plan.lake.join(match plan.shard {
        None => MANIFEST.to_owned(),
        Some(shard) => format!("manifest-{}-of-{}.json", shard.index(), shard.count()),
    })
}

pub(super) fn work_folder(plan: &IngestPlan) -> PathBuf {
    plan.lake.join(match plan.shard {
        None => ".work".to_owned(),
        Some(shard) => format!(".work-{}-of-{}", shard.index(), shard.count()),
    })
}
