#include "passes/layer_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "passes/group_stats.h"
#include "passes/mixer_runs.h"
#include "passes/module_layers.h"
#include "passes/rows_by_step.h"
#include "passes/step_stats.h"

namespace tracedb {
namespace {

constexpr std::size_t kKinds = static_cast<std::size_t>(StepKind::kUnknown) + 1;
constexpr double kAgreement = 0.95;

std::int64_t time_of(std::int64_t dur) { return dur == kNullCell ? 0 : dur; }

// The kernels of one step on one device.
struct Piece {
  std::size_t step = 0;  // place + 1; 0: no steps at all
  std::span<const std::uint32_t> rows;
  std::size_t layers = 0;
  LayerSource source = LayerSource::kNone;
};

LaunchPlaces places_of(const EventColumns& kernels) {
  LaunchPlaces places{"kernel", kernels.times("dur"), {}, {}};
  if (kernels.has("stack_id")) places.stack = kernels.ids("stack_id");
  if (kernels.has("annotation_id")) places.annotation = kernels.ids("annotation_id");
  return places;
}

class Finder {
 public:
  Finder(const Index& index, const EventTables& events, const StepSet& steps, const std::vector<Traits>& traits,
         const std::vector<std::int32_t>* lent)
      : events_(events),
        steps_(steps),
        hints_(index, places_of(events.kernels), lent),
        names_(events.kernels.ids("name_id")),
        dur_(events.kernels.times("dur")),
        all_traits_(traits),
        ordered_(steps.of_kernel, steps.steps.size()),
        devices_(events.device_of_stream) {
    out_.of_kernel.assign(names_.size(), kNoLayer);
  }

  LayerSet run() {
    const bool whole = steps_.steps.empty();
    for (std::size_t s = whole ? 0 : 1; s <= steps_.steps.size(); ++s) split(s, ordered_.of(s));
    for (std::size_t kind = 0; kind < kKinds; ++kind) accept(static_cast<StepKind>(kind));
    finish();
    if (out_.layers > 0) out_.stacks.push_back({"stack 1", 0, static_cast<std::int32_t>(out_.layers), 1});
    out_.by_step = std::move(ordered_.rows);
    return std::move(out_);
  }

 private:
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
      Piece piece{step, rows.subspan(begin, end - begin), 0, LayerSource::kNone};
      find(piece);
      pieces_.push_back(piece);
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

  [[nodiscard]] StepKind kind_of(const Piece& piece) const {
    return piece.step == 0 ? StepKind::kUnknown : steps_.steps[piece.step - 1].info.kind;
  }

  void find(Piece& piece) {
    for (std::size_t i = 0; const LayerHint* hint = hints_.get(i); ++i) {
      if (hinted(piece, *hint)) return;
    }
    const StepKind kind = kind_of(piece);
    if (piece.step == 0 || kind == StepKind::kTrain || kind == StepKind::kOther) return;
    if (traits_.empty()) traits_ = without_seldom_mixers(names_, all_traits_);
    choose_sequence(piece.rows);
    std::vector<MixerRun> runs = mixer_runs(sequence_);
    const std::vector<std::size_t> begins = pass_begins(sequence_, runs);
    std::vector<LayerCuts> passes;
    if (begins.size() == 1) passes.push_back(layer_cuts(sequence_, std::move(runs)));
    for (std::size_t p = 0; begins.size() > 1 && p < begins.size(); ++p) {
      const std::size_t end = p + 1 < begins.size() ? begins[p + 1] : sequence_.size();
      passes.push_back(layer_cuts(std::span(sequence_).subspan(begins[p], end - begins[p])));
    }
    for (const LayerCuts& pass : passes) piece.layers = std::max(piece.layers, pass.begin.size());
    if (piece.layers == 0) return;
    piece.source = LayerSource::kRhythm;
    for (std::size_t p = 0; p < passes.size(); ++p) {
      // A shorter pass is another model's: one that drafts tokens, say.
      if (passes[p].begin.size() != piece.layers) continue;
      const std::size_t end = p + 1 < begins.size() ? places_[begins[p + 1]] : piece.rows.size();
      number_layers(piece.rows, passes[p], begins[p], end);
    }
  }

