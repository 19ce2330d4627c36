//! The database: tenants, tokens, objects, uploads, jobs and the audit log.
//!
//! Each call is one transaction, of SQLite or of PostgreSQL: [`database`] has what both take. Under SQLite reads have a connection of
//! their own: none waits for the disk behind a write.

pub(crate) mod audit;
pub(crate) mod clock;
pub(crate) mod data_keys;
pub(crate) mod database;
pub(crate) mod expiry;
#[cfg(test)]
mod expiry_tests;
#[cfg(test)]
mod job_tests;
pub(crate) mod jobs;
pub(crate) mod key_sets;
pub(crate) mod objects;
pub(crate) mod postgres;
pub(crate) mod session;
pub(crate) mod settings;
pub(crate) mod tenants;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod trust;
pub(crate) mod uploads;

use std::cell::RefCell;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

use crate::config::{Config, Postgres};
use crate::error::ServeError;
pub(crate) use crate::store::clock::now;
pub(crate) use crate::store::database::Transaction;
use crate::store::database::values;
use crate::store::postgres::{MIGRATING, Pool, Serving};
use crate::store::session::Manner;

/// Changes of the schema, in order; the database counts those that were made.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001.sql"),
    include_str!("migrations/0002.sql"),
    include_str!("migrations/0003.sql"),
    include_str!("migrations/0004.sql"),
    include_str!("migrations/0005.sql"),
    include_str!("migrations/0006.sql"),
    include_str!("migrations/0007.sql"),
    include_str!("migrations/0008.sql"),
];

/// The database, shared by all tasks.
#[derive(Clone)]
pub(crate) struct Store(Arc<Backend>);

enum Backend {
    Sqlite { writes: Mutex<Connection>, reads: Mutex<Connection> },
    Postgres(Pool),
}

/// The file of the database, in the folder of a service that has no other.
pub(crate) const DATABASE: &str = "ringmill.db";

impl Store {
    /// Opens the database of a service, and brings its schema up to date. Not within a task: it waits.
    pub(crate) fn open(config: &Config) -> Result<Self, ServeError> {
        match &config.postgres {
            Some(settings) => Self::postgres(settings),
            None => Self::sqlite(&config.dir),
        }
    }

    pub(crate) fn sqlite(dir: &Path) -> Result<Self, ServeError> {
        let connect = || -> Result<_, ServeError> {
            let connection = Connection::open(dir.join(DATABASE))?;
            connection.busy_timeout(Duration::from_secs(10))?;
            connection.pragma_update(None, "journal_mode", "wal")?;
            connection.pragma_update(None, "foreign_keys", true)?;
            // What is deleted is overwritten: keys of tenants among it.
            connection.pragma_update(None, "secure_delete", true)?;
            connection.set_prepared_statement_cache_capacity(64);
            Ok(Mutex::new(connection))
        };
        let store = Self(Arc::new(Backend::Sqlite { writes: connect()?, reads: connect()? }));
        store.now(migrate)?;
        Ok(store)
    }

    pub(crate) fn postgres(settings: &Postgres) -> Result<Self, ServeError> {
        let pool = Pool::open(settings)?;
        clock::begin(pool.time()?);
        let store = Self(Arc::new(Backend::Postgres(pool)));
        store.now(migrate)?;
        Ok(store)
    }

    /// Says that this process serves the database: `alone`, or beside others. What is given ends it. Under SQLite the folder is locked.
    pub(crate) fn serve(&self, alone: bool) -> Result<Option<Serving>, ServeError> {
        match &*self.0 {
            Backend::Sqlite { .. } => Ok(None),
            Backend::Postgres(pool) => pool.serve(alone).map(Some),
        }
    }

