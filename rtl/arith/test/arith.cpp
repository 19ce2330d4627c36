// The arithmetic unit against the instruction table on 128-bit integers.
//   +n=COMMANDS +seed=S +logn=L +rd=P +wr=P     P: chance of 256 that a row is offered, or taken, in a cycle
// Every write to a bank and every row to memory is compared, in order; at the end nothing may be missing. With idle
// and back-pressure off, cycles are compared as well: rows of consecutive independent commands follow without a gap.
#include <algorithm>
#include <deque>

#include "arith_model.h"
#include "harness.h"
#include "modulus.h"
#include "wide.h"

using arith::Cmd;
using arith::Limb;

constexpr unsigned kW = P_W, kCols = 2 * P_Nbf, kBanks = 6, kModuli = 8;

struct Step {
  Cmd cmd;
  Limb stream;
};
struct Write {
  unsigned bank, row;
  Limb words;
};

// Programs in which every operand is what its instruction asks for; the banks' contents are followed.
class Generator {
 public:
  Generator(Rng& rng, unsigned log_n, unsigned r) : rng_(rng), log_n_(log_n), r_(r) {
    for (unsigned i = 0; i < kModuli; i++) q_.push_back(random_modulus(rng));
    for (auto& bank : banks_) bank.assign(std::size_t(1) << log_n, 0);
  }

  Step step(unsigned number) {
    for (;;) {
      Step s;
      if (number < kBanks) {  // fill the banks first
        s.cmd.op = arith::kCopy;
        s.cmd.s = s.cmd.to_bank = true;
        s.cmd.d_bank = number;
        s.cmd.q = q_[0];
        s.cmd.p = q_[0];
      } else {
        s.cmd = random_command();
      }
      if (s.cmd.s) s.stream = random_limb(s.cmd.op == arith::kMul || rng_.chance(200) ? s.cmd.q : u64(1) << kW);
      if (valid(s)) return s;
    }
  }

  Limb apply(const Step& s) {
    const Limb d = arith::limb(s.cmd, banks_[s.cmd.a_bank], banks_[s.cmd.c_bank], s.stream, log_n_, r_);
    if (s.cmd.to_bank) banks_[s.cmd.d_bank] = d;
    return d;
  }

 private:
  u64 edge(u64 q) {
    const u64 edges[] = {0, 1, q - 1, q / 2, q / 2 + 1};
    return rng_.chance(64) ? edges[rng_.below(5)] : rng_.below(q);
  }
  Limb random_limb(u64 bound) {
    Limb l(std::size_t(1) << log_n_);
    for (u64& w : l) w = edge(bound);
    return l;
  }
  Cmd random_command() {
    Cmd c;
    c.op = arith::Op(rng_.below(arith::kOps));
    const bool two = c.op == arith::kAdd || c.op == arith::kSub || c.op == arith::kSubk || c.op == arith::kMul;
    const unsigned without = unsigned(rng_.below(3));
    const bool with_a = rng_.chance(128);
    c.a = c.op == arith::kMac || (two ? without != 0 : with_a);
    c.s = c.op == arith::kMac || (two ? without != 1 : !with_a);
    c.c = c.op == arith::kMac || c.op == arith::kMack || (two && without != 2);
    c.a_bank = unsigned(rng_.below(kBanks));
    c.c_bank = unsigned(rng_.below(kBanks));
    c.d_bank = unsigned(rng_.below(kBanks));
    const unsigned to = unsigned(rng_.below(4));
    c.to_bank = to != 0;
    c.to_mem = to < 2;
    c.permute = c.a && rng_.chance(64) && !(c.to_bank && c.d_bank == c.a_bank) && !(c.c && c.c_bank == c.a_bank);
    c.swap = (c.op == arith::kSub || c.op == arith::kSubk) && rng_.chance(128);
    const bool shifts = c.op == arith::kMack || c.op == arith::kShrk || (c.op == arith::kMulk && rng_.chance(128));
    c.shift = shifts ? 1 + unsigned(rng_.below(kW - 1)) : 0;
    c.q = q_[rng_.below(kModuli)];
    c.p = q_[rng_.below(kModuli)];
    c.k0 = edge(c.q);
    c.k1 = c.permute ? (rng_.next() & ((u64(4) << log_n_) - 1)) | 1 : c.op == arith::kLift ? c.p % c.q : edge(c.q);
    if (c.permute && c.op == arith::kLift) c.permute = false;
    return c;
  }
  bool below(const Limb& l, u64 q) const {
    return std::all_of(l.begin(), l.end(), [q](u64 w) { return w < q; });
  }
  bool valid(const Step& s) const {
    const Cmd& c = s.cmd;
    const Limb& x = c.a ? banks_[c.a_bank] : s.stream;
    const Limb& y = c.a && c.s ? s.stream : banks_[c.c_bank];
    switch (c.op) {
      case arith::kAdd:
      case arith::kSub:
      case arith::kSubk: return below(x, c.q) && below(y, c.q);
      case arith::kAddk: return below(x, c.q);
      case arith::kMul: return below(y, c.q);
      case arith::kMac: return below(s.stream, c.q) && below(banks_[c.c_bank], c.q);
      case arith::kMack: return below(banks_[c.c_bank], c.q);
      default: return true;
    }
  }

