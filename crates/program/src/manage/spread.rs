//! How the error of a value lies over its slots.
//!
//! A contribution of [`Noise`] has one deviation for all slots. A mask passes errors in some slots only. A
//! sum of masked rotations, such as every linear map, has in each slot the errors of few of its terms.
//! Counted as if all met in one slot, errors grow by the root of the number of diagonals with every map. Here
//! each slot has its own variance, as far as outputs need it.
//!
//! [`Noise`]: ringmill_ckks::Noise

use std::rc::Rc;

use crate::he::{Numbers, Program};

/// Slots that differ by less than this part of the variance count as alike.
const ALIKE: f32 = 0.02;

/// The deviations of the slots of one value.
#[derive(Debug, Clone)]
pub(super) struct Spread {
    /// That of the worst slot, as the deviation of a coefficient that gives it.
    std: f64,
    /// The variance of every slot in parts of the worst one's; `None` if they are alike.
    over: Option<Rc<[f32]>>,
}

impl Spread {
    /// The same in every slot.
    pub(super) fn even(std: f64) -> Self {
        Self { std, over: None }
    }

    /// The deviation of the worst slot.
    pub(super) fn std(&self) -> f64 {
        self.std
    }

    /// The bound by the worst slot alone.
    pub(super) fn flatten(&mut self) {
        self.over = None;
    }

    /// Times a message or a number of this size.
    pub(super) fn times(&self, size: f64) -> Self {
        Self { std: self.std * size.abs(), over: self.over.clone() }
    }

    /// Times constants, slot by slot.
    pub(super) fn through(&self, numbers: &Numbers) -> Self {
        let size = numbers.magnitude();
        if size == 0.0 || !size.is_finite() {
            return self.times(size);
        }
        let unit = 1.0 / size;
        let part = |x: f64| (x * unit * x * unit) as f32;
        let mut over: Vec<f32> = match numbers {
            Numbers::Real(v) => v.iter().map(|&x| part(x)).collect(),
            Numbers::Complex(v) => v.iter().map(|z| (z.norm_sqr() * unit * unit) as f32).collect(),
        };
        if let Some(own) = &self.over {
            over.iter_mut().zip(own.iter()).for_each(|(o, w)| *o *= w);
        }
        Self::normal(self.std * size, over)
    }

    /// Slot i of the result is slot i + k.
    pub(super) fn turned(&self, k: usize) -> Self {
        let turn = |over: &Rc<[f32]>| {
            let mut over = over.to_vec();
            let slots = over.len().max(1);
            over.rotate_left(k % slots);
            over.into()
        };
        Self { std: self.std, over: self.over.as_ref().map(turn) }
    }

    /// The sum of two errors whose covariance is at most this in every slot: in squares, but for what they have in common.
    pub(super) fn plus(&self, other: &Self, covariance: f64) -> Self {
        let covariance = covariance.min(self.std * other.std);
        let apart = self.std.hypot(other.std);
        let top =
            if covariance > 0.0 { apart * (1.0 + 2.0 * covariance / apart / apart).sqrt() } else { apart };
        let slots = match (&self.over, &other.over) {
            _ if top == 0.0 || !top.is_finite() => return Self::even(top),
            (None, None) => return Self::even(top),
            (Some(over), _) | (_, Some(over)) => over.len(),
        };
        let (a, b) = ((self.std / top) as f32, (other.std / top) as f32);
        let common = (covariance / (top * top)) as f32;
        let sum = |wa: f32, wb: f32| {
            // A covariance is no more than the product of the deviations.
            let common = if common > 0.0 { common.min(a * b * (wa * wb).sqrt()) } else { 0.0 };
            a * a * wa + b * b * wb + 2.0 * common
        };
        let over = match (&self.over, &other.over) {
            (Some(wa), Some(wb)) => wa.iter().zip(wb.iter()).map(|(&wa, &wb)| sum(wa, wb)).collect(),
            (Some(wa), None) => wa.iter().map(|&wa| sum(wa, 1.0)).collect(),
            (None, Some(wb)) => wb.iter().map(|&wb| sum(1.0, wb)).collect(),
            (None, None) => vec![1.0; slots],
        };
        Self::normal(top, over)
    }

