#include <fmt/format.h>

#include "make_trace/write/truth.h"

namespace tracedb {
namespace {

// Kernel names hold no quotes, backslashes or control characters; option texts come through --fuse's own list.
template <class Map, class Format>
std::string object(const Map& map, const Format& format) {
  std::string text = "{";
  for (const auto& [key, value] : map) {
    text += fmt::format("{}\n    \"{}\": {}", text.size() == 1 ? "" : ",", key, format(value));
  }
  return text + "}";
}

std::string pair(const CountAndTime& value) {
  return fmt::format("{{\"count\": {}, \"ns\": {}}}", value.count, value.ns);
}

std::string_view flag(bool value) { return value ? "true" : "false"; }

std::string names_json(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", name);
  return text;
}

std::string planted_json(const TraceOptions& options) {
  return fmt::format(
      "\"spellings\": [{}], \"step_gap_ns\": {}, \"gap_calls\": {}, \"gap_frame\": \"{}\", \"jittered_streams\": {}, "
      "\"correlation\": {}, "
      "\"shift_names\": {}, \"collective_wait_ns\": {}",
      names_json(options.spellings), options.step_gap_ns, options.gap_calls, options.gap_frame,
      flag(options.jittered_streams), flag(options.correlation), options.shift_names, options.collective_wait_ns);
}

std::string options_json(const TraceOptions& options) {
  return fmt::format(
      "{{\"model\": \"{}\", \"seed\": {}, \"vendor\": \"{}\", \"dialect\": \"{}\", \"layers\": {}, \"batch\": {}, "
      "\"prompt_tokens\": {}, "
      "\"graphs\": {}, \"streams\": {}, \"tensor_parallel\": {}, \"rank\": {}, \"python_stacks\": {}, \"moe\": {}, "
      "\"quantised\": {}, \"qk_norm\": {}, \"clock_ppm\": {}, \"idle_ns\": {}, \"jitter_ppm\": {}, {}}}",
      to_text(options.model), options.seed, to_text(options.vendor), to_text(options.dialect), options.layers,
      options.batch, options.prompt_tokens, flag(options.graphs), options.streams, options.tensor_parallel,
      options.rank, flag(options.python_stacks), flag(options.moe), flag(options.quantised), flag(options.qk_norm),
      options.clock_ppm, options.idle_ns, options.jitter_ppm, planted_json(options));
}

std::string targets_json(const std::vector<LayerTarget>& targets) {
  std::string text;
  for (const LayerTarget& target : targets) {
    text += fmt::format("{}{{\"target\": \"{}\", \"layer\": {}, \"factor_ppm\": {}}}", text.empty() ? "" : ", ",
                        target.name, target.layer ? std::to_string(*target.layer) : "null", target.factor_ppm);
  }
  return "[" + text + "]";
}

std::string device_json(const DeviceTime& device, int rank) {
  const std::int64_t span = device.end - device.begin;
  return fmt::format(
      "{{\"device\": {}, \"ts\": {}, \"span\": {}, \"busy\": {}, \"idle\": {}, \"computation\": {}, \"comm\": {}, "
      "\"copy\": {}, \"exposed_comm\": {}, \"exposed_copy\": {}}}",
      rank, device.begin, span, device.busy, span - device.busy, device.computation, device.comm, device.copy,
      device.exposed_comm, device.exposed_copy);
}

}  // namespace

std::string Truth::json() const {
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  const auto by_kind = [](const auto& map, const auto& format) {
    std::map<std::string_view, std::string> texts;
    for (const auto& [kind, value] : map) texts[to_text(kind)] = format(value);
    return object(texts, [](const std::string& text) { return text; });
  };
  std::string out = "{\n  \"schema\": \"tracedb.make_trace/1\",\n";
  const auto line = [&out](std::string_view key, std::string_view value) {
    out += fmt::format("  \"{}\": {},\n", key, value);
  };
  line("options", options_json(options_));
  line("inserted_targets", targets_json(options_.inserts));
  line("slow_targets", targets_json(options_.slow));
  line("events", object(events_, [&](const auto& counts) { return object(counts, number); }));
  line("kernels", pair(kernels_));
  line("classes", object(classes_, pair));
  line("classes_by_kind", by_kind(classes_by_kind_, [](const auto& map) { return object(map, pair); }));
  line("roles", object(roles_, pair));
  std::map<std::string_view, std::string> role_classes;  // under their usual names
  for (const auto& [role, time] : roles_) role_classes[role] = fmt::format("\"{}\"", find_kernel(role)->op_class);
  line("role_classes", object(role_classes, [](const std::string& text) { return text; }));
  std::map<std::string_view, std::string> names;
  for (const auto& [name, value] : names_) {
    names[name] =
        fmt::format("{{\"class\": \"{}\", \"count\": {}, \"ns\": {}}}", class_of_name_.at(name), value.count, value.ns);
  }
  line("names", object(names, [](const std::string& text) { return text; }));
  std::string layers;
  for (const CountAndTime& layer : layers_) layers += (layers.empty() ? "" : ", ") + pair(layer);
  line("layers", "[" + layers + "]");
  line("head", pair(head_));
  line("tail", pair(tail_));
  line("between", pair(between_));
  line("stacks", stacks_json());
  line("inserted", pair(inserted_));
  line("misnamed", pair(misnamed_));
  line("fusions", fusions_json());
  line("steps_by_kind", by_kind(steps_by_kind_, number));
  line("steps", steps_json());
  line("device_time", device_json(device_, options_.rank));
  line("planted_idle_ns", number(idle_planted_));
  line("kernels_with_launch", number(with_launch_));
  line("kernels_without_launch", number(without_launch_));
  line("graph_kernels", number(graph_kernels_));
  line("graph_launches", number(graph_launches_));
  line("runtime_calls", number(runtime_calls_));
  line("launching_calls", number(launch_calls_));
  line("max_python_depth", std::to_string(python_depth_));
  out += fmt::format("  \"vendor\": \"{}\"\n}}\n", to_text(options_.vendor));
  return out;
}

std::string Truth::fusions_json() const {
  std::string text;
  for (std::size_t at = 0; at < fusions_.size(); ++at) {
    const PlantedFusion& fusion = model_.fusions[at];
    std::string parts, classes, per_step;
    for (const std::string& part : fusion.parts) {
      parts += fmt::format("{}\"{}\"", parts.empty() ? "" : ", ", part);
      classes += fmt::format("{}\"{}\"", classes.empty() ? "" : ", ", find_kernel(part)->op_class);
    }
    for (const auto& [kind, values] : fusions_by_kind_) {
      const CountAndTime value = at < values.size() ? values[at] : CountAndTime{};
      per_step += fmt::format("{}\"{}\": {{\"per_step\": {}, \"ns\": {}}}", per_step.empty() ? "" : ", ", to_text(kind),
                              value.count / steps_by_kind_.at(kind), value.ns);
    }
    text += fmt::format(
        "{}\n    {{\"fusion\": \"{}\", \"parts\": [{}], \"part_classes\": [{}], \"role\": \"{}\", \"class\": \"{}\", "
        "\"name\": \"{}\", \"count\": {}, \"ns\": {}, \"by_kind\": {{{}}}}}",
        text.empty() ? "" : ",", fusion.names, parts, classes, fusion.kernel->role, fusion.kernel->op_class,
        fusion.kernel->name(options_.vendor, false), fusions_[at].count, fusions_[at].ns, per_step);
  }
  return "[" + text + "]";
}

std::string Truth::stacks_json() const {
  std::string text;
  for (const Stack& stack : model_.stacks) {
    text += fmt::format("{}{{\"stack\": \"{}\", \"module\": \"{}\", \"layers\": {}, \"passes\": {}}}",
                        text.empty() ? "" : ", ", stack.name, stack.layer_class, stack.count, model_.passes);
  }
  return "[" + text + "]";
}

std::string Truth::steps_json() const {
  std::string text;
  for (const StepRecord& step : steps_) {
    std::map<std::string_view, CountAndTime> passes;
    for (const auto& [pass, time] : step.passes) passes[to_text(pass)] = time;
    text += fmt::format(
        "{}\n    {{\"index\": {}, \"name\": \"{}\", \"kind\": \"{}\", \"graph\": {}, \"ts\": {}, \"dur\": {}, "
        "\"context_requests\": {}, "
        "\"context_tokens\": {}, \"generation_requests\": {}, \"generation_tokens\": {}, \"kernels\": {}, "
        "\"kernel_ns\": "
        "{}, \"gpu_begin\": {}, \"gpu_end\": {}, \"busy\": {}, \"planted_idle_ts\": {}, \"planted_idle_ns\": {}, "
        "\"passes\": {}}}",
        text.empty() ? "" : ",", step.index, step.name, to_text(step.kind), flag(step.graph), step.ts, step.dur,
        step.context_requests, step.context_tokens, step.generation_requests, step.generation_tokens,
        step.kernels.count, step.kernels.ns, step.gpu_begin, step.gpu_end, step.busy, step.idle.begin,
        step.idle.end - step.idle.begin, object(passes, pair));
  }
  return "[" + text + "]";
}

}  // namespace tracedb
