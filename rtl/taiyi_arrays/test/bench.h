// What the benches of the arrays share: words of ports, moduli, and what a consumer with credits does.
#pragma once
#include <deque>
#include <type_traits>

#include "../../ntt/test/fields.h"
#include "../../ntt/test/modulus.h"

constexpr unsigned kM = latency_of(P_Kind, P_W), kR = factor_bits_of(P_Kind, P_W), kLp = 3;
constexpr u64 kWord = (u64(1) << P_W) - 1;

// Fields of `width` bits, the first lowest.
template <typename Port>
void put(Port& port, const Words& values, unsigned width = P_W) {
  Fields<Port>::clear(port);
  for (unsigned i = 0; i < values.size(); i++) Fields<Port>::set(port, i * width, width, values[i]);
}
template <typename Port>
u64 word(const Port& port, unsigned i, unsigned width = P_W) {
  return Fields<Port>::get(port, i * width, width);
}

inline u64 power_of_two(unsigned bits, u64 q) { return pow_mod(2, bits, q); }
// x 2^R mod q, and back.
inline u64 raised(u64 x, u64 q) { return mul_mod(x % q, power_of_two(kR, q), q); }
inline u64 lowered(u64 x, u64 q) { return mul_mod(x % q, inverse_mod(power_of_two(kR, q), q), q); }
// Wide sum to residue, by the contract of rm_wide_reduce.
constexpr unsigned reduce_latency(unsigned guard) { return (kR != P_W ? guard + kM : guard > kM ? guard : kM) + 2; }
constexpr unsigned guard_bits(unsigned terms) {
  unsigned g = 0;
  while ((1u << g) < terms + 1) g++;
  return g;
}

// A residue, often one at an end of the interval.
inline u64 residue(Rng& rng, u64 q) {
  switch (rng.below(12)) {
    case 0: return 0;
    case 1: return q - 1;
    case 2: return q / 2;
    case 3: return q / 2 + 1;
    default: return rng.below(q);
  }
}

// How a run goes: chances of 256 that a row is offered, and that the consumer gives a row back.
struct Pace {
  unsigned offer, give;
};
constexpr Pace kPaces[] = {{256, 256}, {128, 256}, {256, 40}, {60, 60}, {240, 200}};
