#include "compare/step_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>

#include "passes/columns/group_stats.h"

namespace tracedb {
namespace {

constexpr int kUnknownBatch = -1;
constexpr double kSameMix = 0.1;    // most of the steps that may be in other batch sizes
constexpr double kSameBatch = 0.1;  // most that the mean batch may differ

bool counts_requests(StepKind kind) { return kind == StepKind::kDecode; }

// Requests of a decode step, tokens of others; nullopt where the annotation does not say.
std::optional<std::int64_t> batch_of(const StepInfo& info) {
  if (counts_requests(info.kind)) return info.generation_requests;
  if (!info.context_tokens && !info.generation_tokens) return std::nullopt;
  return info.context_tokens.value_or(0) + info.generation_tokens.value_or(0);
}

std::optional<std::int64_t> tokens_of(const StepInfo& info) {
  if (!info.context_tokens && !info.generation_tokens) return std::nullopt;
  return info.context_tokens.value_or(0) + info.generation_tokens.value_or(0);
}

int bucket_of(const StepInfo& info) {
  const std::optional<std::int64_t> batch = batch_of(info);
  return !batch || *batch < 0 ? kUnknownBatch : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(*batch)));
}

std::string bucket_label(StepKind kind, int bucket) {
  const char* what = counts_requests(kind) ? "requests" : "tokens";
  if (bucket == kUnknownBatch) return "batch unknown";
  if (bucket <= 1) return fmt::format("{} {}", bucket, what);
  const std::uint64_t low = std::uint64_t{1} << (bucket - 1);
  return fmt::format("{}..{} {}", low, 2 * low - 1, what);
}

using Buckets = std::map<int, std::vector<std::uint32_t>>;
using Kinds = std::map<StepKind, Buckets>;

Kinds kinds_of(const Side& side) {
  Kinds kinds;
  for (std::uint32_t i = 0; i < side.runs.size(); ++i) {
    const StepInfo& info = side.steps.steps[side.runs[i].step - 1].info;
    kinds[info.kind][bucket_of(info)].push_back(i);
  }
  return kinds;
}

std::size_t count(const Buckets& buckets) {
  std::size_t n = 0;
  for (const auto& [bucket, runs] : buckets) n += runs.size();
  return n;
}

// Half the sum of the differences of shares: the part of the steps that is in other batch sizes.
double mix_distance(const Buckets& a, const Buckets& b) {
  const auto share = [](const Buckets& of, int bucket) {
    const auto found = of.find(bucket);
    return found == of.end() ? 0.0 : static_cast<double>(found->second.size()) / static_cast<double>(count(of));
  };
  double distance = 0;
  for (const auto& [bucket, runs] : a) distance += std::abs(share(a, bucket) - share(b, bucket));
  for (const auto& [bucket, runs] : b) distance += a.contains(bucket) ? 0 : share(b, bucket);
  return distance / 2;
}

GroupSide group_side(const Side& side, StepKind kind, std::vector<std::uint32_t> runs) {
  GroupSide group;
  group.kind = kind;
  std::sort(runs.begin(), runs.end());
  group.runs = std::move(runs);
  group.tokens_known = !group.runs.empty();
  for (const std::uint32_t place : group.runs) {
    const Run& run = side.runs[place];
    const StepInfo info = run.step == 0 ? StepInfo{} : side.steps.steps[run.step - 1].info;
    group.requests = bounded_add(group.requests, info.context_requests.value_or(0));
    group.requests = bounded_add(group.requests, info.generation_requests.value_or(0));
    const std::optional<std::int64_t> tokens = tokens_of(info);
    group.tokens = bounded_add(group.tokens, tokens.value_or(0));
    group.tokens_known = group.tokens_known && tokens && *tokens > 0;
  }
  return group;
}

std::vector<std::uint32_t> all_runs(const Buckets& buckets) {
  std::vector<std::uint32_t> all;
  for (const auto& [bucket, runs] : buckets) all.insert(all.end(), runs.begin(), runs.end());
  return all;
}

class Matcher {
 public:
  Matcher(const Side& baseline, const Side& candidate) : baseline_(baseline), candidate_(candidate) {}

  StepMatch run() {
    if (baseline_.steps.steps.empty() || candidate_.steps.steps.empty()) {
      whole_traces();
    } else {
      by_kind();
    }
    finish();
    return std::move(out_);
  }

 private:
  void add(std::string label, GroupSide a, GroupSide b, std::string doubt) {
    if (a.runs.empty() || b.runs.empty()) return;
    StepGroup group{std::move(label), std::move(a), std::move(b), false, doubt.empty(), std::move(doubt)};
    if (group.comparable) compare_means(group);
    out_.groups.push_back(std::move(group));
  }

  // Within a group the batches may still differ: 33 and 60 requests are one power of two.
  static void compare_means(StepGroup& group) {
    const auto mean = [&](const GroupSide& side) {
      const std::int64_t sum = counts_requests(side.kind) ? side.requests : side.tokens;
      return static_cast<double>(sum) / static_cast<double>(side.runs.size());
    };
    const double a = mean(group.baseline);
    const double b = mean(group.candidate);
    if (a <= 0 || b <= 0 || std::abs(a - b) <= kSameBatch * std::max(a, b)) return;
    group.comparable = false;
    group.doubt = fmt::format("{}: the batch differs: {:.0f} and {:.0f} {} a step", group.label, a, b,
                              counts_requests(group.baseline.kind) ? "requests" : "tokens");
  }

