// Rows of kernels by step, in time order within each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tracedb {

// Those of step s (a place + 1; 0: in none) are [begin[s], begin[s + 1]) of `rows`.
struct RowsByStep {
  std::vector<std::uint32_t> rows;
  std::vector<std::size_t> begin;

  RowsByStep(std::span<const std::uint32_t> step, std::size_t steps) : rows(step.size()), begin(steps + 2, 0) {
    for (const std::uint32_t s : step) ++begin[s + 1];
    for (std::size_t s = 1; s < begin.size(); ++s) begin[s] += begin[s - 1];
    std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
    for (std::uint32_t i = 0; i < step.size(); ++i) rows[next[step[i]]++] = i;
  }
  [[nodiscard]] std::span<std::uint32_t> of(std::size_t step) {
    return std::span(rows).subspan(begin[step], begin[step + 1] - begin[step]);
  }
};

}  // namespace tracedb
