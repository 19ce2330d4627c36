//! The service: encrypted programs run for tenants over HTTP.
//!
//! A client stores a kernel file, its evaluation keys and encrypted arguments, and asks for a job; a worker, a process of its own,
//! runs it and stores the results. The bits are those of `ringmill evaluate`. `docs/service.md` says what holds and what is not
//! there yet, `docs/how-to/run-a-service.md` how to begin.
//!
//! | module | subject |
//! |---|---|
//! | [`config`] | settings |
//! | `http` | routes: objects, uploads, jobs, tokens, health |
//! | `store` | the database: tenants, objects, uploads, jobs, audit log |
//! | `blobs` | the files of uploads and objects |
//! | `bucket` | objects on an S3 server |
//! | `sealed` | files that are encrypted at rest |
//! | `seal` | files in the clear, encrypted afterwards |
//! | `vault` | the keys of these files |
//! | `collect` | what goes: objects whose time is over, files that no object has |
//! | `backup` | copies that can be served, and whether a folder is whole |
//! | `scheduler` | jobs from the queue to the workers |
//! | `worker` | child processes that check files and run programs |
//! | `receipt` | signed statements on results |
//! | `telemetry` | traces for a collector of OpenTelemetry |
//! | `tls` | certificates of the service and of clients |
//! | [`error`] | refusals, as problem+json |

mod app;
mod backup;
mod blobs;
mod bucket;
mod collect;
pub mod config;
pub mod error;
mod http;
pub mod logging;
mod metrics;
mod pace;
mod receipt;
mod scheduler;
mod seal;
mod sealed;
mod store;
mod telemetry;
mod tls;
mod token;
mod vault;
mod worker;

use std::fs::{self, File};
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::process::{Resource, Rlimit, setrlimit};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

pub use backup::Saved;
pub use collect::Collected;
pub use store::tenants::Removed;
pub use worker::child::work;

use crate::app::{App, opened};
use crate::blobs::Blobs;
use crate::config::Config;
use crate::error::ServeError;
use crate::store::postgres::MIGRATING;
use crate::store::{DATABASE, Store, audit, spawned, tenants};
use crate::token::Scope;
use crate::vault::Vault;

/// How often it is looked whether certificates have changed.
const LOOK: Duration = Duration::from_secs(5);

/// The name of the tenant that a new folder has.
pub const FIRST_TENANT: &str = "default";

/// Where the service listens, and the token of the first tenant if that was made now.
#[derive(Debug, Clone)]
pub struct Started {
    /// The address.
    pub address: SocketAddr,
    /// Whether it speaks TLS.
    pub secure: bool,
    /// The token; it is not kept.
    pub token: Option<String>,
}

fn folder(dir: &Path) -> Result<(), ServeError> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(ServeError::io("making the folder"))
}

/// Says that this process serves a folder, as long as what is given lasts.
fn locked(dir: &Path) -> Result<File, ServeError> {
    let lock = File::create(dir.join("lock")).map_err(ServeError::io("opening the lock"))?;
    let taken = |_| ServeError::Start(format!("{} is served by another process already", dir.display()));
    flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(taken)?;
    Ok(lock)
}

/// Serves until SIGTERM or SIGINT; says where as soon as it listens.
///
/// # Errors
/// A folder that another service uses or that cannot be written, and an address that is taken.
pub async fn serve(config: Config, reported: impl FnOnce(&Started)) -> Result<(), ServeError> {
    folder(&config.dir)?;
    let _lock = locked(&config.dir)?;
    if config.master.is_some() {
        // Keys are in memory: it goes to no file when the process ends as it should not.
        let none = Rlimit { current: Some(0), maximum: Some(0) };
        setrlimit(Resource::Core, none).map_err(|e| ServeError::io("limiting the service")(e.into()))?;
    }
    let (app, token) = spawned(|| {
        let app = App::new(config)?;
        let token = first_token(&app)?;
        Ok((Arc::new(app), token))
    })
    .await?;
    let listener = TcpListener::bind(app.config.listen).await.map_err(ServeError::io("listening"))?;
    let address = listener.local_addr().map_err(ServeError::io("listening"))?;
    let stop = |kind| signal(kind).map_err(ServeError::io("waiting for signals"));
    let (mut terminate, mut interrupt) = (stop(SignalKind::terminate())?, stop(SignalKind::interrupt())?);
    let slots: Vec<_> = (0..app.config.workers).map(|_| tokio::spawn(scheduler::slot(app.clone()))).collect();
    let certificates = app.tls.is_some().then(|| tokio::spawn(certificates(app.clone())));
    let sweeper = tokio::spawn(scheduler::sweeper(app.clone()));
    let server = tokio::spawn(http::server::serve(app.clone(), listener, http::router(app.clone())));
    tracing::info!(%address, workers = app.config.workers, "serving");
    reported(&Started { address, secure: app.tls.is_some(), token });
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    tracing::info!("going down");
    app.go_down();
    let ended = async {
        for slot in slots {
            let _ = slot.await;
        }
    };
    tokio::pin!(ended);
    if tokio::time::timeout(Duration::from_secs(app.config.drain), &mut ended).await.is_err() {
        app.end_runs();
        ended.await;
    }
    let _ = server.await;
    sweeper.abort();
    if let Some(certificates) = certificates {
        certificates.abort();
    }
    spawned(move || {
        app.telemetry.end();
        Ok(())
    })
    .await?;
    tracing::info!("ended");
    Ok(())
}

