// Both lanes: transforms of their own and ganged ones, mixed, against the textbook and the rules of start and end.
//   +n=COMMANDS a size and kind of traffic   +logn=FIRST +to=LAST   +seed=S
#include <deque>

#include "cycles.h"
#include "fields.h"
#include "modulus.h"

namespace {

constexpr unsigned kCols = 2 * P_Nbf;
constexpr unsigned log2_of(unsigned n) { return n <= 1 ? 0 : 1 + log2_of(n / 2); }

struct Command {
  bool gang, inverse;
  unsigned lane, bank[2], mod;
  u64 start = 0;
  unsigned ended = 0;  // lanes
  Words expected;
};
using Shared = std::shared_ptr<Command>;

struct Lane {
  std::deque<Shared> upcoming, waiting, running;
  std::deque<u64> accepted;
  bool offered = false, head_known = false, rd_pending = false;
  u64 earliest = 0;
  Words memory[2], rd_row;
  std::vector<char> in_flight[2];
  Follower follower;
  u64 tab[3] = {0, 0, 0};
};

struct Traffic {
  unsigned command, grant;
};

template <typename Port>
u64 field(const Port& port, unsigned index, unsigned width) {
  return Fields<Port>::get(port, index * width, width);
}

class PairBench {
 public:
  PairBench(Dut& dut, Rng& rng) : dut_(dut), rng_(rng) {
    dut_->rst_ni = 0, dut_->flush_i = 0, dut_->cmd_valid_i = 0, dut_->cmd_roots_i = 0, dut_->head_grant_i = 0;
    dut_.tick(), dut_.tick();
    dut_->rst_ni = 1;
  }
  void set_log_n(unsigned log_n, const std::vector<u64>& primes) {
    log_n_ = log_n;
    moduli_.clear();
    for (u64 q : primes) moduli_.emplace_back(q, log_n, rng_);
    for (unsigned i = 0; i < 2; i++) {
      schedule_[i] = Schedule(timing(), schedule_[i]);
      for (unsigned b = 0; b < 2; b++) {
        lane_[i].memory[b].assign(std::size_t(1) << log_n, 0);
        lane_[i].in_flight[b].assign(timing().rows(), 0);
      }
    }
    dut_->log_n_i = log_n, dut_->flush_i = 1;
    dut_.tick(), cycle_++;
    dut_->flush_i = 0;
  }
  void submit(const Command& command) {
    const Shared c = std::make_shared<Command>(command);
    for (unsigned i = 0; i < 2; i++) {
      if (c->gang || c->lane == i) lane_[i].upcoming.push_back(c);
    }
  }
  void drain(Traffic traffic) {
    const u64 limit = cycle_ + 100000 + 64 * timing().sequence() * (2 + lane_[0].upcoming.size() + lane_[1].upcoming.size());
    while (!lane_idle(0) || !lane_idle(1)) {
      step(traffic);
      if (cycle_ > limit) fail("hangs");
    }
    step(traffic);
    dut_.settle();
    if (dut_->busy_o) fail("busy with nothing to do");
  }
  u64 checked() const { return checked_; }
  u64 ganged() const { return ganged_; }

 private:
  Timing timing() { return Timing{log_n_, log2_of(P_Nbf), unsigned(dut_->mul_latency_o)}; }
  bool lane_idle(unsigned i) { return lane_[i].upcoming.empty() && lane_[i].waiting.empty() && lane_[i].running.empty(); }

  void step(Traffic traffic) {
    drive(traffic);
    dut_.settle();
    unsigned accepted = dut_->cmd_valid_i & dut_->cmd_ready_o;
    for (unsigned i = 0; i < 2; i++) take_rows(i);
    const unsigned starts = watch_heads(traffic);
    for (unsigned i = 0; i < 2; i++) answer_table(i);
    dut_.tick();
    for (unsigned i = 0; i < 2; i++) {
      Lane& lane = lane_[i];
      if (accepted >> i & 1) {
        lane.waiting.push_back(lane.upcoming.front()), lane.accepted.push_back(cycle_);
        lane.upcoming.pop_front();
        lane.offered = false;
      }
      if (starts >> i & 1) started(i);
    }
    cycle_++;
  }

  void drive(Traffic traffic) {
    using Row = Fields<std::remove_reference_t<decltype(dut_->rd_data_i)>>;
    Row::clear(dut_->rd_data_i);
    unsigned valid = 0, inverse = 0, bank = 0, gang = 0;
    decltype(dut_->cmd_mod_i + 0) mod = 0;
    clear_table();
    for (unsigned i = 0; i < 2; i++) {
      Lane& lane = lane_[i];
      for (unsigned c = 0; c < kCols; c++) {
        Row::set(dut_->rd_data_i, (i * kCols + c) * P_W, P_W, lane.rd_pending ? lane.rd_row[c] : rng_.next() >> (64 - P_W));
      }
      if (!lane.upcoming.empty()) lane.offered |= rng_.chance(traffic.command);
      if (lane.offered) {
        const Command& c = *lane.upcoming.front();
        valid |= 1u << i, inverse |= unsigned(c.inverse) << i, bank |= c.bank[i] << i, gang |= unsigned(c.gang) << i;
        mod |= c.mod << (i * log2_of(P_Mods));
      }
      set_table(i);
    }
    dut_->cmd_valid_i = valid, dut_->cmd_inverse_i = inverse, dut_->cmd_bank_i = bank, dut_->cmd_gang_i = gang;
    dut_->cmd_mod_i = mod;
    dut_->head_grant_i = 0;
  }

