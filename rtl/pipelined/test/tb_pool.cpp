// rm_pool_key_switch against the definition on residues, and against the rules of pool_schedule.h: every start, every row asked
// for and every row of a result in its cycle, for random timetables.
//   +n=KEY SWITCHES a pattern   +rounds=N timetables a set   +sets=LEVEL,SPECIAL,ALPHA;….
//   +logn=FIRST +to=LAST sizes   +resets=N   +wrong=N wrong timetables a set   +seed=S.
//   +table=FILE: rows "kind unit modulus part age" in place of random ones; +trace prints the cycle of each start and end
// Patterns: all promises early; rows promised late; key switches late; with missing rows. Half of the keys are real ones, whose
// results are also decrypted. Words that nobody asked for are noise.
#include <fstream>
#include <map>
#include <sstream>
#include <type_traits>

#include "../../ntt/test/fields.h"
#include "../../streaming_ntt/test/table.h"
#include "pool_schedule.h"

namespace {

struct Job {
  Limbs target;
  std::vector<Limbs> addend, expected;
  const Key* key;
  unsigned miss = 0;    // of what rows are missing: 0 nothing, 1 operand, 2 keys, 3 the operand beside its own product, 4 addends
  bool missed = false;  // one was
};

class Bench {
 public:
  Bench(int argc, char** argv, u64 seed, bool trace) : dut_(argc, argv), rng_(seed), seed_(seed), trace_(trace) {}

  void reset() {
    dut_->rst_ni = 0;
    dut_->cfg_we_i = dut_->prepare_valid_i = dut_->table_we_i = dut_->switch_valid_i = dut_->promise_ready_i = 0;
    for (int i = 0; i < 3; i++) dut_.tick();
    dut_->rst_ni = 1;
    flight_.clear();
    jobs_of_tag_.clear();
    rules_.reset();
  }

  void set_size(unsigned log_n) {
    log_n_ = log_n;
    dut_->log_n_i = log_n;
    reset();
    moduli_.clear();
    for (u64 q : find_primes(kMods, log_n, rng_)) moduli_.emplace_back(q, log_n, rng_);
    for (unsigned m = 0; m < kMods; m++) {
      const Modulus& modulus = moduli_[m];
      for (unsigned inverse = 0; inverse < 2; inverse++) {
        write(0, m, 0, modulus.q, inverse);
        write(0, m, 1, modulus.aux, inverse);
        for (unsigned b = 0; b < log_n; b++) write(0, m, 2 + b, inverse ? inverse_root(modulus, b) : modulus.roots[b], inverse);
        write(0, m, 18, factor_of(modulus.q), inverse);
        prepare_seeds(dut_, 2 * m + inverse);
      }
    }
  }

  void set_set(const Set& set) {
    set_ = set;
    dut_->level_i = set.level;
    dut_->special_i = set.special;
    dut_->alpha_i = set.alpha;
    context_ = std::make_unique<PoolContext>(moduli_, log_n_, set);
    for (unsigned j = 0; j < set.digits(); j++) {
      for (unsigned m : context_->active()) raise(j, m, set.digit(j));
      head(j, set.digit(j));
    }
    for (unsigned i = 0; i < set.level; i++) raise(P_Digits, i, context_->specials());
    head(P_Digits, context_->specials());
    for (unsigned m : context_->active()) {
      const bool limb = m < P_Limbs;
      const std::vector<unsigned> of = limb ? set.digit(set.digit_of(m)) : context_->specials();
      const u64 q = moduli_[m].q, scale = inverse_mod(context_->product(of, int(m), m), q);
      for (unsigned a = 0; a < P_Alpha; a++) write(P_Digits + 1, m, 32 + a, a ? 0 : mul_mod(scale, factor_of(q), q), false);
      if (limb) write(0, m, 19, mul_mod(inverse_mod(context_->product(context_->specials(), -1, m), q), factor_of(q), q), false);
    }
    keys_.clear();
    keys_.push_back(context_->random_key(rng_));
    keys_.push_back(context_->real_key(rng_));
  }

