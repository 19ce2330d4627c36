//! How each object splits into a header and polynomials.

use ringmill_ring::{GaloisElement, LimbSource, Modulus, Poly};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::frame;
use super::header::{
    CipherHeader, Keyed, KeysHeader, MetaHeader, NamedCipherHeader, NamedMetaHeader, NamedSeededHeader,
    PublicHeader, SeedBytes, SeededHeader,
};
use super::{FileError, Kind, encapsulation};
use crate::ciphertext::{Ciphertext, Plaintext, SeededCiphertext};
use crate::error::CkksError;
use crate::keys::{
    EvaluationKeys, GaloisKeys, KeyForm, KeyIdentity, KeyLayout, PublicKey, RelinKey, SwitchKey,
};
use crate::params::Params;

/// The version since which Galois keys lead from s.
pub(super) const TURNED: u16 = 2;

/// The version since which ciphertexts have the sums of their predictions, not their contributions.
pub(super) const SUMMED: u16 = 4;

/// An object of one context that is stored as a header and polynomials over primes of the key basis.
pub(super) trait Codec: Sized {
    const KIND: Kind;
    type Header: Serialize + DeserializeOwned;

    fn params(&self) -> &Params;
    fn header(&self) -> Self::Header;
    /// The secret key that it belongs to, if it does to one that is known.
    fn identity(&self) -> Option<KeyIdentity>;
    /// The version of a file with this header.
    fn version(_header: &Self::Header) -> u16 {
        Self::KIND.version()
    }
    /// The limbs of each polynomial.
    fn polys(&self) -> Vec<Vec<LimbSource<'_>>>;
    /// The header of a file of this version, not newer than the one that is written.
    fn decode(_version: u16, bytes: &[u8]) -> Result<Self::Header, FileError> {
        frame::decode(Self::KIND, bytes)
    }
    /// Whether a file of this version, not newer than the one that is written, means what it would mean today.
    fn means_the_same(_version: u16, _header: &Self::Header) -> bool {
        true
    }
    /// Number of polynomials and limbs of each that belong to a header.
    fn shape(params: &Params, header: &Self::Header) -> Result<(usize, usize), FileError>;
    /// The primes of each of these limbs.
    fn moduli(params: &Params, _header: &Self::Header, limbs: usize) -> Vec<Modulus> {
        params.key_moduli().take(limbs).collect()
    }
    fn build(
        params: &Params,
        header: &Self::Header,
        identity: Option<KeyIdentity>,
        polys: Vec<Poly>,
    ) -> Result<Self, FileError>;
}

pub(super) fn content(kind: Kind) -> impl Fn(CkksError) -> FileError {
    move |source| FileError::Content { kind, source }
}

pub(super) fn damaged(kind: Kind) -> impl Fn(String) -> FileError {
    move |why| FileError::Header { kind, why }
}

/// A header that has another form before version 4.
fn decode_summed<Old, New>(kind: Kind, version: u16, bytes: &[u8]) -> Result<New, FileError>
where
    Old: Serialize + DeserializeOwned + Into<New>,
    New: Serialize + DeserializeOwned,
{
    if version >= SUMMED {
        frame::decode(kind, bytes)
    } else {
        frame::decode::<Old>(kind, bytes).map(Into::into)
    }
}

/// Limbs at the level of a header.
fn limbs_of(kind: Kind, params: &Params, header: &MetaHeader) -> Result<usize, FileError> {
    let meta = header.meta().map_err(damaged(kind))?;
    crate::check::level(params, meta.level).map_err(content(kind))?;
    crate::check::slots(params, meta.slots).map_err(content(kind))?;
    Ok(params.limbs(meta.level))
}

/// The only polynomial.
fn single(kind: Kind, polys: Vec<Poly>) -> Result<Poly, FileError> {
    polys.into_iter().next().ok_or_else(|| damaged(kind)("it has no polynomial".into()))
}

