// Transforms by the textbook, and primes to transform with; nothing here follows the unit's algorithm.
//
// The unit merges psi into the butterflies (Longa, Naehrig) and works in place. Here the definition
//     output k = a(psi^(2 brv(k) + 1))
// is computed as: weigh a_j by psi^j, recursive cyclic DFT with root psi^2, out of place, in natural order,
// then permute. `definition` evaluates the polynomial itself, to hold the recursion.
#pragma once
#include <vector>

#include "harness.h"

using Words = std::vector<u64>;

inline u64 mul_mod(u64 a, u64 b, u64 q) { return u64(u128(a) * b % q); }

inline u64 pow_mod(u64 base, u64 exponent, u64 q) {
  u64 r = 1 % q;
  for (base %= q; exponent; exponent >>= 1, base = mul_mod(base, base, q)) {
    if (exponent & 1) r = mul_mod(r, base, q);
  }
  return r;
}

inline u64 inverse_mod(u64 a, u64 q) { return pow_mod(a, q - 2, q); }

// Miller, Rabin; these bases decide every number below 2^64.
inline bool is_prime(u64 n) {
  for (u64 p : {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37}) {
    if (n % p == 0) return n == p;
  }
  const int twos = __builtin_ctzll(n - 1);
  for (u64 base : {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37}) {
    u64 x = pow_mod(base, (n - 1) >> twos, n);
    if (x == 1 || x == n - 1) continue;
    int i = 1;
    for (; i < twos && x != n - 1; i++) x = mul_mod(x, x, n);
    if (x != n - 1) return false;
  }
  return n > 1;
}

// An element psi with psi^N = -1: a primitive 2N-th root of one modulo the prime q = 1 mod 2N.
inline u64 primitive_root(u64 q, unsigned log_n, Rng& rng) {
  for (;;) {
    const u64 psi = pow_mod(1 + rng.below(q - 1), (q - 1) >> (log_n + 1), q);
    if (pow_mod(psi, u64(1) << log_n, q) == q - 1) return psi;
  }
}

inline u64 reverse_bits(u64 k, unsigned bits) {
  u64 r = 0;
  for (unsigned b = 0; b < bits; b++) r |= ((k >> b) & 1) << (bits - 1 - b);
  return r;
}

// sum over j of a[j] root^(j k) for all k, natural order both ways.
inline Words dft(const Words& a, u64 root, u64 q) {
  const std::size_t n = a.size();
  if (n == 1) return a;
  Words even(n / 2), odd(n / 2), out(n);
  for (std::size_t j = 0; j < n / 2; j++) even[j] = a[2 * j], odd[j] = a[2 * j + 1];
  const u64 square = mul_mod(root, root, q);
  even = dft(even, square, q), odd = dft(odd, square, q);
  u64 power = 1;
  for (std::size_t k = 0; k < n / 2; k++, power = mul_mod(power, root, q)) {
    const u64 t = mul_mod(power, odd[k], q);
    out[k] = u64((u128(even[k]) + t) % q);
    out[k + n / 2] = u64((u128(even[k]) + q - t) % q);
  }
  return out;
}

inline Words forward(const Words& a, u64 psi, unsigned log_n, u64 q) {
  Words b(a.size()), out(a.size());
  u64 weight = 1;
  for (std::size_t j = 0; j < a.size(); j++, weight = mul_mod(weight, psi, q)) b[j] = mul_mod(a[j], weight, q);
  b = dft(b, mul_mod(psi, psi, q), q);
  for (std::size_t k = 0; k < a.size(); k++) out[k] = b[reverse_bits(k, log_n)];
  return out;
}

inline Words inverse(const Words& values, u64 psi, unsigned log_n, u64 q) {
  const std::size_t n = values.size();
  const u64 back = inverse_mod(psi, q);
  Words b(n);
  for (std::size_t k = 0; k < n; k++) b[reverse_bits(k, log_n)] = values[k];
  b = dft(b, mul_mod(back, back, q), q);
  u64 weight = inverse_mod(n % q, q);
  for (std::size_t j = 0; j < n; j++, weight = mul_mod(weight, back, q)) b[j] = mul_mod(b[j], weight, q);
  return b;
}

// a(psi^(2 brv(k) + 1)), by Horner.
inline u64 definition(const Words& a, u64 psi, unsigned log_n, u64 q, u64 k) {
  const u64 x = pow_mod(psi, 2 * reverse_bits(k, log_n) + 1, q);
  u64 r = 0;
  for (std::size_t j = a.size(); j > 0; j--) r = u64((u128(r) * x + a[j - 1]) % q);
  return r;
}