  void set_table(const std::vector<Row>& table) {
    if (table.size() > P_Depth) fail("a table of %zu rows", table.size());
    dut_->length_i = table.size();
    dut_->switch_valid_i = 0;
    for (std::size_t i = 0; i < table.size(); i++) {
      dut_->table_we_i = 1;
      dut_->table_index_i = i;
      dut_->table_row_i = table[i].packed();
      dut_.tick();
    }
    dut_->table_we_i = 0;
    auto rules = std::make_unique<Rules>(set_, log_n_, table);
    if (rules_) rules->follow(*rules_);
    rules_ = std::move(rules);
  }

  // Key switches on the table that is loaded. A wrong one may stop; returns whether all came to their end.
  bool stream(u64 count, unsigned switch_chance, unsigned promise_chance, bool miss, bool drain, bool wrong) {
    const unsigned signs = unsigned(rng_.below(4));
    dut_->centred_i = signs;
    prepare(count, miss, signs);
    u64 taken = 0, idle = 0, quiet = 0, refused = 0;
    done_ = 0;
    while (taken < count || (drain && done_ < count)) {
      dut_->switch_valid_i = taken < count && rng_.chance(switch_chance);
      dut_->promise_ready_i = rng_.chance(promise_chance) || promise_chance == 256;
      dut_.settle();
      const u64 cycle = dut_.cycles();
      const Rules::Now now = rules_->now(cycle);
      const bool task = now.task && now.able, starts = task && (now.rest || dut_->promise_ready_i);
      if (bool(dut_->switch_ready_o) != now.take) fail("cycle %" PRIu64 ": ready for a key switch: %d", cycle, int(dut_->switch_ready_o));
      if (bool(dut_->promise_valid_o) != (task && !now.rest) || bool(dut_->start_o) != starts) {
        fail("cycle %" PRIu64 ": offers %d, starts %d instead of %d, %d; kind %u modulus %u part %u", cycle, int(dut_->promise_valid_o),
             int(dut_->start_o), task && !now.rest, starts, now.row.kind, now.row.mod, now.row.part);
      }
      const bool take = now.take && dut_->switch_valid_i;
      if (take) {
        if (dut_->switch_tag_o != now.tag) fail("a key switch is called %d", int(dut_->switch_tag_o));
        jobs_of_tag_[now.tag] = &jobs_[taken++];
      }
      if (rules_->step(now, cycle, dut_->switch_valid_i, dut_->promise_ready_i)) {
        flight_.push_back(rules_->last());
        const Rules::Start& s = flight_.back();
        if (starts && dut_->promise_valid_o && get_task(dut_->promise_task_o, 0) != packed(s)) fail("another task is offered");
        if (trace_) {
          const u64 job = u64(jobs_of_tag_.at(s.tag) - jobs_.data());
          std::printf("start %" PRIu64 " %u %u %u %u %" PRIu64 "\n", job, s.row.kind, s.row.unit, s.row.mod, s.row.part, cycle);
        }
        idle = 0;
      }
      quiet = !starts && !task && (now.task || now.full) && cycle > rules_->quiet_after() ? quiet + 1 : 0;
      const bool blocked = quiet > 100;
      if ((dut_->stuck_o || dut_->bad_table_o) && !wrong) fail("a good timetable stops");
      refused = now.bad ? refused + 1 : 0;
      if (refused > 2 && !dut_->bad_table_o) fail("a task outside of the set is not refused");
      if (blocked && !now.bad && !dut_->stuck_o) fail("a timetable that cannot go on is not said to be stuck");
      if ((dut_->stuck_o || dut_->bad_table_o) && cycle > rules_->quiet_after() + 5) return false;
      if (dut_->stuck_o && cycle <= rules_->quiet_after()) fail("stuck while something runs");
      if (++idle > 400000) {
        if (wrong && dut_->bad_table_o) return false;
        fail("hangs with %zu tasks inside, %" PRIu64 " of %" PRIu64 " key switches done", flight_.size(), done_, count);
      }
      rows(cycle);
    }
    dut_->switch_valid_i = 0;
    return true;
  }

