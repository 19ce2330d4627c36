//! PostgreSQL: a pool of connections, and transactions on them.
//!
//! Each call blocks, in threads that may wait; a connection is no task of the service's runtime.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::BytesMut;
use postgres::error::SqlState;
use postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use postgres::{Client, NoTls, Statement};

use crate::config::Postgres;
use crate::error::ServeError;
use crate::store::database::Value;

/// Connections of one process, at most.
const CONNECTIONS: usize = 8;

/// How long a transaction waits for a connection, and a connection for the server.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a statement waits for a lock: longer means that something is wrong.
const LOCK_SECONDS: u64 = 30;

/// Locks that all nodes of a database know, by number.
pub(crate) const MIGRATING: i64 = 0x72_6d_01;
pub(crate) const AUDIT: i64 = 0x72_6d_02;
const SERVING: i64 = 0x72_6d_03;

impl ToSql for Value {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            // A comparison with a small number in the statement makes the parameter a small number.
            Self::Int(value) if *ty == Type::INT4 => i32::try_from(*value)?.to_sql(ty, out),
            Self::Int(value) => value.to_sql_checked(ty, out),
            Self::Real(value) => value.to_sql_checked(ty, out),
            Self::Text(value) => value.to_sql_checked(ty, out),
            Self::Bytes(value) => value.to_sql_checked(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// What a transaction does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// It changes nothing, and sees one state of the database.
    Read,
    /// It is on disk when it has ended.
    Write,
    /// It is on disk soon after; a server that crashes before undoes it.
    Light,
}

/// A connection, with the statements that it has prepared.
pub(crate) struct Session {
    client: Client,
    statements: HashMap<String, Statement>,
    /// A statement of this transaction failed.
    failed: bool,
}

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
        let first = pool.client()?.map_err(|error| {
            let source = std::error::Error::source(&error).map(|source| format!(": {source}"));
            let why = format!("the database cannot be reached: {error}{}", source.unwrap_or_default());
            ServeError::Start(why)
        })?;
        pool.lock().open += 1;
        pool.give(Some(Session::new(first)));
        Ok(pool)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn client(&self) -> Result<Result<Client, postgres::Error>, ServeError> {
        let mut config = self.settings.config()?;
        config.connect_timeout(PATIENCE).application_name("ringmill-serve");
        // A network that is cut ends a connection, on both sides, and what a stopped node holds is given free.
        config.keepalives_idle(PATIENCE).tcp_user_timeout(3 * PATIENCE);
        let options = format!(
            "-c lock_timeout={LOCK_SECONDS}s -c idle_in_transaction_session_timeout={}s",
            2 * LOCK_SECONDS
        );
        config.options(options.as_str());
        Ok(config.connect(NoTls))
    }

    fn connect(&self) -> Result<Session, ServeError> {
        Ok(Session::new(self.client()??))
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
        let begin = match manner {
            Manner::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Manner::Write => "BEGIN",
            Manner::Light => "BEGIN; SET LOCAL synchronous_commit = off",
        };
        let taken = self.take()?;
        // Gives the place back, also after a panic.
        let mut place = Place { pool: self, session: None };
        // A server that was started anew has closed what was idle.
        let begun = taken.and_then(|mut session| session.client.batch_execute(begin).ok().map(|()| session));
        let session = match begun {
            Some(session) => session,
            None => {
                let mut session = self.connect()?;
                session.client.batch_execute(begin)?;
                session
            }
        };
        let mut session = Session { failed: false, ..session };
        let made = work(&mut session);
        // One that failed within is not committed, whatever was made of the failure.
        let end = if made.is_ok() && !session.failed { "COMMIT" } else { "ROLLBACK" };
        let ended = session.client.batch_execute(end);
        let failed = std::mem::take(&mut session.failed);
        if ended.is_ok() {
            place.session = Some(session);
        }
        let made = made?;
        ended?;
        if failed { Err(ServeError::Database("a statement failed".into())) } else { Ok(made) }
    }

    /// Says that this process serves the database: `alone`, or beside others that also share. The lock lasts as long as what is given.
    pub(crate) fn serve(&self, alone: bool) -> Result<Serving, ServeError> {
        let mut client = self.client()??;
        let lock = if alone { "pg_try_advisory_lock" } else { "pg_try_advisory_lock_shared" };
        let taken: bool = client.query_one(&format!("SELECT {lock}($1)"), &[&SERVING])?.get(0);
        if taken {
            return Ok(Serving(Mutex::new(Some(client))));
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
        let mut session = self.connect()?;
        Ok(session.client.batch_execute(&format!("VACUUM {table}"))?)
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
pub(crate) struct Serving(Mutex<Option<Client>>);

impl Drop for Serving {
    fn drop(&mut self) {
        let client = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        apart(move || {
            // The server sees the end of a connection some time later; the next service may not have to wait for that.
            if let Some(mut client) = client {
                let _ = client.batch_execute("SELECT pg_advisory_unlock_all()");
            }
        });
    }
}

/// Does what blocks in a thread of its own: a task may not.
fn apart(work: impl FnOnce() + Send + 'static) {
    let _ = std::thread::spawn(work).join();
}

impl Session {
    fn new(client: Client) -> Self {
        Self { client, statements: HashMap::new(), failed: false }
    }

    /// The statement of a text, prepared once a connection. Texts are those of this program, a few dozen.
    fn prepared(&mut self, sql: &str) -> Result<Statement, postgres::Error> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(&sql.replace('?', "$"))?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    fn noted<T>(&mut self, made: Result<T, postgres::Error>) -> Result<T, ServeError> {
        self.failed |= made.is_err();
        Ok(made?)
    }

    pub(crate) fn execute(&mut self, sql: &str, values: &[Value]) -> Result<usize, ServeError> {
        let made =
            self.prepared(sql).and_then(|statement| self.client.execute(&statement, &borrowed(values)));
        self.noted(made).map(|rows| rows as usize)
    }

    pub(crate) fn query(&mut self, sql: &str, values: &[Value]) -> Result<Vec<postgres::Row>, ServeError> {
        let made = self.prepared(sql).and_then(|statement| self.client.query(&statement, &borrowed(values)));
        self.noted(made)
    }

    pub(crate) fn batch(&mut self, sql: &str) -> Result<(), ServeError> {
        let made = self.client.batch_execute(&typed(sql));
        self.noted(made)
    }
}

fn borrowed(values: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

/// A schema in PostgreSQL's words for types.
fn typed(sql: &str) -> String {
    [
        ("INTEGER PRIMARY KEY", "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"),
        (" INTEGER", " BIGINT"),
        (" REAL", " DOUBLE PRECISION"),
        (" BLOB", " BYTEA"),
    ]
    .into_iter()
    .fold(sql.to_owned(), |sql, (from, to)| sql.replace(from, to))
}

impl From<postgres::Error> for ServeError {
    fn from(error: postgres::Error) -> Self {
        let Some(state) = error.code() else {
            // Of the connection; it names no password.
            let source = std::error::Error::source(&error);
            let away = error.is_closed() || source.is_some_and(|s| s.is::<std::io::Error>());
            if away {
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
