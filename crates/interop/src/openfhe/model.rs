//! The structures of a file as walks: the crypto context, and polynomials over its towers.

use ringmill_ring::{Domain, Modulus, Poly};
use zeroize::Zeroizing;

use super::OpenFheError;
use super::archive::{Archive, Class, Result, class, shared, version};
use super::settings::Settings;

/// Towers of ciphertexts at most, and of keys twice as many.
pub(super) const MAX_TOWERS: usize = 64;
const MAX_LOG_N: u32 = 17;

/// A crypto context: ring, towers and settings.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Context {
    /// N.
    pub n: usize,
    /// Moduli of ciphertexts, q_0 first.
    pub towers: Vec<u64>,
    /// Everything else.
    pub settings: Settings,
}

const ENCODING: [&str; 2] = ["g", "bs"];
const RLWE: [&str; 20] = [
    "dp", "am", "ns", "rw", "nest", "muld", "addc", "kswc", "phops", "md", "mo", "pmo", "mmo", "exm", "dnm",
    "slv", "fdp", "ss", "aq", "tp",
];
const RNS: [&str; 11] = ["ks", "rs", "encs", "muls", "dnum", "ab", "eb", "ccl", "cd", "rws", "cdt"];

/// What pointers of a file stand for, by their numbers.
#[derive(Default)]
pub(super) struct Objects {
    /// The context, its parameters and its scheme.
    context: Option<u32>,
    parameters: Option<u32>,
    encoding: Option<u32>,
    scheme: Option<u32>,
    /// Parameters of one tower: number and modulus.
    towers: Vec<(u32, u64)>,
    /// Parameters of polynomials: number and moduli.
    chains: Vec<(u32, Vec<u64>)>,
    keys: bool,
}

impl Objects {
    /// Whether keys over special primes were met; their towers are other objects than those of the context, in a file of
    /// OpenFHE at least.
    pub(super) fn begin_key(&mut self) {
        if !std::mem::replace(&mut self.keys, true) {
            self.towers.clear();
            self.chains.clear();
        }
    }
}

/// The class behind a pointer, which may not be empty.
pub(super) fn present(a: &mut impl Archive, wanted: Class) -> Result<()> {
    let what = a.what();
    match class(a, wanted)? {
        true => Ok(()),
        false => Err(OpenFheError::Pointer { what, found: 0 }),
    }
}

/// Four numbers of a ring: modulus, root of unity, and those of Bluestein, which are 0.
fn native<A: Archive>(a: &mut A, name: &'static str, value: &mut u64) -> Result<()> {
    a.open(name)?;
    version(a, "NativeInteger", 0)?;
    a.u64("v", value)?;
    a.close()
}

fn big<A: Archive>(a: &mut A, name: &'static str, words: &mut Vec<u64>) -> Result<()> {
    a.open(name)?;
    version(a, "BigInteger", 0)?;
    if !A::READS && words.is_empty() {
        words.push(0);
    }
    a.few_words("v", words, 2 * MAX_TOWERS + 1)?;
    // The place of the highest bit.
    let bits = |words: &[u64]| {
        words.iter().rposition(|&w| w != 0).map_or(0, |i| 64 * i as u32 + 64 - words[i].leading_zeros())
    };
    let mut highest = bits(words);
    a.u32("m", &mut highest)?;
    a.close()
}

fn degree<A: Archive>(a: &mut A, n: &mut usize) -> Result<()> {
    let (mut cyclotomic, mut ring) = (2 * *n as u32, *n as u32);
    a.u32("co", &mut cyclotomic)?;
    a.u32("rd", &mut ring)?;
    let what = a.what();
    let field = "as ring dimension";
    let bad = |expected: String| OpenFheError::Count { what, field, found: u64::from(ring), expected };
    if !ring.is_power_of_two() || ring >> MAX_LOG_N > 1 || u64::from(cyclotomic) != 2 * u64::from(ring) {
        return Err(bad(format!("powers of two up to 2^{MAX_LOG_N} are")));
    }
    if *n != 0 && *n != ring as usize {
        return Err(bad(format!("{n} is that of the rest of the file")));
    }
    *n = ring as usize;
    Ok(())
}

