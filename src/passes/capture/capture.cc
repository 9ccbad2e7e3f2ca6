#include "passes/capture/capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

#include "base/text/amounts.h"
#include "base/unknown.h"
#include "passes/columns/event_columns.h"
#include "passes/layers/layer_set.h"
#include "passes/steps/step_stats.h"

namespace tracedb {
namespace {

// By id of kernel name; `token_of` gives a text its token.
std::unordered_map<std::uint32_t, NameTokens> name_tokens(const Index& index,
                                                          const std::function<std::uint32_t(std::string)>& token_of) {
  std::unordered_map<std::uint32_t, NameTokens> out;
  Statement rows(index.database(), "SELECT id, name, short_name FROM kernel_name");
  while (rows.step()) {
    // The blank keeps both kinds of names apart.
    out[rows.id(0)] = {token_of(std::string(rows.text(1))), token_of(' ' + std::string(rows.text(2)))};
  }
  return out;
}

// Steps of the capture's own kernels, as far as no graph launched them.
void read_steps(const Index& index, const StepOptions& options, const std::vector<Traits>& traits, Capture& capture) {
  const EventTables events(index);
  if (events.kernels.size() == 0) return;
  const StepSet steps = load_steps(index, options, events, traits);
  const LayerSet layers = find_layers(index, events, steps, traits);
  capture.stacks = layers.stacks;
  const auto tokens = name_tokens(index, [&](std::string text) {
    return capture.tokens.try_emplace(std::move(text), static_cast<std::uint32_t>(capture.tokens.size())).first->second;
  });
  const std::vector<bool> graphs = graph_launches(index);
  const auto launch = events.kernels.ids("launch_id");
  const auto name = events.kernels.ids("name_id");
  const auto cpu_op = events.kernels.ids("cpu_op_id");
  const auto stack = events.kernels.ids("stack_id");
  RowsByStep ordered(steps.of_kernel, steps.steps.size());
  for (std::size_t s = steps.steps.empty() ? 0 : 1; s <= steps.steps.size(); ++s) {
    CaptureSequence sequence;
    for (const std::uint32_t row : ordered.of(s)) {
      if (has_id(graphs, launch[row])) continue;
      const auto own = tokens.find(name[row]);
      const NameTokens token = own == tokens.end() ? kUnknownTokens : own->second;
      sequence.name.push_back(token[0]);
      sequence.short_name.push_back(token[1]);
      sequence.launcher.push_back(static_cast<std::uint32_t>(capture.launchers.size()));
      capture.launchers.push_back({cpu_op[row], stack[row], layers.of_kernel[row]});
    }
    if (!sequence.name.empty()) capture.steps.push_back(std::move(sequence));
  }
}

// Layers by what the trace says of the launches, in a capture without kernels.
CaptureLayers layers_of_calls(const Index& index, const EventColumns& calls, std::span<const std::uint32_t> capture) {
  std::vector<std::int64_t> weight(calls.size(), 0);
  for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = capture[i] != 0 ? 1024 : 0;
  LayerSources hints(index, {calls, weight});
  CaptureLayers layers{std::vector<std::int32_t>(calls.size(), kNoLayer), {}};
  const LayerHint* hint = hints.get(0);
  if (hint != nullptr) layers.stacks = hint->stacks;
  for (std::size_t i = 0; hint != nullptr && i < calls.size(); ++i) layers.of_row[i] = hint->of(i);
  return layers;
}

// By row of `calls`: of launches between the begin and the end of a capture on their thread, which one, from 1 on; 0:
// in none.
std::vector<std::uint32_t> captured_launches(const Index& index, const EventColumns& calls) {
  std::vector<std::uint32_t> out(calls.size(), 0);
  const auto begins = ids_in(index, "SELECT id FROM string WHERE value GLOB '*StreamBeginCapture*' ORDER BY id"),
             ends = ids_in(index, "SELECT id FROM string WHERE value GLOB '*StreamEndCapture*' ORDER BY id");
  if (begins.size() == 1 || ends.size() == 1) return out;
  const auto kind = calls.ids("kind"), thread = calls.ids("thread_id"), name = calls.ids("name_id");
  std::unordered_map<std::uint32_t, std::uint32_t> open;  // by thread: the capture
  std::uint32_t captures = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::uint32_t& capture = open[thread[i]];
    if (has_id(begins, name[i])) {
      capture = ++captures;
    } else if (has_id(ends, name[i])) {
      capture = 0;
    } else if (kind[i] == static_cast<std::uint32_t>(CallKind::kLaunch)) {
      out[i] = capture;
    }
  }
  return out;
}

void read_captures(const Index& index, Capture& capture) {
  const EventColumns calls(index, "runtime_call",
                           {"kind", "thread_id", "name_id", "cpu_op_id", "stack_id", "annotation_id"});
  const std::vector<std::uint32_t> captured = captured_launches(index, calls);
  if (std::ranges::count(captured, 0U) == std::ssize(captured)) return;
  CaptureLayers layers = layers_of_calls(index, calls, captured);
  for (std::size_t row = 0; row < captured.size(); ++row) {
    if (captured[row] == 0) continue;
    for_id(capture.captures, captured[row] - 1)
        .launcher.push_back(static_cast<std::uint32_t>(capture.launchers.size()));
    capture.launchers.push_back({calls.ids("cpu_op_id")[row], calls.ids("stack_id")[row], layers.of_row[row]});
  }
  std::erase_if(capture.captures, [](const CaptureSequence& one) { return one.launcher.empty(); });
  if (capture.stacks.empty()) capture.stacks = std::move(layers.stacks);
}

using Tokens = std::span<const std::uint32_t>;
using Places = std::unordered_map<std::uint32_t, std::vector<std::uint32_t>>;  // by token, in order

Places places_of(Tokens tokens) {
  Places places;
  for (std::uint32_t i = 0; i < tokens.size(); ++i) places[tokens[i]].push_back(i);
  return places;
}

// Of a table of lengths only the way back is kept, one step a cell.
enum class Way : std::uint8_t { kBoth, kSkipA, kSkipB };

void match_middle(Tokens a, Tokens b, std::uint32_t offset_a, std::uint32_t offset_b, std::vector<std::uint32_t>& out) {
  std::vector<Way> ways(a.size() * b.size());
  std::vector<std::uint32_t> above(b.size() + 1, 0), row(b.size() + 1, 0);  // lengths for the rest of both, from behind
  for (std::size_t i = a.size(); i-- > 0;) {
    row[b.size()] = 0;
    for (std::size_t j = b.size(); j-- > 0;) {
      const bool same = a[i] == b[j];
      row[j] = same ? above[j + 1] + 1 : std::max(above[j], row[j + 1]);
      ways[i * b.size() + j] = same ? Way::kBoth : above[j] >= row[j + 1] ? Way::kSkipA : Way::kSkipB;
    }
    std::swap(above, row);
  }
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Way way = ways[i * b.size() + j];
    if (way == Way::kBoth) out[offset_a + i] = static_cast<std::uint32_t>(offset_b + j);
    i += way != Way::kSkipB ? 1U : 0U;
    j += way != Way::kSkipA ? 1U : 0U;
  }
}

