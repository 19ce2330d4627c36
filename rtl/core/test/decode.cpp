// Every field and every check of an instruction: words of four, mostly legal, against the table of errors in the README.
//   +n=INSTRUCTIONS +seed=S
#include <string>

#include "cover.h"
#include "harness.h"
#include "operations.h"

using namespace rm_test;

namespace {

enum Error : unsigned { kNone, kOpcode, kBank, kModulus, kOperands, kPermute, kAlign };
constexpr const char* kErrors[] = {"none", "opcode", "bank", "modulus", "operands", "permute", "align"};

struct Words {
  u64 w[4] = {0, 0, 0, 0};
};

// Sets of operands: bit 0 is A, bit 1 S, bit 2 C.
bool legal(unsigned opcode, unsigned set) {
  const unsigned two[] = {3, 5, 6}, one[] = {1, 2}, with_c[] = {5, 6};
  const auto in = [set](const auto& sets) {
    for (unsigned s : sets) {
      if (s == set) return true;
    }
    return false;
  };
  switch (opcode) {
    case isa::kNtt: case isa::kIntt: case isa::kRoots: return set == 1;
    case isa::kAdd: case isa::kSub: case isa::kSubK: case isa::kMul: return in(two);
    case isa::kMac: return set == 7;
    case isa::kMacK: return in(with_c);
    default: return in(one);
  }
}

// Physical banks of a number, as bits.
unsigned banks_of(unsigned number) { return number < 6 ? 1u << number : number == 6 ? 0b0101 : 0b1010; }

// The first error that applies, and for the plan why.
Error judged(const u64* w, std::string& why) {
  const unsigned op = unsigned(isa::opcode.get(w));
  why = "";
  if (op == isa::kEnd) return kNone;
  if (!operation(op)) return why = "unknown", kOpcode;
  if (isa::reserved.get(w)) return why = "reserved", kOpcode;
  const bool a = isa::a_used.get(w), c = isa::c_used.get(w), s = isa::s_used.get(w);
  const bool to_bank = isa::d_to_bank.get(w), to_mem = isa::d_to_mem.get(w), permute = isa::permute.get(w);
  const unsigned ab = unsigned(isa::a_bank.get(w)), cb = unsigned(isa::c_bank.get(w)), db = unsigned(isa::d_bank.get(w));
  if (is_transform(op)) {
    if (ab == 4 || ab == 5) return why = "accumulator", kBank;
  } else {
    const auto apart = [](unsigned x, unsigned y) { return x == y || !(banks_of(x) & banks_of(y)); };
    if (a && c && !apart(ab, cb)) return why = "a-beside-c", kBank;
    if (a && to_bank && !apart(ab, db)) return why = "a-beside-d", kBank;
    if (c && to_bank && !apart(cb, db)) return why = "c-beside-d", kBank;
  }
  if (isa::modulus.get(w) >= P_Mods) return why = "modulus", kModulus;
  if (op == isa::kLift && isa::source.get(w) >= P_Mods) return why = "source", kModulus;
  if (!legal(op, unsigned(a) | unsigned(s) << 1 | unsigned(c) << 2)) return why = "set", kOperands;
  if (is_transform(op)) {
    if (to_bank || to_mem) return why = "result-of-transform", kOperands;
    if (permute) return why = "permuting-transform", kOperands;
    if (isa::swap.get(w)) return why = "swap", kOperands;
    return kNone;
  }
  if (!to_bank && !to_mem) return why = "no-result", kOperands;
  if (P_W < 64 && isa::k0.get(w) >> P_W) return why = "wide-k0", kOperands;
  if (P_W < 64 && isa::k1.get(w) >> P_W) return why = "wide-k1", kOperands;
  if (isa::swap.get(w) && op != isa::kSub && op != isa::kSubK) return why = "swap", kOperands;
  if (permute) {
    if (!a) return why = "without-a", kPermute;
    if (!(isa::k1.get(w) & 1)) return why = "even", kPermute;
    if (op == isa::kLift) return why = "lift", kPermute;
    if (to_bank && db == ab) return why = "d-is-a", kPermute;
    if (c && cb == ab) return why = "c-is-a", kPermute;
  }
  const u64 units = P_AxiDataW > 512 ? P_AxiDataW / 512 : 1;
  if (to_mem && isa::d_addr.get(w) % units) return why = "target", kAlign;
  if (s && isa::s_addr.get(w) % units) return why = "stream", kAlign;
  return kNone;
}

// Mostly a legal instruction; each rule is broken now and then.
Words drawn(Rng& rng) {
  Words i;
  u64* w = i.w;
  unsigned op;
  do {
    op = rng.chance(10) ? unsigned(rng.below(256)) : rng.chance(60) ? 1 + unsigned(rng.below(3)) : 0x10 + unsigned(rng.below(11));
  } while (op != isa::kEnd && !operation(op) && rng.chance(200));
  const bool transform = is_transform(op);
  unsigned set;
  do {
    set = unsigned(rng.below(8));
  } while (!legal(op, set) && rng.chance(250));
  unsigned to = transform ? 0 : 1 + unsigned(rng.below(3));
  if (rng.chance(6)) to = unsigned(rng.below(4));
  isa::opcode.put(w, op);
  isa::modulus.put(w, rng.chance(245) ? rng.below(P_Mods) : rng.below(32));
  isa::source.put(w, rng.chance(245) ? rng.below(P_Mods) : rng.below(32));
  isa::a_bank.put(w, rng.below(8)), isa::c_bank.put(w, rng.below(8)), isa::d_bank.put(w, rng.below(8));
  isa::a_used.put(w, set & 1), isa::s_used.put(w, set >> 1 & 1), isa::c_used.put(w, set >> 2);
  isa::d_to_bank.put(w, to & 1), isa::d_to_mem.put(w, to >> 1);
  const u64 mask = rng.chance(230) ? ~u64(P_AxiDataW > 512 ? P_AxiDataW / 512 - 1 : 0) : ~u64(0);
  isa::d_addr.put(w, rng.next() & mask), isa::s_addr.put(w, rng.next() & mask);
  isa::after.put(w, rng.next()), isa::shift.put(w, rng.next());
  isa::permute.put(w, rng.chance(transform ? 8 : 60)), isa::swap.put(w, rng.chance(8));
  if (rng.chance(6)) isa::reserved.put(w, u64(1) << rng.below(8));
  isa::k0.put(w, rng.next() >> (rng.chance(250) ? 64 - P_W : 63 - P_W));
  isa::k1.put(w, rng.next() >> (rng.chance(250) ? 64 - P_W : 63 - P_W));
  return i;
}

void same(const char* field, u64 got, u64 want) {
  if (got != want) fail("%s: %" PRIx64 ", expected %" PRIx64, field, got, want);
}

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 n = args.number("n", 100000), seed = args.number("seed", 1);
  Dut dut(argc, argv);
  Rng rng(seed);
  Cover cover;
  for (u64 round = 0; round < n; round++) {
    const Words i = drawn(rng);
    const u64* w = i.w;
    for (unsigned k = 0; k < 8; k++) dut->instr_i[k] = std::uint32_t(w[k / 2] >> (k % 2 ? 32 : 0));
    dut.settle();
    std::string why;
    const Error want = judged(w, why);
    const unsigned op = unsigned(isa::opcode.get(w));
    if (dut->error_o != want) {
      fail("error %u, expected %u (%s), of %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64, dut->error_o, want, why.c_str(),
           w[0], w[1], w[2], w[3]);
    }
    same("is_end", dut->is_end_o, op == isa::kEnd);
    if (op == isa::kEnd || want == kOpcode) {
      if (want == kOpcode) cover.hit("reason", why);
      continue;
    }
    cover.hit("check", operation(op), kErrors[want]);
    if (want != kNone) cover.hit("reason", why);
    same("is_ntt", dut->is_ntt_o, is_transform(op));
    same("inverse", dut->inverse_o, op == isa::kIntt);
    same("roots", dut->roots_o, op == isa::kRoots);
    same("modulus", dut->modulus_o, isa::modulus.get(w)), same("source", dut->source_o, isa::source.get(w));
    same("a_used", dut->a_used_o, isa::a_used.get(w)), same("a_bank", dut->a_bank_o, isa::a_bank.get(w));
    same("c_used", dut->c_used_o, isa::c_used.get(w)), same("c_bank", dut->c_bank_o, isa::c_bank.get(w));
    same("d_to_bank", dut->d_to_bank_o, isa::d_to_bank.get(w)), same("d_bank", dut->d_bank_o, isa::d_bank.get(w));
    same("d_to_mem", dut->d_to_mem_o, isa::d_to_mem.get(w)), same("d_addr", dut->d_addr_o, isa::d_addr.get(w));
    same("s_used", dut->s_used_o, isa::s_used.get(w)), same("s_addr", dut->s_addr_o, isa::s_addr.get(w));
    same("after", dut->after_o, isa::after.get(w)), same("shift", dut->shift_o, isa::shift.get(w));
    same("permute", dut->permute_o, isa::permute.get(w)), same("swap", dut->swap_o, isa::swap.get(w));
    if (want != kNone) continue;
    if (!is_transform(op)) {
      same("op", dut->op_o, op & 15);
      same("k0", dut->k0_o, isa::k0.get(w)), same("k1", dut->k1_o, isa::k1.get(w));
    }
    unsigned uses = 0;
    if (isa::a_used.get(w) && op != isa::kRoots) uses |= banks_of(unsigned(isa::a_bank.get(w)));
    if (isa::c_used.get(w)) uses |= banks_of(unsigned(isa::c_bank.get(w)));
    if (isa::d_to_bank.get(w)) uses |= banks_of(unsigned(isa::d_bank.get(w)));
    same("uses", dut->uses_o, uses);
  }
  cover.print();
  return pass(n, seed, dut.cycles(), "decode");
}
