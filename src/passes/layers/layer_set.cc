#include "passes/layers/layer_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "base/text/amounts.h"
#include "base/unknown.h"
#include "passes/columns/event_columns.h"
#include "passes/layers/stack_table.h"
#include "passes/layers/step_layers.h"
#include "passes/steps/step_stats.h"

namespace tracedb {
namespace {

constexpr double kAgreement = 0.95;

class LayerFinder {
 public:
  LayerFinder(const Index& index, const EventTables& events, const StepSet& steps, const std::vector<Traits>& traits,
              const CaptureLayers* captured)
      : events_(events),
        steps_(steps),
        traits_(traits),
        names_(events.kernels.ids("name_id")),
        dur_(events.kernels.int64s("dur")),
        ordered_(steps.of_kernel, steps.steps.size()),
        devices_(events.device_of_stream),
        finder_(index, events, traits, captured, out_.of_kernel) {
    out_.of_kernel.assign(dur_.size(), kNoLayer);
  }

  LayerSet run() {
    const bool whole = steps_.steps.empty();
    for (std::size_t s = whole ? 0 : 1; s <= steps_.steps.size(); ++s) split(s, ordered_.of(s));
    for (std::size_t kind = 0; kind < kStepKinds; ++kind) accept(static_cast<StepKind>(kind));
    number();
    finish();
    out_.by_step = std::move(ordered_.rows);
    return std::move(out_);
  }

 private:
  // Not in training, where the backward pass has the same mixers again; without host calls, its optimizer shows it.
  [[nodiscard]] bool has_rhythm(const StepOnDevice& part) const {
    if (part.step == 0 || kind_of(part) == StepKind::kTrain) return false;
    return std::none_of(part.rows.begin(), part.rows.end(),
                        [&](std::uint32_t row) { return (traits_of(traits_, names_[row]) & kOptimizerTrait) != 0; });
  }

  // Puts the kernels of each device together: within a step, nobody else looks at their order.
  void split(std::size_t step, std::span<std::uint32_t> rows) {
    if (devices_.count > 1) {
      const auto stream = events_.kernels.ids("stream_id");
      std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
        return devices_.of(stream[a]) < devices_.of(stream[b]);
      });
    }
    for (std::size_t begin = 0; begin < rows.size();) {
      const std::size_t end = end_of_device(rows, begin);
      StepOnDevice part{step, rows.subspan(begin, end - begin), {}, false};
      finder_.find(part, has_rhythm(part));
      parts_.push_back(std::move(part));
      begin = end;
    }
  }

  [[nodiscard]] std::size_t end_of_device(std::span<const std::uint32_t> rows, std::size_t begin) const {
    const auto stream = events_.kernels.ids("stream_id");
    if (devices_.count == 1) return rows.size();
    std::size_t end = begin;
    while (end < rows.size() && devices_.of(stream[rows[end]]) == devices_.of(stream[rows[begin]])) ++end;
    return end;
  }

  [[nodiscard]] StepKind kind_of(const StepOnDevice& part) const {
    return part.step == 0 ? StepKind::kUnknown : steps_.steps[part.step - 1].info.kind;
  }

  using Signature = std::vector<std::size_t>;  // layers of each stack
  static Signature signature_of(const StepOnDevice& part) {
    Signature out;
    for (const StepStack& stack : part.stacks) out.push_back(stack.layers);
    return out;
  }

  // The number of layers, by stack, that most parts of a kind have, and how many have it.
  std::pair<Signature, std::size_t> usual_layers(StepKind kind) const {
    std::map<Signature, std::size_t> counts;
    for (const StepOnDevice& part : parts_) {
      if (kind_of(part) == kind) ++counts[signature_of(part)];
    }
    if (counts.empty()) return {};
    return *std::max_element(counts.begin(), counts.end(),
                             [](const auto& a, const auto& b) { return a.second < b.second; });
  }

  static void keep_largest(StepOnDevice& part) {
    const auto largest = std::max_element(part.stacks.begin(), part.stacks.end(),
                                          [](const StepStack& a, const StepStack& b) { return a.layers < b.layers; });
    if (largest != part.stacks.end()) part.stacks = {*largest};
  }

