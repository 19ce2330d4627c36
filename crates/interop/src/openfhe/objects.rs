//! Ciphertexts and keys, each with its context, and the two forms of their files.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{BufRead, Write};

use ringmill_ring::sample::small_to_residues;
use ringmill_ring::{Domain, LimbRing, Modulus, Poly};
use zeroize::Zeroizing;

use super::OpenFheError;
use super::archive::{Archive, Class, Result, class, shared, shared_list, version};
use super::binary::{BinaryReader, BinaryWriter};
use super::json::{JsonReader, JsonWriter};
use super::model::{Context, MAX_TOWERS, Objects, context, poly, present};
use super::tree::Node;

/// The form of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// Text with the names of fields, six times as large.
    Json,
    /// Bytes.
    #[default]
    Binary,
}

impl std::str::FromStr for Form {
    type Err = OpenFheError;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "json" => Ok(Self::Json),
            "binary" => Ok(Self::Binary),
            _ => Err(OpenFheError::Unsupported {
                why: format!("form {text:?} is not known; there are json and binary"),
            }),
        }
    }
}

/// What a file of OpenFHE may hold.
pub trait Object: Sized + sealed::Sealed {
    /// The name in messages.
    const NAME: &'static str;

    /// Reads the one object of a file, in the form that its first byte tells.
    ///
    /// # Errors
    /// Any [`OpenFheError`].
    fn read(input: impl BufRead) -> Result<Self>;

    /// Writes the object.
    ///
    /// # Errors
    /// [`OpenFheError::Io`].
    fn write(&mut self, out: impl Write, form: Form) -> Result<()>;
}

mod sealed {
    pub trait Sealed {}
}

/// The walk over an object.
trait Walked: Sized {
    const WHAT: &'static str;

    /// One that is read next.
    fn empty() -> Self;
    fn walk<A: Archive>(&mut self, a: &mut A) -> Result<()>;
}

fn read<T: Walked>(mut input: impl BufRead) -> Result<T> {
    let (what, io) = (T::WHAT, |source| OpenFheError::Io { action: "reading", source });
    let first = input.fill_buf().map_err(io)?.first().copied();
    let mut object = T::empty();
    match first {
        None => return Err(OpenFheError::Truncated { what }),
        Some(1) => {
            input.consume(1);
            object.walk(&mut BinaryReader::new(what, &mut input))?;
            let mut more = [0];
            if input.read(&mut more).map_err(io)? > 0 {
                return Err(OpenFheError::Trailing { what });
            }
        }
        Some(b'{' | b' ' | b'\n') => {
            // The parser refuses what follows the value.
            let root: Node = serde_json::from_reader(input)
                .map_err(|e| OpenFheError::Syntax { what, why: e.to_string() })?;
            object.walk(&mut JsonReader::new(what, &root))?;
        }
        Some(found) => return Err(OpenFheError::Form { found }),
    }
    Ok(object)
}

fn write<T: Walked>(object: &mut T, mut out: impl Write, form: Form) -> Result<()> {
    match form {
        Form::Binary => {
            let mut writer = BinaryWriter::new(T::WHAT, &mut out);
            writer.bytes(&[1])?;
            object.walk(&mut writer)
        }
        Form::Json => {
            let mut writer = JsonWriter::new(T::WHAT, &mut out);
            writer.begin()?;
            object.walk(&mut writer)?;
            writer.close()
        }
    }
}

macro_rules! object {
    ($($t:ty),*) => {$(
        impl sealed::Sealed for $t {}
        impl Object for $t {
            const NAME: &'static str = <$t as Walked>::WHAT;
            fn read(input: impl BufRead) -> Result<Self> {
                read(input)
            }
            fn write(&mut self, out: impl Write, form: Form) -> Result<()> {
                write(self, out, form)
            }
        }
    )*};
}
object!(Context, Ciphertext, PublicKey, PrivateKey, EvalKeys, EvalMultKeys);

/// A polynomial that is read next.
fn no_poly() -> Poly {
    Poly::zeros(1, 1, Domain::Evaluation)
}

/// What all objects but contexts begin with: the context and the tag of the key.
fn front<A: Archive>(a: &mut A, objects: &mut Objects, of: &mut Context, tag: &mut String) -> Result<()> {
    a.open("value0")?;
    version(a, "CryptoObject", 0)?;
    context(a, "cc", objects, of)?;
    a.text("kt", tag)?;
    a.close()
}

/// Polynomials over the same towers.
fn polys<A: Archive>(
    a: &mut A,
    name: &'static str,
    objects: &mut Objects,
    n: usize,
    (all, moduli, most): (&mut Vec<Poly>, &mut Vec<u64>, usize),
) -> Result<()> {
    let mut count = all.len();
    a.list(name, "polynomials", &mut count, most)?;
    if A::READS {
        all.clear();
    }
    for i in 0..count {
        let mut one = if A::READS { no_poly() } else { std::mem::replace(&mut all[i], no_poly()) };
        let mut found = if A::READS { Vec::new() } else { moduli.clone() };
        poly(a, "", objects, n, (&mut one, &mut found))?;
        if A::READS {
            if i > 0 && found != *moduli {
                let why = "its polynomials have different towers".into();
                return Err(OpenFheError::OtherContext { what: a.what(), why });
            }
            *moduli = found;
            all.push(one);
        } else {
            all[i] = one;
        }
    }
    a.close()
}

