// rm_secret_draw: every coefficient as the engine draws it from the same words, ties of every table entry included. The control is the
// same, cycle by cycle, for other words that are refused alike. Chi-square and correlations against the exact distributions.
//   +n=OBJECTS   +seed=S
#include <algorithm>

#include "draws.h"
#include "statistics.h"

namespace {

struct Object {
  unsigned log_n;
  bool ternary;
  unsigned gaussians;
  std::vector<std::uint32_t> words;
  Small v, e[2];
};

class Bench {
 public:
  Bench(int argc, char** argv, u64 seed) : dut(argc, argv), rng(seed) {
    dut->rst_ni = 0;
    dut->clear_i = dut->start_i = dut->block_valid_i = 0;
    for (int i = 0; i < 3; i++) dut.tick();
    dut->rst_ni = 1;
  }

  // An object and what the engine makes of the words; with ties, some Gaussian words are table entries.
  Object draw(bool with_ties, std::vector<bool>* accepted = nullptr) {
    Object o{unsigned(5 + rng.below(P_LogNMax - 4)), rng.chance(160), unsigned(rng.below(3)), {}, {}, {}};
    if (!o.ternary && !o.gaussians) o.gaussians = 1;
    o.words.resize((std::size_t(1) << o.log_n) / 8 + 4096 + 3 * (std::size_t(2) << o.log_n));
    for (auto& word : o.words) word = std::uint32_t(rng.next());
    fill(o, with_ties, accepted);
    return o;
  }

  void fill(Object& o, bool with_ties, std::vector<bool>* accepted = nullptr) {
    Draws draws([&](u64 i) { return o.words.at(i); });
    std::size_t entry = 0;
    unsigned groups = 0;
    u64 last = ~u64(0), block = ~u64(0);
    const auto put = [&](u64 i, u64 word) { o.words.at(i) = std::uint32_t(word), o.words.at(i + 1) = std::uint32_t(word >> 32); };
    draws.plan = [&](u64 i, u64 sample) {
      if (!with_ties || !rng.chance(3)) return;
      const u64 group = sample / 8;
      if (group / 64 != block) block = group / 64, groups = 0;
      if (group != last && groups == 4) return;
      groups += group != last, last = group;
      entry = rng.below(draws.table().size());
      put(i, u64(draws.table()[entry] >> 64) | rng.next() << 63);
    };
    draws.plan_lower = [&](u64 i) {
      const u64 bound = u64(draws.table()[rng.below(2) ? entry : rng.below(42)]);
      put(i, rng.chance(64) ? rng.next() : bound - 1 + rng.below(3));
    };
    if (o.ternary) o.v = draws.ternary(std::size_t(1) << o.log_n);
    for (unsigned i = 0; i < o.gaussians; i++) {
      last = block = ~u64(0);
      o.e[i] = draws.gaussian(std::size_t(1) << o.log_n);
    }
    ties += draws.ties;
    if (accepted) *accepted = draws.accepted;
  }

  // Drives the object, with blocks that come as often as the generator says; returns a digest of the control in every cycle.
  u64 run(const Object& o, unsigned eager, u64 pattern, bool check, bool expect_fault = false) {
    Rng when(pattern);
    const std::size_t n = std::size_t(1) << o.log_n;
    std::vector<unsigned> bytes(n / 5 + 8, 255);
    Small e[2] = {Small(n, 99), Small(n, 99)};
    u64 digest = 0, block = 0;
    dut->log_n_i = o.log_n, dut->ternary_i = o.ternary, dut->gaussians_i = o.gaussians;
    dut->start_i = 1;
    dut->block_valid_i = 0;
    dut.tick();
    dut->start_i = 0;
    dut->gaussians_i = dut->ternary_i = 0;  // they were taken
    for (u64 cycle = 0; dut.settle(), dut->busy_o; cycle++) {
      if (cycle > 40 * n + 60000) fail("hangs");
      dut->block_valid_i = when.chance(eager);
      for (int i = 0; i < 16; i++) dut->block_i[i] = dut->block_valid_i ? o.words.at(16 * block + i) : std::uint32_t(when.next());
      dut.settle();
      if (dut->block_valid_i && dut->block_ready_o) block++;
      for (u64 x : {u64(dut->block_ready_o), u64(dut->trit_we_o), u64(dut->trit_we_o ? dut->trit_addr_o : 0), u64(dut->gauss_we_o),
                    u64(dut->gauss_we_o ? dut->gauss_addr_o : 0), u64(dut->gauss_poly_o), u64(dut->fault_o)}) {
        digest = (digest ^ x) * 0x100000001b3u + 1;
      }
      if (dut->trit_we_o) {
        for (unsigned b = 0; b < 4; b++) {
          if (4 * dut->trit_addr_o + b < bytes.size()) bytes[4 * dut->trit_addr_o + b] = dut->trit_data_o >> (8 * b) & 255;
        }
      }
      for (unsigned l = 0; l < 8; l++) {
        if (dut->gauss_we_o >> l & 1) {
          const int x = int(dut->gauss_data_o >> (7 * l) & 127);
          e[dut->gauss_poly_o].at(8 * dut->gauss_addr_o + l) = x >= 64 ? x - 128 : x;
        }
      }
      dut.tick();
    }
    if (bool(dut->fault_o) != expect_fault) fail("fault is %d", int(dut->fault_o));
    dut->clear_i = 1;
    dut.tick();
    dut->clear_i = 0;
    if (!check) return digest;
    for (std::size_t i = 0; i < o.v.size(); i++, checked++) {
      unsigned digit = bytes[i / 5];
      if (digit >= 243) fail("N = 2^%u: a byte of %u", o.log_n, digit);
      for (std::size_t j = 0; j < i % 5; j++) digit /= 3;
      if (int(digit % 3) - 1 != o.v[i]) fail("N = 2^%u: ternary coefficient %zu", o.log_n, i);
    }
    for (unsigned p = 0; p < o.gaussians; p++) {
      for (std::size_t i = 0; i < n; i++, checked++) {
        if (e[p][i] != o.e[p][i]) fail("N = 2^%u: sample %zu of polynomial %u is %d, not %d", o.log_n, i, p, e[p][i], o.e[p][i]);
      }
    }
    return digest;
  }

