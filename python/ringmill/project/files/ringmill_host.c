/* The core with this folder's program: ringmill_host.h. */
#include "ringmill_host.h"

#include <stdlib.h>

#include "layout.h"

struct ringmill_host {
  ringmill_core core;
};

ringmill_host* ringmill_host_open(const char* where, const uint64_t* instructions, int* code) {
  ringmill_platform platform;
  ringmill_host* host = malloc(sizeof *host);
  *code = host ? ringmill_platform_open(&platform, where, RINGMILL_PROGRAM.bytes) : RINGMILL_MEMORY;
  if (*code) {
    free(host);
    return NULL;
  }
  *code = ringmill_open(&host->core, &platform, &RINGMILL_PROGRAM);
  if (!*code) *code = ringmill_load(&host->core, instructions);
  if (!*code) return host;
  ringmill_platform_close(&platform);
  free(host);
  return NULL;
}

ringmill_core* ringmill_host_core(ringmill_host* host) { return &host->core; }

void ringmill_host_close(ringmill_host* host) {
  if (!host) return;
  ringmill_platform_close(&host->core.platform);
  free(host);
}
