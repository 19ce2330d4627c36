//! The discrete Gaussian of standard deviation 3.2 by inversion of its cumulative table.

/// Standard deviation of every error polynomial: 8/√(2π), rounded as everywhere in the field.
pub const SIGMA: f64 = 3.2;

/// Greatest absolute value that is drawn: 13.1 σ. What is cut off has probability 2^−132.
pub const GAUSSIAN_BOUND: i8 = THRESHOLDS.len() as i8;

/// Entry k is 2^127 · P(|X| ≤ k), rounded, where P(X = x) ∝ exp(−x² / (2·3.2²)) on −42..=42.
///
/// Statistical distance from the exact distribution: below 42 · 2^−127 < 2^−121 a sample.
pub(super) const THRESHOLDS: [u128; 42] = [
    0x0ff5_2b40_64a1_f258_29df_05b2_074b_38de,
    0x2e5a_25d4_026f_ff6d_ccdd_fad0_6fdf_e16a,
    0x489a_e268_2e3d_b9bb_0231_3594_4c92_27ab,
    0x5d2b_c20d_e6f9_5105_e12a_d817_7d81_bcff,
    0x6bc8_694a_862f_cdce_85eb_d2a3_b04a_b1df,
    0x7532_d898_e9d1_95d9_eb58_2f25_814f_d03c,
    0x7ab3_96c9_80f5_facb_7e61_a468_e3da_974c,
    0x7d9e_4e8f_6717_ea70_4893_8567_2e72_a304,
    0x7f05_4956_150a_592b_2439_c858_b79c_b75d,
    0x7fa1_ce99_f8db_f691_3ddf_9e01_24eb_b99d,
    0x7fdf_b3f0_0a8f_3398_1403_b4a1_d9ac_8a1d,
    0x7ff5_e6f7_c97d_68d8_9753_1809_587f_eac4,
    0x7ffd_1f95_b372_bd35_cf2b_62c6_803f_fae8,
    0x7fff_40f7_f7ae_dc63_d873_b131_1c89_0d06,
    0x7fff_d2e6_2d05_7ef0_547e_4f4e_753d_546b,
    0x7fff_f650_3aaa_2874_c30c_66c3_7dd8_7cb5,
    0x7fff_fe1b_ab99_a743_e6c7_bd71_8e5e_dc96,
    0x7fff_ffaa_0140_ce52_8b3e_56d5_d7ee_46d4,
    0x7fff_fff2_1f8a_3a77_628c_abae_19fa_fb6e,
    0x7fff_fffd_f723_01f4_1652_de72_ddbc_2c56,
    0x7fff_ffff_ba9f_d472_4f2c_8265_0951_30f2,
    0x7fff_ffff_f79b_78ce_5f9d_1c86_7902_f104,
    0x7fff_ffff_ff13_f6f9_61c5_4c29_89db_9c84,
    0x7fff_ffff_ffe8_7489_a3b1_9006_27bf_c55b,
    0x7fff_ffff_fffd_de23_e29f_768e_b47d_3c73,
    0x7fff_ffff_ffff_d31f_d9c5_36b7_4d56_aa23,
    0x7fff_ffff_ffff_fca6_b994_e9be_34b4_9892,
    0x7fff_ffff_ffff_ffc5_f006_d5ab_c817_d5e0,
    0x7fff_ffff_ffff_fffc_6e58_8256_69df_eb5f,
    0x7fff_ffff_ffff_ffff_cd08_f44c_fba8_29fe,
    0x7fff_ffff_ffff_ffff_fd6b_947e_cbc3_2d70,
    0x7fff_ffff_ffff_ffff_ffe1_aa9e_185b_9ca9,
    0x7fff_ffff_ffff_ffff_fffe_bc60_70bd_a7f9,
    0x7fff_ffff_ffff_ffff_ffff_f3c3_5884_064f,
    0x7fff_ffff_ffff_ffff_ffff_ff94_87d9_4534,
    0x7fff_ffff_ffff_ffff_ffff_fffc_a7b5_8c82,
    0x7fff_ffff_ffff_ffff_ffff_ffff_e7d2_4db4,
    0x7fff_ffff_ffff_ffff_ffff_ffff_ff61_7235,
    0x7fff_ffff_ffff_ffff_ffff_ffff_fffc_50c8,
    0x7fff_ffff_ffff_ffff_ffff_ffff_ffff_ec1e,
    0x7fff_ffff_ffff_ffff_ffff_ffff_ffff_ff9f,
    0x7fff_ffff_ffff_ffff_ffff_ffff_ffff_fffe,
];

