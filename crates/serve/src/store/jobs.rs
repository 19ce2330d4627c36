//! Jobs: executed at least once, with an effect exactly once.
//!
//! A job is leased to the worker that runs it. Each lease counts `epoch` up and has a random number; what a holder writes is tied to
//! both, so that one whose lease has passed on changes nothing. By the random number that holds for a lease too that a loss of power
//! took from the database while its holder went on. Results are the same bits on every run.

use serde::{Deserialize, Serialize};

use crate::error::ServeError;
use crate::store::database::{Row, Transaction, values};
use crate::store::objects::Object;
use crate::store::{audit, key_sets, now, objects};
use crate::token::Caller;

/// Seconds of a day, over which predicted seconds are counted.
const DAY: i64 = 24 * 3600;

/// How far a job of keys that a worker holds may go before others: predicted seconds that its tenant was given beyond another's, and
/// seconds that another job has waited.
const NEAR_SERVED: f64 = 10.0;
const NEAR_WAIT: i64 = 10;

/// How often a job that meets a bug is started.
const BUG_ATTEMPTS: i64 = 2;

/// The longest wait after a failure for want of resources, in seconds.
const LONGEST_WAIT: i64 = 300;

/// Whose fault a failure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Class {
    /// The files do not fit: final.
    User,
    /// Memory or a process was missing: tried again until the deadline.
    Resource,
    /// The engine ended as it should not: tried a second time.
    Bug,
}

impl Class {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Resource => "resource",
            Self::Bug => "bug",
        }
    }
}

/// A failure.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub(crate) class: Class,
    pub(crate) code: String,
    pub(crate) message: String,
}

/// A job as its tenant sees it.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub(crate) struct Job {
    pub(crate) id: String,
    #[serde(skip)]
    pub(crate) tenant: i64,
    /// Hashes of what goes in.
    pub(crate) program: String,
    pub(crate) keys: String,
    pub(crate) arguments: String,
    /// queued, running, done, failed, cancelled or expired.
    pub(crate) state: String,
    /// user, resource or bug: of the last failure.
    pub(crate) class: Option<String>,
    pub(crate) code: Option<String>,
    pub(crate) message: Option<String>,
    /// Hash of the results.
    pub(crate) result: Option<String>,
    /// Predicted seconds of the run.
    pub(crate) predicted: f64,
    /// Seconds that the run took.
    pub(crate) seconds: Option<f64>,
    /// Seconds since 1970.
    pub(crate) created: i64,
    pub(crate) started: Option<i64>,
    pub(crate) ended: Option<i64>,
    pub(crate) deadline: i64,
    /// How often it was started.
    pub(crate) attempts: i64,
    #[serde(skip)]
    pub(crate) epoch: i64,
    #[serde(skip)]
    pub(crate) nonce: i64,
    /// What asked for it, in a trace.
    #[serde(skip)]
    pub(crate) trace: Option<String>,
    /// Version of the engine that computed the results.
    pub(crate) engine: Option<String>,
}

impl Job {
    pub(crate) fn is_open(&self) -> bool {
        matches!(&self.state[..], "queued" | "running")
    }
}

const COLUMNS: &str = "id, tenant, program, keys, arguments, state, class, code, message, result, predicted, seconds, \
                       created, started, ended, deadline, attempts, epoch, nonce, trace, engine";

fn read(row: &Row<'_>) -> Result<Job, ServeError> {
    Ok(Job {
        id: row.get(0)?,
        tenant: row.get(1)?,
        program: row.get(2)?,
        keys: row.get(3)?,
        arguments: row.get(4)?,
        state: row.get(5)?,
        class: row.get(6)?,
        code: row.get(7)?,
        message: row.get(8)?,
        result: row.get(9)?,
        predicted: row.get(10)?,
        seconds: row.get(11)?,
        created: row.get(12)?,
        started: row.get(13)?,
        ended: row.get(14)?,
        deadline: row.get(15)?,
        attempts: row.get(16)?,
        epoch: row.get(17)?,
        nonce: row.get(18)?,
        trace: row.get(19)?,
        engine: row.get(20)?,
    })
}

/// What is asked for.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) id: String,
    pub(crate) program: String,
    pub(crate) keys: String,
    pub(crate) arguments: String,
    pub(crate) idempotency: Option<String>,
    pub(crate) predicted: f64,
    pub(crate) deadline: i64,
    /// What asks for it, in a trace.
    pub(crate) trace: Option<String>,
}

