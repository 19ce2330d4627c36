//! Files: uploads that grow, and objects that never change.
//!
//! An object lies at `objects/TENANT/HH/HASH`, and gets there by a rename within one file system once it is complete, and on disk
//! unless it can be computed again.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::bucket::Bucket;
use crate::config::Config;
use crate::error::ServeError;
use crate::store::random_id;

/// Free bytes that are enough on a disk of any size.
const ENOUGH: f64 = (16u64 << 30) as f64;

/// The folder of files, and the bucket that objects are in if that is not the folder; then the folder has copies of some of them.
#[derive(Debug, Clone)]
pub(crate) struct Blobs {
    dir: PathBuf,
    bucket: Option<Bucket>,
}

impl Blobs {
    /// The files of a service. Not within a task: it waits.
    pub(crate) fn of(config: &Config) -> Result<Self, ServeError> {
        let bucket = config.bucket.as_ref().map(Bucket::open).transpose()?;
        Ok(Self { bucket, ..Self::open(&config.dir)? })
    }

    /// A folder alone.
    pub(crate) fn open(dir: &Path) -> Result<Self, ServeError> {
        for sub in ["objects", "uploads", "work"] {
            fs::create_dir_all(dir.join(sub)).map_err(ServeError::io("making a folder"))?;
        }
        Ok(Self { dir: dir.to_owned(), bucket: None })
    }

    /// The bucket of objects, if they are in one.
    pub(crate) fn bucket(&self) -> Option<&Bucket> {
        self.bucket.as_ref()
    }

    /// Writes a complete file to the bucket, if there is one: before a transaction that makes it an object, which may not wait so long.
    pub(crate) fn send(&self, from: &Path, tenant: i64, hash: &str) -> Result<(), ServeError> {
        self.bucket.as_ref().map_or(Ok(()), |bucket| bucket.put(from, tenant, hash))
    }

    /// Within that transaction, which holds the tenant: what was sent is still there, and goes again if it was removed meanwhile.
    pub(crate) fn confirm(&self, from: &Path, tenant: i64, hash: &str, size: u64) -> Result<(), ServeError> {
        let Some(bucket) = &self.bucket else { return Ok(()) };
        if bucket.size(tenant, hash)? == Some(size) { Ok(()) } else { bucket.put(from, tenant, hash) }
    }

    /// The file of an object, which is fetched from the bucket if it is not here.
    pub(crate) fn file(&self, tenant: i64, hash: &str) -> Result<PathBuf, ServeError> {
        let path = self.object(tenant, hash);
        let Some(bucket) = &self.bucket else { return Ok(path) };
        if let Ok(file) = File::options().append(true).open(&path) {
            // What was used last is the last to go.
            let _ = file.set_modified(SystemTime::now());
            return Ok(path);
        }
        let partial = self.work(&random_id()?);
        let placed = match bucket.get(tenant, hash, &partial) {
            Ok(true) => self.place(&partial, tenant, hash),
            Ok(false) => Err(ServeError::io("fetching an object")(std::io::Error::from(ErrorKind::NotFound))),
            Err(error) => Err(error),
        };
        self.remove(&partial);
        placed.map(|()| path)
    }

    /// Removes an object, here and in the bucket.
    pub(crate) fn discard(&self, tenant: i64, hash: &str) -> Result<(), ServeError> {
        if let Some(bucket) = &self.bucket {
            bucket.remove(tenant, hash)?;
        }
        self.remove(&self.object(tenant, hash));
        Ok(())
    }

    /// Where an object lies. Hashes are checked where they come in: they are hexadecimal digits.
    pub(crate) fn object(&self, tenant: i64, hash: &str) -> PathBuf {
        self.dir.join("objects").join(tenant.to_string()).join(&hash[..2]).join(hash)
    }

    /// Where an upload grows.
    pub(crate) fn upload(&self, id: &str) -> PathBuf {
        self.dir.join("uploads").join(id)
    }

    /// Where a worker writes results.
    pub(crate) fn work(&self, id: &str) -> PathBuf {
        self.dir.join("work").join(id)
    }

    /// Makes a complete file an object, on disk.
    pub(crate) fn keep(&self, from: &Path, tenant: i64, hash: &str) -> Result<(), ServeError> {
        let synced = File::open(from).and_then(|file| file.sync_all());
        synced.map_err(ServeError::io("keeping an object"))?;
        self.place(from, tenant, hash)?;
        self.settle(tenant, hash).map(drop)
    }

    /// Makes a complete file an object. Its bytes reach the disk at some time, or with [`settle`](Self::settle).
    pub(crate) fn place(&self, from: &Path, tenant: i64, hash: &str) -> Result<(), ServeError> {
        let to = self.object(tenant, hash);
        let place = || {
            fs::create_dir_all(to.parent().unwrap_or(&self.dir))?;
            fs::rename(from, &to)
        };
        place().map_err(ServeError::io("keeping an object"))
    }

