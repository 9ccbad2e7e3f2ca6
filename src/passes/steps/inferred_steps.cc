#include "passes/steps/inferred_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "base/statistics.h"
#include "base/unknown.h"
#include "passes/columns/event_columns.h"

namespace tracedb {
namespace {

constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();

constexpr std::uint32_t kOptimizerPass = static_cast<std::uint32_t>(Pass::kOptimizer) + 1;

// The kernels of one device, by position among them.
struct Track {
  std::uint32_t device = 0;
  std::vector<std::uint32_t> kernel;  // row
  std::vector<std::uint32_t> name;
  std::vector<Traits> traits;
};

// Where steps begin and end, as positions in a track.
struct TrackRange {
  std::size_t begin = 0, end = 0;
  bool warm_up = false;
};

struct TrackRanges {
  std::vector<TrackRange> steps;
  double confidence = 0;
  std::string reason;
};

std::uint32_t main_device(const KernelSequence& kernels) {
  std::vector<std::size_t> by_stream(kernels.device_of_stream.size(), 0);
  for (const std::uint32_t stream : kernels.stream) {
    if (stream < by_stream.size()) ++by_stream[stream];
  }
  std::map<std::uint32_t, std::size_t> counts = {{0, 0}};
  for (std::size_t s = 0; s < by_stream.size(); ++s) counts[kernels.device_of_stream[s]] += by_stream[s];
  return std::ranges::max_element(counts, {}, [](const auto& one) { return one.second; })->first;
}

bool is_on(const KernelSequence& kernels, std::uint32_t stream, std::uint32_t device) {
  return (stream < kernels.device_of_stream.size() ? kernels.device_of_stream[stream] : 0) == device;
}

Track track_of(const KernelSequence& kernels, std::uint32_t device) {
  Track track{device, {}, {}, {}};
  for (std::uint32_t i = 0; i < kernels.ts.size(); ++i) {
    if (!is_on(kernels, kernels.stream[i], device)) continue;
    track.kernel.push_back(i);
    track.name.push_back(kernels.name[i]);
  }
  const std::vector<Traits> traits = without_seldom_mixers(track.name, kernels.traits);
  track.traits.reserve(track.name.size());
  for (const std::uint32_t name : track.name) track.traits.push_back(traits_of(traits, name));
  return track;
}

// The longest wait of the device between a kernel and the one before it, and when it ends.
struct Wait {
  std::int64_t length = 0, end = 0;
};

Wait wait_before(const KernelSequence& kernels, const Track& track, std::size_t position) {
  const std::int64_t start = kernels.ts[track.kernel[position]];
  Wait out{0, start};
  if (position == 0) return out;
  const std::uint32_t before = track.kernel[position - 1];
  std::int64_t busy_until = saturating_add(kernels.ts[before], duration_or_zero(kernels.dur[before]));
  for (auto i = static_cast<std::size_t>(std::ranges::lower_bound(kernels.copy_ts, kernels.ts[before]) -
                                         kernels.copy_ts.begin());
       i < kernels.copy_ts.size() && kernels.copy_ts[i] < start; ++i) {
    if (!is_on(kernels, kernels.copy_stream[i], track.device)) continue;
    const std::int64_t copy = kernels.copy_ts[i];
    if (copy - busy_until > out.length) out = {copy - busy_until, copy};
    busy_until = std::max(busy_until, saturating_add(copy, duration_or_zero(kernels.copy_dur[i])));
  }
  if (start - busy_until >= out.length) out = {start - busy_until, start};
  return out;
}

// Finds where sequence models begin anew.
class PassFinder {
 public:
  PassFinder(const KernelSequence& kernels, const Track& track)
      : kernels_(kernels), track_(track), runs_(mixer_runs(track.traits)) {}

