// rm_ks_marks and rm_ks_bank against sums of products on whole slots: digits and components in every order that the sequencer
// lets through, any gaps, missing rows of each sort, resets in the middle.
//   +n=KEY SWITCHES +seed=S
#include <deque>
#include <type_traits>

#include "../../ntt/test/fields.h"
#include "../../ntt/test/modulus.h"

namespace {

struct Slot {
  bool down, comp, first, last, bad;
  u64 ahead;
  int miss;  // row of a missing key or addend
  std::vector<Words> row, key[2], addend;  // [time][lane]
  std::vector<Words> result;
  std::vector<bool> result_bad;
};

constexpr u64 kM = latency_of(P_Kind, P_W), kLead = kM + 4;

class Bench {
 public:
  Bench(int argc, char** argv, u64 seed) : dut_(argc, argv), rng_(seed), seed_(seed), q_(find_primes(1, 3, rng_)[0]) {}

  void reset() {
    dut_->rst_ni = 0;
    dut_->ahead_i = dut_->cfg_we_i = 0;
    dut_.tick();
    dut_.tick();
    dut_->rst_ni = 1;
    slots_.clear();
    digits_bad_ = finished_bad_ = result_bad_ = false;
  }
  void configure() {
    const u64 factor = u64((u128(1) << factor_bits_of(P_Kind, P_W)) % q_);
    back_ = 1 + rng_.below(q_ - 1);
    const u64 fields[][2] = {{0, q_}, {1, aux_of(P_Kind, P_W, q_)}, {19, mul_mod(back_, factor, q_)}};
    for (const auto& field : fields) {
      dut_->cfg_we_i = 1;
      dut_->cfg_field_i = field[0];
      dut_->cfg_data_i = field[1];
      dut_.tick();
    }
    dut_->cfg_we_i = 0;
    factor_ = factor;
  }
  void run(u64 switches, bool drain) {
    log_rows_ = unsigned(3 + rng_.below(P_LogRows - 2));
    dut_->log_rows_i = log_rows_;
    sum_.assign(2, std::vector<Words>(rows(), Words(P_P, 0)));
    finished_ = sum_;
    configure();
    next_ = dut_.cycles() + 1;
    // Orders: a key switch's digits; before each of its components some digits of the next one, but not the last.
    std::deque<unsigned> digits;
    for (u64 k = 0; k < switches; k++) digits.push_back(unsigned(1 + rng_.below(4)));
    unsigned ahead = 0;
    for (u64 k = 0; k < switches; k++) {
      for (unsigned j = ahead; j < digits[k]; j++) push(false, false, j == 0, j + 1 == digits[k]);
      ahead = 0;
      for (unsigned c = 0; c < 2; c++) {
        for (u64 more = rng_.below(3); more > 0 && k + 1 < switches && ahead + 1 < digits[k + 1]; more--) {
          push(false, false, ahead == 0, false);
          ahead++;
        }
        push(true, c, false, false);
      }
    }
    u64 stop = drain ? ~u64(0) : dut_.cycles() + 100 + rng_.below(1000);
    while (!slots_.empty() && dut_.cycles() < stop) cycle();
    if (drain) {
      for (int i = 0; i < 80; i++) cycle();
    }
  }
  int end() {
    if (!slots_.empty()) fail("%zu slots never ended", slots_.size());
    if (bad_ == 0) fail("no row was bad");
    return pass(checked_, seed_, dut_.cycles(), "rm_ks_marks and rm_ks_bank");
  }

