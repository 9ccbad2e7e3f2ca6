#include "compare/wafer/layer_table.h"

#include <algorithm>
#include <cstdlib>

#include "passes/columns/group_stats.h"

namespace tracedb::wafer {
namespace {

constexpr std::int64_t kSimilarGap = 100'000;  // ns
constexpr double kSimilarRatio = 1.2;

// By layer.
std::vector<LayerSide> sums_of(const Trace& trace, const LayerMap& layers, PhaseFilter filter) {
  std::vector<LayerSide> sums;
  if (layers.size() == 0) return sums;
  for (const Kernel& kernel : trace.kernels) {
    const auto layer = passes(filter, kernel) ? layers.layer_of(kernel) : std::nullopt;
    if (!layer) continue;
    if (*layer >= sums.size()) sums.resize(*layer + std::size_t{1});
    LayerSide& sum = sums[*layer];
    ++sum.kernels;
    sum.total = bounded_add(sum.total, kernel.dur);
  }
  return sums;
}

void compare_both(LayerRecord& record) {
  record.in_both = true;
  const auto first = static_cast<double>(record.first.total);
  const auto second = static_cast<double>(record.second.total);
  record.ratio = record.second.total == 0 ? 1 : first / second;
  if (record.gap > kSimilarGap && record.ratio > kSimilarRatio) record.status = Status::kSlower;
  if (record.gap < -kSimilarGap && record.ratio < 1 / kSimilarRatio) record.status = Status::kFaster;
}

LayerRecord record_of(std::uint32_t layer, const LayerSide& first, const LayerSide& second) {
  LayerRecord record{layer, first, second, 0, first.total - second.total, Status::kSimilar, false};
  if (first.kernels > 0 && second.kernels > 0) {
    compare_both(record);
  } else {
    record.status = first.kernels > 0 ? Status::kFirstOnly : Status::kSecondOnly;
  }
  return record;
}

}  // namespace

std::vector<LayerRecord> compare_layers(const Trace& first, const LayerMap& first_layers, const Trace& second,
                                        const LayerMap& second_layers, PhaseFilter filter) {
  std::vector<LayerSide> of_first = sums_of(first, first_layers, filter);
  std::vector<LayerSide> of_second = sums_of(second, second_layers, filter);
  of_first.resize(std::max(of_first.size(), of_second.size()));
  of_second.resize(of_first.size());
  std::vector<LayerRecord> records;
  for (std::size_t i = 0; i < of_first.size(); ++i) {
    if (of_first[i].kernels == 0 && of_second[i].kernels == 0) continue;
    records.push_back(record_of(static_cast<std::uint32_t>(i), of_first[i], of_second[i]));
  }
  std::stable_sort(records.begin(), records.end(), [](const LayerRecord& a, const LayerRecord& b) {
    if (a.in_both != b.in_both) return b.in_both;
    return std::abs(a.gap) > std::abs(b.gap);
  });
  return records;
}

}  // namespace tracedb::wafer
