#include "ranks/pace.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace tracedb {
namespace {

constexpr std::size_t kLeastBlocks = 4;
constexpr std::size_t kParts = 16;  // of a recording without steps

std::int64_t work_in(const RankTrace& rank, std::int64_t from, std::int64_t to) {
  return to - from - rank.parts(from, to).comm;
}

bool has_step(const RankTrace& rank, std::uint32_t step) {
  return step < rank.step_stats.size() && rank.step_stats[step].gpu_span != kUnknownValue;
}

// The work of one rank in each of these steps, which it has, or without any in equal parts of its recording.
std::vector<std::int64_t> work_by_block(const RankTrace& rank, const std::set<std::uint32_t>& steps) {
  std::vector<std::int64_t> out;
  for (const std::uint32_t step : steps) {
    const StepStats& stats = rank.step_stats[step];
    const std::int64_t from = stats.first + rank.shift;
    out.push_back(work_in(rank, from, from + stats.gpu_span));
  }
  if (!steps.empty() || rank.collectives.empty()) return out;
  const std::int64_t from = rank.collectives.front().start, length = rank.collectives.back().end - from;
  for (std::size_t part = 0; part < kParts; ++part) {
    const auto at = [&](std::size_t i) {
      return from + length / static_cast<std::int64_t>(kParts) * static_cast<std::int64_t>(i);
    };
    out.push_back(work_in(rank, at(part), at(part + 1)));
  }
  return out;
}

// The value of one rank less the mean of the others.
template <class Value>
double excess(std::size_t of, std::size_t ranks, Value value) {
  double others = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (rank != of) others += static_cast<double>(value(rank));
  }
  return static_cast<double>(value(of)) - others / static_cast<double>(ranks - 1);
}

// By how many standard deviations the mean over the blocks of what it works longer is above 0.
double deviations(std::size_t longest, const std::vector<std::vector<std::int64_t>>& work) {
  std::size_t n = work.front().size();
  for (const auto& of_rank : work) n = std::min(n, of_rank.size());
  if (n < kLeastBlocks) return 0;
  double mean = 0, squares = 0;
  std::vector<double> more;
  for (std::size_t block = 0; block < n; ++block) {
    more.push_back(excess(longest, work.size(), [&](std::size_t rank) { return work[rank][block]; }));
    mean += more.back() / static_cast<double>(n);
  }
  for (const double one : more) squares += (one - mean) * (one - mean);
  if (squares == 0) return mean > 0 ? kLeastDeviations : 0;
  return mean / std::sqrt(squares / static_cast<double>(n - 1) / static_cast<double>(n));
}

Pace pace_of(std::size_t longest, std::span<const RankTrace> ranks) {
  Pace out;
  const auto set = [&](LateCause cause, auto value) {
    out.excess[static_cast<std::size_t>(cause)] =
        std::llround(excess(longest, ranks.size(), [&](std::size_t rank) { return value(ranks[rank].figures); }));
  };
  set(LateCause::kCompute, [](const RankFigures& sums) { return sums.computation; });
  set(LateCause::kCopy, [](const RankFigures& sums) { return sums.exposed_copy; });
  set(LateCause::kHost, [](const RankFigures& sums) { return sums.idle; });
  std::map<std::uint32_t, std::pair<double, double>> classes;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const double weight = rank == longest ? 1 : -1 / static_cast<double>(ranks.size() - 1);
    for (const ComputeKernel& kernel : ranks[rank].compute) {
      if (!kernel.selected) continue;
      auto& [time, count] = classes[kernel.class_id];
      time += weight * static_cast<double>(kernel.dur);
      count += weight;
    }
  }
  for (const auto& [class_id, sum] : classes) out.classes[class_id] = {std::llround(sum.first), sum.second};
  return out;
}

}  // namespace

void find_pace(std::span<const RankTrace> ranks, JobWaits& waits) {
  if (ranks.size() < 2) return;
  const auto work = [](const RankTrace& rank) { return rank.figures.span - rank.figures.exposed_comm; };
  const auto longest = static_cast<std::uint32_t>(
      std::max_element(ranks.begin(), ranks.end(),
                       [&](const RankTrace& a, const RankTrace& b) { return work(a) < work(b); }) -
      ranks.begin());
  std::set<std::uint32_t> steps;
  for (const CollectiveWait& one : waits.collectives) {
    if (one.step != 0) steps.insert(one.step);
  }
  const bool has_steps = !steps.empty();
  std::erase_if(steps, [&](std::uint32_t step) {
    return !std::all_of(ranks.begin(), ranks.end(), [&](const RankTrace& rank) { return has_step(rank, step); });
  });
  waits.is_too_short = has_steps && steps.size() < kLeastBlocks;
  if (waits.is_too_short) return;
  std::vector<std::vector<std::int64_t>> blocks;
  for (const RankTrace& rank : ranks) blocks.push_back(work_by_block(rank, steps));
  if (deviations(longest, blocks) < kLeastDeviations) return;
  waits.straggler = longest;
  waits.pace = pace_of(longest, ranks);
  if (loss_by(ranks, waits, longest).share >= kLeastLoss) return;
  waits.straggler.reset();
  waits.pace.reset();
}

}  // namespace tracedb