  // Gives the kernels of a pass their layers. It begins at `begin` of the sequence and ends before row `end` of `rows`.
  void number_layers(std::span<const std::uint32_t> rows, const LayerCuts& cuts, std::size_t begin, std::size_t end) {
    const auto place = [&](std::size_t cut) {
      return begin + cut < places_.size() ? places_[begin + cut] : rows.size();
    };
    std::size_t i = begin == 0 ? 0 : places_[begin];
    const auto fill_to = [&](std::size_t to, std::int32_t layer) {
      for (; i < to; ++i) out_.of_kernel[rows[i]] = layer;
    };
    const std::size_t tail = std::min(place(cuts.tail), end);
    std::int32_t layer = kHead;
    for (std::size_t next = 0; next < cuts.begin.size(); ++next) {
      fill_to(std::min(place(cuts.begin[next]), tail), layer);
      layer = static_cast<std::int32_t>(next);
    }
    fill_to(tail, layer);
    fill_to(end, kTail);
  }

  // Rhythm shows on the stream that has the mixers; what runs beside it belongs to the layer that runs meanwhile.
  void choose_sequence(std::span<const std::uint32_t> rows) {
    const auto stream = events_.kernels.ids("stream_id");
    std::map<std::uint32_t, std::size_t> mixers;  // by stream
    std::size_t all = 0;
    sequence_.resize(rows.size());
    places_.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      sequence_[i] = traits_of(traits_, names_[rows[i]]);
      places_[i] = i;
      if ((sequence_[i] & kMixerTraits) == 0) continue;
      ++mixers[stream[rows[i]]];
      ++all;
    }
    const auto most = std::max_element(mixers.begin(), mixers.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    const bool one = most != mixers.end() && static_cast<double>(most->second) >= kAgreement * static_cast<double>(all);
    if (!one) return;
    std::size_t count = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      sequence_[count] = sequence_[i];
      places_[count] = i;
      count += stream[rows[i]] == most->first ? 1 : 0;
    }
    sequence_.resize(count);
    places_.resize(count);
  }

  // False where too little of the step is in layers of that kind: a replayed graph beside a few launched kernels.
  bool hinted(Piece& piece, const LayerHint& hint) {
    std::size_t first = piece.rows.size();
    std::size_t last = 0;
    double inside = 0, total = 0;
    std::vector<bool> seen;
    for (std::size_t i = 0; i < piece.rows.size(); ++i) {
      const auto time = static_cast<double>(time_of(dur_[piece.rows[i]]));
      total += time;
      const std::int32_t layer = hint.of(piece.rows[i]);
      if (layer < 0) continue;
      inside += time;
      first = std::min(first, i);
      last = i;
      const auto place = static_cast<std::size_t>(layer);
      if (place >= seen.size()) seen.resize(place + 1);
      seen[place] = true;
    }
    constexpr double kLeast = 0.2;
    if (first == piece.rows.size() || inside < kLeast * total) return false;
    piece.layers = static_cast<std::size_t>(std::count(seen.begin(), seen.end(), true));
    piece.source = hint.source;
    for (std::size_t i = 0; i < piece.rows.size(); ++i) {
      out_.of_kernel[piece.rows[i]] = i < first ? kHead : i > last ? kTail : std::max(hint.of(piece.rows[i]), kNoLayer);
    }
    return true;
  }

  void clear(const Piece& piece) {
    for (const std::uint32_t row : piece.rows) out_.of_kernel[row] = kNoLayer;
  }

