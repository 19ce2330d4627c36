//! The modulus table: what the core must know of each prime.

use ringmill_ring::Modulus;

use super::config::{NTT_WORD, ntt_length};
use super::product::low_bits;
use super::{CompactConfig, CompactError, Multiplier};

/// One entry: 17 fields of 64 bits in the register window, q, aux, ρ_0 … ρ_14.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableEntry {
    /// The modulus.
    pub q: u64,
    /// The multiplier's constant.
    pub aux: u64,
    /// ρ_b·2^R mod q with ρ_b = ψ^(N/2^(b+1)), b = 0 … log N − 1: all roots of all stages are their products.
    pub roots: Vec<u64>,
}

impl TableEntry {
    /// The entry of a prime for degree 2^`log_n`.
    ///
    /// # Errors
    /// A degree or a prime that the core was not built for, or q ≢ 1 mod 2N.
    pub fn new(config: &CompactConfig, q: Modulus, log_n: u32) -> Result<Self, CompactError> {
        config.check_degree(log_n)?;
        config.check_modulus(q)?;
        let psi = q.psi(log_n)?;
        let factor = power_of_two(q, config.factor_bits());
        let roots = (0..log_n).map(|b| q.mul(q.pow(psi, 1 << (log_n - 1 - b)), factor)).collect();
        Ok(Self { q: q.value(), aux: aux(config, q.value()), roots })
    }

    /// The fields in the order of the register window.
    pub fn fields(&self) -> impl Iterator<Item = u64> + '_ {
        [self.q, self.aux].into_iter().chain(self.roots.iter().copied())
    }
}

/// 2^`bits` mod q.
pub fn power_of_two(q: Modulus, bits: u32) -> u64 {
    q.pow(2, bits.into())
}

/// The constant beside q that a multiplier takes, `rtl/modmul/README.md`.
///
/// - Montgomery: q^−1 mod 2^W.
/// - PRF-FIKO: −q^−1 mod 2^(W/2).
/// - Barrett: ⌊2^(W+n+1)/q⌋ for q of n bits, which lies below 2^(W+2).
/// - Word Montgomery: none, the low half word of q is 1.
/// - NTT: b − 13 for q = 2^b + δ·2^13 + 1.
pub(crate) fn aux(config: &CompactConfig, q: u64) -> u64 {
    let w = config.word_bits();
    match config.multiplier() {
        Multiplier::WordMontgomery | Multiplier::SparseWordMontgomery => 0,
        Multiplier::Montgomery => inverse_power_of_two(q, w),
        Multiplier::PrfFiko => inverse_power_of_two(q.wrapping_neg(), w / 2),
        Multiplier::Barrett => {
            let bits = u64::BITS - q.leading_zeros();
            ((1u128 << (w + bits + 1)) / u128::from(q)) as u64
        }
        // Configurations check the class of a modulus first.
        Multiplier::Ntt => ntt_length(q, w).map_or(0, |b| (b - NTT_WORD).into()),
    }
}

/// x^−1 mod 2^`bits` for odd x: Newton's iteration doubles the number of right bits, from three.
const fn inverse_power_of_two(x: u64, bits: u32) -> u64 {
    let mut y = x;
    let mut right = 3;
    while right < bits {
        y = y.wrapping_mul(2u64.wrapping_sub(x.wrapping_mul(y)));
        right *= 2;
    }
    y & low_bits(bits)
}

#[cfg(test)]
mod tests {
    use super::super::CompactLiteral;
    use super::*;

    #[test]
    fn roots_generate_every_stage() {
        // T_s(i + 2^b) = T_s(i)·ρ_b from T_s(0) = ρ_s must give ψ^((2·brv_s(i)+1)·N/2^(s+1)).
        let log_n = 10;
        let q = Modulus::new((1 << 53) + (13 << 27) + 1).unwrap();
        let config = CompactLiteral {
            word_bits: 54,
            multiplier: Multiplier::WordMontgomery,
            ..CompactLiteral::roomy()
        };
        let entry = TableEntry::new(&config.build().unwrap(), q, log_n).unwrap();
        let undo = q.inv(power_of_two(q, 54)).unwrap();
        let rho: Vec<u64> = entry.roots.iter().map(|&r| q.mul(r, undo)).collect();
        let psi = q.psi(log_n).unwrap();
        for s in 0..log_n {
            let mut stage = vec![rho[s as usize]];
            for b in 0..s {
                let next: Vec<u64> = stage.iter().map(|&t| q.mul(t, rho[b as usize])).collect();
                stage.extend(next);
            }
            for (i, &t) in stage.iter().enumerate() {
                let reversed = ringmill_ring::reference::bit_reverse(i, s) as u64;
                assert_eq!(t, q.pow(psi, (2 * reversed + 1) << (log_n - 1 - s)), "stage {s}, block {i}");
            }
        }
    }
}
