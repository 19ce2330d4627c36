//! Rotations, conjugation, sums of slots.

use std::collections::BTreeSet;

use ringmill_ckks::{Ciphertext, GaloisKeys, Meta, Noise};
use ringmill_program::he::{SumStep, sum_steps};
use ringmill_ring::GaloisElement;

use super::checks::{parts, two_parts};
use super::shape::{Action, Shape};
use super::spellings;
use crate::prepared::{Keys, Operands};
use crate::{Error, Evaluator};

impl Evaluator {
    fn check_turn(&self, op: &'static str, a: &Ciphertext, keys: &GaloisKeys) -> Result<(), Error> {
        self.check_params("ciphertext", a.params())?;
        self.check_params("Galois keys", keys.params())?;
        two_parts(op, "this one", a)
    }

    fn turned(
        &self,
        action: Action,
        a: &Ciphertext,
        keys: &GaloisKeys,
        meta: Meta,
    ) -> Result<Ciphertext, Error> {
        let shape = Shape::new(action, a.level(), [parts(a), 0]);
        let keys = Keys { galois: Some(keys), ..Keys::default() };
        self.run(&shape, &Operands { ciphers: &[a], plains: &[], keys }, meta)
    }

    /// Error after an automorphism and its key switch.
    fn turned_noise(
        &self,
        noise: &Noise,
        a: &Meta,
        element: GaloisElement,
        (keys, hoisted): (&GaloisKeys, usize),
    ) -> Noise {
        let switching = self.switching(keys.get(element).ok(), a.level, hoisted);
        noise.automorphism(element, a.slots).key_switch(self.params(), switching, &a.scale)
    }

    /// Slot i of the result is slot i + steps of `a`, cyclically: like `numpy.roll(a, -steps)`.
    ///
    /// # Errors
    /// [`ringmill_ckks::CkksError::MissingGaloisKey`] names the rotation; [`Error::NotRelinearised`]; other
    /// parameters or another secret key.
    pub fn rotate(&self, a: &Ciphertext, steps: i64, keys: &GaloisKeys) -> Result<Ciphertext, Error> {
        self.check_turn("rotate", a, keys)?;
        let k = self.step(a, steps, keys)?;
        let noise = self.rotated_noise(a.meta(), k, (keys, 1))?;
        self.turned(Action::Rotate(vec![k]), a, keys, Meta { noise, ..a.meta().clone() })
    }

    spellings!(rotate, rotate_into, rotate_assign, steps: i64, keys: &GaloisKeys);

    /// Several rotations of one ciphertext, which is decomposed once for all of them.
    ///
    /// # Errors
    /// As [`rotate`](Self::rotate).
    pub fn rotate_hoisted(
        &self,
        a: &Ciphertext,
        steps: &[i64],
        keys: &GaloisKeys,
    ) -> Result<Vec<Ciphertext>, Error> {
        self.check_turn("rotate_hoisted", a, keys)?;
        if steps.is_empty() {
            return Ok(Vec::new());
        }
        let steps = steps.iter().map(|&s| self.step(a, s, keys)).collect::<Result<Vec<_>, _>>()?;
        let shape = Shape::new(Action::Rotate(steps.clone()), a.level(), [parts(a), 0]);
        // As many as the program hoists: equal steps and none are no key switches.
        let hoisted = steps.iter().filter(|&&k| k != 0).collect::<BTreeSet<_>>().len();
        let meta =
            |k| Ok(Meta { noise: self.rotated_noise(a.meta(), k, (keys, hoisted))?, ..a.meta().clone() });
        let metas = steps.into_iter().map(meta).collect::<Result<Vec<_>, Error>>()?;
        let keys = Keys { galois: Some(keys), ..Keys::default() };
        self.run_all(&shape, &Operands { ciphers: &[a], plains: &[], keys }, metas)
    }

