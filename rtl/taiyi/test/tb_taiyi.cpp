// rm_taiyi against the limb program's definition, and against the schedule: bits of every limb that leaves, cycles of every result.
//   +job=NAME of a file here   +seed=S of the inputs   +runs=N   +late=N a run before each, whose Nth row comes late
//   +broken=N schedules before each that break a rule, which must be found.
// Oracle: this file reads the instructions by their meaning (docs/limb-program.md), on whole numbers and the textbook's transforms
// (rtl/ntt/test/oracle.h); nothing of it is what the machine does. Times are those of the simulator, which has no data.
#include <algorithm>
#include <deque>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <type_traits>

#include "../../ntt/test/fields.h"
#include "../../ntt/test/oracle.h"

namespace {

constexpr unsigned kW = P_W, kLogN = P_LogN, kLogL = P_LogL, kLogR = P_LogR, kL = 1u << kLogL, kR = 1u << kLogR;
constexpr unsigned kT = kLogN - kLogL - kLogR, kE = kL * kR;
constexpr u64 kN = u64(1) << kLogN, kRows = u64(1) << kT, kLatency = 40, kBefore = 8;
constexpr unsigned kLoad = 5, kIssues = 7;

struct Limb {
  unsigned mod;
  bool coefficients;
  Words words;
};
struct Op {
  std::string name;
  unsigned mod;
  bool coefficients;
  std::vector<u64> operands;
  u64 constant;
};
// A result that is to come: from which unit, where, when its first row can be read and when all have been there.
struct Made {
  unsigned unit, slot;
  u64 first, done;
};
struct Write {
  unsigned table;
  u64 address;
  u64 data[4];
};
struct Job {
  u64 cycles = 0;
  std::vector<u64> q, psi;
  std::vector<Limb> in;
  std::vector<Op> ops;
  std::vector<Made> made;
  std::vector<u64> out, left;
  std::vector<Write> writes;
};

Job read_job(const std::string& path) {
  std::ifstream file(path);
  if (!file) fail("no file %s", path.c_str());
  Job job;
  for (std::string line, word; std::getline(file, line);) {
    std::istringstream s(line);
    s >> word;
    const auto next = [&] { u64 x = 0; s >> x; return x; };
    if (word == "shape") {
      const u64 w = next(), n = next(), l = next(), r = next();
      if (w != kW || n != kLogN || l != kLogL || r != kLogR) fail("%s is for another build", path.c_str());
      job.cycles = next();
    } else if (word == "modulus") {
      job.q.push_back(next());
      job.psi.push_back(next());
    } else if (word == "in") {
      const unsigned mod = unsigned(next());
      s >> word;
      job.in.push_back({mod, word == "c", {}});
    } else if (word == "op") {
      Op op;
      s >> op.name;
      op.mod = unsigned(next());
      s >> word;
      op.coefficients = word == "c";
      const u64 count = next();
      for (u64 i = 0; i < count; i++) op.operands.push_back(next());
      op.constant = next();
      job.ops.push_back(op);
    } else if (word == "made") {
      const unsigned unit = unsigned(next()), slot = unsigned(next());
      next();
      const u64 first = next();
      job.made.push_back({unit, slot, first, next()});
    } else if (word == "came") {
      const unsigned slot = unsigned(next());
      next(), next();
      const u64 there = next();
      job.made.push_back({kLoad, slot, there - (kRows - 1) * P_RowCycles, there + 1});
    } else if (word == "left") {
      next();
      job.left.push_back(next());
    } else if (word == "out") {
      job.out.push_back(next());
    } else if (word == "write") {
      Write w;
      w.table = unsigned(next()), w.address = next();
      for (u64& x : w.data) s >> std::hex >> x;
      job.writes.push_back(w);
    }
  }
  if (job.q.empty() || job.out.empty()) fail("%s is no job", path.c_str());
  return job;
}

// Numbers of thirty 36-bit primes' product: schoolbook, 32 bits a digit.
struct Big {
  std::vector<u64> digits;
  explicit Big(u64 x) : digits{x & 0xffffffffu, x >> 32} {}
  void times(u64 y) {
    const u64 low = y & 0xffffffffu, high = y >> 32;
    std::vector<u64> r(digits.size() + 3);
    for (std::size_t i = 0; i < digits.size(); i++) {
      u64 carry = 0;
      for (std::size_t k = 0; k < 2 || carry; k++) {
        const u128 t = u128(digits[i]) * (k == 0 ? low : k == 1 ? high : 0) + r[i + k] + carry;
        r[i + k] = u64(t) & 0xffffffffu, carry = u64(t >> 32);
      }
    }
    digits = r;
  }
  u64 modulo(u64 q) const {
    u128 r = 0;
    for (std::size_t i = digits.size(); i > 0; i--) r = ((r << 32) | digits[i - 1]) % q;
    return u64(r);
  }
};

unsigned bits_of(u64 x) { return x ? 64 - unsigned(__builtin_clzll(x)) : 0; }

// What an instruction means.
Words meaning(const Job& job, const Op& op, const std::vector<Limb>& limbs) {
  const u64 q = op.name == "quotient" ? 1 : job.q[op.mod], count = op.operands.size();
  const auto at = [&](std::size_t i) -> const Words& { return limbs[op.operands[i]].words; };
  const auto from = [&](std::size_t i) { return job.q[limbs[op.operands[i]].mod]; };
  if (op.name == "ntt") return forward(at(0), job.psi[op.mod], kLogN, q);
  if (op.name == "intt") return inverse(at(0), job.psi[op.mod], kLogN, q);
  Words r(kN);
  if (op.name == "automorphism") {
    // p(X^g) in coefficients: nothing here says how values move.
    const Words p = inverse(at(0), job.psi[op.mod], kLogN, q);
    Words s(kN);
    for (u64 j = 0; j < kN; j++) {
      const u64 to = j * op.constant % (2 * kN);
      s[to % kN] = to < kN || p[j] == 0 ? p[j] : q - p[j];
    }
    return forward(s, job.psi[op.mod], kLogN, q);
  }
  std::vector<u64> factor(count), head(count), shift(count);
  u64 whole = 1 % q;
  const bool convert = op.name == "convert" || op.name == "convert_fast", centred = op.name == "convert";
  const u64 sources = centred ? count - 1 : count;
  if (convert) {
    for (u64 i = 0; i < sources; i++) {
      Big others(1);
      for (u64 j = 0; j < sources; j++) {
        if (j != i) others.times(from(j));
      }
      factor[i] = others.modulo(q);
      whole = mul_mod(whole, from(i) % q, q);
    }
  }
  if (op.name == "quotient") {
    for (u64 i = 0; i < count; i++) {
      shift[i] = bits_of(from(i)) > 14 ? bits_of(from(i)) - 14 : 0;
      head[i] = u64((u128(1) << (28 + shift[i])) / from(i));
    }
  }
  for (u64 k = 0; k < kN; k++) {
    const auto x = [&](std::size_t i) { return at(i)[k]; };
    if (op.name == "add") r[k] = u64((u128(x(0)) + x(1)) % q);
    else if (op.name == "sub") r[k] = u64((u128(x(0)) + q - x(1)) % q);
    else if (op.name == "neg") r[k] = (q - x(0)) % q;
    else if (op.name == "mul") r[k] = mul_mod(x(0), x(1), q);
    else if (op.name == "mac") r[k] = u64((u128(x(0)) + mul_mod(x(1), x(2), q)) % q);
    else if (op.name == "mul_const") r[k] = mul_mod(x(0), op.constant, q);
    else if (op.name == "add_const") r[k] = u64((u128(x(0)) + op.constant) % q);
    else if (op.name == "sub_mul_const") r[k] = mul_mod(u64((u128(x(0)) + q - x(1)) % q), op.constant, q);
    else if (op.name == "lift") r[k] = 2 * x(0) < from(0) ? x(0) % q : (q - (from(0) - x(0)) % q) % q;
    else if (op.name == "dot") {
      for (u64 i = 0; i < count / 2; i++) r[k] = u64((u128(r[k]) + mul_mod(x(i), x(count / 2 + i), q)) % q);
    } else if (op.name == "quotient") {
      u64 sum = u64(1) << 27;
      for (u64 i = 0; i < count; i++) sum += (x(i) >> shift[i]) * head[i];
      r[k] = sum >> 28;
    } else if (convert) {
      for (u64 i = 0; i < sources; i++) r[k] = u64((u128(r[k]) + mul_mod(x(i), factor[i], q)) % q);
      if (centred) r[k] = u64((u128(r[k]) + q - mul_mod(x(sources), whole, q)) % q);
    } else {
      fail("no instruction is called %s", op.name.c_str());
    }
  }
  return r;
}

// Which word of a limb is in a row: rtl/taiyi_ntt/README.md, orders.
u64 place(bool coefficients, u64 t, u64 l, u64 e) {
  if (!coefficients) return l * (kN / kL) + t * kR + e;
  constexpr unsigned missing = 4 * kLogR - kLogN, third = kLogR - missing;
  u64 n12 = 0;
  for (unsigned i = 0; i < kLogR; i++) n12 |= ((t >> ((i + third) % kLogR)) & 1) << i;
  const u64 upper = (l << (kT - kLogR)) | (t >> kLogR), n22 = upper >> third, n21 = upper & ((u64(1) << third) - 1);
  return (e << (kLogN - kLogR)) | (n12 << (kLogN - 2 * kLogR)) | (n21 << kLogR) | n22;
}

class Bench {
 public:
  Bench(int argc, char** argv, Job job, u64 seed) : dut_(argc, argv), job_(std::move(job)), rng_(seed), seed_(seed) {}

