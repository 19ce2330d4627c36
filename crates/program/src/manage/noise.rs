//! The predicted error of every value of a managed program.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use ringmill_ckks::noise::{Manner, Switching};
use ringmill_ckks::{KeyLayout, Noise, Params};
use ringmill_ring::{GaloisElement, RingError};

use super::bias::bias;
use super::curve::{Curve, Curves};
use super::ranges::ranges;
use super::spread::{Spread, last_uses, wanted};
use crate::he::{Constant, Level, Like, Numbers, Op, Program, Scale, Type, Value};
use crate::lower::{KeyId, Switch, key_switches};

/// The chance that the error of what a flat function takes is beyond what its result is said to be off by.
pub const FLAT_FAILURE: f64 = 1.0 / (1u64 << 40) as f64;

/// How each key switch is done: the layout of its key, and whose integers.
pub type Manners<'a> = &'a dyn Fn(&Switch) -> Manner;

/// How the arguments of a program are encrypted, as far as their error goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Encryption {
    /// By a public key that divides ([`PublicKey::divides`](ringmill_ckks::PublicKey::divides)), or with less error.
    #[default]
    Public,
    /// By any public key.
    Undivided,
    /// By the secret key.
    Secret,
}

impl Encryption {
    /// All, from the one with the most error to the one with the least.
    pub const ALL: [Self; 3] = [Self::Undivided, Self::Public, Self::Secret];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Undivided => "undivided",
            Self::Secret => "secret",
        }
    }

    /// The one with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|each| each.name() == name)
    }

    /// The prediction of such an encryption; `name` is public randomness of it.
    #[must_use]
    pub fn seal(self, noise: &Noise, params: &Params, scale: &Scale, name: u64) -> Noise {
        match self {
            Self::Public => noise.encrypt_public_divided(params, scale, name),
            Self::Undivided => noise.encrypt_public(params, scale, name),
            Self::Secret => noise.encrypt_secret(params, scale, name),
        }
    }
}

/// What is known of the values of a program before it runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Promise {
    /// Bound on |slot| of the encrypted inputs.
    pub inputs: f64,
    /// Bound on |slot| of the run-time plaintexts.
    pub plain: f64,
    /// Bound on |slot| of all values, infinite if it is unknown.
    pub values: f64,
    /// Whether inputs are real.
    pub real: bool,
    /// How inputs are encrypted.
    pub encryption: Encryption,
}

impl Promise {
    /// A bound on |slot| of every value: what the operations make of the inputs, if that is less than what is promised.
    pub fn bounds(&self, p: &Program) -> Vec<f64> {
        ranges(p, self.inputs, self.real).into_iter().map(|range| range.min(self.values)).collect()
    }
}

/// [`predict`] for inputs that are as large as they may be, encrypted as is promised.
///
/// # Errors
/// As [`predict`].
pub fn predict_fresh(
    p: &Program,
    params: &Params,
    promise: &Promise,
    manners: Manners<'_>,
) -> Result<Vec<Noise>, RingError> {
    let fresh = |v: Value, _: &str| {
        let (scale, name) = (level_and_scale(&p.instr(v).ty).1, u64::from(v.0));
        promise.encryption.seal(&Noise::encoded(promise.inputs, scale, name), params, scale, name)
    };
    let bounds = promise.bounds(p);
    predict(p, params, manners, &fresh, &|_, _| promise.plain, &|v| bounds[v.index()], promise.real)
}

