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

/// The highest degree that so many points show: between them the variance, of twice the degree, is at most 1/cos(π/8) = 1.08 times
/// what it is at the worst of them.
const DEGREE_MAX: u32 = 127;

/// Contributions that are kept apart.
const PARTS: usize = 24;

/// One contribution: its name, and the deviation that it has at every point, with its sign.
type Part = (Value, Rc<[f64]>);

/// A polynomial of the value `root`, with its error.
#[derive(Debug, Clone)]
pub(super) struct Curve {
    root: Value,
    degree: u32,
    values: Rc<[f64]>,
    /// Sorted by name: that of the value at which each was born.
    parts: Vec<Part>,
    /// The variance of all other contributions.
    rest: Rc<[f64]>,
}

fn zip(a: &[f64], b: &[f64], f: impl Fn(f64, f64) -> f64) -> Rc<[f64]> {
    a.iter().zip(b).map(|(&a, &b)| f(a, b)).collect()
}

fn map(a: &[f64], f: impl Fn(f64) -> f64) -> Rc<[f64]> {
    a.iter().map(|&a| f(a)).collect()
}

impl Curve {
    /// x itself, within ±`bound` and with an error of deviation `std`.
    pub(super) fn root(v: Value, bound: f64, std: f64) -> Self {
        let point = |i: usize| bound * ((i as f64 + 0.5) * PI / POINTS as f64).cos();
        Self {
            root: v,
            degree: 1,
            values: (0..POINTS).map(point).collect(),
            parts: vec![(v, vec![std; POINTS].into())],
            rest: vec![0.0; POINTS].into(),
        }
    }

    /// The deviation at the worst point.
    pub(super) fn std(&self) -> f64 {
        let mut variance = self.rest.to_vec();
        for (_, part) in &self.parts {
            variance.iter_mut().zip(part.iter()).for_each(|(all, part)| *all += part * part);
        }
        variance.into_iter().fold(0.0, f64::max).sqrt()
    }

    /// The largest value.
    pub(super) fn size(&self) -> f64 {
        self.values.iter().fold(0.0, |most: f64, x| most.max(x.abs()))
    }

