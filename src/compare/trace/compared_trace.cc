#include "compare/trace/compared_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/parallel.h"
#include "passes/layers/model_names.h"
#include "passes/select/device_columns.h"

namespace tracedb {
namespace {

std::string device_text(const Index& index) {
  Statement rows(index.database(),
                 "SELECT count(*), coalesce(name, upper(nullif(vendor, 'unknown')) || ' device', 'Unnamed device') "
                 "FROM device WHERE used = 1 GROUP BY 2 ORDER BY 1 DESC, 2");
  std::string text;
  while (rows.step()) {
    if (!text.empty()) text += ", ";
    text += rows.int64(0) > 1 ? fmt::format("{} x {}", rows.int64(0), rows.text(1)) : std::string(rows.text(1));
  }
  return text.empty() ? "No device" : text;
}

std::string world_size(const Index& index) {
  constexpr const char* kSql =
      "SELECT CASE WHEN json_valid(value) THEN json_extract(value, '$.world_size') END FROM meta "
      "WHERE key = 'trace.distributedInfo'";
  return index.database().query_text(kSql).value_or("");
}

std::optional<bool> replays_graphs(const EventTables& events) {
  const auto has = [kinds = events.calls.ids("kind")](CallKind kind) {
    return std::ranges::find(kinds, static_cast<std::uint32_t>(kind)) != kinds.end();
  };
  if (has(CallKind::kGraphLaunch)) return true;
  return has(CallKind::kLaunch) ? std::optional(false) : std::nullopt;
}

FormatHolds holds_of(const Index& index) { return format_holds(index.meta("format").value_or("")); }

TraceDescription describe(const Index& index, const std::string& label, const EventTables& events,
                          const StepSet& steps) {
  TraceDescription out{label,
                       device_text(index),
                       world_size(index),
                       replays_graphs(events),
                       {},
                       idle_sums(events, window_of_steps(events, steps)),
                       without_device(index),
                       index.meta("time_unit") == "cycle",
                       holds_of(index),
                       lost_kernels(index, events)};
  if (out.graph_launches.value_or(false)) out.names_out_of_step = find_names_out_of_step(index, events.kernels);
  return out;
}

// Everything that does not depend on the other traces: nearly all the work of a comparison.
struct LoadedTrace {
  KernelClasses classes;
  ComparedTrace trace;  // without numbers; its layers have their own
  DeviceKernelTimes device_times = {};
};

// Rows of kernels that a selection leaves, in their order.
LargeVector<std::uint32_t> selected_rows(Workload& workload) {
  const LargeVector<std::uint32_t>& all = workload.layers().by_step;
  const EventFilter filter = workload.filter();
  if (filter.keeps_all()) return all;
  LargeVector<std::uint32_t> out(all.size());
  std::size_t kept = 0;
  for (const std::uint32_t row : all) {
    if (filter.keeps_kernel(row)) out[kept++] = row;
  }
  out.resize(kept);
  return out;
}

LoadedTrace load_trace(const TraceSource& source, const StepOptions& options, const CompiledRules& rules, bool copies) {
  const Index& index = source.index;
  LoadedTrace out{KernelClasses(index, rules), {{}, EventTables(index)}};
  ComparedTrace& trace = out.trace;
  trace.steps = load_steps(index, options, trace.events, out.classes.traits());
  trace.description = describe(index, source.label, trace.events, trace.steps);
  trace.description.without_copies = !copies && trace.events.memory.size() > 0;
  trace.layers = find_layers(index, trace.events, trace.steps, out.classes.traits());
  trace.roles = find_roles(index, trace.events, trace.steps, trace.layers, out.classes, rules.rules());
  out.device_times = device_times(trace.events, trace.steps, trace.layers.by_step);
  return out;
}

void set_periods(ComparedTrace& trace) {
  trace.periods = step_periods(trace.steps, trace.work.steps);
  std::string note = without_periods(trace.events, trace.steps, trace.work, trace.periods);
  if (!note.empty()) trace.work.notes.push_back(std::move(note));
}

void measure_steps(LoadedTrace& loaded, const Index& index, const std::set<std::int64_t>& idle, bool copies) {
  ComparedTrace& trace = loaded.trace;
  trace.work = make_step_work(trace.events, trace.steps, std::move(trace.layers.by_step), idle, copies);
  set_periods(trace);
  trace.events.operators.read({"ts", "name_id", "shape_id"});
  trace.recorded = recorded_gaps(index, trace.events, trace.steps, trace.work, trace.periods);
  trace.recorded_work = recorded_work(index, trace.events, trace.work);
  const ModelFacts model = model_facts(index, loaded.classes.traits());
  // Products of matrices may do what attention does, so its absence tells nothing; nor does that of names.
  constexpr double kMostNames = 0.9;  // of the kernel time
  const bool mixes = model.architecture != Architecture::kUnknown && model.architecture != Architecture::kConvolutional;
  if (mixes && model.classified >= kMostNames) trace.recorded_work.architecture = to_string(model.architecture);
}

// Calls visit(0), visit(1) ..., two at a time: more would need more memory than they save time.
template <class Visit>
void for_each_pair(std::size_t count, Visit visit) {
  for (std::size_t i = 0; i < count; i += 2) {
    if (i + 1 == count) {
      visit(i);
    } else {
      run_both([&] { visit(i); }, [&] { visit(i + 1); });
    }
  }
}

std::vector<LoadedTrace> load_each(std::span<const TraceSource> sources, const StepOptions& options,
                                   const RuleSet& rules) {
  const bool copies =
      std::ranges::all_of(sources, [](const TraceSource& source) { return holds_of(source.index).copies; });
  const CompiledRules compiled(rules);
  std::vector<std::optional<LoadedTrace>> loaded(sources.size());
  for_each_pair(sources.size(), [&](std::size_t i) { loaded[i] = load_trace(sources[i], options, compiled, copies); });
  std::vector<DeviceKernelTimes> times;
  for (std::optional<LoadedTrace>& one : loaded) times.push_back(std::move(one->device_times));
  const std::vector<std::set<std::int64_t>> idle = idle_devices(times);
  for_each_pair(sources.size(), [&](std::size_t i) { measure_steps(*loaded[i], sources[i].index, idle[i], copies); });
  std::vector<LoadedTrace> out;
  for (std::optional<LoadedTrace>& one : loaded) out.push_back(std::move(*one));
  return out;
}

// The layers of several traces, renumbered so: all have the same stacks.
std::vector<LayerSet> join_layers(std::vector<LayerSet> traces) {
  std::vector<LayerStacks> models;
  models.reserve(traces.size());
  for (const LayerSet& layers : traces) models.push_back(layers.stacks);
  const JointStacks joint = join_stacks(models);
  for (std::size_t t = 0; t < traces.size(); ++t) {
    std::vector<std::int32_t> shift;  // by layer
    for (std::size_t i = 0; i < models[t].size(); ++i) {
      shift.insert(shift.end(), static_cast<std::size_t>(models[t][i].count), joint.first[t][i] - models[t][i].first);
    }
    const bool moves = std::ranges::any_of(shift, [](std::int32_t by) { return by != 0; });
    for (std::int32_t& layer : traces[t].of_kernel) {
      if (!moves) break;
      if (layer >= 0 && static_cast<std::size_t>(layer) < shift.size()) layer += shift[static_cast<std::size_t>(layer)];
    }
    traces[t].stacks = joint.stacks;
  }
  return traces;
}

ComparedTraces numbered(std::vector<LoadedTrace> loaded, std::span<const TraceSource> sources, const RuleSet& rules) {
  ComparedTraces out{KernelNameTable(ClassFamilies(rules)), {}, {}};
  std::vector<LayerSet> layers;
  for (LoadedTrace& one : loaded) layers.push_back(std::move(one.trace.layers));
  layers = join_layers(std::move(layers));
  for (std::size_t i = 0; i < loaded.size(); ++i) {
    ComparedTrace& trace = out.traces.emplace_back(std::move(loaded[i].trace));
    trace.layers = std::move(layers[i]);
    trace.numbers = number_trace(sources[i].index, loaded[i].classes, out.kernel_names, out.configs);
  }
  return out;
}

// "stack 2" is a number within its own model only.
bool is_numbered(const std::string& name) { return name.starts_with("stack "); }

class Joiner {
 public:
  // The position of each stack of a model among all.
  std::vector<std::size_t> add(const LayerStacks& model) {
    std::vector<std::optional<std::size_t>> position(model.size());
    taken_.assign(all_.size(), false);
    if (model.size() == 1 && all_.size() == 1) take(position[0], 0);
    const auto pair = [&](auto fits) {
      for (std::size_t i = 0; i < model.size(); ++i) {
        for (std::size_t k = 0; k < all_.size() && !position[i]; ++k) {
          if (!taken_[k] && fits(all_[k], model[i])) take(position[i], k);
        }
      }
    };
    pair([](const LayerStack& a, const LayerStack& b) { return a.name == b.name && !is_numbered(a.name); });
    pair([](const LayerStack& a, const LayerStack& b) { return a.count == b.count; });
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < model.size(); ++i) {
      out.push_back(position[i].value_or(all_.size()));
      if (!position[i]) {
        all_.push_back(model[i]);
        position_.push_back(i);
      } else {
        unite(all_[*position[i]], model[i]);
        position_[*position[i]] = std::min(position_[*position[i]], i);
      }
    }
    return out;
  }