/// The error of every value by the model of [`ringmill_ckks::noise`], given those of the inputs.
///
/// `manners` says how each key switch is done: as its method does it. `input` gives the noise of each
/// encrypted input, `plain` a bound on |slot| of each run-time plaintext. Plaintexts have a noise too: that of their
/// encoding. `bound` is a promise about |slot| of every value, infinite if it is unknown: then the magnitudes of
/// intermediate values are products and sums of bounds. `real` promises that inputs are real: bounded values that are polynomials of one
/// another then have the error that its derivative gives. The model follows lowering: a rescale that is the only use of a
/// key switch is merged into it.
///
/// # Errors
/// [`RingError`] if the program rotates in a ring of another degree than that of `params`.
pub fn predict(
    p: &Program,
    params: &Params,
    manners: Manners<'_>,
    input: &dyn Fn(Value, &str) -> Noise,
    plain: &dyn Fn(Value, &str) -> f64,
    bound: &dyn Fn(Value) -> f64,
    real: bool,
) -> Result<Vec<Noise>, RingError> {
    let switches = key_switches(p);
    // What no output needs is not lowered.
    let switching = |v: Value, level: Level| match switches.get(&v) {
        Some(switch) => Switching { key: key_name(switch.key), manner: manners(switch), level },
        None => Switching { key: 0, manner: KeyLayout::base(params).into(), level },
    };
    let merged = |v: Value| switches.get(&v).is_some_and(|switch| switch.rescale);
    // What a key switch or a rescale makes of an error.
    let switched = |v: Value, noise: &Noise| -> Result<Noise, RingError> {
        let instr = p.instr(v);
        let (level, scale) = level_and_scale(&instr.ty);
        Ok(match &instr.op {
            Op::Rescale(a) if merged(*a) => {
                let from = level_and_scale(&p.instr(*a).ty).0;
                noise.key_switch_rescale(params, switching(*a, from), scale)
            }
            Op::Rescale(a) => noise.rescale(params, level_and_scale(&p.instr(*a).ty).0, scale),
            op => {
                let turned = match galois(op, params)? {
                    Some(element) => noise.automorphism(element, p.slots()),
                    None => noise.clone(),
                };
                // A merged one is counted where the rescale is.
                if merged(v) { turned } else { turned.key_switch(params, switching(v, level), scale) }
            }
        })
    };
    let (wanted, last) = (wanted(p), last_uses(p));
    let results: BTreeSet<Value> = p.outputs().iter().map(|output| output.value).collect();
    let mut spreads: Vec<Spread> = Vec::with_capacity(p.instrs().len());
    let mut biases: Vec<Spread> = Vec::with_capacity(p.instrs().len());
    let mut curves = Curves::default();
    let real = real && all_real(p);
    let mut all: Vec<Noise> = Vec::with_capacity(p.instrs().len());
    for (v, instr) in p.values() {
        let at = |v: Value| &all[v.index()];
        let scale = level_and_scale(&instr.ty).1;
        let noise = match &instr.op {
            Op::Input(name) => input(v, name),
            Op::Plain(name) => Noise::plain(plain(v, name), scale),
            Op::Const(c) => constant(p, c, scale),
            Op::Add(a, b) | Op::AddPlain(a, b) => at(*a).add(at(*b)),
            Op::Sub(a, b) | Op::SubPlain(a, b) => at(*a).sub(at(*b)),
            Op::Mul(a, b) | Op::MulPlain(a, b) => at(*a).mul(at(*b), params),
            Op::Square(a) => at(*a).mul(at(*a), params),
            Op::Neg(a) => at(*a).neg(),
            Op::AddScalar(a, c) => at(*a).add(&Noise::number(*c, scale)),
            Op::MulScalar { a, c, scale } => mul_scalar(at(*a), *c, scale, params),
            Op::Drop(a, _) => at(*a).clone(),
            Op::Raise { a, bits } => at(*a).raise(params, scale, p.slots(), *bits),
            Op::Rescale(a) | Op::Relin(a) | Op::Rotate { a, .. } | Op::Conj { a, .. } => switched(v, at(*a))?,
            // Not in managed programs.
            Op::Sum { a, .. } | Op::Bootstrap { a, .. } | Op::Lookup { a, .. } => at(*a).clone(),
        };
        let noise = match instr.like {
            Some(Like { value, off, bias, flat: None }) => at(value).off_by(off, bias, p.slots()),
            Some(Like { value, off, bias, flat: Some(flat) }) => {
                let through = flat.through(at(value).error_at(p.slots(), FLAT_FAILURE));
                Noise::exact(noise.magnitude(), u64::from(v.0)).off_by(off, bias + through, p.slots())
            }
            None => noise,
        };
        let spread = match &instr.op {
            _ if !wanted[v.index()] => Spread::even(noise.std()),
            op => {
                let of = |v: Value| (&spreads[v.index()], at(v));
                let born = |v: Value| Ok(switched(v, &Noise::exact(0.0, 0))?.std());
                match instr.like {
                    Some(Like { flat: Some(_), .. }) => Spread::even(noise.std()),
                    Some(Like { value, off, .. }) => {
                        let own = Noise::exact(0.0, 0).off_by(off, 0.0, p.slots()).std();
                        of(value).0.plus(&Spread::even(own), 0.0)
                    }
                    None => spread(p, op, v, &of, &born)?.unwrap_or(Spread::even(noise.std())),
                }
            }
        };
        let spread = if spread.std() <= noise.std() { spread } else { Spread::even(noise.std()) };
        let curve = match instr.like {
            None if real && wanted[v.index()] => {
                let root = |a: Value| (bound(a), spreads[a.index()].std(), biases[a.index()].std());
                for &a in instr.op.operands().as_slice() {
                    curves.begin_anew(a, v, &last, root(a));
                }
                let of = |a: Value| curves.of(a, root(a));
                let one = |a: Value, b: Value| {
                    p.instr(a).ty.is_ct() && p.instr(b).ty.is_ct() && curves.root(a) == curves.root(b)
                };
                let born = |v: Value| {
                    let noise = switched(v, &Noise::exact(0.0, 0))?;
                    Ok((noise.std(), noise.bias()))
                };
                curve(p, (v, scale), params, &of, &one, &born)?
            }
            _ => None,
        };
        let spread = match curve.as_ref().map(Curve::std) {
            Some(std) if std < spread.std() => Spread::even(std),
            _ => spread,
        };
        let lean = match instr.like {
            _ if !wanted[v.index()] => Spread::even(noise.bias()),
            Some(Like { flat: Some(_), .. }) => Spread::even(noise.bias()),
            Some(like) => biases[like.value.index()].plus_bound(&Spread::even(like.bias)),
            None => {
                let of = |v: Value| (&biases[v.index()], at(v));
                let born = match &instr.op {
                    op if op.switches_keys() || matches!(op, Op::Rescale(_)) => {
                        switched(v, &Noise::exact(0.0, 0))?.bias()
                    }
                    _ => 0.0,
                };
                bias(p, &instr.op, scale, params, born, &of).unwrap_or_else(|| Spread::even(noise.bias()))
            }
        };
        let least = curve.as_ref().map_or(f64::INFINITY, Curve::bias).min(noise.bias());
        // What is not a number is beyond all bounds.
        let lean = if lean.std() <= least { lean } else { Spread::even(least) };
        let noise = noise.with_bias(lean.std());
        for operand in instr.op.operands().as_slice().iter().filter(|a| last[a.index()] == v.index()) {
            spreads[operand.index()].flatten();
            biases[operand.index()].flatten();
            curves.forget(*operand);
            if !results.contains(operand) {
                all[operand.index()] = all[operand.index()].unnamed();
            }
        }
        spreads.push(spread);
        biases.push(lean);
        curves.push(curve, if let Op::Drop(a, _) = instr.op { Some(a) } else { None });
        // What is encrypted or given at run time keeps to its bound; constants are what they are.
        let bound = if matches!(instr.op, Op::Const(_)) { f64::INFINITY } else { bound(v) };
        all.push(if noise.magnitude() > bound { noise.with_magnitude(bound) } else { noise });
    }
    // What differs by roundings alone stays what operations one by one predict.
    let known = |noise: Noise, std: f64| {
        if std < noise.std() * (1.0 - 1e-9) { noise.at_most(std) } else { noise }
    };
    Ok(all.into_iter().zip(&spreads).map(|(noise, spread)| known(noise, spread.std())).collect())
}

