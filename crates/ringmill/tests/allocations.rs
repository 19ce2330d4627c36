//! In the steady state operations allocate no limbs: only the small vectors of their bookkeeping.

mod common;

use common::{World, params};
use ringmill::ckks::{Ciphertext, Level, Scale};
use ringmill::{Error, Evaluator, open_machine};

/// Bytes of one limb at N = 2^10.
const LIMB: u64 = 8 << 10;

/// The greatest number of bytes that one call has in use beyond what it started with, once it has run twice.
fn peak(mut f: impl FnMut() -> Result<(), Error>) -> u64 {
    for _ in 0..2 {
        f().unwrap();
    }
    let info = allocation_counter::measure(|| f().unwrap());
    info.bytes_max
}

#[test]
fn operations_into_allocate_no_limb() {
    let mut w = World::new(params(3, 2), &[1, 2, 3], 6);
    let x = w.rng.vector(512, 1.0);
    let top = Level::new(3);
    let (a, b) = (w.encrypt(&x, top), w.encrypt(&x, top));
    let (relin, galois) = (&w.relin, &w.galois);
    let threads = Evaluator::with_machine(&w.params, open_machine("cpu:threads=2").unwrap()).unwrap();
    for e in [&w.evaluator, &threads] {
        let product = e.multiply(&a, &b).unwrap();
        let p = e.encode(x.as_slice(), 512, top, a.scale()).unwrap();
        let mut out: Ciphertext = a.clone();
        // What other threads than the calling one allocate is not seen.
        let checks: Vec<(&str, u64)> = vec![
            ("add", peak(|| e.add_into(&a, &b, &mut out))),
            ("sub", peak(|| e.sub_into(&a, &b, &mut out))),
            ("negate", peak(|| e.negate_into(&a, &mut out))),
            ("multiply", peak(|| e.multiply_into(&a, &b, &mut out))),
            ("square", peak(|| e.square_into(&a, &mut out))),
            ("relinearise", peak(|| e.relinearise_into(&product, relin, &mut out))),
            ("rescale", peak(|| e.rescale_into(&a, &mut out))),
            ("relinearise, rescale", peak(|| e.relinearise_rescale_into(&product, relin, &mut out))),
            ("multiply, relinearise", peak(|| e.multiply_relinearise_into(&a, &b, relin, &mut out))),
            ("all three", peak(|| e.multiply_relinearise_rescale_into(&a, &b, relin, &mut out))),
            ("square, relinearise", peak(|| e.square_relinearise_into(&a, relin, &mut out))),
            ("all three of a square", peak(|| e.square_relinearise_rescale_into(&a, relin, &mut out))),
            ("encode", peak(|| e.encode(x.as_slice(), 512, top, a.scale()).map(drop))),
            ("add plain", peak(|| e.add_plain_into(&a, &p, &mut out))),
            ("sub plain", peak(|| e.sub_plain_into(&a, &p, &mut out))),
            ("multiply plain", peak(|| e.multiply_plain_into(&a, &p, &mut out))),
            ("add scalar", peak(|| e.add_scalar_into(&a, 0.5, &mut out))),
            ("multiply scalar", peak(|| e.multiply_scalar_into(&a, 0.5, &mut out))),
            ("multiply scalar at", peak(|| e.multiply_scalar_at_into(&a, 0.5, Scale::pow2(20), &mut out))),
            ("multiply integer", peak(|| e.multiply_integer_into(&a, 3, &mut out))),
            ("rotate", peak(|| e.rotate_into(&a, 1, galois, &mut out))),
            ("conjugate", peak(|| e.conjugate_into(&a, galois, &mut out))),
            ("sum", peak(|| e.sum_into(&a, 3, 1, galois, &mut out))),
            ("drop", peak(|| e.drop_level_into(&a, Level::new(1), &mut out))),
            ("hoisted", peak(|| e.rotate_hoisted(&a, &[1, 2, 3], galois).map(drop))),
        ];
        for (op, bytes) in checks {
            assert!(bytes < LIMB, "{op} on {e:?} has {bytes} bytes in use, one limb is {LIMB}");
        }
    }
}