impl Codec for Plaintext {
    const KIND: Kind = Kind::Plaintext;
    type Header = MetaHeader;

    fn params(&self) -> &Params {
        self.params()
    }
    fn header(&self) -> MetaHeader {
        MetaHeader::of(self.meta())
    }
    fn identity(&self) -> Option<KeyIdentity> {
        None
    }
    fn polys(&self) -> Vec<Vec<LimbSource<'_>>> {
        vec![words(self.poly())]
    }
    fn decode(version: u16, bytes: &[u8]) -> Result<Self::Header, FileError> {
        decode_summed::<NamedMetaHeader, _>(Self::KIND, version, bytes)
    }
    fn shape(params: &Params, header: &MetaHeader) -> Result<(usize, usize), FileError> {
        Ok((1, limbs_of(Self::KIND, params, header)?))
    }
    fn build(
        params: &Params,
        header: &MetaHeader,
        _: Option<KeyIdentity>,
        polys: Vec<Poly>,
    ) -> Result<Self, FileError> {
        let meta = header.meta().map_err(damaged(Self::KIND))?;
        Self::from_parts(params, single(Self::KIND, polys)?, meta).map_err(content(Self::KIND))
    }
}

impl Codec for Ciphertext {
    const KIND: Kind = Kind::Ciphertext;
    type Header = CipherHeader;

    fn params(&self) -> &Params {
        self.params()
    }
    fn header(&self) -> CipherHeader {
        CipherHeader { polys: self.polys().len() as u8, meta: MetaHeader::of(self.meta()) }
    }
    fn identity(&self) -> Option<KeyIdentity> {
        self.identity()
    }
    fn polys(&self) -> Vec<Vec<LimbSource<'_>>> {
        self.polys().iter().map(words).collect()
    }
    fn decode(version: u16, bytes: &[u8]) -> Result<Self::Header, FileError> {
        decode_summed::<NamedCipherHeader, _>(Self::KIND, version, bytes)
    }
    fn shape(params: &Params, header: &CipherHeader) -> Result<(usize, usize), FileError> {
        let count = usize::from(header.polys);
        if !(2..=3).contains(&count) {
            return Err(content(Self::KIND)(CkksError::PolyCount { got: count }));
        }
        Ok((count, limbs_of(Self::KIND, params, &header.meta)?))
    }
    fn build(
        params: &Params,
        header: &CipherHeader,
        identity: Option<KeyIdentity>,
        polys: Vec<Poly>,
    ) -> Result<Self, FileError> {
        let meta = header.meta.meta().map_err(damaged(Self::KIND))?;
        Self::from_parts(params, polys, meta, identity).map_err(content(Self::KIND))
    }
}

impl Codec for SeededCiphertext {
    const KIND: Kind = Kind::SeededCiphertext;
    type Header = SeededHeader;

    fn params(&self) -> &Params {
        self.params()
    }
    fn header(&self) -> SeededHeader {
        SeededHeader { seed: self.seed().into(), meta: MetaHeader::of(self.meta()) }
    }
    fn identity(&self) -> Option<KeyIdentity> {
        self.identity()
    }
    fn polys(&self) -> Vec<Vec<LimbSource<'_>>> {
        vec![words(self.c0())]
    }
    fn decode(version: u16, bytes: &[u8]) -> Result<Self::Header, FileError> {
        decode_summed::<NamedSeededHeader, _>(Self::KIND, version, bytes)
    }
    fn shape(params: &Params, header: &SeededHeader) -> Result<(usize, usize), FileError> {
        Ok((1, limbs_of(Self::KIND, params, &header.meta)?))
    }
    fn build(
        params: &Params,
        header: &SeededHeader,
        identity: Option<KeyIdentity>,
        polys: Vec<Poly>,
    ) -> Result<Self, FileError> {
        let meta = header.meta.meta().map_err(damaged(Self::KIND))?;
        let c0 = single(Self::KIND, polys)?;
        Self::from_parts(params, c0, header.seed.into(), meta, identity).map_err(content(Self::KIND))
    }
}

