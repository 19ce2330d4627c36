//! Bootstrapping one ciphertext at a time.

use std::fmt;
use std::sync::Arc;

use ringmill_circuits::bootstrap::{Bootstrap, Content};
use ringmill_ckks::{Ciphertext, EvaluationKeys, Level, Params, Scale};
use ringmill_machine::Watch;
use ringmill_program::he::{Builder, Chain, Lookup, Op, Program};
use ringmill_program::manage::{FLAT_FAILURE, KeySet, Options, manage};

use crate::recent::Recent;
use crate::{Error, Evaluator, Input, Inputs, Kernel, Stated};

/// Bootstraps ciphertexts, in any slots at any scale that its evaluator's chain has levels for.
///
/// A circuit is compiled once for each number of slots, scale, content, number of iterations and bound on values, a power of
/// two, and kept for the latest [`KERNELS`](Self::KERNELS) of these.
///
/// ```
/// use ringmill::circuits::bootstrap::{Content, Need};
/// use ringmill::ckks::{KeyGenerator, Level, Randomness};
/// use ringmill::{Bootstrapper, Evaluator, bootstrap_keys};
///
/// // A ring that protects nothing; without `insecure` and `log_n` the smallest one that does.
/// let need = Need { levels: 2, slots: 16, log_n: 10, insecure: true, ..Need::default() };
/// let (params, config) = need.arranged(16, 1)?;
/// let needed = bootstrap_keys(&params, 16, Content::Real)?;
/// let rotations: Vec<i64> = needed.rotations.iter().map(|&k| k as i64).collect();
/// let mut generator = KeyGenerator::new(&params)?;
/// let secret = generator.secret_key()?;
/// let keys = generator.evaluation_keys(&secret, &rotations, needed.conjugate)?;
/// let keys = keys.with_encapsulation(generator.encapsulation_key(&secret)?)?;
///
/// let e = Evaluator::new(&params)?;
/// let start = Level::new(config.start(16));
/// let plain = e.encode([0.5; 16].as_slice(), 16, start, &params.default_scale())?;
/// let low = secret.encrypt(&plain, &mut Randomness::from_os()?)?;
/// let high = Bootstrapper::new(&e).bootstrap(&low, &keys, Content::Real, None)?;
/// assert_eq!(high.level().get(), start.get() + 2);
/// assert!((e.decode(&secret.decrypt(&high)?)?[0].re - 0.5).abs() < 1e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
// Not part of the evaluator, which kernels hold.
pub struct Bootstrapper {
    evaluator: Evaluator,
    kernels: Recent<Shape, Kernel>,
}

/// What a circuit is compiled for.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Shape {
    slots: usize,
    scale: Scale,
    content: Content,
    iterations: u32,
    /// Bits of the bound on values.
    magnitude: u64,
    /// The table that numbers are looked up in, by the bits of its numbers.
    table: Option<Vec<u64>>,
}

impl Bootstrapper {
    /// The most circuits that are kept.
    pub const KERNELS: usize = 16;

    /// For ciphertexts of an evaluator's parameters, on its machine.
    pub fn new(evaluator: &Evaluator) -> Self {
        Self { evaluator: evaluator.clone(), kernels: Recent::new(Self::KERNELS) }
    }

    /// The same slots with fresh levels: as many as the chain was laid out to leave.
    ///
    /// The predicted magnitude of `a` is the bound on its values. [`Content::Real`] takes one sine in place of two and loses an
    /// imaginary part. `iterations` is 1, or 2 for more precision in twice the time; `None` takes as many as the chain was laid out for,
    /// or one where values are too small for two. The keys are those of [`bootstrap_keys`].
    ///
    /// # Errors
    /// - [`Error::Circuit`] for values, slots or iterations that cannot be bootstrapped;
    /// - [`Error::InputLevel`] for fewer levels left than the slots take on their way to coefficients;
    /// - [`Error::Program`] for a chain with too few levels;
    /// - missing keys, and the errors of [`Kernel::run`].
    pub fn bootstrap(
        &self,
        a: &Ciphertext,
        keys: &EvaluationKeys,
        content: Content,
        iterations: Option<u32>,
    ) -> Result<Ciphertext, Error> {
        self.bootstrap_watched(a, keys, content, iterations, &Watch::default())
    }

    /// As [`bootstrap`](Self::bootstrap), while another thread may see how far the machine is, and may end it: see [`Kernel::run_watched`].
    ///
    /// # Errors
    /// [`MachineError::Stopped`](ringmill_machine::MachineError::Stopped); as [`bootstrap`](Self::bootstrap).
    pub fn bootstrap_watched(
        &self,
        a: &Ciphertext,
        keys: &EvaluationKeys,
        content: Content,
        iterations: Option<u32>,
        watch: &Watch,
    ) -> Result<Ciphertext, Error> {
        let magnitude = a.noise().magnitude().max(f64::MIN_POSITIVE);
        let config = config(self.evaluator.params(), content, iterations);
        let config = if iterations.is_some() { config.up_to(magnitude) } else { config.suited_to(magnitude) };
        self.run(a, keys, &config, None, watch)
    }

