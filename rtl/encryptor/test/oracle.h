// Encryption, key generation and decryption by their definitions on whole polynomials, with the engine's draws from the same
// seeds: sampler/test/draws.h, xof/test/blake3.h, and the textbook's transforms. SEAL's: sampler/test/seal_draws.h, xof/test/blake2.h.
#pragma once
#include <fstream>
#include <sstream>

#include "multiplier.h"
#include "../../ntt/test/oracle.h"
#include "../../sampler/test/draws.h"
#include "../../sampler/test/seal_draws.h"
#include "../../xof/test/blake2.h"
#include "../../xof/test/blake3.h"

using Seed = std::array<u32, 8>;
using SealSeed = std::array<u32, 16>;
using Limbs = std::vector<Words>;

enum Mode : unsigned { kPublic, kSymmetric, kPublicKey, kDecrypt, kDivided };
inline bool two_parts(Mode mode) { return mode == kPublic || mode == kDivided; }

struct Prime {
  u64 q, psi;
};

class Context {
 public:
  // With an extra prime, which a divided encryption has one more limb for; q = 0: none.
  Context(std::vector<Prime> primes, unsigned log_n, Prime extra = {0, 0})
      : primes_(std::move(primes)), log_n_(log_n), extra_(extra) {}
  u64 n() const { return u64(1) << log_n_; }
  unsigned log_n() const { return log_n_; }
  std::size_t limbs() const { return primes_.size(); }
  const Prime& prime(std::size_t i) const { return primes_[i]; }

  const Prime& extra() const { return extra_; }

  Limbs random(Rng& rng) const {
    Limbs a(limbs(), Words(n()));
    for (std::size_t i = 0; i < limbs(); i++) {
      for (u64& x : a[i]) x = rng.below(primes_[i].q);
    }
    return a;
  }
  // One limb more: modulo the extra prime.
  Limbs random_with_extra(Rng& rng) const {
    Limbs a = random(rng);
    if (extra_.q) a.emplace_back(n());
    for (u64& x : a.back()) x = rng.below(extra_.q ? extra_.q : primes_.back().q);
    return a;
  }
  Words values(const Words& a, const Prime& p) const { return forward(a, p.psi, log_n_, p.q); }
  Words values(const Words& a, std::size_t i) const { return values(a, primes_[i]); }
  static Words residues(const Small& a, const Prime& p) {
    Words r;
    for (int x : a) r.push_back(x < 0 ? p.q - u64(-x) : u64(x));
    return r;
  }
  Words residues(const Small& a, std::size_t i) const { return residues(a, primes_[i]); }

  // v k + e modulo one prime, coefficients.
  Words masked(const Small& v, const Words& key, const Small& e, const Prime& p) const {
    Words product = values(residues(v, p), p);
    for (u64 k = 0; k < n(); k++) product[k] = mul_mod(product[k], key[k], p.q);
    product = inverse(product, p.psi, log_n_, p.q);
    const Words error = residues(e, p);
    for (u64 k = 0; k < n(); k++) product[k] = u64((u128(product[k]) + error[k]) % p.q);
    return product;
  }
  // round((v k + e) / p) modulo each q, coefficients: less the centred residue, which p divides then.
  Limbs divided(const Small& v, const Limbs& key, const Small& e) const {
    const Words rest = masked(v, key[limbs()], e, extra_);
    Limbs parts;
    for (std::size_t i = 0; i < limbs(); i++) {
      const u64 q = primes_[i].q, by = pow_mod(extra_.q % q, q - 2, q);
      parts.push_back(masked(v, key[i], e, primes_[i]));
      for (u64 k = 0; k < n(); k++) {
        i128 whole = i128(parts[i][k]) - i128(rest[k]) + (rest[k] > extra_.q / 2 ? i128(extra_.q) : 0);
        whole = (whole % i128(q) + q) % i128(q);
        parts[i][k] = mul_mod(u64(whole), by, q);
      }
    }
    return parts;
  }

