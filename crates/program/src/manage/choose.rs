//! Parameters for a program: by its depth and the accuracy wanted of its results.

use ringmill_ckks::{Need, Params, ParamsError, Secret};

use super::{Managed, Options, depth, manage, simplify};
use crate::he::{Chain, HeError, Level, Program};

/// What is wanted of the results.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accuracy {
    /// Bits below the binary point: every slot of every output errs by less than 2^−bits.
    pub bits: u32,
    /// A bound on |slot| of every value of the program, inputs and intermediate results included.
    pub magnitude: f64,
    /// 128, 192 or 256 bits of security.
    pub security: u32,
    /// Distribution of secret keys.
    pub secret: Secret,
}

impl Default for Accuracy {
    /// Twenty bits of values up to 1 at 128 bits of security.
    fn default() -> Self {
        Self { bits: 20, magnitude: 1.0, security: 128, secret: Secret::Ternary }
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
}

/// Why no parameters could be chosen.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
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
        source: ParamsError,
    },
    /// The magnitude is not a positive number.
    #[error("the magnitude bound is {magnitude}; it must be positive and finite")]
    Magnitude {
        /// The bound given.
        magnitude: f64,
    },
}

/// Rounding after each key switch and rescale errs in a slot by about N/√18 (rms) over the scale; the worst of
/// many slots and a few roundings in a row by less than eight times as much. One rescale's worst slot is thus about
/// 2^(log2 N + ROUNDING_BITS) / Δ.
const ROUNDING_BITS: f64 = 1.0;

/// The scale that gives `bits` bits at degree 2^`log_n`: each of `depth` products multiplies the error so far by the
/// magnitude (at least 1) and adds one rounding.
fn scale_bits(bits: u32, log_n: u32, depth: u32, magnitude: f64) -> u32 {
    let growth = magnitude.max(1.0).log2() + f64::from(depth + 1).log2();
    (f64::from(bits) + f64::from(log_n) + ROUNDING_BITS + growth).ceil() as u32
}

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
    // The degree depends on the scale and the scale, weakly, on the degree: go up until they agree.
    let mut log_n = traced.slots().trailing_zeros() + 1;
    loop {
        let need = Need {
            depth,
            scale_bits: scale_bits(want.bits, log_n, depth, want.magnitude).max(20),
            integer_bits: want.magnitude.log2().ceil().max(0.0) as u32,
            slots: traced.slots(),
            security: want.security,
            secret: want.secret,
        };
        let choice = need.choose().map_err(fail)?;
        if choice.params.log_n() > log_n {
            log_n = choice.params.log_n();
            continue;
        }
        // The base may be two primes: outputs stay above it.
        let floor = Level::new(choice.params.max_level().get() - depth);
        let options = Options { output_level: Some(floor), ..Options::default() };
        let managed = manage(traced, &Chain::from(&choice.params), &options)?;
        let rationale = format!(
            "{} bits of accuracy for values up to {} at depth {depth}: scale 2^{}. {}",
            want.bits, want.magnitude, need.scale_bits, choice.rationale
        );
        return Ok(Plan { params: choice.params, managed, rationale });
    }
}
