// rm_chacha20_core: the blocks of RFC 8439, then drawn keys against chacha.h, with any reader, restarts and wipes; the interval.
//   +n=LOADS   +seed=S
#include "chacha.h"

namespace {

std::array<u32, 8> drawn_key(Rng& rng) {
  std::array<u32, 8> key;
  for (u32& word : key) word = u32(rng.next());
  return key;
}

void load(Dut& dut, const std::array<u32, 8>& key, u64 counter, u64 stream) {
  dut->load_i = 1;
  for (int i = 0; i < 8; i++) dut->key_i[i] = key[i];
  dut->counter_i = counter;
  dut->stream_i = stream;
  dut.tick();
  dut->load_i = 0;
  for (int i = 0; i < 8; i++) dut->key_i[i] = 0xdeadbeef;  // it was taken
  dut->counter_i = dut->stream_i = ~u64(0);
}

void compare(Dut& dut, const Block& want, const char* what) {
  for (int i = 0; i < 16; i++) {
    if (dut->block_o[i] != want[i]) fail("%s: word %d is %08x, not %08x", what, i, unsigned(dut->block_o[i]), want[i]);
  }
}

// Cycles until a block stands there.
u64 wait(Dut& dut) {
  u64 cycles = 1;
  for (; dut.settle(), !dut->block_valid_o; cycles++) {
    if (cycles > 1000) fail("no block in 1000 cycles");
    dut.tick();
  }
  return cycles;
}

// Nothing of the key is left: no block stands there and the port shows zeros.
void check_wiped(Dut& dut) {
  dut.settle();
  bool zero = !dut->block_valid_o;
  for (int i = 0; i < 16; i++) zero &= dut->block_o[i] == 0;
  if (!zero) fail("a block after wiping");
}

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 seed = args.number("seed", 1), n = args.number("n", 50);
  Dut dut(argc, argv);
  Rng rng(seed);
  u64 checked = 0;
  dut->rst_ni = 0;
  dut->load_i = dut->wipe_i = dut->block_ready_i = 0;
  for (int i = 0; i < 3; i++) dut.tick();
  dut->rst_ni = 1;

  // RFC 8439: 2.3.2 (key 00 01 … 1f, nonce 00 00 00 09 00 00 00 4a 00 00 00 00, counter 1), and the first two of A.1 (zeros).
  std::array<u32, 8> counting, zero{};
  for (u32 i = 0; i < 8; i++) counting[i] = 0x03020100u + 0x04040404u * i;
  const Block rfc[3] = {
      {0xe4e7f110, 0x15593bd1, 0x1fdd0f50, 0xc47120a3, 0xc7f4d1c7, 0x0368c033, 0x9aaa2204, 0x4e6cd4c3, 0x466482d2, 0x09aa9f07,
       0x05d7c214, 0xa2028bd9, 0xd19c12b5, 0xb94e16de, 0xe883d0cb, 0x4e3c50a2},
      {0xade0b876, 0x903df1a0, 0xe56a5d40, 0x28bd8653, 0xb819d2bd, 0x1aed8da0, 0xccef36a8, 0xc70d778b, 0x7c5941da, 0x8d485751,
       0x3fe02477, 0x374ad8b8, 0xf4b8436a, 0x1ca11815, 0x69b687c3, 0x8665eeb2},
      {0xbee7079f, 0x7a385155, 0x7c97ba98, 0x0d082d73, 0xa0290fcb, 0x6965e348, 0x3e53c612, 0xed7aee32, 0x7621b729, 0x434ee69c,
       0xb03371d5, 0xd539d874, 0x281fed31, 0x45fb0a51, 0x1f0ae1ac, 0x6f4d794b}};
  load(dut, counting, u64(0x09000000) << 32 | 1, 0x4a000000);
  if (wait(dut) != 42) fail("the first block is not there after 42 cycles");
  compare(dut, rfc[0], "RFC 8439, 2.3.2");
  load(dut, zero, 0, 0);
  for (int i = 1; i < 3; i++, checked++) {
    wait(dut);
    compare(dut, rfc[i], "RFC 8439, A.1");
    dut->block_ready_i = 1;
    dut.tick();
    dut->block_ready_i = 0;
  }

  for (u64 turn = 0; turn < n; turn++) {
    const auto key = drawn_key(rng);
    const u64 stream = turn % 3 ? rng.next() : 0, low = 0xffffffffu - rng.below(30);  // the counter's low word overflows
    const u64 counter = turn % 2 ? rng.next() : low, blocks = 1 + rng.below(200);
    load(dut, key, counter, stream);
    const unsigned eager = turn % 4 == 0 ? 256 : unsigned(rng.below(256)) + 1;
    u64 first = 0;
    for (u64 i = 0, since = dut.cycles(); i < blocks;) {
      dut->block_ready_i = rng.chance(eager);
      dut.settle();
      if (dut->block_valid_o) compare(dut, chacha_block(key, counter + i, stream), "a drawn key");
      if (dut->block_valid_o && dut->block_ready_i) {
        if (i == 0) first = dut.cycles();
        i++, checked++;
        since = dut.cycles();
      }
      dut.tick();
      if (dut.cycles() - since > 30000) fail("hangs");
    }
    dut->block_ready_i = 0;
    // Forty cycles for as many blocks as there are stages: from the first on, a reader that is always there waits no longer.
    const u64 passes = (blocks - 1) / (4 * P_Doubles), rest = (blocks - 1) % (4 * P_Doubles);
    if (eager == 256 && dut.cycles() - 1 - first != 40 * passes + rest) fail("%" PRIu64 " blocks took %" PRIu64 " cycles", blocks, dut.cycles() - first);
    if (turn % 5 == 4) {
      dut->wipe_i = 1;
      dut.tick();
      dut->wipe_i = 0;
      dut->block_ready_i = 1;
      for (int i = 0; i < 100; i++) check_wiped(dut), dut.tick();
      dut->block_ready_i = 0;
    }
  }
  return pass(checked, seed, dut.cycles(), "rm_chacha20_core");
}
