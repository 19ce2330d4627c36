//! Objects of SEAL as ours, and ours as SEAL's.
//!
//! Residues are the same. Three things differ. SEAL's slots stand in the order of powers of 3, so parameters that are taken
//! over have [`Generator::Three`]. Its Galois key for g leads from s(X^g) to s, ours from s to s(X^(1/g)): the same
//! polynomials, permuted. Its scales are binary64, ours exact.

use ringmill_ckks::params::PrimeSpec;
use ringmill_ckks::{
    CkksError, EvaluationKeys, GaloisKeys, Generator, KeyGenerator, Params, ParamsError, ParamsLiteral,
    RelinKey, Secret,
};
use ringmill_ring::GaloisElement;
use zeroize::Zeroizing;

use super::prng::draw;
use super::{
    Ciphertext, EncryptionParameters, KSwitchKeys, Object, Plaintext, PrngKind, PublicKey, SEED, SealError,
    SecretKey,
};
use crate::meaning::{Born, Declared, name};
use crate::residues::{Halves, first, galois_keys, halves, switch_key, turned};
use crate::scale::from_f64;

fn content(what: &'static str) -> impl Fn(CkksError) -> SealError {
    move |source| SealError::Content { what, source }
}

/// Parameters that are computed with here.
///
/// `scale_bits` is log2 of the scale of what is encrypted here, the size of the last data prime where it is not given: SEAL's
/// parameters have none.
///
/// # Errors
/// [`SealError::NotInSeal`] without a special prime, with which nothing switches keys; [`SealError::Parameters`].
pub fn params(
    parameters: &EncryptionParameters,
    scale_bits: Option<u32>,
    insecure: bool,
) -> Result<Params, SealError> {
    let refused = |source: ParamsError| SealError::Parameters { source };
    let (q, p) = parameters.moduli().split_at(parameters.top());
    let values = |moduli: &[u64]| moduli.iter().map(|&q| PrimeSpec::Value(q)).collect();
    Params::new(&ParamsLiteral {
        log_n: parameters.n().trailing_zeros(),
        q: values(q),
        p: values(p),
        dnum: q.len(),
        secret: Secret::Ternary,
        scale_bits: scale_bits.unwrap_or_else(|| q.last().map_or(1, |q| (*q as f64).log2().round() as u32)),
        insecure,
        generator: Generator::Three,
        levels: Vec::new(),
    })
    .map_err(refused)
}

/// Our parameters as SEAL's.
///
/// # Errors
/// [`SealError::NotInSeal`] for rotations by powers of 5, several special primes, digits or levels of several primes, or secrets
/// that are not ternary.
pub fn encryption_parameters(params: &Params) -> Result<EncryptionParameters, SealError> {
    let no = |why: String| Err(SealError::NotInSeal { why });
    if params.generator() != Generator::Three {
        return no("its slots stand in the order of powers of 3, these parameters have that of 5; make them with rotations=3".into());
    }
    if params.p_moduli().len() != 1 || params.alpha() != 1 {
        let (special, alpha) = (params.p_moduli().len(), params.alpha());
        return no(format!(
            "it switches keys by digits of one prime over one special prime, these parameters have digits of {alpha} and \
             {special} special primes"
        ));
    }
    if !params.levels().is_single() {
        let levels = params.levels();
        return no(format!("its levels have one prime each, those of these parameters {levels}"));
    }
    if params.secret() != Secret::Ternary {
        return no(format!("its secrets are ternary, those of these parameters are {}", params.secret()));
    }
    EncryptionParameters::ckks(params.n() as u64, params.key_moduli().map(|q| q.value()).collect())
}

/// That our parameters are those that the object was read with.
fn context(params: &Params) -> Result<EncryptionParameters, SealError> {
    encryption_parameters(params)
}

/// A secret key of SEAL as ours; its identity is not known.
///
/// # Errors
/// [`SealError::Content`].
pub fn secret_key(params: &Params, key: &SecretKey) -> Result<ringmill_ckks::SecretKey, SealError> {
    let small = Zeroizing::new(key.expose_coefficients().to_vec());
    ringmill_ckks::SecretKey::from_coefficients(params, small, None).map_err(content(SecretKey::NAME))
}

