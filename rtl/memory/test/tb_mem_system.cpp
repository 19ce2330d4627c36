// rm_mem_system against the memory model: random traffic with idle and back-pressure crossed, errors in the
// middle of bursts, reset in the middle of bursts, full rate, and the cycle rules of the README.
#include <algorithm>

#include "bench.h"
#include "rules.h"
#include "trace.h"

namespace {

u64 total = 0;

struct Outcome {
  u64 cycles, reads, writes, fetches;
};

// Traffic to its end: every queue empty, everything idle, memory as expected.
struct Run {
  Bench& b;
  Reads reads;
  Writes writes;
  Fetches fetches;
  Run(Bench& bench, const Traffic& t) : b(bench), reads(b, t), writes(b, t), fetches(b, t) {}

  void step() {
    b.settle();
    reads.drive();
    writes.drive();
    fetches.drive();
    b.dut.settle();
    reads.check();
    writes.check();
    fetches.check();
    b.edge();
  }
  bool done() const { return reads.done() && writes.done() && fetches.done(); }
  void quiet() {
    b.dut->fetch_start_i = b.dut->rd_req_valid_i = b.dut->wr_req_valid_i = b.dut->wr_row_valid_i = 0;
  }
  u64 finish(u64 limit) {
    u64 cycles = 0;
    for (; !done(); cycles++) {
      if (cycles > limit) fail("not done after %" PRIu64 " cycles", limit);
      step();
    }
    // What fetch read ahead comes to an end by itself; the core would hold stop after an error.
    b.dut->fetch_stop_i = fetches.failed_at != ~u64{0};
    for (u64 i = 0; !(b.dut->fetch_idle_o && b.dut->rd_idle_o && b.dut->wr_idle_o && b.memory.idle()); i++) {
      if (i > limit)
        fail("not idle after %" PRIu64 " cycles: fetch %d read %d write %d memory %d", limit, b.dut->fetch_idle_o, b.dut->rd_idle_o,
             b.dut->wr_idle_o, b.memory.idle());
      step();
    }
    b.dut->fetch_stop_i = 0;
    if (b.bytes != b.shadow) {
      const auto at = std::mismatch(b.bytes.begin(), b.bytes.end(), b.shadow.begin()).first - b.bytes.begin();
      fail("memory differs at %zx", size_t(at));
    }
    total += reads.checked + writes.checked + fetches.checked;
    return cycles;
  }
};

rm::MemorySettings stalls(unsigned chance, u64 seed) {
  rm::MemorySettings s;
  s.seed = seed;
  s.read_latency = 1 + seed % 37;
  s.write_latency = 1 + seed % 19;
  for (auto& stall : s.stall) stall = chance * 256;
  return s;
}

void configure(Bench& b, const rm::MemorySettings& s) {
  b.memory.configure(s);
  b.memory.reset();
}

// Idle, back-pressure and memory stalls, all crossed; narrow and shared memory.
void random_traffic(Bench& b, u64 rounds) {
  for (u64 round = 0; round < rounds; round++) {
    for (unsigned idle : {0u, 128u, 240u}) {
      for (unsigned pressure : {0u, 128u, 240u}) {
        for (unsigned stall : {0u, 90u, 230u}) {
          rm::MemorySettings s = stalls(stall, b.rng.next());
          s.rate_num = 1 + unsigned(b.rng.below(3));
          s.rate_den = s.rate_num + unsigned(b.rng.below(3));
          s.shared = b.rng.chance(128);
          s.outstanding = 1 + unsigned(b.rng.below(32));
          configure(b, s);
          b.rd_beats = b.wr_beats = 0;
          Traffic t{6, 6, unsigned(1 + b.rng.below(70)), idle, pressure, 8 + b.rng.below(120)};
          Run run(b, t);
          const u64 before = run.reads.beats;
          run.finish(2000000);
          if (b.wr_beats != run.writes.beats) fail("%" PRIu64 " beats written, not %" PRIu64, b.wr_beats, run.writes.beats);
          if (b.rd_beats < before) fail("fewer beats read than asked for");
          if (b.dut->err_o) fail("an error without a cause");
        }
      }
    }
  }
}

// One beat in the middle answers with an error: reported at least once with the address of the burst, and all
// else is unchanged.
void errors(Bench& b, u64 rounds) {
  for (u64 round = 0; round < rounds; round++) {
    const bool reading = round % 2 == 0;
    rm::MemorySettings s = stalls(round % 4 < 2 ? 0 : 100, b.rng.next());
    Traffic t{reading ? 5u : 0u, reading ? 0u : 5u, 0, 60, 60, 64};
    Run run(b, t);
    s.error_first = (reading ? kReadBase : kWriteBase) + b.rng.below((1 << 16) / kBeat) * kBeat;
    s.error_end = s.error_first + 8 * kBeat;
    s.error_kinds = reading ? 1 : 2;
    s.error_resp = round % 3 ? rm::kSlvErr : rm::kDecErr;
    configure(b, s);
    run.reads.bad_first = run.writes.bad_first = s.error_first;
    run.reads.bad_end = run.writes.bad_end = s.error_end;
    b.dut->fetch_start_i = 0;
    // the first burst, in program order, that touches the range
    b.reset();
    u64 expected = ~u64{0};
    for (const Request& r : reading ? run.reads.todo() : run.writes.todo()) {
      const u64 from = std::max(r.begin(), s.error_first), to = std::min(r.end(), s.error_end);
      if (from < to && expected == ~u64{0}) expected = std::max(r.begin(), from / P_BurstBytes * P_BurstBytes) / kUnit;
    }
    run.finish(2000000);
    const u64 found = run.reads.errors + run.writes.errors;
    const u64 kind = b.dut->err_o >> 34, resp = (b.dut->err_o >> 32) & 3, addr = b.dut->err_o & 0xffffffff;
    if ((found != 0) != (expected != ~u64{0})) fail("%" PRIu64 " errors reported, first expected %" PRIx64, found, expected);
    if (found && (kind != (reading ? 2u : 3u) || resp != s.error_resp || addr != expected))
      fail("error kind %" PRIu64 " resp %" PRIu64 " at %" PRIx64 ", not %" PRIx64, kind, resp, addr, expected);
    total += found;
  }
}

// An error within the program stops it there; one behind END does not matter.
void fetch_errors(Bench& b, u64 rounds) {
  for (u64 round = 0; round < rounds; round++) {
    b.reset();
    Traffic t{0, 0, unsigned(20 + b.rng.below(60)), 0, unsigned(b.rng.below(240)), 1};
    Run run(b, t);
    const bool behind = round % 2;
    const u64 span = std::max<u64>(kBeat, 32), victim = behind ? t.instructions + 1 : b.rng.below(t.instructions + 1);
    rm::MemorySettings s = stalls(round % 3 * 60, b.rng.next());
    s.error_first = run.fetches.address(victim) / span * span + (behind ? span : 0);
    // One beat alone fails, any of the instruction's where it takes several.
    if (!behind) s.error_first += b.rng.below(span / kBeat) * kBeat;
    s.error_end = s.error_first + (behind ? 4 * span : kBeat);
    s.error_kinds = 1;
    configure(b, s);
    run.finish(2000000);
    const u64 first = (s.error_first - std::min(s.error_first, run.fetches.address(0))) / 32;
    if (behind) {
      if (run.fetches.failed_at != ~u64{0} || b.dut->err_o) fail("an error behind END was reported");
    } else {
      if (run.fetches.failed_at != first) fail("fetch failed at %" PRIu64 ", not %" PRIu64, run.fetches.failed_at, first);
      if (b.dut->err_o >> 34 != 1) fail("a fetch error was not kept");
    }
    total++;
  }
}

// Reset at any time, memory with it; then traffic runs as if nothing had been.
void resets(Bench& b, u64 rounds) {
  for (u64 round = 0; round < rounds; round++) {
    configure(b, stalls(60, b.rng.next()));
    {
      Run run(b, Traffic{6, 6, 40, 30, 30, 60});
      for (u64 n = b.rng.below(300); n > 0 && !run.done(); n--) run.step();
    }
    b.reset();
    b.shadow = b.bytes;  // how much of a store arrived is not said
    Run again(b, Traffic{3, 3, 20, 30, 30, 60});
    again.finish(1000000);
  }
}

// Stop in the middle of a program: nothing more is shown, what is under way is awaited.
void stops(Bench& b, u64 rounds) {
  for (u64 round = 0; round < rounds; round++) {
    configure(b, stalls(round % 2 ? 100 : 0, b.rng.next()));
    Run run(b, Traffic{0, 0, 200, 0, 200, 1});
    for (u64 n = b.rng.below(120); n > 0; n--) run.step();
    run.quiet();
    b.dut->fetch_stop_i = 1;
    for (u64 n = 0; n == 0 || !b.dut->fetch_idle_o; n++) {
      if (n > 10000) fail("fetch does not stop");
      b.settle();
      b.edge();
    }
    if (b.dut->instr_valid_o) fail("an instruction after stop");
    b.dut->fetch_stop_i = 0;
    Run again(b, Traffic{0, 0, 20, 0, 0, 1});
    again.finish(100000);
  }
}

// Nothing but the bus, or the rows, limits a stream of many requests.
void full_rate(Bench& b) {
  rm::MemorySettings s;
  s.read_latency = 24;
  const u64 rows = 4 * std::max<u64>(16, 1024 / kRowBytes);
  for (const bool reading : {true, false}) {
    b.reset();
    configure(b, s);
    Traffic t{reading ? 24u : 0u, reading ? 0u : 24u, 0, 0, 0, rows};
    Run run(b, t);
    u64 beats = run.reads.beats + run.writes.beats;
    const u64 least = std::max(beats, beats * kBeat / kRowBytes);
    const u64 cycles = run.finish(1000000);
    if (cycles > least + 64) fail("%" PRIu64 " cycles for %" PRIu64 " at full rate", cycles, least);
    std::printf("%s: %" PRIu64 " cycles, least %" PRIu64 "\n", reading ? "reads" : "writes", cycles, least);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 seed = args.number("seed", 1), rounds = args.number("rounds", 1);
  Bench b(argc, argv, seed);
  total += rules(b);
  if (const char* file = args.text("trace")) {
    Bench quiet(argc, argv, 1);
    total += trace(quiet, file, args.has("bless"));
  }
  full_rate(b);
  random_traffic(b, rounds);
  errors(b, 12 * rounds);
  fetch_errors(b, 12 * rounds);
  resets(b, 12 * rounds);
  stops(b, 12 * rounds);
  return pass(total, seed, b.dut.cycles(), "rm_mem_system");
}
