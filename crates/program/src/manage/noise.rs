//! The predicted error of every value of a managed program.

use ringmill_ckks::{KeyLayout, Noise, Params};
use ringmill_ring::{GaloisElement, RingError};

use super::curve::{Curve, Curves};
use super::ranges::ranges;
use super::spread::{Spread, last_uses, wanted};
use crate::he::{Constant, Level, Like, Numbers, Op, Program, Scale, Type, Value};
use crate::lower::{Switch, key_switches};

/// The layout of the key of each key switch.
pub type Layouts<'a> = &'a dyn Fn(&Switch) -> KeyLayout;

/// What is known of the values of a program before it runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Promise {
    /// Bound on |slot| of the encrypted inputs.
    pub inputs: f64,
    /// Bound on |slot| of the run-time plaintexts.
    pub plain: f64,
    /// Bound on |slot| of all values, infinite if there is none.
    pub values: f64,
    /// Whether inputs are real.
    pub real: bool,
}

impl Promise {
    /// A bound on |slot| of every value: what the operations make of the inputs, if that is less than what is promised.
    pub fn bounds(&self, p: &Program) -> Vec<f64> {
        ranges(p, self.inputs, self.real).into_iter().map(|range| range.min(self.values)).collect()
    }
}

/// [`predict`] for inputs under the public key that are as large as they may be.
///
/// # Errors
/// As [`predict`].
pub fn predict_fresh(
    p: &Program,
    params: &Params,
    promise: &Promise,
    layouts: Layouts<'_>,
) -> Result<Vec<Noise>, RingError> {
    let fresh = |v: Value, _: &str| {
        let (scale, name) = (level_and_scale(&p.instr(v).ty).1, u64::from(v.0));
        Noise::encoded(promise.inputs, scale, name).encrypt_public(params, scale, name)
    };
    let bounds = promise.bounds(p);
    predict(p, params, layouts, &fresh, &|_, _| promise.plain, &|v| bounds[v.index()], promise.real)
}

