#include <doctest/doctest.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fleet/catalogue.h"
#include "fleet/trend.h"
#include "support/places.h"
#include "support/rows.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

TraceSummary sample() {
  TraceSummary out;
  out.source = "/data/a\tb\n\\c.json";
  out.source_bytes = 12;
  out.vendor = "nvidia";
  out.model = "";
  out.gpu = "=H100";
  out.rank = 3;
  out.kernels = 77;
  out.date_ns = 1'763'000'000'000'000'000;
  out.complete = false;
  out.phases = {{"decode", 9, 500, 1234, std::nullopt}, {"prefill", 1, 200, std::nullopt, 99}};
  return out;
}

FileIdentity identity(std::uint64_t bytes) { return {1, 2, bytes, 3, 4}; }

void check_same(const TraceSummary* found) {
  REQUIRE(found != nullptr);
  const TraceSummary expected = sample();
  CHECK(found->source == expected.source);
  CHECK(as_lines(found->source_bytes, found->source_inode, found->gpu, found->model, found->framework, found->rank,
                 found->kernels, found->complete,
                 found->date_ns == expected.date_ns) == "12\n-\n=H100\n\n-\n3\n77\nfalse\ntrue");
  REQUIRE(found->phases.size() == 2);
  CHECK(as_row(found->phases[0].period, found->phases[0].span, found->phases[1].phase, found->phases[1].span) ==
        "1234 - prefill 99");
}

TEST_CASE("summaries come back as they were, for the same state of the file only") {
  const TempDirectory folder;
  const auto place = folder.path() / "cache";
  {
    SummaryCache cache(place);
    cache.add("/x/i.tracedb", identity(10), sample());
    cache.save();
  }
  CHECK(std::filesystem::exists(place / "CACHEDIR.TAG"));
  const SummaryCache cache(place);
  check_same(cache.find("/x/i.tracedb", identity(10)));
  check_same(cache.find("/x/../x/i.tracedb", identity(10)));
  CHECK(cache.find("/x/i.tracedb", identity(11)) == nullptr);
  CHECK(cache.find("/x/j.tracedb", identity(10)) == nullptr);
}

TEST_CASE("two writers keep what the other wrote") {
  const TempDirectory folder;
  SummaryCache first(folder.path()), second(folder.path());
  first.add("/a", identity(1), sample());
  second.add("/b", identity(2), sample());
  first.save();
  second.save();
  const SummaryCache cache(folder.path());
  CHECK(cache.find("/a", identity(1)) != nullptr);
  CHECK(cache.find("/b", identity(2)) != nullptr);
}

TEST_CASE("a damaged file counts as none, byte by byte") {
  const TempDirectory folder;
  {
    SummaryCache cache(folder.path());
    cache.add("/a", identity(1), sample());
    cache.save();
  }
  const auto file = folder.path() / "summaries";
  const std::string whole = bytes_of(file);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    write_anew(file, damaged);
    CHECK(SummaryCache(folder.path()).find("/a", identity(1)) == nullptr);
    write_anew(file, whole.substr(0, at));
    CHECK(SummaryCache(folder.path()).find("/a", identity(1)) == nullptr);
  }
  std::ofstream(file, std::ios::binary) << whole;
  CHECK(SummaryCache(folder.path()).find("/a", identity(1)) != nullptr);
}

TEST_CASE("a place that cannot be written is no failure") {
  const TempDirectory folder;
  std::ofstream(folder.path() / "file") << "text";
  for (const auto& place : {folder.path() / "file", std::filesystem::path()}) {
    SummaryCache cache(place);
    cache.add("/a", identity(1), sample());
    cache.save();
    CHECK(SummaryCache(place).find("/a", identity(1)) == nullptr);
  }
}

class Noise {
 public:
  explicit Noise(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ULL + 1) {}
  // Normal, mean 0, deviation 1, by Box and Muller.
  double next() {
    const double angle = 2 * 3.14159265358979323846 * uniform();
    return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(angle);
  }
  double uniform() {
    state_ ^= state_ << 13U;
    state_ ^= state_ >> 7U;
    state_ ^= state_ << 17U;
    return static_cast<double>(state_ >> 11U) / 9007199254740992.0;
  }

 private:
  std::uint64_t state_;
};

