//! Results that hide what made them: re-randomised, and with noise that floods their error.

use ringmill_ckks::{Ciphertext, CkksError, Meta, Noise, Params, Plaintext, PublicKey, Randomness};
use ringmill_ring::{Domain, Poly, RingError};

use crate::{Error, Evaluator};

/// Coefficients of a polynomial that floods the error of a ciphertext, and the deviation that they are drawn with.
#[derive(Debug, Clone, Copy)]
pub struct Flooding<'a> {
    /// N coefficients, in units of 1/scale.
    pub coefficients: &'a [i64],
    /// Their standard deviation, which the result states.
    pub deviation: f64,
}

impl Evaluator {
    /// The ciphertext plus an encryption of `flooding` under the public key.
    ///
    /// Both polynomials of the sum are re-randomised by a fresh encryption (v·b + e₀, v·a + e₁), and its error is that of `a`
    /// flooded by the noise. Seed `randomness` afresh for each job: two results by one seed reveal their difference.
    ///
    /// # Errors
    /// [`Error::NotRelinearised`] for three polynomials; [`RingError::Count`] for another number of coefficients than N; a public key of
    /// other parameters or of another secret key; as [`add`](Self::add).
    pub fn sanitise(
        &self,
        a: &Ciphertext,
        public: &PublicKey,
        flooding: Flooding<'_>,
        randomness: &mut Randomness,
    ) -> Result<Ciphertext, Error> {
        if a.polys().len() != 2 {
            return Err(Error::NotRelinearised { op: "sanitise", name: "the ciphertext" });
        }
        let zero = flooded(self.params(), a.meta(), flooding)?;
        let sum = self.add(a, &public.encrypt(&zero, randomness)?)?;
        let std = flooding.deviation / a.scale().to_f64();
        let meta = Meta { noise: sum.noise().flooded(std), ..sum.meta().clone() };
        Ok(sum.with_meta(meta)?)
    }
}

/// The noise as a plaintext of the level and scale of `meta`: its message is 0, and what it holds is counted as error later.
fn flooded(params: &Params, meta: &Meta, flooding: Flooding<'_>) -> Result<Plaintext, Error> {
    let (n, got) = (params.n(), flooding.coefficients.len());
    if got != n {
        let count = RingError::Count { what: "coefficients of the noise", expected: n, got };
        return Err(CkksError::Ring(count).into());
    }
    let mut poly = Poly::zeros(n, params.limbs(meta.level), Domain::Evaluation);
    for (i, limb) in poly.limbs_mut().enumerate() {
        let ring = params.ring(i).map_err(CkksError::Ring)?;
        for (word, &c) in limb.iter_mut().zip(flooding.coefficients) {
            *word = ring.modulus().reduce_i64(c);
        }
        ring.forward(limb).map_err(CkksError::Ring)?;
    }
    let noise = Noise::exact(0.0, 0);
    Ok(Plaintext::from_parts(params, poly, Meta { noise, ..meta.clone() })?)
}

#[cfg(test)]
mod tests {
    use ringmill_ckks::{KeyGenerator, NamedSet, Need};
    use ringmill_ring::sample::SecretSeed;

    use super::*;

    fn randomness(seed: u8) -> Randomness {
        Randomness::from_seed(SecretSeed::from_bytes([seed; 32]))
    }

    #[test]
    fn the_message_stays_and_the_error_is_that_of_the_noise() {
        let params = Need { depth: 1, scale_bits: 40, slots: 8, ..Need::default() }.choose().unwrap().params;
        let mut generator = KeyGenerator::new(&params).unwrap();
        let secret = generator.secret_key().unwrap();
        let public = generator.public_key(&secret).unwrap();
        let e = Evaluator::new(&params).unwrap();
        let x = [0.5, -0.25, 1.0, 0.0, 0.125, -1.0, 0.75, 0.3];
        let plain = e.encode(x.as_slice(), 8, params.max_level(), &params.default_scale()).unwrap();
        let cipher = secret.encrypt(&plain, &mut randomness(1)).unwrap();
        // ±2^26 in every coefficient, a slot of which is a sum of N.
        let n = params.n();
        let coefficients: Vec<i64> =
            (0..n).map(|i| if (i * i / 3) % 2 == 0 { 1 << 26 } else { -(1 << 26) }).collect();
        let flooding = Flooding { coefficients: &coefficients, deviation: 67_108_864.0 };
        let clean = e.sanitise(&cipher, &public, flooding, &mut randomness(2)).unwrap();
        for (old, new) in cipher.polys().iter().zip(clean.polys()) {
            let same = old.words().iter().zip(new.words()).filter(|(a, b)| a == b).count();
            assert!(same < 4, "both polynomials are other ones");
        }
        let error = |c: &Ciphertext| {
            let found = e.decode(&secret.decrypt(c).unwrap()).unwrap();
            found.iter().zip(x).map(|(y, x)| (y.re - x).abs()).fold(0.0, f64::max)
        };
        let (stated, found) = (clean.noise().error(8), error(&clean));
        assert!(found <= stated, "{found} {stated}");
        assert!(found > 100.0 * error(&cipher), "the noise is there");
        assert_eq!(clean.noise().magnitude(), cipher.noise().magnitude());
        let again = e.sanitise(&cipher, &public, flooding, &mut randomness(2)).unwrap();
        assert_eq!(again.polys(), clean.polys(), "one seed gives one result");
        let other = e.sanitise(&cipher, &public, flooding, &mut randomness(3)).unwrap();
        assert_ne!(other.polys(), clean.polys());
    }

    #[test]
    fn what_does_not_belong_together_is_refused() {
        let params = Params::named(NamedSet::I).unwrap();
        let mut generator = KeyGenerator::new(&params).unwrap();
        let (secret, other) = (generator.secret_key().unwrap(), generator.secret_key().unwrap());
        let e = Evaluator::new(&params).unwrap();
        let plain = e.encode([0.5].as_slice(), 1, params.max_level(), &params.default_scale()).unwrap();
        let cipher = secret.encrypt(&plain, &mut randomness(1)).unwrap();
        let zeros = vec![0; params.n()];
        let flooding = Flooding { coefficients: &zeros, deviation: 1.0 };
        let stranger = generator.public_key(&other).unwrap();
        let refused = e.sanitise(&cipher, &stranger, flooding, &mut randomness(2)).unwrap_err();
        assert!(refused.to_string().contains("different secret keys"), "{refused}");
        let public = generator.public_key(&secret).unwrap();
        let short = Flooding { coefficients: &zeros[1..], deviation: 1.0 };
        let refused = e.sanitise(&cipher, &public, short, &mut randomness(2)).unwrap_err();
        assert!(refused.to_string().contains("coefficients of the noise"), "{refused}");
        let product = e.multiply(&cipher, &cipher).unwrap();
        let refused = e.sanitise(&product, &public, flooding, &mut randomness(2)).unwrap_err();
        assert!(matches!(refused, Error::NotRelinearised { .. }), "{refused}");
    }
}
