#include "passes/classify/kernel_kind.h"

#include <algorithm>

#include "base/text/split.h"
#include "trace/kernel_name.h"

namespace tracedb {

KernelKind kind_of_class(std::string_view class_name) {
  constexpr std::string_view kCommunication = "communication";
  if (class_name == kCommunication) return KernelKind::kComm;
  const auto parts = split_text(class_name, '+');
  return std::ranges::find(parts, kCommunication) == parts.end() ? KernelKind::kCompute : KernelKind::kCommCompute;
}

KernelKinds::KernelKinds() : classifier_(default_rules()) {}

KernelKind KernelKinds::of(std::string_view name) {
  const std::string_view kernel = kernel_of_text(name);
  if (is_copy_kernel(kernel)) return KernelKind::kCopyKernel;
  const KernelKind kind = kind_of_class(classifier_.class_name(classifier_.classify(name).class_id));
  // The class names what the rules find in a fused name; what else it computes may be known by its function alone.
  return kind == KernelKind::kComm && also_computes(kernel) ? KernelKind::kCommCompute : kind;
}

}  // namespace tracedb
