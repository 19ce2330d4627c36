//! Sums, products, rescaling, levels: what needs no key.

use ringmill_ckks::{Ciphertext, Level, Meta, RelinKey};
use ringmill_ring::{Domain, Poly};

use super::checks::{parts, two_parts};
use super::shape::{Action, Shape};
use super::spellings;
use crate::prepared::{Keys, Operands};
use crate::{Error, Evaluator};

impl Evaluator {
    pub(crate) fn unary(&self, action: Action, a: &Ciphertext, meta: Meta) -> Result<Ciphertext, Error> {
        let shape = Shape::new(action, a.level(), [parts(a), 0]);
        self.run(&shape, &Operands { ciphers: &[a], plains: &[], keys: Keys::default() }, meta)
    }

    pub(crate) fn binary(
        &self,
        action: Action,
        a: &Ciphertext,
        b: &Ciphertext,
        keys: Keys<'_>,
        meta: Meta,
    ) -> Result<Ciphertext, Error> {
        let shape = Shape::new(action, a.level(), [parts(a), parts(b)]);
        self.run(&shape, &Operands { ciphers: &[a, b], plains: &[], keys }, meta)
    }

    /// a + b, slot by slot. A product before relinearisation may be added to any other ciphertext.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`], [`Error::ScaleMismatch`], [`Error::SlotsMismatch`]; other parameters;
    /// [`ringmill_ckks::CkksError::KeysMismatch`] for two secret keys.
    pub fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, Error> {
        self.check_sum("add", a, b)?;
        let meta = Meta { noise: a.noise().add(b.noise()), ..a.meta().clone() };
        self.binary(Action::Add, a, b, Keys::default(), meta)
    }

    spellings!(add, add_into, add_assign, b: &Ciphertext);

    /// a − b, slot by slot.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn sub(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, Error> {
        self.check_sum("sub", a, b)?;
        let meta = Meta { noise: a.noise().sub(b.noise()), ..a.meta().clone() };
        self.binary(Action::Sub, a, b, Keys::default(), meta)
    }

    spellings!(sub, sub_into, sub_assign, b: &Ciphertext);

    /// −a.
    ///
    /// # Errors
    /// Other parameters.
    pub fn negate(&self, a: &Ciphertext) -> Result<Ciphertext, Error> {
        self.check_params("ciphertext", a.params())?;
        self.unary(Action::Negate, a, Meta { noise: a.noise().neg(), ..a.meta().clone() })
    }

    spellings!(negate, negate_into, negate_assign);

    /// a · b, slot by slot, as three polynomials: [`relinearise`](Self::relinearise) and
    /// [`rescale`](Self::rescale) in that order, or take
    /// [`multiply_relinearise_rescale`](Self::multiply_relinearise_rescale). The scale is the product of the scales.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`], [`Error::SlotsMismatch`], [`Error::NotRelinearised`], [`Error::ScaleOverflow`];
    /// other parameters or another secret key.
    pub fn multiply(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, Error> {
        let meta = self.product_meta("multiply", a, b)?;
        self.binary(Action::Multiply, a, b, Keys::default(), meta)
    }

    spellings!(multiply, multiply_into, multiply_assign, b: &Ciphertext);

    /// Checks a product and gives what it will be.
    pub(crate) fn product_meta(
        &self,
        op: &'static str,
        a: &Ciphertext,
        b: &Ciphertext,
    ) -> Result<Meta, Error> {
        self.check_pair(op, a, b)?;
        two_parts(op, "the left one", a)?;
        two_parts(op, "the right one", b)?;
        let noise = a.noise().mul(b.noise(), self.params());
        let meta = Meta { noise, scale: a.scale().mul(b.scale()), ..a.meta().clone() };
        self.check_scale(&meta)?;
        Ok(meta)
    }

    /// a · a, as three polynomials; cheaper than [`multiply`](Self::multiply).
    ///
    /// # Errors
    /// As [`multiply`](Self::multiply).
    pub fn square(&self, a: &Ciphertext) -> Result<Ciphertext, Error> {
        let meta = self.product_meta("square", a, a)?;
        self.unary(Action::Square, a, meta)
    }

    spellings!(square, square_into, square_assign);

    /// Divides by the last prime: level − 1, scale / q_level, the same slots up to a rounding error.
    ///
    /// Relinearise first: the other order costs 50 to 100 times in error.
    ///
    /// # Errors
    /// [`Error::LevelExhausted`] at level 0; other parameters.
    pub fn rescale(&self, a: &Ciphertext) -> Result<Ciphertext, Error> {
        self.check_params("ciphertext", a.params())?;
        let meta = self.rescaled_meta("rescale", a.meta(), None)?;
        self.unary(Action::Rescale, a, meta)
    }

    spellings!(rescale, rescale_into, rescale_assign);

    /// What a value is after a rescale, merged into a relinearisation if there is a key.
    pub(crate) fn rescaled_meta(
        &self,
        op: &'static str,
        a: &Meta,
        key: Option<&RelinKey>,
    ) -> Result<Meta, Error> {
        let level = a.level.down().ok_or(Error::LevelExhausted { op })?;
        let scale = a.scale.div(&self.level_scale(a.level));
        let noise = match key {
            Some(key) => {
                let switching = self.switching(Some(&key.0), a.level, 1);
                a.noise.key_switch_rescale(self.params(), switching, &scale)
            }
            None => a.noise.rescale(self.params(), a.level, &scale),
        };
        Ok(Meta { level, scale, slots: a.slots, noise })
    }

    /// The same ciphertext at a lower level: its limbs above are forgotten. No error, no cost but the copy.
    ///
    /// # Errors
    /// [`Error::DropUp`] unless `to` is at most the level; other parameters.
    pub fn drop_level(&self, a: &Ciphertext, to: Level) -> Result<Ciphertext, Error> {
        let meta = self.dropped_meta(a, to)?;
        let copy = |p: &Poly| {
            let mut out =
                Poly::unspecified_in(self.pool(), p.n(), self.params().limbs(to), Domain::Evaluation);
            for (o, i) in out.limbs_mut().zip(p.limbs()) {
                o.copy_from_slice(i);
            }
            out
        };
        self.wrap(a.polys().iter().map(copy).collect(), meta, a.identity())
    }

    spellings!(drop_level, drop_level_into, drop_level_assign, to: Level);

    fn dropped_meta(&self, a: &Ciphertext, to: Level) -> Result<Meta, Error> {
        self.check_params("ciphertext", a.params())?;
        if to > a.level() {
            return Err(Error::DropUp { from: a.level(), to });
        }
        let meta = Meta { level: to, ..a.meta().clone() };
        self.check_scale(&meta)?;
        Ok(meta)
    }
}
