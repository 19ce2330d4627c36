// Moduli of the class a multiplier was built for, with its constant; they need not be prime for arithmetic.
#pragma once
#include "harness.h"
#include "multiplier.h"

inline u64 random_modulus(Rng& rng) {
  constexpr unsigned h = P_W / 2;
  const u64 top = u64(1) << (P_W - 1);
  switch (family_of(P_Kind)) {
    case kP2: return ((top >> h | rng.below(top >> h)) << h) | 1;
    case kP2Sparse: return top - (u64(1) << (11 + h)) + (rng.below(1 << 12) << h) + 1;
    case kPrf: return top + (rng.below(u64(1) << h) & prf_ones_of(P_Kind)) | 1;
    default: return rng.chance(128) ? top + rng.below(top) | 1 : rng.below(top) | (top >> 4) | 1;
  }
}

inline u64 modulus_aux(u64 q) { return aux_of(P_Kind, P_W, q); }