  void sizes_refused() {
    const unsigned sizes[][4] = {{P_LogNMin - 1, 1, 1, 1}, {P_LogNMax + 1, 1, 1, 1}, {P_LogNMax, 0, 1, 1}, {P_LogNMax, P_Limbs + 1, 1, 1},
                                 {P_LogNMax, 1, 0, 1},     {P_LogNMax, 1, P_Special + 1, 1}, {P_LogNMax, 1, 1, 0}, {P_LogNMax, 1, 1, P_Alpha + 1}};
    for (const auto& size : sizes) {
      dut_->log_n_i = size[0], dut_->level_i = size[1], dut_->special_i = size[2], dut_->alpha_i = size[3];
      dut_->switch_valid_i = dut_->promise_ready_i = 1;
      for (int i = 0; i < 100; i++) {
        dut_.settle();
        if (!dut_->bad_size_o && !dut_->bad_set_o) fail("2^%u, %u limbs, %u special, digits of %u: not refused", size[0], size[1], size[2], size[3]);
        if (dut_->switch_ready_o || dut_->start_o || dut_->stuck_o) fail("2^%u, level %u: starts or says it is stuck", size[0], size[1]);
        dut_.tick();
      }
    }
    dut_->switch_valid_i = 0;
  }
  Rng& rng() { return rng_; }
  const Set& set() const { return set_; }
  u64 bad() const { return bad_; }
  u64 decrypted() const { return decrypted_; }
  int end() {
    if (!flight_.empty()) fail("%zu tasks never ended", flight_.size());
    return pass(checked_, seed_, dut_.cycles(), "rm_pool_key_switch");
  }
  // No row of a table takes a key switch.
  void no_take(const std::vector<Row>& table) {
    std::vector<Row> rest;
    for (const Row& row : table) {
      if (row.kind != kTake) rest.push_back(row);
    }
    reset();
    set_table(rest);
    for (std::size_t i = 0; i < 3 * rest.size(); i++) dut_.tick();
    dut_.settle();
    if (!dut_->bad_table_o) fail("a table without key switches is not refused");
  }

 private:
  void write(unsigned cls, unsigned m, unsigned field, u64 value, bool inverse) {
    dut_->cfg_class_i = cls;
    dut_->cfg_inverse_i = inverse;
    write_field(dut_, m, field, value);
  }
  void raise(unsigned cls, unsigned into, const std::vector<unsigned>& from) {
    const u64 q = moduli_[into].q, all = context_->product(from, -1, into);
    for (unsigned a = 0; a < P_Alpha; a++) {
      const u64 factor = a < from.size() ? context_->product(from, int(from[a]), into) : 0;
      write(cls, into, 32 + a, mul_mod(factor, factor_of(q), q), false);
      write(cls, into, 40 + a, (q - mul_mod((a + 1) % q, all, q)) % q, false);
    }
  }
  void head(unsigned cls, const std::vector<unsigned>& from) {
    for (unsigned a = 0; a < P_Alpha; a++) {
      const u64 s = a < from.size() ? moduli_[from[a]].q : 0;
      write(cls, 0, 48 + a, s ? u64(PoolContext::shift_of(s)) << 15 | PoolContext::head_of(s) : 0, false);
    }
    write(cls, 0, 56, moduli_[from[0]].q / 2, false);
  }

  void prepare(u64 count, bool miss, unsigned signs) {
    const PoolContext& context = *context_;
    jobs_.assign(count, Job());
    for (u64 k = 0; k < count; k++) {
      Job& job = jobs_[k];
      for (unsigned i = 0; i < set_.level; i++) job.target.push_back(context.random(i, rng_));
      if (k % 5 == 3) {  // the greatest residues
        for (unsigned i = 0; i < set_.level; i++) job.target[i].assign(context.n(), moduli_[i].q - 1);
      }
      job.addend.assign(2, Limbs(set_.level));
      for (Limbs& component : job.addend) {
        for (unsigned i = 0; i < set_.level; i++) component[i] = context.random(i, rng_);
      }
      job.key = &keys_[k % 2];
      job.expected = context.key_switch(job.target, *job.key, job.addend, signs & 1, signs >> 1);
      if (!job.key->secret.empty()) decrypted_ += context.check_pool(job.expected, job.target, job.addend, *job.key);
      job.miss = miss ? missing_++ % 5 : 0;
    }
  }

