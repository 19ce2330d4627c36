// rm_pipelined_key_switch against the definition on residues, and against the cycles of schedule.h: every row asked for, and
// every row of a result, in its cycle, at every size and level of the build.
//   +n=KEY SWITCHES a pattern   +logn=FIRST +to=LAST sizes   +level=FIRST of the levels   +resets=N   +seed=S   +trace
// Patterns: all promises early; digits late; space late; both; with missing rows. Half of the keys are real ones, whose
// results are also decrypted. Words that nobody asked for are noise. +trace prints the cycle of each start.
#include <deque>
#include <type_traits>

#include "../../ntt/test/fields.h"
#include "../../streaming_ntt/test/table.h"
#include "oracle.h"
#include "schedule.h"

namespace {

constexpr unsigned kLogP = P_LogP, kP = 1u << kLogP, kLimbs = P_Limbs;

struct Job {
  Limbs target;
  std::vector<Limbs> addend, expected;
  const Key* key;
  u64 miss_row;             // of what is missing
  int miss_target, miss_key, miss_addend;  // digit, digit, component; -1: nothing
};

struct Slot {
  u64 job, start;
  unsigned part;  // digit or component
  bool down;
};

class Bench {
 public:
  Bench(int argc, char** argv, u64 seed, bool trace) : dut_(argc, argv), rng_(seed), seed_(seed), trace_(trace) {}

  void reset() {
    dut_->rst_ni = 0;
    dut_->cfg_we_i = dut_->prepare_valid_i = dut_->digit_valid_i = dut_->room_i = 0;
    for (int i = 0; i < 3; i++) dut_.tick();
    dut_->rst_ni = 1;
    slots_.clear();
    dut_.tick();
  }

  void set_size(unsigned log_n) {
    log_n_ = log_n;
    dut_->log_n_i = log_n;
    dut_->level_i = kLimbs;
    moduli_.clear();
    for (u64 q : find_primes(kLimbs + 1, log_n, rng_)) moduli_.emplace_back(q, log_n, rng_);
    for (unsigned m = 0; m <= kLimbs; m++) {
      const Modulus& modulus = moduli_[m];
      const u64 q = modulus.q, factor = factor_of(q);
      write(m, 0, q, false);
      write(m, 1, modulus.aux, false);
      for (unsigned b = 0; b < log_n; b++) {
        write(m, 2 + b, modulus.roots[b], false);
        write(m, 2 + b, inverse_root(modulus, b), true);
      }
      write(m, 18, factor, false);
      if (m > 0) write(m, 19, mul_mod(inverse_mod(moduli_[0].q % q, q), factor, q), false);
      for (unsigned s = 0; s <= kLimbs; s++) write(m, 32 + s, moduli_[s].q % q, false);
      prepare_seeds(dut_, m);
    }
    Context context(moduli_, log_n_);
    keys_.clear();
    keys_.push_back(context.random_key(kLimbs, rng_));
    keys_.push_back(context.real_key(kLimbs, rng_));
  }

