//! Coefficients to slots and slots to coefficients as products of few sparse maps.
//!
//! A polynomial c_0 … c_(2n−1) of X^(N/2n) has slots z_i = Σ_j w_j·ζ^(j·5^i), w_j = c_j + i·c_(j+n), ζ = e^(iπ/2n). This transform
//! is a permutation of w by reversed bits and log2 n stages of butterflies over distances 1, 2, … n/2: three diagonals
//! each. Stages next to each other are multiplied into one map of at most 2^(g+1) − 1 diagonals for g of them: a level
//! and two dozen rotations each (Chen, Chillotti and Song, EUROCRYPT 2019; Cheon, Han and Hhan 2018). The permutation is
//! left out on both sides: what stands between works slot by slot.
//!
//! Slots in the order of powers of 3 are z_i = Σ_j w_j·ζ^(j·3^i) for even i alone: 3^i is 3 modulo 4 for odd i, so c_(j+n) meets −i there
//! and w_j is conjugated. The stages over 4 slots and more are the same with powers of 3. The one over 2 slots is
//! z_0 = w_0 + ζ·w_1, z_1 = conj(w_0 − ζ·w_1): linear over the real numbers only. [`Share`] names the complex maps that it is made of.

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use num_complex::Complex64;
use ringmill_ckks::Generator;

use crate::CircuitError;
use crate::linear::Diagonals;

type Shifts = BTreeMap<usize, Vec<Complex64>>;

/// The way of a transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Way {
    /// z ↦ w in reversed bits: brings the coefficients of a polynomial into its slots.
    ToSlots,
    /// w in reversed bits ↦ z: brings the slots of a polynomial into its coefficients.
    ToCoefficients,
}

/// What a map gives or takes where slots stand in the order of powers of 3. In the order of powers of 5 all are one map.
///
/// With K the conjugation of odd slots and S the butterflies of the order of 5, the stage over 2 slots is z = K·S·w.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Share {
    /// Towards slots: t with 2·Re w = t + conj t. Towards coefficients: z of a real w.
    Real,
    /// Towards slots: t with 2·Im w = t + conj t. Towards coefficients: z of a w on the imaginary axis.
    Imaginary,
}

/// How slots stand, and of what a map is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Order {
    /// Slot i is the value at ζ^(g^i).
    pub generator: Generator,
    /// Which of the maps.
    pub share: Share,
}

/// The maps of a transform of `slots` slots in `levels` levels, in the order of application. Their product is the transform
/// times `factor`, in equal parts (towards slots the first one has the root). Towards slots a level without stages has a
/// part of the factor still: what comes after stands at one level of the chain, however few the slots.
///
/// # Errors
/// None for a power of two of at least two slots and a finite factor.
pub fn transform(
    way: Way,
    order: Order,
    slots: usize,
    levels: usize,
    factor: f64,
) -> Result<Vec<Diagonals>, CircuitError> {
    let stages = slots.trailing_zeros() as usize;
    let levels = match way {
        Way::ToSlots => levels.max(1),
        Way::ToCoefficients => levels.clamp(1, stages.max(1)),
    };
    let mut lengths: Vec<usize> = (1..=stages).map(|s| 1 << s).collect();
    if way == Way::ToSlots {
        lengths.reverse();
    }
    let mut rest = &lengths[..];
    let mut maps = Vec::with_capacity(levels);
    for left in (1..=levels).rev() {
        let (group, after) = rest.split_at(rest.len().div_ceil(left));
        rest = after;
        // What is raised has a smaller scale than what follows, so the first map can represent the smallest
        // entries.
        let part = match (levels, way, maps.is_empty()) {
            (1, ..) => 1.0,
            (_, Way::ToCoefficients, _) => 1.0 / levels as f64,
            (_, Way::ToSlots, true) => 0.5,
            (_, Way::ToSlots, false) => 0.5 / (levels - 1) as f64,
        };
        let scaled = vec![Complex64::new(factor.powf(part), 0.0); slots];
        let mut map = Shifts::from([(0, scaled)]);
        for &len in group {
            map = compose(&stage(way, order, slots, len), &map, slots);
        }
        maps.push(Diagonals::from_shifts(slots, map)?);
    }
    Ok(maps)
}

