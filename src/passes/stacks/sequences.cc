#include "passes/stacks/sequences.h"

#include <algorithm>

#include "base/dense_index.h"
#include "base/unknown.h"
#include "passes/columns/event_columns.h"

namespace tracedb {
namespace {

// The kernels of a stream that have a label.
struct StreamKernels {
  std::vector<std::uint32_t> labels;
  std::vector<std::int64_t> durations;
};

std::uint64_t ordered_hash(std::span<const std::uint32_t> labels) {
  std::uint64_t hash = 0x9e3779b97f4a7c15;
  for (const std::uint32_t label : labels) hash = (hash ^ label) * 0xff51afd7ed558ccd, hash ^= hash >> 32U;
  return hash;
}

// Counts a sequence once more.
void count(std::span<const std::int64_t> durations, SequenceStats& stats) {
  std::int64_t time = 0;
  for (const std::int64_t dur : durations) time = saturating_add(time, duration_or_zero(dur));
  ++stats.count;
  stats.total = saturating_add(stats.total, time);
  if (std::ranges::find(durations, kUnknownValue) != durations.end()) return;
  stats.min = stats.count == 1 ? time : std::min(stats.min, time);
  stats.max = std::max(stats.max, time);
}

void find_on_stream(const StreamKernels& kernels, std::size_t length, std::vector<SequenceStats>& out) {
  const std::size_t first = out.size();
  DenseIndex known;               // of those from `first` on
  std::vector<std::size_t> ends;  // of the last time each was counted
  for (std::size_t at = 0; at + length <= kernels.labels.size(); ++at) {
    const auto labels = std::span(kernels.labels).subspan(at, length);
    const auto [place, is_new] = known.index_of(
        ordered_hash(labels), [&](std::uint32_t own) { return std::ranges::equal(out[first + own].labels, labels); });
    if (is_new) out.push_back({{labels.begin(), labels.end()}, 0, 0, 0, 0}), ends.push_back(0);
    if (at < ends[place]) continue;  // overlaps the last time it was counted
    ends[place] = at + length;
    count(std::span(kernels.durations).subspan(at, length), out[first + place]);
  }
}

}  // namespace

std::vector<SequenceStats> find_sequences(const LabelledKernels& kernels, std::size_t length, std::int64_t least) {
  std::vector<StreamKernels> streams;
  for (std::size_t i = 0; i < kernels.label.size(); ++i) {
    if (kernels.label[i] == kNoLabel) continue;
    StreamKernels& own = for_id(streams, kernels.stream[i]);
    own.labels.push_back(kernels.label[i]);
    own.durations.push_back(kernels.dur[i]);
  }
  std::vector<SequenceStats> all, out;
  for (const StreamKernels& stream : streams) find_on_stream(stream, length, all);
  // The streams together.
  std::ranges::sort(all, {}, &SequenceStats::labels);
  for (SequenceStats& own : all) {
    if (out.empty() || out.back().labels != own.labels) {
      out.push_back(std::move(own));
      continue;
    }
    SequenceStats& sum = out.back();
    sum.count += own.count;
    sum.total = saturating_add(sum.total, own.total);
    sum.min = std::min(sum.min, own.min);
    sum.max = std::max(sum.max, own.max);
  }
  std::erase_if(out, [&](const SequenceStats& stats) { return stats.count < least; });
  std::ranges::stable_sort(out, std::ranges::greater(), &SequenceStats::total);
  return out;
}

}  // namespace tracedb
