// The core between its memory streams: random programs against an interpreter of the instruction list.
//   +n=PROGRAMS +len=INSTRUCTIONS +seed=S +logn=L    log N drawn from what is built when left out
//   +fetch=P +read=P +write=P +done=P                chance of 256 that the stream moves in a cycle
//   +faults                                          every program carries a fault, or is reset under way
//
// Compared at the end of every program: memory (all banks are stored by its last instructions), status, error number,
// counters; and nothing may be left in a stream. A program that does not end is a failure.
#include <algorithm>

#include "cover.h"
#include "generator.h"
#include "operations.h"
#include "streams.h"
#include "table.h"

using namespace rm_test;

namespace {

constexpr unsigned kCols = 2 * P_Nbf, kSlots = 12, kModuli = 4;

enum Error : unsigned {
  kNone, kOpcode, kBank, kModulus, kOperands, kPermute, kAlign, kAfter, kLogN, kFetch, kRead, kWrite, kAborted
};
enum Counter : unsigned {
  kCycles, kNtt0Busy, kNtt1Busy, kArithBusy, kArithTicket, kArithRead, kArithWrite, kNtt0Ticket, kNtt1Ticket,
  kNtt0Twiddle, kNtt1Twiddle, kReadBeats, kWriteBeats, kInstructions
};

struct Program {
  unsigned log_n = 0;
  std::vector<Instr> code;
  unsigned expected = kNone, pc = 0;  // error and its instruction
};

class Bench {
 public:
  Bench(Dut& dut, Rng& rng, const Stalls& stalls) : dut_(dut), rng_(rng), stalls_(stalls) {
    primes_ = primes(rng, kModuli, P_LogNMax);
    reset();
  }

  void reset() {
    dut_->rst_ni = 0;
    set_ctrl(false, false, 0, 0);
    dut_->mod_we_i = 0;
    for (int i = 0; i < 3; i++) dut_.tick();
    dut_->rst_ni = 1;
    dut_.settle();
    table_.clear();
  }

  // Generates a program of `length` instructions and END, with the memory it leaves behind. The table of moduli may stay
  // as it is: then twiddle factors stay too, unless N changes.
  void prepare(unsigned log_n, unsigned length) {
    const std::size_t limb = std::size_t(1) << log_n, code = (length + 2 * kBanks + 8) * 4;
    base_ = unsigned((code + 15) / 16 * 2);  // limbs start at an even unit, as the widest bus asks
    write_table_ = write_table_ || table_.empty() || rng_.chance(128);
    if (write_table_) table_ = table_for(rng_, primes_, P_LogNMax, P_Mods);
    const unsigned home = unsigned(rng_.below(P_Mods));
    const u64 q = table_[home].q;
    machine_ = std::make_unique<Machine>(log_n, factor_bits(), shorter(table_, P_LogNMax, log_n), base_ * 8 + kSlots * limb);
    for (std::size_t i = base_ * 8; i < machine_->memory.size(); i++) {
      machine_->memory[i] = rng_.chance(16) ? q - 1 : rng_.below(q);
    }
    memory_ = machine_->memory;
    program_ = {};
    program_.log_n = log_n;
    Generator generator(rng_, *machine_, base_, kSlots, P_W, home);
    for (unsigned b = 0; b < kBanks; b++) program_.code.push_back(generator.load(unsigned(rng_.below(kSlots)), b));
    for (unsigned i = 0; i < length; i++) program_.code.push_back(generator.next());
    for (unsigned b = 0; b < kBanks; b++) program_.code.push_back(generator.store(b, b));
    program_.code.push_back(Instr());
  }

