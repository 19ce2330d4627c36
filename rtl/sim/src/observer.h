// What the units of one core did, put together to results of instructions. Fed by core_trace.sv through DPI.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

namespace rm {

class Observer {
 public:
  static constexpr unsigned kBanks = 6, kUnits = 3;
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
  }
  // Dispatched to a unit; kUnits: something without a result.
  void put(unsigned unit) {
    if (unit < kUnits) waiting_[unit].push_back(next_);
    next_++;
  }

  // A row that leaves unit `unit`; the last one of an arithmetic instruction ends it.
  void row(unsigned unit, int bank, unsigned row, bool last, const uint32_t* data, uint64_t cycle) {
    if (!report_) return;
    std::vector<uint64_t>& limb = bank < 0 ? banks_[kBanks] : banks_[unsigned(bank)];
    if (limb.size() < (row + 1) * columns_) limb.resize((row + 1) * columns_);
    for (unsigned c = 0; c < columns_; c++) limb[row * columns_ + c] = word(data, c);
    if (last) end(unit, bank, limb, cycle);
  }
  void done(unsigned lane, int bank, uint64_t cycle) {
    if (report_) end(lane, bank, banks_[unsigned(bank)], cycle);
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
    report_(waiting_[unit].front(), cycle, bank, limb);
    waiting_[unit].pop_front();
  }

  Report report_;
  unsigned columns_ = 0, width_ = 0;
  uint32_t next_ = 0;
  std::array<std::deque<uint32_t>, kUnits> waiting_;     // dispatched and not ended, a unit each
  std::array<std::vector<uint64_t>, kBanks + 1> banks_;  // the last: what goes to memory alone
};

}  // namespace rm
