// Random products against 128-bit integers: r * 2^54 = a * b (mod q).
#include <deque>

#include "harness.h"

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 n = args.number("n", 20000), seed = args.number("seed", 1);
  const u64 q = 0x20000068000001u;
  const unsigned latency = 11;
  Dut dut(argc, argv);
  Rng rng(seed);
  std::deque<u64> expected;  // a * b mod q
  u64 checked = 0;
  for (u64 i = 0; i < n + latency; i++) {
    const u64 a = rng.below(q), b = rng.below(q);
    dut->a_i = a;
    dut->b_i = b;
    if (i < n) expected.push_back(u64(u128(a) * b % q));
    dut.tick();
    if (i + 1 < latency || expected.empty()) continue;
    const u64 r = dut->r_o, want = expected.front();
    expected.pop_front();
    if (r >= q || u64((u128(r) << 54) % q) != want) fail("product %" PRIu64 ": r=%" PRIx64, checked, r);
    checked++;
  }
  if (!expected.empty()) fail("%zu products never came", expected.size());
  return pass(checked, seed, dut.cycles(), "canary");
}
