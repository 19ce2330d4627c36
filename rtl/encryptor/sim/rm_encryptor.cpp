// The simulated encryption engine: rm_encryptor.h.
#include "rm_encryptor.h"

#include <memory>

#include "../../sim/src/engine.h"
#include "Vtop.h"

namespace {

using namespace engine;

constexpr unsigned kLimbs = P_Limbs, kLogN = P_LogNMax, kExtra = P_Extra, kSeal = P_Seal, kP = 2;
constexpr u64 kN = u64(1) << kLogN, kRows = kN / kP;
// More than any job takes: draws, three transforms, the result.
constexpr u64 kLimit = 16 * kN + 20000;

// q^-1 mod 2^w, by Newton.
u64 aux_of(unsigned w, u64 q) {
  u64 inverse = 1;
  for (int i = 0; i < 6; i++) inverse *= 2 - q * inverse;
  return inverse & ((u64(1) << w) - 1);
}

class Engine {
 public:
  explicit Engine(rm_encryptor_job& job) : job_(job), context_(std::make_unique<VerilatedContext>()) {
    top_ = std::make_unique<Vtop>(context_.get());
    auto& t = *top_;
    t.rst_ni = t.cold_ni = 0;
    t.log_n_i = kLogN;
    t.cfg_we_i = t.prepare_i = t.secret_begin_i = t.secret_we_i = t.job_valid_i = t.operand_valid_i = t.room_i = 0;
    t.message_valid_i = t.key_valid_i = t.extra_key_valid_i = 0;
    for (int i = 0; i < 3; i++) tick();
    t.rst_ni = t.cold_ni = 1;
  }
  ~Engine() { top_->final(); }

  void run() {
    for (unsigned i = 0; i < kLimbs; i++) modulus(i, i ? P_WRest : P_W, job_.q[i], job_.psi[i]);
    if (kExtra) extra(job_.q[kLimbs], job_.psi[kLimbs]);
    top_->prepare_i = 1;
    tick();
    top_->prepare_i = 0;
    for (u64 i = 0; settle(), !top_->prepare_ready_o; i++) {
      if (i > 1000000) throw Failed{"its tables do not end"};
      tick();
    }
    if (top_->bad_size_o) throw Failed{"it was built for another degree"};
    if (job_.secret) secret();
    work();
  }

 private:
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

  // ---------------------------------------------------------------- moduli: rm_enc_pkg's fields
  void write(unsigned limb, unsigned field, u64 value) {
    top_->cfg_we_i = 1;
    top_->cfg_limb_i = limb;
    top_->cfg_field_i = field;
    top_->cfg_data_i = value;
    tick();
    top_->cfg_we_i = 0;
  }
  void common(unsigned limb, unsigned w, u64 q, u64 psi) {
    const u64 factor = power_of_two(w, q);
    write(limb, 0, q);
    write(limb, 1, aux_of(w, q));
    for (unsigned b = 0; b < kLogN; b++) {
      const u64 root = pow_mod(psi, u64(1) << (kLogN - 1 - b), q);
      write(limb, 2 + b, mul_mod(root, factor, q));
      if (limb == kLimbs) write(limb + 1, 2 + b, mul_mod(inverse_mod(root, q), factor, q));
    }
    write(limb, 18, factor);
  }
  void modulus(unsigned limb, unsigned w, u64 q, u64 psi) {
    common(limb, w, q, psi);
    write(limb, 19, power_of_two(64, q));
    if (!kExtra) return;
    const u64 by = inverse_mod(job_.q[kLimbs], q);
    write(limb, 20, mul_mod(by, power_of_two(w, q), q));
    write(limb, 21, mul_mod(by, power_of_two(P_W, q), q));
    write(limb, 22, aux_of(P_W, q));
  }
  void extra(u64 p, u64 psi) { common(kLimbs, P_W, p, psi); }