  // Key switches of a level with promises that come late: of 256 cycles, in how many one is there.
  void stream(unsigned level, u64 count, unsigned digit_chance, unsigned room_chance, bool miss, bool drain) {
    const Timing timing(P_Kind, P_W, kLogP, log_n_, P_LogNMax);
    const unsigned signs = unsigned(rng_.below(4));
    dut_->level_i = level;
    dut_->centred_i = signs;
    prepare(level, count, miss, signs);
    Sequencer sequencer(timing, level);
    u64 digits = 0, downs = 0, idle = 0;
    const u64 all = count * level;
    while (digits < all || (drain && !slots_.empty()) || (drain && downs < 2 * count)) {
      const bool offer = digits < all && rng_.chance(digit_chance), room = rng_.chance(room_chance);
      dut_->digit_valid_i = offer || (digits < all && digit_chance == 256);
      dut_->room_i = room || room_chance == 256;
      dut_.settle();
      const u64 now = dut_.cycles();
      const Sequencer::Start start = sequencer.choose(now, dut_->digit_valid_i, dut_->room_i);
      if (bool(dut_->digit_start_o) != (start == Sequencer::kDigit) || bool(dut_->down_start_o) != (start == Sequencer::kDown)) {
        fail("cycle %" PRIu64 ": digit starts %d, special residue %d instead of %d, %d", now, int(dut_->digit_start_o),
             int(dut_->down_start_o), start == Sequencer::kDigit, start == Sequencer::kDown);
      }
      if (start != Sequencer::kNone) {
        const bool down = start == Sequencer::kDown;
        const u64 job = down ? downs / 2 : digits / level;
        slots_.push_back({job, now, down ? sequencer.comp() : sequencer.digit(), down});
        if (trace_) std::printf("start %s %" PRIu64 " %u %" PRIu64 "\n", down ? "down" : "digit", job, slots_.back().part, now);
        (down ? downs : digits)++;
        idle = 0;
      } else if (++idle > 40 * timing.rows + timing.result() + 20000) {  // promises come once in 256 cycles
        fail("hangs with %zu slots inside", slots_.size());
      }
      sequencer.take(start, now);
      cycle(timing, level, now);
    }
    dut_->digit_valid_i = dut_->room_i = 0;
    if (drain) {
      for (u64 i = 0; i < timing.rows + 5; i++) {
        dut_.settle();
        cycle(timing, level, dut_.cycles());
      }
      if (dut_->busy_o) fail("busy with nothing inside");
    }
  }

  void sizes_refused() {
    const unsigned sizes[][2] = {{P_LogNMin - 1, 1}, {P_LogNMax + 1, 1}, {P_LogNMax, 0}, {P_LogNMax, kLimbs + 1}};
    for (const auto& size : sizes) {
      dut_->log_n_i = size[0];
      dut_->level_i = size[1];
      dut_->digit_valid_i = dut_->room_i = 1;
      dut_.settle();
      if (!dut_->bad_size_o || dut_->digit_start_o) fail("2^%u at level %u starts", size[0], size[1]);
      dut_.tick();
    }
    dut_->digit_valid_i = 0;
  }
  Rng& rng() { return rng_; }
  int end() {
    if (!slots_.empty()) fail("%zu slots never ended", slots_.size());
    return pass(checked_, seed_, dut_.cycles(), "rm_pipelined_key_switch");
  }

 private:
  void write(unsigned m, unsigned field, u64 value, bool inverse) {
    dut_->cfg_inverse_i = inverse;
    write_field(dut_, m, field, value);
  }

  void prepare(unsigned level, u64 count, bool miss, unsigned signs) {
    Context context(moduli_, log_n_);
    jobs_.clear();
    for (u64 k = 0; k < count; k++) {
      Job job;
      for (unsigned j = 0; j < level; j++) job.target.push_back(context.random(j + 1, rng_));
      if (k % 5 == 3) {  // the greatest residues
        for (unsigned j = 0; j < level; j++) job.target[j].assign(context.n(), moduli_[j + 1].q - 1);
      }
      job.addend.assign(2, Limbs(level));
      for (Limbs& component : job.addend) {
        for (unsigned i = 0; i < level; i++) component[i] = context.random(i + 1, rng_);
      }
      job.key = &keys_[k % 2];
      job.expected = context.key_switch(job.target, *job.key, job.addend, signs & 1, signs >> 1);
      if (!job.key->secret.empty()) context.check_meaning(job.expected, job.target, job.addend, *job.key);
      job.miss_row = rng_.below(context.n() >> kLogP);
      job.miss_target = job.miss_key = job.miss_addend = -1;
      const u64 what = rng_.below(6);
      if (miss && what == 0) job.miss_target = int(rng_.below(level));
      if (miss && what == 1) job.miss_key = int(rng_.below(level));
      if (miss && what == 2) job.miss_addend = int(rng_.below(2));
      jobs_.push_back(job);
    }
  }

