//! The error of values that are polynomials of one real value.
//!
//! Step by step, an error in x grows in T₂ₖ = 2·Tₖ² − 1 by four with every doubling, as if |Tₖ| were 1 wherever it is steepest: n² for degree
//! n, whatever polynomial is made of it. Here values and errors are followed over a grid of x itself, contributions by name and with
//! their signs, so that an error is what the derivative there makes of it.

use std::f64::consts::PI;
use std::rc::Rc;

use crate::he::Value;

/// Chebyshev points at which x is looked at.
const POINTS: usize = 1024;

/// The highest degree that this number of points resolves: between them the variance, of twice the degree, is
/// at most 1/cos(π/8) = 1.08 times that at the worst of them.
const DEGREE_MAX: u32 = 127;

/// Contributions that are kept apart.
const PARTS: usize = 96;

/// One contribution.
#[derive(Debug, Clone)]
struct Part {
    /// The value at which it was born, and whether it is the same in all slots: such ones add linearly.
    name: (Value, bool),
    /// Its deviation, or its bound, at every point, with its sign.
    at: Rc<[f64]>,
}

/// What is known of a value that is a polynomial of itself: bound, deviation of its random error, bound of its bias.
pub(super) type Root = (f64, f64, f64);

/// A polynomial of the value `root`, with its error.
#[derive(Debug, Clone)]
pub(super) struct Curve {
    root: Value,
    degree: u32,
    values: Rc<[f64]>,
    /// Sorted by name: that of the value at which each was born.
    parts: Vec<Part>,
    /// The deviation of all other random contributions, which adds linearly.
    rest: Rc<[f64]>,
    /// The bound of all other biases.
    rest_bias: Rc<[f64]>,
}

fn zip(a: &[f64], b: &[f64], f: impl Fn(f64, f64) -> f64) -> Rc<[f64]> {
    a.iter().zip(b).map(|(&a, &b)| f(a, b)).collect()
}

fn map(a: &[f64], f: impl Fn(f64) -> f64) -> Rc<[f64]> {
    a.iter().map(|&a| f(a)).collect()
}

impl Curve {
    /// x itself.
    pub(super) fn root(v: Value, (bound, std, bias): Root) -> Self {
        let point = |i: usize| bound * ((i as f64 + 0.5) * PI / POINTS as f64).cos();
        Self {
            root: v,
            degree: 1,
            values: (0..POINTS).map(point).collect(),
            parts: [(false, std), (true, bias)]
                .into_iter()
                .map(|(fixed, size)| Part { name: (v, fixed), at: vec![size; POINTS].into() })
                .collect(),
            rest: vec![0.0; POINTS].into(),
            rest_bias: vec![0.0; POINTS].into(),
        }
    }

    /// The deviation at the worst point.
    pub(super) fn std(&self) -> f64 {
        let variance = self.total(false, |part| part * part);
        variance.iter().zip(self.rest.iter()).map(|(all, rest)| all.sqrt() + rest).fold(0.0, f64::max)
    }

    /// The bound on the bias at the worst point.
    pub(super) fn bias(&self) -> f64 {
        let named = self.total(true, f64::abs);
        named.iter().zip(self.rest_bias.iter()).map(|(all, rest)| all + rest).fold(0.0, f64::max)
    }

    fn total(&self, fixed: bool, size: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut total = vec![0.0; POINTS];
        for part in self.parts.iter().filter(|part| part.name.1 == fixed) {
            total.iter_mut().zip(part.at.iter()).for_each(|(all, &part)| *all += size(part));
        }
        total
    }

    /// The largest value.
    pub(super) fn size(&self) -> f64 {
        self.values.iter().fold(0.0, |most: f64, x| most.max(x.abs()))
    }

