//! A connection to PostgreSQL. Statements that need no answer of each other are sent at once.
//!
//! A round trip to the server is most of what a short transaction takes. So the beginning of a transaction, its locks and statements
//! that are only to succeed wait until an answer is needed, or the end, and all of them go together.

use std::collections::HashMap;
use std::time::Duration;

use bytes::BytesMut;
use futures_util::future::{FutureExt, join, join_all};
use tokio::runtime::{Builder, Runtime};
use tokio::task::{JoinHandle, yield_now};
use tokio::time::error::Elapsed;
use tokio::time::timeout;
use tokio_postgres::config::SslMode;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, Error, NoTls, Row, Statement};

use crate::config::Postgres;
use crate::error::ServeError;
use crate::store::database::Value;
use crate::store::trust;

/// How long a connection waits for the server.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// How long a statement waits for a lock: longer means that something is wrong.
const LOCK_SECONDS: u64 = 30;

/// How long an answer may take: a server that lives gives up its wait for a lock before. Beyond, something between it and this
/// process takes what is sent and says nothing, and the connection is given up.
const ANSWER: Duration = Duration::from_secs(LOCK_SECONDS + 10);

/// How long the end of a connection may take.
const FAREWELL: Duration = Duration::from_secs(1);

/// Statements that wait, at most. `join_all` sends no more than 30 in order.
const WAITING: usize = 16;

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
    /// It changes nothing, and each statement sees the database as it is then.
    Read,
    /// It changes nothing, and all of it sees one state of the database.
    View,
    /// It is on disk when it has ended.
    Write,
    /// It is on disk soon after; a server that crashes before undoes it.
    Light,
}

impl Manner {
    fn begin(self) -> Option<&'static str> {
        match self {
            Self::Read => None,
            Self::View => Some("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
            Self::Write => Some("BEGIN"),
            Self::Light => Some("BEGIN; SET LOCAL synchronous_commit = off"),
        }
    }
}

/// What waits to be sent.
enum Sent {
    Text(&'static str),
    Statement(Statement, Vec<Value>),
}

impl Sent {
    async fn done(&self, client: &Client) -> Result<(), Error> {
        match self {
            Self::Text(sql) => client.batch_execute(sql).await,
            Self::Statement(statement, values) => {
                client.execute(statement, &borrowed(values)).await.map(drop)
            }
        }
    }
}

/// A connection, with the statements that it has prepared. Used in threads that may wait.
pub(crate) struct Session {
    runtime: Runtime,
    /// Nothing while the connection ends.
    client: Option<Client>,
    connection: Option<JoinHandle<()>>,
    statements: HashMap<String, Statement>,
    waiting: Vec<Sent>,
    manner: Manner,
    /// The server knows of this transaction.
    begun: bool,
    /// A statement of this transaction failed.
    failed: bool,
}

impl Session {
    /// A new connection; the inner error is the server's.
    pub(crate) fn open(settings: &Postgres) -> Result<Result<Self, Error>, ServeError> {
        let mut config = settings.config()?;
        config.connect_timeout(PATIENCE).application_name("ringmill-serve");
        // A network that is cut ends a connection, on both sides, and what a stopped node holds is given free.
        config.keepalives_idle(PATIENCE).tcp_user_timeout(3 * PATIENCE);
        let options = format!(
            "-c lock_timeout={LOCK_SECONDS}s -c idle_in_transaction_session_timeout={}s",
            2 * LOCK_SECONDS
        );
        config.options(options.as_str());
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(ServeError::io("connecting to the database"))?;
        let tls = match config.get_ssl_mode() {
            SslMode::Disable => None,
            _ => {
                let asked = settings.encryption().map_err(ServeError::Start)?;
                Some(trust::connector(asked, settings.authorities.as_deref())?)
            }
        };
        let connected = runtime.block_on(async {
            // Who waits for an answer hears of the end of a connection.
            match tls {
                None => {
                    let (client, connection) = config.connect(NoTls).await?;
                    Ok((client, tokio::spawn(connection.map(drop))))
                }
                Some(tls) => {
                    let (client, connection) = config.connect(tls).await?;
                    Ok((client, tokio::spawn(connection.map(drop))))
                }
            }
        });
        Ok(connected.map(|(client, connection)| Self {
            runtime,
            client: Some(client),
            connection: Some(connection),
            statements: HashMap::new(),
            waiting: Vec::new(),
            manner: Manner::Read,
            begun: false,
            failed: false,
        }))
    }

