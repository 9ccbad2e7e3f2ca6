// Events of XLA's profiles (XSpace of JAX, TensorFlow and PyTorch/XLA, in either form) to records: which lines of which
// planes are the device's work, what launched it, and which HLO operation it is.
//
// Planes, lines and stats: tsl/profiler/protobuf/xplane.proto and tsl/profiler/utils/xplane_schema.cc of XLA.
// Device planes come before those of the host. One thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/text/decimal.h"
#include "base/unknown.h"
#include "ingest/read/trace_header.h"
#include "ingest/rows/row_sink.h"
#include "ingest/xla/hlo.h"

namespace tracedb {

// The stats of an event that say something; all others are left aside.
enum class XlaStat : std::uint8_t {
  kNone,
  kCorrelation,
  kKernelDetails,
  kCopyDetails,
  kFillDetails,
  kHloOp,
  kHloModule,
  kProgram,
  kName,
  kTfOp,
  kStep,
  kProducerType,
  kProducer,
  kConsumerType,
  kConsumer,
  kRun,
  kOrdinal,
  kHloCategory,
  kFlops,
  kBytesAccessed,
  kSource,
  kShape,
  kAllocator,
  kBytesAllocated,
  kBytesReserved,
  kPeakBytes,
  kOccupancy,
  kCount
};
// By the name of the stat, as both forms write it. kNone: another one.
XlaStat xla_stat(std::string_view name);

struct XlaValue {
  std::int64_t number = kUnknownValue;
  double real = 0;
  std::string_view text;
};

struct XlaEvent {
  std::string_view name, display_name;                                     // display_name: empty where there is none
  std::int64_t ts = 0, dur = 0;                                            // ns, rounded once; kUnknownValue: unknown
  std::int64_t start_ps = 0, dur_ps = 0;                                   // start_ps: within its line
  std::uint64_t given = 0;                                                 // a bit a stat
  bool has_stats = false;                                                  // of any name
  std::array<XlaValue, static_cast<std::size_t>(XlaStat::kCount)> values;  // those that are given

  void set_duration(std::int64_t ns, std::int64_t ps) {  // of one that is negative nothing is known
    dur = ns < 0 ? kUnknownValue : ns;
    dur_ps = std::max<std::int64_t>(ps, 0);
  }
  void set(XlaStat stat, const XlaValue& value) {
    if (stat == XlaStat::kNone) return;
    values[static_cast<std::size_t>(stat)] = value;
    given |= std::uint64_t{1} << static_cast<unsigned>(stat);
  }
  [[nodiscard]] bool has(XlaStat stat) const { return (given >> static_cast<unsigned>(stat) & 1) != 0; }
  // kUnknownValue, empty: not given. The JSON form writes numbers as texts.
  [[nodiscard]] std::int64_t number(XlaStat stat) const;
  [[nodiscard]] double real(XlaStat stat) const {  // 0: not given
    const XlaValue& value = values[static_cast<std::size_t>(stat)];
    return !has(stat) ? 0 : value.text.empty() ? value.real : parse_double(value.text).value_or(0);
  }
  [[nodiscard]] std::string_view text(XlaStat stat) const {
    return has(stat) ? values[static_cast<std::size_t>(stat)].text : std::string_view();
  }
};

struct XlaPlane {
  std::string_view name;  // may begin with the host's
  // Of a device, as deviceProperties names them; kUnknownValue: not given.
  std::vector<std::pair<std::string_view, std::int64_t>> numbers = {};
  std::string_view vendor = {}, model = {};
};

class XlaRows {
 public:
  // `hlo`: null where the form has none. `host`: what the names of its planes begin with, where the trace has several
  // hosts, each read by its own XlaRows; `last_external_id`: of the one before. Borrows all.
  XlaRows(RowSink& sink, TraceFacts& facts, HloModules* hlo, std::string host = {}, std::int64_t last_external_id = 0)
      : sink_(sink), facts_(facts), hlo_(hlo), host_(std::move(host)), last_external_id_(last_external_id) {}

  void begin_plane(const XlaPlane& plane);
  void begin_line(std::int64_t id, std::string_view name);
  void add(const XlaEvent& event);
  void skip(SkipReason reason, std::uint64_t events = 1);  // of the line
  void end_plane();
  void finish();

  [[nodiscard]] std::int64_t last_external_id() const { return last_external_id_; }

 private:
  enum class Plane : std::uint8_t { kOther, kGpu, kTpu, kHost };
  enum class Line : std::uint8_t { kOther, kStream, kSteps, kModules, kOps, kAsyncOps, kHost };