  // Makes one instruction wrong; what stands before it is executed, nothing after it.
  void spoil() {
    const unsigned at = kBanks + unsigned(rng_.below(program_.code.size() - kBanks));
    Fields f;
    f.opcode = kArith;
    f.cmd.a = f.cmd.to_bank = true;
    Instr bad = f.encode();
    program_.pc = at;
    switch (1 + rng_.below(kAfter)) {
      case kOpcode: bad.w[0] = (bad.w[0] & ~u64(255)) | (rng_.chance(128) ? 0x1b : 4 + rng_.below(12)), program_.expected = kOpcode; break;
      case kBank:
        if (rng_.chance(128)) {  // a pair beside one of its banks
          bad.w[0] |= u64(6) << (rng_.chance(128) ? 18 : 26);
        } else {  // an accumulator to transform
          bad = Instr();
          bad.w[0] = (1 + rng_.below(3)) | u64(8 | (4 + rng_.below(2))) << 18;
        }
        program_.expected = kBank;
        break;
      case kModulus: {
        const u64 none = P_Mods + rng_.below(32 - P_Mods);
        if (rng_.chance(128)) {
          isa::modulus.put(bad.w, none);
        } else {
          f.opcode = isa::kLift, bad = f.encode();
          isa::source.put(bad.w, none);
        }
        program_.expected = kModulus;
        break;
      }
      case kOperands: bad.w[0] ^= u64(1) << (rng_.chance(128) ? 21 : 25), program_.expected = kOperands; break;
      case kPermute: bad.w[1] |= u64(1) << 54, bad.w[3] = rng_.below(2), program_.expected = kPermute; break;
      case kAlign:  // only where the bus is wider than 64 bytes
        if (P_AxiDataW <= 512) bad.w[1] |= u64(1) << 60, program_.expected = kOpcode;
        else bad.w[0] |= u64(1) << 30 | u64(1) << 32, program_.expected = kAlign;
        break;
      default: {
        bad.w[0] = (bad.w[0] & ~(u64(1) << 21)) | u64(1) << 31;
        unsigned stores = 0;
        for (unsigned i = 0; i < at; i++) stores += Fields::decode(program_.code[i]).cmd.to_mem;
        bad.w[1] = u64((stores + 1 + rng_.below(1000)) & 0xffff) << 32;
        program_.expected = kAfter;
      }
    }
    program_.code[at] = bad;
    rerun(at);
  }

  // Runs the interpreter again on the first `count` instructions.
  void rerun(unsigned count) {
    Machine again(program_.log_n, factor_bits(), machine_->table(), memory_.size());
    again.memory = memory_;
    for (unsigned i = 0; i < count; i++) again.step(program_.code[i]);
    *machine_ = again;
  }

  void write_tables() {
    for (unsigned m = 0; m < P_Mods; m++) {
      const TableEntry& e = table_[m];
      write(m, 0, e.q);
      write(m, 1, e.aux);
      for (unsigned b = 0; b < P_LogNMax; b++) write(m, 2 + b, stored_root(e, P_LogNMax, b));
    }
  }

  // Puts the code into memory and starts; returns the streams.
  std::unique_ptr<Streams> start() {
    for (std::size_t i = 0; i < program_.code.size(); i++) {
      std::copy_n(program_.code[i].w, 4, memory_.begin() + std::ptrdiff_t(4 * i));
    }
    if (write_table_) write_tables();
    write_table_ = false;
    auto streams = std::make_unique<Streams>(rng_, memory_, stalls_);
    streams->set_rows((1u << program_.log_n) / kCols);
    set_ctrl(true, false, 0, program_.log_n);
    cycle(*streams);
    set_ctrl(false, false, 0, 0);
    return streams;
  }

  void cycle(Streams& streams) {
    streams.drive(dut_.top());
    dut_.settle();
    streams.observe(dut_.top());
    dut_.tick();
    dut_.settle();
    read_status();
  }

  // Until the core is idle again; a core that hangs is a failure.
  void finish(Streams& streams) {
    const u64 rows = (u64(1) << program_.log_n) / kCols;
    const u64 slowest = 256 / std::min({stalls_.fetch, stalls_.read, stalls_.write, stalls_.done});
    const u64 limit = dut_.cycles() + 2000 + program_.code.size() * (rows * program_.log_n + 200) * (slowest + 1);
    while (busy_) {
      if (dut_.cycles() > limit) fail("watchdog: program of %zu instructions hangs", program_.code.size());
      cycle(streams);
    }
    if (!streams.empty()) fail("something is left in a stream");
  }

