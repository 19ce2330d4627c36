// BLAKE3 by its specification (O'Connor and others, 2020), section 2: the compression with schedules of whole rounds, and the
// tree of an input over any compression.
#pragma once
#include <functional>
#include <vector>

#include "chacha.h"

enum Blake3Flag : u32 { kChunkStart = 1, kChunkEnd = 2, kParent = 4, kRoot = 8, kKeyedHash = 16 };

constexpr std::array<u32, 8> kBlake3Iv{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

struct Compression {
  std::array<u32, 8> cv;
  Block words;
  u64 counter;
  u32 length, flags;
};

inline void blake3_mix(Block& s, int a, int b, int c, int d, u32 x, u32 y) {
  s[a] += s[b] + x, s[d] = rotate_left(s[d] ^ s[a], 16);
  s[c] += s[d], s[b] = rotate_left(s[b] ^ s[c], 20);
  s[a] += s[b] + y, s[d] = rotate_left(s[d] ^ s[a], 24);
  s[c] += s[d], s[b] = rotate_left(s[b] ^ s[c], 25);
}

inline Block blake3_compress(const Compression& in) {
  static constexpr int order[16] = {2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8};
  Block s, m = in.words;
  for (int i = 0; i < 8; i++) s[i] = in.cv[i];
  for (int i = 0; i < 4; i++) s[8 + i] = kBlake3Iv[i];
  s[12] = u32(in.counter), s[13] = u32(in.counter >> 32), s[14] = in.length, s[15] = in.flags;
  for (int round = 0; round < 7; round++) {
    for (int i = 0; i < 4; i++) blake3_mix(s, i, 4 + i, 8 + i, 12 + i, m[2 * i], m[2 * i + 1]);
    for (int i = 0; i < 4; i++) {
      blake3_mix(s, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, m[8 + 2 * i], m[9 + 2 * i]);
    }
    Block next;
    for (int i = 0; i < 16; i++) next[i] = m[order[i]];
    m = next;
  }
  for (int i = 0; i < 8; i++) s[i] ^= s[i + 8], s[i + 8] ^= in.cv[i];
  return s;
}

using Compress = std::function<Block(const Compression&)>;

// The compression of the root, still without its counter, of an input hashed with these key words.
inline Compression blake3_root(const std::vector<std::uint8_t>& input, const std::array<u32, 8>& key, u32 mode, const Compress& compress) {
  const auto chunk = [&](std::size_t begin, std::size_t end, u64 number) {
    Compression c{key, {}, number, 0, mode | kChunkStart};
    for (;;) {
      const std::size_t take = end - begin < 64 ? end - begin : 64;
      c.words.fill(0);
      for (std::size_t i = 0; i < take; i++) c.words[i / 4] |= u32(input[begin + i]) << (8 * (i % 4));
      c.length = u32(take);
      begin += take;
      if (begin == end) break;
      const Block out = compress(c);
      std::copy_n(out.begin(), 8, c.cv.begin());
      c.flags = mode;
    }
    c.flags |= kChunkEnd;
    return c;
  };
  std::function<Compression(std::size_t, std::size_t)> tree = [&](std::size_t begin, std::size_t end) {
    if (end - begin <= 1024) return chunk(begin, end, begin / 1024);
    std::size_t left = 1024;
    while (2 * left < end - begin) left *= 2;
    Compression parent{key, {}, 0, 64, mode | kParent};
    const Block a = compress(tree(begin, begin + left)), b = compress(tree(begin + left, end));
    for (int i = 0; i < 8; i++) parent.words[i] = a[i], parent.words[8 + i] = b[i];
    return parent;
  };
  Compression root = tree(0, input.size());
  root.flags |= kRoot;
  root.counter = 0;
  return root;
}
