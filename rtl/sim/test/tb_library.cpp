// The library's C interface around toy_core: registers, programs of copies on memories of every timing,
// errors, start while busy, reset in the middle, the watchdog, and the same cycles for the same seed.
#include <vector>

#include "../../registers/generated/core_registers.h"
#include "../src/rm_core.h"
#include "harness.h"

namespace {

constexpr u64 kBytes = 1 << 18, kUnit = 64;
constexpr u64 kCopy = 0x10, kUsesRead = u64{1} << 31, kToMemory = u64{1} << 30, kAddModulus = u64{1} << 54;
constexpr u64 kWordMask = (u64{1} << P_W) - 1;
constexpr uint32_t kBusy = 1, kDone = 2, kError = 4, kRefused = 8;

struct Status {
  uint32_t flags, code, pc, bus, unit;
};

class Bench {
 public:
  explicit Bench(u64 seed) : rng(seed), bytes(kBytes) {
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(rng.next());
    rm_core_memory_default(&settings);
    core = rm_core_new(bytes.data(), kBytes, &settings);
    if (!core) fail("no core");
  }
  ~Bench() { rm_core_free(core); }

  void ok(int code, const char* what) {
    if (code != RM_CORE_OK) fail("%s: code %d, %s", what, code, rm_core_message(core));
  }
  void set(uint32_t address, uint32_t value) { ok(rm_core_write_register(core, address, value), "write"); }
  uint32_t get(uint32_t address) {
    uint32_t value = 0;
    ok(rm_core_read_register(core, address, &value), "read");
    return value;
  }
  void expect(uint32_t address, uint32_t value) {
    const uint32_t got = get(address);
    if (got != value) fail("register %x is %x, not %x", address, got, value);
  }
  u64 counter(unsigned i) {
    const uint32_t at = CORE_REG_COUNTER + 8 * i;
    return get(at) | u64{get(at + 4)} << 32;
  }
  Status status() {
    const uint32_t s = get(CORE_REG_STATUS);
    return {s & 0xf, s >> 8, get(CORE_REG_ERROR_PC), get(CORE_REG_BUS_ERROR), get(CORE_REG_BUS_ERROR_ADDR)};
  }
  void memory() { ok(rm_core_set_memory(core, bytes.data(), kBytes, &settings), "set_memory"); }
  u64 word(u64 unit, u64 i) const {
    u64 value;
    std::memcpy(&value, &bytes[unit * kUnit + 8 * i], 8);
    return value;
  }
  void put(u64 unit, u64 i, u64 value) { std::memcpy(&bytes[unit * kUnit + 8 * i], &value, 8); }

  Rng rng;
  std::vector<uint8_t> bytes;
  rm_core_memory settings;
  rm_core* core;
};

// Copies of limbs of 2^log_n words; limbs 0 … 63 of 1 KiB begin at unit 0, the program at unit 2048.
struct Program {
  static constexpr u64 kUnitAt = 2048, kLimbs = 64, kLimbUnits = 16;
  struct Copy {
    u64 from, to, modulus;
    bool add;
  };
  std::vector<Copy> copies;
  unsigned log_n = 7;

