// Moduli of the class a multiplier was built for, with its constant; they need not be prime for arithmetic.
#pragma once
#include "harness.h"

// As modmul_pkg has them.
enum Kind { kP2 = 0, kP2Sparse = 1, kPrf = 2, kMontgomery = 3, kBarrett = 4 };

inline u64 random_modulus(Rng& rng) {
  constexpr unsigned h = P_W / 2;
  const u64 top = u64(1) << (P_W - 1);
  switch (P_Kind) {
    case kP2: return ((top >> h | rng.below(top >> h)) << h) | 1;
    case kP2Sparse: return top + (rng.below(64) << h) + 1;
    case kPrf: return top + rng.below(u64(1) << h) | 1;
    default: return rng.chance(128) ? top + rng.below(top) | 1 : rng.below(top) | (top >> 4) | 1;
  }
}

inline u64 modulus_aux(u64 q) {
  u64 inverse = 1;  // Newton, mod 2^64
  for (int i = 0; i < 6; i++) inverse *= 2 - q * inverse;
  if (P_Kind == kMontgomery) return inverse & ((u64(1) << P_W) - 1);
  if (P_Kind == kPrf) return inverse & ((u64(1) << P_W / 2) - 1);
  if (P_Kind != kBarrett) return 0;
  unsigned n = 0;
  while (n < 64 && q >> n) n++;
  return u64((u128(1) << (P_W + n + 1)) / q);
}
