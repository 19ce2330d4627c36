// What the simulated chain and the simulated pool share: a clock, fields of the moduli (rm_ks_pkg), and seeds.
#ifndef RM_PIPELINED_SHELL_H
#define RM_PIPELINED_SHELL_H

#include <memory>

#include "../../sim/src/engine.h"
#include "Vtop.h"
#include "rm_key_switch.h"

namespace engine {

constexpr unsigned kW = P_W, kLimbs = P_Limbs;

class Shell {
 protected:
  explicit Shell(const rm_key_switch_job& job)
      : job_(job), n_(u64(1) << job.log_n), context_(std::make_unique<VerilatedContext>()), top_(std::make_unique<Vtop>(context_.get())) {
    if (job.log_n < P_LogNMin || job.log_n > P_LogNMax) throw Failed{"it was not built for this degree"};
    if (job.level < 1 || job.level > kLimbs || job.count < 1 || job.special < 1 || job.alpha < 1) throw Failed{"it was not built for this set"};
    for (unsigned i = 0; i < moduli(); i++) {
      if (job.q[i] >> kW || job.q[i] < 2) throw Failed{"a modulus is no word of it"};
    }
    top_->rst_ni = 0;
    top_->log_n_i = job.log_n;
    top_->level_i = job.level;
    top_->centred_i = job.centred & 3;
    top_->cfg_we_i = top_->prepare_valid_i = 0;
  }
  ~Shell() { top_->final(); }

  void settle() {
    top_->clk_i = 0;
    top_->eval();
  }
  void tick() {
    settle();
    top_->clk_i = 1;
    top_->eval();
    cycles_++;
  }
  void reset() {
    for (int i = 0; i < 3; i++) tick();
    top_->rst_ni = 1;
    tick();
  }

  unsigned moduli() const { return job_.level + job_.special; }
  unsigned digits() const { return (job_.level + job_.alpha - 1) / job_.alpha; }
  static u64 factor(u64 q) { return power_of_two(P_FactorBits, q); }
  // The product of moduli from `first` on, but one, modulo another.
  u64 product(unsigned first, unsigned count, unsigned but, u64 q) const {
    u64 r = 1;
    for (unsigned i = first; i < first + count; i++) r = i == but ? r : mul_mod(r, job_.q[i] % q, q);
    return r;
  }

  void write(unsigned number, unsigned field, u64 value, bool inverse = false) {
    top_->cfg_we_i = 1;
    top_->cfg_inverse_i = inverse;
    top_->cfg_mod_i = number;
    top_->cfg_field_i = field;
    top_->cfg_data_i = value;
    tick();
    top_->cfg_we_i = 0;
  }
  // Modulus i of the job, by its number in the engine: q, aux, the roots of one direction.
  void modulus(unsigned i, unsigned number, bool inverse) {
    const u64 q = job_.q[i];
    write(number, 0, q, inverse);
    write(number, 1, job_.aux[i], inverse);
    for (unsigned b = 0; b < job_.log_n; b++) {
      const u64 root = pow_mod(job_.psi[i], u64(1) << (job_.log_n - 1 - b), q);
      write(number, 2 + b, mul_mod(inverse ? inverse_mod(root, q) : root, factor(q), q), inverse);
    }
    write(number, 18, factor(q), inverse);
  }
  void prepare(unsigned number) {
    top_->prepare_valid_i = 1;
    top_->prepare_mod_i = number;
    tick();
    top_->prepare_valid_i = 0;
    for (u64 i = 0; settle(), !top_->prepare_ready_o; i++) {
      if (i > 1000000) throw Failed{"its seeds do not end"};
      tick();
    }
  }

  const u64* operand(unsigned k, unsigned limb) const { return job_.operand + (u64(k) * job_.level + limb) * n_; }
  const u64* key(unsigned digit, unsigned c, unsigned modulus) const {
    return job_.key + ((u64(digit) * 2 + c) * moduli() + modulus) * n_;
  }
  u64 part(unsigned k, unsigned c, unsigned limb) const { return ((u64(k) * 2 + c) * job_.level + limb) * n_; }
  // More than all of it takes one task after the other.
  u64 limit() const { return (job_.count + 4) * u64(digits() + 4) * moduli() * n_ + 100000; }

  const rm_key_switch_job& job_;
  const u64 n_;
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Vtop> top_;
  u64 cycles_ = 0;
};

}  // namespace engine

#endif