  TrackRanges find() {
    if (runs_.size() < 2) return {{}, 0, "no kernels of attention or state spaces follow each other"};
    const std::vector<std::size_t> between = gaps_with(kSamplingTrait | kEmbeddingTrait);
    constexpr double kVerified = 0.9;
    const TrackRanges named = ranges(between, kNamed), verified = ranges(before_long_ones(between), kNamed);
    if (verified.confidence >= kVerified) return verified;
    if (named.confidence >= kConfident) return named;
    if (verified.confidence >= kConfident) return verified;
    TrackRanges recurring = ranges(recurring_gaps(), "kernels that recur after the same number of layers");
    if (recurring.confidence >= kConfident) return recurring;
    return {{}, 0, "no number of layers between sampling or embedding kernels prevails"};
  }

 private:
  static constexpr double kConfident = 0.6;
  static constexpr const char* kNamed = "sampling and embedding kernels";

  // Gap g lies between run g and run g + 1.
  [[nodiscard]] std::vector<std::size_t> gaps_with(Traits traits) const {
    std::vector<std::size_t> gaps;
    for (std::size_t g = 0; g + 1 < runs_.size(); ++g) {
      for (std::size_t i = runs_[g].last + 1; i < runs_[g + 1].first; ++i) {
        if ((track_.traits[i] & traits) == 0) continue;
        gaps.push_back(g);
        break;
      }
    }
    return gaps;
  }

  // How many layers are before, between and behind gaps.
  [[nodiscard]] std::vector<std::size_t> layers_between(const std::vector<std::size_t>& gaps) const {
    std::vector<std::size_t> layers;
    for (std::size_t i = 0; i <= gaps.size(); ++i) {
      const std::size_t from = i == 0 ? 0 : gaps[i - 1] + 1;
      const std::size_t to = i == gaps.size() ? runs_.size() : gaps[i] + 1;
      layers.push_back(to - from);
    }
    return layers;
  }

  // Of gaps those behind which a pass over most layers is: others draft what that verifies, and are of its step.
  [[nodiscard]] std::vector<std::size_t> before_long_ones(const std::vector<std::size_t>& gaps) const {
    const std::vector<std::size_t> layers = layers_between(gaps);
    const std::size_t most = std::ranges::max(layers);
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < gaps.size(); ++i) {
      if (layers[i + 1] * 2 >= most) out.push_back(gaps[i]);
    }
    return out;
  }

  struct Recurrence {
    std::size_t latest = 0, spacing = 0, count = 0;
    bool regular = true;
  };

  // Names in gaps that are a fixed number of layers apart; the most names decide.
  [[nodiscard]] std::vector<std::size_t> recurring_gaps() const {
    std::vector<Recurrence> names(kernels_.traits.size());
    for (std::size_t g = 0; g + 1 < runs_.size(); ++g) {
      for (std::size_t i = runs_[g].last + 1; i < runs_[g + 1].first; ++i) {
        if (track_.name[i] < names.size()) note(names[track_.name[i]], g);
      }
    }
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> votes;  // by spacing and place in it
    for (const Recurrence& seen : names) {
      if (seen.regular && seen.count > 1 && seen.spacing > 1) ++votes[{seen.spacing, seen.latest % seen.spacing}];
    }
    std::vector<std::size_t> gaps;
    const auto best = std::ranges::max_element(votes, {}, [](const auto& one) { return one.second; });
    constexpr std::size_t kEnough = 3;  // layers that alternate differ in a name or two
    if (best == votes.end() || best->second < kEnough) return gaps;
    for (std::size_t g = best->first.second; g + 1 < runs_.size(); g += best->first.first) gaps.push_back(g);
    return gaps;
  }

  static void note(Recurrence& seen, std::size_t gap) {
    if (seen.count > 0 && seen.latest == gap) return;
    if (seen.count > 0) {
      const std::size_t spacing = gap - seen.latest;
      if (seen.spacing == 0) seen.spacing = spacing;
      seen.regular = seen.regular && spacing == seen.spacing;
    }
    seen.latest = gap;
    ++seen.count;
  }

