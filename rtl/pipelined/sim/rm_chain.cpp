// The simulated chain: rm_key_switch.h. With P_Units, which a pool has, this file is empty.
#ifndef P_Units
#include "shell.h"

namespace {

using namespace engine;

constexpr unsigned kP = 1u << P_LogP;

// Rows of slots pass a place in the order of the slots.
struct Place {
  unsigned slot = ~0u;  // digits, or components, that were there
  bool asked = false;
  u64 row = 0;
  void step(bool asks, u64 time) {
    asked = asks;
    row = time;
    slot += asks && time == 0;
  }
};

class Chain : Shell {
 public:
  explicit Chain(const rm_key_switch_job& job) : Shell(job) {
    if (job.special != 1 || job.alpha != 1) throw Failed{"it was not built for this set"};
    auto& t = *top_;
    t.digit_valid_i = t.room_i = t.target_valid_i = t.key_valid_i = t.addend_valid_i = 0;
    reset();
  }

  void run() {
    for (unsigned i = 0; i <= job_.level; i++) {
      modulus(i, number(i), false);
      modulus(i, number(i), true);
      const u64 q = job_.q[i];
      if (i < job_.level) write(number(i), 19, mul_mod(inverse_mod(job_.q[job_.level] % q, q), factor(q), q));
      for (unsigned s = 0; s <= job_.level; s++) write(number(i), 32 + number(s), job_.q[s] % q);
      prepare(number(i));
    }
    work();
  }

 private:
  // In the engine modulus 0 is the special one.
  unsigned number(unsigned i) const { return i < job_.level ? i + 1 : 0; }
  u64 place(unsigned lane, u64 row) const { return (u64(lane >> 1) << (job_.log_n - P_LogP + 1)) + 2 * row + (lane & 1); }
  template <typename Port>
  void put(Port& port, unsigned limb, const u64* values, u64 row, u64 by = 1, u64 q = 0) const {
    for (unsigned l = 0; l < kP; l++) {
      const u64 value = values[place(l, row)];
      set(port, (limb * kP + l) * kW, kW, by == 1 ? value : mul_mod(value, by, q));
    }
  }

  void work() {
    auto& t = *top_;
    const unsigned all = job_.count * job_.level;
    unsigned digits_started = 0, components = 0;
    Place target, keyed, addend, result;
    bool missed = false;
    u64 begun = 0, rows = 0;
    t.room_i = 1;
    for (unsigned k = 0; k < job_.count; k++) job_.bad[k] = 0;
    for (const u64 first = cycles_; components < 2 * job_.count; tick()) {
      if (cycles_ - first > limit()) throw Failed{"it does not come to an end"};
      clear(t.target_row_i), clear(t.key_row_i), clear(t.addend_row_i);
      if (target.asked) put(t.target_row_i, 0, operand(target.slot / job_.level, target.slot % job_.level), target.row);
      const bool miss = keyed.asked && job_.miss == keyed.slot / job_.level + 1 && !missed;
      missed = missed || miss;
      for (unsigned i = 0; keyed.asked && !miss && i <= job_.level; i++) {
        const u64 q = job_.q[i], by = factor(q);
        for (unsigned c = 0; c < 2; c++) put(t.key_row_i, c * (kLimbs + 1) + number(i), key(keyed.slot % job_.level, c, i), keyed.row, by, q);
      }
      for (unsigned i = 0; addend.asked && i < job_.level; i++) {
        put(t.addend_row_i, i, job_.addend + part(addend.slot / 2, addend.slot % 2, i), addend.row);
      }
      t.target_valid_i = target.asked;
      t.key_valid_i = keyed.asked && !miss;
      t.addend_valid_i = addend.asked;
      t.digit_valid_i = digits_started < all;
      settle();
      if (t.bad_size_o) throw Failed{"it was not built for this set"};
      if (t.fault_o) throw Failed{"it reports a fault"};
      if (t.digit_start_o && digits_started++ == 0) begun = cycles_;
      target.step(t.target_re_o, t.target_time_o);
      keyed.step(t.key_re_o, t.key_time_o);
      addend.step(t.addend_re_o, t.addend_time_o);
      result.step(t.result_valid_o, t.result_time_o);
      if (!result.asked) continue;
      const unsigned k = result.slot / 2;
      for (unsigned i = 0; i < job_.level; i++) {
        u64* out = job_.result + part(k, result.slot % 2, i);
        for (unsigned l = 0; l < kP; l++) out[place(l, result.row)] = get(t.result_row_o, (i * kP + l) * kW, kW);
      }
      job_.bad[k] |= t.result_bad_o;
      if (++rows % (n_ >> P_LogP) == 0) components++, job_.ended[k] = cycles_ - begun;
    }
  }
};

}  // namespace

EXPORTED void rm_key_switch_parameters_of(rm_key_switch_parameters* parameters) {
  *parameters = {RM_KEY_SWITCH_ABI, 0, kLimbs, 1, 1, kLimbs, kW, P_LogNMax, P_LogNMin};
}

EXPORTED int rm_key_switch_run(const rm_key_switch_job* job, char* message, size_t size) {
  return answer(message, size, [job] { Chain(*job).run(); });
}
#endif
