//! The database: tenants, tokens, objects, uploads, jobs and the audit log.
//!
//! Statements are SQL that PostgreSQL takes too, but for the mark of parameters. Each call is one transaction. Reads have a
//! connection of their own: none waits for the disk behind a write.

pub(crate) mod audit;
pub(crate) mod expiry;
#[cfg(test)]
mod expiry_tests;
#[cfg(test)]
mod job_tests;
pub(crate) mod jobs;
pub(crate) mod objects;
pub(crate) mod tenants;
pub(crate) mod uploads;

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::error::ServeError;

/// Changes of the schema, in order; `user_version` counts those that were made.
const MIGRATIONS: &[&str] = &[include_str!("migrations/0001.sql"), include_str!("migrations/0002.sql")];

/// The database, shared by all tasks.
#[derive(Clone)]
pub(crate) struct Store {
    writes: Arc<Mutex<Connection>>,
    reads: Arc<Mutex<Connection>>,
}

/// The file of the database, in the folder of a service.
pub(crate) const DATABASE: &str = "ringmill.db";

impl Store {
    /// Opens the database of a folder, and brings its schema up to date.
    pub(crate) fn open(dir: &Path) -> Result<Self, ServeError> {
        let connect = || -> Result<_, ServeError> {
            let connection = Connection::open(dir.join(DATABASE))?;
            connection.busy_timeout(Duration::from_secs(10))?;
            connection.pragma_update(None, "journal_mode", "wal")?;
            connection.pragma_update(None, "foreign_keys", true)?;
            Ok(Arc::new(Mutex::new(connection)))
        };
        let store = Self { writes: connect()?, reads: connect()? };
        store.now(migrate)?;
        Ok(store)
    }

    /// Writes a copy of the database as it is now to a file that is not there yet.
    pub(crate) fn copy(&self, to: &Path) -> Result<(), ServeError> {
        let connection = self.reads.lock().unwrap_or_else(PoisonError::into_inner);
        connection.execute("VACUUM INTO ?1", [to.to_string_lossy()])?;
        Ok(())
    }

    /// Does one transaction in the calling thread; it is on disk afterwards.
    pub(crate) fn now<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, ServeError>,
    ) -> Result<T, ServeError> {
        self.transact(true, work)
    }

    fn transact<T>(
        &self,
        durable: bool,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, ServeError>,
    ) -> Result<T, ServeError> {
        // A thread that ended in a panic left a transaction that was rolled back.
        let mut connection = self.writes.lock().unwrap_or_else(PoisonError::into_inner);
        connection.pragma_update(None, "synchronous", if durable { "full" } else { "normal" })?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let made = work(&transaction)?;
        transaction.commit()?;
        Ok(made)
    }

    /// Does one transaction in a thread that may wait; it is on disk afterwards.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, ServeError> + Send + 'static,
    ) -> Result<T, ServeError> {
        let store = self.clone();
        spawned(move || store.now(work)).await
    }

    /// Does one transaction that changes nothing.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, ServeError> + Send + 'static,
    ) -> Result<T, ServeError> {
        let store = self.clone();
        spawned(move || {
            let mut connection = store.reads.lock().unwrap_or_else(PoisonError::into_inner);
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Deferred)?;
            work(&transaction)
        })
        .await
    }

    /// As [`run`](Self::run), without waiting for the disk: a loss of power may undo it, as if it had not happened yet. For leases
    /// and times of use.
    pub(crate) async fn lightly<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, ServeError> + Send + 'static,
    ) -> Result<T, ServeError> {
        let store = self.clone();
        spawned(move || store.transact(false, work)).await
    }
}

async fn spawned<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ServeError> + Send + 'static,
) -> Result<T, ServeError> {
    tokio::task::spawn_blocking(work).await.map_err(|e| ServeError::Worker { why: e.to_string() })?
}

fn migrate(transaction: &Transaction<'_>) -> Result<(), ServeError> {
    let made: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let newest = MIGRATIONS.len() as i64;
    if !(0..=newest).contains(&made) {
        let why = format!("the database has schema {made}, this version knows {newest}; use a newer version");
        return Err(ServeError::Start(why));
    }
    for change in &MIGRATIONS[made as usize..] {
        transaction.execute_batch(change)?;
    }
    Ok(transaction.pragma_update(None, "user_version", newest)?)
}

/// Seconds since 1970, by a clock that is read once, when the process starts, and runs on evenly: a jump of the system's clock ends
/// no lease, job or object.
pub(crate) fn now() -> i64 {
    static START: OnceLock<(Instant, i64)> = OnceLock::new();
    let (start, at) = START.get_or_init(|| {
        let at = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        (Instant::now(), at.map_or(0, |d| d.as_secs() as i64))
    });
    at + start.elapsed().as_secs() as i64
}

/// A random name of 16 hexadecimal digits a word.
pub(crate) fn random_id() -> Result<String, ServeError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|e| ServeError::Worker { why: format!("no random bytes: {e}") })?;
    Ok(bytes.iter().map(|b| format!("{b:02x}")).collect())
}