    /// Times a number.
    pub(super) fn times(&self, c: f64) -> Self {
        let parts = self.parts.iter().map(|p| Part { name: p.name, at: map(&p.at, |x| c * x) }).collect();
        let [rest, rest_bias] = [&self.rest, &self.rest_bias].map(|rest| map(rest, |x| c.abs() * x));
        Self { values: map(&self.values, |x| c * x), parts, rest, rest_bias, ..*self }
    }

    /// Plus a number.
    pub(super) fn shifted(&self, c: f64) -> Self {
        Self { values: map(&self.values, |x| x + c), ..self.clone() }
    }

    /// The sum.
    pub(super) fn plus(&self, other: &Self) -> Self {
        let one = |_: usize| 1.0;
        let values = zip(&self.values, &other.values, |a, b| a + b);
        self.joined(other, self.degree.max(other.degree), values, (&one, &one))
    }

    /// The product, of a degree that the points show.
    pub(super) fn product(&self, other: &Self) -> Option<Self> {
        if self.degree + other.degree > DEGREE_MAX {
            return None;
        }
        let values = zip(&self.values, &other.values, |a, b| a * b);
        let weights = (|i: usize| other.values[i], |i: usize| self.values[i]);
        Some(self.joined(other, self.degree + other.degree, values, (&weights.0, &weights.1)))
    }

    /// The same with a random error of this deviation that is born at `v`, alike everywhere.
    pub(super) fn born(self, v: Value, std: f64) -> Self {
        self.with((v, false), std)
    }

    /// The same with a bias of this bound that is born at `v`, alike everywhere.
    pub(super) fn biased(self, v: Value, bound: f64) -> Self {
        self.with((v, true), bound)
    }

    fn with(mut self, name: (Value, bool), size: f64) -> Self {
        if size > 0.0 {
            self.parts.push(Part { name, at: vec![size; POINTS].into() });
            self.parts.sort_by_key(|part| part.name);
            self.limit();
        }
        self
    }

    /// Errors of both, weighted point by point.
    fn joined(
        &self,
        other: &Self,
        degree: u32,
        values: Rc<[f64]>,
        (wa, wb): (&dyn Fn(usize) -> f64, &dyn Fn(usize) -> f64),
    ) -> Self {
        let weights: (Vec<f64>, Vec<f64>) = ((0..POINTS).map(wa).collect(), (0..POINTS).map(wb).collect());
        let (wa, wb) = (&weights.0, &weights.1);
        let (a, b) = (&self.parts, &other.parts);
        let mut parts: Vec<Part> = Vec::with_capacity(a.len() + b.len());
        let (mut i, mut j) = (0, 0);
        while i < a.len() || j < b.len() {
            let take_a = j == b.len() || (i < a.len() && a[i].name <= b[j].name);
            let take_b = i == a.len() || (j < b.len() && b[j].name <= a[i].name);
            let (left, right) = (take_a.then(|| &a[i]), take_b.then(|| &b[j]));
            let weighted = |part: Option<&Part>, w: &[f64]| part.map(|part| zip(&part.at, w, |x, w| x * w));
            let name = left.or(right).map(|part| part.name);
            let at = match (weighted(left, wa), weighted(right, wb)) {
                (Some(left), Some(right)) => Some(zip(&left, &right, |x, y| x + y)),
                (left, right) => left.or(right),
            };
            parts.extend(name.zip(at).map(|(name, at)| Part { name, at }));
            i += usize::from(take_a);
            j += usize::from(take_b);
        }
        // What has lost its name may be the same on both sides, and then adds linearly.
        let sum =
            |a: &[f64], b: &[f64]| (0..POINTS).map(|k| wa[k].abs() * a[k] + wb[k].abs() * b[k]).collect();
        let (rest, rest_bias) = (sum(&self.rest, &other.rest), sum(&self.rest_bias, &other.rest_bias));
        let mut joined = Self { root: self.root, degree, values, parts, rest, rest_bias };
        joined.limit();
        joined
    }

