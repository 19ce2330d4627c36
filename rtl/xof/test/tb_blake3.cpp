// rm_blake3_core: official vectors, whole inputs through its compression, then drawn outputs against blake3.h.
//   +n=LOADS   +seed=S
#include "blake3.h"
#include "blake3_vectors.h"

namespace {

void load(Dut& dut, const Compression& c) {
  dut->load_i = 1;
  for (int i = 0; i < 8; i++) dut->cv_i[i] = c.cv[i];
  for (int i = 0; i < 16; i++) dut->words_i[i] = c.words[i];
  dut->counter_i = c.counter;
  dut->length_i = c.length;
  dut->flags_i = c.flags;
  dut.tick();
  dut->load_i = 0;
  for (int i = 0; i < 16; i++) dut->words_i[i] = 0xdeadbeef;
  dut->counter_i = ~u64(0);
  dut->length_i = dut->flags_i = 127;
}

Block take(Dut& dut, bool keep = false) {
  for (int i = 0; dut.settle(), !dut->block_valid_o; i++) {
    if (i > 1000) fail("no block in 1000 cycles");
    dut.tick();
  }
  Block out;
  for (int i = 0; i < 16; i++) out[i] = dut->block_o[i];
  dut->block_ready_i = !keep;
  dut.tick();
  dut->block_ready_i = 0;
  return out;
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
  const Compress by_core = [&](const Compression& c) {
    load(dut, c);
    return take(dut);
  };

  for (const Blake3Vector& v : kBlake3Vectors) {
    std::vector<std::uint8_t> input(v.length);
    for (std::size_t i = 0; i < input.size(); i++) input[i] = std::uint8_t(i % 251);
    std::array<u32, 8> key = kBlake3Iv;
    for (int i = 0; v.keyed && i < 8; i++) std::memcpy(&key[i], kBlake3Key + 4 * i, 4);
    Compression root = blake3_root(input, key, v.keyed ? kKeyedHash : 0, by_core);
    std::vector<Block> out;
    if (P_Stride == 1) load(dut, root);
    for (int i = 0; i < 3; i++) {
      root.counter = u64(i);
      out.push_back(P_Stride == 1 ? take(dut) : by_core(root));
    }
    for (unsigned i = 0; i < 131; i++, checked++) {
      unsigned want;
      std::sscanf(v.output + 2 * i, "%2x", &want);
      if ((out[i / 64][i % 64 / 4] >> (8 * (i % 4)) & 255) != want) fail("input of %zu bytes: byte %u of the output", input.size(), i);
    }
  }

  for (u64 turn = 0; turn < n; turn++) {
    Compression c;
    for (u32& x : c.cv) x = u32(rng.next());
    for (u32& x : c.words) x = u32(rng.next());
    c.counter = turn % 2 ? rng.next() : 0xffffffffu - rng.below(20);
    c.length = u32(rng.below(65)), c.flags = u32(rng.below(256));
    const u64 blocks = 1 + rng.below(120);
    load(dut, c);
    const unsigned eager = turn % 4 == 0 ? 256 : unsigned(rng.below(256)) + 1;
    u64 first = 0;
    for (u64 i = 0, since = dut.cycles(); i < blocks;) {
      dut->block_ready_i = rng.chance(eager);
      dut.settle();
      if (dut->block_valid_o && dut->block_ready_i) {
        const Block want = blake3_compress(c);
        for (int w = 0; w < 16; w++) {
          if (dut->block_o[w] != want[w]) fail("block %" PRIu64 ", word %d", i, w);
        }
        c.counter += P_Stride;
        if (i == 0) first = dut.cycles();
        i++, checked++;
        since = dut.cycles();
      }
      dut.tick();
      if (dut.cycles() - since > 30000) fail("hangs");
    }
    dut->block_ready_i = 0;
    const u64 stages = 4 * P_Rounds, passes = (blocks - 1) / stages, rest = (blocks - 1) % stages;
    if (eager == 256 && dut.cycles() - 1 - first != 28 * passes + rest) fail("%" PRIu64 " blocks took %" PRIu64 " cycles", blocks, dut.cycles() - first);
    if (turn % 5 == 4) {
      dut->wipe_i = 1;
      dut.tick();
      dut->wipe_i = 0;
      for (int i = 0; i < 100; i++) {
        dut.settle();
        bool zero = !dut->block_valid_o;
        for (int w = 0; w < 16; w++) zero &= dut->block_o[w] == 0;
        if (!zero) fail("a block after wiping");
        dut.tick();
      }
    }
  }
  return pass(checked, seed, dut.cycles(), "rm_blake3_core");
}
