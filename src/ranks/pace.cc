#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "ranks/waits.h"

namespace tracedb {
namespace {

constexpr std::size_t kLeastBlocks = 4;
constexpr std::size_t kParts = 16;  // of a recording without steps

// From the first to the last of what is selected.
Extent selected_extent(const RankTrace& rank) {
  Extent out{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
  const auto widen = [&](std::int64_t begin, std::int64_t end) {
    out = {std::min(out.begin, begin), std::max(out.end, end)};
  };
  for (const ComputeKernel& one : rank.compute) {
    if (one.selected) widen(one.start, one.start + one.dur);
  }
  for (const CollectiveEvent& one : rank.collectives) {
    if (one.selected) widen(one.start, one.end);
  }
  return out;
}

// Of what is selected these steps of a rank, which it has, each with what follows until the next one; without any,
// equal parts.
std::vector<Extent> blocks_of(const RankTrace& rank, const std::set<std::uint32_t>& steps) {
  std::vector<Extent> out;
  const Extent selected = selected_extent(rank);
  for (const std::uint32_t step : steps) {
    const StepStats& stats = rank.step_stats[step];
    const std::int64_t from = stats.first + rank.shift;
    out.push_back({from, from + stats.gpu_span});
    if (steps.contains(step + 1)) out.back().end = rank.step_stats[step + 1].first + rank.shift;
    const std::int64_t begin = std::max(out.back().begin, selected.begin);
    out.back() = {begin, std::max(begin, std::min(out.back().end, selected.end))};
  }
  if (!steps.empty() || selected.length() == 0) return out;
  const std::int64_t from = selected.begin, length = selected.length();
  for (std::size_t part = 0; part < kParts; ++part) {
    const auto at = [&](std::size_t i) {
      return from + length / static_cast<std::int64_t>(kParts) * static_cast<std::int64_t>(i);
    };
    out.push_back({at(part), at(part + 1)});
  }
  return out;
}

struct PaceWork {
  Extent block;
  LateParts parts{};  // by cause; recordings are not compared by communication and by what was before
  [[nodiscard]] std::int64_t sum() const { return std::reduce(parts.begin(), parts.end()); }
};

PaceWork work_in(const RankTrace& rank, const Extent& block, const TimeCover& unsent) {
  const TimeParts parts = rank.parts(block.begin, block.end);
  return {block, {parts.compute, parts.copy, 0, parts.idle - unsent.covered(block.begin, block.end), 0}};
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
double deviations(std::size_t longest, const std::vector<std::vector<PaceWork>>& work) {
  std::size_t n = work.front().size();
  for (const auto& of_rank : work) n = std::min(n, of_rank.size());
  if (n < kLeastBlocks) return 0;
  double mean = 0, squares = 0;
  std::vector<double> more;
  for (std::size_t block = 0; block < n; ++block) {
    more.push_back(excess(longest, work.size(), [&](std::size_t rank) { return work[rank][block].sum(); }));
    mean += more.back() / static_cast<double>(n);
  }
  for (const double one : more) squares += (one - mean) * (one - mean);
  if (squares == 0) return mean > 0 ? kLeastDeviations : 0;
  return mean / std::sqrt(squares / static_cast<double>(n - 1) / static_cast<double>(n));
}

// `times`: as many as the rank has steps for each block.
Pace pace_of(std::size_t longest, std::span<const RankTrace> ranks, const std::vector<std::vector<PaceWork>>& work,
             double times) {
  std::vector<LateParts> sums(ranks.size());
  ClassSums classes;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const double weight = times * (rank == longest ? 1 : -1 / static_cast<double>(ranks.size() - 1));
    for (const PaceWork& one : work[rank]) {
      for (std::size_t cause = 0; cause < kLateCauses; ++cause) sums[rank][cause] += one.parts[cause];
      add_kernels(ranks[rank], one.block, weight, classes);
    }
  }
  Pace out;
  for (std::size_t cause = 0; cause < kLateCauses; ++cause) {
    out.excess[cause] =
        std::llround(times * excess(longest, ranks.size(), [&](std::size_t rank) { return sums[rank][cause]; }));
  }
  for (const auto& [class_id, sum] : classes) out.classes[class_id] = {std::llround(sum.first), sum.second};
  return out;
}

}  // namespace

void find_pace(std::span<const RankTrace> ranks, const std::vector<TimeCover>& unsent, JobWaits& waits) {
  if (ranks.size() < 2) return;
  const std::set<std::uint32_t> all = steps_of(waits);
  std::set<std::uint32_t> steps = all;
  std::erase_if(steps, [&](std::uint32_t step) {
    return !std::ranges::all_of(ranks, [&](const RankTrace& rank) { return has_step(rank, step); });
  });
  // Stages are at other places of the work at one time, so that without steps a part of it says nothing.
  const bool is_part = all.empty() && std::ranges::any_of(ranks, [](const RankTrace& rank) {
                         return !std::ranges::all_of(rank.collectives, &CollectiveEvent::selected);
                       });
  waits.is_too_short = is_part || (!all.empty() && steps.size() < kLeastBlocks);
  if (waits.is_too_short) return;
  std::vector<std::vector<PaceWork>> work;
  std::vector<std::int64_t> sums;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    work.emplace_back();
    sums.push_back(0);
    for (const Extent& block : blocks_of(ranks[rank], steps)) {
      work.back().push_back(work_in(ranks[rank], block, unsent[rank]));
      sums.back() += work.back().back().sum();
    }
  }
  const auto longest = static_cast<std::uint32_t>(std::ranges::max_element(sums) - sums.begin());
  if (deviations(longest, work) < kLeastDeviations) return;
  const auto own = std::ranges::count_if(all, [&](std::uint32_t step) { return has_step(ranks[longest], step); });
  waits.straggler = longest;
  waits.pace =
      pace_of(longest, ranks, work, steps.empty() ? 1 : static_cast<double>(own) / static_cast<double>(steps.size()));
  if (loss_by(ranks, waits, longest).share >= kLeastLoss) return;
  waits.straggler.reset();
  waits.pace.reset();
}

}  // namespace tracedb
