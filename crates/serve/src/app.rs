//! What all tasks share.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, Semaphore};
use tokio::time::timeout;

use crate::blobs::Blobs;
use crate::collect;
use crate::config::Config;
use crate::error::ServeError;
use crate::metrics::Metrics;
use crate::pace::Pace;
use crate::receipt::Signer;
use crate::scheduler::Runs;
use crate::store::jobs::{self, Class, Failure};
use crate::store::postgres::Serving;
use crate::store::{Store, random_id, settings, spawned, uploads};
use crate::telemetry::Telemetry;
use crate::tls::Tls;
use crate::token::{KEY, TokenKey};
use crate::worker::parent::Worker;
use crate::worker::protocol::{Answer, Request};

/// Seconds that the check of a file may take: a kernel is compiled for it.
const CHECK_SECONDS: u64 = 300;

/// Files that are checked at once.
const CHECKS: usize = 2;

pub(crate) struct App {
    pub(crate) config: Config,
    pub(crate) store: Store,
    pub(crate) blobs: Blobs,
    pub(crate) key: TokenKey,
    pub(crate) signer: Signer,
    pub(crate) tls: Option<Tls>,
    /// The name of this process among the nodes of its database; empty where it is the only one.
    pub(crate) node: String,
    /// Ends with the service: no other may serve the database as it does.
    _serving: Option<Serving>,
    pub(crate) metrics: Metrics,
    pub(crate) telemetry: Telemetry,
    pub(crate) runs: Runs,
    pub(crate) pace: Pace,
    /// Uploads that may still begin to send.
    pub(crate) slots: Semaphore,
    checks: Semaphore,
    /// The command that spreads batches, while it runs: one batch at a time.
    pub(crate) spread: tokio::sync::Mutex<Option<Worker>>,
    /// Uploads that are being written.
    writing: Mutex<HashSet<String>>,
    draining: AtomicBool,
    /// Signals that the service goes down.
    drain: Notify,
    over: AtomicBool,
    over_told: Notify,
}

impl App {
    /// Opens what a service needs. Not within a task: it waits.
    pub(crate) fn new(config: Config) -> Result<Self, ServeError> {
        let tls = config.tls.as_ref().map(Tls::open).transpose()?;
        let (store, key) = opened(&config)?;
        let blobs = Blobs::of(&config, &store)?;
        let alone = !(store.is_shared() && blobs.bucket().is_some());
        let serving = store.serve(alone)?;
        let node = if store.is_shared() { node(&config.dir)? } else { String::new() };
        blobs.sweep(&store.now(uploads::all)?)?;
        collect::recover(&store, &blobs)?;
        // Where nobody else runs jobs, leases are those of a service that has ended.
        store.now(|t| jobs::sweep(t, alone))?;
        Ok(Self {
            signer: Signer::new(&key)?,
            key,
            tls,
            node,
            _serving: serving,
            metrics: Metrics::new()?,
            telemetry: Telemetry::open(config.otlp.as_deref())?,
            runs: Runs::default(),
            pace: Pace::default(),
            slots: Semaphore::new(config.max_uploads),
            checks: Semaphore::new(CHECKS),
            spread: tokio::sync::Mutex::default(),
            writing: Mutex::default(),
            draining: AtomicBool::new(false),
            drain: Notify::new(),
            over: AtomicBool::new(false),
            over_told: Notify::new(),
            config,
            store,
            blobs,
        })
    }

    /// Whether the service goes down.
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::SeqCst)
    }

    /// The service goes down: no job is started any more.
    pub(crate) fn go_down(&self) {
        self.draining.store(true, Ordering::SeqCst);
        self.drain.notify_waiters();
        self.runs.changed.notify_waiters();
    }

    /// Waits for [`go_down`](Self::go_down).
    pub(crate) async fn going_down(&self) {
        // A signal after this line is not missed.
        let signal = self.drain.notified();
        if !self.is_draining() {
            signal.await;
        }
    }

    /// Jobs that still run are given back.
    pub(crate) fn end_runs(&self) {
        self.over.store(true, Ordering::SeqCst);
        self.over_told.notify_waiters();
    }

    /// Waits for [`end_runs`](Self::end_runs).
    pub(crate) async fn deadline_of_drain(&self) {
        let signal = self.over_told.notified();
        if !self.over.load(Ordering::SeqCst) {
            signal.await;
        }
    }

    /// The right to write to an upload.
    pub(crate) fn writing(&self, id: &str) -> Result<Writing<'_>, ServeError> {
        let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        match writing.insert(id.to_owned()) {
            true => Ok(Writing { app: self, id: id.to_owned() }),
            false => Err(ServeError::Locked),
        }
    }

    /// Has a worker say what a file is; it sees files of this tenant alone.
    pub(crate) async fn check(&self, tenant: i64, file: std::path::PathBuf) -> Result<Answer, ServeError> {
        let _one = self.checks.acquire().await.map_err(|e| ServeError::Worker { why: e.to_string() })?;
        let blobs = self.blobs.clone();
        let file = spawned(move || blobs.whole(tenant, &file)).await?;
        let mut worker = Worker::start(&self.config, tenant)?;
        let request = Request::Check { file };
        let answer = timeout(Duration::from_secs(CHECK_SECONDS), worker.asked(&request)).await;
        worker.end().await;
        Ok(answer.unwrap_or_else(|_| {
            let message =
                format!("the file took longer than {CHECK_SECONDS} s to check; compile a smaller program");
            Answer::Failed(Failure { class: Class::User, code: "CheckTime".into(), message })
        }))
    }
}

/// The database of a service, and the key of its tokens, which is that of all its nodes.
pub(crate) fn opened(config: &Config) -> Result<(Store, TokenKey), ServeError> {
    let (store, key) = (Store::open(config)?, TokenKey::open(&config.dir)?);
    if store.is_shared() {
        let own = key.check();
        if store.now(|t| settings::agreed(t, KEY, &own))? != own {
            let why =
                format!("{KEY} is another one than that of the database's first node; copy it from there");
            return Err(ServeError::Start(why));
        }
    }
    Ok((store, key))
}

/// The name of a node, which its folder keeps.
pub(crate) fn node(dir: &Path) -> Result<String, ServeError> {
    let path = dir.join("node");
    if let Ok(name) = fs::read_to_string(&path) {
        return Ok(name);
    }
    let name = random_id()?;
    fs::write(&path, &name).map_err(ServeError::io("writing the name of the node"))?;
    Ok(name)
}

/// The right to write to an upload; it ends with this.
pub(crate) struct Writing<'a> {
    app: &'a App,
    id: String,
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.app.writing.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}