    /// Whether the server has not ended the connection, as far as has arrived here.
    pub(crate) fn is_open(&self) -> bool {
        // What has arrived is read by the task of the connection: once it hears of it, and once it has run.
        self.runtime.block_on(async {
            yield_now().await;
            yield_now().await;
        });
        self.client.as_ref().is_some_and(|client| !client.is_closed())
    }

    /// Begins a transaction, of which the server hears with its first statement.
    pub(crate) fn begin(&mut self, manner: Manner) {
        (self.manner, self.begun, self.failed) = (manner, false, false);
        self.waiting.clear();
        self.waiting.extend(manner.begin().map(Sent::Text));
    }

    /// Ends a transaction: what it did holds, if `well` and no statement failed, or nothing of it.
    pub(crate) fn end(&mut self, well: bool) -> Result<(), ServeError> {
        let commit = well && !self.failed;
        // Of the beginning alone nobody needs to hear.
        let nothing = !self.begun && (!commit || self.waiting.len() <= 1);
        if self.manner == Manner::Read || nothing {
            self.waiting.clear();
            return Ok(());
        }
        if !commit {
            self.waiting.clear();
        }
        let end = if commit { "COMMIT" } else { "ROLLBACK" };
        self.exchange(async |client| client.batch_execute(end).await)
    }

    /// Whether a statement of the transaction failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed
    }

    /// Sends what waits and one thing more, and gives the answer to that; the first error of all of them.
    fn exchange<T>(&mut self, last: impl AsyncFnOnce(&Client) -> Result<T, Error>) -> Result<T, ServeError> {
        let Some(client) = &self.client else { return Err(ServeError::DatabaseAway) };
        let waiting = std::mem::take(&mut self.waiting);
        self.begun |= !waiting.is_empty();
        let made = self.runtime.block_on(async {
            // Each is sent when it is first polled, and they are polled in order.
            let all = join(join_all(waiting.iter().map(|one| one.done(client))), last(client));
            let (sent, made) = timeout(ANSWER, all).await?;
            Ok(sent.into_iter().collect::<Result<Vec<()>, _>>().and(made))
        });
        self.answered(made)
    }

    /// What came of a question. A connection without an answer is given up.
    fn answered<T>(&mut self, made: Result<Result<T, Error>, Elapsed>) -> Result<T, ServeError> {
        self.failed |= !matches!(made, Ok(Ok(_)));
        let Ok(made) = made else {
            self.client = None;
            return Err(ServeError::DatabaseAway);
        };
        Ok(made?)
    }

    /// The statement of a text, prepared once a connection. Texts are those of this program, a few dozen.
    fn prepared(&mut self, sql: &str) -> Result<Statement, ServeError> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let Some(client) = &self.client else { return Err(ServeError::DatabaseAway) };
        let text = sql.replace('?', "$");
        let made = self.runtime.block_on(async { timeout(ANSWER, client.prepare(&text)).await });
        let statement = self.answered(made)?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    fn changes(&self) -> Result<(), ServeError> {
        match self.manner {
            Manner::Read => Err(ServeError::Database("what only reads changes nothing".into())),
            _ => Ok(()),
        }
    }

    /// Does a statement; gives the number of rows that it changed.
    pub(crate) fn execute(&mut self, sql: &str, values: &[Value]) -> Result<usize, ServeError> {
        self.changes()?;
        let statement = self.prepared(sql)?;
        let rows = self.exchange(async |client| client.execute(&statement, &borrowed(values)).await)?;
        Ok(rows as usize)
    }

    /// Does a statement with the next one, or at the end.
    pub(crate) fn send(&mut self, sql: &str, values: Vec<Value>) -> Result<(), ServeError> {
        self.changes()?;
        let statement = self.prepared(sql)?;
        self.waiting.push(Sent::Statement(statement, values));
        if self.waiting.len() < WAITING { Ok(()) } else { self.exchange(async |_| Ok(())) }
    }

    /// All rows of an answer.
    pub(crate) fn query(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, ServeError> {
        let statement = self.prepared(sql)?;
        self.exchange(async |client| client.query(&statement, &borrowed(values)).await)
    }

    /// Does statements that take no parameters, however long they take.
    pub(crate) fn batch(&mut self, sql: &str) -> Result<(), ServeError> {
        self.exchange(async |_| Ok(()))?;
        let Some(client) = &self.client else { return Err(ServeError::DatabaseAway) };
        let made = self.runtime.block_on(client.batch_execute(sql));
        self.answered(Ok(made))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Without its client the connection says farewell.
        drop(self.client.take());
        if let Some(connection) = self.connection.take() {
            let _ = self.runtime.block_on(async { timeout(FAREWELL, connection).await });
        }
    }
}

fn borrowed(values: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}
