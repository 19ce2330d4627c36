// Tests of samples against their exact distribution: what a correct sampler fails with a probability of 10^-6 a side.
#pragma once
#include <cmath>

#include "harness.h"

constexpr double kScore = 4.7534;  // standard score with that probability

// Pearson's statistic between the two quantiles of chi-square (Wilson, Hilferty 1931).
inline void check_chi_square(const std::vector<u64>& counts, const std::vector<double>& expected, const char* what) {
  double x = 0;
  for (std::size_t i = 0; i < counts.size(); i++) x += std::pow(double(counts[i]) - expected[i], 2) / expected[i];
  const double df = double(counts.size() - 1), a = 2 / (9 * df);
  const auto quantile = [&](double z) { return df * std::pow(std::max(0.0, 1 - a + z * std::sqrt(a)), 3); };
  if (x < quantile(-kScore) || x > quantile(kScore)) fail("%s: chi-square %g with %g degrees of freedom", what, x, df);
}

// Histogram of small integers against probabilities of -bound ... bound; neighbours at the ends join until they expect five.
class Histogram {
 public:
  explicit Histogram(std::vector<double> probability) : p_(std::move(probability)), counts_(p_.size()), bound_(int(p_.size() / 2)) {
    for (int x = -bound_; x <= bound_; x++) variance_ += p_[std::size_t(x + bound_)] * x * x;
  }
  void add(const std::vector<int>& samples) {
    for (std::size_t i = 0; i < samples.size(); i++) {
      counts_.at(std::size_t(samples[i] + bound_))++;
      n_++;
      for (std::size_t lag = 1; lag <= kLags && lag <= i; lag++) products_[lag - 1] += samples[i] * samples[i - lag], pairs_[lag - 1]++;
    }
  }
  u64 count() const { return n_; }
  void check(const char* what) const {
    std::vector<u64> counts;
    std::vector<double> expected;
    u64 open = 0;
    double mass = 0;
    for (std::size_t i = 0; i < p_.size(); i++) {
      open += counts_[i], mass += p_[i] * double(n_);
      if (mass >= 5) counts.push_back(open), expected.push_back(mass), open = 0, mass = 0;
    }
    counts.back() += open, expected.back() += mass;
    check_chi_square(counts, expected, what);
    // Products of neighbours have mean 0 and variance sigma^4.
    for (std::size_t lag = 1; lag <= kLags; lag++) {
      const double score = double(products_[lag - 1]) / (variance_ * std::sqrt(double(pairs_[lag - 1])));
      if (std::fabs(score) > kScore) fail("%s: correlation at distance %zu has score %g", what, lag, score);
    }
  }

 private:
  static constexpr std::size_t kLags = 16;
  std::vector<double> p_;
  std::vector<u64> counts_;
  int bound_;
  double variance_ = 0;
  i64 products_[kLags] = {};
  u64 pairs_[kLags] = {}, n_ = 0;
};
