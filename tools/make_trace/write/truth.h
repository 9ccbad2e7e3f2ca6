// What a synthetic trace holds, counted from the events themselves as they are made: the answer sheet for tests. Times
// are ns; `ts` values are the file's own times (us) in ns.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "make_trace/model/model.h"
#include "make_trace/run/step.h"
#include "make_trace/write/trace_writer.h"

namespace tracedb {

struct CountAndTime {
  std::int64_t count = 0, ns = 0;
  void add(std::int64_t dur) {
    ++count;
    ns += dur;
  }
};

// Unions of device time; computation + exposed_comm + exposed_copy + idle = span, over the whole trace.
struct DeviceTime {
  std::int64_t begin = 0, end = 0, busy = 0, computation = 0, comm = 0, copy = 0, exposed_comm = 0, exposed_copy = 0;
};

class Truth {
 public:
  // Both must outlive the object.
  Truth(const TraceOptions& options, const Model& model);

  void add(const Step& step);
  // Events that belong to no step. Call once, after the last step.
  void finish();
  [[nodiscard]] std::string json() const;
  [[nodiscard]] std::uint64_t cpu_events() const { return cpu_events_; }

 private:
  struct StepRecord {
    std::int64_t index, ts, dur;
    StepKind kind;
    bool graph;
    int context_requests, context_tokens, generation_requests, generation_tokens;
    CountAndTime kernels;
    std::int64_t gpu_begin, gpu_end, busy;
    Interval idle;
    std::string name;
    std::map<Pass, CountAndTime> passes;
  };

  void count(std::string_view ph, std::string_view category, std::int64_t number = 1);
  void add_operators(const Step& step);
  void add_calls(const Step& step);
  void add_kernel(const Step& step, const DeviceEvent& event, StepRecord& record);
  void add_device(const Step& step);
  void add_unions(const Step& step, StepRecord& record);
  void add_depth(const Step& step);
  [[nodiscard]] std::string fusions_json() const;
  [[nodiscard]] std::string steps_json() const;
  [[nodiscard]] std::string stacks_json() const;
  [[nodiscard]] bool old() const { return options_.dialect == Dialect::kOld; }

  const TraceOptions& options_;
  const Model& model_;
  std::map<std::string, std::map<std::string, std::int64_t>, std::less<>> events_;  // ph -> category -> count
  CountAndTime kernels_;
  std::map<std::string_view, CountAndTime> classes_, roles_;
  std::map<StepKind, std::map<std::string_view, CountAndTime>> classes_by_kind_;
  std::map<std::string_view, CountAndTime> names_;
  std::map<std::string_view, std::string_view> class_of_name_;
  std::vector<CountAndTime> layers_;
  CountAndTime head_, tail_, between_, inserted_, misnamed_;
  std::vector<CountAndTime> fusions_;
  std::map<StepKind, std::vector<CountAndTime>> fusions_by_kind_;
  std::map<StepKind, std::int64_t> steps_by_kind_;
  std::vector<StepRecord> steps_;
  DeviceTime device_;
  std::int64_t with_launch_ = 0, without_launch_ = 0, graph_kernels_ = 0, graph_launches_ = 0, runtime_calls_ = 0;
  std::int64_t launch_calls_ = 0, idle_planted_ = 0;
  std::size_t python_depth_ = 0;
  std::uint64_t cpu_events_ = 0;
  std::vector<std::size_t> depths_;
};

}  // namespace tracedb