  // An HLO operation that ran, with the ids of what is stored of it.
  struct Op {
    HloOp hlo;
    std::uint32_t name = 0, shape = 0, stack = 0;  // of its cpu_op
    std::uint32_t event_name = 0;                  // that events of the host have for it
  };
  struct DeviceWork {  // that a call launched
    std::int64_t correlation, ts;
    std::uint32_t op, name, stream;
  };
  struct Call {
    std::int64_t ts, dur, correlation;
    std::uint32_t name, track;
  };
  struct NamedSpan {  // of the host, named as an operation
    std::int64_t ts, dur;
    std::uint32_t name, track;
    std::uint32_t op = 0;  // that was launched in it
  };
  struct Arrow {  // one end of work handed to another thread
    std::int64_t type, id, ts, end;
    std::uint32_t track;
  };
  struct TpuEvent {
    std::int64_t ts, dur, start_ps, dur_ps, run;
    std::uint32_t op, name;
    // Of what is not of the operations in it: since when that lasts, how much is stored, of which operator (0: none
    // yet).
    std::int64_t own_from_ps = 0, own_ps = 0, external_id = 0;
    [[nodiscard]] std::int64_t end_ps() const { return saturating_add(start_ps, dur_ps); }
  };
  struct Run {  // of a program on a TPU
    std::int64_t ts = 0, end = 0, run = kUnknownValue, program = kUnknownValue;
    std::string name = {}, module = {};
    std::uint32_t stream = 0;
  };
  struct DeviceStep {
    TimeSpan span;
    std::int64_t number;
    std::vector<std::uint32_t> streams;
  };

  enum class Counted : std::uint8_t {
    kKernel,
    kMemcpy,
    kMemset,
    kCall,
    kPython,
    kAnnotation,
    kSlice,
    kCounter,
    kCount
  };
  void count(Counted as);
  RowSink::Kind kind(Counted as);
  void device_event(const XlaEvent& event);
  void tpu_event(const XlaEvent& event);
  void add_tpu_ops();
  void add_tpu_kernel(TpuEvent& event, std::int64_t until_ps);
  void host_event(const XlaEvent& event);
  void memory_event(const XlaEvent& event);
  void device_step(const XlaEvent& event);
  void module_run(const XlaEvent& event);
  void add_annotation_of_device(const TimeSpan& span, std::string_view name, std::uint32_t stream, bool is_step);
  void on_each(const std::vector<std::uint32_t>& streams, const std::function<void(std::uint32_t)>& add);
  void add_device_step(const DeviceStep& step);
  void add_tpu_steps();
  std::uint32_t device_stream(const TrackKey& number);
  std::int64_t run_of(const XlaEvent& event, bool on_host);
  // `program` kUnknownValue, `module` empty: not known.
  std::uint32_t op_of(const XlaEvent& event, std::int64_t program, std::string_view module, std::string_view op);
  std::uint32_t kernel_name(std::string_view kernel, std::uint32_t op);
  std::uint32_t collective_of(const HloOp& hlo);
  std::uint32_t config_of(const XlaEvent& event);
  void add_operator(const Op& op, const TimeSpan& span, std::uint32_t track, std::int64_t external_id);
  void add_operators();
  void add_handoffs();
  static const NamedSpan* span_around(std::span<const NamedSpan> spans, std::uint32_t name, std::int64_t ts);
  [[nodiscard]] const DeviceWork* work_of(const Call& call) const;
  void move_calls_to_their_threads();
  void complete(HloOp& hlo, const XlaEvent& event) const;
  [[nodiscard]] std::pair<std::uint32_t, std::int64_t> user_of(std::uint32_t track, std::int64_t ts) const;

  RowSink& sink_;
  TraceFacts& facts_;
  HloModules* hlo_;
  std::string host_;
  Plane plane_ = Plane::kOther;
  Line line_ = Line::kOther;
  TrackKey device_, process_;
  std::string line_name_, devices_;
  std::uint32_t stream_ = 0, track_ = 0;
  std::array<std::optional<RowSink::Kind>, static_cast<std::size_t>(Counted::kCount)> kinds_;
  std::map<std::string, std::uint32_t, std::less<>> op_ids_, config_ids_;
  std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> kernel_names_;  // by kernel and operation
  std::vector<Op> ops_ = std::vector<Op>(1);                                     // element 0: none
  std::vector<DeviceWork> work_;
  std::vector<Call> calls_;
  std::vector<NamedSpan> spans_;
  std::vector<Arrow> producers_, consumers_;
  std::vector<TpuEvent> tpu_events_;
  std::vector<Run> runs_;
  std::vector<DeviceStep> device_steps_;                  // of GPUs: derived from those of the host, where it has any
  std::vector<DeviceStep> plane_steps_;                   // of the plane
  std::vector<std::uint32_t> plane_streams_;              // that of steps, and those with work
  std::map<std::int64_t, std::int64_t> devices_of_runs_;  // the first device by run
  bool host_steps_ = false, tpu_steps_ = false;
  std::unordered_set<std::uint32_t> op_names_;  // text ids of the names of operations that ran
  std::int64_t last_external_id_;
};

}  // namespace tracedb
