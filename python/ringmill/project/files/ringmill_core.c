/* Driver of the compact core: ringmill_core.h. */
#include "ringmill_core.h"

#define FIELD(value, name) (((value) & CORE_REG_##name##_MASK) >> CORE_REG_##name##_SHIFT)

enum { ENTRY_STRIDE = 256, UNIT = 64, PAGE = 4096, WORDS_PER_INSTRUCTION = 4 };

static int read_register(const ringmill_core* core, uint32_t offset, uint32_t* value) {
  const ringmill_platform* p = &core->platform;
  return p->read_register(p->user, offset, value) ? RINGMILL_PLATFORM : RINGMILL_OK;
}

static int write_register(const ringmill_core* core, uint32_t offset, uint32_t value) {
  const ringmill_platform* p = &core->platform;
  return p->write_register(p->user, offset, value) ? RINGMILL_PLATFORM : RINGMILL_OK;
}

static void clean(const ringmill_core* core, uint64_t offset, uint64_t bytes) {
  const ringmill_platform* p = &core->platform;
  if (p->clean) p->clean(p->user, offset, bytes);
}

static int identify(const ringmill_core* core) {
  const ringmill_program* p = core->program;
  uint32_t id, version, shape, variant;
  if (read_register(core, CORE_REG_ID, &id) || read_register(core, CORE_REG_VERSION, &version) ||
      read_register(core, CORE_REG_SHAPE, &shape) || read_register(core, CORE_REG_VARIANT, &variant)) {
    return RINGMILL_PLATFORM;
  }
  const uint32_t major = FIELD(CORE_REG_VERSION_VALUE, VERSION_MAJOR);
  const uint32_t minor = FIELD(CORE_REG_VERSION_VALUE, VERSION_MINOR);
  if (id != CORE_REG_ID_VALUE || FIELD(version, VERSION_MAJOR) != major || FIELD(version, VERSION_MINOR) < minor) {
    return RINGMILL_NOT_A_CORE;
  }
  const int same = FIELD(shape, SHAPE_WORD) == p->word_bits && FIELD(shape, SHAPE_NBF) == p->butterflies &&
                   FIELD(variant, VARIANT_KIND) == p->kind && FIELD(variant, VARIANT_BUS) == p->bus_bits;
  const int fits = FIELD(shape, SHAPE_LOGN_MAX) >= p->log_n && FIELD(shape, SHAPE_MODS) >= p->moduli;
  return same && fits ? RINGMILL_OK : RINGMILL_OTHER_CORE;
}

int ringmill_open(ringmill_core* core, const ringmill_platform* platform, const ringmill_program* program) {
  *core = (ringmill_core){.platform = *platform, .program = program};
  if (platform->memory_bytes < program->bytes || (platform->base & (PAGE - 1)) != 0) return RINGMILL_MEMORY;
  int code = identify(core);
  for (uint32_t m = 0; m < program->moduli && !code; m++) {
    for (uint32_t w = 0; w < 2 + program->log_n && !code; w++) {
      const uint64_t word = program->table[m][w];
      const uint32_t at = CORE_REG_MODULUS + ENTRY_STRIDE * m + 8 * w;
      code = write_register(core, at, (uint32_t)word);
      if (!code) code = write_register(core, at + 4, (uint32_t)(word >> 32));
    }
  }
  return code;
}

/* Addresses in instructions are those of a memory that begins at 0: w0[63:32] where w0[30] is set, w1[31:0] where
 * w0[31] is set, both in units of 64 bytes. */
int ringmill_load(ringmill_core* core, const uint64_t* words) {
  const ringmill_program* p = core->program;
  const uint64_t units = core->platform.base / UNIT;
  uint64_t* to = core->platform.memory + (size_t)(p->address / 8);
  for (uint64_t i = 0; i < p->instructions; i++, words += WORDS_PER_INSTRUCTION, to += WORDS_PER_INSTRUCTION) {
    to[0] = words[0] + ((words[0] >> 30 & 1) ? units << 32 : 0);
    to[1] = words[1] + ((words[0] >> 31 & 1) ? units : 0);
    to[2] = words[2];
    to[3] = words[3];
  }
  clean(core, p->address, p->instructions * WORDS_PER_INSTRUCTION * 8);
  return RINGMILL_OK;
}

/* 2^R mod q by doubling. */
static uint64_t factor(uint64_t q, uint32_t bits) {
  uint64_t x = 1; /* q > 1 */
  while (bits--) x = x >= q - x ? x - (q - x) : x + x;
  return x;
}

/* The high word of a product, by words of 32 bits. */
static uint64_t high(uint64_t a, uint64_t b) {
  const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
  const uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
  return a1 * b1 + (middle >> 32) + ((a0 * b1 + (uint32_t)middle) >> 32);
}

/* floor(f * 2^64 / q) for f < q < 2^63, a bit at a time. */
static uint64_t quotient(uint64_t f, uint64_t q) {
  uint64_t found = 0;
  for (int i = 0; i < 64; i++) {
    f += f;
    const uint64_t bit = f >= q;
    f -= bit ? q : 0;
    found = found << 1 | bit;
  }
  return found;
}

