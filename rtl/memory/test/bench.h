// Bench of rm_mem_system: memory model, drivers and checkers of the three streams.
//
// The oracle is a plain copy of the memory's bytes: rows are words at byte addresses, and a write is
// seen there at once. Idle (how rarely a driver offers) and pressure (how rarely a consumer takes) are
// chances of 256 in each cycle.
#pragma once

#include <deque>
#include <vector>

#include "../../sim/src/axi_port.h"
#include "harness.h"

constexpr u64 kReadBase = 0, kWriteBase = 1 << 16, kProgramBase = 2 << 16, kBytes = 3 << 16;
constexpr u64 kUnit = 64, kBeat = P_D / 8, kRowWords = 2 * P_NBF, kRowBytes = kRowWords * 8;
constexpr u64 kWordMask = P_W == 64 ? ~u64{0} : (u64{1} << P_W) - 1;

using Row = std::vector<u64>;

// Bits [i*width, (i+1)*width) of a wide port.
template <class Port>
u64 get_word(const Port& port, unsigned i, unsigned width) {
  u64 value = 0;
  for (unsigned b = 0; b < width; b++) {
    const unsigned at = i * width + b;
    value |= u64{(port[at / 32] >> (at % 32)) & 1} << b;
  }
  return value;
}

template <class Port>
void set_word(Port& port, unsigned i, unsigned width, u64 value) {
  for (unsigned b = 0; b < width; b++) {
    const unsigned at = i * width + b;
    port[at / 32] = (port[at / 32] & ~(1u << (at % 32))) | (unsigned((value >> b) & 1) << (at % 32));
  }
}

struct Request {
  u64 unit, rows;
  u64 begin() const { return unit * kUnit; }
  u64 end() const { return begin() + rows * kRowBytes; }
};

// How a scenario drives the streams; chances of 256.
struct Traffic {
  unsigned reads = 0, writes = 0, instructions = 0;  // requests, requests, instructions before END
  unsigned idle = 0, pressure = 0;
  u64 max_rows = 40;
};

class Bench {
 public:
  Bench(int argc, char** argv, u64 seed)
      : dut(argc, argv), rng(seed), bytes(kBytes), shadow(kBytes), memory(rm::MemorySettings{}, P_D) {
    for (u64 i = 0; i < kBytes; i++) shadow[i] = bytes[i] = static_cast<uint8_t>(rng.next());
    memory.attach(bytes.data(), kBytes);
    reset();
  }

  void reset() {
    dut->rst_ni = 0;
    dut->fetch_start_i = dut->fetch_stop_i = dut->instr_ready_i = 0;
    dut->rd_req_valid_i = dut->rd_row_ready_i = dut->wr_req_valid_i = dut->wr_row_valid_i = 0;
    memory.reset();
    rm::apply_slave(dut.top(), rm::SlaveSignals{});
    dut.tick();
    dut.tick();
    dut->rst_ni = 1;
    settle();
  }

  // Memory's answer to what registers show, then combinational outputs.
  void settle() {
    rm::apply_slave(dut.top(), memory.drive(rm::master_signals(dut.top())));
    dut.settle();
  }
  // The edge, after inputs were set and settled.
  void edge() {
    dut.settle();
    const rm::MasterSignals master = rm::master_signals(dut.top());
    rd_beats += dut->rd_beat_o;
    wr_beats += dut->wr_beat_o;
    memory.advance(master);
    if (!memory.violation().empty()) fail("AXI: %s", memory.violation().c_str());
    dut.tick();
  }

  void put(u64 address, u64 word) { std::memcpy(&shadow[address], &word, 8); }
  u64 get(u64 address) const {
    u64 word;
    std::memcpy(&word, &shadow[address], 8);
    return word;
  }
  // Whole beats, anywhere in a region of 64 KiB, often touching the end of a page.
  Request request(u64 base, u64 max_rows) {
    const u64 step = kBeat > kRowBytes ? kBeat / kRowBytes : 1, align = kBeat > kUnit ? kBeat / kUnit : 1;
    Request r{0, step * (1 + rng.below(max_rows / step + 1))};
    const u64 units = (r.rows * kRowBytes + kUnit - 1) / kUnit, room = (1 << 16) / kUnit - units;
    r.unit = rng.below(room + 1);
    if (rng.chance(64)) {  // ends at a page if it can
      const u64 page = 4096 / kUnit * (1 + rng.below(15));
      if (page >= units) r.unit = page - units;
    }
    r.unit = (base / kUnit) + r.unit / align * align;
    return r;
  }

  Dut dut;
  Rng rng;
  std::vector<uint8_t> bytes, shadow;
  rm::AxiMemory memory;
  u64 rd_beats = 0, wr_beats = 0;
};

// Requests and rows of the read stream.
class Reads {
 public:
  Reads(Bench& bench, const Traffic& t) : b_(bench), t_(t) {
    for (unsigned i = 0; i < t.reads; i++) todo_.push_back(b_.request(kReadBase, t.max_rows));
    for (const Request& r : todo_) {
      beats += (r.end() - r.begin()) / kBeat;
      for (u64 a = r.begin(); a < r.end(); a += kRowBytes) rows_.push_back(a);
    }
  }
  void drive() {
    if (!offering_) offering_ = !todo_.empty() && !b_.rng.chance(t_.idle);
    b_.dut->rd_req_valid_i = offering_;
    if (offering_) {
      b_.dut->rd_req_addr_i = todo_.front().unit;
      b_.dut->rd_req_rows_i = todo_.front().rows;
    }
    b_.dut->rd_row_ready_i = !b_.rng.chance(t_.pressure);
  }
  void check() {
    if (offering_ && b_.dut->rd_req_ready_o) {
      todo_.pop_front();
      offering_ = false;
    }
    errors += b_.dut->rd_err_o;
    if (!b_.dut->rd_row_valid_o || !b_.dut->rd_row_ready_i) return;
    if (rows_.empty()) fail("a row that nobody asked for");
    const u64 at = rows_.front();
    rows_.pop_front();
    const bool bad = at < bad_end && at + kRowBytes > bad_first;
    for (unsigned i = 0; i < kRowWords && !bad; i++) {
      const u64 got = get_word(b_.dut->rd_row_data_o, i, P_W), want = b_.get(at + 8 * i) & kWordMask;
      if (got != want) fail("row at %" PRIx64 " word %u: %" PRIx64 ", not %" PRIx64, at, i, got, want);
    }
    checked++;
  }
  bool done() const { return todo_.empty() && rows_.empty(); }
  u64 beats = 0, checked = 0, errors = 0, bad_first = 0, bad_end = 0;
  const std::deque<Request>& todo() const { return todo_; }

