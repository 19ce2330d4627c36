//! Single operations of a scheme as limb programs, to count what they take on a core.
//!
//! The programs come from the one lowering, so a key switch here is the key switch of every other program. CASA's own
//! sequence is the same lowering with one digit, one special prime and no centring: its P is smaller than its digit,
//! so that a ciphertext it switches does not decrypt. It exists to be counted beside the paper's tables; parameters of this shape are
//! refused by `ckks`.

use ringmill_errors::StructuredError;
use ringmill_program::limb::LimbProgram;
pub use ringmill_program::lower::Operation;
use ringmill_program::lower::{LowerError, OperationWriter};
use ringmill_ring::primes::{SparseClass, SparseSearch};
use ringmill_ring::{Modulus, RingError};

use super::model::{Timing, simulate, simulate_again};
use super::{Compact, CompactConfig, CompactError, Plan, Policy};

/// Whose key switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sequence {
    /// Hybrid key switching with P at least the largest digit.
    Hybrid,
    /// CASA's: any number of limbs in one digit, conversions not centred. Does not decrypt unless P ≥ the digit.
    Casa,
}

/// An operation with its shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Workload {
    /// What is counted.
    pub operation: Operation,
    /// log2 N.
    pub log_n: u32,
    /// Ciphertext limbs.
    pub limbs: usize,
    /// Special primes, K.
    pub special: usize,
    /// Digits.
    pub dnum: usize,
    /// Whose key switch.
    pub sequence: Sequence,
    /// How often in one program: they share the key and nothing else.
    pub times: usize,
}