void match_in_order(Tokens a, Tokens b, std::size_t most_cells, std::vector<std::uint32_t>& out) {
  std::size_t front = 0;
  const std::size_t shorter = std::min(a.size(), b.size());
  while (front < shorter && a[front] == b[front]) ++front;
  std::size_t back = 0;
  while (back < shorter - front && a[a.size() - 1 - back] == b[b.size() - 1 - back]) ++back;
  for (std::size_t i = 0; i < front; ++i) out[i] = static_cast<std::uint32_t>(i);
  for (std::size_t i = 1; i <= back; ++i) out[a.size() - i] = static_cast<std::uint32_t>(b.size() - i);
  const std::size_t rows = a.size() - front - back;
  const std::size_t columns = b.size() - front - back;
  if (rows == 0 || columns == 0 || rows > most_cells / columns) return;
  const auto offset = static_cast<std::uint32_t>(front);
  match_middle(a.subspan(front, rows), b.subspan(front, columns), offset, offset, out);
}

// The nth of a token is the nth of the other sequence, for tokens that both have equally often.
void match_by_rank(const Places& a, const Places& b, std::vector<bool>& taken, std::vector<std::uint32_t>& out) {
  for (const auto& [token, places] : a) {
    const auto other = b.find(token);
    if (other == b.end() || other->second.size() != places.size()) continue;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const std::uint32_t partner = other->second[i];
      if (out[places[i]] != kUnmatched || taken[partner]) continue;
      out[places[i]] = partner;
      taken[partner] = true;
    }
  }
}

bool equally_often(const Places& a, const Places& b) {
  return a.size() == b.size() && std::ranges::all_of(a, [&](const auto& entry) {
           const auto other = b.find(entry.first);
           return other != b.end() && other->second.size() == entry.second.size();
         });
}

using Rows = std::span<const std::uint32_t>;

// By place in a sequence: place in Capture::launchers + 1, 0: none.
struct Fit {
  std::vector<std::uint32_t> launcher;
  double share = 0;  // of the kernels, on the side where it is less
};

