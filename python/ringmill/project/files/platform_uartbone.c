/* A LiteX SoC behind its UARTBone: registers and memory over a socket or a serial line.
 *
 * `where` is tcp=HOST:PORT or serial=PATH, at RINGMILL_BAUD bits a second. Memory is kept here too: what the driver has
 * written goes out, and what the core may have written comes in, by the hooks for caches.
 */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "ringmill_host.h"

/* As board/soc.py has it. */
#define REGISTERS UINT32_C(0x90000000)
#define MEMORY UINT32_C(0x40000000)
#ifndef RINGMILL_BAUD
#define RINGMILL_BAUD B1000000
#endif

/* Of the UARTBone: commands, words of a burst. */
enum { WRITE = 1, READ = 2, BURST = 255, HEAD = 6 };
/* Milliseconds that a line may say nothing; a simulator is slow. */
enum { SILENCE = 60000 };

struct line {
  int file;
  int failed; /* nothing is said any more on a line that failed */
  uint64_t* memory;
};

static int fail(struct line* l) {
  l->failed = 1;
  return -1;
}

static int ready(struct line* l, short events) {
  struct pollfd one = {.fd = l->file, .events = events};
  return poll(&one, 1, SILENCE) == 1 && (one.revents & events) ? 0 : fail(l);
}

static int put(struct line* l, const uint8_t* bytes, size_t count) {
  while (count && !l->failed) {
    if (ready(l, POLLOUT)) return -1;
    /* A socket whose other end is gone would end the program with a signal. */
    ssize_t sent = send(l->file, bytes, count, MSG_NOSIGNAL);
    if (sent < 0 && errno == ENOTSOCK) sent = write(l->file, bytes, count);
    if (sent <= 0) return fail(l);
    bytes += sent;
    count -= (size_t)sent;
  }
  return l->failed ? -1 : 0;
}

static int take(struct line* l, uint8_t* bytes, size_t count) {
  while (count && !l->failed) {
    if (ready(l, POLLIN)) return -1;
    const ssize_t got = read(l->file, bytes, count);
    if (got <= 0) return fail(l);
    bytes += got;
    count -= (size_t)got;
  }
  return l->failed ? -1 : 0;
}

static void spell(uint8_t* to, uint32_t word) {
  for (int i = 0; i < 4; i++) to[i] = (uint8_t)(word >> (24 - 8 * i));
}

/* Addresses are those of words. */
static void head(uint8_t* to, int command, uint32_t words, uint32_t address) {
  to[0] = (uint8_t)command;
  to[1] = (uint8_t)words;
  spell(to + 2, address / 4);
}

static int set(void* user, uint32_t offset, uint32_t value) {
  uint8_t bytes[HEAD + 4];
  head(bytes, WRITE, 1, REGISTERS + offset);
  spell(bytes + HEAD, value);
  return put(user, bytes, sizeof bytes);
}

static int get_words(struct line* l, uint32_t address, uint32_t* words, uint32_t count) {
  uint8_t bytes[4 * BURST];
  head(bytes, READ, count, address);
  if (put(l, bytes, HEAD) || take(l, bytes, 4 * (size_t)count)) return -1;
  for (uint32_t i = 0; i < count; i++) {
    const uint8_t* b = bytes + 4 * i;
    words[i] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
  }
  return 0;
}

static int get(void* user, uint32_t offset, uint32_t* value) { return get_words(user, REGISTERS + offset, value, 1); }

static int pause_shortly(void* user) {
  const struct timespec pause = {0, 1000000};
  nanosleep(&pause, NULL);
  return ((struct line*)user)->failed ? -1 : 0;
}

static uint32_t burst(uint64_t left) { return left < BURST / 2 ? (uint32_t)left : BURST / 2; }

/* The driver asks for whole words of 64 bits. A line that fails here is said at the next register. */
static void clean(void* user, uint64_t offset, uint64_t bytes) {
  struct line* l = user;
  uint8_t out[HEAD + 8 * (BURST / 2)];
  for (uint64_t at = offset / 8, end = at + bytes / 8; at < end && !l->failed;) {
    const uint32_t count = burst(end - at);
    head(out, WRITE, 2 * count, MEMORY + (uint32_t)(8 * at));
    for (uint32_t i = 0; i < count; i++, at++) {
      spell(out + HEAD + 8 * i, (uint32_t)l->memory[at]);
      spell(out + HEAD + 8 * i + 4, (uint32_t)(l->memory[at] >> 32));
    }
    put(l, out, HEAD + 8 * (size_t)count);
  }
}

