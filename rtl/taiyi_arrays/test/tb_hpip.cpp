// rm_hpip against sums of products on 128-bit remainders: another modulus every sum, sums of 1 to Terms rows, keys that come late,
// consumers that wait, resets, and wrong use. Every result in its cycle.
//   +n=SUMS  +seed=S
#include "bench.h"

namespace {

constexpr unsigned kE = P_Elements, kH = P_H, kMacs = P_M, kTerms = P_Terms, kDepth = P_KeyRows;
constexpr u64 kLatency = kLp + 2 + reduce_latency(guard_bits(kTerms));
constexpr unsigned kRowWords = kMacs * kH * kE;

struct Result {
  u64 due;
  unsigned index;
  bool bad;
  Words r;  // [h][e]
};
struct Row {
  Words x;
  bool last;
  unsigned results;
  unsigned sum;
};
struct Sum {
  u64 q;
  unsigned results;
  bool bad;
  std::vector<Words> r;  // [m] then [h][e]
};
struct Coming {
  u64 at;
  Words keys;
};

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 seed = args.number("seed", 1), n = args.number("n", 60);
  Dut dut(argc, argv);
  Rng rng(seed);
  const std::vector<u64> primes = find_primes(10, 3, rng);
  u64 checked = 0, key_waits = 0, room_waits = 0, most = 0;

