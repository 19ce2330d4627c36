//! Files: every object in a versioned, checked frame.
//!
//! An object is written with [`Stored::write`] or [`Stored::save`] and read with [`Stored::read`] or
//! [`Stored::load`], given the parameters it belongs to; parameters come from their own file
//! ([`read_params`]). Reading is bounded in time and memory for any bytes. Lengths are compared with what the
//! parameters and the header need before anything is allocated, and memory grows only with bytes that have arrived.
//! Every residue is checked against its prime, and a checksum covers everything. Saving is atomic: a file is complete or
//! absent.
//!
//! Keys and fresh ciphertexts under the secret key are stored at half size, as a seed and one polynomial. Evaluation keys
//! may stay so: [`EvaluationKeys::load_in`].
//! Whatever belongs to a secret key carries its [identity](KeyIdentity), which keeps the files of two apart; files from before
//! version 3 have none and go with all. It is as trustworthy as the writer of the file.
//! A secret key is not [`Stored`]: only [`write_secret_key`], [`save_secret_key`] and [`replace_secret_key`] write it
//! ([`replace_secret_file`] in the formats of other libraries).
//!
//! The layout is in `frame.rs`; the checksum finds damage, it does not authenticate.

mod disk;
mod encapsulation;
mod error;
#[cfg(test)]
mod field_tests;
mod frame;
mod header;
mod kept;
#[cfg(test)]
mod kept_tests;
mod listed;
mod objects;
mod parameters;
mod pieces;
mod secret;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod version_tests;

use std::fmt;
use std::io::{Read, Write};
use std::path::Path;

use ringmill_ring::packed::{pack, packed_len, unpack};
use ringmill_ring::{Domain, LimbSource, Modulus, Poly};

pub use error::FileError;
pub use listed::{KeyList, inspect_keys};
pub use parameters::{load_params, params_from_bytes, read_params, save_params, write_params};
pub use pieces::KeyPieces;
pub use secret::{
    load_secret_key, read_secret_key, replace_secret_file, replace_secret_key, save_secret_key,
    secret_key_from_bytes, write_secret_key,
};

use crate::ciphertext::{Ciphertext, Plaintext, SeededCiphertext};
use crate::error::CkksError;
use crate::keys::{EvaluationKeys, KeyForm, KeyIdentity, PublicKey, RelinKey};
use crate::params::{Fingerprint, Params};
use disk::{Old, Privacy};
use frame::{Front, Hashed, IDENTIFIED};
use objects::{Codec, DIVIDING, EXPLICIT, EXPLICIT_DIVIDING, SUMMED, TURNED};
use zeroize::Zeroizing;

/// Newest format version of any kind of file; a kind is written in the version in which it last changed.
pub const VERSION: u16 = 8;

/// What `read` makes of bytes that hold it and nothing after it.
fn whole<T>(bytes: &[u8], read: impl FnOnce(&mut &[u8]) -> Result<T, FileError>) -> Result<T, FileError> {
    let mut rest = bytes;
    let object = read(&mut rest)?;
    if rest.is_empty() { Ok(object) } else { Err(FileError::Trailing) }
}

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u16)]
pub enum Kind {
    /// Parameters.
    Params = 1,
    /// Secret key.
    SecretKey = 2,
    /// Public key.
    PublicKey = 3,
    /// Relinearisation key.
    RelinKey = 4,
    /// Relinearisation and Galois keys.
    EvaluationKeys = 5,
    /// Plaintext.
    Plaintext = 6,
    /// Ciphertext.
    Ciphertext = 7,
    /// Ciphertext at half size.
    SeededCiphertext = 8,
    /// A form of a key-switching key.
    KeyForm = 9,
}

impl ringmill_errors::ToField for Kind {
    /// The name of the variant, which never changes.
    fn to_field(&self) -> ringmill_errors::Field {
        ringmill_errors::Field::Text(format!("{self:?}"))
    }
}

impl Kind {
    const ALL: [Self; 9] = [
        Self::Params,
        Self::SecretKey,
        Self::PublicKey,
        Self::RelinKey,
        Self::EvaluationKeys,
        Self::Plaintext,
        Self::Ciphertext,
        Self::SeededCiphertext,
        Self::KeyForm,
    ];

    /// The version in which files of this kind are written, as a rule. Since version 2 Galois keys lead from s to s(X^(1/g)), before
    /// that they led from s(X^g) to s. Since version 3 whatever belongs to a secret key says to which. Since version 4 the
    /// header of a plaintext or ciphertext is a function of public facts.
    fn version(self) -> u16 {
        match self {
            Self::Params => 1,
            Self::Plaintext | Self::Ciphertext | Self::SeededCiphertext => SUMMED,
            _ => IDENTIFIED,
        }
    }

    /// The newest version of this kind, which parameters have whose levels have several primes, and keys that hold both halves.
    fn newest(self) -> u16 {
        match self {
            Self::Params => parameters::LEVELLED,
            Self::PublicKey => EXPLICIT_DIVIDING,
            Self::RelinKey | Self::EvaluationKeys | Self::KeyForm => EXPLICIT,
            _ => self.version(),
        }
    }

