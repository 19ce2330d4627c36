/* The simulated encryption engine as a library: one job of a client at a time, with the engine's own draws.
 *
 * The engine is built for some limbs, widths and one degree (P_Limbs, P_W, P_WRest, P_LogNMax), with Montgomery
 * multipliers, which serve every odd prime of their width, and two words a cycle. Every call has an engine of its own,
 * which begins at power-on and is gone afterwards. Its memory is freed, but not wiped. Calls from several threads are fine. */
#ifndef RM_ENCRYPTOR_H
#define RM_ENCRYPTOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RM_ENCRYPTOR_ABI 2

struct rm_encryptor_parameters {
  uint32_t abi, limbs, w, w_rest, log_n, extra, seal;
};

/* rm_enc_pkg's modes. */
enum { RM_ENC_PUBLIC, RM_ENC_SYMMETRIC, RM_ENC_PUBLIC_KEY, RM_ENC_DECRYPT, RM_ENC_DIVIDED, RM_ENC_SEAL };

struct rm_encryptor_job {
  uint32_t mode;
  uint32_t secret_seed[16], public_seed[8]; /* little-endian words of 32 bytes each; of 64 in a job of SEAL */
  const uint64_t *q, *psi;                 /* of each limb; of an engine with the division of p too */
  const int8_t *secret;                    /* N coefficients of the secret key, for modes that need it, else null */
  const uint64_t *message;                 /* limbs * N coefficients, or null */
  const uint64_t *key[2];                  /* limbs * N values of b and a, or c1 and c0; divided or of SEAL: those modulo p after them */
  uint64_t *part[2];                       /* limbs * N values of the result; the second one may be null */
  uint64_t cycles;                         /* of the whole job, from its handshake to the last row of the result */
};

void rm_encryptor_parameters_of(struct rm_encryptor_parameters *parameters);

/* 0, or 1 with a sentence in `message`, a buffer of `size` bytes. */
int rm_encryptor_run(struct rm_encryptor_job *job, char *message, size_t size);

#ifdef __cplusplus
}
#endif

#endif
