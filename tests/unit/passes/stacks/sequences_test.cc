#include "passes/stacks/sequences.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <map>
#include <random>
#include <string>

#include "base/unknown.h"

namespace tracedb {
namespace {

struct Kernels {
  std::vector<std::int64_t> dur;
  std::vector<std::uint32_t> stream, label;
  [[nodiscard]] LabelledKernels view() const { return {dur, stream, label}; }
};

std::string text(const std::vector<SequenceStats>& found) {
  std::string out;
  for (const SequenceStats& one : found) {
    out += fmt::format("{} x{} {}; ", fmt::join(one.labels, "-"), one.count, one.total);
  }
  return out;
}

}  // namespace

TEST_CASE("what repeats is found, largest first") {
  const Kernels kernels{{1, 2, 9, 1, 2, 9, 1, 2}, std::vector<std::uint32_t>(8, 1), {5, 6, 7, 5, 6, 7, 5, 6}};
  CHECK(text(find_sequences(kernels.view(), 2, 2)) == "6-7 x2 22; 7-5 x2 20; 5-6 x3 9; ");
  CHECK(text(find_sequences(kernels.view(), 3, 2)) == "5-6-7 x2 24; 6-7-5 x2 24; 7-5-6 x2 24; ");
  CHECK(find_sequences(kernels.view(), 9, 1).empty());
}

TEST_CASE("a run of one kernel counts without overlap") {
  const Kernels kernels{{1, 1, 1, 1, 1}, std::vector<std::uint32_t>(5, 1), {3, 3, 3, 3, 3}};
  CHECK(text(find_sequences(kernels.view(), 2, 1)) == "3-3 x2 4; ");
}

TEST_CASE("streams do not mix, but count together") {
  const Kernels kernels{{1, 10, 1, 10}, {1, 2, 1, 2}, {5, 5, 6, 6}};
  CHECK(text(find_sequences(kernels.view(), 2, 1)) == "5-6 x2 22; ");
}

TEST_CASE("kernels that are not selected are passed over, unknown durations add nothing") {
  const Kernels kernels{{1, 100, kUnknownValue}, {1, 1, 1}, {5, kNoLabel, 6}};
  const auto found = find_sequences(kernels.view(), 2, 1);
  CHECK(text(found) == "5-6 x1 1; ");
}

TEST_CASE("the same as counting by hand") {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    Kernels kernels;
    for (auto n = random() % 60; n > 0; --n) {
      kernels.dur.push_back(static_cast<std::int64_t>(random() % 9));
      kernels.stream.push_back(1 + static_cast<std::uint32_t>(random() % 2));
      kernels.label.push_back(static_cast<std::uint32_t>(random() % 3));
    }
    const std::size_t length = 1 + random() % 4;
    std::map<std::vector<std::uint32_t>, std::pair<std::int64_t, std::int64_t>> expected;
    for (std::uint32_t stream = 1; stream <= 2; ++stream) {
      std::vector<std::size_t> own;
      for (std::size_t i = 0; i < kernels.dur.size(); ++i) {
        if (kernels.stream[i] == stream) own.push_back(i);
      }
      std::map<std::vector<std::uint32_t>, std::size_t> free_from;
      for (std::size_t at = 0; at + length <= own.size(); ++at) {
        std::vector<std::uint32_t> labels;
        std::int64_t total = 0;
        for (std::size_t k = at; k < at + length; ++k) {
          labels.push_back(kernels.label[own[k]]);
          total += kernels.dur[own[k]];
        }
        if (free_from[labels] > at) continue;
        free_from[labels] = at + length;
        ++expected[labels].first;
        expected[labels].second += total;
      }
    }
    const auto found = find_sequences(kernels.view(), length, 1);
    REQUIRE(found.size() == expected.size());
    for (const SequenceStats& one : found) {
      CHECK(std::pair(one.count, one.total) == expected[one.labels]);
    }
  }
}

}  // namespace tracedb
