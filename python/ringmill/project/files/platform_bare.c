/* A host without an operating system: registers and memory at fixed addresses, polled.
 *
 * Compile with -DRINGMILL_AT_REGISTERS=0x… -DRINGMILL_AT_MEMORY=0x… and, where the core's bus gives another address to the
 * memory, -DRINGMILL_AT_BASE=0x…. Processors whose caches do not see the core's writes define RINGMILL_CLEAN(at, bytes) and
 * RINGMILL_INVALIDATE(at, bytes), as by -include of a header of the board.
 */
#include "ringmill_host.h"

#if !defined RINGMILL_AT_REGISTERS || !defined RINGMILL_AT_MEMORY
#error "define RINGMILL_AT_REGISTERS and RINGMILL_AT_MEMORY, the addresses of the core's registers and of its memory"
#endif
#ifndef RINGMILL_AT_BASE
#define RINGMILL_AT_BASE RINGMILL_AT_MEMORY
#endif

static int get(void* user, uint32_t offset, uint32_t* value) {
  *value = ((volatile uint32_t*)user)[offset / 4];
  return 0;
}

static int set(void* user, uint32_t offset, uint32_t value) {
  __sync_synchronize(); /* what was put into memory comes first */
  ((volatile uint32_t*)user)[offset / 4] = value;
  return 0;
}

#ifdef RINGMILL_CLEAN
static void clean(void* user, uint64_t offset, uint64_t bytes) {
  (void)user;
  RINGMILL_CLEAN((uintptr_t)RINGMILL_AT_MEMORY + (uintptr_t)offset, bytes);
}
#endif

#ifdef RINGMILL_INVALIDATE
static void invalidate(void* user, uint64_t offset, uint64_t bytes) {
  (void)user;
  RINGMILL_INVALIDATE((uintptr_t)RINGMILL_AT_MEMORY + (uintptr_t)offset, bytes);
}
#endif

int ringmill_platform_open(ringmill_platform* platform, const char* where, uint64_t bytes) {
  (void)where;
  *platform = (ringmill_platform){.user = (void*)(uintptr_t)RINGMILL_AT_REGISTERS,
                                  .read_register = get,
                                  .write_register = set,
                                  .memory = (uint64_t*)(uintptr_t)RINGMILL_AT_MEMORY,
                                  .memory_bytes = bytes,
                                  .base = RINGMILL_AT_BASE,
#ifdef RINGMILL_CLEAN
                                  .clean = clean,
#endif
#ifdef RINGMILL_INVALIDATE
                                  .invalidate = invalidate,
#endif
  };
  return RINGMILL_OK;
}

void ringmill_platform_close(ringmill_platform* platform) { (void)platform; }
