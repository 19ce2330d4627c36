// rm_prng against the engine's rule for uniform residues, word by word (../../encryptor/test/oracle.h, ../../xof/test/blake3.h).
//   +n=LIMBS   +resets=N   +seed=S
// Labels are those of key-switching keys, any digit, and any bytes of any length. Moduli refuse as many words as there can be, few,
// or none, so that rows fill at every pace; N is drawn anew for each limb. Rows of limbs without refused words come in their cycle.
#include "../../encryptor/test/oracle.h"
#include "../../ntt/test/fields.h"

namespace {

constexpr unsigned kLogE = P_LogE, kE = 1u << kLogE, kLayers = 2;
constexpr u64 kLatency = 37 + 3 * ((kLogE + kLayers - 1) / kLayers);

struct Job {
  Seed seed;
  std::string label;
  u32 limb;
  u64 q;
  unsigned log_n;
};

class Bench {
 public:
  Bench(int argc, char** argv, u64 seed) : dut_(argc, argv), rng_(seed), seed_(seed) {}

  void reset() {
    dut_->rst_ni = 0;
    dut_->start_valid_i = 0;
    for (int i = 0; i < 3; i++) dut_.tick();
    dut_->rst_ni = 1;
    dut_.tick();
  }

  Job draw() {
    Job job;
    for (u32& x : job.seed) x = u32(rng_.next());
    if (rng_.below(2)) {
      job.label = "switching key a, digit ";
      const u32 digit = u32(rng_.below(4) ? rng_.below(60) : rng_.next());
      for (int b = 0; b < 4; b++) job.label.push_back(char(digit >> (8 * b)));
    } else {
      for (u64 i = rng_.below(34); i > 0; i--) job.label.push_back(char(rng_.next()));
    }
    job.limb = u32(rng_.below(70));
    job.log_n = kLogE + unsigned(rng_.below(P_LogNMax - kLogE + 1));
    // 2^64 / (k + 1/2) refuses words most often, up to one in 2 k.
    const u64 top = u64(1) << P_W, k = u64((u128(1) << 64) >> P_W) + rng_.below(8);
    switch (rng_.below(4)) {
      case 0: job.q = rng_.below(top / 2) + top / 2 - 1; break;
      case 1: job.q = rng_.below(top - 2) + 2; break;
      case 2: job.q = u64(1) << rng_.below(P_W - 1); break;   // refuses nothing
      default: job.q = u64((u128(2) << 64) / (2 * k + 1));
    }
    if (job.q == 0) job.q = 1;
    return job;
  }

  void set(const Job& job) {
    dut_->log_n_i = job.log_n;
    for (int i = 0; i < 8; i++) dut_->seed_i[i] = job.seed[i];
    using Label = std::decay_t<decltype(dut_->label_i)>;
    Label label;
    Fields<Label>::clear(label);
    for (unsigned i = 0; i < 33; i++) {
      // What is behind the label is noise.
      const u64 byte = i < job.label.size() ? std::uint8_t(job.label[i]) : rng_.below(256);
      Fields<Label>::set(label, 8 * i, 8, byte);
    }
    dut_->label_i = label;
    dut_->label_length_i = job.label.size();
    dut_->limb_i = job.limb;
    dut_->q_i = job.q;
    dut_->threshold_i = u64((u128(1) << 64) % job.q);
  }

  // What the engine's `ringmill_ring::sample::uniform` gives for the seed 1, 8, 15, ..., as key-switching keys call it: words 0, 1 and 1023,
  // and the sum of all 1,024 without carries.
  void engine() {
    struct Given {
      u64 q;
      u32 digit, limb;
      u64 first, second, last, all;
    };
    for (const Given& g : {Given{68718428161, 3, 5, 0xbb3cf262f, 0x555b18d47, 0xbc9c2bd77, 0x972d889d7},
                           Given{1152921504606830593, 258, 41, 0x379629c9498cdb4, 0xa64537a39089a52, 0xcf8d6d66f15b032, 0xef28a09ee4e57c6}}) {
      if (g.q >> P_W || P_LogNMax < 10) continue;
      Job job{{}, "switching key a, digit ", g.limb, g.q, 10};
      for (unsigned i = 0; i < 32; i++) job.seed[i / 4] |= u32((7 * i + 1) & 255) << (8 * (i % 4));
      for (int b = 0; b < 4; b++) job.label.push_back(char(g.digit >> (8 * b)));
      const Words words = run(~u64(0), job);
      u64 all = 0;
      for (u64 w : words) all ^= w;
      if (words[0] != g.first || words[1] != g.second || words[1023] != g.last || all != g.all) fail("the engine has other words modulo %" PRIu64, g.q);
    }
  }

