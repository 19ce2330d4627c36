//! Encryption, decryption and key generation as limb programs, for machines of a client.
//!
//! | mode | reads | gives | transforms for n limbs |
//! |---|---|---|---|
//! | [`Mode::Public`] | m, b, a; v, e₀, e₁ sampled | c₀ = v·b + e₀ + m, c₁ = v·a + e₁ | 3·n |
//! | [`Mode::PublicDivided`] | the same, over p too | ⌊(v·b + e₀)/p⌉ + m, ⌊(v·a + e₁)/p⌉ | 3·n + 3 |
//! | [`Mode::Symmetric`] | m, s; e, c₁ sampled | c₀ = m + e − c₁·s | n |
//! | [`Mode::PublicKey`] | s; e, a sampled | b = e − a·s | n |
//! | [`Mode::Decrypt`] | c₀, c₁ (, c₂), s | m = c₀ + c₁·s (+ c₂·s²) | 0 |
//!
//! A secret key whose limbs are coefficients adds n transforms, and so does a decrypted message in coefficients. Errors are
//! added to coefficients, before the transform that they need anyway. A message in coefficients joins them
//! there and needs no transform.
//! `ckks` is the reference: the same seeds give the same bits. Its functions are `PublicKey::encrypt` of
//! keys that divide and of those that do not, `SecretKey::encrypt_seeded`, `KeyGenerator::public_key` and `SecretKey::decrypt`.

use std::fmt;

use ringmill_ckks::randomness::Purpose;
use ringmill_ring::Modulus;

use super::{LowerError, Lowering, Poly};
use crate::limb::{Distribution, Domain, Expansion, InputClass, LimbProgram, ModulusId, Operand};

/// What a client's program does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Encryption under the public key.
    Public,
    /// The same modulo an extra prime too, and division by it: the error is that of rounding.
    PublicDivided,
    /// Encryption under the secret key. c₁ is the expansion of a seed, so c₀ alone is a result.
    Symmetric,
    /// The half b of a public key. The other half a is the expansion of a seed.
    PublicKey,
    /// Decryption of a ciphertext of two parts, or of three before relinearisation.
    Decrypt {
        /// 2 or 3.
        parts: usize,
    },
}

