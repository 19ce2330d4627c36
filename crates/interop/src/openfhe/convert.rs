//! Objects of OpenFHE as ours, and ours as OpenFHE's.
//!
//! Residues, their order, the order of slots and the direction of Galois keys are the same. A context does not name its
//! special primes: OpenFHE takes those next below 2^60 that the ciphertext has not, and so does [`special_primes`]. Scales
//! are binary64 there, exact here.

use std::io::BufRead;

use ringmill_ckks::params::PrimeSpec;
use ringmill_ckks::{
    CkksError, EvaluationKeys, GaloisKeys, Generator, Params, ParamsLiteral, RelinKey, Secret, SwitchKey,
};
use ringmill_ring::{GaloisElement, Modulus};
use zeroize::Zeroizing;

use super::evaluation::EvalKey;
use super::{
    Ciphertext, Context, EvalKeys, EvalMultKeys, OpenFheError, PrivateKey, PublicKey, Scaling, Settings,
};
use crate::meaning::{Born, Declared, name};
use crate::residues::{Halves, first, galois_keys, halves, switch_key};
use crate::scale::from_f64;

/// Key switching HYBRID.
const HYBRID: u32 = 2;
/// Secrets that are uniform ternary.
const TERNARY: u32 = 1;
/// Packed encoding of CKKS.
const PACKED: u32 = 4;

fn content(what: &'static str) -> impl Fn(CkksError) -> OpenFheError {
    move |source| OpenFheError::Content { what, source }
}

fn unsupported<T>(why: String) -> Result<T, OpenFheError> {
    Err(OpenFheError::Unsupported { why })
}

/// Primes a digit.
fn alpha(context: &Context) -> usize {
    context.towers.len().div_ceil((context.settings.digits as usize).max(1))
}

/// The special primes that OpenFHE takes for a context: as many as hold the widest digit, of `special_bits` bits each, in
/// descending order from 2^`special_bits` on and different from all towers.
///
/// # Errors
/// [`OpenFheError::Unsupported`] for sizes outside of 20 to 60 bits.
pub fn special_primes(context: &Context) -> Result<Vec<u64>, OpenFheError> {
    let bits = context.settings.special_bits;
    if !(20..=60).contains(&bits) {
        return unsupported(format!(
            "special primes of {bits} bits are not read; sizes of 20 to 60 bits are"
        ));
    }
    let widest = context.towers.chunks(alpha(context)).map(bit_length).max().unwrap_or(0);
    let step = 2 * context.n as u64;
    let candidates =
        (1..).map(|k: u64| (1u64 << bits).checked_sub(k * step).map(|q| q + 1)).take_while(Option::is_some);
    let primes = candidates.flatten().filter(|q| Modulus::new(*q).is_ok() && !context.towers.contains(q));
    Ok(primes.take(widest.div_ceil(bits) as usize).collect())
}

/// The length of a product in bits.
fn bit_length(factors: &[u64]) -> u32 {
    let mut words = vec![1u64];
    for &factor in factors {
        let mut carry = 0u128;
        for word in &mut words {
            let t = u128::from(*word) * u128::from(factor) + carry;
            (*word, carry) = (t as u64, t >> 64);
        }
        if carry > 0 {
            words.push(carry as u64);
        }
    }
    64 * words.len() as u32 - words.last().map_or(0, |word| word.leading_zeros())
}