/// Butterflies over `len` slots.
fn stage(way: Way, order: Order, slots: usize, len: usize) -> Shifts {
    let half = len / 2;
    let mut map = Shifts::new();
    let mut set = |row: usize, shift: usize, value: Complex64| {
        let zeros = || vec![Complex64::ZERO; slots];
        map.entry(shift % slots).or_insert_with(zeros)[row] += value;
    };
    let mut power = 1usize;
    for j in 0..half {
        // e^(2πi·g^j/4len)
        let w = Complex64::cis(TAU * power as f64 / (4 * len) as f64);
        power = power * order.generator.value() as usize % (4 * len);
        for row in (j..slots).step_by(len) {
            let one = Complex64::ONE;
            let (mut own, mut above, mut below_own, mut below) = match way {
                Way::ToCoefficients => (one, w, -w, one),
                Way::ToSlots => (one / 2.0, one / 2.0, -w.conj() / 2.0, w.conj() / 2.0),
            };
            // What reads or writes an odd slot: conjugated, and of an imaginary w negated.
            if order.generator == Generator::Three && len == 2 {
                let real = order.share == Share::Real;
                let turned = |z: Complex64| if real { z.conj() } else { -z.conj() };
                below_own = turned(below_own);
                match way {
                    Way::ToCoefficients => below = turned(below),
                    Way::ToSlots => above = turned(above),
                }
                if way == Way::ToSlots && !real {
                    for entry in [&mut own, &mut above, &mut below_own, &mut below] {
                        *entry *= -Complex64::I;
                    }
                }
            }
            set(row, 0, own);
            set(row, half, above);
            set(row + half, 0, below_own);
            set(row + half, slots - half, below);
        }
    }
    map
}

