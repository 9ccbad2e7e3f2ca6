// A profile that is a CSV table of kernels: kernel_details.csv and op_summary_*.csv of Ascend's profilers, told by
// their columns, not by their names. Read front to back, without an index.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "ascend/profile_side.h"

namespace tracedb {

// Whether the file begins with the heads of such a table. Throws Error{kInput} where it cannot be read.
bool is_profile_table(const std::filesystem::path& path);

struct ProfileTable {
  ProfileSide side;
  std::map<std::string, std::int64_t> problems;  // what was wrong with rows, and with how many
};
// Durations that are no number are unknown, as are starts; rows without type and name are skipped.
ProfileTable read_profile_table(const std::filesystem::path& path, KeyBy key, const DuplicatePolicy& policy);

}  // namespace tracedb
