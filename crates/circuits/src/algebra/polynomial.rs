//! Nodes that are polynomials of another node.

use std::collections::HashMap;
use std::rc::Rc;

use super::form::{Affine, Factor, Forms, Id, Node};

/// The highest degree that is looked for.
const DEGREE: usize = 63;

/// Coefficients of powers may be this much larger, in all, than the polynomial that they add up to: five bits are lost to what
/// cancels. A polynomial in Chebyshev's form, or one with its zeros in the interval, has far larger ones.
const CONDITION: f64 = 32.0;

/// Σ c_i·base^i.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Powers {
    pub(super) base: Id,
    pub(super) c: Rc<Vec<f64>>,
}

impl Powers {
    pub(super) fn degree(&self) -> usize {
        self.c.len() - 1
    }

    /// Adds a multiple of it to the coefficients of a polynomial of the same node.
    pub(super) fn add_to(&self, sum: &mut Vec<f64>, factor: f64) {
        sum.resize(sum.len().max(self.c.len()), 0.0);
        sum.iter_mut().zip(self.c.iter()).for_each(|(sum, c)| *sum += factor * c);
    }

    /// Whether few bits cancel when it is evaluated by its powers, for |x| up to 1 and to `bound`.
    pub(super) fn is_tame(&self, bound: f64) -> bool {
        [1.0, bound].into_iter().all(|bound| {
            let horner =
                |x: f64, part: fn(f64) -> f64| self.c.iter().rev().fold(0.0, |sum, &c| sum * x + part(c));
            let points = 8 * self.c.len();
            let at = |j: usize| bound * (2.0 * j as f64 / points as f64 - 1.0);
            let most = (0..=points).map(|j| horner(at(j), |c| c).abs()).fold(0.0, f64::max);
            horner(bound, f64::abs) <= CONDITION * most
        })
    }
}

/// Powers that cancel leave a lower degree.
pub(super) fn trim(c: &mut Vec<f64>) {
    c.truncate(c.iter().rposition(|&c| c != 0.0).map_or(0, |last| last + 1));
}

/// Finds polynomials, each once.
pub(super) struct Finder<'a> {
    forms: &'a Forms,
    found: HashMap<Id, Powers>,
}

impl<'a> Finder<'a> {
    pub(super) fn new(forms: &'a Forms) -> Self {
        Self { forms, found: HashMap::new() }
    }

    /// The node as a polynomial: of itself, if of nothing else.
    pub(super) fn of(&mut self, id: Id) -> Powers {
        if let Some(found) = self.found.get(&id) {
            return found.clone();
        }
        let forms = self.forms;
        let found = match &forms.nodes[id] {
            // What is promised of a value holds for it as it is.
            _ if forms.within.contains_key(&id) => None,
            Node::Product(factors) => self.product(factors),
            Node::Sums(at) => self.sum(&forms.sums[*at]),
            _ => None,
        };
        let found = found.unwrap_or_else(|| Powers { base: id, c: Rc::new(vec![0.0, 1.0]) });
        self.found.insert(id, found.clone());
        found
    }

    fn product(&mut self, factors: &[Id]) -> Option<Powers> {
        let mut factors = factors.iter().map(|&id| self.of(id)).collect::<Vec<_>>().into_iter();
        let first = factors.next()?;
        let mut c = first.c.to_vec();
        for factor in factors {
            if factor.base != first.base || c.len() + factor.c.len() > DEGREE + 2 {
                return None;
            }
            let mut product = vec![0.0; c.len() + factor.degree()];
            for (i, a) in c.iter().enumerate() {
                for (j, b) in factor.c.iter().enumerate() {
                    product[i + j] += a * b;
                }
            }
            c = product;
        }
        c.iter().all(|c| c.is_finite()).then(|| Powers { base: first.base, c: Rc::new(c) })
    }

    fn sum(&mut self, sum: &Affine) -> Option<Powers> {
        let Factor::Number(constant) = sum.constant else { return None };
        let mut c = vec![constant];
        let mut base = None;
        for (&id, factor) in &sum.terms {
            let (Factor::Number(factor), powers) = (factor, self.of(id)) else { return None };
            if *base.get_or_insert(powers.base) != powers.base {
                return None;
            }
            powers.add_to(&mut c, *factor);
        }
        trim(&mut c);
        // What is constant is no polynomial.
        (c.len() > 1 && c.iter().all(|c| c.is_finite())).then_some(())?;
        Some(Powers { base: base?, c: Rc::new(c) })
    }
}