  Dut dut;
  Rng rng;
  u64 checked = 0, ties = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 seed = args.number("seed", 1), n = args.number("n", 100);
  Bench bench(argc, argv, seed);
  const auto table = gaussian_table();
  std::vector<double> gaussian(2 * kBound + 1);
  for (int x = 0; x <= kBound; x++) {
    const u128 upto = x == kBound ? u128(1) << 127 : table[x], below = x ? table[x - 1] : 0;
    const double p = double(upto - below) / std::ldexp(1.0, 127);
    gaussian[kBound + x] = gaussian[kBound - x] = x ? p / 2 : p;
  }
  Histogram of_gaussian(gaussian), of_ternary({1.0 / 3, 1.0 / 3, 1.0 / 3});
  for (u64 i = 0; i < n; i++) {
    const bool with_ties = i % 3 == 2;
    std::vector<bool> accepted;
    Object o = bench.draw(with_ties, &accepted);
    const unsigned eager = i % 2 ? 256 : unsigned(bench.rng.below(200)) + 56;
    const u64 pattern = bench.rng.next(), digest = bench.run(o, eager, pattern, true);
    if (with_ties) continue;
    of_ternary.add(o.v), of_gaussian.add(o.e[0]), of_gaussian.add(o.e[1]);
    if (i % 4) continue;
    // Other words, refused in the same places.
    Object other = o;
    for (auto& word : other.words) word = std::uint32_t(bench.rng.next());
    std::size_t from = 0, byte = 0, left = ((std::size_t(1) << o.log_n) + 4) / 5;
    while (o.ternary && left) {
      const std::size_t bytes = std::min<std::size_t>(4096, left);
      for (std::size_t b = 0; b < bytes; b++, byte++) {
        std::uint32_t& word = other.words[from + b / 4];
        const unsigned value = unsigned(accepted[byte] ? bench.rng.below(243) : 243 + bench.rng.below(13));
        word = (word & ~(0xffu << (8 * (b % 4)))) | value << (8 * (b % 4));
        left -= accepted[byte];
      }
      from += (bytes + 3) / 4;
    }
    bench.fill(other, false);
    if (bench.run(other, eager, pattern, true) != digest) fail("the control follows what is drawn");
  }
  of_gaussian.check("Gaussian samples");
  of_ternary.check("ternary coefficients");
  if (bench.ties < n / 10) fail("only %" PRIu64 " ties", bench.ties);
  // More ties than there is space for: a fault, until the next object.
  Object o = bench.draw(false);
  o.log_n = P_LogNMax, o.ternary = false, o.gaussians = 1;
  for (int group = 0; group < 9; group++) {
    o.words.at(16 * group) = std::uint32_t(table[3] >> 64), o.words.at(16 * group + 1) = std::uint32_t(table[3] >> 96);
  }
  bench.run(o, 256, 1, false, true);
  bench.run(bench.draw(true), 256, 2, true);
  std::printf("%" PRIu64 " Gaussian samples, %" PRIu64 " ternary, %" PRIu64 " ties\n", of_gaussian.count(), of_ternary.count(), bench.ties);
  return pass(bench.checked, seed, bench.dut.cycles(), "rm_secret_draw");
}
