// What the contract of the in-place transform says about orders and times; the transforms themselves are
// rtl/ntt/test/oracle.h.
#pragma once
#include "../../ntt/test/fields.h"
#include "../../ntt/test/modulus.h"

constexpr unsigned kLanes = 16;
constexpr u64 kM = latency_of(P_Kind, P_W), kColumn = kM + 4, kRowLatency = 4 * kColumn + 4, kLead = 2 * kM - 1;

inline u64 rows_of(unsigned log_n) { return u64(1) << (log_n - 4); }

// Lane l of row r: values are rows of neighbours; of coefficients the lanes are the four highest bits of the number, lane bit c
// that whose place is c modulo 4.
inline u64 value_place(unsigned, unsigned l, u64 r) { return 16 * r + l; }
inline u64 coefficient_place(unsigned log_n, unsigned l, u64 r) {
  u64 place = r;
  for (unsigned b = log_n - 4; b < log_n; b++) place |= u64(l >> (b % 4) & 1) << b;
  return place;
}

// Cycles from the first row of the first pass to the first row of the last one: passes, and between them the wait for the
// last row of the 2^v that a row needs.
inline u64 to_last_pass(unsigned log_n, bool inverse) {
  const unsigned passes = (log_n + 3) / 4;
  u64 cycles = 0;
  for (unsigned p = 0; p + 1 < passes; p++) {
    const unsigned level = inverse ? p + 1 : passes - 1 - p, v = level + 1 == passes ? log_n - 4 : 4 * level;
    cycles += std::max(rows_of(log_n), (u64(1) << v) + kRowLatency - 1);
  }
  return cycles;
}
// From a start to the next of the same direction.
inline u64 interval(unsigned log_n, bool inverse) { return to_last_pass(log_n, inverse) + rows_of(log_n); }
