// What a trace holds: its ground truth, and the labels of its kernels.
#include <algorithm>
#include <map>

#include "make_trace/trace_writer.h"

namespace tracedb {
namespace {

struct CountAndTime {
  std::int64_t count = 0, ns = 0;
  void add(std::int64_t dur) {
    ++count;
    ns += dur;
  }
};

Json pair(const CountAndTime& value) { return json_object("count", value.count, "ns", value.ns); }

// Unions of device time; computation + exposed_comm + exposed_copy + idle = span, over the whole trace.
struct DeviceTime {
  std::int64_t begin = 0, end = 0, busy = 0, computation = 0, comm = 0, copy = 0, exposed_comm = 0, exposed_copy = 0;
};

std::int64_t union_length(const std::vector<Extent>& intervals) {
  const TimeCover cover(intervals);
  return cover.covered(cover.bounds().begin, cover.bounds().end);
}

bool is_copy(const DeviceEvent& event) {
  if (event.kind != DeviceEventKind::kKernel) return event.kind != DeviceEventKind::kMemset;
  return event.operation->kernel->op_class == "copy";
}

bool is_comm(const DeviceEvent& event) {
  return event.kind == DeviceEventKind::kKernel && event.operation->kernel->op_class.starts_with("communication");
}

Json options_json(const TraceOptions& options) {
  return json_object("model", to_text(options.model), "seed", options.seed, "vendor", to_text(options.vendor),
                     "dialect", to_text(options.dialect), "layers", options.layers, "batch", options.batch,
                     "prompt_tokens", options.prompt_tokens, "graphs", options.graphs, "streams", options.streams,
                     "tensor_parallel", options.tensor_parallel, "rank", options.rank, "python_stacks",
                     options.python_stacks, "moe", options.moe, "quantised", options.quantised, "qk_norm",
                     options.qk_norm, "clock_ppm", options.clock_ppm, "idle_ns", options.idle_ns, "jitter_ppm",
                     options.jitter_ppm, "spellings", json_list(options.spellings), "step_gap_ns", options.step_gap_ns,
                     "gap_calls", options.gap_calls, "gap_frame", options.gap_frame, "jittered_streams",
                     options.jittered_streams, "correlation", options.correlation, "shift_names", options.shift_names,
                     "collective_wait_ns", options.collective_wait_ns);
}

Json targets_json(const std::vector<LayerTarget>& targets) {
  return json_list(targets, [](const LayerTarget& target) {
    const Json layer{target.layer ? std::to_string(*target.layer) : "null"};
    return json_object("target", target.name, "layer", layer, "factor_ppm", target.factor_ppm);
  });
}

class Truth {
 public:
  Truth(const TraceOptions& options, const Model& model)
      : options_(options), model_(model), layers_(model.layers.size()), fusions_(model.fusions.size()) {
    if (options.python_stacks) count("X", "python_function", kBaseFrames);
  }

  void add(const Step& step) {
    add_operators(step);
    add_calls(step);
    add_device(step);
    if (options_.python_stacks) add_depth(step);
  }

  // Events that belong to no step: metadata of 9 processes (CPU and 8 devices), of the streams and the thread, and of
  // the spans; then the spans.
  void finish() {
    auto streams = stream_numbers(options_);
    std::ranges::sort(streams);
    const auto distinct = std::unique(streams.begin(), streams.end()) - streams.begin();
    const std::int64_t autograd = options_.model == ModelKind::kTrain ? 1 : 0;
    count("M", "", std::int64_t{9} * 3 + 2 * distinct + 2 + 1 + autograd);
    count("X", "Trace");
    count("i", "", 2);
  }

