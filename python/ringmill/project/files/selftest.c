/* The self-test: this folder's program on the linked platform, from its test vectors, bit for bit.
 *
 *   selftest INSTRUCTIONS INPUTS EXPECTED [WHERE]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "layout.h"
#include "ringmill_host.h"

/* The words of a file, of which there must be so many. */
static uint64_t* words_of(const char* path, size_t count) {
  uint64_t* words = malloc((count ? count : 1) * sizeof *words);
  FILE* file = fopen(path, "rb");
  const size_t found = file && words ? fread(words, sizeof *words, count, file) : 0;
  const int more = file && fgetc(file) != EOF;
  if (file) fclose(file);
  if (found == count && !more && words) return words;
  fprintf(stderr, "FAIL %s does not hold %zu words\n", path, count);
  exit(1);
}

static void check(int code, const char* what) {
  if (code == RINGMILL_OK) return;
  fprintf(stderr, "FAIL %s: %s\n", what, ringmill_meaning(code));
  exit(1);
}

int main(int argc, char** argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: %s INSTRUCTIONS INPUTS EXPECTED [WHERE]\n", argv[0]);
    return 2;
  }
  const ringmill_program* p = &RINGMILL_PROGRAM;
  const size_t n = (size_t)1 << p->log_n;
  uint64_t* instructions = words_of(argv[1], 4 * p->instructions);
  uint64_t* inputs = words_of(argv[2], n * p->input_limbs);
  uint64_t* expected = words_of(argv[3], n * p->output_limbs);
  uint64_t* found = malloc(n * sizeof *found);
  int code = found ? RINGMILL_OK : RINGMILL_MEMORY;
  ringmill_host* host = code ? NULL : ringmill_host_open(argc > 4 ? argv[4] : NULL, instructions, &code);
  check(code, "the core cannot be opened");
  ringmill_core* core = ringmill_host_core(host);
  for (uint32_t i = 0; i < p->input_limbs; i++) check(ringmill_put(core, i, inputs + n * i), "an input");
  uint64_t first = 0, cycles = 0;
  code = ringmill_run(core, UINT64_C(1) << 32);
  if (!code) code = ringmill_counter(core, 0, &first);
  /* Once more: inputs stay where they are, and the transform units have their roots by now. */
  if (!code) code = ringmill_run(core, UINT64_C(1) << 32);
  if (code == RINGMILL_STOPPED) {
    fprintf(stderr, "the core stopped with error %u at instruction %u\n", core->stopped_code, core->stopped_at);
  }
  check(code, "the run");
  for (uint32_t i = 0; i < p->output_limbs; i++) {
    check(ringmill_get(core, i, found), "an output");
    for (size_t k = 0; k < n; k++) {
      if (found[k] == expected[n * i + k]) continue;
      fprintf(stderr, "FAIL output limb %u, word %zu: %" PRIu64 ", expected %" PRIu64 "\n", i, k, found[k],
              expected[n * i + k]);
      return 1;
    }
  }
  check(ringmill_counter(core, 0, &cycles), "the counters");
  ringmill_host_close(host);
  free(instructions);
  free(inputs);
  free(expected);
  free(found);
  printf("PASS %u output limbs of %zu words, %" PRIu64 " and %" PRIu64 " cycles, %u and %u by the model\n",
         p->output_limbs, n, first, cycles, RINGMILL_MODEL_FIRST_CYCLES, RINGMILL_MODEL_CYCLES);
  return p->output_limbs ? 0 : 1;
}
