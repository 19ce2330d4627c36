//! What goes and what stays: objects whose time is over, files that no object has, results that are not on disk yet.

use std::path::PathBuf;

use serde::Serialize;

use crate::blobs::{Blobs, listed};
use crate::config::Keep;
use crate::error::ServeError;
use crate::store::expiry::{self, Gone};
use crate::store::tenants::{self, Removed};
use crate::store::{Store, objects, uploads};
use crate::token::Caller;

/// Seconds after which what lies in a bucket and is no object is removed.
const ORPHANED: i64 = 24 * 3600;

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
        // What waits for a bucket holds one tenant at a time.
        let at_once = if blobs.bucket().is_some() { 1 } else { buried.len() };
        for some in buried.chunks(at_once) {
            store.now(|t| {
                some.iter().try_for_each(|(tenant, hash)| {
                    expiry::collect(t, (*tenant, hash), || blobs.discard(*tenant, hash))
                })
            })?;
        }
    }
}

/// Deletes a tenant with everything that it has here and in the bucket; what another node holds goes there.
pub(crate) fn forget(
    store: &Store,
    blobs: &Blobs,
    node: &str,
    by: Option<&Caller>,
    name: &str,
) -> Result<(i64, Removed), ServeError> {
    let (tenant, removed) = store.now(|t| tenants::remove(t, by, name))?;
    if let Some(vault) = blobs.vault() {
        vault.forget()?;
    }
    store.scrub()?;
    for id in store.now(|t| uploads::sweep(t, node))? {
        blobs.remove(&blobs.upload(&id));
    }
    collect(store, blobs)?;
    blobs.clear(tenant)?;
    Ok((tenant, removed))
}

/// Removes copies of objects of a bucket: those whose object is gone, and beyond a number of bytes those that were not used longest.
pub(crate) fn trim(store: &Store, blobs: &Blobs, most: u64) -> Result<(), ServeError> {
    if blobs.bucket().is_none() {
        return Ok(());
    }
    let mut copies = Vec::new();
    for (tenant, folder) in blobs.folders()? {
        let names = listed(&folder)?;
        let there: Vec<bool> = store.now(|t| {
            let name = |path: &PathBuf| {
                path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned()
            };
            names.iter().map(|path| Ok(objects::get(t, tenant, &name(path))?.is_some())).collect()
        })?;
        for (path, there) in names.into_iter().zip(there) {
            match path.metadata().and_then(|about| Ok((about.modified()?, about.len()))) {
                Ok((used, size)) if there => copies.push((used, size, path)),
                _ => blobs.remove(&path),
            }
        }
    }
    let mut held: u64 = copies.iter().map(|(_, size, _)| size).sum();
    copies.sort();
    for (_, size, path) in copies {
        if held <= most {
            break;
        }
        // A worker that reads it goes on; one that is about to is started again.
        blobs.remove(&path);
        held -= size;
    }
    Ok(())
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
            let there = path.try_exists().map_err(ServeError::io("reading an object"))?;
            match there && blobs.is_sound(*tenant, hash)? {
                true => {}
                false => {
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
    if let Some(bucket) = blobs.bucket() {
        return bucket
            .each(|held| {
                // What is sent to the bucket becomes an object soon after, or never.
                let orphan = held.age >= ORPHANED
                    && store.now(|t| {
                        t.lock_tenant(held.tenant)?;
                        let orphan = objects::get(t, held.tenant, &held.hash)?.is_none();
                        if orphan && !dry {
                            bucket.remove(held.tenant, &held.hash)?;
                        }
                        Ok(orphan)
                    })?;
                found.orphans += usize::from(orphan);
                found.orphan_bytes += if orphan { held.size } else { 0 };
                Ok(())
            })
            .map(|()| found);
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
