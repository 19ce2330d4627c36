//! Results in an SQLite file: it survives a kill, is taken up again, and can be queried by anything that reads SQLite.
//!
//! | table | holds |
//! |---|---|
//! | `meta` | what was explored |
//! | `parameters`, `cores` | both halves of every point; `served` has the classes of primes of each core |
//! | `cycles` | what was simulated, by structure and timing; NULL for what cannot run |
//! | `points` | the view that joins them: every point of the space |
//! | `front` | the outcome, the fastest first; rank 0 is the best by the objective |

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::types::Value as Sql;
use rusqlite::{Connection, params, params_from_iter};

use crate::ExploreError;
use crate::design::{Fields, PrimeClass, Resource};
use crate::search::candidates::{Cores, cores_key};
use crate::search::{Found, Known, Outcome, Request};
use crate::space::chains::{Point, Shape};
use crate::target::{Column, Core, Key, Plan, Row, Run, Target, written};

/// Marks the file as ours (SQLite's `application_id`): "RMex".
const APPLICATION: i32 = 0x524d_6578;
/// Version of the tables (SQLite's `user_version`).
pub const VERSION: i32 = 3;

/// A structure with the timing of a target, and what a run took: nothing for what cannot run.
type Timed<T> = ((Shape, <T as Target>::Timing), Option<Run>);

/// Tables of a target: what differs from one to the next are the columns of its machines and the counts of its runs.
fn tables(row: &Row) -> String {
    let typed = |(name, kind): (&str, &str)| format!("{name} {kind}, ");
    let counts: String = row.counters.iter().map(|&name| format!(", {name} INTEGER")).collect();
    let kind = |column: &Column| if column.number { "INTEGER" } else { "TEXT" };
    let machine: String = row.columns.iter().map(|c| typed((c.field, kind(c)))).collect();
    let of_core: String = row.columns.iter().map(|c| format!(", c.{}", c.field)).collect();
    let needs: String = Resource::ALL.iter().map(|r| format!(", {} REAL", r.name())).collect();
    format!(
        "
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE cycles (shape TEXT, timing TEXT, cycles INTEGER{counts}, PRIMARY KEY (shape, timing));
CREATE TABLE parameters (id INTEGER PRIMARY KEY, shape TEXT, log_n INTEGER, primes INTEGER, limbs INTEGER, special INTEGER,
  dnum INTEGER, class TEXT, widest INTEGER, secret TEXT, scale_bits INTEGER, error REAL, security_bits REAL,
  security_level INTEGER, key_bytes INTEGER, input_bytes INTEGER, output_bytes INTEGER, q TEXT, p TEXT);
CREATE TABLE cores (id INTEGER PRIMARY KEY, log_n INTEGER, primes INTEGER, timing TEXT, prime_bits INTEGER, {machine}
  fits INTEGER, area REAL{needs});
CREATE TABLE served (core INTEGER, class TEXT, PRIMARY KEY (core, class));
CREATE VIEW points AS SELECT p.id AS parameters, c.id AS core, y.cycles, c.area, c.fits, p.error, p.security_bits,
  p.security_level, p.log_n, p.limbs, p.special, p.dnum, p.class, p.secret, p.scale_bits{of_core}
  FROM parameters p JOIN cores c ON p.log_n = c.log_n AND p.primes = c.primes AND p.widest <= c.prime_bits
  JOIN served s ON s.core = c.id AND s.class = p.class LEFT JOIN cycles y ON y.shape = p.shape AND y.timing = c.timing;
CREATE TABLE front (rank INTEGER PRIMARY KEY, latency_ms REAL, area REAL, error REAL, security_bits REAL, log_n INTEGER,
  {machine} found TEXT NOT NULL);
"
    )
}

/// A results file.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
}

fn fail(e: rusqlite::Error) -> ExploreError {
    ExploreError::Store { why: e.to_string() }
}

