//! What a managed program takes: depth, keys, operations.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::he::{Chain, Level, Op, OpKind, Program, Type};

/// The evaluation keys that a program needs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeySet {
    /// The relinearisation key.
    pub relin: bool,
    /// Distances of rotations in slots to the left, each in 1..slots.
    pub rotations: BTreeSet<usize>,
    /// The conjugation key.
    pub conjugate: bool,
    /// The encapsulation key of bootstrapping.
    pub encapsulation: bool,
}

impl KeySet {
    /// The keys of a managed program.
    pub fn of(p: &Program) -> Self {
        let mut keys = Self::default();
        for instr in p.instrs() {
            match instr.op {
                Op::Relin(_) => keys.relin = true,
                Op::Rotate { k, .. } => {
                    keys.rotations.insert(k as usize);
                }
                Op::Conj { .. } => keys.conjugate = true,
                Op::Raise { .. } => keys.encapsulation = true,
                _ => {}
            }
        }
        keys
    }

    /// Galois elements of rotations and conjugation.
    pub fn galois(&self, chain: &Chain) -> BTreeSet<u64> {
        let rotations = self.rotations.iter().map(|&k| chain.galois(k));
        rotations.chain(self.conjugate.then(|| chain.galois_conjugate())).collect()
    }

    /// Number of full switch keys.
    pub fn len(&self) -> usize {
        usize::from(self.relin) + self.rotations.len() + usize::from(self.conjugate)
    }

    /// Whether no key is needed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0 && !self.encapsulation
    }

    /// Bytes of the expanded keys: β digits of two polynomials over q and p each; for encapsulation a digit a prime of level
    /// 0, over q and p_0, and over that level's primes and p_0.
    pub fn bytes(&self, chain: &Chain) -> u64 {
        let digits = chain.q().len().div_ceil(chain.alpha());
        let limbs = digits * 2 * (chain.q().len() + chain.p().len());
        let base = chain.limbs(Level::ZERO);
        let encapsulation = if self.encapsulation { 2 * base * (chain.q().len() + base + 2) } else { 0 };
        (self.len() * limbs + encapsulation) as u64 * (8 << chain.log_n())
    }
}

impl fmt::Display for KeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if self.relin {
            parts.push("relinearisation".to_string());
        }
        if !self.rotations.is_empty() {
            let list: Vec<String> = self.rotations.iter().map(ToString::to_string).collect();
            parts.push(format!("rotations by {}", list.join(", ")));
        }
        if self.conjugate {
            parts.push("conjugation".into());
        }
        if self.encapsulation {
            parts.push("encapsulation".into());
        }
        f.write_str(if parts.is_empty() { "none" } else { "" })?;
        f.write_str(&parts.join("; "))
    }
}

/// What a managed program takes to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Rescales in a row.
    pub depth: u32,
    /// Level at which inputs are given.
    pub input_level: Level,
    /// Level at which the first operation runs: inputs are dropped to it.
    pub start_level: Level,
    /// Least level of an output.
    pub output_level: Level,
    /// Evaluation keys.
    pub keys: KeySet,
    /// Bytes of these keys.
    pub key_bytes: u64,
    /// How often each operation occurs.
    pub counts: BTreeMap<OpKind, usize>,
    /// Key switches that share another's decomposition.
    pub hoisted: usize,
}

impl Summary {
    pub(super) fn new(p: &Program, chain: &Chain, depth: u32, input: Level, start: Level) -> Self {
        let mut counts = BTreeMap::new();
        let (mut groups, mut members) = (BTreeSet::new(), 0);
        for instr in p.instrs() {
            *counts.entry(instr.op.kind()).or_insert(0) += 1;
            if let Op::Rotate { hoist: Some(g), .. } | Op::Conj { hoist: Some(g), .. } = instr.op {
                groups.insert(g);
                members += 1;
            }
        }
        let level = |ty: &Type| if let Type::Ct(t) = ty { Some(t.level) } else { None };
        let outputs = p.outputs().iter().filter_map(|o| level(&p.instr(o.value).ty));
        let keys = KeySet::of(p);
        Self {
            depth,
            input_level: input,
            start_level: start,
            output_level: outputs.min().unwrap_or(Level::ZERO),
            key_bytes: keys.bytes(chain),
            keys,
            counts,
            hoisted: members - groups.len(),
        }
    }

    /// How often `kind` occurs.
    pub fn count(&self, kind: OpKind) -> usize {
        self.counts.get(&kind).copied().unwrap_or(0)
    }
}
