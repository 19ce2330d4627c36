// rm_dsu against division by one and by two primes on whole numbers: other primes with every row, rests and quotients, consumers that
// wait, resets. Every result in its cycle.
//   +n=ROWS  +seed=S
#include "bench.h"
#include "big.h"

namespace {

constexpr unsigned kE = P_Elements;
constexpr u64 kRest = kM + 6 + reduce_latency(2), kLatency = kRest + 5 + kM;

struct Row {
  u64 limb, due;
  Words c, r;
};

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 seed = args.number("seed", 1), n = args.number("n", 1000);
  Dut dut(argc, argv);
  Rng rng(seed);
  const std::vector<u64> primes = find_primes(12, 3, rng);
  std::deque<Row> expected, limbs;
  u64 checked = 0, waits = 0, seen[4] = {}, held = 0;

  const auto reset = [&] {
    dut->rst_ni = 0, dut->valid_i = dut->give_i = 0;
    dut.tick();
    dut->rst_ni = 1, held = 0, expected.clear(), limbs.clear();
  };
  const auto cycle = [&](bool offer, Row row, bool give) {
    const u64 now = dut.cycles();
    const bool limb = !limbs.empty() && limbs.front().limb == now;
    Words c(kE, 0);
    for (u64& x : c) x = rng.next() & kWord;
    put(dut->c_i, limb ? limbs.front().c : c);
    dut->valid_i = offer, dut->give_i = give;
    dut.settle();
    if (bool(dut->limb_valid_o) != limb) fail("cycle %" PRIu64 ": limb_valid_o %d", now, int(dut->limb_valid_o));
    if (limb) limbs.pop_front();
    const bool due = !expected.empty() && expected.front().due == now;
    if (bool(dut->valid_o) != due) fail("cycle %" PRIu64 ": valid_o %d", now, int(dut->valid_o));
    if (dut->wrong_o) fail("wrong_o");
    for (unsigned e = 0; due && e < kE; e++, checked++) {
      if (word(dut->r_o, e) != expected.front().r[e]) fail("cycle %" PRIu64 ", element %u: %" PRIx64 " instead of %" PRIx64, now, e, word(dut->r_o, e), expected.front().r[e]);
    }
    if (due) expected.pop_front(), held++;
    if (bool(dut->ready_o) != (expected.size() + held < P_Rows)) fail("ready_o %d with %zu rows on their way and %" PRIu64 " held", int(dut->ready_o), expected.size(), held);
    const bool taken = offer && dut->ready_o;
    waits += offer && !taken;
    if (taken) row.limb = now + kRest, row.due = now + kLatency, expected.push_back(row), limbs.push_back(row);
    if (give) held--;
    dut.tick();
    return taken;
  };

  reset();
  for (const Pace pace : kPaces) {
    for (u64 k = 0; k < n; k++) {
      if (rng.below(n) == 0) reset();
      const bool single = rng.chance(64), divide = rng.chance(128);
      const u64 base = rng.below(primes.size()), q = primes[(base + 2) % primes.size()];
      std::vector<u64> s{primes[base], primes[(base + 1) % primes.size()]};
      if (single) s.pop_back();
      const u128 all = single ? u128(s[0]) : u128(s[0]) * s[1];
      Words scale, x0, x1;
      for (unsigned i = 0; i < 2; i++) scale.push_back(i < s.size() ? raised(single ? 1 : inverse_mod(s[1 - i] % s[i], s[i]), s[i]) : rng.next() & kWord);
      Row row;
      for (unsigned e = 0; e < kE; e++) {
        // x modulo S anywhere, or next to S/2, where the rounded quotient and the nearest integer part.
        const u128 any = (u128(rng.next()) << 64 | rng.next()) % all;
        const u128 x = rng.chance(100) ? (all / 2 + (any >> (20 + rng.below(60))) - rng.below(4)) % all : rng.chance(32) ? all - 1 - rng.below(2) : any;
        std::vector<u64> y;
        for (unsigned i = 0; i < s.size(); i++) y.push_back(single ? u64(x) : mul_mod(u64(x % s[i]), inverse_mod(s[1 - i] % s[i], s[i]), s[i]));
        x0.push_back(u64(x % s[0])), x1.push_back(single ? rng.next() & kWord : u64(x % s[1]));
        const u64 v = single ? u64(2 * x > all) : rounded_quotient(y, s);
        seen[v] += !single;
        const u64 rest = converted(y, s, v, q), c = residue(rng, q);
        // Away from the middle, it is the nearest integer's: x or x - S.
        const u128 middle = all / 2, from = x > middle ? x - middle : middle - x;
        if (from > all >> 10 && rest != u64((x > middle ? q - (all - x) % q : x % q) % q)) fail("the oracle's rest is not centred");
        row.c.push_back(c);
        row.r.push_back(divide ? mul_mod((c + q - rest) % q, inverse_mod(u64(all % q), q), q) : rest);
      }
      Words s_words{s[0], single ? primes[3] : s[1]}, aux, shift, head, factor, x;
      for (u64 m : s_words) aux.push_back(aux_of(P_Kind, P_W, m)), shift.push_back(head_shift(m)), head.push_back(head_factor(m));
      if (single) head[1] = 0;
      for (unsigned i = 0; i < 2; i++) factor.push_back(single ? (i == 0 ? raised(1, q) : 0) : raised(s[1 - i], q));
      for (const Words& w : {x0, x1}) x.insert(x.end(), w.begin(), w.end());
      dut->single_i = single, dut->divide_i = divide, dut->q_i = q, dut->aux_i = aux_of(P_Kind, P_W, q), dut->word_i = power_of_two(P_W, q);
      dut->minus_i = (q - raised(u64(all % q), q)) % q, dut->back_i = raised(inverse_mod(u64(all % q), q), q);
      put(dut->x_i, x), put(dut->s_i, s_words), put(dut->s_aux_i, aux, P_W + 2), put(dut->scale_i, scale);
      put(dut->shift_i, shift, 6), put(dut->head_i, head, 15), put(dut->factor_i, factor);
      while (!cycle(rng.chance(pace.offer), row, held > 0 && rng.chance(pace.give))) {
      }
    }
    while (!expected.empty()) cycle(false, {}, false);
    while (held > 0) cycle(false, {}, true);
  }
  dut->valid_i = 0, dut->give_i = 1;  // a row that was never there is given back
  dut.tick();
  dut->give_i = 0;
  dut.settle();
  if (!dut->wrong_o) fail("a row too many was not noticed");
  reset();
  dut.settle();
  if (dut->wrong_o) fail("wrong_o after a reset");
  if (waits == 0 || seen[0] == 0 || seen[1] == 0 || seen[2] == 0) fail("no wait, or a quotient that never came");
  return pass(checked, seed, dut.cycles(), "rm_dsu");
}