// Models of one family differ in their number of layers alone, and then most of their kernels match: what tells them
// apart is a whole layer without a counterpart.
class LayerCheck {
 public:
  LayerCheck(const Capture& capture, const CaptureSequence& step, const std::vector<std::uint32_t>& tokens) {
    std::vector<bool> seen;
    std::size_t inside = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const std::int32_t layer = capture.launchers[step.launcher[i]].layer;
      if (layer < 0) continue;
      ++inside;
      for_id(seen, static_cast<std::size_t>(layer)) = true;
      in_layers_.insert(tokens[i]);
    }
    const auto layers = std::ranges::count(seen, true);
    if (layers > 1) layer_size_ = static_cast<double>(inside) / static_cast<double>(layers);
  }

  // A run of elements without counterpart has most of a layer's kernels.
  [[nodiscard]] bool misses_one(const std::vector<std::uint32_t>& tokens, const std::vector<bool>& matched) const {
    constexpr double kMostOfOne = 0.7;
    double run = 0;
    for (std::size_t i = 0; layer_size_ > 0 && i < tokens.size(); ++i) {
      run = matched[i] ? 0 : run + (in_layers_.contains(tokens[i]) ? 1 : 0);
      if (run >= kMostOfOne * layer_size_) return true;
    }
    return false;
  }

 private:
  std::unordered_set<std::uint32_t> in_layers_;
  double layer_size_ = 0;  // 0: the capture knows no layers
};

class CaptureMatcher {
 public:
  CaptureMatcher(const Capture& capture, const Index& index, const EventTables& events, const StepSet& steps)
      : capture_(capture),
        events_(events),
        steps_(steps),
        graphs_(graph_launches(index)),
        launch_(events.kernels.ids("launch_id")),
        name_(events.kernels.ids("name_id")),
        dur_(events.kernels.int64s("dur")) {
    out_.launcher.assign(name_.size(), 0);
    tokens_ = name_tokens(index, [&](const std::string& text) {
      const auto found = capture_.tokens.find(text);
      return found == capture_.tokens.end() ? kUnknownToken : found->second;
    });
  }

  ReplayOrigins run() {
    RowsByStep ordered(steps_.of_kernel, steps_.steps.size());
    match_launches(ordered.of(0));
    for (std::size_t s = 1; s <= steps_.steps.size(); ++s) match_devices(ordered.of(s));
    describe();
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool is_replayed(std::uint32_t row) const { return has_id(graphs_, launch_[row]); }

  // Outside of steps a graph launch is all there is to compare.
  void match_launches(Rows rows) {
    for (const auto& [launch, places] : places_by_launch(rows)) {
      std::vector<std::uint32_t> own;
      for (const std::size_t place : places) own.push_back(rows[place]);
      match_rows(own);
    }
  }

  // Of replayed kernels among `rows`, in the order of the launches.
  using PlacesByLaunch = std::map<std::uint32_t, std::vector<std::size_t>>;
  [[nodiscard]] PlacesByLaunch places_by_launch(Rows rows) const {
    PlacesByLaunch out;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (is_replayed(rows[i])) out[launch_[rows[i]]].push_back(i);
    }
    return out;
  }

  void match_devices(Rows rows) {
    const DenseDevices devices(events_.device_of_stream);
    const auto stream = events_.kernels.ids("stream_id");
    std::vector<std::vector<std::uint32_t>> parts(devices.count);
    for (const std::uint32_t row : rows) parts[devices.of(stream[row])].push_back(row);
    for (const std::vector<std::uint32_t>& part : parts) match_rows(part);
  }

