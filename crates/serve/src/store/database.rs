//! Two databases behind one transaction: SQLite in the folder of a service, and PostgreSQL.
//!
//! Statements are written once, with SQLite's marks of parameters (`?1`), in SQL that both take: whole numbers for what is true or false,
//! `CAST` where PostgreSQL would widen a sum. What only several writers at once need (locks of rows, of the audit log) is a method here
//! that does nothing under SQLite, which has one writer.

use std::cell::RefCell;

use rusqlite::types::ToSqlOutput;

use crate::error::ServeError;
use crate::store::postgres::typed;
use crate::store::session::Session;

/// A parameter of a statement.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Null,
    Int(i64),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Int(value.into())
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Real(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<&String> for Value {
    fn from(value: &String) -> Self {
        Self::Text(value.clone())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<&[u8]> for Value {
    fn from(value: &[u8]) -> Self {
        Self::Bytes(value.to_vec())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl From<&Option<String>> for Value {
    fn from(value: &Option<String>) -> Self {
        value.clone().into()
    }
}

/// Parameters of a statement, in order.
macro_rules! values {
    ($($value:expr),* $(,)?) => { &[$($crate::store::database::Value::from($value)),*] };
}
pub(crate) use values;

impl rusqlite::ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Self::Null => rusqlite::types::Null.to_sql(),
            Self::Int(value) => value.to_sql(),
            Self::Real(value) => value.to_sql(),
            Self::Text(value) => value.to_sql(),
            Self::Bytes(value) => value.to_sql(),
        }
    }
}

/// What a column may hold.
pub(crate) trait Column:
    rusqlite::types::FromSql + for<'r> tokio_postgres::types::FromSql<'r>
{
}

impl<T: rusqlite::types::FromSql + for<'r> tokio_postgres::types::FromSql<'r>> Column for T {}

/// A row of an answer.
pub(crate) enum Row<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r tokio_postgres::Row),
}

impl Row<'_> {
    /// A column by its place.
    pub(crate) fn get<T: Column>(&self, place: usize) -> Result<T, ServeError> {
        match self {
            Self::Sqlite(row) => Ok(row.get(place)?),
            Self::Postgres(row) => Ok(row.try_get(place)?),
        }
    }

    /// A column that holds a count.
    pub(crate) fn count(&self, place: usize) -> Result<u64, ServeError> {
        Ok(self.get::<i64>(place)?.max(0) as u64)
    }

    /// A column that is true or false.
    pub(crate) fn flag(&self, place: usize) -> Result<bool, ServeError> {
        Ok(self.get::<i64>(place)? != 0)
    }
}

/// A transaction of either database.
pub(crate) enum Transaction<'c> {
    Sqlite(rusqlite::Transaction<'c>),
    Postgres(RefCell<&'c mut Session>),
}

impl Transaction<'_> {
    /// Whether other writers may be at work meanwhile.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self, Self::Postgres(_))
    }

    /// Does a statement; gives the number of rows that it changed.
    pub(crate) fn execute(&self, sql: &str, values: &[Value]) -> Result<usize, ServeError> {
        match self {
            Self::Sqlite(t) => Ok(t.prepare_cached(sql)?.execute(rusqlite::params_from_iter(values))?),
            Self::Postgres(session) => session.borrow_mut().execute(sql, values),
        }
    }

    /// Does a statement that is only to succeed: PostgreSQL gets it with the next one, or with the end of the transaction.
    pub(crate) fn send(&self, sql: &str, values: &[Value]) -> Result<(), ServeError> {
        match self {
            Self::Sqlite(_) => self.execute(sql, values).map(drop),
            Self::Postgres(session) => session.borrow_mut().send(sql, values.to_vec()),
        }
    }

    /// All rows of an answer.
    pub(crate) fn all<T>(
        &self,
        sql: &str,
        values: &[Value],
        mut read: impl FnMut(&Row<'_>) -> Result<T, ServeError>,
    ) -> Result<Vec<T>, ServeError> {
        match self {
            Self::Sqlite(t) => {
                let mut statement = t.prepare_cached(sql)?;
                let mut rows = statement.query(rusqlite::params_from_iter(values))?;
                let mut found = Vec::new();
                while let Some(row) = rows.next()? {
                    found.push(read(&Row::Sqlite(row))?);
                }
                Ok(found)
            }
            Self::Postgres(session) => {
                let rows = session.borrow_mut().query(sql, values)?;
                rows.iter().map(|row| read(&Row::Postgres(row))).collect()
            }
        }
    }

    /// The first row of an answer, if it has one.
    pub(crate) fn first<T>(
        &self,
        sql: &str,
        values: &[Value],
        read: impl FnMut(&Row<'_>) -> Result<T, ServeError>,
    ) -> Result<Option<T>, ServeError> {
        Ok(self.all(sql, values, read)?.into_iter().next())
    }

    /// The first row of an answer that always has one.
    pub(crate) fn one<T>(
        &self,
        sql: &str,
        values: &[Value],
        read: impl FnMut(&Row<'_>) -> Result<T, ServeError>,
    ) -> Result<T, ServeError> {
        let found = self.first(sql, values, read)?;
        found.ok_or_else(|| ServeError::Database("a row is missing that must be there".into()))
    }

    /// Does several statements that take no parameters: changes of the schema, in SQLite's words for types.
    pub(crate) fn batch(&self, sql: &str) -> Result<(), ServeError> {
        match self {
            Self::Sqlite(t) => Ok(t.execute_batch(sql)?),
            Self::Postgres(session) => session.borrow_mut().batch(&typed(sql)),
        }
    }

    /// Holds off other writers of a tenant's objects and jobs, who ask for the same, until this transaction ends: what is counted after
    /// this stays so.
    pub(crate) fn lock_tenant(&self, tenant: i64) -> Result<(), ServeError> {
        match self {
            Self::Sqlite(_) => Ok(()),
            // Weaker than FOR UPDATE: rows that refer to the tenant can be added meanwhile.
            Self::Postgres(_) => {
                let sql = "SELECT id FROM tenants WHERE id = ?1 FOR NO KEY UPDATE";
                self.send(sql, values![tenant])
            }
        }
    }

    /// Holds off other takers of the same lock until this transaction ends.
    pub(crate) fn lock(&self, lock: i64) -> Result<(), ServeError> {
        match self {
            Self::Sqlite(_) => Ok(()),
            Self::Postgres(_) => self.send("SELECT 1 FROM pg_advisory_xact_lock(?1)", values![lock]),
        }
    }
}
