// What a multiplier of rm_modmul_pkg needs to know of a modulus, by the contract in rtl/modmul/README.md.
#pragma once
#include "harness.h"

enum Kind { kP2 = 0, kP2Sparse = 1, kPrf = 2, kMontgomery = 3, kBarrett = 4, kNtt = 5 };  // as in rm_modmul_pkg

// The kind without what rm_modmul_pkg::prf_kind or ntt_kind adds to it.
constexpr unsigned family_of(unsigned kind) { return kind % 8; }

// KindPrf: the places where f0 of a modulus may have ones.
constexpr u64 prf_ones_of(unsigned kind) { return kind == kPrf ? ~u64(0) : u64(kind / 8) << 1 | 1; }

// KindNtt: bits of a word; whether the length of q is its own; bits of the signed delta.
constexpr unsigned ntt_word_of(unsigned kind) { return kind == kNtt ? 13 : kind / 16 % 32; }
constexpr bool ntt_any_length(unsigned kind) { return kind == kNtt || kind / 16 >= 32; }
constexpr unsigned ntt_delta_bits(unsigned kind, unsigned w) {
  const unsigned room = w - ntt_word_of(kind) - (ntt_any_length(kind) ? 3 : 1), most = ntt_any_length(kind) ? 13 : 10;
  return room < most ? room : most;
}

// The b of q = 2^b + delta 2^t + 1 in the class of KindNtt; 0 when q is outside of it.
inline unsigned ntt_length(unsigned kind, unsigned w, u64 q) {
  const unsigned t = ntt_word_of(kind), k = ntt_delta_bits(kind, w);
  if (q >> w || q % (u64(1) << t) != 1) return 0;
  for (unsigned b = ntt_any_length(kind) ? t + k : w; b <= w; b++) {
    const i128 delta = (i128(q) - 1 - (i128(1) << b)) >> t;
    if (delta >= -(i128(1) << (k - 1)) && delta < i128(1) << (k - 1)) return b;
  }
  return 0;
}

// R in r = a * b * 2^-R mod q.
constexpr unsigned factor_bits_of(unsigned kind, unsigned w) {
  switch (family_of(kind)) {
    case kBarrett: return 0;
    case kPrf: return w / 2;
    case kNtt: return (w + ntt_word_of(kind) - 1) / ntt_word_of(kind) * ntt_word_of(kind);
    default: return w;
  }
}

// Cycles from operands to product.
constexpr unsigned latency_of(unsigned kind, unsigned w) {
  switch (family_of(kind)) {
    case kPrf: return 11;
    case kMontgomery: return 11;
    case kBarrett: return 13;
    case kNtt: return 4 + 2 * (factor_bits_of(kind, w) / ntt_word_of(kind));
    default: return 8;
  }
}

// aux_i: q^-1 mod 2^w, or -q^-1 mod 2^(w/2), or floor(2^(w+n+1) / q) for q of n bits, or b - t; else not read.
inline u64 aux_of(unsigned kind, unsigned w, u64 q) {
  if (kind == kMontgomery || family_of(kind) == kPrf) {
    u64 inverse = 1;  // Newton, mod 2^64
    for (int i = 0; i < 6; i++) inverse *= 2 - q * inverse;
    return (kind != kMontgomery ? -inverse : inverse) & ((u64(1) << factor_bits_of(kind, w)) - 1);
  }
  if (family_of(kind) == kNtt && ntt_any_length(kind)) return ntt_length(kind, w, q) - ntt_word_of(kind);
  if (kind != kBarrett) return 0;
  unsigned n = 0;
  while (n < 64 && q >> n) n++;
  return u64((u128(1) << (w + n + 1)) / q);
}