  void match_rows(Rows rows) {
    const bool any = std::ranges::any_of(rows, [&](std::uint32_t row) { return is_replayed(row); });
    if (!any) return;
    const Fit& fit = fit_of(rows);
    ++parts_;
    if (fit.launcher.empty()) ++unfit_;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!is_replayed(rows[i])) continue;
      const auto time = static_cast<double>(duration_or_zero(dur_[rows[i]]));
      ++out_.kernels;
      total_ += time;
      if (fit.launcher.empty() || fit.launcher[i] == 0) continue;
      out_.launcher[rows[i]] = fit.launcher[i];
      ++out_.matched;
      matched_ += time;
    }
  }

  // Steps are much alike: what was found for one holds for all with the same kernels.
  const Fit& fit_of(Rows rows) {
    std::vector<std::uint32_t> key;
    for (const std::uint32_t row : rows) key.push_back(name_[row]);
    const PlacesByLaunch launches = places_by_launch(rows);
    for (const auto& [launch, places] : launches) key.push_back(static_cast<std::uint32_t>(places.size()));
    const auto [entry, is_new] = fits_.try_emplace(std::move(key));
    if (!is_new) return entry->second;
    Fit& fit = entry->second;
    fit = fit_steps(rows, &CaptureSequence::name, 0);
    if (fit.launcher.empty()) {
      Fit shorter = fit_steps(rows, &CaptureSequence::short_name, 1);
      if (shorter.share > fit.share) fit = std::move(shorter);
    }
    if (fit.launcher.empty()) {
      Fit captured = fit_captures(rows, launches);
      if (!captured.launcher.empty()) fit = std::move(captured);
    }
    return fit;
  }

  Fit fit_steps(Rows rows, std::vector<std::uint32_t> CaptureSequence::*names, std::size_t which) const {
    std::vector<std::uint32_t> own;
    for (const std::uint32_t row : rows) {
      const auto tokens = tokens_.find(name_[row]);
      own.push_back(tokens == tokens_.end() ? kUnknownToken : tokens->second[which]);
    }
    const CaptureSequence* best = nullptr;
    double most = 0;
    for (const CaptureSequence& step : capture_.steps) {
      const double longer = static_cast<double>(std::max(own.size(), (step.*names).size()));
      const double share = static_cast<double>(shared_elements(own, step.*names)) / longer;
      if (share > most) most = share, best = &step;
      if (most >= 1) break;
    }
    Fit fit{{}, most};
    if (best == nullptr || most < kLeastMatched) return fit;
    const std::vector<std::uint32_t> places = match_sequences(own, best->*names);
    const auto matched = places.size() - static_cast<std::size_t>(std::ranges::count(places, kUnmatched));
    fit.share = static_cast<double>(matched) / static_cast<double>(std::max(own.size(), (best->*names).size()));
    if (fit.share < kLeastMatched || misses_layers(own, *best, best->*names, places)) return fit;
    for (const std::uint32_t place : places) {
      fit.launcher.push_back(place == kUnmatched ? 0 : best->launcher[place] + 1);
    }
    return fit;
  }

  [[nodiscard]] bool misses_layers(const std::vector<std::uint32_t>& own, const CaptureSequence& step,
                                   const std::vector<std::uint32_t>& other,
                                   const std::vector<std::uint32_t>& places) const {
    std::vector<bool> own_matched, other_matched(other.size());
    for (const std::uint32_t place : places) {
      own_matched.push_back(place != kUnmatched);
      if (place != kUnmatched) other_matched[place] = true;
    }
    const LayerCheck check(capture_, step, other);
    return check.misses_one(own, own_matched) || check.misses_one(other, other_matched);
  }

  Fit fit_captures(Rows rows, const PlacesByLaunch& launches) const {
    constexpr std::size_t kFewest = 16;  // fewer say nothing by their number
    std::size_t kernels = 0;
    for (const auto& [launch, places] : launches) kernels += places.size();
    const std::size_t there = capture_.captures.size();
    for (std::size_t first = 0; kernels >= kFewest && first + launches.size() <= there; ++first) {
      const auto captures = std::span(capture_.captures).subspan(first, launches.size());
      const bool fits = std::ranges::equal(
          captures, launches, {}, [](const auto& one) { return one.launcher.size(); },
          [](const auto& own) { return own.second.size(); });
      if (!fits) continue;
      Fit fit{std::vector<std::uint32_t>(rows.size(), 0), 1};
      auto capture = captures.begin();
      for (const auto& [launch, places] : launches) {
        for (std::size_t i = 0; i < places.size(); ++i) fit.launcher[places[i]] = capture->launcher[i] + 1;
        ++capture;
      }
      if (agreement(rows, fit.launcher) >= kLeastAgreement) return fit;
    }
    return {};
  }

  // Of kernels whose names occur more than once: the share that the operator usual for their name launched.
  [[nodiscard]] double agreement(Rows rows, const std::vector<std::uint32_t>& launchers) const {
    std::map<std::uint32_t, std::map<std::uint32_t, std::size_t>> operators;  // by kernel name, by operator name
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (launchers[i] == 0) continue;
      const std::uint32_t op = capture_.launchers[launchers[i] - 1].cpu_op;
      ++operators[name_[rows[i]]][op < capture_.operator_name.size() ? capture_.operator_name[op] : 0];
    }
    std::size_t usual = 0, all = 0;
    for (const auto& [name, counts] : operators) {
      std::size_t most = 0, own = 0;
      for (const auto& [op, count] : counts) own += count, most = std::max(most, count);
      if (own < 2) continue;
      usual += most;
      all += own;
    }
    return all == 0 ? 0 : static_cast<double>(usual) / static_cast<double>(all);
  }

  void describe() {
    out_.share = total_ > 0 ? matched_ / total_ : 0;
    if (out_.kernels == 0) {
      out_.notes.emplace_back("the capture is not used: no kernel here belongs to a graph replay");
      return;
    }
    out_.notes.push_back(fmt::format("the capture provides operators for {} of {} of graph replays, {} of their time",
                                     out_.matched, counted(out_.kernels, "kernel"), part_text(out_.share, 1)));
    if (unfit_ > 0) {
      out_.notes.push_back(fmt::format(
          "no origin for {} of {}, which the capture does not match: {} of the kernels match at best; "
          "{} must, and no layer may be missing",
          unfit_, counted(parts_, "graph replay"), part_text(best_unfit(), 0), part_text(kLeastMatched, 0)));
    }
  }

  [[nodiscard]] double best_unfit() const {
    double best = 0;
    for (const auto& [key, fit] : fits_) best = std::max(best, fit.launcher.empty() ? fit.share : 0);
    return best;
  }

  const Capture& capture_;
  const EventTables& events_;
  const StepSet& steps_;
  const std::vector<bool> graphs_;  // by launch
  std::span<const std::uint32_t> launch_, name_;
  std::span<const std::int64_t> dur_;
  std::unordered_map<std::uint32_t, NameTokens> tokens_;  // by id of kernel name
  std::map<std::vector<std::uint32_t>, Fit> fits_;
  std::size_t parts_ = 0, unfit_ = 0;
  double total_ = 0, matched_ = 0;
  ReplayOrigins out_;
};

}  // namespace