  [[nodiscard]] TrackRanges ranges(const std::vector<std::size_t>& gaps, const std::string& reason) const {
    const bool around = std::ranges::any_of(
        track_.traits, [](Traits traits) { return (traits & (kSamplingTrait | kEmbeddingTrait)) != 0; });
    if (gaps.empty() && !around) return {};
    const std::vector<std::size_t> layers = layers_between(gaps);
    const std::size_t usual = most_frequent(layers);
    TrackRanges out{{}, 0, reason};
    std::size_t begin = 0;
    std::size_t same = 0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const std::size_t end = i < gaps.size() ? cut(gaps[i]) : track_.kernel.size();
      const bool at_edge = i == 0 || i + 1 == layers.size();
      if (!at_edge || layers[i] >= usual) {
        out.steps.push_back({begin, end});
        same += layers[i] == usual ? 1 : 0;
      }
      begin = end;
    }
    if (out.steps.empty()) return {};
    out.confidence = static_cast<double>(same) / static_cast<double>(out.steps.size());
    if (usual < 2) out.confidence = 0;
    if (out.steps.size() == 1) out.confidence = std::min(out.confidence, 0.7);
    return out;
  }

  static std::size_t most_frequent(const std::vector<std::size_t>& values) {
    std::map<std::size_t, std::size_t> counts;
    for (const std::size_t value : values) ++counts[value];
    const auto best =
        std::ranges::max_element(counts, [](const auto& a, const auto& b) { return a.second <= b.second; });
    return best->first;
  }

  // Behind the last sampling, at the latest before the embedding that follows it: where the device waits longest.
  [[nodiscard]] std::size_t cut(std::size_t gap) const {
    std::size_t from = runs_[gap].last + 1;
    std::size_t to = runs_[gap + 1].first;
    for (std::size_t i = from; i < to; ++i) {
      if ((track_.traits[i] & kSamplingTrait) != 0) from = i + 1;
    }
    for (std::size_t i = from; i < to; ++i) {
      if ((track_.traits[i] & kEmbeddingTrait) != 0) to = i;
    }
    std::size_t best = to;
    std::int64_t longest = -1;
    for (std::size_t i = from; i <= to; ++i) {
      const std::int64_t idle = wait_before(kernels_, track_, i).length;
      if (idle > longest) best = i, longest = idle;
    }
    return best;
  }

  const KernelSequence& kernels_;
  const Track& track_;
  std::vector<MixerRun> runs_;
};

// Behind the optimizer's kernels, and how much other work is before each.
struct OptimizerEnds {
  std::vector<std::size_t> ends, work;
};

OptimizerEnds optimizer_ends(const KernelSequence& kernels, const Track& track) {
  OptimizerEnds out;
  std::size_t other_work = 0;
  bool inside = false;
  for (std::size_t i = 0; i < track.kernel.size(); ++i) {
    const bool optimizer = (track.traits[i] & kOptimizerTrait) != 0 ||
                           (!kernels.pass.empty() && kernels.pass[track.kernel[i]] == kOptimizerPass);
    // Clipping of gradients clamps like an activation.
    constexpr Traits kWork = kGemmTrait | kMixerTraits | kNormTrait | kConvolutionTrait;
    if (optimizer) {
      if (inside && other_work == 0) out.ends.back() = i + 1;
      if (!inside || other_work > 0) out.ends.push_back(i + 1), out.work.push_back(other_work);
      inside = true;
      other_work = 0;
    } else if ((track.traits[i] & kWork) != 0) {
      ++other_work;
    }
  }
  return out;
}

bool alike(std::size_t kernels, std::size_t usual) { return kernels * 10 >= usual * 9 && kernels * 9 <= usual * 10; }

// The part of the ranges that have about as many kernels as usual.
double part_alike(const std::vector<TrackRange>& ranges) {
  std::vector<std::size_t> sizes;
  for (const TrackRange& range : ranges) sizes.push_back(range.end - range.begin);
  const std::size_t usual = upper_median(std::span(sizes));
  const auto same =
      std::ranges::count_if(ranges, [&](const TrackRange& range) { return alike(range.end - range.begin, usual); });
  return static_cast<double>(same) / static_cast<double>(ranges.size());
}

