//! Primes of the class that the compact core's smallest multiplier serves.

use ringmill_ring::Modulus;
use ringmill_ring::primes::{SparseClass, SparseSearch};

pub(super) fn primes(log_n: u32, count: usize) -> Vec<Modulus> {
    let class = SparseClass::P2 { max_delta: 1 << 25 };
    SparseSearch::new(class, 53, false, log_n).unwrap().iter().map(|p| p.q).take(count).collect()
}