  u64 check() {
    if (error_ != (program_.expected != kNone) || done_ == error_) fail("done %d, error %d", done_, error_);
    if (program_.expected != kNone && (code_ != program_.expected || pc_ != program_.pc)) {
      fail("error %u at %u, expected %u at %u", code_, pc_, program_.expected, program_.pc);
    }
    u64 checked = 0;
    for (std::size_t i = base_ * 8; i < memory_.size(); i++, checked++) {
      if (memory_[i] != machine_->memory[i]) {
        fail("word %zu of slot %zu (log N %u): %" PRIx64 ", expected %" PRIx64, (i - base_ * 8) & ((1u << program_.log_n) - 1),
             (i - base_ * 8) >> program_.log_n, program_.log_n, memory_[i], machine_->memory[i]);
      }
    }
    const u64 instructions = program_.expected == kNone ? program_.code.size() - 1 : program_.pc;
    if (counters_[kInstructions] != instructions) fail("%" PRIu64 " instructions counted", counters_[kInstructions]);
    u64 arith = 0;
    for (u64 i = 0; i < instructions; i++) arith += Fields::decode(program_.code[i]).opcode >= kArith;
    if (counters_[kArithBusy] != arith * ((u64(1) << program_.log_n) / kCols)) fail("rows counted wrongly");
    if (program_.expected == kNone) reached();
    if (program_.expected != kNone) cover.hit("error", program_.expected);
    return checked;
  }

  Cover cover;

  Program& program() { return program_; }
  u64 counter(unsigned i) const { return counters_[i]; }
  bool busy() const { return busy_; }
  bool error() const { return error_; }
  unsigned code() const { return code_; }
  void soft_reset(Streams& streams) {
    set_ctrl(false, true, 0, 0);
    cycle(streams);
    set_ctrl(false, false, 0, 0);
  }
  void start_again(Streams& streams) {
    set_ctrl(true, false, 0, program_.log_n);
    cycle(streams);
    set_ctrl(false, false, 0, 0);
  }
  bool refused() const { return refused_; }
  // A start that is taken clears what the status says of the one that was not, whether it runs or is refused for its size.
  void refusal_ends() {
    std::vector<u64> end(4, 0);
    Streams none(rng_, end, Stalls());
    set_ctrl(true, false, 0, rng_.chance(128) ? P_LogNMin : P_LogNMax + 1);
    cycle(none);
    set_ctrl(false, false, 0, 0);
    finish(none);
    if (refused_) fail("a start that was taken leaves `refused`");
    cover.hit("refused", "cleared");
  }

 private:
  // What the program that has passed had in it.
  void reached() {
    for (const Instr& instr : program_.code) {
      const Fields f = Fields::decode(instr);
      const char* name = operation(f.opcode);
      if (!name) continue;
      const arith::Cmd& c = f.cmd;
      const bool transform = is_transform(f.opcode);
      if (c.a) cover.hit("bank", name, "a", c.a_bank);
      if (c.c) cover.hit("bank", name, "c", c.c_bank);
      if (c.to_bank) cover.hit("bank", name, "d", c.d_bank);
      if (!transform) cover.hit("place", name, c.s ? "stream" : "banks", c.to_bank ? c.to_mem ? "both" : "bank" : "memory");
      if (c.permute) cover.hit("permute", name);
      if (c.swap) cover.hit("swap", name);
      if (c.shift) cover.hit("shift", name);
      cover.hit("modulus", transform ? name : "arithmetic", f.modulus);
      if (f.opcode == isa::kLift) cover.hit("modulus", "source", f.source);
      cover.hit("degree", transform ? name : c.permute ? "permute" : "rows", program_.log_n);
    }
  }
  void set_ctrl(bool start, bool soft_reset, unsigned addr, unsigned log_n) {
    dut_->start_i = start;
    dut_->soft_reset_i = soft_reset;
    dut_->program_addr_i = addr;
    dut_->log_n_i = log_n;
  }
  void write(unsigned index, unsigned field, u64 v) {
    dut_->mod_we_i = 1;
    dut_->mod_index_i = index;
    dut_->mod_field_i = field;
    dut_->mod_data_i = v;
    dut_.tick();
    dut_->mod_we_i = 0;
  }
  void read_status() {
    busy_ = dut_->busy_o;
    done_ = dut_->done_o;
    error_ = dut_->error_o;
    refused_ = dut_->refused_o;
    code_ = dut_->error_code_o;
    pc_ = dut_->error_pc_o;
    for (unsigned i = 0; i < 14; i++) counters_[i] = get_word(dut_->counters_o, i, 40);
  }