// A step ends behind the optimizer's kernels; the next optimizer step is behind kernels of other work. What comes
// before the first one is a step if it has the work of the others: where it is not as many kernels, it warms up
// (libraries try their algorithms, gradients are not there yet to be cleared or added to); with less work, it began
// before the recording.
TrackRanges optimizer_rhythm(const KernelSequence& kernels, const Track& track) {
  const auto [ends, work] = optimizer_ends(kernels, track);
  if (ends.size() < 2) return {{}, 0, "no optimizer steps follow each other"};
  std::vector<std::size_t> sizes;
  for (std::size_t i = 1; i < ends.size(); ++i) sizes.push_back(ends[i] - ends[i - 1]);
  const std::size_t usual = upper_median(std::span(sizes));
  const auto regular = [&](std::size_t size) { return alike(size, usual); };
  std::vector<std::size_t> later_work(work.begin() + 1, work.end());
  const bool whole = work[0] * 10 >= upper_median(std::span(later_work)) * 9;
  TrackRanges out{{}, 0, "optimizer steps"};
  std::size_t same = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const std::size_t begin = i == 0 ? 0 : ends[i - 1];
    const bool warm_up = i == 0 && !regular(ends[0]);
    if (warm_up && !whole) continue;
    out.steps.push_back({begin, ends[i], warm_up});
    same += warm_up || regular(ends[i] - begin) ? 1 : 0;
  }
  out.confidence = static_cast<double>(same) / static_cast<double>(out.steps.size());
  return out;
}

// Whether the steps are those of a model that writes text: it samples between them, or some of them decode.
bool generates(const Track& track, const std::vector<InferredStep>& steps) {
  return std::ranges::any_of(track.traits, [](Traits traits) { return (traits & kSamplingTrait) != 0; }) ||
         std::ranges::any_of(steps, [](const InferredStep& step) {
           return step.kind == StepKind::kDecode || step.kind == StepKind::kMixed;
         });
}

bool from_graph(const KernelSequence& kernels, std::uint32_t kernel) {
  return has_id(kernels.is_graph_launch, kernels.launch[kernel]);
}

// Whole passes captured as one graph.
TrackRanges graph_rhythm(const KernelSequence& kernels, const Track& track) {
  constexpr std::size_t kSmallest = 8;
  std::vector<TrackRange> graphs;
  std::size_t held = 0;
  std::uint32_t latest = 0;
  for (std::size_t i = 0; i < track.kernel.size(); ++i) {
    if (!from_graph(kernels, track.kernel[i])) continue;
    const std::uint32_t launch = kernels.launch[track.kernel[i]];
    if (graphs.empty() || launch != latest) graphs.push_back({i, i});
    graphs.back().end = i + 1;
    latest = launch;
    ++held;
  }
  if (graphs.size() < 2 || held * 2 < track.kernel.size()) return {{}, 0, "no graph launches hold most of the kernels"};
  std::map<std::size_t, std::size_t> sizes;
  for (const TrackRange& graph : graphs) ++sizes[graph.end - graph.begin];
  const auto usual = std::ranges::max_element(sizes, {}, [](const auto& one) { return one.second; });
  if (usual->first < kSmallest) return {{}, 0, "graph launches are too small to be steps"};
  TrackRanges out{{}, static_cast<double>(usual->second) / static_cast<double>(graphs.size()), "graph launches"};
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    out.steps.push_back({graphs[i].begin, i + 1 < graphs.size() ? graphs[i + 1].begin : track.kernel.size()});
  }
  if (out.confidence < 0.9) out.steps.clear(), out.reason = "graph launches differ in their number of kernels";
  return out;
}

