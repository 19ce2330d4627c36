// BLAKE2b of RFC 7693 on arrays, and BLAKE2Xb on top of it (Aumasson, Neves, Wilcox-O'Hearn, Winnerlein: BLAKE2X).
#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "harness.h"

using Bytes = std::vector<std::uint8_t>;

class Blake2b {
 public:
  // The parameter block: 64 bytes. The key, if there is one, is the first block.
  Blake2b(const std::array<std::uint8_t, 64>& parameters, const Bytes& key) {
    for (int i = 0; i < 8; i++) {
      u64 word = 0;
      for (int b = 7; b >= 0; b--) word = word << 8 | parameters[8 * i + b];
      h_[i] = kIv[i] ^ word;
    }
    if (!key.empty()) {
      input_ = key;
      input_.resize(128, 0);
    }
  }
  Bytes hash(const Bytes& message) {
    input_.insert(input_.end(), message.begin(), message.end());
    std::size_t at = 0;
    for (; input_.size() > at + 128; at += 128) compress(input_.data() + at, at + 128, false);
    std::array<std::uint8_t, 128> block{};
    if (input_.size() > at) std::memcpy(block.data(), input_.data() + at, input_.size() - at);
    compress(block.data(), input_.size(), true);
    Bytes out;
    for (u64 word : h_) {
      for (int b = 0; b < 8; b++) out.push_back(std::uint8_t(word >> (8 * b)));
    }
    return out;
  }

 private:
  static constexpr u64 kIv[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                                 0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
  static u64 turn(u64 x, int by) { return x >> by | x << (64 - by); }

  void compress(const std::uint8_t* block, u64 count, bool final) {
    // The permutations as strings of hexadecimal digits.
    static const char* const sigma[10] = {"0123456789abcdef", "ea489fd61c02b753", "b8c052fdae367194", "7931dcbe265a40f8",
                                          "905724afe1bc683d", "2c6a0b834d75fe19", "c51fed4a0763928b", "db7ec13950f4862a",
                                          "6fe9b308c2d714a5", "a2847615fb9e3cd0"};
    u64 m[16], v[16];
    for (int i = 0; i < 16; i++) {
      m[i] = 0;
      for (int b = 7; b >= 0; b--) m[i] = m[i] << 8 | block[8 * i + b];
      v[i] = i < 8 ? h_[i] : kIv[i - 8];
    }
    v[12] ^= count;
    if (final) v[14] = ~v[14];
    for (int round = 0; round < 12; round++) {
      const char* s = sigma[round % 10];
      const auto mix = [&](int a, int b, int c, int d) {
        const auto word = [&] { const char x = *s++; return m[x <= '9' ? x - '0' : x - 'a' + 10]; };
        v[a] += v[b] + word(), v[d] = turn(v[d] ^ v[a], 32), v[c] += v[d], v[b] = turn(v[b] ^ v[c], 24);
        v[a] += v[b] + word(), v[d] = turn(v[d] ^ v[a], 16), v[c] += v[d], v[b] = turn(v[b] ^ v[c], 63);
      };
      mix(0, 4, 8, 12), mix(1, 5, 9, 13), mix(2, 6, 10, 14), mix(3, 7, 11, 15);
      mix(0, 5, 10, 15), mix(1, 6, 11, 12), mix(2, 7, 8, 13), mix(3, 4, 9, 14);
    }
    for (int i = 0; i < 8; i++) h_[i] ^= v[i] ^ v[i + 8];
  }

  std::array<u64, 8> h_{};
  Bytes input_;
};

// Bytes of SEAL's generator: buffer c is BLAKE2Xb of c, 8 bytes, under the seed of 64 bytes.
inline Bytes seal_buffer(const Bytes& seed, u64 c) {
  constexpr unsigned length = 4096;
  std::array<std::uint8_t, 64> root{}, node{};
  root[0] = 64, root[1] = std::uint8_t(seed.size()), root[2] = root[3] = 1;
  root[13] = length >> 8;
  Bytes number;
  for (int b = 0; b < 8; b++) number.push_back(std::uint8_t(c >> (8 * b)));
  const Bytes hash = Blake2b(root, seed).hash(number);
  Bytes out;
  for (unsigned i = 0; i < length / 64; i++) {
    node = {64, 0, 0, 0, 64, 0, 0, 0, std::uint8_t(i)};
    node[13] = length >> 8, node[17] = 64;
    const Bytes block = Blake2b(node, {}).hash(hash);
    out.insert(out.end(), block.begin(), block.end());
  }
  return out;
}
