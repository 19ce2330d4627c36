//! What goes and what stays: objects whose time is over, files that no object has, results that are not on disk yet.

use std::io::ErrorKind;

use serde::Serialize;

use crate::blobs::{Blobs, hash_file, listed};
use crate::config::Keep;
use crate::error::ServeError;
use crate::store::expiry::{self, Gone};
use crate::store::{Store, objects};

/// Seconds that a job gets whose results were lost with the power, at least.
const AGAIN: i64 = 3600;

/// What a collection removed, or would remove.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Collected {
    /// Objects whose time was over, and their bytes.
    pub objects: usize,
    /// Bytes of these.
    pub bytes: u64,
    /// Jobs that ended long ago.
    pub jobs: usize,
    /// Files that no object has.
    pub orphans: usize,
    /// Bytes of these.
    pub orphan_bytes: u64,
}

/// Has the results on disk that are not yet.
pub(crate) fn settle(store: &Store, blobs: &Blobs) -> Result<(), ServeError> {
    loop {
        let waiting = store.now(expiry::unsettled)?;
        if waiting.is_empty() {
            return Ok(());
        }
        for (tenant, hash) in &waiting {
            // One that is gone needs no disk.
            blobs.settle(*tenant, hash)?;
        }
        store.now(|t| expiry::settle(t, &waiting))?;
    }
}

/// Removes the files of objects that are gone.
pub(crate) fn collect(store: &Store, blobs: &Blobs) -> Result<(), ServeError> {
    loop {
        let buried = store.now(expiry::buried)?;
        if buried.is_empty() {
            return Ok(());
        }
        store.now(|t| {
            buried.iter().try_for_each(|(tenant, hash)| {
                expiry::collect(t, (*tenant, hash), || blobs.remove(&blobs.object(*tenant, hash)))
            })
        })?;
    }
}

/// One round: results to disk, objects whose time is over, their files.
pub(crate) fn sweep(store: &Store, blobs: &Blobs, keep: &Keep) -> Result<Vec<Gone>, ServeError> {
    settle(store, blobs)?;
    let (gone, _) = store.now(|t| expiry::expire(t, keep))?;
    collect(store, blobs)?;
    Ok(gone)
}

/// After a loss of power: results whose bytes did not reach the disk are taken back, and their jobs run again.
pub(crate) fn recover(store: &Store, blobs: &Blobs) -> Result<(), ServeError> {
    loop {
        let waiting = store.now(expiry::unsettled)?;
        if waiting.is_empty() {
            return Ok(());
        }
        for (tenant, hash) in &waiting {
            let path = blobs.object(*tenant, hash);
            match hash_file(&path) {
                Ok(found) if &found == hash => {}
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(ServeError::io("reading an object")(error));
                }
                _ => {
                    let jobs = store.now(|t| expiry::undo(t, *tenant, hash, AGAIN))?;
                    tracing::warn!(jobs, "results had not reached the disk; they are computed again");
                    blobs.remove(&path);
                }
            }
        }
        for (tenant, hash) in &waiting {
            blobs.settle(*tenant, hash)?;
        }
        store.now(|t| expiry::settle(t, &waiting))?;
    }
}

/// Removes, or counts, what is over and files that no object has. The service may run meanwhile.
pub(crate) fn gc(store: &Store, blobs: &Blobs, keep: &Keep, dry: bool) -> Result<Collected, ServeError> {
    let mut found = Collected::default();
    if dry {
        let gone = store.now(|t| expiry::over(t, keep, i64::MAX))?;
        found.objects = gone.len();
        found.bytes = gone.iter().map(|object| object.size).sum();
        found.jobs = store.now(|t| expiry::old_jobs(t, keep))?;
    } else {
        settle(store, blobs)?;
        loop {
            let (gone, jobs) = store.now(|t| expiry::expire(t, keep))?;
            found.objects += gone.len();
            found.bytes += gone.iter().map(|object| object.size).sum::<u64>();
            found.jobs += jobs;
            if gone.is_empty() {
                break;
            }
        }
        collect(store, blobs)?;
    }
    for (tenant, folder) in blobs.folders()? {
        // A file becomes an object within a transaction that holds its tenant: none is between the two here.
        store.now(|t| {
            t.lock_tenant(tenant)?;
            for path in listed(&folder)? {
                let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                if objects::get(t, tenant, name)?.is_none() {
                    found.orphans += 1;
                    found.orphan_bytes += path.metadata().map_or(0, |about| about.len());
                    if !dry {
                        blobs.remove(&path);
                    }
                }
            }
            Ok(())
        })?;
    }
    Ok(found)
}
