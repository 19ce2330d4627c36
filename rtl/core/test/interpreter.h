// The instruction list on whole limbs: memory, six banks and their pairs, no units, no time. The oracle of the core's tests.
#pragma once
#include <map>

#include "../../arith/test/arith_model.h"
#include "../../ntt/test/oracle.h"

namespace rm_test {

using arith::Limb;
using arith::u64;

constexpr unsigned kBanks = 6;
// 6: banks 0 and 2, 7: banks 1 and 3, the halves of a limb in their first halves.
constexpr unsigned kBankNumbers = 8;

enum Opcode : unsigned { kEnd = 0, kNtt = 1, kIntt = 2, kRoots = 3, kArith = 0x10 };

struct Instr {
  u64 w[4] = {0, 0, 0, 0};
};

// Fields of an instruction, as the instruction table lists them.
struct Fields {
  unsigned opcode = 0, modulus = 0, source = 0, d_addr = 0, s_addr = 0, after = 0;
  arith::Cmd cmd;

  Instr encode() const {
    Instr i;
    i.w[0] = opcode | modulus << 8 | u64(source) << 13 | u64(cmd.a_bank) << 18 | u64(cmd.a) << 21 |
             u64(cmd.c_bank) << 22 | u64(cmd.c) << 25 | u64(cmd.d_bank) << 26 | u64(cmd.to_bank) << 29 |
             u64(cmd.to_mem) << 30 | u64(cmd.s) << 31 | u64(d_addr) << 32;
    i.w[1] = s_addr | u64(after & 0xffff) << 32 | u64(cmd.shift) << 48 | u64(cmd.permute) << 54 | u64(cmd.swap) << 55;
    i.w[2] = cmd.k0;
    i.w[3] = cmd.k1;
    return i;
  }

  static Fields decode(const Instr& i) {
    Fields f;
    auto bits = [&](int word, unsigned low, unsigned count) {
      return unsigned((i.w[word] >> low) & ((u64(1) << count) - 1));
    };
    f.opcode = bits(0, 0, 8), f.modulus = bits(0, 8, 5), f.source = bits(0, 13, 5), f.d_addr = bits(0, 32, 32);
    f.cmd.op = arith::Op(f.opcode & 15);
    f.cmd.a_bank = bits(0, 18, 3), f.cmd.a = bits(0, 21, 1), f.cmd.c_bank = bits(0, 22, 3), f.cmd.c = bits(0, 25, 1);
    f.cmd.d_bank = bits(0, 26, 3), f.cmd.to_bank = bits(0, 29, 1), f.cmd.to_mem = bits(0, 30, 1);
    f.cmd.s = bits(0, 31, 1), f.s_addr = bits(1, 0, 32), f.after = bits(1, 32, 16), f.cmd.shift = bits(1, 48, 6);
    f.cmd.permute = bits(1, 54, 1), f.cmd.swap = bits(1, 55, 1), f.cmd.k0 = i.w[2], f.cmd.k1 = i.w[3];
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
