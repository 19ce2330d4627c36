// rm_nttu against the textbook's transform and the closed forms of its contract: every row in its place and its cycle.
//   +n=LIMBS a pattern   +resets=N   +schoolbook every value by Horner's rule   +seed=S
// Oracle: rtl/ntt/test/oracle.h, the recursion with weights that is held to the definition; nothing here has steps or twists. Limbs come
// without gaps, with short ones and long ones; modulus and direction change with every limb. Rows that belong to no limb are noise.
#include <deque>
#include <type_traits>

#include "../../ntt/test/fields.h"
#include "../../ntt/test/modulus.h"

namespace {

constexpr unsigned kLogN = P_LogN, kLogL = P_LogL, kLogR = P_LogR, kL = 1u << kLogL, kR = 1u << kLogR;
constexpr unsigned kMissing = 4 * kLogR - kLogN, kT = kLogN - kLogL - kLogR, kM = latency_of(P_Kind, P_W);
constexpr u64 kN = u64(1) << kLogN, kRows = u64(1) << kT, kMask = (u64(1) << P_W) - 1;

// Where bit i of a digit stands in the row number of a block.
constexpr unsigned place(unsigned i) { return (i + kLogR - kMissing) % kLogR; }

// From row in to row out (README.md): 4 log R columns, 3 products, and what transpositions hold back.
u64 latency() {
  u64 less = 0;
  for (unsigned i = 0; i + kLogL < kLogR; i++) less += u64(2) << place(i);
  return 4 * kLogR * (kM + 4) + 3 * kM + kRows + 2 * kR - 3 - less;
}

u64 value_place(u64 l, u64 t, u64 e) { return l * (kN / kL) + t * kR + e; }

u64 coefficient_place(u64 l, u64 t, u64 e) {
  u64 n12 = 0;
  for (unsigned i = 0; i < kLogR; i++) n12 |= ((t >> place(i)) & 1) << i;
  const u64 upper = (l << (kT - kLogR)) | (t >> kLogR), third = kLogR - kMissing;
  const u64 n22 = upper >> third, n21 = upper & ((u64(1) << third) - 1);
  return (e << (kLogN - kLogR)) | (n12 << (kLogN - 2 * kLogR)) | (n21 << kLogR) | n22;
}

struct Limb {
  Words in, out;
  u64 cycle;
  unsigned mod;
  bool inverse;
};

class Bench {
 public:
  Bench(int argc, char** argv, u64 seed, bool schoolbook)
      : dut_(argc, argv), rng_(seed), seed_(seed), schoolbook_(schoolbook) {
    dut_->rst_ni = 0;
    dut_->start_valid_i = dut_->cfg_we_i = 0;
    for (u64 q : find_primes(P_Mods - 1, kLogN, rng_)) moduli_.emplace_back(q, kLogN, rng_);
  }

  void reset() {
    dut_->rst_ni = 0;
    dut_->start_valid_i = dut_->cfg_we_i = 0;
    dut_->start_log_n_i = kLogN;
    for (int i = 0; i < 3; i++) dut_.tick();
    dut_->rst_ni = 1;
    feeding_.clear();
    expected_.clear();
    any_ = false;
    dut_.tick();
  }

  void write(unsigned m, unsigned field, u64 value) {
    dut_->start_valid_i = 0;
    dut_->cfg_we_i = 1;
    dut_->cfg_mod_i = m;
    dut_->cfg_field_i = field;
    dut_->cfg_data_i = value;
    dut_.tick();
    dut_->cfg_we_i = 0;
  }

  // The last place of the table keeps no modulus: wrong use finds it empty.
  void write_moduli() {
    for (unsigned m = 0; m + 1 < P_Mods; m++) {
      const u64 q = moduli_[m].q, factor = u64((u128(1) << factor_bits_of(P_Kind, P_W)) % q);
      write(m, 0, q);
      write(m, 1, moduli_[m].aux);
      for (unsigned i = 0; i < 4; i++) {
        for (u64 j = 0; j < kR; j++) {
          const u64 exponent = (j << (i * kLogR)) >> kMissing;   // j N / R^(4-i); table 0 has no others than whole ones
          write(m, unsigned(2 + kR * i + j), mul_mod(pow_mod(moduli_[m].psi, exponent, q), factor, q));
        }
      }
    }
  }