    /// Whether other processes may write to the database.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(*self.0, Backend::Postgres(_))
    }

    /// Writes a copy of the database as it is now to a file that is not there yet.
    pub(crate) fn copy(&self, to: &Path) -> Result<(), ServeError> {
        match &*self.0 {
            Backend::Sqlite { reads, .. } => {
                let connection = reads.lock().unwrap_or_else(PoisonError::into_inner);
                connection.execute("VACUUM INTO ?1", [to.to_string_lossy()])?;
                Ok(())
            }
            Backend::Postgres(_) => Err(ServeError::Start(
                "this copies a service whose database is a file; back PostgreSQL up with pg_dump, and then its objects".into(),
            )),
        }
    }

    /// Has deleted rows leave the files of the database: keys of tenants that were destroyed.
    pub(crate) fn scrub(&self) -> Result<(), ServeError> {
        match &*self.0 {
            Backend::Sqlite { writes, .. } => {
                let connection = writes.lock().unwrap_or_else(PoisonError::into_inner);
                // Readers may hold a part of the log; the next checkpoint takes that.
                connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
                Ok(())
            }
            Backend::Postgres(pool) => pool.vacuum("data_keys"),
        }
    }

    /// What SQLite finds wrong with its file; PostgreSQL looks after its own.
    pub(crate) fn damage(&self) -> Result<Option<String>, ServeError> {
        let Backend::Sqlite { reads, .. } = &*self.0 else { return Ok(None) };
        let connection = reads.lock().unwrap_or_else(PoisonError::into_inner);
        let sound: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
        Ok((sound != "ok").then_some(sound))
    }

    /// Does one transaction in the calling thread; it is on disk afterwards.
    pub(crate) fn now<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, ServeError>,
    ) -> Result<T, ServeError> {
        self.transact(Manner::Write, work)
    }

    fn transact<T>(
        &self,
        manner: Manner,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, ServeError>,
    ) -> Result<T, ServeError> {
        match &*self.0 {
            Backend::Sqlite { writes, .. } => {
                // A thread that ended in a panic left a transaction that was rolled back.
                let mut connection = writes.lock().unwrap_or_else(PoisonError::into_inner);
                let waiting = if manner == Manner::Write { "full" } else { "normal" };
                connection.pragma_update(None, "synchronous", waiting)?;
                let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
                let transaction = Transaction::Sqlite(transaction);
                let made = work(&transaction)?;
                if let Transaction::Sqlite(transaction) = transaction {
                    transaction.commit()?;
                }
                Ok(made)
            }
            Backend::Postgres(pool) => {
                pool.transact(manner, |session| work(&Transaction::Postgres(RefCell::new(session))))
            }
        }
    }

    /// Does one transaction in a thread that may wait; it is on disk afterwards.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, ServeError> + Send + 'static,
    ) -> Result<T, ServeError> {
        let store = self.clone();
        spawned(move || store.now(work)).await
    }

    /// Reads. Under PostgreSQL each statement is a transaction of its own, and sees what holds then.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, ServeError> + Send + 'static,
    ) -> Result<T, ServeError> {
        self.reading(Manner::Read, work).await
    }

    /// Reads one state by several statements.
    pub(crate) async fn view<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, ServeError> + Send + 'static,
    ) -> Result<T, ServeError> {
        self.reading(Manner::View, work).await
    }

    async fn reading<T: Send + 'static>(
        &self,
        manner: Manner,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, ServeError> + Send + 'static,
    ) -> Result<T, ServeError> {
        let store = self.clone();
        spawned(move || match &*store.0 {
            Backend::Sqlite { reads, .. } => {
                let mut connection = reads.lock().unwrap_or_else(PoisonError::into_inner);
                let transaction = connection.transaction_with_behavior(TransactionBehavior::Deferred)?;
                work(&Transaction::Sqlite(transaction))
            }
            Backend::Postgres(pool) => {
                pool.transact(manner, |session| work(&Transaction::Postgres(RefCell::new(session))))
            }
        })
        .await
    }

    /// As [`run`](Self::run), without waiting for the disk: a loss of power may undo it, as if it had not happened yet. For ends of
    /// jobs, which would be computed again, for times of use, and for leases: one that is undone is given to nobody else.
    pub(crate) async fn lightly<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, ServeError> + Send + 'static,
    ) -> Result<T, ServeError> {
        let store = self.clone();
        spawned(move || store.transact(Manner::Light, work)).await
    }
}

/// Does what blocks in a thread that may wait.
pub(crate) async fn spawned<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ServeError> + Send + 'static,
) -> Result<T, ServeError> {
    tokio::task::spawn_blocking(work).await.map_err(|e| ServeError::Worker { why: e.to_string() })?
}

fn migrate(t: &Transaction<'_>) -> Result<(), ServeError> {
    // Nodes that start together change the schema one after the other.
    t.lock(MIGRATING)?;
    let made = schema(t)?;
    let newest = MIGRATIONS.len() as i64;
    if !(0..=newest).contains(&made) {
        let why = format!("the database has schema {made}, this version knows {newest}; use a newer version");
        return Err(ServeError::Start(why));
    }
    for change in &MIGRATIONS[made as usize..] {
        t.batch(change)?;
    }
    if made < newest { set_schema(t, newest) } else { Ok(()) }
}

/// How many changes of the schema were made.
fn schema(t: &Transaction<'_>) -> Result<i64, ServeError> {
    match t {
        Transaction::Sqlite(t) => Ok(t.pragma_query_value(None, "user_version", |row| row.get(0))?),
        Transaction::Postgres(_) => {
            t.batch("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)")?;
            t.one("SELECT coalesce(max(version), 0) FROM schema_version", values![], |row| row.get(0))
        }
    }
}

fn set_schema(t: &Transaction<'_>, version: i64) -> Result<(), ServeError> {
    match t {
        Transaction::Sqlite(t) => Ok(t.pragma_update(None, "user_version", version)?),
        Transaction::Postgres(_) => {
            t.send("INSERT INTO schema_version (version) VALUES (?1)", values![version])
        }
    }
}

/// A random name of 16 hexadecimal digits a word.
pub(crate) fn random_id() -> Result<String, ServeError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|e| ServeError::Worker { why: format!("no random bytes: {e}") })?;
    Ok(hexadecimal(&bytes))
}

/// Bytes as hexadecimal digits in lower case.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
