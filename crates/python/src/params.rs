//! `Params`: checked, immutable parameters.

use std::path::PathBuf;

use pyo3::basic::CompareOp;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use ringmill_circuits::bootstrap::{Bootstrap, Need};
use ringmill_ckks as ckks;
use ringmill_ckks::Level;
use ringmill_ckks::file::{load_params, params_from_bytes, write_params};
use ringmill_ckks::params::{MAX_LOG_N, MIN_LOG_N};
use ringmill_program::he::Chain;

use crate::argument::given;
use crate::error::{Failure, Family};
use crate::evaluator::is_near;
use crate::literal::{COUNT, LOG_N, SCALE, choice, digits, limited, number, secret as secret_of};
use crate::whole::{wholes, within};

/// Checked, immutable CKKS parameters.
#[pyclass(frozen, module = "ringmill._native")]
pub(crate) struct Params {
    pub(crate) inner: ckks::Params,
    rationale: Option<String>,
}

impl Params {
    pub(crate) fn with_rationale(inner: ckks::Params, rationale: Option<String>) -> Self {
        Self { inner, rationale }
    }
}

/// A bootstrapping of full slots.
#[derive(IntoPyObject)]
struct Bootstraps {
    /// Levels that it leaves.
    levels: u32,
    /// Bits to which it is precise in the worst slot, for messages up to 1.
    bits: u32,
    /// Bootstrappings in a row that it takes for that.
    iterations: u32,
    /// The chance that it gives a wrong result.
    failure: f64,
    /// Levels that a ciphertext must have left.
    start: u32,
    /// Levels of each transform.
    transforms: usize,
    /// Whether the sine is corrected by the arcsine.
    arcsine: bool,
    /// The weight of the sparse secret that it goes through.
    sparse_weight: u32,
    /// log2 of the modulus q_0·p_0 of the key under that secret.
    sparse_log_q: f64,
}

impl From<ckks::Params> for Params {
    fn from(inner: ckks::Params) -> Self {
        Self { inner, rationale: None }
    }
}

