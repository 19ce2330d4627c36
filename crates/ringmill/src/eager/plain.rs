//! Ciphertexts with plaintexts and with numbers.

use ringmill_ckks::{Ciphertext, Meta, Noise, Plaintext, Scale};

use super::checks::parts;
use super::shape::{Action, Shape};
use super::spellings;
use crate::prepared::{Keys, Operands};
use crate::{Error, Evaluator, Number};

impl Evaluator {
    fn with_plain(
        &self,
        action: Action,
        a: &Ciphertext,
        p: &Plaintext,
        meta: Meta,
    ) -> Result<Ciphertext, Error> {
        let shape = Shape::new(action, a.level(), [parts(a), 0]);
        self.run(&shape, &Operands { ciphers: &[a], plains: &[p.poly()], keys: Keys::default() }, meta)
    }

    fn with_scalar(
        &self,
        action: Action,
        a: &Ciphertext,
        scale: Scale,
        meta: Meta,
    ) -> Result<Ciphertext, Error> {
        let shape = Shape { scalar: Some(scale), ..Shape::new(action, a.level(), [parts(a), 0]) };
        self.run(&shape, &Operands { ciphers: &[a], plains: &[], keys: Keys::default() }, meta)
    }

    /// a + p. The plaintext may be encoded at the ciphertext's level or any above.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`], [`Error::ScaleMismatch`], [`Error::SlotsMismatch`]; other parameters.
    pub fn add_plain(&self, a: &Ciphertext, p: &Plaintext) -> Result<Ciphertext, Error> {
        self.check_plain_sum("add_plain", a, p)?;
        let meta = Meta { noise: a.noise().add_plain(p.noise()), ..a.meta().clone() };
        self.with_plain(Action::AddPlain, a, p, meta)
    }

    spellings!(add_plain, add_plain_into, add_plain_assign, p: &Plaintext);

    /// a − p.
    ///
    /// # Errors
    /// As [`add_plain`](Self::add_plain).
    pub fn sub_plain(&self, a: &Ciphertext, p: &Plaintext) -> Result<Ciphertext, Error> {
        self.check_plain_sum("sub_plain", a, p)?;
        let meta = Meta { noise: a.noise().add_plain(p.noise()), ..a.meta().clone() };
        self.with_plain(Action::SubPlain, a, p, meta)
    }

    spellings!(sub_plain, sub_plain_into, sub_plain_assign, p: &Plaintext);

    /// a · p, slot by slot. The scale is the product of the scales: a plaintext encoded at scale q_level
    /// ([`factor_scale`](Self::factor_scale)) gives the scale of `a` back after a rescale.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`], [`Error::SlotsMismatch`], [`Error::ScaleOverflow`]; other parameters.
    pub fn multiply_plain(&self, a: &Ciphertext, p: &Plaintext) -> Result<Ciphertext, Error> {
        self.check_plain("multiply_plain", a, p)?;
        let noise = a.noise().mul_plain(p.noise(), self.params());
        let meta = Meta { noise, scale: a.scale().mul(p.scale()), ..a.meta().clone() };
        self.check_scale(&meta)?;
        self.with_plain(Action::MultiplyPlain, a, p, meta)
    }

    spellings!(multiply_plain, multiply_plain_into, multiply_plain_assign, p: &Plaintext);

    /// The scale of a plaintext factor after which a rescale restores the scale of `a`: q_level.
    ///
    /// # Errors
    /// [`Error::LevelExhausted`] at level 0, where no rescale is left.
    pub fn factor_scale(&self, a: &Ciphertext) -> Result<Scale, Error> {
        match a.level().down() {
            Some(_) => Ok(self.level_scale(a.level())),
            None => Err(Error::LevelExhausted { op: "factor_scale" }),
        }
    }

    /// a + c in every slot.
    ///
    /// # Errors
    /// [`Error::NotFinite`], [`Error::BeyondBound`]; other parameters.
    pub fn add_scalar(&self, a: &Ciphertext, c: impl Into<Number>) -> Result<Ciphertext, Error> {
        let number = c.into();
        self.check_params("ciphertext", a.params())?;
        number.check("the number to add")?;
        let (c, noise) =
            (number.value, a.noise().add_plain(&Noise::constant(number.declared.get(), a.scale())));
        let meta = Meta { noise, ..a.meta().clone() };
        self.check_scale(&meta)?;
        self.with_scalar(Action::AddScalar(c.to_bits()), a, a.scale().clone(), meta)
    }

    spellings!(add_scalar, add_scalar_into, add_scalar_assign, c: impl Into<Number>);

    /// a · c, with c rounded at scale q_level: rescaling restores the scale of `a`.
    ///
    /// # Errors
    /// [`Error::NotFinite`], [`Error::BeyondBound`]; [`Error::LevelExhausted`] at level 0; [`Error::ScaleOverflow`]; other parameters.
    pub fn multiply_scalar(&self, a: &Ciphertext, c: impl Into<Number>) -> Result<Ciphertext, Error> {
        let level = a.level().down().ok_or(Error::LevelExhausted { op: "multiply_scalar" });
        let scale = level.map(|_| self.level_scale(a.level()))?;
        self.multiply_scalar_at(a, c, scale)
    }

    spellings!(multiply_scalar, multiply_scalar_into, multiply_scalar_assign, c: impl Into<Number>);

    /// a · c for an integer c, exactly: level and scale stay. The integer is part of the computation, and public.
    ///
    /// # Errors
    /// Other parameters.
    pub fn multiply_integer(&self, a: &Ciphertext, c: i32) -> Result<Ciphertext, Error> {
        self.check_params("ciphertext", a.params())?;
        let meta = Meta { noise: a.noise().mul_integer(i64::from(c)), ..a.meta().clone() };
        self.with_scalar(Action::MultiplyScalar(f64::from(c).to_bits()), a, Scale::ONE, meta)
    }

    spellings!(multiply_integer, multiply_integer_into, multiply_integer_assign, c: i32);

    /// a · c, with c rounded at `scale`, which multiplies that of `a`.
    ///
    /// # Errors
    /// [`Error::NotFinite`], [`Error::BeyondBound`]; [`Error::ScaleOverflow`]; other parameters.
    pub fn multiply_scalar_at(
        &self,
        a: &Ciphertext,
        c: impl Into<Number>,
        scale: Scale,
    ) -> Result<Ciphertext, Error> {
        let number = c.into();
        self.check_params("ciphertext", a.params())?;
        number.check("the factor")?;
        let c = number.value;
        let noise = a.noise().mul_plain(&Noise::constant(number.declared.get(), &scale), self.params());
        let meta = Meta { noise, scale: a.scale().mul(&scale), ..a.meta().clone() };
        self.check_scale(&meta)?;
        self.with_scalar(Action::MultiplyScalar(c.to_bits()), a, scale, meta)
    }

    spellings!(
        multiply_scalar_at, multiply_scalar_at_into, multiply_scalar_at_assign, c: impl Into<Number>, scale: Scale
    );
}
