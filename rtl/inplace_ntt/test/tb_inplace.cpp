// rm_inplace_ntt against the textbook's transforms, and against the cycles of inplace.h: every row asked for, and every row of a
// result, in its cycle, at every size of the build, directions and moduli mixed.
//   +n=TRANSFORMS a size and pattern   +resets=N   +logn=FIRST +to=LAST sizes   +seed=S
// Patterns: no gaps, any direction; one direction after the other; gaps. Rows that nobody asked for are noise.
#include <algorithm>
#include <deque>
#include <type_traits>

#include "inplace.h"
#include "../../streaming_ntt/test/table.h"

namespace {

struct Job {
  Words in, out;
  unsigned mod;
  bool inverse;
  u64 ask, give;  // cycles of the first rows
};

class Bench {
 public:
  Bench(int argc, char** argv, u64 seed) : dut_(argc, argv), rng_(seed), seed_(seed) {}

  void reset() {
    dut_->rst_ni = 0;
    dut_->start_valid_i = dut_->prepare_valid_i = dut_->cfg_we_i = 0;
    for (int i = 0; i < 3; i++) dut_.tick();
    dut_->rst_ni = 1;
    asked_.clear();
    jobs_.clear();
    last_inverse_ = false;
    last_row_ = 0;
    any_ = false;
    dut_.tick();
  }

  void set_size(unsigned log_n) {
    log_n_ = log_n;
    dut_->log_n_i = log_n;
    moduli_.clear();
    for (u64 q : find_primes(P_Mods, log_n, rng_)) moduli_.emplace_back(q, log_n, rng_);
    for (unsigned m = 0; m < P_Mods; m++) {
      const Modulus& modulus = moduli_[m];
      for (unsigned inverse = 0; inverse < 2; inverse++) {
        const unsigned number = 2 * m + inverse;
        write_field(dut_, number, 0, modulus.q);
        write_field(dut_, number, 1, modulus.aux);
        for (unsigned b = 0; b < log_n; b++) {
          write_field(dut_, number, 2 + b, inverse ? inverse_root(modulus, b) : modulus.roots[b]);
        }
        write_field(dut_, number, 31, factor_of(modulus.q));
        prepare_seeds(dut_, number);
      }
    }
  }

