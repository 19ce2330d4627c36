// Functional coverage: what a run reached, as lines `COVER POINT/VALUE/VALUE TIMES`. The plan of a block, `test/plan.json`, says
// which points there are and which values; rtl/tools/cover.py puts the runs of all tests together and lists holes.
#pragma once
#include <cinttypes>
#include <cstdio>
#include <map>
#include <string>

namespace rm_test {

class Cover {
 public:
  // `values` in the order of the plan's dimensions.
  template <typename... Values>
  void hit(const char* point, const Values&... values) {
    std::string key = point;
    ((key += '/', key += text(values)), ...);
    times_[key]++;
  }
  // To be called once, before the last line of a run.
  void print() const {
    for (const auto& [key, times] : times_) std::printf("COVER %s %" PRIu64 "\n", key.c_str(), times);
  }

 private:
  static std::string text(const char* value) { return value; }
  static std::string text(const std::string& value) { return value; }
  static std::string text(unsigned value) { return std::to_string(value); }

  std::map<std::string, std::uint64_t> times_;
};

}  // namespace rm_test