/// The error of every value by the model of [`ringmill_ckks::noise`], given those of the inputs.
///
/// `layouts` gives the layout of the key of each key switch: that of its method. `input` gives the noise of each
/// encrypted input, `plain` a bound on |slot| of each run-time plaintext. Plaintexts have a noise too: that of their
/// encoding. `bound` is a promise about |slot| of every value, infinite if there is none: without it the magnitudes of
/// intermediate values are products and sums of bounds. `real` promises that inputs are real: bounded values that are polynomials of one
/// another then have the error that its derivative gives. The model follows lowering: a rescale that is the only use of a
/// key switch is merged into it.
///
/// # Errors
/// [`RingError`] if the program rotates in a ring of another degree than that of `params`.
pub fn predict(
    p: &Program,
    params: &Params,
    layouts: Layouts<'_>,
    input: &dyn Fn(Value, &str) -> Noise,
    plain: &dyn Fn(Value, &str) -> f64,
    bound: &dyn Fn(Value) -> f64,
    real: bool,
) -> Result<Vec<Noise>, RingError> {
    let switches = key_switches(p);
    // What no output needs is not lowered.
    let layout = |v: Value| switches.get(&v).map_or_else(|| KeyLayout::base(params), layouts);
    let merged = |v: Value| switches.get(&v).is_some_and(|switch| switch.rescale);
    // What a key switch or a rescale makes of an error.
    let switched = |v: Value, noise: &Noise| -> Result<Noise, RingError> {
        let instr = p.instr(v);
        let (level, scale) = level_and_scale(&instr.ty);
        Ok(match &instr.op {
            Op::Rescale(a) if merged(*a) => {
                let from = level_and_scale(&p.instr(*a).ty).0;
                noise.key_switch_rescale_by(params, layout(*a), from, scale)
            }
            Op::Rescale(_) => noise.rescale(params, scale),
            op => {
                let turned = match galois(op, params)? {
                    Some(element) => noise.automorphism(element, p.slots()),
                    None => noise.clone(),
                };
                // A merged one is counted where the rescale is.
                if merged(v) { turned } else { turned.key_switch_by(params, layout(v), level, scale) }
            }
        })
    };
    let (wanted, last) = (wanted(p), last_uses(p));
    let mut spreads: Vec<Spread> = Vec::with_capacity(p.instrs().len());
    let mut curves = Curves::default();
    let real = real && all_real(p);
    let mut all: Vec<Noise> = Vec::with_capacity(p.instrs().len());
    for (v, instr) in p.values() {
        let at = |v: Value| &all[v.index()];
        let scale = level_and_scale(&instr.ty).1;
        let noise = match &instr.op {
            Op::Input(name) => input(v, name),
            Op::Plain(name) => Noise::encoded(plain(v, name), scale, u64::from(v.0)),
            Op::Const(c) if scale.is_one() && c.as_gaussian_integer().is_some() => {
                Noise::exact(magnitude(p, c), u64::from(v.0))
            }
            Op::Const(c) => Noise::encoded(magnitude(p, c), scale, u64::from(v.0)),
            Op::Add(a, b) | Op::AddPlain(a, b) => at(*a).add(at(*b)),
            Op::Sub(a, b) | Op::SubPlain(a, b) => at(*a).sub(at(*b)),
            Op::Mul(a, b) | Op::MulPlain(a, b) => at(*a).mul(at(*b), params),
            Op::Square(a) => at(*a).mul(at(*a), params),
            Op::Neg(a) => at(*a).neg(),
            Op::AddScalar(a, c) => at(*a).add(&Noise::constant(*c, scale, p.slots())),
            Op::MulScalar { a, c, scale } => mul_scalar(at(*a), *c, scale, p.slots(), params),
            Op::Drop(a, _) => at(*a).clone(),
            Op::Raise { a, bits } => at(*a).raise(params, scale, p.slots(), *bits),
            Op::Rescale(a) | Op::Relin(a) | Op::Rotate { a, .. } | Op::Conj { a, .. } => switched(v, at(*a))?,
            // Not in managed programs.
            Op::Sum { a, .. } | Op::Bootstrap { a, .. } => at(*a).clone(),
        };
        let noise = match instr.like {
            Some(Like { value, off }) => at(value).off_by(off, p.slots()),
            None => noise,
        };
        let spread = match &instr.op {
            _ if !wanted[v.index()] => Spread::even(noise.std()),
            op => {
                let of = |v: Value| (&spreads[v.index()], at(v));
                let born = |v: Value| Ok(switched(v, &Noise::exact(0.0, 0))?.std());
                match instr.like {
                    Some(Like { value, off }) => {
                        let own = Noise::exact(0.0, 0).off_by(off, p.slots()).std();
                        of(value).0.plus(&Spread::even(own), 0.0)
                    }
                    None => {
                        spread(p, op, (v, scale), params, &of, &born)?.unwrap_or(Spread::even(noise.std()))
                    }
                }
            }
        };
        let spread = if spread.std() > noise.std() { Spread::even(noise.std()) } else { spread };
        let curve = match instr.like {
            None if real && wanted[v.index()] => {
                let root = |a: Value| (bound(a), spreads[a.index()].std());
                for &a in instr.op.operands().as_slice() {
                    curves.begin_anew(a, v, &last, root(a));
                }
                let of = |a: Value| curves.of(a, root(a));
                let one = |a: Value, b: Value| {
                    p.instr(a).ty.is_ct() && p.instr(b).ty.is_ct() && curves.root(a) == curves.root(b)
                };
                let born = |v: Value| Ok(switched(v, &Noise::exact(0.0, 0))?.std());
                curve(p, (v, scale), params, &of, &one, &born)?
            }
            _ => None,
        };
        let spread = match curve.as_ref().map(Curve::std) {
            Some(std) if std < spread.std() => Spread::even(std),
            _ => spread,
        };
        for operand in instr.op.operands().as_slice().iter().filter(|a| last[a.index()] == v.index()) {
            spreads[operand.index()].flatten();
            curves.forget(*operand);
        }
        spreads.push(spread);
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
    (v, scale): (Value, &Scale),
    params: &Params,
    of: &dyn Fn(Value) -> (&'a Spread, &'a Noise),
    born: &dyn Fn(Value) -> Result<f64, RingError>,
) -> Result<Option<Spread>, RingError> {
    let product = |a: Value, b: Value| {
        let ((a, na), (b, nb)) = (of(a), of(b));
        // As in `Noise::mul`.
        let both = Spread::even((params.n() as f64).sqrt() * a.std() * b.std());
        (a.clone(), na, b.times(na.magnitude()), nb, both)
    };
    Ok(Some(match *op {
        Op::Add(a, b) | Op::AddPlain(a, b) | Op::Sub(a, b) | Op::SubPlain(a, b) => {
            let ((a, na), (b, nb)) = (of(a), of(b));
            a.plus(b, na.covariance(nb))
        }
        Op::Mul(a, b) | Op::MulPlain(a, b) => {
            let numbers = constants(p, b);
            let (a, na, right, nb, both) = product(a, b);
            let left = numbers.map_or_else(|| a.times(nb.magnitude()), |numbers| a.through(numbers));
            let covariance = na.covariance(nb) * na.magnitude() * nb.magnitude();
            // What is alike in all slots is added first, without going over them.
            left.plus(&right.plus(&both, 0.0), covariance)
        }
        Op::Square(a) => {
            let (a, na, _, _, both) = product(a, a);
            a.times(2.0 * na.magnitude()).plus(&both, 0.0)
        }
        Op::Neg(a) | Op::Drop(a, _) => of(a).0.clone(),
        Op::AddScalar(a, c) => of(a).0.plus(&Spread::even(Noise::constant(c, scale, p.slots()).std()), 0.0),
        Op::MulScalar { a, c, ref scale } => {
            let (a, na) = of(a);
            let rounded = mul_scalar(&Noise::exact(na.magnitude(), 0), c, scale, p.slots(), params);
            a.times(c).plus(&Spread::even(rounded.std()), 0.0)
        }
        Op::Rotate { a, k, .. } => {
            of(a).0.turned(k.rem_euclid(p.slots() as i64) as usize).plus(&Spread::even(born(v)?), 0.0)
        }
        Op::Rescale(a) | Op::Relin(a) | Op::Conj { a, .. } => of(a).0.plus(&Spread::even(born(v)?), 0.0),
        _ => return Ok(None),
    }))
}

/// The value as a polynomial of another, if that is what it is. `of` gives the operands as such, `one` says of two whether they are polynomials
/// of one value, `born` the error that a key switch or a rescale adds.
fn curve(
    p: &Program,
    (v, scale): (Value, &Scale),
    params: &Params,
    of: &dyn Fn(Value) -> Option<Curve>,
    one: &dyn Fn(Value, Value) -> bool,
    born: &dyn Fn(Value) -> Result<f64, RingError>,
) -> Result<Option<Curve>, RingError> {
    let op = &p.instr(v).op;
    Ok(match *op {
        Op::Mul(a, b) if one(a, b) => of(a).zip(of(b)).and_then(|(a, b)| product(&a, &b, v, params)),
        Op::Square(a) => of(a).and_then(|a| product(&a, &a, v, params)),
        Op::Add(a, b) if one(a, b) => of(a).zip(of(b)).map(|(a, b)| a.plus(&b)),
        Op::Sub(a, b) if one(a, b) => of(a).zip(of(b)).map(|(a, b)| a.plus(&b.times(-1.0))),
        Op::Neg(a) => of(a).map(|a| a.times(-1.0)),
        Op::Drop(a, _) => of(a),
        Op::AddScalar(a, c) => {
            of(a).map(|a| a.shifted(c).born(v, Noise::constant(c, scale, p.slots()).std()))
        }
        Op::MulScalar { a, c, ref scale } => of(a).map(|a| {
            let rounded = mul_scalar(&Noise::exact(a.size(), 0), c, scale, p.slots(), params);
            a.times(c).born(v, rounded.std())
        }),
        Op::Rescale(a) | Op::Relin(a) => {
            let born = born(v)?;
            of(a).map(|a| a.born(v, born))
        }
        _ => None,
    })
}

/// The product of two polynomials of one value. The error of a product of errors is far below all others, and is counted where it is largest.
fn product(a: &Curve, b: &Curve, v: Value, params: &Params) -> Option<Curve> {
    let both = (params.n() as f64).sqrt() * a.std() * b.std();
    a.product(b).map(|c| c.born(v, both))
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
fn constants(p: &Program, v: Value) -> Option<&Numbers> {
    match &p.instr(v).op {
        Op::Const(Constant::List(numbers)) => Some(numbers),
        Op::Const(Constant::Table(id)) => p.table(*id).map(|table| &table.numbers),
        _ => None,
    }
}

/// Noise of a product with a real number that is rounded at `scale`; exact for integers at scale 1. `a` has `slots` packed slots.
pub fn mul_scalar(a: &Noise, c: f64, scale: &Scale, slots: usize, params: &Params) -> Noise {
    if scale.is_one() && c.fract() == 0.0 && c.abs() < 2f64.powi(53) {
        return a.mul_integer(c as i64);
    }
    a.mul(&Noise::constant(c, scale, slots), params)
}

/// The automorphism of an operation.
fn galois(op: &Op, params: &Params) -> Result<Option<GaloisElement>, RingError> {
    Ok(match *op {
        Op::Rotate { k, .. } => Some(GaloisElement::rotation(k, params.log_n())?),
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

/// The greatest |slot| of a constant.
fn magnitude(p: &Program, c: &Constant) -> f64 {
    let numbers = match c {
        Constant::Real(x) => return x.abs(),
        Constant::Complex(z) => return z.norm(),
        Constant::List(numbers) => numbers,
        Constant::Table(id) => match p.table(*id) {
            Some(table) => &table.numbers,
            None => return 0.0,
        },
    };
    numbers.magnitude()
}
