#include "passes/capture/capture.h"

#include <algorithm>
#include <utility>

#include "passes/columns/rows_by_step.h"
#include "passes/layers/layer_set.h"
#include "passes/layers/layer_sources.h"

namespace tracedb {
namespace {

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
  const GraphLaunches graphs(index);
  const auto launch = events.kernels.ids("launch_id");
  const auto name = events.kernels.ids("name_id");
  const auto cpu_op = events.kernels.ids("cpu_op_id");
  const auto stack = events.kernels.ids("stack_id");
  RowsByStep ordered(steps.of_kernel, steps.steps.size());
  for (std::size_t s = steps.steps.empty() ? 0 : 1; s <= steps.steps.size(); ++s) {
    CaptureSequence sequence;
    for (const std::uint32_t row : ordered.of(s)) {
      if (graphs.has(launch[row])) continue;
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

// Ids of strings that are names of calls.
std::vector<std::uint32_t> ids_of_names(const Index& index, std::string_view pattern) {
  std::vector<std::uint32_t> ids;
  Statement rows(index.database(), "SELECT id FROM string WHERE value GLOB ?");
  rows.bind(1, pattern);
  while (rows.step()) ids.push_back(rows.id(0));
  return ids;
}

bool is_in(const std::vector<std::uint32_t>& ids, std::uint32_t id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

// Layers by what the trace says of the launches, in a capture without kernels.
CaptureLayers layers_of_calls(const Index& index, const EventColumns& calls, const std::vector<bool>& captured) {
  std::vector<std::int64_t> weight(calls.size(), 0);
  for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = captured[i] ? 1024 : 0;
  LayerSources hints(index, {calls, weight});
  CaptureLayers layers{std::vector<std::int32_t>(calls.size(), kNoLayer), {}};
  const LayerHint* hint = hints.get(0);
  if (hint != nullptr) layers.stacks = hint->stacks;
  for (std::size_t i = 0; hint != nullptr && i < calls.size(); ++i) layers.of_row[i] = hint->of(i);
  return layers;
}

// Launches between the begin and the end of a capture on their thread.
void read_captures(const Index& index, Capture& capture) {
  const std::vector<std::uint32_t> begins = ids_of_names(index, "*StreamBeginCapture*");
  const std::vector<std::uint32_t> ends = ids_of_names(index, "*StreamEndCapture*");
  if (begins.empty() || ends.empty()) return;
  const EventColumns calls(index, "runtime_call",
                           {"kind", "thread_id", "name_id", "cpu_op_id", "stack_id", "annotation_id"});
  const auto kind = calls.ids("kind");
  const auto thread = calls.ids("thread_id");
  const auto name = calls.ids("name_id");
  std::unordered_map<std::uint32_t, std::size_t> open;  // by thread: place in captures + 1; 0: none
  std::vector<bool> captured(calls.size());
  std::vector<std::vector<std::uint32_t>> rows;
  for (std::uint32_t i = 0; i < calls.size(); ++i) {
    std::size_t& place = open[thread[i]];
    if (is_in(begins, name[i])) {
      rows.emplace_back();
      place = rows.size();
    } else if (is_in(ends, name[i])) {
      place = 0;
    } else if (place != 0 && kind[i] == static_cast<std::uint32_t>(CallKind::kLaunch)) {
      rows[place - 1].push_back(i);
      captured[i] = true;
    }
  }
  CaptureLayers layers = layers_of_calls(index, calls, captured);
  for (const std::vector<std::uint32_t>& own : rows) {
    CaptureSequence sequence;
    for (const std::uint32_t row : own) {
      sequence.launcher.push_back(static_cast<std::uint32_t>(capture.launchers.size()));
      capture.launchers.push_back({calls.ids("cpu_op_id")[row], calls.ids("stack_id")[row], layers.of_row[row]});
    }
    if (!sequence.launcher.empty()) capture.captures.push_back(std::move(sequence));
  }
  if (capture.stacks.empty()) capture.stacks = std::move(layers.stacks);
}

}  // namespace

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

GraphLaunches::GraphLaunches(const Index& index) {
  const EventColumns calls(index, "runtime_call", {"kind"});
  const auto kind = calls.ids("kind");
  is_graph_.resize(calls.size() + 1);
  for (std::size_t i = 0; i < kind.size(); ++i) {
    is_graph_[i + 1] = kind[i] == static_cast<std::uint32_t>(CallKind::kGraphLaunch);
  }
}

Capture read_capture(const Index& index, const StepOptions& options, const std::vector<Traits>& traits) {
  Capture capture;
  read_steps(index, options, traits, capture);
  read_captures(index, capture);
  const EventColumns operators(index, "cpu_op", {"name_id"});
  const auto names = operators.ids("name_id");
  capture.operator_name.assign(1, 0);
  capture.operator_name.insert(capture.operator_name.end(), names.begin(), names.end());
  return capture;
}

CaptureLayers layers_of_origins(const Capture& capture, const ReplayOrigins& origins) {
  CaptureLayers layers{std::vector<std::int32_t>(origins.launcher.size(), kNoLayer), capture.stacks};
  for (std::size_t i = 0; i < origins.launcher.size(); ++i) {
    if (origins.launcher[i] != 0) layers.of_row[i] = capture.launchers[origins.launcher[i] - 1].layer;
  }
  return layers;
}

}  // namespace tracedb