  for (u64 round = 0; round < 12; round++) {
    const Pace pace = kPaces[round % 5];
    // Memory: always there, a fixed latency, or any; a row every `slow` cycles.
    const u64 latency = round % 3 == 0 ? 2 : round % 3 == 1 ? 40 : 0, slow = round % 4 == 3 ? 7 : 1;
    const bool wrong = round >= 8, cut = round == 5 || round == 7;
    dut->rst_ni = 0;
    dut->valid_i = dut->block_valid_i = dut->fetch_ready_i = dut->key_valid_i = dut->give_i = 0;
    for (u64 i = 0; i < 1 + rng.below(2); i++) dut.tick();
    dut->rst_ni = 1;

    // ------------------------------------------------- what is to be computed
    std::deque<Row> rows;
    std::vector<Words> keys;
    std::vector<Sum> sums;
    for (u64 s = 0; s < n; s++) {
      const bool no_results = wrong && rng.below(8) == 0, too_long = wrong && !no_results && rng.below(12) == 0;
      const unsigned terms = no_results ? 1 : too_long ? kTerms + 1 + unsigned(rng.below(3)) : rng.below(10) == 0 ? kTerms : 1 + unsigned(rng.below(2 * kMacs + 2));
      const bool ends = rng.below(3) == 0;  // greatest operands throughout
      Sum sum{primes[rng.below(primes.size())], no_results ? 0 : 1 + unsigned(rng.below(kMacs)), too_long, {}};
      sum.r.assign(kMacs, Words(kH * kE, 0));
      for (unsigned i = 0; i < terms; i++) {
        Row row{Words(), i + 1 == terms, sum.results, unsigned(s)};
        if (i + 1 != terms) row.results = unsigned(rng.below(kMacs + 1));
        Words key;
        for (unsigned e = 0; e < kE; e++) row.x.push_back(ends ? kWord : rng.next() & kWord);
        for (unsigned k = 0; k < kRowWords; k++) key.push_back(ends ? sum.q - 1 : residue(rng, sum.q));
        for (unsigned m = 0; m < kMacs; m++) {
          for (unsigned k = 0; k < kH * kE; k++) {
            u64& r = sum.r[m][k];
            r = u64((u128(row.x[k % kE]) * key[m * kH * kE + k] + r) % sum.q);
          }
        }
        rows.push_back(row), keys.push_back(key);
      }
      for (Words& r : sum.r) {
        for (u64& x : r) x = lowered(x, sum.q);
      }
      sums.push_back(sum);
    }

    // ------------------------------------------------- driver of blocks and memory
    std::deque<std::pair<u64, u64>> blocks;  // address, rows
    for (u64 at = 0; at < keys.size();) {
      const u64 rows_here = 1 + rng.below(std::min<u64>(keys.size() - at, 9));
      if (wrong && rng.below(6) == 0) blocks.push_back({at, 0});
      blocks.push_back({at, rows_here});
      at += rows_here;
    }
    std::deque<Coming> coming;
    std::deque<Result> expected;
    u64 asked = 0, came = 0, taken = 0, held = 0, promised = 0, next_data = 0, since = dut.cycles();
    unsigned said = 0, terms_now = 0;
    const u64 stop = cut ? rows.size() / 2 : 0;
    while (rows.size() > stop || (!cut && (!expected.empty() || held > 0))) {
      const u64 now = dut.cycles();
      // A row of keys that nobody asked for must be dropped: its words are wrong.
      const bool stray = wrong && coming.empty() && asked == came && rng.below(40) == 0;
      const bool data = !coming.empty() && coming.front().at <= now && now >= next_data;
      dut->key_valid_i = data || stray;
      if (data) put(dut->key_i, coming.front().keys);
      dut->block_valid_i = !blocks.empty() && rng.chance(200);
      if (!blocks.empty()) dut->block_address_i = blocks.front().first, dut->block_rows_i = blocks.front().second;
      dut->fetch_ready_i = rng.chance(latency == 0 ? 128 : 256);
      dut->valid_i = rows.size() > stop && rng.chance(pace.offer);
      dut->give_i = held > 0 && (rows.empty() || rng.chance(pace.give));
      Row row = rows.empty() ? Row{Words(kE, 0), false, 0, 0} : rows.front();
      const u64 q = sums[row.sum].q;
      put(dut->x_i, row.x);
      dut->last_i = row.last, dut->results_i = row.results;
      dut->q_i = row.last ? q : rng.next() & kWord;
      dut->aux_i = row.last ? aux_of(P_Kind, P_W, q) : rng.next() & kWord;
      dut->word_i = row.last ? power_of_two(P_W, q) : rng.next() & kWord;
      dut.settle();

      if (dut->wrong_o != said) fail("cycle %" PRIu64 ": wrong_o %x instead of %x", now, dut->wrong_o, said);
      const bool due = !expected.empty() && expected.front().due == now;
      if (bool(dut->valid_o) != due) fail("cycle %" PRIu64 ": valid_o %d", now, int(dut->valid_o));
      if (due) {
        const Result& want = expected.front();
        if (dut->index_o != want.index || bool(dut->bad_o) != want.bad) fail("cycle %" PRIu64 ": result %d, bad %d", now, int(dut->index_o), int(dut->bad_o));
        for (unsigned k = 0; k < kH * kE && !want.bad; k++, checked++) {
          if (word(dut->r_o, k) != want.r[k]) fail("cycle %" PRIu64 ", result %u, word %u: %" PRIx64 " instead of %" PRIx64, now, want.index, k, word(dut->r_o, k), want.r[k]);
        }
        expected.pop_front(), held++, promised--;
      }
      if (bool(dut->waits_key_o) && dut->ready_o) fail("waits for keys and takes a row");
      key_waits += dut->waits_key_o;
      // Rows of keys that stand inside, less those of the cycle before, can be taken: the one reason left is the rule of results.
      const bool take = dut->valid_i && dut->ready_o;
      if (dut->valid_i && !dut->ready_o && !dut->waits_key_o) {
        room_waits++;
        const bool busy = !expected.empty() && expected.back().due >= now + kLatency;
        if (!row.last || (!busy && promised + held + row.results <= P_Rows)) fail("cycle %" PRIu64 ": a row waits for no reason", now);
      }
      if (dut->block_valid_i && dut->block_ready_o) {
        if (blocks.front().second == 0) said |= 16;
        blocks.pop_front();
      }
      if (dut->fetch_valid_o && dut->fetch_ready_i) {
        if (dut->fetch_address_o != asked) fail("row %d of keys is asked for instead of %" PRIu64, int(dut->fetch_address_o), asked);
        coming.push_back({now + (latency == 0 ? 1 + rng.below(60) : latency), keys[asked]});
        asked++;
      }
      if (asked - taken > kDepth + 1) fail("%" PRIu64 " rows of keys are inside or on their way", asked - taken);
      most = std::max(most, asked - taken);
      if (stray) said |= 8;
      if (data) coming.pop_front(), came++, next_data = now + slow;
      if (take) {
        rows.pop_front(), taken++, since = now;
        terms_now++;
        if (terms_now > kTerms) said |= 1;
        if (row.last) {
          const Sum& sum = sums[row.sum];
          if (sum.results == 0) said |= 2;
          for (unsigned m = 0; m < sum.results; m++) expected.push_back({now + kLatency + m, m, sum.bad, sum.r[m]});
          promised += sum.results;
          if (promised + held > P_Rows) fail("cycle %" PRIu64 ": results are promised that the consumer has no space for", now);
          terms_now = 0;
        }
      }
      if (dut->give_i) held--;
      dut.tick();
      if (now - since > 2000) fail("nothing was taken for 2,000 cycles: %zu rows left", rows.size());
    }
    if (cut) continue;
    if (wrong) {  // a row that was never there is given back
      dut->give_i = 1, dut->valid_i = 0, dut->key_valid_i = 0;
      dut.tick();
      dut->give_i = 0;
      dut.settle();
      if (dut->wrong_o != (said | 4)) fail("wrong_o %x after a row too many", dut->wrong_o);
    }
    if (taken != came) fail("%" PRIu64 " rows of keys came, %" PRIu64 " were taken", came, taken);
  }
  if (key_waits == 0 || room_waits == 0 || most < kDepth) fail("keys were never late, or the consumer never slow");
  return pass(checked, seed, dut.cycles(), "rm_hpip");
}