  LayerStacks finish() {
    std::int32_t next = 0;
    for (LayerStack& stack : all_) {
      stack.first = next;
      next += stack.count;
    }
    number_unnamed();
    return std::move(all_);
  }

 private:
  void take(std::optional<std::size_t>& position, std::size_t stack) {
    position = stack;
    taken_[stack] = true;
  }

  // In an order that does not depend on which model came first, so that a comparison mirrors.
  void number_unnamed() {
    std::vector<std::size_t> unnamed;
    for (std::size_t k = 0; k < all_.size(); ++k) {
      if (is_numbered(all_[k].name)) unnamed.push_back(k);
    }
    const auto rank = [&](std::size_t k) { return std::tuple(position_[k], all_[k].count, all_[k].passes); };
    std::ranges::stable_sort(unnamed, [&](std::size_t x, std::size_t y) { return rank(x) < rank(y); });
    for (std::size_t i = 0; i < unnamed.size(); ++i) all_[unnamed[i]].name = "stack " + std::to_string(i + 1);
  }

  // Of two names the same one whichever side comes first, so that a comparison mirrors.
  static void unite(LayerStack& to, const LayerStack& from) {
    to.count = std::max(to.count, from.count);
    to.passes = std::max(to.passes, from.passes);
    const bool better = is_numbered(to.name) == is_numbered(from.name) ? from.name < to.name : is_numbered(to.name);
    if (better) to.name = from.name;
  }

