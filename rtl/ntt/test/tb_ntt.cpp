// Transforms of random and extreme limbs against the textbook, every cycle against the rules.
//   +logn=FIRST +to=LAST    sizes (the built range)       +n=COMMANDS  a size and kind of traffic
//   +seed=S                                               +resets=R    resets in the middle, at each size
#include "bench.h"

namespace {

Command random_command(Rng& rng, unsigned moduli) {
  const Fill fill[] = {Fill::Random, Fill::Random, Fill::Edges, Fill::Results, Fill::Zero, Fill::Largest};
  return {rng.chance(128), unsigned(rng.below(2)), unsigned(rng.below(moduli)), fill[rng.below(6)], rng.chance(48), 0, 0, {}};
}

// Both banks in turn, moduli as the pattern says: what a compiler makes.
void steady(Bench& bench, Rng& rng, u64 count, unsigned each, unsigned moduli) {
  for (u64 i = 0; i < count; i++) {
    Command c = random_command(rng, moduli);
    c.bank = i % 2, c.mod = unsigned(i / each % moduli), c.roots = false;
    bench.submit(c);
  }
  bench.drain({256, 256});
}

void one_size(Bench& bench, Rng& rng, u64 count, u64 resets, unsigned moduli) {
  steady(bench, rng, count, 1, moduli);  // another modulus every time
  steady(bench, rng, count, 2, 2);       // pairs, two tables
  const Traffic kinds[] = {{256, 256}, {256, 8}, {2, 256}, {16, 16}};
  for (Traffic traffic : kinds) {
    for (u64 i = 0; i < count; i++) bench.submit(random_command(rng, moduli));
    bench.drain(traffic);
  }
  for (u64 r = 0; r < resets; r++) {
    for (u64 i = 0; i < 3; i++) bench.submit(random_command(rng, moduli));
    const Timing t = bench.timing();
    for (u64 n = rng.below(2 * (t.sequence() + t.generation())); n > 0 && !bench.idle(); n--) bench.step({256, 256});
    bench.reset();
    bench.submit(random_command(rng, moduli));
    bench.drain({256, 256});
  }
}

// What the unit promises of its length: 2 % and 40 cycles above log N * ROWS.
void check_bar(const Timing& t) {
  const u64 ideal = t.log_n * t.rows(), taken = t.sequence() + t.row_latency() + 1;
  if (t.log_n >= 10 && 100 * taken > 102 * ideal + 4000) {
    fail("N=2^%u takes %" PRIu64 " cycles, %" PRIu64 " at best", t.log_n, taken, ideal);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 seed = args.number("seed", 1), count = args.number("n", 4), resets = args.number("resets", 1);
  Rng rng(seed);
  Dut dut(argc, argv);
  Bench bench(dut, rng);
  const unsigned moduli = std::min<unsigned>(P_Mods, 5);
  for (unsigned log_n = unsigned(args.number("logn", P_LogNMin)); log_n <= args.number("to", P_LogNMax); log_n++) {
    bench.set_log_n(log_n, find_primes(moduli, P_LogNMax, rng));
    check_bar(bench.timing());
    one_size(bench, rng, count, resets, moduli);
  }
  return pass(bench.checked(), seed, dut.cycles(), "transforms");
}
