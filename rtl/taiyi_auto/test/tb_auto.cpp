// rm_auto against the definition: a polynomial whose variable is replaced by x^g, coefficient by coefficient, and evaluated.
//   +n=LIMBS a pattern   +every every odd g once   +resets=N   +seed=S
// Oracle: a(x^g) has coefficient a_i at x^(i g), with the sign of x^N = -1; values are made by Horner's rule (N up to 2^8) or by
// rtl/ntt/test/oracle.h. Nothing here knows how values move. Limbs come without gaps and with gaps; rows that nobody asked for are noise.
#include <deque>
#include <type_traits>

#include "../../ntt/test/fields.h"
#include "../../ntt/test/oracle.h"

namespace {

constexpr unsigned kLogN = P_LogN, kLogL = P_LogL, kLogR = P_LogR, kL = 1u << kLogL, kR = 1u << kLogR;
constexpr unsigned kT = kLogN - kLogL - kLogR;
constexpr u64 kN = u64(1) << kLogN, kRows = u64(1) << kT;
constexpr u64 kStartToRead = 3, kReadToRow = 3;

struct Limb {
  Words in, out;
  u64 cycle;  // of row 0 at row_o
};

class Bench {
 public:
  Bench(int argc, char** argv, u64 seed) : dut_(argc, argv), rng_(seed), seed_(seed) {
    q_ = (u64(1) << (P_W - 1)) - 1;
    q_ -= q_ % (2 * kN) - 1;
    while (!is_prime(q_)) q_ -= 2 * kN;
    psi_ = primitive_root(q_, kLogN, rng_);
  }

  void reset() {
    dut_->rst_ni = 0;
    dut_->start_valid_i = 0;
    dut_->start_log_n_i = kLogN;
    for (int i = 0; i < 3; i++) dut_.tick();
    dut_->rst_ni = 1;
    reading_.clear();
    expected_.clear();
    any_ = false;
    asked_ = false;
    dut_.tick();
  }

  // `limbs` of them, g by `pick`, with gaps of up to `gap` cycles.
  template <typename Pick>
  void stream(u64 limbs, u64 gap, bool drain, Pick pick) {
    u64 wait = 0;
    for (u64 started = 0; started < limbs || (drain && !expected_.empty());) {
      const bool offer = started < limbs && wait == 0;
      const u64 g = pick(started);
      dut_->start_valid_i = offer;
      dut_->start_galois_i = g;
      dut_.settle();
      const bool due = !any_ || dut_.cycles() - start_ >= kRows;
      if (bool(dut_->start_ready_o) != due) fail("start_ready is %d", int(dut_->start_ready_o));
      if (offer && due) {
        begin(g);
        started++;
        start_ = dut_.cycles();
        any_ = true;
        wait = gap ? rng_.below(kRows + gap) : 0;
      } else if (wait) {
        wait--;
      }
      cycle();
    }
    dut_->start_valid_i = 0;
    if (!drain) return;
    for (u64 i = 0; i < kRows; i++) cycle();
    if (dut_->busy_o) fail("busy with nothing inside");
  }

  void wrong_use() {
    dut_->start_valid_i = 1;
    for (u64 g : {u64(0), u64(2), 2 * kN - 2}) {
      dut_->start_galois_i = g;
      dut_.settle();
      if (!dut_->bad_galois_o || dut_->start_ready_o) fail("g = %" PRIu64 " starts", g);
      cycle();
    }
    dut_->start_galois_i = 5;
    for (unsigned log_n : {kLogN - 1, kLogN + 1, 0u}) {
      dut_->start_log_n_i = log_n;
      dut_.settle();
      if (!dut_->bad_size_o || dut_->start_ready_o) fail("2^%u starts", log_n);
      cycle();
    }
    dut_->start_log_n_i = kLogN;
    dut_->start_valid_i = 0;
  }
  Rng& rng() { return rng_; }
  int end() {
    if (!expected_.empty()) fail("%zu limbs never came", expected_.size());
    return pass(checked_, seed_, dut_.cycles(), "rm_auto");
  }

 private:
  Words values(const Words& a) {
    if (kLogN > 8) return forward(a, psi_, kLogN, q_);
    Words v(kN);
    for (u64 k = 0; k < kN; k++) v[k] = definition(a, psi_, kLogN, q_, k);
    return v;
  }

