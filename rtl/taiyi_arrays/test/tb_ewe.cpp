// rm_ewe against the instructions of the limb program on 128-bit integers: another instruction, modulus and pace every row.
//   +n=ROWS  +seed=S
#include "bench.h"

namespace {

constexpr unsigned kE = P_Elements, kLatency = 6 + kM;
enum Op { kAdd, kSub, kNeg, kMul, kMac, kMulConst, kAddConst, kSubMulConst, kLift, kOps };

struct Row {
  u64 due;
  Words r;
};

// The instruction on plain integers.
u64 meaning(unsigned op, u64 a, u64 b, u64 c, u64 k, u64 p, u64 q) {
  switch (op) {
    case kAdd: return u64((u128(a) + b) % q);
    case kSub: return u64((u128(a) + q - b) % q);
    case kNeg: return (q - a) % q;
    case kMul: return mul_mod(a, b, q);
    case kMac: return u64((u128(b) * c + a) % q);
    case kMulConst: return mul_mod(a, k, q);
    case kAddConst: return u64((u128(a) + k) % q);
    case kSubMulConst: return u64((u128(a) + q - b) * k % q);
    default: {
      const i128 z = u128(2) * a < p ? i128(a) : i128(a) - i128(p);
      return u64((z % i128(q) + q) % i128(q));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 seed = args.number("seed", 1), n = args.number("n", 3000);
  Dut dut(argc, argv);
  Rng rng(seed);
  const std::vector<u64> primes = find_primes(12, 3, rng);
  u64 checked = 0, full = 0, held = 0;
  bool wrong_op = false, wrong_give = false;
  std::deque<Row> expected;

  const auto reset = [&] {
    dut->rst_ni = 0, dut->valid_i = 0, dut->give_i = 0;
    const u64 cycles = 1 + rng.below(3);
    for (u64 i = 0; i < cycles; i++) dut.tick();
    dut->rst_ni = 1, held = 0, wrong_op = wrong_give = false, expected.clear();
  };
  // One cycle, with what is offered in it; whether it was taken.
  const auto cycle = [&](bool offer, const Row& row, bool give) {
    dut->valid_i = offer, dut->give_i = give;
    dut.settle();
    const bool due = !expected.empty() && expected.front().due == dut.cycles();
    if (bool(dut->valid_o) != due) fail("cycle %" PRIu64 ": valid_o %d", dut.cycles(), int(dut->valid_o));
    if (due) {
      for (unsigned e = 0; e < kE; e++, checked++) {
        if (word(dut->r_o, e) != expected.front().r[e]) fail("cycle %" PRIu64 ", element %u: %" PRIx64 " instead of %" PRIx64, dut.cycles(), e, word(dut->r_o, e), expected.front().r[e]);
      }
      expected.pop_front(), held++;
    }
    if (dut->wrong_o != (wrong_op | wrong_give << 1)) fail("wrong_o %d instead of %d", int(dut->wrong_o), wrong_op | wrong_give << 1);
    const bool taken = offer && dut->ready_o;
    full += offer && !dut->ready_o;
    // What a row waits for: Rows results are owed or held.
    if (bool(dut->ready_o) != (expected.size() + held < P_Rows)) fail("ready_o %d with %zu rows on their way and %" PRIu64 " held", int(dut->ready_o), expected.size(), held);
    if (taken && !row.r.empty()) expected.push_back({dut.cycles() + kLatency, row.r});
    if (give) held--;
    dut.tick();
    return taken;
  };

  reset();
  for (const Pace pace : kPaces) {
    for (u64 rows = 0; rows < n;) {
      if (rng.below(n) == 0) reset();
      const bool bad = rng.below(n / 2) == 0;
      const unsigned op = bad ? kOps + unsigned(rng.below(7)) : unsigned(rng.below(kOps));
      const u64 q = primes[rng.below(primes.size())], p = op == kLift ? primes[rng.below(primes.size())] : rng.next() & kWord;
      const u64 k = residue(rng, q);
      // Data is held times 2^R, and so is a constant, except of lift, whose operand is a plain integer: there k is 2^R twice.
      // One that is multiplied by is then k 2^R as it stands, k being any residue.
      dut->op_i = op, dut->q_i = q, dut->aux_i = aux_of(P_Kind, P_W, q), dut->p_i = p;
      dut->k_i = op == kLift ? raised(raised(1, q), q) : k;
      dut->k1_i = op == kLift ? raised(p, q) : rng.next() & kWord;
      Words a, b, c;
      Row row;
      for (unsigned e = 0; e < kE; e++) {
        a.push_back(residue(rng, op == kLift ? p : q)), b.push_back(residue(rng, q)), c.push_back(residue(rng, q));
        if (bad) continue;
        const u64 plain = op == kLift ? a[e] : lowered(a[e], q);
        row.r.push_back(raised(meaning(op, plain, lowered(b[e], q), lowered(c[e], q), lowered(k, q), p, q), q));
      }
      put(dut->a_i, a), put(dut->b_i, b), put(dut->c_i, c);
      while (!cycle(rng.chance(pace.offer), row, held > 0 && rng.chance(pace.give))) {
      }
      wrong_op |= bad;
      rows++;
    }
    while (!expected.empty()) cycle(false, {}, false);
    while (held > 0) cycle(false, {}, true);
  }
  // A row that was not taken is given back: said, and not counted.
  held = 1;
  dut->valid_i = 0, dut->give_i = 1, held = 0;
  dut.tick();
  wrong_give = true;
  for (unsigned i = 0; i < 3; i++) cycle(false, {}, false);
  reset();
  cycle(false, {}, false);
  if (full == 0) fail("no row had to wait");
  return pass(checked, seed, dut.cycles(), "rm_ewe");
}