impl Walked for Context {
    const WHAT: &'static str = "crypto context";

    fn empty() -> Self {
        Self::default()
    }
    fn walk<A: Archive>(&mut self, a: &mut A) -> Result<()> {
        context(a, "value0", &mut Objects::default(), self)
    }
}

/// An encrypted message.
#[derive(Clone, PartialEq)]
pub struct Ciphertext {
    /// Its context.
    pub context: Context,
    /// The tag of its key.
    pub tag: String,
    /// Two polynomials or more, in the evaluation domain.
    pub polys: Vec<Poly>,
    /// The moduli of its towers.
    pub moduli: Vec<u64>,
    /// Slots.
    pub slots: u32,
    /// Levels that were used.
    pub level: u32,
    /// Hops of re-encryption.
    pub hops: u32,
    /// Degree of the scale: how many times the fixed scale it is.
    pub degree: u32,
    /// What the message is multiplied by.
    pub scale: f64,
    /// Encoding: 4, packed CKKS.
    pub encoding: u32,
}

impl Walked for Ciphertext {
    const WHAT: &'static str = "ciphertext";

    fn empty() -> Self {
        let (context, tag, polys, moduli) = (Context::default(), String::new(), Vec::new(), Vec::new());
        Self { context, tag, polys, moduli, slots: 0, level: 0, hops: 0, degree: 1, scale: 1.0, encoding: 4 }
    }
    fn walk<A: Archive>(&mut self, a: &mut A) -> Result<()> {
        let mut objects = Objects::default();
        a.open("value0")?;
        present(a, Class::Declared)?;
        shared(a, None, |a, _| {
            version(a, "CiphertextImpl", 1)?;
            front(a, &mut objects, &mut self.context, &mut self.tag)?;
            polys(a, "v", &mut objects, self.context.n, (&mut self.polys, &mut self.moduli, 16))?;
            a.u32("sl", &mut self.slots)?;
            a.u32("l", &mut self.level)?;
            a.u32("t", &mut self.hops)?;
            a.u32("d", &mut self.degree)?;
            a.f64("s", &mut self.scale)?;
            a.open("si")?;
            a.u64("v", &mut 1)?;
            a.close()?;
            a.u32("e", &mut self.encoding)?;
            a.open("m")?;
            shared_list(a, None, |a, _| {
                let mut entries = 0;
                a.list("data", "entries of metadata", &mut entries, 0)?;
                a.close()
            })?;
            a.close()
        })?;
        a.close()
    }
}

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
            what: Self::NAME,
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
            what: Self::NAME,
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
                return Err(OpenFheError::OtherContext { what: Self::NAME, why });
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

/// The digits of one switching key, over the towers of ciphertexts and then the special primes.
#[derive(Clone, PartialEq)]
pub struct EvalKey {
    /// a of every digit.
    pub a: Vec<Poly>,
    /// b of every digit.
    pub b: Vec<Poly>,
    /// The moduli of their towers.
    pub moduli: Vec<u64>,
}

/// Switching keys of one secret key by Galois element: `EvalAutomorphismKey`.
#[derive(Clone, PartialEq)]
pub struct EvalKeys {
    /// Their context.
    pub context: Context,
    /// The tag of the secret key.
    pub tag: String,
    /// By Galois element.
    pub keys: BTreeMap<u32, EvalKey>,
}

/// Relinearisation keys of one secret key, that of s² first: `EvalMultKey`.
#[derive(Clone, PartialEq)]
pub struct EvalMultKeys {
    /// Their context.
    pub context: Context,
    /// The tag of the secret key.
    pub tag: String,
    /// Of s², s³, ….
    pub keys: Vec<EvalKey>,
}

impl EvalKey {
    fn empty() -> Self {
        Self { a: Vec::new(), b: Vec::new(), moduli: Vec::new() }
    }

    /// The key behind a pointer to its base class.
    fn walk<A: Archive>(
        &mut self,
        a: &mut A,
        objects: &mut Objects,
        of: &mut Context,
        tag: &mut String,
    ) -> Result<()> {
        let what = a.what();
        if !class(a, Class::Named("lbcrypto::EvalKeyRelinImpl<lbcrypto::DCRTPoly>"))? {
            return Err(OpenFheError::Pointer { what, found: 0 });
        }
        shared(a, None, |a, _| {
            version(a, "EvalKeyRelinImpl", 0)?;
            a.open("value0")?;
            version(a, "EvalKeyImpl", 0)?;
            a.open("value0")?;
            version(a, "Key", 0)?;
            front(a, objects, of, tag)?;
            a.close()?;
            a.close()?;
            if !A::READS {
                objects.begin_key();
            }
            polys(a, "ak", objects, of.n, (&mut self.a, &mut self.moduli, MAX_TOWERS))?;
            let mut moduli = self.moduli.clone();
            polys(a, "bk", objects, of.n, (&mut self.b, &mut moduli, MAX_TOWERS))?;
            if (self.a.len(), &self.moduli) != (self.b.len(), &moduli) {
                let why = "the two halves of a key have different digits or towers".into();
                return Err(OpenFheError::OtherContext { what, why });
            }
            Ok(())
        })?;
        Ok(())
    }
}