 private:
  u64 rows() const { return u64(1) << log_rows_; }
  std::vector<Words> random() {
    std::vector<Words> all(rows(), Words(P_P));
    for (Words& row : all) {
      for (u64& x : row) x = rng_.chance(16) ? q_ - 1 : rng_.chance(16) ? 0 : rng_.below(q_);
    }
    return all;
  }
  void push(bool down, bool comp, bool first, bool last) {
    Slot slot{down, comp, first, last, !down && rng_.chance(16), next_, rng_.chance(40) ? int(rng_.below(rows())) : -1,
              random(), {random(), random()}, random(), {}, {}};
    // A special residue has gone through the whole chain before it comes here.
    next_ += rows() + (last ? kM + 5 : 0) + (rng_.chance(128) ? 0 : rng_.below(40));
    if (!down) {
      bool bad = (first ? false : digits_bad_) || slot.bad || slot.miss >= 0;
      digits_bad_ = bad;
      if (last) finished_bad_ = bad;
      for (unsigned c = 0; c < 2; c++) {
        for (u64 t = 0; t < rows(); t++) {
          for (unsigned l = 0; l < P_P; l++) {
            const u64 before = first ? 0 : sum_[c][t][l];
            (last ? finished_ : sum_)[c][t][l] = u64((before + u128(slot.row[t][l]) * slot.key[c][t][l]) % q_);
          }
        }
      }
    } else {
      if (!comp) result_bad_ = finished_bad_;
      for (u64 t = 0; t < rows(); t++) {
        result_bad_ = result_bad_ || slot.miss == int(t);
        slot.result_bad.push_back(result_bad_);
        Words row(P_P);
        for (unsigned l = 0; l < P_P; l++) {
          row[l] = (mul_mod((finished_[comp][t][l] + q_ - slot.row[t][l]) % q_, back_, q_) + slot.addend[t][l]) % q_;
        }
        slot.result.push_back(row);
      }
    }
    slots_.push_back(slot);
  }
  const Slot* at(u64 now, u64 after, u64& t) const {
    for (const Slot& slot : slots_) {
      if (now < slot.ahead + after || now - slot.ahead - after >= rows()) continue;
      t = now - slot.ahead - after;
      return &slot;
    }
    return nullptr;
  }
  template <typename Port>
  void put(Port& port, unsigned from, const Words* words, u64 factor) {
    for (unsigned l = 0; l < P_P; l++) {
      const u64 word = words ? mul_mod((*words)[l], factor, q_) : rng_.next() & ((u64(1) << P_W) - 1);
      Fields<std::decay_t<Port>>::set(port, (from + l) * P_W, P_W, word);
    }
  }
  void cycle() {
    const u64 now = dut_.cycles();
    u64 t = 0;
    dut_->ahead_i = 0;
    for (const Slot& slot : slots_) {
      if (slot.ahead != now) continue;
      dut_->ahead_i = 1;
      dut_->info_i = unsigned(slot.down) << 8 | unsigned(slot.comp) << 7 | unsigned(slot.first) << 2 | unsigned(slot.last) << 1 | unsigned(slot.bad);
    }
    const Slot* slot = at(now, kLead, t);
    Fields<std::decay_t<decltype(dut_->row_i)>>::clear(dut_->row_i);
    Fields<std::decay_t<decltype(dut_->key_i)>>::clear(dut_->key_i);
    Fields<std::decay_t<decltype(dut_->addend_i)>>::clear(dut_->addend_i);
    put(dut_->row_i, 0, slot ? &slot->row[t] : nullptr, 1);
    const bool key = slot && !slot->down && slot->miss != int(t);
    dut_->key_valid_i = key;
    for (unsigned c = 0; c < 2; c++) put(dut_->key_i, c * P_P, slot && !slot->down ? &slot->key[c][t] : nullptr, slot && !slot->down ? factor_ : 1);
    slot = at(now, kLead + 2 + kM, t);
    dut_->addend_valid_i = slot && slot->down && slot->miss != int(t);
    put(dut_->addend_i, 0, slot && slot->down ? &slot->addend[t] : nullptr, 1);
    dut_.settle();
    slot = at(now, kLead - 1, t);
    if (bool(dut_->ask_o) != bool(slot) || (slot && dut_->ask_time_o != t)) fail("cycle %" PRIu64 ": asks %d, row %d", now, int(dut_->ask_o), int(dut_->ask_time_o));
    slot = at(now, kLead + 1 + kM, t);
    if (bool(dut_->sum_o) != bool(slot) || (slot && dut_->sum_time_o != t)) fail("cycle %" PRIu64 ": sums %d, row %d", now, int(dut_->sum_o), int(dut_->sum_time_o));
    slot = at(now, kLead + 2, t);
    if (bool(dut_->finished_o) != (slot && t == 0 && slot->last)) fail("cycle %" PRIu64 ": finished is %d", now, int(dut_->finished_o));
    slot = at(now, kLead + 4 + kM, t);
    if (bool(dut_->write_o) != bool(slot) || (slot && dut_->write_time_o != t)) fail("cycle %" PRIu64 ": writes %d, row %d", now, int(dut_->write_o), int(dut_->write_time_o));
    if (bool(dut_->slot_end_o) != (slot && t == rows() - 1)) fail("cycle %" PRIu64 ": the end of a slot is %d", now, int(dut_->slot_end_o));
    if (slot && slot->down) {
      if (bool(dut_->write_bad_o) != slot->result_bad[t]) fail("row %" PRIu64 ": bad is %d", t, int(dut_->write_bad_o));
      bad_ += slot->result_bad[t];
      for (unsigned l = 0; l < P_P; l++) {
        const u64 got = Fields<std::decay_t<decltype(dut_->result_o)>>::get(dut_->result_o, l * P_W, P_W);
        if (got != slot->result[t][l]) fail("row %" PRIu64 ", lane %u: %" PRIx64 " instead of %" PRIx64, t, l, got, slot->result[t][l]);
        checked_++;
      }
    }
    if (slot && t == rows() - 1) slots_.pop_front();
    dut_.tick();
  }

  Dut dut_;
  Rng rng_;
  u64 seed_, q_, back_ = 0, factor_ = 0, next_ = 0, checked_ = 0, bad_ = 0;
  unsigned log_rows_ = 3;
  bool digits_bad_ = false, finished_bad_ = false, result_bad_ = false;
  std::vector<std::vector<Words>> sum_, finished_;
  std::deque<Slot> slots_;
};

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 seed = args.number("seed", 1);
  Bench bench(argc, argv, seed);
  for (u64 i = 0; i < 20; i++) {
    bench.reset();
    bench.run(args.number("n", 10), i % 4 != 3);
  }
  bench.reset();
  bench.run(args.number("n", 10), true);
  return bench.end();
}