    /// Whether there are files of this version.
    fn has(self, version: u16) -> bool {
        let other = match self {
            Self::Params => version == parameters::TURNING,
            Self::PublicKey => [EXPLICIT, DIVIDING].contains(&version),
            _ => false,
        };
        (1..=self.version()).contains(&version) || version == self.newest() || other
    }

    fn from_number(number: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|&k| k as u16 == number)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Params => "parameter set",
            Self::SecretKey => "secret key",
            Self::PublicKey => "public key",
            Self::RelinKey => "relinearisation key",
            Self::EvaluationKeys => "set of evaluation keys",
            Self::Plaintext => "plaintext",
            Self::Ciphertext => "ciphertext",
            Self::SeededCiphertext => "half-size ciphertext",
            Self::KeyForm => "form of a key-switching key",
        })
    }
}

/// An object that is written and read without further ado: everything but secret keys.
///
/// Implemented by [`Plaintext`] (which reveals the message), [`Ciphertext`], [`SeededCiphertext`], [`PublicKey`],
/// [`RelinKey`], [`EvaluationKeys`] and [`KeyForm`]. Keys are written in their base form; other forms have files of
/// their own and are put in again with [`SwitchKey::insert`](crate::SwitchKey::insert).
///
/// ```
/// use ringmill_ckks::file::Stored;
/// use ringmill_ckks::{KeyGenerator, NamedSet, Params, PublicKey};
/// let params = Params::named(NamedSet::I)?;
/// let mut keys = KeyGenerator::new(&params)?;
/// let secret = keys.secret_key()?;
/// let bytes = keys.public_key(&secret)?.to_bytes()?;
/// let public = PublicKey::from_bytes(&params, &bytes)?;
/// let wrong = ringmill_ckks::Ciphertext::from_bytes(&params, &bytes).unwrap_err();
/// assert!(wrong.to_string().starts_with("this file holds a public key, but a ciphertext is wanted"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Stored: Sized + private::Sealed {
    /// What its files hold.
    const KIND: Kind;

    /// Writes the object.
    ///
    /// # Errors
    /// [`FileError::Io`]; [`FileError::HeaderLength`] for more keys than a header names.
    fn write(&self, out: impl Write) -> Result<(), FileError>;

    /// Reads one object of the given context; what follows it in `input` is left alone.
    ///
    /// # Errors
    /// Any [`FileError`] but that of trailing bytes.
    fn read(params: &Params, input: impl Read) -> Result<Self, FileError>;

    /// The object as bytes.
    ///
    /// # Errors
    /// As [`Stored::write`].
    fn to_bytes(&self) -> Result<Vec<u8>, FileError> {
        let mut bytes = Vec::new();
        self.write(&mut bytes)?;
        Ok(bytes)
    }

    /// The object that `bytes` hold, and nothing after it.
    ///
    /// # Errors
    /// Any [`FileError`].
    fn from_bytes(params: &Params, bytes: &[u8]) -> Result<Self, FileError> {
        whole(bytes, |rest| Self::read(params, rest))
    }

    /// Writes the object to a file, atomically.
    ///
    /// # Errors
    /// As [`Stored::write`].
    fn save(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
        disk::save(path.as_ref(), Privacy::Public, Old::Replaced, |out| self.write(out))
    }

    /// Reads the object from a file.
    ///
    /// # Errors
    /// Any [`FileError`].
    fn load(params: &Params, path: impl AsRef<Path>) -> Result<Self, FileError> {
        disk::load(path.as_ref(), |input| Self::read(params, input))
    }
}

mod private {
    pub trait Sealed {}
}

macro_rules! stored {
    ($($t:ty),*) => {$(
        impl private::Sealed for $t {}
        impl Stored for $t {
            const KIND: Kind = <$t as Codec>::KIND;
            fn write(&self, out: impl Write) -> Result<(), FileError> {
                write_object(self, out)
            }
            fn read(params: &Params, input: impl Read) -> Result<Self, FileError> {
                read_object(params, input)
            }
        }
    )*};
}
stored!(Plaintext, Ciphertext, SeededCiphertext, PublicKey, RelinKey, EvaluationKeys, KeyForm);

/// Bytes of `count` polynomials over `moduli`, `None` beyond 2^64.
fn payload_len(params: &Params, count: usize, moduli: &[Modulus]) -> Option<u64> {
    let poly: usize = moduli.iter().map(|m| packed_len(params.n(), m.bits())).sum();
    (count as u64).checked_mul(poly as u64)
}