  u64 place(unsigned lane, u64 t) const { return (u64(lane >> 1) << (log_n_ - kLogP + 1)) + 2 * t + (lane & 1); }
  // The slot whose row passes a place in this cycle, and which row.
  const Slot* passing(u64 now, u64 after, u64 rows, bool down, u64& t) const {
    for (const Slot& slot : slots_) {
      if (slot.down != down || now < slot.start + after || now - slot.start - after >= rows) continue;
      t = now - slot.start - after;
      return &slot;
    }
    return nullptr;
  }
  template <typename Port>
  void put(Port& port, unsigned limb, const Words* words, u64 t) {
    for (unsigned l = 0; l < kP; l++) {
      const u64 word = words ? (*words)[place(l, t)] : rng_.next() & ((u64(1) << P_W) - 1);
      Fields<std::decay_t<Port>>::set(port, (limb * kP + l) * P_W, P_W, word);
    }
  }

  // Data for what was asked in the last cycle, checks of what is asked and of results in this one.
  void cycle(const Timing& timing, unsigned level, u64 now) {
    u64 t = 0;
    const Slot* slot = now ? passing(now - 1, timing.target(), timing.rows, false, t) : nullptr;
    Fields<std::decay_t<decltype(dut_->target_row_i)>>::clear(dut_->target_row_i);
    const bool target_there = slot && !(jobs_[slot->job].miss_target == int(slot->part) && jobs_[slot->job].miss_row == t);
    dut_->target_valid_i = target_there;
    put(dut_->target_row_i, 0, target_there ? &jobs_[slot->job].target[slot->part] : nullptr, t);

    slot = passing(now - 1, timing.key(), timing.rows, false, t);
    Fields<std::decay_t<decltype(dut_->key_row_i)>>::clear(dut_->key_row_i);
    const bool key_there = slot && !(jobs_[slot->job].miss_key == int(slot->part) && jobs_[slot->job].miss_row == t);
    dut_->key_valid_i = key_there;
    for (unsigned c = 0; c < 2; c++) {
      for (unsigned i = 0; i <= kLimbs; i++) {
        if (!key_there || i > level) {
          put(dut_->key_row_i, c * (kLimbs + 1) + i, nullptr, t);
          continue;
        }
        const Words& key = jobs_[slot->job].key->rows[slot->part][c][i];
        const u64 q = moduli_[i].q, factor = factor_of(q);
        for (unsigned l = 0; l < kP; l++) {
          Fields<std::decay_t<decltype(dut_->key_row_i)>>::set(
              dut_->key_row_i, ((c * (kLimbs + 1) + i) * kP + l) * P_W, P_W, mul_mod(key[place(l, t)], factor, q));
        }
      }
    }

    slot = passing(now - 1, timing.addend(), timing.rows, true, t);
    Fields<std::decay_t<decltype(dut_->addend_row_i)>>::clear(dut_->addend_row_i);
    const bool addend_there = slot && !(jobs_[slot->job].miss_addend == int(slot->part) && jobs_[slot->job].miss_row == t);
    dut_->addend_valid_i = addend_there;
    for (unsigned i = 0; i < kLimbs; i++) {
      put(dut_->addend_row_i, i, addend_there && i < level ? &jobs_[slot->job].addend[slot->part][i] : nullptr, t);
    }
    dut_.settle();
    check(timing, level, now);
    dut_.tick();
  }

