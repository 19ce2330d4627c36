#include "axi_memory.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace rm {
namespace {

constexpr uint64_t kPage = 4096;

// Finaliser of splitmix64: one independent draw for each (seed, cycle, channel).
uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

AxiMemory::AxiMemory(const MemorySettings& settings, uint32_t data_bits)
    : beat_bytes_(data_bits / 8), beat_(data_bits / 8) {
  configure(settings);
  reset();
}

void AxiMemory::configure(const MemorySettings& s) {
  if (s.read_latency < 1 || s.write_latency < 1) throw std::invalid_argument("a latency is at least one cycle");
  if (s.rate_num < 1 || s.rate_num > s.rate_den || s.rate_den > 65536)
    throw std::invalid_argument("a rate is rate_num beats in rate_den cycles, 1 <= num <= den <= 65536");
  if (s.outstanding < 1) throw std::invalid_argument("at least one burst must be accepted");
  for (uint32_t stall : s.stall)
    if (stall > 65535) throw std::invalid_argument("a stall of 65536/65536 never ends");
  if (s.error_resp > kDecErr) throw std::invalid_argument("a response has two bits");
  settings_ = s;
}

void AxiMemory::attach(uint8_t* bytes, uint64_t size) {
  bytes_ = bytes;
  size_ = size;
}

void AxiMemory::reset() {
  cycle_ = 0;
  read_budget_ = write_budget_ = budget_cap();
  last_was_read_ = false;
  reads_.clear();
  writes_.clear();
  responses_.clear();
  out_ = SlaveSignals{};
  out_.r_data = beat_.data();
  ar_waiting_ = aw_waiting_ = Waiting{};
  r_shown_ = b_shown_ = false;
  read_beats_ = write_beats_ = 0;
  violation_.clear();
}

bool AxiMemory::stalled(Channel channel) const {
  const uint32_t chance = settings_.stall[channel];
  if (chance == 0) return false;
  const uint64_t index = cycle_ * kChannels + channel + 1;
  return (mix(settings_.seed + index * 0x9e3779b97f4a7c15u) >> 48) < chance;
}

uint8_t AxiMemory::response(uint64_t addr, unsigned kind) const {
  if (addr + beat_bytes_ > size_) return kDecErr;
  const bool hit = (settings_.error_kinds & kind) != 0 && addr < settings_.error_end &&
                   addr + beat_bytes_ > settings_.error_first;
  return hit ? static_cast<uint8_t>(settings_.error_resp) : static_cast<uint8_t>(kOkay);
}

// The oldest accepted burst that still lacks data may take a beat.
bool AxiMemory::write_open() const { return !writes_.empty() && writes_.front().left > 0; }

void AxiMemory::refill() {
  const uint32_t cap = budget_cap();
  read_budget_ = std::min(read_budget_ + settings_.rate_num, cap);
  if (!settings_.shared) write_budget_ = std::min(write_budget_ + settings_.rate_num, cap);
}

void AxiMemory::show_read(bool allowed) {
  out_.r_valid = false;
  if (reads_.empty() || reads_.front().due > cycle_) return;
  if (!r_shown_ && (!allowed || stalled(kR))) return;
  const Read& burst = reads_.front();
  out_.r_valid = r_shown_ = true;
  out_.r_id = burst.id;
  out_.r_last = burst.left == 1;
  out_.r_resp = response(burst.addr, 1);
  if (out_.r_resp != kDecErr && burst.addr + beat_bytes_ <= size_) {
    std::memcpy(beat_.data(), bytes_ + burst.addr, beat_bytes_);
  } else {
    std::memset(beat_.data(), 0, beat_bytes_);
  }
}

const SlaveSignals& AxiMemory::drive(const MasterSignals& master) {
  refill();
  const uint32_t beat = settings_.rate_den;
  out_.ar_ready = reads_.size() < settings_.outstanding && !stalled(kAr);
  out_.aw_ready = writes_.size() + responses_.size() < settings_.outstanding && !stalled(kAw);

  const bool write_wants = write_open() && !stalled(kW);
  uint32_t& write_budget = settings_.shared ? read_budget_ : write_budget_;
  // A shared bus alternates while both directions wait.
  const bool write_first = settings_.shared && last_was_read_ && write_wants && master.w_valid;
  const uint32_t reserved = write_first ? beat : 0;
  show_read(read_budget_ >= beat + reserved);
  const uint32_t used = settings_.shared && out_.r_valid ? beat : 0;
  out_.w_ready = write_wants && write_budget >= beat + used;

  out_.b_valid = false;
  if (!responses_.empty() && responses_.front().due <= cycle_ && (b_shown_ || !stalled(kB))) {
    out_.b_valid = b_shown_ = true;
    out_.b_resp = responses_.front().resp;
  }
  return out_;
}

void AxiMemory::violate(const std::string& what) {
  if (violation_.empty()) violation_ = "cycle " + std::to_string(cycle_) + ": " + what;
}

void AxiMemory::check_burst(const char* name, uint64_t addr, uint32_t len) {
  const uint64_t bytes = uint64_t{len + 1} * beat_bytes_;
  if (len > 255) violate(std::string(name) + " longer than 256 beats");
  if (addr % beat_bytes_ != 0) violate(std::string(name) + " is not aligned to a beat");
  if (addr / kPage != (addr + bytes - 1) / kPage) violate(std::string(name) + " crosses 4 KiB");
}

void AxiMemory::check_stable(const char* name, Waiting& waiting, bool valid, bool ready, uint64_t addr,
                             uint32_t len) {
  if (waiting.valid && (!valid || addr != waiting.addr || len != waiting.len))
    violate(std::string(name) + " changed while it waited");
  waiting = Waiting{valid && !ready, addr, len};
}

void AxiMemory::take_write(const MasterSignals& master) {
  Write& burst = writes_.front();
  const uint8_t resp = response(burst.addr, 2);
  if (resp == kOkay) {
    std::memcpy(bytes_ + burst.addr, master.w_data, beat_bytes_);
  } else {
    burst.resp = std::max(burst.resp, resp);
  }
  burst.addr += beat_bytes_;
  --burst.left;
  ++write_beats_;
  last_was_read_ = false;
  (settings_.shared ? read_budget_ : write_budget_) -= settings_.rate_den;
  if (master.w_last != (burst.left == 0)) violate("WLAST is not on the last beat");
  if (burst.left == 0) {
    responses_.push_back({cycle_ + settings_.write_latency, burst.resp});
    writes_.pop_front();
  }
}

void AxiMemory::advance(const MasterSignals& master) {
  check_stable("AR", ar_waiting_, master.ar_valid, out_.ar_ready, master.ar_addr, master.ar_len);
  check_stable("AW", aw_waiting_, master.aw_valid, out_.aw_ready, master.aw_addr, master.aw_len);

  if (out_.r_valid && master.r_ready) {
    Read& burst = reads_.front();
    burst.addr += beat_bytes_;
    if (--burst.left == 0) reads_.pop_front();
    r_shown_ = false;
    ++read_beats_;
    last_was_read_ = true;
    read_budget_ -= settings_.rate_den;
  }
  if (out_.b_valid && master.b_ready) {
    responses_.pop_front();
    b_shown_ = false;
  }
  if (out_.w_ready && master.w_valid) take_write(master);
  if (out_.ar_ready && master.ar_valid) {
    check_burst("AR", master.ar_addr, master.ar_len);
    reads_.push_back({master.ar_addr, cycle_ + settings_.read_latency, master.ar_len + 1, master.ar_id});
  }
  if (out_.aw_ready && master.aw_valid) {
    check_burst("AW", master.aw_addr, master.aw_len);
    writes_.push_back({master.aw_addr, master.aw_len + 1, kOkay});
  }
  ++cycle_;
}

}  // namespace rm
