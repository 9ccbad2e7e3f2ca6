#include "ingest/kineto/event_category.h"

#include <algorithm>
#include <array>

namespace tracedb {
namespace {

struct Entry {
  std::string_view name;
  EventCategory category;
};

constexpr std::array<Entry, 17> kCategories = {{
    {"kernel", EventCategory::kKernel},
    {"Kernel", EventCategory::kKernel},
    {"gpu_memcpy", EventCategory::kMemcpy},
    {"Memcpy", EventCategory::kMemcpy},
    {"gpu_memset", EventCategory::kMemset},
    {"Memset", EventCategory::kMemset},
    {"cpu_op", EventCategory::kOperator},
    {"Operator", EventCategory::kOperator},
    {"cuda_runtime", EventCategory::kCall},
    {"cuda_driver", EventCategory::kCall},
    {"Runtime", EventCategory::kCall},
    {"xpu_runtime", EventCategory::kCall},
    {"privateuse1_runtime", EventCategory::kCall},
    {"privateuse1_driver", EventCategory::kCall},
    {"python_function", EventCategory::kPython},
    {"user_annotation", EventCategory::kAnnotation},
    {"gpu_user_annotation", EventCategory::kGpuAnnotation},
}};

}  // namespace

EventCategory event_category(std::string_view name) {
  const auto found =
      std::find_if(kCategories.begin(), kCategories.end(), [name](const Entry& entry) { return entry.name == name; });
  return found == kCategories.end() ? EventCategory::kOther : found->category;
}

}  // namespace tracedb
