//! Rewrites a traced program to an equal one with fewer operations.
//!
//! # Pass: simplify
//!
//! - Purpose: an equal program with fewer operations, and fewer levels where constants meet.
//! - Requires: a verified traced program.
//! - Guarantees: a verified traced program with the same inputs and outputs, whose slots are the same real numbers; no
//!   value is computed twice, and none that no output depends on. Bounds that were promised stay.
//! - Example:
//!
//! ```text
//! he @example traced slots 8
//! %x = input "x"
//! %a = rotate %x, 3
//! %b = rotate %a, 5
//! %c = mul %b, %x
//! %d = mul %x, %x
//! %e = add %c, %d
//! output "y", %e
//! end
//! ```
//!
//! | rewrite | equation |
//! |---|---|
//! | sum | Σ_{j<2m} = S_m + rot(S_m, m·stride); Σ_{j<n+1} = S_n + rot(a, n·stride) |
//! | rotations | rot(rot(a, i), j) = rot(a, i + j); rot(a, 0) = a |
//! | squares | a·a = a² |
//! | involutions | −(−a) = a; conj(conj(a)) = a |
//! | signs | a + (−b) = a − b, for constants a too; a − (−b) = a + b; a·(−1) = −a |
//! | neutral constants | a + 0 = a; a − 0 = a; a·1 = a |
//! | scalar factors | (a·c)·d = a·(cd): one level less |
//! | equal values | computed once |

use super::dead::remove_dead;
use super::numbering::Numbering;
use crate::he::{Builder, Constant, HeError, Like, Op, Program, SumStep, Value, sum_steps};

/// Applies the rewrites of this module, then removes dead code.
///
/// # Errors
/// None for a verified traced program; a managed one is refused at its first managed operation.
pub fn simplify(old: &Program) -> Result<Program, HeError> {
    let mut s = Simplifier { b: Builder::traced(old.name(), old.slots())?, seen: Numbering::default() };
    for table in old.tables() {
        s.b.table(&table.name, table.numbers.clone())?;
    }
    let mut new = Vec::with_capacity(old.instrs().len());
    for instr in old.instrs() {
        s.b.region(instr.region.map_or("", |r| &old.regions()[r.0 as usize]));
        s.b.source(instr.source.clone());
        let op = instr.op.map_operands(|v: Value| new[v.index()]);
        let value = s.push(op)?;
        if let Some(bound) = instr.within {
            s.b.promise(value, bound)?;
        }
        if let Some(like) = instr.like
            && new[like.value.index()] < value
        {
            s.b.resemble(value, Like { value: new[like.value.index()], ..like })?;
        }
        new.push(value);
    }
    for out in old.outputs() {
        s.b.source(out.source.clone());
        s.b.output(&out.name, new[out.value.index()])?;
    }
    Ok(remove_dead(&s.b.finish()?))
}

struct Simplifier {
    b: Builder,
    seen: Numbering,
}

impl Simplifier {
    fn def(&self, v: Value) -> &Op {
        &self.b.program().instr(v).op
    }

    fn is_ct(&self, v: Value) -> bool {
        self.b.ty(v).is_ct()
    }

    /// The real number that stands in every slot of a constant.
    fn scalar(&self, v: Value) -> Option<f64> {
        match self.def(v) {
            Op::Const(c) => c.as_real_scalar(),
            _ => None,
        }
    }

    fn push(&mut self, op: Op) -> Result<Value, HeError> {
        match op {
            Op::Sum { a, count, stride } => self.sum(a, count, stride),
            Op::Rotate { a, k, .. } => self.rotate(a, k),
            Op::Neg(a) => self.negate(a),
            Op::Conj { a, .. } => match *self.def(a) {
                Op::Conj { a: inner, .. } => Ok(inner),
                _ => self.emit(Op::Conj { a, hoist: None }),
            },
            Op::Add(a, b) => self.add(a, b),
            Op::Sub(a, b) => self.sub(a, b),
            Op::Mul(a, b) => self.mul(a, b),
            op => self.emit(op),
        }
    }

    fn emit(&mut self, op: Op) -> Result<Value, HeError> {
        self.seen.push(&mut self.b, op, None)
    }

    fn sum(&mut self, a: Value, count: usize, stride: i64) -> Result<Value, HeError> {
        let slots = self.b.program().slots();
        sum_steps(count, stride, slots).into_iter().try_fold(a, |sum, SumStep { doubles, k }| {
            let turned = self.rotate(if doubles { sum } else { a }, i64::from(k))?;
            self.add(sum, turned)
        })
    }

    fn rotate(&mut self, a: Value, k: i64) -> Result<Value, HeError> {
        let slots = self.b.program().slots() as i64;
        let k = k.rem_euclid(slots);
        match *self.def(a) {
            _ if k == 0 => Ok(a),
            Op::Rotate { a: inner, k: first, .. } => self.rotate(inner, first + k),
            _ => self.emit(Op::Rotate { a, k, hoist: None }),
        }
    }

    fn negate(&mut self, a: Value) -> Result<Value, HeError> {
        match *self.def(a) {
            Op::Neg(inner) => Ok(inner),
            _ => self.emit(Op::Neg(a)),
        }
    }

    /// Ciphertexts before plaintexts, then by number.
    fn ordered(&self, a: Value, b: Value) -> (Value, Value) {
        let rank = |v: Value| (!self.is_ct(v), v);
        if rank(a) <= rank(b) { (a, b) } else { (b, a) }
    }

    fn add(&mut self, a: Value, b: Value) -> Result<Value, HeError> {
        let (a, b) = self.ordered(a, b);
        match (self.def(a), self.def(b)) {
            _ if self.scalar(b) == Some(0.0) => Ok(a),
            (_, &Op::Neg(y)) => self.sub(a, y),
            (&Op::Neg(x), _) => self.sub(b, x),
            _ => self.emit(Op::Add(a, b)),
        }
    }

    fn sub(&mut self, a: Value, b: Value) -> Result<Value, HeError> {
        match *self.def(b) {
            _ if self.scalar(b) == Some(0.0) => Ok(a),
            Op::Neg(y) => self.add(a, y),
            _ if self.scalar(a) == Some(0.0) => self.negate(b),
            _ => self.emit(Op::Sub(a, b)),
        }
    }

    fn mul(&mut self, a: Value, b: Value) -> Result<Value, HeError> {
        let (a, b) = self.ordered(a, b);
        if a == b {
            return self.emit(Op::Square(a));
        }
        let Some(c) = self.scalar(b) else { return self.emit(Op::Mul(a, b)) };
        if c == 1.0 {
            return Ok(a);
        }
        if c == -1.0 {
            return self.negate(a);
        }
        if let Op::Mul(x, y) = *self.def(a)
            && let Some(first) = self.scalar(y)
            && (first * c).is_finite()
        {
            let promised = self.b.program().instr(a).within.map(|bound| bound * c.abs());
            let product = self.emit(Op::Const(Constant::Real(first * c)))?;
            let folded = self.mul(x, product)?;
            // What is promised of a·c bounds a·(cd).
            if let Some(bound) = promised.filter(|&bound| bound > 0.0 && bound.is_finite()) {
                self.b.promise(folded, bound)?;
            }
            return Ok(folded);
        }
        self.emit(Op::Mul(a, b))
    }
}
