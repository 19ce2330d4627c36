//! Value numbering: operations that compute the same thing have the same key.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use num_complex::Complex64;

use crate::he::{Builder, Constant, HeError, Numbers, Op, OpKind, Type, Value};

/// Kind, operands and immediates of an operation, comparable and hashable; floats by their bits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    kind: OpKind,
    words: Vec<u64>,
    text: String,
    list: Option<List>,
    ty: Option<Type>,
}

/// Numbers, compared by their bits.
#[derive(Debug, Clone)]
struct List(Arc<Numbers>);

impl List {
    /// Whether they are complex, and their bits.
    fn bits(&self) -> (bool, impl Iterator<Item = u64>) {
        let (reals, complexes): (&[f64], &[Complex64]) = match &*self.0 {
            Numbers::Real(v) => (v, &[]),
            Numbers::Complex(v) => (&[], v),
        };
        let parts = complexes.iter().flat_map(|z| [z.re.to_bits(), z.im.to_bits()]);
        (reals.is_empty(), reals.iter().map(|x| x.to_bits()).chain(parts))
    }
}

impl PartialEq for List {
    fn eq(&self, other: &Self) -> bool {
        let ((a, x), (b, y)) = (self.bits(), other.bits());
        Arc::ptr_eq(&self.0, &other.0) || (a == b && x.eq(y))
    }
}

impl Eq for List {}

impl Hash for List {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bits().1.for_each(|word| state.write_u64(word));
    }
}

impl Key {
    fn new(op: &Op, ty: Option<&Type>) -> Self {
        let mut words: Vec<u64> = op.operands().as_slice().iter().map(|v| u64::from(v.0)).collect();
        let (mut text, mut list) = (String::new(), None);
        match op {
            Op::Input(name) | Op::Plain(name) => text.clone_from(name),
            Op::Const(Constant::Real(x)) => words.extend([0, x.to_bits()]),
            Op::Const(Constant::Complex(z)) => words.extend([1, z.re.to_bits(), z.im.to_bits()]),
            Op::Const(Constant::Table(id)) => words.extend([2, u64::from(id.0)]),
            Op::Const(Constant::List(numbers)) => list = Some(List(numbers.clone())),
            Op::Rotate { k, .. } => words.push(*k as u64),
            Op::Sum { count, stride, .. } => words.extend([*count as u64, *stride as u64]),
            Op::Raise { bits, .. } => words.push(u64::from(*bits)),
            Op::Bootstrap { iterations, .. } => words.extend(iterations.map(u64::from)),
            Op::Lookup { table, .. } => {
                words.extend([table.first() as u64, table.noise().to_bits()]);
                words.extend(table.entries().iter().map(|entry| entry.to_bits()));
            }
            Op::AddScalar(_, c) => words.push(c.to_bits()),
            Op::MulScalar { c, scale, .. } => {
                words.push(c.to_bits());
                text = scale.to_text();
            }
            Op::Drop(_, level) => words.push(u64::from(level.get())),
            _ => {}
        }
        Self { kind: op.kind(), words, text, list, ty: ty.cloned() }
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
