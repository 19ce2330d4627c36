//! Objects in a bucket of an S3 server, which all nodes of a service share.
//!
//! Each call blocks, in threads that may wait; requests run on a runtime of their own. Bytes go through in parts: memory is bounded by
//! [`TRANSFERS`] and [`PART`], whatever the size of an object.

use std::fs;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::StreamExt;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::buffered::BufWriter;
use object_store::path::Path as Key;
use object_store::{ClientOptions, Error, ObjectStore, ObjectStoreExt, RetryConfig};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

use crate::config::Bucket as Settings;
use crate::error::ServeError;

/// Bytes of a part of an upload. S3 takes 10,000 parts: enough for 80 GB.
const PART: usize = 8 << 20;

/// Objects that go or come at once.
const TRANSFERS: usize = 4;

/// How long a request is tried again. The last try may take [`REQUEST`] more: clients wait for a minute.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long one request may take. A part goes within it at 3.4 Mbit/s; a server that accepts and says nothing costs no more.
const REQUEST: Duration = Duration::from_secs(20);

/// A bucket, and the prefix of a service's objects in it.
#[derive(Clone)]
pub(crate) struct Bucket {
    store: Arc<dyn ObjectStore>,
    prefix: String,
    transfers: Arc<Semaphore>,
}

impl std::fmt::Debug for Bucket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Bucket")
    }
}

/// An object in the bucket.
pub(crate) struct Held {
    pub(crate) tenant: i64,
    pub(crate) hash: String,
    pub(crate) size: u64,
    /// Seconds since it was written, by the server's clock and this machine's.
    pub(crate) age: i64,
}

/// The runtime of requests. It is never dropped: a task may not drop one.
fn runtime() -> Result<&'static Runtime, ServeError> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    let made = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let made = made.map_err(ServeError::io("starting requests to the bucket"))?;
    Ok(RUNTIME.get_or_init(|| made))
}

impl Bucket {
    /// Opens a bucket, and looks whether it answers.
    pub(crate) fn open(settings: &Settings) -> Result<Self, ServeError> {
        // The first choice stays; all are the same.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = AmazonS3Builder::from_env();
        for (name, value) in settings.read()? {
            let key: AmazonS3ConfigKey = name.to_ascii_lowercase().parse().map_err(|_| {
                ServeError::Start(format!(
                    "{name} is no setting of S3; those of the environment have names as AWS_ENDPOINT_URL"
                ))
            })?;
            builder = builder.with_config(key, value);
        }
        let plain = builder
            .get_config_value(&AmazonS3ConfigKey::Endpoint)
            .is_some_and(|endpoint| endpoint.starts_with("http://"));
        let retry = RetryConfig { max_retries: 5, retry_timeout: PATIENCE, ..RetryConfig::default() };
        let options = ClientOptions::new()
            .with_connect_timeout(Duration::from_secs(5))
            .with_timeout(REQUEST)
            .with_allow_http(plain);
        let store = builder
            .with_bucket_name(&settings.name)
            .with_client_options(options)
            .with_retry(retry)
            .build()
            .map_err(|error| ServeError::Start(format!("the bucket cannot be used: {error}")))?;
        let bucket = Self {
            store: Arc::new(store),
            prefix: settings.prefix.clone(),
            transfers: Arc::new(Semaphore::new(TRANSFERS)),
        };
        // A key that no object has: the server says so, if the credentials are right.
        let key = Key::from(format!("{}/ringmill", bucket.prefix));
        match runtime()?.block_on(bucket.store.head(&key)) {
            Ok(_) | Err(Error::NotFound { .. }) => Ok(bucket),
            Err(error) => Err(ServeError::Start(format!("the bucket does not answer: {error}"))),
        }
    }

    fn key(&self, tenant: i64, hash: &str) -> Key {
        Key::from(format!("{}/objects/{tenant}/{hash}", self.prefix))
    }

    /// Writes a file; it is there for all nodes afterwards, complete or not at all.
    pub(crate) fn put(&self, from: &Path, tenant: i64, hash: &str) -> Result<(), ServeError> {
        let key = self.key(tenant, hash);
        runtime()?.block_on(async {
            let _one = self.transfers.acquire().await;
            let mut file = tokio::fs::File::open(from).await.map_err(ServeError::io("opening an object"))?;
            let mut out = BufWriter::with_capacity(self.store.clone(), key, PART).with_max_concurrency(2);
            let mut piece = vec![0; 1 << 20];
            loop {
                let got = file.read(&mut piece).await.map_err(ServeError::io("reading an object"))?;
                let written = match got {
                    0 => out.shutdown().await,
                    _ => out.write_all(&piece[..got]).await,
                };
                match written {
                    Ok(()) if got == 0 => return Ok(()),
                    Ok(()) => {}
                    Err(error) => {
                        // Parts of what is not complete would stay; the end takes them back itself. The caller need not wait.
                        if got > 0 {
                            tokio::spawn(async move { out.abort().await });
                        }
                        return Err(away("writing an object", hash, &error));
                    }
                }
            }
        })
    }