    /// Waits until an object and the entry of its folder are on disk; false if it is gone.
    pub(crate) fn settle(&self, tenant: i64, hash: &str) -> Result<bool, ServeError> {
        let path = self.object(tenant, hash);
        let folder = path.parent().unwrap_or(&self.dir);
        match File::open(&path).and_then(|file| file.sync_all()).and_then(|()| File::open(folder)?.sync_all())
        {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(ServeError::io("writing an object to the disk")(error)),
        }
    }

    /// The folders of objects: tenant, path.
    pub(crate) fn folders(&self) -> Result<Vec<(i64, PathBuf)>, ServeError> {
        let mut found = Vec::new();
        for tenant in listed(&self.dir.join("objects"))? {
            let number = tenant.file_name().and_then(|name| name.to_str()?.parse().ok());
            if let Some(number) = number {
                found.extend(listed(&tenant)?.into_iter().map(|folder| (number, folder)));
            }
        }
        Ok(found)
    }

    pub(crate) fn remove(&self, path: &Path) {
        if let Err(error) = fs::remove_file(path)
            && error.kind() != ErrorKind::NotFound
        {
            tracing::warn!(%error, "a file was not removed");
        }
    }

    /// Removes uploads that nobody knows, and what workers left: when the service starts.
    pub(crate) fn sweep(&self, known: &[String]) -> Result<(), ServeError> {
        for path in listed(&self.dir.join("work"))? {
            self.remove(&path);
        }
        for path in listed(&self.dir.join("uploads"))? {
            if !path.file_name().is_some_and(|name| known.iter().any(|id| name == id.as_str())) {
                self.remove(&path);
            }
        }
        Ok(())
    }

    /// The part of the disk that is free.
    pub(crate) fn free(&self) -> Result<f64, ServeError> {
        let (free, all) = self.room()?;
        Ok(free / all.max(1.0))
    }

    /// Whether less is free than a part of the disk, or than [`ENOUGH`] of a large disk.
    pub(crate) fn is_full(&self, part: f64) -> Result<bool, ServeError> {
        let (free, all) = self.room()?;
        Ok(free < (part * all).min(ENOUGH))
    }

    /// Bytes that are free, and all bytes of the disk.
    fn room(&self) -> Result<(f64, f64), ServeError> {
        let reported = rustix::fs::statvfs(&self.dir)
            .map_err(|e| ServeError::io("reading the disk's free space")(e.into()))?;
        let bytes = |blocks: u64| blocks as f64 * reported.f_frsize as f64;
        Ok((bytes(reported.f_bavail), bytes(reported.f_blocks)))
    }
}

/// What a folder holds, in order of names.
pub(crate) fn listed(folder: &Path) -> Result<Vec<PathBuf>, ServeError> {
    let entries = fs::read_dir(folder).map_err(ServeError::io("reading a folder"))?;
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

/// The BLAKE3 of a file.
pub(crate) fn hash_file(path: &Path) -> std::io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    std::io::copy(&mut std::io::BufReader::with_capacity(1 << 20, File::open(path)?), &mut hasher)?;
    Ok(hasher.finalize().to_hex().to_string())
}

/// Whether a text is a BLAKE3 in hexadecimal digits of one case.
pub(crate) fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// Bytes of a file that show whether it is a secret key.
pub(crate) const HEAD: usize = 12;

/// Refuses a secret key by the first bytes of its file: the letters RINGMILL, a version, and kind 2.
pub(crate) fn refuse_secret(head: &[u8]) -> Result<(), ServeError> {
    let secret = head.len() >= HEAD && head.starts_with(b"RINGMILL") && head[10..HEAD] == [2, 0];
    if secret { Err(ServeError::SecretKey) } else { Ok(()) }
}

/// The first bytes of a file, as many as there are.
pub(crate) fn head(path: &Path) -> Result<Vec<u8>, ServeError> {
    let mut head = Vec::new();
    let file = File::open(path).map_err(ServeError::io("opening an upload"))?;
    file.take(HEAD as u64).read_to_end(&mut head).map_err(ServeError::io("reading an upload"))?;
    Ok(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_keys_of_any_version_are_told_by_their_first_bytes() {
        for version in 1..=5u8 {
            let head = [&b"RINGMILL"[..], &[version, 0, 2, 0]].concat();
            assert!(matches!(refuse_secret(&head), Err(ServeError::SecretKey)));
            assert!(refuse_secret(&head[..11]).is_ok(), "not known yet");
            assert!(refuse_secret(&[&head[..10], &[5, 0]].concat()).is_ok(), "evaluation keys");
        }
    }

    #[test]
    fn hashes_are_no_paths() {
        assert!(is_hash(blake3::hash(b"").to_hex().as_str()));
        for text in ["", "../../etc/passwd", &"A".repeat(64), &"g".repeat(64), &"a".repeat(63)] {
            assert!(!is_hash(text), "{text}");
        }
    }
}