    /// The rotation in 0..N/2 that is done for `steps`. With n < N/2 slots, k and k − n turn them alike: whichever has a key.
    fn step(&self, a: &Ciphertext, steps: i64, keys: &GaloisKeys) -> Result<u32, Error> {
        let (slots, all) = (a.slots(), self.params().slots());
        let k = reduced(steps, slots);
        let backwards = k + (all - slots) as u32;
        if k == 0 || backwards == k {
            return Ok(k);
        }
        let has = |k: u32| {
            Ok::<_, Error>(
                keys.get(self.params().generator().rotation(i64::from(k), self.params().log_n())?).is_ok(),
            )
        };
        Ok(if !has(k)? && has(backwards)? { backwards } else { k })
    }

    /// Error after a rotation by `k` slots.
    fn rotated_noise(&self, a: &Meta, k: u32, by: (&GaloisKeys, usize)) -> Result<Noise, Error> {
        if k == 0 {
            return Ok(a.noise.clone());
        }
        let element = self.params().generator().rotation(i64::from(k), self.params().log_n())?;
        Ok(self.turned_noise(&a.noise, a, element, by))
    }

    /// The complex conjugate of every slot.
    ///
    /// # Errors
    /// As [`rotate`](Self::rotate).
    pub fn conjugate(&self, a: &Ciphertext, keys: &GaloisKeys) -> Result<Ciphertext, Error> {
        self.check_turn("conjugate", a, keys)?;
        let element = GaloisElement::conjugation(self.params().log_n())?;
        let noise = self.turned_noise(a.noise(), a.meta(), element, (keys, 1));
        self.turned(Action::Conjugate, a, keys, Meta { noise, ..a.meta().clone() })
    }

    spellings!(conjugate, conjugate_into, conjugate_assign, keys: &GaloisKeys);

    /// Slot i of the result is the sum of `count` slots of `a` from slot i on, `stride` apart, cyclically.
    /// `sum(a, slots, 1, keys)` has the total in every slot.
    ///
    /// Needs the rotations that [`sum_rotations`](Self::sum_rotations) lists: ⌊log2 count⌋ and one more for each further
    /// set bit of `count`.
    ///
    /// # Errors
    /// [`Error::SumRange`]; as [`rotate`](Self::rotate).
    pub fn sum(
        &self,
        a: &Ciphertext,
        count: usize,
        stride: i64,
        keys: &GaloisKeys,
    ) -> Result<Ciphertext, Error> {
        self.check_turn("sum", a, keys)?;
        let slots = a.slots();
        if count == 0 || count > slots || stride == 0 {
            return Err(Error::SumRange { count, slots });
        }
        let mut noise = a.noise().clone();
        for SumStep { doubles, k } in sum_steps(count, stride, slots) {
            let element = self.params().generator().rotation(i64::from(k), self.params().log_n())?;
            let operand = if doubles { &noise } else { a.noise() };
            let turned = match k {
                0 => operand.clone(),
                _ => self.turned_noise(operand, a.meta(), element, (keys, 1)),
            };
            noise = noise.add(&turned);
        }
        let meta = Meta { noise, ..a.meta().clone() };
        self.turned(Action::Sum { count, stride, slots }, a, keys, meta)
    }

    spellings!(sum, sum_into, sum_assign, count: usize, stride: i64, keys: &GaloisKeys);

    /// The rotations that [`sum`](Self::sum) needs keys for, each in 1..slots.
    pub fn sum_rotations(count: usize, stride: i64, slots: usize) -> Vec<i64> {
        let steps = sum_steps(count.clamp(1, slots.max(1)), stride, slots.max(1));
        let mut steps: Vec<i64> =
            steps.into_iter().map(|step| i64::from(step.k)).filter(|&k| k != 0).collect();
        steps.sort_unstable();
        steps.dedup();
        steps
    }
}

/// steps mod slots.
fn reduced(steps: i64, slots: usize) -> u32 {
    steps.rem_euclid(slots as i64) as u32
}