  void accept(StepKind kind) {
    PhaseLayers phase{kind, !steps_.steps.empty(), 0, 0, 0, {}, {}};
    for (const StepOnDevice& part : parts_) phase.steps += kind_of(part) == kind ? 1 : 0;
    if (phase.steps == 0) return;
    const auto agrees = [&](std::size_t n) {
      return static_cast<double>(n) >= kAgreement * static_cast<double>(phase.steps);
    };
    auto usual = usual_layers(kind);
    if (!agrees(usual.second)) {
      for (StepOnDevice& part : parts_) {
        if (kind_of(part) == kind) keep_largest(part);
        dropped_any_ = true;
      }
      usual = usual_layers(kind);
    }
    phase.agreeing = usual.second;
    const std::size_t layers = std::accumulate(usual.first.begin(), usual.first.end(), std::size_t{0});
    const bool agreed = agrees(usual.second);
    if (agreed) phase.layers = layers;
    for (StepOnDevice& part : parts_) {
      if (kind_of(part) != kind) continue;
      part.dropped = phase.layers == 0 || signature_of(part) != usual.first;
      if (part.dropped) part.stacks.clear();
      if (part.dropped) clear(part);
    }
    describe(phase, agreed, layers);
    out_.phases.push_back(std::move(phase));
  }

  void clear(const StepOnDevice& part) {
    for (const std::uint32_t row : part.rows) out_.of_kernel[row] = kNoLayer;
  }

  // What the parts of a kind have in common: all have as many stacks.
  std::vector<FoundStack> stacks_of(PhaseLayers& phase) const {
    std::vector<FoundStack> out;
    std::vector<std::map<std::size_t, std::size_t>> passes;
    std::set<LayerSource> sources;
    for (const StepOnDevice& part : parts_) {
      if (kind_of(part) != phase.kind || part.dropped) continue;
      out.resize(part.stacks.size());
      passes.resize(part.stacks.size());
      for (std::size_t s = 0; s < part.stacks.size(); ++s) {
        const StepStack& own = part.stacks[s];
        if (out[s].name.empty()) out[s].name = own.found.name;
        out[s].width = std::max(out[s].width, own.found.width);
        out[s].mixers = std::max(out[s].mixers, own.found.mixers);
        ++passes[s][own.found.passes];
        sources.insert(own.source);
      }
    }
    for (std::size_t s = 0; s < out.size(); ++s) {
      out[s].passes = std::max_element(passes[s].begin(), passes[s].end(), [](const auto& a, const auto& b) {
                        return a.second < b.second;
                      })->first;
    }
    phase.sources.assign(sources.begin(), sources.end());
    return out;
  }

  // One numbering for the stacks of all kinds of steps.
  void number() {
    std::vector<std::vector<FoundStack>> kinds;
    for (PhaseLayers& phase : out_.phases) kinds.push_back(stacks_of(phase));
    StackTable table = make_stack_table(kinds);
    const std::size_t numbers =
        table.stacks.empty() ? 0 : static_cast<std::size_t>(table.stacks.back().first + table.stacks.back().count);
    std::vector<bool> seen(numbers);
    for (std::size_t k = 0; k < out_.phases.size(); ++k) {
      PhaseLayers& phase = out_.phases[k];
      for (std::size_t s = 0; s < kinds[k].size(); ++s) {
        LayerStack own = table.stacks[table.place[k][s]];
        own.passes = kinds[k][s].passes;
        phase.stacks.push_back(std::move(own));
      }
      std::vector<bool> own(numbers);
      for (const StepOnDevice& part : parts_) {
        if (kind_of(part) != phase.kind || part.dropped) continue;
        renumber(part, phase.stacks);
        for (const std::uint32_t row : part.rows) {
          const std::int32_t layer = out_.of_kernel[row];
          if (layer >= 0) seen[static_cast<std::size_t>(layer)] = own[static_cast<std::size_t>(layer)] = true;
        }
      }
      phase.layers = count_layers(phase.stacks, own);
      out_.layers = std::max(out_.layers, phase.layers);
      doubt_passes(phase);
    }
    out_.stacks = std::move(table.stacks);
    count_layers(out_.stacks, seen);
  }

  // The number of layers: schema/METRICS.md 8.
  static std::size_t count_layers(LayerStacks& stacks, const std::vector<bool>& seen) {
    std::size_t all = 0;
    for (LayerStack& stack : stacks) {
      const auto first = seen.begin() + stack.first;
      stack.unseen = static_cast<std::int32_t>(std::count(first, first + stack.count, false));
      all += static_cast<std::size_t>(stack.layers());
    }
    return all;
  }

  // Modules and marks tell a second stack from a second pass over one, the rhythm of the kernels does not.
  void doubt_passes(const PhaseLayers& phase) {
    if (std::find(phase.sources.begin(), phase.sources.end(), LayerSource::kRhythm) == phase.sources.end()) return;
    for (const LayerStack& stack : phase.stacks) {
      if (stack.passes < 2 || !is_found_by_rhythm(phase, stack)) continue;
      const std::string note = fmt::format("{} passes over {} by rhythm: {} stacks of like layers would look the same",
                                           stack.passes, counted(stack.layers(), "layer"), stack.passes);
      if (std::find(out_.notes.begin(), out_.notes.end(), note) == out_.notes.end()) out_.notes.push_back(note);
    }
  }

