//! Constant vectors as one limb: a linear map of bootstrapping has hundreds, of half a megabyte a limb.
//!
//! The coefficients of an encoded constant are far smaller than the modulus. Kept modulo p_0 alone, centred, they are taken
//! modulo every q_i where they are used, a `lift` and a transform a limb: a tenth of the memory for about as many
//! transforms as the rotations of the map take. A vector that repeats after n slots is a polynomial in X^(N/2n), which the
//! program says: those transforms are short.

use std::collections::{BTreeMap, HashMap};

use super::{LowerError, Lowering, Poly};
use crate::he::{Chain, Constant, Numbers, Op, Program, Type, Value};
use crate::limb::{Domain, InputClass, ModulusId, Operand};

/// Constants are compacted if all of them take at least this number of bytes.
pub(super) const ABOVE: u64 = 1 << 28;

impl Lowering {
    /// Declares a constant of one limb, of slots that repeat after `period` of them.
    pub(super) fn compact_input(&mut self, name: &str, period: usize) -> Result<Poly, LowerError> {
        let special = *self.basis.p().first().ok_or(LowerError::NoSpecialPrime)?;
        // 2·period coefficients of N.
        let log_stride = self.builder.log_n().saturating_sub(1 + period.trailing_zeros());
        Ok(self.builder.sparse_input(name, InputClass::Plain, Domain::Coeff, &[special], log_stride))
    }

    /// A constant of one limb modulo some primes, in the evaluation domain.
    pub(super) fn expanded(&mut self, x: Operand, moduli: &[ModulusId]) -> Poly {
        self.region("expand");
        moduli.iter().map(|&m| self.expanded_limb(x, m)).collect()
    }

    /// One limb of it.
    pub(super) fn expanded_limb(&mut self, x: Operand, m: ModulusId) -> Operand {
        let own = self.builder.operand_type(x).modulus() == Some(m);
        let lifted = if own { x } else { self.builder.lift(x, m) };
        self.builder.ntt(lifted)
    }
}

/// The constants that come as one limb, with the numbers of slots after which they repeat: vectors that multiply and whose
/// coefficients, which no slot exceeds, are below a quarter of p_0. None in programs that need no special primes or with
/// constants of no more than `above` bytes.
pub(super) fn constants(he: &Program, chain: &Chain, low: &Lowering, above: u64) -> HashMap<Value, usize> {
    let Some(&special) = low.basis.p().first() else { return HashMap::new() };
    let special = low.basis.modulus(special).value() as f64;
    let mut all: BTreeMap<Value, (usize, u64)> = BTreeMap::new();
    for (v, instr) in he.values() {
        let (Op::Const(c), Type::Pt(ty)) = (&instr.op, &instr.ty) else { continue };
        let Some(numbers) = vector(he, c) else { continue };
        if numbers.magnitude().log2() + ty.scale.log2() < special.log2() - 2.0 {
            all.insert(v, (numbers.period(), chain.limbs(ty.level) as u64 * (8 << low.builder.log_n())));
        }
    }
    for instr in he.instrs() {
        if let Op::AddPlain(_, p) | Op::SubPlain(_, p) = instr.op {
            all.remove(&p);
        }
    }
    match all.values().map(|&(_, bytes)| bytes).sum::<u64>() > above {
        true => all.into_iter().map(|(v, (period, _))| (v, period)).collect(),
        false => HashMap::new(),
    }
}

/// The numbers of a constant that is a vector.
pub(super) fn vector<'a>(he: &'a Program, c: &'a Constant) -> Option<&'a Numbers> {
    match c {
        Constant::List(numbers) => Some(numbers),
        Constant::Table(id) => Some(&he.table(*id)?.numbers),
        Constant::Real(_) | Constant::Complex(_) => None,
    }
}