  void accept(StepKind kind) {
    std::map<std::size_t, std::size_t> counts;
    PhaseLayers phase{kind, !steps_.steps.empty(), 0, 0, 0, LayerSource::kNone};
    for (const Piece& piece : pieces_) {
      if (kind_of(piece) != kind) continue;
      ++phase.steps;
      ++counts[piece.layers];
    }
    if (phase.steps == 0) return;
    const auto usual = std::max_element(counts.begin(), counts.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
    phase.agreeing = usual->second;
    const bool agreed = static_cast<double>(usual->second) >= kAgreement * static_cast<double>(phase.steps);
    if (agreed) phase.layers = usual->first;
    for (const Piece& piece : pieces_) {
      if (kind_of(piece) != kind) continue;
      if (phase.layers == 0 || piece.layers != phase.layers) clear(piece);
      if (phase.layers > 0 && piece.layers == phase.layers) phase.source = std::max(phase.source, piece.source);
    }
    describe(phase, agreed, usual->first);
    out_.layers = std::max(out_.layers, phase.layers);
    out_.phases.push_back(phase);
  }

  void describe(const PhaseLayers& phase, bool agreed, std::size_t usual) {
    const std::string what = phase.in_steps ? fmt::format("{} steps", to_string(phase.kind)) : "the trace";
    if (!agreed) {
      out_.notes.push_back(fmt::format("{}: no layers: only {} of {} steps and devices agree on {} of them", what,
                                       phase.agreeing, phase.steps, usual));
    } else if (phase.layers == 0) {
      out_.notes.push_back(fmt::format("{}: no layers found", what));
    } else if (phase.agreeing < phase.steps) {
      out_.notes.push_back(fmt::format("{}: {} of {} have another number of layers than {}, and get none", what,
                                       phase.steps - phase.agreeing, phase.steps, phase.layers));
    }
  }

  void finish() {
    std::int64_t inside = 0, total = 0;
    for (std::size_t i = 0; i < dur_.size(); ++i) {
      const std::int64_t time = time_of(dur_[i]);
      total = bounded_add(total, time);
      inside = bounded_add(inside, out_.of_kernel[i] >= 0 ? time : 0);
    }
    out_.coverage = total > 0 ? static_cast<double>(inside) / static_cast<double>(total) : 0;
    for (std::size_t i = 0; const LayerHint* hint = hints_.get(i); ++i) {
      const bool used = std::any_of(out_.phases.begin(), out_.phases.end(),
                                    [&](const PhaseLayers& phase) { return phase.source == hint->source; });
      if (used) out_.notes.push_back("layers from " + hint->text);
    }
    for (const PhaseLayers& phase : out_.phases) {
      if (phase.layers == 0 || phase.layers == out_.layers) continue;
      out_.notes.push_back(
          fmt::format("{} steps have {} layers, others {}", to_string(phase.kind), phase.layers, out_.layers));
    }
  }

  const EventTables& events_;
  const StepSet& steps_;
  LayerHints hints_;
  std::span<const std::uint32_t> names_;
  std::span<const std::int64_t> dur_;
  const std::vector<Traits>& all_traits_;
  std::vector<Traits> traits_;  // made when rhythm is first asked for
  RowsByStep ordered_;
  const DenseDevices devices_;
  std::vector<Piece> pieces_;
  std::vector<Traits> sequence_;     // of the step at hand,
  std::vector<std::size_t> places_;  // and where its kernels are among the step's
  LayerSet out_;
};

}  // namespace

std::vector<std::string_view> layer_columns(const Index& index) {
  const bool modules =
      index.database()
          .query_int64("SELECT count(*) > 1 FROM string WHERE value >= 'nn.Module: ' AND value < 'nn.Module:!'")
          .value_or(0) != 0;
  if (modules) return {"stack_id"};
  if (!annotation_layers(index).empty()) return {"annotation_id"};
  return {};
}

LayerSet find_layers(const Index& index, const EventTables& events, const StepSet& steps,
                     const std::vector<Traits>& traits, const std::vector<std::int32_t>* lent) {
  return Finder(index, events, steps, traits, lent).run();
}

}  // namespace tracedb
