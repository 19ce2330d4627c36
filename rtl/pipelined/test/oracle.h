// Key switching by its definition on residues: whole polynomials, 128-bit remainders, the textbook's transforms.
#pragma once
#include "../../ntt/test/modulus.h"

using Limbs = std::vector<Words>;  // one polynomial a modulus

struct Key {
  // [digit][component][modulus], values; modulus 0 is the special one
  std::vector<std::vector<Limbs>> rows;
  Words secret, other;  // coefficients: what it switches to, and from; empty of a random key
};

inline u64 small_residue(i64 x, u64 q) { return x < 0 ? q - u64(-x) : u64(x); }

class Context {
 public:
  Context(const std::vector<Modulus>& moduli, unsigned log_n) : moduli_(moduli), log_n_(log_n) {}
  u64 n() const { return u64(1) << log_n_; }
  const Modulus& modulus(unsigned i) const { return moduli_[i]; }
  Words to_values(const Words& a, unsigned i) const { return forward(a, moduli_[i].psi, log_n_, moduli_[i].q); }
  Words to_coefficients(const Words& a, unsigned i) const { return inverse(a, moduli_[i].psi, log_n_, moduli_[i].q); }

  Words random(unsigned i, Rng& rng) const {
    Words a(n());
    for (u64& x : a) x = rng.below(moduli_[i].q);
    return a;
  }
  std::vector<i64> small(i64 bound, Rng& rng) const {
    std::vector<i64> a(n());
    for (i64& x : a) x = i64(rng.below(u64(2 * bound + 1))) - bound;
    return a;
  }
  Words small_values(const std::vector<i64>& a, unsigned i) const {
    Words w(n());
    for (u64 k = 0; k < n(); k++) w[k] = small_residue(a[k], moduli_[i].q);
    return to_values(w, i);
  }

  // The residues of the integer that x stands for, modulo another modulus.
  Words lift(const Words& x, unsigned from, unsigned into, bool centred) const {
    const u64 qs = moduli_[from].q, q = moduli_[into].q;
    Words y(n());
    for (u64 k = 0; k < n(); k++) {
      const i128 integer = centred && u128(2) * x[k] > qs ? i128(x[k]) - qs : i128(x[k]);
      const i128 r = integer % i128(q);
      y[k] = u64(r < 0 ? r + q : r);
    }
    return y;
  }

  // out[c][i], of limbs i = 0 ... level - 1, whose moduli are 1 ... level.
  std::vector<Limbs> key_switch(const Limbs& target, const Key& key, const std::vector<Limbs>& addend, bool digits_centred,
                                bool down_centred) const {
    const unsigned level = unsigned(target.size());
    std::vector<Limbs> sum(2, Limbs(level + 1, Words(n(), 0))), out(2, Limbs(level));
    for (unsigned j = 0; j < level; j++) {
      const Words digit = to_coefficients(target[j], j + 1);
      for (unsigned i = 0; i <= level; i++) {
        const Words d = i == j + 1 ? target[j] : to_values(lift(digit, j + 1, i, digits_centred), i);
        for (unsigned c = 0; c < 2; c++) {
          for (u64 k = 0; k < n(); k++) {
            sum[c][i][k] = u64((sum[c][i][k] + u128(d[k]) * key.rows[j][c][i][k]) % moduli_[i].q);
          }
        }
      }
    }
    for (unsigned c = 0; c < 2; c++) {
      const Words special = to_coefficients(sum[c][0], 0);
      for (unsigned i = 0; i < level; i++) {
        const u64 q = moduli_[i + 1].q, back = inverse_mod(moduli_[0].q % q, q);
        const Words r = to_values(lift(special, 0, i + 1, down_centred), i + 1);
        out[c][i] = Words(n());
        for (u64 k = 0; k < n(); k++) {
          const u64 less = u64((u128(sum[c][i + 1][k]) + q - r[k]) % q);
          out[c][i][k] = u64((u128(mul_mod(less, back, q)) + addend[c][i][k]) % q);
        }
      }
    }
    return out;
  }

  Key random_key(unsigned limbs, Rng& rng) const {
    Key key;
    key.rows.assign(limbs, std::vector<Limbs>(2, Limbs(limbs + 1)));
    for (auto& digit : key.rows) {
      for (auto& component : digit) {
        for (unsigned i = 0; i <= limbs; i++) component[i] = random(i, rng);
      }
    }
    return key;
  }
  // Encryptions of p times the other secret in the place of each digit: b = -a s + e + [own modulus] p s'.
  static constexpr i64 kError = 8;
  Key real_key(unsigned limbs, Rng& rng) const {
    Key key = random_key(limbs, rng);
    const std::vector<i64> s = small(1, rng), other = small(1, rng);
    for (unsigned j = 0; j < limbs; j++) {
      const std::vector<i64> e = small(kError, rng);
      for (unsigned i = 0; i <= limbs; i++) {
        const u64 q = moduli_[i].q, p = i == j + 1 ? moduli_[0].q % q : 0;
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

  // What a key switch is for: out_0 + out_1 s = target s' and a small error, the same integer modulo every q_i.
  void check_meaning(const std::vector<Limbs>& out, const Limbs& target, const std::vector<Limbs>& addend,
                     const Key& key) const {
    const unsigned level = unsigned(target.size());
    std::vector<i64> s(n()), other(n()), first;
    for (u64 k = 0; k < n(); k++) s[k] = i64(key.secret[k]), other[k] = i64(key.other[k]);
    long double bound = (long double)(n()) + 2;
    for (unsigned i = 1; i <= level; i++) bound += (long double)(n()) * kError * moduli_[i].q / moduli_[0].q;
    for (unsigned i = 1; i <= level; i++) {
      const u64 q = moduli_[i].q;
      const Words sv = small_values(s, i), ov = small_values(other, i);
      Words phase(n());
      for (u64 k = 0; k < n(); k++) {
        const u64 o0 = (out[0][i - 1][k] + q - addend[0][i - 1][k]) % q, o1 = (out[1][i - 1][k] + q - addend[1][i - 1][k]) % q;
        phase[k] = u64((u128(o0) + mul_mod(o1, sv[k], q) + q - mul_mod(target[i - 1][k], ov[k], q)) % q);
      }
      phase = to_coefficients(phase, i);
      for (u64 k = 0; k < n(); k++) {
        const i64 e = phase[k] > q / 2 ? i64(phase[k]) - i64(q) : i64(phase[k]);
        if ((long double)(e < 0 ? -e : e) > bound) fail("an error of %" PRId64 " in a switched ciphertext, at most %.0Lf", e, bound);
        if (i == 1) first.push_back(e);
        else if (first[k] != e) fail("errors modulo two moduli differ: %" PRId64 ", %" PRId64, first[k], e);
      }
    }
  }

 private:
  const std::vector<Modulus>& moduli_;
  unsigned log_n_;
};