  LayerStacks all_;
  std::vector<std::size_t> position_;  // by position in all_: the first one in a model
  std::vector<bool> taken_;            // by position in all_: by a stack of the model at hand
};

}  // namespace

ComparedTraces take_trace(Workload& workload, const std::string& label) {
  const Index& index = workload.index();
  LargeVector<std::uint32_t> rows = selected_rows(workload);
  WorkloadParts parts = workload.take();
  ComparedTrace trace{{label, device_text(index), world_size(index), false, {}, {}, without_device(index)},
                      std::move(parts.events),
                      std::move(parts.steps),
                      std::move(parts.layers)};
  const DeviceKernelTimes times = device_times(trace.events, trace.steps, rows);
  trace.work = make_step_work(trace.events, trace.steps, std::move(rows), idle_devices({&times, 1}).front());
  set_periods(trace);
  trace.roles = std::move(parts.roles);
  std::vector<LoadedTrace> loaded;
  loaded.push_back({std::move(parts.classes), std::move(trace)});
  return numbered(std::move(loaded), std::vector<TraceSource>{{index, label}}, workload.rules().get());
}

ComparedTraces load_traces(std::span<const TraceSource> sources, const StepOptions& options, const RuleSet& rules) {
  return numbered(load_each(sources, options, rules), sources, rules);
}

JointStacks join_stacks(const std::vector<LayerStacks>& models) {
  Joiner joiner;
  std::vector<std::vector<std::size_t>> positions;
  positions.reserve(models.size());
  for (const LayerStacks& model : models) positions.push_back(joiner.add(model));
  JointStacks out{joiner.finish(), {}};
  for (const std::vector<std::size_t>& of_model : positions) {
    std::vector<std::int32_t>& first = out.first.emplace_back();
    for (const std::size_t position : of_model) first.push_back(out.stacks[position].first);
  }
  return out;
}

}  // namespace tracedb
