// rm_seal_draw: every coefficient as SEAL draws it from the same bytes, words that are refused and bounds of the ternary digits included.
// The control is the same, cycle by cycle, for other bytes that are refused alike. Chi-square against the exact distributions.
//   +n=OBJECTS   +seed=S
#include <cmath>

#include "seal_draws.h"
#include "statistics.h"

namespace {

struct Object {
  unsigned log_n;
  std::vector<std::uint32_t> words;
  std::vector<int> u, e[2];
  std::vector<u64> kept;
};

class Bench {
 public:
  Bench(int argc, char** argv, u64 seed) : dut(argc, argv), rng(seed) {
    dut->rst_ni = 0;
    dut->clear_i = dut->start_i = dut->block_valid_i = 0;
    for (int i = 0; i < 3; i++) dut.tick();
    dut->rst_ni = 1;
  }

  void fill(Object& o) {
    SealDraws draws{[&](u64 i) { return o.words.at(i / 4) >> (8 * (i % 4)) & 255; }, 0, {}};
    const std::size_t n = std::size_t(1) << o.log_n;
    o.u = draws.ternary(n), o.kept = draws.kept;
    for (auto& e : o.e) e = draws.binomial(n);
  }

  // With edges, some of the words for u are refused, and some stand at the bounds between two digits.
  Object draw(bool edges) {
    static const std::uint32_t bounds[] = {0, 0, 1, 0x55555555, 0x55555556, 0xaaaaaaaa, 0xaaaaaaab, 0xffffffff};
    Object o{unsigned(5 + rng.below(P_LogNMax - 4)), {}, {}, {}, {}};
    const std::size_t n = std::size_t(1) << o.log_n;
    o.words.resize(7 * n + 64);
    for (auto& word : o.words) word = std::uint32_t(rng.next());
    const unsigned often = unsigned(rng.below(100));
    for (std::size_t i = 0; edges && i < 2 * n; i++) {
      if (rng.chance(often)) o.words[i] = bounds[rng.below(8)];
    }
    fill(o);
    return o;
  }

  u64 run(const Object& o, unsigned eager, u64 pattern) {
    Rng when(pattern);
    const std::size_t n = std::size_t(1) << o.log_n;
    std::vector<unsigned> bytes(n / 5 + 8, 255);
    std::vector<int> e[2] = {std::vector<int>(n, 99), std::vector<int>(n, 99)};
    u64 digest = 0, block = 0;
    dut->log_n_i = o.log_n;
    dut->start_i = 1, dut->block_valid_i = 0;
    dut.tick();
    dut->start_i = 0;
    for (u64 cycle = 0; dut.settle(), dut->busy_o; cycle++) {
      if (cycle > 40 * n + 60000) fail("hangs");
      dut->block_valid_i = when.chance(eager);
      for (int i = 0; i < 16; i++) dut->block_i[i] = dut->block_valid_i ? o.words.at(16 * block + i) : std::uint32_t(when.next());
      dut.settle();
      if (dut->block_valid_i && dut->block_ready_o) block++;
      for (u64 x : {u64(dut->block_ready_o), u64(dut->trit_we_o), u64(dut->trit_we_o ? dut->trit_addr_o : 0), u64(dut->gauss_we_o),
                    u64(dut->gauss_we_o ? dut->gauss_addr_o : 0), u64(dut->gauss_we_o ? dut->gauss_poly_o : 0)}) {
        digest = (digest ^ x) * 0x100000001b3u + 1;
      }
      for (unsigned b = 0; dut->trit_we_o && b < 4; b++) {
        if (4 * dut->trit_addr_o + b < bytes.size()) bytes[4 * dut->trit_addr_o + b] = dut->trit_data_o >> (8 * b) & 255;
      }
      for (unsigned l = 0; l < 8; l++) {
        if (dut->gauss_we_o >> l & 1) {
          const int x = int(dut->gauss_data_o >> (7 * l) & 127);
          e[dut->gauss_poly_o].at(8 * dut->gauss_addr_o + l) = x >= 64 ? x - 128 : x;
        }
      }
      dut.tick();
    }
    // All words five at a time, eight samples a cycle, and what it takes to begin and to end.
    if (eager == 256 && o.kept.back() == 4 * (n - 1)) {
      const u64 took = dut.cycles() - begun_, least = n / 5 + n % 5 + n / 4;
      if (begun_ && (took < least || took > least + 16)) fail("N = 2^%u took %" PRIu64 " cycles", o.log_n, took);
    }
    dut->clear_i = 1;
    dut.tick();
    dut->clear_i = 0;
    for (std::size_t i = 0; i < n; i++, checked++) {
      unsigned digit = bytes[i / 5];
      if (digit >= 243) fail("N = 2^%u: a byte of %u", o.log_n, digit);
      for (std::size_t j = 0; j < i % 5; j++) digit /= 3;
      if (int(digit % 3) - 1 != o.u[i]) fail("N = 2^%u: ternary coefficient %zu", o.log_n, i);
    }
    for (unsigned p = 0; p < 2; p++) {
      for (std::size_t i = 0; i < n; i++, checked++) {
        if (e[p][i] != o.e[p][i]) fail("N = 2^%u: sample %zu of polynomial %u is %d, not %d", o.log_n, i, p, e[p][i], o.e[p][i]);
      }
    }
    begun_ = dut.cycles();
    return digest;
  }
  void mark() { begun_ = dut.cycles(); }

  Dut dut;
  Rng rng;
  u64 checked = 0;

 private:
  u64 begun_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 seed = args.number("seed", 1), n = args.number("n", 60);
  Bench bench(argc, argv, seed);
  // Of 42 coins: the chance of 21 + x heads.
  std::vector<double> binomial(43);
  for (int k = 0; k <= 42; k++) binomial[k] = std::exp(std::lgamma(43) - std::lgamma(k + 1) - std::lgamma(43 - k) - 42 * std::log(2.0));
  Histogram of_error(binomial), of_ternary({1.0 / 3, 1.0 / 3, 1.0 / 3});
  u64 refused = 0;
  for (u64 i = 0; i < n; i++) {
    const bool edges = i % 3 == 2;
    const Object o = bench.draw(edges);
    const unsigned eager = i % 2 ? 256 : unsigned(bench.rng.below(200)) + 56;
    const u64 pattern = bench.rng.next();
    bench.mark();
    const u64 digest = bench.run(o, eager, pattern);
    refused += o.kept.back() / 4 + 1 - o.kept.size();
    if (!edges) of_ternary.add(o.u), of_error.add(o.e[0]), of_error.add(o.e[1]);
    // Other words, refused in the same places.
    Object other = o;
    std::vector<bool> keep(o.words.size(), false);
    for (u64 place : o.kept) keep[place / 4] = true;
    for (std::size_t w = 0; w < other.words.size(); w++) {
      if (keep[w]) other.words[w] = std::uint32_t(1 + bench.rng.below(0xffffffffu));
      if (w > o.kept.back() / 4) other.words[w] = std::uint32_t(bench.rng.next());
    }
    bench.fill(other);
    if (bench.run(other, eager, pattern) != digest) fail("the control follows what is drawn");
  }
  of_error.check("centred binomial samples");
  of_ternary.check("ternary coefficients");
  if (refused < n) fail("only %" PRIu64 " words refused", refused);
  std::printf("%" PRIu64 " samples, %" PRIu64 " ternary, %" PRIu64 " refused\n", of_error.count(), of_ternary.count(), refused);
  return pass(bench.checked, seed, bench.dut.cycles(), "rm_seal_draw");
}
