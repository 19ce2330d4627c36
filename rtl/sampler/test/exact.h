// The cumulative probabilities of the discrete Gaussian in integers of 352 bits: nothing of the design's table.
#pragma once
#include <array>
#include <vector>

#include "harness.h"

// An integer part and 320 bits of fraction, the lowest word first.
class Fixed {
 public:
  static constexpr int kWords = 11;
  explicit Fixed(std::uint32_t whole = 0) { w_[kWords - 1] = whole; }
  bool zero() const {
    for (std::uint32_t x : w_) {
      if (x) return false;
    }
    return true;
  }
  Fixed& operator+=(const Fixed& b) {
    u64 carry = 0;
    for (int i = 0; i < kWords; i++) carry += u64(w_[i]) + b.w_[i], w_[i] = std::uint32_t(carry), carry >>= 32;
    return *this;
  }
  Fixed& operator-=(const Fixed& b) {
    i64 carry = 0;
    for (int i = 0; i < kWords; i++) carry += i64(w_[i]) - b.w_[i], w_[i] = std::uint32_t(carry), carry >>= 32;
    return *this;
  }
  bool operator>=(const Fixed& b) const {
    for (int i = kWords - 1; i >= 0; i--) {
      if (w_[i] != b.w_[i]) return w_[i] > b.w_[i];
    }
    return true;
  }
  Fixed times(std::uint32_t x) const {
    Fixed r;
    u64 carry = 0;
    for (int i = 0; i < kWords; i++) carry += u64(w_[i]) * x, r.w_[i] = std::uint32_t(carry), carry >>= 32;
    return r;
  }
  Fixed over(std::uint32_t x) const {
    Fixed r;
    u64 rest = 0;
    for (int i = kWords - 1; i >= 0; i--) rest = rest << 32 | w_[i], r.w_[i] = std::uint32_t(rest / x), rest %= x;
    return r;
  }
  Fixed operator*(const Fixed& b) const {
    std::array<std::uint32_t, 2 * kWords> wide{};
    for (int i = 0; i < kWords; i++) {
      u64 carry = 0;
      for (int j = 0; j < kWords; j++) {
        carry += u64(w_[i]) * b.w_[j] + wide[i + j];
        wide[i + j] = std::uint32_t(carry), carry >>= 32;
      }
      wide[i + kWords] = std::uint32_t(carry);
    }
    Fixed r;
    for (int i = 0; i < kWords; i++) r.w_[i] = wide[i + kWords - 1];
    return r;
  }

 private:
  std::array<std::uint32_t, kWords> w_{};
};

constexpr int kBound = 42;

// Entry k: 2^127 P(|X| <= k), rounded, P(X = x) proportional to exp(-x^2 / (2 * 3.2^2)) = g^(x^2), g = exp(-25/512).
inline std::vector<u128> gaussian_table() {
  Fixed g, term(1);
  for (std::uint32_t k = 1; !term.zero(); term = term.times(25).over(512 * k), k++) k % 2 ? g += term : g -= term;
  std::vector<Fixed> weight{Fixed(1)};
  Fixed odd = g, total(1);
  const Fixed square = g * g;
  for (int x = 1; x <= kBound; x++) {
    weight.push_back(weight.back() * odd);
    odd = odd * square;
    total += weight.back().times(2);
  }
  std::vector<u128> table;
  Fixed sum;
  for (int k = 0; k < kBound; k++) {
    sum += k ? weight[k].times(2) : weight[k];
    u128 quotient = 0;  // floor(2^127 sum / total) and the next bit
    Fixed rest = sum;
    bool half = false;
    for (int bit = 0; bit <= 127; bit++) {
      rest += Fixed(rest);
      const bool one = rest >= total;
      if (one) rest -= total;
      if (bit < 127) quotient = quotient << 1 | one;
      else half = one;
    }
    table.push_back(quotient + half);
  }
  return table;
}
