// What a multiplier of modmul_pkg needs to know of a modulus, by the contract in rtl/modmul/README.md.
#pragma once
#include "harness.h"

enum Kind { kP2 = 0, kP2Sparse = 1, kPrf = 2, kMontgomery = 3, kBarrett = 4 };  // as in modmul_pkg

// R in r = a * b * 2^-R mod q.
constexpr unsigned factor_bits_of(unsigned kind, unsigned w) {
  return kind == kBarrett ? 0 : kind == kPrf ? w / 2 : w;
}

// aux_i: q^-1 mod 2^w, or -q^-1 mod 2^(w/2), or floor(2^(w+n+1) / q) for q of n bits; else not read.
inline u64 aux_of(unsigned kind, unsigned w, u64 q) {
  if (kind == kMontgomery || kind == kPrf) {
    u64 inverse = 1;  // Newton, mod 2^64
    for (int i = 0; i < 6; i++) inverse *= 2 - q * inverse;
    return (kind == kPrf ? -inverse : inverse) & ((u64(1) << factor_bits_of(kind, w)) - 1);
  }
  if (kind != kBarrett) return 0;
  unsigned n = 0;
  while (n < 64 && q >> n) n++;
  return u64((u128(1) << (w + n + 1)) / q);
}
