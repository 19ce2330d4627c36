// rm_streaming_ntt against the textbook's transform, and against the closed forms of its contract: every row in its place and
// its cycle, at every size of the build.
//   +n=POLYNOMIALS a size and pattern   +resets=N   +logn=FIRST +to=LAST sizes   +seed=S
// Oracle: rtl/ntt/test/oracle.h. Patterns: no gaps; gaps of 0 to 3; long ones; now and then; of a polynomial. Rows that belong to no
// polynomial are noise. Moduli change with every polynomial.
#include <deque>
#include <type_traits>

#include "stream.h"
#include "table.h"

namespace {

struct Expected {
  Words words;
  u64 cycle;  // of row 0
  unsigned mod;
};

class Bench {
 public:
  Bench(int argc, char** argv, u64 seed) : dut_(argc, argv), rng_(seed), seed_(seed) {}

  void reset() {
    dut_->rst_ni = 0;
    dut_->start_valid_i = dut_->prepare_valid_i = dut_->cfg_we_i = 0;
    for (int i = 0; i < 3; i++) dut_.tick();
    dut_->rst_ni = 1;
    expected_.clear();
    feeding_.clear();
    dut_.tick();
  }

  // Moduli of a size, with their seeds.
  void set_size(unsigned log_n) {
    log_n_ = log_n;
    dut_->log_n_i = log_n;
    moduli_.clear();
    for (u64 q : find_primes(P_Mods, log_n, rng_)) moduli_.emplace_back(q, log_n, rng_);
    for (unsigned m = 0; m < P_Mods; m++) {
      const Modulus& modulus = moduli_[m];
      write_field(dut_, m, 0, modulus.q);
      write_field(dut_, m, 1, modulus.aux);
      for (unsigned b = 0; b < log_n; b++) write_field(dut_, m, 2 + b, kInverse ? inverse_root(modulus, b) : modulus.roots[b]);
      prepare_seeds(dut_, m);
    }
  }

  // `polynomials` of them, with gaps of `least` to `least + gap` cycles, `still` of 256 with the least; then until the last has left.
  void stream(u64 polynomials, u64 gap, unsigned still, bool drain, u64 least = 0) {
    u64 started = 0, wait = 0, last_start = 0;
    const u64 rows = u64(1) << (log_n_ - kLogP);
    while (started < polynomials || (drain && (!expected_.empty() || !feeding_.empty()))) {
      const bool offer = started < polynomials && wait == 0;
      dut_->start_valid_i = offer;
      const unsigned m = unsigned(rng_.below(P_Mods));
      dut_->start_mod_i = m;
      dut_.settle();
      const bool due = !any_ || dut_.cycles() - start_cycle_ >= rows;
      if (bool(dut_->start_ready_o) != due) fail("start_ready %d, the last start was %" PRIu64 " cycles ago", int(dut_->start_ready_o), dut_.cycles() - start_cycle_);
      if (offer && dut_->start_ready_o) {
        begin(m, started);
        started++;
        last_start = start_cycle_ = dut_.cycles();
        any_ = true;
        wait = rows - 1 + least + (rng_.chance(still) ? 0 : rng_.below(gap + 1));
      } else if (wait > 0) {
        wait--;
      }
      cycle();
      if (dut_.cycles() - last_start > 100 * rows + 100000) fail("hangs with %zu polynomials inside", expected_.size());
    }
    dut_->start_valid_i = 0;
    if (drain) {
      for (u64 i = 0; i < rows + 5; i++) cycle();
      if (dut_->busy_o) fail("busy with nothing inside");
    }
  }

  void sizes_refused() {
    for (unsigned log_n : {P_LogNMin - 1, P_LogNMax + 1, 31}) {
      dut_->log_n_i = log_n;
      dut_->start_valid_i = 1;
      dut_.settle();
      if (!dut_->bad_size_o || dut_->start_ready_o) fail("2^%u starts", log_n);
      dut_.tick();
    }
    dut_->start_valid_i = 0;
    dut_->log_n_i = log_n_;
  }
  void forget_start() { any_ = false; }
  Rng& rng() { return rng_; }
  int end() {
    if (!expected_.empty()) fail("%zu polynomials never came", expected_.size());
    return pass(checked_, seed_, dut_.cycles(), "rm_streaming_ntt");
  }