    /// Reads an object to a file that is not there yet; false without an object. Bytes of another hash are refused if that is `checked`.
    pub(crate) fn get(&self, tenant: i64, hash: &str, to: &Path, checked: bool) -> Result<bool, ServeError> {
        let key = self.key(tenant, hash);
        runtime()?.block_on(async {
            let _one = self.transfers.acquire().await;
            let size = match self.store.head(&key).await {
                Ok(about) => about.size,
                Err(Error::NotFound { .. }) => return Ok(false),
                Err(error) => return Err(away("reading an object", hash, &error)),
            };
            let mut out = tokio::fs::File::create(to).await.map_err(ServeError::io("fetching an object"))?;
            let mut hasher = blake3::Hasher::new();
            // A part a request: each has its own patience and is tried again by itself.
            for start in (0..size).step_by(PART) {
                let part = start..size.min(start + PART as u64);
                let piece = self.store.get_range(&key, part).await;
                let piece = piece.map_err(|error| away("reading an object", hash, &error))?;
                hasher.update(&piece);
                out.write_all(&piece).await.map_err(ServeError::io("fetching an object"))?;
            }
            out.flush().await.map_err(ServeError::io("fetching an object"))?;
            if checked && hasher.finalize().to_hex().as_str() != hash {
                return Err(ServeError::Worker { why: "an object was changed in the bucket".into() });
            }
            Ok(true)
        })
    }

    /// The bytes of an object, if there is one.
    pub(crate) fn size(&self, tenant: i64, hash: &str) -> Result<Option<u64>, ServeError> {
        match runtime()?.block_on(self.store.head(&self.key(tenant, hash))) {
            Ok(about) => Ok(Some(about.size)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(away("asking for an object", hash, &error)),
        }
    }

    /// Removes an object, if there is one.
    pub(crate) fn remove(&self, tenant: i64, hash: &str) -> Result<(), ServeError> {
        match runtime()?.block_on(self.store.delete(&self.key(tenant, hash))) {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(away("removing an object", hash, &error)),
        }
    }

    /// Everything that is there, a page after the other.
    pub(crate) fn each(&self, mut see: impl FnMut(Held) -> Result<(), ServeError>) -> Result<(), ServeError> {
        let prefix = Key::from(format!("{}/objects", self.prefix));
        let mut listed = self.store.list(Some(&prefix));
        while let Some(found) = runtime()?.block_on(listed.next()) {
            let found = found.map_err(|error| away("listing objects", "", &error))?;
            let parts: Vec<_> = found.location.parts().map(|part| part.as_ref().to_owned()).collect();
            let [.., tenant, hash] = &parts[..] else { continue };
            let Ok(tenant) = tenant.parse() else { continue };
            let age = std::time::SystemTime::now().duration_since(found.last_modified.into());
            let age = age.map_or(0, |age| age.as_secs() as i64);
            see(Held { tenant, hash: hash.clone(), size: found.size, age })?;
        }
        Ok(())
    }
}

/// What failed, without the name of the object.
fn away(action: &'static str, hash: &str, error: &dyn std::error::Error) -> ServeError {
    let mut said = error.to_string();
    if !hash.is_empty() {
        said = said.replace(hash, "…");
    }
    tracing::warn!(action, error = said, "the bucket is away");
    ServeError::BucketAway
}

/// Reads settings as lines of NAME=VALUE.
pub(crate) fn settings(file: &Path) -> Result<Vec<(String, String)>, ServeError> {
    let text = fs::read_to_string(file).map_err(ServeError::io("reading the settings of the bucket"))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let pair = |line: &str| {
        let (name, value) = line.split_once('=')?;
        Some((name.trim().to_owned(), value.trim().to_owned()))
    };
    lines.map(pair).collect::<Option<_>>().ok_or_else(|| {
        // A line may be a secret: it is not repeated.
        ServeError::Start("the settings of the bucket are lines of NAME=VALUE".into())
    })
}
