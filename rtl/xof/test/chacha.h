// ChaCha20 by RFC 8439, section 2.3, on arrays of words; nothing here follows the core's stages.
#pragma once
#include <array>

#include "harness.h"

using u32 = std::uint32_t;
using Block = std::array<u32, 16>;

inline u32 rotate_left(u32 x, int n) { return x << n | x >> (32 - n); }

inline void chacha_quarter(Block& s, int a, int b, int c, int d) {
  s[a] += s[b], s[d] = rotate_left(s[d] ^ s[a], 16);
  s[c] += s[d], s[b] = rotate_left(s[b] ^ s[c], 12);
  s[a] += s[b], s[d] = rotate_left(s[d] ^ s[a], 8);
  s[c] += s[d], s[b] = rotate_left(s[b] ^ s[c], 7);
}

inline Block chacha_block(const std::array<u32, 8>& key, u64 counter, u64 stream) {
  Block start{0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
  for (int i = 0; i < 8; i++) start[4 + i] = key[i];
  start[12] = u32(counter), start[13] = u32(counter >> 32), start[14] = u32(stream), start[15] = u32(stream >> 32);
  Block s = start;
  for (int i = 0; i < 10; i++) {
    chacha_quarter(s, 0, 4, 8, 12), chacha_quarter(s, 1, 5, 9, 13), chacha_quarter(s, 2, 6, 10, 14), chacha_quarter(s, 3, 7, 11, 15);
    chacha_quarter(s, 0, 5, 10, 15), chacha_quarter(s, 1, 6, 11, 12), chacha_quarter(s, 2, 7, 8, 13), chacha_quarter(s, 3, 4, 9, 14);
  }
  for (int i = 0; i < 16; i++) s[i] += start[i];
  return s;
}
