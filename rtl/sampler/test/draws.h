// What the engine draws from a stream of 32-bit words (docs/algorithms/sampling.md), on whole polynomials.
#pragma once
#include <functional>

#include "exact.h"

using Small = std::vector<int>;

class Draws {
 public:
  using Word = std::function<std::uint32_t(u64)>;  // word i of the stream
  explicit Draws(Word word) : word_(std::move(word)) {}
  u64 place() const { return place_; }
  const std::vector<u128>& table() const { return table_; }
  // Called with the place of each Gaussian word and the number of its sample, and with the place of 64 bits that decide, before they
  // are read.
  std::function<void(u64, u64)> plan = [](u64, u64) {};
  std::function<void(u64)> plan_lower = [](u64) {};
  std::vector<bool> accepted;  // of each byte that was drawn for ternary ones
  unsigned ties = 0;

  Small ternary(std::size_t n) {
    Small out;
    while (out.size() < n) {
      const std::size_t bytes = std::min<std::size_t>(4096, (n - out.size() + 4) / 5);
      std::vector<unsigned> block;
      for (std::size_t i = 0; i < bytes; i++) block.push_back(word_(place_ + i / 4) >> (8 * (i % 4)) & 255);
      place_ += (bytes + 3) / 4;
      for (unsigned byte : block) {
        accepted.push_back(byte < 243);
        for (int i = 0; i < 5 && byte < 243 && out.size() < n; i++) {
          unsigned digit = byte;
          for (int j = 0; j < i; j++) digit /= 3;
          out.push_back(int(digit % 3) - 1);
        }
      }
    }
    return out;
  }

  Small gaussian(std::size_t n) {
    Small out;
    while (out.size() < n) {
      std::vector<u64> words;
      for (int i = 0; i < 512; i++) {
        if (out.size() + i < n) plan(place_ + 2 * i, out.size() + i);
        words.push_back(word64(place_ + 2 * i));
      }
      place_ += 1024;
      for (std::size_t i = 0; i < 512 && out.size() < n; i++) {
        const u64 upper = words[i] << 1 >> 1;
        u64 lower = 0;
        bool tie = false;
        for (u128 t : table_) tie |= u64(t >> 64) == upper;
        if (tie) {
          plan_lower(place_);
          lower = word64(place_), place_ += 2, ties++;
        }
        const u128 selector = u128(upper) << 64 | lower;
        int magnitude = 0;
        for (u128 t : table_) magnitude += selector >= t;
        out.push_back(words[i] >> 63 ? -magnitude : magnitude);
      }
    }
    return out;
  }

 private:
  u64 word64(u64 i) const { return u64(word_(i + 1)) << 32 | word_(i); }
  Word word_;
  const std::vector<u128>& table_ = exact();
  static const std::vector<u128>& exact() {
    static const std::vector<u128> table = gaussian_table();
    return table;
  }
  u64 place_ = 0;
};