    /// Times a number.
    pub(super) fn times(&self, c: f64) -> Self {
        let parts = self.parts.iter().map(|(name, part)| (*name, map(part, |x| c * x))).collect();
        Self { values: map(&self.values, |x| c * x), parts, rest: map(&self.rest, |x| c * c * x), ..*self }
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

    /// The same with an error that is born at `v`, alike everywhere.
    pub(super) fn born(mut self, v: Value, std: f64) -> Self {
        if std > 0.0 {
            self.parts.push((v, vec![std; POINTS].into()));
            self.parts.sort_by_key(|(name, _)| *name);
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
            let take_a = j == b.len() || (i < a.len() && a[i].0 <= b[j].0);
            let take_b = i == a.len() || (j < b.len() && b[j].0 <= a[i].0);
            parts.push(match (take_a, take_b) {
                (true, true) => {
                    let both = zip(&a[i].1, wa, |x, w| x * w);
                    let right = zip(&b[j].1, wb, |x, w| x * w);
                    (a[i].0, zip(&both, &right, |x, y| x + y))
                }
                (true, false) => (a[i].0, zip(&a[i].1, wa, |x, w| x * w)),
                _ => (b[j].0, zip(&b[j].1, wb, |x, w| x * w)),
            });
            i += usize::from(take_a);
            j += usize::from(take_b);
        }
        // What has lost its name may be the same on both sides, and then adds linearly.
        let rest =
            |k: usize| (wa[k].abs() * self.rest[k].sqrt() + wb[k].abs() * other.rest[k].sqrt()).powi(2);
        let rest = (0..POINTS).map(rest).collect();
        let mut joined = Self { root: self.root, degree, values, parts, rest };
        joined.limit();
        joined
    }

    /// At most [`PARTS`] keep their names: the largest.
    fn limit(&mut self) {
        if self.parts.len() <= PARTS {
            return;
        }
        let size = |part: &[f64]| part.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        self.parts.sort_by(|a, b| size(&b.1).total_cmp(&size(&a.1)));
        let small = self.parts.split_off(PARTS / 2);
        let mut rest = self.rest.to_vec();
        for (_, part) in &small {
            rest.iter_mut().zip(part.iter()).for_each(|(all, part)| *all += part * part);
        }
        self.rest = rest.into();
        self.parts.sort_by_key(|(name, _)| *name);
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

    /// The value as a polynomial, of itself if of no other: given a bound and the deviation of its error.
    pub(super) fn of(&self, a: Value, (bound, std): (f64, f64)) -> Option<Curve> {
        match self.own(a) {
            Some(curve) => Some(curve.clone()),
            None => bound.is_finite().then(|| Curve::root(self.same[a.index()], bound, std)),
        }
    }

    /// Takes `a`, which the instruction `v` uses, for a value of its own, if nothing else that it was made with is used from
    /// here on: degrees of polynomials of polynomials multiply, and soon no points would show them.
    pub(super) fn begin_anew(&mut self, a: Value, v: Value, last: &[usize], (bound, std): (f64, f64)) {
        let Some(root) = self.own(a).filter(|curve| curve.degree >= WHOLE).map(|curve| curve.root) else {
            return;
        };
        let same = self.same[a.index()];
        let alive = |u: usize| last[u] >= v.index();
        let of_root = |curve: &Option<Curve>| curve.as_ref().is_some_and(|curve| curve.root == root);
        let others = self.all.iter().enumerate();
        if others.clone().any(|(u, curve)| alive(u) && of_root(curve) && self.same[u] != same)
            || (alive(root.index()) && last[root.index()] > root.index())
            || !bound.is_finite()
        {
            return;
        }
        let anew: Vec<usize> =
            others.filter(|(u, c)| of_root(c) && self.same[*u] == same).map(|(u, _)| u).collect();
        for u in anew {
            self.all[u] = Some(Curve::root(same, bound, std));
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
        let x = Curve::root(Value(0), 1.0, 1.0);
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
        let x = Curve::root(Value(0), 1.0, 0.5);
        let p = x.product(&x).unwrap().plus(&x.times(-1.0));
        assert!((p.std() - 1.5).abs() < 1e-3);
        // And of (x + 1)³ − 3(x + 1)²/2 on [−1, 1], 3y² − 3y at y = 2, 6.
        let y = x.shifted(1.0);
        let square = y.product(&y).unwrap();
        assert!((square.product(&y).unwrap().plus(&square.times(-1.5)).std() - 3.0).abs() < 1e-3);
    }

    #[test]
    fn births_add_in_squares_and_meet_themselves_with_their_signs() {
        let x = Curve::root(Value(0), 1.0, 0.0);
        let square = x.product(&x).unwrap().born(Value(1), 3.0);
        let other = x.product(&x).unwrap().born(Value(2), 4.0);
        assert!((square.plus(&other).std() - 5.0).abs() < 1e-9);
        assert!((square.plus(&square).std() - 6.0).abs() < 1e-9);
        assert!(square.plus(&square.times(-1.0)).std() < 1e-9);
    }

    #[test]
    fn degrees_beyond_the_points_are_not_shown() {
        let t64 = (0..6).fold(Curve::root(Value(0), 1.0, 1.0), |x, _| x.product(&x).unwrap());
        assert!((t64.std() - 64.0).abs() < 0.1, "{}", t64.std());
        assert!(t64.product(&t64).is_none());
    }

    #[test]
    fn what_alone_is_used_from_here_on_is_a_value_of_its_own() {
        let mut curves = Curves::default();
        let x = Curve::root(Value(0), 1.0, 1.0);
        let t9 = chebyshev(9);
        [None, Some(x.shifted(1.0)), Some(t9.clone()), Some(t9)]
            .into_iter()
            .zip([None, None, None, Some(Value(2))])
            .for_each(|(curve, copy)| curves.push(curve, copy));
        // %1 is used again at %5.
        curves.begin_anew(Value(2), Value(4), &[1, 5, 4, 6], (1.0, 7.0));
        assert_eq!(curves.root(Value(2)), Value(0));
        curves.begin_anew(Value(2), Value(4), &[1, 3, 4, 6], (1.0, 7.0));
        assert_eq!([2, 3].map(|v| curves.root(Value(v))), [Value(2); 2]);
        assert_eq!(curves.of(Value(3), (1.0, 7.0)).unwrap().std(), 7.0);
        assert_eq!(curves.root(Value(1)), Value(0));
        assert!(curves.of(Value(0), (f64::INFINITY, 1.0)).is_none());
    }

    #[test]
    fn many_births_lose_their_names_and_nothing_else() {
        let x = Curve::root(Value(0), 1.0, 0.0);
        let all = (1..=100).fold(x, |x, i| x.born(Value(i), 1.0));
        assert!((all.std() - 10.0).abs() < 1e-9);
        assert!(all.parts.len() <= PARTS);
    }
}
