// The instruction table of the arithmetic unit on 128-bit integers; knows nothing of rows, pipelines or the simulator.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace arith {

using u64 = std::uint64_t;
using u128 = unsigned __int128;
using Limb = std::vector<u64>;

enum Op { kCopy, kAdd, kSub, kAddk, kMulk, kSubk, kMul, kMac, kMack, kLift, kShrk, kOps };

struct Cmd {
  Op op = kCopy;
  bool a = false, c = false, s = false, to_bank = false, to_mem = false, permute = false, swap = false;
  unsigned a_bank = 0, c_bank = 0, d_bank = 0, shift = 0;
  u64 k0 = 0, k1 = 0, q = 0, p = 0;
};

inline u64 mul_mod(u64 a, u64 b, u64 q) { return u64(u128(a % q) * (b % q) % q); }

inline u64 pow_mod(u64 a, u64 e, u64 q) {
  u64 r = 1 % q;
  for (a %= q; e; e >>= 1, a = mul_mod(a, a, q)) {
    if (e & 1) r = mul_mod(r, a, q);
  }
  return r;
}

// a * b * 2^-r mod q, q odd.
inline u64 mm(u64 a, u64 b, u64 q, unsigned r) { return mul_mod(mul_mod(a, b, q), pow_mod((q + 1) / 2, r, q), q); }

inline unsigned reversed(unsigned x, unsigned bits) {
  unsigned r = 0;
  for (unsigned i = 0; i < bits; i++) r |= ((x >> i) & 1u) << (bits - 1 - i);
  return r;
}

// Word k of the result is word j of the operand, 2 brv(j) + 1 = g (2 brv(k) + 1) mod 2N.
inline unsigned galois_source(unsigned k, u64 g, unsigned log_n) {
  const u64 two_n = u64(2) << log_n;
  const u64 odd = (g % two_n) * (2 * reversed(k, log_n) + 1) % two_n;
  return reversed(unsigned((odd - 1) / 2), log_n);
}

// One word: a, c, s are the operands at this place (zero where unused).
inline u64 word(const Cmd& cmd, u64 a, u64 c, u64 s, unsigned r) {
  const u64 q = cmd.q;
  u64 x = cmd.a ? a : s;
  u64 y = cmd.a && cmd.s ? s : c;
  switch (cmd.op) {
    case kCopy: return x;
    case kAdd: return u64((u128(x) + y) % q);
    case kSub: return cmd.swap ? u64((u128(y) + q - x) % q) : u64((u128(x) + q - y) % q);
    case kAddk: return u64((u128(x) + cmd.k0) % q);
    case kMulk: return u64((u128(mm(x >> cmd.shift, cmd.k0, q, r)) + (cmd.permute ? 0 : q - cmd.k1)) % q);
    case kSubk: return mm(cmd.swap ? u64((u128(y) + q - x) % q) : u64((u128(x) + q - y) % q), cmd.k0, q, r);
    case kMul: return mm(x, y, q, r);
    case kMac: return u64((u128(c) + mm(a, s, q, r)) % q);
    case kMack: return u64((u128(c) + mm(x >> cmd.shift, cmd.k0, q, r)) % q);
    case kLift: return u64((u128(mm(x, cmd.k0, q, r)) + (u128(2) * x > cmd.p ? q - cmd.k1 : 0)) % q);
    case kShrk: return u64((u128(x) + cmd.k0) >> cmd.shift);
    default: return 0;
  }
}

// A whole limb.
inline Limb limb(const Cmd& cmd, const Limb& a, const Limb& c, const Limb& s, unsigned log_n, unsigned r) {
  Limb d(std::size_t(1) << log_n);
  for (unsigned k = 0; k < d.size(); k++) {
    const unsigned j = cmd.permute ? galois_source(k, cmd.k1, log_n) : k;
    d[k] = word(cmd, cmd.a ? a[j] : 0, cmd.c ? c[k] : 0, cmd.s ? s[k] : 0, r);
  }
  return d;
}

}  // namespace arith
