// Golden traces of rm_mem_system: what goes in and out in every cycle, without data. The model in
// crates/cycles/src/axi replays the same files, so that neither side can change alone.
//
// A line `M …` names the memory's settings and begins a reset; every other line is one cycle: the bits below in
// hexadecimal, then `r UNIT ROWS`, `w UNIT ROWS`, `f UNIT` for what is offered in it.
#include "trace.h"

#include <fstream>
#include <sstream>

namespace {

constexpr unsigned kSegments = 6, kCycles = 700, kStopAt = 300;

std::string line(Bench& b) {
  Dut& d = b.dut;
  const bool end = d->instr_valid_o && (d->instr_data_o[0] & 0xff) == 0;
  const bool bits[] = {
      d->fetch_start_i != 0, d->fetch_stop_i != 0,  d->instr_ready_i != 0,   end,
      d->rd_req_valid_i != 0, d->rd_row_ready_i != 0, d->wr_req_valid_i != 0, d->wr_row_valid_i != 0,
      d->fetch_idle_o != 0,  d->instr_valid_o != 0, d->rd_req_ready_o != 0,  d->rd_row_valid_o != 0,
      d->rd_idle_o != 0,     d->rd_beat_o != 0,     d->wr_req_ready_o != 0,  d->wr_row_ready_o != 0,
      d->wr_done_o != 0,     d->wr_idle_o != 0,     d->wr_beat_o != 0,       d->m_axi_arvalid_o != 0,
      d->m_axi_awvalid_o != 0};
  unsigned packed = 0, at = 0;
  for (const bool bit : bits) packed |= unsigned(bit) << at++;
  std::ostringstream out;
  out << std::hex << packed << std::dec;
  if (d->rd_req_valid_i) out << " r " << d->rd_req_addr_i << ' ' << d->rd_req_rows_i;
  if (d->wr_req_valid_i) out << " w " << d->wr_req_addr_i << ' ' << d->wr_req_rows_i;
  if (d->fetch_start_i) out << " f " << d->fetch_addr_i;
  return out.str();
}

rm::MemorySettings settings(unsigned segment) {
  rm::MemorySettings s;
  s.seed = 77 + segment;
  s.read_latency = 1 + 9 * segment;
  s.write_latency = 3 + 4 * segment;
  if (segment >= 2) s.rate_den = 3, s.rate_num = 2;
  s.shared = segment >= 3;
  if (segment >= 4) s.outstanding = 3;
  if (segment % 2)
    for (auto& stall : s.stall) stall = 9000 * segment;
  return s;
}

void describe(std::ostream& out, const rm::MemorySettings& s) {
  out << "M " << s.read_latency << ' ' << s.write_latency << ' ' << s.rate_num << ' ' << s.rate_den << ' ' << s.shared
      << ' ' << s.outstanding << ' ' << s.seed;
  for (const auto stall : s.stall) out << ' ' << stall;
  out << '\n';
}

}  // namespace

u64 trace(Bench& b, const std::string& file, bool bless) {
  std::ostringstream out;
  out << "# nbf " << P_NBF << " d " << P_D << " burst " << P_BurstBytes << " rows " << P_RdRows << "\n";
  for (unsigned segment = 0; segment < kSegments; segment++) {
    const rm::MemorySettings s = settings(segment);
    describe(out, s);
    b.memory.configure(s);
    b.reset();
    const Traffic t{6, 6, 60, segment * 30, segment % 3 * 60, 1 + 2048 / kRowBytes};
    Reads reads(b, t);
    Writes writes(b, t);
    Fetches fetches(b, t);
    for (unsigned cycle = 0; cycle < kCycles; cycle++) {
      b.settle();
      reads.drive();
      writes.drive();
      fetches.drive();
      b.dut->fetch_stop_i = segment + 1 == kSegments && cycle >= kStopAt;
      b.dut.settle();
      out << line(b) << '\n';
      reads.check();
      writes.check();
      fetches.check();
      b.edge();
    }
  }
  b.reset();
  b.bytes = b.shadow;
  if (bless) {
    std::ofstream(file) << out.str();
    return u64{kSegments} * kCycles;
  }
  std::ifstream stored(file);
  std::istringstream now(out.str());
  std::string want, got;
  for (u64 number = 1; std::getline(now, got); number++) {
    if (!std::getline(stored, want)) fail("%s ends before line %" PRIu64 "; +bless writes it", file.c_str(), number);
    if (got != want) fail("%s:%" PRIu64 ": %s, now %s; +bless accepts it", file.c_str(), number, want.c_str(), got.c_str());
  }
  return u64{kSegments} * kCycles;
}