  static u64 packed(const Rules::Start& s) {
    return u64(s.row.kind) << 56 | u64(s.row.unit) << 51 | u64(s.row.mod) << 46 | u64(s.row.part) << 42 | u64(s.tag) << 39;
  }
  template <typename Port>
  u64 get_task(const Port& port, unsigned index) const {
    return Fields<std::decay_t<Port>>::get(port, 59 * index, 59) >> 39 << 39;
  }
  template <typename Port>
  u64 get_time(const Port& port, unsigned index) const {
    return Fields<std::decay_t<Port>>::get(port, (P_LogNMax - 4) * index, P_LogNMax - 4);
  }
  template <typename Port>
  void put(Port& port, unsigned word, const Words* words, u64 t, u64 factor, u64 q) {
    for (unsigned l = 0; l < kLanes; l++) {
      const u64 value = words ? mul_mod((*words)[value_place(log_n_, l, t)], factor, q) : rng_.next() & ((u64(1) << P_W) - 1);
      Fields<std::decay_t<Port>>::set(port, (word + l) * P_W, P_W, value);
    }
  }
  // The task whose row passes a place in this cycle: tasks of a place do not overlap.
  template <typename Which>
  const Rules::Start* passing(u64 cycle, u64 after, Which&& which, u64& t) const {
    for (const Rules::Start& s : flight_) {
      if (!which(s) || cycle < s.cycle + after || cycle - s.cycle - after >= rules_->timing().rows) continue;
      t = cycle - s.cycle - after;
      return &s;
    }
    return nullptr;
  }
  void expect(const char* what, u64 cycle, bool asked, u64 task, u64 time, const Rules::Start* s, u64 t) const {
    if (asked != bool(s)) fail("cycle %" PRIu64 ": %s is asked for: %d", cycle, what, asked);
    if (s && (task != packed(*s) || time != t)) fail("cycle %" PRIu64 ": %s: row %" PRIu64 " is asked for as another", cycle, what, t);
  }
  // Whether a row is there, and that its key switch is bad where not.
  bool there(Job& job, unsigned what) {
    if (job.miss != what || !rng_.chance(16)) return true;
    job.missed = true;
    return false;
  }