/// The job that an Idempotency-Key made before.
pub(crate) fn repeated(
    t: &Transaction<'_>,
    tenant: i64,
    key: &str,
    wanted: (&str, &str, &str),
) -> Result<Option<Job>, ServeError> {
    let sql = format!("SELECT {COLUMNS} FROM jobs WHERE tenant = ?1 AND idempotency = ?2");
    let found = t.first(&sql, values![tenant, key], read)?;
    match found {
        Some(job) if (&job.program[..], &job.keys[..], &job.arguments[..]) != wanted => {
            Err(ServeError::Idempotency)
        }
        found => Ok(found),
    }
}

/// Adds a job, if quota and queue allow it.
pub(crate) fn add(
    t: &Transaction<'_>,
    by: &Caller,
    wanted: &Wanted,
    (workers, max_queue): (usize, f64),
) -> Result<Job, ServeError> {
    t.lock_tenant(by.tenant)?;
    let (most, open, queued, seconds): (i64, i64, f64, f64) = t.one(
        "SELECT quota_jobs, (SELECT count(*) FROM jobs WHERE tenant = ?1 AND state IN ('queued', 'running')),
           (SELECT coalesce(sum(predicted), 0.0) FROM jobs WHERE state IN ('queued', 'running')),
           quota_seconds
         FROM tenants WHERE id = ?1",
        values![by.tenant],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
    )?;
    if open >= most {
        return Err(ServeError::QuotaJobs { most: most as u64 });
    }
    within_day(t, by.tenant, seconds, wanted.predicted)?;
    let seconds = queued / workers as f64;
    if seconds > max_queue {
        return Err(ServeError::QueueFull { seconds, most: max_queue });
    }
    if open == 0 {
        // Who did not ask for anything has saved nothing up.
        t.send(
            "UPDATE tenants SET served = (SELECT min(o.served) FROM tenants o JOIN jobs j ON j.tenant = o.id
                                          WHERE j.state IN ('queued', 'running'))
             WHERE id = ?1 AND served < (SELECT min(o.served) FROM tenants o JOIN jobs j ON j.tenant = o.id
                                         WHERE j.state IN ('queued', 'running'))",
            values![by.tenant],
        )?;
    }
    let at = now();
    let sql = format!(
        "INSERT INTO jobs (id, tenant, program, keys, arguments, idempotency, state, predicted, created, ready, deadline, trace)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'queued', ?7, ?8, ?8, ?9, ?10) RETURNING {COLUMNS}"
    );
    let job = t.one(
        &sql,
        values![
            &wanted.id,
            by.tenant,
            &wanted.program,
            &wanted.keys,
            &wanted.arguments,
            &wanted.idempotency,
            wanted.predicted,
            at,
            wanted.deadline,
            &wanted.trace
        ],
        read,
    )?;
    for hash in [&wanted.program, &wanted.keys, &wanted.arguments] {
        objects::touch(t, by.tenant, hash)?;
    }
    key_sets::touch(t, by.tenant, &wanted.keys)?;
    audit::note(t, Some(by), "job.add", &wanted.id)?;
    Ok(job)
}

/// Which jobs count against the seconds of a day, of the tenant ?1 since ?2: not those that ended before they began.
const OF_DAY: &str = "tenant = ?1 AND created > ?2 AND (attempts > 0 OR state = 'queued')";

/// Predicted core-seconds of the jobs that a tenant asked for since a day ago.
pub(crate) fn seconds_of_day(t: &Transaction<'_>, tenant: i64) -> Result<f64, ServeError> {
    let sql = format!("SELECT coalesce(sum(predicted), 0.0) FROM jobs WHERE {OF_DAY}");
    t.one(&sql, values![tenant, now() - DAY], |row| row.get(0))
}

/// Refuses a job beyond the tenant's core-seconds of a day.
fn within_day(t: &Transaction<'_>, tenant: i64, most: f64, asked: f64) -> Result<(), ServeError> {
    let used = seconds_of_day(t, tenant)?;
    if used + asked <= most {
        return Ok(());
    }
    // The first that no longer counts makes space.
    let sql = format!("SELECT coalesce(min(created), ?3) FROM jobs WHERE {OF_DAY}");
    let first: i64 = t.one(&sql, values![tenant, now() - DAY, now()], |row| row.get(0))?;
    let free = (first + DAY - now()).clamp(1, DAY) as u64;
    Err(ServeError::QuotaSeconds { most, used, asked, free })
}

