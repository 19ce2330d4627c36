//! Ciphertexts and keys, each with its context, and the two forms of their files.

use std::fmt;
use std::io::{BufRead, Write};

use ringmill_ring::{Domain, Poly};

use super::OpenFheError;
use super::archive::{Archive, Class, Result, shared, shared_list, version};
use super::binary::{BinaryReader, BinaryWriter};
use super::evaluation::{EvalKeys, EvalMultKeys};
use super::json::{JsonReader, JsonWriter};
use super::keys::{PrivateKey, PublicKey};
use super::model::{Context, Objects, context, poly, present};
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

/// The longest text in JSON, 4 GiB. A relinearisation key at N = 2^17 with 80 towers and six digits has 2.5 GB; what is longer
/// comes in the binary form.
pub(super) const MAX_JSON: u64 = 1 << 32;

/// What a file of OpenFHE may hold.
pub trait Object: Sized + sealed::Sealed {
    /// The name in messages.
    const NAME: &'static str;

    /// Reads the one object of a file, in the form that its first byte shows.
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
pub(super) trait Walked: Sized {
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
            // The parser refuses what follows the value. A tree takes memory in proportion to its text, which ends here.
            let mut text = input.take(MAX_JSON);
            let root: std::result::Result<Node, _> = serde_json::from_reader(&mut text);
            if root.is_err() && text.limit() == 0 {
                return Err(OpenFheError::TooLong { what, most: MAX_JSON });
            }
            let root = root.map_err(|e| OpenFheError::Syntax { what, why: e.to_string() })?;
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
pub(super) fn no_poly() -> Poly {
    Poly::zeros(1, 1, Domain::Evaluation)
}

/// What all objects but contexts begin with: the context and the tag of the key.
pub(super) fn front<A: Archive>(
    a: &mut A,
    objects: &mut Objects,
    of: &mut Context,
    tag: &mut String,
) -> Result<()> {
    a.open("value0")?;
    version(a, "CryptoObject", 0)?;
    context(a, "cc", objects, of)?;
    a.text("kt", tag)?;
    a.close()
}

/// Polynomials over the same towers.
pub(super) fn polys<A: Archive>(
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

/// Shape alone, never residues.
impl fmt::Debug for Ciphertext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ciphertext({} towers)", self.moduli.len())
    }
}

/// The context of a file of any kind, and the tag of its key. What is said of a file of no kind is what a context lacks. The file is
/// read anew as each kind, so that memory holds what one object of that kind needs.
pub(super) fn any_context<R: BufRead>(mut open: impl FnMut() -> Result<R>) -> Result<(Context, String)> {
    let refused = match read::<Context>(open()?) {
        Ok(context) => return Ok((context, String::new())),
        Err(refused) => refused,
    };
    macro_rules! or_of {
        ($($t:ty),*) => {$(
            if let Ok(object) = read::<$t>(open()?) {
                return Ok((object.context, object.tag));
            }
        )*};
    }
    or_of!(PublicKey, Ciphertext, PrivateKey, EvalMultKeys, EvalKeys);
    Err(refused)
}