    /// At most [`PARTS`] keep their names: the largest.
    fn limit(&mut self) {
        if self.parts.len() <= PARTS {
            return;
        }
        let size = |part: &[f64]| part.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        self.parts.sort_by(|a, b| size(&b.at).total_cmp(&size(&a.at)));
        let small = Self { parts: self.parts.split_off(PARTS / 2), ..self.clone() };
        // What is lost now may have been lost before.
        self.rest = zip(&small.total(false, |x| x * x), &self.rest, |lost, rest| lost.sqrt() + rest);
        self.rest_bias = zip(&small.total(true, f64::abs), &self.rest_bias, |lost, rest| lost + rest);
        self.parts.sort_by_key(|part| part.name);
    }
}

/// A polynomial of at least this degree may be one that others are made of.
const WHOLE: u32 = 7;

/// The curves of the values so far.
#[derive(Debug, Default)]
pub(super) struct Curves {
    all: Vec<Option<Curve>>,
    /// The first value of the same slots: values at lower levels are that one.
    same: Vec<Value>,
}

impl Curves {
    fn own(&self, a: Value) -> Option<&Curve> {
        self.all[a.index()].as_ref()
    }

    /// Of which value it is a polynomial; of itself if of no other.
    pub(super) fn root(&self, a: Value) -> Value {
        self.own(a).map_or(self.same[a.index()], |curve| curve.root)
    }

    /// The value as a polynomial, of itself if of no other.
    pub(super) fn of(&self, a: Value, root: Root) -> Option<Curve> {
        match self.own(a) {
            Some(curve) => Some(curve.clone()),
            None => root.0.is_finite().then(|| Curve::root(self.same[a.index()], root)),
        }
    }

    /// Makes `a`, which the instruction `v` uses, a new root, if nothing else that it was computed from is
    /// used from here on. Degrees of composed polynomials multiply, and soon the points could not resolve
    /// them.
    pub(super) fn begin_anew(&mut self, a: Value, v: Value, last: &[usize], known: Root) {
        let Some(root) = self.own(a).filter(|curve| curve.degree >= WHOLE).map(|curve| curve.root) else {
            return;
        };
        let same = self.same[a.index()];
        let alive = |u: usize| last[u] >= v.index();
        let of_root = |curve: &Option<Curve>| curve.as_ref().is_some_and(|curve| curve.root == root);
        let others = self.all.iter().enumerate();
        if others.clone().any(|(u, curve)| alive(u) && of_root(curve) && self.same[u] != same)
            || (alive(root.index()) && last[root.index()] > root.index())
            || !known.0.is_finite()
        {
            return;
        }
        let anew: Vec<usize> =
            others.filter(|(u, c)| of_root(c) && self.same[*u] == same).map(|(u, _)| u).collect();
        for u in anew {
            self.all[u] = Some(Curve::root(same, known));
        }
    }

    /// The next value, and of which it is a copy at a lower level.
    pub(super) fn push(&mut self, curve: Option<Curve>, copy_of: Option<Value>) {
        let v = Value(self.all.len() as u32);
        self.same.push(copy_of.map_or(v, |a| self.same[a.index()]));
        self.all.push(curve);
    }

