#include "passes/columns/distribution.h"

#include <algorithm>

namespace tracedb {
namespace {

// Each selection works on what the one before left above its place.
void describe(std::span<std::int64_t> values, Distribution& out) {
  if (values.empty()) return;
  const auto at = [&](std::size_t place) { return values.begin() + static_cast<std::ptrdiff_t>(place); };
  const std::size_t middle = values.size() / 2;
  std::nth_element(values.begin(), at(middle), values.end());
  out.median = static_cast<double>(*at(middle));
  if (values.size() % 2 == 0) {
    out.median = (out.median + static_cast<double>(*std::max_element(values.begin(), at(middle)))) / 2;
  }
  const std::size_t rank = (values.size() * 99 + 99) / 100 - 1;
  if (rank > middle) std::nth_element(at(middle + 1), at(rank), values.end());
  out.p99 = *at(rank);
  out.max = *std::max_element(at(rank), values.end());
}

}  // namespace

std::vector<Distribution> distributions(std::span<const std::int64_t> values, std::span<const GroupId> group,
                                        std::size_t groups) {
  std::vector<Distribution> out(groups);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (group[i] == kNoGroup) continue;
    ++out[group[i]].count;
    out[group[i]].total = bounded_add(out[group[i]].total, values[i]);
  }
  std::vector<std::size_t> begin(groups + 1, 0);
  for (std::size_t g = 0; g < groups; ++g) begin[g + 1] = begin[g] + static_cast<std::size_t>(out[g].count);
  std::vector<std::int64_t> sorted(begin[groups]);
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (group[i] != kNoGroup) sorted[next[group[i]]++] = values[i];
  }
  for (std::size_t g = 0; g < groups; ++g) {
    describe(std::span(sorted).subspan(begin[g], begin[g + 1] - begin[g]), out[g]);
  }
  return out;
}

}  // namespace tracedb
