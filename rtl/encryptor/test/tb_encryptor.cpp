// rm_encryptor: every residue of every row in its cycle by the definitions (oracle.h), modes in any order, promises at any time.
// And what goes wrong: rows that do not come, words that are no residues, seeds used twice, resets in the middle.
//   +n=JOBS a size   +resets=R   +seed=S   +logn=FROM   +to=TO   +trace   +vectors=FILE: the jobs of a file instead
#include <algorithm>
#include <deque>
#include <type_traits>

#include "jobs.h"

#define P_Inverse 0
#define P_Style 0
#include "../../streaming_ntt/test/stream.h"
#ifndef P_Extra
#define P_Extra 0
#endif
#ifndef P_Seal
#define P_Seal 0
#endif

namespace {

constexpr unsigned kLimbs = P_Limbs;
constexpr u64 kNever = ~u64(0);

// The number of limbs stands for p, and one more for its inverse roots.
unsigned width_of(unsigned limb) { return limb && limb < kLimbs ? P_WRest : P_W; }
unsigned kind_of(unsigned limb) { return limb && limb < kLimbs ? P_KindRest : P_Kind; }
// The multiplier that divides a limb by p: rm_enc_pkg.
unsigned divide_kind_of(unsigned limb) {
  const bool own = width_of(limb) == P_W || family_of(P_Kind) != kNtt;
  return own ? P_Kind : kNtt + 16 * (ntt_word_of(P_Kind) + 32);
}
u64 power_of_two(unsigned bits, u64 q) { return u64((u128(1) << bits) % q); }

class Bench {
 public:
  Bench(int argc, char** argv, u64 seed, bool trace) : dut(argc, argv), rng(seed), trace_(trace) {
    dut->rst_ni = dut->cold_ni = 0;
    dut->cfg_we_i = dut->prepare_i = dut->secret_begin_i = dut->secret_we_i = dut->job_valid_i = dut->operand_valid_i = 0;
    dut->room_i = dut->message_valid_i = dut->key_valid_i = dut->extra_key_valid_i = 0;
    for (int i = 0; i < 3; i++) dut.tick();
    dut->rst_ni = dut->cold_ni = 1;
  }

  // A degree that was not built: it says so, and takes no job.
  void wrong_degree(unsigned log_n) {
    dut->log_n_i = log_n;
    dut->job_valid_i = dut->operand_valid_i = dut->room_i = 1;
    drive_job(idle_);
    for (int i = 0; i < 40; i++, dut.tick()) {
      dut.settle();
      if (!dut->bad_size_o || dut->job_ready_o || dut->start_o || dut->busy_o) fail("N = 2^%u: a job is taken", log_n);
    }
    dut->job_valid_i = dut->operand_valid_i = dut->room_i = 0;
  }

  void set_up(const Context& context) {
    const unsigned log_n = context.log_n();
    dut->log_n_i = log_n;
    const auto write = [&](unsigned limb, unsigned field, u64 value) {
      dut->cfg_we_i = 1;
      dut->cfg_limb_i = limb;
      dut->cfg_field_i = field;
      dut->cfg_data_i = value;
      dut.tick();
      dut->cfg_we_i = 0;
    };
    const auto write_modulus = [&](unsigned i, const Prime& p) {
      const u64 factor = power_of_two(factor_bits_of(kind_of(i), width_of(i)), p.q);
      write(i, 0, p.q);
      write(i, 1, aux_of(kind_of(i), width_of(i), p.q));
      for (unsigned b = 0; b < log_n; b++) {
        const u64 root = pow_mod(p.psi, u64(1) << (log_n - 1 - b), p.q);
        write(i, 2 + b, mul_mod(root, factor, p.q));
        if (i == kLimbs) write(i + 1, 2 + b, mul_mod(inverse_mod(root, p.q), factor, p.q));
      }
      write(i, 18, factor);
    };
    for (unsigned i = 0; i < kLimbs; i++) {
      const u64 q = context.prime(i).q;
      write_modulus(i, context.prime(i));
      write(i, 19, power_of_two(64, q));
      if (!P_Extra) continue;
      const unsigned kind = divide_kind_of(i);
      const u64 by = inverse_mod(context.extra().q % q, q);
      write(i, 20, mul_mod(by, power_of_two(factor_bits_of(kind_of(i), width_of(i)), q), q));
      write(i, 21, mul_mod(by, power_of_two(factor_bits_of(kind, P_W), q), q));
      write(i, 22, aux_of(kind, P_W, q));
    }
    if (P_Extra) write_modulus(kLimbs, context.extra());
    dut->prepare_i = 1;
    dut.tick();
    dut->prepare_i = 0;
    for (u64 i = 0; dut.settle(), !dut->prepare_ready_o; i++) {
      if (i > 200000) fail("the seeds do not end");
      dut.tick();
    }
  }

