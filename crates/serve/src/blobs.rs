//! Files: uploads that grow, and objects that never change.
//!
//! An object lies at `objects/TENANT/HH/HASH`, and gets there by a rename within one file system once it is complete, and on disk
//! unless it can be computed again. With a master key, everything that is written here is [`sealed`].

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::bucket::Bucket;
use crate::config::Config;
use crate::error::ServeError;
use crate::sealed::{self, Key, Salt, Sealer, Unsealed, file_key, sealed_size};
use crate::store::{Store, random_id};
use crate::vault::Vault;

/// Free bytes that are enough on a disk of any size.
const ENOUGH: f64 = (16u64 << 30) as f64;

/// The folder of files, and the bucket that objects are in if that is not the folder; then the folder has copies of some of them.
#[derive(Debug, Clone)]
pub(crate) struct Blobs {
    dir: PathBuf,
    bucket: Option<Bucket>,
    vault: Option<Arc<Vault>>,
}

/// A file that is read: where it is, its key if it is sealed, and the hash that it must have if it is an object.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) key: Option<Key>,
    pub(crate) hash: Option<String>,
}

impl Source {
    /// A file in the clear.
    #[cfg(test)]
    pub(crate) fn plain(path: PathBuf) -> Self {
        Self { path, key: None, hash: None }
    }

    /// Its plain bytes.
    pub(crate) fn open(&self) -> std::io::Result<Box<dyn Read + Send>> {
        let file = File::open(&self.path)?;
        Ok(match &self.key {
            None => Box::new(file),
            Some(key) => Box::new(Unsealed::open(file, key, self.hash.as_deref())?),
        })
    }
}

/// What a file that is written is sealed with.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Sealing {
    pub(crate) salt: Salt,
    pub(crate) key: Key,
}

/// A file that grows.
pub(crate) enum Growing {
    Plain(File),
    Sealed(Sealer),
}

impl Growing {
    /// Writes at the end.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        match self {
            Self::Plain(file) => file.write_all(bytes),
            Self::Sealed(sealer) => sealer.write_all(bytes),
        }
    }

    /// Has everything in the file: all of it there will be if `last`.
    pub(crate) fn keep(&mut self, last: bool) -> std::io::Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Sealed(sealer) if last => sealer.finish(),
            Self::Sealed(sealer) => sealer.keep(),
        }
    }

    /// Plain bytes that it has.
    pub(crate) fn size(&self) -> std::io::Result<u64> {
        match self {
            Self::Plain(file) => Ok(file.metadata()?.len()),
            Self::Sealed(sealer) => Ok(sealer.size()),
        }
    }

    /// Takes back what follows `size` bytes.
    pub(crate) fn cut(&mut self, size: u64) -> std::io::Result<()> {
        match self {
            Self::Plain(file) if size < file.metadata()?.len() => file.set_len(size),
            Self::Plain(_) => Ok(()),
            Self::Sealed(sealer) => sealer.cut(size),
        }
    }

    /// The first bytes, as many as there are, up to what shows a secret key.
    pub(crate) fn head(&mut self) -> std::io::Result<Vec<u8>> {
        match self {
            Self::Plain(file) => {
                let mut head = Vec::new();
                file.seek(SeekFrom::Start(0))?;
                file.take(HEAD as u64).read_to_end(&mut head)?;
                Ok(head)
            }
            Self::Sealed(sealer) => sealer.head(HEAD),
        }
    }
}

impl Blobs {
    /// The files of a service. Not within a task: it waits.
    pub(crate) fn of(config: &Config, store: &Store) -> Result<Self, ServeError> {
        Ok(Self { vault: Vault::open(config, store, false)?, ..Self::unlocked(config)? })
    }

    /// The files of a service, without their keys.
    pub(crate) fn unlocked(config: &Config) -> Result<Self, ServeError> {
        let bucket = config.bucket.as_ref().map(Bucket::open).transpose()?;
        Ok(Self { bucket, ..Self::open(&config.dir)? })
    }

    /// The same files, sealed.
    pub(crate) fn locked(&self, vault: Arc<Vault>) -> Self {
        Self { vault: Some(vault), ..self.clone() }
    }

    /// A folder alone.
    pub(crate) fn open(dir: &Path) -> Result<Self, ServeError> {
        for sub in ["objects", "uploads", "work"] {
            fs::create_dir_all(dir.join(sub)).map_err(ServeError::io("making a folder"))?;
        }
        Ok(Self { dir: dir.to_owned(), bucket: None, vault: None })
    }

    /// The keys of files, if they are encrypted.
    pub(crate) fn vault(&self) -> Option<&Arc<Vault>> {
        self.vault.as_ref()
    }

    /// Bytes that a file of `size` plain ones has.
    pub(crate) fn stored(&self, size: u64) -> u64 {
        if self.vault.is_some() { sealed_size(size) } else { size }
    }

