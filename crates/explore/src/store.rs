//! Results in an SQLite file: it survives a kill, is taken up again, and can be queried by anything that reads SQLite.
//!
//! | table | holds |
//! |---|---|
//! | `meta` | what was explored |
//! | `parameters`, `cores` | both halves of every point |
//! | `cycles` | what was simulated, by structure and timing; NULL for what cannot run |
//! | `points` | the view that joins them: every point of the space |
//! | `front` | the outcome, the fastest first; rank 0 is the best by the objective |

use std::path::Path;

use ringmill_machine::compact::Counters;
use rusqlite::{Connection, params};

use crate::ExploreError;
use crate::design::{PrimeClass, Resource};
use crate::search::candidates::{Cores, cores_key};
use crate::search::{Found, Known, Outcome, Request};
use crate::space::chains::{Point, Shape};
use crate::space::cores::{Core, Timing};

/// Marks the file as ours (SQLite's `application_id`): "RMex".
const APPLICATION: i32 = 0x524d_6578;
/// Version of the tables (SQLite's `user_version`).
pub const VERSION: i32 = 1;

const TABLES: &str = "
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE cycles (shape TEXT, timing TEXT, cycles INTEGER, transform_busy INTEGER, arithmetic_busy INTEGER,
  read_beats INTEGER, write_beats INTEGER, instructions INTEGER, PRIMARY KEY (shape, timing));
CREATE TABLE parameters (id INTEGER PRIMARY KEY, shape TEXT, log_n INTEGER, wide INTEGER, limbs INTEGER, special INTEGER,
  dnum INTEGER, class TEXT, widest INTEGER, secret TEXT, scale_bits INTEGER, error REAL, security_bits REAL,
  security_level INTEGER, key_bytes INTEGER, input_bytes INTEGER, output_bytes INTEGER, q TEXT, p TEXT);
CREATE TABLE cores (id INTEGER PRIMARY KEY, log_n INTEGER, wide INTEGER, timing TEXT, class TEXT, word_bits INTEGER,
  butterflies INTEGER, multiplier TEXT, tile TEXT, banks TEXT, bus_bits INTEGER, fits INTEGER, area REAL, lut REAL, ff REAL,
  dsp REAL, bram36 REAL, ebr REAL, uram REAL, area_um2 REAL);
CREATE VIEW points AS SELECT p.id AS parameters, c.id AS core, y.cycles, c.area, c.fits, p.error, p.security_bits,
  p.security_level, p.log_n, p.limbs, p.special, p.dnum, p.class, p.secret, p.scale_bits, c.word_bits, c.butterflies,
  c.multiplier, c.tile, c.banks, c.bus_bits FROM parameters p JOIN cores c ON p.log_n = c.log_n AND p.wide = c.wide
  AND p.class = c.class AND p.widest <= c.word_bits LEFT JOIN cycles y ON y.shape = p.shape AND y.timing = c.timing;
CREATE TABLE front (rank INTEGER PRIMARY KEY, latency_ms REAL, area REAL, error REAL, security_bits REAL, log_n INTEGER,
  word_bits INTEGER, butterflies INTEGER, multiplier TEXT, found TEXT NOT NULL);
