// rm_ks_lift against remainders of signed integers, with constants that change every cycle.
//   +n=ROWS +seed=S
#include <deque>
#include <type_traits>

#include "../../ntt/test/fields.h"
#include "../../ntt/test/modulus.h"

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 seed = args.number("seed", 1), n = args.number("n", 20000);
  Dut dut(argc, argv);
  Rng rng(seed);
  constexpr u64 latency = latency_of(P_Kind, P_W) + 2;
  const std::vector<u64> primes = find_primes(8, 3, rng);
  std::deque<std::vector<u64>> expected;
  std::vector<bool> above(P_P, false);
  u64 checked = 0;
  for (u64 row = 0; row < n + latency; row++) {
    const u64 from = primes[rng.below(8)], q = primes[rng.below(8)];
    const bool centred = rng.chance(128);
    Fields<std::decay_t<decltype(dut->x_i)>>::clear(dut->x_i);
    unsigned above_row = 0;
    for (unsigned l = 0; l < P_P; l++) above_row |= unsigned(above[l]) << l;
    dut->above_i = above_row;
    std::vector<u64> want;
    for (unsigned l = 0; l < P_P; l++) {
      const u64 pick = rng.below(8);
      const u64 x = pick == 0 ? 0 : pick == 1 ? from - 1 : pick == 2 ? from / 2 : pick == 3 ? from / 2 + 1 : rng.below(from);
      Fields<std::decay_t<decltype(dut->x_i)>>::set(dut->x_i, l * P_W, P_W, x);
      above[l] = centred && 2 * x > from;
      const i128 r = (above[l] ? i128(x) - from : i128(x)) % i128(q);
      want.push_back(u64(r < 0 ? r + q : r));
    }
    dut->q_i = q;
    dut->aux_i = aux_of(P_Kind, P_W, q);
    dut->factor_i = u64((u128(1) << factor_bits_of(P_Kind, P_W)) % q);
    dut->from_i = from % q;
    expected.push_back(want);
    dut.settle();
    if (row >= latency) {
      for (unsigned l = 0; l < P_P; l++) {
        const u64 got = Fields<std::decay_t<decltype(dut->y_o)>>::get(dut->y_o, l * P_W, P_W);
        if (got != expected.front()[l]) fail("row %" PRIu64 ", lane %u: %" PRIx64 " instead of %" PRIx64, row - latency, l, got, expected.front()[l]);
        checked++;
      }
      expected.pop_front();
    }
    dut.tick();
  }
  if (checked != n * P_P || expected.size() != latency) fail("%zu rows never came", expected.size());
  return pass(checked, seed, dut.cycles(), "rm_ks_lift");
}
