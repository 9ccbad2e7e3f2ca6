#include "compare/wafer/comparison.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <set>

#include "base/text/characters.h"
#include "base/text/numbered_texts.h"
#include "base/text/split.h"
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

// ---- operations and layers

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
  if (layers.empty()) return sums;
  for (const Kernel& kernel : trace.kernels) {
    const auto layer = passes(filter, kernel) ? layers.find(kernel.correlation) : layers.end();
    if (layer == layers.end()) continue;
    if (layer->second >= sums.size()) sums.resize(layer->second + std::size_t{1});
    LayerSide& sum = sums[layer->second];
    ++sum.kernels;
    sum.total = saturating_add(sum.total, kernel.dur);
  }
  return sums;
}

LayerRecord record_of(std::uint32_t layer, const LayerSide& first, const LayerSide& second) {
  LayerRecord record{layer, first, second, 0, first.total - second.total, Status::kSimilar, true};
  if (first.kernels == 0 || second.kernels == 0) {
    record.in_both = false;
    record.status = first.kernels > 0 ? Status::kFirstOnly : Status::kSecondOnly;
    return record;
  }
  record.ratio = second.total == 0 ? 1 : static_cast<double>(first.total) / static_cast<double>(second.total);
  if (record.gap > kSimilarLayerGap && record.ratio > kSimilarLayerRatio) record.status = Status::kSlower;
  if (record.gap < -kSimilarLayerGap && record.ratio < 1 / kSimilarLayerRatio) record.status = Status::kFaster;
  return record;
}

// ---- fusion

constexpr const char* kOther = "Other";
constexpr std::int64_t kFewestInSequence = 5;
constexpr double kShareInSequence = 0.8;
constexpr std::int64_t kFewestInBoth = 50;
constexpr double kImbalance = 1.5;
constexpr std::size_t kNamesShown = 3;

struct OpCalls {
  std::int64_t count = 0;
  std::map<std::string, std::int64_t> before;  // operation of the kernel before: how often
  std::vector<std::string> names;              // in order of time, at most kNamesShown
};
using Ops = std::map<std::string, OpCalls>;

Ops calls_of(const Trace& trace) {
  NumberedTexts numbered;  // operations, for the pass over all kernels
  std::vector<std::size_t> op_of_name;
  for (const KernelName& name : trace.names) op_of_name.push_back(numbered.number(name.side_op));
  const std::vector<std::string>& op_names = numbered.all();
  const std::size_t n = op_names.size();
  std::vector<std::int64_t> counts(n), before(n * n);
  std::vector<std::vector<std::string>> names(n);
  std::vector<bool> seen(trace.names.size());
  std::size_t last = n;
  for (const Kernel& kernel : trace.kernels) {
    const std::size_t op = op_of_name[kernel.name];
    ++counts[op];
    if (!seen[kernel.name] && names[op].size() < kNamesShown) names[op].push_back(trace.names[kernel.name].text);
    seen[kernel.name] = true;
    if (last < n) ++before[op * n + last];
    last = op;
  }
  Ops ops;
  for (std::size_t op = 0; op < n; ++op) {
    if (counts[op] == 0) continue;
    OpCalls calls{counts[op], {}, std::move(names[op])};
    for (std::size_t x = 0; x < n; ++x) {
      if (before[op * n + x] > 0) calls.before[op_names[x]] = before[op * n + x];
    }
    ops.emplace(op_names[op], std::move(calls));
  }
  return ops;
}

void find_explicit(const Ops& own, const Ops& others, Side side, std::vector<Fusion>& found) {
  for (const auto& [op, calls] : own) {
    if (!contains(op, "+") || others.contains(op)) continue;
    const std::string& kernel = calls.names.empty() ? op : calls.names.front();
    const std::vector<std::string_view> parts = split_text(op, '+');
    found.push_back({op, side, kernel, {parts.begin(), parts.end()}, calls.count, 1, calls.names});
  }
}

bool is_found(const std::vector<Fusion>& found, const std::string& type) {
  return std::ranges::any_of(found, [&](const Fusion& fusion) { return fusion.type == type; });
}

void find_sequences(const Ops& own, const Ops& others, Side side, std::vector<Fusion>& found) {
  for (const auto& [op, calls] : own) {
    if (op == kOther || others.contains(op) || calls.count < kFewestInSequence) continue;
    for (const auto& [before, count] : calls.before) {
      const double share = static_cast<double>(count) / static_cast<double>(calls.count);
      if (share <= kShareInSequence || !others.contains(before) || is_found(found, before)) continue;
      found.push_back({before, other(side), before, {before, op}, calls.count, share, {}});
    }
  }
}

void find_imbalances(const Ops& first, const Ops& second, std::vector<Fusion>& found) {
  for (const auto& [op, calls] : first) {
    const auto match = second.find(op);
    if (op == kOther || match == second.end()) continue;
    const auto [fewer, more] = std::minmax(calls.count, match->second.count);
    const bool uneven = static_cast<double>(more) / static_cast<double>(fewer) >= kImbalance;
    if (fewer + more < kFewestInBoth || !uneven || is_found(found, op)) continue;
    const Side fused_by = calls.count < match->second.count ? Side::kFirst : Side::kSecond;
    const double confidence = static_cast<double>(more - fewer) / static_cast<double>(more);
    found.push_back({op, fused_by, op, {op}, more - fewer, confidence, {}});
  }
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

std::vector<Fusion> find_fusions(const Trace& first, const Trace& second) {
  const Ops a = calls_of(first);
  const Ops b = calls_of(second);
  std::vector<Fusion> found;
  find_explicit(a, b, Side::kFirst, found);
  find_explicit(b, a, Side::kSecond, found);
  find_sequences(a, b, Side::kFirst, found);
  find_sequences(b, a, Side::kSecond, found);
  find_imbalances(a, b, found);
  return found;
}

}  // namespace tracedb::wafer
