// Natural numbers of any length, as far as a definition of base conversion needs them.
#pragma once
#include <vector>

#include "harness.h"

class Natural {
 public:
  explicit Natural(u64 x = 0) : limbs_{u32(x), u32(x >> 32)} {}
  Natural times(u64 y) const {
    Natural r;
    r.limbs_.assign(limbs_.size() + 2, 0);
    const u64 part[2] = {y & 0xffffffff, y >> 32};
    for (unsigned p = 0; p < 2; p++) {
      u64 carry = 0;
      for (std::size_t i = 0; i < limbs_.size() || carry; i++) {
        const u64 t = (i < limbs_.size() ? u64(limbs_[i]) * part[p] : 0) + r.at(i + p) + carry;
        r.at(i + p) = u32(t), carry = t >> 32;
      }
    }
    return r;
  }
  Natural plus(const Natural& b) const {
    Natural r = *this;
    u64 carry = 0;
    for (std::size_t i = 0; i < b.limbs_.size() || carry; i++) {
      const u64 t = u64(r.at(i)) + (i < b.limbs_.size() ? b.limbs_[i] : 0) + carry;
      r.at(i) = u32(t), carry = t >> 32;
    }
    return r;
  }
  u64 modulo(u64 q) const {
    u128 r = 0;
    for (std::size_t i = limbs_.size(); i > 0; i--) r = (r << 32 | limbs_[i - 1]) % q;
    return u64(r);
  }

 private:
  using u32 = std::uint32_t;
  u32& at(std::size_t i) {
    if (i >= limbs_.size()) limbs_.resize(i + 1, 0);
    return limbs_[i];
  }
  std::vector<u32> limbs_;
};

// The instructions `quotient` and `convert` of docs/limb-program.md, word by word. y_i below s_i.
inline u64 head_shift(u64 s) {
  unsigned bits = 0;
  while (bits < 64 && s >> bits) bits++;
  return bits > 14 ? bits - 14 : 0;
}
inline u64 head_factor(u64 s) { return u64((u128(1) << (28 + head_shift(s))) / s); }
inline u64 rounded_quotient(const std::vector<u64>& y, const std::vector<u64>& s) {
  u128 sum = u128(1) << 27;
  for (std::size_t i = 0; i < y.size(); i++) sum += u128(y[i] >> head_shift(s[i])) * head_factor(s[i]);
  return u64(sum >> 28);
}
// The product of all moduli but number `but`.
inline Natural product_but(const std::vector<u64>& s, std::size_t but) {
  Natural r(1);
  for (std::size_t i = 0; i < s.size(); i++) r = i == but ? r : r.times(s[i]);
  return r;
}
// sum y_i S/s_i - v S mod q, the sum and v S as whole numbers.
inline u64 converted(const std::vector<u64>& y, const std::vector<u64>& s, u64 v, u64 q) {
  Natural sum;
  for (std::size_t i = 0; i < y.size(); i++) sum = sum.plus(product_but(s, i).times(y[i]));
  const u64 less = product_but(s, s.size()).times(v).modulo(q);
  return u64((u128(sum.modulo(q)) + q - less) % q);
}
