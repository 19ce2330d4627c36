// Primes of the class the multiplier was built for, and what the modulus table holds of each.
#pragma once
#include "multiplier.h"
#include "oracle.h"

struct Modulus {
  u64 q, psi, aux;
  std::vector<u64> roots;  // rho_b * 2^R = psi^(N / 2^(b+1)) * 2^R mod q

  Modulus(u64 prime, unsigned log_n, Rng& rng)
      : q(prime), psi(primitive_root(prime, log_n, rng)), aux(aux_of(P_Kind, P_W, prime)) {
    const u64 factor = u64((u128(1) << factor_bits_of(P_Kind, P_W)) % q);
    for (unsigned b = 0; b < log_n; b++) {
      roots.push_back(mul_mod(pow_mod(psi, u64(1) << (log_n - 1 - b), q), factor, q));
    }
  }
};

// A number of the class with q = 1 mod 2^(log_n + 1): `last` picks it, 0 the largest.
inline u64 candidate(u64 pick, unsigned log_n) {
  constexpr unsigned W = P_W, H = W / 2;
  const unsigned step = log_n + 1;
  const auto high = [&](unsigned bits, unsigned shift) {  // bits - shift free bits above the shift
    return bits > shift ? (((u64(1) << (bits - shift)) - 1) & ~pick) << shift : 0;
  };
  if (family_of(P_Kind) == kNtt) {
    constexpr unsigned t = ntt_word_of(P_Kind), k = ntt_delta_bits(P_Kind, W);
    const unsigned shift = std::max(t, step), free = t + k - 1 > shift ? t + k - 1 - shift : 0;
    const unsigned least = std::max(t + k, step + 1);
    const unsigned b = ntt_any_length(P_Kind) && least < W ? unsigned(W - (pick >> 40) % (W - least + 1)) : W;
    const i128 d = i128(1 + (pick & ((u64(1) << free) - 1))) << shift;
    return u64((i128(1) << b) + (b < W && (pick >> 32 & 1) ? d - (i128(1) << shift) : -d) + 1);
  }
  switch (P_Kind) {
    case kP2: return high(W, std::max(H, step)) | 1;
    case kP2Sparse: {
      const unsigned delta_bits = H - 2 < 12 ? H - 2 : 12;
      const u64 delta = high(delta_bits, step > H ? step - H : 0);  // below 2^(bits - 1): positive
      return (u64(1) << (W - 1)) + (delta << H) + 1 - (u64(1) << (H + delta_bits - 1));
    }
    case kPrf: return (u64(1) << (W - 1)) + high(H, step) + 1;
    default: return high(W, step) | 1;
  }
}

// Distinct primes of the class: the largest, then drawn ones.
inline std::vector<u64> find_primes(std::size_t count, unsigned log_n, Rng& rng) {
  std::vector<u64> found;
  for (u64 tries = 0; found.size() < count; tries++) {
    if (tries > 300000) fail("fewer than %zu primes of %d bits in the class", count, P_W);
    const u64 q = candidate(found.empty() ? tries : rng.next(), log_n);
    bool known = false;
    for (u64 other : found) known |= other == q;
    if (q > (u64(2) << log_n) && !known && is_prime(q)) found.push_back(q);
  }
  return found;
}
