// rm_bconvu against `quotient`, `convert`, `convert_fast` and `lift` on whole numbers: other sources, targets and kinds with every
// conversion, consumers that wait, resets, and wrong use. Every result in its cycle.
//   +n=CONVERSIONS  +seed=S
#include "bench.h"
#include "big.h"

namespace {

constexpr unsigned kE = P_Elements, kMacs = P_M, kTerms = P_Terms;
constexpr u64 kLatency = kLp + 3 + reduce_latency(guard_bits(kTerms));
enum Mode { kFast, kCentred, kLift, kNone };

struct Result {
  u64 due;
  unsigned index;
  bool bad;
  Words r;
};
struct Conversion {
  unsigned mode, targets;
  bool bad;
  std::vector<u64> s, q;
  std::vector<Words> y, factor;  // by source
  Words minus;
  std::vector<Words> r;          // by target
};

// The words that v is decided by: near a change of it as often as anywhere.
Words near_a_change(const std::vector<u64>& s, Rng& rng) {
  Words y;
  for (u64 m : s) y.push_back(residue(rng, m));
  if (rng.chance(128)) return y;
  // The last word so that the sum lies next to a multiple of 2^28, if one below s does.
  const u64 last = s.back(), step = head_factor(last);
  y.back() = 0;
  u64 sum = u64(1) << 27;
  for (std::size_t i = 0; i + 1 < s.size(); i++) sum += (y[i] >> head_shift(s[i])) * head_factor(s[i]);
  const u64 head = ((u64(1) << 28) - sum % (u64(1) << 28)) / step + rng.below(2);
  const u64 value = (head << head_shift(last)) + (rng.chance(128) ? 0 : (u64(1) << head_shift(last)) - 1);
  if (value < last) y.back() = value;
  return y;
}

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 seed = args.number("seed", 1), n = args.number("n", 60);
  Dut dut(argc, argv);
  Rng rng(seed);
  const std::vector<u64> primes = find_primes(kTerms + kMacs + 6, 3, rng);
  u64 checked = 0, waits = 0, greatest = 0, above = 0;