  void stream(u64 limbs, u64 gap, unsigned still, bool drain) {
    u64 wait = 0, last = dut_.cycles();
    for (u64 started = 0; started < limbs || (drain && !expected_.empty());) {
      const bool offer = started < limbs && wait == 0;
      const unsigned m = unsigned(rng_.below(P_Mods - 1));
      const bool inverse = rng_.chance(128);
      dut_->start_valid_i = offer;
      dut_->start_mod_i = m;
      dut_->start_inverse_i = inverse;
      dut_.settle();
      const bool due = !any_ || dut_.cycles() - start_ >= kRows;
      if (bool(dut_->start_ready_o) != due) fail("start_ready is %d", int(dut_->start_ready_o));
      if (offer && due) {
        begin(m, inverse, started);
        started++;
        last = start_ = dut_.cycles();
        any_ = true;
        wait = rng_.chance(still) ? 0 : kRows - 1 + rng_.below(gap + 1);
      } else if (wait) {
        wait--;
      }
      cycle();
      if (dut_.cycles() - last > 20 * kRows + 20000) fail("hangs with %zu limbs inside", expected_.size());
    }
    dut_->start_valid_i = 0;
    if (!drain) return;
    for (u64 i = 0; i < kRows + 5; i++) cycle();
    if (dut_->busy_o) fail("busy with nothing inside");
  }

  void wrong_use() {
    dut_->start_valid_i = 1;
    dut_->start_mod_i = 0;
    for (unsigned log_n : {kLogN - 1, kLogN + 1, 0u}) {
      dut_->start_log_n_i = log_n;
      dut_.settle();
      if (!dut_->bad_size_o || dut_->start_ready_o) fail("2^%u starts", log_n);
      cycle();
    }
    dut_->start_log_n_i = kLogN;
    const unsigned empty = P_Mods - 1;
    const u64 q = moduli_[0].q;
    // nothing, no residue 1 mod 2N, 1 itself, an even number, no word; outside the class, where the class is narrow
    std::vector<u64> bad = {0, q - kN, 1, q - 1};
    if (P_Kind == kP2 && kLogN + 1 < P_W / 2) bad.push_back(q ^ (u64(1) << (P_W / 2 - 1)));
    if (P_Kind == kP2Sparse || P_Kind == kPrf) bad.push_back(q ^ (u64(1) << (P_W - 1)));
    if (family_of(P_Kind) == kNtt && kLogN + 1 < ntt_word_of(P_Kind)) bad.push_back(q ^ (u64(1) << (ntt_word_of(P_Kind) - 1)));
    for (u64 value : bad) {
      write(empty, 1, moduli_[0].aux);
      write(empty, 0, value);
      refused(empty, value);
    }
    if (P_W < 62) {
      write(empty, 0, q | (u64(1) << P_W));
      refused(empty, q | (u64(1) << P_W));
    }
    write(empty, 0, 0);
    dut_->start_mod_i = 0;
    dut_->start_valid_i = 1;
    dut_.settle();
    if (dut_->bad_modulus_o || !dut_->start_ready_o) fail("a good modulus does not start");
    dut_->start_valid_i = 0;
  }

  Rng& rng() { return rng_; }
  int end() {
    if (!expected_.empty()) fail("%zu limbs never came", expected_.size());
    return pass(checked_, seed_, dut_.cycles(), "rm_nttu");
  }

 private:
  void refused(unsigned m, u64 value) {
    dut_->start_mod_i = m;
    dut_->start_valid_i = 1;
    dut_.settle();
    if (!dut_->bad_modulus_o || dut_->start_ready_o) fail("q = %" PRIx64 " starts", value);
    cycle();
  }