impl Codec for PublicKey {
    const KIND: Kind = Kind::PublicKey;
    type Header = PublicHeader;

    fn params(&self) -> &Params {
        self.params()
    }
    fn header(&self) -> Self::Header {
        PublicHeader { seed: self.seed().into(), explicit: !self.has_seed(), divides: self.divides() }
    }
    fn identity(&self) -> Option<KeyIdentity> {
        self.identity()
    }
    fn polys(&self) -> Vec<Vec<LimbSource<'_>>> {
        let explicit = if self.has_seed() { None } else { Some(words(self.a())) };
        std::iter::once(words(self.b())).chain(explicit).collect()
    }
    fn version(header: &Self::Header) -> u16 {
        match (header.divides, header.explicit) {
            (false, false) => Self::KIND.version(),
            (false, true) => EXPLICIT,
            (true, false) => DIVIDING,
            (true, true) => EXPLICIT_DIVIDING,
        }
    }
    fn decode(version: u16, bytes: &[u8]) -> Result<Self::Header, FileError> {
        let header: PublicHeader = frame::decode(Self::KIND, bytes)?;
        let explicit = [EXPLICIT, EXPLICIT_DIVIDING].contains(&version);
        Ok(PublicHeader { explicit, divides: version >= DIVIDING, ..header })
    }
    fn shape(params: &Params, header: &Self::Header) -> Result<(usize, usize), FileError> {
        let limbs = params.q_moduli().len() + usize::from(header.divides);
        Ok((1 + usize::from(header.explicit), limbs))
    }
    fn build(
        params: &Params,
        header: &Self::Header,
        identity: Option<KeyIdentity>,
        polys: Vec<Poly>,
    ) -> Result<Self, FileError> {
        let mut polys = polys;
        let a = if header.explicit { polys.pop() } else { None };
        let b = single(Self::KIND, polys)?;
        match a {
            Some(a) => Self::from_residues(params, b, a, identity),
            None => Self::from_parts(params, b, header.seed.into(), identity),
        }
        .map_err(content(Self::KIND))
    }
}

/// The version of files of public keys over one prime more than ciphertexts have.
pub(super) const DIVIDING: u16 = 6;

/// The same where both halves are in the file.
pub(super) const EXPLICIT_DIVIDING: u16 = 7;

/// The version of files that hold both halves of every key.
pub(super) const EXPLICIT: u16 = 5;

impl<H: Serialize + DeserializeOwned> Keyed<H> {
    fn decode(kind: Kind, version: u16, bytes: &[u8]) -> Result<Self, FileError> {
        Ok(Self { explicit: version == EXPLICIT, ..frame::decode(kind, bytes)? })
    }

    /// Polynomials in a file for each one that is stored of a key with a seed.
    fn parts(&self) -> usize {
        1 + usize::from(self.explicit)
    }

    fn version(&self, kind: Kind) -> u16 {
        if self.explicit { EXPLICIT } else { kind.version() }
    }
}

/// The limbs of a polynomial.
fn words(poly: &Poly) -> Vec<LimbSource<'_>> {
    poly.limbs().map(LimbSource::Words).collect()
}

/// What is stored of a form of a key: every b, and every a after them if they are `explicit`.
fn stored(form: &KeyForm, explicit: bool) -> impl Iterator<Item = Vec<LimbSource<'_>>> {
    let (digits, rows) = (form.layout().dnum(), form.layout().rows());
    let part = move |part, j| (0..rows).map(|row| form.limb(j, part, row)).collect();
    (0..1 + usize::from(explicit)).flat_map(move |of| (0..digits).map(move |j| part(of, j)))
}