  // docs/algorithms/sampling.md: BLAKE3 keyed with the seed over context, label and limb; refusals by Lemire's rule.
  Words expansion(const Seed& seed, const std::string& label, std::size_t i) const {
    std::string text = "ringmill uniform v1";
    for (int b = 0; b < 8; b++) text.push_back(char(label.size() >> (8 * b) & 255));
    text += label;
    for (int b = 0; b < 4; b++) text.push_back(char(i >> (8 * b) & 255));
    Compression root = blake3_root({text.begin(), text.end()}, seed, kKeyedHash, blake3_compress);
    Words out;
    const u64 q = primes_[i].q;
    const u64 least = u64((u128(1) << 64) % q);
    for (; out.size() < n(); root.counter++) {
      const Block block = blake3_compress(root);
      for (int w = 0; w < 16 && out.size() < n(); w += 2) {
        const u128 product = u128(u64(block[w + 1]) << 32 | block[w]) * q;
        if (u64(product) >= least) out.push_back(u64(product >> 64));
        else refused++;
      }
    }
    return out;
  }

  // parts[0] and, of a public encryption, parts[1].
  std::vector<Limbs> run(Mode mode, const SealSeed& both, bool seal, const Seed& public_seed, const Small& s, const Limbs& message,
                         const std::vector<Limbs>& key) const {
    u64 at = ~u64(0);
    Seed secret_seed;
    std::copy_n(both.begin(), 8, secret_seed.begin());
    Block block{};
    Draws draws([&](u64 word) {
      if (word / 16 != at) at = word / 16, block = chacha_block(secret_seed, at, 0);
      return block[word % 16];
    });
    Small v = s, e[2] = {Small(n(), 0), Small(n(), 0)};
    if (seal) {
      Bytes key_bytes, stream;
      for (u32 word : both) for (int b = 0; b < 4; b++) key_bytes.push_back(std::uint8_t(word >> (8 * b)));
      SealDraws of_seal{[&](u64 i) {
        while (i >= stream.size()) {
          const Bytes more = seal_buffer(key_bytes, stream.size() / 4096);
          stream.insert(stream.end(), more.begin(), more.end());
        }
        return unsigned(stream[i]);
      }, 0, {}};
      v = of_seal.ternary(n());
      trit_words = of_seal.place / 4;
      e[0] = of_seal.binomial(n()), e[1] = of_seal.binomial(n());
    } else {
      if (two_parts(mode)) v = draws.ternary(n());
      trit_words = draws.place();
      if (mode != kDecrypt) e[0] = draws.gaussian(n());
      if (two_parts(mode)) e[1] = draws.gaussian(n());
    }
    std::vector<Limbs> parts(two_parts(mode) ? 2 : 1, Limbs(limbs(), Words(n())));
    for (std::size_t c = 0; mode == kDivided && c < 2; c++) {
      Limbs quotient = divided(v, key[c], e[c]);
      for (std::size_t i = 0; i < limbs(); i++) {
        for (u64 k = 0; c == 0 && k < n(); k++) quotient[i][k] = u64((u128(quotient[i][k]) + message[i][k]) % primes_[i].q);
        parts[c][i] = values(quotient[i], i);
      }
    }
    if (mode == kDivided) return parts;
    for (std::size_t i = 0; i < limbs(); i++) {
      const u64 q = primes_[i].q;
      const Words mask = values(residues(v, i), i);
      for (std::size_t c = 0; c < parts.size(); c++) {
        Words x = residues(e[c], i);
        if (c == 0 && (mode == kPublic || mode == kSymmetric)) {
          for (u64 k = 0; k < n(); k++) x[k] = u64((u128(x[k]) + message[i][k]) % q);
        }
        x = values(x, i);
        if (mode == kDecrypt) x = key[1][i];
        const bool seeded = mode == kSymmetric || mode == kPublicKey;
        const Words by = seeded ? expansion(public_seed, mode == kSymmetric ? "ciphertext c1" : "public key a", i) : key[c][i];
        for (u64 k = 0; k < n(); k++) {
          const u64 product = mul_mod(by[k], mask[k], q);
          parts[c][i][k] = u64((u128(x[k]) + (seeded ? q - product : product)) % q);
        }
      }
    }
    return parts;
  }

  mutable u64 refused = 0;     // words of expansions
  mutable u64 trit_words = 0;  // that the last run took for v

 private:
  std::vector<Prime> primes_;
  unsigned log_n_;
  Prime extra_;
};
