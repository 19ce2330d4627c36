//! Parameters for a program: by its depth and the accuracy wanted of its results.

use ringmill_ckks::params::Choice;
use ringmill_ckks::{KeyLayout, Need, Params, ParamsError, Secret};
use ringmill_errors::StructuredError;
use ringmill_ring::RingError;

use super::order::steady;
use super::{Encryption, Managed, Options, Promise, depth, manage, predict_fresh, simplify};
use crate::he::{Chain, HeError, Level, Program, Rule};

/// Least scale that [`Need`] accepts, in bits.
const MIN_SCALE_BITS: u32 = 20;

/// What is wanted of the results.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accuracy {
    /// Bits below the binary point: every slot of every output errs by less than 2^−bits.
    pub bits: u32,
    /// A bound on |slot| of every value of the program, inputs and intermediate results included.
    pub magnitude: f64,
    /// A bound on |slot| of the encrypted inputs, if it is smaller than `magnitude`.
    pub inputs: Option<f64>,
    /// Whether inputs are promised to be real, which gives closer bounds on what becomes of them.
    pub real: bool,
    /// 128, 192 or 256 bits of security.
    pub security: u32,
    /// Distribution of secret keys.
    pub secret: Secret,
    /// As in [`Options`].
    pub rotation_keys: Option<usize>,
    /// How inputs are encrypted.
    pub encryption: Encryption,
    /// Bits of the widest prime, where a machine's words are narrower than scales: levels then have several primes.
    pub word: Option<u32>,
}

impl Default for Accuracy {
    /// Twenty bits of values up to 1 at 128 bits of security.
    fn default() -> Self {
        Self {
            bits: 20,
            magnitude: 1.0,
            inputs: None,
            real: false,
            security: 128,
            secret: Secret::Ternary,
            rotation_keys: None,
            encryption: Encryption::default(),
            word: None,
        }
    }
}

/// Parameters, the program managed for them, and why.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The parameters.
    pub params: Params,
    /// The program for these parameters.
    pub managed: Managed,
    /// For a reader: what was wanted and what decided.
    pub rationale: String,
    /// The greatest predicted error of an output, for inputs of the magnitude given.
    pub error: f64,
}

/// Why no parameters could be chosen.
#[derive(Debug, Clone, PartialEq, thiserror::Error, StructuredError)]
pub enum ChooseError {
    /// The program is at fault.
    #[error(transparent)]
    Program(#[from] HeError),
    /// No parameters meet the need.
    #[error("no parameters for {bits} bits of accuracy at depth {depth}: {source}")]
    Params {
        /// Bits wanted.
        bits: u32,
        /// Multiplicative depth.
        depth: u32,
        /// What stands in the way.
        #[field(code)]
        source: ParamsError,
    },
    /// The ring refuses.
    #[error(transparent)]
    Ring(#[from] RingError),
    /// Wider scales do not help.
    #[error("{bits} bits of accuracy at depth {depth} are not reached by wider scales; ask for fewer bits")]
    Accuracy {
        /// Bits wanted.
        bits: u32,
        /// Multiplicative depth.
        depth: u32,
    },
    /// The magnitude is not a positive number.
    #[error("the magnitude bound is {magnitude}; it must be positive and finite")]
    Magnitude {
        /// The bound given.
        magnitude: f64,
    },
}

/// A first guess of the scale's bits: the rounding of one rescale errs in the worst slot by about 2·N over the scale, and
/// each product multiplies the error so far by the magnitude. Prediction corrects it.
fn first_guess(want: &Accuracy, log_n: u32, depth: u32) -> u32 {
    let growth = want.magnitude.max(1.0).log2() + f64::from(depth + 1).log2();
    (f64::from(want.bits) + f64::from(log_n) + growth).round() as u32
}

/// Bits below the guess, which is for public keys that do not divide, where the search begins: others save 4 to 8.
const GUESS_BELOW: u32 = 8;

/// Rounds of correction: each moves the scale by what the prediction lacks, and the degree may move with it.
const ROUNDS: usize = 16;

/// Primes ≡ 1 mod 2N of fewer bits are scarce in large rings: a wider scale may be met where a narrow one is not.
const SCARCE_BITS: u32 = 30;
/// Most bits that one round adds.
const STEP_MAX: f64 = 6.0;

/// The smallest parameters whose predicted accuracy is the one wanted, and the program managed for them.
///
/// # Errors
/// [`ChooseError`] names the program's or the parameters' rule that stands in the way.
pub fn choose(traced: &Program, want: &Accuracy) -> Result<Plan, ChooseError> {
    if !(want.magnitude > 0.0 && want.magnitude.is_finite()) {
        return Err(ChooseError::Magnitude { magnitude: want.magnitude });
    }
    let depth = depth(&simplify(traced)?);
    let fail = |source| ChooseError::Params { bits: want.bits, depth, source };
    let log_n = traced.slots().trailing_zeros().clamp(11, 14) + 1;
    let mut scale_bits = first_guess(want, log_n, depth).saturating_sub(GUESS_BELOW).max(MIN_SCALE_BITS);
    for _ in 0..ROUNDS {
        let need = Need {
            depth,
            scale_bits,
            integer_bits: want.magnitude.log2().ceil().max(0.0) as u32,
            slots: traced.slots(),
            security: want.security,
            secret: want.secret,
            word: want.word,
        };
        let Choice { params, rationale } = match need.choose() {
            Err(ParamsError::Unmet { .. }) if scale_bits < SCARCE_BITS => {
                scale_bits += 1;
                continue;
            }
            chosen => chosen.map_err(fail)?,
        };
        scale_bits = params.literal().scale_bits;
        // The base may be two primes: outputs stay above it.
        let floor = Level::new(params.max_level().get().saturating_sub(depth));
        let rotation_keys = want.rotation_keys;
        let options = Options { output_level: Some(floor), rotation_keys, ..Options::default() };
        let params = steady(&params, floor).map_err(fail)?;
        let managed = match manage(traced, &Chain::from(&params), &options) {
            // Where primes of this size are scarce, the next size may have closer ones.
            Err(e) if matches!(*e.rule, Rule::ScaleDrift { .. }) => {
                scale_bits += 1;
                continue;
            }
            managed => managed?,
        };
        let error = predicted(&managed.program, &params, want)?;
        let lacking = f64::from(want.bits) + error.log2();
        if lacking <= 0.0 {
            let rationale = format!(
                "{} bits of accuracy for values up to {} at depth {depth}: scale 2^{scale_bits}, predicted error \
                 2^{:.1}. {rationale}",
                want.bits,
                want.magnitude,
                error.log2()
            );
            return Ok(Plan { params, managed, rationale, error });
        }
        // An error that has outgrown the message says little about what is lacking.
        scale_bits += lacking.ceil().clamp(1.0, STEP_MAX) as u32;
    }
    Err(ChooseError::Accuracy { bits: want.bits, depth })
}

/// The greatest predicted error of an output, for inputs that fill their bound.
fn predicted(p: &Program, params: &Params, want: &Accuracy) -> Result<f64, RingError> {
    let inputs = want.inputs.unwrap_or(want.magnitude);
    let Accuracy { magnitude, real, encryption, .. } = *want;
    let promise = Promise { inputs, plain: magnitude, values: magnitude, real, encryption };
    let all = predict_fresh(p, params, &promise, &|_| KeyLayout::base(params).into())?;
    Ok(p.outputs().iter().map(|o| all[o.value.index()].error(p.slots())).fold(0.0, f64::max))
}
