//! How large the values of a program can be, by interval arithmetic.
//!
//! The error model multiplies errors by magnitudes, so bounds that are too wide give predictions that are too wide. An
//! interval knows what a bound on the size alone does not: a square is not negative, so 2u² − 1 stays in [−1, 1]
//! where u does, and so do all Chebyshev polynomials by their recursion.

use ringmill_ckks::noise::raised_magnitude;

use crate::he::{Constant, Numbers, Op, Program, Value};

/// A closed interval that holds every slot.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Interval {
    low: f64,
    high: f64,
}

impl Interval {
    fn around(size: f64) -> Self {
        Self { low: -size, high: size }
    }

    fn point(x: f64) -> Self {
        Self { low: x, high: x }
    }

    fn size(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    fn add(self, other: Self) -> Self {
        Self { low: self.low + other.low, high: self.high + other.high }
    }

    fn neg(self) -> Self {
        Self { low: -self.high, high: -self.low }
    }

    fn mul(self, other: Self) -> Self {
        let corners =
            [self.low * other.low, self.low * other.high, self.high * other.low, self.high * other.high];
        Self {
            low: corners.into_iter().fold(f64::INFINITY, f64::min),
            high: corners.into_iter().fold(f64::NEG_INFINITY, f64::max),
        }
    }

    fn square(self) -> Self {
        let high = self.size() * self.size();
        let least =
            if self.low <= 0.0 && self.high >= 0.0 { 0.0 } else { self.low.abs().min(self.high.abs()) };
        Self { low: least * least, high }
    }

    /// The part within ±`bound`. An interval on one side of it was wrong or the promise is: the promise is kept.
    fn within(self, bound: f64) -> Self {
        Self { low: self.low.clamp(-bound, bound), high: self.high.clamp(-bound, bound) }
    }

    fn hull(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }
}

fn constant(p: &Program, c: &Constant, real: bool) -> Interval {
    let numbers = match c {
        Constant::Real(x) if real => return Interval::point(*x),
        Constant::Real(x) => return Interval::around(x.abs()),
        Constant::Complex(z) => return Interval::around(z.norm()),
        Constant::List(numbers) => numbers,
        Constant::Table(id) => match p.table(*id) {
            Some(table) => &table.numbers,
            None => return Interval::point(0.0),
        },
    };
    match numbers {
        Numbers::Real(v) if real => v.iter().map(|&x| Interval::point(x)).reduce(Interval::hull),
        _ => (0..numbers.len())
            .filter_map(|i| numbers.get(i))
            .map(|z| Interval::around(z.norm()))
            .reduce(Interval::hull),
    }
    .unwrap_or(Interval::point(0.0))
}

/// A bound on |slot| of every value, given that of the inputs, encrypted or in the clear.
///
/// `real` promises that the inputs are real; without it only sizes are known. Bounds that the program states are taken
/// as they are.
pub fn ranges(p: &Program, inputs: f64, real: bool) -> Vec<f64> {
    let mut all: Vec<Interval> = Vec::with_capacity(p.instrs().len());
    let real = real && !p.instrs().iter().any(|i| matches!(&i.op, Op::Const(c) if !is_real(p, c)));
    for (_, instr) in p.values() {
        let at = |v: &Value| all[v.index()];
        let scalar = |c: f64| if real { Interval::point(c) } else { Interval::around(c.abs()) };
        let range = match &instr.op {
            Op::Input(_) | Op::Plain(_) => Interval::around(inputs),
            Op::Const(c) => constant(p, c, real),
            Op::Add(a, b) | Op::AddPlain(a, b) => at(a).add(at(b)),
            Op::Sub(a, b) | Op::SubPlain(a, b) => at(a).add(at(b).neg()),
            Op::Mul(a, b) if a == b && real => at(a).square(),
            Op::Mul(a, b) | Op::MulPlain(a, b) => at(a).mul(at(b)),
            Op::Square(a) if real => at(a).square(),
            Op::Square(a) => at(a).mul(at(a)),
            Op::Neg(a) => at(a).neg(),
            Op::AddScalar(a, c) => at(a).add(scalar(*c)),
            Op::MulScalar { a, c, .. } => at(a).mul(scalar(*c)),
            Op::Sum { a, count, .. } => at(a).mul(Interval::point(*count as f64)),
            Op::Raise { a, bits } => at(a).add(Interval::around(raised_magnitude(p.slots(), *bits))),
            Op::Bootstrap { a, .. }
            | Op::Drop(a, _)
            | Op::Rescale(a)
            | Op::Relin(a)
            | Op::Rotate { a, .. }
            | Op::Conj { a, .. } => at(a),
        };
        all.push(instr.within.map_or(range, |bound| range.within(bound)));
    }
    all.into_iter().map(Interval::size).collect()
}

fn is_real(p: &Program, c: &Constant) -> bool {
    let real = |n: &Numbers| matches!(n, Numbers::Real(_));
    match c {
        Constant::Real(_) => true,
        Constant::Complex(_) => false,
        Constant::List(numbers) => real(numbers),
        Constant::Table(id) => p.table(*id).is_some_and(|t| real(&t.numbers)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::he::parse;
    use crate::manage::simplify;

    /// Bounds by the order of the lines.
    fn bounds(lines: &str, inputs: f64, real: bool) -> Vec<f64> {
        let text = format!("he @f traced slots 4\n{lines}\nend\n");
        match parse(&text) {
            Ok(p) => ranges(&p, inputs, real),
            Err(error) => panic!("{error}"),
        }
    }

    const CHEBYSHEV: &str = "%0 = input \"u\"\n%1 = square %0\n%2 = const 2.0\n%3 = mul %1, %2\n%4 = const -1.0\n\
                             %5 = add %3, %4\n%6 = mul %5, %5\noutput \"y\", %6";

    #[test]
    fn chebyshev_polynomials_stay_in_their_interval() {
        assert_eq!(bounds(CHEBYSHEV, 1.0, true), [1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn promises_are_kept() {
        let lines =
            "%0 = input \"x\"\n%1 = square %0\n%2 = square %1 within 4.0\n%3 = mul %2, %0\noutput \"y\", %3";
        assert_eq!(bounds(lines, 3.0, true), [3.0, 9.0, 4.0, 12.0]);
        assert_eq!(bounds(lines, 3.0, false), [3.0, 9.0, 4.0, 12.0]);
        assert_eq!(bounds(lines, 1.0, true), [1.0; 4], "a promise that is wider than what is known");
    }

    #[test]
    fn promises_outlive_the_joining_of_factors() {
        let lines = "%0 = input \"x\"\n%1 = const 0.5\n%2 = mul %0, %1 within 0.25\n%3 = const -3.0\n%4 = mul %2, %3\n\
                     output \"y\", %4";
        let p = parse(&format!("he @f traced slots 4\n{lines}\nend\n")).and_then(|p| simplify(&p)).unwrap();
        let of_result = ranges(&p, 8.0, true)[p.outputs()[0].value.index()];
        assert_eq!((p.instrs().len(), of_result), (3, 0.75));
    }

    #[test]
    fn complex_values_have_no_sign() {
        assert_eq!(bounds(CHEBYSHEV, 1.0, false), [1.0, 1.0, 2.0, 2.0, 1.0, 3.0, 9.0]);
        // A complex constant takes the promise back.
        let lines = "%0 = input \"x\"\n%1 = const (0.0, 1.0)\n%2 = mul %0, %1\n%3 = square %2\n%4 = add %3, %0\n\
                     output \"y\", %4";
        assert_eq!(bounds(lines, 1.0, true), [1.0, 1.0, 1.0, 1.0, 2.0]);
    }

    #[test]
    fn sums_tables_and_differences() {
        let lines = "data @w real [0.5, -2.0, 0.0, 1.0]\n%0 = input \"x\"\n%1 = const @w\n%2 = mul %0, %1\n\
                     %3 = sum %2, 4\n%4 = sub %3, %0\noutput \"y\", %4";
        assert_eq!(bounds(lines, 3.0, true), [3.0, 2.0, 6.0, 24.0, 27.0]);
    }
}