  // Data for what was asked in the last cycle, checks of what is asked and of results in this one; then the edge.
  void rows(u64 cycle) {
    const PoolTiming& timing = rules_->timing();
    u64 t = 0;
    Fields<std::decay_t<decltype(dut_->target_row_i)>>::clear(dut_->target_row_i);
    dut_->target_valid_i = 0;
    const auto target = [](unsigned f) { return [f](const Rules::Start& s) { return s.row.kind == kBack && s.feed == f; }; };
    const auto adds = [](unsigned f) { return [f](const Rules::Start& s) { return (s.row.kind == kBack || s.row.kind == kUp) && s.feed == f; }; };
    const auto down = [](unsigned f) { return [f](const Rules::Start& s) { return s.row.kind == kDown && s.feed == f; }; };
    for (unsigned f = 0; f < P_Feeds; f++) {
      const Rules::Start* s = passing(cycle - 1, timing.entry(), target(f), t);
      const bool here = s && there(*jobs_of_tag_.at(s->tag), 1);
      dut_->target_valid_i |= unsigned(here) << f;
      put(dut_->target_row_i, 16 * f, here ? &jobs_of_tag_.at(s->tag)->target[s->row.mod] : nullptr, t, 1, here ? moduli_[s->row.mod].q : 1);
    }
    Fields<std::decay_t<decltype(dut_->key_row_i)>>::clear(dut_->key_row_i);
    Fields<std::decay_t<decltype(dut_->own_row_i)>>::clear(dut_->own_row_i);
    Fields<std::decay_t<decltype(dut_->addend_row_i)>>::clear(dut_->addend_row_i);
    dut_->key_valid_i = dut_->own_valid_i = dut_->addend_valid_i = 0;
    for (unsigned f = 0; f < P_Feeds; f++) {
      const Rules::Start* s = passing(cycle - 1, timing.key(), adds(f), t);
      Job* job = s ? jobs_of_tag_.at(s->tag) : nullptr;
      const bool here = job && there(*job, 2);
      const u64 q = s ? moduli_[s->row.mod].q : 1;
      dut_->key_valid_i |= unsigned(here) << f;
      for (unsigned c = 0; c < 2; c++) {
        put(dut_->key_row_i, 16 * (2 * f + c), here ? &job->key->rows[s->row.part][c][s->row.mod] : nullptr, t, here ? factor_of(q) : 1, q);
      }
      const bool own = s && s->row.kind == kBack && there(*job, 3);
      dut_->own_valid_i |= unsigned(own) << f;
      put(dut_->own_row_i, 16 * f, own ? &job->target[s->row.mod] : nullptr, t, 1, q);
      s = passing(cycle - 1, timing.addend(), down(f), t);
      job = s ? jobs_of_tag_.at(s->tag) : nullptr;
      const bool add = job && there(*job, 4);
      dut_->addend_valid_i |= unsigned(add) << f;
      put(dut_->addend_row_i, 16 * f, add ? &job->addend[s->row.part][s->row.mod] : nullptr, t, 1, add ? moduli_[s->row.mod].q : 1);
    }
    dut_.settle();
    if (dut_->fault_o) fail("a queue was full or empty at cycle %" PRIu64, cycle);
    for (unsigned f = 0; f < P_Feeds; f++) {
      const Rules::Start* s = passing(cycle, timing.entry(), target(f), t);
      expect("an operand's row", cycle, dut_->target_re_o >> f & 1, get_task(dut_->target_task_o, f), get_time(dut_->target_time_o, f), s, t);
    }
    bool done = false;
    for (unsigned f = 0; f < P_Feeds; f++) {
      const Rules::Start* s = passing(cycle, timing.key(), adds(f), t);
      expect("a row of keys", cycle, dut_->key_re_o >> f & 1, get_task(dut_->key_task_o, f), get_time(dut_->key_time_o, f), s, t);
      if (bool(dut_->own_re_o >> f & 1) != (s && s->row.kind == kBack)) fail("cycle %" PRIu64 ": an own row is asked for wrongly", cycle);
      s = passing(cycle, timing.addend(), down(f), t);
      expect("an addend", cycle, dut_->addend_re_o >> f & 1, get_task(dut_->addend_task_o, f), get_time(dut_->addend_time_o, f), s, t);
      s = passing(cycle, timing.result(), down(f), t);
      expect("a result", cycle, dut_->result_valid_o >> f & 1, get_task(dut_->result_task_o, f), get_time(dut_->result_time_o, f), s, t);
      if (s) done |= result(*s, t, cycle);
    }
    if (bool(dut_->done_o) != done) fail("cycle %" PRIu64 ": the end of a key switch is %d", cycle, int(dut_->done_o));
    while (!flight_.empty() && cycle + 1 >= flight_.front().cycle + timing.result() + timing.rows) flight_.pop_front();
    dut_.tick();
  }

  // Returns whether it is the last row of its key switch.
  bool result(const Rules::Start& s, u64 t, u64 cycle) {
    const Job& job = *jobs_of_tag_.at(s.tag);
    const unsigned m = s.row.mod;
    for (unsigned l = 0; l < kLanes && !job.missed; l++) {
      const u64 got = Fields<std::decay_t<decltype(dut_->result_row_o)>>::get(dut_->result_row_o, (16 * s.feed + l) * P_W, P_W);
      const u64 want = job.expected[s.row.part][m][value_place(log_n_, l, t)];
      if (got != want) {
        fail("N = 2^%u, (%u, %u, %u), component %u, limb %u, row %" PRIu64 ", lane %u: %" PRIx64 " instead of %" PRIx64, log_n_, set_.level,
             set_.special, set_.alpha, s.row.part, m, t, l, got, want);
      }
      checked_++;
    }
    if (t + 1 < rules_->timing().rows || ++parts_[s.tag] < 2 * set_.level) return false;
    parts_[s.tag] = 0;
    if (dut_->done_o && (dut_->done_tag_o != s.tag || bool(dut_->done_bad_o) != job.missed)) {
      fail("cycle %" PRIu64 ": key switch %d ends, bad: %d", cycle, int(dut_->done_tag_o), int(dut_->done_bad_o));
    }
    bad_ += job.missed;
    done_++;
    if (trace_) std::printf("done %zd %" PRIu64 "\n", &job - jobs_.data(), cycle);
    return true;
  }

