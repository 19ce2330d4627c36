// Opcodes and fields of the compact core's instructions. Made from rtl/core/instructions.json by `python -m rtl.tools isa`.
#pragma once

#include <cstdint>

namespace isa {

enum Opcode : unsigned {
  kEnd = 0x00,  // waits until all is stored, then stops
  kNtt = 0x01,  // transform of bank A in place
  kIntt = 0x02,  // inverse transform of bank A in place
  kRoots = 0x03,  // makes roots of the modulus in the unit of bank A; changes no word
  kCopy = 0x10,  // d = X
  kAdd = 0x11,  // d = X + Y mod q
  kSub = 0x12,  // d = X − Y mod q, swapped Y − X
  kAddK = 0x13,  // d = X + K0 mod q
  kMulK = 0x14,  // d = mm(X >> shift, K0) − K1; K1 is not there in a permuting one
  kSubK = 0x15,  // d = mm(X − Y, K0), swapped mm(Y − X, K0)
  kMul = 0x16,  // d = mm(X, Y)
  kMac = 0x17,  // d = C + mm(A, S)
  kMacK = 0x18,  // d = C + mm(X >> shift, K0)
  kLift = 0x19,  // d = mm(X, K0) − (2X > p ? K1 : 0) mod q, p the modulus `source`
  kShrK = 0x1a,  // d = (X + K0) >> shift on integers
};

// Some bits of one of the four words.
struct Field {
  unsigned word, low, bits;

  std::uint64_t mask() const { return bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1; }
  std::uint64_t get(const std::uint64_t* w) const { return w[word] >> low & mask(); }
  void put(std::uint64_t* w, std::uint64_t value) const { w[word] |= (value & mask()) << low; }
};

constexpr Field opcode{0, 0, 8};  // what it does
constexpr Field modulus{0, 8, 5};  // index of q in the table of moduli
constexpr Field source{0, 13, 5};  // index of the modulus of the operand of a lift
constexpr Field a_bank{0, 18, 3};  // bank operand A
constexpr Field a_used{0, 21, 1};  // whether A is used
constexpr Field c_bank{0, 22, 3};  // bank operand C
constexpr Field c_used{0, 25, 1};  // whether C is used
constexpr Field d_bank{0, 26, 3};  // the bank of the result D
constexpr Field d_to_bank{0, 29, 1};  // whether D goes into a bank
constexpr Field d_to_mem{0, 30, 1};  // whether D goes to memory
constexpr Field s_used{0, 31, 1};  // whether S, a limb from memory, is used
constexpr Field d_addr{0, 32, 32};  // where D goes in memory, in units of 64 bytes
constexpr Field s_addr{1, 0, 32};  // where S comes from, in units of 64 bytes
constexpr Field after{1, 32, 16};  // S may be fetched when this number of stores is complete, modulo 2^16
constexpr Field shift{1, 48, 6};  // bits that X, or the sum of `shrk`, is shifted right by
constexpr Field permute{1, 54, 1};  // whether A is read through the automorphism of the Galois element K1
constexpr Field swap{1, 55, 1};  // whether X and Y of a difference are exchanged
constexpr Field reserved{1, 56, 8};  // zero
constexpr Field k0{2, 0, 64};  // the first constant
constexpr Field k1{3, 0, 64};  // the second constant, or a Galois element

}  // namespace isa