  void secret() {
    top_->secret_begin_i = 1;
    tick();
    top_->secret_begin_i = 0;
    top_->secret_we_i = 1;
    for (u64 a = 0; a < kN / 16; a++) {
      std::uint32_t word = 0;
      for (int i = 0; i < 16; i++) word |= std::uint32_t(job_.secret[16 * a + i] & 3) << (2 * i);
      top_->secret_data_i = word;
      tick();
    }
    top_->secret_we_i = 0;
    top_->secret_data_i = 0;
    settle();
    if (!top_->secret_ready_o) throw Failed{"it takes no such secret key: coefficients of it are -1, 0 and 1"};
  }

  // ---------------------------------------------------------------- the job
  void work() {
    auto& t = *top_;
    t.job_mode_i = job_.mode;
    t.job_number_i = 1;
    for (int i = 0; i < 8; i++) t.job_public_seed_i[i] = job_.public_seed[i];
    for (int i = 0; i < (kSeal ? 16 : 8); i++) t.job_secret_seed_i[i] = job_.secret_seed[i];
    t.job_valid_i = 1;
    t.operand_valid_i = t.room_i = 1;
    u64 begin = 0, rows = 0;
    bool taken = false, message = false, key = false, more = false;
    u64 message_time = 0, key_time = 0, more_time = 0;
    for (const u64 first = cycles_; rows < kRows; tick()) {
      if (cycles_ - first > kLimit) throw Failed{"it does not come to an end"};
      t.message_valid_i = message, t.key_valid_i = key, t.extra_key_valid_i = more;
      if (message) operands(message_time);
      if (key) keys(key_time);
      if (more) extra_keys(more_time);
      settle();
      if (t.fault_o) throw Failed{"it reports a fault"};
      if (t.refused_o) throw Failed{"it refuses the job"};
      if (taken) t.job_valid_i = 0;
      if (!taken && t.job_ready_o) taken = true, begin = cycles_;
      message = t.message_re_o, message_time = t.message_time_o;
      key = t.key_re_o, key_time = t.key_time_o;
      more = t.extra_key_re_o, more_time = t.extra_key_time_o;
      if (t.result_valid_o) result(t.result_time_o), rows++;
    }
    job_.cycles = cycles_ - begin;
  }

  void operands(u64 time) {
    auto& port = top_->message_row_i;
    clear(port);
    for (unsigned i = 0; i < kLimbs; i++) {
      for (unsigned l = 0; l < kP; l++) set(port, (i * kP + l) * P_W, P_W, job_.message[i * kN + l * kRows + time]);
    }
  }
  void keys(u64 time) {
    auto& port = top_->key_row_i;
    clear(port);
    for (unsigned c = 0; c < 2; c++) {
      for (unsigned i = 0; i < kLimbs; i++) {
        for (unsigned l = 0; l < kP; l++) {
          set(port, ((c * kLimbs + i) * kP + l) * P_W, P_W, job_.key[c][i * kN + kP * time + l]);
        }
      }
    }
  }
  void extra_keys(u64 time) {
    auto& port = top_->extra_key_row_i;
    clear(port);
    for (unsigned c = 0; c < 2; c++) {
      for (unsigned l = 0; l < kP; l++) {
        set(port, (c * kP + l) * P_W, P_W, job_.key[c][kLimbs * kN + kP * time + l]);
      }
    }
  }
  void result(u64 time) {
    if (top_->result_bad_o) throw Failed{"a word of the message or of the ciphertext is no residue"};
    for (unsigned c = 0; c < 2; c++) {
      if (!job_.part[c]) continue;
      for (unsigned i = 0; i < kLimbs; i++) {
        for (unsigned l = 0; l < kP; l++) {
          job_.part[c][i * kN + kP * time + l] = get(top_->result_row_o, ((c * kLimbs + i) * kP + l) * P_W, P_W);
        }
      }
    }
  }

  rm_encryptor_job& job_;
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Vtop> top_;
  u64 cycles_ = 0;
};

}  // namespace

EXPORTED void rm_encryptor_parameters_of(rm_encryptor_parameters* parameters) {
  *parameters = {RM_ENCRYPTOR_ABI, kLimbs, P_W, P_WRest, kLogN, kExtra, kSeal};
}

EXPORTED int rm_encryptor_run(rm_encryptor_job* job, char* message, size_t size) {
  return answer(message, size, [job] { Engine(*job).run(); });
}