    /// What a new file of a tenant is sealed with, if it is. Not within a transaction.
    pub(crate) fn sealing(&self, tenant: i64) -> Result<Option<Sealing>, ServeError> {
        let Some(vault) = &self.vault else { return Ok(None) };
        let mut salt = [0; 32];
        getrandom::fill(&mut salt)
            .map_err(|e| ServeError::Worker { why: format!("no random bytes: {e}") })?;
        Ok(Some(Sealing { salt, key: file_key(&vault.key(tenant)?, &salt) }))
    }

    /// The key of a file of a tenant, if files are sealed. Not within a transaction.
    fn file_key(&self, tenant: i64, file: &File) -> Result<Option<Key>, ServeError> {
        let Some(vault) = &self.vault else { return Ok(None) };
        let salt = sealed::salt(file).map_err(ServeError::io("reading a file"))?;
        // What is in the clear where nothing should be was put there by somebody else.
        let salt = salt.ok_or_else(|| ServeError::Worker { why: "a file is not encrypted".into() })?;
        Ok(Some(file_key(&vault.key(tenant)?, &salt)))
    }

    /// Begins an empty file of a tenant. Not within a transaction.
    pub(crate) fn begin(&self, tenant: i64, path: &Path) -> Result<Growing, ServeError> {
        let sealing = self.sealing(tenant)?;
        let made = || {
            let file =
                File::options().read(true).append(sealing.is_none()).write(true).create(true).open(path)?;
            Ok(match sealing {
                None => Growing::Plain(file),
                Some(Sealing { salt, key }) => Growing::Sealed(Sealer::begin(file, salt, &key)?),
            })
        };
        made().map_err(ServeError::io("beginning an upload"))
    }

    /// Goes on with a file of a tenant. Not within a transaction.
    pub(crate) fn resume(&self, tenant: i64, path: &Path) -> Result<Growing, ServeError> {
        let sealed = self.vault.is_some();
        let file = File::options().read(true).append(!sealed).write(true).open(path);
        let file = file.map_err(ServeError::io("opening an upload"))?;
        match self.file_key(tenant, &file)? {
            None => Ok(Growing::Plain(file)),
            Some(key) => {
                Sealer::resume(file, &key).map(Growing::Sealed).map_err(ServeError::io("opening an upload"))
            }
        }
    }

    /// A complete file of a tenant, to be read. Not within a transaction.
    pub(crate) fn whole(&self, tenant: i64, path: &Path) -> Result<Source, ServeError> {
        let file = File::open(path).map_err(ServeError::io("opening a file"))?;
        Ok(Source { path: path.to_owned(), key: self.file_key(tenant, &file)?, hash: None })
    }

    /// An object, to be read; it is fetched from the bucket if it is not here. Not within a transaction.
    pub(crate) fn source(&self, tenant: i64, hash: &str) -> Result<Source, ServeError> {
        let source = self.whole(tenant, &self.file(tenant, hash)?)?;
        Ok(Source { hash: Some(hash.to_owned()), ..source })
    }

    /// Whether the bytes of an object have its hash. Not within a transaction.
    pub(crate) fn is_sound(&self, tenant: i64, hash: &str) -> Result<bool, ServeError> {
        let path = self.file(tenant, hash)?;
        if self.vault.is_some() {
            // As a loss of power leaves a file that was not on disk yet.
            let salt = File::open(&path).and_then(|file| sealed::salt(&file));
            if salt.map_err(ServeError::io("reading an object"))?.is_none() {
                return Ok(false);
            }
        }
        let hashed = self.source(tenant, hash)?.open().and_then(hash_of);
        match hashed {
            Ok(found) => Ok(found == hash),
            Err(error) if error.kind() == ErrorKind::InvalidData => Ok(false),
            Err(error) => Err(ServeError::io("reading an object")(error)),
        }
    }

    /// Ties a complete file to the hash and the number of its plain bytes, if it is sealed. Not within a transaction.
    pub(crate) fn name(&self, tenant: i64, path: &Path, hash: &str, size: u64) -> Result<(), ServeError> {
        match self.resume(tenant, path)? {
            Growing::Plain(_) => Ok(()),
            Growing::Sealed(sealer) => sealer.name(hash, size).map_err(ServeError::io("keeping an object")),
        }
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
        if bucket.size(tenant, hash)? == Some(self.stored(size)) {
            Ok(())
        } else {
            bucket.put(from, tenant, hash)
        }
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
        // What is sealed is checked as it is read.
        let placed = match bucket.get(tenant, hash, &partial, self.vault.is_none()) {
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

    /// Removes the folder of a tenant that is gone.
    pub(crate) fn clear(&self, tenant: i64) -> Result<(), ServeError> {
        match fs::remove_dir_all(self.dir.join("objects").join(tenant.to_string())) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(ServeError::io("removing the folder of a tenant")(error))
            }
            _ => Ok(()),
        }
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

/// The BLAKE3 of what is read.
pub(crate) fn hash_of(mut input: impl Read) -> std::io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    let mut piece = vec![0; 1 << 20];
    loop {
        match input.read(&mut piece)? {
            0 => return Ok(hasher.finalize().to_hex().to_string()),
            got => drop(hasher.update(&piece[..got])),
        }
    }
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