  void take_rows(unsigned i) {
    Lane& lane = lane_[i];
    const unsigned row_bits = P_LogNMax - log2_of(kCols);
    lane.rd_pending = dut_->rd_en_o >> i & 1;
    if (lane.rd_pending) {
      const unsigned bank = dut_->rd_bank_o >> i & 1, row = unsigned(field(dut_->rd_row_o, i, row_bits));
      if (row >= timing().rows() || lane.in_flight[bank][row]) fail("lane %u reads row %u too early", i, row);
      lane.in_flight[bank][row] = 1;
      lane.rd_row.assign(lane.memory[bank].begin() + row * kCols, lane.memory[bank].begin() + (row + 1) * kCols);
    }
    watch_pass(i);
    if (dut_->wr_en_o >> i & 1) {
      const unsigned bank = dut_->wr_bank_o >> i & 1, row = unsigned(field(dut_->wr_row_o, i, row_bits));
      if (row >= timing().rows() || !lane.in_flight[bank][row]) fail("lane %u writes row %u", i, row);
      lane.in_flight[bank][row] = 0;
      for (unsigned c = 0; c < kCols; c++) lane.memory[bank][row * kCols + c] = field(dut_->wr_data_o, i * kCols + c, P_W);
    }
    const bool due = !lane.running.empty() && schedule_[i].done(lane.running.front()->start, lane.running.front()->gang) == cycle_;
    if (bool(dut_->done_o >> i & 1) != due) fail("lane %u: done %d in cycle %" PRIu64, i, int(!due), cycle_);
    if (due) finish(i);
  }

  // The bank may be followed as soon as the last row is read.
  void watch_pass(unsigned i) {
    Lane& lane = lane_[i];
    const auto passes = [&](const Shared& c) { return schedule_[i].pass(c->start, c->gang) == cycle_; };
    const auto c = std::find_if(lane.running.begin(), lane.running.end(), passes);
    const bool due = c != lane.running.end();
    if (bool(dut_->pass_o >> i & 1) != due) fail("lane %u: passed %d in cycle %" PRIu64, i, int(!due), cycle_);
    if (due && (dut_->pass_bank_o >> i & 1) != (*c)->bank[i]) fail("lane %u: passed the wrong bank", i);
    if (due && timing().follows()) lane.follower.start(cycle_, (*c)->bank[i]);
    lane.follower.check(cycle_, lane.in_flight);
  }

  void finish(unsigned i) {
    Lane& lane = lane_[i];
    const Shared c = lane.running.front();
    lane.running.pop_front();
    lane.follower.stop(c->bank[i]);
    const std::size_t size = std::size_t(1) << (log_n_ - c->gang), from = c->gang && i == 1 ? size : 0;
    if ((dut_->done_bank_o >> i & 1) != c->bank[i]) fail("lane %u: done of the wrong bank", i);
    for (std::size_t k = 0; k < size; k++, checked_++) {
      const u64 got = lane.memory[c->bank[i]][k], want = c->expected[from + k];
      if (got != want) fail("N=2^%u lane %u gang %d inverse %d word %zu: %" PRIu64 ", not %" PRIu64, log_n_, i, c->gang, c->inverse, k, got, want);
    }
    ganged_ += c->gang;
  }

  bool has_head(const Lane& lane) const { return !lane.waiting.empty() && cycle_ >= lane.accepted.front() + kToHead; }

  unsigned watch_heads(Traffic traffic) {
    unsigned grant = 0, can = 0, starts = 0;
    for (unsigned i = 0; i < 2; i++) {
      Lane& lane = lane_[i];
      if (!has_head(lane)) continue;
      const Command& head = *lane.waiting.front();
      if (!lane.head_known) lane.earliest = schedule_[i].ready(lane.accepted.front(), head.mod);
      lane.head_known = true;
      bool free_bank = true;
      for (const Shared& other : lane.running) free_bank &= other->bank[i] != head.bank[i];
      if (free_bank && rng_.chance(traffic.grant)) grant |= 1u << i;
      if ((grant >> i & 1) && cycle_ >= lane.earliest) can |= 1u << i;
    }
    for (unsigned i = 0; i < 2; i++) {
      const bool both = can == 3 && lane_[1 - i].waiting.front()->gang;
      if ((can >> i & 1) && (!lane_[i].waiting.front()->gang || both)) starts |= 1u << i;
    }
    dut_->head_grant_i = grant;
    dut_.settle();
    if (dut_->started_o != starts) fail("cycle %" PRIu64 ": started %d, not %u", cycle_, int(dut_->started_o), starts);
    for (unsigned i = 0; i < 2; i++) {
      const bool waits = has_head(lane_[i]) && cycle_ >= schedule_[i].sequencer(), granted = grant >> i & 1;
      if (bool(dut_->wait_ticket_o >> i & 1) != (waits && !granted) ||
          bool(dut_->wait_twiddle_o >> i & 1) != (waits && granted && cycle_ < schedule_[i].twiddles())) {
        fail("cycle %" PRIu64 ": lane %u waits for the wrong thing", cycle_, i);
      }
    }
    return starts;
  }

