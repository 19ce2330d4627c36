// rm_pool_table and rm_pool_rules against the rules of pool_schedule.h: random timetables of every set of the build, right ones
// and wrong ones, with promises and key switches that come late. Units and banks are their closed forms.
//   +n=KEY SWITCHES a timetable   +rounds=N timetables a set   +seed=S
#include <type_traits>

#include "../../ntt/test/fields.h"
#include "pool_schedule.h"

namespace {

class Bench {
 public:
  Bench(int argc, char** argv, u64 seed) : dut_(argc, argv), rng_(seed), seed_(seed) {}

  // Returns whether all key switches came to their end.
  bool run(const Set& set, const std::vector<Row>& table, u64 count, unsigned switch_chance, unsigned promise_chance, bool wrong) {
    load(set, table);
    Rules rules(set, kLogN, table);
    const PoolTiming& timing = rules.timing();
    std::deque<std::pair<Rules::Start, u64>> flight;
    struct Unit {
      i64 free = -(i64(1) << 40);
      bool inverse = false;
    };
    std::vector<Unit> units(P_Units);
    u64 taken = 0, done = 0, quiet = 0;
    while (done < count) {
      const u64 cycle = dut_.cycles();
      drive(flight, timing, cycle);
      dut_->switch_valid_i = taken < count && rng_.chance(switch_chance);
      dut_->promise_ready_i = rng_.chance(promise_chance);
      dut_.settle();
      const unsigned kind = unsigned(dut_->task_o >> 17);
      const bool inverse = kind == kBack || kind == kRest;
      unsigned ready = 0;
      for (unsigned u = 0; u < P_Units; u++) ready |= unsigned(i64(cycle) >= units[u].free + i64(units[u].inverse == inverse ? 0 : 3 * kColumn)) << u;
      dut_->unit_ready_i = ready;
      dut_.settle();
      const Rules::Now now = rules.now(cycle);
      const bool able = now.task && now.able, starts = able && (now.rest || dut_->promise_ready_i);
      if (bool(dut_->switch_ready_o) != now.take) fail("cycle %" PRIu64 ": ready for a key switch: %d", cycle, int(dut_->switch_ready_o));
      if (bool(dut_->bad_task_o) != now.bad) fail("cycle %" PRIu64 ": a task outside of the set: %d", cycle, int(dut_->bad_task_o));
      if (bool(dut_->start_o) != starts || bool(dut_->promise_valid_o) != (able && !now.rest)) {
        fail("cycle %" PRIu64 ": kind %u, modulus %u, part %u: starts %d", cycle, now.row.kind, now.row.mod, now.row.part, int(dut_->start_o));
      }
      taken += now.take && dut_->switch_valid_i;
      done += dut_->done_o;
      if (bool(dut_->idle_o) && dut_->busy_o) fail("idle and busy");
      if (starts) started(set, rules, now, cycle, flight, units);
      else rules.step(now, cycle, dut_->switch_valid_i, dut_->promise_ready_i);
      if (now.bad && wrong) return false;
      quiet = !starts && !able && (now.task || now.full) && cycle > rules.quiet_after() ? quiet + 1 : 0;
      if (quiet > 200 && wrong) return false;
      if (quiet > 200) fail("a good timetable stops: kind %u, modulus %u, part %u", now.row.kind, now.row.mod, now.row.part);
      dut_.tick();
    }
    return true;
  }
  Rng& rng() { return rng_; }
  int end() { return pass(starts_, seed_, dut_.cycles(), "rm_pool_table and rm_pool_rules"); }

 private:
  static constexpr unsigned kLogN = P_LogNMax;
  // Of a task: the port of the slot and four limbs of sums, then what is held here.
  static constexpr unsigned kLimbBits = 25, kTaskBits = 59;

