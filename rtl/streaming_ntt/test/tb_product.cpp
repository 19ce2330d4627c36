// rm_stream_product against schoolbook multiplication modulo X^N + 1: every word and the cycle of every first row.
//   +n=PRODUCTS a size and pattern   +seed=S
#include <deque>
#include <type_traits>

#define P_Inverse 0
#include "stream.h"
#include "table.h"

namespace {

struct Pair {
  Words a, b;
  u64 cycle;
};
struct Expected {
  Words words;
  u64 cycle;
  unsigned mod;
};

Words schoolbook(const Words& a, const Words& b, u64 q) {
  const std::size_t n = a.size();
  Words c(n, 0);
  for (std::size_t i = 0; i < n; i++) {
    for (std::size_t j = 0; j < n; j++) {
      const u64 x = mul_mod(a[i], b[j], q);
      u64& to = c[(i + j) % n];
      to = i + j < n ? u64((u128(to) + x) % q) : u64((u128(to) + q - x) % q);
    }
  }
  return c;
}

u64 product_latency(unsigned log_n) {
  const u64 rows = u64(1) << (log_n - kLogP), skipped = P_LogNMax - log_n, times = log_n - kLogP;
  const u64 between = factor_bits_of(P_Kind, P_W) ? 2 * kM : kM;
  const u64 one = kFeedback ? 0 : rows - 1 + log_n * (kM + 4) + skipped;
  if (!kFeedback) return 2 * one + between;
  return 2 * (rows - 1 + kLogP * (kM + 4) + skipped) + times * (2 * kM + 5) + between;
}

template <typename Port>
void set_row(Port& port, const Pair* pair, const Words& words, unsigned log_n, u64 now, Rng& rng) {
  using Type = std::decay_t<Port>;
  Fields<Type>::clear(port);
  for (unsigned l = 0; l < kP; l++) {
    const u64 word = pair ? words[coefficient_place(log_n, l, now - pair->cycle)] : rng.next() & ((u64(1) << P_W) - 1);
    Fields<Type>::set(port, l * P_W, P_W, word);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 seed = args.number("seed", 1), n = args.number("n", 10);
  Dut dut(argc, argv);
  Rng rng(seed);
  u64 checked = 0;
  dut->rst_ni = 0;
  dut->start_valid_i = dut->prepare_valid_i = dut->cfg_we_i = 0;
  for (int i = 0; i < 3; i++) dut.tick();
  dut->rst_ni = 1;
  for (unsigned log_n = P_LogNMax; log_n >= P_LogNMin; log_n--) {
    const u64 rows = u64(1) << (log_n - kLogP);
    dut->log_n_i = log_n;
    std::vector<Modulus> moduli;
    for (u64 q : find_primes(P_Mods, log_n, rng)) moduli.emplace_back(q, log_n, rng);
    const auto write = [&](unsigned m, unsigned field, u64 value, bool inverse) {
      dut->cfg_inverse_i = inverse;
      write_field(dut, m, field, value);
    };
    for (unsigned m = 0; m < P_Mods; m++) {
      const Modulus& x = moduli[m];
      const u64 factor = factor_of(x.q);
      write(m, 0, x.q, false);
      write(m, 1, x.aux, false);
      write(m, 18, mul_mod(factor, factor, x.q), false);
      for (unsigned b = 0; b < log_n; b++) {
        write(m, 2 + b, x.roots[b], false);
        write(m, 2 + b, inverse_root(x, b), true);
      }
      prepare_seeds(dut, m);
    }
    for (u64 gap : {u64(0), u64(5), 2 * rows}) {
      std::deque<Pair> feeding;
      std::deque<Expected> expected;
      u64 started = 0, wait = 0, since = dut.cycles();
      while (started < n || !expected.empty()) {
        const u64 now = dut.cycles();
        const unsigned m = unsigned(rng.below(P_Mods));
        dut->start_valid_i = started < n && wait == 0;
        dut->start_mod_i = m;
        dut.settle();
        if (dut->start_valid_i && dut->start_ready_o) {
          Pair pair{Words(u64(1) << log_n), Words(u64(1) << log_n), now + kLead};
          for (u64& x : pair.a) x = rng.below(moduli[m].q);
          for (u64& x : pair.b) x = started % 3 ? rng.below(moduli[m].q) : moduli[m].q - 1;
          expected.push_back({schoolbook(pair.a, pair.b, moduli[m].q), now + kLead + product_latency(log_n), m});
          feeding.push_back(std::move(pair));
          started++;
          since = now;
          wait = rows - 1 + rng.below(gap + 1);
        } else if (wait > 0) {
          wait--;
        }
        const Pair* fed = !feeding.empty() && now >= feeding.front().cycle ? &feeding.front() : nullptr;
        set_row(dut->a_row_i, fed, fed ? fed->a : Words(), log_n, now, rng);
        set_row(dut->b_row_i, fed, fed ? fed->b : Words(), log_n, now, rng);
        if (fed && now - fed->cycle == rows - 1) feeding.pop_front();
        dut.settle();
        if (dut->fault_o) fail("fault at cycle %" PRIu64, now);
        const bool some = !expected.empty() && now >= expected.front().cycle;
        if (bool(dut->valid_o) != some) fail("cycle %" PRIu64 ": valid is %d", now, int(dut->valid_o));
        if (some) {
          const Expected& e = expected.front();
          const u64 t = now - e.cycle;
          if (bool(dut->first_o) != (t == 0) || (t == 0 && dut->mod_o != e.mod)) fail("first row or modulus");
          for (unsigned l = 0; l < kP; l++) {
            const u64 got = Fields<std::decay_t<decltype(dut->row_o)>>::get(dut->row_o, l * P_W, P_W);
            if (got != e.words[coefficient_place(log_n, l, t)]) fail("N = 2^%u, row %" PRIu64 ", lane %u", log_n, t, l);
          }
          if (t == rows - 1) {
            expected.pop_front();
            checked++;
          }
        }
        dut.tick();
        if (now - since > 100 * rows + 100000) fail("hangs with %zu products inside", expected.size());
      }
    }
  }
  return pass(checked, seed, dut.cycles(), "rm_stream_product");
}