  Rng& rng_;
  unsigned log_n_, r_;
  std::vector<u64> q_;
  std::array<Limb, kBanks> banks_;
};

// What the scoreboard does in the core: uses of a bank in program order.
class Uses {
 public:
  Uses(bool chain) : chain_(chain) {}
  std::array<unsigned, kBanks> take(const Cmd& c) {
    std::array<unsigned, kBanks> ticket = taken_;
    for (unsigned b = 0; b < kBanks; b++) taken_[b] += uses(c, b);
    return ticket;
  }
  bool due(const Cmd& c, const std::array<unsigned, kBanks>& ticket) const {
    for (unsigned b = 0; b < kBanks; b++) {
      if (!uses(c, b)) continue;
      const bool follow = chain_ && !(c.permute && c.a_bank == b);
      if ((follow ? passed_[b] : finished_[b]) != ticket[b]) return false;
    }
    return true;
  }
  void pass(unsigned mask) { count(passed_, mask); }
  void finish(unsigned mask) { count(finished_, mask); }
  static bool uses(const Cmd& c, unsigned b) {
    return (c.a && c.a_bank == b) || (c.c && c.c_bank == b) || (c.to_bank && c.d_bank == b);
  }
  bool all_free() const { return taken_ == finished_ && taken_ == passed_; }