  void reset() {
    dut_->rst_ni = dut_->cfg_we_i = dut_->start_i = dut_->rsp_valid_i = 0;
    for (int i = 0; i < 3; i++) dut_.tick();
    dut_->rst_ni = 1;
    dut_.tick();
  }

  void load() {
    for (const Write& w : job_.writes) {
      dut_->cfg_we_i = 1;
      dut_->cfg_table_i = w.table;
      dut_->cfg_addr_i = unsigned(w.address);
      for (unsigned i = 0; i < 8; i++) dut_->cfg_data_i[i] = EData(w.data[i / 2] >> (32 * (i % 2)));
      dut_.tick();
    }
    dut_->cfg_we_i = 0;
  }

  // An instruction, or a limb that leaves, begins four limbs too early: a unit is busy, an operand not there, or a slot in use. One or two
  // would not always do: a base conversion waits for the last row of its last source, and begins with the first row of the first one.
  void break_schedule() {
    for (;;) {
      Write& w = job_.writes[rng_.below(job_.writes.size())];
      const u64 cycle = w.data[0] & 0xffffffffu;
      if (w.table >= kIssues || w.table == kLoad || cycle < 4 * kRows) continue;
      w.data[0] -= 4 * kRows;
      return;
    }
  }

  // Draws inputs and works out what every limb is.
  void draw() {
    limbs_ = job_.in;
    for (std::size_t i = 0; i < limbs_.size(); i++) {
      const u64 q = job_.q[limbs_[i].mod];
      limbs_[i].words.resize(kN);
      for (u64& x : limbs_[i].words) x = rng_.chance(16) ? (rng_.chance(128) ? q - 1 : 0) : rng_.below(q);
    }
    for (const Op& op : job_.ops) limbs_.push_back({op.mod, op.coefficients, meaning(job_, op, limbs_)});
  }

