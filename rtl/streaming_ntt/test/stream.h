// What the stream's contract says about orders and times; the transforms themselves are rtl/ntt/test/oracle.h.
#pragma once
#include "../../ntt/test/fields.h"
#include "../../ntt/test/modulus.h"

constexpr unsigned kLogP = P_LogP, kP = 1u << kLogP;
constexpr bool kInverse = P_Inverse, kFeedback = P_Style == 1;

// Which coefficient stands in lane l of row t: a lane has N/P neighbours, or a row P of them.
inline u64 coefficient_place(unsigned log_n, unsigned l, u64 t) {
  return kFeedback ? t * kP + l : (u64(l) << (log_n - kLogP)) + t;
}
// Which value of the bit-reversed order: pairs of lanes have 2N/P neighbours, two a row, or a row P of them.
inline u64 value_place(unsigned log_n, unsigned l, u64 t) {
  return kFeedback ? t * kP + l : (u64(l >> 1) << (log_n - kLogP + 1)) + 2 * t + (l & 1);
}

constexpr unsigned kM = latency_of(P_Kind, P_W), kLead = kM + 4;

// From row in to row out.
inline u64 stream_latency(unsigned log_n) {
  const u64 rows = u64(1) << (log_n - kLogP), skipped = P_LogNMax - log_n;
  if (!kFeedback) return rows - 1 + log_n * (kM + 4) + skipped;
  return rows - 1 + (log_n - kLogP) * (kM + (kInverse ? 3 : 2)) + kLogP * (kM + 4) + skipped;
}
