// What the shells of simulated engines share: numbers modulo primes, fields of ports, and a library's errors.
#ifndef RM_SIM_ENGINE_H
#define RM_SIM_ENGINE_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "verilated.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace engine {

using u64 = std::uint64_t;
using u128 = unsigned __int128;

// Why a job ends without a result.
struct Failed {
  const char* why;
};

// Runs a job; 0, or 1 with the reason in `message`.
template <typename Job>
int answer(char* message, std::size_t size, Job&& job) {
  try {
    job();
    return 0;
  } catch (const Failed& failed) {
    std::snprintf(message, size, "%s", failed.why);
    return 1;
  }
}

inline u64 mul_mod(u64 a, u64 b, u64 q) { return u64(u128(a) * b % q); }
inline u64 pow_mod(u64 base, u64 exponent, u64 q) {
  u64 r = 1;
  for (base %= q; exponent; exponent >>= 1, base = mul_mod(base, base, q)) {
    if (exponent & 1) r = mul_mod(r, base, q);
  }
  return r;
}
inline u64 inverse_mod(u64 a, u64 q) { return pow_mod(a % q, q - 2, q); }
inline u64 power_of_two(unsigned bits, u64 q) { return u64((u128(1) << bits) % q); }

// Fields of at most 64 bits in a packed port, whatever C++ type Verilator gives it. A field is set where zeros were.
template <typename Port>
struct Fields {
  static u64 get(const Port& port, unsigned bit, unsigned width) {
    return u64(port) >> bit & (width == 64 ? ~u64(0) : (u64(1) << width) - 1);
  }
  static void set(Port& port, unsigned bit, unsigned, u64 value) { port = Port(u64(port) | value << bit); }
  static void clear(Port& port) { port = 0; }
};
template <std::size_t N>
struct Fields<VlWide<N>> {
  static u64 get(const VlWide<N>& port, unsigned bit, unsigned width) {
    u128 v = 0;
    for (unsigned i = 0; i < 3 && bit / 32 + i < N; i++) v |= u128(port[bit / 32 + i]) << (32 * i);
    return u64(v >> (bit % 32)) & (width == 64 ? ~u64(0) : (u64(1) << width) - 1);
  }
  static void set(VlWide<N>& port, unsigned bit, unsigned width, u64 value) {
    const u128 v = u128(value) << (bit % 32);
    for (unsigned i = 0; i < 3 && bit / 32 + i < N && 32 * i < width + bit % 32; i++) port[bit / 32 + i] |= EData(v >> (32 * i));
  }
  static void clear(VlWide<N>& port) {
    for (std::size_t i = 0; i < N; i++) port[i] = 0;
  }
};
template <typename Port>
u64 get(const Port& port, unsigned bit, unsigned width) {
  return Fields<Port>::get(port, bit, width);
}
template <typename Port>
void set(Port& port, unsigned bit, unsigned width, u64 value) {
  Fields<Port>::set(port, bit, width, value);
}
template <typename Port>
void clear(Port& port) {
  Fields<Port>::clear(port);
}

}  // namespace engine

#endif