/// Reads certificates again when their files change, and on SIGHUP.
async fn certificates(app: Arc<App>) {
    let Some(tls) = &app.tls else { return };
    let Ok(mut asked) = signal(SignalKind::hangup()) else { return };
    let mut often = tokio::time::interval(LOOK);
    loop {
        tokio::select! {
            _ = often.tick() => tls.look(false),
            _ = asked.recv() => tls.look(true),
        }
    }
}

fn first_token(app: &App) -> Result<Option<String>, ServeError> {
    app.store.now(|t| {
        // Of nodes that start together one makes it.
        t.lock(MIGRATING)?;
        if tenants::count(t)? > 0 {
            return Ok(None);
        }
        let tenant = tenants::add(t, FIRST_TENANT, app.config.quota)?;
        Ok(Some(tenants::add_token(t, &app.key, None, tenant, &Scope::ALL, None)?.1))
    })
}

/// Adds a tenant, or a token to one that there is; gives a token of all scopes. The service may run meanwhile.
///
/// # Errors
/// A folder that holds no service.
pub fn add_tenant(config: &Config, name: &str) -> Result<String, ServeError> {
    folder(&config.dir)?;
    let (store, key) = opened(config)?;
    store.now(|t| {
        let tenant = match tenants::named(t, name)? {
            Some(tenant) => tenant,
            None => tenants::add(t, name, config.quota)?,
        };
        Ok(tenants::add_token(t, &key, None, tenant, &Scope::ALL, None)?.1)
    })
}

/// Deletes a tenant with everything that it has. The service may run: it ends the tenant's jobs within a third of a lease. The master
/// key is not needed.
///
/// # Errors
/// A folder that holds no service, and a name that no tenant has.
pub fn forget(config: &Config, name: &str) -> Result<Removed, ServeError> {
    named(config)?;
    let store = Store::open(config)?;
    let node = if store.is_shared() { app::node(&config.dir)? } else { String::new() };
    collect::forget(&store, &Blobs::unlocked(config)?, &node, None, name).map(|(_, removed)| removed)
}

/// Refuses a folder that no service has made.
fn named(config: &Config) -> Result<(), ServeError> {
    if config.postgres.is_none() && !config.dir.join(DATABASE).is_file() {
        let why = format!("{} holds no service; name its folder with --dir", config.dir.display());
        return Err(ServeError::Start(why));
    }
    Ok(())
}

/// The store and the files of a folder that a service has made.
fn existing(config: &Config) -> Result<(Store, Blobs), ServeError> {
    named(config)?;
    let store = Store::open(config)?;
    let blobs = Blobs::of(config, &store)?;
    Ok((store, blobs))
}

/// Encrypts the files of a service that had no master key and is ended; gives their number.
///
/// # Errors
/// A folder that is served or holds no service; a missing or wrong master key.
pub fn encrypt(config: &Config) -> Result<usize, ServeError> {
    named(config)?;
    let _lock = locked(&config.dir)?;
    let store = Store::open(config)?;
    let _alone = store.serve(true)?;
    let vault = Vault::open(config, &store, true)?.ok_or_else(no_master)?;
    let plain = Blobs::unlocked(config)?;
    seal::all(&store, &plain, &plain.locked(vault))
}

/// Encrypts the keys of tenants under another master key; gives their number. The service may run.
///
/// # Errors
/// A folder that holds no service; master keys that are missing or wrong.
pub fn rewrap(config: &Config) -> Result<usize, ServeError> {
    named(config)?;
    let store = Store::open(config)?;
    Vault::open(config, &store, false)?.ok_or_else(no_master)?.rewrap()
}

fn no_master() -> ServeError {
    ServeError::Start("this needs the master key; give it with --master-key-file".into())
}

/// Removes objects and jobs whose time is over, and files that no object has; counts them alone if `dry`. The service may run.
///
/// # Errors
/// A folder that holds no service, or cannot be written.
pub fn gc(config: &Config, dry: bool) -> Result<Collected, ServeError> {
    let (store, blobs) = existing(config)?;
    collect::gc(&store, &blobs, &config.keep, dry)
}

/// Makes a copy of everything that can itself be served. The service may run.
///
/// # Errors
/// A folder that holds no service, and one for the copy that cannot be written or is served.
pub fn backup(config: &Config, to: &Path) -> Result<Saved, ServeError> {
    let (store, blobs) = existing(config)?;
    backup::backup(&config.dir, &store, &blobs, to)
}

/// What is not as it should be in a folder; with `deep` every object is hashed.
///
/// # Errors
/// A folder that holds no service, or cannot be read.
pub fn check(config: &Config, deep: bool) -> Result<Vec<String>, ServeError> {
    let (store, blobs) = existing(config)?;
    backup::faults(&config.dir, &store, &blobs, deep)
}

/// The number of the first entry of the audit log that was changed after it was written, if any.
///
/// # Errors
/// A folder that holds no service.
pub fn check_audit(config: &Config) -> Result<Option<i64>, ServeError> {
    existing(config)?.0.now(audit::broken)
}

/// The description of the interface, OpenAPI 3.1 as JSON.
///
/// # Errors
/// None that is known.
pub fn openapi() -> Result<String, ServeError> {
    http::api::openapi()
}