/// How the error of an operation lies over the slots; `None` where nothing is known but how large it is. `of` gives spread and noise of the
/// operands, `born` the error that a key switch or a rescale adds.
fn spread<'a>(
    p: &Program,
    op: &Op,
    v: Value,
    of: &dyn Fn(Value) -> (&'a Spread, &'a Noise),
    born: &dyn Fn(Value) -> Result<f64, RingError>,
) -> Result<Option<Spread>, RingError> {
    Ok(Some(match *op {
        Op::Add(a, b) | Op::AddPlain(a, b) | Op::Sub(a, b) | Op::SubPlain(a, b) => {
            let ((a, na), (b, nb)) = (of(a), of(b));
            a.plus(b, na.covariance(nb))
        }
        Op::Mul(a, b) | Op::MulPlain(a, b) => {
            let numbers = constants(p, b);
            let ((a, na), (b, nb)) = (of(a), of(b));
            let left = numbers.map_or_else(|| a.times(nb.magnitude()), |numbers| a.through(numbers));
            left.plus(&b.times(na.magnitude()), na.covariance(nb) * na.magnitude() * nb.magnitude())
        }
        Op::Square(a) => {
            let (a, na) = of(a);
            a.times(2.0 * na.magnitude())
        }
        Op::Neg(a) | Op::Drop(a, _) | Op::AddScalar(a, _) => of(a).0.clone(),
        Op::MulScalar { a, c, .. } => of(a).0.times(c),
        Op::Rotate { a, k, .. } => {
            of(a).0.turned(k.rem_euclid(p.slots() as i64) as usize).plus(&Spread::even(born(v)?), 0.0)
        }
        Op::Rescale(a) | Op::Relin(a) | Op::Conj { a, .. } => of(a).0.plus(&Spread::even(born(v)?), 0.0),
        _ => return Ok(None),
    }))
}

