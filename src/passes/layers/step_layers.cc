#include "passes/layers/step_layers.h"

#include <algorithm>
#include <map>

#include "base/unknown.h"
#include "passes/classify/mixer_runs.h"
#include "passes/steps/step_stats.h"

namespace tracedb {
namespace {

constexpr double kOneStream = 0.95;  // of the mixers

}  // namespace

StepLayerFinder::StepLayerFinder(const Index& index, const EventTables& events, const std::vector<Traits>& traits,
                                 const CaptureLayers* captured, LargeVector<std::int32_t>& of_kernel)
    : events_(events),
      hints_(index, {events.kernels, events.kernels.int64s("dur"), &traits}, captured),
      names_(events.kernels.ids("name_id")),
      dur_(events.kernels.int64s("dur")),
      all_traits_(traits),
      of_kernel_(of_kernel) {}

void StepLayerFinder::find(StepOnDevice& part, bool rhythm) {
  bool any_hint = false;
  bare_.assign(1, {0, part.rows.size()});
  for (std::size_t i = 0; const LayerHint* hint = any_hint ? nullptr : hints_.get(i); ++i) {
    any_hint = hinted(part, *hint, rhythm);
  }
  if (rhythm && !bare_.empty()) find_rhythm(part);
  if (any_hint) mark_ends(part);
  std::stable_sort(part.stacks.begin(), part.stacks.end(),
                   [](const StepStack& a, const StepStack& b) { return a.begin < b.begin; });
}

// Layers of the stretches that no hint knows of.
void StepLayerFinder::find_rhythm(StepOnDevice& part) {
  prepare_traits();
  choose_sequence(part.rows);
  const LayerRhythm& found = rhythm_of_sequence();
  std::int32_t next = 0;
  for (const StepStack& stack : part.stacks) next = std::max(next, stack.first + stack.found.width);
  std::vector<std::int32_t> first;  // by stack of the rhythm
  for (std::size_t s = 0; s < found.stacks.size(); ++s) {
    const RhythmStack& stack = found.stacks[s];
    const auto pass =
        std::find_if(found.passes.begin(), found.passes.end(), [&](const RhythmPass& each) { return each.stack == s; });
    const auto width = static_cast<std::int32_t>(stack.layers);
    part.stacks.push_back({LayerSource::kRhythm,
                           {"", width, stack.mixers, stack.passes},
                           next,
                           stack.layers,
                           places_[pass->cuts.begin.front()]});
    first.push_back(next);
    next += width;
  }
  for (std::size_t p = 0; p < found.passes.size(); ++p) {
    const RhythmPass* before = p > 0 ? &found.passes[p - 1] : nullptr;
    const RhythmPass* after = p + 1 < found.passes.size() ? &found.passes[p + 1] : nullptr;
    number_layers(part.rows, found.passes[p], before, after, first[found.passes[p].stack]);
  }
}

// Gives the kernels of a pass their layers. What is between two stacks belongs to neither; what is between two passes
// over one is tail and head where it is marked which is which.
void StepLayerFinder::number_layers(std::span<const std::uint32_t> rows, const RhythmPass& pass,
                                    const RhythmPass* before, const RhythmPass* after, std::int32_t first) {
  const auto place = [&](std::size_t at) { return at < places_.size() ? places_[at] : rows.size(); };
  const bool repeats = before != nullptr && before->stack == pass.stack && pass.marked;
  const bool repeated = after != nullptr && after->stack == pass.stack && after->marked;
  std::size_t i = before == nullptr ? 0 : repeats ? place(pass.from) : place(pass.cuts.begin.front());
  const auto fill_to = [&](std::size_t to, std::int32_t layer) {
    for (; i < to; ++i) {
      std::int32_t& own = of_kernel_[rows[i]];
      if (own == kNoLayer) own = layer;  // not where a hint knows better
    }
  };
  const std::size_t end = after == nullptr ? rows.size()
                          : repeated       ? place(after->from)
                                           : std::min(place(pass.to), place(after->cuts.begin.front()));
  const std::size_t tail = std::min(place(pass.cuts.tail), end);
  std::int32_t layer = kHead;
  for (std::size_t next = 0; next < pass.cuts.begin.size(); ++next) {
    fill_to(std::min(place(pass.cuts.begin[next]), tail), layer);
    layer = first + static_cast<std::int32_t>(next);
  }
  fill_to(tail, layer);
  if (after == nullptr || repeated) fill_to(end, kTail);
}

void StepLayerFinder::prepare_traits() {
  if (traits_.empty()) traits_ = without_seldom_mixers(names_, all_traits_);
}

// Rhythm shows on the stream that has the mixers; what runs beside it belongs to the layer that runs meanwhile.
void StepLayerFinder::choose_sequence(std::span<const std::uint32_t> rows) {
  const auto stream = events_.kernels.ids("stream_id");
  std::map<std::uint32_t, std::size_t> mixers;  // by stream
  std::size_t all = 0;
  std::size_t count = 0;
  for (const auto& [from, to] : bare_) count += to - from;
  sequence_.resize(count);
  places_.resize(count);
  joints_.clear();
  std::size_t next = 0;
  for (const auto& [from, to] : bare_) {
    for (std::size_t i = from; i < to; ++i, ++next) {
      sequence_[next] = traits_of(traits_, names_[rows[i]]);
      places_[next] = i;
      if ((sequence_[next] & kMixerTraits) == 0) continue;
      ++mixers[stream[rows[i]]];
      ++all;
    }
  }
  const auto most =
      std::max_element(mixers.begin(), mixers.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const bool one = most != mixers.end() && static_cast<double>(most->second) >= kOneStream * static_cast<double>(all);
  if (one) keep_stream(rows, most->first);
  for (std::size_t i = 1, bare = 1; i < places_.size() && bare < bare_.size(); ++i) {
    if (places_[i] < bare_[bare].first) continue;
    joints_.push_back(i);
    while (bare < bare_.size() && bare_[bare].first <= places_[i]) ++bare;
  }
}

// Steps of one kind have few different sequences.
const LayerRhythm& StepLayerFinder::rhythm_of_sequence() {
  for (const Known& known : known_) {
    if (known.sequence == sequence_ && known.joints == joints_) return known.rhythm;
  }
  constexpr std::size_t kMostKnown = 16;
  if (known_.size() >= kMostKnown) known_.pop_front();
  known_.push_back({sequence_, joints_, layer_rhythm(sequence_, joints_)});
  return known_.back().rhythm;
}

void StepLayerFinder::keep_stream(std::span<const std::uint32_t> rows, std::uint32_t kept) {
  const auto stream = events_.kernels.ids("stream_id");
  std::size_t count = 0;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    sequence_[count] = sequence_[i];
    places_[count] = places_[i];
    count += stream[rows[places_[i]]] == kept ? 1 : 0;
  }
  sequence_.resize(count);
  places_.resize(count);
}

// False where too little of the step is in layers of that kind: a replayed graph beside a few launched kernels. What
// has layers of its own, by its rhythm, does not count in that, and is left in bare_.
bool StepLayerFinder::hinted(StepOnDevice& part, const LayerHint& hint, bool rhythm) {
  double inside = 0, total = 0;
  bool any = false;
  for (const std::uint32_t row : part.rows) {
    const auto time = static_cast<double>(duration_or_zero(dur_[row]));
    total += time;
    if (hint.of(row) < 0) continue;
    inside += time;
    any = true;
  }
  if (!any) return false;
  const std::vector<Stretch> bare = rhythm ? bare_stretches(part, hint) : std::vector<Stretch>();
  for (const auto& [from, to] : bare) {
    for (std::size_t i = from; i < to; ++i) total -= static_cast<double>(duration_or_zero(dur_[part.rows[i]]));
  }
  constexpr double kLeast = 0.2;
  if (inside < kLeast * total) return false;
  bare_ = bare;
  for (const std::uint32_t row : part.rows) of_kernel_[row] = std::max(hint.of(row), kNoLayer);
  for (const LayerStack& stack : hint.stacks) add_hinted(part, hint.source, stack);
  return true;
}

// Stretches without the layers of a hint in which there are layers nonetheless.
std::vector<Stretch> StepLayerFinder::bare_stretches(const StepOnDevice& part, const LayerHint& hint) {
  std::vector<Stretch> out;
  for (std::size_t i = 0; i < part.rows.size();) {
    std::size_t end = i;
    sequence_.clear();
    while (end < part.rows.size() && hint.of(part.rows[end]) < 0) {
      if (end == i) prepare_traits();
      sequence_.push_back(traits_of(traits_, names_[part.rows[end++]]));
    }
    if (end > i && mixer_runs(sequence_).size() > 1) out.emplace_back(i, end);
    i = std::max(end, i + 1);
  }
  return out;
}

// A pass begins where the first third of the layers comes after the last one.
void StepLayerFinder::add_hinted(StepOnDevice& part, LayerSource source, const LayerStack& stack) {
  std::vector<bool> seen(static_cast<std::size_t>(stack.count));
  const std::int32_t third = std::max(stack.count / 3, 1);
  StepStack out{source, {stack.name, stack.count, 0, 0}, stack.first, 0, 0};
  bool late = true;
  for (std::size_t i = 0; i < part.rows.size(); ++i) {
    const std::int32_t layer = of_kernel_[part.rows[i]];
    if (!stack.has(layer)) continue;
    const std::int32_t index = layer - stack.first;
    if (out.layers == 0) out.begin = i;
    if (!seen[static_cast<std::size_t>(index)]) ++out.layers;
    seen[static_cast<std::size_t>(index)] = true;
    if (late && index < third) ++out.found.passes, late = false;
    if (index >= stack.count - third) late = true;
  }
  out.found.passes = std::max<std::size_t>(out.found.passes, 1);
  if (out.layers > 0) part.stacks.push_back(std::move(out));
}

// Head and tail of a step with layers by hints: before the first and behind the last of any stack.
void StepLayerFinder::mark_ends(const StepOnDevice& part) {
  const auto is_layer = [&](std::uint32_t row) { return of_kernel_[row] >= 0; };
  const auto first = std::find_if(part.rows.begin(), part.rows.end(), is_layer);
  const auto last = std::find_if(part.rows.rbegin(), part.rows.rend(), is_layer).base();
  for (auto row = part.rows.begin(); row != part.rows.end(); ++row) {
    std::int32_t& layer = of_kernel_[*row];
    if (layer < 0) layer = row < first ? kHead : row >= last ? kTail : kNoLayer;
  }
}

}  // namespace tracedb