  void check(const Timing& timing, unsigned level, u64 now) {
    if (dut_->fault_o) fail("a unit was late at cycle %" PRIu64, now);
    u64 t = 0;
    const Slot* slot = passing(now, timing.target(), timing.rows, false, t);
    if (bool(dut_->target_re_o) != bool(slot)) fail("cycle %" PRIu64 ": a row of the operand is asked for: %d", now, int(dut_->target_re_o));
    if (slot && (dut_->target_digit_o != slot->part || dut_->target_time_o != t)) fail("row %" PRIu64 " of digit %u is asked as another", t, slot->part);
    slot = passing(now, timing.key(), timing.rows, false, t);
    if (bool(dut_->key_re_o) != bool(slot)) fail("cycle %" PRIu64 ": a row of keys is asked for: %d", now, int(dut_->key_re_o));
    if (slot && (dut_->key_digit_o != slot->part || dut_->key_time_o != t)) fail("row %" PRIu64 " of keys %u is asked as another", t, slot->part);
    slot = passing(now, timing.addend(), timing.rows, true, t);
    if (bool(dut_->addend_re_o) != bool(slot)) fail("cycle %" PRIu64 ": a row of addends is asked for: %d", now, int(dut_->addend_re_o));
    if (slot && (dut_->addend_comp_o != slot->part || dut_->addend_time_o != t)) fail("row %" PRIu64 " of addends %u is asked as another", t, slot->part);
    slot = passing(now, timing.result(), timing.rows, true, t);
    if (bool(dut_->result_valid_o) != bool(slot)) fail("cycle %" PRIu64 ": a row of a result: %d", now, int(dut_->result_valid_o));
    if (slot) result(*slot, level, t);
    while (!slots_.empty() && now + 1 >= slots_.front().start + timing.result() + timing.rows) slots_.pop_front();
  }

  void result(const Slot& slot, unsigned level, u64 t) {
    const Job& job = jobs_[slot.job];
    if (dut_->result_comp_o != slot.part || dut_->result_time_o != t) fail("row %" PRIu64 " of component %u says it is another", t, slot.part);
    const bool after = slot.part > unsigned(job.miss_addend) || (slot.part == unsigned(job.miss_addend) && t >= job.miss_row);
    const bool bad = job.miss_target >= 0 || job.miss_key >= 0 || (job.miss_addend >= 0 && after);
    if (bool(dut_->result_bad_o) != bad) fail("row %" PRIu64 ", component %u: bad is %d", t, slot.part, int(dut_->result_bad_o));
    if (bad) {
      bad_++;
      return;
    }
    for (unsigned i = 0; i < level; i++) {
      for (unsigned l = 0; l < kP; l++) {
        const u64 got = Fields<std::decay_t<decltype(dut_->result_row_o)>>::get(dut_->result_row_o, (i * kP + l) * P_W, P_W);
        const u64 want = job.expected[slot.part][i][place(l, t)];
        if (got != want) {
          fail("N = 2^%u, level %u, key switch %" PRIu64 ", component %u, limb %u, row %" PRIu64 ", lane %u: %" PRIx64
               " instead of %" PRIx64, log_n_, level, slot.job, slot.part, i, t, l, got, want);
        }
        checked_++;
      }
    }
  }

  Dut dut_;
  Rng rng_;
  u64 seed_, checked_ = 0, bad_ = 0;
  bool trace_;
  unsigned log_n_ = P_LogNMax;
  std::vector<Modulus> moduli_;
  std::vector<Key> keys_;
  std::vector<Job> jobs_;
  std::deque<Slot> slots_;
};

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 seed = args.number("seed", 1), n = args.number("n", 4);
  Bench bench(argc, argv, seed, args.has("trace"));
  bench.reset();
  const unsigned first = unsigned(args.number("logn", P_LogNMin)), last = unsigned(args.number("to", P_LogNMax));
  const unsigned least = unsigned(args.number("level", 1));
  for (unsigned log_n = last + 1; log_n-- > first;) {
    bench.set_size(log_n);
    for (unsigned level = kLimbs + 1; level-- > least;) {
      bench.stream(level, n, 256, 256, false, true);
      if (args.has("trace")) continue;
      bench.stream(level, n, 1, 256, false, true);
      bench.stream(level, n, 256, 1, true, true);
      bench.stream(level, n, 8, 8, true, true);
      for (u64 i = 0; i < args.number("resets", 0); i++) {
        bench.stream(level, 1 + bench.rng().below(3), 64, 64, false, false);
        bench.reset();
        bench.stream(level, 2, 256, 256, true, true);
      }
    }
  }
  bench.sizes_refused();
  return bench.end();
}