// Level 100 with a deviation of 1; `shift` more from `at` on. Every kind of noise: normal, with outliers, skewed.
std::vector<double> series(std::uint64_t seed, std::size_t n, std::size_t at, double shift) {
  Noise noise(seed);
  std::vector<double> out;
  for (std::size_t i = 0; i < n; ++i) {
    double value = noise.next();
    if (seed % 3 == 1 && noise.uniform() < 0.1) value *= 10;
    if (seed % 3 == 2) value = std::exp(value / 2);
    out.push_back(100 + value + (i >= at ? shift : 0));
  }
  return out;
}

TEST_CASE("series of noise are flagged as seldom as stated") {
  int flagged = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto values = series(seed, 8 + seed % 53, 0, 0);
    flagged += find_change_points(values).empty() ? 0 : 1;
  }
  CHECK(flagged <= 4);  // 1 % of 200 is 2
}

TEST_CASE("a shift of three deviations is found, and where it is" * doctest::skip(test_stride() > 1)) {
  int found = 0, near = 0, exact_count = 0;
  constexpr int kSeries = 60;
  for (std::uint64_t seed = 3; seed < 3 + 3 * kSeries; seed += 3) {
    const std::size_t at = 8 + seed % 15;
    const auto changes = find_change_points(series(seed, 30, at, 3));
    if (changes.empty()) continue;
    ++found;
    for (const ChangePoint& change : changes) near += change.at + 1 >= at && change.at <= at + 1 ? 1 : 0;
    exact_count += changes.size() == 1 ? 1 : 0;
  }
  CHECK(found == kSeries);
  CHECK(near >= kSeries * 95 / 100);
  CHECK(exact_count >= kSeries * 95 / 100);
}

TEST_CASE("a change is dated by the values, off centre and after the largest of the old ones too" *
          doctest::skip(test_stride() > 1)) {
  for (const std::size_t at : {12U, 20U, 24U}) {
    int found = 0, wrong = 0;
    for (std::uint64_t seed = 3; seed < 303; seed += 12) {
      const auto changes = find_change_points(series(seed, 30, at, 8));
      found += changes.size() == 1 ? 1 : 0;
      wrong += changes.size() == 1 && changes[0].at != at ? 1 : 0;
    }
    CHECK(found >= 24);
    CHECK(wrong == 0);
  }
  std::vector<double> values(20, 100);
  for (std::size_t i = 0; i < 10; ++i) values[i] += 0.1 * static_cast<double>(i), values[i + 10] += 60;
  values[6] = 900;  // an outlier moves it by nothing
  const auto changes = find_change_points(values);
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].at == 10);
}

TEST_CASE("several changes, steps down, and the levels between them") {
  std::vector<double> values;
  for (const double level : {10.0, 12.0, 9.0}) {
    for (int i = 0; i < 15; ++i) values.push_back(level + 0.01 * (i % 3));
  }
  const auto changes = find_change_points(values);
  REQUIRE(changes.size() == 2);
  CHECK(as_row(changes[0].at, changes[1].at) == "15 30");
  CHECK(changes[0].before == doctest::Approx(10.01));
  CHECK(changes[0].after == doctest::Approx(12.01));
  CHECK(changes[1].after == doctest::Approx(9.01));
  CHECK_FALSE((changes[0].steady || changes[1].steady));
  // What came and went: no split of all values shows it.
  for (const std::size_t length : {8U, 10U}) {
    values.assign(30, 100);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] += 0.1 * static_cast<double>(i * 7 % 5) + (i >= 10 && i < 10 + length ? 5 : 0);
    const auto window = find_change_points(values);
    REQUIRE(window.size() == 2);
    CHECK(as_row(window[0].at, window[1].at) == as_row(std::size_t{10}, 10 + length));
  }
  // Of 6 of 30 wherever it lies, and mirrored: p is 0.003, which few orders put on either side of 0.005.
  for (const std::size_t at : {4U, 9U, 16U, 19U}) {
    for (const double sign : {1.0, -1.0}) {
      values.assign(30, 100);
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] += sign * (0.1 * static_cast<double>(i * 7 % 30) + (i >= at && i < at + 6 ? 5 : 0));
      CHECK(find_change_points(values).size() == 2);
    }
  }
  values.clear();
  for (int i = 0; i < 60; ++i) values.push_back(9 + 0.1 * i + 0.01 * (i % 3));
  const auto rising = find_change_points(values);
  REQUIRE(rising.size() == 1);
  CHECK(rising.back().steady);
  CHECK(rising.back().after == doctest::Approx(14.9).epsilon(0.01));
}

