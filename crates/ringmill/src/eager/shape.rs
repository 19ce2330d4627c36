//! The shape of an eager operation: what its lowering depends on, and the HE program it stands for.

use std::collections::{BTreeMap, BTreeSet};

use ringmill_ckks::Level;
use ringmill_program::he::{Builder, Chain, HeError, Op, Program, Scale, SumStep, Type, Value, sum_steps};

/// What is done.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Action {
    Add,
    Sub,
    Negate,
    Multiply,
    Square,
    MultiplyPlain,
    AddPlain,
    SubPlain,
    /// Bits of the number.
    AddScalar(u64),
    /// Bits of the number.
    MultiplyScalar(u64),
    Relinearise,
    Rescale,
    RelineariseRescale,
    MultiplyRelinearise,
    MultiplyRelineariseRescale,
    SquareRelinearise,
    SquareRelineariseRescale,
    /// By these distances in slots, each in 0..N/2; 0 is the identity. Several are hoisted.
    Rotate(Vec<u32>),
    Conjugate,
    /// Over `count` slots `stride` apart, among `slots`.
    Sum {
        count: usize,
        stride: i64,
        slots: usize,
    },
}

/// Operation, level and parts of its operands, and for scalars the scale of the number.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    pub(crate) action: Action,
    pub(crate) level: Level,
    pub(crate) parts: [u8; 2],
    pub(crate) scalar: Option<Scale>,
}

impl Shape {
    pub(crate) fn new(action: Action, level: Level, parts: [u8; 2]) -> Self {
        Self { action, level, parts, scalar: None }
    }

    /// The small HE program. Scales are 1 where nothing depends on them: lowering reads those of scalars only.
    pub(crate) fn program(&self, chain: &Chain) -> Result<Program, HeError> {
        let slots = match self.action {
            Action::Sum { slots, .. } => slots,
            _ => 1 << (chain.log_n() - 1),
        };
        let mut s = Small { b: Builder::managed("eager", slots, chain.clone())?, shape: self };
        let outputs = s.body()?;
        for (i, v) in outputs.into_iter().enumerate() {
            s.b.output(&format!("y{i}"), v)?;
        }
        s.b.finish()
    }
}

struct Small<'a> {
    b: Builder,
    shape: &'a Shape,
}

impl Small<'_> {
    fn cipher(&mut self, i: usize) -> Result<Value, HeError> {
        // A number is added at the scale of the ciphertext.
        let scale = match self.shape.action {
            Action::AddScalar(_) => self.shape.scalar.clone().unwrap_or(Scale::ONE),
            _ => Scale::ONE,
        };
        let ty = Type::ct(self.shape.parts[i], self.shape.level, scale);
        self.b.push_typed(Op::Input(format!("x{i}")), ty)
    }

    fn plain(&mut self) -> Result<Value, HeError> {
        self.b.push_typed(Op::Plain("p".into()), Type::pt(self.shape.level, Scale::ONE))
    }

    fn body(&mut self) -> Result<Vec<Value>, HeError> {
        let x = self.cipher(0)?;
        let op = match &self.shape.action {
            Action::Add => Op::Add(x, self.cipher(1)?),
            Action::Sub => Op::Sub(x, self.cipher(1)?),
            Action::Multiply | Action::MultiplyRelinearise | Action::MultiplyRelineariseRescale => {
                Op::Mul(x, self.cipher(1)?)
            }
            Action::Negate => Op::Neg(x),
            Action::Square | Action::SquareRelinearise | Action::SquareRelineariseRescale => Op::Square(x),
            Action::MultiplyPlain => Op::MulPlain(x, self.plain()?),
            Action::AddPlain => Op::AddPlain(x, self.plain()?),
            Action::SubPlain => Op::SubPlain(x, self.plain()?),
            Action::AddScalar(bits) => Op::AddScalar(x, f64::from_bits(*bits)),
            Action::MultiplyScalar(bits) => {
                let scale = self.shape.scalar.clone().unwrap_or(Scale::ONE);
                Op::MulScalar { a: x, c: f64::from_bits(*bits), scale }
            }
            Action::Relinearise | Action::RelineariseRescale => Op::Relin(x),
            Action::Rescale => Op::Rescale(x),
            Action::Conjugate => Op::Conj { a: x, hoist: None },
            Action::Rotate(steps) => return self.rotations(x, steps),
            Action::Sum { count, stride, .. } => return Ok(vec![self.sum(x, *count, *stride)?]),
        };
        let v = self.b.push(op)?;
        Ok(vec![self.finish(v)?])
    }

    /// What is merged behind a product.
    fn finish(&mut self, v: Value) -> Result<Value, HeError> {
        let (relin, rescale) = match self.shape.action {
            Action::MultiplyRelinearise | Action::SquareRelinearise => (true, false),
            Action::MultiplyRelineariseRescale | Action::SquareRelineariseRescale => (true, true),
            Action::RelineariseRescale => (false, true),
            _ => (false, false),
        };
        let v = if relin { self.b.push(Op::Relin(v))? } else { v };
        if rescale { self.b.push(Op::Rescale(v)) } else { Ok(v) }
    }

    /// Equal steps are computed once, and none is the operand itself.
    fn rotations(&mut self, x: Value, steps: &[u32]) -> Result<Vec<Value>, HeError> {
        let mut done = BTreeMap::from([(0, x)]);
        let different: BTreeSet<u32> = steps.iter().copied().filter(|&k| k != 0).collect();
        let hoist = (different.len() > 1).then_some(0);
        for k in different {
            done.insert(k, self.b.push(Op::Rotate { a: x, k: i64::from(k), hoist })?);
        }
        Ok(steps.iter().map(|k| done[k]).collect())
    }

    fn sum(&mut self, x: Value, count: usize, stride: i64) -> Result<Value, HeError> {
        let slots = self.b.program().slots();
        sum_steps(count, stride, slots).into_iter().try_fold(x, |sum, SumStep { doubles, k }| {
            self.add_rotated(sum, if doubles { sum } else { x }, i64::from(k))
        })
    }

    /// a + rot(x, k).
    fn add_rotated(&mut self, a: Value, x: Value, k: i64) -> Result<Value, HeError> {
        let turned = if k == 0 { x } else { self.b.push(Op::Rotate { a: x, k, hoist: None })? };
        self.b.push(Op::Add(a, turned))
    }
}