/// The job of a name.
pub(crate) fn get(t: &Transaction<'_>, tenant: i64, id: &str) -> Result<Job, ServeError> {
    let sql = format!("SELECT {COLUMNS} FROM jobs WHERE tenant = ?1 AND id = ?2");
    let found = t.first(&sql, values![tenant, id], read)?;
    found.ok_or(ServeError::NotFound { what: "job of this name" })
}

/// The jobs of a tenant, the newest first.
pub(crate) fn list(t: &Transaction<'_>, tenant: i64) -> Result<Vec<Job>, ServeError> {
    let sql = format!("SELECT {COLUMNS} FROM jobs WHERE tenant = ?1 ORDER BY created DESC, id LIMIT 1000");
    t.all(&sql, values![tenant], read)
}

/// What a worker holds ready: the keys of a tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) tenant: i64,
    pub(crate) keys: String,
}

/// Leases the next job: of the tenant whose jobs were given the fewest predicted seconds, the oldest. One of the keys that the worker
/// holds goes before, if no job that comes first has waited long, or is of a tenant that was given much less.
pub(crate) fn claim(t: &Transaction<'_>, lease: i64, held: Option<&Held>) -> Result<Option<Job>, ServeError> {
    let at = now();
    // A job that another node is about to take is passed over, not waited for.
    let skip = if t.is_shared() { "FOR UPDATE OF j SKIP LOCKED" } else { "" };
    let mut nonce = [0; 8];
    getrandom::fill(&mut nonce).map_err(|e| ServeError::Worker { why: format!("no random bytes: {e}") })?;
    let sql = format!(
        "UPDATE jobs SET state = 'running', epoch = epoch + 1, nonce = ?3, attempts = attempts + 1, started = ?1, lease = ?2
         WHERE id = (SELECT j.id FROM jobs j JOIN tenants t ON t.id = j.tenant
                     WHERE j.state = 'queued' AND j.ready <= ?1 AND j.deadline > ?1
                     ORDER BY CASE WHEN j.tenant = ?4 AND j.keys = ?5 AND NOT EXISTS (
                       SELECT 1 FROM jobs o JOIN tenants u ON u.id = o.tenant
                       WHERE o.state = 'queued' AND o.ready <= ?1 AND o.deadline > ?1
                       AND (u.served < t.served OR (u.served = t.served AND (o.created < j.created
                            OR (o.created = j.created AND o.id < j.id))))
                       AND (u.served < t.served - ?6 OR o.ready <= ?1 - ?7)) THEN 0 ELSE 1 END,
                     t.served, j.created, j.id LIMIT 1 {skip})
         RETURNING {COLUMNS}"
    );
    let (tenant, keys) = held.map_or((-1, ""), |held| (held.tenant, &held.keys));
    let values = values![at, at + lease, i64::from_le_bytes(nonce), tenant, keys, NEAR_SERVED, NEAR_WAIT];
    let job = t.first(&sql, values, read)?;
    if let Some(job) = &job {
        t.send("UPDATE tenants SET served = served + ?2 WHERE id = ?1", values![job.tenant, job.predicted])?;
    }
    Ok(job)
}

/// Lengthens a lease; false if it is another's by now, or the job was cancelled.
pub(crate) fn renew(t: &Transaction<'_>, job: &Job, lease: i64) -> Result<bool, ServeError> {
    let changed = t.execute(
        "UPDATE jobs SET lease = ?4 WHERE id = ?1 AND epoch = ?2 AND nonce = ?3 AND state = 'running' AND deadline > ?5",
        values![&job.id, job.epoch, job.nonce, now() + lease, now()],
    )?;
    Ok(changed == 1)
}

/// What the end of a run changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finished {
    /// Nothing: the lease is another's.
    Not,
    /// The job; its results are an object that was there already.
    Job,
    /// The job, and its results are a new object, whose bytes are not on disk yet.
    Object,
}

