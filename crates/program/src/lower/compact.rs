//! Constant vectors as one limb: a linear map of bootstrapping has hundreds, of half a megabyte a limb.
//!
//! The coefficients of an encoded constant are far smaller than the modulus. Kept modulo p_0 alone, centred, they are taken
//! modulo every q_i where they are used, a `lift` and a transform a limb: a tenth of the memory for about as many
//! transforms as the rotations of the map take.

use std::collections::{BTreeMap, HashSet};

use super::{LowerError, Lowering, Poly};
use crate::he::{Chain, Constant, Numbers, Op, Program, Type, Value};
use crate::limb::{Domain, InputClass, Operand};

/// Constants stay as they are unless all of them take so many bytes.
const ABOVE: u64 = 1 << 28;

impl Lowering {
    /// Declares a constant of one limb.
    pub(super) fn compact_input(&mut self, name: &str) -> Result<Poly, LowerError> {
        let special = *self.basis.p().first().ok_or(LowerError::NoSpecialPrime)?;
        Ok(self.builder.input(name, InputClass::Plain, Domain::Coeff, &[special]))
    }

    /// A constant of one limb modulo q_0 …, in the evaluation domain.
    pub(super) fn expanded(&mut self, x: Operand, limbs: usize) -> Poly {
        self.region("expand");
        let moduli = self.basis.q()[..limbs].to_vec();
        let limb = |m| {
            let lifted = self.builder.lift(x, m);
            self.builder.ntt(lifted)
        };
        moduli.into_iter().map(limb).collect()
    }
}

/// The constants that come as one limb: vectors that multiply and whose coefficients, which no slot exceeds, are below a
/// quarter of p_0. None in programs without special primes or with few constants.
pub(super) fn constants(he: &Program, chain: &Chain) -> HashSet<Value> {
    let switches = he.instrs().iter().any(|i| i.op.switches_keys() || matches!(i.op, Op::Raise { .. }));
    let Some(&special) = chain.p().first().filter(|_| switches) else { return HashSet::new() };
    let mut all: BTreeMap<Value, u64> = BTreeMap::new();
    for (v, instr) in he.values() {
        let (Op::Const(c), Type::Pt(ty)) = (&instr.op, &instr.ty) else { continue };
        let bits = largest(he, c).map(|size| size.log2() + ty.scale.log2());
        if bits.is_some_and(|bits| bits < (special as f64).log2() - 2.0) {
            all.insert(v, ty.level.limbs() as u64 * (8 << chain.log_n()));
        }
    }
    for instr in he.instrs() {
        if let Op::AddPlain(_, p) | Op::SubPlain(_, p) = instr.op {
            all.remove(&p);
        }
    }
    match all.values().sum::<u64>() > ABOVE {
        true => all.into_keys().collect(),
        false => HashSet::new(),
    }
}

/// The greatest |slot| of a vector.
fn largest(he: &Program, c: &Constant) -> Option<f64> {
    let numbers = match c {
        Constant::List(numbers) => numbers,
        Constant::Table(id) => &he.table(*id)?.numbers,
        Constant::Real(_) | Constant::Complex(_) => return None,
    };
    Some(match numbers {
        Numbers::Real(v) => v.iter().fold(0.0, |most: f64, x| most.max(x.abs())),
        Numbers::Complex(v) => v.iter().fold(0.0, |most: f64, z| most.max(z.norm())),
    })
}