  void load_secret(const Small& s) {
    dut.settle();
    if (!dut->secret_free_o) fail("the secret key's port is closed");
    dut->secret_begin_i = 1;
    dut.tick();
    dut->secret_begin_i = 0;
    dut->secret_we_i = 1;
    for (std::size_t a = 0; a < s.size() / 16; a++) {
      dut.settle();
      if (dut->secret_ready_o) fail("a secret key of %zu words is whole", a);
      u32 word = 0;
      for (int i = 0; i < 16; i++) word |= u32(s[16 * a + i] & 3) << (2 * i);
      dut->secret_data_i = word;
      dut.tick();
    }
    dut->secret_we_i = 0;
    dut.settle();
    if (!dut->secret_ready_o) fail("the secret key is not whole");
  }

  // Runs the jobs; a promise comes with a probability of eager/256 a cycle. Where that is below 1, one of the two often waits until the
  // engine says that its job waits for it: else both are there when samples are drawn, and nothing waits. A reset stops it after reset_after cycles,
  // unless all jobs have ended before; returns whether it did.
  bool run(const Context& context, std::vector<Job>& jobs, unsigned eager, u64 reset_after = kNever) {
    const u64 rows = u64(1) << (context.log_n() - kLogP);
    // From start to the first row of the result: lead, transform, operand register, product, sum and correction.
    // With the division three cycles more; and before them, where something is divided, two transforms with a product between.
    const u64 latency = kLead + stream_latency(context.log_n()) + kM + 3 + (P_Extra ? 3 : 0);
    const u64 halved = stream_latency(context.log_n()) - rows / 2;  // a forward transform of 2 P words a cycle
    const u64 divided = kLead + halved + 1 + kM + stream_latency(context.log_n()) - 2;
    std::deque<Job*> waiting, reading, keyed, divides, results;
    std::size_t next = 0;
    bool offered = false, operand = false, room = false, refused_now = false;
    unsigned refusal = 0;
    const auto held_back = [&] { return eager == 256 ? 0 : unsigned(rng.below(3)); };
    unsigned held = held_back();  // the bit of waiting_o: 1 of operands, 2 of space for the result
    Job *row_job = nullptr, *key_job = nullptr, *extra_job = nullptr;
    u64 row_time = 0, key_time = 0, extra_time = 0;
    for (u64 since = dut.cycles(), begin = dut.cycles(); next < jobs.size() || !waiting.empty() || !results.empty();) {
      if (dut.cycles() - begin > reset_after) {
        dut->rst_ni = 0;
        dut->job_valid_i = dut->operand_valid_i = dut->room_i = 0;
        dut.tick(), dut.tick();
        dut->rst_ni = 1;
        dut.settle();
        if (dut->busy_o || dut->secret_ready_o || dut->result_valid_o) fail("something is left after a reset");
        return true;
      }
      if (dut.cycles() - since > 200 * rows + 100000) fail("hangs with %zu jobs inside", waiting.size() + results.size());
      offered = next < jobs.size() && (offered || rng.chance(eager));
      operand = operand || (held != 1 && rng.chance(eager)), room = room || (held != 2 && rng.chance(eager));
      dut->job_valid_i = offered;
      drive_job(offered ? jobs[next] : idle_);
      dut->operand_valid_i = operand;
      dut->room_i = room;
      drive_rows(context, row_job, row_time, key_job, key_time);
      drive_extra(context, extra_job, extra_time);
      dut.settle();
      if (dut->fault_o) fail("fault at cycle %" PRIu64, dut.cycles());
      if (bool(dut->refused_o) != refused_now || (refused_now && dut->refusal_o != refusal)) {
        fail("refused is %d with reason %d, not %d with %u", int(dut->refused_o), int(dut->refusal_o), refused_now, refusal);
      }
      if ((dut->waiting_o >> 1 & 1 && operand) || (dut->waiting_o >> 2 & 1 && room)) fail("waits for what was promised");
      if (dut->start_o && dut->waiting_o) fail("starts and waits");
      if (held && dut->waiting_o >> held & 1) held = 0;
      refused_now = false;
      if (offered && dut->job_ready_o) {
        Job& job = jobs[next++];
        refusal = refusal_of(job);
        refused_now = refusal != 0;
        if (trace_) std::printf("job %" PRIu64 " %u %" PRIu64 "\n", dut.cycles(), job.number_of_mode(), job.trit_words);
        if (!refused_now) waiting.push_back(&job);
        offered = false;
        since = dut.cycles();
      }
      if (dut->start_o) {
        if (waiting.empty() || dut->start_mode_o != waiting.front()->mode) fail("a start of nothing");
        Job* job = waiting.front();
        if (!room || (job->mode != kPublicKey && !operand)) fail("a start without a promise");
        waiting.pop_front();
        job->cycle = dut.cycles();
        if (trace_) std::printf("start %" PRIu64 " %u\n", dut.cycles(), unsigned(job->mode));
        if (two_parts(job->mode) || job->mode == kSymmetric) reading.push_back(job);
        if (two_parts(job->mode) || job->mode == kDecrypt) keyed.push_back(job);
        if (job->mode == kDivided) divides.push_back(job);
        job->first_row = job->cycle + latency + (job->mode == kDivided ? divided : 0);
        results.push_back(job);
        operand = room = false;
        held = held_back();
        since = dut.cycles();
      }
      row_job = key_job = extra_job = nullptr;
      if (dut->message_re_o) row_job = asked(reading, row_time = dut->message_time_o, rows, "message");
      if (dut->key_re_o) key_job = asked(keyed, key_time = dut->key_time_o, rows, "key");
      if (dut->extra_key_re_o) extra_job = asked(divides, extra_time = dut->extra_key_time_o, rows, "key modulo p");
      check_result(context, results, rows, since);
      dut.tick();
    }
    dut->job_valid_i = dut->operand_valid_i = dut->room_i = 0;
    for (int i = 0; i < 2; i++) dut.tick();
    dut.settle();
    if (dut->busy_o || dut->result_valid_o) fail("busy when all is done");
    return false;
  }