StepKind kind_of(const KernelSequence& kernels, const Track& track, const TrackRange& range) {
  Traits all = 0;
  std::size_t products = 0;
  std::size_t replayed = 0;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    all |= track.traits[i];
    if ((track.traits[i] & kGemmTrait) == 0) continue;
    ++products;
    replayed += from_graph(kernels, track.kernel[i]) ? 1 : 0;
  }
  if ((all & kPrefillTrait) != 0) return (all & kDecodeTrait) != 0 ? StepKind::kMixed : StepKind::kPrefill;
  const bool mixes = (all & kMixerTraits) != 0;
  if ((all & kDecodeTrait) != 0) return StepKind::kDecode;
  // Diffusion is replayed from graphs too, but keeps no tokens; images are decoded by convolutions.
  static const Traits kTokens = traits_of_class("kv_cache") | kSamplingTrait | kEmbeddingTrait;
  const bool tokens = (all & kTokens) != 0 && (all & kConvolutionTrait) == 0;
  if (mixes && tokens && replayed * 2 > products) return StepKind::kDecode;
  return StepKind::kUnknown;
}

// Not what is a layer or two of something larger: it has the work at either end of a model, or as many layers as no
// block has.
bool are_steps(const Track& track, const std::vector<TrackRange>& ranges) {
  constexpr std::size_t kLeastLayers = 3;
  std::size_t convolutions = 0, mixers = 0;
  for (std::size_t i = ranges.front().begin; i < ranges.back().end; ++i) {
    if ((track.traits[i] & (kSamplingTrait | kEmbeddingTrait)) != 0) return true;
    if ((track.traits[i] & kConvolutionTrait) != 0) ++convolutions;
  }
  for (const MixerRun& run : mixer_runs(track.traits)) {
    if (run.first >= ranges.front().begin && run.last < ranges.back().end) ++mixers;
  }
  return std::max(convolutions, mixers) >= kLeastLayers * ranges.size();
}

}  // namespace

LargeVector<std::uint32_t> steps_of_starts(std::span<const std::int64_t> ts, std::span<const InferredStep> steps) {
  LargeVector<std::uint32_t> out(ts.size(), 0);
  std::size_t step = 0;
  for (std::size_t i = 0; i < ts.size() && step < steps.size(); ++i) {
    while (step < steps.size() && steps[step].end <= ts[i]) ++step;
    if (step < steps.size() && ts[i] >= steps[step].begin) out[i] = static_cast<std::uint32_t>(step + 1);
  }
  return out;
}

InferredSteps infer_steps(const KernelSequence& kernels) {
  InferredSteps out;
  if (kernels.ts.empty()) {
    out.reason = "the trace has no kernels";
    return out;
  }
  const Track track = track_of(kernels, main_device(kernels));
  TrackRanges optimizer = optimizer_rhythm(kernels, track);
  const bool training = !optimizer.steps.empty();
  out.rhythm = training ? Rhythm::kOptimizer : Rhythm::kLayers;
  TrackRanges found = training ? std::move(optimizer) : PassFinder(kernels, track).find();
  if (found.steps.empty()) {
    TrackRanges graphs = graph_rhythm(kernels, track);
    if (graphs.steps.empty()) {
      out.rhythm = Rhythm::kNone;
      out.reason = fmt::format("{}; {}", found.reason, graphs.reason);
      return out;
    }
    out.rhythm = Rhythm::kGraphs;
    found = std::move(graphs);
  }
  constexpr double kMostConfidence = 0.95;  // what is not recorded is never certain
  out.confidence = std::min(found.confidence, kMostConfidence);
  out.reason = found.reason;
  const bool whole = training || are_steps(track, found.steps);
  if (!whole) out.confidence = std::min(out.confidence, part_alike(found.steps));
  for (const TrackRange& range : found.steps) {
    const bool last = range.end == track.kernel.size();
    out.steps.push_back({training ? StepKind::kTrain
                         : whole  ? kind_of(kernels, track, range)
                                  : StepKind::kUnit,
                         wait_before(kernels, track, range.begin).end,
                         last ? kForever : wait_before(kernels, track, range.end).end, range.warm_up});
  }
  if (!training && generates(track, out.steps)) out.rhythm = Rhythm::kGeneration;
  return out;
}

}  // namespace tracedb
