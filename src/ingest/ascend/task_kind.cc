#include "ingest/ascend/task_kind.h"

#include <algorithm>
#include <array>

#include "base/text/decimal.h"

namespace tracedb {
namespace {

struct Level {
  std::string_view name, prefix;
};
constexpr std::array<Level, 6> kLevels = {{{"acl", "AscendCL@"},
                                           {"node", "Node@"},
                                           {"hccl", "Hccl@"},
                                           {"communication", "Communication@"},
                                           {"model", "Model@"},
                                           {"runtime", "Runtime@"}}};

// Types of tasks on cores that compute; the profiler writes "Other" where it does not know.
constexpr std::array<std::string_view, 12> kComputeTypes = {
    "AI_CORE", "AI_VECTOR_CORE", "AIV",   "MIX_AIC",       "MIX_AIV",      "AI_CPU",
    "DSA_SQE", "FFTS_PLUS",      "Other", "KERNEL_AICORE", "KERNEL_AIVEC", "KERNEL_AICPU"};
// Tasks that the runtime itself names.
constexpr std::array<std::string_view, 14> kRuntimeTasks = {
    "EVENT_",  "NOTIFY_", "PROFILING_", "PLACE_HOLDER", "KERNEL_AICORE", "KERNEL_AIVEC", "KERNEL_AICPU",
    "STREAM_", "MODEL_",  "SDMA",       "RDMA",         "Notify ",       "Write Value",  "MAINTENANCE"};

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

bool is_compute_task(std::string_view task_type, std::string_view name) {
  const auto begins = [name](std::string_view prefix) { return name.starts_with(prefix); };
  return std::find(kComputeTypes.begin(), kComputeTypes.end(), task_type) != kComputeTypes.end() &&
         std::none_of(kRuntimeTasks.begin(), kRuntimeTasks.end(), begins);
}

std::string_view operation_type(std::string_view task_name) {
  constexpr std::string_view kConversion = "trans_";
  const std::size_t last = task_name.rfind('_');
  if (task_name.starts_with("aclnn") && std::count(task_name.begin(), task_name.end(), '_') >= 2 &&
      last + 1 < task_name.size() && !is_digits(task_name.substr(last + 1))) {
    return task_name.substr(last + 1);
  }
  const bool converts = task_name.starts_with(kConversion) && last != std::string_view::npos &&
                        last > kConversion.size() && is_digits(task_name.substr(last + 1));
  return converts ? task_name.substr(kConversion.size(), last - kConversion.size()) : task_name;
}

std::string cann_call_name(std::string_view level, std::string_view call) {
  const auto found =
      std::find_if(kLevels.begin(), kLevels.end(), [level](const Level& known) { return known.name == level; });
  return std::string(found == kLevels.end() ? "" : found->prefix).append(call);
}

std::optional<HcomName> parse_hcom_name(std::string_view name) {
  constexpr std::string_view kPrefix = "hcom_";
  const std::size_t separator = name.find("__");
  if (!is_hcom(name) || separator == std::string_view::npos || separator <= kPrefix.size()) return std::nullopt;
  HcomName out;
  out.type = name.substr(0, separator + 1);
  out.operation = name.substr(kPrefix.size(), separator - kPrefix.size());
  const std::string_view rest = name.substr(separator + 2);
  const std::size_t group_end = rest.find('_');
  if (group_end == std::string_view::npos) return std::nullopt;
  out.group = rest.substr(0, group_end);
  const std::string_view behind = rest.substr(group_end + 1);
  const auto sequence = parse_int64(behind.substr(0, behind.find('_')));
  if (!sequence || *sequence < 0) return std::nullopt;
  out.sequence = *sequence;
  return out;
}

}  // namespace tracedb
