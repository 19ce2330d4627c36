//! How large the values of a program can be, by interval arithmetic.
//!
//! The error model multiplies errors by magnitudes, so bounds that are too wide give predictions that are too wide. An
//! interval knows what a bound on the size alone does not: a square is not negative, so 2u² − 1 stays in [−1, 1]
//! where u does, and so do all Chebyshev polynomials by their recursion.

use std::rc::Rc;

use num_complex::Complex64;
use ringmill_ckks::noise::raised_magnitude;

use super::spread::{last_uses, wanted};
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

/// The intervals of the slots of one value.
#[derive(Debug, Clone)]
struct Range {
    /// What holds all of them.
    hull: Interval,
    /// Each of its own; `None` if they are alike, or if that is all that is looked at.
    over: Option<Rc<[Interval]>>,
}

impl Range {
    fn even(hull: Interval) -> Self {
        Self { hull, over: None }
    }

    fn of(over: Vec<Interval>) -> Self {
        let Some(hull) = over.iter().copied().reduce(Interval::hull) else {
            return Self::even(Interval::point(0.0));
        };
        let alike = over.iter().all(|&slot| slot == hull);
        Self { hull, over: if alike { None } else { Some(over.into()) } }
    }

    fn map(&self, f: impl Fn(Interval) -> Interval) -> Self {
        match &self.over {
            None => Self::even(f(self.hull)),
            Some(over) => Self::of(over.iter().map(|&slot| f(slot)).collect()),
        }
    }

    fn with(&self, other: &Self, f: impl Fn(Interval, Interval) -> Interval) -> Self {
        match (&self.over, &other.over) {
            (None, None) => Self::even(f(self.hull, other.hull)),
            (Some(a), None) => Self::of(a.iter().map(|&a| f(a, other.hull)).collect()),
            (None, Some(b)) => Self::of(b.iter().map(|&b| f(self.hull, b)).collect()),
            (Some(a), Some(b)) => Self::of(a.iter().zip(b.iter()).map(|(&a, &b)| f(a, b)).collect()),
        }
    }

    /// Slot i of the result is slot i + k.
    fn turned(&self, k: i64) -> Self {
        let turn = |over: &Rc<[Interval]>| {
            let mut over = over.to_vec();
            let slots = over.len().max(1) as i64;
            over.rotate_left(k.rem_euclid(slots) as usize);
            over.into()
        };
        Self { hull: self.hull, over: self.over.as_ref().map(turn) }
    }

    /// Σ over `count` slots, `stride` apart, from each slot on: by doubling.
    fn sum(&self, count: usize, stride: i64) -> Self {
        if self.over.is_none() {
            return Self::even(self.hull.mul(Interval::point(count as f64)));
        }
        let (mut total, mut done, mut block, mut width) = (None::<Self>, 0, self.clone(), 1);
        while done < count {
            if count & width != 0 {
                let next = block.turned(done as i64 * stride);
                total = Some(total.map_or_else(|| next.clone(), |total| total.with(&next, Interval::add)));
                done += width;
            }
            block = block.with(&block.turned(width as i64 * stride), Interval::add);
            width *= 2;
        }
        total.unwrap_or(Self::even(Interval::point(0.0)))
    }
}

/// A constant; slot by slot if that is `wanted`.
fn constant(p: &Program, c: &Constant, real: bool, wanted: bool) -> Range {
    let numbers = match c {
        Constant::Real(x) if real => return Range::even(Interval::point(*x)),
        Constant::Real(x) => return Range::even(Interval::around(x.abs())),
        Constant::Complex(z) => return Range::even(Interval::around(z.norm())),
        Constant::List(numbers) => numbers,
        Constant::Table(id) => match p.table(*id) {
            Some(table) => &table.numbers,
            None => return Range::even(Interval::point(0.0)),
        },
    };
    // With a constant that is not real nothing is taken as real.
    let slot = |z: Complex64| if real { Interval::point(z.re) } else { Interval::around(z.norm()) };
    let slots = (0..numbers.len()).filter_map(|i| numbers.get(i)).map(slot);
    match wanted {
        true => Range::of(slots.collect()),
        false => Range::even(slots.reduce(Interval::hull).unwrap_or(Interval::point(0.0))),
    }
}

