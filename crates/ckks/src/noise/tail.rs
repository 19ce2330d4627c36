//! How far the greatest of many slots exceeds their deviation.
//!
//! Given the secret key, a slot of an error is a complex normal number. Its variance is not the same for all
//! slots. The rounding r₀ + r₁·s of a rescale or key switch has the variance τ²·(1 + |s(ζ)|²) in the slot at
//! ζ. Over the slots, |s(ζ)|² is exponentially distributed about its mean. So the variance of a slot is
//! V = G + Σ_k H_k·X_k. G is that of plain contributions; H_k is that of contributions whose factor s was mapped by
//! the same automorphism. The X_k are independent and exponential of mean 1.
//!
//! For every λ in (0, 1/max H), t²/V + λV ≥ 2t√λ, so
//!
//!   P(|slot| > t) = E e^(−t²/V) ≤ e^(−2t√λ) · E e^(λV) = e^(−2t√λ + λG) · Π 1/(1 − λH_k).
//!
//! This is e^(−l) for t = (l + λG − Σ ln(1 − λH_k)) / 2√λ; the least over λ is taken. For H = 0 it is the tail of a normal
//! number, √(l·G); for G = 0 and one H it is near l/2·√H, the tail of a product of two.
//!
//! The factor of a contribution may be one of several polynomials (the errors of the digits of a key). Then
//! H_k is spread over them: −ln(1 − λh) is convex in h, so Σⱼ −ln(1 − λhⱼ) is at most H/h times that of the
//! greatest h.

use super::FAILURE;
use super::source::Source;

/// Variances of the parts of one slot, in the unit in which its total is 1.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tail {
    /// The deviation that is the unit.
    unit: f64,
    normal: f64,
    /// Of products with one factor: in all, and with the greatest of its polynomials.
    products: Vec<(f64, f64)>,
}

impl Tail {
    /// Of contributions that add in squares.
    pub(super) fn of(sources: &[Source]) -> Self {
        let top = sources.iter().map(|s| s.std.abs()).fold(0.0, f64::max);
        if top == 0.0 || !top.is_finite() {
            return Self::product(top);
        }
        let mut normal = 0.0;
        let mut by_factor: Vec<((u64, u64), f64, f64)> = Vec::new();
        for s in sources {
            let variance = (s.std / top).powi(2);
            for (name, part, most) in s.factor.parts() {
                match name {
                    0 => normal += variance * part,
                    _ => by_factor.push(((name, s.galois), variance * part, variance * most)),
                }
            }
        }
        by_factor.sort_unstable_by_key(|&(factor, ..)| factor);
        let grouped = by_factor.chunk_by(|a, b| a.0 == b.0);
        let sums =
            |group: &[(_, f64, f64)]| group.iter().fold((0.0, 0.0), |(h, most), s| (h + s.1, most + s.2));
        let products: Vec<(f64, f64)> = grouped.map(sums).filter(|&(h, _)| h > 0.0).collect();
        let total = normal + products.iter().map(|&(h, _)| h).sum::<f64>();
        let products = products.into_iter().map(|(h, most)| (h / total, most / total)).collect();
        Self { unit: top * total.sqrt(), normal: normal / total, products }
    }

    /// Of one product of two normal numbers, of deviation `std`.
    pub(super) fn product(std: f64) -> Self {
        Self { unit: std, normal: 0.0, products: vec![(1.0, 1.0)] }
    }

    /// The least bound that the lemma gives for failure e^(−`l`), `l` ≥ 1, in units of the deviation of a coefficient.
    pub(super) fn bound(&self, l: f64) -> f64 {
        if self.unit == 0.0 || !self.unit.is_finite() {
            return self.unit;
        }
        let most = self.products.iter().map(|&(_, most)| most).fold(0.0, f64::max);
        let at = |lambda: f64| {
            let term = |&(h, most): &(f64, f64)| -h / most * (-lambda * most).ln_1p();
            let products: f64 = self.products.iter().map(term).sum();
            (l + lambda * self.normal + products) / (2.0 * lambda.sqrt())
        };
        // Every λ gives a bound. The least lies below 4l, since products and normal part sum to 1, and below 1/max H.
        let (mut low, mut high) =
            (1e-3, if most > 0.0 { (1.0 / most).min(8.0 * l) * (1.0 - 1e-9) } else { 8.0 * l });
        for _ in 0..60 {
            let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            if at(a) < at(b) { high = b } else { low = a }
        }
        self.unit * at(0.5 * (low + high))
    }
}

/// A bound on the worst of `slots` products of normal numbers at the confidence of [`FAILURE`], in units of their deviation: the
/// lemma at λ = 1 − 1/l, which is near the least.
pub(super) fn product_tail(slots: usize) -> f64 {
    let l = (slots.max(1) as f64 / FAILURE).ln();
    (l + l.ln()) / (2.0 * (1.0 - 1.0 / l).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Factor;

    fn source(id: u64, galois: u64, std: f64, product: bool) -> Source {
        let factor = if product { Factor::SECRET } else { Factor::NONE };
        Source { id, galois, std, signed: true, factor }
    }

    #[test]
    fn a_normal_error_has_the_tail_of_a_normal_number() {
        let tail = Tail::of(&[source(1, 1, 3.0, false), source(2, 1, 4.0, false)]);
        for l in [1.0f64, 5.0, 21.5, 40.0] {
            assert!((tail.bound(l) / (5.0 * l.sqrt()) - 1.0).abs() < 1e-6, "{l}");
        }
    }

    /// P(|XY| > t) = 2t·K₁(2t) for X, Y complex normal: the bound is above the quantile by a quarter at most, by less the farther out.
    #[test]
    fn a_product_has_the_tail_of_a_product() {
        // From tables of K₁: 2t·K₁(2t) at 2t = 4, 10, 20, 40.
        for (two_t, k1) in
            [(4.0f64, 1.248_35e-2), (10.0, 1.864_877e-5), (20.0, 5.883_058e-10), (40.0, 8.498e-19)]
        {
            let l = -(two_t * k1).ln();
            let bound = Tail::product(1.0).bound(l);
            assert!(bound > two_t / 2.0 && bound < 0.63 * two_t, "{two_t}: {bound}");
        }
    }

    #[test]
    fn many_turned_products_are_nearly_normal() {
        let all: Vec<Source> = (0..400).map(|k| source(1, 4 * k + 1, 1.0, true)).collect();
        let bound = Tail::of(&all).bound(21.5);
        assert!(bound > 20.0 * 21.5f64.sqrt() && bound < 20.0 * 5.0, "{bound}");
        // As are many digits of one key.
        let digits = Source { factor: Factor { name: 7, share: 1.0 / 400.0 }, ..source(1, 1, 20.0, true) };
        assert!((Tail::of(&[digits]).bound(21.5) - bound).abs() < 1e-6);
        // Of one automorphism they are one product.
        let same: Vec<Source> = (0..400).map(|id| source(id, 1, 1.0, true)).collect();
        assert!((Tail::of(&same).bound(21.5) - Tail::product(20.0).bound(21.5)).abs() < 1e-6);
    }

    #[test]
    fn extremes_stay_what_they_are() {
        assert_eq!(Tail::of(&[]).bound(20.0), 0.0);
        assert_eq!(Tail::product(f64::INFINITY).bound(20.0), f64::INFINITY);
        let tiny = Tail::of(&[source(1, 1, 1e-300, true)]).bound(20.0);
        assert!(tiny > 1e-300 && tiny < 1e-298);
    }
}
