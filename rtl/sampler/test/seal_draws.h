// What SEAL draws for an encryption under the public key, from bytes of its generator.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "harness.h"

struct SealDraws {
  std::function<unsigned(u64)> byte;  // byte i of the stream
  u64 place = 0;
  std::vector<u64> kept;              // places of the words that became ternary coefficients

  // std::uniform_int_distribution(0, 2) of the GNU library over words of 32 bits, less one.
  std::vector<int> ternary(std::size_t n) {
    std::vector<int> out;
    while (out.size() < n) {
      u64 word = 0;
      for (int b = 0; b < 4; b++) word |= u64(byte(place + b)) << (8 * b);
      const u64 product = 3 * word, low = product & 0xffffffffu;
      // Refused below 2^32 mod 3.
      if (low >= (u64(1) << 32) % 3) kept.push_back(place), out.push_back(int(product >> 32) - 1);
      place += 4;
    }
    return out;
  }
  // sample_poly_cbd.
  std::vector<int> binomial(std::size_t n) {
    std::vector<int> out;
    for (; out.size() < n; place += 6) {
      const auto ones = [&](u64 i, unsigned mask) { return __builtin_popcount(byte(place + i) & mask); };
      out.push_back(ones(0, 255) + ones(1, 255) + ones(2, 31) - ones(3, 255) - ones(4, 255) - ones(5, 31));
    }
    return out;
  }
};
