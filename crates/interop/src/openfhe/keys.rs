//! Public and private keys.

use std::fmt;

use ringmill_ring::sample::small_to_residues;
use ringmill_ring::{Domain, LimbRing, Modulus, Poly};
use zeroize::Zeroizing;

use super::OpenFheError;
use super::archive::{Archive, Class, Result, shared, version};
use super::model::{Context, Objects, poly, present};
use super::objects::{Walked, front, no_poly, polys};

/// A public key (b, a).
#[derive(Clone, PartialEq)]
pub struct PublicKey {
    /// Its context.
    pub context: Context,
    /// Its tag.
    pub tag: String,
    /// b and a, in the evaluation domain.
    pub polys: Vec<Poly>,
    /// The moduli of their towers.
    pub moduli: Vec<u64>,
}

impl Walked for PublicKey {
    const WHAT: &'static str = "public key";

    fn empty() -> Self {
        Self { context: Context::default(), tag: String::new(), polys: Vec::new(), moduli: Vec::new() }
    }
    fn walk<A: Archive>(&mut self, a: &mut A) -> Result<()> {
        let mut objects = Objects::default();
        a.open("value0")?;
        present(a, Class::Declared)?;
        shared(a, None, |a, _| {
            version(a, "PublicKeyImpl", 0)?;
            a.open("value0")?;
            version(a, "Key", 0)?;
            front(a, &mut objects, &mut self.context, &mut self.tag)?;
            a.close()?;
            polys(a, "h", &mut objects, self.context.n, (&mut self.polys, &mut self.moduli, 2))
        })?;
        a.close()
    }
}

/// A private key: wiped on drop, never printed.
pub struct PrivateKey {
    /// Its context.
    pub context: Context,
    /// Its tag.
    pub tag: String,
    coefficients: Zeroizing<Vec<i8>>,
}

impl PrivateKey {
    /// From its coefficients, each −1, 0 or 1.
    ///
    /// # Errors
    /// [`OpenFheError::Secret`].
    pub fn new(context: Context, tag: String, coefficients: Zeroizing<Vec<i8>>) -> Result<Self> {
        if coefficients.len() != context.n || !coefficients.iter().all(|c| (-1..=1).contains(c)) {
            return Err(OpenFheError::Secret { why: "it has not N coefficients that are -1, 0 or 1" });
        }
        Ok(Self { context, tag, coefficients })
    }

    /// The coefficients: to make a key of another kind, and for nothing else.
    pub fn expose_coefficients(&self) -> &[i8] {
        &self.coefficients
    }

    /// Its residues modulo every tower, transformed.
    fn residues(&self) -> Result<Poly> {
        let content = |source: ringmill_ring::RingError| OpenFheError::Content {
            what: Self::WHAT,
            source: source.into(),
        };
        let mut poly = Poly::zeros(self.context.n, self.context.towers.len(), Domain::Evaluation).wiped();
        for (limb, &q) in poly.limbs_mut().zip(&self.context.towers) {
            let ring = ring(self.context.n, q)?;
            small_to_residues(&self.coefficients, ring.modulus(), limb).map_err(content)?;
            ring.forward(limb).map_err(content)?;
        }
        Ok(poly)
    }

    /// Takes the coefficients from residues, which must agree.
    fn take(&mut self, residues: Poly) -> Result<()> {
        let content = |source: ringmill_ring::RingError| OpenFheError::Content {
            what: Self::WHAT,
            source: source.into(),
        };
        let residues = residues.wiped();
        let first = ring(self.context.n, self.context.towers[0])?;
        let mut words = Zeroizing::new(residues.limb(0).to_vec());
        first.inverse(&mut words).map_err(content)?;
        let small = words.iter().map(|&w| i8::try_from(first.modulus().centred(w)).unwrap_or(i8::MAX));
        self.coefficients = Zeroizing::new(small.collect());
        if !self.coefficients.iter().all(|c| (-1..=1).contains(c)) {
            return Err(OpenFheError::Secret {
                why: "a coefficient is not -1, 0 or 1: secrets are uniform ternary",
            });
        }
        match self.residues()? == residues {
            true => Ok(()),
            false => Err(OpenFheError::Secret {
                why: "its residues modulo one tower are not those modulo another",
            }),
        }
    }
}

fn ring(n: usize, q: u64) -> Result<LimbRing> {
    let content = |source: ringmill_ring::RingError| OpenFheError::Content {
        what: "private key",
        source: source.into(),
    };
    LimbRing::new(n.trailing_zeros(), Modulus::new(q).map_err(content)?).map_err(content)
}

impl Walked for PrivateKey {
    const WHAT: &'static str = "private key";

    fn empty() -> Self {
        let coefficients = Zeroizing::new(Vec::new());
        Self { context: Context::default(), tag: String::new(), coefficients }
    }
    fn walk<A: Archive>(&mut self, a: &mut A) -> Result<()> {
        let mut objects = Objects::default();
        a.open("value0")?;
        present(a, Class::Declared)?;
        shared(a, None, |a, _| {
            version(a, "PrivateKeyImpl", 0)?;
            a.open("value0")?;
            version(a, "Key", 0)?;
            front(a, &mut objects, &mut self.context, &mut self.tag)?;
            a.close()?;
            let mut residues = if A::READS { no_poly() } else { self.residues()? };
            let mut moduli = self.context.towers.clone();
            poly(a, "s", &mut objects, self.context.n, (&mut residues, &mut moduli))?;
            if moduli != self.context.towers {
                let why = "its towers are not those of the context".into();
                return Err(OpenFheError::OtherContext { what: Self::WHAT, why });
            }
            if A::READS { self.take(residues) } else { Ok(()) }
        })?;
        a.close()
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrivateKey(…)")
    }
}

/// Shape alone, never residues.
impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({} towers)", self.moduli.len())
    }
}