/// The primes of each level, if they are given.
fn levels_of(given: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Vec<usize>>> {
    let all = given.map(|given| wholes::<usize>(Family::Parameter, "levels", given, "from 1 to 4"));
    Ok(all.transpose()?)
}

/// A literal by sizes, with the primes that the word names.
fn sized(
    (log_n, dnum): (u32, usize),
    (q, p): (&[u32], &[u32]),
    primes: &str,
) -> Result<ckks::ParamsLiteral, Failure> {
    match primes {
        "nearest" => Ok(ckks::ParamsLiteral::from_bits(log_n, q, p, dnum)),
        "least-set-bits" => ckks::ParamsLiteral::of_least_set_bits(log_n, q, p, dnum)
            .map_err(|e| Failure::of(Family::Parameter, &e)),
        _ => {
            let message =
                format!("there are no primes {primes:?}; there are \"nearest\" and \"least-set-bits\"");
            Err(Failure::rule(Family::Parameter, "Primes", &message))
        }
    }
}

#[pymethods]
impl Params {
    /// Parameters from sizes of primes.
    ///
    /// Primes of one size are the nearest to that power of two that suit the degree, above and below it by turns; of 50, 55
    /// and 60 bits only from below. Where scales would drift by more than two bits, primes of the scale's size stand in the
    /// order that prevents it.
    ///
    /// Args:
    ///     log_n: log2 of the ring degree N, 10 to 17; a ciphertext holds up to N/2 slots.
    ///     q_bits: bits of the ciphertext primes, 20 to 60 each, 1 to 64 of them: the base prime first, then one for each
    ///         level, or those of each level where `levels` says how many it has.
    ///     p_bits: bits of the special primes, which keys are switched over, 20 to 60 each, 1 to 64 of them. Their product
    ///         is at least that of the primes of any digit.
    ///     dnum: digits of a key switch, 1 to the number of ciphertext primes. More digits take fewer special primes, and
    ///         more time and memory.
    ///     secret: how secret keys are drawn: "ternary" (each coefficient −1, 0 or 1) or "gaussian" (as the error, standard
    ///         deviation 3.19).
    ///     weight: for "ternary", how many of the N coefficients are not 0; any number by default. Security tables cover N/2
    ///         to 5N/6.
    ///     scale_bits: log2 of the scale of fresh ciphertexts, 1 to 90 and below the modulus; the size of the last
    ///         ciphertext prime by default.
    ///     insecure: accept less than 128 bits of security: for tests alone.
    ///     primes: which primes of a size: "nearest", or "least-set-bits" for those 2^bits + f with f below half a word
    ///         that have the fewest set bits, sizes of 20 to 59 bits. Multipliers of shifts and additions serve these.
    ///     levels: primes of each level, from the base on, 1 to 4 each; one each by default. A rescale divides by all primes of a
    ///         level, so that scales may be wider than a word. The scale then is the size of the last level by default.
    ///
    /// Raises
    /// ------
    ///     ParameterError: a rule above that is broken, or less than 128 bits of security by the published tables.
    #[staticmethod]
    #[pyo3(signature = (log_n, q_bits, p_bits, dnum, *, secret = "ternary", weight = None, scale_bits = None, insecure = false, primes = "nearest", levels = None))]
    #[allow(clippy::too_many_arguments)] // named in Python
    fn from_bits(
        log_n: &Bound<'_, PyAny>,
        q_bits: &Bound<'_, PyAny>,
        p_bits: &Bound<'_, PyAny>,
        dnum: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = given)] secret: &str,
        weight: Option<&Bound<'_, PyAny>>,
        scale_bits: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = given)] insecure: bool,
        #[pyo3(from_py_with = given)] primes: &str,
        levels: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let bits = |name, given| wholes::<u32>(Family::Parameter, name, given, "from 20 to 60");
        let (log_n, q_bits, p_bits) =
            (number("log_n", log_n, LOG_N)?, bits("q_bits", q_bits)?, bits("p_bits", p_bits)?);
        let dnum = digits(dnum, q_bits.len())?;
        let mut literal = sized((log_n, dnum), (&q_bits, &p_bits), primes)?;
        if let Some(primes) = levels_of(levels)? {
            literal = literal.levels(&primes);
        }
        literal.secret = secret_of(secret, weight)?;
        literal.scale_bits = choice("scale_bits", scale_bits, SCALE)?.unwrap_or(literal.scale_bits);
        literal.insecure = insecure;
        ckks::Params::new(&literal).map(Self::from).map_err(|e| Failure::of(Family::Parameter, &e).into())
    }

    /// Parameters whose ciphertexts can be bootstrapped, by need: the smallest ring from `log_n` up that keeps 128 bits of
    /// security.
    ///
    /// Args:
    ///     levels: products in a row that a bootstrapped ciphertext has, 0 to 64, as far as primes suffice.
    ///     bits: bits below the binary point to which the worst slot is right for messages up to 1, 12 to 24 by one
    ///         iteration, up to 36 by two.
    ///     iterations: bootstrappings in a row, 1 or 2, each of what the one before left out.
    ///     scale_bits: log2 of the scale, 20 to 54; by `bits` unless given. Bootstrapped values are 18 bits less precise.
    ///     wide_bits: log2 of the scale of the sine's first product, of which each bit is one of precision: 46 for 12 bits, up
    ///         to 58, and six bits above the scale. By `bits` unless given.
    ///     slots: slots of a vector, a power of two from 4 to N/2; N/2 at `log_n` by default. Fewer take less time and fewer
    ///         levels.
    ///     log_n: the least log2 N, 10 to 17.
    ///     transforms: levels that the way to coefficients takes, and that to slots, 1 to 6 as far as the slots allow: each level
    ///         is one of the chain on either side, fewer take more rotations. Three by default, two where the ring spares no more or
    ///         is much cheaper so.
    ///     arcsine: whether the sine is corrected by the arcsine, for two levels; without it primes are three to five bits
    ///         wider. By default it is where the ring has the capacity for it.
    ///     insecure: accept less than 128 bits of security at `log_n`: for tests alone.
    ///     word: bits of the widest prime, 20 to 60, for machines of narrow words: levels then have as many primes as they take, and
    ///         the scale is the next wider one whose primes are not too few. Such chains are laid out for one
    ///         iteration; `bootstrap(iterations=2)` takes two.
    ///
    /// Raises
    /// ------
    ///     ParameterError: a number out of its range, or a need that no ring meets.
    #[staticmethod]
    #[pyo3(signature = (
        levels = None, *, bits = None, iterations = None, scale_bits = None, wide_bits = None, slots = None, log_n = None,
        transforms = None, arcsine = None, insecure = false, word = None
    ), text_signature = "(levels=9, *, bits=22, iterations=1, scale_bits=None, wide_bits=None, slots=None, log_n=16, transforms=None, arcsine=None, insecure=False, word=None)")]
    #[allow(clippy::too_many_arguments)] // named in Python
    fn bootstrapping(
        levels: Option<&Bound<'_, PyAny>>,
        bits: Option<&Bound<'_, PyAny>>,
        iterations: Option<&Bound<'_, PyAny>>,
        scale_bits: Option<&Bound<'_, PyAny>>,
        wide_bits: Option<&Bound<'_, PyAny>>,
        slots: Option<&Bound<'_, PyAny>>,
        log_n: Option<&Bound<'_, PyAny>>,
        transforms: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = given)] arcsine: Option<bool>,
        #[pyo3(from_py_with = given)] insecure: bool,
        word: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let word = choice("word", word, "of bits, from 20 to 60")?;
        let levels = limited("levels", levels, (0, 64))?.unwrap_or(9);
        let bits = choice("bits", bits, COUNT)?.unwrap_or(22);
        let iterations = choice("iterations", iterations, "from 1 to 2")?.unwrap_or(1);
        if word.is_some() && iterations > 1 {
            let message = "Chains within a word are laid out for one iteration, of up to 24 bits. Leave iterations= out here; \
                           bootstrap(iterations=2) takes two.";
            return Err(Failure::rule(Family::Parameter, "WordIterations", message).into());
        }
        let scale_bits = limited::<u32>("scale_bits", scale_bits, (20, 54))?;
        let wide_bits = limited::<u32>("wide_bits", wide_bits, (20, 60))?;
        let log_n = limited::<u32>("log_n", log_n, (MIN_LOG_N.into(), MAX_LOG_N.into()))?.unwrap_or(16);
        let transforms = choice("transforms", transforms, "from 1 to 6")?;
        let slots = choice("slots", slots, "that is a power of two from 4 to N/2")?;
        let slots = slots.unwrap_or(1 << (log_n - 1));
        let chosen = || {
            let need = Need { levels, slots, log_n, insecure, transforms, arcsine, word, ..Need::default() }
                .iterated(bits, iterations)?;
            let need = scale_bits.into_iter().fold(need, Need::at_scale);
            Need { wide_bits: wide_bits.unwrap_or(need.wide_bits), ..need }.in_arrangement(iterations)
        };
        Ok(chosen().map(|(params, _)| params.into()).map_err(|e| Failure::circuit(&e))?)
    }

    /// Parameters from primes by value, as `q` and `p` of other parameters give them.
    ///
    /// Args:
    ///     log_n: log2 of the ring degree N, 10 to 17.
    ///     q: the ciphertext primes, the base prime first: distinct, of 20 to 60 bits, each 1 modulo 2N; 1 to 64 of them.
    ///     p: the special primes, likewise; their product is at least that of the primes of any digit.
    ///     dnum: digits of a key switch, 1 to the number of ciphertext primes.
    ///     scale_bits: log2 of the scale of fresh ciphertexts, 1 to 90 and below the modulus.
    ///     secret: "ternary" or "gaussian", as `from_bits` takes it.
    ///     weight: for "ternary", how many of the N coefficients are not 0; any number by default.
    ///     insecure: accept less than 128 bits of security: for tests alone.
    ///     rotations: generator of rotations, 5, or 3 as SEAL has it: in which order slots stand. What has one does not meet what
    ///         has the other.
    ///     levels: primes of each level, as `from_bits` takes them.
    ///
    /// Raises
    /// ------
    ///     ParameterError: a rule above that is broken, or less than 128 bits of security by the published tables.
    #[staticmethod]
    #[pyo3(signature = (log_n, q, p, dnum, *, scale_bits, secret = "ternary", weight = None, insecure = false, rotations = None, levels = None),
        text_signature = "(log_n, q, p, dnum, *, scale_bits, secret='ternary', weight=None, insecure=False, rotations=5, levels=None)")]
    #[allow(clippy::too_many_arguments)] // named in Python
    fn from_primes(
        log_n: &Bound<'_, PyAny>,
        q: &Bound<'_, PyAny>,
        p: &Bound<'_, PyAny>,
        dnum: &Bound<'_, PyAny>,
        scale_bits: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = given)] secret: &str,
        weight: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = given)] insecure: bool,
        rotations: Option<&Bound<'_, PyAny>>,
        levels: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let values = |name, given| -> Result<Vec<_>, Failure> {
            let primes = wholes::<u64>(Family::Parameter, name, given, "of 20 to 60 bits, a prime")?;
            Ok(primes.into_iter().map(ckks::params::PrimeSpec::Value).collect())
        };
        let (q, p) = (values("q", q)?, values("p", p)?);
        let generator = choice::<u64>("rotations", rotations, "3 or 5")?.unwrap_or(5);
        let literal = ckks::ParamsLiteral {
            log_n: number("log_n", log_n, LOG_N)?,
            generator: ckks::Generator::from_value(generator).ok_or_else(|| {
                let message = format!(
                    "rotations by powers of {generator} are not known: choose 5, or 3 as SEAL has it"
                );
                Failure::rule(Family::Parameter, "UnknownGenerator", &message)
            })?,
            dnum: digits(dnum, q.len())?,
            q,
            p,
            secret: secret_of(secret, weight)?,
            scale_bits: number("scale_bits", scale_bits, SCALE)?,
            insecure,
            levels: levels_of(levels)?.unwrap_or_default(),
        };
        ckks::Params::new(&literal).map(Self::from).map_err(|e| Failure::of(Family::Parameter, &e).into())
    }

    /// The parameters of a name, one of those that `names` gives.
    ///
    /// Raises
    /// ------
    ///     ParameterError: another name.
    #[staticmethod]
    fn named(#[pyo3(from_py_with = given)] name: &str) -> PyResult<Self> {
        let set: ckks::NamedSet = name.parse().map_err(|e| Failure::of(Family::Parameter, &e))?;
        ckks::Params::named(set).map(Self::from).map_err(|e| Failure::of(Family::Parameter, &e).into())
    }

    /// Names of all named sets.
    #[staticmethod]
    fn names() -> Vec<&'static str> {
        ckks::NamedSet::ALL.iter().map(|set| set.name()).collect()
    }

    /// The smallest ring that meets a need, with the digits that switch keys in the least time; ternary secrets. `rationale`
    /// says why it was chosen.
    ///
    /// Args:
    ///     depth: products in a row, 0 or more: the levels of the result.
    ///     scale_bits: bits of a slot below the binary point before error, 20 to 59; with a `word` up to four words, 90 at most.
    ///     integer_bits: bits of a slot above it: results are at most 2^`integer_bits` in size. Together with `scale_bits`
    ///         at most 118, or two less than four words.
    ///     slots: numbers that one ciphertext holds, 1 to 65,536.
    ///     security: 128, 192 or 256 bits, by the security guidelines of 2024 (eprint 2024/463).
    ///     word: bits of the widest prime, 20 to 60, for machines whose words are narrower than the scale. A level then has as many
    ///         primes as the scale takes, up to 4. The scale is the next wider one where primes of its size are too few; `rationale`
    ///         says so.
    ///
    /// Raises
    /// ------
    ///     ParameterError: a number out of its range, or a need that no ring up to N = 2^17 meets.
    #[staticmethod]
    #[pyo3(signature = (*, depth, scale_bits = None, integer_bits = None, slots = None, security = None, word = None),
        text_signature = "(*, depth, scale_bits=40, integer_bits=4, slots=1, security=128, word=None)")]
    fn by_need(
        depth: &Bound<'_, PyAny>,
        scale_bits: Option<&Bound<'_, PyAny>>,
        integer_bits: Option<&Bound<'_, PyAny>>,
        slots: Option<&Bound<'_, PyAny>>,
        security: Option<&Bound<'_, PyAny>>,
        word: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let usual = ckks::Need::default();
        let need = ckks::Need {
            depth: number("depth", depth, COUNT)?,
            scale_bits: choice("scale_bits", scale_bits, "from 20 to 59")?.unwrap_or(usual.scale_bits),
            integer_bits: choice("integer_bits", integer_bits, COUNT)?.unwrap_or(usual.integer_bits),
            slots: choice("slots", slots, "from 1 to 65536")?.unwrap_or(usual.slots),
            security: choice("security", security, "of bits: 128, 192 or 256")?.unwrap_or(usual.security),
            secret: ckks::Secret::Ternary,
            word: choice("word", word, "of bits, from 20 to 60")?,
        };
        let choice = need.choose().map_err(|e| Failure::of(Family::Parameter, &e))?;
        Ok(Self { inner: choice.params, rationale: Some(choice.rationale) })
    }

    /// Limbs of a polynomial at a level: the ciphertext primes that are in use there.
    ///
    /// Args:
    ///     level: 0 to `max_level`.
    ///
    /// Raises
    /// ------
    ///     LevelError: another level.
    fn limbs(&self, level: &Bound<'_, PyAny>) -> PyResult<usize> {
        let top = self.inner.max_level().get();
        Ok(self.inner.limbs(Level::new(within(Family::Level, "level", level, (0, top.into()))?)))
    }

    /// The scale that values at a level have which products led there from the top, as text: s ← s²/q level by level. The default
    /// one where a prime on the way is far from the scale: products keep to none there.
    ///
    /// Args:
    ///     level: 0 to `max_level`.
    ///
    /// Raises
    /// ------
    ///     LevelError: another level.
    fn scale_at(&self, level: &Bound<'_, PyAny>) -> PyResult<String> {
        let top = self.inner.max_level().get();
        let level: u32 = within(Family::Level, "level", level, (0, top.into()))?;
        let (mut scale, chain) = (self.inner.default_scale(), Chain::from(&self.inner));
        for l in (level + 1..=top).rev() {
            match chain.level_scale(Level::new(l)) {
                Some(prime) if is_near(&scale, prime) => scale = scale.mul(&scale).div(prime),
                _ => return Ok(self.inner.default_scale().to_text()),
            }
        }
        Ok(scale.to_text())
    }

    /// The parameters as bytes for a file, with their fingerprint and a checksum: what `from_bytes` reads.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = Vec::new();
        write_params(&self.inner, &mut bytes).map_err(|e| Failure::file(&e))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Reads what `to_bytes` wrote. The `rationale` is not stored. For parameters that the file marks insecure `rm.keygen` wants
    /// `insecure=True` again.
    ///
    /// Raises
    /// ------
    ///     FileFormatError: damaged bytes, another kind of file, or parameters that break a rule.
    #[staticmethod]
    fn from_bytes(#[pyo3(from_py_with = given)] data: &[u8]) -> PyResult<Self> {
        Ok(params_from_bytes(data).map_err(|e| Failure::file(&e))?.into())
    }

    /// Reads a file that holds what `to_bytes` wrote: no more of it than parameters have.
    ///
    /// Raises
    /// ------
    ///     FileFormatError: a file that cannot be read, is damaged or of another kind, or parameters that break a rule.
    #[staticmethod]
    fn load(#[pyo3(from_py_with = given)] path: PathBuf) -> PyResult<Self> {
        Ok(load_params(path).map_err(|e| Failure::file(&e))?.into())
    }

    /// log2 of the ring degree N, 10 to 17.
    #[getter]
    fn log_n(&self) -> u32 {
        self.inner.log_n()
    }

    /// Numbers that one ciphertext holds at most: N/2.
    #[getter]
    fn slots(&self) -> usize {
        self.inner.slots()
    }

    /// The level of fresh ciphertexts: products in a row that they allow.
    #[getter]
    fn max_level(&self) -> u32 {
        self.inner.max_level().get()
    }

    /// Primes of each level, from level 0 on: one each, or several where words are narrower than the scale. A polynomial at a level has
    /// the limbs of this level and of those below.
    #[getter]
    fn levels(&self) -> Vec<usize> {
        self.inner.levels().counts().collect()
    }

    /// Digits of a key switch at the top level, 1 to the number of ciphertext primes.
    #[getter]
    fn dnum(&self) -> usize {
        self.inner.dnum()
    }

    /// Generator of rotations, 5 or 3: slots stand in the order of its powers.
    #[getter]
    fn rotations(&self) -> u64 {
        self.inner.generator().value()
    }

    /// The ciphertext primes by value, the base prime first; `levels` says how many are in use at a level.
    #[getter]
    fn q(&self) -> Vec<u64> {
        self.inner.q_moduli().iter().map(|m| m.value()).collect()
    }

    /// The special primes by value, which keys are switched over.
    #[getter]
    fn p(&self) -> Vec<u64> {
        self.inner.p_moduli().iter().map(|m| m.value()).collect()
    }

    /// log2 of the product of all ciphertext primes.
    #[getter]
    fn log_q(&self) -> f64 {
        self.inner.log_q(self.inner.max_level())
    }

    /// log2 of the product of the special primes. `log_q` + `log_p` is what security depends on.
    #[getter]
    fn log_p(&self) -> f64 {
        self.inner.log_p()
    }

    /// What a bootstrapping of full slots gives that these primes were laid out for, or `None`.
    ///
    /// A dictionary:
    ///
    /// - "levels" that it leaves;
    /// - "bits" below the binary point to which the worst slot is right, for messages up to 1;
    /// - "iterations" that this takes, the default of kernels and of `bootstrap()`;
    /// - "failure", the chance of a wrong result;
    /// - "start", the least level that a ciphertext must have left;
    /// - "transforms", the levels of each transform;
    /// - "arcsine", whether the sine is corrected by it;
    /// - "sparse_weight" of the ephemeral secret that it goes through;
    /// - "sparse_log_q", log2 of the modulus q_0·p_0 of the key under that secret.
    ///
    /// `security` is that of the secret itself. The ephemeral one keeps 128 bits up to 2^105 at N = 2^15 and 2^121 at
    /// 2^16. Keys beyond that are refused unless the parameters are `insecure`.
    #[getter]
    fn bootstraps(&self) -> Option<Bootstraps> {
        let (config, levels) = Bootstrap::laid_out(&self.inner)?;
        let slots = self.inner.slots();
        let (bits, iterations) = (config.bits_in_all(self.scale_bits()), config.iterations);
        let (failure, start) = (config.failure(slots), config.start(slots));
        let (transforms, arcsine) = (config.to_slots, config.arcsine);
        let (sparse_weight, sparse_log_q) = (ckks::EPHEMERAL_WEIGHT, self.inner.encapsulation().log2());
        Some(Bootstraps {
            levels,
            bits,
            iterations,
            failure,
            start,
            transforms,
            arcsine,
            sparse_weight,
            sparse_log_q,
        })
    }

    /// log2 of the scale of fresh ciphertexts at the top level: an encoded number is rounded to 2^−`scale_bits`.
    #[getter]
    fn scale_bits(&self) -> u32 {
        self.inner.literal().scale_bits
    }

    /// Security in bits that published tables warrant, 128, 192 or 256; `None` below 128 bits, or where no table covers the
    /// secret. The tables: Security Guidelines of 2024 up to N = 2^17, and where they give no level the Homomorphic Encryption
    /// Standard of 2018 up to 2^15.
    #[getter]
    fn security(&self) -> Option<u32> {
        self.inner.security().category()
    }

    /// Security in bits, interpolated between the entries of the strictest table: to compare parameters, no claim. 0 where no
    /// table covers the secret.
    #[getter]
    fn security_estimate(&self) -> f64 {
        self.inner.security().bits()
    }

    /// Whether less than 128 bits of security were asked for with `insecure=True`, here or by who wrote their file: for tests alone.
    #[getter]
    fn insecure(&self) -> bool {
        self.inner.is_insecure()
    }

    /// How secret keys are drawn: "ternary", "ternary of weight 64" (64 coefficients are not 0) or "Gaussian".
    #[getter(secret)]
    fn secret_text(&self) -> String {
        self.inner.secret().to_string()
    }

    /// Why these parameters were chosen, for those chosen by need or for a program; else `None`.
    #[getter]
    fn rationale(&self) -> Option<&str> {
        self.rationale.as_deref()
    }

    /// Sixteen hexadecimal digits that distinguish parameters: the first of BLAKE3 over degree, primes, digits, secret and scale.
    /// Files name it.
    #[getter]
    fn fingerprint(&self) -> String {
        self.inner.fingerprint().to_string()
    }

    fn __repr__(&self) -> String {
        format!("Params({})", self.inner)
    }

    fn __richcmp__(&self, other: &Bound<'_, PyAny>, op: CompareOp) -> Option<bool> {
        let other = other.cast::<Self>().ok()?;
        match op {
            CompareOp::Eq => Some(self.inner == other.get().inner),
            CompareOp::Ne => Some(self.inner != other.get().inner),
            _ => None,
        }
    }

    fn __hash__(&self) -> u64 {
        let bytes = self.inner.fingerprint();
        u64::from_le_bytes(bytes.as_bytes()[..8].try_into().unwrap_or([0; 8]))
    }
}