/// Our secret key as SEAL's.
///
/// # Errors
/// As [`encryption_parameters`].
pub fn from_secret_key(key: &ringmill_ckks::SecretKey) -> Result<SecretKey, SealError> {
    context(key.params())?;
    SecretKey::new(Zeroizing::new(key.expose_coefficients().to_vec()))
}

/// A public key of SEAL as ours, over the same primes and so with the same division.
///
/// # Errors
/// [`SealError::Content`].
pub fn public_key(params: &Params, key: &PublicKey) -> Result<ringmill_ckks::PublicKey, SealError> {
    let limbs = params.q_moduli().len() + 1;
    let [b, a] = [0, 1].map(|part| first(&key.0.polys[part], limbs));
    ringmill_ckks::PublicKey::from_residues(params, b, a, None).map_err(content(PublicKey::NAME))
}

/// A new public key for SEAL.
///
/// # Errors
/// As [`encryption_parameters`]; [`SealError::Content`] without randomness.
pub fn new_public_key(secret: &ringmill_ckks::SecretKey) -> Result<PublicKey, SealError> {
    context(secret.params())?;
    let drawn =
        KeyGenerator::new(secret.params()).and_then(|mut keys| keys.public_key_over_key_primes(secret));
    let polys = drawn.map_err(content(PublicKey::NAME))?.into();
    Ok(PublicKey(Ciphertext { polys, scale: 1.0, seed: None }))
}

/// Encrypts as SEAL's `Encryptor::encrypt` does with a generator of this kind and seed: the same residues for the same plaintext.
///
/// A seed serves one encryption.
///
/// # Errors
/// [`SealError::Content`].
pub fn encrypt(
    key: &ringmill_ckks::PublicKey,
    plain: &ringmill_ckks::Plaintext,
    kind: PrngKind,
    seed: &[u8; SEED],
) -> Result<ringmill_ckks::Ciphertext, SealError> {
    context(key.params())?;
    let drawn = draw(kind, seed, key.params().n());
    key.encrypt_drawn(plain, &drawn, fresh_name(seed)).map_err(content(Ciphertext::NAME))
}