  void begin(u64 g) {
    Words a(kN), b(kN);
    for (u64& x : a) x = rng_.below(q_);
    for (u64 i = 0; i < kN; i++) {
      const u64 e = u64(u128(i) * g % (2 * kN));
      b[e % kN] = e < kN ? a[i] : (q_ - a[i]) % q_;
    }
    const Limb limb{values(a), values(b), dut_.cycles() + kStartToRead + kReadToRow};
    reading_.push_back(limb);
    expected_.push_back(limb);
  }

  void cycle() {
    using Port = std::decay_t<decltype(dut_->row_i)>;
    const u64 now = dut_.cycles();
    Port row;
    Fields<Port>::clear(row);
    for (unsigned l = 0; l < kL; l++) {
      for (unsigned e = 0; e < kR; e++) {
        const u64 word = asked_ ? words_[l * kR + e] : rng_.next() & ((u64(1) << P_W) - 1);
        Fields<Port>::set(row, (l * kR + e) * P_W, P_W, word);
      }
    }
    dut_->row_i = row;
    dut_.settle();
    // Requests of this cycle are answered in the next.
    const bool read = !reading_.empty() && now + kReadToRow >= reading_.front().cycle;
    if (bool(dut_->read_o) != read) fail("cycle %" PRIu64 ": read is %d", now, int(dut_->read_o));
    asked_ = read;
    if (read) {
      words_.assign(kL * kR, 0);
      for (unsigned l = 0; l < kL; l++) {
        const u64 t = Fields<std::decay_t<decltype(dut_->addr_o)>>::get(dut_->addr_o, l * kT, kT);
        for (unsigned e = 0; e < kR; e++) words_[l * kR + e] = reading_.front().in[l * (kN / kL) + t * kR + e];
      }
      if (now + kReadToRow == reading_.front().cycle + kRows - 1) reading_.pop_front();
    }
    check(now);
    dut_.tick();
  }

  void check(u64 now) {
    const bool some = !expected_.empty() && now >= expected_.front().cycle;
    if (bool(dut_->valid_o) != some) fail("cycle %" PRIu64 ": valid is %d", now, int(dut_->valid_o));
    if (!some) return;
    const Limb& limb = expected_.front();
    const u64 t = now - limb.cycle;
    if (bool(dut_->first_o) != (t == 0)) fail("row %" PRIu64 ": first is %d", t, int(dut_->first_o));
    if (!dut_->busy_o) fail("not busy in row %" PRIu64, t);
    for (unsigned l = 0; l < kL; l++) {
      for (unsigned e = 0; e < kR; e++) {
        const u64 got = Fields<std::decay_t<decltype(dut_->row_o)>>::get(dut_->row_o, (l * kR + e) * P_W, P_W);
        const u64 due = limb.out[l * (kN / kL) + t * kR + e];
        if (got != due) {
          fail("limb %" PRIu64 ", row %" PRIu64 ", lane %u, element %u: %" PRIx64 " instead of %" PRIx64, checked_, t, l, e, got, due);
        }
      }
    }
    if (t == kRows - 1) {
      expected_.pop_front();
      checked_++;
    }
  }

  Dut dut_;
  Rng rng_;
  u64 seed_, q_ = 0, psi_ = 0, start_ = 0, checked_ = 0;
  bool any_ = false, asked_ = false;
  Words words_;
  std::deque<Limb> reading_, expected_;
};

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 seed = args.number("seed", 1), n = args.number("n", 10);
  Bench bench(argc, argv, seed);
  bench.reset();
  if (args.has("every")) bench.stream(kN, 0, true, [](u64 i) { return (2 * i + 1) % (2 * kN); });
  // Rotations, conjugation, the identity, and any odd g.
  const auto pick = [&bench](u64 i) -> u64 {
    switch (i % 4) {
      case 0: return 5 % (2 * kN);
      case 1: return 2 * kN - 1;
      case 2: return bench.rng().below(kN) * 2 + 1;
      default: return i % 8 == 3 ? 1 : bench.rng().below(kN) * 2 + 1;
    }
  };
  bench.stream(n, 0, true, pick);
  bench.stream(n, 5, true, pick);
  bench.stream(n, 2 * kRows, true, pick);
  for (u64 i = 0; i < args.number("resets", 0); i++) {
    bench.stream(1 + bench.rng().below(3), 3, false, pick);
    bench.reset();
    bench.stream(2, 0, true, pick);
  }
  bench.wrong_use();
  bench.stream(1, 0, true, pick);
  return bench.end();
}
