// The whole core over its registers and an AXI4 memory of every timing: random programs against the
//   interpreter. +n=PROGRAMS +len=INSTRUCTIONS +seed=S +to=L: log N up to L, +logn=L: log N alone. Each program runs on another memory: latency, rate,
//   shared bus, stalls of every channel, or a range that answers with errors. Compared: the result of every
//   instruction as it is written, memory at the end (all banks are stored), status, error number; cycles are
//   repeatable.
// As rm_compact_core makes it of its two parameters.
#define P_Kind (P_ONES ? unsigned(P_KIND) + 8 * (unsigned(P_ONES) / 2) : unsigned(P_KIND))
#define P_Nbf P_NBF
#include <algorithm>

#include "../../registers/generated/core_registers.h"
#include "../../sim/src/rm_core.h"
#include "cover.h"
#include "generator.h"
#include "operations.h"
#include "table.h"

using namespace rm_test;

namespace {

constexpr unsigned kSlots = 12, kModuli = 4;
// What an instruction leaves behind: a limb in a bank, or in memory alone (-1); or nothing.
constexpr int32_t kNothing = -2;
struct Result {
  int32_t bank;
  Limb limb;
};

constexpr uint32_t kBusy = 1, kDone = 2, kError = 4;
// Fields of CONTROL.
constexpr uint32_t kStart = 1, kIrqEnable = 4;
enum { kErrFetch = 9, kErrRead = 10, kErrWrite = 11 };

class Bench {
 public:
  explicit Bench(u64 seed) : rng_(seed), primes_(primes(rng_, kModuli, P_LOGN_MAX)) {
    rm_core_memory_default(&memory_);
    spare_.resize(8);
    core_ = rm_core_new(bytes(spare_), 64, &memory_);
    if (!core_) fail("no core");
    ok(rm_core_observe(core_, &Bench::observe, this), "observe");
  }
  ~Bench() { rm_core_free(core_); }

  u64 program(unsigned length, unsigned least, unsigned most) {
    const unsigned log_n = unsigned(least + rng_.below(most - least + 1));
    const std::size_t code = (length + 2 * kBanks + 1) * 4;
    // limbs start at an even unit, as the widest bus asks
    const unsigned base = unsigned((code + 15) / 16 * 2);
    Machine machine(log_n, factor_bits(), table_for(rng_, primes_, log_n, P_MODS), base * 8 + (kSlots << log_n));
    const unsigned home = unsigned(rng_.below(P_MODS));
    for (std::size_t i = base * 8; i < machine.memory.size(); i++) machine.memory[i] = rng_.below(machine.table()[home].q);
    std::vector<u64> memory = machine.memory;
    Generator generator(rng_, machine, base, kSlots, P_W, home);
    std::vector<Instr> instrs;
    for (unsigned b = 0; b < kBanks; b++) instrs.push_back(generator.load(unsigned(rng_.below(kSlots)), b));
    for (unsigned i = 0; i < length; i++) instrs.push_back(generator.next());
    for (unsigned b = 0; b < kBanks; b++) instrs.push_back(generator.store(b, b));
    instrs.push_back(Instr());
    for (std::size_t i = 0; i < instrs.size(); i++) std::copy_n(instrs[i].w, 4, memory.begin() + std::ptrdiff_t(4 * i));

    results_ = results(memory, machine, instrs);

    vary();
    const bool faulty = rng_.chance(64);
    const bool fetch = faulty && rng_.chance(64);
    if (faulty) break_limb(generator.slot_addr(unsigned(rng_.below(kSlots))), log_n);
    if (fetch) break_code(instrs.size());
    tables(machine.table(), log_n);
    std::vector<u64> again = memory;
    seen_ = 0;
    comparing_ = !faulty;
    const u64 first = run(memory, log_n, instrs.size());
    const auto leaves = [](const Result& r) { return r.bank != kNothing; };
    const std::size_t due = std::size_t(std::count_if(results_.begin(), results_.end(), leaves));
    if (!faulty && seen_ != due) fail("%zu instructions of %zu were seen", seen_, due);
    if (!faulty && rng_.chance(32)) {
      tables(machine.table(), log_n);  // no twiddle factors are left from the run before
      if (run(again, log_n, instrs.size()) != first) fail("not the same cycles again");
    }
    if (faulty) {
      const uint32_t status = get(CORE_REG_STATUS), code_of = status >> 8;
      if (!(status & kError) && !(status & kDone)) fail("neither done nor error");
      if (fetch ? code_of != kErrFetch : (status & kError) && code_of != kErrRead && code_of != kErrWrite) {
        fail("bus error: code %u", code_of);
      }
      if (fetch && get(CORE_REG_ERROR_PC) >= instrs.size()) fail("bus error at an instruction beyond the end");
      return 1;
    }
    if (get(CORE_REG_STATUS) != kDone) fail("status %x", get(CORE_REG_STATUS));
    u64 checked = 0;
    for (std::size_t i = base * 8; i < memory.size(); i++, checked++) {
      if (memory[i] != machine.memory[i]) fail("word %zu: %" PRIx64 ", expected %" PRIx64, i, memory[i], machine.memory[i]);
    }
    for (const Instr& instr : instrs) {
      const Fields f = Fields::decode(instr);
      if (is_transform(f.opcode)) cover.hit("whole", operation(f.opcode), log_n);
    }
    return checked;
  }