/// The value as a polynomial of another, if that is what it is. `of` gives the operands as such, `one` says of two whether they are polynomials
/// of one value, `born` the deviation and the bias that a key switch or a rescale adds.
fn curve(
    p: &Program,
    (v, scale): (Value, &Scale),
    params: &Params,
    of: &dyn Fn(Value) -> Option<Curve>,
    one: &dyn Fn(Value, Value) -> bool,
    born: &dyn Fn(Value) -> Result<(f64, f64), RingError>,
) -> Result<Option<Curve>, RingError> {
    let op = &p.instr(v).op;
    Ok(match *op {
        Op::Mul(a, b) if one(a, b) => of(a).zip(of(b)).and_then(|(a, b)| product(&a, &b, v, params)),
        Op::Square(a) => of(a).and_then(|a| product(&a, &a, v, params)),
        Op::Add(a, b) if one(a, b) => of(a).zip(of(b)).map(|(a, b)| a.plus(&b)),
        Op::Sub(a, b) if one(a, b) => of(a).zip(of(b)).map(|(a, b)| a.plus(&b.times(-1.0))),
        Op::Neg(a) => of(a).map(|a| a.times(-1.0)),
        Op::Drop(a, _) => of(a),
        Op::AddScalar(a, c) => of(a).map(|a| a.shifted(c).biased(v, Noise::number(c, scale).bias())),
        Op::MulScalar { a, c, ref scale } => of(a).map(|a| {
            let rounded = mul_scalar(&Noise::exact(a.size(), 0), c, scale, params).bias();
            a.times(c).biased(v, rounded)
        }),
        Op::Rescale(a) | Op::Relin(a) => {
            let (std, bias) = born(v)?;
            of(a).map(|a| a.born(v, std).biased(v, bias))
        }
        _ => None,
    })
}

/// The product of two polynomials of one value. The error of a product of errors is far below all others, and is counted where it is largest.
fn product(a: &Curve, b: &Curve, v: Value, params: &Params) -> Option<Curve> {
    let as_noise = |c: &Curve| Noise::exact(0.0, 0).plus_rest(c.std()).with_bias(c.bias());
    let both = as_noise(a).product_of_errors(&as_noise(b), params);
    a.product(b).map(|c| c.biased(v, both))
}

