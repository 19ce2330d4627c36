// The cycles of the pipelined key switch: which slot starts when, and when its rows pass each place. The same rules as
// rtl/pipelined/schedule.py; nothing here looks at the design.
#pragma once
#include "multiplier.h"

struct Timing {
  u64 rows, lead, chain, m;

  Timing(unsigned kind, unsigned w, unsigned log_p, unsigned log_n, unsigned log_n_max) {
    m = latency_of(kind, w);
    rows = u64(1) << (log_n - log_p);
    lead = m + 4;
    const u64 transform = rows - 1 + log_n * (m + 4) + (log_n_max - log_n);
    chain = 2 * transform + m + 2;  // inverse, lift, forward
  }
  // Row 0 of a slot that starts in cycle 0: asked for at the source; out of the forward transforms; and so on.
  u64 target() const { return lead - 2; }
  u64 row() const { return lead + chain; }
  u64 key() const { return row() - 1; }
  u64 pending() const { return row() + 3; }  // of a last digit: the special residue may start
  u64 addend() const { return row() + 1 + m; }
  u64 result() const { return row() + 4 + m; }
};

// What starts in each cycle.
class Sequencer {
 public:
  enum Start { kNone, kDigit, kDown };
  Sequencer(const Timing& timing, unsigned level) : timing_(timing), level_(level) {}

  Start choose(u64 now, bool digit_valid, bool room) const {
    if (started_ && now - last_ < timing_.rows) return kNone;
    if (open_ && now >= pending_ && room) return kDown;
    return digit_valid && !(digit_ + 1 == level_ && open_) ? kDigit : kNone;
  }
  void take(Start start, u64 now) {
    if (start == kNone) return;
    started_ = true;
    last_ = now;
    if (start == kDigit) {
      if (++digit_ < level_) return;
      digit_ = 0;
      open_ = true;
      pending_ = now + timing_.pending();
    } else {
      if (comp_) open_ = false;
      comp_ = !comp_;
    }
  }
  unsigned digit() const { return digit_; }
  unsigned comp() const { return comp_; }
  bool idle() const { return digit_ == 0 && !open_; }

 private:
  Timing timing_;
  unsigned level_, digit_ = 0, comp_ = 0;
  bool started_ = false, open_ = false;
  u64 last_ = 0, pending_ = 0;
};
