//! Short names for the operations that circuits write.

use num_complex::Complex64;
use ringmill_program::he::{Builder, Constant, HeError, Numbers, Op, Value};

/// Writes operations into a builder, in a region of its own.
pub(crate) struct Writer<'a> {
    b: &'a mut Builder,
    /// The region outside.
    outer: String,
}

impl<'a> Writer<'a> {
    /// Opens the region `title`; inside a region of the caller it is called "outer: title".
    pub(crate) fn open(b: &'a mut Builder, title: &str) -> Self {
        let outer = b.current_region().to_owned();
        let name = if outer.is_empty() { title.to_owned() } else { format!("{outer}: {title}") };
        b.region(&name);
        Self { b, outer }
    }

    pub(crate) fn slots(&self) -> usize {
        self.b.program().slots()
    }

    /// Slot i of the result is slot i + k of `a`.
    pub(crate) fn rotate(&mut self, a: Value, k: i64) -> Result<Value, HeError> {
        match k.rem_euclid(self.slots() as i64) {
            0 => Ok(a),
            k => self.b.push(Op::Rotate { a, k, hoist: None }),
        }
    }

    /// Σ_{j < count} rot(a, j·stride).
    pub(crate) fn sum(&mut self, a: Value, count: usize, stride: i64) -> Result<Value, HeError> {
        if count == 1 { Ok(a) } else { self.b.push(Op::Sum { a, count, stride }) }
    }

    pub(crate) fn mul_vector(&mut self, a: Value, numbers: Numbers) -> Result<Value, HeError> {
        let c = self.b.push(Op::Const(Constant::List(numbers.into())))?;
        self.b.push(Op::Mul(a, c))
    }

    /// Promises that no slot of `v` is larger.
    pub(crate) fn within(&mut self, v: Value, bound: f64) -> Result<Value, HeError> {
        self.b.promise(v, bound)?;
        Ok(v)
    }

    pub(crate) fn real(&mut self, c: f64) -> Result<Value, HeError> {
        self.b.push(Op::Const(Constant::Real(c)))
    }

    /// The same in all slots.
    pub(crate) fn number(&mut self, c: Complex64) -> Result<Value, HeError> {
        match c.im {
            0.0 => self.real(c.re),
            _ => self.b.push(Op::Const(Constant::Complex(c))),
        }
    }

    pub(crate) fn add_number(&mut self, a: Value, c: Complex64) -> Result<Value, HeError> {
        if c.im == 0.0 {
            return self.add_real(a, c.re);
        }
        let c = self.number(c)?;
        self.add(a, c)
    }

    pub(crate) fn mul_number(&mut self, a: Value, c: Complex64) -> Result<Value, HeError> {
        if c.im == 0.0 {
            return self.mul_real(a, c.re);
        }
        let c = self.number(c)?;
        self.b.push(Op::Mul(a, c))
    }

    pub(crate) fn add(&mut self, a: Value, b: Value) -> Result<Value, HeError> {
        self.b.push(Op::Add(a, b))
    }

    pub(crate) fn add_real(&mut self, a: Value, c: f64) -> Result<Value, HeError> {
        if c == 0.0 {
            return Ok(a);
        }
        let c = self.real(c)?;
        self.add(a, c)
    }

    pub(crate) fn sub(&mut self, a: Value, b: Value) -> Result<Value, HeError> {
        self.b.push(Op::Sub(a, b))
    }

    pub(crate) fn mul(&mut self, a: Value, b: Value) -> Result<Value, HeError> {
        self.b.push(if a == b { Op::Square(a) } else { Op::Mul(a, b) })
    }

    pub(crate) fn mul_real(&mut self, a: Value, c: f64) -> Result<Value, HeError> {
        if c == 1.0 {
            return Ok(a);
        }
        let c = self.real(c)?;
        self.b.push(Op::Mul(a, c))
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        self.b.region(&self.outer);
    }
}