  [[nodiscard]] std::string json() const {
    const auto pairs = [](const auto& map) { return json_map(map, pair); };
    std::map<std::string_view, std::string_view> role_classes;  // under their usual names
    for (const auto& [role, time] : roles_) role_classes[role] = find_kernel(role)->op_class;
    const std::int64_t span = device_.end - device_.begin;
    std::string out = "{\n  \"schema\": \"tracedb.make_trace/1\",\n";
    const auto line = [&out](std::string_view key, const auto& value) {
      out += fmt::format("  {},\n", json_members(key, value));
    };
    line("options", options_json(options_));
    line("inserted_targets", targets_json(options_.inserts));
    line("slow_targets", targets_json(options_.slow));
    line("events", json_map(events_, [](const auto& counts) { return json_map(counts); }));
    line("kernels", pair(kernels_));
    line("classes", pairs(classes_));
    line("classes_by_kind", json_map(classes_by_kind_, pairs));
    line("roles", pairs(roles_));
    line("role_classes", json_map(role_classes));
    line("names", json_map(names_, [](const NameRecord& record) {
           return json_object("class", record.op_class, "count", record.time.count, "ns", record.time.ns);
         }));
    line("layers", json_list(layers_, pair));
    line("head", pair(head_));
    line("tail", pair(tail_));
    line("between", pair(between_));
    line("stacks", json_list(model_.stacks, [this](const Stack& stack) {
           return json_object("stack", stack.name, "module", stack.layer_class, "layers", stack.count, "passes",
                              model_.passes);
         }));
    line("inserted", pair(inserted_));
    line("misnamed", pair(misnamed_));
    line("fusions", fusions_json());
    line("steps_by_kind", json_map(steps_by_kind_));
    line("steps", json_list(steps_, {}, "\n    "));
    line("device_time",
         json_object("device", options_.rank, "ts", device_.begin, "span", span, "busy", device_.busy, "idle",
                     span - device_.busy, "computation", device_.computation, "comm", device_.comm, "copy",
                     device_.copy, "exposed_comm", device_.exposed_comm, "exposed_copy", device_.exposed_copy));
    line("planted_idle_ns", idle_planted_);
    line("kernels_with_launch", with_launch_);
    line("kernels_without_launch", without_launch_);
    line("graph_kernels", graph_kernels_);
    line("graph_launches", graph_launches_);
    line("runtime_calls", runtime_calls_);
    line("launching_calls", launch_calls_);
    line("max_python_depth", python_depth_);
    return out + fmt::format("  {}\n}}\n", json_members("vendor", to_text(options_.vendor)));
  }

  [[nodiscard]] std::uint64_t cpu_events() const { return cpu_events_; }

 private:
  struct NameRecord {
    std::string_view op_class;
    CountAndTime time;
  };

  [[nodiscard]] Json fusions_json() const {
    std::size_t at = 0;
    return json_list(
        model_.fusions,
        [&](const PlantedFusion& fusion) {
          std::string by_kind;
          for (const auto& [kind, values] : fusions_by_kind_) {
            const CountAndTime value = at < values.size() ? values[at] : CountAndTime{};
            const Json per_step =
                json_object("per_step", value.count / steps_by_kind_.at(to_text(kind)), "ns", value.ns);
            by_kind += (by_kind.empty() ? "" : ", ") + json_members(to_text(kind), per_step);
          }
          const CountAndTime& time = fusions_[at++];
          return json_object(
              "fusion", fusion.names, "parts", json_list(fusion.parts), "part_classes",
              json_list(fusion.parts, [](const std::string& part) { return find_kernel(part)->op_class; }), "role",
              fusion.kernel->role, "class", fusion.kernel->op_class, "name",
              fusion.kernel->name(options_.vendor, false), "count", time.count, "ns", time.ns, "by_kind",
              Json{"{" + by_kind + "}"});
        },
        "\n    ");
  }

  void count(std::string_view ph, std::string_view category, std::int64_t number = 1) {
    if (number > 0) events_[ph][category] += number;
  }

  void add_operators(const Step& step) {
    const std::int64_t of_step = options_.annotations ? 1 : 0;
    std::int64_t annotations = of_step, joined = 0, backward = 0;
    for (const CpuOp& op : step.cpu_ops) {
      annotations += op.annotation ? 1 : 0;
      joined += op.gradient_flow != 0 ? 1 : 0;
      backward += op.gradient_flow != 0 && op.thread != kMainThread ? 1 : 0;
    }
    const std::int64_t all = std::ssize(step.cpu_ops) + of_step;
    cpu_events_ += static_cast<std::uint64_t>(all);
    count("X", old_ ? "Operator" : "cpu_op", all - annotations);
    count("X", old_ && options_.model != ModelKind::kServe ? "Operator" : "user_annotation", annotations);
    if (options_.python_stacks) count("X", "python_function", std::ssize(step.python_calls));
    if (old_) return;
    count("s", "fwdbwd", joined - backward);
    count("f", "fwdbwd", backward);
    count("X", "gpu_user_annotation", std::ssize(step.gpu_annotations));
  }

