#include "passes/stacks/sequences.h"

#include <algorithm>

#include "base/dense_index.h"
#include "base/unknown.h"

namespace tracedb {
namespace {

// The last kernels of a stream.
struct SequenceWindow {
  std::vector<std::uint32_t> labels;
  std::vector<std::int64_t> durations;
  std::uint64_t seen = 0;  // kernels of the stream so far
};

// A sequence on one stream.
struct Found {
  SequenceStats stats;
  std::uint64_t end = 0;  // kernels of the stream up to the last time it was counted
  std::uint32_t stream = 0;
};

class SequenceFinder {
 public:
  explicit SequenceFinder(std::size_t length) : length_(length) {}

  void add(std::uint32_t stream, std::uint32_t label, std::int64_t dur) {
    if (stream >= windows_.size()) windows_.resize(std::size_t{stream} + 1);
    SequenceWindow& window = windows_[stream];
    if (window.labels.size() == length_) {
      std::move(window.labels.begin() + 1, window.labels.end(), window.labels.begin());
      std::move(window.durations.begin() + 1, window.durations.end(), window.durations.begin());
      window.labels.back() = label;
      window.durations.back() = dur;
    } else {
      window.labels.push_back(label);
      window.durations.push_back(dur);
    }
    ++window.seen;
    if (window.labels.size() == length_) count(window, stream);
  }

  // The streams together, in order of the labels.
  std::vector<SequenceStats> take() {
    std::ranges::sort(found_, [](const Found& a, const Found& b) { return a.stats.labels < b.stats.labels; });
    std::vector<SequenceStats> out;
    for (Found& found : found_) {
      if (out.empty() || out.back().labels != found.stats.labels) {
        out.push_back(std::move(found.stats));
        continue;
      }
      SequenceStats& all = out.back();
      all.count += found.stats.count;
      all.total = saturating_add(all.total, found.stats.total);
      all.min = std::min(all.min, found.stats.min);
      all.max = std::max(all.max, found.stats.max);
    }
    return out;
  }

 private:
  void count(const SequenceWindow& window, std::uint32_t stream) {
    const std::uint32_t id = sequence(window.labels, stream);
    if (window.seen - length_ < found_[id].end) return;  // overlaps the last time it was counted
    found_[id].end = window.seen;
    std::int64_t time = 0;
    bool known = true;
    for (const std::int64_t dur : window.durations) {
      known = known && dur != kUnknownValue;
      time = saturating_add(time, std::max<std::int64_t>(dur, 0));
    }
    SequenceStats& stats = found_[id].stats;
    ++stats.count;
    stats.total = saturating_add(stats.total, time);
    if (!known) return;
    stats.min = stats.count == 1 ? time : std::min(stats.min, time);
    stats.max = std::max(stats.max, time);
  }

  // Its number; a new one gets the next.
  std::uint32_t sequence(const std::vector<std::uint32_t>& labels, std::uint32_t stream) {
    std::uint64_t hash = 0x9e3779b97f4a7c15 + stream;
    for (const std::uint32_t label : labels) hash = (hash ^ label) * 0xff51afd7ed558ccd, hash ^= hash >> 32U;
    const auto [index, is_new] = index_.index_of(hash, [&](std::uint32_t known) {
      return found_[known].stream == stream && found_[known].stats.labels == labels;
    });
    if (is_new) found_.push_back({{labels, 0, 0, 0, 0}, 0, stream});
    return index;
  }

  std::size_t length_;
  std::vector<SequenceWindow> windows_;  // by stream
  std::vector<Found> found_;
  DenseIndex index_;  // of found_
};

}  // namespace

std::vector<SequenceStats> find_sequences(const LabelledKernels& kernels, std::size_t length, std::int64_t least) {
  SequenceFinder finder(length);
  for (std::size_t i = 0; i < kernels.label.size(); ++i) {
    if (kernels.label[i] != kNoLabel) finder.add(kernels.stream[i], kernels.label[i], kernels.dur[i]);
  }
  std::vector<SequenceStats> found = finder.take();
  std::erase_if(found, [&](const SequenceStats& stats) { return stats.count < least; });
  std::ranges::stable_sort(found, std::ranges::greater(), &SequenceStats::total);
  return found;
}

}  // namespace tracedb
