// The profile as generate_op_comparison.py of msmodeling sums it up, its faults included.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace tracedb::msmodeling {

struct ProfileTotal {
  double us = 0;
  std::int64_t count = 0;
};
using ProfileTotals = std::map<std::string, ProfileTotal, std::less<>>;  // by kernel type

// Rows of collectives ("hcom_...") of one type that start in the same microsecond, as a binary64 has it, are one: the
// longest. Throws Error{kInput}.
ProfileTotals read_profile(const std::string& path);

}  // namespace tracedb::msmodeling
