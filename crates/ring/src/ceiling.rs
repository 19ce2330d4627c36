//! What one core can do at most: words multiplied a second, and bytes read from memory a second.
//!
//! A kernel is near one of the two, or has something to gain.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::buffer::Buffer;
use crate::lanes::{Kernel, Lanes, Madd52Lanes};
use crate::{Backend, Isa, RingError};

/// Chains of multiplications side by side: more than the latency of any multiplier times its instructions a cycle.
const CHAINS: usize = 12;
/// Instructions of a chain in one measurement.
const LENGTH: usize = 1 << 16;
/// Words that are read: far more than caches hold.
const WORDS: usize = 1 << 25;
/// Measurements; the best one counts, because what disturbs only slows down.
const ROUNDS: usize = 12;

/// The two ceilings of this machine, one core.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ceilings {
    /// Words that multiplying instructions take a second.
    pub multiplications: f64,
    /// Bytes read a second, from memory.
    pub bytes: f64,
}

impl Ceilings {
    /// Measures them on an instruction set; a quarter of a second on a desktop, and 256 MiB meanwhile.
    ///
    /// # Errors
    /// [`RingError::IsaUnavailable`].
    pub fn measure(isa: Isa) -> Result<Self, RingError> {
        let backend = Backend::new(isa)?;
        let multiplied = (0..ROUNDS).map(|_| timed(|| backend.run(Chains))).min().unwrap_or_default();
        let mut words = Buffer::zeros(WORDS);
        // Pages that were never written may all be one and the same page of zeros.
        words.iter_mut().step_by(64).for_each(|word| *word = 1);
        let read = (0..ROUNDS).map(|_| timed(|| backend.run(Read(&words)))).min().unwrap_or_default();
        let rate = |amount: usize, time: Duration| amount as f64 / time.as_secs_f64().max(1e-9);
        Ok(Self {
            multiplications: rate(CHAINS * LENGTH * isa.width(), multiplied),
            bytes: rate(size_of_val(&*words), read),
        })
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    black_box(work());
    start.elapsed()
}

/// Independent chains of the instruction that kernels multiply by.
struct Chains;

impl Kernel for Chains {
    type Output = u64;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> u64 {
        let (a, b) = (black_box(1.000_000_1f64), black_box(1e-9f64));
        let (a, b) = (l.fsplat(a), l.fsplat(b));
        let mut chains = [a; CHAINS];
        for _ in 0..LENGTH {
            for chain in &mut chains {
                *chain = l.fma(*chain, a, b);
            }
        }
        let mut sum = l.splat(0);
        for chain in chains {
            sum = l.add(sum, l.as_u(chain));
        }
        first(l, sum)
    }

    #[inline(always)]
    fn run52<L: Lanes + Madd52Lanes>(self, l: L) -> u64 {
        let a = l.splat(black_box(0x000f_1234_5678_9abc));
        let mut chains = [a; CHAINS];
        for _ in 0..LENGTH / 2 {
            for chain in &mut chains {
                *chain = l.madd52_lo(*chain, a, a);
            }
            for chain in &mut chains {
                *chain = l.madd52_hi(*chain, a, a);
            }
        }
        let mut sum = l.splat(0);
        for chain in chains {
            sum = l.add(sum, chain);
        }
        first(l, sum)
    }
}

/// The sum of all words.
struct Read<'a>(&'a [u64]);

impl Kernel for Read<'_> {
    type Output = u64;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> u64 {
        const VECTORS: usize = 8;
        let mut sums = [l.splat(0); VECTORS];
        for words in self.0.chunks_exact(VECTORS * L::WIDTH) {
            for (i, sum) in sums.iter_mut().enumerate() {
                *sum = l.add(*sum, l.load(&words[i * L::WIDTH..]));
            }
        }
        let mut sum = sums[0];
        for other in &sums[1..] {
            sum = l.add(sum, *other);
        }
        first(l, sum)
    }
}

#[inline(always)]
fn first<L: Lanes>(l: L, v: L::U) -> u64 {
    let mut words = [0; 8];
    l.store(&mut words, v);
    words[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{Emulated, multiplications};

    #[test]
    fn the_twin_counts_the_multiplications_of_the_chains() {
        let before = multiplications();
        Chains.run52(Emulated::<8>);
        assert_eq!(multiplications() - before, (8 * CHAINS * LENGTH) as u64);
        let before = multiplications();
        Chains.run(Emulated::<4>);
        assert_eq!(multiplications() - before, (4 * CHAINS * LENGTH) as u64);
    }

    #[test]
    fn every_word_is_read() {
        let mut words = vec![0; 640];
        (0..640).for_each(|i| words[i] = u64::from(i % 8 == 0));
        let lanes = Emulated::<8>;
        assert_eq!(Read(&words).run(lanes), 80);
    }
}