  Dut dut;
  Rng rng;
  u64 checked = 0, refusals = 0, bad_rows = 0, last = 0;
  bool some = false, secret = false;

 private:
  unsigned refusal_of(const Job& job) {
    unsigned reason = 0;
    const bool seeded = job.mode == kSymmetric || job.mode == kPublicKey;
    if (!P_Seeded && seeded) reason = 3;
    else if (!two_parts(job.mode) && !secret) reason = 2;
    else if (job.mode != kDecrypt && some && job.number <= last) reason = 1;
    if (!reason && job.mode != kDecrypt) some = true, last = job.number;
    refusals += reason != 0;
    return reason;
  }

  void drive_job(const Job& job) {
    dut->job_mode_i = job.number_of_mode();
    dut->job_number_i = job.number;
    for (int i = 0; i < 8; i++) dut->job_public_seed_i[i] = job.expanded[i];
    for (int i = 0; i < (P_Seal ? 16 : 8); i++) dut->job_secret_seed_i[i] = job.secret[i];
  }

  Job* asked(std::deque<Job*>& queue, u64 time, u64 rows, const char* what) {
    if (queue.empty()) fail("a row of a %s that is nobody's", what);
    Job* job = queue.front();
    if (time >= rows) fail("row %" PRIu64 " of a %s", time, what);
    if (time == rows - 1) queue.pop_front();
    return job;
  }

