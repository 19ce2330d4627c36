// The cycle rules of the README, each measured once on a quiet system with a memory that never stalls.
#include "rules.h"

namespace {

constexpr unsigned kLatency = 9;

// Cycle numbers of first events since the clock of the memory was reset.
struct Log {
  u64 ar = 0, r_full = 0, row = 0, aw = 0, w = 0, b = 0, done = 0, err = 0, ar_count = 0, second_ar = 0;
};

void first(u64& slot, bool event, u64 now) {
  if (event && slot == 0) slot = now;
}

void equal(const char* what, u64 from, u64 to, u64 cycles) {
  if (from == 0 || to == 0 || to - from != cycles)
    fail("%s: from %" PRIu64 " to %" PRIu64 ", not %" PRIu64 " cycles", what, from, to, cycles);
}

// One cycle with the inputs as they are; what can be seen goes into the log.
void watch(Bench& b, Log& log, u64 beats_wanted) {
  b.settle();
  b.dut.settle();
  const u64 now = b.memory.cycle();
  if (b.dut->m_axi_arvalid_o) {
    log.ar_count++;
    first(log.ar, true, now);
    if (log.ar_count == 2) log.second_ar = now;
  }
  if (b.dut->m_axi_rvalid_i && b.rd_beats + 1 == beats_wanted) first(log.r_full, true, now);
  first(log.row, b.dut->rd_row_valid_o || b.dut->instr_valid_o, now);
  first(log.aw, b.dut->m_axi_awvalid_o, now);
  first(log.w, b.dut->m_axi_wvalid_o, now);
  first(log.b, b.dut->m_axi_bvalid_i, now);
  first(log.done, b.dut->wr_done_o, now);
  first(log.err, b.dut->rd_err_o || b.dut->wr_err_o, now);
  b.edge();
}

// Reset, and some quiet cycles, so that no event has number 0.
void prepare(Bench& b, const rm::MemorySettings& s) {
  b.memory.configure(s);
  b.reset();
  b.rd_beats = b.wr_beats = 0;
  b.dut->instr_ready_i = b.dut->rd_row_ready_i = 0;
  Log nothing;
  for (int i = 0; i < 5; i++) watch(b, nothing, 0);
}

// Beats that make an entry of rows of `words` words, and rows that make one.
constexpr u64 beats_of(u64 words) { return words * 8 > kBeat ? words * 8 / kBeat : 1; }
constexpr u64 kRowsOfEntry = kBeat > kRowBytes ? kBeat / kRowBytes : 1;

void read_rules(Bench& b, const rm::MemorySettings& s) {
  prepare(b, s);
  Log log;
  const u64 rows = kRowsOfEntry * (64 / kRowBytes + 1), taken = b.memory.cycle();
  for (int i = 0; i < 2; i++) {  // two requests of one burst each, in two cycles
    b.dut->rd_req_valid_i = 1;
    b.dut->rd_req_addr_i = 16 * i;
    b.dut->rd_req_rows_i = rows;
    watch(b, log, beats_of(kRowWords));
  }
  b.dut->rd_req_valid_i = 0;
  for (int i = 0; i < 60; i++) watch(b, log, beats_of(kRowWords));
  equal("read request to AR", taken, log.ar, 4);
  equal("AR of one request to AR of the next", log.ar, log.second_ar, 2);
  equal("AR to the beat that completes an entry", log.ar, log.r_full, kLatency + beats_of(kRowWords) - 1);
  equal("beat to row", log.r_full, log.row, 2);
  if (log.err) equal("beat to error", log.ar + kLatency, log.err, 1);
}

void fetch_rules(Bench& b, const rm::MemorySettings& s) {
  prepare(b, s);
  Log log;
  const u64 start = b.memory.cycle();
  b.dut->fetch_start_i = 1;
  b.dut->fetch_addr_i = 0;
  watch(b, log, beats_of(4));
  b.dut->fetch_start_i = 0;
  for (int i = 0; i < 60; i++) watch(b, log, beats_of(4));
  equal("start to AR", start, log.ar, 4);
  equal("AR to the beat that completes an instruction", log.ar, log.r_full, kLatency + beats_of(4) - 1);
  equal("beat to instruction", log.r_full, log.row, 2);
}

void write_rules(Bench& b, const rm::MemorySettings& s) {
  prepare(b, s);
  Log log;
  const u64 rows = kRowsOfEntry * (64 / kRowBytes + 1), beats = rows * kRowBytes / kBeat, taken = b.memory.cycle();
  u64 sent = 0, filled = 0, last_row = 0;
  for (int i = 0; i < 120; i++) {
    b.dut->wr_req_valid_i = i == 0;
    b.dut->wr_req_addr_i = kWriteBase / kUnit;
    b.dut->wr_req_rows_i = rows;
    b.dut->wr_row_valid_i = i >= 4 && sent < rows;  // offered from the cycle of AWVALID on
    b.settle();
    b.dut.settle();
    const bool moved = b.dut->wr_row_valid_i && b.dut->wr_row_ready_o;
    if (moved && ++sent == kRowsOfEntry) filled = b.memory.cycle();
    if (b.wr_beats + b.dut->wr_beat_o == beats) first(last_row, true, b.memory.cycle());
    // watch() settles again, which would show the memory two cycles in one: do its edge alone
    const u64 now = b.memory.cycle();
    first(log.aw, b.dut->m_axi_awvalid_o, now);
    first(log.w, b.dut->m_axi_wvalid_o, now);
    first(log.b, b.dut->m_axi_bvalid_i, now);
    first(log.done, b.dut->wr_done_o, now);
    first(log.err, b.dut->wr_err_o, now);
    b.edge();
  }
  equal("write request to AW", taken, log.aw, 4);
  equal("row to W", filled, log.w, 1);
  equal("last W to B", last_row, log.b, kLatency);
  equal("B to done", log.b, log.done, 1);
  if (s.error_kinds) equal("B to error", log.b, log.err, 1);
}

}  // namespace

u64 rules(Bench& b) {
  rm::MemorySettings s;
  s.read_latency = s.write_latency = kLatency;
  read_rules(b, s);
  fetch_rules(b, s);
  write_rules(b, s);
  s.error_end = kBytes;
  s.error_kinds = 3;
  read_rules(b, s);
  write_rules(b, s);
  b.reset();
  b.bytes = b.shadow;
  return 5;
}