impl Store {
    /// Makes the file for a request, or takes it up again.
    ///
    /// # Errors
    /// [`ExploreError::Schema`] for a file of another version, [`ExploreError::OtherExploration`] for one of another request,
    /// [`ExploreError::Store`] for one that is no results file or cannot be written.
    pub fn open(path: &Path, request: &Request) -> Result<Self, ExploreError> {
        let connection = Connection::open(path).map_err(fail)?;
        let pragma = |name: &str| connection.query_row(&format!("PRAGMA {name}"), [], |r| r.get::<_, i32>(0));
        let (application, version) =
            (pragma("application_id").map_err(fail)?, pragma("user_version").map_err(fail)?);
        let count =
            |c: &Connection| c.query_row("SELECT count(*) FROM sqlite_master", [], |r| r.get::<_, i64>(0));
        let fresh = count(&connection).map_err(fail)? == 0;
        if !fresh && application != APPLICATION {
            return Err(ExploreError::Store {
                why: format!(
                    "{} is a database, but no results of an exploration; choose another file",
                    path.display()
                ),
            });
        }
        if !fresh && version != VERSION {
            let remedy = "choose another file, or explore again with the version that made it";
            return Err(ExploreError::Schema {
                what: "results file",
                found: version.to_string(),
                expected: VERSION.unsigned_abs(),
                remedy,
            });
        }
        // A commit survives the kill of the process; one that survives a power cut would cost a disk access a batch.
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;").map_err(fail)?;
        let store = Self { connection };
        let (print, about) = about(request);
        if fresh {
            let mark = format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};");
            store
                .connection
                .execute_batch(&format!("BEGIN;{mark}{}", tables(request.target.row())))
                .map_err(fail)?;
            for (key, value) in [("fingerprint", &print), ("request", &about)] {
                let insert = "INSERT INTO meta VALUES (?1, ?2)";
                store.connection.execute(insert, params![key, value]).map_err(fail)?;
            }
            store.connection.execute_batch("COMMIT").map_err(fail)?;
            return Ok(store);
        }
        let stored: String = store
            .connection
            .query_row("SELECT value FROM meta WHERE key = 'fingerprint'", [], |r| r.get(0))
            .map_err(fail)?;
        if stored == print {
            return Ok(store);
        }
        Err(ExploreError::OtherExploration { file: path.display().to_string() })
    }

    /// What was simulated before.
    ///
    /// # Errors
    /// [`ExploreError::Store`].
    pub fn cycles<T: Target>(&self) -> Result<Known<T>, ExploreError> {
        let mut statement = self.connection.prepare("SELECT * FROM cycles").map_err(fail)?;
        let counts = statement.column_count().saturating_sub(3);
        let rows = statement
            .query_map([], |r| {
                let run = match r.get::<_, Option<i64>>(2)? {
                    None => None,
                    Some(cycles) => {
                        let count = |at| r.get::<_, Option<i64>>(3 + at).map(|x| x.unwrap_or(0) as u64);
                        Some(Run {
                            cycles: cycles as u64,
                            counts: (0..counts).map(count).collect::<Result<_, _>>()?,
                        })
                    }
                };
                Ok((r.get::<_, String>(0)?, r.get::<_, String>(1)?, run))
            })
            .map_err(fail)?;
        let mut known = Known::<T>::new();
        for row in rows {
            let (shape, timing, run) = row.map_err(fail)?;
            if let (Some(shape), Some(timing)) = (Shape::from_key(&shape), T::Timing::from_key(&timing)) {
                known.insert((shape, timing), run);
            }
        }
        Ok(known)
    }

    /// Adds what was simulated; on disk when this returns.
    ///
    /// # Errors
    /// [`ExploreError::Store`].
    pub fn add_cycles<T: Target>(&mut self, target: T, all: &[Timed<T>]) -> Result<(), ExploreError> {
        let counts = target.row().counters.len();
        let insert = format!("INSERT OR REPLACE INTO cycles VALUES ({})", marks(3 + counts));
        let transaction = self.connection.transaction().map_err(fail)?;
        for ((shape, timing), run) in all {
            let at = |i: usize| run.as_ref().and_then(|run| run.counts.get(i)).map(|&x| x as i64);
            let row = [
                Sql::Text(shape.key()),
                Sql::Text(timing.key()),
                run.as_ref().map(|run| run.cycles as i64).into(),
            ];
            let row = row.into_iter().chain((0..counts).map(|i| at(i).into()));
            transaction.execute(&insert, params_from_iter(row)).map_err(fail)?;
        }
        transaction.commit().map_err(fail)
    }

    /// Writes both halves of the space.
    ///
    /// # Errors
    /// [`ExploreError::Store`].
    pub fn write_space<T: Target>(
        &mut self,
        target: T,
        points: &[Point],
        cores: &Cores<T>,
    ) -> Result<(), ExploreError> {
        let transaction = self.connection.transaction().map_err(fail)?;
        let clear = "DELETE FROM parameters; DELETE FROM cores; DELETE FROM served;";
        transaction.execute_batch(clear).map_err(fail)?;
        {
            let insert = format!("INSERT INTO parameters VALUES ({})", marks(19));
            let mut statement = transaction.prepare(&insert).map_err(fail)?;
            for (id, point) in points.iter().enumerate() {
                put_point(&mut statement, id, cores_key(target, &point.shape).1, point).map_err(fail)?;
            }
            let columns = 7 + target.row().columns.len() + Resource::ALL.len();
            let insert = format!("INSERT INTO cores VALUES ({})", marks(columns));
            let mut statement = transaction.prepare(&insert).map_err(fail)?;
            let mut served = transaction.prepare("INSERT INTO served VALUES (?, ?)").map_err(fail)?;
            let classes: BTreeSet<PrimeClass> = points.iter().map(|p| p.parameters.class).collect();
            let all = cores.iter().flat_map(|(key, cores)| cores.iter().map(move |core| (key, core)));
            for (id, (key, core)) in all.enumerate() {
                let row = core_row(target, id, *key, core);
                statement.execute(params_from_iter(row)).map_err(fail)?;
                for class in classes.iter().filter(|&&class| target.serves(core, class, 0)) {
                    served.execute(params![id as i64, class.to_string()]).map_err(fail)?;
                }
            }
        }
        transaction.commit().map_err(fail)
    }

    /// Writes the outcome.
    ///
    /// # Errors
    /// [`ExploreError::Store`].
    pub fn write_outcome<T: Target>(&mut self, target: T, outcome: &Outcome) -> Result<(), ExploreError> {
        let transaction = self.connection.transaction().map_err(fail)?;
        transaction.execute("DELETE FROM front", []).map_err(fail)?;
        for (rank, found) in std::iter::once(&outcome.best).chain(&outcome.front).enumerate() {
            put_found(target, &transaction, rank, found)?;
        }
        let statistics = serde_json::json!({
            "best_proven": outcome.best_proven, "front_proven": outcome.front_proven,
            "stopped": outcome.stopped, "statistics": outcome.statistics,
        });
        transaction
            .execute("INSERT OR REPLACE INTO meta VALUES ('outcome', ?1)", [statistics.to_string()])
            .map_err(fail)?;
        transaction.commit().map_err(fail)
    }
}

