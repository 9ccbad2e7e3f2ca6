// The distribution of values within groups: the part of group_stats.h that needs no times. Pure, linear.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "passes/columns/group_stats.h"

namespace tracedb {

struct Distribution {
  std::int64_t count = 0;
  std::int64_t total = 0;  // at most 2^63 - 1
  double median = 0;       // mean of the middle one or two
  std::int64_t p99 = 0;    // nearest rank
  std::int64_t max = 0;
};

// By group id, `groups` of them, of values that are not negative. kNoGroup is left out.
std::vector<Distribution> distributions(std::span<const std::int64_t> values, std::span<const GroupId> group,
                                        std::size_t groups);

}  // namespace tracedb
