// Access to packed ports.
#pragma once
#include <cstring>

#include "harness.h"

// Fields of W bits in a port, whatever C++ type Verilator gives it.
template <typename Port>
struct Fields {
  static u64 get(const Port& port, unsigned bit, unsigned width) {
    return (u64(port) >> bit) & (width == 64 ? ~u64(0) : (u64(1) << width) - 1);
  }
  static void set(Port& port, unsigned bit, unsigned, u64 value) { port = Port(port | (value << bit)); }
  static void clear(Port& port) { port = 0; }
};
template <std::size_t N>
struct Fields<VlWide<N>> {
  static u64 get(const VlWide<N>& port, unsigned bit, unsigned width) {
    u128 v = 0;
    for (unsigned i = 0; i < 3 && bit / 32 + i < N; i++) v |= u128(port[bit / 32 + i]) << (32 * i);
    return u64(v >> (bit % 32)) & ((u64(1) << width) - 1);
  }
  static void set(VlWide<N>& port, unsigned bit, unsigned width, u64 value) {
    const u128 v = u128(value) << (bit % 32);
    for (unsigned i = 0; i < 3 && bit / 32 + i < N && 32 * i < width + bit % 32; i++) {
      port[bit / 32 + i] |= EData(v >> (32 * i));
    }
  }
  static void clear(VlWide<N>& port) { std::memset(port.data(), 0, sizeof(EData) * N); }
};