 private:
  static void count(std::array<unsigned, kBanks>& counts, unsigned mask) {
    for (unsigned b = 0; b < kBanks; b++) counts[b] += (mask >> b) & 1;
  }
  bool chain_;
  std::array<unsigned, kBanks> taken_{}, passed_{}, finished_{};
};

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 n = args.number("n", 400), seed = args.number("seed", 1);
  const unsigned log_n = unsigned(args.number("logn", P_LogNMax));
  const unsigned rd = unsigned(args.number("rd", 256)), wr = unsigned(args.number("wr", 256));
  Dut dut(argc, argv);
  Rng rng(seed);
  dut->rst_ni = 0;
  dut->log_n_i = log_n;
  dut.tick();
  dut.tick();
  dut->rst_ni = 1;
  dut.settle();
  const unsigned rows = (1u << log_n) / kCols, depth = dut->depth_o, r = dut->factor_bits_o;

  Generator generator(rng, log_n, r);
  std::vector<Step> program;
  std::deque<Write> writes;
  std::deque<Limb> stored, offered;
  auto cut = [](const Limb& l, unsigned row) { return Limb(l.begin() + row * kCols, l.begin() + (row + 1) * kCols); };
  for (u64 i = 0; i < n; i++) {
    const Step s = generator.step(unsigned(i));
    const Limb d = generator.apply(s);
    for (unsigned row = 0; row < rows; row++) {
      if (s.cmd.s) offered.push_back(cut(s.stream, row));
      if (s.cmd.to_bank) writes.push_back({s.cmd.d_bank, row, cut(d, row)});
      if (s.cmd.to_mem) stored.push_back(cut(d, row));
    }
    program.push_back(s);
  }

  Uses uses(rows >= depth);
  u64 checked = 0, idle_cycles = 0, next = 0;
  auto ticket = uses.take(program[0].cmd);
  bool offering = false;
  const u64 limit = 1000 + n * rows * 64 + n * depth * 4;
  while (next < n || !writes.empty() || !stored.empty() || !dut->idle_o) {
    if (dut.cycles() > limit) fail("watchdog: command %" PRIu64 " of %" PRIu64, next, n);
    dut->cmd_valid_i = next < n && uses.due(program[next].cmd, ticket);
    if (next < n) {
      const Cmd& c = program[next].cmd;
      dut->op_i = c.op;
      dut->used_i = c.a | c.c << 1 | c.to_bank << 2 | c.to_mem << 3;
      dut->s_used_i = c.s;
      dut->a_bank_i = c.a_bank;
      dut->c_bank_i = c.c_bank;
      dut->d_bank_i = c.d_bank;
      dut->shift_i = c.shift;
      dut->permute_i = c.permute;
      dut->swap_i = c.swap;
      dut->k0_i = c.k0;
      dut->k1_i = c.k1 & ((u64(1) << kW) - 1);
      dut->q_i = c.q;
      dut->aux_i = modulus_aux(c.q);
      dut->p_i = c.p;
    }
    offering = !offered.empty() && (offering || rng.chance(rd));
    dut->rd_row_valid_i = offering;
    for (unsigned h = 0; h < kCols; h++) put_word(dut->rd_row_data_i, h, kW, offering ? offered[0][h] : rng.next() >> (64 - kW));
    dut->wr_row_ready_i = rng.chance(wr);
    dut.settle();
    const bool took = dut->cmd_valid_i && dut->cmd_ready_o;
    uses.pass(dut->pass_o);
    uses.finish(dut->free_read_o);
    uses.finish(dut->free_write_o);
    if (took && ++next < n) ticket = uses.take(program[next].cmd);
    if (offering && dut->rd_row_ready_o) {
      offered.pop_front();
      offering = false;
    }
    if (dut->we_o) {
      if (writes.empty()) fail("a write too many");
      const Write& w = writes.front();
      if (dut->wbank_o != w.bank || dut->wrow_o != w.row) fail("write %" PRIu64 ": wrong place", checked);
      for (unsigned h = 0; h < kCols; h++) {
        if (get_word(dut->wdata_o, h, kW) != w.words[h]) {
          fail("bank %u row %u column %u: got %" PRIx64 ", want %" PRIx64, w.bank, w.row, h,
               get_word(dut->wdata_o, h, kW), w.words[h]);
        }
        checked++;
      }
      writes.pop_front();
    }
    if (dut->wr_row_valid_o && dut->wr_row_ready_i) {
      if (stored.empty()) fail("a stored row too many");
      for (unsigned h = 0; h < kCols; h++) {
        if (get_word(dut->wr_row_data_o, h, kW) != stored.front()[h]) fail("stored row, column %u", h);
        checked++;
      }
      stored.pop_front();
    }
    idle_cycles += dut->idle_o && next < n;
    dut.tick();
    dut.settle();
  }
  if (!offered.empty()) fail("%zu rows of the stream were not taken", offered.size());
  if (!uses.all_free()) fail("a bank was not released");
  // One row a cycle: beyond the rows there are the fills of dependent or permuting commands, nothing else.
  const u64 fills = n * (rows >= depth ? 2 : depth + 2) + (rd == 256 && wr == 256 ? 4 * depth : 0);
  u64 permuted = 0;
  for (const Step& s : program) permuted += s.cmd.permute;
  if (rd == 256 && wr == 256 && dut.cycles() > n * rows + fills + permuted * depth) {
    fail("%" PRIu64 " cycles for %" PRIu64 " rows", dut.cycles(), n * rows);
  }
  return pass(checked, seed, dut.cycles(), "arith");
}
