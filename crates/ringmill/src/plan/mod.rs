//! From a traced program to one that machines run: its parameters, its levels and scales, and where it bootstraps.
//!
//! [`manage`](ringmill_program::manage) knows no circuits: it refuses a program that is deeper than its
//! chain. Here such a program gets bootstrappings, or a chain that has levels for them.

mod choose;
mod place;

use std::collections::{BTreeMap, BTreeSet};

use ringmill_ckks::{KeyLayout, Level, Noise, Params, Scale};
use ringmill_program::he::{Op, Program};
use ringmill_program::lower::Switch;
use ringmill_program::manage::{self, Accuracy, FLAT_FAILURE, Managed, Manners, Promise};

pub use place::Place;

use crate::Error;

/// A program managed for parameters, with what is known of its values. Holds no key and no input.
///
/// ```
/// use ringmill::circuits::bootstrap::Need;
/// use ringmill::ckks::{KeyGenerator, Randomness};
/// use ringmill::program::he::{Builder, Op};
/// use ringmill::program::manage::{Encryption, Promise};
/// use ringmill::{Evaluator, Input, Inputs, Kernel, Plan, PlanOptions};
///
/// // A ring that protects nothing; `Plan::choose` takes one of 128 bits of security.
/// let need = Need { levels: 3, slots: 16, log_n: 10, insecure: true, ..Need::default() };
/// let (params, _) = need.arranged(16, 1)?;
///
/// // Eight products in a row; a bootstrapping leaves levels for three.
/// let mut b = Builder::traced("power", 16)?;
/// let x = b.push(Op::Input("x".into()))?;
/// let mut y = x;
/// for _ in 0..8 {
///     y = b.push(Op::Mul(y, x))?;
/// }
/// b.output("y", y)?;
/// let promise = Promise { inputs: 1.0, plain: 1.0, values: 1.0, real: true, encryption: Encryption::Public };
/// let plan = Plan::with_params(&b.finish()?, &params, promise, &PlanOptions::default())?;
/// assert!(plan.bootstraps[0].to_string().contains("has no level left"));
///
/// let needed = &plan.managed.summary.keys;
/// let rotations: Vec<i64> = needed.rotations.iter().map(|&k| k as i64).collect();
/// let mut generator = KeyGenerator::new(&params)?;
/// let secret = generator.secret_key()?;
/// let keys = generator.evaluation_keys(&secret, &rotations, needed.conjugate)?;
/// let keys = keys.with_encapsulation(generator.encapsulation_key(&secret)?)?;
///
/// let e = Evaluator::new(&params)?;
/// let kernel = Kernel::new(&e, plan.managed.clone())?;
/// let (_, level, scale) = kernel.cipher_inputs().next().ok_or("no input")?;
/// let plain = e.encode([0.99; 16].as_slice(), 16, level, scale)?;
/// let x = secret.encrypt(&plain, &mut Randomness::from_os()?)?;
/// let y = &kernel.run(&Inputs::from([("x".into(), Input::Cipher(&x))]), &keys)?["y"];
/// let error = (e.decode(&secret.decrypt(y)?)?[0].re - 0.99f64.powi(9)).abs();
/// assert!(error.log2() < plan.base_errors()?["y"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Plan {
    /// The parameters.
    pub params: Params,
    /// The program for these parameters, bootstrappings and all.
    pub managed: Managed,
    /// What is known of its values.
    pub promise: Promise,
    /// Why these parameters were chosen; `None` for parameters that were given.
    pub rationale: Option<String>,
    /// Where it bootstraps, and why: those that it asks for first, then those that were placed.
    pub bootstraps: Vec<Place>,
    /// Rotation keys that it may take; as many as are fastest if `None`.
    pub rotation_keys: Option<usize>,
}

/// Choices of [`Plan::with_params`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlanOptions {
    /// Least level of outputs; what holds them if `None`. Programs that ask for bootstrappings end above it anyway, and others are not
    /// bootstrapped for its sake.
    pub output_level: Option<Level>,
    /// Rotation keys that the program may take, those of bootstrappings included; as many as are fastest if `None`.
    pub rotation_keys: Option<usize>,
    /// Distances at which there are rotation keys already: rotations at others are made of these where no more of them lead there
    /// than keys of all powers of two would take at most.
    pub at_hand: Option<BTreeSet<i64>>,
    /// Level and scale of ciphertexts that there are already: outputs end as high as these let them. If `None`, inputs are encrypted
    /// for the program, at the lowest level that serves and the scale of the chain.
    pub input: Option<(Level, Scale)>,
}