impl Mode {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Public,
        Self::PublicDivided,
        Self::Symmetric,
        Self::PublicKey,
        Self::Decrypt { parts: 2 },
        Self::Decrypt { parts: 3 },
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Public => "encrypt_public",
            Self::PublicDivided => "encrypt_public_divided",
            Self::Symmetric => "encrypt_symmetric",
            Self::PublicKey => "public_key",
            Self::Decrypt { .. } => "decrypt",
        }
    }

    /// The stream of `ckks` whose seeds its samples are drawn from; none of a program that samples nothing.
    pub const fn purpose(self) -> Option<Purpose> {
        match self {
            Self::Public | Self::PublicDivided => Some(Purpose::PublicEncryption),
            Self::Symmetric => Some(Purpose::SecretEncryption),
            Self::PublicKey => Some(Purpose::PublicKey),
            Self::Decrypt { .. } => None,
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A client's program: what it does, over which primes, and in which domains its polynomials come and go.
#[derive(Debug, Clone, Copy)]
pub struct ClientProgram<'a> {
    /// What it does.
    pub mode: Mode,
    /// log2 N.
    pub log_n: u32,
    /// q_0 … q_ℓ. For a public key these are all ciphertext primes, since limb i of an expansion belongs to prime i.
    pub q: &'a [Modulus],
    /// The first special prime: [`Mode::PublicDivided`] divides by it, and [`Mode::PublicKey`] makes its limb too if it is given.
    pub extra: Option<Modulus>,
    /// The domain of the message, encrypted or decrypted.
    pub message: Domain,
    /// The domain of the secret key's limbs.
    pub secret: Domain,
}

impl ClientProgram<'_> {
    /// The verified program. Its inputs are called m, b, a, v, e0, e1, e, s, c0, c1 and c2, its outputs c0, c1, b and m.
    ///
    /// # Errors
    /// [`LowerError::Extra`], [`LowerError::ExtraAmong`], [`LowerError::Parts`], [`LowerError::Limbs`] for no prime,
    /// [`LowerError::Verify`] for primes that are equal or do not suit N.
    pub fn lower(&self) -> Result<LimbProgram, LowerError> {
        let Self { mode, log_n, q, extra, .. } = *self;
        let needed = match mode {
            Mode::PublicDivided => Some(true),
            Mode::PublicKey => None,
            _ => Some(false),
        };
        if needed.is_some_and(|needed| needed != extra.is_some()) {
            return Err(LowerError::Extra { mode: mode.name(), needed: extra.is_none() });
        }
        if let Some(extra) = extra.filter(|extra| q.contains(extra)) {
            return Err(LowerError::ExtraAmong { extra: extra.value() });
        }
        let mut low = Lowering::new(mode.name(), log_n, q, extra.as_slice(), 1)?;
        low.basis.check_limbs(q.len())?;
        match mode {
            Mode::Public => self.public(&mut low),
            Mode::PublicDivided => self.public_divided(&mut low)?,
            Mode::Symmetric => self.symmetric(&mut low),
            Mode::PublicKey => self.public_key(&mut low),
            Mode::Decrypt { parts: parts @ 2..=3 } => self.decrypt(&mut low, parts),
            Mode::Decrypt { parts } => return Err(LowerError::Parts { found: parts }),
        }
        low.finish()
    }

    fn public(&self, low: &mut Lowering) {
        let q = low.basis.q().to_vec();
        let message = input(low, "m", InputClass::Plain, self.message, &q);
        let key = ["b", "a"].map(|name| input(low, name, InputClass::Key, Domain::Eval, &q));
        let v = sampled(low, "v", Distribution::Ternary, &q);
        let errors = ["e0", "e1"].map(|name| sampled(low, name, Distribution::Gaussian, &q));
        let mut parts = [Vec::new(), Vec::new()];
        for i in 0..q.len() {
            let mask = low.builder.ntt(v[i]);
            for part in 0..2 {
                let m = (part == 0).then(|| message[i]);
                let e = self.with_message(low, errors[part][i], m);
                parts[part].push(low.builder.mac(e, mask, key[part][i]));
            }
        }
        low.output("c0", &parts[0]);
        low.output("c1", &parts[1]);
    }

    /// The division subtracts the centred remainder r of v·b + e₀ modulo p before the transform of e₀, so that it costs none:
    /// (v·b + ntt(e₀ − r + p·m))·p^−1.
    fn public_divided(&self, low: &mut Lowering) -> Result<(), LowerError> {
        let (q, p) = (low.basis.q().to_vec(), low.basis.p()[0]);
        let all = [&q[..], &[p]].concat();
        let message = input(low, "m", InputClass::Plain, self.message, &q);
        let key = ["b", "a"].map(|name| input(low, name, InputClass::Key, Domain::Eval, &all));
        let v = sampled(low, "v", Distribution::Ternary, &all);
        let errors = ["e0", "e1"].map(|name| sampled(low, name, Distribution::Gaussian, &all));
        low.region("remainder modulo the extra prime");
        let mask = low.builder.ntt(v[q.len()]);
        let mut remainders = Vec::with_capacity(2);
        for part in 0..2 {
            let product = low.builder.mul(mask, key[part][q.len()]);
            let product = low.builder.intt(product);
            let remainder = low.builder.add(product, errors[part][q.len()]);
            remainders.push(low.residues(&[p], &[remainder])?);
        }
        low.region("divide");
        let mut parts = [Vec::new(), Vec::new()];
        for (i, &m) in q.iter().enumerate() {
            let (of_p, inverse) = (low.basis.product([p], m), low.basis.inverse([p], m)?);
            let mask = low.builder.ntt(v[i]);
            for part in 0..2 {
                let remainder = low.coefficients_modulo(&remainders[part], m);
                let mut x = low.builder.sub(errors[part][i], remainder);
                let in_coefficients = self.message == Domain::Coeff;
                if part == 0 && in_coefficients {
                    let scaled = low.builder.mul_const(message[i], of_p);
                    x = low.builder.add(x, scaled);
                }
                let x = low.builder.ntt(x);
                let x = low.builder.mac(x, mask, key[part][i]);
                let mut y = low.builder.mul_const(x, inverse);
                if part == 0 && !in_coefficients {
                    y = low.builder.add(y, message[i]);
                }
                parts[part].push(y);
            }
        }
        low.output("c0", &parts[0]);
        low.output("c1", &parts[1]);
        Ok(())
    }

    fn symmetric(&self, low: &mut Lowering) {
        let q = low.basis.q().to_vec();
        let message = input(low, "m", InputClass::Plain, self.message, &q);
        let s = input(low, "s", InputClass::Secret, self.secret, &q);
        let c1 = sampled(low, "c1", Distribution::Uniform(Expansion::Ciphertext), &q);
        let e = sampled(low, "e", Distribution::Gaussian, &q);
        let masked = |low: &mut Lowering, i: usize| {
            let e = self.with_message(low, e[i], Some(message[i]));
            self.minus_product(low, e, c1[i], s[i])
        };
        let c0: Poly = (0..q.len()).map(|i| masked(low, i)).collect();
        low.output("c0", &c0);
    }

    fn public_key(&self, low: &mut Lowering) {
        let all = [low.basis.q(), low.basis.p()].concat();
        let s = input(low, "s", InputClass::Secret, self.secret, &all);
        let a = sampled(low, "a", Distribution::Uniform(Expansion::PublicKey), &all);
        let e = sampled(low, "e", Distribution::Gaussian, &all);
        let outputs = low.builder.output("b", Domain::Eval, &all);
        for (i, output) in outputs.into_iter().enumerate() {
            let e = low.builder.ntt(e[i]);
            let b = self.minus_product(low, e, a[i], s[i]);
            low.builder.store(output, b);
        }
    }

    fn decrypt(&self, low: &mut Lowering, parts: usize) {
        let q = low.basis.q().to_vec();
        let c: Vec<Poly> = (0..parts)
            .map(|part| input(low, &format!("c{part}"), InputClass::Data, Domain::Eval, &q))
            .collect();
        let s = input(low, "s", InputClass::Secret, self.secret, &q);
        let outputs = low.builder.output("m", self.message, &q);
        for (i, output) in outputs.into_iter().enumerate() {
            let s = self.secret_limb(low, s[i]);
            // Horner's rule in s.
            let mut m = c[parts - 1][i];
            for part in (0..parts - 1).rev() {
                m = low.builder.mac(c[part][i], m, s);
            }
            if self.message == Domain::Coeff {
                m = low.builder.intt(m);
            }
            low.builder.store(output, m);
        }
    }

    /// The transform of an error, with the message added on the side of the transform where it is.
    fn with_message(&self, low: &mut Lowering, e: Operand, message: Option<Operand>) -> Operand {
        match message {
            Some(m) if self.message == Domain::Coeff => {
                let sum = low.builder.add(e, m);
                low.builder.ntt(sum)
            }
            Some(m) => {
                let e = low.builder.ntt(e);
                low.builder.add(e, m)
            }
            None => low.builder.ntt(e),
        }
    }

    /// x − a·s.
    fn minus_product(&self, low: &mut Lowering, x: Operand, a: Operand, s: Operand) -> Operand {
        let s = self.secret_limb(low, s);
        let product = low.builder.mul(a, s);
        low.builder.sub(x, product)
    }

    /// A limb of s in the evaluation domain.
    fn secret_limb(&self, low: &mut Lowering, s: Operand) -> Operand {
        if self.secret == Domain::Coeff { low.builder.ntt(s) } else { s }
    }
}

