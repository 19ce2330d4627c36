// rm_ks_sequencer against the rules of schedule.h, with promises at random, a special residue that takes its time, resets in
// the middle, and every level.
//   +n=CYCLES a level +seed=S
#include "schedule.h"

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 seed = args.number("seed", 1), n = args.number("n", 20000);
  Dut dut(argc, argv);
  Rng rng(seed);
  u64 starts = 0;
  for (unsigned level = 1; level <= 15; level++) {
    for (unsigned pattern = 0; pattern < 4; pattern++) {
      const Timing timing(0, 16, 1, 4 + pattern, 7);
      dut->rst_ni = 0;
      dut->gate_ready_i = dut->digit_valid_i = dut->room_i = dut->finished_i = 0;
      dut->level_i = level;
      dut.tick();
      dut->rst_ni = 1;
      Sequencer sequencer(timing, level);
      u64 last = 0, finished = 0;
      bool any = false;
      const u64 begin = dut.cycles();
      for (u64 now = begin; now < begin + n; now = dut.cycles()) {
        dut->gate_ready_i = !any || now - last >= timing.rows;
        dut->digit_valid_i = rng.chance(pattern & 1 ? 256 : 8);
        dut->room_i = rng.chance(pattern & 2 ? 256 : 8);
        // The mark reaches the sequencer a cycle before the special residue may start.
        dut->finished_i = finished != 0 && now + 1 == finished;
        const Sequencer::Start start = sequencer.choose(now, dut->digit_valid_i, dut->room_i);
        const unsigned digit = sequencer.digit(), comp = sequencer.comp();
        dut.settle();
        if (bool(dut->active_o) == sequencer.idle()) fail("active is %d", int(dut->active_o));
        if (bool(dut->start_o) != (start != Sequencer::kNone) || bool(dut->digit_start_o) != (start == Sequencer::kDigit) ||
            bool(dut->down_start_o) != (start == Sequencer::kDown)) {
          fail("level %u, cycle %" PRIu64 ": starts %d, %d instead of %d", level, now - begin, int(dut->digit_start_o),
               int(dut->down_start_o), int(start));
        }
        if (start != Sequencer::kNone) {
          const bool down = start == Sequencer::kDown;
          // down, comp, digit, first, last, bad, from the top
          const unsigned want = unsigned(down) << 8 | (down ? comp << 7 : digit << 3 | unsigned(digit == 0) << 2 |
                                                              unsigned(digit + 1 == level) << 1);
          if (dut->info_o != want) fail("level %u: info %x instead of %x", level, unsigned(dut->info_o), want);
          sequencer.take(start, now);
          if (!down && digit + 1 == level) finished = now + timing.pending();
          any = true;
          last = now;
          starts++;
        }
        dut.tick();
      }
    }
  }
  return pass(starts, seed, dut.cycles(), "rm_ks_sequencer");
}
