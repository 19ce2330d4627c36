//! Primes of a class and size, searched once.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use ringmill_ring::primes::{Side, SparseClass, SparseSearch, nearest_congruent};

use crate::design::PrimeClass;

/// Primes of one size that a chain may need: more limbs than any core's modulus table has entries.
const MOST: usize = 32;
/// Places at which the shift multiplier of several moduli takes the place of a product (`rtl/modmul/src/rm_modmul_mmsm.sv`).
const PLACES: u32 = 8;
/// |δ| of the sparse class of the multiplier: a signed number of 12 bits.
const MAX_DELTA: u64 = (1 << 11) - 1;
/// t and the most d of primes 2^b − d·2^t + 1 (`rtl/modmul`, `ntt_kind`).
const NTT: (u32, u64) = (15, 1 << 9);

type Key = (PrimeClass, u32, u32);

/// Primes by class, log2 N and size.
#[derive(Debug, Default)]
pub(super) struct Pool(Mutex<HashMap<Key, Vec<u64>>>);

impl Pool {
    /// Primes next to 2^bits, nearest first; fewer than asked for where the class has no more.
    fn of(&self, class: PrimeClass, log_n: u32, bits: u32) -> Vec<u64> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry((class, log_n, bits)).or_insert_with(|| search(class, log_n, bits)).clone()
    }

    /// A prime for each size; the greatest of a size go to the special primes, so that P covers its digits.
    pub(super) fn chain(
        &self,
        class: PrimeClass,
        log_n: u32,
        q: &[u32],
        p: &[u32],
    ) -> Option<(Vec<u64>, Vec<u64>)> {
        let mut pools: HashMap<u32, Vec<u64>> = HashMap::new();
        for &bits in q.iter().chain(p) {
            if pools.contains_key(&bits) {
                continue;
            }
            let wanted = q.iter().chain(p).filter(|&&b| b == bits).count();
            let mut found = self.of(class, log_n, bits);
            found.retain(|prime| !pools.values().flatten().any(|taken| taken == prime));
            if found.len() < wanted {
                return None;
            }
            found.truncate(wanted);
            pools.insert(bits, found);
        }
        let mut take = |bits: u32, greatest: bool| {
            let pool = pools.get_mut(&bits)?;
            let at = match greatest {
                true => (0..pool.len()).max_by_key(|&i| pool[i])?,
                false => 0,
            };
            (!pool.is_empty()).then(|| pool.remove(at))
        };
        let p: Option<Vec<u64>> = p.iter().map(|&bits| take(bits, true)).collect();
        let q: Option<Vec<u64>> = q.iter().map(|&bits| take(bits, false)).collect();
        Some((q?, p?))
    }
}

/// The places of ones, as bits, of the primes of [`PrimeClass::FewOnes`]: 1 where a word has none for the degree.
pub(crate) fn few_ones(word: u32, log_n: u32) -> u32 {
    let search = SparseSearch::new(SparseClass::P1, word - 1, false, log_n);
    // Below half of a word, which has 60 bits at most.
    search.map_or(1, |s| s.few_places(PLACES) as u32)
}

fn search(class: PrimeClass, log_n: u32, bits: u32) -> Vec<u64> {
    let values = |found: Vec<ringmill_ring::Modulus>| found.iter().map(|m| m.value()).collect();
    let sparse = |form, word: u32, signed| {
        let search = SparseSearch::new(form, word - 1, signed, log_n);
        search.map(|s| s.iter().take(MOST).map(|p| p.q.value()).collect()).unwrap_or_default()
    };
    match class {
        PrimeClass::Any => near(bits, log_n + 1, values),
        PrimeClass::OneMod(h) => near(bits, h.max(log_n + 1), values),
        PrimeClass::Sparse(word) => {
            sparse(SparseClass::P2 { max_delta: MAX_DELTA.min(1 << (word / 2 - 2)) }, word, true)
        }
        PrimeClass::PrfFiko(word) => sparse(SparseClass::P1, word, false),
        PrimeClass::FewOnes(word) => {
            let (lead, ones) = (1u64 << (word - 1), few_ones(word, log_n));
            let search = SparseSearch::new(SparseClass::P1, word - 1, false, log_n);
            let found = search.map(|s| s.within_positions(lead | u64::from(ones))).unwrap_or_default();
            found.iter().take(MOST).map(|p| p.q.value()).collect()
        }
        PrimeClass::Ntt15(_) => {
            let (t, most) = NTT;
            let mut all = of_side(bits, t.max(log_n + 1), Side::Below, values);
            all.retain(|q| (1u64 << bits) - q < most << t);
            all
        }
    }
}

/// Primes ≡ 1 mod 2^zeros within a quarter octave of 2^bits: by turns on both sides, but below where 2^bits is the end
/// of a word.
fn near(bits: u32, zeros: u32, values: impl Fn(Vec<ringmill_ring::Modulus>) -> Vec<u64>) -> Vec<u64> {
    let side = if [36, 50, 52, 54, 60].contains(&bits) { Side::Below } else { Side::Alternating };
    of_side(bits, zeros, side, values)
}

/// The same on one side, or on both.
fn of_side(
    bits: u32,
    zeros: u32,
    side: Side,
    values: impl Fn(Vec<ringmill_ring::Modulus>) -> Vec<u64>,
) -> Vec<u64> {
    let centre = 1u64 << bits;
    // The search wants a number: take what there is within the quarter octave, at most.
    let there = (centre / 4) >> zeros;
    for count in [MOST, 16, 8, 4, 3, 2, 1] {
        if there * 2 < count as u64 {
            continue;
        }
        if let Ok(found) = nearest_congruent(centre, zeros, count, side, &[]) {
            let mut all = values(found);
            all.retain(|q| q.abs_diff(centre) <= centre / 4);
            return all;
        }
    }
    Vec::new()
}
