// The instruction list on whole limbs: memory, six banks and their pairs, no units, no time. The oracle of the core's tests.
#pragma once
#include <map>

#include "../../arith/test/arith_model.h"
#include "../../ntt/test/oracle.h"
#include "instructions.h"

namespace rm_test {

using arith::Limb;
using arith::u64;

constexpr unsigned kBanks = 6;
// 6: banks 0 and 2, 7: banks 1 and 3, the halves of a limb in their first halves.
constexpr unsigned kBankNumbers = 8;

// The opcode of the first operation of the arithmetic unit.
constexpr unsigned kArith = isa::kCopy;
using isa::kEnd, isa::kIntt, isa::kNtt, isa::kRoots;

struct Instr {
  u64 w[4] = {0, 0, 0, 0};
};

// Fields of an instruction, as the instruction table lists them.
struct Fields {
  unsigned opcode = 0, modulus = 0, source = 0, d_addr = 0, s_addr = 0, after = 0;
  arith::Cmd cmd;

  Instr encode() const {
    Instr i;
    isa::opcode.put(i.w, opcode), isa::modulus.put(i.w, modulus), isa::source.put(i.w, source);
    isa::a_bank.put(i.w, cmd.a_bank), isa::a_used.put(i.w, cmd.a);
    isa::c_bank.put(i.w, cmd.c_bank), isa::c_used.put(i.w, cmd.c);
    isa::d_bank.put(i.w, cmd.d_bank), isa::d_to_bank.put(i.w, cmd.to_bank);
    isa::d_to_mem.put(i.w, cmd.to_mem), isa::d_addr.put(i.w, d_addr);
    isa::s_used.put(i.w, cmd.s), isa::s_addr.put(i.w, s_addr), isa::after.put(i.w, after);
    isa::shift.put(i.w, cmd.shift), isa::permute.put(i.w, cmd.permute), isa::swap.put(i.w, cmd.swap);
    isa::k0.put(i.w, cmd.k0), isa::k1.put(i.w, cmd.k1);
    return i;
  }

  static Fields decode(const Instr& i) {
    Fields f;
    const u64* w = i.w;
    f.opcode = isa::opcode.get(w), f.modulus = isa::modulus.get(w), f.source = isa::source.get(w);
    f.d_addr = isa::d_addr.get(w), f.s_addr = isa::s_addr.get(w), f.after = isa::after.get(w);
    f.cmd.op = arith::Op(f.opcode & 15);
    f.cmd.a_bank = isa::a_bank.get(w), f.cmd.a = isa::a_used.get(w);
    f.cmd.c_bank = isa::c_bank.get(w), f.cmd.c = isa::c_used.get(w);
    f.cmd.d_bank = isa::d_bank.get(w), f.cmd.to_bank = isa::d_to_bank.get(w), f.cmd.to_mem = isa::d_to_mem.get(w);
    f.cmd.s = isa::s_used.get(w), f.cmd.shift = isa::shift.get(w);
    f.cmd.permute = isa::permute.get(w), f.cmd.swap = isa::swap.get(w);
    f.cmd.k0 = isa::k0.get(w), f.cmd.k1 = isa::k1.get(w);
    return f;
  }
};

struct TableEntry {
  u64 q = 0, aux = 0, psi = 0;  // psi: primitive 2N-th root for the present N
};

class Machine {
 public:
  Machine(unsigned log_n, unsigned factor_bits, std::vector<TableEntry> table, std::size_t words)
      : log_n_(log_n), factor_bits_(factor_bits), table_(std::move(table)), memory(words) {
    for (Limb& bank : banks) bank.assign(std::size_t(1) << log_n, 0);
  }

  // Executes one instruction; false at END.
  bool step(const Instr& instr) {
    const Fields f = Fields::decode(instr);
    if (f.opcode == kEnd) return false;
    const TableEntry& t = table_[f.modulus];
    if (f.opcode == kRoots) return true;  // twiddle factors are made ahead: no visible effect
    if (f.opcode == kNtt || f.opcode == kIntt) {
      const Limb x = bank(f.cmd.a_bank);
      put(f.cmd.a_bank, f.opcode == kNtt ? forward(x, t.psi, log_n_, t.q) : inverse(x, t.psi, log_n_, t.q));
      return true;
    }
    arith::Cmd cmd = f.cmd;
    cmd.q = t.q;
    cmd.p = table_[f.source].q;
    const Limb d = arith::limb(cmd, bank(cmd.a_bank), bank(cmd.c_bank),
                               cmd.s ? load(f.s_addr) : Limb(), log_n_, factor_bits_);
    if (cmd.to_bank) put(cmd.d_bank, d);
    if (cmd.to_mem) std::copy(d.begin(), d.end(), memory.begin() + std::size_t(f.d_addr) * 8), stores++;
    return true;
  }

  // What a bank holds, or the first halves of a pair.
  Limb bank(unsigned number) const {
    if (number < kBanks) return banks[number];
    const Limb &low = banks[number - kBanks], &high = banks[number - kBanks + 2];
    Limb both(low.begin(), low.begin() + half());
    both.insert(both.end(), high.begin(), high.begin() + half());
    return both;
  }
  void put(unsigned number, const Limb& limb) {
    if (number < kBanks) {
      banks[number] = limb;
      return;
    }
    std::copy(limb.begin(), limb.begin() + half(), banks[number - kBanks].begin());
    std::copy(limb.begin() + half(), limb.end(), banks[number - kBanks + 2].begin());
  }

  Limb load(unsigned addr) const {
    const auto first = memory.begin() + std::size_t(addr) * 8;
    return Limb(first, first + (std::ptrdiff_t(1) << log_n_));
  }
  unsigned log_n() const { return log_n_; }
  const std::vector<TableEntry>& table() const { return table_; }

 private:
  std::ptrdiff_t half() const { return std::ptrdiff_t(1) << (log_n_ - 1); }

  unsigned log_n_, factor_bits_;
  std::vector<TableEntry> table_;

 public:
  std::vector<u64> memory;
  Limb banks[kBanks];
  unsigned stores = 0;
};

}  // namespace rm_test
