// Runs the model step by step on an imaginary host and GPU: one host thread that launches, streams that execute in
// order. The same options give the same events however often it runs, which is how the parts of a trace are written
// one after the other without keeping it in memory.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "make_trace/model/model.h"
#include "make_trace/random.h"
#include "make_trace/run/step.h"

namespace tracedb {

// Roles of the streams; several share one stream where --streams allows fewer.
enum class StreamRole : std::size_t { kCompute, kCommunication, kCopy, kSide };

using StreamNumbers = std::array<int, 4>;  // by role

constexpr std::int64_t kUs = 1000;
constexpr std::uint64_t kBaseFrames = 4;  // python frames that span the trace

StreamNumbers stream_numbers(const TraceOptions& options);

class Schedule {
 public:
  // Both must outlive the schedule.
  Schedule(const TraceOptions& options, const Model& model);

  // Replaces the content of `step` by the next step.
  void next(Step& step);

  [[nodiscard]] std::int64_t start() const { return start_; }

 private:
  // What autograd keeps of a forward operator.
  struct Recorded {
    const Operation* operation;
    int layer;
    std::int64_t sequence;
    std::uint64_t flow;
  };

  void begin_step(Step& step);
  void prepare_inputs();
  void run_forward_eager();
  void run_forward_graph();
  void run_operation(const Operation& operation, int layer);
  void run_layer(const Stack& stack, int layer);
  void serve_step();
  void model_step();
  void run_pass();
  void run_stack(const Stack& stack);
  void run_all(const std::vector<Operation>& operations, int layer);
  void run_backward();
  void run_optimizer();
  void open_annotation();
  void record(std::size_t op, const Operation& operation, int layer);
  void plant_idle(std::string_view frame);
  void shift_names(std::size_t first);
  void run_tail();
  void return_results(std::string_view frame, std::int64_t bytes);
  void end_step();
  void pass_gap();
  void mirror_annotation();

  std::size_t enter(std::string_view name, int module_index = -1);
  void leave();
  void open_modules(const std::vector<ModuleRef>& modules, int layer);
  std::size_t begin_op(std::string_view name);
  void end_op(std::size_t op);
  RuntimeCall& call(std::string_view name, int callback_id, std::int64_t cost, std::uint64_t external_id);
  void copy(DeviceEventKind kind, std::int64_t bytes);
  void launch(const Operation& operation, int layer, std::uint64_t external_id);
  DeviceEvent& place(StreamRole role, std::int64_t ready, std::int64_t dur, std::int64_t gap);
  DeviceEvent& place_kernel(const Operation& operation, int layer, std::int64_t ready, bool in_graph);
  [[nodiscard]] std::int64_t earliest_start(const Operation& operation, int layer, std::uint64_t noise,
                                            std::int64_t gap);
  [[nodiscard]] bool takes_part(const Operation& operation) const;
  [[nodiscard]] std::int64_t duration(const Operation& operation, std::uint64_t noise) const;
  std::int64_t wait_for_ranks(const Operation& operation);
  [[nodiscard]] std::int64_t tokens_of(const Operation& operation) const;
  [[nodiscard]] std::int64_t drained() const;
  void spend(std::int64_t cost) { clock_ += cost + random_.below(cost / 2 + 1); }
  [[nodiscard]] std::string_view pick(std::string_view amd, std::string_view nvidia) const {
    return options_.vendor == Vendor::kAmd ? amd : nvidia;
  }

  const TraceOptions& options_;
  const Model& model_;
  StreamNumbers streams_;
  Step* step_ = nullptr;
  Random random_{0};
  std::int64_t start_ = 0;
  std::int64_t clock_ = 0;
  std::int64_t next_step_ = 0;
  std::uint64_t next_external_ = 1;
  std::uint64_t next_python_ = kBaseFrames + 1;
  std::uint64_t next_correlation_ = 1;
  int orphans_left_ = 0;
  std::array<std::int64_t, 4> free_{};  // by position in streams_: when its last event ends
  std::int64_t compute_gate_ = 0;       // earliest start of the next compute kernel
  std::int64_t fork_ = 0;               // start of the last compute kernel: the side stream goes on from there
  int side_layer_ = kHead;              // whose branch runs on the side stream
  std::int64_t waited_in_ = -1;         // the last step whose first collective waited
  int thread_ = kMainThread;
  Pass pass_ = Pass::kNone;
  int iteration_ = 0;
  std::int64_t next_sequence_ = 1;
  std::uint64_t next_gradient_flow_ = 1;
  std::vector<Recorded> tape_;
  std::vector<std::size_t> open_frames_;
  std::vector<ModuleRef> open_modules_;
};

}  // namespace tracedb
