// Names of operations as the test plan has them.
#pragma once
#include "instructions.h"

namespace rm_test {

// Null where there is no such opcode.
inline const char* operation(unsigned opcode) {
  switch (opcode) {
    case isa::kNtt: return "ntt";
    case isa::kIntt: return "intt";
    case isa::kRoots: return "roots";
    case isa::kCopy: return "copy";
    case isa::kAdd: return "add";
    case isa::kSub: return "sub";
    case isa::kAddK: return "addk";
    case isa::kMulK: return "mulk";
    case isa::kSubK: return "subk";
    case isa::kMul: return "mul";
    case isa::kMac: return "mac";
    case isa::kMacK: return "mack";
    case isa::kLift: return "lift";
    case isa::kShrK: return "shrk";
    default: return nullptr;
  }
}

inline bool is_transform(unsigned opcode) { return opcode == isa::kNtt || opcode == isa::kIntt || opcode == isa::kRoots; }

}  // namespace rm_test
