/* The simulated key-switch engine as a library: key switches of one set, one behind the other, on a memory that is never late.
 *
 * A library is one build, of the chain or of the pool (P_*). Every call has an engine of its own, which begins at power-on and is
 * gone afterwards. Calls from several threads are fine. */
#ifndef RM_KEY_SWITCH_H
#define RM_KEY_SWITCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RM_KEY_SWITCH_ABI 1

/* What it was built for; of a chain, special and alpha are 1 and digits are as many as limbs. */
struct rm_key_switch_parameters {
  uint32_t abi, pool, limbs, special, alpha, digits, w, log_n_max, log_n_min;
};

/* Polynomials are N values each, at psi^(2 brv(k) + 1), residues below their modulus. Moduli are those of the `level` limbs, then the
 * special ones. */
struct rm_key_switch_job {
  uint32_t log_n, level, special, alpha;
  uint32_t centred;            /* bit 0: digits with sign; bit 1: what the division takes away */
  uint32_t count;              /* key switches */
  uint32_t miss;               /* 0, or 1 + the number of a key switch of whose keys a row does not arrive */
  uint32_t rows;               /* of the timetable; 0 for a chain */
  const uint32_t *table;       /* rows of kind, unit, modulus, part, age: rm_pool_pkg; special moduli begin at `limbs` of the build */
  const uint64_t *q, *psi, *aux; /* of each modulus: itself, a root of order 2 N, what the multiplier takes beside it */
  const uint64_t *operand;     /* count * level polynomials */
  const uint64_t *key;         /* digits * 2 * (level + special) polynomials: digit, component, modulus */
  const uint64_t *addend;      /* count * 2 * level polynomials: key switch, component, limb */
  uint64_t *result;            /* the same */
  uint64_t *ended;             /* by key switch, cycles from the start of the first one to its last row */
  uint32_t *bad;               /* by key switch, 1 where a row was missing */
};

void rm_key_switch_parameters_of(struct rm_key_switch_parameters *parameters);

/* 0, or 1 with a sentence in `message`, a buffer of `size` bytes. */
int rm_key_switch_run(const struct rm_key_switch_job *job, char *message, size_t size);

#ifdef __cplusplus
}
#endif

#endif