/// Whether no constant takes real values to complex ones.
fn all_real(p: &Program) -> bool {
    p.instrs().iter().all(|instr| match &instr.op {
        Op::Const(Constant::Complex(_)) => false,
        Op::Const(Constant::List(numbers)) => matches!(**numbers, Numbers::Real(_)),
        Op::Const(Constant::Table(id)) => p.table(*id).is_none_or(|t| matches!(t.numbers, Numbers::Real(_))),
        Op::Raise { .. } => false,
        _ => true,
    })
}

/// The numbers of a constant that differ from slot to slot.
pub(super) fn constants(p: &Program, v: Value) -> Option<&Numbers> {
    match &p.instr(v).op {
        Op::Const(Constant::List(numbers)) => Some(numbers),
        Op::Const(Constant::Table(id)) => p.table(*id).map(|table| &table.numbers),
        _ => None,
    }
}

/// Noise of a product with a real number that is rounded at `scale`; exact for integers at scale 1.
fn mul_scalar(a: &Noise, c: f64, scale: &Scale, params: &Params) -> Noise {
    if is_exact(c, scale) {
        return a.mul_integer(c as i64);
    }
    a.mul(&Noise::number(c, scale), params)
}

/// Whether a number is not rounded.
pub(super) fn is_exact(c: f64, scale: &Scale) -> bool {
    scale.is_one() && c.fract() == 0.0 && c.abs() < 2f64.powi(53)
}

/// Noise of a constant: equal ones at one scale have one name.
fn constant(p: &Program, c: &Constant, scale: &Scale) -> Noise {
    let numbers = match c {
        Constant::Real(x) => return Noise::number(*x, scale),
        Constant::Complex(z) if scale.is_one() && c.as_gaussian_integer().is_some() => {
            return Noise::exact(z.norm(), hash(&[z.re, z.im], scale));
        }
        Constant::Complex(z) => {
            // Both parts are rounded.
            let bias = Noise::number(z.norm(), scale).bias();
            return Noise::exact(z.norm(), hash(&[z.re, z.im], scale)).with_bias(2f64.sqrt() * bias);
        }
        Constant::List(numbers) => &**numbers,
        Constant::Table(id) => match p.table(*id) {
            Some(table) => &table.numbers,
            None => return Noise::exact(0.0, 0),
        },
    };
    let name = match numbers {
        Numbers::Real(v) => hash(v, scale),
        Numbers::Complex(v) => v.iter().fold(2u64, |h, z| h.rotate_left(7) ^ hash(&[z.re, z.im], scale)),
    };
    Noise::encoded(numbers.magnitude(), scale, name)
}

/// Names numbers encoded at a scale, within one process.
fn hash(numbers: &[f64], scale: &Scale) -> u64 {
    let mut hasher = DefaultHasher::new();
    numbers.iter().for_each(|x| x.to_bits().hash(&mut hasher));
    scale.hash(&mut hasher);
    hasher.finish()
}

fn key_name(key: KeyId) -> u64 {
    match key {
        KeyId::Relin => 0,
        KeyId::Galois(element) => element,
    }
}

/// The automorphism of an operation.
fn galois(op: &Op, params: &Params) -> Result<Option<GaloisElement>, RingError> {
    Ok(match *op {
        Op::Rotate { k, .. } => Some(params.generator().rotation(k, params.log_n())?),
        Op::Conj { .. } => Some(GaloisElement::conjugation(params.log_n())?),
        _ => None,
    })
}

static ONE: Scale = Scale::ONE;

fn level_and_scale(ty: &Type) -> (Level, &Scale) {
    match ty {
        Type::Ct(t) => (t.level, &t.scale),
        Type::Pt(t) => (t.level, &t.scale),
        Type::TracedCt | Type::TracedPt => (Level::ZERO, &ONE),
    }
}
