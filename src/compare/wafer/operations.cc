#include "compare/wafer/operations.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <set>

#include "base/unknown.h"

namespace tracedb::wafer {
namespace {

constexpr std::array<std::string_view, 5> kStatusNames = {"similar", "slower", "faster", "baseline_only",
                                                          "candidate_only"};
constexpr std::int64_t kSimilarGap = 5'000'000;  // ns
constexpr const char* kNorm = "RMSNorm";
constexpr const char* kNormGemm = "RMSNorm+GEMM";

struct PhaseTotal {
  std::int64_t count = 0, total = 0;
};
// By phase.
using NamePhases = std::array<PhaseTotal, 2>;

std::vector<NamePhases> totals_of_names(const Trace& trace) {
  std::vector<NamePhases> totals(trace.names.size());
  for (const Kernel& kernel : trace.kernels) {
    PhaseTotal& total = totals[kernel.name][static_cast<std::size_t>(kernel.phase)];
    ++total.count;
    total.total = saturating_add(total.total, kernel.dur);
  }
  return totals;
}

// What is known of an operation before it is a record.
struct Gathered {
  OperationSide side;
  std::array<std::set<std::string>, 2> patterns;  // by phase, of all kernels
  std::map<std::string, std::int64_t> cpu_ops;
};

void add_name(Gathered& op, const KernelName& name, std::uint32_t position, const NamePhases& totals,
              PhaseFilter filter) {
  NameTotal sum{position, 0, 0};
  for (const Phase phase : {Phase::kPrefill, Phase::kDecode}) {
    const PhaseTotal& total = totals[static_cast<std::size_t>(phase)];
    if (total.count == 0) continue;
    op.patterns[static_cast<std::size_t>(phase)].insert(name.pattern);
    if (filter && *filter != phase) continue;
    sum.count += total.count;
    sum.total = saturating_add(sum.total, total.total);
    (phase == Phase::kPrefill ? op.side.prefill : op.side.decode) = true;
  }
  if (sum.count == 0) return;
  op.side.count += sum.count;
  op.side.total = saturating_add(op.side.total, sum.total);
  op.side.kernels.push_back(sum);
  if (!name.cpu_op.empty()) op.cpu_ops[name.cpu_op] += sum.count;
}

void finish(Gathered& op, const std::vector<KernelName>& names) {
  for (const Phase phase : {Phase::kDecode, Phase::kPrefill}) {
    const auto& patterns = op.patterns[static_cast<std::size_t>(phase)];
    if (patterns.empty()) continue;
    op.side.pattern = *patterns.begin();
    break;
  }
  std::int64_t most = 0;
  for (const auto& [name, count] : op.cpu_ops) {
    if (count > most) op.side.cpu_op = name;
    most = std::max(most, count);
  }
  std::ranges::sort(op.side.kernels, [&](const NameTotal& a, const NameTotal& b) {
    return a.total != b.total ? a.total > b.total : names[a.name].text < names[b.name].text;
  });
}

// Only operations that have kernels.
std::map<std::string, OperationSide> operations_of(const Trace& trace, PhaseFilter filter) {
  const std::vector<NamePhases> totals = totals_of_names(trace);
  std::map<std::string, Gathered> gathered;
  for (std::size_t i = 0; i < trace.names.size(); ++i) {
    add_name(gathered[trace.names[i].op], trace.names[i], static_cast<std::uint32_t>(i), totals[i], filter);
  }
  std::map<std::string, OperationSide> operations;
  for (auto& [name, op] : gathered) {
    if (op.side.count == 0) continue;
    finish(op, trace.names);
    operations.emplace(name, std::move(op.side));
  }
  return operations;
}

Status status_of(std::int64_t gap) {
  if (gap > kSimilarGap) return Status::kSlower;
  return gap < -kSimilarGap ? Status::kFaster : Status::kSimilar;
}

OperationRecord record_of(const std::string& operation, const OperationSide& first, const OperationSide& second) {
  OperationRecord record{operation, first, second, 1, first.total - second.total, Status::kSimilar};
  if (second.total != 0) record.ratio = mean(first.total, first.count) / mean(second.total, second.count);
  record.status = status_of(record.gap);
  return record;
}

const OperationSide* find(const std::map<std::string, OperationSide>& operations, const std::string& name) {
  const auto found = operations.find(name);
  return found == operations.end() ? nullptr : &found->second;
}

constexpr std::int64_t kSimilarLayerGap = 100'000;  // ns
constexpr double kSimilarLayerRatio = 1.2;

// By layer.
std::vector<LayerSide> layer_sums_of(const Trace& trace, const LayerMap& layers, PhaseFilter filter) {
  std::vector<LayerSide> sums;
  if (layers.size() == 0) return sums;
  for (const Kernel& kernel : trace.kernels) {
    const auto layer = passes(filter, kernel) ? layers.layer_of(kernel) : std::nullopt;
    if (!layer) continue;
    if (*layer >= sums.size()) sums.resize(*layer + std::size_t{1});
    LayerSide& sum = sums[*layer];
    ++sum.kernels;
    sum.total = saturating_add(sum.total, kernel.dur);
  }
  return sums;
}

void compare_both(LayerRecord& record) {
  record.in_both = true;
  const auto first = static_cast<double>(record.first.total);
  const auto second = static_cast<double>(record.second.total);
  record.ratio = record.second.total == 0 ? 1 : first / second;
  if (record.gap > kSimilarLayerGap && record.ratio > kSimilarLayerRatio) record.status = Status::kSlower;
  if (record.gap < -kSimilarLayerGap && record.ratio < 1 / kSimilarLayerRatio) record.status = Status::kFaster;
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

std::string_view to_string(Status status) { return kStatusNames[static_cast<std::size_t>(status)]; }

std::vector<OperationRecord> compare_operations(const Trace& first, const Trace& second, PhaseFilter filter) {
  const auto of_first = operations_of(first, filter);
  const auto of_second = operations_of(second, filter);
  std::set<std::string> names;
  for (const auto& [name, side] : of_first) names.insert(name);
  for (const auto& [name, side] : of_second) names.insert(name);
  std::vector<OperationRecord> records;
  for (const std::string& name : names) {
    const OperationSide* a = find(of_first, name);
    const OperationSide* b = find(of_second, name);
    // Both can hold for one pair of totals, which is then listed twice.
    if (a == nullptr && name == kNorm) a = find(of_first, kNormGemm);
    if (b == nullptr && name == kNormGemm) b = find(of_second, kNorm);
    if (a != nullptr && b != nullptr) records.push_back(record_of(name, *a, *b));
  }
  std::ranges::stable_sort(records, std::ranges::greater(), [](const auto& record) { return std::abs(record.gap); });
  return records;
}

std::vector<LayerRecord> compare_layers(const Trace& first, const LayerMap& first_layers, const Trace& second,
                                        const LayerMap& second_layers, PhaseFilter filter) {
  std::vector<LayerSide> of_first = layer_sums_of(first, first_layers, filter);
  std::vector<LayerSide> of_second = layer_sums_of(second, second_layers, filter);
  of_first.resize(std::max(of_first.size(), of_second.size()));
  of_second.resize(of_first.size());
  std::vector<LayerRecord> records;
  for (std::size_t i = 0; i < of_first.size(); ++i) {
    if (of_first[i].kernels == 0 && of_second[i].kernels == 0) continue;
    records.push_back(record_of(static_cast<std::uint32_t>(i), of_first[i], of_second[i]));
  }
  std::ranges::stable_sort(records, [](const LayerRecord& a, const LayerRecord& b) {
    if (a.in_both != b.in_both) return b.in_both;
    return std::abs(a.gap) > std::abs(b.gap);
  });
  return records;
}

}  // namespace tracedb::wafer
