// Bench of the transform unit: banks, modulus table, and a monitor that holds every cycle to the rules.
#pragma once
#include <deque>
#include <vector>

#include "cycles.h"
#include "fields.h"
#include "modulus.h"
#include "oracle.h"

// Edges: words near 0, q/2 and q. Results: such words come out, so that last sums are q and differences 0.
enum class Fill { Random, Zero, Largest, Edges, Results };

struct Command {
  bool inverse;
  unsigned bank, mod;
  Fill fill;
  bool roots = false;  // makes twiddle factors, transforms nothing
  // filled in by the bench
  u64 accepted = 0, start = 0;
  Words expected;
};

// How often commands come and grants are given, of 256.
struct Traffic {
  unsigned command, grant;
};

class Bench {
 public:
  Bench(Dut& dut, Rng& rng) : dut_(dut), rng_(rng), schedule_(Timing{}) { reset(); }

  // At least one cycle of reset, at any time; everything under way is lost.
  void reset() {
    dut_->rst_ni = 0;
    dut_->cmd_valid_i = dut_->cmd_roots_i = dut_->head_grant_i = dut_->flush_i = 0;
    for (u64 n = 1 + rng_.below(3); n > 0; n--) dut_.tick(), cycle_++;
    dut_.settle();
    if (dut_->rd_en_o || dut_->wr_en_o || dut_->busy_o || dut_->head_valid_o) fail("active in reset");
    dut_->rst_ni = 1;
    waiting_.clear(), running_.clear(), upcoming_.clear();
    in_flight_[0].assign(in_flight_[0].size(), 0), in_flight_[1].assign(in_flight_[1].size(), 0);
    head_known_ = false;
    rd_pending_ = false;
    reads_[0] = reads_[1] = 0;
    follower_ = {};
    schedule_ = Schedule(timing());
  }

  // While idle.
  void set_log_n(unsigned log_n, const std::vector<u64>& primes) {
    log_n_ = log_n;
    moduli_.clear();
    for (u64 q : primes) moduli_.emplace_back(q, log_n, rng_);
    for (unsigned b = 0; b < 2; b++) {
      memory_[b].assign(size(), 0);
      in_flight_[b].assign(size() / (2 * P_Nbf), 0);
    }
    dut_->log_n_i = log_n;
    dut_->flush_i = 1;
    dut_.tick(), cycle_++;
    dut_->flush_i = 0;
    schedule_ = Schedule(timing(), schedule_);
  }

  Timing timing() { return Timing{log_n_, log2_of(P_Nbf), unsigned(dut_->mul_latency_o)}; }
  u64 checked() const { return checked_; }
  bool idle() const { return upcoming_.empty() && waiting_.empty() && running_.empty(); }
  std::size_t size() const { return std::size_t(1) << log_n_; }
  const Modulus& modulus(unsigned index) const { return moduli_[index]; }
  void submit(const Command& command) { upcoming_.push_back(command); }

  // Everything that was submitted, to its end.
  void drain(Traffic traffic) {
    const u64 limit = cycle_ + 1000 + 4096 / std::max(1u, std::min(traffic.command, traffic.grant)) +
                      upcoming_.size() * (4096 + 8 * timing().sequence() + timing().generation());
    while (!idle()) {
      step(traffic);
      if (cycle_ > limit) fail("hangs: %zu to come, %zu wait, %zu run", upcoming_.size(), waiting_.size(), running_.size());
    }
    step(traffic);
    dut_.settle();
    if (dut_->busy_o) fail("busy with nothing to do");
  }

  void step(Traffic traffic) {
    drive_inputs(traffic);
    dut_.settle();
    const bool accepted = dut_->cmd_valid_i && dut_->cmd_ready_o;
    take_read_request();
    watch_pass();
    take_write();
    const bool starts = watch_head(traffic);
    watch_table();
    dut_.tick();
    if (accepted) accept();
    if (starts) started();
    cycle_++;
  }

 private:
  static unsigned log2_of(unsigned n) { return n <= 1 ? 0 : 1 + log2_of(n / 2); }