fn write_object<T: Codec>(object: &T, out: impl Write) -> Result<(), FileError> {
    let params = object.params();
    let version = T::version(&object.header());
    let header = frame::encode(T::KIND, &object.header())?;
    let polys = object.polys();
    let moduli = T::moduli(params, &object.header(), polys.first().map_or(0, Vec::len));
    let payload = payload_len(params, polys.len(), &moduli).unwrap_or(u64::MAX);
    let mut out = Hashed::new(out);
    let front = Front::new(T::KIND, params.fingerprint(), payload, header).of(object.identity());
    Front { version, ..front }.write(&mut out)?;
    let mut bytes = Vec::new();
    for poly in polys {
        for (limb, m) in poly.into_iter().zip(&moduli) {
            if let LimbSource::Packed { bytes, bits } = limb
                && bits == m.bits()
            {
                out.put(bytes)?;
                continue;
            }
            bytes.resize(packed_len(params.n(), m.bits()), 0);
            pack(&limb.to_words(params.n()), m.bits(), &mut bytes);
            out.put(&bytes)?;
        }
    }
    out.seal()
}

/// What stands before the residues of an object of the context.
struct Opened<T: Codec> {
    header: T::Header,
    identity: Option<KeyIdentity>,
    /// Polynomials, and the primes of each.
    count: usize,
    moduli: Vec<Modulus>,
}

fn open<T: Codec, R: Read>(params: &Params, input: &mut Hashed<R>) -> Result<Opened<T>, FileError> {
    let front = Front::read(input)?;
    front.expect(T::KIND)?;
    front.expect_context(params.fingerprint())?;
    if T::KIND == Kind::Plaintext && front.identity.is_some() {
        return Err(objects::damaged(T::KIND)("a plaintext belongs to no secret key".into()));
    }
    let header = T::decode(front.version, &front.header)?;
    if !T::means_the_same(front.version, &header) {
        return Err(FileError::TurnedKeys { kind: T::KIND, found: front.version, oldest: TURNED });
    }
    let (count, limbs) = T::shape(params, &header)?;
    let moduli = T::moduli(params, &header, limbs);
    front.expect_payload(payload_len(params, count, &moduli).unwrap_or(u64::MAX))?;
    Ok(Opened { header, identity: front.identity, count, moduli })
}

fn read_object<T: Codec>(params: &Params, input: impl Read) -> Result<T, FileError> {
    let mut input = Hashed::new(input);
    let Opened { header, identity, count, moduli } = open::<T, _>(params, &mut input)?;
    // One polynomial at a time: memory follows the bytes that are there, whatever the lengths announce.
    let mut polys = Vec::new();
    for _ in 0..count {
        polys.push(read_poly(T::KIND, params, &moduli, &mut input)?);
    }
    // Before anything is expanded: damage costs no more than the reading.
    input.verify(T::KIND)?;
    T::build(params, &header, identity, polys)
}

fn read_poly<R: Read>(
    kind: Kind,
    params: &Params,
    moduli: &[Modulus],
    input: &mut Hashed<R>,
) -> Result<Poly, FileError> {
    let mut poly = Poly::zeros(params.n(), moduli.len(), Domain::Evaluation);
    let mut bytes = Vec::new();
    for (limb, (words, m)) in poly.limbs_mut().zip(moduli).enumerate() {
        bytes.resize(packed_len(params.n(), m.bits()), 0);
        input.take("residues", &mut bytes)?;
        unpack(&bytes, m.bits(), words);
        if let Some(&value) = words.iter().find(|&&w| w >= m.value()) {
            let source = CkksError::NotCanonical { what: "polynomial", limb, value, q: m.value() };
            return Err(FileError::Content { kind, source });
        }
    }
    Ok(poly)
}

/// What a file says of itself; its checksum was right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info {
    /// Format version.
    pub version: u16,
    /// What it holds.
    pub kind: Kind,
    /// Parameters it belongs to.
    pub fingerprint: Fingerprint,
    /// Secret key it says it belongs to.
    pub identity: Option<KeyIdentity>,
    /// Bytes of residues.
    pub payload: u64,
}

/// Reads frame and checksum of any object, in constant memory and without knowing its parameters.
///
/// # Errors
/// Those of the frame: [`FileError::Magic`], [`FileError::Version`], [`FileError::Truncated`],
/// [`FileError::Checksum`], …
pub fn inspect(input: impl Read) -> Result<Info, FileError> {
    Ok(passed(input, |_| Ok(()))?.0)
}

/// Reads frame and checksum, and what `check` makes of the frame before the rest is read.
fn passed<T>(
    input: impl Read,
    check: impl FnOnce(&Front) -> Result<T, FileError>,
) -> Result<(Info, T), FileError> {
    let mut input = Hashed::new(input);
    let front = Front::read(&mut input)?;
    let made = check(&front)?;
    let mut left = front.payload;
    // It may be a secret key's.
    let mut block = Zeroizing::new(vec![0; 1 << 16]);
    while left > 0 {
        let next = left.min(block.len() as u64);
        input.take("residues", &mut block[..next as usize])?;
        left -= next;
    }
    input.verify(front.kind)?;
    let Front { version, kind, fingerprint, identity, payload, .. } = front;
    Ok((Info { version, kind, fingerprint, identity, payload }, made))
}
