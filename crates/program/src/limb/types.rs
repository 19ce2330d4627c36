//! Names of the things a limb program speaks of, and the type of a limb.

use std::fmt;

use ringmill_ckks::randomness::{CIPHERTEXT_LABEL, PUBLIC_KEY_LABEL};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($repr:ty)) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $repr);

        impl $name {
            /// The number as an index.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id! {
    /// A row of the program's table of moduli.
    ModulusId(u16)
}
id! {
    /// A virtual limb: defined by exactly one instruction, `%7` in text.
    ValueId(u32)
}
id! {
    /// An input limb, counted through all input groups in their order.
    InputId(u32)
}
id! {
    /// An output limb, counted through all output groups in their order.
    OutputId(u32)
}
id! {
    /// A buffer of N words that allocation gave to one or more values in turn, `b3` in text.
    BufferId(u32)
}

/// What the words of a limb are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Domain {
    /// Coefficients of the polynomial in natural order, canonical residues.
    Coeff,
    /// Values at ψ^(2·brv(k)+1) in word k, canonical residues (`ring::reference::forward`).
    Eval,
    /// Rounded quotients of a base conversion: integers in \[0, number of sources\], of no modulus.
    Quotient,
}

impl Domain {
    /// The word used in text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Coeff => "coeff",
            Self::Eval => "eval",
            Self::Quotient => "quotient",
        }
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The type of a limb: its modulus and its domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LimbType {
    modulus: ModulusId,
    domain: Domain,
}

impl LimbType {
    /// A limb of quotients, which has no modulus.
    pub const QUOTIENT: Self = Self { modulus: ModulusId(u16::MAX), domain: Domain::Quotient };

    /// Coefficients modulo `modulus`.
    pub const fn coeff(modulus: ModulusId) -> Self {
        Self { modulus, domain: Domain::Coeff }
    }

    /// Values in the evaluation domain modulo `modulus`.
    pub const fn eval(modulus: ModulusId) -> Self {
        Self { modulus, domain: Domain::Eval }
    }

    /// The modulus; none for quotients.
    #[inline]
    pub const fn modulus(self) -> Option<ModulusId> {
        match self.domain {
            Domain::Quotient => None,
            Domain::Coeff | Domain::Eval => Some(self.modulus),
        }
    }

    /// The domain.
    #[inline]
    pub const fn domain(self) -> Domain {
        self.domain
    }

    /// The same modulus in another domain; quotients stay quotients.
    pub const fn in_domain(self, domain: Domain) -> Self {
        match (self.domain, domain) {
            (Domain::Quotient, _) | (_, Domain::Quotient) => Self::QUOTIENT,
            _ => Self { modulus: self.modulus, domain },
        }
    }
}

/// Where an input limb comes from, which decides how a machine may treat it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InputClass {
    /// Ciphertext limbs: they change with every run.
    Data,
    /// Limbs of an evaluation key: the same in many runs, read in the order of use, best streamed.
    Key,
    /// Limbs of an encoded plaintext.
    Plain,
    /// Limbs of the secret key. Programs name it and never hold its values; machines of a client alone take it.
    Secret,
    /// Limbs of a polynomial that is drawn anew for each run. Machines of a client alone take them.
    Sampled(Distribution),
}

/// What a sampled polynomial is drawn from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Distribution {
    /// Integers in {−1, 0, 1}, each with probability 1/3: `SecretRng::ternary` of `ring`.
    Ternary,
    /// The discrete Gaussian of standard deviation 3.2: `SecretRng::gaussian` of `ring`.
    Gaussian,
    /// Residues of each prime, uniform: an expansion of the run's public seed.
    Uniform(Expansion),
}

/// Which expansion of a public seed: expansions of one seed under different labels are independent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Expansion {
    /// The half a of a public key.
    PublicKey,
    /// c₁ of an encryption under the secret key.
    Ciphertext,
}

impl Expansion {
    /// The word used in text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PublicKey => "public_key",
            Self::Ciphertext => "ciphertext",
        }
    }

    /// The label that goes into the expansion.
    pub const fn label(self) -> &'static [u8] {
        match self {
            Self::PublicKey => PUBLIC_KEY_LABEL,
            Self::Ciphertext => CIPHERTEXT_LABEL,
        }
    }
}

impl Distribution {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::Ternary,
        Self::Gaussian,
        Self::Uniform(Expansion::PublicKey),
        Self::Uniform(Expansion::Ciphertext),
    ];

    /// The words used in text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ternary => "ternary",
            Self::Gaussian => "gaussian",
            Self::Uniform(Expansion::PublicKey) => "uniform(public_key)",
            Self::Uniform(Expansion::Ciphertext) => "uniform(ciphertext)",
        }
    }

    /// The domain that its limbs are in: small integers are coefficients, uniform residues are values.
    pub const fn domain(self) -> Domain {
        match self {
            Self::Ternary | Self::Gaussian => Domain::Coeff,
            Self::Uniform(_) => Domain::Eval,
        }
    }
}

impl InputClass {
    /// The words used in text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Key => "key",
            Self::Plain => "plain",
            Self::Secret => "secret",
            Self::Sampled(Distribution::Ternary) => "sampled ternary",
            Self::Sampled(Distribution::Gaussian) => "sampled gaussian",
            Self::Sampled(Distribution::Uniform(Expansion::PublicKey)) => "sampled uniform(public_key)",
            Self::Sampled(Distribution::Uniform(Expansion::Ciphertext)) => "sampled uniform(ciphertext)",
        }
    }

    /// Whether machines of a client alone take it.
    pub const fn is_client_only(self) -> bool {
        matches!(self, Self::Secret | Self::Sampled(_))
    }
}

impl fmt::Display for InputClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What an instruction reads: a value that another instruction defined, or an input limb as bound by the caller.
///
/// One word: programs of a million instructions hold several million operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Operand(u32);

/// An [`Operand`] taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// A value.
    Value(ValueId),
    /// An input limb, read where the caller keeps it.
    Input(InputId),
}

impl Operand {
    /// What the numbers of input limbs have added.
    const INPUT: u32 = 1 << 31;

    /// Which of the two it is.
    #[inline]
    pub const fn source(self) -> Source {
        if self.0 & Self::INPUT == 0 {
            Source::Value(ValueId(self.0))
        } else {
            Source::Input(InputId(self.0 & !Self::INPUT))
        }
    }

    /// The value, if it is one.
    #[inline]
    pub const fn value(self) -> Option<ValueId> {
        match self.source() {
            Source::Value(v) => Some(v),
            Source::Input(_) => None,
        }
    }
}

impl From<ValueId> for Operand {
    #[inline]
    fn from(v: ValueId) -> Self {
        Self(v.0 & !Self::INPUT)
    }
}

impl From<InputId> for Operand {
    #[inline]
    fn from(i: InputId) -> Self {
        Self(i.0 | Self::INPUT)
    }
}