  void drive_inputs(Traffic traffic) {
    auto& row = dut_->rd_data_i;
    using Row = Fields<std::remove_reference_t<decltype(row)>>;
    Row::clear(row);
    for (unsigned c = 0; c < 2 * P_Nbf; c++) {
      // noise where nothing was asked for: it must not matter
      Row::set(row, c * P_W, P_W, rd_pending_ ? rd_row_[c] : rng_.next() >> (64 - P_W));
    }
    if (!dut_->cmd_valid_i && !upcoming_.empty() && rng_.chance(traffic.command)) dut_->cmd_valid_i = 1;
    if (dut_->cmd_valid_i) {
      dut_->cmd_inverse_i = upcoming_.front().inverse;
      dut_->cmd_roots_i = upcoming_.front().roots;
      dut_->cmd_bank_i = upcoming_.front().bank;
      dut_->cmd_mod_i = upcoming_.front().mod;
    }
    dut_->head_grant_i = 0;
    dut_->tab_q_i = answer_.q, dut_->tab_aux_i = answer_.aux, dut_->tab_root_i = answer_.root;
  }

  void accept() {
    waiting_.push_back(upcoming_.front());
    waiting_.back().accepted = cycle_;
    upcoming_.pop_front();
    dut_->cmd_valid_i = 0;
  }

  void take_read_request() {
    rd_pending_ = dut_->rd_en_o;
    if (!rd_pending_) return;
    const unsigned bank = dut_->rd_bank_o, row = dut_->rd_row_o;
    if (row >= in_flight_[bank].size()) fail("reads row %u", row);
    if (in_flight_[bank][row]) fail("reads row %u of bank %u before it was written back", row, bank);
    in_flight_[bank][row] = 1;
    reads_[bank]++;
    rd_row_.assign(memory_[bank].begin() + row * 2 * P_Nbf, memory_[bank].begin() + (row + 1) * 2 * P_Nbf);
  }

  // The bank may be followed as soon as the last row is read.
  void watch_pass() {
    const auto passes = [this](const Command& c) { return schedule_.pass(c.start) == cycle_; };
    const auto c = std::find_if(running_.begin(), running_.end(), passes);
    if (bool(dut_->pass_o) != (c != running_.end())) fail("passed %d in cycle %" PRIu64, int(dut_->pass_o), cycle_);
    if (c != running_.end()) {
      if (dut_->pass_bank_o != c->bank || reads_[c->bank] != timing().rows() * log_n_) fail("passed too early, or another bank");
      if (timing().follows()) follower_.start(cycle_, c->bank);
    }
    follower_.check(cycle_, in_flight_);
  }

  void take_write() {
    if (dut_->wr_en_o) {
      const unsigned bank = dut_->wr_bank_o, row = dut_->wr_row_o;
      if (row >= in_flight_[bank].size() || !in_flight_[bank][row]) fail("writes row %u, which was not read", row);
      in_flight_[bank][row] = 0;
      for (unsigned c = 0; c < 2 * P_Nbf; c++) {
        using Row = Fields<std::remove_reference_t<decltype(dut_->wr_data_o)>>;
        memory_[bank][row * 2 * P_Nbf + c] = Row::get(dut_->wr_data_o, c * P_W, P_W);
      }
    }
    if (dut_->done_o) finish();
    else if (!running_.empty() && schedule_.done(running_.front().start) == cycle_) fail("not done in cycle %" PRIu64, cycle_);
  }

  void finish() {
    if (running_.empty()) fail("done, with nothing running");
    const Command& c = running_.front();
    if (schedule_.done(c.start) != cycle_) fail("done in cycle %" PRIu64 ", not %" PRIu64, cycle_, schedule_.done(c.start));
    if (!dut_->wr_en_o || dut_->done_bank_o != c.bank) fail("done of the wrong bank or without a write");
    if (reads_[c.bank] != timing().rows() * log_n_) fail("%" PRIu64 " rows read", reads_[c.bank]);
    const Words& got = memory_[c.bank];
    for (std::size_t i = 0; i < got.size(); i++, checked_++) {
      if (got[i] != c.expected[i]) {
        fail("N=2^%u %s q=%" PRIu64 " word %zu: %" PRIu64 ", not %" PRIu64, log_n_, c.inverse ? "inverse" : "forward",
             moduli_[c.mod].q, i, got[i], c.expected[i]);
      }
    }
    reads_[c.bank] = 0;
    follower_.stop(c.bank);
    running_.pop_front();
  }