/// What stands in the way of counting.
#[derive(Debug, thiserror::Error, StructuredError)]
pub enum WorkloadError {
    /// A hybrid key switch whose special primes are fewer than the limbs of its largest digit.
    #[error(
        "K = {special} special primes do not cover a digit of {alpha} limbs ({limbs} limbs, dnum {dnum}): P must be at \
         least the largest digit product, else a switched ciphertext does not decrypt; use K ≥ {alpha}, or the sequence \
         casa, which is for counting only"
    )]
    Digit {
        /// K.
        special: usize,
        /// ⌈limbs / dnum⌉.
        alpha: usize,
        /// Ciphertext limbs.
        limbs: usize,
        /// Digits.
        dnum: usize,
    },
    /// No limb, no digit, more digits than limbs, or no special prime.
    #[error(
        "{limbs} limbs, {special} special primes and dnum {dnum} are no key switch: 1 ≤ dnum ≤ limbs and K ≥ 1"
    )]
    Shape {
        /// Ciphertext limbs.
        limbs: usize,
        /// K.
        special: usize,
        /// Digits.
        dnum: usize,
    },
    /// No operation at all.
    #[error("0 operations are no program: times ≥ 1")]
    Times,
    /// Too few primes of the core's class.
    #[error("{needed} primes of {bits} bits are needed, {found} of the core's class exist at N = 2^{log_n}")]
    Primes {
        /// Limbs and special primes together.
        needed: usize,
        /// As many as there are.
        found: usize,
        /// Bits of a word.
        bits: u32,
        /// log2 N.
        log_n: u32,
    },
    /// From the prime search.
    #[error(transparent)]
    Ring(#[from] RingError),
    /// From the lowering.
    #[error(transparent)]
    Lower(#[from] LowerError),
    /// From the core.
    #[error(transparent)]
    Core(#[from] CompactError),
}

/// A workload on a core.
#[derive(Debug, Clone)]
pub struct Counted {
    /// Its instructions.
    pub plan: Plan,
    /// What they take, with the roots that the run before has left.
    pub timing: Timing,
    /// Cycles of the first run, which has to make the roots of its first transforms.
    pub first_cycles: u64,
    /// Cycles of one transform on one lane if nothing were lost.
    pub slot: u64,
}

impl Workload {
    /// The limb program, over sparse primes of `bits` bits.
    ///
    /// # Errors
    /// An impossible shape, a digit that P does not cover, too few primes.
    pub fn program(&self, bits: u32) -> Result<LimbProgram, WorkloadError> {
        let Self { limbs, special, dnum, log_n, .. } = *self;
        if dnum == 0 || dnum > limbs || special == 0 {
            return Err(WorkloadError::Shape { limbs, special, dnum });
        }
        if self.times == 0 {
            return Err(WorkloadError::Times);
        }
        let alpha = limbs.div_ceil(dnum);
        if self.sequence == Sequence::Hybrid && special < alpha {
            return Err(WorkloadError::Digit { special, alpha, limbs, dnum });
        }
        let primes = sparse_primes(bits, log_n, limbs + special)?;
        let (q, p) = primes.split_at(limbs);
        let writer = OperationWriter::new(self.operation.name(), log_n, (q, p), alpha)?;
        let mut writer = if self.sequence == Sequence::Casa { writer.uncentred() } else { writer };
        for _ in 0..self.times {
            writer.append(self.operation)?;
        }
        Ok(writer.finish()?)
    }

    /// Plans it for a core by a policy and counts its cycles with the model.
    ///
    /// # Errors
    /// As [`Self::program`], and what the core was not built for.
    pub fn count(
        &self,
        config: &CompactConfig,
        policy: Policy,
        effort: usize,
    ) -> Result<Counted, WorkloadError> {
        let program = self.program(config.word_bits())?;
        let plan = Compact::emulated(*config).with_policy(policy).with_effort(effort).plan(&program)?;
        let timing = simulate_again(config, self.log_n, &plan.instructions)?;
        let first_cycles = simulate(config, self.log_n, &plan.instructions)?.counters.cycles;
        Ok(Counted { plan, timing, first_cycles, slot: config.slot(self.log_n) })
    }
}

/// Primes q = 2^(bits−1) + δ·2^(bits/2) + 1, the least δ > 0 first.
pub(super) fn sparse_primes(bits: u32, log_n: u32, count: usize) -> Result<Vec<Modulus>, WorkloadError> {
    let class = SparseClass::P2 { max_delta: 1 << (bits / 2 - 2) };
    let found: Vec<Modulus> =
        SparseSearch::new(class, bits - 1, false, log_n)?.iter().map(|p| p.q).take(count).collect();
    if found.len() < count {
        return Err(WorkloadError::Primes { needed: count, found: found.len(), bits, log_n });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use ringmill_program::limb::Opcode;

    use super::super::lower::{build::build, graph::Kind};
    use super::super::{CompactLiteral, Multiplier};
    use super::*;

    fn workload(limbs: usize, special: usize, dnum: usize, sequence: Sequence) -> Workload {
        Workload { operation: Operation::KeySwitch, log_n: 13, limbs, special, dnum, sequence, times: 1 }
    }

    /// The numbers of transforms that `mathematics` counts: (dnum + 2)(limbs + K) for hybrid, which leaves out those of
    /// limbs that a digit already has.
    #[test]
    fn transforms_are_as_counted_on_paper() {
        let transforms = |w: Workload| {
            let p = w.program(54).unwrap();
            (0..p.len()).filter(|&i| [Opcode::Ntt, Opcode::Intt].contains(&p.opcode(i))).count()
        };
        for ((limbs, special, dnum), count) in
            [((3, 1, 3), 20), ((2, 2, 1), 12), ((6, 2, 3), 40), ((4, 4, 1), 24)]
        {
            assert_eq!(transforms(workload(limbs, special, dnum, Sequence::Hybrid)), count);
        }
        assert_eq!(transforms(workload(3, 1, 1, Sequence::Casa)), 12);
        assert_eq!(transforms(workload(7, 1, 1, Sequence::Casa)), 24);
    }

    /// An automorphism of a sum is a way to read its terms: a rotation adds to a key switch a sum of two for each limb of
    /// c_0, and a copy for each limb of the other part.
    #[test]
    fn a_rotation_adds_three_passes_a_limb_to_a_key_switch() {
        let config = CompactLiteral {
            word_bits: 54,
            multiplier: Multiplier::WordMontgomery,
            ..CompactLiteral::roomy()
        };
        let config = config.build().unwrap();
        let passes = |operation| {
            let program = Workload { operation, ..workload(3, 1, 3, Sequence::Hybrid) }.program(54).unwrap();
            let graph = build(&config, &program).unwrap();
            let terms = |kind: &Kind| if let Kind::Sum(terms) = kind { terms.len() } else { 0 };
            graph.nodes.iter().map(|node| terms(&node.kind)).sum::<usize>()
        };
        assert_eq!(passes(Operation::Rotate), passes(Operation::KeySwitch) + 3 * 3);
    }

    #[test]
    fn every_operation_has_a_program() {
        for operation in Operation::ALL {
            let w = Workload { operation, ..workload(4, 2, 2, Sequence::Hybrid) };
            assert!(w.program(54).is_ok(), "{operation:?}");
        }
    }

    #[test]
    fn a_digit_that_p_does_not_cover_is_refused_unless_it_is_for_counting() {
        let error = workload(3, 1, 1, Sequence::Hybrid).program(54).unwrap_err();
        assert!(error.to_string().contains("P must be at least the largest digit product"), "{error}");
        assert!(workload(3, 1, 1, Sequence::Casa).program(54).is_ok());
        assert!(workload(0, 1, 1, Sequence::Casa).program(54).is_err());
        let none = Workload { times: 0, ..workload(3, 1, 3, Sequence::Hybrid) };
        assert!(matches!(none.program(54), Err(WorkloadError::Times)));
    }

    /// Two lanes cannot beat half the transforms; a schedule that wastes a third of the time is a regression.
    #[test]
    fn a_key_switch_takes_little_more_than_half_its_transforms() {
        let literal = CompactLiteral {
            word_bits: 54,
            multiplier: Multiplier::WordMontgomery,
            ..CompactLiteral::roomy()
        };
        let counted = workload(3, 1, 3, Sequence::Hybrid)
            .count(&literal.build().unwrap(), Policy::Throughput, 2_000)
            .unwrap();
        let slots = counted.timing.counters.cycles as f64 / counted.slot as f64;
        assert!((10.0..13.0).contains(&slots), "{slots}");
        let ends = counted.plan.output_ends(&counted.timing.spans);
        assert_eq!(ends.len(), 2 * 3);
        assert!(ends.iter().all(|end| (1..=counted.timing.counters.cycles).contains(end)));
    }
}