/// The map from tags, which must be that of one secret key.
fn tagged<A: Archive>(a: &mut A, tag: &mut String, value: impl FnOnce(&mut A) -> Result<()>) -> Result<()> {
    let mut count = 1;
    a.list("value0", "secret keys", &mut count, 1 << 10)?;
    if count != 1 {
        return Err(OpenFheError::Tags { what: a.what(), count });
    }
    a.open("")?;
    a.text("key", tag)?;
    value(a)?;
    a.close()?;
    a.close()
}

/// That the tag of a key is that of its map.
fn same_tag(what: &'static str, outer: &str, inner: &str) -> Result<()> {
    match outer == inner {
        true => Ok(()),
        false => Err(OpenFheError::OtherContext {
            what,
            why: format!("a key of {inner} stands among those of {outer}"),
        }),
    }
}

impl Walked for EvalMultKeys {
    const WHAT: &'static str = "set of relinearisation keys";

    fn empty() -> Self {
        Self { context: Context::default(), tag: String::new(), keys: Vec::new() }
    }
    fn walk<A: Archive>(&mut self, a: &mut A) -> Result<()> {
        let (mut objects, mut tag) = (Objects::default(), self.tag.clone());
        let (context, keys) = (&mut self.context, &mut self.keys);
        tagged(a, &mut self.tag, |a| {
            let mut count = keys.len();
            a.list("value", "keys", &mut count, 16)?;
            for i in 0..count {
                if A::READS {
                    keys.push(EvalKey::empty());
                }
                a.open("")?;
                keys[i].walk(a, &mut objects, context, &mut tag)?;
                a.close()?;
            }
            a.close()
        })?;
        if self.keys.is_empty() { Ok(()) } else { same_tag(Self::NAME, &self.tag, &tag) }
    }
}

impl Walked for EvalKeys {
    const WHAT: &'static str = "set of automorphism keys";

    fn empty() -> Self {
        Self { context: Context::default(), tag: String::new(), keys: BTreeMap::new() }
    }
    fn walk<A: Archive>(&mut self, a: &mut A) -> Result<()> {
        let (mut objects, mut tag) = (Objects::default(), self.tag.clone());
        let (context, keys) = (&mut self.context, &mut self.keys);
        tagged(a, &mut self.tag, |a| {
            a.open("value")?;
            shared_list(a, None, |a, _| {
                let mut count = keys.len();
                a.list("data", "keys", &mut count, 2 << 17)?;
                let mut old: Vec<(u32, EvalKey)> = std::mem::take(keys).into_iter().collect();
                for i in 0..count {
                    if A::READS {
                        old.push((0, EvalKey::empty()));
                    }
                    let (element, key) = &mut old[i];
                    a.open("")?;
                    a.u32("key", element)?;
                    a.open("value")?;
                    key.walk(a, &mut objects, context, &mut tag)?;
                    a.close()?;
                    a.close()?;
                }
                *keys = old.into_iter().collect();
                a.close()
            })?;
            a.close()
        })?;
        if self.keys.is_empty() { Ok(()) } else { same_tag(Self::NAME, &self.tag, &tag) }
    }
}

macro_rules! shown {
    ($($t:ty: $text:literal),*) => {$(
        /// Shape alone, never residues.
        impl fmt::Debug for $t {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, $text, self.moduli.len())
            }
        }
    )*};
}
shown!(Ciphertext: "Ciphertext({} towers)", PublicKey: "PublicKey({} towers)", EvalKey: "EvalKey({} towers)");

macro_rules! counted {
    ($($t:ty: $text:literal),*) => {$(
        /// Their number, never residues.
        impl fmt::Debug for $t {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, $text, self.keys.len())
            }
        }
    )*};
}
counted!(EvalKeys: "EvalKeys({})", EvalMultKeys: "EvalMultKeys({})");

/// The context of a file of any kind, and the tag of its key. What is said of a file of no kind is what a context lacks.
pub(super) fn any_context(mut input: impl BufRead) -> Result<(Context, String)> {
    let mut bytes = Zeroizing::new(Vec::new());
    input.read_to_end(&mut bytes).map_err(|source| OpenFheError::Io { action: "reading", source })?;
    let refused = match read::<Context>(&bytes[..]) {
        Ok(context) => return Ok((context, String::new())),
        Err(refused) => refused,
    };
    macro_rules! or_of {
        ($($t:ty),*) => {$(
            if let Ok(object) = read::<$t>(&bytes[..]) {
                return Ok((object.context, object.tag));
            }
        )*};
    }
    or_of!(PublicKey, Ciphertext, PrivateKey, EvalMultKeys, EvalKeys);
    Err(refused)
}