  // The head is the oldest command that has not started; grants it when its bank is free.
  bool watch_head(Traffic traffic) {
    const bool is_head = !waiting_.empty() && cycle_ >= waiting_.front().accepted + kToHead;
    if (bool(dut_->head_valid_o) != is_head) fail("head_valid_o is %d in cycle %" PRIu64, int(dut_->head_valid_o), cycle_);
    if (!is_head) {
      head_known_ = false;
      dut_->head_grant_i = rng_.chance(128);
      dut_.settle();
      if (dut_->started_o || dut_->skipped_o || dut_->wait_ticket_o || dut_->wait_twiddle_o) fail("starts nothing");
      return false;
    }
    const Command& head = waiting_.front();
    if (!head_known_) earliest_ = schedule_.ready(head.accepted, head.mod);
    head_known_ = true;
    bool free_bank = true;
    for (const Command& other : running_) free_bank &= other.bank != head.bank;
    const bool grant = free_bank && rng_.chance(traffic.grant);
    dut_->head_grant_i = grant;
    dut_.settle();
    if (head.roots) return watch_roots();
    const bool starts = grant && cycle_ >= earliest_, free = cycle_ >= schedule_.sequencer();
    if (bool(dut_->started_o) != starts || dut_->skipped_o || bool(dut_->wait_ticket_o) != (free && !grant) ||
        bool(dut_->wait_twiddle_o) != (free && grant && !starts) || dut_->head_bank_o != head.bank) {
      fail("cycle %" PRIu64 ": started %d, may start from %" PRIu64 " on, granted %d", cycle_, int(dut_->started_o),
           earliest_, int(grant));
    }
    return starts;
  }

  // Such a head needs neither grant nor sequencer, and is never waited for.
  bool watch_roots() {
    const bool ends = cycle_ >= schedule_.twiddles();
    if (dut_->started_o || bool(dut_->skipped_o) != ends || dut_->wait_ticket_o || dut_->wait_twiddle_o) {
      fail("cycle %" PRIu64 ": skipped %d, twiddle factors from %" PRIu64 " on", cycle_, int(dut_->skipped_o), schedule_.twiddles());
    }
    return ends;
  }

  // The head left the queue.
  void started() {
    Command c = waiting_.front();
    waiting_.pop_front();
    head_known_ = false;
    if (c.roots) return schedule_.skip(cycle_);
    c.start = cycle_;
    schedule_.start(cycle_);
    const Modulus& m = moduli_[c.mod];
    Words& data = memory_[c.bank];
    for (u64& w : data) w = word(c.fill, m.q);
    const auto there = c.inverse ? inverse : forward, back = c.inverse ? forward : inverse;
    if (c.fill == Fill::Results) data = back(data, m.psi, log_n_, m.q);
    c.expected = there(data, m.psi, log_n_, m.q);
    if (!c.inverse) check_oracle(data, c.expected, m);
    running_.push_back(c);
  }

  u64 word(Fill fill, u64 q) {
    const u64 edges[] = {0, 1, 2, (q - 1) / 2, (q + 1) / 2, q - 2, q - 1};
    switch (fill) {
      case Fill::Random: return rng_.below(q);
      case Fill::Edges:
      case Fill::Results: return edges[rng_.below(7)];
      default: return fill == Fill::Zero ? 0 : q - 1;
    }
  }

  // A few words of the oracle against the definition.
  void check_oracle(const Words& data, const Words& values, const Modulus& m) {
    for (int n = 0; n < 2; n++) {
      const u64 k = rng_.below(size());
      if (definition(data, m.psi, log_n_, m.q, k) != values[k]) fail("the oracle is wrong");
    }
  }

  // Prepares the answer of the next cycle; noise for what nobody set.
  void watch_table() {
    const unsigned mod = dut_->tab_mod_o, root = dut_->tab_root_o;
    answer_ = TableRow{rng_.next() >> (64 - P_W), rng_.next() >> (62 - P_W), rng_.next() >> (64 - P_W)};
    if (mod < moduli_.size()) {
      answer_.q = moduli_[mod].q, answer_.aux = moduli_[mod].aux;
      if (root < log_n_) answer_.root = moduli_[mod].roots[root];
    }
  }

  struct TableRow {
    u64 q = 0, aux = 0, root = 0;
  };

  Dut& dut_;
  Rng& rng_;
  Schedule schedule_;
  unsigned log_n_ = P_LogNMin;
  u64 cycle_ = 1, checked_ = 0, earliest_ = 0;
  bool head_known_ = false, rd_pending_ = false;
  std::vector<Modulus> moduli_;
  Words memory_[2], rd_row_;
  std::vector<char> in_flight_[2];
  Follower follower_;
  u64 reads_[2] = {0, 0};
  std::deque<Command> upcoming_, waiting_, running_;
  TableRow answer_;
};
