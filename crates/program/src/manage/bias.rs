//! How the part of an error that is not random lies over the slots.
//!
//! A bias adds linearly, and so does a sum of masked rotations; but a mask lets it through in some slots only. As
//! [spreads](super::spread) do for random errors, this keeps a bound for every slot.

use ringmill_ckks::{Noise, Params};

use super::noise::{constants, is_exact};
use super::spread::Spread;
use crate::he::{Op, Program, Scale, Value};

/// The bound of the bias of an operation in every slot; `None` where nothing is known but the largest. `of` gives bias and noise
/// of the operands, `scale` is that of the result, `born` the bias that a key switch adds.
pub(super) fn bias<'a>(
    p: &Program,
    op: &Op,
    scale: &Scale,
    params: &Params,
    born: f64,
    of: &dyn Fn(Value) -> (&'a Spread, &'a Noise),
) -> Option<Spread> {
    Some(match *op {
        Op::Add(a, b) | Op::AddPlain(a, b) | Op::Sub(a, b) | Op::SubPlain(a, b) => {
            of(a).0.plus_bound(of(b).0)
        }
        Op::Mul(a, b) | Op::MulPlain(a, b) => {
            let numbers = constants(p, b);
            let ((a, na), (b, nb)) = (of(a), of(b));
            let left = numbers.map_or_else(|| a.times(nb.magnitude()), |numbers| a.through(numbers));
            let both = Spread::even(na.product_of_errors(nb, params));
            left.plus_bound(&b.times(na.magnitude()).plus_bound(&both))
        }
        Op::Square(a) => {
            let (a, na) = of(a);
            a.times(2.0 * na.magnitude()).plus_bound(&Spread::even(na.product_of_errors(na, params)))
        }
        Op::Neg(a) | Op::Drop(a, _) => of(a).0.clone(),
        Op::Rescale(a) | Op::Relin(a) | Op::Conj { a, .. } => of(a).0.plus_bound(&Spread::even(born)),
        Op::AddScalar(a, c) => of(a).0.plus_bound(&Spread::even(Noise::number(c, scale).bias())),
        Op::MulScalar { a, c, ref scale } => {
            let (a, na) = of(a);
            let rounded = Noise::number(c, scale).bias() * na.magnitude();
            a.times(c).plus_bound(&Spread::even(if is_exact(c, scale) { 0.0 } else { rounded }))
        }
        Op::Rotate { a, k, .. } => {
            of(a).0.turned(k.rem_euclid(p.slots() as i64) as usize).plus_bound(&Spread::even(born))
        }
        _ => return None,
    })
}
