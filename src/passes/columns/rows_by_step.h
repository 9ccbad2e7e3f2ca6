// Rows of kernels by step, in time order within each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "base/large_vector.h"

namespace tracedb {

// Those of step s (a place + 1; 0: in none) are [begin[s], begin[s + 1]) of `rows`.
struct RowsByStep {
  LargeVector<std::uint32_t> rows;
  std::vector<std::size_t> begin;

  RowsByStep(std::span<const std::uint32_t> step, std::size_t steps) : rows(step.size()), begin(steps + 2, 0) {
    for_each_run(step, [&](std::size_t s, std::uint32_t first, std::uint32_t last) { begin[s + 1] += last - first; });
    for (std::size_t s = 1; s < begin.size(); ++s) begin[s] += begin[s - 1];
    std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
    for_each_run(step, [&](std::size_t s, std::uint32_t first, std::uint32_t last) {
      std::iota(&rows[next[s]], &rows[next[s]] + (last - first), first);
      next[s] += last - first;
    });
  }
  [[nodiscard]] std::span<std::uint32_t> of(std::size_t step) {
    return std::span(rows).subspan(begin[step], begin[step + 1] - begin[step]);
  }

 private:
  // Calls run(step, first row, row behind the last): the kernels of a step mostly follow each other.
  template <class Run>
  static void for_each_run(std::span<const std::uint32_t> step, Run run) {
    for (std::uint32_t first = 0; first < step.size();) {
      std::uint32_t last = first + 1;
      while (last < step.size() && step[last] == step[first]) ++last;
      run(step[first], first, last);
      first = last;
    }
  }
};

}  // namespace tracedb