  void whole_traces() {
    const auto take = [](const Side& side) {
      GroupSide group;
      for (std::uint32_t i = 0; i < side.runs.size(); ++i) group.runs.push_back(i);
      return group;
    };
    const bool neither = baseline_.steps.steps.empty() && candidate_.steps.steps.empty();
    const char* side = candidate_.steps.steps.empty() ? "baseline" : "candidate";
    const std::string doubt =
        neither ? "" : fmt::format("only the {} has steps: each is compared with the whole of the other trace", side);
    add("trace", take(baseline_), take(candidate_), doubt);
    if (!out_.groups.empty()) out_.groups.back().whole_trace = true;
  }

  void by_kind() {
    Kinds a = kinds_of(baseline_);
    Kinds b = kinds_of(candidate_);
    for (auto kind = a.begin(); kind != a.end();) {
      const auto other = b.find(kind->first);
      if (other == b.end()) {
        ++kind;
        continue;
      }
      match_batches(kind->first, kind->second, other->second);
      b.erase(other);
      kind = a.erase(kind);
    }
    match_unknown(a, b);
    report_rest(a, "baseline");
    report_rest(b, "candidate");
  }

  void match_batches(StepKind kind, Buckets& a, Buckets& b) {
    const std::string name(to_string(kind));
    if (mix_distance(a, b) <= kSameMix) {
      add(name, group_side(baseline_, kind, all_runs(a)), group_side(candidate_, kind, all_runs(b)), "");
      return;
    }
    const std::size_t before = out_.groups.size();
    std::size_t left = 0;
    for (auto& [bucket, runs] : a) {
      const auto other = b.find(bucket);
      if (other == b.end()) {
        left += runs.size();
        continue;
      }
      add(fmt::format("{} {}", name, bucket_label(kind, bucket)), group_side(baseline_, kind, runs),
          group_side(candidate_, kind, other->second), "");
    }
    if (out_.groups.size() == before) {
      add(name, group_side(baseline_, kind, all_runs(a)), group_side(candidate_, kind, all_runs(b)),
          name + " steps have no batch size in common");
      return;
    }
    std::size_t other_left = 0;
    for (const auto& [bucket, runs] : b) other_left += a.contains(bucket) ? 0 : runs.size();
    if (left + other_left > 0) {
      out_.notes.push_back(
          fmt::format("{}: {} steps of the baseline and {} of the candidate have a batch size that the other trace "
                      "lacks, and are left out",
                      name, left, other_left));
    }
  }

  // Inferred steps may be of unknown kind on one side only: if just one kind is left opposite, they may be the same.
  void match_unknown(Kinds& a, Kinds& b) {
    if (a.size() != 1 || b.size() != 1) return;
    const StepKind first = a.begin()->first;
    const StepKind second = b.begin()->first;
    if (first != StepKind::kUnknown && second != StepKind::kUnknown) return;
    add(std::string(to_string(first == StepKind::kUnknown ? second : first)),
        group_side(baseline_, first, all_runs(a.begin()->second)),
        group_side(candidate_, second, all_runs(b.begin()->second)),
        fmt::format("{} steps of the baseline are compared with {} steps of the candidate: only these remain",
                    to_string(first), to_string(second)));
    a.clear();
    b.clear();
  }

  void report_rest(const Kinds& kinds, const char* side) {
    for (const auto& [kind, buckets] : kinds) {
      out_.notes.push_back(
          fmt::format("only the {} has {} steps: {} of them are left out", side, to_string(kind), count(buckets)));
    }
  }

  static double time_of(const Side& side, const GroupSide& group) {
    double time = 0;
    for (const std::uint32_t run : group.runs) time += static_cast<double>(side.runs[run].kernel_time);
    return time;
  }

  void finish() {
    std::stable_sort(out_.groups.begin(), out_.groups.end(), [&](const StepGroup& a, const StepGroup& b) {
      const auto time = [&](const StepGroup& g) {
        return time_of(baseline_, g.baseline) + time_of(candidate_, g.candidate);
      };
      return time(a) > time(b);
    });
    double a = 0, b = 0;
    for (const StepGroup& group : out_.groups) {
      a += time_of(baseline_, group.baseline);
      b += time_of(candidate_, group.candidate);
    }
    const auto share = [](double part, const Side& side) {
      return side.kernel_time > 0 ? part / static_cast<double>(side.kernel_time) : 0;
    };
    out_.baseline_share = share(a, baseline_);
    out_.candidate_share = share(b, candidate_);
  }

  const Side& baseline_;
  const Side& candidate_;
  StepMatch out_;
};

}  // namespace

StepMatch match_steps(const Side& baseline, const Side& candidate) { return Matcher(baseline, candidate).run(); }

}  // namespace tracedb
