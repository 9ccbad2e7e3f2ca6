#include "compare/wafer/read_device.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/decimal.h"

namespace tracedb::wafer {
namespace {

constexpr double kGigabyte = 1024.0 * 1024 * 1024;
constexpr double kKilobyte = 1024;

// Texts of JSON that are no version.
constexpr std::array<std::string_view, 7> kFalse = {"null", "false", "0", "0.0", "\"\"", "[]", "{}"};

// A member of the first listed device; nothing where there is none.
std::optional<std::string> listed(const Index& index, const char* member) {
  Statement statement(index.database(),
                      "SELECT CASE WHEN json_valid(value) THEN json_extract(value, '$[0].' || ?) END "
                      "FROM meta WHERE key = 'trace.deviceProperties'");
  statement.bind(1, std::string_view(member));
  if (!statement.step() || statement.is_null(0)) return std::nullopt;
  return std::string(statement.text(0));
}

std::int64_t listed_number(const Index& index, const char* member, std::int64_t otherwise) {
  return parse_integral(listed(index, member).value_or("")).value_or(otherwise);
}

}  // namespace

Platform platform_of(const Index& index) {
  const std::string version = index.meta("trace.roctracer_version").value_or("null");
  const bool has_version = std::find(kFalse.begin(), kFalse.end(), version) == kFalse.end();
  return has_version || listed_number(index, "warpSize", 0) == 64 ? Platform::kAmd : Platform::kNvidia;
}

Device read_device(const Index& index) {
  const char* unnamed = platform_of(index) == Platform::kAmd ? "MI300X" : "Unknown GPU";
  Device device;
  device.name = listed(index, "name").value_or(unnamed);
  device.compute_capability =
      listed(index, "computeMajor").value_or("0") + '.' + listed(index, "computeMinor").value_or("0");
  device.total_memory_gb = static_cast<double>(listed_number(index, "totalGlobalMem", 0)) / kGigabyte;
  device.sm_count = listed_number(index, "numSms", 0);
  device.warp_size = listed_number(index, "warpSize", device.warp_size);
  device.max_threads_per_block = listed_number(index, "maxThreadsPerBlock", 0);
  device.shared_mem_per_block_kb = static_cast<double>(listed_number(index, "sharedMemPerBlock", 0)) / kKilobyte;
  return device;
}

}  // namespace tracedb::wafer
