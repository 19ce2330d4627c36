//! PostgreSQL: a pool of connections, and transactions on them.
//!
//! Each call blocks, in threads that may wait; a connection is no task of the service's runtime.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use tokio_postgres::error::SqlState;

use crate::config::Postgres;
use crate::error::ServeError;
use crate::store::database::values;
use crate::store::session::{Manner, PATIENCE, Session};
use crate::store::trust;

/// Connections of one process, at most.
const CONNECTIONS: usize = 8;

/// Locks that all nodes of a database know, by number.
pub(crate) const MIGRATING: i64 = 0x72_6d_01;
pub(crate) const AUDIT: i64 = 0x72_6d_02;
const SERVING: i64 = 0x72_6d_03;

#[derive(Default)]
struct State {
    idle: Vec<Session>,
    open: usize,
}

/// Connections to one database.
pub(crate) struct Pool {
    settings: Postgres,
    state: Mutex<State>,
    returned: Condvar,
}

impl Pool {
    /// A pool whose first connection is open.
    pub(crate) fn open(settings: &Postgres) -> Result<Self, ServeError> {
        let pool = Self { settings: settings.clone(), state: Mutex::default(), returned: Condvar::new() };
        // An operator who starts the service reads what is wrong.
        let first = Session::open(settings)?.map_err(|error| {
            if let Some(why) = trust::refused(&error) {
                return ServeError::DatabaseCertificate { why };
            }
            let source = std::error::Error::source(&error).map(|source| format!(": {source}"));
            let why = format!("the database cannot be reached: {error}{}", source.unwrap_or_default());
            ServeError::Start(why)
        })?;
        pool.lock().open += 1;
        pool.give(Some(first));
        Ok(pool)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn connect(&self) -> Result<Session, ServeError> {
        Ok(Session::open(&self.settings)??)
    }

    /// A connection, once one is free; the right to open one counts as one.
    fn take(&self) -> Result<Option<Session>, ServeError> {
        let waited = |state: &mut State| state.idle.is_empty() && state.open >= CONNECTIONS;
        let (mut state, out) = self
            .returned
            .wait_timeout_while(self.lock(), PATIENCE, waited)
            .unwrap_or_else(PoisonError::into_inner);
        if out.timed_out() {
            return Err(ServeError::Busy);
        }
        let idle = state.idle.pop();
        if idle.is_none() {
            state.open += 1;
        }
        Ok(idle)
    }

    fn give(&self, session: Option<Session>) {
        let mut state = self.lock();
        match session {
            Some(session) => state.idle.push(session),
            None => state.open -= 1,
        }
        self.returned.notify_one();
    }

    /// Does one transaction.
    pub(crate) fn transact<T>(
        &self,
        manner: Manner,
        work: impl FnOnce(&mut Session) -> Result<T, ServeError>,
    ) -> Result<T, ServeError> {
        let taken = self.take()?;
        // Gives the place back, also after a panic.
        let mut place = Place { pool: self, session: None };
        // A server that was started anew has closed what was idle.
        let mut session = match taken.filter(Session::is_open) {
            Some(session) => session,
            None => self.connect()?,
        };
        session.begin(manner);
        let made = work(&mut session);
        // One that failed within is not committed, whatever was made of the failure.
        let failed = session.has_failed();
        let ended = session.end(made.is_ok());
        if ended.is_ok() {
            place.session = Some(session);
        }
        let made = made?;
        ended?;
        if failed { Err(ServeError::Database("a statement failed".into())) } else { Ok(made) }
    }

    /// Says that this process serves the database: `alone`, or beside others that also share. The lock lasts as long as what is given.
    pub(crate) fn serve(&self, alone: bool) -> Result<Serving, ServeError> {
        let mut session = self.connect()?;
        let lock = if alone { "pg_try_advisory_lock" } else { "pg_try_advisory_lock_shared" };
        let rows = session.query(&format!("SELECT {lock}(?1)"), values![SERVING])?;
        if rows.first().is_some_and(|row| row.get(0)) {
            return Ok(Serving(Mutex::new(Some(session))));
        }
        let why = match alone {
            true => {
                "the database is served by another process; for several nodes give each of them the same --blobs s3://BUCKET"
            }
            false => {
                "the database is served by a process that keeps objects in files; end it, or give it the same --blobs s3://BUCKET"
            }
        };
        Err(ServeError::Start(why.into()))
    }

    /// Has the server remove what was deleted from the files of a table.
    pub(crate) fn vacuum(&self, table: &str) -> Result<(), ServeError> {
        // Within no transaction.
        self.connect()?.batch(&format!("VACUUM {table}"))
    }

    /// Seconds since 1970 by the clock of the server, which is that of all nodes.
    pub(crate) fn time(&self) -> Result<i64, ServeError> {
        self.transact(Manner::Read, |session| {
            let rows = session.query("SELECT CAST(floor(extract(epoch FROM now())) AS BIGINT)", &[])?;
            let at: Option<i64> = rows.first().map(|row| row.try_get(0)).transpose()?;
            at.ok_or_else(|| ServeError::Database("the server has no clock".into()))
        })
    }
}

/// A place in the pool, with the connection that goes back to it; without one the place is free for another.
struct Place<'p> {
    pool: &'p Pool,
    session: Option<Session>,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.pool.give(self.session.take());
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // Within a task a connection must not end: it waits for the server.
        let idle = std::mem::take(&mut self.lock().idle);
        apart(move || drop(idle));
    }
}