  // One run. Answer number `late` of memory comes late by the cycles of a run; 0 for none. Returns what wrong_o says.
  unsigned run(u64 late) {
    memory_.clear();
    answers_.clear();
    asked_ = 0;
    for (std::size_t i = 0; i < job_.in.size(); i++) write_limb(i, limbs_[i]);
    open_.clear();
    for (const Made& made : job_.made) open_[{made.unit, made.slot}].push_back(made);
    for (auto& [key, all] : open_) {
      std::sort(all.begin(), all.end(), [](const Made& a, const Made& b) { return a.first < b.first; });
    }
    dut_->start_i = 1;
    dut_.tick();
    dut_->start_i = 0;
    for (u64 cycle = 0;; cycle++) {
      if (cycle > 2 * job_.cycles + 10000) fail("hangs in cycle %" PRIu64, cycle);
      answer();
      dut_.settle();
      if (!dut_->busy_o) break;
      const u64 now = cycle - kBefore;
      if (u64(dut_->now_o) != (now & 0xffffffffu)) fail("cycle %" PRId64 " counts as %u", i64(now), unsigned(dut_->now_o));
      if (dut_->rd_valid_o) {
        const u64 after = late && ++asked_ == late ? job_.cycles : 0;
        answers_.push_back({dut_.cycles() + kLatency + after, u64(dut_->rd_addr_o)});
      }
      if (dut_->wr_valid_o) {
        Words& row = memory_[u64(dut_->wr_addr_o)];
        row.resize(kE);
        for (unsigned e = 0; e < kE; e++) row[e] = get(dut_->wr_row_o, e);
      }
      if (!late) notes(now);
      dut_.tick();
    }
    return dut_->wrong_o;
  }

  void check() {
    if (dut_->cycles_o != job_.cycles) fail("%u cycles, and the simulator says %" PRIu64, dut_->cycles_o, job_.cycles);
    for (const auto& [key, all] : open_) {
      if (!all.empty()) fail("a result of unit %u for slot %u never came", key.first, key.second);
    }
    std::vector<u64> limbs = job_.left;
    limbs.insert(limbs.end(), job_.out.begin(), job_.out.end());
    for (u64 limb : limbs) {
      for (u64 t = 0; t < kRows; t++) {
        const auto row = memory_.find(limb << kT | t);
        if (row == memory_.end()) fail("row %" PRIu64 " of limb %" PRIu64 " never left", t, limb);
        for (u64 l = 0; l < kL; l++) {
          for (u64 e = 0; e < kR; e++) {
            const u64 due = limbs_[limb].words[place(limbs_[limb].coefficients, t, l, e)];
            const u64 got = row->second[l * kR + e];
            if (got != due) {
              const char* what = limb < job_.in.size() ? "input" : job_.ops[limb - job_.in.size()].name.c_str();
              fail("limb %" PRIu64 " (%s), row %" PRIu64 ", lane %" PRIu64 ", element %" PRIu64 ": %" PRIx64 " instead of %" PRIx64,
                   limb, what, t, l, e, got, due);
            }
          }
        }
        checked_++;
      }
    }
  }

