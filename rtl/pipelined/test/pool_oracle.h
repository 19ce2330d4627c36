// Key switching with digits of several limbs and several special primes, by its definition on residues.
#pragma once
#include "oracle.h"

struct Set {
  unsigned level, special, alpha;
  unsigned digits() const { return (level + alpha - 1) / alpha; }
  unsigned digit_of(unsigned limb) const { return limb / alpha; }
  // Limbs of a digit: the last one may be cut short.
  std::vector<unsigned> digit(unsigned j) const {
    std::vector<unsigned> own;
    for (unsigned i = j * alpha; i < std::min(level, (j + 1) * alpha); i++) own.push_back(i);
    return own;
  }
};

// Moduli are limbs 0 ... P_Limbs - 1, then the special ones. Limbs that a set lacks are empty.
class PoolContext : public Context {
 public:
  PoolContext(const std::vector<Modulus>& moduli, unsigned log_n, const Set& set) : Context(moduli, log_n), set_(set) {
    for (unsigned i = 0; i < set.level; i++) active_.push_back(i);
    for (unsigned k = 0; k < set.special; k++) specials_.push_back(P_Limbs + k), active_.push_back(P_Limbs + k);
  }
  const std::vector<unsigned>& active() const { return active_; }
  const std::vector<unsigned>& specials() const { return specials_; }

  // The product of some moduli, all but one of them, modulo another.
  u64 product(const std::vector<unsigned>& of, int but, unsigned into) const {
    const u64 q = modulus(into).q;
    u64 r = 1 % q;
    for (unsigned i : of) r = int(i) == but ? r : mul_mod(r, modulus(i).q % q, q);
    return r;
  }
  static unsigned shift_of(u64 s) {
    const unsigned bits = unsigned(64 - __builtin_clzll(s));
    return bits > 14 ? bits - 14 : 0;
  }
  static u64 head_of(u64 s) { return u64((u128(1) << (28 + shift_of(s))) / s); }

  // docs/limb-program.md: `lift` or `convert_fast` of one limb; the scaled residues, and `convert` or `convert_fast`, of several.
  Words raise(const std::vector<Words>& x, const std::vector<unsigned>& from, unsigned into, bool centred) const {
    if (from.size() == 1) return lift(x[0], from[0], into, centred);
    const u64 q = modulus(into).q;
    Words out(n());
    for (u64 k = 0; k < n(); k++) {
      u64 sum = u64(1) << 27, r = 0;
      for (std::size_t a = 0; a < from.size(); a++) {
        const u64 s = modulus(from[a]).q;
        const u64 y = mul_mod(x[a][k], inverse_mod(product(from, int(from[a]), from[a]), s), s);
        sum += (y >> shift_of(s)) * head_of(s);
        r = u64((r + u128(y) * product(from, int(from[a]), into)) % q);
      }
      const u64 v = centred ? sum >> 28 : 0;
      out[k] = u64((u128(r) + q - mul_mod(v % q, product(from, -1, into), q)) % q);
    }
    return out;
  }

  Key random_key(Rng& rng) const {
    Key key;
    key.rows.assign(set_.digits(), std::vector<Limbs>(2, Limbs(P_Limbs + P_Special)));
    for (auto& digit : key.rows) {
      for (auto& component : digit) {
        for (unsigned i : active_) component[i] = random(i, rng);
      }
    }
    return key;
  }
  // b = -a s + e + [own modulus] P s'.
  Key real_key(Rng& rng) const {
    Key key = random_key(rng);
    const std::vector<i64> s = small(1, rng), other = small(1, rng);
    for (unsigned j = 0; j < set_.digits(); j++) {
      const std::vector<i64> e = small(kError, rng);
      for (unsigned i : active_) {
        const u64 q = modulus(i).q, p = i < set_.level && set_.digit_of(i) == j ? product(specials_, -1, i) : 0;
        const Words sv = small_values(s, i), ov = small_values(other, i), ev = small_values(e, i);
        const Words& a = key.rows[j][1][i];
        for (u64 k = 0; k < n(); k++) {
          key.rows[j][0][i][k] = u64((u128(ev[k]) + mul_mod(p, ov[k], q) + q - mul_mod(a[k], sv[k], q)) % q);
        }
      }
    }
    for (i64 x : s) key.secret.push_back(u64(x));
    for (i64 x : other) key.other.push_back(u64(x));
    return key;
  }