/// The upper halves of the thresholds below 2^127 − 2^64, and one more for all the others, whose upper half is 2^63 − 1.
const UPPER: [u64; UPPER_LEN] = {
    let mut upper = [0; UPPER_LEN];
    let mut k = 0;
    while k < UPPER_LEN {
        upper[k] = (THRESHOLDS[k] >> 64) as u64;
        k += 1;
    }
    assert!(upper[UPPER_LEN - 1] == (1 << 63) - 1 && upper[UPPER_LEN - 2] < (1 << 63) - 1);
    upper
};
const UPPER_LEN: usize = 30;

/// Samples decided together.
pub(super) const GROUP: usize = 32;

/// One sample for every word: bit 63 is the sign and the rest the upper half of a 127-bit selector, whose magnitude
/// is the number of thresholds not above it. Where the upper half equals that of a threshold, `lower` supplies the
/// other 64 bits.
///
/// Constant time: every entry is compared with and comparisons become sums. Only the call of `lower` is a branch; it
/// is taken with probability 30 · 2^−63 a sample.
pub(super) fn from_words(words: &[u64; GROUP], lower: &mut impl FnMut() -> u64) -> [i8; GROUP] {
    let (mut magnitudes, mut equal) = ([0; GROUP], [0; GROUP]);
    pulp::Arch::new().dispatch(Compare { words, magnitudes: &mut magnitudes, equal: &mut equal });
    let mut samples = [0; GROUP];
    for i in 0..GROUP {
        samples[i] = signed(magnitudes[i] as i8, words[i] >> 63);
    }
    if equal.iter().fold(0, |any, e| any | e) != 0 {
        for (sample, &word) in samples.iter_mut().zip(words) {
            if UPPER.contains(&(word & (u64::MAX >> 1))) {
                *sample = from_bits((u128::from(word) << 64) | u128::from(lower()));
            }
        }
    }
    samples
}

/// For every word the number of upper halves not above its selector, and of those equal to it.
struct Compare<'a> {
    words: &'a [u64; GROUP],
    magnitudes: &'a mut [u64; GROUP],
    equal: &'a mut [u64; GROUP],
}

impl pulp::WithSimd for Compare<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) {
        // GROUP is a multiple of every vector length: no tails.
        let words = S::as_simd_u64s(self.words).0;
        let magnitudes = S::as_mut_simd_u64s(self.magnitudes).0;
        let equal = S::as_mut_simd_u64s(self.equal).0;
        let (zero, one) = (simd.splat_u64s(0), simd.splat_u64s(1));
        let mask = simd.splat_u64s(u64::MAX >> 1);
        for ((&word, magnitude), equal) in words.iter().zip(magnitudes).zip(equal) {
            let selector = simd.and_u64s(word, mask);
            let (mut count, mut ties) = (zero, zero);
            for t in UPPER {
                let t = simd.splat_u64s(t);
                let above = simd.greater_than_or_equal_u64s(selector, t);
                count = simd.add_u64s(count, simd.select_u64s(above, one, zero));
                ties = simd.or_u64s(ties, simd.select_u64s(simd.equal_u64s(selector, t), one, zero));
            }
            (*magnitude, *equal) = (count, ties);
        }
    }
}

/// The sample that all 128 bits stand for: bit 127 is the sign, the rest the selector.
#[inline]
pub(super) fn from_bits(bits: u128) -> i8 {
    let selector = bits & (u128::MAX >> 1);
    let magnitude: u8 = THRESHOLDS.iter().map(|&t| u8::from(selector >= t)).sum();
    signed(magnitude as i8, (bits >> 127) as u64)
}

/// m or, if sign is 1, −m.
#[inline(always)]
const fn signed(m: i8, sign: u64) -> i8 {
    let sign = sign as i8;
    (m ^ -sign) + sign
}