static void invalidate(void* user, uint64_t offset, uint64_t bytes) {
  struct line* l = user;
  uint32_t in[2 * (BURST / 2)];
  for (uint64_t at = offset / 8, end = at + bytes / 8; at < end;) {
    const uint32_t count = burst(end - at);
    if (get_words(l, MEMORY + (uint32_t)(8 * at), in, 2 * count)) return;
    for (uint32_t i = 0; i < count; i++, at++) l->memory[at] = (uint64_t)in[2 * i + 1] << 32 | in[2 * i];
  }
}

static int dial(const char* place) {
  char host[256];
  const char* port = strrchr(place, ':');
  if (!port || (size_t)(port - place) >= sizeof host) return -1;
  memcpy(host, place, (size_t)(port - place));
  host[port - place] = 0;
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
  if (getaddrinfo(host, port + 1, &hints, &found)) return -1;
  int file = -1;
  for (struct addrinfo* a = found; a && file < 0; a = a->ai_next) {
    file = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
    if (file >= 0 && connect(file, a->ai_addr, a->ai_addrlen)) {
      close(file);
      file = -1;
    }
  }
  freeaddrinfo(found);
  return file;
}

static int plug(const char* path) {
  const int file = open(path, O_RDWR | O_NOCTTY);
  struct termios t;
  if (file < 0) return -1;
  if (tcgetattr(file, &t) == 0) {
    cfmakeraw(&t);
    cfsetspeed(&t, RINGMILL_BAUD);
    if (tcsetattr(file, TCSANOW, &t) == 0 && tcflush(file, TCIOFLUSH) == 0) return file;
  }
  close(file);
  return -1;
}

/* The words of a memory at which it is tried: its last one, those at powers of two, downwards, and its first. */
static uint64_t tried(uint64_t words, int i) {
  uint64_t power = 1;
  if (i == 0) return words - 1;
  while (power < words / 2) power += power;
  return i > 63 ? 0 : power >> (i - 1);
}

/* Whether the memory keeps different words there: it may be smaller, or its DRAM not be calibrated. */
static int keeps(struct line* l, uint64_t bytes) {
  int count = 0, good = 1;
  do {
    const uint64_t at = tried(bytes / 8, count);
    l->memory[at] = (at + 1) * UINT64_C(0x9e3779b97f4a7c15);
    clean(l, 8 * at, 8);
    l->memory[at] = 0;
    if (!at) break;
  } while (++count);
  for (; count >= 0 && good; count--) {
    const uint64_t at = tried(bytes / 8, count);
    invalidate(l, 8 * at, 8);
    good = l->memory[at] == (at + 1) * UINT64_C(0x9e3779b97f4a7c15);
    l->memory[at] = 0;
  }
  return good;
}

int ringmill_platform_open(ringmill_platform* platform, const char* where, uint64_t bytes) {
  if (!where || bytes < 16) return RINGMILL_PLATFORM;
  struct line* l = calloc(1, sizeof *l);
  if (!l) return RINGMILL_MEMORY;
  l->memory = calloc(1, bytes);
  l->file = !strncmp(where, "tcp=", 4) ? dial(where + 4) : !strncmp(where, "serial=", 7) ? plug(where + 7) : -1;
  *platform = (ringmill_platform){.user = l,
                                  .read_register = get,
                                  .write_register = set,
                                  .wait = pause_shortly,
                                  .memory = l->memory,
                                  .memory_bytes = bytes,
                                  .base = MEMORY,
                                  .clean = clean,
                                  .invalidate = invalidate};
  const int code = l->file < 0 ? RINGMILL_PLATFORM : !l->memory ? RINGMILL_MEMORY : RINGMILL_OK;
  const int kept = !code && keeps(l, bytes);
  if (kept) return RINGMILL_OK;
  const int failed = l->failed;
  ringmill_platform_close(platform);
  return code ? code : failed ? RINGMILL_PLATFORM : RINGMILL_MEMORY;
}

void ringmill_platform_close(ringmill_platform* platform) {
  struct line* l = platform->user;
  if (l->file >= 0) close(l->file);
  free(l->memory);
  free(l);
}