/// Parameters that are computed with here.
///
/// # Errors
/// [`OpenFheError::Unsupported`] for key switching BV, several primes a level, or secrets that are not uniform ternary;
/// [`OpenFheError::Parameters`].
pub fn params(context: &Context, insecure: bool) -> Result<Params, OpenFheError> {
    let settings = &context.settings;
    Scaling::of(settings)?;
    if settings.key_switching != HYBRID {
        return unsupported("its keys are switched by BV; make the context with key switching HYBRID".into());
    }
    if settings.composite != 1 {
        let count = settings.composite;
        return unsupported(format!(
            "it has {count} primes a level (composite scaling); contexts with one prime a level are read"
        ));
    }
    if settings.secret != TERNARY {
        let found = settings.secret;
        return unsupported(format!(
            "its secrets are of distribution {found}; those of UNIFORM_TERNARY (1) are read"
        ));
    }
    let values = |moduli: &[u64]| moduli.iter().map(|&q| PrimeSpec::Value(q)).collect();
    Params::new(&ParamsLiteral {
        log_n: context.n.trailing_zeros(),
        q: values(&context.towers),
        p: values(&special_primes(context)?),
        dnum: context.towers.len().div_ceil(alpha(context)),
        secret: Secret::Ternary,
        scale_bits: u32::try_from(settings.scale_bits).unwrap_or(u32::MAX),
        insecure,
        generator: Generator::Five,
        levels: Vec::new(),
    })
    .map_err(|source| OpenFheError::Parameters { source })
}

/// A context of OpenFHE for our parameters: FIXEDMANUAL and HYBRID, of no stated security.
///
/// # Errors
/// [`OpenFheError::Unsupported`] for rotations by powers of 3, secrets that are not ternary, levels of several primes, and special
/// primes other than those that OpenFHE takes.
pub fn context(params: &Params) -> Result<Context, OpenFheError> {
    if params.generator() != Generator::Five {
        let found = params.generator();
        return unsupported(format!(
            "OpenFHE's slots stand in the order of powers of 5, these parameters have that of {found}"
        ));
    }
    if params.secret() != Secret::Ternary {
        return unsupported(format!(
            "secrets are uniform ternary there, those of these parameters are {}",
            params.secret()
        ));
    }
    if !params.levels().is_single() {
        return unsupported(format!(
            "its levels have one prime each in this mode, those of these parameters {}",
            params.levels()
        ));
    }
    let (q, p) = (params.q_moduli(), params.p_moduli());
    let settings = Settings {
        scale_bits: params.default_scale().log2().round() as u64,
        batch_size: params.slots() as u32,
        depth: q.len() as u32 - 1,
        digits: params.dnum() as u32,
        security: 6,
        ..Settings::default()
    };
    let context = Context { n: params.n(), towers: q.iter().map(|q| q.value()).collect(), settings };
    let (wanted, found) = (special_primes(&context)?, p.iter().map(|p| p.value()).collect::<Vec<_>>());
    if wanted == found {
        return Ok(context);
    }
    unsupported(format!(
        "OpenFHE takes the special primes {wanted:?} for these ciphertext primes and digits, and keys of these parameters have \
         {found:?}; make the parameters with those"
    ))
}

/// The context of a file of any kind, and the tag of its key, empty in the file of a context. `open` gives the file from its begin.
///
/// # Errors
/// As [`Object::read`](super::Object::read) of a context.
pub fn any_context<R: BufRead>(
    open: impl FnMut() -> Result<R, OpenFheError>,
) -> Result<(Context, String), OpenFheError> {
    super::objects::any_context(open)
}

/// That an object belongs to parameters: the same ring and towers.
fn same(what: &'static str, params: &Params, context: &Context) -> Result<(), OpenFheError> {
    let towers = params.q_moduli().iter().map(|q| q.value());
    if context.n != params.n() {
        let why = format!("its ring dimension is {}, that of the parameters {}", context.n, params.n());
        return Err(OpenFheError::OtherContext { what, why });
    }
    if !towers.eq(context.towers.iter().copied()) || alpha(context) != params.alpha() {
        let why = "its towers or digits are not those of the parameters; use the files of one context".into();
        return Err(OpenFheError::OtherContext { what, why });
    }
    Ok(())
}

/// That towers are the first ones of the parameters' key basis.
fn at_least(
    what: &'static str,
    params: &Params,
    moduli: &[u64],
    least: usize,
    most: usize,
) -> Result<(), OpenFheError> {
    let fits = (least..=most).contains(&moduli.len());
    if fits && params.key_moduli().map(|q| q.value()).zip(moduli).all(|(q, &m)| q == m) {
        return Ok(());
    }
    let why = format!(
        "its towers are {moduli:?}; they must be the first {least} to {most} of those of the parameters"
    );
    Err(OpenFheError::OtherContext { what, why })
}

