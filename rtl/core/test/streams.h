// Behavioural memory on the core's streams: instruction fetch, read and write, with idle cycles and back-pressure.
//
// Unkind on purpose: a load sees memory as it is when its request is taken, a store changes it only when it is
// reported done. A core that does not wait for a store reads the old limb.
#pragma once
#include <deque>

#include "../../arith/test/wide.h"
#include "harness.h"
#include "interpreter.h"

namespace rm_test {

struct Stalls {
  unsigned fetch = 256, read = 256, write = 256, done = 256;  // chance of 256 that something moves in a cycle
};

class Streams {
 public:
  static constexpr unsigned kW = P_W, kCols = 2 * P_Nbf;

  Streams(Rng& rng, std::vector<u64>& memory, const Stalls& stalls) : rng_(rng), memory_(memory), stalls_(stalls) {}

  // Inputs of the core for this cycle.
  void drive(Vtop& top) {
    fetch_shown_ = fetching_ && (fetch_shown_ || rng_.chance(stalls_.fetch));
    top.instr_valid_i = fetch_shown_;
    for (int w = 0; w < 4; w++) {
      const u64 v = fetch_shown_ && fetch_ + w < memory_.size() ? memory_[fetch_ + w] : rng_.next();
      top.instr_data_i[2 * w] = std::uint32_t(v);
      top.instr_data_i[2 * w + 1] = std::uint32_t(v >> 32);
    }
    top.instr_err_i = fetch_shown_ && int(fetched_) == fetch_error_at;
    top.fetch_idle_i = !fetching_;
    top.rd_req_ready_i = rng_.chance(stalls_.read) && reads_.size() < 4;
    row_shown_ = !reads_.empty() && (row_shown_ || rng_.chance(stalls_.read));
    top.rd_row_valid_i = row_shown_;
    for (unsigned h = 0; h < kCols; h++) {
      put_word(top.rd_row_data_i, h, kW, row_shown_ ? reads_[0][read_row_ * kCols + h] : rng_.next() >> (64 - kW));
    }
    top.rd_idle_i = reads_.empty();
    top.rd_err_i = rows_read_ == read_error_at && !reported_;
    reported_ |= top.rd_err_i;
    top.wr_req_ready_i = rng_.chance(stalls_.write) && targets_.size() < 3;
    top.wr_row_ready_i = !targets_.empty() && rng_.chance(stalls_.write);
    top.wr_done_i = !finished_.empty() && rng_.chance(stalls_.done);
    top.wr_err_i = top.wr_done_i && stores_ == write_error_at;
    top.wr_idle_i = targets_.empty() && finished_.empty();
    top.rd_beat_i = top.wr_beat_i = 0;
  }

  // What the core did in this cycle; call before the clock edge, outputs settled.
  void observe(Vtop& top) {
    if (top.fetch_start_o) {
      fetching_ = true;
      fetch_ = std::size_t(top.fetch_addr_o) * 8;
      fetched_ = 0;
    } else if (top.instr_valid_i && top.instr_ready_o) {
      fetch_ += 4;
      fetched_++;
      fetch_shown_ = false;
    } else if (top.fetch_stop_o) {
      fetching_ = fetch_shown_ = false;
    }
    if (top.rd_row_ready_o) {
      if (!row_shown_) fail("a row was taken that is not there");
      row_shown_ = false;
      rows_read_++;
      if (++read_row_ == rows_) read_row_ = 0, reads_.pop_front();
    }
    if (top.rd_req_valid_o && top.rd_req_ready_i) {
      check_range(top.rd_req_addr_o, top.rd_req_rows_o);
      const auto first = memory_.begin() + std::size_t(top.rd_req_addr_o) * 8;
      reads_.push_back(Limb(first, first + std::ptrdiff_t(top.rd_req_rows_o * kCols)));
    }
    if (top.wr_done_i) {
      std::copy(finished_[0].second.begin(), finished_[0].second.end(), memory_.begin() + finished_[0].first);
      finished_.pop_front();
      stores_++;
    }
    if (top.wr_row_valid_o && top.wr_row_ready_i) {
      for (unsigned h = 0; h < kCols; h++) collected_.push_back(get_word(top.wr_row_data_o, h, kW));
      if (collected_.size() == rows_ * kCols) {
        finished_.push_back({targets_[0], std::move(collected_)});
        collected_.clear();
        targets_.pop_front();
      }
    }
    if (top.wr_req_valid_o && top.wr_req_ready_i) {
      check_range(top.wr_req_addr_o, top.wr_req_rows_o);
      targets_.push_back(std::size_t(top.wr_req_addr_o) * 8);
    }
  }

  void set_rows(unsigned rows) { rows_ = rows; }
  bool empty() const { return reads_.empty() && targets_.empty() && finished_.empty() && collected_.empty() && !fetching_; }

  // Faults to inject; -1 for none. Counted from the creation of this object.
  int fetch_error_at = -1;
  std::uint64_t read_error_at = ~std::uint64_t(0), write_error_at = ~std::uint64_t(0);

 private:
  void check_range(unsigned addr, unsigned rows) {
    if (rows != rows_) fail("a request of %u rows, not %u", rows, rows_);
    if (std::size_t(addr) * 8 + std::size_t(rows) * kCols > memory_.size()) fail("request beyond the memory");
  }

  Rng& rng_;
  std::vector<u64>& memory_;
  Stalls stalls_;
  unsigned rows_ = 0, read_row_ = 0;
  bool fetching_ = false, fetch_shown_ = false, row_shown_ = false, reported_ = false;
  std::size_t fetch_ = 0, fetched_ = 0;
  std::uint64_t rows_read_ = 0, stores_ = 0;
  std::deque<Limb> reads_;
  std::deque<std::size_t> targets_;
  std::deque<std::pair<std::size_t, Limb>> finished_;
  Limb collected_;
};

}  // namespace rm_test