  void started(unsigned i) {
    Lane& lane = lane_[i];
    const Shared c = lane.waiting.front();
    lane.waiting.pop_front(), lane.accepted.pop_front();
    lane.head_known = false;
    lane.running.push_back(c);
    schedule_[i].start(cycle_, c->gang);
    c->start = cycle_;
    const Modulus& m = moduli_[c->mod];
    const std::size_t size = std::size_t(1) << log_n_;
    if (c->expected.empty()) {
      Words data(size);
      for (u64& w : data) w = rng_.chance(8) ? m.q - 1 : rng_.below(m.q);
      for (unsigned l = 0; l < 2; l++) {
        if (!c->gang && l != i) continue;
        Words& bank = lane_[l].memory[c->bank[l]];
        const std::size_t from = c->gang && l == 1 ? size / 2 : 0;
        std::copy(data.begin() + from, data.begin() + from + (c->gang ? size / 2 : size), bank.begin());
      }
      c->expected = c->inverse ? inverse(data, m.psi, log_n_, m.q) : forward(data, m.psi, log_n_, m.q);
    }
  }

  void answer_table(unsigned i) {
    const unsigned mod = unsigned(field(dut_->tab_mod_o, i, log2_of(P_Mods))), root = unsigned(field(dut_->tab_root_o, i, 4));
    Lane& lane = lane_[i];
    for (u64& t : lane.tab) t = rng_.next() >> (64 - P_W);
    if (mod < moduli_.size()) {
      lane.tab[0] = moduli_[mod].q, lane.tab[1] = moduli_[mod].aux;
      if (root < log_n_) lane.tab[2] = moduli_[mod].roots[root];
    }
  }
  void clear_table() {
    Fields<std::remove_reference_t<decltype(dut_->tab_q_i)>>::clear(dut_->tab_q_i);
    Fields<std::remove_reference_t<decltype(dut_->tab_aux_i)>>::clear(dut_->tab_aux_i);
    Fields<std::remove_reference_t<decltype(dut_->tab_root_i)>>::clear(dut_->tab_root_i);
  }
  void set_table(unsigned i) {
    const u64* t = lane_[i].tab;
    Fields<std::remove_reference_t<decltype(dut_->tab_q_i)>>::set(dut_->tab_q_i, i * P_W, P_W, t[0]);
    Fields<std::remove_reference_t<decltype(dut_->tab_aux_i)>>::set(dut_->tab_aux_i, i * (P_W + 2), P_W + 2, t[1]);
    Fields<std::remove_reference_t<decltype(dut_->tab_root_i)>>::set(dut_->tab_root_i, i * P_W, P_W, t[2]);
  }

  Dut& dut_;
  Rng& rng_;
  Schedule schedule_[2] = {Schedule(Timing{P_LogNMin, log2_of(P_Nbf), 0}), Schedule(Timing{P_LogNMin, log2_of(P_Nbf), 0})};
  Lane lane_[2];
  unsigned log_n_ = P_LogNMin;
  u64 cycle_ = 1, checked_ = 0, ganged_ = 0;
  std::vector<Modulus> moduli_;
};

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 seed = args.number("seed", 1), count = args.number("n", 4);
  Rng rng(seed);
  Dut dut(argc, argv);
  PairBench bench(dut, rng);
  for (unsigned log_n = unsigned(args.number("logn", P_LogNMin)); log_n <= args.number("to", P_LogNMax); log_n++) {
    bench.set_log_n(log_n, find_primes(3, P_LogNMax, rng));
    const Traffic kinds[] = {{256, 256}, {16, 16}, {256, 8}, {2, 256}};
    for (Traffic traffic : kinds) {
      for (u64 i = 0; i < count; i++) {
        bench.submit({rng.chance(150), rng.chance(128), unsigned(rng.below(2)), {unsigned(rng.below(2)), unsigned(rng.below(2))},
                      unsigned(rng.below(3))});
      }
      bench.drain(traffic);
    }
  }
  if (bench.ganged() == 0) fail("no ganged transform was seen");
  return pass(bench.checked(), seed, dut.cycles(), "lanes");
}
