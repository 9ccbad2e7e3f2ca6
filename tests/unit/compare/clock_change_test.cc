#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "compare/same_kernels.h"

namespace tracedb {
namespace {

// Kernels that ran ten times on both sides, by their durations in us.
struct Kernels {
  std::vector<SameTimes> times;
  double baseline = 0, candidate = 0;  // time of computation

  Kernels& add(double a, double b, bool computes = true) {
    times.push_back({10, 10, static_cast<std::int64_t>(a * 10'000), static_cast<std::int64_t>(b * 10'000), computes});
    if (computes) other(a, b);
    return *this;
  }
  Kernels& other(double a, double b) {  // ten runs of what one side alone has
    baseline += a * 10'000;
    candidate += b * 10'000;
    return *this;
  }
  Kernels& slower(int n, double ratio) {
    for (int i = 0; i < n; ++i) add(10 + i, (10 + i) * ratio);
    return *this;
  }
  [[nodiscard]] Kernels swapped() const {
    Kernels out = *this;
    for (SameTimes& one : out.times) {
      std::swap(one.baseline_n, one.candidate_n);
      std::swap(one.baseline_time, one.candidate_time);
    }
    std::swap(out.baseline, out.candidate);
    return out;
  }
  [[nodiscard]] std::optional<ClockChange> change() const { return find_clock_change(times, baseline, candidate); }
};

bool found(const Kernels& kernels) {
  CHECK(kernels.change().has_value() == kernels.swapped().change().has_value());
  return kernels.change().has_value();
}

}  // namespace

TEST_CASE("clocks: all kernels slower by one factor") {
  const auto change = Kernels().slower(8, 1.12).change();
  REQUIRE(change);
  CHECK(change->ratio == doctest::Approx(1.12));
  CHECK(change->kernels == 8);
  CHECK(change->holding == 8);
  CHECK(change->time_share == doctest::Approx(1));
  CHECK(found(Kernels().slower(8, 0.9)));
  CHECK(Kernels().slower(8, 1.12).swapped().change()->ratio == doctest::Approx(1 / 1.12));
}

TEST_CASE("clocks: a change of 3 % or less is none") {
  CHECK_FALSE(found(Kernels().slower(8, 1.03)));
  CHECK(found(Kernels().slower(8, 1.04)));
  CHECK_FALSE(found(Kernels().slower(8, 0.972)));
}

TEST_CASE("clocks: one waiting collective that holds most of the time is no matter of clocks") {
  // Ranks of one job: all else takes as long as on the other rank.
  Kernels ranks = Kernels().slower(40, 1.0).add(871'000, 2'240'000, false);
  CHECK_FALSE(found(ranks));
  CHECK_FALSE(found(Kernels().slower(40, 1.0).add(871'000, 2'240'000)));  // nor where it counts as computation
  CHECK(found(Kernels().slower(8, 1.12).add(871'000, 10, false)));
}

TEST_CASE("clocks: one outlier is allowed, and told apart") {
  const auto change = Kernels().slower(8, 1.12).add(10, 30).change();
  REQUIRE(change);
  CHECK(change->kernels == 9);
  CHECK(change->holding == 8);
  CHECK(change->time_share < 0.9);
  CHECK(found(Kernels().slower(5, 1.12).add(10, 2)));
  CHECK_FALSE(found(Kernels().slower(5, 1.12).add(10, 30).add(10, 30).add(10, 30)));
}

TEST_CASE("clocks: a class that is slower is not all of them") {
  CHECK_FALSE(found(Kernels().slower(10, 1.0).add(500, 1000).add(400, 800)));  // most of the time
  CHECK_FALSE(found(Kernels().slower(10, 1.2).add(500, 500).add(400, 400)));   // most of the kernels
}

TEST_CASE("clocks: too few kernels, too little of the time, too short, and nothing at all") {
  CHECK_FALSE(found(Kernels().slower(4, 1.2)));
  CHECK(found(Kernels().slower(5, 1.2)));
  CHECK_FALSE(found(Kernels().slower(8, 1.2).other(200, 200)));
  Kernels brief;
  for (int i = 0; i < 10; ++i) brief.add(1.5, 1.9);
  CHECK_FALSE(found(brief));
  CHECK_FALSE(found(Kernels()));
  CHECK_FALSE(find_clock_change(std::vector<SameTimes>(9), 0, 0));
}

}  // namespace tracedb