    /// The entries of `table` for the whole numbers in the slots of `a`, with fresh levels: fewer than [`bootstrap`](Self::bootstrap) leaves
    /// by what [`Bootstrap::lookup_depth`] is above [`Bootstrap::depth`].
    ///
    /// Numbers whose error reaches one half may give the entry of another one. The keys are those of [`bootstrap_keys`] for
    /// [`Content::Real`]; imaginary parts are lost.
    ///
    /// # Errors
    /// [`Error::Circuit`] for a table that cannot be looked up; as [`bootstrap`](Self::bootstrap).
    pub fn look_up(
        &self,
        a: &Ciphertext,
        keys: &EvaluationKeys,
        table: &Lookup,
    ) -> Result<Ciphertext, Error> {
        self.look_up_watched(a, keys, table, &Watch::default())
    }

    /// As [`look_up`](Self::look_up), while another thread may see how far the machine is, and may end it: see [`Kernel::run_watched`].
    ///
    /// # Errors
    /// [`MachineError::Stopped`](ringmill_machine::MachineError::Stopped); as [`look_up`](Self::look_up).
    pub fn look_up_watched(
        &self,
        a: &Ciphertext,
        keys: &EvaluationKeys,
        table: &Lookup,
        watch: &Watch,
    ) -> Result<Ciphertext, Error> {
        let config = config(self.evaluator.params(), Content::Real, None);
        let error = a.noise().error_at(a.slots(), FLAT_FAILURE);
        if table.noise() + error >= 0.5 {
            return Err(Error::LookupError { place: String::new(), error, noise: table.noise() });
        }
        self.run(a, keys, &config, Some(table), watch)
    }

    /// From level [`Bootstrap::start`] on.
    fn run(
        &self,
        a: &Ciphertext,
        keys: &EvaluationKeys,
        config: &Bootstrap,
        table: Option<&Lookup>,
        watch: &Watch,
    ) -> Result<Ciphertext, Error> {
        let kernel = self.kernel(a, config, table)?;
        let start = Level::new(config.start(a.slots()));
        let low = if a.level() > start { self.evaluator.drop_level(a, start)? } else { a.clone() };
        let inputs = Inputs::from([("x".into(), Input::Cipher(&low))]);
        let mut results = kernel.run_watched(&inputs, keys, watch)?;
        Ok(results.remove("y").unwrap_or_else(|| unreachable!("the program has one output")))
    }

    fn kernel(
        &self,
        a: &Ciphertext,
        config: &Bootstrap,
        table: Option<&Lookup>,
    ) -> Result<Arc<Kernel>, Error> {
        let bits = |table: &Lookup| {
            let entries = table.entries().iter().map(|entry| entry.to_bits());
            entries.chain([table.first() as u64, table.noise().to_bits()]).collect()
        };
        let shape = Shape {
            slots: a.slots(),
            scale: a.scale().clone(),
            content: config.content,
            iterations: config.iterations,
            magnitude: config.magnitude.to_bits(),
            table: table.map(bits),
        };
        if let Some(kernel) = self.kernels.get(&shape) {
            return Ok(kernel);
        }
        let options = from_below(config, a.slots(), a.scale());
        // Its numbers are those of the circuit, the same for everybody.
        let kernel = Kernel::compile(&self.evaluator, &alone(a.slots(), config, table)?, &options)?;
        let kernel = kernel.stating(Stated::Prediction);
        Ok(self.kernels.insert(&shape, Arc::new(kernel)))
    }
}

impl fmt::Debug for Bootstrapper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bootstrapper({}, {} circuits)", self.evaluator.params(), self.kernels.len())
    }
}

/// The keys that bootstrapping a ciphertext of `slots` slots takes, in any number of iterations.
///
/// # Errors
/// [`Error::Circuit`] for too few slots; [`Error::Program`] for a chain with too few levels.
pub fn bootstrap_keys(params: &Params, slots: usize, content: Content) -> Result<KeySet, Error> {
    // Further iterations turn by the same distances.
    let config = config(params, content, Some(1));
    let options = from_below(&config, slots, &params.default_scale());
    let managed = manage(&alone(slots, &config, None)?, &Chain::from(params), &options)?;
    Ok(managed.summary.keys)
}

/// In as many iterations as the chain was laid out for, unless they are given.
pub(crate) fn config(params: &Params, content: Content, iterations: Option<u32>) -> Bootstrap {
    Bootstrap { content, ..Bootstrap::of(params, iterations) }
}

/// x, bootstrapped or looked up.
fn alone(slots: usize, config: &Bootstrap, table: Option<&Lookup>) -> Result<Program, Error> {
    let mut b = Builder::traced("bootstrap", slots)?;
    let x = b.push(Op::Input("x".into()))?;
    let y = match table {
        Some(table) => config.look_up(&mut b, x, table)?,
        None => config.apply(&mut b, x)?,
    };
    b.output("y", y)?;
    Ok(b.finish()?)
}

/// From the level at which a bootstrapping starts, at a given scale.
fn from_below(config: &Bootstrap, slots: usize, scale: &Scale) -> Options {
    let start = Level::new(config.start(slots));
    Options { input_level: Some(start), input_scale: Some(scale.clone()), ..Options::default() }
}
