#include "compare/wafer/comparison.h"

#include <algorithm>

#include "base/text/characters.h"
#include "base/unknown.h"

namespace tracedb::wafer {
namespace {

TraceSums sums_of(const Trace& trace, const LayerMap& layers, PhaseFilter filter) {
  TraceSums sums;
  sums.layers = layers.size();
  for (const Kernel& kernel : trace.kernels) {
    if (!passes(filter, kernel)) continue;
    ++sums.kernels;
    sums.total = saturating_add(sums.total, kernel.dur);
  }
  return sums;
}

constexpr std::size_t kManyKernels = 100;
constexpr double kManyUnknown = 0.2;

constexpr Warning kNoPhases = {"NO_PHASE_ANNOTATIONS", "warning",
                               "no annotation execute_context...: every kernel counts as decode"};
constexpr Warning kNoStacks = {"NO_PYTHON_STACKS", "info", "no python functions were recorded"};
constexpr Warning kUnknownKernels = {"HIGH_UNKNOWN_KERNELS", "warning",
                                     "more than a fifth of the kernels is named 'unknown' or 'Other'"};
constexpr Warning kNoLayers = {"LAYER_DETECTION_FAILED", "warning", "no layers in more than 100 kernels"};

// It looks for the words in names, not classes, so this all but never holds.
bool many_unknown(const Trace& trace) {
  std::vector<bool> unknown_name;
  for (const KernelName& name : trace.names) {
    unknown_name.push_back(name.text == "Other" || contains(name.lower, "unknown"));
  }
  const auto is_unknown = [&](const Kernel& kernel) { return bool{unknown_name[kernel.name]}; };
  const auto unknown = std::ranges::count_if(trace.kernels, is_unknown);
  return static_cast<double>(unknown) > kManyUnknown * static_cast<double>(trace.kernels.size());
}

}  // namespace

Comparison compare(const Trace& first, const Trace& second, PhaseFilter filter) {
  const LayerMap first_layers = find_layers(first);
  const LayerMap second_layers = find_layers(second);
  Comparison out;
  out.first = sums_of(first, first_layers, filter);
  out.second = sums_of(second, second_layers, filter);
  out.architecture = architecture_of(first, second);
  out.operations = compare_operations(first, second, filter);
  out.layers = compare_layers(first, first_layers, second, second_layers, filter);
  out.alignment = align(first, second);
  out.fusions = find_fusions(first, second);
  out.same_kernels = find_same_kernels(out.alignment, first, second);
  out.warnings = join(warnings_of(first, first_layers), warnings_of(second, second_layers));
  return out;
}

std::vector<Warning> warnings_of(const Trace& trace, const LayerMap& layers) {
  std::vector<Warning> warnings;
  if (trace.passes.empty()) warnings.push_back(kNoPhases);
  if (!trace.has_python) warnings.push_back(kNoStacks);
  if (many_unknown(trace)) warnings.push_back(kUnknownKernels);
  if (layers.size() == 0 && trace.kernels.size() > kManyKernels) warnings.push_back(kNoLayers);
  return warnings;
}

std::vector<Warning> join(std::vector<Warning> first, const std::vector<Warning>& second) {
  for (const Warning& warning : second) {
    const auto has_code = [&](const Warning& known) { return known.code == warning.code; };
    if (std::ranges::none_of(first, has_code)) first.push_back(warning);
  }
  return first;
}

}  // namespace tracedb::wafer