  // The interrupt is raised while it is enabled, and only then; a program that has ended raises it as soon as it is.
  void interrupt(unsigned log_n) {
    vary();
    std::vector<u64> memory(8, 0);  // END
    ok(rm_core_set_memory(core_, bytes(memory), 64, &memory_), "set_memory");
    set(CORE_REG_PROGRAM, 0);
    set(CORE_REG_LOG_N, log_n);
    set(CORE_REG_CONTROL, kStart);
    for (unsigned n = 0; get(CORE_REG_STATUS) & kBusy; n++) {
      if (n > 100000) fail("a program of one END does not end");
    }
    if (rm_core_wait(core_, 100) != RM_CORE_LIMIT) fail("an interrupt that is not enabled");
    if (!(get(CORE_REG_IRQ) & 1)) fail("an end that is not pending");
    set(CORE_REG_CONTROL, kIrqEnable);
    ok(rm_core_wait(core_, 4), "an interrupt that is pending and enabled");
    if (get(CORE_REG_IRQ) & 1) fail("an interrupt that stays");
    if (rm_core_wait(core_, 100) != RM_CORE_LIMIT) fail("an interrupt that was cleared");
    cover.hit("interrupt", "masked"), cover.hit("interrupt", "enabled"), cover.hit("interrupt", "cleared");
  }

  Cover cover;

  u64 cycles() const {
    rm_core_counts counts;
    rm_core_count(core_, &counts);
    return counts.cycles;
  }

 private:
  static uint8_t* bytes(std::vector<u64>& words) { return reinterpret_cast<uint8_t*>(words.data()); }
  void ok(int code, const char* what) {
    if (code != RM_CORE_OK) fail("%s: code %d, %s", what, code, rm_core_message(core_));
  }
  void set(uint32_t address, uint32_t value) { ok(rm_core_write_register(core_, address, value), "write"); }
  uint32_t get(uint32_t address) {
    uint32_t value = 0;
    ok(rm_core_read_register(core_, address, &value), "read");
    return value;
  }
  void table_word(unsigned entry, unsigned word, u64 value) {
    const uint32_t at = CORE_REG_MODULUS + 256 * entry + 8 * word;
    set(at, uint32_t(value));
    set(at + 4, uint32_t(value >> 32));
  }

