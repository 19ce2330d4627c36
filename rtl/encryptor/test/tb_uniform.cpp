// rm_enc_uniform: the engine's expansions at moduli that refuse words and at others, labels and jobs in any order. Readers take
// a row a cycle from 100 cycles after the start on, as the engine does, or are slower.
//   +n=JOBS   +seed=S
#include <deque>

#include "../../ntt/test/fields.h"
#include "oracle.h"

namespace {

struct Expected {
  Words words;
  u64 from;  // the cycle of the first row
};

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 seed = args.number("seed", 1), n = args.number("n", 4);
  Dut dut(argc, argv);
  Rng rng(seed);
  u64 checked = 0, refused = 0;
  dut->rst_ni = 0;
  dut->job_i = dut->take_i = 0;
  for (int i = 0; i < 3; i++) dut.tick();
  dut->rst_ni = 1;
  const u64 top = u64(1) << P_W;
  // 2^64 / (k + 1/2) refuses words most often, up to one in 2 k; then the widest, and any.
  for (u64 q : {u64((u128(2) << 64) / 33) | 1, u64((u128(2) << 64) / 39) | 1, top - 1, u64(786433), rng.next() % top | 1}) {
    const unsigned log_n = P_LogNMax;
    const u64 rows = u64(1) << (log_n - 1);
    dut->log_n_i = log_n;
    dut->q_i = q;
    dut->threshold_i = u64((u128(1) << 64) % q);
    for (unsigned eager : {256u, 100u}) {
      std::deque<Expected> expected;
      u64 jobs = 0, row = 0, next = 0;
      for (u64 since = dut.cycles(); jobs < n || !expected.empty();) {
        dut->job_i = jobs < n && dut.cycles() >= next && expected.size() < 3;
        if (dut->job_i) {
          Seed key;
          for (u32& x : key) x = u32(rng.next());
          for (int i = 0; i < 8; i++) dut->job_seed_i[i] = key[i];
          dut->job_key_i = rng.below(2);
          std::vector<Prime> primes(P_Limb + 1, Prime{q, 0});
          const Context context(primes, log_n);
          expected.push_back({context.expansion(key, dut->job_key_i ? "public key a" : "ciphertext c1", P_Limb), dut.cycles() + 100});
          refused += context.refused;
          jobs++, next = dut.cycles() + rows;
        } else {
          dut->job_key_i = rng.below(2);
          for (int i = 0; i < 8; i++) dut->job_seed_i[i] = u32(rng.next());
        }
        dut->take_i = !expected.empty() && dut.cycles() >= expected.front().from && rng.chance(eager);
        dut.settle();
        if (dut->underrun_o) fail("q = %" PRIu64 ": no words for row %" PRIu64, q, row);
        if (dut->take_i) {
          for (unsigned l = 0; l < 2; l++, checked++) {
            const u64 got = Fields<std::decay_t<decltype(dut->row_o)>>::get(dut->row_o, l * P_W, P_W);
            if (got != expected.front().words[2 * row + l]) fail("q = %" PRIu64 ", row %" PRIu64 ", lane %u: %" PRIu64, q, row, l, got);
          }
          if (++row == rows) expected.pop_front(), row = 0;
          since = dut.cycles();
        }
        dut.tick();
        if (dut.cycles() - since > 100000) fail("hangs");
      }
    }
  }
  if (refused < checked / 100) fail("only %" PRIu64 " words were refused", refused);
  return pass(checked, seed, dut.cycles(), "rm_enc_uniform");
}
