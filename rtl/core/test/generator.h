// Random programs in which every operand is what its instruction asks for and every load waits for the store it needs.
#pragma once
#include <algorithm>

#include "harness.h"
#include "interpreter.h"

namespace rm_test {

class Generator {
 public:
  // `machine` holds the initial memory; it is run along, so that operands can be checked. Limbs lie from `base` on. Most
  // instructions are modulo `home`, an index in the table; memory should hold residues of it.
  Generator(Rng& rng, Machine& machine, unsigned base, unsigned slots, unsigned width, unsigned home)
      : rng_(rng), machine_(machine), base_(base), width_(width), home_(home), written_(slots, 0) {}

  unsigned slot_addr(unsigned slot) const { return base_ + slot * unsigned((std::size_t(1) << machine_.log_n()) / 8); }

  // One instruction more, executed on the machine.
  Instr next() {
    for (;;) {
      Fields f = rng_.chance(50) ? transform() : arithmetic();
      if (!valid(f)) continue;
      return commit(f);
    }
  }

  Instr load(unsigned slot, unsigned bank) {
    Fields f;
    f.opcode = kArith;
    f.cmd.s = f.cmd.to_bank = true;
    f.cmd.d_bank = bank;
    source(f, slot);
    return commit(f);
  }
  Instr store(unsigned bank, unsigned slot) {
    Fields f;
    f.opcode = kArith;
    f.cmd.a = f.cmd.to_mem = true;
    f.cmd.a_bank = bank;
    target(f, slot);
    return commit(f);
  }
  unsigned slots() const { return unsigned(written_.size()); }

 private:
  void source(Fields& f, unsigned slot) {
    f.s_addr = slot_addr(slot);
    f.after = written_[slot] + unsigned(rng_.below(1 + std::min(3u, machine_.stores - written_[slot])));
  }
  void target(Fields& f, unsigned slot) { f.d_addr = slot_addr(slot); }

  unsigned modulus() { return rng_.chance(180) ? home_ : unsigned(rng_.below(machine_.table().size())); }

  Fields transform() {
    Fields f;
    f.opcode = rng_.chance(50) ? kRoots : rng_.chance(128) ? kNtt : kIntt;
    f.modulus = modulus();
    f.cmd.a = true;
    f.cmd.a_bank = unsigned(rng_.below(6));
    if (f.cmd.a_bank >= 4) f.cmd.a_bank += 2;  // a pair
    return f;
  }

  // A bank to read: often the one written last, whose last rows may still be on their way.
  unsigned operand() { return rng_.chance(64) ? latest_ : unsigned(rng_.below(kBankNumbers)); }

  Fields arithmetic() {
    using namespace arith;
    Fields f;
    Cmd& c = f.cmd;
    c.op = Op(rng_.below(kOps));
    f.opcode = kArith + c.op;
    f.modulus = modulus();
    f.source = c.op == kLift ? modulus() : 0;
    const bool two = c.op == kAdd || c.op == kSub || c.op == kSubk || c.op == kMul;
    const unsigned without = unsigned(rng_.below(3));
    const bool with_a = rng_.chance(128);
    c.a = c.op == kMac || (two ? without != 0 : with_a);
    c.s = c.op == kMac || (two ? without != 1 : !with_a);
    c.c = c.op == kMac || c.op == kMack || (two && without != 2);
    c.a_bank = c.a ? operand() : 0;
    c.c_bank = c.c ? operand() : 0;
    const unsigned to = unsigned(rng_.below(8));
    c.to_bank = to != 0;
    c.to_mem = to < 3;
    c.d_bank = c.to_bank ? unsigned(rng_.below(kBankNumbers)) : 0;
    c.permute = c.a && c.op != kLift && rng_.chance(c.a_bank == latest_ ? 128 : 50) &&
                !(c.to_bank && c.d_bank == c.a_bank) && !(c.c && c.c_bank == c.a_bank);
    c.swap = (c.op == kSub || c.op == kSubk) && rng_.chance(128);
    const bool shifts = c.op == kMack || c.op == kShrk || (c.op == kMulk && rng_.chance(128));
    c.shift = shifts ? 1 + unsigned(rng_.below(width_ - 1)) : 0;
    const u64 q = machine_.table()[f.modulus].q;
    c.k0 = rng_.below(q);
    c.k1 = c.permute ? (rng_.below(u64(2) << machine_.log_n()) | 1) : c.op == kLift ? machine_.table()[f.source].q % q : c.op == kMulk ? rng_.below(q) : 0;
    if (c.s) source(f, unsigned(rng_.below(slots())));
    if (c.to_mem) target(f, unsigned(rng_.below(slots())));
    return f;
  }

  static bool below(const Limb& l, u64 q) {
    return std::all_of(l.begin(), l.end(), [q](u64 w) { return w < q; });
  }

  // A pair and one of its own banks.
  static bool splits(unsigned x, unsigned y) {
    const unsigned pair = std::max(x, y), bank = std::min(x, y);
    return pair >= kBanks && bank < 4 && bank % 2 == pair % 2;
  }

  bool valid(const Fields& f) const {
    const u64 q = machine_.table()[f.modulus].q;
    const arith::Cmd& c = f.cmd;
    if (f.opcode == kRoots) return true;
    if (f.opcode < kArith) return below(machine_.bank(c.a_bank), q);
    if ((c.a && c.c && splits(c.a_bank, c.c_bank)) || (c.a && c.to_bank && splits(c.a_bank, c.d_bank)) ||
        (c.c && c.to_bank && splits(c.c_bank, c.d_bank))) {
      return false;
    }
    const Limb stream = c.s ? machine_.load(f.s_addr) : Limb();
    const Limb x = c.a ? machine_.bank(c.a_bank) : stream;
    const Limb y = c.a && c.s ? stream : machine_.bank(c.c_bank);
    switch (c.op) {
      case arith::kAdd:
      case arith::kSub:
      case arith::kSubk: return below(x, q) && below(y, q);
      case arith::kAddk: return below(x, q);
      case arith::kMul: return below(y, q);
      case arith::kMac: return below(stream, q) && below(machine_.bank(c.c_bank), q);
      case arith::kMack: return below(machine_.bank(c.c_bank), q);
      default: return true;
    }
  }

  Instr commit(const Fields& f) {
    const Instr i = f.encode();
    machine_.step(i);
    if (f.cmd.to_bank) latest_ = f.cmd.d_bank;
    if (f.cmd.to_mem) {
      for (unsigned slot = 0; slot < slots(); slot++) {
        if (slot_addr(slot) == f.d_addr) written_[slot] = machine_.stores;
      }
    }
    return i;
  }

  Rng& rng_;
  Machine& machine_;
  unsigned base_, width_, home_;
  unsigned latest_ = 0;            // the bank written last by the arithmetic unit
  std::vector<unsigned> written_;  // number of the store that wrote the slot last
};

}  // namespace rm_test
