// Words inside the wide ports of a simulated module.
#pragma once
#include <cstdint>

#include "verilated.h"

template <class Wide>
std::uint64_t get_word(const Wide& port, unsigned index, unsigned width) {
  std::uint64_t v = 0;
  for (unsigned done = 0, bit = index * width; done < width;) {
    const unsigned take = std::min(32 - bit % 32, width - done);
    v |= ((std::uint64_t(port[bit / 32]) >> (bit % 32)) & ((1ull << take) - 1)) << done;
    done += take;
    bit += take;
  }
  return v;
}

template <class Wide>
void put_word(Wide& port, unsigned index, unsigned width, std::uint64_t v) {
  for (unsigned done = 0, bit = index * width; done < width;) {
    const unsigned take = std::min(32 - bit % 32, width - done);
    const std::uint32_t mask = std::uint32_t(((1ull << take) - 1) << (bit % 32));
    port[bit / 32] = (port[bit / 32] & ~mask) | (std::uint32_t((v >> done) << (bit % 32)) & mask);
    done += take;
    bit += take;
  }
}