  void load(const Set& set, const std::vector<Row>& table) {
    dut_->rst_ni = dut_->switch_valid_i = dut_->leave_i = dut_->part_done_i = dut_->finished_i = 0;
    dut_->log_rows_i = kLogN - 4;
    dut_->level_i = set.level, dut_->special_i = set.special, dut_->alpha_i = set.alpha;
    dut_->length_i = table.size();
    for (std::size_t i = 0; i < table.size(); i++) {
      dut_->table_we_i = 1;
      dut_->table_index_i = i;
      dut_->table_row_i = table[i].packed();
      dut_.tick();
    }
    dut_->table_we_i = 0;
    dut_->rst_ni = 1;
  }
  // First rows that leave, finished sums and results, in their cycles.
  void drive(std::deque<std::pair<Rules::Start, u64>>& flight, const PoolTiming& timing, u64 cycle) {
    dut_->leave_i = dut_->part_done_i = dut_->finished_i = 0;
    Fields<std::decay_t<decltype(dut_->finished_task_i)>>::clear(dut_->finished_task_i);
    for (const auto& [s, task] : flight) {
      if (cycle == s.cycle + timing.leaves) {
        dut_->leave_i = 1;
        dut_->leave_task_i = task;
      }
      const bool last = task >> (kLimbBits + 1) & 1, adds = s.row.kind == kBack || s.row.kind == kUp;
      if (adds && last && cycle == s.cycle + timing.written() - 1) {
        dut_->finished_i |= 1u << s.feed;
        Fields<std::decay_t<decltype(dut_->finished_task_i)>>::set(dut_->finished_task_i, kTaskBits * s.feed, kTaskBits, task);
      }
      if (s.row.kind == kDown && cycle == s.cycle + timing.result() + timing.rows - 1) {
        dut_->part_done_i = 1;
        dut_->part_tag_i = s.tag;
      }
    }
    while (!flight.empty() && cycle >= flight.front().first.cycle + timing.result() + timing.rows) flight.pop_front();
  }
  template <typename Units>
  void started(const Set& set, Rules& rules, const Rules::Now& now, u64 cycle, std::deque<std::pair<Rules::Start, u64>>& flight, Units& units) {
    rules.step(now, cycle, dut_->switch_valid_i, dut_->promise_ready_i);
    const Rules::Start& s = rules.last();
    const u64 all = dut_->start_task_o, task = all >> kLimbBits;
    const bool adds = s.row.kind == kBack || s.row.kind == kUp;
    const unsigned slot = adds ? s.row.part : P_Digits + s.row.part;
    const unsigned width = adds ? unsigned(set.digit(s.row.part).size()) : set.special;
    const u64 want = u64(s.row.kind) << 31 | u64(s.row.unit) << 26 | u64(s.row.mod) << 21 | u64(s.row.part) << 17 | u64(s.tag) << 14 | u64(slot) << 9;
    if (task >> 9 << 9 != want || (task >> 3 & 7) != s.feed || bool(task & 1) != (width == 1)) fail("cycle %" PRIu64 ": task %" PRIx64 " starts", cycle, task);
    const unsigned column = s.row.kind == kBack ? s.row.mod % set.alpha : s.row.kind == kRest ? s.row.mod - P_Limbs : unsigned(task >> 6 & 7);
    if ((task >> 6 & 7) != column) fail("column %" PRIu64 " instead of %u", task >> 6 & 7, column);
    if (adds && (bool(task >> 2 & 1) != s.first || bool(task >> 1 & 1) != s.last)) fail("cycle %" PRIu64 ": first and last are %x", cycle, unsigned(task >> 1 & 3));
    units[s.row.unit] = {i64(cycle + interval(kLogN, s.row.back())), s.row.back()};
    flight.push_back({s, all});
    starts_++;
  }

  Dut dut_;
  Rng rng_;
  u64 seed_, starts_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 seed = args.number("seed", 1), n = args.number("n", 4);
  Bench bench(argc, argv, seed);
  u64 stopped = 0;
  for (unsigned level = 1; level <= P_Limbs; level++) {
    for (unsigned special = 1; special <= P_Special; special++) {
      for (unsigned alpha = 1; alpha <= P_Alpha; alpha++) {
        const Set set{level, special, alpha};
        if (set.digits() > P_Digits) continue;
        for (u64 round = 0; round < args.number("rounds", 1); round++) {
          const std::vector<Row> table = random_table(set, 1 + unsigned(bench.rng().below(3)), round % 3 != 1, bench.rng());
          if (table.size() > P_Depth) continue;
          bench.run(set, table, n, 256, 256, false);
          bench.run(set, table, n, 2, 30, false);
          for (int i = 0; i < 8; i++) stopped += !bench.run(set, wrong_table(table, bench.rng()), n, 256, 128, true);
        }
      }
    }
  }
  if (stopped == 0) fail("no wrong timetable stopped");
  return bench.end();
}
