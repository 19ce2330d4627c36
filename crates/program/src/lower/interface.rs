//! What the limb groups of a lowered program stand for, so that a caller can bind them.

use std::collections::HashSet;

use ringmill_ckks::keys::Direction;

use crate::he::Value;
use crate::limb::LimbProgram;
use crate::lower::Method;

/// A limb program with the meaning of its inputs and outputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lowered {
    /// The program.
    pub program: LimbProgram,
    /// What each input group is, in their order.
    pub inputs: Vec<InputSource>,
    /// What each output group is, in their order.
    pub outputs: Vec<OutputSource>,
    /// The methods of its key switches.
    pub methods: Vec<Method>,
}

/// Which key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyId {
    /// From s² to s.
    Relin,
    /// From s to s(X^(1/g)), which X → X^g takes to s.
    Galois(u64),
}

impl KeyId {
    /// The stem of its input groups' names.
    pub(super) fn stem(self) -> String {
        match self {
            Self::Relin => "relin".to_owned(),
            Self::Galois(g) => format!("galois{g}"),
        }
    }
}

/// What an input group is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputSource {
    /// Part `part` of the ciphertext that the HE instruction `value` reads: its limbs.
    Ciphertext {
        /// The `input` instruction.
        value: Value,
        /// 0 for c_0, 1 for c_1.
        part: u8,
    },
    /// The plaintext that the HE instruction `value` encodes, a `plain` or a `const`: its limbs.
    Plain {
        /// The instruction.
        value: Value,
        /// Whether it is one limb instead: the coefficients modulo p_0.
        compact: bool,
    },
    /// One polynomial of a key-switching key: the first `limbs` limbs, then all special primes of the method's
    /// layout. For KLSS, for each of the first `primes` primes of T, the blocks for this number of limbs.
    Key {
        /// The key.
        key: KeyId,
        /// Index into [`Lowered::methods`].
        method: u32,
        /// The digit j.
        digit: u32,
        /// 0 for b_j, 1 for a_j.
        part: u8,
        /// The most limbs with which the program uses the key.
        limbs: u32,
        /// The primes of T that it uses; 0 for hybrid key switching.
        primes: u32,
    },
    /// One polynomial of the encapsulation key: limbs q_0, p_0 down, q_0 … q_L, p_0 up.
    Encapsulation {
        /// Which of its two.
        direction: Direction,
        /// 0 for b, 1 for a.
        part: u8,
    },
}

/// What an output group is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputSource {
    /// Index into the HE program's outputs.
    pub output: usize,
    /// The part of the ciphertext.
    pub part: u8,
}

/// Turns names of HE programs, which are any text, into distinct names of limb groups.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// `parts` suffixed names that no other call has returned: `STEM` or `STEM_0`, `STEM_1`, …
    pub(super) fn group(&mut self, name: &str, suffixes: &[String]) -> Vec<String> {
        let stem = identifier(name);
        let attempts = std::iter::once(stem.clone()).chain((2..).map(|i| format!("{stem}_v{i}")));
        for attempt in attempts {
            let names: Vec<String> = suffixes.iter().map(|s| format!("{attempt}{s}")).collect();
            if names.iter().all(|name| !self.taken.contains(name)) {
                self.taken.extend(names.iter().cloned());
                return names;
            }
        }
        unreachable!("the attempts do not end")
    }
}

/// `name` with everything that a limb program's names cannot hold replaced by `_`.
pub(super) fn identifier(name: &str) -> String {
    let mut id: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if !id.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        id.insert(0, '_');
    }
    id
}