 private:
  Bench& b_;
  Traffic t_;
  std::deque<Request> todo_;
  std::deque<u64> rows_;
  bool offering_ = false;
};

// Requests and rows of the write stream; rows may come before their request.
class Writes {
 public:
  Writes(Bench& bench, const Traffic& t) : b_(bench), t_(t) {
    for (unsigned i = 0; i < t.writes; i++) {
      const Request r = b_.request(kWriteBase, t.max_rows);
      todo_.push_back(r);
      beats += (r.end() - r.begin()) / kBeat;
      for (u64 a = r.begin(); a < r.end(); a += kRowBytes) {
        Row row(kRowWords);
        for (u64& word : row) word = b_.rng.next() & kWordMask;
        rows_.push_back({a, row});
      }
    }
    pending_ = t.writes;
  }
  void drive() {
    if (!offering_) offering_ = !todo_.empty() && !b_.rng.chance(t_.idle);
    b_.dut->wr_req_valid_i = offering_;
    if (offering_) {
      b_.dut->wr_req_addr_i = todo_.front().unit;
      b_.dut->wr_req_rows_i = todo_.front().rows;
    }
    if (!row_offering_ && !rows_.empty() && !b_.rng.chance(t_.idle)) {
      row_offering_ = true;
      for (unsigned i = 0; i < kRowWords; i++) set_word(b_.dut->wr_row_data_i, i, P_W, rows_.front().second[i]);
    }
    b_.dut->wr_row_valid_i = row_offering_;
  }
  void check() {
    if (offering_ && b_.dut->wr_req_ready_o) {
      todo_.pop_front();
      offering_ = false;
    }
    if (row_offering_ && b_.dut->wr_row_ready_o) {
      const auto& [at, row] = rows_.front();
      for (unsigned i = 0; i < kRowWords; i++) {
        const u64 a = at + 8 * i, beat = a / kBeat * kBeat;  // a beat with an error is not stored
        if (!(beat < bad_end && beat + kBeat > bad_first)) b_.put(a, row[i]);
      }
      rows_.pop_front();
      row_offering_ = false;
      checked++;
    }
    errors += b_.dut->wr_err_o;
    if (b_.dut->wr_done_o) {
      if (pending_ == 0) fail("a store that nobody asked for is done");
      pending_--;
    }
  }
  bool done() const { return todo_.empty() && rows_.empty() && pending_ == 0; }
  const std::deque<Request>& todo() const { return todo_; }
  u64 beats = 0, checked = 0, errors = 0, bad_first = 0, bad_end = 0;

 private:
  Bench& b_;
  Traffic t_;
  std::deque<Request> todo_;
  std::deque<std::pair<u64, Row>> rows_;
  u64 pending_ = 0;
  bool offering_ = false, row_offering_ = false;
};

// A program of random instructions that ends with END.
class Fetches {
 public:
  Fetches(Bench& bench, const Traffic& t) : b_(bench), t_(t), left_(t.instructions ? t.instructions + 1 : 0) {
    const u64 align = kBeat > kUnit ? kBeat / kUnit : 1;
    unit_ = kProgramBase / kUnit + b_.rng.below(256) / align * align;
    for (u64 i = 0; i < left_; i++) {
      uint8_t* at = &b_.shadow[address(i)];
      at[0] = i + 1 == left_ ? 0 : static_cast<uint8_t>(1 + b_.rng.below(255));
    }
    std::copy(b_.shadow.begin() + kProgramBase, b_.shadow.end(), b_.bytes.begin() + kProgramBase);
  }
  u64 address(u64 i) const { return unit_ * kUnit + 32 * i; }
  void drive() {
    b_.dut->fetch_start_i = left_ && !started_;
    b_.dut->fetch_addr_i = unit_;
    b_.dut->instr_ready_i = !b_.rng.chance(t_.pressure);
  }
  void check() {
    if (left_) started_ = true;
    if (!b_.dut->instr_valid_o || !b_.dut->instr_ready_i || failed_at != ~u64{0}) return;
    if (left_ == 0) fail("an instruction behind END");
    if (b_.dut->instr_err_o) {
      failed_at = next_;
      left_ = 0;  // the core stops here
      return;
    }
    for (unsigned i = 0; i < 4; i++) {
      const u64 got = get_word(b_.dut->instr_data_o, i, 64), want = b_.get(address(next_) + 8 * i);
      if (got != want) fail("instruction %" PRIu64 " word %u: %" PRIx64 ", not %" PRIx64, next_, i, got, want);
    }
    next_++;
    left_--;
    checked++;
  }
  bool done() const { return left_ == 0; }
  u64 checked = 0, failed_at = ~u64{0};

 private:
  Bench& b_;
  Traffic t_;
  u64 unit_ = 0, next_ = 0, left_;
  bool started_ = false;
};