/// The parameters of one tower.
fn tower<A: Archive>(a: &mut A, objects: &mut Objects, n: usize, modulus: &mut u64) -> Result<()> {
    present(a, Class::Declared)?;
    let known = objects.towers.iter().find(|(_, q)| !A::READS && q == modulus).map(|(at, _)| *at);
    let mut found = None;
    let at = shared(a, known, |a, at| {
        version(a, "ILNativeParams", 0)?;
        a.open("value0")?;
        version(a, "ElemParams<NativeInteger>", 0)?;
        degree(a, &mut { n })?;
        native(a, "cm", modulus)?;
        let prime = Modulus::new(*modulus);
        let source =
            |e: ringmill_ring::RingError| OpenFheError::Content { what: "context", source: e.into() };
        let least = prime.and_then(|q| q.psi(n.trailing_zeros())).map_err(source)?;
        let mut root = least;
        native(a, "ru", &mut root)?;
        if root != least {
            let tower = objects.towers.len();
            return Err(OpenFheError::Root { tower, found: root, least });
        }
        native(a, "bm", &mut 0)?;
        native(a, "br", &mut 0)?;
        found = Some((at, *modulus));
        a.close()
    })?;
    match found {
        Some(tower) => objects.towers.push(tower),
        None => {
            let known = objects.towers.iter().find(|(number, _)| *number == at);
            *modulus = known.ok_or(OpenFheError::Pointer { what: a.what(), found: at })?.1;
        }
    }
    Ok(())
}

/// The parameters of a polynomial over several towers.
fn chain<A: Archive>(
    a: &mut A,
    name: &'static str,
    objects: &mut Objects,
    n: &mut usize,
    moduli: &mut Vec<u64>,
) -> Result<()> {
    a.open(name)?;
    present(a, Class::Declared)?;
    let known = objects.chains.iter().find(|(_, chain)| !A::READS && chain == moduli).map(|(at, _)| *at);
    let mut found = None;
    let at = shared(a, known, |a, at| {
        version(a, "ILDCRTParams", 0)?;
        a.open("value0")?;
        version(a, "ElemParams<BigInteger>", 0)?;
        degree(a, n)?;
        let mut product = product(moduli);
        big(a, "cm", &mut product)?;
        ["ru", "bm", "br"].into_iter().try_for_each(|name| big(a, name, &mut vec![0]))?;
        a.close()?;
        let mut count = moduli.len();
        a.list("p", "towers", &mut count, 2 * MAX_TOWERS)?;
        moduli.resize(count, 0);
        for modulus in &mut *moduli {
            a.open("")?;
            tower(a, objects, *n, modulus)?;
            a.close()?;
        }
        a.close()?;
        found = Some((at, moduli.clone()));
        Ok(())
    })?;
    match found {
        Some(chain) => objects.chains.push(chain),
        None => {
            let known = objects.chains.iter().find(|(number, _)| *number == at);
            moduli.clone_from(&known.ok_or(OpenFheError::Pointer { what: a.what(), found: at })?.1);
        }
    }
    a.close()
}

fn product(moduli: &[u64]) -> Vec<u64> {
    let mut words = vec![1u64];
    for &q in moduli {
        let mut carry = 0u128;
        for word in &mut words {
            let t = u128::from(*word) * u128::from(q) + carry;
            (*word, carry) = (t as u64, t >> 64);
        }
        if carry > 0 {
            words.push(carry as u64);
        }
    }
    words
}

/// The crypto context, whole where it is met first.
pub(super) fn context<A: Archive>(
    a: &mut A,
    name: &'static str,
    objects: &mut Objects,
    context: &mut Context,
) -> Result<()> {
    a.open(name)?;
    present(a, Class::Declared)?;
    let at = shared(a, objects.context, |a, _| {
        version(a, "CryptoContextImpl", 1)?;
        parameters(a, objects, context)?;
        scheme(a, objects, &mut context.settings)?;
        context.settings.field(a, "si")
    })?;
    let what = a.what();
    match objects.context.replace(at) {
        Some(known) if known != at => {
            Err(OpenFheError::OtherContext { what, why: "its parts have several".into() })
        }
        _ => a.close(),
    }
}

fn parameters<A: Archive>(a: &mut A, objects: &mut Objects, context: &mut Context) -> Result<()> {
    a.open("cc")?;
    present(a, Class::Named("lbcrypto::CryptoParametersCKKSRNS"))?;
    let at = shared(a, objects.parameters, |a, _| {
        version(a, "CryptoParametersCKKSRNS", 0)?;
        a.open("value0")?;
        version(a, "CryptoParametersRNS", 0)?;
        a.open("value0")?;
        version(a, "CryptoParametersRLWE", 0)?;
        a.open("value0")?;
        version(a, "CryptoParametersBase", 0)?;
        chain(a, "elp", objects, &mut context.n, &mut context.towers)?;
        encoding(a, objects, &mut context.settings)?;
        a.close()?;
        RLWE.into_iter().try_for_each(|field| context.settings.field(a, field))?;
        a.close()?;
        RNS.into_iter().try_for_each(|field| context.settings.field(a, field))?;
        a.close()
    })?;
    objects.parameters = Some(at);
    a.close()
}