/// `after`·`before`.
fn compose(after: &Shifts, before: &Shifts, slots: usize) -> Shifts {
    let mut product = Shifts::new();
    for (a, outer) in after {
        for (b, inner) in before {
            let sum = product.entry((a + b) % slots).or_insert_with(|| vec![Complex64::ZERO; slots]);
            for (i, (sum, outer)) in sum.iter_mut().zip(outer).enumerate() {
                if *outer != Complex64::ZERO {
                    *sum += outer * inner[(i + a) % slots];
                }
            }
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(maps: &[Diagonals], x: &[Complex64]) -> Vec<Complex64> {
        let n = x.len();
        maps.iter().fold(x.to_vec(), |x, map| {
            let row = |i: usize| map.shifts().map(|d| map.get(d).unwrap()[i] * x[(i + d) % n]).sum();
            (0..n).map(row).collect()
        })
    }

    fn sample(n: usize) -> Vec<Complex64> {
        (0..n).map(|i| Complex64::new((3.7 * i as f64).sin(), (1.3 * i as f64 + 0.4).cos())).collect()
    }

    const FIVE: Order = Order { generator: Generator::Five, share: Share::Real };

    /// By the definition: the real polynomial with coefficients Re w_j and then Im w_j, at the powers of a root.
    fn slots_of(w: &[Complex64], generator: Generator) -> Vec<Complex64> {
        let n = w.len();
        let coefficients: Vec<f64> = w.iter().map(|w| w.re).chain(w.iter().map(|w| w.im)).collect();
        let g = generator.value() as usize;
        let powers = std::iter::successors(Some(1usize), |p| Some(p * g % (4 * n))).take(n);
        powers
            .map(|p| {
                let root = |j: usize| Complex64::cis(TAU * (p * j % (4 * n)) as f64 / (4 * n) as f64);
                coefficients.iter().enumerate().map(|(j, c)| root(j) * *c).sum()
            })
            .collect()
    }

    fn reversed(x: &[Complex64]) -> Vec<Complex64> {
        let bits = x.len().trailing_zeros();
        let reverse = |i: usize| if bits == 0 { 0 } else { i.reverse_bits() >> (usize::BITS - bits) };
        (0..x.len()).map(|i| x[reverse(i)]).collect()
    }

    fn distance(x: &[Complex64], y: &[Complex64]) -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - y).norm()).fold(0.0, f64::max)
    }

    #[test]
    fn the_maps_are_the_transform_and_its_inverse() {
        for (slots, levels) in [(2, 1), (8, 1), (8, 2), (64, 3), (256, 4), (512, 3)] {
            let w = sample(slots);
            let to_coefficients = transform(Way::ToCoefficients, FIVE, slots, levels, 3.0).unwrap();
            assert_eq!(to_coefficients.len(), levels);
            let z: Vec<_> = slots_of(&w, Generator::Five).iter().map(|z| z * 3.0).collect();
            assert!(distance(&apply(&to_coefficients, &reversed(&w)), &z) < 1e-10, "{slots} slots");
            let back = transform(Way::ToSlots, FIVE, slots, levels, 1.0 / 3.0).unwrap();
            assert!(distance(&apply(&back, &z), &reversed(&w)) < 1e-10, "{slots} slots back");
        }
    }

    #[test]
    fn both_shares_of_the_order_of_three_are_the_transform_and_its_inverse() {
        let order = |share| Order { generator: Generator::Three, share };
        let (real, imaginary) = (order(Share::Real), order(Share::Imaginary));
        let twice_real = |t: &[Complex64]| t.iter().map(|t| t + t.conj()).collect::<Vec<_>>();
        for (slots, levels) in [(2, 1), (4, 1), (8, 2), (64, 3), (512, 3)] {
            let w = sample(slots);
            let z: Vec<_> = slots_of(&w, Generator::Three).iter().map(|z| z * 3.0).collect();
            let of = |order, part: fn(&Complex64) -> Complex64| {
                let maps = transform(Way::ToCoefficients, order, slots, levels, 3.0).unwrap();
                apply(&maps, &reversed(&w.iter().map(part).collect::<Vec<_>>()))
            };
            let parts = (of(real, |w| w.re.into()), of(imaginary, |w| Complex64::new(0.0, w.im)));
            let found: Vec<_> = parts.0.iter().zip(&parts.1).map(|(r, i)| r + i).collect();
            assert!(distance(&found, &z) < 1e-10, "{slots} slots");
            let back = |order| apply(&transform(Way::ToSlots, order, slots, levels, 1.0 / 3.0).unwrap(), &z);
            let (t, u) = (back(real), back(imaginary));
            let parts = (twice_real(&t), twice_real(&u));
            let twice_w: Vec<_> = parts.0.iter().zip(&parts.1).map(|(r, i)| r + i * Complex64::I).collect();
            let expected: Vec<_> = reversed(&w).iter().map(|w| w * 2.0).collect();
            assert!(distance(&twice_w, &expected) < 1e-10, "{slots} slots back");
        }
    }

    #[test]
    fn maps_have_as_many_diagonals_as_stages_multiplied_give() {
        assert_eq!(transform(Way::ToSlots, FIVE, 2, 3, 0.3).unwrap().len(), 3);
        assert_eq!(transform(Way::ToCoefficients, FIVE, 2, 3, 0.3).unwrap().len(), 1);
        let counts = |way| -> Vec<usize> {
            transform(way, FIVE, 512, 3, 1.0).unwrap().iter().map(Diagonals::len).collect()
        };
        // The widest group wraps around: its shifts are the multiples of 64.
        assert_eq!(counts(Way::ToCoefficients), [15, 15, 8]);
        assert_eq!(counts(Way::ToSlots), [8, 15, 15]);
    }
}