  // What was asked for a cycle ago; noise where nothing was.
  void drive_rows(const Context& context, const Job* row, u64 row_time, const Job* key, u64 key_time) {
    using Message = std::decay_t<decltype(dut->message_row_i)>;
    using Key = std::decay_t<decltype(dut->key_row_i)>;
    dut->message_valid_i = row && row_time != row->lost_message;
    dut->key_valid_i = key && key_time != key->lost_key;
    Fields<Message>::clear(dut->message_row_i);
    Fields<Key>::clear(dut->key_row_i);
    for (unsigned i = 0; i < kLimbs; i++) {
      for (unsigned l = 0; l < kP; l++) {
        const u64 noise = rng.next() & ((u64(1) << P_W) - 1);
        const u64 m = row ? row->message[i][coefficient_place(context.log_n(), l, row_time)] : noise;
        Fields<Message>::set(dut->message_row_i, (i * kP + l) * P_W, P_W, m);
        for (unsigned c = 0; c < 2; c++) {
          const bool given = key && !key->key[c].empty();
          const u64 k = given ? key->key[c][i][value_place(context.log_n(), l, key_time)] : noise;
          Fields<Key>::set(dut->key_row_i, ((c * kLimbs + i) * kP + l) * P_W, P_W, k);
        }
      }
    }
  }

  // Keys modulo p, as drive_rows.
  void drive_extra(const Context& context, const Job* job, u64 time) {
    using Key = std::decay_t<decltype(dut->extra_key_row_i)>;
    dut->extra_key_valid_i = job && time != job->lost_extra;
    Fields<Key>::clear(dut->extra_key_row_i);
    for (unsigned l = 0; l < kP; l++) {
      for (unsigned c = 0; c < 2; c++) {
        const u64 noise = rng.next() & ((u64(1) << P_W) - 1);
        const u64 k = job ? job->key[c][kLimbs][value_place(context.log_n(), l, time)] : noise;
        Fields<Key>::set(dut->extra_key_row_i, (c * kP + l) * P_W, P_W, k);
      }
    }
  }

  void check_result(const Context& context, std::deque<Job*>& results, u64 rows, u64& since) {
    const bool some_row = !results.empty() && dut.cycles() >= results.front()->first_row;
    if (bool(dut->result_valid_o) != some_row) fail("cycle %" PRIu64 ": valid is %d", dut.cycles(), int(dut->result_valid_o));
    if (!some_row) return;
    const Job& job = *results.front();
    const u64 t = dut.cycles() - job.first_row;
    if (dut->result_time_o != t || dut->result_parts_o != (two_parts(job.mode) ? 3 : 1)) fail("row %" PRIu64 ": its time or parts", t);
    if (bool(dut->result_bad_o) != (t >= job.bad_from)) fail("row %" PRIu64 " of mode %u: bad is %d", t, unsigned(job.mode), int(dut->result_bad_o));
    if (t >= job.bad_from) bad_rows++;
    for (unsigned c = 0; c < job.expected.size() && t < job.bad_from; c++) {
      for (unsigned i = 0; i < kLimbs; i++) {
        for (unsigned l = 0; l < kP; l++, checked++) {
          using Result = std::decay_t<decltype(dut->result_row_o)>;
          const u64 got = Fields<Result>::get(dut->result_row_o, ((c * kLimbs + i) * kP + l) * P_W, P_W);
          const u64 want = job.expected[c][i][value_place(context.log_n(), l, t)];
          if (got != want) {
            fail("N = 2^%u, mode %u, part %u, limb %u, row %" PRIu64 ", lane %u: %" PRIu64 ", not %" PRIu64, context.log_n(),
                 unsigned(job.mode), c, i, t, l, got, want);
          }
        }
      }
    }
    if (t == rows - 1) results.pop_front(), since = dut.cycles();
  }