/// A key from the next polynomials: dnum, or twice as many without a seed.
fn take_key(
    kind: Kind,
    params: &Params,
    (seed, identity): (Option<SeedBytes>, Option<KeyIdentity>),
    polys: &mut impl Iterator<Item = Poly>,
) -> Result<SwitchKey, FileError> {
    let b: Vec<Poly> = polys.by_ref().take(params.dnum()).collect();
    match seed {
        Some(seed) => SwitchKey::from_parts(params, &b, seed.into(), identity),
        None => {
            let a: Vec<Poly> = polys.by_ref().take(params.dnum()).collect();
            SwitchKey::from_residues(params, (&b, &a), identity)
        }
    }
    .map_err(content(kind))
}

impl Codec for RelinKey {
    const KIND: Kind = Kind::RelinKey;
    type Header = Keyed<SeedBytes>;

    fn params(&self) -> &Params {
        self.0.params()
    }
    fn header(&self) -> Self::Header {
        Keyed { header: self.0.seed().into(), explicit: !self.0.base().has_seed() }
    }
    fn identity(&self) -> Option<KeyIdentity> {
        self.0.identity()
    }
    fn polys(&self) -> Vec<Vec<LimbSource<'_>>> {
        stored(self.0.base(), !self.0.base().has_seed()).collect()
    }
    fn version(header: &Self::Header) -> u16 {
        header.version(Self::KIND)
    }
    fn decode(version: u16, bytes: &[u8]) -> Result<Self::Header, FileError> {
        Keyed::decode(Self::KIND, version, bytes)
    }
    fn shape(params: &Params, header: &Self::Header) -> Result<(usize, usize), FileError> {
        Ok((header.parts() * params.dnum(), params.key_limbs()))
    }
    fn build(
        params: &Params,
        header: &Self::Header,
        identity: Option<KeyIdentity>,
        polys: Vec<Poly>,
    ) -> Result<Self, FileError> {
        Ok(Self(take_key(
            Self::KIND,
            params,
            ((!header.explicit).then_some(header.header), identity),
            &mut polys.into_iter(),
        )?))
    }
}

impl Codec for KeyForm {
    const KIND: Kind = Kind::KeyForm;
    type Header = Keyed<(KeyLayout, SeedBytes)>;

    fn params(&self) -> &Params {
        self.params()
    }
    fn header(&self) -> Self::Header {
        Keyed { header: (self.layout(), self.seed().into()), explicit: !self.has_seed() }
    }
    fn identity(&self) -> Option<KeyIdentity> {
        self.identity()
    }
    fn polys(&self) -> Vec<Vec<LimbSource<'_>>> {
        stored(self, !self.has_seed()).collect()
    }
    /// It may be the form of a Galois key.
    fn means_the_same(version: u16, _: &Self::Header) -> bool {
        version >= TURNED
    }
    fn version(header: &Self::Header) -> u16 {
        header.version(Self::KIND)
    }
    fn decode(version: u16, bytes: &[u8]) -> Result<Self::Header, FileError> {
        Keyed::decode(Self::KIND, version, bytes)
    }
    fn shape(params: &Params, keyed: &Self::Header) -> Result<(usize, usize), FileError> {
        let (layout, _) = &keyed.header;
        let allowed = layout.check(params.q_moduli(), params.p_moduli());
        allowed.map_err(|e| content(Self::KIND)(e.into()))?;
        Ok((keyed.parts() * layout.dnum(), layout.rows()))
    }
    fn moduli(params: &Params, keyed: &Self::Header, _limbs: usize) -> Vec<Modulus> {
        keyed.header.0.moduli(params.q_moduli(), params.p_moduli())
    }
    fn build(
        params: &Params,
        Keyed { header: (layout, seed), explicit }: &Self::Header,
        identity: Option<KeyIdentity>,
        polys: Vec<Poly>,
    ) -> Result<Self, FileError> {
        let key = match *explicit {
            false => Self::from_parts(params, *layout, &polys, (*seed).into(), identity),
            true => {
                let parts = polys.split_at(polys.len() / 2);
                Self::from_residues(params, *layout, parts, identity)
            }
        };
        key.map_err(content(Self::KIND))
    }
}