  static Program random(Rng& rng, unsigned n) {
    Program p;
    for (unsigned i = 0; i < n; i++)
      p.copies.push_back({rng.below(32) * kLimbUnits, (32 + rng.below(32)) * kLimbUnits, rng.below(P_MODS), rng.chance(128)});
    return p;
  }
  void store(Bench& b) const {
    for (u64 i = 0; i <= copies.size(); i++) {
      u64 w[4] = {0, 0, 0, 0};
      if (i < copies.size()) {
        const Copy& c = copies[i];
        w[0] = kCopy | c.modulus << 8 | kUsesRead | kToMemory | c.to << 32;
        w[1] = c.from | (c.add ? kAddModulus : 0);
      }
      for (u64 k = 0; k < 4; k++) b.put(kUnitAt, 4 * i + k, w[k]);
    }
    b.set(CORE_REG_PROGRAM, kUnitAt);
    b.set(CORE_REG_LOG_N, log_n);
  }
  // What memory holds afterwards.
  std::vector<uint8_t> result(const Bench& b, const std::vector<u64>& moduli) const {
    std::vector<uint8_t> after = b.bytes;
    for (const Copy& c : copies) {
      for (u64 i = 0; i < (u64{1} << log_n); i++) {
        const u64 value = (b.word(c.from, i) + (c.add ? moduli[c.modulus] : 0)) & kWordMask;
        std::memcpy(&after[c.to * kUnit + 8 * i], &value, 8);
      }
    }
    return after;
  }
};

u64 total = 0;

void run(Bench& b, u64 cycles = 1000000) {
  b.ok(rm_core_start(b.core), "start");
  b.ok(rm_core_wait(b.core, cycles), "wait");
}

void registers(Bench& b) {
  rm_core_parameters p;
  rm_core_parameters_of(&p);
  if (p.abi != RM_CORE_ABI || p.w != P_W || p.nbf != P_NBF || p.d != P_D || p.kind != P_KIND || p.ones != P_ONES ||
      p.rd_rows != P_RD_ROWS) {
    fail("parameters");
  }
  b.expect(CORE_REG_ID, 0x524d4343);
  b.expect(CORE_REG_VERSION, 0x10001);
  b.expect(CORE_REG_SHAPE, P_W | P_NBF << 8 | P_LOGN_MAX << 16 | P_MODS << 24);
  b.expect(CORE_REG_VARIANT, P_KIND | P_D << 16);
  for (int i = 0; i < 20; i++) {
    const uint32_t value = static_cast<uint32_t>(b.rng.next());
    b.set(CORE_REG_PROGRAM, value);
    b.set(CORE_REG_LOG_N, value);
    b.expect(CORE_REG_PROGRAM, value);
    b.expect(CORE_REG_LOG_N, value & 31);
  }
  uint32_t value;
  if (rm_core_write_register(b.core, CORE_REG_ID, 1) != RM_CORE_ACCESS) fail("ID was written");
  if (rm_core_read_register(b.core, 0x200, &value) != RM_CORE_ACCESS) fail("0x200 was read");
  if (rm_core_read_register(b.core, CORE_REG_MODULUS, &value) != RM_CORE_ACCESS) fail("the table was read");
  b.expect(CORE_REG_ID, 0x524d4343);
  total += 45;
}

std::vector<u64> moduli(Bench& b) {
  std::vector<u64> q;
  for (u64 i = 0; i < P_MODS; i++) {
    q.push_back(b.rng.next() & kWordMask);
    for (u64 field = 0; field < 32; field++) {  // q is field 0; the others must not disturb it
      const u64 f = 31 - field, value = f == 0 ? q[i] : b.rng.next();
      b.set(CORE_REG_MODULUS + 256 * i + 8 * f, static_cast<uint32_t>(value));
      b.set(CORE_REG_MODULUS + 256 * i + 8 * f + 4, static_cast<uint32_t>(value >> 32));
    }
  }
  return q;
}

void vary(Bench& b) {
  rm_core_memory_default(&b.settings);
  b.settings.read_latency = 1 + b.rng.below(60);
  b.settings.write_latency = 1 + b.rng.below(30);
  b.settings.rate_den = 1 + b.rng.below(4);
  b.settings.rate_num = 1 + b.rng.below(b.settings.rate_den);
  b.settings.shared = b.rng.chance(128);
  b.settings.outstanding = 1 + b.rng.below(20);
  for (uint32_t& stall : b.settings.stall) stall = b.rng.chance(128) ? b.rng.below(40000) : 0;
  b.settings.seed = b.rng.next();
  b.memory();
}

void programs(Bench& b, const std::vector<u64>& q, u64 rounds) {
  for (u64 round = 0; round < rounds; round++) {
    vary(b);
    const Program p = Program::random(b.rng, 1 + b.rng.below(40));
    p.store(b);
    const std::vector<uint8_t> want = p.result(b, q);
    run(b);
    const u64 first = b.counter(0), beats = p.copies.size() * (8u << p.log_n) / (P_D / 8);
    if (b.bytes != want) fail("memory after program %" PRIu64, round);
    const Status s = b.status();
    if (s.flags != kDone || s.code || s.bus) fail("status %x code %u", s.flags, s.code);
    b.expect(CORE_REG_IRQ, 0);
    if (b.counter(13) != p.copies.size() + 1) fail("%" PRIu64 " instructions counted", b.counter(13));
    if (b.counter(12) != beats || b.counter(11) < beats) fail("beats: %" PRIu64, b.counter(12));
    // Some accesses later the same program takes the same cycles: the memory's clock began again.
    for (u64 n = b.rng.below(9); n > 0; n--) b.expect(CORE_REG_ID, 0x524d4343);
    run(b);
    if (b.counter(0) != first) fail("%" PRIu64 " cycles, then %" PRIu64, first, b.counter(0));
    total += p.copies.size();
  }
}

void stopped(Bench& b, uint32_t code, uint32_t pc, uint32_t bus, u64 unit) {
  run(b);
  const Status s = b.status();
  if (s.flags != kError || s.code != code || s.pc != pc || s.bus != bus || s.unit != unit)
    fail("status %x code %u pc %u bus %x at %x", s.flags, s.code, s.pc, s.bus, s.unit);
  total++;
}

// The first beat comes when the README says, whatever the latency.
void clock(Bench& b) {
  for (const uint32_t latency : {9u, 30u}) {
    rm_core_memory_default(&b.settings);
    b.settings.read_latency = latency;
    b.memory();
    Program::random(b.rng, 1).store(b);
    b.ok(rm_core_start(b.core), "start");
    rm_core_counts counts{};
    while (counts.read_beats == 0) {
      if (rm_core_wait(b.core, 1) != RM_CORE_LIMIT) fail("an end without a beat");
      rm_core_count(b.core, &counts);
    }
    if (counts.clock - 1 != 6 + latency) fail("the first beat came in cycle %" PRIu64, counts.clock - 1);
    b.ok(rm_core_wait(b.core, 10000), "wait");
    total++;
  }
}

void errors(Bench& b) {
  rm_core_memory_default(&b.settings);
  b.memory();
  Program p = Program::random(b.rng, 9);
  for (u64 i = 0; i < 9; i++) p.copies[i] = {i * 16, (32 + i) * 16, 0, false};
  p.store(b);
  const auto range = [&](u64 unit, uint32_t kinds, uint32_t resp) {
    b.settings.error_first = unit * kUnit;
    b.settings.error_end = unit * kUnit + 1;
    b.settings.error_kinds = kinds;
    b.settings.error_resp = resp;
    b.memory();
  };
  range(5 * 16 + 3, 1, 2);
  stopped(b, 10, 5, 2 | 2 << 2, 5 * 16);  // read, SLVERR; the burst begins with the limb
  range((32 + 7) * 16, 2, 3);
  stopped(b, 11, 7, 3 | 3 << 2, (32 + 7) * 16);
  range(Program::kUnitAt + 2, 1, 2);
  stopped(b, 9, 4, 1 | 2 << 2, Program::kUnitAt);  // instructions 4 and 5
  range(0, 0, 2);
  b.put(Program::kUnitAt, 4 * 3, 0x99);
  stopped(b, 1, 3, 0, 0);
  p.copies[2].from = kBytes / kUnit + 100;  // beyond the memory
  p.store(b);
  stopped(b, 10, 2, 2 | 3 << 2, kBytes / kUnit + 100);
}

void wrong_use(Bench& b, const std::vector<u64>& q) {
  rm_core_memory_default(&b.settings);
  b.memory();
  const Program p = Program::random(b.rng, 30);
  p.store(b);
  const std::vector<uint8_t> want = p.result(b, q);
  b.ok(rm_core_start(b.core), "start");
  if (rm_core_wait(b.core, 50) != RM_CORE_LIMIT) fail("the watchdog did not see 50 cycles");
  if (b.status().flags != kBusy) fail("not busy");
  b.ok(rm_core_start(b.core), "second start");
  b.ok(rm_core_wait(b.core, 100000), "wait");
  if (b.status().flags != (kDone | kRefused)) fail("the second start was not refused: %x", b.status().flags);
  if (b.bytes != want) fail("a refused start changed the result");
  for (int i = 0; i < 10; i++) {
    b.ok(rm_core_start(b.core), "start");
    if (rm_core_wait(b.core, 20 + b.rng.below(300)) != RM_CORE_LIMIT) fail("it ended early");
    rm_core_reset(b.core);
    if (b.status().flags != 0) fail("status after reset");
    const std::vector<u64> again = moduli(b);
    p.store(b);
    const std::vector<uint8_t> expected = p.result(b, again);
    run(b);
    if (b.bytes != expected) fail("memory after reset");
  }
  rm_core_memory bad = b.settings;
  bad.rate_num = 0;
  if (rm_core_set_memory(b.core, b.bytes.data(), kBytes, &bad) != RM_CORE_SETTING) fail("a rate of 0 was taken");
  if (rm_core_new(b.bytes.data(), kBytes, &bad)) fail("a core with a rate of 0");
  if (rm_core_trace(b.core, "trace.fst") != RM_CORE_NO_TRACE) fail("a trace without traces");
  total += 14;
}

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 seed = args.number("seed", 1), rounds = args.number("rounds", 10);
  Bench b(seed);
  registers(b);
  const std::vector<u64> q = moduli(b);
  programs(b, q, rounds);
  clock(b);
  errors(b);
  wrong_use(b, q);
  rm_core_counts counts;
  rm_core_count(b.core, &counts);
  return pass(total, seed, counts.cycles, "library");
}