  const bool trace_;
  const Job idle_{};
};

// A word of a message, or of c0, that is no residue: q is the least.
void put_over(Job& job, const Context& context, bool least, Rng& rng) {
  const u64 row = rng.below(context.n() / kP);
  const unsigned limb = unsigned(rng.below(kLimbs)), lane = unsigned(rng.below(kP));
  const u64 q = context.prime(limb).q, over = least ? q : q + rng.below((u64(1) << P_W) - q);
  if (job.mode == kDecrypt) job.key[1][limb][value_place(context.log_n(), lane, row)] = over, job.bad_from = row;
  else job.message[limb][coefficient_place(context.log_n(), lane, row)] = over, job.bad_from = 0;
}

// What can go wrong with a job's operands.
void spoil(Job& job, const Context& context, Rng& rng) {
  const u64 row = rng.below(context.n() / kP);
  const bool message = two_parts(job.mode) || job.mode == kSymmetric, key = two_parts(job.mode) || job.mode == kDecrypt;
  const u64 what = rng.below(job.mode == kDivided ? 4 : 3);
  if (what == 0 && message) job.lost_message = row, job.bad_from = 0;
  if (what == 1 && (message || key)) put_over(job, context, rng.below(2), rng);
  if (what == 2 && key) job.lost_key = job.bad_from = row;
  if (what == 3) job.lost_extra = row, job.bad_from = 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const u64 seed = args.number("seed", 1), n = args.number("n", 10), resets = args.number("resets", 0);
  Bench bench(argc, argv, seed, args.has("trace"));
  if (args.has("vectors")) {
    Case given = read_case(args.text("vectors"));
    bench.set_up(given.context);
    bench.load_secret(given.s);
    bench.secret = true;
    bench.run(given.context, given.jobs, 256);
    return pass(bench.checked, seed, bench.dut.cycles(), "rm_encryptor, vectors of the engine");
  }
  for (unsigned log_n : {P_LogNMin - 1, P_LogNMax + 1}) bench.wrong_degree(log_n);
  u64 number = 0;
  const unsigned from = unsigned(args.number("logn", P_LogNMax)), to = unsigned(args.number("to", P_LogNMin));
  for (unsigned log_n = from; log_n >= to; log_n--) {
    std::vector<Prime> primes;
    for (unsigned i = 0; i < kLimbs; i++) primes.push_back(drawn_prime(kind_of(i), width_of(i), log_n, bench.rng));
    Prime extra{0, 0};
    while (P_Extra && (!extra.q || std::any_of(primes.begin(), primes.end(), [&](const Prime& p) { return p.q == extra.q; }))) {
      extra = drawn_prime(P_Kind, P_W, log_n, bench.rng);
    }
    const Context context(primes, log_n, extra);
    Small s;
    for (u64 k = 0; k < context.n(); k++) s.push_back(int(bench.rng.below(3)) - 1);
    bench.set_up(context);
    bench.secret = false;
    for (u64 turn = 0; turn <= resets; turn++) {
      // Without a secret key at first, then with it; promises at any time, then all at once.
      for (unsigned eager : {10u, 256u}) {
        std::vector<Job> jobs;
        const auto mode = [&] { return drawn_mode(context, P_Seeded, bench.rng); };
        const auto add = [&](u64 of_number, Mode of_mode) {
          jobs.push_back(drawn_job(context, s, of_number, of_mode, P_Seal, bench.rng));
        };
        const auto two = [&] {
          Mode of = mode();
          while (!two_parts(of)) of = mode();
          return of;
        };
        if (!args.has("trace")) {
          // The last number that was used, in the run before or before a reset: it is refused.
          if (bench.some) add(bench.last, two());
          // The least word that is no residue.
          add(++number, two()), put_over(jobs.back(), context, true, bench.rng);
          if (bench.secret) add(number, kDecrypt), put_over(jobs.back(), context, true, bench.rng);
        }
        for (u64 i = 0; i < n; i++) {
          add(number += 1 + bench.rng.below(3), mode());
          if (args.has("trace")) continue;
          if (bench.rng.chance(40)) jobs.back().number -= bench.rng.below(4);  // may have been used
          if (bench.rng.chance(100)) spoil(jobs.back(), context, bench.rng);
        }
        if (args.has("trace")) std::printf("promises %u\n", eager);
        bench.run(context, jobs, eager);
        if (!bench.secret) bench.load_secret(s), bench.secret = true;
      }
      if (turn < resets) {
        std::vector<Job> jobs;
        for (u64 i = 0; i < 4; i++) jobs.push_back(drawn_job(context, s, number += 1, drawn_mode(context, P_Seeded, bench.rng), P_Seal, bench.rng));
        if (bench.run(context, jobs, 256, bench.rng.below(6 * context.n()))) bench.secret = false;
      }
    }
  }
  std::printf("%" PRIu64 " refusals, %" PRIu64 " bad rows\n", bench.refusals, bench.bad_rows);
  if (!args.has("trace") && n * (resets + 1) >= 10 && (!bench.refusals || !bench.bad_rows)) fail("no refusal, or no bad row");
  return pass(bench.checked, seed, bench.dut.cycles(), "rm_encryptor");
}
