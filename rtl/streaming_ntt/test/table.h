// How a host sets up the moduli of units with seeds: fields one by one, then the seeds.
#pragma once
#include "../../ntt/test/modulus.h"

// 2^R mod q of the multiplier.
inline u64 factor_of(u64 q) { return u64((u128(1) << factor_bits_of(P_Kind, P_W)) % q); }

// 1/rho_b times 2^R, where a modulus' roots have rho_b.
inline u64 inverse_root(const Modulus& m, unsigned b) {
  const u64 root = pow_mod(m.psi, u64(1) << (unsigned(m.roots.size()) - 1 - b), m.q);
  return mul_mod(inverse_mod(root, m.q), factor_of(m.q), m.q);
}

inline void write_field(Dut& dut, unsigned m, unsigned field, u64 value) {
  dut->cfg_we_i = 1;
  dut->cfg_mod_i = m;
  dut->cfg_field_i = field;
  dut->cfg_data_i = value;
  dut.tick();
  dut->cfg_we_i = 0;
}

// Ready at first, and again when the seeds of modulus m are in place.
inline void prepare_seeds(Dut& dut, unsigned m) {
  dut->prepare_valid_i = 1;
  dut->prepare_mod_i = m;
  dut.settle();
  if (!dut->prepare_ready_o) fail("not ready to prepare modulus %u", m);
  dut.tick();
  dut->prepare_valid_i = 0;
  for (u64 i = 0; dut.settle(), !dut->prepare_ready_o; i++) {
    if (i > 200000) fail("the seeds of modulus %u do not end", m);
    dut.tick();
  }
}