  void add_calls(const Step& step) {
    std::int64_t driver = 0, launching = 0, written = 0;
    for (const RuntimeCall& call : step.runtime_calls) {
      if (call.lost) continue;
      ++written;
      driver += call.driver ? 1 : 0;
      launching += call.launches ? 1 : 0;
      graph_launches_ += call.launches && call.operation == nullptr && call.bytes == 0 ? 1 : 0;
    }
    count("X", old_ ? "Runtime" : "cuda_runtime", written - (old_ ? 0 : driver));
    if (!old_) count("X", "cuda_driver", driver);
    runtime_calls_ += written;
    launch_calls_ += launching;
    count("s", old_ ? "async" : "ac2g", launching);
    if (!old_) count("f", "ac2g", written - launching);
  }

  void add_kernel(const Step& step, const DeviceEvent& event) {
    const Operation& operation = *event.operation;
    const std::string_view op_class = event.named->op_class;
    CountAndTime& place = event.layer >= 0       ? layers_[static_cast<std::size_t>(event.layer)]
                          : event.layer == kHead ? head_
                          : event.layer == kTail ? tail_
                                                 : between_;
    for (CountAndTime* sum : {&kernels_, &classes_[op_class], &classes_by_kind_[to_text(step.kind)][op_class],
                              &roles_[operation.kernel->role], &place,
                              &names_.try_emplace(event.name, NameRecord{op_class, {}}).first->second.time}) {
      sum->add(event.dur);
    }
    if (operation.inserted) inserted_.add(event.dur);
    if (event.named != operation.kernel) misnamed_.add(event.dur);
    if (operation.fusion >= 0) {
      const auto fusion = static_cast<std::size_t>(operation.fusion);
      auto& by_kind = fusions_by_kind_[step.kind];
      by_kind.resize(fusions_.size());
      fusions_[fusion].add(event.dur);
      by_kind[fusion].add(event.dur);
    }
    ++(event.launch_lost ? without_launch_ : with_launch_);
    graph_kernels_ += event.in_graph ? 1 : 0;
  }

  void add_device(const Step& step) {
    const std::int64_t base = old_ ? kBaseTime : 0;
    const Extent& idle = step.planted_idle;
    CountAndTime kernels;
    std::map<std::string_view, CountAndTime> passes;
    Extent gpu = {base + step.device_events.front().ts, 0};
    std::int64_t memsets = 0, flows = 0;
    for (const DeviceEvent& event : step.device_events) {
      gpu.end = std::max(gpu.end, base + event.ts + event.dur);
      memsets += event.kind == DeviceEventKind::kMemset ? 1 : 0;
      flows += event.launch_lost ? 0 : 1;
      if (event.kind != DeviceEventKind::kKernel) continue;
      add_kernel(step, event);
      kernels.add(event.dur);
      if (event.pass != Pass::kNone) passes[to_text(event.pass)].add(event.dur);
    }
    count("X", old_ ? "Kernel" : "kernel", kernels.count);
    count("X", old_ ? "Memset" : "gpu_memset", memsets);
    count("X", old_ ? "Memcpy" : "gpu_memcpy", std::ssize(step.device_events) - kernels.count - memsets);
    count("f", old_ ? "async" : "ac2g", flows);
    ++steps_by_kind_[to_text(step.kind)];
    idle_planted_ += idle.end - idle.begin;
    device_.begin = device_.begin == 0 ? gpu.begin : device_.begin;
    device_.end = gpu.end;
    steps_.push_back(json_object(
        "index", step.index, "name", step_name(options_, step), "kind", to_text(step.kind), "graph", step.graph, "ts",
        base + step.annotation.ts, "dur", step.annotation.dur, "context_requests", step.context_requests,
        "context_tokens", step.context_tokens, "generation_requests", step.generation_requests, "generation_tokens",
        step.generation_tokens, "kernels", kernels.count, "kernel_ns", kernels.ns, "gpu_begin", gpu.begin, "gpu_end",
        gpu.end, "busy", add_unions(step), "planted_idle_ts", (idle.end > idle.begin ? base : 0) + idle.begin,
        "planted_idle_ns", idle.end - idle.begin, "passes", json_map(passes, pair)));
  }

