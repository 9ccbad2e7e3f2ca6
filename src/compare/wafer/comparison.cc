#include "compare/wafer/comparison.h"

#include "passes/columns/group_stats.h"

namespace tracedb::wafer {
namespace {

TraceSums sums_of(const Trace& trace, const LayerMap& layers, PhaseFilter filter) {
  TraceSums sums;
  sums.layers = layers.size();
  for (const Kernel& kernel : trace.kernels) {
    if (!passes(filter, kernel)) continue;
    ++sums.kernels;
    sums.total = bounded_add(sums.total, kernel.dur);
  }
  return sums;
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

}  // namespace tracedb::wafer
