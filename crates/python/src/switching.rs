//! How a kernel's keys are switched: by digits raised to every prime, by KLSS, or by what takes the least at each level.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use ringmill::{Evaluator, Machine};
use ringmill_ckks::{KeyLayout, Params};
use ringmill_program::cost::{CostTable, Kind, Methods, Work};
use ringmill_program::he::Chain;
use ringmill_program::lower::{Method, Switch, lower_by};
use ringmill_program::schedule::Statistics;

use crate::error::{Failure, Family};
use crate::plan::Plan;

/// The methods that a word allows; none for hybrid with the keys as they are.
///
/// A key of KLSS is derived from the hybrid one, so that keys travel as they always do.
fn methods(params: &Params, word: &str, costs: &CostTable) -> Result<Option<Methods>, Failure> {
    let chain = Chain::from(params);
    let all = || Methods::new(costs, &chain, &[], true).map_err(|e| Failure::of(Family::Parameter, &e));
    match word {
        "hybrid" => Ok(None),
        "auto" => Ok(Some(all()?)),
        "klss" => {
            let methods = all()?;
            let klss = methods.candidates().iter().find(|m| matches!(m, Method::Klss(_)));
            let none = "there are not enough primes for KLSS key switching with these parameters; compile with \
                        switching=\"hybrid\"";
            let klss = klss.ok_or_else(|| Failure::rule(Family::Parameter, "NoKlss", none))?;
            let only = Methods::only(costs, &chain, klss.clone());
            Ok(Some(only.map_err(|e| Failure::of(Family::Parameter, &e))?))
        }
        other => {
            let message =
                format!("there is no key switching {other:?}; there are \"hybrid\", \"klss\" and \"auto\"");
            Err(Failure::rule(Family::Parameter, "Switching", &message))
        }
    }
}

fn costs() -> Result<CostTable, Failure> {
    ringmill::costs().map_err(|e| Failure::face(&e))
}

/// An evaluator on a machine that switches keys as the word says.
pub(crate) fn evaluator(
    params: &Params,
    machine: Arc<dyn Machine>,
    word: &str,
) -> Result<Evaluator, Failure> {
    let face = |e: ringmill::Error| Failure::face(&e);
    let evaluator = Evaluator::with_machine(params, machine).map_err(face)?;
    match methods(params, word, &costs()?)? {
        None => Ok(evaluator),
        Some(methods) => evaluator.choosing(methods).map_err(face),
    }
}

/// In words.
fn name(method: &Method) -> String {
    let layout = method.layout();
    let digits = format!("digits of {}", layout.alpha);
    match method {
        Method::Hybrid(_) => format!("hybrid, {digits}, {} special primes", layout.special),
        Method::Klss(klss) => {
            let (t, bits) = (klss.t().len(), klss.t()[0].bits());
            format!("KLSS, {digits}, blocks of {}, {t} primes of {bits} bits", klss.block())
        }
    }
}

/// What a kernel's key switches have in common: limbs, and how they are done.
type Switches = BTreeMap<(usize, String), usize>;

/// A managed program, lowered and counted.
struct Counted {
    statistics: Statistics,
    instructions: usize,
    switches: Switches,
    nanoseconds: f64,
    by_kind: Vec<(&'static str, u64)>,
    machine: String,
}

fn counted(plan: &Plan, word: &str) -> Result<Counted, Failure> {
    let costs = costs()?;
    let methods = methods(&plan.params, word, &costs)?;
    let switches = RefCell::new(Switches::new());
    let method = |switch: &Switch| {
        let chosen = methods.as_ref().and_then(|methods| methods.choose(switch)).cloned();
        let chosen = chosen.unwrap_or_else(|| Method::Hybrid(KeyLayout::base(&plan.params)));
        *switches.borrow_mut().entry((switch.limbs, name(&chosen))).or_default() += 1;
        chosen
    };
    let lowered = lower_by(&plan.managed.program, &method).map_err(|e| Failure::of(Family::Program, &e))?;
    let program = lowered.program;
    let (work, log_n) = (Work::of(&program), plan.params.log_n());
    let by_kind = Kind::ALL.map(|kind| (kind.name(), work.get(kind)));
    Ok(Counted {
        statistics: Statistics::of(&program),
        instructions: program.len(),
        switches: switches.into_inner(),
        nanoseconds: costs.nanoseconds(&work, log_n),
        by_kind: by_kind.into(),
        machine: costs.machine().to_owned(),
    })
}

/// What one run of a plan takes, by counting: the limb program, the time that this machine's costs predict, and the method
/// of every key switch.
pub(crate) fn work<'py>(py: Python<'py>, plan: &Plan, word: &str) -> PyResult<Bound<'py, PyDict>> {
    let found = py.detach(|| counted(plan, word))?;
    let (told, s) = (PyDict::new(py), &found.statistics);
    told.set_item("instructions", found.instructions)?;
    told.set_item("transforms", s.ntt + s.intt)?;
    told.set_item("butterflies", s.butterflies)?;
    told.set_item("multiply_adds", s.multiply_adds)?;
    told.set_item("key_bytes", s.key_bytes)?;
    told.set_item("key_bytes_read", s.key_bytes_read)?;
    told.set_item("data_bytes", s.data_bytes)?;
    told.set_item("peak_bytes", u64::from(s.peak_live) * s.words as u64 * 8)?;
    told.set_item("seconds", found.nanoseconds / 1e9)?;
    told.set_item("costs", &found.machine)?;
    let kinds = PyDict::new(py);
    for (name, count) in &found.by_kind {
        kinds.set_item(name, count)?;
    }
    told.set_item("kinds", kinds)?;
    let switches = found.switches.into_iter().map(|((limbs, name), count)| (limbs - 1, name, count));
    told.set_item("switches", PyList::new(py, switches)?)?;
    Ok(told)
}
