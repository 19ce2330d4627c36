//! Primes of the class that the compact core's smallest multiplier serves, at 54 bits.

use ringmill_ring::Modulus;

use super::super::workload::sparse_primes;

pub(super) fn primes(log_n: u32, count: usize) -> Vec<Modulus> {
    sparse_primes(54, log_n, count).unwrap()
}
