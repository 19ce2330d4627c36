//! Whole programs on ciphertexts that there are already.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use ringmill_ckks::{GaloisKeys, Level, Scale};
use ringmill_program::he;
use ringmill_program::manage::Promise;

use crate::recent::Recent;
use crate::{Error, Evaluator, Kernel, Plan, PlanOptions};

/// Compiles traced programs for ciphertexts as they come, at whatever level and scale these share.
///
/// Results end as high as the inputs' level and the program's depth let them, so that computing goes on with them as after any
/// operation. A program is compiled once for each level, scale and promise, and kept for the latest [`PROGRAMS`](Self::PROGRAMS) of
/// these.
///
/// ```
/// use ringmill::ckks::{KeyGenerator, Need, Randomness};
/// use ringmill::program::manage::{Encryption, Promise};
/// use ringmill::{Evaluator, Input, Inputs, Runner};
///
/// let params = Need { depth: 3, scale_bits: 40, slots: 4, ..Need::default() }.choose()?.params;
/// let mut generator = KeyGenerator::new(&params)?;
/// let secret = generator.secret_key()?;
/// let keys = generator.evaluation_keys(&secret, &[], false)?;
/// let e = Evaluator::new(&params)?;
/// let plain = e.encode([0.5, -0.5, 1.0, 0.25].as_slice(), 4, params.max_level(), &params.default_scale())?;
/// let x = secret.encrypt(&plain, &mut Randomness::from_os()?)?;
/// let square = e.square_relinearise_rescale(&x, keys.relin()?)?;
///
/// let cube = "he @cube traced slots 4\n%x = input \"x\"\n%y = mul %x, %x\n%z = mul %y, %x\noutput \"z\", %z\nend";
/// let promise = Promise { inputs: 1.0, plain: 1.0, values: 1.0, real: true, encryption: Encryption::Public };
/// let kernel = Runner::new(&e).kernel(cube, (square.level(), square.scale()), promise, &Default::default())?;
/// let z = &kernel.run(&Inputs::from([("x".into(), Input::Cipher(&square))]), &keys)?["z"];
/// assert_eq!(z.level().get(), square.level().get() - 2);
/// assert!((e.decode(&secret.decrypt(z)?)?[0].re - 0.5f64.powi(6)).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Runner {
    evaluator: Evaluator,
    kernels: Recent<Shape, Kernel>,
    /// Distances of the rotation keys that there are, if that is known.
    at_hand: Option<BTreeSet<i64>>,
}

/// What a program is compiled for.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Shape {
    text: String,
    level: Level,
    scale: Scale,
    /// Bits of the bounds that are promised.
    bounds: [u64; 3],
    declared: Vec<(String, u64)>,
    real: bool,
}

impl Runner {
    /// The most programs that are kept.
    pub const PROGRAMS: usize = 8;

    /// For ciphertexts of an evaluator's parameters, on its machine.
    pub fn new(evaluator: &Evaluator) -> Self {
        Self { evaluator: evaluator.clone(), kernels: Recent::new(Self::PROGRAMS), at_hand: None }
    }

    /// For ciphertexts that these keys serve. A rotation without a key is composed of rotations with keys, if
    /// it takes no more of them than keys of all powers of two would take at most. Otherwise it is reported
    /// as missing when the program runs.
    pub fn with_keys(evaluator: &Evaluator, keys: &GaloisKeys) -> Self {
        let at_hand = Some(keys.rotations().into_iter().map(i64::from).collect());
        Self { at_hand, ..Self::new(evaluator) }
    }

    /// The program of a [text](he::parse), compiled for inputs of one level and scale. Its vectors count as private, each within
    /// the bound that is `declared` for its name: results carry predictions that hold for all such vectors. A program that asks to be bootstrapped, or is
    /// deeper than that level, bootstraps if its chain has the levels for it.
    ///
    /// # Errors
    /// [`Error::Program`] for a text that is no traced program; as [`Plan::with_params`] and [`Kernel::new`].
    pub fn kernel(
        &self,
        text: &str,
        (level, scale): (Level, &Scale),
        promise: Promise,
        declared: &BTreeMap<String, f64>,
    ) -> Result<Arc<Kernel>, Error> {
        let shape = Shape {
            text: text.to_owned(),
            level,
            scale: scale.clone(),
            bounds: [promise.inputs, promise.plain, promise.values].map(f64::to_bits),
            declared: declared.iter().map(|(name, bound)| (name.clone(), bound.to_bits())).collect(),
            real: promise.real,
        };
        if let Some(kernel) = self.kernels.get(&shape) {
            return Ok(kernel);
        }
        let input = Some((level, scale.clone()));
        let options = PlanOptions { input, at_hand: self.at_hand.clone(), ..PlanOptions::default() };
        let plan = Plan::with_params(&he::parse(text)?, self.evaluator.params(), promise, &options)?;
        let kernel = Kernel::new(&self.evaluator, plan.managed)?;
        let program = kernel.program().with_vectors_bounded(declared);
        // A bound on all values may follow from the vectors: bounds are those of the program without them.
        let bounds = Promise { values: f64::INFINITY, ..promise }.bounds(&program);
        let kernel = kernel.with_private_vectors(declared).with_bounds(bounds, promise.real);
        Ok(self.kernels.insert(&shape, Arc::new(kernel)))
    }
}

impl fmt::Debug for Runner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Runner({}, {} programs)", self.evaluator.params(), self.kernels.len())
    }
}
