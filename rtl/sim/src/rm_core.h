/* The simulated core as a shared library: C interface.
 *
 * One library is one core: its parameters are fixed when it is built (rtl/sim/build.py). A handle is used
 * by one thread at a time; different handles are independent. Functions that can fail return RM_CORE_OK or
 * one of the codes below; rm_core_message tells more of the last failure.
 */
#ifndef RM_CORE_H
#define RM_CORE_H

#include <stddef.h>
#include <stdint.h>

#include "rm_core_parameters.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RM_CORE_ABI 2u

enum rm_core_code {
  RM_CORE_OK = 0,
  RM_CORE_LIMIT = 1,     /* the cycles allowed are over and the program is not: the watchdog */
  RM_CORE_ACCESS = 2,    /* a register that is not there, or not readable, or not writable */
  RM_CORE_HANG = 3,      /* the register bus does not answer */
  RM_CORE_SETTING = 4,   /* a memory setting out of range */
  RM_CORE_PROTOCOL = 5,  /* the core broke a rule of AXI4: a fault of the hardware */
  RM_CORE_NO_TRACE = 6   /* the library was built without traces or observer, or the file cannot be written */
};

typedef struct rm_core rm_core;

/* What the library was built for. */
typedef struct {
  uint32_t abi;
#define RM_CORE_FIELD(name, value) uint32_t name;
  RM_CORE_PARAMETERS(RM_CORE_FIELD)
#undef RM_CORE_FIELD
  uint32_t traces; /* 1: rm_core_trace works */
} rm_core_parameters;

/* The memory behind the core; rules in README.md. */
typedef struct {
  uint32_t read_latency;  /* cycles from address to first beat, at least 1 */
  uint32_t write_latency; /* cycles from last beat to response, at least 1 */
  uint32_t rate_num;      /* beats ... */
  uint32_t rate_den;      /* ... in cycles, rate_num <= rate_den */
  uint32_t shared;        /* 1: both directions share the rate */
  uint32_t outstanding;   /* bursts in flight in each direction */
  uint32_t stall[5];      /* chance of 65536 that AR, R, AW, W, B stall in a cycle */
  uint32_t error_kinds;   /* 1 reads, 2 writes, 3 both fail in the range below */
  uint32_t error_resp;    /* 2 SLVERR, 3 DECERR */
  uint32_t reserved;      /* 0 */
  uint64_t seed;
  uint64_t error_first, error_end; /* bytes */
} rm_core_memory;

typedef struct {
  uint64_t cycles;      /* clock cycles since rm_core_new */
  uint64_t clock;       /* the memory's cycle number: 0 at the first cycle of the write that starts */
  uint64_t read_beats;  /* since the last start */
  uint64_t write_beats;
} rm_core_counts;

void rm_core_parameters_of(rm_core_parameters* out);
void rm_core_memory_default(rm_core_memory* out);

/* A core out of reset. The caller keeps `bytes` alive; nothing else touches them while a function runs.
 * Null if a setting is out of range or memory is short. */
rm_core* rm_core_new(uint8_t* bytes, uint64_t size, const rm_core_memory* memory);
void rm_core_free(rm_core* core);

/* Hard reset of core and memory port; registers and modulus table are lost, bytes stay. */
void rm_core_reset(rm_core* core);
/* Other settings or other bytes; only while nothing runs. */
int rm_core_set_memory(rm_core* core, uint8_t* bytes, uint64_t size, const rm_core_memory* memory);

/* AXI4-Lite accesses; some cycles pass, also while a program runs. */
int rm_core_write_register(rm_core* core, uint32_t address, uint32_t value);
int rm_core_read_register(rm_core* core, uint32_t address, uint32_t* value);

/* Write CONTROL.start with the interrupt enabled. If nothing is under way the memory's clock begins at 0. */
int rm_core_start(rm_core* core);
/* Cycles until the interrupt, at most `cycles`: RM_CORE_OK when it came (and is cleared), RM_CORE_LIMIT if not. */
int rm_core_wait(rm_core* core, uint64_t cycles);

void rm_core_count(const rm_core* core, rm_core_counts* out);
const char* rm_core_message(const rm_core* core);
/* Write waves to a file from here on; null ends it. */
int rm_core_trace(rm_core* core, const char* path);

/* The result of every instruction as it is written: its number in the program, the cycle of its last row (as
 * rm_core_count counts), the bank, or -1 if it went to memory alone, and the limb, `count` words that are gone when the
 * function returns. Instructions of one unit come in order. Null ends it; only while nothing runs. */
typedef void (*rm_core_observer)(void* user, uint32_t instruction, uint64_t cycle, int32_t bank, const uint64_t* words,
                                 uint64_t count);
int rm_core_observe(rm_core* core, rm_core_observer observer, void* user);

#ifdef __cplusplus
}
#endif
#endif