  // The GPU is idle between steps, so the unions of the trace are sums over its steps. Returns how long it is busy.
  std::int64_t add_unions(const Step& step) {
    std::vector<Extent> computation, comm, copy, all, not_copy;
    for (const DeviceEvent& event : step.device_events) {
      const Extent interval = {event.ts, event.ts + event.dur};
      all.push_back(interval);
      (is_comm(event) ? comm : is_copy(event) ? copy : computation).push_back(interval);
      if (is_comm(event) || !is_copy(event)) not_copy.push_back(interval);
    }
    const std::int64_t computing = union_length(computation);
    const std::int64_t without_copy = union_length(not_copy);
    const std::int64_t busy = union_length(all);
    device_.busy += busy;
    device_.computation += computing;
    device_.comm += union_length(comm);
    device_.copy += union_length(copy);
    device_.exposed_comm += without_copy - computing;
    device_.exposed_copy += busy - without_copy;
    return busy;
  }

  void add_depth(const Step& step) {
    if (step.python_calls.empty()) return;
    const std::uint64_t first = step.python_calls.front().id;
    depths_.resize(step.python_calls.size());
    for (const PythonCall& call : step.python_calls) {
      const std::size_t above = call.parent < first ? kBaseFrames : depths_[call.parent - first];
      depths_[call.id - first] = above + 1;
      python_depth_ = std::max(python_depth_, above + 1);
    }
  }

  const TraceOptions& options_;
  const Model& model_;
  const bool old_ = options_.dialect == Dialect::kOld;
  std::map<std::string_view, std::map<std::string_view, std::int64_t>> events_;  // ph -> category -> count
  CountAndTime kernels_;
  std::map<std::string_view, CountAndTime> classes_, roles_;
  std::map<std::string_view, std::map<std::string_view, CountAndTime>> classes_by_kind_;
  std::map<std::string_view, NameRecord> names_;
  std::vector<CountAndTime> layers_;
  CountAndTime head_, tail_, between_, inserted_, misnamed_;
  std::vector<CountAndTime> fusions_;
  std::map<StepKind, std::vector<CountAndTime>> fusions_by_kind_;
  std::map<std::string_view, std::int64_t> steps_by_kind_;
  std::vector<Json> steps_;
  DeviceTime device_;
  std::int64_t with_launch_ = 0, without_launch_ = 0, graph_kernels_ = 0, graph_launches_ = 0, runtime_calls_ = 0;
  std::int64_t launch_calls_ = 0, idle_planted_ = 0;
  std::size_t python_depth_ = 0;
  std::uint64_t cpu_events_ = 0;
  std::vector<std::size_t> depths_;
};

}  // namespace

std::string ground_truth(const TraceOptions& options, const Model& model, TraceExtent& extent) {
  Truth truth(options, model);
  extent.start = start_of(options);
  run_steps(options, model, [&](const Step& step) {
    truth.add(step);
    extent.end = step.host_end + 1'000'000;
  });
  truth.finish();
  extent.cpu_ops = truth.cpu_events();
  return truth.json();
}

void write_labels(const TraceOptions& options, const Model& model, const std::string& path) {
  const std::int64_t zero = options.dialect == Dialect::kOld ? kBaseTime : 0;
  TextOutput out(path);
  out.put("step\tlayer\trole\tclass\tstream\tcorrelation\tdur\tts\tstack\titeration\tpass\toperator\n");
  run_steps(options, model, [&](const Step& step) {
    for (const DeviceEvent& event : step.device_events) {
      if (event.kind != DeviceEventKind::kKernel) continue;
      const KernelKind& kind = *event.operation->kernel;
      const auto stack = std::ranges::find_if(model.stacks, [&](const Stack& one) {
        return event.layer >= one.first && event.layer < one.first + one.count;
      });
      const bool in_stack = stack != model.stacks.end();
      out.put(step.index, "\t", event.layer - (in_stack ? stack->first : 0), "\t", kind.role, "\t",
              event.named->op_class, "\t", event.stream, "\t", event.correlation, "\t", event.dur, "\t",
              zero + event.ts, "\t", in_stack ? stack->name : "", "\t", event.iteration, "\t", to_text(event.pass),
              "\t", event.in_graph ? "" : kind.operator_name, "\n");
    }
  });
  out.close();
}

}  // namespace tracedb
