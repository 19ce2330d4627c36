// What every C++ harness needs: arguments, a seeded generator, a clocked top module, and one way to end.
// The top module's class is Vtop whatever its name; its parameters come as P_NAME: rtl/tools/simulate.py.
#pragma once
#include <cinttypes>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "Vtop.h"
#include "verilated.h"

using u64 = std::uint64_t;
using i64 = std::int64_t;
using u128 = unsigned __int128;
using i128 = __int128;

// +name=VALUE on the command line.
class Args {
 public:
  Args(int argc, char** argv) : argc_(argc), argv_(argv) {}
  const char* text(const char* name) const {
    const std::size_t n = std::strlen(name);
    for (int i = 1; i < argc_; i++) {
      const char* s = argv_[i];
      if (s[0] == '+' && !std::strncmp(s + 1, name, n) && (s[n + 1] == '=' || s[n + 1] == 0)) {
        return s[n + 1] ? s + n + 2 : s + n + 1;
      }
    }
    return nullptr;
  }
  bool has(const char* name) const { return text(name) != nullptr; }
  u64 number(const char* name, u64 otherwise) const {
    const char* s = text(name);
    return s ? std::strtoull(s, nullptr, 0) : otherwise;
  }

 private:
  int argc_;
  char** argv_;
};

// xoshiro256** (Blackman, Vigna), seeded by splitmix64.
class Rng {
 public:
  explicit Rng(u64 seed) {
    for (u64& s : s_) {
      seed += 0x9e3779b97f4a7c15u;
      u64 z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      s = z ^ (z >> 31);
    }
  }
  u64 next() {
    const u64 r = rotl(s_[1] * 5, 7) * 9, t = s_[1] << 17;
    s_[2] ^= s_[0];
    s_[3] ^= s_[1];
    s_[1] ^= s_[2];
    s_[0] ^= s_[3];
    s_[2] ^= t;
    s_[3] = rotl(s_[3], 45);
    return r;
  }
  // Uniform in [0, n) up to a bias of n / 2^64.
  u64 below(u64 n) { return u64((u128(next()) * n) >> 64); }
  bool chance(unsigned of_256) { return (next() >> 56) < of_256; }

 private:
  static u64 rotl(u64 x, int k) { return (x << k) | (x >> (64 - k)); }
  u64 s_[4];
};

// Prints FAIL and what; the run is over.
[[noreturn]] inline void fail(const char* format, ...) {
  std::va_list args;
  va_start(args, format);
  std::printf("FAIL ");
  std::vprintf(format, args);
  std::printf("\n");
  va_end(args);
  std::exit(1);
}

// The last line of a run. Nothing checked is a failure: a test that cannot fail is none.
inline int pass(u64 checked, u64 seed, u64 cycles, const char* what) {
  if (checked == 0) fail("nothing was checked");
  std::printf("PASS %s checked=%" PRIu64 " seed=%" PRIu64 " cycles=%" PRIu64 "\n", what, checked, seed, cycles);
  return 0;
}

// The module under test and its clock `clk_i`. Inputs are set between ticks; outputs are what registers show.
class Dut {
 public:
  Dut(int argc, char** argv) : context_(std::make_unique<VerilatedContext>()) {
    context_->commandArgs(argc, argv);
    top_ = std::make_unique<Vtop>(context_.get());
  }
  ~Dut() { top_->final(); }
  Vtop* operator->() { return top_.get(); }
  Vtop& top() { return *top_; }
  u64 cycles() const { return cycles_; }
  // Combinational outputs for the present inputs.
  void settle() {
    top_->clk_i = 0;
    top_->eval();
  }
  // One rising edge, with the inputs as they are now.
  void tick() {
    settle();
    top_->clk_i = 1;
    top_->eval();
    cycles_++;
  }

 private:
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Vtop> top_;
  u64 cycles_ = 0;
};