TEST_CASE("an outlier is no change, nor is a series too short or all equal") {
  std::vector<double> values(20, 5.0);
  CHECK(find_change_points(values).empty());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += 0.001 * static_cast<double>(i * 7 % 5);
  values[10] = 500;
  CHECK(find_change_points(values).empty());
  CHECK(find_change_points(std::vector<double>{1, 2, 3, 9, 9}).empty());
  CHECK(find_change_points({}).empty());
}

TEST_CASE("fewer values than can show a change") {
  CHECK(least_values({}) == 10);
  CHECK(least_values({0.2, 3}) == 6);
  std::vector<double> values = {1, 1.1, 1.2, 1.3, 9, 9.1, 9.2, 9.3};
  CHECK(find_change_points(values).empty());
  values = {1, 1.1, 1.2, 1.3, 1.4, 9, 9.1, 9.2, 9.3, 9.4};
  CHECK(find_change_points(values).size() == 1);
}

TEST_CASE("newest values of another level are a change, or told to be too few for one" *
          doctest::skip(test_stride() > 1)) {
  for (const std::size_t n : {10U, 11U, 12U, 14U, 24U, 40U}) {
    for (std::size_t bad = 1; bad <= n / 2; ++bad) {
      const std::vector<CatalogueEntry> entries(n);
      std::vector<TrendRun> runs;
      for (const CatalogueEntry& entry : entries) runs.push_back({&entry});
      const auto found = make_trends(runs, {}, [&](const std::string& phase, std::span<const TrendRun>) {
        std::vector<TrendValue> out;
        for (std::size_t i = 0; i < n; ++i)
          out.push_back({(i + bad < n ? 100 : 140) + (i + bad + 1 == n ? 1 : 0.1 * static_cast<double>(i * 7 % 5))});
        return TrendLevels{{phase, out}};
      });
      REQUIRE(found.size() == 1);
      if (found[0].changes.empty()) CHECK(found[0].newest == bad);
      CHECK((!found[0].changes.empty() || found[0].newest > 0));
    }
  }
}

TEST_CASE("values that stand out of a long level are told, the furthest first") {
  const auto apart = [](std::size_t n, std::vector<std::pair<std::size_t, double>> off) {
    const std::vector<CatalogueEntry> entries(n);
    std::vector<TrendRun> runs;
    for (const CatalogueEntry& entry : entries) runs.push_back({&entry});
    const auto found = make_trends(runs, {}, [&](const std::string& phase, std::span<const TrendRun>) {
      std::vector<TrendValue> out;
      for (std::size_t i = 0; i < n; ++i) out.push_back({100 + 0.1 * static_cast<double>(i * 7 % 5)});
      for (const auto& [at, by] : off) *out[at].value += by;
      return TrendLevels{{phase, out}};
    });
    return as_row(found.at(0).apart, found[0].changes.size(), found[0].newest);
  };
  CHECK(apart(14, {}) == "[] 0 0");
  CHECK(apart(14, {{6, 50}}) == "[6] 0 0");
  CHECK(apart(14, {{5, 20}, {6, 21}, {7, -30}, {8, 20}}) == "[7, 6, 8, 5] 0 0");
  CHECK(apart(14, {{5, 0.9}}) == "[] 0 0");  // not by 1 %
  CHECK(apart(14, {{5, 20}, {13, 60}}) == "[5] 0 1");
  CHECK(apart(9, {{4, 50}}) == "[] 0 0");  // too short
  std::vector<std::pair<std::size_t, double>> level = {{4, 60}};
  for (std::size_t i = 12; i < 24; ++i) level.emplace_back(i, i == 20 ? 90 : 40);
  CHECK(apart(24, level) == "[4, 20] 1 0");
}

TEST_CASE("the same series gives the same answer, and its mirror image the mirrored one") {
  auto values = series(7, 30, 12, 4);
  const auto first = find_change_points(values);
  const auto again = find_change_points(values);
  REQUIRE(first.size() == again.size());
  REQUIRE_FALSE(first.empty());
  CHECK(first[0].p == again[0].p);
  for (double& value : values) value = -value;
  const auto mirrored = find_change_points(values);
  REQUIRE(mirrored.size() == first.size());
  CHECK(mirrored[0].at == first[0].at);
}

}  // namespace
}  // namespace tracedb