  std::vector<Limbs> key_switch(const Limbs& target, const Key& key, const std::vector<Limbs>& addend, bool digits_centred,
                                bool down_centred) const {
    std::vector<Limbs> sum(2, Limbs(P_Limbs + P_Special, Words(n(), 0))), out(2, Limbs(set_.level));
    for (unsigned j = 0; j < set_.digits(); j++) {
      const std::vector<unsigned> own = set_.digit(j);
      std::vector<Words> x;
      for (unsigned i : own) x.push_back(to_coefficients(target[i], i));
      for (unsigned i : active_) {
        const bool in = i < set_.level && set_.digit_of(i) == j;
        const Words d = in ? target[i] : to_values(raise(x, own, i, digits_centred), i);
        for (unsigned c = 0; c < 2; c++) {
          for (u64 k = 0; k < n(); k++) {
            sum[c][i][k] = u64((sum[c][i][k] + u128(d[k]) * key.rows[j][c][i][k]) % modulus(i).q);
          }
        }
      }
    }
    for (unsigned c = 0; c < 2; c++) {
      std::vector<Words> x;
      for (unsigned k : specials_) x.push_back(to_coefficients(sum[c][k], k));
      for (unsigned i = 0; i < set_.level; i++) {
        const u64 q = modulus(i).q, back = inverse_mod(product(specials_, -1, i), q);
        const Words r = to_values(raise(x, specials_, i, down_centred), i);
        out[c][i] = Words(n());
        for (u64 k = 0; k < n(); k++) {
          const u64 less = u64((u128(sum[c][i][k]) + q - r[k]) % q);
          out[c][i][k] = u64((u128(mul_mod(less, back, q)) + addend[c][i][k]) % q);
        }
      }
    }
    return out;
  }

  // out_0 + out_1 s = target s' and a small error, the same integer modulo every q_i. Whether that could be said: P must be
  // as large as the largest digit.
  bool check_pool(const std::vector<Limbs>& out, const Limbs& target, const std::vector<Limbs>& addend, const Key& key) const {
    long double p = 1, bound = 2.0L * n() * (set_.special + 1) + 2;
    for (unsigned k : specials_) p *= modulus(k).q;
    for (unsigned j = 0; j < set_.digits(); j++) {
      long double d = (long double)(set_.digit(j).size());
      for (unsigned i : set_.digit(j)) d *= modulus(i).q;
      bound += n() * kError * d / p;
    }
    std::vector<i64> s(n()), other(n()), first;
    for (u64 k = 0; k < n(); k++) s[k] = i64(key.secret[k]), other[k] = i64(key.other[k]);
    for (unsigned i = 0; i < set_.level; i++) {
      const u64 q = modulus(i).q;
      if (bound > q / 4) return false;
    }
    for (unsigned i = 0; i < set_.level; i++) {
      const u64 q = modulus(i).q;
      const Words sv = small_values(s, i), ov = small_values(other, i);
      Words phase(n());
      for (u64 k = 0; k < n(); k++) {
        const u64 o0 = (out[0][i][k] + q - addend[0][i][k]) % q, o1 = (out[1][i][k] + q - addend[1][i][k]) % q;
        phase[k] = u64((u128(o0) + mul_mod(o1, sv[k], q) + q - mul_mod(target[i][k], ov[k], q)) % q);
      }
      phase = to_coefficients(phase, i);
      for (u64 k = 0; k < n(); k++) {
        const i64 e = phase[k] > q / 2 ? i64(phase[k]) - i64(q) : i64(phase[k]);
        if ((long double)(e < 0 ? -e : e) > bound) fail("an error of %" PRId64 " in a switched ciphertext, at most %.0Lf", e, bound);
        if (i == 0) first.push_back(e);
        else if (first[k] != e) fail("errors modulo two moduli differ: %" PRId64 ", %" PRId64, first[k], e);
      }
    }
    return true;
  }

 private:
  Set set_;
  std::vector<unsigned> active_, specials_;
};
