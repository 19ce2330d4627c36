//! Switching keys: of relinearisation, and of automorphisms.

use std::collections::BTreeMap;
use std::fmt;

use ringmill_ring::Poly;

use super::OpenFheError;
use super::archive::{Archive, Class, Result, class, shared, shared_list, version};
use super::model::{Context, MAX_TOWERS, Objects};
use super::objects::{Walked, front, polys};

/// The digits of one key-switching key, over the towers of ciphertexts and then the special primes.
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
        if self.keys.is_empty() { Ok(()) } else { same_tag(Self::WHAT, &self.tag, &tag) }
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
        if self.keys.is_empty() { Ok(()) } else { same_tag(Self::WHAT, &self.tag, &tag) }
    }
}

/// Shape alone, never residues.
impl fmt::Debug for EvalKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EvalKey({} towers)", self.moduli.len())
    }
}

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