  // Expands a limb; stops after `rows` of it.
  Words run(u64 rows) { return run(rows, draw()); }
  Words run(u64 rows, const Job& job) {
    std::vector<Prime> primes(job.limb + 1, Prime{job.q, 0});
    const Context context(primes, job.log_n);
    const Words words = context.expansion(job.seed, job.label, job.limb);
    set(job);
    dut_->start_valid_i = 1;
    dut_.settle();
    if (!dut_->start_ready_o) fail("not ready for limb %" PRIu64, limbs_);
    const u64 start = dut_.cycles(), all = words.size() / kE;
    dut_.tick();
    u64 refused = 0;
    for (u64 row = 0; row < all && row < rows;) {
      // Inputs need not stand any longer; another start waits.
      set(draw());
      dut_->start_valid_i = rng_.below(2);
      dut_.settle();
      if (dut_->start_ready_o) fail("ready in row %" PRIu64, row);
      if (dut_->valid_o) {
        check(words, row, all);
        row++;
      } else if (dut_.cycles() >= start + kLatency) {
        refused++;
      }
      if (dut_.cycles() - start > kLatency + 2 * all + 100) fail("limb %" PRIu64 " hangs in row %" PRIu64, limbs_, row);
      dut_.tick();
    }
    dut_->start_valid_i = 0;
    // Each row that did not come in its cycle stands for E refused words.
    if (rows >= all) {
      const u64 due = context.refused / kE;
      if (refused < due || refused > due + 1) fail("limb %" PRIu64 ": %" PRIu64 " cycles without a row, %" PRIu64 " words refused", limbs_, refused, context.refused);
      refused_ += context.refused;
      for (u64 i = rng_.below(4) ? 0 : rng_.below(60); i > 0; i--) {
        dut_.settle();
        if (dut_->valid_o) fail("a row after the last one");
        dut_.tick();
      }
    }
    limbs_++;
    return words;
  }

  void wrong_use() {
    const auto refuses = [&](const char* what, auto&& change, auto&& status) {
      Job job = draw();
      set(job);
      dut_->start_valid_i = 1;
      change();
      dut_.settle();
      if (!status() || dut_->start_ready_o) fail("%s starts", what);
      dut_.tick();
      dut_->start_valid_i = 0;
      for (u64 i = 0; i < kLatency + 8; i++) {
        dut_.settle();
        if (dut_->valid_o) fail("%s gives a row", what);
        dut_.tick();
      }
    };
    refuses("a limb shorter than a row", [&] { dut_->log_n_i = kLogE - 1; }, [&] { return dut_->bad_size_o; });
    refuses("a limb that is too long", [&] { dut_->log_n_i = P_LogNMax + 1; }, [&] { return dut_->bad_size_o; });
    refuses("a label of 34 bytes", [&] { dut_->label_length_i = 34; }, [&] { return dut_->bad_label_o; });
    refuses("modulus 0", [&] { dut_->q_i = 0, dut_->threshold_i = 0; }, [&] { return dut_->bad_modulus_o; });
    refuses("a threshold that is the modulus", [&] { dut_->threshold_i = dut_->q_i; }, [&] { return dut_->bad_modulus_o; });
  }

  Rng& rng() { return rng_; }
  int end() {
    if (P_W >= 54 && refused_ < checked_ / 1000) fail("only %" PRIu64 " words were refused", refused_);
    return pass(checked_, seed_, dut_.cycles(), "rm_prng");
  }

 private:
  void check(const Words& words, u64 row, u64 all) {
    if (bool(dut_->last_o) != (row == all - 1)) fail("row %" PRIu64 ": last is %d", row, int(dut_->last_o));
    for (unsigned e = 0; e < kE; e++, checked_++) {
      const u64 got = Fields<std::decay_t<decltype(dut_->row_o)>>::get(dut_->row_o, e * P_W, P_W);
      if (got != words[row * kE + e]) {
        fail("limb %" PRIu64 ", row %" PRIu64 ", word %u: %" PRIx64 " instead of %" PRIx64, limbs_, row, e, got, words[row * kE + e]);
      }
    }
  }

  Dut dut_;
  Rng rng_;
  u64 seed_, limbs_ = 0, checked_ = 0, refused_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 seed = args.number("seed", 1), n = args.number("n", 10);
  Bench bench(argc, argv, seed);
  bench.reset();
  bench.wrong_use();
  bench.engine();
  for (u64 i = 0; i < n; i++) bench.run(~u64(0));
  for (u64 i = 0; i < args.number("resets", 0); i++) {
    bench.run(bench.rng().below(8));
    bench.reset();
    bench.run(~u64(0));
  }
  return bench.end();
}
