//! Encryption parameters of a design.

use std::fmt;
use std::str::FromStr;

use ringmill_ckks::params::PrimeSpec;
use ringmill_ckks::{Generator, Params, ParamsLiteral, Secret};
use serde::{Deserialize, Serialize};

use crate::ExploreError;
use crate::near::hint;

/// What all primes of a chain have in common beside q ≡ 1 mod 2N: which multipliers of the core serve them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PrimeClass {
    /// Nothing: Montgomery and Barrett multipliers.
    Any,
    /// q ≡ 1 mod 2^h: word Montgomery multipliers of words of 2h bits or less.
    OneMod(u32),
    /// q = 2^(W−1) + δ·2^(W/2) + 1 with small δ: the sparse word Montgomery multiplier of W bits.
    Sparse(u32),
    /// q = 2^(W−1) + f with 0 < f < 2^(W/2): PRF-FIKO of W bits.
    PrfFiko(u32),
    /// The same with ones of f at eight places, those that serve the most primes: PRF-FIKO with shifts in place of products.
    FewOnes(u32),
    /// q = 2^b − d·2^15 + 1 with 0 < d ≤ 2^9, for word Montgomery multipliers by words of 15 bits. They are for primes of b bits
    /// alone: those that rescaling removes have the bits that stand here, and others fill the machine's word.
    Ntt15(u32),
}

impl fmt::Display for PrimeClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::OneMod(h) => write!(f, "one-mod-2^{h}"),
            Self::Sparse(w) => write!(f, "sparse-{w}"),
            Self::PrfFiko(w) => write!(f, "prf-fiko-{w}"),
            Self::FewOnes(w) => write!(f, "few-ones-{w}"),
            Self::Ntt15(b) => write!(f, "ntt15-{b}"),
        }
    }
}

impl FromStr for PrimeClass {
    type Err = ExploreError;

    fn from_str(s: &str) -> Result<Self, ExploreError> {
        let number = |prefix: &str| s.strip_prefix(prefix).and_then(|rest| rest.parse::<u32>().ok());
        let found = match s {
            "any" => Some(Self::Any),
            _ => number("one-mod-2^")
                .map(Self::OneMod)
                .or_else(|| number("sparse-").map(Self::Sparse))
                .or_else(|| number("prf-fiko-").map(Self::PrfFiko))
                .or_else(|| number("few-ones-").map(Self::FewOnes))
                .or_else(|| number("ntt15-").map(Self::Ntt15)),
        };
        found.ok_or_else(|| ExploreError::UnknownWord {
            what: "class of primes",
            word: s.to_owned(),
            hint: hint(s, ["any", "one-mod-2^27", "sparse-54", "prf-fiko-54", "few-ones-54", "ntt15-48"]),
            known: "any, one-mod-2^H, sparse-W, prf-fiko-W, few-ones-W, ntt15-B".into(),
        })
    }
}

impl Serialize for PrimeClass {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PrimeClass {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Distributions of secrets that published tables cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretKind {
    /// Uniform in {−1, 0, 1}.
    Ternary,
    /// As the error.
    Gaussian,
}

impl From<SecretKind> for Secret {
    fn from(kind: SecretKind) -> Self {
        match kind {
            SecretKind::Ternary => Self::Ternary,
            SecretKind::Gaussian => Self::Gaussian,
        }
    }
}

/// Encryption parameters: every prime by value.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// log2 N.
    pub log_n: u32,
    /// Ciphertext primes q_0 … q_L.
    pub q: Vec<u64>,
    /// Special primes; their number is K.
    pub p: Vec<u64>,
    /// Class of all primes.
    pub class: PrimeClass,
    /// Digits of the key switch at the top level.
    pub dnum: usize,
    /// Distribution of secrets.
    pub secret: SecretKind,
    /// log2 of the scale of fresh ciphertexts.
    pub scale_bits: u32,
    /// Primes of each level, from level 0 on; empty for one each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<usize>,
}

impl Parameters {
    /// The same for `ringmill_ckks`.
    pub fn literal(&self) -> ParamsLiteral {
        let values = |primes: &[u64]| primes.iter().map(|&q| PrimeSpec::Value(q)).collect();
        ParamsLiteral {
            log_n: self.log_n,
            q: values(&self.q),
            p: values(&self.p),
            dnum: self.dnum,
            secret: self.secret.into(),
            scale_bits: self.scale_bits,
            // Below 128 bits only if a constraint allows less.
            insecure: true,
            generator: Generator::Five,
            levels: self.levels.clone(),
        }
    }

    /// Checked.
    ///
    /// # Errors
    /// The rule that they violate. Security is not among the rules: a design states it.
    pub fn params(&self) -> Result<Params, ExploreError> {
        let marked = Params::new(&self.literal())?;
        match marked.security().category() {
            Some(_) => Ok(Params::new(&ParamsLiteral { insecure: false, ..self.literal() })?),
            None => Ok(marked),
        }
    }

    /// Size of each prime, ciphertext primes first: the bit length of q.
    pub fn bits(&self) -> (Vec<u32>, Vec<u32>) {
        let bits = |primes: &[u64]| primes.iter().map(|q| 64 - q.leading_zeros()).collect();
        (bits(&self.q), bits(&self.p))
    }
}
