//! After the first round, encoding and decoding allocate nothing.

use num_complex::Complex64;
use ringmill_ckks::{Encoder, Scale};
use ringmill_ring::{Domain, LimbRing, Poly, primes};

#[test]
fn steady_state_allocates_nothing() {
    let encoder = Encoder::new(12).expect("a supported degree");
    let rings: Vec<LimbRing> = primes::of_bits(50, 12, 3, &[])
        .expect("three primes exist")
        .into_iter()
        .map(|q| LimbRing::new(12, q).expect("q = 1 mod 2N"))
        .collect();
    let mut poly = Poly::zeros(encoder.n(), 3, Domain::Evaluation);
    let values = vec![Complex64::new(0.5, -0.25); 2048];
    let mut out = values.clone();
    let mut round = || {
        // Scales of one word in binary64, one in double-double, and two.
        for (bits, slots) in [(40, 2048), (60, 2048), (90, 256)] {
            let scale = Scale::pow2(bits);
            encoder.encode_into(&values[..slots], slots, &scale, &rings, &mut poly).expect("valid input");
            encoder.decode_into(&poly, &scale, &rings, &mut out[..slots]).expect("valid input");
        }
    };
    // One thread: how a pool hands out work is not ours to count.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    let (first, later) = pool.install(|| {
        let first = allocation_counter::measure(&mut round);
        (first, allocation_counter::measure(|| (0..10).for_each(|_| round())))
    });
    assert!(first.count_total > 0, "the counter sees allocations");
    // The three scales themselves are the only things made in a round.
    assert_eq!(later.count_total, 30, "{later:?}");
}
