// Primes of the multiplier's class and what the modulus table holds of them.
#pragma once
#include "../../arith/test/modulus.h"
#include "interpreter.h"

namespace rm_test {

inline unsigned factor_bits() { return factor_bits_of(P_Kind, P_W); }

// `count` different primes that have transforms of 2^log_n words.
inline std::vector<u64> primes(Rng& rng, unsigned count, unsigned log_n) {
  std::vector<u64> found;
  for (unsigned tries = 0; found.size() < count; tries++) {
    if (tries > 1000000) fail("no %u primes of %d bits", count, P_W);
    u64 q = random_modulus(rng);
    if (P_Kind == kMontgomery || P_Kind == kBarrett) q = (q >> (log_n + 1) << (log_n + 1)) | 1;
    if ((q - 1) % (u64(2) << log_n) || !is_prime(q)) continue;
    if (std::find(found.begin(), found.end(), q) == found.end()) found.push_back(q);
  }
  return found;
}

// A full table for limbs of 2^log_n words: each prime once, then any of them, with roots of their own. So no entry can stand
// for another one.
inline std::vector<TableEntry> table_for(Rng& rng, const std::vector<u64>& primes, unsigned log_n, unsigned entries) {
  std::vector<TableEntry> table;
  for (unsigned m = 0; m < entries; m++) {
    const u64 q = primes[m < primes.size() ? m : rng.below(primes.size())];
    table.push_back({q, modulus_aux(q), primitive_root(q, log_n, rng)});
  }
  return table;
}

// The same for shorter limbs: the roots that both store are equal.
inline std::vector<TableEntry> shorter(std::vector<TableEntry> table, unsigned log_n, unsigned shorter_log_n) {
  for (TableEntry& e : table) e.psi = pow_mod(e.psi, u64(1) << (log_n - shorter_log_n), e.q);
  return table;
}

// rho_b = psi^(N / 2^(b+1)), times 2^R.
inline u64 stored_root(const TableEntry& e, unsigned log_n, unsigned b) {
  return mul_mod(pow_mod(e.psi, u64(1) << (log_n - 1 - b), e.q), u64((u128(1) << factor_bits()) % e.q), e.q);
}

}  // namespace rm_test