  // `count` transforms; of 256, how many turn to the other direction, and the longest gap.
  void stream(u64 count, unsigned turns, u64 gap, bool drain) {
    u64 started = 0, pause = 0, since = 0;
    while (started < count || (drain && !jobs_.empty())) {
      if (!offered_) {
        offered_ = true;
        inverse_ = last_inverse_ != rng_.chance(turns);
        mod_ = unsigned(rng_.below(P_Mods));
      }
      dut_->start_valid_i = started < count && pause == 0;
      dut_->start_mod_i = 2 * mod_ + inverse_;
      dut_.settle();
      const u64 now = dut_.cycles();
      // In the last row of the one before, or, for the other direction, when the twiddle factors stay apart.
      const bool due = !any_ || now >= last_row_ + (inverse_ == last_inverse_ ? 0 : 3 * kColumn);
      const bool turned = !any_ && inverse_ != last_inverse_;  // after reset as after a forward one, long ago
      if (bool(dut_->start_ready_o) != (due || turned)) {
        fail("cycle %" PRIu64 ": start_ready is %d, the last row is of cycle %" PRIu64, now, int(dut_->start_ready_o), last_row_);
      }
      if (dut_->start_valid_i && dut_->start_ready_o) {
        begin(started++);
        offered_ = false;
        pause = gap ? rng_.below(gap + 1) + (rng_.chance(128) ? interval(log_n_, inverse_) : 0) : 0;
        since = now;
      } else if (pause > 0) {
        pause--;
      }
      cycle();
      if (now - since > 20 * interval(log_n_, false) + gap + 100000) fail("hangs with %zu transforms inside", jobs_.size());
    }
    dut_->start_valid_i = 0;
    if (drain) {
      for (u64 i = 0; i < 5; i++) cycle();
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
  }
  Rng& rng() { return rng_; }
  int end() {
    if (!jobs_.empty()) fail("%zu transforms never came", jobs_.size());
    return pass(checked_, seed_, dut_.cycles(), "rm_inplace_ntt");
  }

 private:
  void begin(u64 index) {
    const Modulus& m = moduli_[mod_];
    Job job;
    job.in.resize(u64(1) << log_n_);
    for (u64& x : job.in) x = index % 7 == 3 ? m.q - 1 : index % 7 == 5 ? 0 : rng_.below(m.q);
    job.out = inverse_ ? inverse(job.in, m.psi, log_n_, m.q) : forward(job.in, m.psi, log_n_, m.q);
    const u64 k = rng_.below(job.in.size());
    const Words& values = inverse_ ? job.in : job.out;
    if (values[k] != definition(inverse_ ? job.out : job.in, m.psi, log_n_, m.q, k)) fail("the oracle disagrees with the definition");
    job.mod = 2 * mod_ + inverse_;
    job.inverse = inverse_;
    job.ask = dut_.cycles() + 1 + kLead;
    job.give = job.ask + to_last_pass(log_n_, inverse_) + kRowLatency;
    jobs_.push_back(job);
    asked_.push_back(job);
    last_inverse_ = inverse_;
    last_row_ = dut_.cycles() + interval(log_n_, inverse_);
    any_ = true;
  }

  void cycle() {
    dut_.settle();
    const u64 now = dut_.cycles(), rows = rows_of(log_n_);
    const bool ask = !asked_.empty() && now >= asked_.front().ask;
    if (bool(dut_->read_o) != ask) fail("cycle %" PRIu64 ": a row is asked for: %d", now, int(dut_->read_o));
    // The row of two cycles ago.
    put(late_[1]);
    late_[1] = late_[0];
    late_[0].clear();
    if (ask) {
      const Job& job = asked_.front();
      const u64 r = now - job.ask;
      if (dut_->read_row_o != r || dut_->read_mod_o != job.mod) fail("row %" PRIu64 " is asked for as another", r);
      for (unsigned l = 0; l < kLanes; l++) {
        late_[0].push_back(job.in[job.inverse ? value_place(log_n_, l, r) : coefficient_place(log_n_, l, r)]);
      }
      if (r == rows - 1) asked_.pop_front();
    }
    dut_.settle();
    check(now, rows);
    dut_.tick();
  }

  void put(const Words& row) {
    using Port = std::decay_t<decltype(dut_->row_i)>;
    Fields<Port>::clear(dut_->row_i);
    for (unsigned l = 0; l < kLanes; l++) {
      const u64 noise = rng_.next() & ((u64(1) << P_W) - 1);
      Fields<Port>::set(dut_->row_i, l * P_W, P_W, row.empty() ? noise : row[l]);
    }
  }

  void check(u64 now, u64 rows) {
    const bool some = !jobs_.empty() && now >= jobs_.front().give;
    if (bool(dut_->valid_o) != some) fail("cycle %" PRIu64 ": valid is %d", now, int(dut_->valid_o));
    if (!some) return;
    const Job& job = jobs_.front();
    const u64 r = now - job.give;
    if (dut_->row_number_o != r || dut_->mod_o != job.mod) fail("row %" PRIu64 " says it is another", r);
    if (!dut_->busy_o) fail("not busy in row %" PRIu64, r);
    for (unsigned l = 0; l < kLanes; l++) {
      const u64 got = Fields<std::decay_t<decltype(dut_->row_o)>>::get(dut_->row_o, l * P_W, P_W);
      const u64 want = job.out[job.inverse ? coefficient_place(log_n_, l, r) : value_place(log_n_, l, r)];
      if (got != want) {
        fail("N = 2^%u, %s, transform %" PRIu64 ", row %" PRIu64 ", lane %u: %" PRIx64 " instead of %" PRIx64, log_n_,
             job.inverse ? "inverse" : "forward", checked_, r, l, got, want);
      }
    }
    if (r == rows - 1) {
      jobs_.pop_front();
      checked_++;
    }
  }

  Dut dut_;
  Rng rng_;
  u64 seed_, checked_ = 0, last_row_ = 0;
  bool any_ = false, last_inverse_ = false, inverse_ = false, offered_ = false;
  unsigned log_n_ = P_LogNMax, mod_ = 0;
  std::vector<Modulus> moduli_;
  std::deque<Job> asked_, jobs_;
  Words late_[2];
};

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 seed = args.number("seed", 1), n = args.number("n", 4);
  Bench bench(argc, argv, seed);
  bench.reset();
  const unsigned first = unsigned(args.number("logn", P_LogNMin)), last = unsigned(args.number("to", P_LogNMax));
  for (unsigned log_n = last + 1; log_n-- > first;) {
    bench.set_size(log_n);
    bench.stream(n, 0, 0, true);
    bench.stream(n, 256, 0, true);
    bench.stream(n, 64, 0, true);
    bench.stream(n, 128, 300, true);
    for (u64 i = 0; i < args.number("resets", 0); i++) {
      bench.stream(1 + bench.rng().below(2), 128, 50, false);
      bench.reset();
      bench.stream(2, 128, 0, true);
    }
  }
  bench.sizes_refused();
  return bench.end();
}