  [[nodiscard]] bool is_found_by_rhythm(const PhaseLayers& phase, const LayerStack& stack) const {
    const auto place = static_cast<std::size_t>(&stack - phase.stacks.data());
    return std::any_of(parts_.begin(), parts_.end(), [&](const StepOnDevice& part) {
      return kind_of(part) == phase.kind && place < part.stacks.size() &&
             part.stacks[place].source == LayerSource::kRhythm;
    });
  }

  // To the numbers of the trace's stacks; what is in no stack that was kept has no layer.
  void renumber(const StepOnDevice& part, const LayerStacks& stacks) {
    std::vector<std::int32_t> to;  // by number in the part
    bool same = true;
    for (std::size_t s = 0; s < part.stacks.size(); ++s) {
      const StepStack& own = part.stacks[s];
      const auto end = static_cast<std::size_t>(own.first) + static_cast<std::size_t>(own.found.width);
      if (end > to.size()) to.resize(end, kNoLayer);
      for (std::int32_t i = 0; i < own.found.width; ++i) {
        to[static_cast<std::size_t>(own.first) + static_cast<std::size_t>(i)] = stacks[s].first + i;
      }
      same = same && own.first == stacks[s].first;
    }
    if (same && !part.stacks.empty() && !dropped_any_) return;
    for (const std::uint32_t row : part.rows) {
      std::int32_t& layer = out_.of_kernel[row];
      if (layer >= 0)
        layer = static_cast<std::size_t>(layer) < to.size() ? to[static_cast<std::size_t>(layer)] : kNoLayer;
    }
  }

  void describe(const PhaseLayers& phase, bool agreed, std::size_t usual) {
    const std::string what = phase.in_steps ? fmt::format("{} steps", to_string(phase.kind)) : "the trace";
    if (!agreed) {
      out_.notes.push_back(fmt::format("{}: no layers: only {} of {} run through {}", what, phase.agreeing,
                                       counted(phase.steps, "step on a device", "steps on devices"),
                                       counted(usual, "layer")));
    } else if (phase.layers == 0) {
      out_.notes.push_back(fmt::format("{}: no layers found", what));
    } else if (phase.agreeing < phase.steps) {
      out_.notes.push_back(
          fmt::format("{}: no layers in {} of {}, which do not run through {}", what, phase.steps - phase.agreeing,
                      counted(phase.steps, "step on a device", "steps on devices"), counted(usual, "layer")));
    }
  }

  void finish() {
    std::int64_t inside = 0, total = 0;
    for (std::size_t i = 0; i < dur_.size(); ++i) {
      const std::int64_t time = duration_or_zero(dur_[i]);
      total = saturating_add(total, time);
      inside = saturating_add(inside, out_.of_kernel[i] >= 0 ? time : 0);
    }
    out_.coverage = total > 0 ? static_cast<double>(inside) / static_cast<double>(total) : 0;
    for (std::size_t i = 0; const LayerHint* hint = finder_.hints().get(i); ++i) {
      const bool used = std::any_of(out_.phases.begin(), out_.phases.end(), [&](const PhaseLayers& phase) {
        return std::find(phase.sources.begin(), phase.sources.end(), hint->source) != phase.sources.end();
      });
      if (used) out_.notes.push_back("layers from " + hint->text);
    }
    for (const PhaseLayers& phase : out_.phases) {
      if (phase.layers == 0 || phase.layers == out_.layers) continue;
      out_.notes.push_back(fmt::format("{} steps have {}, others {}", to_string(phase.kind),
                                       counted(phase.layers, "layer"), out_.layers));
    }
  }

  const EventTables& events_;
  const StepSet& steps_;
  const std::vector<Traits>& traits_;  // by name
  std::span<const std::uint32_t> names_;
  std::span<const std::int64_t> dur_;
  RowsByStep ordered_;
  const DenseDevices devices_;
  std::vector<StepOnDevice> parts_;
  bool dropped_any_ = false;  // stacks of parts that keep others
  LayerSet out_;
  StepLayerFinder finder_;
};

}  // namespace

LayerSet find_layers(const Index& index, const EventTables& events, const StepSet& steps,
                     const std::vector<Traits>& traits, const CaptureLayers* captured) {
  return LayerFinder(index, events, steps, traits, captured).run();
}

}  // namespace tracedb
