// When commands start and end, by the rules of rtl/ntt/README.md: closed forms and a walk from command to
// command, never from cycle to cycle.
#pragma once
#include <algorithm>
#include <vector>

#include "harness.h"

// From a command's acceptance to the first cycle in which it can be the head: a queue and a register.
constexpr u64 kToHead = 2;

struct Timing {
  unsigned log_n, log_nbf, mul_latency;

  u64 rows() const { return u64(1) << (log_n - log_nbf - 1); }
  // From the last read request to pass_o, and whether limbs are long enough for a follower.
  u64 pass() const { return 2; }
  bool follows() const { return rows() >= 2 * (mul_latency + 7); }
  // From the read request of a row to its write request.
  u64 row_latency() const { return mul_latency + 9; }
  // Cycles in which a transform holds the sequencer; ganged, both lanes' sequencers.
  u64 sequence(bool gang = false) const {
    const u64 mine = gang ? rows() / 2 : rows();
    u64 cycles = log_n * mine;
    for (unsigned s = 0; s + 1 < log_n; s++) {
      const unsigned shift = gang ? std::max(1u, s) : s + 1;
      const u64 need = row_latency() + std::max<u64>(1, mine >> shift);
      if (need > mine) cycles += need - mine;
    }
    return cycles;
  }
  // From the first cycle in which a table may be filled to the first in which its command may start.
  u64 generation() const {
    const u64 lanes = log_nbf < 2 ? 1 : log_nbf == 2 ? 2 : 4, least = mul_latency + 4;
    u64 cycles = 1 + mul_latency;
    for (unsigned b = 0; b < log_n; b++) {
      const u64 groups = std::max<u64>(1, (u64(1) << b) / lanes);
      cycles += b + 1 < log_n ? std::max(groups, least) : groups;
    }
    return cycles;
  }
  // Cycles after the last read request that needs a slot, from which it may be filled anew.
  u64 slot_release() const { return mul_latency + 7; }
};

// What reads the rows of a bank in order as early as the rules let it, from two cycles after pass_o on, one a cycle.
class Follower {
 public:
  void start(u64 pass, unsigned bank) { from_ = pass + 2, bank_ = bank, active_ = true; }
  // At the latest when all of the transform is written.
  void stop(unsigned bank) { active_ = active_ && bank != bank_; }
  // In every cycle, before the rows written in it count as written.
  void check(u64 cycle, const std::vector<char>* in_flight) const {
    if (!active_ || cycle < from_) return;
    const std::size_t row = std::size_t(cycle - from_);
    if (row < in_flight[bank_].size() && in_flight[bank_][row]) fail("row %zu of bank %u is not there for its follower", row, bank_);
  }

 private:
  u64 from_ = 0;
  unsigned bank_ = 0;
  bool active_ = false;
};

// Two tables, one victim, and the sequencer.
class Schedule {
 public:
  explicit Schedule(Timing timing) : timing_(timing) {}
  // The same unit after a flush, perhaps with another N.
  Schedule(Timing timing, const Schedule& before) : Schedule(before) {
    timing_ = timing;
    slots_[0].mod = slots_[1].mod = -1;
  }
  // The oldest command, accepted in cycle `accepted`, of modulus `mod`: first cycle in which it may start.
  u64 ready(u64 accepted, unsigned mod) {
    const u64 head = std::max(accepted + kToHead, latest_start_ + 1);
    u64 hit = head;
    slot_ = holds(0, mod) ? 0 : 1;
    if (!holds(slot_, mod)) {
      slot_ = 1 - latest_slot_;
      hit = std::max(head, slots_[slot_].released) + timing_.generation();
      slots_[slot_].mod = int(mod);
    }
    twiddles_ = hit;
    return std::max(hit, free_);
  }
  // Cycle from which the twiddle factors of the last requested command are present.
  u64 twiddles() const { return twiddles_; }
  u64 sequencer() const { return free_; }
  // The last requested command only makes twiddle factors, and has left the queue.
  void skip(u64 cycle) { latest_start_ = cycle; }
  void start(u64 cycle, bool gang = false) {
    latest_start_ = cycle;
    latest_slot_ = slot_;
    free_ = cycle + timing_.sequence(gang);
    slots_[slot_].released = free_ + timing_.slot_release();
  }
  u64 pass(u64 start, bool gang = false) const { return start + timing_.sequence(gang) + timing_.pass(); }
  u64 done(u64 start, bool gang = false) const { return start + timing_.sequence(gang) + timing_.row_latency(); }

 private:
  struct Slot {
    int mod = -1;
    u64 released = 0;
  };
  bool holds(unsigned slot, unsigned mod) const { return slots_[slot].mod == int(mod); }

  Timing timing_;
  Slot slots_[2];
  unsigned latest_slot_ = 1, slot_ = 0;
  u64 latest_start_ = 0, free_ = 0, twiddles_ = 0;
};
