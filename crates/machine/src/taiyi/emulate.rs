//! What the written words make the machine do, a limb at a time: issues in the order of their cycles, on slots.
//!
//! Nothing here knows the program: an instruction is what its issue says, as `rtl/taiyi` reads it.

use std::collections::HashMap;

use ringmill_ring::reference as scalar;
use ringmill_ring::reference::bit_reverse;
use ringmill_ring::{Modulus, RingError};

use super::words::{QUEUES, Table, Write};

/// A modulus with its ψ.
type Prime = (Modulus, u64);

/// The machine with its tables and its limbs.
struct State<'a> {
    log_n: u32,
    tables: HashMap<(Table, u32), &'a [u64; 4]>,
    primes: HashMap<u32, Prime>,
    slots: HashMap<u64, Vec<u64>>,
}

/// Bits `from` up to `to` of a word of 256 bits, at most 32 of them.
const fn field(data: &[u64; 4], from: usize, bits: usize) -> u64 {
    let low = data[from / 64] >> (from % 64);
    let high = if from % 64 + bits > 64 { data[from / 64 + 1] << (64 - from % 64) } else { 0 };
    (low | high) & ((1 << bits) - 1)
}

/// Runs what was written on limbs off chip, by number, each in the program's order. They are what the run leaves there.
///
/// # Errors
/// [`RingError`] for a modulus that has no transform of this length.
pub(super) fn emulate(
    log_n: u32,
    writes: &[Write],
    off_chip: &mut HashMap<u64, Vec<u64>>,
) -> Result<(), RingError> {
    let tables: HashMap<_, _> = writes.iter().map(|w| ((w.table, w.address), &w.data)).collect();
    let mut primes = HashMap::new();
    for w in writes.iter().filter(|w| w.table == Table::Modulus) {
        let q = Modulus::new(w.data[0])?;
        primes.insert(w.address, (q, q.psi(log_n)?));
    }
    let mut issues: Vec<&Write> = writes.iter().filter(|w| QUEUES.contains(&w.table)).collect();
    issues.sort_by_key(|w| (field(&w.data, 0, 32), w.table, w.address));
    let mut state = State { log_n, tables, primes, slots: HashMap::new() };
    for w in issues {
        let (a, d, limb) = (field(&w.data, 32, 12), field(&w.data, 68, 12), field(&w.data, 104, 24));
        match w.table {
            Table::Load => {
                let words = off_chip.get(&limb).cloned().unwrap_or_default();
                state.slots.insert(d, words);
            }
            Table::Store => {
                off_chip.insert(limb, state.slot(a).to_vec());
            }
            table => {
                let made = state.made(table, &w.data);
                state.slots.insert(d, made);
            }
        }
    }
    Ok(())
}

impl State<'_> {
    fn slot(&self, at: u64) -> &[u64] {
        self.slots.get(&at).map_or(&[], Vec::as_slice)
    }

    fn prime(&self, at: u64) -> Prime {
        self.primes
            .get(&(at as u32))
            .copied()
            .unwrap_or_else(|| unreachable!("a job writes the moduli of its issues"))
    }

    /// Entries of a list.
    fn list(&self, table: Table, data: &[u64; 4]) -> Vec<&[u64; 4]> {
        let (base, count) = (field(data, 104, 24) as u32, field(data, 96, 8) as u32);
        (base..base + count).filter_map(|at| self.tables.get(&(table, at)).copied()).collect()
    }

    fn made(&self, table: Table, data: &[u64; 4]) -> Vec<u64> {
        let (q, psi) = self.prime(field(data, 88, 8));
        let op = field(data, 80, 4);
        match table {
            Table::Ntt => {
                let mut words = self.slot(field(data, 32, 12)).to_vec();
                let transform = if op == 0 { scalar::forward } else { scalar::inverse };
                transform(&mut words, q, psi);
                words
            }
            Table::Auto => {
                let (from, bits) = (self.slot(field(data, 32, 12)), self.log_n);
                let source = |k: usize| {
                    let odd =
                        (data[2] as usize).wrapping_mul(2 * bit_reverse(k, bits) + 1) & ((2 << bits) - 1);
                    from[bit_reverse(odd / 2, bits)]
                };
                (0..from.len()).map(source).collect()
            }
            Table::Bconv => self.converted(q, op == 1, data),
            Table::Ip => {
                let terms = self.list(Table::Terms, data);
                let pairs: Vec<_> =
                    terms.iter().map(|t| (self.slot(field(t, 0, 12)), self.slot(field(t, 12, 12)))).collect();
                let sum = |k: usize| pairs.iter().fold(0, |sum, (x, key)| q.add(sum, q.mul(x[k], key[k])));
                (0..1 << self.log_n).map(sum).collect()
            }
            _ => self.element_wise(q, op, data),
        }
    }

    fn element_wise(&self, q: Modulus, op: u64, data: &[u64; 4]) -> Vec<u64> {
        let [a, b, c] = [32, 44, 56].map(|from| self.slot(field(data, from, 12)));
        let (k, k1) = (data[2], data[3]);
        let (from, _) = self.prime(field(data, 96, 8));
        let word = |i: usize| match op {
            0 => q.add(a[i], b[i]),
            1 => q.sub(a[i], b[i]),
            2 => q.neg(a[i]),
            3 => q.mul(a[i], b[i]),
            4 => q.add(a[i], q.mul(b[i], c[i])),
            5 => q.mul(a[i], k),
            6 => q.add(a[i], k),
            7 => q.mul(q.sub(a[i], b[i]), k),
            _ => q.sub(q.mul(q.reduce(a[i]), k), if 2 * a[i] > from.value() { k1 } else { 0 }),
        };
        (0..1 << self.log_n).map(word).collect()
    }

    fn converted(&self, q: Modulus, centred: bool, data: &[u64; 4]) -> Vec<u64> {
        let sources = self.list(Table::Sources, data);
        let limbs: Vec<&[u64]> = sources.iter().map(|s| self.slot(field(s, 0, 12))).collect();
        let word = |k: usize| {
            let (mut sum, mut quotient) = (0, 1u64 << 27);
            for (s, y) in sources.iter().zip(&limbs) {
                sum = q.add(sum, q.mul(q.reduce(y[k]), s[1]));
                quotient += (y[k] >> field(s, 16, 6)) * field(s, 24, 15);
            }
            let times = if centred { quotient >> 28 } else { 0 };
            q.add(sum, q.mul(q.reduce(times), data[2]))
        };
        (0..1 << self.log_n).map(word).collect()
    }
}
