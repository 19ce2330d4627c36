//! Evaluates a program in the clear: what its slots mean, in binary64.

use std::collections::BTreeMap;

use num_complex::Complex64;

use super::{Constant, HeError, Op, Program, Rule, Value};

/// Vectors by name.
pub type Vectors = BTreeMap<String, Vec<Complex64>>;

/// The outputs of `p` for the given inputs and plaintexts, without encryption: the meaning of both stages.
///
/// # Errors
/// [`Rule::MissingInput`] or [`Rule::ConstantLength`] for an input that is missing or not of S numbers.
pub fn evaluate_clear(p: &Program, inputs: &Vectors) -> Result<Vectors, HeError> {
    let mut values: Vec<Vec<Complex64>> = Vec::with_capacity(p.instrs().len());
    for instr in p.instrs() {
        let value = step(p, &instr.op, &values, inputs);
        values.push(value.map_err(|r| HeError::new(r).at(None, instr.source.as_ref()))?);
    }
    Ok(p.outputs().iter().map(|o| (o.name.clone(), values[o.value.index()].clone())).collect())
}

fn step(p: &Program, op: &Op, values: &[Vec<Complex64>], inputs: &Vectors) -> Result<Vec<Complex64>, Rule> {
    let slots = p.slots();
    let get = |v: Value| &values[v.index()];
    let zip = |a: Value, b: Value, f: fn(Complex64, Complex64) -> Complex64| {
        get(a).iter().zip(get(b)).map(|(&x, &y)| f(x, y)).collect()
    };
    let map = |a: Value, f: &dyn Fn(Complex64) -> Complex64| get(a).iter().map(|&x| f(x)).collect();
    let turned = |a: Value, k: i64, i: usize| get(a)[(i as i64 + k).rem_euclid(slots as i64) as usize];
    Ok(match op {
        Op::Input(name) | Op::Plain(name) => {
            let v = inputs.get(name).ok_or_else(|| Rule::MissingInput { name: name.clone() })?;
            if v.len() != slots {
                return Err(Rule::ConstantLength { found: v.len(), slots });
            }
            v.clone()
        }
        Op::Const(c) => constant(p, c),
        Op::Add(a, b) | Op::AddPlain(a, b) => zip(*a, *b, |x, y| x + y),
        Op::Sub(a, b) | Op::SubPlain(a, b) => zip(*a, *b, |x, y| x - y),
        Op::Mul(a, b) | Op::MulPlain(a, b) => zip(*a, *b, |x, y| x * y),
        Op::Neg(a) => map(*a, &|x| -x),
        Op::Square(a) => map(*a, &|x| x * x),
        Op::AddScalar(a, c) => map(*a, &|x| x + c),
        Op::MulScalar { a, c, .. } => map(*a, &|x| x * c),
        Op::Conj { a, .. } => map(*a, &|x| x.conj()),
        // The multiple of 2^bits is not there in the clear.
        Op::Relin(a) | Op::Rescale(a) | Op::Drop(a, _) | Op::Raise { a, .. } | Op::Bootstrap { a, .. } => {
            get(*a).clone()
        }
        Op::Lookup { a, table } => map(*a, &|x| table.at(x.re).into()),
        Op::Rotate { a, k, .. } => (0..slots).map(|i| turned(*a, k % slots as i64, i)).collect(),
        Op::Sum { a, count, stride } => {
            let at = |j: usize| (j as i64 * (stride % slots as i64)) % slots as i64;
            (0..slots).map(|i| (0..*count).map(|j| turned(*a, at(j), i)).sum()).collect()
        }
    })
}

fn constant(p: &Program, c: &Constant) -> Vec<Complex64> {
    match c {
        Constant::Real(x) => vec![Complex64::new(*x, 0.0); p.slots()],
        Constant::Complex(z) => vec![*z; p.slots()],
        Constant::List(numbers) => numbers.to_complex(),
        Constant::Table(id) => p.table(*id).map(|t| t.numbers.to_complex()).unwrap_or_default(),
    }
}
