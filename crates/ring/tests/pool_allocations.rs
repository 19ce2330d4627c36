//! A pool allocates in the first round only.

use ringmill_ring::{Domain, Poly, Pool};

/// Some polynomials of two shapes taken, filled, cloned, cut and dropped.
fn round(pool: &Pool) -> u64 {
    let mut a = Poly::zeros_in(pool, 1 << 12, 6, Domain::Coefficient);
    let mut b = Poly::unspecified_in(pool, 1 << 12, 1, Domain::Evaluation);
    a.limb_mut(5).fill(3);
    b.words_mut().copy_from_slice(a.limb(5));
    let mut c = a.clone();
    c.truncate(2);
    let d = c.clone();
    b.words()[0] + d.words()[0]
}

#[test]
fn steady_state_allocates_nothing() {
    let pool = Pool::default();
    let first = allocation_counter::measure(|| assert_eq!(round(&pool), 3));
    assert!(first.bytes_total >= 96 << 12, "the counter sees allocations: {first:?}");
    let later = allocation_counter::measure(|| (0..100).for_each(|_| assert_eq!(round(&pool), 3)));
    assert_eq!(later.count_total, 0, "{later:?}");
}
