// rm_pool_feed against base conversion by its definition: sources, targets and signs change every cycle.
//   +n=ROWS +seed=S
#include <deque>
#include <type_traits>

#include "../../ntt/test/fields.h"
#include "../../ntt/test/modulus.h"

namespace {

constexpr unsigned kClasses = 1u << P_ClassW, kTargets = 1u << P_ModBits, kLanes = 16;
constexpr u64 kM = latency_of(P_Kind, P_W), kSteps = P_Alpha > 3 ? 3 : P_Alpha > 1 ? 2 : 1, kLatency = kM + 1 + kSteps;

u64 shift_of(u64 s) { return 64 - __builtin_clzll(s) > 14 ? 64 - __builtin_clzll(s) - 14 : 0; }
u64 head_of(u64 s) { return u64((u128(1) << (28 + shift_of(s))) / s); }

struct Select {
  unsigned cls = 0, target = 0;
  bool centred = false;
};

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 seed = args.number("seed", 1), n = args.number("n", 20000);
  Dut dut(argc, argv);
  Rng rng(seed);
  std::vector<u64> targets, primes = find_primes(kTargets + P_Alpha * kClasses, 3, rng);
  for (unsigned m = 0; m < kTargets; m++) targets.push_back(primes[m]);
  std::vector<std::vector<u64>> sources(kClasses);
  const auto write = [&](unsigned cls, unsigned m, unsigned field, u64 value) {
    dut->cfg_we_i = 1, dut->cfg_class_i = cls, dut->cfg_mod_i = m, dut->cfg_field_i = field, dut->cfg_data_i = value;
    dut.tick();
    dut->cfg_we_i = 0;
  };
  // The product of a class's moduli, all but one of them, modulo a target.
  const auto product = [&](unsigned cls, int but, u64 q) {
    u64 r = 1 % q;
    for (unsigned a = 0; a < sources[cls].size(); a++) r = int(a) == but ? r : mul_mod(r, sources[cls][a] % q, q);
    return r;
  };
  for (unsigned cls = 0; cls < kClasses; cls++) {
    const unsigned count = cls < P_Alpha ? cls + 1 : 1 + unsigned(rng.below(P_Alpha));
    for (unsigned a = 0; a < count; a++) sources[cls].push_back(primes[kTargets + cls * P_Alpha + a]);
    write(cls, 0, 56, sources[cls][0] / 2);
    for (unsigned a = 0; a < P_Alpha; a++) write(cls, 0, 48 + a, a < count ? shift_of(sources[cls][a]) << 15 | head_of(sources[cls][a]) : 0);
    for (unsigned m = 0; m < kTargets; m++) {
      const u64 q = targets[m], factor = u64((u128(1) << factor_bits_of(P_Kind, P_W)) % q);
      write(cls, m, 0, q);
      write(cls, m, 1, aux_of(P_Kind, P_W, q));
      for (unsigned a = 0; a < P_Alpha; a++) {
        write(cls, m, 32 + a, a < count ? mul_mod(product(cls, int(a), q), factor, q) : 0);
        write(cls, m, 40 + a, (q - mul_mod((a + 1) % q, product(cls, -1, q), q)) % q);
      }
    }
  }

  std::deque<Words> expected;
  Select now, next;
  u64 checked = 0, over = 0;
  for (u64 k = 0; k < n + kLatency; k++) {
    // What was selected in the cycle before belongs to this row.
    now = next;
    next = {unsigned(rng.below(kClasses)), unsigned(rng.below(kTargets)), rng.chance(192)};
    dut->class_i = next.cls, dut->mod_i = next.target, dut->centred_i = next.centred;
    dut->single_i = sources[next.cls].size() == 1;
    Fields<std::decay_t<decltype(dut->x_i)>>::clear(dut->x_i);
    const std::vector<u64>& from = sources[now.cls];
    const u64 q = targets[now.target];
    Words want;
    for (unsigned l = 0; l < kLanes; l++) {
      u64 sum = u64(1) << 27, r = 0, x = 0;
      for (unsigned a = 0; a < P_Alpha; a++) {
        const bool used = a < from.size();
        const u64 y = !used ? rng.next() & ((u64(1) << P_W) - 1) : rng.chance(24) ? from[a] - 1 : rng.chance(24) ? from[a] / 2 + rng.below(2) : rng.below(from[a]);
        Fields<std::decay_t<decltype(dut->x_i)>>::set(dut->x_i, (a * kLanes + l) * P_W, P_W, y);
        if (!used) continue;
        x = y;
        sum += (y >> shift_of(from[a])) * head_of(from[a]);
        r = u64((r + u128(y) * product(now.cls, int(a), q)) % q);
      }
      u64 v = from.size() == 1 ? u128(2) * x > from[0] : sum >> 28;
      v = now.centred ? v : 0;
      over += v == P_Alpha;
      want.push_back(u64((u128(r) + q - mul_mod(v % q, product(now.cls, -1, q), q)) % q));
    }
    expected.push_back(k == 0 ? Words() : want);  // before the first row nothing was selected
    dut.settle();
    if (expected.size() > kLatency) {
      for (unsigned l = 0; l < kLanes && !expected.front().empty(); l++) {
        const u64 got = Fields<std::decay_t<decltype(dut->y_o)>>::get(dut->y_o, l * P_W, P_W);
        if (got != expected.front()[l]) fail("row %" PRIu64 ", lane %u: %" PRIx64 " instead of %" PRIx64, k, l, got, expected.front()[l]);
        checked++;
      }
      expected.pop_front();
    }
    dut.tick();
  }
  if (over == 0) fail("no quotient was the greatest");
  return pass(checked, seed, dut.cycles(), "rm_pool_feed");
}
