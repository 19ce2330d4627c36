// The simulated pool: rm_key_switch.h. Without P_Units this file is empty.
#ifdef P_Units
#include "shell.h"

namespace {

using namespace engine;

constexpr unsigned kFeeds = P_Feeds, kLanes = 16, kTaskBits = 59, kTimeBits = P_LogNMax - 4, kTags = 8;
enum Kind : unsigned { kTake, kBack, kUp, kRest, kDown };

// Fields of rm_pool_pkg's task_t.
struct Task {
  unsigned mod, part, tag;
  u64 row;
};

class Pool : Shell {
 public:
  explicit Pool(const rm_key_switch_job& job) : Shell(job) {
    auto& t = *top_;
    if (job.special > P_Special || job.alpha > P_Alpha || digits() > P_Digits) throw Failed{"it was not built for this set"};
    if (job.rows < 1 || job.rows > P_Depth) throw Failed{"it has no place for this timetable"};
    t.special_i = job.special;
    t.alpha_i = job.alpha;
    t.length_i = job.rows;
    t.table_we_i = t.switch_valid_i = t.promise_ready_i = 0;
    t.target_valid_i = t.key_valid_i = t.own_valid_i = t.addend_valid_i = 0;
    reset();
  }

  void run() {
    for (unsigned i = 0; i < moduli(); i++) {
      for (unsigned inverse = 0; inverse < 2; inverse++) {
        modulus(i, number(i), inverse);
        prepare(2 * number(i) + inverse);
      }
    }
    constants();
    for (unsigned i = 0; i < job_.rows; i++) {
      const std::uint32_t* row = job_.table + 5 * i;
      top_->table_we_i = 1;
      top_->table_index_i = i;
      top_->table_row_i = row[0] << 17 | row[1] << 12 | row[2] << 7 | row[3] << 3 | row[4];
      tick();
    }
    top_->table_we_i = 0;
    work();
  }

 private:
  // Modulus i of the job in the engine, and the way back.
  unsigned number(unsigned i) const { return i < job_.level ? i : i - job_.level + kLimbs; }
  unsigned modulus_of(unsigned number) const { return number < kLimbs ? number : number - kLimbs + job_.level; }

  void of_class(unsigned cls, unsigned mod, unsigned field, u64 value) {
    top_->cfg_class_i = cls;
    write(mod, field, value);
  }
  // Raising moduli from `first` on to all others, as a class: rm_pool_pkg's fields.
  void raise(unsigned cls, unsigned first, unsigned count) {
    for (unsigned i = 0; i < moduli(); i++) {
      const u64 q = job_.q[i], all = product(first, count, ~0u, q);
      for (unsigned a = 0; a < P_Alpha; a++) {
        of_class(cls, number(i), 32 + a, a < count ? mul_mod(product(first, count, first + a, q), factor(q), q) : 0);
        of_class(cls, number(i), 40 + a, (q - mul_mod((a + 1) % q, all, q)) % q);
      }
    }
    for (unsigned a = 0; a < P_Alpha; a++) {
      if (a >= count) {
        of_class(cls, 0, 48 + a, 0);
        continue;
      }
      const u64 s = job_.q[first + a];
      const unsigned bits = unsigned(64 - __builtin_clzll(s)), shift = bits > 14 ? bits - 14 : 0;
      of_class(cls, 0, 48 + a, u64(shift) << 15 | u64((u128(1) << (28 + shift)) / s));
    }
    of_class(cls, 0, 56, job_.q[first] / 2);
  }
  void constants() {
    for (unsigned j = 0; j < digits(); j++) raise(j, j * job_.alpha, digit(j));
    raise(P_Digits, job_.level, job_.special);
    for (unsigned i = 0; i < moduli(); i++) {
      const bool limb = i < job_.level;
      const unsigned j = i / job_.alpha, first = limb ? j * job_.alpha : job_.level, count = limb ? digit(j) : job_.special;
      const u64 q = job_.q[i], scale = mul_mod(inverse_mod(product(first, count, i, q), q), factor(q), q);
      for (unsigned a = 0; a < P_Alpha; a++) of_class(P_Digits + 1, number(i), 32 + a, a ? 0 : scale);
      if (limb) write(i, 19, mul_mod(inverse_mod(product(job_.level, job_.special, ~0u, q), q), factor(q), q));
    }
  }
  unsigned digit(unsigned j) const { return std::min(job_.alpha, job_.level - j * job_.alpha); }