  u64 checked() const { return checked_; }
  u64 cycles() const { return dut_.cycles(); }
  u64 seed() const { return seed_; }
  Job& job() { return job_; }

 private:
  template <typename Port>
  u64 get(const Port& port, unsigned e) { return Fields<std::decay_t<Port>>::get(port, e * kW, kW); }

  void write_limb(u64 limb, const Limb& of) {
    for (u64 t = 0; t < kRows; t++) {
      Words& row = memory_[limb << kT | t];
      row.resize(kE);
      for (u64 l = 0; l < kL; l++) {
        for (u64 e = 0; e < kR; e++) row[l * kR + e] = of.words[place(of.coefficients, t, l, e)];
      }
    }
  }

  void answer() {
    using Port = std::decay_t<decltype(dut_->rsp_row_i)>;
    const bool due = !answers_.empty() && answers_.front().first <= dut_.cycles();
    dut_->rsp_valid_i = due;
    Fields<Port>::clear(dut_->rsp_row_i);
    const auto row = due ? memory_.find(answers_.front().second) : memory_.end();
    if (due && row == memory_.end()) fail("row %" PRIx64 " is asked for, and nobody wrote it", answers_.front().second);
    for (unsigned e = 0; e < kE; e++) {
      Fields<Port>::set(dut_->rsp_row_i, e * kW, kW, due ? row->second[e] : rng_.next() & ((u64(1) << kW) - 1));
    }
    if (due) answers_.pop_front();
  }

  // Each row of each result in its cycle: the first as the schedule says, the last just before it is done.
  void notes(u64 now) {
    for (unsigned u = 0; u <= kLoad; u++) {
      if (!(dut_->note_we_o >> u & 1)) continue;
      const unsigned slot = unsigned(Fields<std::decay_t<decltype(dut_->note_slot_o)>>::get(dut_->note_slot_o, 12 * u, 12));
      const u64 t = Fields<std::decay_t<decltype(dut_->note_row_o)>>::get(dut_->note_row_o, kT * u, kT);
      auto& all = open_[{u, slot}];
      if (all.empty()) fail("cycle %" PRIu64 ": unit %u writes slot %u, and nothing is to come", now, u, slot);
      // A row that is written in a cycle can be read in the next.
      if (t == 0 && now + 1 != all.front().first) {
        fail("unit %u, slot %u: row 0 can be read in cycle %" PRIu64 ", not %" PRIu64, u, slot, now + 1, all.front().first);
      }
      if (t == kRows - 1) {
        if (now + 2 != all.front().done) {
          fail("unit %u, slot %u: done in cycle %" PRIu64 ", not %" PRIu64, u, slot, now + 2, all.front().done);
        }
        all.pop_front();
        checked_++;
      }
    }
  }

  Dut dut_;
  Job job_;
  Rng rng_;
  u64 seed_, checked_ = 0, asked_ = 0;
  std::vector<Limb> limbs_;
  std::map<u64, Words> memory_;
  std::deque<std::pair<u64, u64>> answers_;
  std::map<std::pair<unsigned, unsigned>, std::deque<Made>> open_;
};

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 seed = args.number("seed", 1), runs = args.number("runs", 2), late = args.number("late", 0);
  const char* name = args.text("job");
  if (!name) fail("+job=FILE is missing");
  const std::string here = __FILE__, folder = here.substr(0, here.rfind('/') + 1);
  Bench bench(argc, argv, read_job(folder + name + ".job"), seed);
  bench.reset();
  bench.load();
  u64 wrongs = 0;
  for (u64 i = 0; i < runs; i++) {
    bench.draw();
    if (late) {
      if (!(bench.run(late) & 8)) fail("a row that came late is not found");
      wrongs++;
      bench.reset();
      bench.load();
    }
    for (u64 n = 0; n < args.number("broken", 0); n++) {
      const std::vector<Write> kept = bench.job().writes;
      bench.break_schedule();
      bench.load();
      if (!bench.run(~u64(0))) fail("a schedule that breaks a rule is not found");
      wrongs++;
      bench.job().writes = kept;
      bench.reset();
      bench.load();
    }
    const unsigned wrong = bench.run(0);
    if (wrong) fail("wrong_o is %x", wrong);
    bench.check();
  }
  return pass(bench.checked() + wrongs, bench.seed(), bench.cycles(), "rm_taiyi");
}
