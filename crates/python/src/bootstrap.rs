//! Bootstrapping for the facade: one ciphertext at a time, and wherever a program asks for it.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;

use ringmill::machine::Watch;
use ringmill::{Evaluator, Input, Inputs, Kernel};
use ringmill_circuits::bootstrap::{Bootstrap, Content, expand, place};
use ringmill_ckks::{Ciphertext, EvaluationKeys, Level, Params as Parameters, Scale};
use ringmill_program::he::{Builder, Chain, HeError, Op, Program, Rule, Value};
use ringmill_program::manage::{Managed, Options, Promise, least_output_level, manage, simplify};

use crate::error::Failure;
use crate::params::Params;

/// In as many iterations as the chain was laid out for, unless they are given.
fn config(real: bool, iterations: Option<u32>, params: &Parameters) -> Bootstrap {
    let content = if real { Content::Real } else { Content::Complex };
    Bootstrap { content, ..Bootstrap::of(params, iterations) }
}

/// x, bootstrapped.
fn alone(slots: usize, config: &Bootstrap) -> Result<Program, Failure> {
    let he = |e: HeError| Failure::he(&e);
    let mut b = Builder::traced("bootstrap", slots).map_err(he)?;
    let x = b.push(Op::Input("x".into())).map_err(he)?;
    let y = config.apply(&mut b, x).map_err(|e| Failure::circuit(&e))?;
    b.output("y", y).map_err(he)?;
    b.finish().map_err(he)
}

/// From the level at which a bootstrapping starts, at a given scale.
fn from_below(start: Level, scale: &Scale) -> Options {
    Options { input_level: Some(start), input_scale: Some(scale.clone()), ..Options::default() }
}

/// Slots, scale, whether real, iterations, bits of the magnitude.
type Shape = (usize, Scale, bool, u32, u64);

/// Kernels that bootstrap one ciphertext.
#[derive(Default)]
pub(crate) struct Bootstraps(Mutex<HashMap<Shape, Arc<Kernel>>>);

impl Bootstraps {
    fn kernel(&self, e: &Evaluator, a: &Ciphertext, config: &Bootstrap) -> Result<Arc<Kernel>, Failure> {
        let real = config.content == Content::Real;
        let key = (a.slots(), a.scale().clone(), real, config.iterations, config.magnitude.to_bits());
        let mut kernels = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = kernels.get(&key) {
            return Ok(kernel.clone());
        }
        let program = alone(a.slots(), config)?;
        let options = from_below(Level::new(config.start(a.slots())), a.scale());
        let kernel = Kernel::compile(e, &program, &options).map_err(|e| Failure::face(&e))?;
        let kernel = Arc::new(kernel);
        kernels.insert(key, kernel.clone());
        Ok(kernel)
    }

    pub(crate) fn run(
        &self,
        e: &Evaluator,
        keys: &EvaluationKeys,
        a: &Ciphertext,
        (real, iterations): (bool, Option<u32>),
        watch: &Watch,
    ) -> Result<Ciphertext, Failure> {
        let magnitude = a.noise().magnitude().max(f64::MIN_POSITIVE);
        let config = config(real, iterations, e.params());
        let config = if iterations.is_some() { config.up_to(magnitude) } else { config.suited_to(magnitude) };
        let kernel = self.kernel(e, a, &config)?;
        let face = |error: ringmill::Error| Failure::face(&error);
        let start = Level::new(config.start(a.slots()));
        let low = if a.level() > start { e.drop_level(a, start).map_err(face)? } else { a.clone() };
        let mut results = kernel
            .run_watched(&Inputs::from([("x".into(), Input::Cipher(&low))]), keys, watch)
            .map_err(|error| {
                let real = if real { "" } else { ", real=False" };
                let all = format!("keygen(params, **rm.bootstrap_keys(params, {}{real}))", a.slots());
                face(error).all_keys(&all)
            })?;
        Ok(results.remove("y").unwrap_or_else(|| unreachable!("the program has one output")))
    }
}

/// Rotations whose keys the bootstrapping of a ciphertext of `slots` slots needs.
#[pyfunction]
pub(crate) fn bootstrap_rotations(
    py: Python<'_>,
    params: &Bound<'_, Params>,
    slots: usize,
    real: bool,
) -> PyResult<BTreeSet<usize>> {
    let params: Parameters = params.get().inner.clone();
    py.detach(|| {
        // Further iterations turn by the same distances.
        let config = config(real, Some(1), &params);
        let program = alone(slots, &config)?;
        let options = from_below(Level::new(config.start(slots)), &params.default_scale());
        let managed = manage(&program, &Chain::from(&params), &options);
        Ok(managed.map_err(|e| Failure::he(&e))?.summary.keys.rotations)
    })
}

/// The program managed for parameters with bootstrappings: those it asks for and, where levels run out all the same, as
/// few more as [`place`] finds. Says where each one is and why.
pub(crate) fn managed(
    traced: &Program,
    params: &Parameters,
    promise: &Promise,
    refused: HeError,
    rotation_keys: Option<usize>,
) -> Result<(Managed, Vec<String>), Failure> {
    let options = Options { rotation_keys, ..Options::default() };
    let config = config(promise.real, None, params);
    // Its depth is that of what management makes of it: factors in a row are one, for instance.
    let simple = simplify(traced).map_err(|e| Failure::he(&e))?;
    let asked = simple.instrs().iter().filter(|i| matches!(i.op, Op::Bootstrap(_)));
    let mut places: Vec<String> =
        asked.map(|i| i.source.as_ref().map_or("asked for".into(), |s| format!("{s}: asked for"))).collect();
    let refused = match places.is_empty() {
        true => refused,
        false => match with_circuits(&simple, params, &config, promise, &options)? {
            Ok(managed) => return Ok((managed, places)),
            Err(refused) => refused,
        },
    };
    let floor = least_output_level(&Chain::from(params), &params.default_scale());
    let budget = config.budget(params.max_level().get(), simple.slots(), floor.get());
    let Some(budget) = budget.map_err(|e| Failure::circuit(&e))? else {
        return Err(Failure::he(&without(refused)));
    };
    let bounds = promise.bounds(&simple);
    let may = |v: Value| config.takes(bounds[v.index()]);
    let (program, placed) = place(&simple, budget, may).map_err(|e| Failure::circuit(&e))?;
    if placed.is_empty() {
        return Err(Failure::he(&refused));
    }
    places.extend(placed.iter().map(ToString::to_string));
    match with_circuits(&program, params, &config, promise, &options)? {
        Ok(managed) => Ok((managed, places)),
        Err(refused) => Err(Failure::he(&refused)),
    }
}

/// The program with circuits in place of its bootstrappings, managed; or why management refuses it.
fn with_circuits(
    program: &Program,
    params: &Parameters,
    config: &Bootstrap,
    promise: &Promise,
    options: &Options,
) -> Result<Result<Managed, HeError>, Failure> {
    let bounds = promise.bounds(program);
    let expanded = expand(program, config, |v: Value| bounds[v.index()]).map_err(|e| Failure::circuit(&e))?;
    Ok(manage(&expanded, &Chain::from(params), options))
}

/// The refusal, with what would let the program bootstrap.
fn without(mut refused: HeError) -> HeError {
    if let Rule::Depth { what, .. } = &mut *refused.rule {
        what.push_str(
            "; this chain is too short to bootstrap on the way, one from Params.bootstrapping(…) is not",
        );
    }
    refused
}