    /// What is not used again.
    pub(super) fn forget(&mut self, a: Value) {
        self.all[a.index()] = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// T_n by T_{n+1} = 2x·T_n − T_{n−1}, without errors but that of x.
    fn chebyshev(n: u32) -> Curve {
        let x = Curve::root(Value(0), (1.0, 1.0, 0.0));
        let mut last = (x.times(0.0).shifted(1.0), x.clone());
        for _ in 1..n {
            last = (last.1.clone(), x.product(&last.1).unwrap().times(2.0).plus(&last.0.times(-1.0)));
        }
        last.1
    }

    #[test]
    fn an_error_is_what_the_derivative_makes_of_it() {
        // |T_n'| is n² at the ends.
        let t9 = chebyshev(9);
        assert!((t9.std() - 81.0).abs() < 0.01, "{}", t9.std());
        // Of x² − x on [−1, 1] it is 3.
        let x = Curve::root(Value(0), (1.0, 0.5, 0.0));
        let p = x.product(&x).unwrap().plus(&x.times(-1.0));
        assert!((p.std() - 1.5).abs() < 1e-3);
        // And of (x + 1)³ − 3(x + 1)²/2 on [−1, 1], 3y² − 3y at y = 2, 6.
        let y = x.shifted(1.0);
        let square = y.product(&y).unwrap();
        assert!((square.product(&y).unwrap().plus(&square.times(-1.5)).std() - 3.0).abs() < 1e-3);
    }

    #[test]
    fn births_add_in_squares_and_meet_themselves_with_their_signs() {
        let x = Curve::root(Value(0), (1.0, 0.0, 0.0));
        let square = x.product(&x).unwrap().born(Value(1), 3.0);
        let other = x.product(&x).unwrap().born(Value(2), 4.0);
        assert!((square.plus(&other).std() - 5.0).abs() < 1e-9);
        assert!((square.plus(&square).std() - 6.0).abs() < 1e-9);
        assert!(square.plus(&square.times(-1.0)).std() < 1e-9);
    }

    #[test]
    fn degrees_beyond_the_points_are_not_shown() {
        let t64 = (0..6).fold(Curve::root(Value(0), (1.0, 1.0, 0.0)), |x, _| x.product(&x).unwrap());
        assert!((t64.std() - 64.0).abs() < 0.1, "{}", t64.std());
        assert!(t64.product(&t64).is_none());
    }

    #[test]
    fn what_alone_is_used_from_here_on_is_a_value_of_its_own() {
        let mut curves = Curves::default();
        let x = Curve::root(Value(0), (1.0, 1.0, 0.0));
        let t9 = chebyshev(9);
        [None, Some(x.shifted(1.0)), Some(t9.clone()), Some(t9)]
            .into_iter()
            .zip([None, None, None, Some(Value(2))])
            .for_each(|(curve, copy)| curves.push(curve, copy));
        // %1 is used again at %5.
        curves.begin_anew(Value(2), Value(4), &[1, 5, 4, 6], (1.0, 7.0, 0.5));
        assert_eq!(curves.root(Value(2)), Value(0));
        curves.begin_anew(Value(2), Value(4), &[1, 3, 4, 6], (1.0, 7.0, 0.5));
        assert_eq!([2, 3].map(|v| curves.root(Value(v))), [Value(2); 2]);
        assert_eq!(curves.of(Value(3), (1.0, 7.0, 0.5)).map(|c| (c.std(), c.bias())), Some((7.0, 0.5)));
        assert_eq!(curves.root(Value(1)), Value(0));
        assert!(curves.of(Value(0), (f64::INFINITY, 1.0, 0.0)).is_none());
    }

    #[test]
    fn a_bias_adds_linearly_and_meets_itself_with_its_sign() {
        let x = Curve::root(Value(0), (1.0, 0.0, 0.25));
        assert!((x.product(&x).unwrap().bias() - 0.5).abs() < 1e-3);
        let (three, four) = (x.clone().biased(Value(1), 3.0), x.clone().biased(Value(2), 4.0));
        assert!((three.plus(&four).bias() - 7.5).abs() < 1e-9);
        assert!(three.plus(&three.times(-1.0)).bias() < 1e-9);
        assert_eq!(three.std(), 0.0);
        let all = (1..=100).fold(x, |x, i| x.biased(Value(i), 1.0));
        assert!((all.bias() - 100.25).abs() < 1e-9);
    }

    #[test]
    fn many_births_lose_their_names_and_nothing_else() {
        let x = Curve::root(Value(0), (1.0, 0.0, 0.0));
        let all = (1..=100).fold(x, |x, i| x.born(Value(i), 1.0));
        // What lost its name may be lost again: no less than in squares, no more than linearly.
        assert!((10.0..20.0).contains(&all.std()), "{}", all.std());
        assert!(all.parts.len() <= PARTS);
    }
}
