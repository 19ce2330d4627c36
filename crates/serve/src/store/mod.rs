//! The database: tenants, tokens, objects, uploads, jobs and the audit log.
//!
//! Statements are SQL that PostgreSQL takes too, but for the mark of parameters. Each call is one transaction.

pub(crate) mod audit;
#[cfg(test)]
mod job_tests;
pub(crate) mod jobs;
pub(crate) mod objects;
pub(crate) mod tenants;
pub(crate) mod uploads;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::error::ServeError;

/// Changes of the schema, in order; `user_version` counts those that were made.
const MIGRATIONS: &[&str] = &[include_str!("migrations/0001.sql")];

/// The database, shared by all tasks.
#[derive(Clone)]
pub(crate) struct Store(Arc<Mutex<Connection>>);

impl Store {
    /// Opens the database of a folder, and brings its schema up to date.
    pub(crate) fn open(dir: &Path) -> Result<Self, ServeError> {
        let connection = Connection::open(dir.join("ringmill.db"))?;
        connection.busy_timeout(Duration::from_secs(10))?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        let store = Self(Arc::new(Mutex::new(connection)));
        store.now(migrate)?;
        Ok(store)
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
        let mut connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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

/// Seconds since 1970.
pub(crate) fn now() -> i64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs() as i64)
}

/// A random name of 16 hexadecimal digits a word.
pub(crate) fn random_id() -> Result<String, ServeError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|e| ServeError::Worker { why: format!("no random bytes: {e}") })?;
    Ok(bytes.iter().map(|b| format!("{b:02x}")).collect())
}