/// A bound on |slot| of every value, given that of the inputs, encrypted or in the clear.
///
/// `real` promises that the inputs are real; without it only sizes are known. Bounds that the program states are taken
/// as they are. Slots are distinguished where constants do so: a sum of masked rotations is as large as what
/// is masked.
pub fn ranges(p: &Program, inputs: f64, real: bool) -> Vec<f64> {
    let mut all: Vec<Range> = Vec::with_capacity(p.instrs().len());
    let real = real && !p.instrs().iter().any(|i| matches!(&i.op, Op::Const(c) if !is_real(p, c)));
    let (wanted, last) = (wanted(p), last_uses(p));
    for (v, instr) in p.values() {
        let at = |v: &Value| &all[v.index()];
        let scalar = |c: f64| if real { Interval::point(c) } else { Interval::around(c.abs()) };
        let range = match &instr.op {
            Op::Input(_) | Op::Plain(_) => Range::even(Interval::around(inputs)),
            Op::Const(c) => constant(p, c, real, wanted[v.index()]),
            Op::Add(a, b) | Op::AddPlain(a, b) => at(a).with(at(b), Interval::add),
            Op::Sub(a, b) | Op::SubPlain(a, b) => at(a).with(at(b), |a, b| a.add(b.neg())),
            Op::Mul(a, b) if a == b && real => at(a).map(Interval::square),
            Op::Mul(a, b) | Op::MulPlain(a, b) => at(a).with(at(b), Interval::mul),
            Op::Square(a) if real => at(a).map(Interval::square),
            Op::Square(a) => at(a).map(|a| a.mul(a)),
            Op::Neg(a) => at(a).map(Interval::neg),
            Op::AddScalar(a, c) => at(a).map(|a| a.add(scalar(*c))),
            Op::MulScalar { a, c, .. } => at(a).map(|a| a.mul(scalar(*c))),
            Op::Sum { a, count, stride } => at(a).sum(*count, *stride),
            Op::Raise { a, bits } => {
                Range::even(at(a).hull.add(Interval::around(raised_magnitude(p.slots(), *bits))))
            }
            Op::Rotate { a, k, .. } => at(a).turned(*k),
            Op::Lookup { table, .. } if real => {
                let ends = table.entries().iter().map(|&entry| Interval::point(entry));
                Range::even(ends.reduce(Interval::hull).unwrap_or(Interval::point(0.0)))
            }
            Op::Lookup { table, .. } => Range::even(Interval::around(table.magnitude())),
            Op::Bootstrap { a, .. } | Op::Drop(a, _) | Op::Rescale(a) | Op::Relin(a) | Op::Conj { a, .. } => {
                at(a).clone()
            }
        };
        let range = match instr.within {
            Some(bound) if range.hull.size() > bound => range.map(|slot| slot.within(bound)),
            _ => range,
        };
        // What is not read any more keeps its size alone.
        for operand in instr.op.operands().as_slice().iter().filter(|a| last[a.index()] == v.index()) {
            all[operand.index()].over = None;
        }
        all.push(range);
    }
    all.into_iter().map(|range| range.hull.size()).collect()
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
    fn masked_rotations_are_as_large_as_what_is_masked() {
        let lines = "data @a real [1.0, 0.0, 1.0, 0.0]\ndata @b real [0.0, 1.0, 0.0, -0.5]\n%0 = input \"x\"\n\
                     %1 = const @a\n%2 = mul %0, %1\n%3 = rotate %0, 1\n%4 = const @b\n%5 = mul %3, %4\n\
                     %6 = add %2, %5\n%7 = rotate %6, 3\n%8 = mul %7, %1\n%9 = sum %8, 3, 1\noutput \"y\", %9";
        for real in [true, false] {
            let found = bounds(lines, 2.0, real);
            assert_eq!(found[5..9], [2.0, 2.0, 2.0, 2.0], "{found:?}");
            // Slots 0 and 2 of the last product hold slots 3 and 1 of the sum: 1 and 2 at most, zeros between them.
            assert_eq!(found[9], 3.0);
        }
    }

    #[test]
    fn sums_tables_and_differences() {
        let lines = "data @w real [0.5, -2.0, 0.0, 1.0]\n%0 = input \"x\"\n%1 = const @w\n%2 = mul %0, %1\n\
                     %3 = sum %2, 4\n%4 = sub %3, %0\noutput \"y\", %4";
        assert_eq!(bounds(lines, 3.0, true), [3.0, 2.0, 6.0, 10.5, 13.5]);
    }
}