  void begin(unsigned m, bool inverse_limb, u64 index) {
    const Modulus& modulus = moduli_[m];
    const u64 q = modulus.q;
    Words a(kN);
    for (u64& x : a) x = index % 9 == 3 ? 0 : index % 9 == 5 ? q - 1 : rng_.below(q);
    Words b;
    if (schoolbook_) {
      // Values by Horner's rule; an inverse limb gets the values and must give the polynomial.
      b.resize(kN);
      for (u64 k = 0; k < kN; k++) b[k] = definition(a, modulus.psi, kLogN, q, k);
      if (inverse_limb) std::swap(a, b);
    } else if (inverse_limb) {
      b = inverse(a, modulus.psi, kLogN, q);
      if (definition(b, modulus.psi, kLogN, q, kN / 3) != a[kN / 3]) fail("the oracle disagrees with the definition");
    } else {
      b = forward(a, modulus.psi, kLogN, q);
      if (definition(a, modulus.psi, kLogN, q, kN / 3) != b[kN / 3]) fail("the oracle disagrees with the definition");
    }
    feeding_.push_back({a, {}, dut_.cycles() + 1, m, inverse_limb});
    expected_.push_back({{}, b, dut_.cycles() + 1 + latency(), m, inverse_limb});
  }

  void cycle() {
    using Port = std::decay_t<decltype(dut_->row_i)>;
    const u64 now = dut_.cycles();
    const bool fed = !feeding_.empty() && now >= feeding_.front().cycle;
    Fields<Port>::clear(dut_->row_i);
    for (unsigned l = 0; l < kL; l++) {
      for (unsigned e = 0; e < kR; e++) {
        u64 word = rng_.next() & kMask;
        if (fed) {
          const Limb& limb = feeding_.front();
          const u64 t = now - limb.cycle;
          word = limb.in[limb.inverse ? value_place(l, t, e) : coefficient_place(l, t, e)];
        }
        Fields<Port>::set(dut_->row_i, (l * kR + e) * P_W, P_W, word);
      }
    }
    if (fed && now - feeding_.front().cycle == kRows - 1) feeding_.pop_front();
    dut_.settle();
    check(now);
    dut_.tick();
  }

  void check(u64 now) {
    const bool some = !expected_.empty() && now >= expected_.front().cycle;
    if (bool(dut_->valid_o) != some) fail("cycle %" PRIu64 ": valid is %d", now, int(dut_->valid_o));
    if (!some) return;
    const Limb& limb = expected_.front();
    const u64 t = now - limb.cycle;
    if (bool(dut_->first_o) != (t == 0)) fail("row %" PRIu64 ": first is %d", t, int(dut_->first_o));
    if (t == 0 && (dut_->mod_o != limb.mod || bool(dut_->inverse_o) != limb.inverse)) fail("the wrong modulus or direction");
    if (!dut_->busy_o) fail("not busy in row %" PRIu64, t);
    for (unsigned l = 0; l < kL; l++) {
      for (unsigned e = 0; e < kR; e++) {
        const u64 got = Fields<std::decay_t<decltype(dut_->row_o)>>::get(dut_->row_o, (l * kR + e) * P_W, P_W);
        const u64 due = limb.out[limb.inverse ? coefficient_place(l, t, e) : value_place(l, t, e)];
        if (got != due) {
          fail("limb %" PRIu64 " (%s), row %" PRIu64 ", lane %u, element %u: %" PRIx64 " instead of %" PRIx64, checked_,
               limb.inverse ? "inverse" : "forward", t, l, e, got, due);
        }
      }
    }
    if (t == kRows - 1) {
      expected_.pop_front();
      checked_++;
    }
  }

  Dut dut_;
  Rng rng_;
  u64 seed_, start_ = 0, checked_ = 0;
  bool schoolbook_, any_ = false;
  std::vector<Modulus> moduli_;
  std::deque<Limb> feeding_, expected_;
};

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 seed = args.number("seed", 1), n = args.number("n", 10);
  Bench bench(argc, argv, seed, args.has("schoolbook"));
  bench.reset();
  bench.write_moduli();
  bench.stream(n, 0, 256, true);
  bench.stream(n, 3, 64, true);
  bench.stream((n + 1) / 2, 2 * kRows, 16, true);
  for (u64 i = 0; i < args.number("resets", 0); i++) {
    bench.stream(1 + bench.rng().below(4), kRows, 128, false);
    bench.reset();
    bench.stream(2, 0, 256, true);
  }
  bench.wrong_use();
  bench.stream(1, 0, 256, true);
  return bench.end();
}
