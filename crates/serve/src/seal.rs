//! Files of a service that had no master key, encrypted afterwards.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::blobs::{Blobs, Growing};
use crate::error::ServeError;
use crate::sealed;
use crate::store::database::values;
use crate::store::{Store, random_id};
use crate::{collect, vault};

/// Encrypts every object; uploads under way are ended. What was done before it was interrupted is not done again.
pub(crate) fn all(store: &Store, plain: &Blobs, locked: &Blobs) -> Result<usize, ServeError> {
    plain.sweep(&[])?;
    collect::recover(store, plain)?;
    store.now(|t| t.execute("DELETE FROM uploads", values![]))?;
    let objects: Vec<(i64, String, u64)> = store.now(|t| {
        let sql = "SELECT tenant, hash, size FROM objects ORDER BY tenant, hash";
        t.all(sql, values![], |row| Ok((row.get(0)?, row.get(1)?, row.count(2)?)))
    })?;
    let mut count = 0;
    for (tenant, hash, size) in objects {
        // A copy of an object of a bucket is fetched again.
        if let Some(bucket) = plain.bucket() {
            plain.remove(&plain.object(tenant, &hash));
            if bucket.size(tenant, &hash)? == Some(locked.stored(size)) {
                continue;
            }
        }
        let path = plain.file(tenant, &hash)?;
        let opened = File::open(&path).and_then(|file| Ok((sealed::salt(&file)?, file)));
        let (salt, file) = opened.map_err(ServeError::io("reading an object"))?;
        if salt.is_none() {
            let new = locked.work(&random_id()?);
            written(locked, tenant, file, &new)?;
            locked.name(tenant, &new, &hash, size)?;
            locked.send(&new, tenant, &hash)?;
            locked.keep(&new, tenant, &hash)?;
            count += 1;
        }
    }
    store.now(vault::switched_on)?;
    Ok(count)
}

fn written(blobs: &Blobs, tenant: i64, file: File, to: &Path) -> Result<(), ServeError> {
    let mut out = match blobs.begin(tenant, to)? {
        Growing::Sealed(out) => out,
        Growing::Plain(_) => return Err(ServeError::Worker { why: "nothing is encrypted here".into() }),
    };
    let copied = io::copy(&mut io::BufReader::with_capacity(1 << 20, file), &mut out);
    copied.and_then(|_| out.finish()).map_err(ServeError::io("encrypting an object"))
}