fn encoding<A: Archive>(a: &mut A, objects: &mut Objects, settings: &mut Settings) -> Result<()> {
    a.open("enp")?;
    present(a, Class::Declared)?;
    let at = shared(a, objects.encoding, |a, _| {
        version(a, "EncodingParamsImpl", 0)?;
        settings.field(a, "m")?;
        ["ru", "bm", "bru"].into_iter().try_for_each(|name| native(a, name, &mut 0))?;
        ENCODING.into_iter().try_for_each(|field| settings.field(a, field))
    })?;
    objects.encoding = Some(at);
    a.close()
}

fn scheme<A: Archive>(a: &mut A, objects: &mut Objects, settings: &mut Settings) -> Result<()> {
    a.open("kt")?;
    present(a, Class::Named("lbcrypto::SchemeCKKSRNS"))?;
    let at = shared(a, objects.scheme, |a, _| {
        version(a, "SchemeCKKSRNS", 0)?;
        a.open("value0")?;
        version(a, "SchemeRNS", 0)?;
        a.open("value0")?;
        version(a, "SchemeBase", 0)?;
        for which in ["fhe", "schswitch"] {
            a.open(which)?;
            let mut id = 0;
            a.u32("polymorphic_id", &mut id)?;
            if id != 0 {
                let which = if which == "fhe" { "bootstrapping" } else { "switching between schemes" };
                return Err(OpenFheError::Precomputed { what: a.what(), which });
            }
            a.close()?;
        }
        settings.field(a, "enabled")?;
        a.close()?;
        a.close()
    })?;
    objects.scheme = Some(at);
    a.close()
}

/// A polynomial over several towers, in evaluation form, with its moduli.
pub(super) fn poly<A: Archive>(
    a: &mut A,
    name: &'static str,
    objects: &mut Objects,
    n: usize,
    (poly, moduli): (&mut Poly, &mut Vec<u64>),
) -> Result<()> {
    let what = a.what();
    a.open(name)?;
    version(a, "DCRTPolyImpl", 0)?;
    let mut count = moduli.len();
    a.list("v", "towers", &mut count, 2 * MAX_TOWERS)?;
    if A::READS {
        moduli.clear();
        // Residues may be those of a secret key, also where a file is read as an object of another kind to find its context: so
        // nothing moves without being wiped.
        let mut towers: Vec<Zeroizing<Vec<u64>>> = Vec::new();
        for tower in 0..count {
            // One tower at a time: memory follows what is there, whatever the file announces.
            let (mut words, mut modulus) = (Zeroizing::new(vec![0; n]), 0);
            one(a, objects, n, &mut words, &mut modulus)?;
            if let Some(&value) = words.iter().find(|&&word| word >= modulus) {
                return Err(OpenFheError::NotCanonical { what, tower, value, modulus });
            }
            towers.push(words);
            moduli.push(modulus);
        }
        *poly = Poly::zeros(n, towers.len(), Domain::Evaluation).wiped();
        poly.limbs_mut().zip(&towers).for_each(|(limb, words)| limb.copy_from_slice(words));
    } else {
        for (limb, modulus) in poly.limbs_mut().zip(&mut *moduli) {
            one(a, objects, n, limb, modulus)?;
        }
    }
    a.close()?;
    evaluations(a)?;
    let mut stated = moduli.clone();
    chain(a, "p", objects, &mut { n }, &mut stated)?;
    if stated != *moduli {
        let why = "the towers of a polynomial are not those that it names".into();
        return Err(OpenFheError::OtherContext { what, why });
    }
    a.close()
}

fn evaluations(a: &mut impl Archive) -> Result<()> {
    let mut form = 0;
    a.u32("f", &mut form)?;
    if form == 0 { Ok(()) } else { Err(OpenFheError::Coefficients { what: a.what() }) }
}

/// One tower of a polynomial.
fn one<A: Archive>(
    a: &mut A,
    objects: &mut Objects,
    n: usize,
    words: &mut [u64],
    modulus: &mut u64,
) -> Result<()> {
    let what = a.what();
    a.open("")?;
    version(a, "PolyImpl<NativeVector>", 0)?;
    a.open("v")?;
    present(a, Class::Declared)?;
    a.open("ptr_wrapper")?;
    let mut valid = 1;
    a.u8("valid", &mut valid)?;
    if valid != 1 {
        return Err(OpenFheError::Pointer { what, found: 0 });
    }
    a.open("data")?;
    version(a, "NativeVector", 0)?;
    a.words("v", words)?;
    native(a, "m", modulus)?;
    [(), (), ()].into_iter().try_for_each(|()| a.close())?;
    evaluations(a)?;
    let mut stated = *modulus;
    a.open("p")?;
    tower(a, objects, n, &mut stated)?;
    a.close()?;
    if stated != *modulus {
        let why = format!("a tower has modulus {modulus} and names {stated}");
        return Err(OpenFheError::OtherContext { what, why });
    }
    a.close()
}
