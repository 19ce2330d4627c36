// rm_modmul against 128-bit integers: r * 2^R = a * b (mod q), r < q, modulus drawn anew every cycle.
//   +n=PRODUCTS +seed=S     corner operands and moduli first crossed with each other, then drawn
//   +exhaustive             toy widths: every modulus of the class, every a < 2^W, every b < q
// The oracle is the definition: 128-bit remainders, never the multiplier's own equations.
#include <vector>

#include "harness.h"
#include "multiplier.h"

namespace {

constexpr unsigned W = P_W, H = W / 2, kKind = P_Kind;
constexpr u64 kMask = prf_ones_of(kKind);  // KindPrf: where f0 may have ones
constexpr u64 kWord = W == 64 ? ~u64(0) : (u64(1) << W) - 1;

constexpr unsigned latency() { return latency_of(kKind, W); }
constexpr unsigned factor_bits() { return factor_bits_of(kKind, W); }
constexpr unsigned delta_bits() { return H - 2 < 12 ? H - 2 : 12; }

bool in_class(u64 q) {
  const i64 delta = i64(q >> H) - (i64(1) << (H - 1));
  switch (family_of(kKind)) {
    case kP2: return (q & ((u64(1) << H) - 1)) == 1 && q > 1;
    case kP2Sparse:
      return (q & ((u64(1) << H) - 1)) == 1 && delta >= -(i64(1) << (delta_bits() - 1)) &&
             delta < (i64(1) << (delta_bits() - 1));
    case kPrf: return (q >> H) == u64(1) << (H - 1) && (q & 1) && !(q & ((u64(1) << H) - 1) & ~kMask);
    case kMontgomery: return (q & 1) && q > 1;
    case kBarrett: return (q & (q - 1)) != 0;
    default: return ntt_length(kKind, W, q) != 0;
  }
}

// Any word, turned into the nearest thing of the class. Moduli need not be prime for the equation to hold.
u64 into_class(u64 x) {
  x &= kWord;
  switch (family_of(kKind)) {
    case kP2: x = (x & ~((u64(1) << H) - 1)) | 1; break;
    case kP2Sparse: {
      const i64 delta = i64(x << (64 - delta_bits())) >> (64 - delta_bits());
      x = u64(((i64(1) << (H - 1)) + delta)) << H | 1;
      break;
    }
    case kPrf: x = (u64(1) << (W - 1)) | (x & kMask & ((u64(1) << H) - 1)) | 1; break;
    case kMontgomery: x |= 1; break;
    case kBarrett: break;
    default: {
      // b from the length of the word where it is free, delta from its low bits
      constexpr unsigned t = ntt_word_of(kKind), k = ntt_delta_bits(kKind, W);
      unsigned b = W;
      if (ntt_any_length(kKind)) {
        b = t + k;
        while (b < W && x >> b) b++;
      }
      i64 delta = i64(x << (64 - k)) >> (64 - k);
      if (b == W && delta >= 0) delta = -1 - delta;
      x = u64((i128(1) << b) + (i128(delta) << t) + 1);
    }
  }
  while (!in_class(x)) x = kKind == kP2 ? (u64(1) << H) + 1 : (x | 1) + 2;
  return x;
}

struct Modulus {
  u64 q, aux;
  u64 factor;  // 2^R mod q
};

Modulus modulus(u64 q) {
  return {q, aux_of(kKind, W, q), u64((u128(1) << factor_bits()) % q)};
}

struct Product {
  u64 a, b;
  const Modulus* m;
};

class Bench {
 public:
  Bench(int argc, char** argv, u64 seed) : dut_(argc, argv), seed_(seed) {}

  void feed(const Product& p) {
    dut_->a_i = p.a;
    dut_->b_i = p.b;
    dut_->q_i = p.m->q;
    dut_->aux_i = p.m->aux;
    line_[dut_.cycles() % kDepth] = p;
    dut_.tick();
    fed_++;
    if (fed_ >= latency()) check(line_[(fed_ - latency()) % kDepth]);
  }
  // What is still inside.
  void drain() {
    const u64 end = fed_;
    static const Modulus last = modulus(into_class(kWord));
    for (unsigned i = 1; i < latency(); i++) feed({0, 0, &last});
    if (checked_ != end) fail("%" PRIu64 " of %" PRIu64 " products came", checked_, end);
  }
  int end() { return pass(checked_, seed_, dut_.cycles(), "rm_modmul"); }

 private:
  static constexpr unsigned kDepth = 64;
  void check(const Product& p) {
    const u64 r = dut_->r_o, q = p.m->q;
    const u64 left = factor_bits() ? u64(u128(r) * p.m->factor % q) : r, right = u64(u128(p.a) * p.b % q);
    if (r >= q || left != right) {
      fail("product %" PRIu64 ": a=%" PRIx64 " b=%" PRIx64 " q=%" PRIx64 " r=%" PRIx64, checked_, p.a, p.b, q, r);
    }
    checked_++;
  }
  Dut dut_;
  u64 seed_, fed_ = 0, checked_ = 0;
  Product line_[kDepth];
};

std::vector<u64> corners(u64 limit, u64 q) {
  std::vector<u64> found;
  const u64 base[] = {0, 1, 2, q - 2, q - 1, q, q + 1, q >> 1, limit - 1, limit - 2, limit >> 1};
  for (u64 x : base) if (x < limit) found.push_back(x);
  for (unsigned i = 1; i < W; i++) {
    for (i64 d = -1; d <= 1; d++) {
      const u64 x = (u64(1) << i) + u64(d);
      if (x < limit && (i % 13 == 0 || i == H || i == H - 1 || i == W - 1 || i == 17 || i == 24)) found.push_back(x);
    }
  }
  return found;
}

void exhaustive(Bench& bench) {
  for (u64 q = 2; q <= kWord; q++) {
    if (!in_class(q)) continue;
    static std::vector<Modulus> kept;
    kept.clear();
    kept.push_back(modulus(q));
    for (u64 a = 0; a <= kWord; a++) {
      for (u64 b = 0; b < q; b++) bench.feed({a, b, &kept[0]});
    }
    bench.drain();
  }
}

void drawn(Bench& bench, Rng& rng, u64 n) {
  std::vector<Modulus> moduli;
  for (u64 x : corners(kWord, kWord)) moduli.push_back(modulus(into_class(x)));
  moduli.push_back(modulus(into_class(kWord)));
  for (unsigned i = 0; i < 64; i++) moduli.push_back(modulus(into_class(rng.next())));
  // shorter moduli, where the class has them
  for (unsigned i = 0; i < 32; i++) moduli.push_back(modulus(into_class(rng.next() >> (64 - W + rng.below(W - 2)))));
  u64 left = n;
  for (const Modulus& m : moduli) {
    for (u64 a : corners(kWord, m.q)) {
      for (u64 b : corners(m.q, m.q)) {
        if (left == 0) break;
        bench.feed({a, b, &m});
        left--;
      }
    }
  }
  for (; left > 0; left--) {
    const Modulus& m = moduli[rng.below(moduli.size())];
    bench.feed({rng.next() & kWord, rng.below(m.q), &m});
  }
  bench.drain();
}

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 seed = args.number("seed", 1);
  Bench bench(argc, argv, seed);
  Rng rng(seed);
  if (args.has("exhaustive")) {
    exhaustive(bench);
  } else {
    drawn(bench, rng, args.number("n", 100000));
  }
  return bench.end();
}
