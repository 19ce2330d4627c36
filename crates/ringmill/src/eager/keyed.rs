//! Relinearisation, alone and merged with what stands around it.

use ringmill_ckks::{Ciphertext, Meta, RelinKey};

use super::checks::parts;
use super::shape::{Action, Shape};
use super::spellings;
use crate::prepared::{Keys, Operands};
use crate::{Error, Evaluator};

impl Evaluator {
    fn relin_keys<'k>(&self, key: &'k RelinKey) -> Result<Keys<'k>, Error> {
        self.check_params("relinearisation key", key.0.params())?;
        Ok(Keys { relin: Some(key), ..Keys::default() })
    }

    /// What a value is after its relinearisation.
    fn switched_meta(&self, a: Meta, key: &RelinKey) -> Meta {
        let switching = self.switching(Some(&key.0), a.level, 1);
        Meta { noise: a.noise.key_switch(self.params(), switching, &a.scale), ..a }
    }

    fn relinearised(
        &self,
        action: Action,
        a: &Ciphertext,
        key: &RelinKey,
        meta: Meta,
    ) -> Result<Ciphertext, Error> {
        let shape = Shape::new(action, a.level(), [parts(a), 0]);
        self.run(&shape, &Operands { ciphers: &[a], plains: &[], keys: self.relin_keys(key)? }, meta)
    }

    fn check_product(&self, a: &Ciphertext) -> Result<(), Error> {
        self.check_params("ciphertext", a.params())?;
        if a.polys().len() == 3 { Ok(()) } else { Err(Error::NothingToRelinearise) }
    }

    /// Three polynomials to two.
    ///
    /// # Errors
    /// [`Error::NothingToRelinearise`]; other parameters or another secret key.
    pub fn relinearise(&self, a: &Ciphertext, key: &RelinKey) -> Result<Ciphertext, Error> {
        self.check_product(a)?;
        self.relinearised(Action::Relinearise, a, key, self.switched_meta(a.meta().clone(), key))
    }

    spellings!(relinearise, relinearise_into, relinearise_assign, key: &RelinKey);

    /// Relinearises and rescales with one division, which saves the transforms of the rescale.
    ///
    /// # Errors
    /// [`Error::NothingToRelinearise`], [`Error::LevelExhausted`]; other parameters or another secret key.
    pub fn relinearise_rescale(&self, a: &Ciphertext, key: &RelinKey) -> Result<Ciphertext, Error> {
        self.check_product(a)?;
        let meta = self.rescaled_meta("relinearise_rescale", a.meta(), Some(key))?;
        self.relinearised(Action::RelineariseRescale, a, key, meta)
    }

    spellings!(relinearise_rescale, relinearise_rescale_into, relinearise_rescale_assign, key: &RelinKey);

    /// a · b, relinearised.
    ///
    /// # Errors
    /// Those of [`multiply`](Self::multiply).
    pub fn multiply_relinearise(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        key: &RelinKey,
    ) -> Result<Ciphertext, Error> {
        let meta = self.switched_meta(self.product_meta("multiply_relinearise", a, b)?, key);
        self.binary(Action::MultiplyRelinearise, a, b, self.relin_keys(key)?, meta)
    }

    spellings!(
        multiply_relinearise, multiply_relinearise_into, multiply_relinearise_assign,
        b: &Ciphertext, key: &RelinKey
    );

    /// a · b, relinearised and rescaled with one division by P·q_level: the usual product.
    ///
    /// # Errors
    /// Those of [`multiply`](Self::multiply); [`Error::LevelExhausted`] at level 0.
    pub fn multiply_relinearise_rescale(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        key: &RelinKey,
    ) -> Result<Ciphertext, Error> {
        let op = "multiply_relinearise_rescale";
        let meta = self.rescaled_meta(op, &self.product_meta(op, a, b)?, Some(key))?;
        self.binary(Action::MultiplyRelineariseRescale, a, b, self.relin_keys(key)?, meta)
    }

    spellings!(
        multiply_relinearise_rescale, multiply_relinearise_rescale_into, multiply_relinearise_rescale_assign,
        b: &Ciphertext, key: &RelinKey
    );

    /// a · a, relinearised.
    ///
    /// # Errors
    /// Those of [`multiply`](Self::multiply).
    pub fn square_relinearise(&self, a: &Ciphertext, key: &RelinKey) -> Result<Ciphertext, Error> {
        let meta = self.switched_meta(self.product_meta("square_relinearise", a, a)?, key);
        self.relinearised(Action::SquareRelinearise, a, key, meta)
    }

    spellings!(square_relinearise, square_relinearise_into, square_relinearise_assign, key: &RelinKey);

    /// a · a, relinearised and rescaled with one division by P·q_level.
    ///
    /// # Errors
    /// Those of [`multiply`](Self::multiply); [`Error::LevelExhausted`] at level 0.
    pub fn square_relinearise_rescale(&self, a: &Ciphertext, key: &RelinKey) -> Result<Ciphertext, Error> {
        let op = "square_relinearise_rescale";
        let meta = self.rescaled_meta(op, &self.product_meta(op, a, a)?, Some(key))?;
        self.relinearised(Action::SquareRelineariseRescale, a, key, meta)
    }

    spellings!(
        square_relinearise_rescale, square_relinearise_rescale_into, square_relinearise_rescale_assign,
        key: &RelinKey
    );
}