Capture read_capture(const Index& index, const StepOptions& options, const std::vector<Traits>& traits) {
  Capture capture;
  read_steps(index, options, traits, capture);
  read_captures(index, capture);
  capture.operator_name = ids_by_id(index, "cpu_op", "name_id");
  return capture;
}

LostKernels lost_kernels(const Index& index, const EventTables& events) {
  const EventColumns& calls = events.calls;
  std::vector<bool> works(calls.size() + 1);  // by id
  for (const EventColumns* table : {&events.kernels, &events.memory}) {
    for (const std::size_t id : table->ids("launch_id")) {
      if (id < works.size()) works[id] = true;
    }
  }
  std::vector<LostKernels> by_name;
  const std::vector<std::uint32_t> captured = captured_launches(index, calls);
  const auto kind = calls.ids("kind"), name = calls.ids("name_id");
  for (std::size_t id = 1; id <= calls.size(); ++id) {
    if (kind[id - 1] != static_cast<std::uint32_t>(CallKind::kLaunch) || captured[id - 1] != 0) continue;
    LostKernels& own = for_id(by_name, name[id - 1]);
    ++own.launches;
    own.lost += works[id] ? 0 : 1;
  }
  LostKernels out;
  for (const LostKernels& own : by_name) {
    if (own.lost == own.launches) continue;
    out.launches += own.launches;
    out.lost += own.lost;
  }
  return out;
}

CaptureLayers layers_of_origins(const Capture& capture, const ReplayOrigins& origins) {
  CaptureLayers layers{std::vector<std::int32_t>(origins.launcher.size(), kNoLayer), capture.stacks};
  for (std::size_t i = 0; i < origins.launcher.size(); ++i) {
    if (origins.launcher[i] != 0) layers.of_row[i] = capture.launchers[origins.launcher[i] - 1].layer;
  }
  return layers;
}

std::vector<std::uint32_t> match_sequences(Tokens a, Tokens b, std::size_t most_cells) {
  std::vector<std::uint32_t> out(a.size(), kUnmatched);
  const Places places_a = places_of(a);
  const Places places_b = places_of(b);
  if (!equally_often(places_a, places_b)) match_in_order(a, b, most_cells, out);
  std::vector<bool> taken(b.size());
  for (const std::uint32_t place : out) {
    if (place != kUnmatched) taken[place] = true;
  }
  match_by_rank(places_a, places_b, taken, out);
  return out;
}

std::size_t shared_elements(Tokens a, Tokens b) {
  std::unordered_map<std::uint32_t, std::size_t> left;
  for (const std::uint32_t token : a) ++left[token];
  std::size_t shared = 0;
  for (const std::uint32_t token : b) {
    const auto entry = left.find(token);
    if (entry == left.end() || entry->second == 0) continue;
    --entry->second;
    ++shared;
  }
  return shared;
}

ReplayOrigins match_capture(const Capture& capture, const Index& index, const EventTables& events,
                            const StepSet& steps) {
  return CaptureMatcher(capture, index, events, steps).run();
}

}  // namespace tracedb