/// A private key as ours; its identity is not known.
///
/// # Errors
/// [`OpenFheError::OtherContext`], [`OpenFheError::Content`].
pub fn secret_key(params: &Params, key: &PrivateKey) -> Result<ringmill_ckks::SecretKey, OpenFheError> {
    same("private key", params, &key.context)?;
    let small = Zeroizing::new(key.expose_coefficients().to_vec());
    ringmill_ckks::SecretKey::from_coefficients(params, small, None).map_err(content("private key"))
}

/// Our secret key as a private key.
///
/// # Errors
/// [`OpenFheError::OtherContext`].
pub fn from_secret_key(
    key: &ringmill_ckks::SecretKey,
    context: &Context,
    tag: &str,
) -> Result<PrivateKey, OpenFheError> {
    same("private key", key.params(), context)?;
    PrivateKey::new(context.clone(), tag.into(), Zeroizing::new(key.expose_coefficients().to_vec()))
}

/// A public key as ours.
///
/// # Errors
/// [`OpenFheError::OtherContext`], [`OpenFheError::Content`].
pub fn public_key(params: &Params, key: &PublicKey) -> Result<ringmill_ckks::PublicKey, OpenFheError> {
    let (what, limbs) = ("public key", params.q_moduli().len());
    same(what, params, &key.context)?;
    at_least(what, params, &key.moduli, limbs, params.key_limbs())?;
    let [b, a] = &key.polys[..] else {
        let expected = "2 are right".into();
        return Err(OpenFheError::Count {
            what,
            field: "polynomials",
            found: key.polys.len() as u64,
            expected,
        });
    };
    ringmill_ckks::PublicKey::from_residues(params, first(b, limbs), first(a, limbs), None)
        .map_err(content(what))
}

/// Our public key as OpenFHE's.
///
/// # Errors
/// [`OpenFheError::OtherContext`].
pub fn from_public_key(
    key: &ringmill_ckks::PublicKey,
    context: &Context,
    tag: &str,
) -> Result<PublicKey, OpenFheError> {
    same("public key", key.params(), context)?;
    // Theirs are over the ciphertext primes.
    let key = key.undivided();
    let (polys, moduli) = (vec![key.b().clone(), key.a().clone()], context.towers.clone());
    Ok(PublicKey { context: context.clone(), tag: tag.into(), polys, moduli })
}

fn digits(what: &'static str, params: &Params, key: &EvalKey) -> Result<Halves, OpenFheError> {
    at_least(what, params, &key.moduli, params.key_limbs(), params.key_limbs())?;
    Ok((key.b.clone(), key.a.clone()))
}

fn eval_key(key: &SwitchKey) -> Result<EvalKey, CkksError> {
    let (b, a) = halves(key)?;
    Ok(EvalKey { a, b, moduli: key.params().key_moduli().map(|q| q.value()).collect() })
}

/// Keys of both kinds as ours, either of which may be missing. Of relinearisation keys that of s² is taken.
///
/// # Errors
/// [`OpenFheError::OtherContext`], also for keys of two secret keys; [`OpenFheError::Content`].
pub fn evaluation_keys(
    params: &Params,
    mult: Option<&EvalMultKeys>,
    automorphism: Option<&EvalKeys>,
) -> Result<EvaluationKeys, OpenFheError> {
    let what = "set of evaluation keys";
    if let Some((mult, automorphism)) = mult.zip(automorphism)
        && mult.tag != automorphism.tag
    {
        let why =
            format!("relinearisation keys are of {}, automorphism keys of {}", mult.tag, automorphism.tag);
        return Err(OpenFheError::OtherContext { what, why });
    }
    let mut relin = None;
    if let Some(keys) = mult {
        same("relinearisation key", params, &keys.context)?;
        if let Some(key) = keys.keys.first() {
            let halves = digits("relinearisation key", params, key)?;
            relin = Some(RelinKey(switch_key(params, &halves).map_err(content("relinearisation key"))?));
        }
    }
    let mut galois = GaloisKeys::new(params);
    if let Some(keys) = automorphism {
        same("automorphism key", params, &keys.context)?;
        let all =
            keys.keys.iter().map(|(&element, key)| Ok((element, digits("automorphism key", params, key)?)));
        let all = all.collect::<Result<Vec<_>, OpenFheError>>()?.into_iter();
        let all =
            all.map(|(element, halves)| Ok((GaloisElement::new(element.into(), params.log_n())?, halves)));
        galois = galois_keys(params, all).map_err(content("automorphism key"))?;
    }
    EvaluationKeys::new(relin, galois).map_err(content(what))
}