    /// The sum of two bounds: linearly, slot by slot.
    pub(super) fn plus_bound(&self, other: &Self) -> Self {
        self.plus(other, self.std * other.std)
    }

    /// With the worst slot at 1.
    fn normal(std: f64, mut over: Vec<f32>) -> Self {
        // Of numbers that are not negative, bits order as they do, and integers are compared many at a time.
        let (least, worst) = over
            .iter()
            .fold((u32::MAX, 0), |(least, worst), w| (least.min(w.to_bits()), worst.max(w.to_bits())));
        let (least, worst) = (f32::from_bits(least), f32::from_bits(worst));
        if worst == 0.0 {
            return Self::even(0.0);
        }
        let std = std * f64::from(worst).sqrt();
        if least >= worst * (1.0 - ALIKE) {
            return Self::even(std);
        }
        let unit = 1.0 / worst;
        over.iter_mut().for_each(|w| *w *= unit);
        Self { std, over: Some(over.into()) }
    }
}

/// Of every value, whether its spread reaches an output: errors that the program states do not depend on it.
pub(super) fn wanted(p: &Program) -> Vec<bool> {
    let mut wanted = vec![false; p.instrs().len()];
    p.outputs().iter().for_each(|o| wanted[o.value.index()] = true);
    for i in (0..wanted.len()).rev() {
        let instr = &p.instrs()[i];
        match instr.like {
            _ if !wanted[i] => {}
            Some(like) => wanted[like.value.index()] = true,
            None => instr.op.operands().as_slice().iter().for_each(|v| wanted[v.index()] = true),
        }
    }
    wanted
}

/// Of every value, the instruction that uses it last.
pub(super) fn last_uses(p: &Program) -> Vec<usize> {
    let mut last: Vec<usize> = (0..p.instrs().len()).collect();
    for (i, instr) in p.instrs().iter().enumerate() {
        instr.op.operands().as_slice().iter().for_each(|v| last[v.index()] = i);
        instr.like.iter().for_each(|like| last[like.value.index()] = i);
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(slots: &[f64]) -> Numbers {
        Numbers::Real(slots.to_vec())
    }

    #[test]
    fn masks_that_do_not_meet_add_nothing() {
        let x = Spread::even(2.0);
        let halves = [mask(&[1.0, 1.0, 0.0, 0.0]), mask(&[0.0, 0.0, 1.0, 1.0])].map(|m| x.through(&m));
        let [first, second] = &halves;
        assert!((first.plus(second, 0.0).std() - 2.0).abs() < 1e-6);
        assert!((first.plus(second, 4.0).std() - 2.0).abs() < 1e-6);
        // Where they do meet they add, in squares or linearly.
        let turned = second.turned(2);
        assert!((first.plus(&turned, 0.0).std() - 8f64.sqrt()).abs() < 1e-6);
        assert!((first.plus(&turned, 4.0).std() - 4.0).abs() < 1e-6);
        assert!((first.plus(&turned, 100.0).std() - 4.0).abs() < 1e-6, "no more than if they were equal");
        assert!((first.plus(&turned, 1.5).std() - 11f64.sqrt()).abs() < 1e-6);
        let one = second.turned(1);
        assert_eq!(one.over.as_deref(), Some(&[0.0, 1.0, 1.0, 0.0][..]));
    }

    #[test]
    fn weights_count_where_they_stand() {
        let x = Spread::even(1.0).through(&mask(&[0.5, -4.0, 0.0, 1.0]));
        assert_eq!(x.std(), 4.0);
        let y = Spread::even(1.0).through(&mask(&[4.0, 0.0, 0.0, 0.0]));
        assert!((x.plus(&y, 0.0).std() - 16.25f64.sqrt()).abs() < 1e-6);
        assert_eq!(x.times(-3.0).std(), 12.0);
        assert_eq!(Spread::even(1.0).through(&mask(&[0.0; 4])).std(), 0.0);
        assert!(Spread::even(1.0).through(&mask(&[-2.0; 4])).over.is_none());
    }
}
