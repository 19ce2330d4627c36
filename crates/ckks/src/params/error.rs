//! What can be wrong with a parameter literal: one variant a violated rule.

use ringmill_errors::StructuredError;
use ringmill_ring::RingError;

use super::ModulusSize;

/// A rule that a parameter literal breaks.
#[derive(Debug, Clone, PartialEq, thiserror::Error, StructuredError)]
#[non_exhaustive]
pub enum ParamsError {
    /// N out of range.
    #[error("log2 N = {log_n} is not supported; choose {min} to {max}")]
    LogN {
        /// log2 N given.
        log_n: u32,
        /// Least supported.
        min: u32,
        /// Greatest supported.
        max: u32,
    },
    /// Levels that are not those of the chain.
    #[error(
        "levels of {primes} primes do not make up a chain of {limbs} ciphertext primes; each has 1 to {most}, and together \
         they have all of them"
    )]
    Levels {
        /// Primes of each level, from level 0 on.
        primes: String,
        /// Ciphertext primes.
        limbs: usize,
        /// Most primes of one level.
        most: usize,
    },
    /// No ciphertext prime.
    #[error("the chain has no ciphertext prime; give at least the base prime q_0")]
    NoCiphertextPrimes,
    /// No special prime.
    #[error(
        "there is no special prime, so no key can be switched; give special primes whose product P is at least \
         the largest digit product"
    )]
    NoSpecialPrimes,
    /// Too many primes on one side.
    #[error("{count} {side} primes were given; at most {max} are supported")]
    TooManyPrimes {
        /// `ciphertext` or `special`.
        side: &'static str,
        /// How many were given.
        count: usize,
        /// The limit.
        max: usize,
    },
    /// A prime occurs twice.
    #[error("prime {q} occurs twice; the primes of the chain must be distinct")]
    DuplicatePrime {
        /// The prime.
        q: u64,
    },
    /// A prime of the literal is not usable.
    #[error("prime {index} of the {side} chain: {source}")]
    Prime {
        /// `ciphertext` or `special`.
        side: &'static str,
        /// Index in its list.
        index: usize,
        /// What the ring says.
        #[field(display)]
        source: RingError,
    },
    /// A bit size out of range.
    #[error("a prime of {bits} bits was asked for; sizes of {min} to {max} bits are supported")]
    PrimeBits {
        /// Bits asked for.
        bits: u32,
        /// Least size.
        min: u32,
        /// Greatest size.
        max: u32,
    },
    /// Scales would not stay.
    #[error(
        "scales of products would drift by {drift:.1} bits from 2^{scale_bits}; take a wider scale, whose primes lie closer \
         together"
    )]
    Drift {
        /// The greatest drift, in bits.
        drift: f64,
        /// log2 of the scale.
        scale_bits: u32,
    },
    /// A word out of range.
    #[error("a word of {word} bits was asked for; primes have {min} to {max}")]
    Word {
        /// Bits asked for.
        word: u32,
        /// Least size of a prime.
        min: u32,
        /// Greatest size of a prime.
        max: u32,
    },
    /// A class of sparse primes holds too few.
    #[error(
        "only {found} of {wanted} primes 2^{bits} + f with f below half a word are 1 mod 2N at N = 2^{log_n}; use wider \
         primes, fewer of one size, or primes that are not sparse"
    )]
    FewSparse {
        /// Size asked for.
        bits: u32,
        /// log2 N.
        log_n: u32,
        /// How many exist.
        found: usize,
        /// How many were asked for.
        wanted: usize,
    },
    /// The degree is too large for primes of that size.
    #[error(
        "only {found} of {wanted} primes near 2^{bits} are 1 mod 2N at N = 2^{log_n}; use wider primes or fewer"
    )]
    PrimesExhausted {
        /// Size asked for.
        bits: u32,
        /// log2 N.
        log_n: u32,
        /// How many exist.
        found: usize,
        /// How many were asked for.
        wanted: usize,
    },
    /// dnum out of range.
    #[error("dnum = {dnum} digits for {limbs} ciphertext primes; choose 1 to {limbs}")]
    Dnum {
        /// dnum given.
        dnum: usize,
        /// Number of ciphertext primes.
        limbs: usize,
    },
    /// dnum leaves a digit empty.
    #[error(
        "dnum = {dnum} leaves digits empty: {limbs} ciphertext primes in digits of {alpha} are {digits} digits; \
         use dnum = {digits}"
    )]
    EmptyDigits {
        /// dnum given.
        dnum: usize,
        /// Number of ciphertext primes.
        limbs: usize,
        /// Primes a digit.
        alpha: usize,
        /// Digits that hold primes.
        digits: usize,
    },
    /// P is smaller than a digit.
    #[error(
        "P must be at least the largest digit product, else a switched ciphertext does not decrypt: log2 P = \
         {log_p:.1} but digit {digit} (q_{first}..q_{last}) has log2 = {log_digit:.1}; use more or wider special \
         primes, or a larger dnum"
    )]
    SpecialTooSmall {
        /// log2 P.
        log_p: f64,
        /// Index of the digit.
        digit: usize,
        /// Its first ciphertext prime.
        first: usize,
        /// Its last ciphertext prime.
        last: usize,
        /// log2 of its product.
        log_digit: f64,
    },
    /// Default scale out of range.
    #[error(
        "the default scale 2^{log_scale} does not fit the modulus of 2^{log_q:.1} with a sign; choose 1 to {max}"
    )]
    Scale {
        /// log2 of the scale given.
        log_scale: u32,
        /// log2 Q.
        log_q: f64,
        /// Greatest scale that fits, in bits.
        max: u32,
    },
    /// Hamming weight out of range.
    #[error("a secret of weight {weight} was asked for; choose 1 to N = {n}")]
    SecretWeight {
        /// Weight given.
        weight: u32,
        /// N.
        n: usize,
    },
    /// Below 128 bits and not marked insecure.
    #[error(
        "log PQ = {} at N = 2^{log_n} with {secret} secrets is about {bits} bits of security; 128 bits \
         need log PQ ≤ {limit}. Use fewer or smaller primes, a larger N, or `insecure: true` for tests",
        log_pq.beside(*limit)
    )]
    BelowSecurity {
        /// log2 of the product of all primes.
        #[field(display)]
        log_pq: ModulusSize,
        /// log2 N.
        log_n: u32,
        /// The distribution of the secret, as text.
        secret: String,
        /// Interpolated bits, below 128.
        bits: u32,
        /// Greatest log2 PQ for 128 bits in any table.
        limit: u32,
    },
    /// No table covers the choice, and it is not marked insecure.
    #[error(
        "no published security table covers {secret} secrets at N = 2^{log_n}; use ternary or Gaussian secrets, or \
         `insecure: true` to answer for it yourself"
    )]
    NotCovered {
        /// log2 N.
        log_n: u32,
        /// The distribution of the secret, as text.
        secret: String,
    },
    /// The need cannot be met.
    #[error("no parameters up to N = 2^{max_log_n} meet the need: {why}")]
    Unmet {
        /// Greatest log2 N tried.
        max_log_n: u32,
        /// What stands in the way, and what to give up.
        why: String,
    },
    /// A name of no set.
    #[error("`{name}` names no parameter set; the sets are {known}")]
    UnknownSet {
        /// The name given.
        name: String,
        /// All names.
        known: String,
    },
}
