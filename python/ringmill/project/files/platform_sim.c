/* The platform of the simulated core: build/librm_core.so. `where` is not looked at. */
#include <stdlib.h>

#include "layout.h"
#include "ringmill_host.h"
#include "rm_core.h"

/* The core sees its memory above this address, so that relocation is tested too. */
enum { BASE = 1 << 16 };
/* Far above any program that a simulator ends within a day. */
static const uint64_t kCycles = UINT64_C(1) << 36;

struct simulation {
  rm_core* core;
  uint8_t* bytes;
};

static int get(void* user, uint32_t offset, uint32_t* value) {
  return rm_core_read_register(((struct simulation*)user)->core, offset, value);
}

static int set(void* user, uint32_t offset, uint32_t value) {
  return rm_core_write_register(((struct simulation*)user)->core, offset, value);
}

static int wait_for_interrupt(void* user) { return rm_core_wait(((struct simulation*)user)->core, kCycles); }

int ringmill_platform_open(ringmill_platform* platform, const char* where, uint64_t bytes) {
  (void)where;
  rm_core_memory memory;
  rm_core_memory_default(&memory);
  memory.read_latency = memory.write_latency = RINGMILL_MODEL_LATENCY;
  memory.rate_den = RINGMILL_MODEL_BEAT_CYCLES;
  struct simulation* s = malloc(sizeof *s);
  if (!s) return RINGMILL_MEMORY;
  s->bytes = calloc(BASE + bytes, 1);
  s->core = s->bytes ? rm_core_new(s->bytes, BASE + bytes, &memory) : NULL;
  if (!s->core) {
    free(s->bytes);
    free(s);
    return RINGMILL_PLATFORM;
  }
  *platform = (ringmill_platform){.user = s,
                                  .read_register = get,
                                  .write_register = set,
                                  .wait = wait_for_interrupt,
                                  .memory = (uint64_t*)(s->bytes + BASE),
                                  .memory_bytes = bytes,
                                  .base = BASE};
  return RINGMILL_OK;
}

void ringmill_platform_close(ringmill_platform* platform) {
  struct simulation* s = platform->user;
  rm_core_free(s->core);
  free(s->bytes);
  free(s);
}
