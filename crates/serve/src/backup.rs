//! Backups: folders that can be served, made while the service runs.
//!
//! A backup has the database as it was at one moment and every object that it names. Objects never change, so those that the backup
//! has already are not copied again. Uploads under way are not part of it.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rusqlite::{Connection, params};
use rustix::fs::{FlockOperation, flock, syncfs};
use serde::Serialize;

use crate::blobs::{Blobs, listed};
use crate::error::ServeError;
use crate::store::database::values;
use crate::store::{DATABASE, Store, audit};
use crate::token::KEY;
use crate::{collect, folder};

/// What a backup holds.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Saved {
    /// Objects, and how many of them were copied now.
    pub objects: usize,
    /// Of these, the ones that were not there from an earlier backup.
    pub copied: usize,
    /// Bytes that were copied.
    pub bytes: u64,
    /// Objects of an earlier backup that are gone.
    pub removed: usize,
}

fn failed(action: &'static str) -> impl FnOnce(std::io::Error) -> ServeError {
    ServeError::io(action)
}

/// Backs a folder up to another, which may hold an earlier backup of it.
pub(crate) fn backup(dir: &Path, store: &Store, blobs: &Blobs, to: &Path) -> Result<Saved, ServeError> {
    if blobs.bucket().is_some() {
        let why =
            "this copies objects that are files; those of a bucket are backed up there, after the database";
        return Err(ServeError::Start(why.into()));
    }
    folder(to)?;
    let same = |path: &Path| path.canonicalize().map_err(failed("opening a folder"));
    if same(dir)? == same(to)? {
        return Err(ServeError::Start("a backup needs a folder of its own; name another with --to".into()));
    }
    let lock = File::create(to.join("lock")).map_err(failed("opening the lock"))?;
    flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|_| {
        ServeError::Start(format!("{} is served, or is backed up to, by another process", to.display()))
    })?;
    collect::settle(store, blobs)?;
    let target = Blobs::open(to)?;
    let new = to.join("ringmill.db.new");
    match fs::remove_file(&new) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed("removing a file")(error)),
        _ => {}
    }
    store.copy(&new)?;
    let mut saved = Saved::default();
    let mut named = HashSet::new();
    {
        let copy = Connection::open(&new)?;
        copy.pragma_update(None, "journal_mode", "delete")?;
        copy.execute("DELETE FROM uploads", [])?;
        copy.execute("DELETE FROM tombstones", [])?;
        let rows: Vec<(i64, String, i64)> = copy
            .prepare("SELECT tenant, hash, size FROM objects")?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
            .collect::<Result<_, _>>()?;
        for (tenant, hash, size) in rows {
            let path = target.object(tenant, &hash);
            let there = path.metadata().is_ok_and(|about| about.len() == blobs.stored(size as u64));
            if !there && !copied(&blobs.object(tenant, &hash), &path)? {
                // Removed since the copy of the database: it is gone there, too.
                copy.execute("DELETE FROM objects WHERE tenant = ?1 AND hash = ?2", params![tenant, hash])?;
                continue;
            }
            saved.objects += 1;
            saved.copied += usize::from(!there);
            saved.bytes += if there { 0 } else { size as u64 };
            named.insert(path);
        }
    }
    secret(&dir.join(KEY), &to.join(KEY))?;
    // Everything is on disk before the database names it.
    let synced = |action| File::open(to).and_then(|f| Ok(syncfs(&f)?)).map_err(failed(action));
    synced("writing a backup to the disk")?;
    for leftover in ["ringmill.db-wal", "ringmill.db-shm"] {
        target.remove(&to.join(leftover));
    }
    fs::rename(&new, to.join(DATABASE)).map_err(failed("renaming the database"))?;
    synced("writing a backup to the disk")?;
    for (_, folder) in target.folders()? {
        for path in listed(&folder)?.into_iter().filter(|path| !named.contains(path)) {
            target.remove(&path);
            saved.removed += 1;
        }
    }
    Ok(saved)
}

/// Copies an object; false if it is gone.
fn copied(from: &Path, to: &Path) -> Result<bool, ServeError> {
    let partial = to.with_extension("part");
    let copy = || {
        fs::create_dir_all(to.parent().unwrap_or(to))?;
        fs::copy(from, &partial)?;
        fs::rename(&partial, to)
    };
    match copy() {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound && !from.exists() => Ok(false),
        Err(error) => Err(failed("copying an object")(error)),
    }
}

/// Copies the key of tokens, for its owner alone.
fn secret(from: &Path, to: &Path) -> Result<(), ServeError> {
    let copy = || {
        let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(to)?;
        std::io::copy(&mut File::open(from)?, &mut file).map(drop)
    };
    copy().map_err(failed("copying token.key"))
}

/// What is not as it should be in a folder, a sentence each: the database, the audit log, and every object; with `deep` each object
/// is read and hashed.
pub(crate) fn faults(
    dir: &Path,
    store: &Store,
    blobs: &Blobs,
    deep: bool,
) -> Result<Vec<String>, ServeError> {
    let mut found = Vec::new();
    if !dir.join(KEY).is_file() {
        found.push(format!("{KEY} is missing: no token is valid without it"));
    }
    if let Some(damage) = store.damage()? {
        found.push(format!("the database is damaged: {damage}"));
    }
    if let Some(id) = store.now(audit::broken)? {
        found.push(format!("entry {id} of the audit log was changed"));
    }
    let rows: Vec<(i64, String, i64)> = store.now(|t| {
        let sql = "SELECT tenant, hash, size FROM objects ORDER BY tenant, hash";
        t.all(sql, values![], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
    })?;
    for (tenant, hash, size) in rows {
        if let Some(bucket) = blobs.bucket() {
            let right = bucket.size(tenant, &hash)? == Some(blobs.stored(size as u64))
                && (!deep || blobs.is_sound(tenant, &hash)?);
            if !right {
                found.push(format!(
                    "object {hash} of tenant {tenant} is missing in the bucket, or was changed"
                ));
            }
            continue;
        }
        let path = blobs.object(tenant, &hash);
        match path.metadata() {
            Err(_) => found.push(format!("object {hash} of tenant {tenant} is missing")),
            Ok(about) if about.len() != blobs.stored(size as u64) => {
                let size = blobs.stored(size as u64);
                found.push(format!("object {hash} of tenant {tenant} has {} bytes, not {size}", about.len()));
            }
            Ok(_) if deep && !blobs.is_sound(tenant, &hash)? => {
                found.push(format!("object {hash} of tenant {tenant} was changed"));
            }
            Ok(_) => {}
        }
    }
    Ok(found)
}
