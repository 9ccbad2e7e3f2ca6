#include "compare/wafer/fusion.h"

#include <algorithm>
#include <map>

#include "base/text/characters.h"
#include "base/text/numbered_texts.h"
#include "base/text/split.h"

namespace tracedb::wafer {
namespace {

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

// Operations as numbers for the pass over all kernels.
struct NumberedOps {
  NumberedTexts ops;
  std::vector<std::size_t> of_name;
};

NumberedOps number_ops(const Trace& trace) {
  NumberedOps out;
  for (const KernelName& name : trace.names) out.of_name.push_back(out.ops.number(name.side_op));
  return out;
}

Ops calls_of(const Trace& trace) {
  const NumberedOps numbered = number_ops(trace);
  const std::vector<std::string>& op_names = numbered.ops.all();
  const std::size_t n = op_names.size();
  std::vector<std::int64_t> counts(n), before(n * n);
  std::vector<std::vector<std::string>> names(n);
  std::vector<bool> seen(trace.names.size());
  std::size_t last = n;
  for (const Kernel& kernel : trace.kernels) {
    const std::size_t op = numbered.of_name[kernel.name];
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