";

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
            store.connection.execute_batch(&format!("BEGIN;{mark}{TABLES}")).map_err(fail)?;
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
    pub fn cycles(&self) -> Result<Known, ExploreError> {
        let mut statement = self.connection.prepare("SELECT * FROM cycles").map_err(fail)?;
        let rows = statement
            .query_map([], |r| {
                let n = |at| r.get::<_, Option<i64>>(at).map(|x| x.unwrap_or(0) as u64);
                let counters = match r.get::<_, Option<i64>>(2)? {
                    None => None,
                    Some(cycles) => Some(Counters {
                        cycles: cycles as u64,
                        transform_busy: [n(3)?, 0],
                        arithmetic_busy: n(4)?,
                        read_beats: n(5)?,
                        write_beats: n(6)?,
                        instructions: n(7)?,
                        ..Counters::default()
                    }),
                };
                Ok((r.get::<_, String>(0)?, r.get::<_, String>(1)?, counters))
            })
            .map_err(fail)?;
        let mut known = Known::new();
        for row in rows {
            let (shape, timing, counters) = row.map_err(fail)?;
            if let (Some(shape), Some(timing)) = (Shape::from_key(&shape), Timing::from_key(&timing)) {
                known.insert((shape, timing), counters);
            }
        }
        Ok(known)
    }

    /// Adds what was simulated; on disk when this returns.
    ///
    /// # Errors
    /// [`ExploreError::Store`].
    pub fn add_cycles(&mut self, all: &[((Shape, Timing), Option<Counters>)]) -> Result<(), ExploreError> {
        let transaction = self.connection.transaction().map_err(fail)?;
        for ((shape, timing), counters) in all {
            let c = counters.map(|c| {
                let busy = c.transform_busy.iter().sum::<u64>();
                [c.cycles, busy, c.arithmetic_busy, c.read_beats, c.write_beats, c.instructions]
                    .map(|x| x as i64)
            });
            let at = |i: usize| c.map(|c| c[i]);
            transaction
                .execute(
                    "INSERT OR REPLACE INTO cycles VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                    params![shape.key(), timing.key(), at(0), at(1), at(2), at(3), at(4), at(5)],
                )
                .map_err(fail)?;
        }
        transaction.commit().map_err(fail)
    }

    /// Writes both halves of the space.
    ///
    /// # Errors
    /// [`ExploreError::Store`].
    pub fn write_space(&mut self, points: &[Point], cores: &Cores) -> Result<(), ExploreError> {
        let transaction = self.connection.transaction().map_err(fail)?;
        transaction.execute_batch("DELETE FROM parameters; DELETE FROM cores;").map_err(fail)?;
        {
            let marks = |n: usize| vec!["?"; n].join(", ");
            let insert = format!("INSERT INTO parameters VALUES ({})", marks(19));
            let mut statement = transaction.prepare(&insert).map_err(fail)?;
            for (id, point) in points.iter().enumerate() {
                put_point(&mut statement, id, point).map_err(fail)?;
            }
            let insert = format!("INSERT INTO cores VALUES ({})", marks(20));
            let mut statement = transaction.prepare(&insert).map_err(fail)?;
            let all = cores.iter().flat_map(|(key, cores)| cores.iter().map(move |core| (key, core)));
            for (id, (key, core)) in all.enumerate() {
                put_core(&mut statement, id, *key, core).map_err(fail)?;
            }
        }
        transaction.commit().map_err(fail)
    }

    /// Writes the outcome.
    ///
    /// # Errors
    /// [`ExploreError::Store`].
    pub fn write_outcome(&mut self, outcome: &Outcome) -> Result<(), ExploreError> {
        let transaction = self.connection.transaction().map_err(fail)?;
        transaction.execute("DELETE FROM front", []).map_err(fail)?;
        for (rank, found) in std::iter::once(&outcome.best).chain(&outcome.front).enumerate() {
            put_found(&transaction, rank, found)?;
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

fn put_point(s: &mut rusqlite::Statement<'_>, id: usize, p: &Point) -> rusqlite::Result<usize> {
    let list = |primes: &[u64]| primes.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
    let x = &p.parameters;
    let [keys, inputs, outputs] = p.bytes.map(|b| b as i64);
    s.execute(params![
        id as i64,
        p.shape.key(),
        x.log_n,
        cores_key(&p.shape).1,
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

fn put_core(
    s: &mut rusqlite::Statement<'_>,
    id: usize,
    key: (u32, bool),
    core: &Core,
) -> rusqlite::Result<usize> {
    let h = &core.hardware;
    let need = |r: Resource| core.needs.get(&r).copied();
    s.execute(params![
        id as i64,
        key.0,
        key.1,
        core.timing.key(),
        served(core).to_string(),
        h.word_bits,
        h.butterflies,
        h.multiplier,
        format!("{:?}", h.tile).to_lowercase(),
        format!("{:?}", h.banks).to_lowercase(),
        h.bus_bits,
        core.binding.is_none(),
        core.area,
        need(Resource::Lut),
        need(Resource::Ff),
        need(Resource::Dsp),
        need(Resource::Bram36),
        need(Resource::Ebr),
        need(Resource::Uram),
        need(Resource::AreaUm2)
    ])
}

/// The class of primes that a core serves.
fn served(core: &Core) -> PrimeClass {
    let w = core.hardware.word_bits;
    let classes = [PrimeClass::Any, PrimeClass::OneMod(w / 2), PrimeClass::Sparse(w), PrimeClass::PrfFiko(w)];
    classes.into_iter().find(|&c| core.serves(c, 0)).unwrap_or(PrimeClass::Any)
}

fn put_found(c: &Connection, rank: usize, f: &Found) -> Result<(), ExploreError> {
    let p = &f.predicted;
    let text = serde_json::to_string(f).map_err(|e| ExploreError::Store { why: e.to_string() })?;
    c.execute(
        "INSERT INTO front VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        params![
            rank as i64,
            p.latency_ms.value,
            p.area.value,
            p.error.value,
            p.security_bits.value,
            f.parameters.log_n,
            f.hardware.word_bits,
            f.hardware.butterflies,
            f.hardware.multiplier,
            text
        ],
    )
    .map_err(fail)
    .map(|_| ())
}

/// A name for the request, and the request for a reader. Time and seed change only how far a search comes.
fn about(request: &Request) -> (String, String) {
    let kernels: Vec<_> = request.kernels.iter().map(crate::Kernel::source).collect();
    let text = serde_json::json!({
        "kernels": kernels,
        "device": request.device,
        "wishes": request.constraints,
        "space": request.space,
        "ringmill": env!("CARGO_PKG_VERSION"),
    })
    .to_string();
    (blake3::hash(text.as_bytes()).to_hex().to_string(), text)
}