  Dut dut_;
  Rng rng_;
  u64 seed_, missing_ = 1, checked_ = 0, bad_ = 0, done_ = 0, decrypted_ = 0;
  bool trace_;
  unsigned log_n_ = P_LogNMax;
  Set set_{};
  std::vector<Modulus> moduli_;
  std::unique_ptr<PoolContext> context_;
  std::unique_ptr<Rules> rules_;
  std::vector<Key> keys_;
  std::vector<Job> jobs_;
  std::map<unsigned, Job*> jobs_of_tag_;
  unsigned parts_[kTags] = {};
  std::deque<Rules::Start> flight_;

 public:
  void forget() { std::fill(parts_, parts_ + kTags, 0); }
};

std::vector<Set> sets_of(const Args& args) {
  std::vector<Set> sets;
  std::istringstream text(args.text("sets") ? args.text("sets") : "");
  for (std::string one; std::getline(text, one, ';');) {
    Set set{};
    if (std::sscanf(one.c_str(), "%u,%u,%u", &set.level, &set.special, &set.alpha) != 3) fail("+sets: %s", one.c_str());
    sets.push_back(set);
  }
  if (sets.empty()) fail("+sets=LEVEL,SPECIAL,ALPHA;… is missing");
  return sets;
}

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 seed = args.number("seed", 1), n = args.number("n", 4), rounds = args.number("rounds", 1);
  Bench bench(argc, argv, seed, args.has("trace"));
  const std::vector<Set> sets = sets_of(args);
  u64 stopped = 0;
  for (unsigned log_n = unsigned(args.number("to", P_LogNMax)) + 1; log_n-- > args.number("logn", P_LogNMin);) {
    bench.set_size(log_n);
    for (const Set& set : sets) {
      bench.set_set(set);
      if (args.has("table")) {  // one run, for its trace
        std::ifstream file(args.text("table"));
        std::vector<Row> table;
        for (Row row; file >> row.kind >> row.unit >> row.mod >> row.part >> row.age;) table.push_back(row);
        if (table.empty()) fail("%s has no rows", args.text("table"));
        bench.reset();
        bench.set_table(table);
        bench.stream(n, 256, 256, false, true, false);
        continue;
      }
      for (u64 round = 0; round < rounds; round++) {
        const std::vector<Row> table = random_table(set, 1 + unsigned(bench.rng().below(2)), round != 1, bench.rng());
        if (table.size() > P_Depth) continue;
        bench.reset();
        bench.set_table(table);
        bench.stream(n, 256, 256, false, true, false);
        bench.stream(n, 256, 20, true, true, false);
        // Another table without a reset.
        bench.set_table(random_table(set, 1, true, bench.rng()));
        bench.stream(n, 1, 128, false, true, false);
        for (u64 i = 0; i < args.number("resets", 0); i++) {
          bench.stream(1 + bench.rng().below(3), 256, 128, false, false, false);
          bench.reset();
          bench.forget();
          bench.set_table(table);
          bench.stream(2, 256, 256, true, true, false);
        }
      }
      for (u64 i = 0; i < args.number("wrong", 0); i++) {
        const std::vector<Row> table = wrong_table(random_table(set, 1, true, bench.rng()), bench.rng());
        bench.reset();
        bench.forget();
        bench.set_table(table);
        stopped += !bench.stream(3, 256, 128, false, true, true);
      }
      if (args.number("wrong", 0)) bench.no_take(random_table(set, 1, true, bench.rng()));
      bench.reset();
      bench.forget();
    }
  }
  if (!args.has("table")) {
    if (bench.bad() == 0) fail("no key switch was bad");
    if (bench.decrypted() == 0) fail("nothing was decrypted");
    if (args.number("wrong", 0) && stopped == 0) fail("no wrong timetable stopped");
  }
  bench.sizes_refused();
  return bench.end();
}