/// Places for n values.
fn marks(n: usize) -> String {
    vec!["?"; n].join(", ")
}

fn put_point(s: &mut rusqlite::Statement<'_>, id: usize, primes: u32, p: &Point) -> rusqlite::Result<usize> {
    let list = |primes: &[u64]| primes.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
    let x = &p.parameters;
    let [keys, inputs, outputs] = p.bytes.map(|b| b as i64);
    s.execute(params![
        id as i64,
        p.shape.key(),
        x.log_n,
        primes,
        x.q.len() as i64,
        x.p.len() as i64,
        x.dnum as i64,
        x.class.to_string(),
        p.widest,
        format!("{:?}", x.secret).to_lowercase(),
        x.scale_bits,
        p.error,
        p.security_bits,
        p.security_level,
        keys,
        inputs,
        outputs,
        list(&x.q),
        list(&x.p)
    ])
}

/// What the target's columns say of a machine.
fn columns<'r>(row: &'r Row, fields: &'r Fields) -> impl Iterator<Item = Sql> + 'r {
    row.columns.iter().map(|column| match fields.get(column.field) {
        Some(serde_json::Value::Number(n)) => n.as_i64().into(),
        Some(serde_json::Value::String(text)) => Sql::Text(text.clone()),
        _ => Sql::Null,
    })
}

fn core_row<T: Target>(target: T, id: usize, (log_n, primes): (u32, u32), core: &Core<T>) -> Vec<Sql> {
    let fields = written(&target, &target.write(&core.machine, Plan::Quick));
    let mut row: Vec<Sql> = vec![
        (id as i64).into(),
        log_n.into(),
        primes.into(),
        core.timing.key().into(),
        core.prime_bits.into(),
    ];
    row.extend(columns(target.row(), &fields));
    row.extend([core.binding.is_none().into(), core.share.greatest.into()]);
    row.extend(Resource::ALL.iter().map(|r| core.needs.get(r).copied().into()));
    row
}

fn put_found<T: Target>(target: T, c: &Connection, rank: usize, f: &Found) -> Result<(), ExploreError> {
    let (row, p) = (target.row(), &f.predicted);
    let text = serde_json::to_string(f).map_err(|e| ExploreError::Store { why: e.to_string() })?;
    let fields = written(&target, &f.built);
    let figures = [&p.latency_ms, &p.area, &p.error, &p.security_bits].map(|figure| Sql::Real(figure.value));
    let values = std::iter::once(Sql::from(rank as i64))
        .chain(figures)
        .chain([f.parameters.log_n.into()])
        .chain(columns(row, &fields))
        .chain([Sql::Text(text)]);
    let insert = format!("INSERT INTO front VALUES ({})", marks(7 + row.columns.len()));
    c.execute(&insert, params_from_iter(values)).map_err(fail).map(|_| ())
}

/// A name for the request, and the request for a reader. Time and seed change only how far a search comes.
fn about(request: &Request) -> (String, String) {
    let kernels: Vec<_> = request.kernels.iter().map(crate::Kernel::source).collect();
    let text = serde_json::json!({
        "kernels": kernels,
        "target": request.target.row().name,
        "device": request.device,
        "wishes": request.constraints,
        "space": request.space,
        "ringmill": env!("CARGO_PKG_VERSION"),
    })
    .to_string();
    (blake3::hash(text.as_bytes()).to_hex().to_string(), text)
}
