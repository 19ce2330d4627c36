// rm_blake2xb_core: every block against blake2.h, which first gives the hash of RFC 7693, appendix A, and what SEAL made of a seed.
//   +n=LOADS   +seed=S
#include "blake2.h"

namespace {

std::string hex(const Bytes& bytes) {
  std::string text;
  for (std::uint8_t b : bytes) text += "0123456789abcdef"[b >> 4], text += "0123456789abcdef"[b & 15];
  return text;
}

void known_answers() {
  if (hex(Blake2b({64, 0, 1, 1}, {}).hash({'a', 'b', 'c'})) !=
      "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d17d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd400992"
      "3") {
    fail("BLAKE2b of abc");
  }
  Bytes seed;
  for (int i = 0; i < 64; i++) seed.push_back(std::uint8_t(i));
  Bytes first = seal_buffer(seed, 0);
  first.resize(8);
  if (hex(first) != "17b9767f6395a77a") fail("BLAKE2Xb of SEAL");
}

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 seed = args.number("seed", 1), n = args.number("n", 20);
  known_answers();
  Dut dut(argc, argv);
  Rng rng(seed);
  u64 checked = 0;
  dut->rst_ni = 0;
  dut->load_i = dut->wipe_i = dut->block_ready_i = 0;
  for (int i = 0; i < 3; i++) dut.tick();
  dut->rst_ni = 1;
  for (u64 turn = 0; turn < n; turn++) {
    Bytes key;
    for (int i = 0; i < 64; i++) key.push_back(std::uint8_t(rng.next()));
    dut->load_i = 1;
    for (int i = 0; i < 16; i++) dut->key_i[i] = std::uint32_t(key[4 * i]) | std::uint32_t(key[4 * i + 1]) << 8 | std::uint32_t(key[4 * i + 2]) << 16 | std::uint32_t(key[4 * i + 3]) << 24;
    dut.tick();
    dut->load_i = 0;
    for (int i = 0; i < 16; i++) dut->key_i[i] = 0xdeadbeef;
    const u64 blocks = turn % 4 ? 1 + rng.below(200) : 260, begun = dut.cycles();
    const unsigned eager = turn % 2 ? unsigned(rng.below(256)) + 1 : 256;
    u64 first = 0;
    Bytes buffer;
    for (u64 i = 0, since = dut.cycles(); i < blocks;) {
      if (i % 64 == 0 && buffer.size() != 4096) buffer = seal_buffer(key, i / 64);
      dut->block_ready_i = rng.chance(eager);
      dut.settle();
      if (dut->block_valid_o && dut->block_ready_i) {
        for (int w = 0; w < 16; w++, checked++) {
          std::uint32_t want = 0;
          for (int b = 3; b >= 0; b--) want = want << 8 | buffer[64 * (i % 64) + 4 * w + b];
          if (dut->block_o[w] != want) fail("block %" PRIu64 ", word %d", i, w);
        }
        if (i == 0) first = dut.cycles();
        if (++i % 64 == 0) buffer.clear();
        since = dut.cycles();
      }
      dut.tick();
      if (dut.cycles() - since > 3000) fail("hangs");
    }
    dut->block_ready_i = 0;
    if (eager == 256) {
      if (first - begun != 149) fail("the first block after %" PRIu64 " cycles", first - begun);
      // With all rounds: a block a cycle, and a root for each buffer of 64. It takes the place of block 49 the first time, since the
      // root before it leaves the 48 stages then, and every 65 cycles from there on.
      const u64 last = dut.cycles() - 1 - first, roots = (blocks - 1 + 15) / 64;
      if (P_Rounds == 12 && last != blocks - 1 + roots) fail("%" PRIu64 " blocks took %" PRIu64 " cycles", blocks, last);
    }
    if (turn % 3 == 2) {
      dut->wipe_i = 1;
      dut.tick();
      dut->wipe_i = 0;
      for (int i = 0; i < 200; i++) {
        dut.settle();
        bool zero = !dut->block_valid_o;
        for (int w = 0; w < 16; w++) zero &= dut->block_o[w] == 0;
        if (!zero) fail("a block after wiping");
        dut.tick();
      }
    }
  }
  return pass(checked, seed, dut.cycles(), "rm_blake2xb_core");
}