  Dut& dut_;
  Rng& rng_;
  Stalls stalls_;
  std::vector<u64> primes_, memory_;
  std::vector<TableEntry> table_;  // for the largest N
  bool write_table_ = false;
  std::unique_ptr<Machine> machine_;
  Program program_;
  unsigned base_ = 0;
  bool busy_ = false, done_ = false, error_ = false, refused_ = false;
  unsigned code_ = 0, pc_ = 0;
  u64 counters_[14] = {};
};

// One program with something wrong in it, or a reset under way; returns what was checked.
u64 faulty(Bench& bench, Rng& rng) {
  const unsigned kind = unsigned(rng.below(8));
  if (kind < 3) bench.spoil();
  if (kind == 3) bench.program().log_n = rng.chance(128) ? P_LogNMax + 1 : P_LogNMin - 1;
  if (kind == 3) {
    Streams none(rng, *std::make_unique<std::vector<u64>>(), Stalls());
    bench.start_again(none);
    bench.finish(none);
    if (!bench.error() || bench.code() != kLogN) fail("log N out of range was accepted");
    bench.cover.hit("error", unsigned(kLogN));
    return 1;
  }
  auto streams = bench.start();
  if (kind == 4) streams->fetch_error_at = int(bench.program().pc = unsigned(rng.below(bench.program().code.size())));
  if (kind == 5) streams->read_error_at = rng.below(kBanks << bench.program().log_n) / kCols;
  if (kind == 6) streams->write_error_at = rng.below(3);
  if (kind == 4) bench.program().expected = kFetch, bench.rerun(bench.program().pc);
  for (u64 i = rng.below(2000); kind == 7 && i > 0 && bench.busy(); i--) bench.cycle(*streams);
  if (kind == 7 && bench.busy()) {
    bench.start_again(*streams);
    if (bench.busy() && !bench.refused()) fail("a start while busy was not reported");
    if (rng.chance(128)) {  // reset: whatever the core was doing, it must work afterwards
      bench.reset();
      return 1;
    }
    const bool was_busy = bench.busy();
    if (was_busy) bench.soft_reset(*streams);
    bench.finish(*streams);
    if (was_busy && bench.error() && bench.code() != kAborted) fail("soft reset: code %u", bench.code());
    if (was_busy && bench.error()) bench.cover.hit("error", unsigned(kAborted));
    bench.refusal_ends();
    return 1;
  }
  bench.finish(*streams);
  if (kind == 5 || kind == 6) {
    if (!bench.error() || bench.code() != (kind == 5 ? kRead : kWrite)) fail("bus error: code %u", bench.code());
    bench.cover.hit("error", bench.code());
    return 1;
  }
  return bench.check();
}

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 n = args.number("n", 10), len = args.number("len", 60), seed = args.number("seed", 1);
  Dut dut(argc, argv);
  Rng rng(seed);
  Stalls stalls;
  stalls.fetch = unsigned(args.number("fetch", 256)), stalls.read = unsigned(args.number("read", 256));
  stalls.write = unsigned(args.number("write", 256)), stalls.done = unsigned(args.number("done", 256));
  Bench bench(dut, rng, stalls);
  u64 checked = 0;
  for (u64 i = 0; i < n; i++) {
    const unsigned log_n = unsigned(args.number("logn", P_LogNMin + rng.below(P_LogNMax - P_LogNMin + 1)));
    bench.prepare(log_n, unsigned(len));
    if (args.has("faults") && rng.chance(192)) {
      checked += faulty(bench, rng);
      continue;
    }
    auto streams = bench.start();
    bench.finish(*streams);
    checked += bench.check();
  }
  bench.cover.print();
  return pass(checked, seed, dut.cycles(), "core");
}