/// Our relinearisation key as OpenFHE's.
///
/// # Errors
/// [`OpenFheError::OtherContext`].
pub fn from_relin_key(key: &RelinKey, context: &Context, tag: &str) -> Result<EvalMultKeys, OpenFheError> {
    same("relinearisation key", key.0.params(), context)?;
    let keys = vec![eval_key(&key.0).map_err(content("relinearisation key"))?];
    Ok(EvalMultKeys { context: context.clone(), tag: tag.into(), keys })
}

/// Our Galois keys as OpenFHE's.
///
/// # Errors
/// [`OpenFheError::OtherContext`].
pub fn from_galois(keys: &GaloisKeys, context: &Context, tag: &str) -> Result<EvalKeys, OpenFheError> {
    same("automorphism key", keys.params(), context)?;
    let all = keys.iter().map(|(element, key)| Ok((element.value() as u32, eval_key(key)?)));
    let keys = all.collect::<Result<_, CkksError>>().map_err(content("automorphism key"))?;
    Ok(EvalKeys { context: context.clone(), tag: tag.into(), keys })
}

/// A ciphertext as ours.
///
/// # Errors
/// [`OpenFheError::OtherContext`], [`OpenFheError::InexactScale`], [`OpenFheError::Content`].
pub fn ciphertext(
    params: &Params,
    cipher: &Ciphertext,
    declared: &Declared,
) -> Result<ringmill_ckks::Ciphertext, OpenFheError> {
    let what = "ciphertext";
    same(what, params, &cipher.context)?;
    at_least(what, params, &cipher.moduli, 1, params.q_moduli().len())?;
    if cipher.encoding != PACKED {
        let found = cipher.encoding;
        return unsupported(format!("the ciphertext has encoding {found}; packed CKKS (4) is read"));
    }
    let [_, c1, ..] = &cipher.polys[..] else {
        let expected = "2 or 3 are right".into();
        return Err(OpenFheError::Count {
            what,
            field: "polynomials",
            found: cipher.polys.len() as u64,
            expected,
        });
    };
    let scale = declared.scale.clone().or_else(|| from_f64(cipher.scale, &cipher.context.towers));
    let scale = scale.ok_or(OpenFheError::InexactScale { found: cipher.scale })?;
    let born = Born::Encrypted(name(c1.words()));
    let meta = declared.meta(params, cipher.moduli.len(), scale, cipher.slots as usize, born);
    ringmill_ckks::Ciphertext::from_parts(params, cipher.polys.clone(), meta, None).map_err(content(what))
}

/// Our ciphertext as OpenFHE's.
///
/// # Errors
/// [`OpenFheError::OtherContext`].
pub fn from_ciphertext(
    cipher: &ringmill_ckks::Ciphertext,
    context: &Context,
    tag: &str,
) -> Result<Ciphertext, OpenFheError> {
    let (params, limbs) = (cipher.params(), cipher.polys()[0].limb_count());
    same("ciphertext", params, context)?;
    let degree = (cipher.scale().log2() / context.settings.scale_bits.max(1) as f64).round().max(1.0);
    Ok(Ciphertext {
        context: context.clone(),
        tag: tag.into(),
        polys: cipher.polys().to_vec(),
        moduli: context.towers[..limbs].to_vec(),
        slots: cipher.slots() as u32,
        level: (context.towers.len() - limbs) as u32,
        hops: 0,
        degree: degree as u32,
        scale: cipher.scale().to_f64(),
        encoding: PACKED,
    })
}