/// Whether every key-switching key of a set expands from a seed.
fn has_seeds(keys: &EvaluationKeys) -> bool {
    keys.switch_keys().all(|(_, key)| key.base().has_seed())
}

impl Codec for EvaluationKeys {
    const KIND: Kind = Kind::EvaluationKeys;
    type Header = Keyed<KeysHeader>;

    fn params(&self) -> &Params {
        self.params()
    }
    fn header(&self) -> Self::Header {
        let header = KeysHeader {
            relin: self.relin().ok().map(|k| k.0.seed().into()),
            galois: encapsulation::seed(self)
                .chain(self.galois().iter().map(|(g, k)| (g.value(), k.seed().into())))
                .collect(),
        };
        Keyed { header, explicit: !has_seeds(self) }
    }
    fn identity(&self) -> Option<KeyIdentity> {
        self.identity()
    }
    fn polys(&self) -> Vec<Vec<LimbSource<'_>>> {
        let explicit = !has_seeds(self);
        let relin = self.relin().ok().into_iter().flat_map(|k| stored(k.0.base(), explicit));
        let encapsulation = self.encapsulation().ok().into_iter().flat_map(encapsulation::halves);
        relin
            .chain(encapsulation)
            .chain(self.galois().iter().flat_map(|(_, k)| stored(k.base(), explicit)))
            .collect()
    }
    fn version(header: &Self::Header) -> u16 {
        header.version(Self::KIND)
    }
    fn decode(version: u16, bytes: &[u8]) -> Result<Self::Header, FileError> {
        Keyed::decode(Self::KIND, version, bytes)
    }
    fn means_the_same(version: u16, Keyed { header, .. }: &Self::Header) -> bool {
        version >= TURNED || encapsulation::split(&header.galois).1.is_empty()
    }
    fn shape(params: &Params, keyed: &Self::Header) -> Result<(usize, usize), FileError> {
        let header = &keyed.header;
        let two_n = 2 * params.n() as u64;
        let odd = |g: u64| g % 2 == 1 && g < two_n;
        let ascending = header.galois.windows(2).all(|w| w[0].0 < w[1].0);
        if !ascending || !header.galois.iter().all(|&(g, _)| odd(g)) {
            return Err(damaged(Self::KIND)("its Galois elements are not odd and ascending below 2N".into()));
        }
        let (encapsulation, galois) = encapsulation::split(&header.galois);
        let keys = galois.len() + usize::from(header.relin.is_some());
        let more = if encapsulation.is_some() { encapsulation::POLYS } else { 0 };
        Ok((keyed.parts() * keys * params.dnum() + more, params.key_limbs()))
    }
    fn build(
        params: &Params,
        Keyed { header, explicit }: &Self::Header,
        identity: Option<KeyIdentity>,
        polys: Vec<Poly>,
    ) -> Result<Self, FileError> {
        let (kind, mut polys) = (Self::KIND, polys.into_iter());
        let of = |seed: SeedBytes| (!explicit).then_some(seed);
        let relin = match header.relin {
            Some(seed) => Some(RelinKey(take_key(kind, params, (of(seed), identity), &mut polys)?)),
            None => None,
        };
        let mut galois = GaloisKeys::new(params);
        let (encapsulation, elements) = encapsulation::split(&header.galois);
        let encapsulation = match encapsulation {
            Some(seed) => Some(encapsulation::take(kind, params, (seed, identity), &mut polys)?),
            None => None,
        };
        for &(g, seed) in elements {
            let element = GaloisElement::new(g, params.log_n()).map_err(|e| content(kind)(e.into()))?;
            let key = take_key(kind, params, (of(seed), identity), &mut polys)?;
            galois.insert(element, key).map_err(content(kind))?;
        }
        let keys = Self::new(relin, galois).map_err(content(kind))?;
        match encapsulation {
            Some(key) => keys.with_encapsulation(key).map_err(content(kind)),
            None => Ok(keys),
        }
    }
}