  template <typename Tasks, typename Times>
  static Task task(const Tasks& tasks, const Times& times, unsigned feed) {
    const u64 bits = get(tasks, kTaskBits * feed, kTaskBits);
    return {unsigned(bits >> 46 & 31), unsigned(bits >> 42 & 15), unsigned(bits >> 39 & 7), get(times, kTimeBits * feed, kTimeBits)};
  }
  template <typename Port>
  static void put(Port& port, unsigned word, const u64* values, u64 row, u64 by, u64 q) {
    for (unsigned l = 0; l < kLanes; l++) {
      const u64 value = values[kLanes * row + l];
      set(port, (word + l) * kW, kW, by == 1 ? value : mul_mod(value, by, q));
    }
  }

  void work() {
    auto& t = *top_;
    t.promise_ready_i = 1;
    unsigned taken = 0, done = 0, job_of[kTags] = {};
    Task target[kFeeds] = {}, keyed[kFeeds] = {}, addend[kFeeds] = {};
    bool asks_target[kFeeds] = {}, asks_key[kFeeds] = {}, asks_own[kFeeds] = {}, asks_addend[kFeeds] = {};
    bool missed = false;
    u64 begun = 0;
    for (const u64 first = cycles_; done < job_.count; tick()) {
      if (cycles_ - first > limit()) throw Failed{"it does not come to an end"};
      clear(t.target_row_i), clear(t.key_row_i), clear(t.own_row_i), clear(t.addend_row_i);
      t.target_valid_i = t.key_valid_i = t.own_valid_i = t.addend_valid_i = 0;
      for (unsigned f = 0; f < kFeeds; f++) {
        if (asks_target[f]) {
          put(t.target_row_i, kLanes * f, operand(job_of[target[f].tag], target[f].mod), target[f].row, 1, 0);
          t.target_valid_i |= 1u << f;
        }
        const unsigned k = job_of[keyed[f].tag];
        const bool miss = asks_key[f] && job_.miss == k + 1 && !missed;
        missed = missed || miss;
        if (asks_key[f] && !miss) {
          const unsigned i = modulus_of(keyed[f].mod);
          const u64 q = job_.q[i], by = factor(q);
          for (unsigned c = 0; c < 2; c++) put(t.key_row_i, kLanes * (2 * f + c), key(keyed[f].part, c, i), keyed[f].row, by, q);
          t.key_valid_i |= 1u << f;
        }
        if (asks_own[f]) {
          put(t.own_row_i, kLanes * f, operand(k, keyed[f].mod), keyed[f].row, 1, 0);
          t.own_valid_i |= 1u << f;
        }
        if (asks_addend[f]) {
          const Task& a = addend[f];
          put(t.addend_row_i, kLanes * f, job_.addend + part(job_of[a.tag], a.part, a.mod), a.row, 1, 0);
          t.addend_valid_i |= 1u << f;
        }
      }
      t.switch_valid_i = taken < job_.count;
      settle();
      if (t.bad_size_o || t.bad_set_o) throw Failed{"it was not built for this set"};
      if (t.bad_table_o) throw Failed{"the timetable has a task outside of the set"};
      if (t.stuck_o) throw Failed{"the timetable stops"};
      if (t.fault_o) throw Failed{"it reports a fault"};
      if (t.switch_valid_i && t.switch_ready_o) {
        begun = taken ? begun : cycles_;
        job_of[t.switch_tag_o] = taken++;
      }
      for (unsigned f = 0; f < kFeeds; f++) {
        asks_target[f] = t.target_re_o >> f & 1;
        asks_key[f] = t.key_re_o >> f & 1;
        asks_own[f] = t.own_re_o >> f & 1;
        asks_addend[f] = t.addend_re_o >> f & 1;
        target[f] = task(t.target_task_o, t.target_time_o, f);
        keyed[f] = task(t.key_task_o, t.key_time_o, f);
        addend[f] = task(t.addend_task_o, t.addend_time_o, f);
        if (!(t.result_valid_o >> f & 1)) continue;
        const Task r = task(t.result_task_o, t.result_time_o, f);
        u64* out = job_.result + part(job_of[r.tag], r.part, r.mod) + kLanes * r.row;
        for (unsigned l = 0; l < kLanes; l++) out[l] = get(t.result_row_o, (kLanes * f + l) * kW, kW);
      }
      if (t.done_o) {
        const unsigned k = job_of[t.done_tag_o];
        job_.ended[k] = cycles_ - begun;
        job_.bad[k] = t.done_bad_o;
        done++;
      }
    }
  }
};

}  // namespace

EXPORTED void rm_key_switch_parameters_of(rm_key_switch_parameters* parameters) {
  *parameters = {RM_KEY_SWITCH_ABI, 1, kLimbs, P_Special, P_Alpha, P_Digits, kW, P_LogNMax, P_LogNMin};
}

EXPORTED int rm_key_switch_run(const rm_key_switch_job* job, char* message, size_t size) {
  return answer(message, size, [job] { Pool(*job).run(); });
}
#endif