 private:
  void begin(unsigned m, u64 index) {
    const u64 n = u64(1) << log_n_, q = moduli_[m].q;
    Words a(n);
    for (u64& x : a) x = index % 7 == 3 ? 0 : index % 7 == 5 ? q - 1 : rng_.below(q);
    const Words b = kInverse ? inverse(a, moduli_[m].psi, log_n_, q) : forward(a, moduli_[m].psi, log_n_, q);
    if (!kInverse && b[n / 3] != definition(a, moduli_[m].psi, log_n_, q, n / 3)) fail("the oracle disagrees with the definition");
    feeding_.push_back({a, dut_.cycles() + kLead, m});
    expected_.push_back({b, dut_.cycles() + kLead + stream_latency(log_n_), m});
  }

  // Row in, row out, one cycle.
  void cycle() {
    const u64 rows = u64(1) << (log_n_ - kLogP), now = dut_.cycles();
    Fields<std::decay_t<decltype(dut_->row_i)>>::clear(dut_->row_i);
    const bool fed = !feeding_.empty() && now >= feeding_.front().cycle;
    for (unsigned l = 0; l < kP; l++) {
      u64 word = rng_.next() & ((u64(1) << P_W) - 1);
      if (fed) {
        const u64 t = now - feeding_.front().cycle;
        word = feeding_.front().words[kInverse ? value_place(log_n_, l, t) : coefficient_place(log_n_, l, t)];
      }
      Fields<std::decay_t<decltype(dut_->row_i)>>::set(dut_->row_i, l * P_W, P_W, word);
    }
    if (fed && now - feeding_.front().cycle == rows - 1) feeding_.pop_front();
    dut_.settle();
    check(rows, now);
    dut_.tick();
  }

  void check(u64 rows, u64 now) {
    if (dut_->fault_o) fail("a twiddle factor was late at cycle %" PRIu64, now);
    const bool some = !expected_.empty() && now >= expected_.front().cycle;
    if (bool(dut_->valid_o) != some) fail("cycle %" PRIu64 ": valid is %d", now, int(dut_->valid_o));
    constexpr u64 ahead = kFeedback && kInverse ? 0 : kLead;
    bool soon = false;
    for (const Expected& e : expected_) soon |= now + ahead == e.cycle;
    if (bool(dut_->ahead_o) != soon) fail("cycle %" PRIu64 ": ahead is %d", now, int(dut_->ahead_o));
    if (!some) return;
    const Expected& e = expected_.front();
    const u64 t = now - e.cycle;
    if (bool(dut_->first_o) != (t == 0)) fail("row %" PRIu64 ": first is %d", t, int(dut_->first_o));
    if (t == 0 && dut_->mod_o != e.mod) fail("modulus %d instead of %u", int(dut_->mod_o), e.mod);
    if (!dut_->busy_o) fail("not busy in row %" PRIu64, t);
    for (unsigned l = 0; l < kP; l++) {
      const u64 got = Fields<std::decay_t<decltype(dut_->row_o)>>::get(dut_->row_o, l * P_W, P_W);
      const u64 place = kInverse ? coefficient_place(log_n_, l, t) : value_place(log_n_, l, t);
      if (got != e.words[place]) {
        fail("N = 2^%u, polynomial %" PRIu64 ", row %" PRIu64 ", lane %u: %" PRIx64 " instead of %" PRIx64, log_n_,
             checked_, t, l, got, e.words[place]);
      }
    }
    if (t == rows - 1) {
      expected_.pop_front();
      checked_++;
    }
  }

  Dut dut_;
  Rng rng_;
  u64 seed_, checked_ = 0, start_cycle_ = 0;
  bool any_ = false;
  unsigned log_n_ = P_LogNMax;
  std::vector<Modulus> moduli_;
  std::deque<Expected> feeding_, expected_;
};

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 seed = args.number("seed", 1), n = args.number("n", 10);
  Bench bench(argc, argv, seed);
  bench.reset();
  const unsigned first = unsigned(args.number("logn", P_LogNMin)), last = unsigned(args.number("to", P_LogNMax));
  for (unsigned log_n = last + 1; log_n > first; log_n--) {
    bench.set_size(log_n - 1);
    const u64 rows = u64(1) << (log_n - 1 - kLogP);
    bench.stream(n, 0, 256, true);
    bench.stream(n, 3, 64, true);
    bench.stream((n + 1) / 2, 2 * rows, 16, true);
    bench.stream(n, rows / 2 + 20, 128, true);
    // The next one begins while the last stages end, and all others have nothing left.
    bench.stream(n, 20 * log_n, 64, true, rows);
    for (u64 i = 0; i < args.number("resets", 0); i++) {
      bench.stream(1 + bench.rng().below(4), rows, 128, false);
      bench.reset();
      bench.forget_start();
      bench.stream(2, 0, 256, true);
    }
  }
  bench.sizes_refused();
  return bench.end();
}