  // Runs the interpreter again and keeps what every instruction writes.
  static std::vector<Result> results(const std::vector<u64>& memory, const Machine& like, const std::vector<Instr>& code) {
    Machine machine(like.log_n(), factor_bits(), like.table(), memory.size());
    machine.memory = memory;
    std::vector<Result> found;
    for (const Instr& instr : code) {
      if (!machine.step(instr)) break;
      const Fields f = Fields::decode(instr);
      if (f.opcode == kRoots) {
        found.push_back({kNothing, {}});
        continue;
      }
      const int bank = f.opcode < kArith ? int(f.cmd.a_bank) : f.cmd.to_bank ? int(f.cmd.d_bank) : -1;
      found.push_back({bank, bank < 0 ? machine.load(f.d_addr) : machine.bank(unsigned(bank))});
    }
    return found;
  }
  static void observe(void* user, uint32_t instruction, uint64_t, int32_t bank, const uint64_t* words, uint64_t count) {
    Bench& bench = *static_cast<Bench*>(user);
    if (!bench.comparing_) return;
    if (instruction >= bench.results_.size()) fail("instruction %u was not in the program", instruction);
    const Result& want = bench.results_[instruction];
    if (bank != want.bank || count != want.limb.size()) fail("instruction %u: bank %d, %" PRIu64 " words", instruction, bank, count);
    for (u64 k = 0; k < count; k++) {
      if (words[k] != want.limb[k]) fail("instruction %u, word %" PRIu64 ": %" PRIx64 ", expected %" PRIx64, instruction, k, words[k], want.limb[k]);
    }
    bench.seen_++;
  }

  void tables(const std::vector<TableEntry>& table, unsigned log_n) {
    for (unsigned m = 0; m < table.size(); m++) {
      table_word(m, 0, table[m].q);
      table_word(m, 1, table[m].aux);
      for (unsigned b = 0; b < log_n; b++) table_word(m, 2 + b, stored_root(table[m], log_n, b));
    }
  }

  void vary() {
    rm_core_memory_default(&memory_);
    memory_.read_latency = unsigned(1 + rng_.below(200));
    memory_.write_latency = unsigned(1 + rng_.below(100));
    memory_.rate_den = unsigned(1 + rng_.below(8));
    memory_.rate_num = unsigned(1 + rng_.below(memory_.rate_den));
    memory_.shared = rng_.chance(128);
    memory_.outstanding = unsigned(1 + rng_.below(32));
    for (uint32_t& stall : memory_.stall) stall = rng_.chance(128) ? unsigned(rng_.below(40000)) : 0;
    memory_.seed = rng_.next();
  }
  void break_limb(unsigned unit, unsigned log_n) {
    memory_.error_kinds = unsigned(1 + rng_.below(3));
    memory_.error_resp = unsigned(2 + rng_.below(2));
    memory_.error_first = u64(unit) * 64;
    memory_.error_end = memory_.error_first + (u64(8) << log_n);
  }

  void break_code(std::size_t instructions) {
    memory_.error_kinds = 1;
    memory_.error_first = rng_.below(instructions) * 32;
    memory_.error_end = memory_.error_first + 1;
  }

  // The clock of the memory at the end.
  u64 run(std::vector<u64>& memory, unsigned log_n, std::size_t instructions) {
    ok(rm_core_set_memory(core_, bytes(memory), memory.size() * 8, &memory_), "set_memory");
    set(CORE_REG_PROGRAM, 0);
    set(CORE_REG_LOG_N, log_n);
    ok(rm_core_start(core_), "start");
    const int code = rm_core_wait(core_, 100000 + instructions * (u64(64) << log_n));
    if (code != RM_CORE_OK) fail("watchdog: code %d, %s", code, rm_core_message(core_));
    rm_core_counts counts;
    rm_core_count(core_, &counts);
    if (get(CORE_REG_STATUS) & kBusy) fail("interrupt while busy");
    return counts.clock;
  }

  Rng rng_;
  std::vector<u64> primes_, spare_;
  std::vector<Result> results_;
  std::size_t seen_ = 0;
  bool comparing_ = false;
  rm_core_memory memory_;
  rm_core* core_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 n = args.number("n", 20), length = args.number("len", 40), seed = args.number("seed", 1);
  Bench bench(seed);
  u64 checked = 0;
  const u64 alone = args.number("logn", 0), most = args.number("to", P_LOGN_MAX);
  for (u64 i = 0; i < n; i++) {
    checked += alone ? bench.program(unsigned(length), unsigned(alone), unsigned(alone)) : bench.program(unsigned(length), P_LOGN_MIN, unsigned(most));
  }
  bench.interrupt(P_LOGN_MIN);
  bench.cover.print();
  return pass(checked, seed, bench.cycles(), "compact");
}
