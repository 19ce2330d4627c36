//! Residues as bits: a limb modulo a prime of b bits takes N·b/8 bytes.
//!
//! Word i occupies bits i·b to (i+1)·b − 1 of the limb, least significant bit first.

/// Words that end where a byte does, whatever their bits.
pub const GROUP: usize = 8;

/// Bytes of `n` words of `bits` bits; `n` is a multiple of [`GROUP`], so it is exact.
pub const fn packed_len(n: usize, bits: u32) -> usize {
    n / GROUP * bits as usize
}

/// Packs words below 2^bits; `out` has [`packed_len`] bytes.
///
/// # Panics
/// If `out` is shorter.
pub fn pack(words: &[u64], bits: u32, out: &mut [u8]) {
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

/// Words of at most this number of bits lie within eight bytes, wherever they begin in the first one.
const NARROW: u32 = 57;

#[inline]
fn eight(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes[..8].try_into().unwrap_or_default())
}

/// Unpacks what [`pack`] wrote; any group of words by itself, from its bytes on.
///
/// # Panics
/// If `bytes` are fewer than the words need.
pub fn unpack(bytes: &[u8], bits: u32, words: &mut [u64]) {
    let group = bits as usize;
    let mut groups = words.chunks_exact_mut(GROUP);
    let mut at = 0;
    let mask = (1u64 << bits) - 1;
    let places: [(usize, u32); GROUP] = std::array::from_fn(|j| (j * group / 8, j as u32 * bits % 8));
    // A word is read as sixteen bytes from its first one: those of the last group may not be there.
    while at + group + 16 <= bytes.len() {
        let Some(out) = groups.next() else { return };
        let window = &bytes[at..at + group + 16];
        if bits <= NARROW {
            for (w, &(first, shift)) in out.iter_mut().zip(&places) {
                *w = (eight(&window[first..]) >> shift) & mask;
            }
        } else {
            for (w, &(first, shift)) in out.iter_mut().zip(&places) {
                let [low, high] = [0, 8].map(|k| u128::from(eight(&window[first + k..])));
                *w = ((high << 64 | low) >> shift) as u64 & mask;
            }
        }
        at += group;
    }
    let mut last = [0; 64 + 16];
    for out in groups {
        last[..group].copy_from_slice(&bytes[at..at + group]);
        unpack(&last[..group + 16], bits, out);
        at += group;
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
