//! Residues as bits: a limb modulo a prime of b bits takes N·b/8 bytes.
//!
//! Word i occupies bits i·b to (i+1)·b − 1 of the limb, least significant bit first.

/// Bytes of `n` words of `bits` bits; `n` is a multiple of 8, so it is exact.
pub(super) const fn packed_len(n: usize, bits: u32) -> usize {
    n / 8 * bits as usize
}

/// Packs words below 2^bits; `out` has [`packed_len`] bytes.
pub(super) fn pack(words: &[u64], bits: u32, out: &mut [u8]) {
    let (mut held, mut count, mut at) = (0u128, 0u32, 0);
    for &w in words {
        held |= u128::from(w) << count;
        count += bits;
        // bits ≤ 60 and fewer than 64 bits are left over, so 124 bits are held at most.
        if count >= 64 {
            out[at..at + 8].copy_from_slice(&(held as u64).to_le_bytes());
            (held, count, at) = (held >> 64, count - 64, at + 8);
        }
    }
    let rest = count as usize / 8;
    out[at..at + rest].copy_from_slice(&(held as u64).to_le_bytes()[..rest]);
}

/// Unpacks what [`pack`] wrote.
pub(super) fn unpack(bytes: &[u8], bits: u32, words: &mut [u64]) {
    let mask = (1u64 << bits) - 1;
    let (mut held, mut count) = (0u128, 0u32);
    let mut chunks = bytes.chunks(8);
    for w in words {
        if count < bits {
            let chunk = chunks.next().unwrap_or_default();
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            held |= u128::from(u64::from_le_bytes(word)) << count;
            count += 64;
        }
        *w = held as u64 & mask;
        (held, count) = (held >> bits, count - bits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn packing_round_trips(bits in 20u32..=60, n in 1usize..40, seed: u64) {
            let n = 8 * n;
            let mask = (1u64 << bits) - 1;
            let words: Vec<u64> =
                (0..n as u64).map(|i| (seed ^ i).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23) & mask).collect();
            let mut bytes = vec![0; packed_len(n, bits)];
            pack(&words, bits, &mut bytes);
            let mut back = vec![0; n];
            unpack(&bytes, bits, &mut back);
            prop_assert_eq!(&back, &words);
            // The layout by its definition, bit by bit.
            for (i, w) in words.iter().enumerate() {
                for b in 0..bits as usize {
                    let at = i * bits as usize + b;
                    prop_assert_eq!(u64::from(bytes[at / 8] >> (at % 8) & 1), w >> b & 1);
                }
            }
        }
    }
}
