//! Value numbering: operations that compute the same thing have the same key.

use std::collections::HashMap;

use crate::he::{Builder, Constant, HeError, Numbers, Op, OpKind, Type, Value};

/// Kind, operands and immediates of an operation, comparable and hashable; floats by their bits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    kind: OpKind,
    words: Vec<u64>,
    text: String,
    ty: Option<Type>,
}

impl Key {
    fn new(op: &Op, ty: Option<&Type>) -> Self {
        let mut words: Vec<u64> = op.operands().as_slice().iter().map(|v| u64::from(v.0)).collect();
        let mut text = String::new();
        match op {
            Op::Input(name) | Op::Plain(name) => text.clone_from(name),
            Op::Const(c) => constant_words(c, &mut words),
            Op::Rotate { k, .. } => words.push(*k as u64),
            Op::Sum { count, stride, .. } => words.extend([*count as u64, *stride as u64]),
            Op::Raise { bits, .. } => words.push(u64::from(*bits)),
            Op::AddScalar(_, c) => words.push(c.to_bits()),
            Op::MulScalar { c, scale, .. } => {
                words.push(c.to_bits());
                text = scale.to_text();
            }
            Op::Drop(_, level) => words.push(u64::from(level.get())),
            _ => {}
        }
        Self { kind: op.kind(), words, text, ty: ty.cloned() }
    }
}

fn constant_words(c: &Constant, words: &mut Vec<u64>) {
    match c {
        Constant::Real(x) => words.extend([0, x.to_bits()]),
        Constant::Complex(z) => words.extend([1, z.re.to_bits(), z.im.to_bits()]),
        Constant::Table(id) => words.extend([2, u64::from(id.0)]),
        Constant::List(Numbers::Real(v)) => {
            words.push(3);
            words.extend(v.iter().map(|x| x.to_bits()));
        }
        Constant::List(Numbers::Complex(v)) => {
            words.push(4);
            words.extend(v.iter().flat_map(|z| [z.re.to_bits(), z.im.to_bits()]));
        }
    }
}

/// Adds an operation only where no equal one stands above.
#[derive(Debug, Default)]
pub(super) struct Numbering(HashMap<Key, Value>);

impl Numbering {
    /// The value of `op`, which is pushed if it is new. `ty` is the declared type of managed sources.
    pub(super) fn push(&mut self, b: &mut Builder, op: Op, ty: Option<Type>) -> Result<Value, HeError> {
        let key = Key::new(&op, ty.as_ref());
        if let Some(&v) = self.0.get(&key) {
            return Ok(v);
        }
        let v = b.push_full(op, ty, None)?;
        self.0.insert(key, v);
        Ok(v)
    }
}
