// What a profile measured: its kernels, summed by type, and by shapes of the inputs where that is asked for.
//
// Some profiles have a collective twice, on a stream of the hardware and on one of the host's ("N/A"): duplicates count
// once, with the longer duration. Kernels of the AI CPU ("*AicpuKernel") work beside others and are left out. Figures
// are sums over devices.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "ascend/model_side.h"
#include "index/index.h"

namespace tracedb {

enum class DuplicateRule {
  kWindow,    // start within a window, on another stream, and are not named as different ones
  kTruncate,  // start within the same microsecond, as msmodeling has it
  kName,      // have the same name and overlap in time
  kNone,      // are none
};

struct DuplicatePolicy {
  DuplicateRule rule = DuplicateRule::kWindow;
  std::int64_t window_ns = 500;
};
std::optional<DuplicatePolicy> duplicate_policy_from(
    std::string_view text);  // "window=500ns", "trunc-us", "name", "none"

struct ProfileTotal {
  std::int64_t ns = 0;
  std::int64_t count = 0;
};

struct ProfileSide {
  std::map<OperatorKey, ProfileTotal> totals;
  std::int64_t kernels = 0;  // rows of the profile, those below included
  std::int64_t duplicates = 0, duplicate_ns = 0;
  std::int64_t aicpu = 0, aicpu_ns = 0;
  std::int64_t unknown_durations = 0;  // counted with 0 ns
  std::int64_t busy_ns = 0;            // length of the union of what is counted, device by device
  std::int64_t devices = 0;            // whose work is in the totals, as is that of no known device
  // Left out: devices with less than 5 % of the time of the busiest one.
  std::int64_t idle_devices = 0, idle_device_ns = 0;
};

ProfileSide read_profile_side(const Index& index, KeyBy key, const DuplicatePolicy& policy);

// A profile that is a CSV table of kernels: kernel_details.csv and op_summary_*.csv of Ascend's profilers, told by
// their columns, not by their names. Read front to back, without an index.

// Whether the file begins with the heads of such a table. Throws Error{kInput} where it cannot be read.
bool is_profile_table(const std::filesystem::path& path);

struct ProfileTable {
  ProfileSide side;
  std::map<std::string, std::int64_t> problems;  // what was wrong with rows, and with how many
};
// Durations that are no number are unknown, as are starts; rows without type and name are skipped.
ProfileTable read_profile_table(const std::filesystem::path& path, KeyBy key, const DuplicatePolicy& policy);

}  // namespace tracedb
