//! The checks that every operation makes of its arguments.

use ringmill_ckks::{Ciphertext, CkksError, KeyIdentity, Params, Plaintext};

use crate::{Error, Evaluator};

impl Evaluator {
    /// Same parameters as the evaluator.
    pub(crate) fn check_params(&self, what: &'static str, params: &Params) -> Result<(), Error> {
        let (left_print, right_print) = (params.fingerprint(), self.params().fingerprint());
        if left_print == right_print {
            return Ok(());
        }
        Err(CkksError::ParamsMismatch { left: what, left_print, right: "evaluator", right_print }.into())
    }

    /// Two ciphertexts of equal parameters, secret key, level and slots.
    pub(crate) fn check_pair(&self, op: &'static str, a: &Ciphertext, b: &Ciphertext) -> Result<(), Error> {
        self.check_params("left ciphertext", a.params())?;
        self.check_params("right ciphertext", b.params())?;
        // Before what can be mended, as levels can.
        KeyIdentity::common([("left ciphertext", a.identity()), ("right ciphertext", b.identity())])?;
        let (left_name, right_name) = ("the left one", "the right one");
        if a.level() != b.level() {
            let (left, right) = (a.level(), b.level());
            return Err(Error::LevelMismatch { op, left_name, left, right_name, right });
        }
        if a.slots() != b.slots() {
            let (left, right) = (a.slots(), b.slots());
            return Err(Error::SlotsMismatch { op, left_name, left, right_name, right });
        }
        Ok(())
    }

    /// Two ciphertexts that can be added.
    pub(crate) fn check_sum(&self, op: &'static str, a: &Ciphertext, b: &Ciphertext) -> Result<(), Error> {
        self.check_pair(op, a, b)?;
        if a.scale() == b.scale() {
            return Ok(());
        }
        let (left, right) = a.scale().apart(b.scale());
        Err(Error::ScaleMismatch { op, left_name: "the left one", left, right_name: "the right one", right })
    }

    /// A ciphertext and a plaintext of equal parameters and slots, the plaintext at the ciphertext's level or above.
    pub(crate) fn check_plain(&self, op: &'static str, a: &Ciphertext, p: &Plaintext) -> Result<(), Error> {
        self.check_params("ciphertext", a.params())?;
        self.check_params("plaintext", p.params())?;
        let (left_name, right_name) = ("the ciphertext", "the plaintext");
        if p.level() < a.level() {
            let (left, right) = (a.level(), p.level());
            return Err(Error::LevelMismatch { op, left_name, left, right_name, right });
        }
        if a.slots() != p.slots() {
            let (left, right) = (a.slots(), p.slots());
            return Err(Error::SlotsMismatch { op, left_name, left, right_name, right });
        }
        Ok(())
    }

    /// A ciphertext and a plaintext that can be added.
    pub(crate) fn check_plain_sum(
        &self,
        op: &'static str,
        a: &Ciphertext,
        p: &Plaintext,
    ) -> Result<(), Error> {
        self.check_plain(op, a, p)?;
        if a.scale() == p.scale() {
            return Ok(());
        }
        let (left, right) = a.scale().apart(p.scale());
        Err(Error::ScaleMismatch {
            op,
            left_name: "the ciphertext",
            left,
            right_name: "the plaintext",
            right,
        })
    }
}

/// Number of polynomials.
pub(crate) fn parts(a: &Ciphertext) -> u8 {
    a.polys().len() as u8
}

/// A ciphertext of two polynomials.
pub(crate) fn two_parts(op: &'static str, name: &'static str, a: &Ciphertext) -> Result<(), Error> {
    if a.polys().len() == 2 { Ok(()) } else { Err(Error::NotRelinearised { op, name }) }
}