  for (u64 round = 0; round < 10; round++) {
    const Pace pace = kPaces[round % 5];
    const bool wrong = round >= 7, cut = round == 4;
    dut->rst_ni = 0, dut->valid_i = dut->give_i = 0;
    dut.tick();
    dut->rst_ni = 1;
    std::deque<Result> expected;
    u64 held = 0, promised = 0, since = dut.cycles();
    unsigned said = 0;
    for (u64 k = 0; k < n; k++) {
      Conversion c;
      const bool too_long = wrong && rng.below(12) == 0, no_targets = wrong && !too_long && rng.below(8) == 0;
      c.mode = wrong && rng.below(12) == 0 ? unsigned(kNone) : unsigned(rng.below(3));
      c.targets = no_targets ? 0 : 1 + unsigned(rng.below(kMacs));
      c.bad = too_long;
      const unsigned count = too_long ? kTerms + 1 : c.mode == kLift || no_targets ? 1 : rng.below(8) == 0 ? kTerms : 2 + unsigned(rng.below(kMacs + 1));
      const u64 base = rng.below(primes.size());
      for (unsigned i = 0; i < count; i++) c.s.push_back(primes[(base + i) % primes.size()]);
      for (unsigned m = 0; m < kMacs; m++) c.q.push_back(primes[(base + count + m) % primes.size()]);
      std::vector<Words> by_element;
      for (unsigned e = 0; e < kE; e++) by_element.push_back(near_a_change(c.s, rng));
      for (unsigned i = 0; i < count; i++) {
        Words row, factor;
        for (unsigned e = 0; e < kE; e++) row.push_back(by_element[e][i]);
        for (u64 q : c.q) factor.push_back(raised(product_but(c.s, i).modulo(q), q));
        c.y.push_back(row), c.factor.push_back(factor);
      }
      for (u64 q : c.q) c.minus.push_back((q - raised(product_but(c.s, count).modulo(q), q)) % q);
      for (unsigned m = 0; m < c.targets && !c.bad; m++) {
        Words r;
        for (unsigned e = 0; e < kE; e++) {
          const Words& y = by_element[e];
          const u64 v = c.mode == kCentred ? rounded_quotient(y, c.s) : c.mode == kLift ? u64(u128(2) * y[0] > c.s[0]) : 0;
          r.push_back(converted(y, c.s, v, c.q[m]));
          greatest += c.mode == kCentred && v == count, above += c.mode == kLift && v;
        }
        c.r.push_back(r);
      }
      // The rows of the conversion; behind the last one, until all is out.
      const bool finish = k + 1 == n && !cut;
      for (unsigned i = 0; i < count || (finish && (!expected.empty() || held > 0));) {
        const u64 now = dut.cycles();
        const bool is_row = i < count, last = i + 1 == count;
        const unsigned at = is_row ? i : 0;
        dut->valid_i = is_row && rng.chance(pace.offer);
        put(dut->y_i, c.y[at]), put(dut->factor_i, c.factor[at]);
        dut->shift_i = head_shift(c.s[at]), dut->head_i = head_factor(c.s[at]);
        dut->last_i = last, dut->targets_i = last ? c.targets : unsigned(rng.below(kMacs + 1));
        dut->mode_i = last ? c.mode : unsigned(rng.below(4)), dut->half_i = last ? c.s[0] / 2 : rng.next() & kWord;
        Words q, aux, word_of, minus;
        for (unsigned m = 0; m < kMacs; m++) {
          q.push_back(last ? c.q[m] : rng.next() & kWord), minus.push_back(last ? c.minus[m] : rng.next() & kWord);
          aux.push_back(last ? aux_of(P_Kind, P_W, c.q[m]) : 0), word_of.push_back(last ? power_of_two(P_W, c.q[m]) : 0);
        }
        put(dut->q_i, q), put(dut->minus_i, minus), put(dut->word_i, word_of), put(dut->aux_i, aux, P_W + 2);
        dut->give_i = held > 0 && (!is_row || rng.chance(pace.give));
        dut.settle();
        if (dut->wrong_o != said) fail("cycle %" PRIu64 ": wrong_o %x instead of %x", now, dut->wrong_o, said);
        const bool due = !expected.empty() && expected.front().due == now;
        if (bool(dut->valid_o) != due) fail("cycle %" PRIu64 ": valid_o %d", now, int(dut->valid_o));
        if (due) {
          const Result& want = expected.front();
          if (dut->index_o != want.index || bool(dut->bad_o) != want.bad) fail("cycle %" PRIu64 ": target %d, bad %d", now, int(dut->index_o), int(dut->bad_o));
          for (unsigned e = 0; e < kE && !want.bad; e++, checked++) {
            if (word(dut->r_o, e) != want.r[e]) fail("cycle %" PRIu64 ", target %u, element %u: %" PRIx64 " instead of %" PRIx64, now, want.index, e, word(dut->r_o, e), want.r[e]);
          }
          expected.pop_front(), held++, promised--;
        }
        const bool take = dut->valid_i && dut->ready_o;
        if (dut->valid_i && !take) {
          waits++;
          const bool busy = !expected.empty() && expected.back().due >= now + kLatency;
          if (!last || (!busy && promised + held + c.targets <= P_Rows)) fail("cycle %" PRIu64 ": a row waits for no reason", now);
        }
        if (take) {
          i++, since = now;
          if (too_long && last) said |= 1;
          if (last) {
            if (c.targets == 0) said |= 2;
            if (c.mode == kNone) said |= 8;
            for (unsigned m = 0; m < c.targets; m++) expected.push_back({now + kLatency + m, m, c.bad, c.bad ? Words() : c.r[m]});
            promised += c.targets;
            if (promised + held > P_Rows) fail("cycle %" PRIu64 ": results are promised that the consumer has no space for", now);
          }
        }
        if (dut->give_i) held--;
        dut.tick();
        if (now - since > 2000) fail("nothing was taken for 2,000 cycles");
      }
    }
    if (!wrong || cut) continue;
    dut->give_i = 1, dut->valid_i = 0;  // a row that was never there is given back
    dut.tick();
    dut->give_i = 0;
    dut.settle();
    if (dut->wrong_o != (said | 4)) fail("wrong_o %x after a row too many", dut->wrong_o);
  }
  if (waits == 0 || greatest == 0 || above == 0) fail("no wait, no greatest quotient, or nothing above half");
  return pass(checked, seed, dut.cycles(), "rm_bconvu");
}
