// AxiMemory: off-chip memory behind an AXI4 slave port, cycle by cycle, for simulation.
//
// Every output is a function of the state, the cycle number and the valid signals of the master at the start
// of the cycle (functions of its registers). README.md states the rules so that a cycle model can repeat
// them. Nothing depends on wall time, addresses of the host or call order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace rm {

// Chance of a stall in one cycle of one channel, in 1/65536.
enum Channel : unsigned { kAr, kR, kAw, kW, kB, kChannels };

enum Resp : uint8_t { kOkay = 0, kExOkay = 1, kSlvErr = 2, kDecErr = 3 };

struct MemorySettings {
  uint32_t read_latency = 20;   // cycles from AR taken to the first R, at least 1
  uint32_t write_latency = 10;  // cycles from the last W taken to B, at least 1
  uint32_t rate_num = 1;        // beats …
  uint32_t rate_den = 1;        // … per cycles, rate_num <= rate_den
  uint32_t shared = 0;          // 1: reads and writes share the rate; 0: each direction has it
  uint32_t outstanding = 32;    // read bursts and write bursts accepted and not finished
  uint32_t stall[kChannels] = {0, 0, 0, 0, 0};
  uint64_t seed = 0;
  uint64_t error_first = 0;  // bytes [first, end) answer with error_resp
  uint64_t error_end = 0;
  uint32_t error_kinds = 0;  // 1 reads, 2 writes, 3 both
  uint32_t error_resp = kSlvErr;
};

// What the master shows; data points at beat_bytes bytes.
struct MasterSignals {
  bool ar_valid = false, ar_id = false;
  uint64_t ar_addr = 0;
  uint32_t ar_len = 0;
  bool aw_valid = false;
  uint64_t aw_addr = 0;
  uint32_t aw_len = 0;
  bool w_valid = false, w_last = false;
  const uint8_t* w_data = nullptr;
  bool r_ready = true, b_ready = true;
};

// What the memory answers in this cycle.
struct SlaveSignals {
  bool ar_ready = false, aw_ready = false, w_ready = false;
  bool r_valid = false, r_id = false, r_last = false;
  uint8_t r_resp = kOkay;
  bool b_valid = false;
  uint8_t b_resp = kOkay;
  const uint8_t* r_data = nullptr;
};

class AxiMemory {
 public:
  AxiMemory(const MemorySettings& settings, uint32_t data_bits);

  // The bytes served; the caller keeps them. Addresses from size on answer DECERR.
  void attach(uint8_t* bytes, uint64_t size);
  void configure(const MemorySettings& settings);
  // Forget all that is under way and count cycles from 0 again.
  void reset();

  // Outputs of this cycle, given what the master shows at its start.
  const SlaveSignals& drive(const MasterSignals& master);
  // Transfers of this cycle, and on to the next.
  void advance(const MasterSignals& master);

  uint64_t cycle() const { return cycle_; }
  bool idle() const { return reads_.empty() && writes_.empty() && responses_.empty(); }
  uint64_t read_beats() const { return read_beats_; }
  uint64_t write_beats() const { return write_beats_; }
  // First breach of AXI4 by the master, or empty.
  const std::string& violation() const { return violation_; }

 private:
  struct Read { uint64_t addr, due; uint32_t left; bool id; };
  struct Write { uint64_t addr; uint32_t left; uint8_t resp; };
  struct Response { uint64_t due; uint8_t resp; };
  struct Waiting { bool valid = false; uint64_t addr = 0; uint32_t len = 0; };

  bool stalled(Channel channel) const;
  uint8_t response(uint64_t addr, unsigned kind) const;
  bool write_open() const;
  // Never more than one beat and what a cycle brings is saved up.
  uint32_t budget_cap() const { return settings_.rate_den + settings_.rate_num - 1; }
  void show_read(bool first);
  void check_burst(const char* name, uint64_t addr, uint32_t len);
  void check_stable(const char* name, Waiting& waiting, bool valid, bool ready, uint64_t addr, uint32_t len);
  void violate(const std::string& what);
  void take_write(const MasterSignals& master);
  void refill();

  MemorySettings settings_;
  uint32_t beat_bytes_;
  uint8_t* bytes_ = nullptr;
  uint64_t size_ = 0;
  uint64_t cycle_ = 0;
  uint32_t read_budget_ = 0, write_budget_ = 0;  // in units of 1/rate_den beat
  bool last_was_read_ = false;
  std::deque<Read> reads_;
  std::deque<Write> writes_;  // bursts accepted whose data are not complete
  std::deque<Response> responses_;
  std::vector<uint8_t> beat_;
  SlaveSignals out_;
  Waiting ar_waiting_, aw_waiting_;
  bool r_shown_ = false, b_shown_ = false;
  uint64_t read_beats_ = 0, write_beats_ = 0;
  std::string violation_;
};

}  // namespace rm