/// The lock of a process that serves.
pub(crate) struct Serving(Mutex<Option<Session>>);

impl Drop for Serving {
    fn drop(&mut self) {
        let session = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        apart(move || {
            // The server sees the end of a connection some time later; the next service may not have to wait for that.
            if let Some(mut session) = session {
                let _ = session.batch("SELECT pg_advisory_unlock_all()");
            }
        });
    }
}

/// Does what blocks in a thread of its own: a task may not.
fn apart(work: impl FnOnce() + Send + 'static) {
    let _ = std::thread::spawn(work).join();
}

/// A schema in PostgreSQL's words for types.
pub(crate) fn typed(sql: &str) -> String {
    [
        ("INTEGER PRIMARY KEY", "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"),
        (" INTEGER", " BIGINT"),
        (" REAL", " DOUBLE PRECISION"),
        (" BLOB", " BYTEA"),
    ]
    .into_iter()
    .fold(sql.to_owned(), |sql, (from, to)| sql.replace(from, to))
}

impl From<tokio_postgres::Error> for ServeError {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(state) = error.code() else {
            // Of the connection; it names no password.
            let source = std::error::Error::source(&error);
            let away = error.is_closed() || source.is_some_and(|s| s.is::<std::io::Error>());
            if let Some(why) = trust::refused(&error) {
                tracing::error!(why, "the certificate of the database is refused");
            } else if away {
                tracing::warn!(%error, "the database is away");
            }
            return if away { Self::DatabaseAway } else { Self::Database(error.to_string()) };
        };
        // The detail of a message names rows: it is left out.
        let message = error.as_db_error().map(|e| e.message().to_owned()).unwrap_or_default();
        match state {
            &SqlState::DISK_FULL => Self::DiskFull,
            &SqlState::T_R_DEADLOCK_DETECTED | &SqlState::LOCK_NOT_AVAILABLE => Self::Busy,
            other if matches!(other.code().get(..2), Some("08" | "57" | "28" | "3D")) => {
                tracing::warn!(code = other.code(), message, "the database is away");
                Self::DatabaseAway
            }
            &SqlState::TOO_MANY_CONNECTIONS => Self::DatabaseAway,
            other => Self::Database(format!("{}: {message}", other.code())),
        }
    }
}
