// What the units of one core did, put together to results of instructions. Fed by rm_core_trace.sv through DPI.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

namespace rm {

class Observer {
 public:
  static constexpr unsigned kBanks = 6, kPairs = 2, kUnits = 3, kNothing = 3, kGang = 4;
  // Number of the instruction, cycle of its last write, bank or -1, limb.
  using Report = std::function<void(uint32_t, uint64_t, int32_t, const std::vector<uint64_t>&)>;

  void report_to(Report report, unsigned columns, unsigned width) {
    report_ = std::move(report);
    columns_ = columns;
    width_ = width;
  }

  void start() {
    next_ = 0;
    for (auto& queue : waiting_) queue.clear();
    for (auto& bank : banks_) bank.clear();
    rows_ = {};
  }
  // Dispatched to a unit; kNothing: something without a result; kGang: to both transform units together.
  void put(unsigned unit) {
    if (unit == kGang) {
      for (unsigned lane = 0; lane < 2; lane++) waiting_[lane].push_back({next_, true});
    } else if (unit != kNothing) {
      waiting_[unit].push_back({next_, false});
    }
    next_++;
  }

  // A row that leaves unit `unit`; the last one of an arithmetic instruction ends it.
  void row(unsigned unit, int bank, unsigned row, bool last, const uint32_t* data, uint64_t cycle) {
    if (!report_) return;
    std::vector<uint64_t>& limb = bank < 0 ? banks_.back() : banks_[unsigned(bank)];
    if (limb.size() < (row + 1) * columns_) limb.resize((row + 1) * columns_);
    for (unsigned c = 0; c < columns_; c++) limb[row * columns_ + c] = word(data, c);
    if (unit < 2) rows_[unit] = std::max(rows_[unit], row + 1);
    if (last) end(unit, bank, limb, cycle);
  }
  // Both ends of a ganged transform come in one cycle, that of lane 0 first.
  void done(unsigned lane, int bank, uint64_t cycle) {
    if (!report_ || waiting_[lane].empty()) return;
    const unsigned words = std::exchange(rows_[lane], 0) * columns_;
    if (!waiting_[lane].front().second) return end(lane, bank, banks_[unsigned(bank)], cycle);
    const std::vector<uint64_t>&low = banks_[unsigned(bank) % 2], &high = banks_[2 + unsigned(bank) % 2];
    if (lane == 0) return waiting_[0].pop_front();
    std::vector<uint64_t> limb(low.begin(), low.begin() + words);
    limb.insert(limb.end(), high.begin(), high.begin() + words);
    end(lane, int(kBanks) + bank % 2, limb, cycle);
  }

 private:
  uint64_t word(const uint32_t* data, unsigned index) const {
    uint64_t v = 0;
    for (unsigned got = 0, bit = index * width_; got < width_;) {
      const unsigned take = bit % 32 + (width_ - got) > 32 ? 32 - bit % 32 : width_ - got;
      v |= (uint64_t(data[bit / 32] >> (bit % 32)) & ((uint64_t{1} << take) - 1)) << got;
      got += take;
      bit += take;
    }
    return v;
  }
  void end(unsigned unit, int bank, const std::vector<uint64_t>& limb, uint64_t cycle) {
    if (waiting_[unit].empty()) return;
    report_(waiting_[unit].front().first, cycle, bank, limb);
    waiting_[unit].pop_front();
  }

  Report report_;
  unsigned columns_ = 0, width_ = 0;
  uint32_t next_ = 0;
  std::array<std::deque<std::pair<uint32_t, bool>>, kUnits> waiting_;  // dispatched and not ended; whether ganged
  // As they are named: pairs hold what the arithmetic unit writes to them; the last is what goes to memory alone.
  std::array<std::vector<uint64_t>, kBanks + kPairs + 1> banks_;
  std::array<unsigned, 2> rows_ = {};  // that the transform under way has written
};

}  // namespace rm
