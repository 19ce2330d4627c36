// What the engine is asked to do, with the result that must come: drawn here, or read from a file that the software engine wrote.
#pragma once
#include <algorithm>

#include "oracle.h"

struct Job {
  Mode mode;
  u64 number = 0;
  bool seal = false;               // a divided one, of what SEAL draws
  SealSeed secret{};               // the first half alone where it is none of SEAL's
  Seed expanded{};
  Limbs message;
  std::vector<Limbs> key, expected;
  u64 bad_from = ~u64(0);          // rows of the result from here on are not to be trusted
  u64 lost_message = ~u64(0), lost_key = ~u64(0), lost_extra = ~u64(0);  // this row does not come
  u64 cycle = 0, first_row = 0;    // of its start, of the first row of its result
  u64 trit_words = 0;              // that v took
  unsigned number_of_mode() const { return seal ? 5 : unsigned(mode); }
};

struct Case {
  Context context;
  Small s;
  std::vector<Job> jobs;
};

// A file of lines `name words …`: log_n, then for each limb `prime q psi`, `extra p psi` if there is one, `s`, and jobs, each `job mode`, `seeds`, `message`, `key0`, `key1`,
// `part0`, `part1` a limb; of a divided encryption key0 and key1 modulo p too.
inline Case read_case(const char* path) {
  std::ifstream file(path);
  if (!file) fail("no file %s", path);
  unsigned log_n = 0;
  std::vector<Prime> primes;
  Prime extra{0, 0};
  Small s;
  std::vector<Job> jobs;
  u64 number = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    const auto limb = [&](Limbs& to) {
      Words w;
      for (u64 x; words >> x;) w.push_back(x);
      if (w.size() != u64(1) << log_n) fail("%s: %zu words", name.c_str(), w.size());
      to.push_back(w);
    };
    if (!jobs.empty() && jobs.back().key.empty()) jobs.back().key.resize(2), jobs.back().expected.resize(2);
    if (name == "log_n") words >> log_n;
    else if (name == "prime") primes.emplace_back(), words >> primes.back().q >> primes.back().psi;
    else if (name == "extra") words >> extra.q >> extra.psi;
    else if (name == "s") for (int x; words >> x;) s.push_back(x);
    else if (name == "job") {
      unsigned mode;
      words >> mode;
      jobs.emplace_back();
      jobs.back().mode = Mode(mode), jobs.back().number = ++number;
    } else if (name == "seeds") {
      for (int i = 0; i < 8; i++) words >> jobs.back().secret[i];
      for (u32& x : jobs.back().expanded) words >> x;
    } else if (name == "message") limb(jobs.back().message);
    else if (name == "key0") limb(jobs.back().key[0]);
    else if (name == "key1") limb(jobs.back().key[1]);
    else if (name == "part0") limb(jobs.back().expected[0]);
    else if (name == "part1") limb(jobs.back().expected[1]);
    else fail("%s: what is %s?", path, name.c_str());
  }
  for (Job& job : jobs) {
    job.expected.resize(two_parts(job.mode) ? 2 : 1);
    for (const Limbs& part : job.expected) {
      if (part.size() != primes.size()) fail("%s: a part of %zu limbs", path, part.size());
    }
  }
  if (jobs.empty()) fail("%s: no job", path);
  return {Context(primes, log_n, extra), s, jobs};
}

template <typename Seed>
inline Seed drawn_seed(Rng& rng) {
  Seed seed;
  for (u32& x : seed) x = u32(rng.next());
  return seed;
}

inline Mode drawn_mode(const Context& context, bool seeded, Rng& rng) {
  std::vector<Mode> modes{kPublic, kDecrypt};
  if (seeded) modes.push_back(kSymmetric), modes.push_back(kPublicKey);
  if (context.extra().q) modes.push_back(kDivided), modes.push_back(kDivided);
  return modes[rng.below(modes.size())];
}

inline Job drawn_job(const Context& context, const Small& s, u64 number, Mode mode, bool seal, Rng& rng) {
  Job job;
  job.mode = mode;
  job.number = number;
  job.seal = job.mode == kDivided && seal && rng.below(2);
  job.secret = drawn_seed<SealSeed>(rng), job.expanded = drawn_seed<Seed>(rng);
  job.message = context.random(rng);
  job.key = {context.random_with_extra(rng), context.random_with_extra(rng)};
  if (job.mode == kDivided && rng.below(2)) {
    // v k is 0 or next to p/2 in every coefficient: errors decide how it is rounded.
    for (Limbs& key : job.key) std::fill(key.back().begin(), key.back().end(), context.extra().q / 2);
  }
  job.expected = context.run(job.mode, job.secret, job.seal, job.expanded, s, job.message, job.key);
  job.trit_words = context.trit_words;
  return job;
}

// A prime q = 1 mod 2N of w bits or fewer, of the class of its multiplier.
inline Prime drawn_prime(unsigned kind, unsigned w, unsigned log_n, Rng& rng) {
  const bool ntt = family_of(kind) == kNtt && !ntt_any_length(kind);
  const unsigned step = ntt ? std::max(log_n + 1, ntt_word_of(kind)) : log_n + 1;
  for (int tries = 0; tries < 200000; tries++) {
    const u64 q = ntt ? (u64(1) << w) - ((1 + rng.below(u64(512) >> (step - ntt_word_of(kind)))) << step) + 1
                      : (rng.next() & ((u64(1) << w) - 1)) >> step << step | 1;
    if (q > u64(4) << log_n && q > 1000 && is_prime(q)) return {q, primitive_root(q, log_n, rng)};
  }
  fail("no prime of %u bits", w);
}
