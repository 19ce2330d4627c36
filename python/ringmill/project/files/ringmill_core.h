/* Driver of the compact core: puts limbs and instructions into its memory, runs it, takes the results.
 *
 * Plain C11 without allocation and without a C library, for hosts of 32 and 64 bits, freestanding ones too. A platform
 * says how registers and memory are reached; layout.h says what this program needs. Functions return RINGMILL_OK or a
 * code that ringmill_meaning explains.
 */
#ifndef RINGMILL_CORE_H
#define RINGMILL_CORE_H

#include <stddef.h>
#include <stdint.h>

#include "core_registers.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ringmill_code {
  RINGMILL_OK = 0,
  RINGMILL_NOT_A_CORE,  /* the register ID or the major number of VERSION is another, or its minor number below ours */
  RINGMILL_OTHER_CORE,  /* built for another word, multiplier, bus, size or degree than the program needs */
  RINGMILL_MEMORY,      /* memory is short, or its base is not a multiple of 4096 */
  RINGMILL_NO_LIMB,     /* no such input or output */
  RINGMILL_BUSY,        /* a program was running */
  RINGMILL_TIMEOUT,     /* the patience is over and the program is not; the core still runs */
  RINGMILL_STOPPED,     /* the core stopped with an error: stopped_code, stopped_at */
  RINGMILL_PLATFORM     /* the platform failed */
};

/* How registers and memory are reached. Memory is shared with the core. Where caches of the host do not see what the core
 * does there, the platform has both hooks below. */
typedef struct {
  void* user;
  int (*read_register)(void* user, uint32_t offset, uint32_t* value);
  int (*write_register)(void* user, uint32_t offset, uint32_t value);
  /* May be null. Waits for the interrupt, or a while; the driver looks at STATUS afterwards. */
  int (*wait)(void* user);
  uint64_t* memory;      /* as the host sees it */
  uint64_t memory_bytes;
  uint64_t base;         /* the address that the core gives to memory[0], a multiple of 4096 */
  /* May be null. Bytes offset … offset + bytes - 1 of memory were written by the host: write them back from its caches. */
  void (*clean)(void* user, uint64_t offset, uint64_t bytes);
  /* May be null. The core may have written these bytes: drop them from the caches, so that they are read anew. */
  void (*invalidate)(void* user, uint64_t offset, uint64_t bytes);
} ringmill_platform;

/* A copy of an input limb in memory, or an output limb. */
typedef struct {
  uint32_t limb;     /* number of the limb among all inputs, or outputs */
  uint32_t modulus;  /* row of the table */
  uint32_t scaled;   /* 1: stored times 2^R modulo q */
  uint64_t address;  /* bytes */
} ringmill_place;

enum { RINGMILL_ENTRY_WORDS = 17 };

/* What a program needs. */
typedef struct {
  uint32_t word_bits, butterflies, kind, bus_bits; /* of the core */
  uint32_t log_n, factor_bits, moduli, input_limbs, places, output_limbs;
  uint64_t instructions; /* 32 bytes each */
  uint64_t address;      /* of the first one */
  uint64_t bytes;        /* of memory in all */
  const uint64_t (*table)[RINGMILL_ENTRY_WORDS]; /* q, aux, roots of the stages, zeros */
  const ringmill_place* inputs;  /* by limb */
  const ringmill_place* outputs;
} ringmill_program;

typedef struct {
  ringmill_platform platform;
  const ringmill_program* program;
  uint32_t stopped_code, stopped_at; /* after RINGMILL_STOPPED: error code, number of the instruction */
} ringmill_core;

/* Checks that the core is what the program was made for, and fills its table of moduli. */
int ringmill_open(ringmill_core* core, const ringmill_platform* platform, const ringmill_program* program);
/* Puts the instructions into memory; `words` are program->instructions times four. */
int ringmill_load(ringmill_core* core, const uint64_t* words);
/* Puts an input limb, N canonical residues, wherever the program reads it. It stays there for later runs: keys and
 * constants are put once. */
int ringmill_put(ringmill_core* core, uint32_t limb, const uint64_t* words);
/* Runs the program to its end, looking at most `patience` times. */
int ringmill_run(ringmill_core* core, uint64_t patience);
/* Ends a program in the middle, whatever it waits for; looks at most `patience` times until the core stands still. */
int ringmill_reset(ringmill_core* core, uint64_t patience);
/* Takes an output limb. */
int ringmill_get(const ringmill_core* core, uint32_t limb, uint64_t* words);
/* Performance counter i of the last run, in the order of the register map. */
int ringmill_counter(const ringmill_core* core, uint32_t i, uint64_t* value);
const char* ringmill_meaning(int code);

#ifdef __cplusplus
}
#endif
#endif