int ringmill_put(ringmill_core* core, uint32_t limb, const uint64_t* words) {
  const ringmill_program* p = core->program;
  const size_t n = (size_t)1 << p->log_n;
  if (limb >= p->input_limbs) return RINGMILL_NO_LIMB;
  for (uint32_t i = 0; i < p->places; i++) {
    const ringmill_place* place = &p->inputs[i];
    if (place->limb != limb) continue;
    uint64_t* to = core->platform.memory + (size_t)(place->address / 8);
    if (place->scaled) {
      /* Shoup: x * f - floor(x * f' / 2^64) * q lies below 2q, for f' = floor(f * 2^64 / q). */
      const uint64_t q = p->table[place->modulus][0], f = factor(q, p->factor_bits), ratio = quotient(f, q);
      for (size_t k = 0; k < n; k++) {
        const uint64_t x = words[k] * f - high(words[k], ratio) * q;
        to[k] = x >= q ? x - q : x;
      }
    } else {
      for (size_t k = 0; k < n; k++) to[k] = words[k];
    }
    clean(core, place->address, (uint64_t)n * 8);
  }
  return RINGMILL_OK;
}

int ringmill_run(ringmill_core* core, uint64_t patience) {
  const ringmill_program* p = core->program;
  uint32_t status;
  int code = write_register(core, CORE_REG_PROGRAM, (uint32_t)((core->platform.base + p->address) / UNIT));
  if (!code) code = write_register(core, CORE_REG_LOG_N, p->log_n);
  if (!code) {
    code = write_register(core, CORE_REG_CONTROL, CORE_REG_CONTROL_START_MASK | CORE_REG_CONTROL_IRQ_ENABLE_MASK);
  }
  if (code) return code;
  do {
    if (patience-- == 0) return RINGMILL_TIMEOUT;
    if (core->platform.wait && core->platform.wait(core->platform.user)) return RINGMILL_PLATFORM;
    code = read_register(core, CORE_REG_STATUS, &status);
    if (code) return code;
    if (FIELD(status, STATUS_REFUSED)) return RINGMILL_BUSY;
  } while (FIELD(status, STATUS_BUSY));
  code = write_register(core, CORE_REG_IRQ, CORE_REG_IRQ_PENDING_MASK);
  if (code || !FIELD(status, STATUS_ERROR)) return code;
  core->stopped_code = FIELD(status, STATUS_CODE);
  code = read_register(core, CORE_REG_ERROR_PC, &core->stopped_at);
  return code ? code : RINGMILL_STOPPED;
}

int ringmill_reset(ringmill_core* core, uint64_t patience) {
  uint32_t status;
  int code = write_register(core, CORE_REG_CONTROL, CORE_REG_CONTROL_SOFT_RESET_MASK);
  if (code) return code;
  do {
    if (patience-- == 0) return RINGMILL_TIMEOUT;
    code = read_register(core, CORE_REG_STATUS, &status);
    if (code) return code;
  } while (FIELD(status, STATUS_BUSY));
  return write_register(core, CORE_REG_IRQ, CORE_REG_IRQ_PENDING_MASK);
}

int ringmill_get(const ringmill_core* core, uint32_t limb, uint64_t* words) {
  const ringmill_program* p = core->program;
  if (limb >= p->output_limbs) return RINGMILL_NO_LIMB;
  const ringmill_platform* platform = &core->platform;
  const uint64_t address = p->outputs[limb].address;
  const size_t n = (size_t)1 << p->log_n;
  if (platform->invalidate) platform->invalidate(platform->user, address, (uint64_t)n * 8);
  const uint64_t* from = platform->memory + (size_t)(address / 8);
  for (size_t k = 0; k < n; k++) words[k] = from[k];
  return RINGMILL_OK;
}

int ringmill_counter(const ringmill_core* core, uint32_t i, uint64_t* value) {
  uint32_t low, high;
  if (i >= CORE_REG_COUNTER_COUNT) return RINGMILL_NO_LIMB;
  const uint32_t at = CORE_REG_COUNTER + CORE_REG_COUNTER_STRIDE * i;
  int code = read_register(core, at, &low);
  if (!code) code = read_register(core, at + 4, &high);
  if (!code) *value = (uint64_t)high << 32 | low;
  return code;
}

const char* ringmill_meaning(int code) {
  switch (code) {
    case RINGMILL_OK: return "done";
    case RINGMILL_NOT_A_CORE: return "the registers are not those of a compact core that this driver knows";
    case RINGMILL_OTHER_CORE: return "the core was built with other parameters than this program needs";
    case RINGMILL_MEMORY: return "too little memory, or its base is not a multiple of 4096";
    case RINGMILL_NO_LIMB: return "the program has no such limb";
    case RINGMILL_BUSY: return "the core was running already";
    case RINGMILL_TIMEOUT: return "the program did not end in time";
    case RINGMILL_STOPPED: return "the core stopped with an error";
    case RINGMILL_PLATFORM: return "registers or memory cannot be reached";
    default: return "unknown code";
  }
}