impl Plan {
    /// The smallest parameters for a program's depth and the required accuracy of its results, as
    /// [`manage::choose`] chooses them. If the program asks for bootstrappings, or no such parameters exist,
    /// they bootstrap, with 128 bits of security. They then have the levels of the longest path between two
    /// bootstrappings, nine at most, and the bits that bring the predicted error below the required one.
    ///
    /// Run-time plaintexts are taken to be as large as encrypted inputs.
    ///
    /// # Errors
    /// [`Error::BootstrapSecurity`] and [`Error::BootstrapAccuracy`] for a program that asks to be bootstrapped; [`Error::NeitherWay`] for
    /// one that no parameters serve with bootstrappings or without; as [`manage::choose`].
    pub fn choose(traced: &Program, want: &Accuracy) -> Result<Self, Error> {
        choose::choose(traced, want)
    }

    /// The program managed for given parameters: as it is if their levels do, else with the bootstrappings that it asks for and as few
    /// more as are found.
    ///
    /// # Errors
    /// [`Error::Program`] with [`Rule::Depth`](ringmill_program::he::Rule::Depth) for a chain that is too short to bootstrap on the
    /// way, and as [`manage::manage`]; [`Error::Circuit`] for values that cannot be bootstrapped.
    pub fn with_params(
        traced: &Program,
        params: &Params,
        promise: Promise,
        options: &PlanOptions,
    ) -> Result<Self, Error> {
        let (managed, bootstraps) = place::managed(traced, params, &promise, options)?;
        let (params, rotation_keys) = (params.clone(), options.rotation_keys);
        let plan = Self { params, managed, promise, rationale: None, bootstraps, rotation_keys };
        plan.check_lookups()?;
        Ok(plan)
    }

    /// A bound on |slot| of every value of the managed program.
    pub fn bounds(&self) -> Vec<f64> {
        self.promise.bounds(&self.managed.program)
    }

    /// log2 of the predicted error of the worst slot of every output by its name, for inputs of the greatest size, encrypted
    /// as the promise says; exceeded with probability `failure`. `manners` says how each key switch is done.
    ///
    /// # Errors
    /// [`Error::Ring`] if the program rotates in a ring of another degree: not for a plan that was made here.
    pub fn errors(&self, failure: f64, manners: Manners<'_>) -> Result<BTreeMap<String, f64>, Error> {
        let all = manage::predict_fresh(&self.managed.program, &self.params, &self.promise, manners)?;
        Ok(self.worst(&all, failure))
    }

    /// Whether the numbers that are looked up stay nearer to their own entry than to the next one.
    fn check_lookups(&self) -> Result<(), Error> {
        let program = &self.managed.program;
        let mut flat = program.instrs().iter().filter_map(|i| Some((i, i.like?, i.like?.flat?))).peekable();
        if flat.peek().is_none() {
            return Ok(());
        }
        let base = KeyLayout::base(&self.params).into();
        let all = manage::predict_fresh(program, &self.params, &self.promise, &|_: &Switch| base)?;
        for (instr, like, flat) in flat {
            let error = all[like.value.index()].error_at(program.slots(), FLAT_FAILURE);
            if flat.from + error >= 0.5 {
                let place = instr.source.as_ref().map_or(String::new(), |source| format!("{source}: "));
                return Err(Error::LookupError { place, error, noise: flat.from });
            }
        }
        Ok(())
    }

    fn worst(&self, all: &[Noise], failure: f64) -> BTreeMap<String, f64> {
        let program = &self.managed.program;
        let error = |v: usize| all[v].error_at(program.slots(), failure).log2();
        program.outputs().iter().map(|o| (o.name.clone(), error(o.value.index()))).collect()
    }

    /// [`errors`](Self::errors) exceeded with probability [`FAILURE`](ringmill_ckks::noise::FAILURE), by keys of the base layout: those
    /// of an [evaluator](crate::Evaluator) that does not choose its methods.
    ///
    /// # Errors
    /// As [`errors`](Self::errors).
    pub fn base_errors(&self) -> Result<BTreeMap<String, f64>, Error> {
        let base = KeyLayout::base(&self.params).into();
        self.errors(ringmill_ckks::noise::FAILURE, &|_: &Switch| base)
    }
}

/// Whether a program asks to be bootstrapped.
fn asks(traced: &Program) -> bool {
    traced.instrs().iter().any(|i| matches!(i.op, Op::Bootstrap { .. } | Op::Lookup { .. }))
}