/// Ends a job with results, which become an object of the tenant; `settled` says that their bytes are safe.
pub(crate) fn finish(
    t: &Transaction<'_>,
    job: &Job,
    result: &Object,
    seconds: f64,
    settled: bool,
) -> Result<Finished, ServeError> {
    t.lock_tenant(job.tenant)?;
    let changed = t.execute(
        "UPDATE jobs SET state = 'done', result = ?4, seconds = ?5, ended = ?6, lease = NULL, class = NULL, code = NULL,
         message = NULL, engine = ?7 WHERE id = ?1 AND epoch = ?2 AND nonce = ?3 AND state = 'running'",
        values![&job.id, job.epoch, job.nonce, &result.hash, seconds, now(), env!("CARGO_PKG_VERSION")],
    )?;
    if changed == 0 {
        return Ok(Finished::Not);
    }
    let finished = match objects::add(t, job.tenant, result, settled)? {
        true => Finished::Object,
        false => objects::touch(t, job.tenant, &result.hash).map(|()| Finished::Job)?,
    };
    audit::note(t, None, "job.done", &job.id)?;
    Ok(finished)
}

/// Notes a failure: final, or the job waits for another attempt.
pub(crate) fn fail(t: &Transaction<'_>, job: &Job, failure: &Failure) -> Result<bool, ServeError> {
    let at = now();
    let bugs: i64 = t.one("SELECT bugs FROM jobs WHERE id = ?1", values![&job.id], |row| row.get(0))?;
    let bugs = bugs + i64::from(failure.class == Class::Bug);
    let last = match failure.class {
        Class::User => true,
        Class::Bug => bugs >= BUG_ATTEMPTS,
        Class::Resource => false,
    };
    // 1, 2, 4, … seconds.
    let wait = (1i64 << job.attempts.clamp(1, 10)) / 2;
    let (state, ended) = if last { ("failed", Some(at)) } else { ("queued", None) };
    let changed = t.execute(
        "UPDATE jobs SET state = ?4, class = ?5, code = ?6, message = ?7, ended = ?8, ready = ?9, bugs = ?10, lease = NULL
         WHERE id = ?1 AND epoch = ?2 AND nonce = ?3 AND state = 'running'",
        values![
            &job.id,
            job.epoch,
            job.nonce,
            state,
            failure.class.name(),
            &failure.code,
            &failure.message,
            ended,
            at + wait.min(LONGEST_WAIT),
            bugs
        ],
    )?;
    if changed == 1 && last {
        audit::note(t, None, "job.failed", &job.id)?;
    }
    Ok(changed == 1)
}

/// Gives a lease back: the job waits as if it had not been started.
pub(crate) fn release(t: &Transaction<'_>, job: &Job) -> Result<(), ServeError> {
    t.send(
        "UPDATE jobs SET state = 'queued', lease = NULL, attempts = attempts - 1
         WHERE id = ?1 AND epoch = ?2 AND nonce = ?3 AND state = 'running'",
        values![&job.id, job.epoch, job.nonce],
    )?;
    Ok(())
}

/// Cancels a job that is open; one that has ended stays as it is.
pub(crate) fn cancel(t: &Transaction<'_>, by: &Caller, id: &str) -> Result<Job, ServeError> {
    let changed = t.execute(
        "UPDATE jobs SET state = 'cancelled', ended = ?3, lease = NULL
         WHERE tenant = ?1 AND id = ?2 AND state IN ('queued', 'running')",
        values![by.tenant, id, now()],
    )?;
    if changed == 1 {
        audit::note(t, Some(by), "job.cancel", id)?;
    }
    get(t, by.tenant, id)
}

/// Ends jobs beyond their deadline, and takes back leases that were not renewed; `all` of them when nobody else runs jobs.
pub(crate) fn sweep(t: &Transaction<'_>, all: bool) -> Result<usize, ServeError> {
    let at = now();
    let expired = t.execute(
        "UPDATE jobs SET state = 'expired', ended = ?1, lease = NULL
         WHERE state IN ('queued', 'running') AND deadline <= ?1",
        values![at],
    )?;
    let taken = t.execute(
        "UPDATE jobs SET state = 'queued', lease = NULL, epoch = epoch + 1, ready = ?1
         WHERE state = 'running' AND (?2 = 1 OR lease <= ?1)",
        values![at, all],
    )?;
    Ok(expired + taken)
}

/// Jobs that wait and that run, and the predicted seconds of both.
pub(crate) fn load(t: &Transaction<'_>) -> Result<(i64, i64, f64), ServeError> {
    t.one(
        "SELECT coalesce(sum(CASE state WHEN 'queued' THEN 1 ELSE 0 END), 0),
                coalesce(sum(CASE state WHEN 'running' THEN 1 ELSE 0 END), 0), coalesce(sum(predicted), 0.0)
         FROM jobs WHERE state IN ('queued', 'running')",
        values![],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )
}