fn input(
    low: &mut Lowering,
    name: &str,
    class: InputClass,
    domain: Domain,
    moduli: &[ModulusId],
) -> Vec<Operand> {
    low.builder.input(name, class, domain, moduli)
}

fn sampled(low: &mut Lowering, name: &str, distribution: Distribution, moduli: &[ModulusId]) -> Vec<Operand> {
    input(low, name, InputClass::Sampled(distribution), distribution.domain(), moduli)
}

#[cfg(test)]
mod tests {
    use ringmill_ring::primes::of_bits;

    use super::*;
    use crate::limb::{Opcode, parse};

    const DOMAINS: [Domain; 2] = [Domain::Eval, Domain::Coeff];

    #[test]
    fn transforms_are_as_the_table_counts_and_texts_read_back() {
        let all = of_bits(40, 6, 5, &[]).unwrap();
        for mode in Mode::ALL {
            for (message, secret) in DOMAINS.into_iter().flat_map(|m| DOMAINS.map(|s| (m, s))) {
                for n in 1..=4 {
                    let extra = (mode == Mode::PublicDivided).then(|| all[4]);
                    let client = ClientProgram { mode, log_n: 6, q: &all[..n], extra, message, secret };
                    let p = client.lower().unwrap();
                    let of_secret = if secret == Domain::Coeff { n } else { 0 };
                    let expected = match mode {
                        Mode::Public => 3 * n,
                        Mode::PublicDivided => 3 * n + 3,
                        Mode::Symmetric | Mode::PublicKey => n + of_secret,
                        Mode::Decrypt { .. } => of_secret + if message == Domain::Coeff { n } else { 0 },
                    };
                    let transform = |&i: &usize| matches!(p.opcode(i), Opcode::Ntt | Opcode::Intt);
                    assert_eq!((0..p.len()).filter(transform).count(), expected, "{client:?}");
                    assert!(parse(&p.to_string()).unwrap() == p, "{client:?}\n{p}");
                    assert!(p.client_input().is_some());
                    let samples = p.inputs().iter().any(|g| matches!(g.class, InputClass::Sampled(_)));
                    assert_eq!(samples, mode.purpose().is_some());
                }
            }
        }
    }

    #[test]
    fn what_a_mode_cannot_have_is_named() {
        let all = of_bits(40, 6, 3, &[]).unwrap();
        let of = |mode, q, extra| {
            let client =
                ClientProgram { mode, log_n: 6, q, extra, message: Domain::Eval, secret: Domain::Eval };
            client.lower().unwrap_err()
        };
        let (q, extra) = (&all[..2], Some(all[2]));
        let missing = of(Mode::PublicDivided, q, None).to_string();
        assert_eq!(missing, "encrypt_public_divided divides by an extra prime; give the first special prime");
        let idle = of(Mode::Public, q, extra).to_string();
        assert_eq!(idle, "encrypt_public has no use for an extra prime; leave it out");
        assert_eq!(of(Mode::Decrypt { parts: 4 }, q, None), LowerError::Parts { found: 4 });
        assert_eq!(of(Mode::Symmetric, &[], None), LowerError::Limbs { found: 0, max: 0 });
        let among = of(Mode::PublicDivided, q, Some(all[0]));
        assert_eq!(among, LowerError::ExtraAmong { extra: all[0].value() });
        let twice = of(Mode::Symmetric, &[all[0], all[0]], None).to_string();
        assert!(twice.contains("is declared twice, as q0 and q1"), "{twice}");
    }
}