/// A name for an encryption with a seed, which does not give the seed away.
pub fn fresh_name(seed: &[u8; SEED]) -> u64 {
    let hash = blake2b_simd::Params::new().hash_length(8).personal(b"ringmill name").hash(seed);
    hash.as_bytes().first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

fn digits(row: &[PublicKey]) -> Halves {
    row.iter().map(|key| (key.0.polys[0].clone(), key.0.polys[1].clone())).unzip()
}

fn row((b, a): Halves) -> Vec<PublicKey> {
    let key = |(b, a)| PublicKey(Ciphertext { polys: vec![b, a], scale: 1.0, seed: None });
    b.into_iter().zip(a).map(key).collect()
}

/// Relinearisation keys of SEAL as ours. Keys of s³ and more are left out: nothing here needs them.
///
/// # Errors
/// [`SealError::NotInSeal`] without a key of s²; [`SealError::Content`].
pub fn relin_key(params: &Params, keys: &KSwitchKeys) -> Result<RelinKey, SealError> {
    let missing = || SealError::NotInSeal {
        why: "relinearisation keys have one for s² in row 0, these have none".into(),
    };
    let key = keys.keys.get(&0).ok_or_else(missing)?;
    switch_key(params, &digits(key)).map(RelinKey).map_err(content("relinearisation key"))
}

/// Our relinearisation key as SEAL's.
///
/// # Errors
/// As [`encryption_parameters`].
pub fn from_relin_key(key: &RelinKey) -> Result<KSwitchKeys, SealError> {
    context(key.0.params())?;
    let halves = halves(&key.0).map_err(content("relinearisation key"))?;
    Ok(KSwitchKeys { rows: 1, keys: [(0, row(halves))].into() })
}

/// Galois keys of SEAL as ours.
///
/// # Errors
/// [`SealError::Content`].
pub fn galois(params: &Params, keys: &KSwitchKeys) -> Result<GaloisKeys, SealError> {
    let turn = |(&row, digits_of): (&usize, &Vec<PublicKey>)| {
        let element = GaloisElement::new(KSwitchKeys::element(row), params.log_n())?;
        Ok((element, turned(params, &digits(digits_of), element.inverse())?))
    };
    galois_keys(params, keys.keys.iter().map(turn)).map_err(content("Galois keys"))
}

/// Our Galois keys as SEAL's.
///
/// # Errors
/// As [`encryption_parameters`].
pub fn from_galois(keys: &GaloisKeys) -> Result<KSwitchKeys, SealError> {
    let params = keys.params();
    context(params)?;
    let turn = |(element, key): (GaloisElement, &_)| {
        let halves = turned(params, &halves(key)?, element)?;
        Ok((KSwitchKeys::row(element.value()), row(halves)))
    };
    let rows = keys.iter().map(turn).collect::<Result<_, CkksError>>();
    Ok(KSwitchKeys { rows: params.n(), keys: rows.map_err(content("Galois keys"))? })
}

/// Both sets of keys together.
///
/// # Errors
/// As [`relin_key`] and [`galois`].
pub fn evaluation_keys(
    params: &Params,
    relin: Option<&KSwitchKeys>,
    galois_keys: Option<&KSwitchKeys>,
) -> Result<EvaluationKeys, SealError> {
    let relin = relin.map(|keys| relin_key(params, keys)).transpose()?;
    let galois = galois_keys.map_or_else(|| Ok(GaloisKeys::new(params)), |keys| galois(params, keys))?;
    EvaluationKeys::new(relin, galois).map_err(content("evaluation keys"))
}

fn scale_of(
    what: &'static str,
    params: &Params,
    declared: &Declared,
    scale: f64,
) -> Result<ringmill_ckks::Scale, SealError> {
    let primes: Vec<u64> = params.q_moduli().iter().map(|q| q.value()).collect();
    let unknown = || SealError::InexactScale { what, found: scale };
    declared.scale.clone().or_else(|| from_f64(scale, &primes)).ok_or_else(unknown)
}

/// A ciphertext of SEAL as ours.
///
/// # Errors
/// [`SealError::InexactScale`]; [`SealError::Content`], for instance for one of more than three polynomials.
pub fn ciphertext(
    params: &Params,
    cipher: &Ciphertext,
    declared: &Declared,
) -> Result<ringmill_ckks::Ciphertext, SealError> {
    let what = Ciphertext::NAME;
    let scale = scale_of(what, params, declared, cipher.scale)?;
    let born = Born::Divided(name(cipher.polys[1].words()));
    let meta = declared.meta(params, cipher.limbs(), scale, params.slots(), born);
    ringmill_ckks::Ciphertext::from_parts(params, cipher.polys.clone(), meta, None).map_err(content(what))
}

/// Our ciphertext as SEAL's.
///
/// # Errors
/// As [`encryption_parameters`].
pub fn from_ciphertext(cipher: &ringmill_ckks::Ciphertext) -> Result<Ciphertext, SealError> {
    context(cipher.params())?;
    Ok(Ciphertext { polys: cipher.polys().to_vec(), scale: cipher.scale().to_f64(), seed: None })
}

/// A plaintext of SEAL as ours.
///
/// # Errors
/// [`SealError::InexactScale`], [`SealError::Content`].
pub fn plaintext(
    params: &Params,
    plain: &Plaintext,
    declared: &Declared,
) -> Result<ringmill_ckks::Plaintext, SealError> {
    let (what, limbs) = (Plaintext::NAME, plain.poly.limb_count());
    if limbs > params.q_moduli().len() {
        let rule = "messages stand below that of keys: is it a secret key?";
        return Err(SealError::Level { what, found: limbs, rule });
    }
    let scale = scale_of(what, params, declared, plain.scale)?;
    let meta = declared.meta(params, limbs, scale, params.slots(), Born::Encoded);
    ringmill_ckks::Plaintext::from_parts(params, plain.poly.clone(), meta).map_err(content(what))
}

/// Our plaintext as SEAL's.
///
/// # Errors
/// As [`encryption_parameters`].
pub fn from_plaintext(plain: &ringmill_ckks::Plaintext) -> Result<Plaintext, SealError> {
    context(plain.params())?;
    Ok(Plaintext { poly: plain.poly().clone(), scale: plain.scale().to_f64() })
}
