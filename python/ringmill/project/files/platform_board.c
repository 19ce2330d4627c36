/* A board under Linux: registers and memory are mapped from device files.
 *
 * `where` is  REGISTERS@OFFSET,MEMORY@OFFSET,BASE  with hexadecimal numbers: for example
 * "/dev/uio0@0,/dev/udmabuf0@0,70000000", BASE being the address that the core's bus gives to the memory. The memory
 * must be coherent with the core's port, or mapped uncached. This driver polls.
 */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "ringmill_host.h"

enum { REGISTER_BYTES = 1 << 14, PATH = 256 };

struct board {
  volatile uint32_t* registers;
  void* memory;
  uint64_t bytes;
};

static int get(void* user, uint32_t offset, uint32_t* value) {
  *value = ((struct board*)user)->registers[offset / 4];
  return 0;
}

static int set(void* user, uint32_t offset, uint32_t value) {
  __sync_synchronize(); /* what was put into memory comes first */
  ((struct board*)user)->registers[offset / 4] = value;
  return 0;
}

static int pause_shortly(void* user) {
  (void)user;
  const struct timespec pause = {0, 20000};
  nanosleep(&pause, NULL);
  return 0;
}

static void* mapped(const char* path, uint64_t offset, uint64_t bytes) {
  const int file = open(path, O_RDWR | O_SYNC);
  if (file < 0) return NULL;
  void* at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)offset);
  close(file);
  return at == MAP_FAILED ? NULL : at;
}

int ringmill_platform_open(ringmill_platform* platform, const char* where, uint64_t bytes) {
  char registers[PATH], memory[PATH];
  uint64_t first, second, base;
  const char* form = "%255[^@]@%" SCNx64 ",%255[^@]@%" SCNx64 ",%" SCNx64;
  if (!where || sscanf(where, form, registers, &first, memory, &second, &base) != 5) return RINGMILL_PLATFORM;
  struct board* b = calloc(1, sizeof *b);
  if (!b) return RINGMILL_MEMORY;
  b->bytes = bytes;
  b->registers = mapped(registers, first, REGISTER_BYTES);
  b->memory = b->registers ? mapped(memory, second, bytes) : NULL;
  *platform = (ringmill_platform){.user = b,
                                  .read_register = get,
                                  .write_register = set,
                                  .wait = pause_shortly,
                                  .memory = b->memory,
                                  .memory_bytes = bytes,
                                  .base = base};
  if (b->memory) return RINGMILL_OK;
  ringmill_platform_close(platform);
  return RINGMILL_PLATFORM;
}

void ringmill_platform_close(ringmill_platform* platform) {
  struct board* b = platform->user;
  if (b->memory) munmap(b->memory, b->bytes);
  if (b->registers) munmap((void*)b->registers, REGISTER_BYTES);
  free(b);
}
