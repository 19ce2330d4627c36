//! The model of the pool of transform units, by which its RTL is held: timetables, and the cycles of every start.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use ringmill::machine::pipelined::hardware::{self, Wanted};
use ringmill::machine::pipelined::pool::timetable::{self, Effort, Row};
use ringmill::machine::pipelined::pool::{Kind, Pool, Set, Task, Unit};

use crate::error::{Failure, Family};
use crate::machines::MachineSpec;
use crate::params::Params;

include!(concat!(env!("OUT_DIR"), "/pipelined.rs"));

/// Every file of the engine by its path in the repository: waivers, sources of both builds in order of compilation, and the shells that
/// make libraries of them.
#[pyfunction]
pub(crate) fn pipelined_files() -> Vec<(&'static str, &'static str)> {
    PIPELINED.to_vec()
}

/// The machine with all its sizes; its top module and what that is built with; cycles of a product, R, and what the multiplier takes
/// beside each prime.
type Hardware = (String, &'static str, Vec<(&'static str, u32)>, u64, u32, Vec<u64>);

/// The engine of a machine for parameters, those of a kernel.
#[pyfunction]
pub(crate) fn pipelined_hardware(
    machine: &MachineSpec,
    params: &Params,
    kernel: &str,
) -> Result<Hardware, Failure> {
    let params = &params.inner;
    let moduli: Vec<_> = params.q_moduli().iter().chain(params.p_moduli()).copied().collect();
    let set = Set {
        limbs: params.q_moduli().len() as u32,
        special: params.p_moduli().len() as u32,
        alpha: params.alpha() as u32,
    };
    let wanted = Wanted { kernel, log_n: params.log_n(), moduli: &moduli, set };
    let made = hardware::hardware(&machine.0, wanted).map_err(|e| Failure::of(Family::Machine, &e))?;
    let machine = made.machine.to_string();
    Ok((machine, made.top, made.parameters, made.multiplier, made.factor_bits, made.aux))
}

/// log2 N, cycles of a product, units, feeds, limbs of sums: 0 for those of a build for the set.
type PoolNumbers = (u32, u64, u32, u32, u32);
/// Limbs, special primes, limbs a digit.
type SetNumbers = (u32, u32, u32);
/// Kind, unit, modulus, part and age, as `rm_pool_pkg` has them; kind 0 takes a key switch.
type RowNumbers = (u8, u32, u32, u32, u32);
/// Key switch, kind, unit, modulus, part, cycle.
type StartNumbers = (usize, u8, u32, u32, u32, u64);

fn pool_of((log_n, multiplier, units, feeds, sums): PoolNumbers, set: Set) -> PyResult<Pool> {
    if !(8..=16).contains(&log_n) || units == 0 || feeds == 0 || multiplier == 0 {
        return Err(PyValueError::new_err("a pool has units and feeds, and N from 2^8 to 2^16"));
    }
    let least = 2 * set.moduli() + 2;
    let sums = if sums == 0 { set.sums() } else { sums };
    if sums < least {
        return Err(PyValueError::new_err(format!("{sums} limbs of sums: {set} has {least} at least")));
    }
    Ok(Pool { unit: Unit { log_n, multiplier }, units, feeds, sums })
}

fn set_of((limbs, special, alpha): SetNumbers) -> PyResult<Set> {
    if limbs == 0 || special == 0 || alpha == 0 || limbs > 15 || special > 7 {
        return Err(PyValueError::new_err(format!(
            "({limbs}, {special}, {alpha}) is no set: it has 1 to 15 limbs, 1 to 7 special primes, and digits of limbs"
        )));
    }
    Ok(Set { limbs, special, alpha })
}

fn numbers(row: &Row) -> RowNumbers {
    match *row {
        Row::Take => (0, 0, 0, 0, 0),
        Row::Task { task, unit, age } => (task.kind as u8, unit, task.modulus, task.part, age),
    }
}

fn row_of((kind, unit, modulus, part, age): RowNumbers) -> PyResult<Row> {
    let kind = match kind {
        0 => return Ok(Row::Take),
        1 => Kind::Back,
        2 => Kind::Up,
        3 => Kind::Rest,
        4 => Kind::Down,
        _ => return Err(PyValueError::new_err(format!("kind {kind} of a row is none of 0 to 4"))),
    };
    if modulus > 31 || part > 15 {
        return Err(PyValueError::new_err(format!("modulus {modulus}, part {part}: at most 31 and 15")));
    }
    Ok(Row::Task { task: Task { kind, modulus, part }, unit, age })
}

/// Limbs of sums of a build for a set.
#[pyfunction]
pub(crate) fn pool_sums(set: SetNumbers) -> PyResult<u32> {
    Ok(set_of(set)?.sums())
}

/// A timetable: the machine's own, or for `moves` of 0 the plainest one, or one of a search of that length.
#[pyfunction]
#[pyo3(signature = (pool, set, moves=None))]
pub(crate) fn pool_timetable(
    py: Python<'_>,
    pool: PoolNumbers,
    set: SetNumbers,
    moves: Option<u32>,
) -> PyResult<Vec<RowNumbers>> {
    let set = set_of(set)?;
    let pool = pool_of(pool, set)?;
    let table = py.detach(|| match moves {
        None => timetable::timetable(&pool, set),
        Some(0) => timetable::in_order(&pool, set),
        Some(moves) => timetable::searched(&pool, set, Effort { moves, seeds: 2 }),
    });
    Ok(table.iter().map(numbers).collect())
}

/// A line of the stored timetables, searched for anew; none where none is found.
#[pyfunction]
pub(crate) fn pool_search(py: Python<'_>, pool: PoolNumbers, set: SetNumbers) -> PyResult<Option<String>> {
    let set = set_of(set)?;
    let pool = pool_of(pool, set)?;
    let found = py.detach(|| timetable::search(&pool, set, timetable::THOROUGH));
    Ok(found.map(|(period, places)| timetable::line(set, pool.sums, period, &places)))
}

/// Starts, and the last row of each, of `count` key switches on a timetable, all promised from the beginning.
#[pyfunction]
pub(crate) fn pool_run(
    py: Python<'_>,
    pool: PoolNumbers,
    set: SetNumbers,
    table: Vec<RowNumbers>,
    count: usize,
) -> PyResult<(Vec<StartNumbers>, Vec<u64>)> {
    let set = set_of(set)?;
    let pool = pool_of(pool, set)?;
    let table = table.into_iter().map(row_of).collect::<PyResult<Vec<_>>>()?;
    let ran = py
        .detach(|| pool.run(set, &table, &vec![Vec::new(); count], None))
        .map_err(|e| PyValueError::new_err(e.to_string()))?;
    let starts = ran.starts.iter();
    let starts =
        starts.map(|s| (s.job, s.task.kind as u8, s.unit, s.task.modulus, s.task.part, s.cycle)).collect();
    Ok((starts, ran.ends))
}
