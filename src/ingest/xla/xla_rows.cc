#include "ingest/xla/xla_rows.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "base/lookup.h"
#include "base/text/characters.h"
#include "ingest/rows/source_rows.h"
#include "ingest/xla/xla_names.h"
#include "trace/event_names.h"
#include "trace/format_holds.h"
#include "trace/kernel_name.h"
#include "trace/python_frame.h"

namespace tracedb {
namespace {

using std::string_view_literals::operator""sv;  // NOLINT(misc-unused-using-decls): used by the literals below

// In the order of XlaStat, without kNone.
constexpr std::string_view kStats[] = {"correlation_id",
                                       "kernel_details",
                                       "memcpy_details",
                                       "memset_details",
                                       "hlo_op",
                                       "hlo_module",
                                       "program_id",
                                       "name",
                                       "tf_op",
                                       "step_num",
                                       "_pt",
                                       "_p",
                                       "_ct",
                                       "_c",
                                       "run_id",
                                       "device_ordinal",
                                       "hlo_category",
                                       "flops",
                                       "bytes_accessed",
                                       "source",
                                       "shape_with_layout",
                                       "allocator_name",
                                       "bytes_allocated",
                                       "bytes_reserved",
                                       "peak_bytes_in_use",
                                       "theoretical_occupancy_pct"};
static_assert(std::size(kStats) + 1 == static_cast<std::size_t>(XlaStat::kCount));

}  // namespace

XlaStat xla_stat(std::string_view name) {
  const auto* const found = std::ranges::find(kStats, name);
  return found == std::end(kStats) ? XlaStat::kNone : static_cast<XlaStat>(found - std::begin(kStats) + 1);
}

std::int64_t XlaEvent::number(XlaStat stat) const {
  if (!has(stat)) return kUnknownValue;
  const XlaValue& value = values[static_cast<std::size_t>(stat)];
  return value.text.empty() ? value.number : parse_int64(value.text).value_or(kUnknownValue);
}

RowSink::Kind XlaRows::kind(Counted as) {
  constexpr std::array kNames = {"kernel"sv,          "gpu_memcpy"sv,      "gpu_memset"sv, "runtime"sv,
                                 "python_function"sv, "user_annotation"sv, "traceme"sv,    "memory"sv};
  std::optional<RowSink::Kind>& known = kinds_[static_cast<std::size_t>(as)];
  if (!known) known = sink_.kind(kNames[static_cast<std::size_t>(as)], as == Counted::kCounter ? "C"sv : "X"sv);
  return *known;
}
void XlaRows::count(Counted as) { sink_.read(kind(as)); }

void XlaRows::begin_plane(const XlaPlane& plane) {
  const std::int64_t gpu = ordinal_of(plane.name, "/device:GPU:");
  const std::int64_t tpu = ordinal_of(plane.name, "/device:TPU:");
  const bool host = plane.name.find("/host:") != std::string_view::npos;
  plane_ = gpu >= 0 ? Plane::kGpu : tpu >= 0 ? Plane::kTpu : host ? Plane::kHost : Plane::kOther;
  // Numbers of devices are those of a host.
  device_ = host_.empty() ? TrackKey{std::max(gpu, tpu), {}} : TrackKey{kUnknownValue, std::string(plane.name)};
  // Threads have one number in all planes of the host.
  process_ = {kUnknownValue, host ? host_ + "/host:CPU" : std::string(plane.name)};
  stream_ = 0;
  plane_streams_.clear();
  if (plane.vendor == "Nvidia") facts_.vendor = "nvidia";
  if (plane.vendor == "AMD") facts_.vendor = "amd";
  if (plane_ == Plane::kTpu) facts_.vendor = "google";
  if ((plane_ != Plane::kGpu && plane_ != Plane::kTpu) || (plane.numbers.empty() && plane.model.empty())) return;
  const auto number = [&](std::string_view key) {
    const auto found = std::ranges::find(plane.numbers, key, &std::pair<std::string_view, std::int64_t>::first);
    return found == plane.numbers.end() ? kUnknownValue : found->second;
  };
  append_device(devices_, device_.number, plane.model,
                {{"totalGlobalMem", number("memory_size")},
                 {"numSms", number("core_count")},
                 {"computeMajor", number("compute_cap_major")},
                 {"computeMinor", number("compute_cap_minor")}});
}

std::uint32_t XlaRows::device_stream(const TrackKey& number) {
  const TrackKey launching{kUnknownValue, host_.empty() ? std::string() : host_ + "/host:CPU"};
  stream_ = sink_.stream(device_, number, launching);
  if (std::ranges::find(plane_streams_, stream_) == plane_streams_.end()) plane_streams_.push_back(stream_);
  return stream_;
}

void XlaRows::begin_line(std::int64_t id, std::string_view name) {
  if (!tpu_events_.empty()) add_tpu_ops();
  line_name_ = name;
  line_ = Line::kOther;
  if (plane_ == Plane::kHost) line_ = Line::kHost;
  if (plane_ == Plane::kGpu && name.starts_with("Stream #")) line_ = Line::kStream;
  if (plane_ == Plane::kGpu || plane_ == Plane::kTpu) {
    if (name == "Steps") line_ = Line::kSteps;
    if (name == "XLA Modules") line_ = Line::kModules;
  }
  if (plane_ == Plane::kTpu && name == "XLA Ops") line_ = Line::kOps;
  if (plane_ == Plane::kTpu && name == kInFlightStream) line_ = Line::kAsyncOps;
  const bool device_work = line_ == Line::kStream || line_ == Line::kOps || line_ == Line::kAsyncOps;
  std::ranges::stable_sort(runs_, {}, &Run::ts);
  if (line_ == Line::kStream) device_stream({id, {}});
  if (line_ == Line::kOps || line_ == Line::kAsyncOps) device_stream({kUnknownValue, line_name_});
  if ((line_ == Line::kSteps || line_ == Line::kModules) && stream_ == 0) {
    device_stream({kUnknownValue, plane_ == Plane::kTpu ? "XLA Ops" : "Steps"});
  }
  if (device_work && plane_ == Plane::kGpu) return;
  const TrackKey tid{id, {}};
  track_ = sink_.thread(process_, tid);
  sink_.name_process(process_, process_.text);
  sink_.name_thread(process_, tid, name);
}

void XlaRows::skip(SkipReason reason, std::uint64_t events) {
  sink_.read(kind(Counted::kSlice), events);
  sink_.skip(kind(Counted::kSlice), reason, events);
}

void XlaRows::add(const XlaEvent& event) {
  switch (line_) {
    case Line::kStream:
      return device_event(event);
    case Line::kAsyncOps:
    case Line::kOps:
      return tpu_event(event);
    case Line::kSteps:
      return device_step(event);
    case Line::kModules:
      return module_run(event);
    case Line::kHost:
      return host_event(event);
    case Line::kOther:
      count(Counted::kSlice);
      return sink_.add_slice(line_name_, {event.ts, event.dur}, event.name, track_);
  }
}

// By the stats of the event, as far as the program does not say it.
void XlaRows::complete(HloOp& hlo, const XlaEvent& event) const {
  const bool of_tf = plane_ == Plane::kTpu || !event.has(XlaStat::kHloOp);
  const std::string_view path = event.text(of_tf ? XlaStat::kTfOp : XlaStat::kName);
  if (hlo.opcode.empty()) hlo.opcode = opcode_of_text(event.name);
  // One that has no text, or is wrapped for another thread ("async-start"), is named after what it does.
  if (plane_ == Plane::kTpu && (hlo.opcode.empty() || operation_of(hlo.opcode) == "async") &&
      (is_collective(hlo.op) || operation_of(hlo.op) == "copy"))
    hlo.opcode = hlo.op.substr(0, hlo.op.find('.'));
  if (hlo.shape.empty()) hlo.shape = without_layout(event.text(XlaStat::kShape));
  if (hlo.op_name.empty() && path.find('/') != std::string_view::npos) {
    hlo.op_name = path.substr(0, path.rfind(':'));  // behind it the type, on a TPU nothing
  }
  // A fusion's own name tells more than that it is a loop.
  if (const std::string_view work = kind_of_work(event.text(XlaStat::kHloCategory), hlo.op_name);
      hlo.target.empty() && (work == "dot" || work == "convolution" || operation_of(hlo.op) == "fusion")) {
    hlo.target = work;
  }
  if (const std::string_view source = event.text(XlaStat::kSource); hlo.frames.empty() && !source.empty()) {
    const std::size_t colon = source.rfind(':');
    const std::string_view line = colon == std::string_view::npos ? "0"sv : source.substr(colon + 1);
    hlo.frames.push_back(fmt::format("{}({}): {}", source.substr(0, colon), line, hlo.op));
  }
}

std::uint32_t XlaRows::op_of(const XlaEvent& event, std::int64_t program, std::string_view module,
                             std::string_view op) {
  const auto [known, is_new] =
      op_ids_.try_emplace(fmt::format("{}\n{}\n{}", program, module, op), static_cast<std::uint32_t>(ops_.size()));
  if (!is_new) return known->second;
  Op out;
  out.hlo.module = module;
  out.hlo.op = op;
  if (hlo_ != nullptr) out.hlo = hlo_->find(static_cast<std::uint64_t>(program), module, op);
  HloOp& hlo = out.hlo;
  complete(hlo, event);
  std::vector<std::uint32_t> frames;
  for (const std::string& frame : hlo.frames) frames.push_back(sink_.text(frame));
  for (const std::string& scope : scopes_of(hlo.op_name)) {
    frames.push_back(sink_.text(std::string(kModuleFrame) + scope));
  }
  out.stack = sink_.stack(frames);
  out.name = sink_.text(!hlo.op_name.empty() ? hlo.op_name : !hlo.opcode.empty() ? hlo.opcode : hlo.op);
  std::string more;
  const auto note = [&](std::string_view key, const std::string& value) {
    more += fmt::format("{}\"{}\": {}", more.empty() ? "" : ", ", key, value);
  };
  if (const auto text = event.text(XlaStat::kHloCategory); !text.empty()) note("hlo_category", quote_json(text));
  for (const auto& [key, stat] :
       {std::pair("flops"sv, XlaStat::kFlops), {"bytes_accessed"sv, XlaStat::kBytesAccessed}}) {
    if (const std::int64_t value = event.number(stat); value != kUnknownValue) note(key, std::to_string(value));
  }
  if (!hlo.dims.empty() || !more.empty()) {
    out.shape = sink_.shape({hlo.dims, hlo.types, {}, more.empty() ? "" : "[{" + more + "}]"});
  }
  out.event_name = sink_.text(hlo.op);
  op_names_.insert(out.event_name);
  ops_.push_back(std::move(out));
  return known->second;
}

std::uint32_t XlaRows::kernel_name(std::string_view kernel, std::uint32_t op) {
  const auto [known, is_new] = kernel_names_.try_emplace({std::string(kernel), op}, 0);
  if (!is_new) return known->second;
  const HloOp& hlo = ops_[op].hlo;
  // That of a loop has as many parts as the loop has variables.
  constexpr std::size_t kLongestShape = 200;
  const std::string shape =
      hlo.shape.size() <= kLongestShape ? hlo.shape : hlo.shape.substr(0, kLongestShape) + "\u2026";
  known->second = op == 0 ? sink_.text(kernel)
                          : sink_.text(hlo_kernel_text({kernel, hlo.module, hlo.op, hlo.opcode, hlo.target, shape}));
  return known->second;
}

std::uint32_t XlaRows::config_of(const XlaEvent& event) {
  const std::string_view details = event.text(XlaStat::kKernelDetails);
  if (details.empty()) return 0;
  const double occupancy = event.real(XlaStat::kOccupancy);  // percent; 0: not computed
  const auto [known, is_new] = config_ids_.try_emplace(fmt::format("{} {}", details, occupancy), 0);
  if (!is_new) return known->second;
  KernelDetails read = kernel_details(details);
  if (std::isnan(read.config.rates[1]) && occupancy > 0 && occupancy <= 100) read.config.rates[1] = occupancy;
  if (read.impossible) sink_.issue(IssueKind::kImpossibleConfig, -1, details);
  known->second = sink_.config(read.config);
  return known->second;
}

// 0: the operation is no collective, or the trace has no HLO of it.
std::uint32_t XlaRows::collective_of(const HloOp& hlo) {
  if (!is_collective(hlo.opcode)) return 0;
  std::string name = hlo.opcode.substr(0, hlo.opcode.rfind("-start"));
  std::ranges::replace(name, '-', '_');
  CollectiveRecord record;
  record.name = sink_.text(name);
  if (!hlo.dtype.empty()) record.dtype = sink_.text(hlo.dtype);
  record.in_elements = hlo.in_elements;
  record.out_elements = hlo.out_elements;
  return sink_.collective(record);
}

void XlaRows::device_event(const XlaEvent& event) {
  const bool copy = event.has(XlaStat::kCopyDetails), fill = event.has(XlaStat::kFillDetails);
  count(copy ? Counted::kMemcpy : fill ? Counted::kMemset : Counted::kKernel);
  std::uint32_t op = 0, tf_op = 0;
  if (const std::string_view name = event.text(XlaStat::kHloOp); !name.empty()) {
    op = op_of(event, event.number(XlaStat::kProgram), event.text(XlaStat::kHloModule), name);
  } else if (const std::string_view path = event.text(XlaStat::kTfOp); !path.empty() && path != "XlaModule:") {
    tf_op = op_of(event, kUnknownValue, {},
                  path.substr(0, path.rfind(':')));  // TensorFlow's own operation, without a program
  }
  const std::string_view details = event.text(copy ? XlaStat::kCopyDetails : XlaStat::kFillDetails);
  const std::uint32_t name = copy || fill ? sink_.text(event.name) : kernel_name(event.name, op);
  auto record = record_of<DeviceRecord>({event.ts, event.dur}, name, stream_);
  const std::int64_t correlation = event.number(XlaStat::kCorrelation);
  if (correlation > 0) record.correlation = correlation;
  if (copy || fill) {
    record.type = copy ? DeviceEventType::kMemcpy : DeviceEventType::kMemset;
    const std::size_t at = details.find("size:");
    const std::string_view size = at == std::string_view::npos ? std::string_view() : details.substr(at + 5);
    record.graph_id_or_bytes = parse_int64(size.substr(0, size.find(' '))).value_or(kUnknownValue);
    const std::string way = copy ? copy_direction(details) : std::string();
    if (!way.empty()) record.config = sink_.text(way);
  } else {
    record.config = config_of(event);
    record.collective = collective_of(ops_[op].hlo);
    if (op == 0 && tf_op == 0) sink_.issue(IssueKind::kKernelWithoutHlo, -1, event.name);
  }
  if (correlation > 0) work_.push_back({correlation, event.ts, std::max(op, tf_op), name, stream_});
  sink_.add(record);
}

void XlaRows::add_annotation_of_device(const TimeSpan& span, std::string_view name, std::uint32_t stream,
                                       bool is_step) {
  auto record = record_of<AnnotationRecord>(span, sink_.text(name), stream);
  record.on_device = 1;
  record.is_step = is_step ? 1 : 0;
  sink_.add(record);
}

void XlaRows::device_step(const XlaEvent& event) {
  count(Counted::kAnnotation);
  const TimeSpan span{event.ts, event.dur};
  const auto number = parse_int64(event.name);
  if (!number) return add_annotation_of_device(span, event.name, stream_, false);
  tpu_steps_ |= plane_ == Plane::kTpu;
  plane_steps_.push_back({span, *number, {}});
}

// A run of a program that several devices take part in is one of each.
std::int64_t XlaRows::run_of(const XlaEvent& event, bool on_host) {
  constexpr std::int64_t kMostDevices = std::int64_t{1} << 20U;
  const std::int64_t run = event.number(XlaStat::kRun), device = event.number(XlaStat::kOrdinal);
  if (run <= 0 || device < 0 || device >= kMostDevices) return run;
  if (on_host && !devices_of_runs_.contains(run)) return run;  // devices do not say which they are
  const std::int64_t first = devices_of_runs_.try_emplace(run, device).first->second;
  return device == first ? run : run ^ ((device + 1) << 40U);
}

void XlaRows::module_run(const XlaEvent& event) {
  count(Counted::kAnnotation);
  if (plane_ == Plane::kGpu) return add_annotation_of_device({event.ts, event.dur}, event.name, stream_, false);
  // "jit_f(15)": the program's number.
  const std::size_t open = std::min(event.name.find('('), event.name.size());
  const std::string_view number = event.name.substr(std::min(open + 1, event.name.size()));
  runs_.push_back({event.ts, end_of(event.ts, event.dur), run_of(event, false),
                   parse_int64(number.substr(0, number.find(')'))).value_or(kUnknownValue), std::string(event.name),
                   std::string(event.name.substr(0, open)), stream_});
}

void XlaRows::add_operator(const Op& op, const TimeSpan& span, std::uint32_t track, std::int64_t external_id) {
  auto record = record_of<OperatorRecord>(span, op.name, track);
  record.external_id = external_id;
  record.shape = op.shape;
  record.stack = op.stack;
  sink_.add(record);
}

void XlaRows::memory_event(const XlaEvent& event) {
  count(Counted::kCounter);
  auto record = record_of<CounterRecord>(event.ts, 0, sink_.text(event.text(XlaStat::kAllocator)), track_);
  record.category = sink_.text("memory");
  for (const auto& [series, stat] : {std::pair("bytes_allocated"sv, XlaStat::kBytesAllocated),
                                     {"bytes_reserved"sv, XlaStat::kBytesReserved},
                                     {"peak_bytes_in_use"sv, XlaStat::kPeakBytes}}) {
    const std::int64_t value = event.number(stat);
    record.series = sink_.text(series);
    record.value = value == kUnknownValue ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(value);
    sink_.add(record);
    record.continued = 1;
  }
}

void XlaRows::host_event(const XlaEvent& event) {
  const TimeSpan span{event.ts, event.dur};
  if (event.has(XlaStat::kAllocator) && contains_any(event.name, {"MemoryAllocation", "MemoryDeallocation"}))
    return memory_event(event);
  if (event.has(XlaStat::kProducer))
    producers_.push_back({event.number(XlaStat::kProducerType), event.number(XlaStat::kProducer), event.ts,
                          end_of(event.ts, event.dur), track_});
  if (event.has(XlaStat::kConsumer) && event.dur > 0)  // one without length holds no call
    consumers_.push_back({event.number(XlaStat::kConsumerType), event.number(XlaStat::kConsumer), event.ts,
                          end_of(event.ts, event.dur), track_});
  const bool enqueues = event.name.find("EnqueueProgram") != std::string_view::npos;
  const std::int64_t correlation = enqueues ? run_of(event, true) : event.number(XlaStat::kCorrelation);
  if (correlation > 0) {
    count(Counted::kCall);
    const std::string_view name = enqueues || is_api_call(event.name) ? event.name : "launch"sv;
    calls_.push_back(
        {event.ts, event.dur, cannot_launch(name) ? kUnknownValue : correlation, sink_.text(name), track_});
    return;
  }
  if (event.name.starts_with('$')) {
    count(Counted::kPython);
    return sink_.add_python_call(kind(Counted::kPython), span, python_name(event.name.substr(1)), track_);
  }
  if (const std::int64_t step = event.number(XlaStat::kStep); step != kUnknownValue) {
    count(Counted::kAnnotation);
    auto record = record_of<AnnotationRecord>(span, sink_.text(fmt::format("{} {}", event.name, step)), track_);
    record.is_step = tpu_steps_ ? 0 : 1;
    host_steps_ = true;
    return sink_.add(record);
  }
  const std::uint32_t name = sink_.text(event.name);
  if (op_names_.contains(name)) {
    count(Counted::kSlice);
    return spans_.push_back({event.ts, event.dur, name, track_});
  }
  if (event.name.starts_with("PjitFunction(") || (!event.has_stats && !is_runtime_name(event.name))) {
    count(Counted::kAnnotation);
    return sink_.add_annotation(span, event.name, track_);
  }
  count(Counted::kSlice);
  sink_.add_slice("traceme", span, event.name, track_);
}

void XlaRows::end_plane() {
  if (!tpu_events_.empty()) add_tpu_ops();
  for (DeviceStep& step : plane_steps_) step.streams = plane_streams_;
  if (plane_ == Plane::kGpu) std::ranges::move(std::exchange(plane_steps_, {}), std::back_inserter(device_steps_));
  add_tpu_steps();
}

// The one of `spans`, which are of one track, that an event named `name` from `ts` on is in; null: none.
const XlaRows::NamedSpan* XlaRows::span_around(std::span<const NamedSpan> spans, std::uint32_t name, std::int64_t ts) {
  const auto later = std::ranges::upper_bound(spans, ts, {}, &NamedSpan::ts);
  if (later == spans.begin()) return nullptr;
  const NamedSpan& span = *std::prev(later);
  return span.name == name && end_of(span.ts, span.dur) >= ts ? &span : nullptr;
}

// What the call launched first, where that is known as an operation; else null.
const XlaRows::DeviceWork* XlaRows::work_of(const Call& call) const {
  const auto work = std::ranges::lower_bound(work_, call.correlation, {}, &DeviceWork::correlation);
  return work != work_.end() && work->correlation == call.correlation && work->op != 0 ? &*work : nullptr;
}

// Newer ROCm has calls on lines "Host Threads/ID" apart from the thread's own line, which is the only one whose events
// named as the operations are around nearly all of the calls in time.
void XlaRows::move_calls_to_their_threads() {
  std::map<std::uint32_t, std::span<const NamedSpan>> spans;  // by track
  for (std::size_t i = 0, begin = 0; i < spans_.size(); ++i) {
    if (spans_[i].track != spans_[begin].track) begin = i;
    spans[spans_[i].track] = std::span(spans_).subspan(begin, i + 1 - begin);
  }
  std::map<std::uint32_t, std::size_t> calls;                             // by track
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> around;  // by track, and by that of the events
  for (const Call& call : calls_) {
    const DeviceWork* const work = work_of(call);
    if (work == nullptr || spans.contains(call.track)) continue;
    ++calls[call.track];
    for (const auto& [track, own] : spans) {
      if (span_around(own, ops_[work->op].event_name, call.ts) != nullptr) ++around[{call.track, track}];
    }
  }
  std::map<std::uint32_t, std::vector<std::uint32_t>> own_tracks;
  for (const auto& [tracks, n] : around) {
    if (n >= calls[tracks.first] - calls[tracks.first] / 10) own_tracks[tracks.first].push_back(tracks.second);
  }
  for (Call& call : calls_) {
    const auto* found = find_in(own_tracks, call.track);
    if (found != nullptr && found->size() == 1) call.track = found->front();
  }
}

// One for each run of an operation: the event of its name around its launches, else from the first of them to the last.
void XlaRows::add_operators() {
  const auto by_place = [](const auto& a, const auto& b) { return std::tie(a.track, a.ts) < std::tie(b.track, b.ts); };
  std::ranges::sort(spans_, by_place);
  move_calls_to_their_threads();
  std::ranges::sort(calls_, by_place);
  std::uint32_t open_op = 0, open_track = 0;
  TimeSpan open{};
  std::vector<std::uint32_t> launched;  // names of its kernels: one that comes again is of the next run
  const auto close = [&] {
    if (open_op == 0) return;
    add_operator(ops_[open_op], open, open_track, kUnknownValue);
    sink_.count_derived(1);
    open_op = 0;
  };
  for (const Call& call : calls_) {
    const DeviceWork* const work = work_of(call);
    if (work == nullptr) continue;
    const NamedSpan here{call.ts, 0, 0, call.track};
    auto later = std::upper_bound(spans_.begin(), spans_.end(), here, by_place);
    if (later != spans_.begin()) {
      NamedSpan& span = *std::prev(later);
      if (span.track == call.track && span.name == ops_[work->op].event_name && end_of(span.ts, span.dur) >= call.ts) {
        span.op = work->op;
        continue;
      }
    }
    if (work->op != open_op || call.track != open_track || std::ranges::find(launched, work->name) != launched.end()) {
      close();
      launched.clear();
      open = {call.ts, call.dur};
      open_op = work->op;
      open_track = call.track;
    }
    launched.push_back(work->name);
    open.dur = std::max(open.dur, end_of(call.ts, call.dur) - open.ts);
  }
  close();
  for (const NamedSpan& span : spans_) {
    if (span.op != 0) {
      add_operator(ops_[span.op], {span.ts, span.dur}, span.track, kUnknownValue);  // it is the event itself
    } else {
      auto record = record_of<SliceRecord>({span.ts, span.dur}, span.name, span.track);
      record.category = sink_.text("traceme");
      sink_.add(record);
    }
  }
}

// Where the work of a call was asked for: back along the arrows from thread to thread.
std::pair<std::uint32_t, std::int64_t> XlaRows::user_of(std::uint32_t track, std::int64_t ts) const {
  constexpr int kMostHops = 16;
  for (int hop = 0; hop < kMostHops; ++hop) {
    const auto place = [](const Arrow& arrow) { return std::tuple(arrow.track, arrow.ts); };
    const auto later = std::ranges::upper_bound(consumers_, std::tuple(track, ts), {}, place);
    if (later == consumers_.begin()) break;
    const Arrow& around = *std::prev(later);
    if (around.track != track || around.end < ts) break;
    const auto from =
        std::lower_bound(producers_.begin(), producers_.end(), std::tuple(around.type, around.id),
                         [](const Arrow& arrow, const auto& key) { return std::tuple(arrow.type, arrow.id) < key; });
    if (from == producers_.end() || from->type != around.type || from->id != around.id) break;
    if (from->ts > around.ts) {
      sink_.issue(IssueKind::kBackwardArrow, -1, fmt::format("{} {}", around.type, around.id));
      break;
    }
    track = from->track;
    ts = from->ts;
  }
  return {track, ts};
}

void XlaRows::add_handoffs() {
  std::ranges::sort(producers_, [](const Arrow& a, const Arrow& b) {
    return std::tie(a.type, a.id, a.ts) < std::tie(b.type, b.id, b.ts);
  });
  std::ranges::sort(consumers_, [](const Arrow& a, const Arrow& b) {
    return std::tie(a.track, a.ts, b.end) < std::tie(b.track, b.ts, a.end);
  });
  // Only the outermost of those inside one another.
  std::vector<Arrow> outermost;
  for (const Arrow& arrow : consumers_) {
    const bool inside =
        !outermost.empty() && outermost.back().track == arrow.track && arrow.end <= outermost.back().end;
    if (!inside) outermost.push_back(arrow);
  }
  consumers_ = std::move(outermost);
  // A profile may use a number more than once: the last call before the work is its own.
  std::ranges::sort(calls_, [](const Call& a, const Call& b) {
    return std::tie(a.correlation, a.ts) < std::tie(b.correlation, b.ts);
  });
  for (const DeviceWork& work : work_) {
    const auto later =
        std::upper_bound(calls_.begin(), calls_.end(), std::tuple(work.correlation, work.ts),
                         [](const auto& key, const Call& call) { return key < std::tuple(call.correlation, call.ts); });
    if (later == calls_.begin() || std::prev(later)->correlation != work.correlation) continue;
    const Call& call = *std::prev(later);
    const auto [track, ts] = user_of(call.track, call.ts);
    if (track != call.track) sink_.add_handoff({work.ts, ts, work.stream, track});
  }
}

void XlaRows::finish() {
  sink_.find_operators_by_external_id();
  std::ranges::stable_sort(work_, {}, &DeviceWork::correlation);
  for (const DeviceStep& step : device_steps_) {
    if (host_steps_) {
      add_annotation_of_device(step.span, fmt::format("step {}", step.number), step.streams.front(), false);
    } else {
      add_device_step(step);
    }
  }
  add_operators();
  add_handoffs();
  for (const Call& call : calls_) {
    auto record = record_of<CallRecord>({call.ts, call.dur}, call.name, call.track);
    record.correlation = call.correlation;
    sink_.add(record);
  }
  if (!devices_.empty()) facts_.header.push_back({"deviceProperties", "[" + devices_ + "]", -1});
}

}  // namespace tracedb
