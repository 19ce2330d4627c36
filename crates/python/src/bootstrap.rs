//! Bootstrapping for the facade: one ciphertext at a time, and wherever a program asks for it.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;

use ringmill::{Evaluator, Input, Inputs, Kernel};
use ringmill_circuits::bootstrap::{Bootstrap, Content, expand};
use ringmill_ckks::{Ciphertext, EvaluationKeys, Level, Params as Parameters, Scale};
use ringmill_program::he::{Builder, Chain, HeError, Op, Program};
use ringmill_program::manage::{Managed, Options, manage};

use crate::error::Failure;
use crate::params::Params;

fn config(real: bool, magnitude: f64) -> Bootstrap {
    let content = if real { Content::Real } else { Content::Complex };
    Bootstrap { content, magnitude, ..Bootstrap::default() }
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

/// From level 1 at a given scale.
fn from_below(scale: &Scale) -> Options {
    Options { input_level: Some(Level::new(1)), input_scale: Some(scale.clone()), ..Options::default() }
}

/// Slots, scale, whether real, bits of the magnitude.
type Shape = (usize, Scale, bool, u64);

/// Kernels that bootstrap one ciphertext.
#[derive(Default)]
pub(crate) struct Bootstraps(Mutex<HashMap<Shape, Arc<Kernel>>>);

impl Bootstraps {
    fn kernel(&self, e: &Evaluator, a: &Ciphertext, real: bool) -> Result<Arc<Kernel>, Failure> {
        let magnitude = a.noise().magnitude().max(f64::MIN_POSITIVE);
        let key = (a.slots(), a.scale().clone(), real, magnitude.to_bits());
        let mut kernels = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = kernels.get(&key) {
            return Ok(kernel.clone());
        }
        let program = alone(a.slots(), &config(real, magnitude))?;
        let kernel = Kernel::compile(e, &program, &from_below(a.scale())).map_err(|e| Failure::face(&e))?;
        let kernel = Arc::new(kernel);
        kernels.insert(key, kernel.clone());
        Ok(kernel)
    }

    pub(crate) fn run(
        &self,
        e: &Evaluator,
        keys: &EvaluationKeys,
        a: &Ciphertext,
        real: bool,
    ) -> Result<Ciphertext, Failure> {
        let kernel = self.kernel(e, a, real)?;
        let face = |error: ringmill::Error| Failure::face(&error);
        let low =
            if a.level() > Level::new(1) { e.drop_level(a, Level::new(1)).map_err(face)? } else { a.clone() };
        let mut results =
            kernel.run(&Inputs::from([("x".into(), Input::Cipher(&low))]), keys).map_err(face)?;
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
        let program = alone(slots, &config(real, 1.0))?;
        let managed = manage(&program, &Chain::from(&params), &from_below(&params.default_scale()));
        Ok(managed.map_err(|e| Failure::he(&e))?.summary.keys.rotations)
    })
}

/// The program managed for parameters, and where it asks to be bootstrapped.
pub(crate) fn managed(
    traced: &Program,
    params: &Parameters,
    bound: f64,
    real: bool,
) -> Result<(Managed, Vec<String>), Failure> {
    let (chain, config) = (Chain::from(params), config(real, bound));
    let asked = traced.instrs().iter().filter(|i| matches!(i.op, Op::Bootstrap(_)));
    let places =
        asked.map(|i| i.source.as_ref().map_or("asked for".into(), |s| format!("{s}: asked for"))).collect();
    let expanded = expand(traced, &config).map_err(|e| Failure::circuit(&e))?;
    Ok((manage(&expanded, &chain, &Options::default()).map_err(|e| Failure::he(&e))?, places))
}
