/* The core with this folder's program, behind a platform that is linked in: what tests and host.py call. */
#ifndef RINGMILL_HOST_H
#define RINGMILL_HOST_H

#include "ringmill_core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Supplied by platform_sim.c or platform_board.c. `where` names the device, in the words of the platform. */
int ringmill_platform_open(ringmill_platform* platform, const char* where, uint64_t bytes);
void ringmill_platform_close(ringmill_platform* platform);

typedef struct ringmill_host ringmill_host;

/* Opens the core and loads `instructions`; null if that fails, and *code says why. */
ringmill_host* ringmill_host_open(const char* where, const uint64_t* instructions, int* code);
ringmill_core* ringmill_host_core(ringmill_host* host);
void ringmill_host_close(ringmill_host* host);

#ifdef __cplusplus
}
#endif
#endif
