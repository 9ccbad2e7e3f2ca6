#include "ingest/kineto/kineto_events.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "base/text/decimal.h"
#include "base/text/json_text.h"
#include "base/unknown.h"

namespace tracedb {
namespace {

// Slices; their ends; counters; flows; and all that is a point in time: instants, marks, samples, steps of asynchronous
// slices, life and state of objects, memory dumps, clocks, contexts.
constexpr std::string_view kTimedPhases = "XBEbeSFCstfiIRPnTpNODVvc()";

// As the bits of a double; kUnknownValue unless it is a positive number.
std::int64_t bandwidth_of(std::string_view token) {
  const double value = rate_of(token);
  return value > 0 ? std::bit_cast<std::int64_t>(value) : kUnknownValue;
}

// Kineto writes "none" as -1, with 32 bits and no sign too.
std::int64_t known_id(std::int64_t number) {
  constexpr std::int64_t kNone = std::numeric_limits<std::uint32_t>::max();
  return number < 0 || number == kNone ? kUnknownValue : number;
}

}  // namespace

struct KinetoEvents::Event : RawEvent {
  EventCount& count;
  std::uint32_t category = 0;
  std::string_view ph{};
  std::int64_t ts = kUnknownValue;

  void skip(SkipReason reason) const { ++count.skipped[static_cast<std::size_t>(reason)]; }
};

void KinetoEvents::begin(EventBatch& batch) {
  batch.worker = worker_;
  last_kind_ = 0;
  later_kinds_.clear();
}

EventCount& KinetoEvents::event_count(std::uint32_t category, std::string_view ph, EventBatch& batch) {
  const auto matches = [&](const EventCount& kind) { return kind.category == category && kind.ph == ph; };
  if (last_kind_ < batch.kinds.size() && matches(batch.kinds[last_kind_])) return batch.kinds[last_kind_];
  const std::size_t first = std::min(batch.kinds.size(), kFirstKinds);
  const auto end = batch.kinds.begin() + static_cast<std::ptrdiff_t>(first);
  last_kind_ = static_cast<std::size_t>(std::find_if(batch.kinds.begin(), end, matches) - batch.kinds.begin());
  if (last_kind_ < first) return batch.kinds[last_kind_];
  if (first == kFirstKinds) {
    const auto [entry, is_new] = later_kinds_.try_emplace({category, std::string(ph)}, batch.kinds.size());
    last_kind_ = entry->second;
    if (!is_new) return batch.kinds[last_kind_];
  }
  EventCount& kind = batch.kinds.emplace_back();
  kind.category = category;
  kind.ph = ph;
  return kind;
}

void KinetoEvents::skip(SkipReason reason, EventBatch& batch) {
  EventCount& count = event_count(0, {}, batch);
  ++count.read;
  ++count.skipped[static_cast<std::size_t>(reason)];
}

void KinetoEvents::add(const EventFields& fields, std::int64_t offset, EventBatch& batch) {
  // The category comes first, so that the event is counted whatever becomes of it.
  const RawEvent raw{fields, offset, batch, options_.clock};
  const std::uint32_t category = category_id(raw);
  const std::string_view ph = raw.gives(EventField::kPh) ? raw_string(fields[EventField::kPh]) : std::string_view();
  Event event{raw, event_count(category, ph, batch), category, ph};
  ++event.count.read;
  if (fields.repeated()) event.issue(IssueKind::kDuplicateKey, fields[EventField::kName]);
  if (ph == "M") return add_metadata(event);
  if (ph.size() == 1 && kTimedPhases.find(ph[0]) != std::string_view::npos) return add_timed(event);
  event.issue(IssueKind::kUnsupportedPhase, ph);
  event.skip(SkipReason::kUnsupportedPhase);
}

void KinetoEvents::add_timed(Event& event) {
  const std::string_view token = event[EventField::kTs];
  const auto ts = time_of(token, options_.clock);
  if (!ts) {
    event.issue(token.empty() ? IssueKind::kMissingTimestamp : IssueKind::kBadTimestamp,
                token.empty() ? event[EventField::kName] : token);
    return event.skip(SkipReason::kNoTimestamp);
  }
  event.ts = *ts;
  EventBatch& batch = event.batch;
  if (batch.first_ts == kUnknownValue || *ts < batch.first_ts) batch.first_ts = *ts;
  switch (event.ph[0]) {
    case 'X':
      return add_slice_event(event);
    case 'B':
    case 'E':
    case 'b':
    case 'e':
    case 'S':
    case 'F':
      return add_endpoint(event);
    case 'C':
      return add_counter(event);
    case 's':
    case 't':
    case 'f':
      return add_flow(event);
    default:
      return add_instant(event);
  }
}

void KinetoEvents::add_slice_event(Event& event) {
  switch (event.category == 0 ? EventCategory::kOther : ids_.category(event.category)) {
    case EventCategory::kKernel:
      return add_device_event(event, DeviceEventType::kKernel);
    case EventCategory::kMemcpy:
      return add_device_event(event, DeviceEventType::kMemcpy);
    case EventCategory::kMemset:
      return add_device_event(event, DeviceEventType::kMemset);
    case EventCategory::kMtia:
      return add_mtia(event);
    case EventCategory::kCounterRange:
      add_counter(event);
      return add_other(event);
    case EventCategory::kOperator:
      return add_operator(event);
    case EventCategory::kCall:
      return event.batch.calls.push_back(common<CallRecord>(event));
    case EventCategory::kPython:
      return options_.python_calls == PythonCalls::kKeep ? add_python(event) : event.skip(SkipReason::kOption);
    case EventCategory::kAnnotation:
      return add_annotation(event, name_id(event));
    case EventCategory::kGpuAnnotation:
      return add_gpu_annotation(event);
    case EventCategory::kOther:
      return add_other(event);
  }
}

template <class Record>
Record KinetoEvents::common(const Event& event, std::uint32_t name, std::uint32_t track) {
  auto record = record_of<Record>(event.ts, kUnknownValue, name, track);
  if constexpr (requires { record.dur; }) record.dur = event.duration();
  if constexpr (requires { record.category; }) record.category = event.category;
  if constexpr (requires { record.correlation; }) record.correlation = ids_.integer(event, EventField::kCorrelation);
  if constexpr (requires { record.external_id; }) record.external_id = ids_.integer(event, EventField::kExternalId);
  record.args = args_index(event);
  return record;
}

template <class Record>
Record KinetoEvents::common(const Event& event) {
  return common<Record>(event, name_id(event), ids_.thread(event));
}

void KinetoEvents::add_device_event(Event& event, DeviceEventType type) {
  auto record = common<DeviceRecord>(event, name_id(event), ids_.stream(event));
  record.type = type;
  if (type == DeviceEventType::kKernel) {
    record.graph_id_or_bytes = ids_.integer(event, EventField::kGraphId);
    record.graph_node_id_or_bandwidth = ids_.integer(event, EventField::kGraphNodeId);
    record.config = ids_.launch_config(event);
    record.collective = collective_index(event);
  } else {
    record.graph_id_or_bytes = ids_.integer(event, EventField::kBytes);
    record.graph_node_id_or_bandwidth = bandwidth_of(event[EventField::kBandwidth]);
    if (is_json_string(event[EventField::kCopyKind])) record.config = text_id(EventField::kCopyKind, event);
  }
  event.batch.device_events.push_back(record);
}

// Kernels are named by the program that runs; waits and marks of a stream are no work.
void KinetoEvents::add_mtia(Event& event) {
  const std::string_view name = raw_string(event[EventField::kName]);
  if (name == "event_wait" || name == "event_record") return add_other(event);
  if (name != "dma_request") return add_device_event(event, DeviceEventType::kKernel);
  auto record = common<DeviceRecord>(event, name_id(event), ids_.stream(event));
  record.type = DeviceEventType::kMemcpy;
  record.graph_id_or_bytes = parse_integral(number_text(event.argument("size"))).value_or(kUnknownValue);
  const std::string_view direction = raw_string(event.argument("direction"));
  if (!direction.empty()) record.config = ids_.text(direction, event);
  event.batch.device_events.push_back(record);
}

void KinetoEvents::add_operator(Event& event) {
  const std::uint32_t name = name_id(event);
  if (ids_.is_mark(name, raw_string(event[EventField::kName]))) return add_annotation(event, name);
  auto record = common<OperatorRecord>(event, name, ids_.thread(event));
  const std::int64_t sequence_number = ids_.integer(event, EventField::kSequenceNumber);
  if (sequence_number != -1) record.sequence_number = sequence_number;  // -1: none
  record.is_forward = number_text(event[EventField::kForwardThread]) == "0" ? 1 : 0;
  record.shape = ids_.shape(event);
  event.batch.operators.push_back(record);
}

void KinetoEvents::add_python(Event& event) {
  auto record = common<PythonRecord>(event);
  record.python_id = ids_.python_id(event, EventField::kPythonId);
  record.parent_id = ids_.python_id(event, EventField::kPythonParentId);
  event.batch.python.push_back(record);
}

void KinetoEvents::add_annotation(Event& event, std::uint32_t name) {
  event.batch.annotations.push_back(common<AnnotationRecord>(event, name, ids_.thread(event)));
}

void KinetoEvents::add_gpu_annotation(Event& event) {
  auto record = common<AnnotationRecord>(event, name_id(event), ids_.stream(event));
  record.on_device = 1;
  event.batch.annotations.push_back(record);
}

void KinetoEvents::add_task(Event& event) {
  auto record = common<TaskRecord>(event);
  record.connection = ids_.integer(event, EventField::kConnection);
  if (record.connection < 0 && !is_wide(record.connection)) record.connection = kUnknownValue;
  record.model = ids_.integer(event, EventField::kModel);
  record.elements = ids_.integer(event, EventField::kElements);
  record.type = text_id(EventField::kTaskType, event);
  record.data_type = text_id(EventField::kDataType, event);
  constexpr std::int64_t kMostRanks = 1 << 20;  // beyond: "none", in the words of HCCL
  const std::int64_t peer = event.integer(EventField::kDestinationRank);
  if (peer >= 0 && peer < kMostRanks) record.peer = static_cast<std::uint32_t>(peer + 1);
  event.batch.tasks.push_back(record);
}

void KinetoEvents::add_other(Event& event) {
  if (event.category == 0 && (event.gives(EventField::kConnection) || event.gives(EventField::kTaskType)))
    return add_task(event);
  auto record = common<SliceRecord>(event);
  const std::string_view category =
      event.gives(EventField::kCat) ? raw_string(event[EventField::kCat]) : std::string_view();
  const bool is_wait = category == kMtiaCategory && raw_string(event[EventField::kName]) == "event_wait";
  if (category == "cuda_sync" || category == "xpu_sync" || is_wait) {
    record.is_sync = 1;
    record.sync_correlation = ids_.integer(event, EventField::kCorrelation);
    record.wait_stream = known_id(event.integer(EventField::kWaitStream));
    record.wait_correlation = known_id(event.integer(EventField::kWaitCorrelation));
  }
  event.batch.slices.push_back(record);
  if (options_.clock == Clock::kCycles) add_edges(record, event.batch);
}

void KinetoEvents::add_edges(const SliceRecord& slice, EventBatch& batch) {
  auto edge = record_of<SliceEndpointRecord>(slice.ts, 0, slice.name, slice.track);
  edge.kind = PairKind::kTile;
  edge.ph = 'X';
  batch.endpoints.push_back(edge);
  if (slice.dur == kUnknownValue) return;
  edge.ts += slice.dur;
  edge.is_end = 1;
  batch.endpoints.push_back(edge);
}

void KinetoEvents::add_endpoint(Event& event) {
  const char ph = event.ph[0];
  const bool is_end = std::string_view("EeF").find(ph) != std::string_view::npos;
  auto record = common<SliceEndpointRecord>(event, is_end ? text_id(EventField::kName, event) : name_id(event),
                                            ids_.thread(event));
  record.ph = ph;
  record.is_end = is_end ? 1 : 0;
  if (ph != 'B' && ph != 'E') {
    record.kind = ph == 'b' || ph == 'e' ? PairKind::kNested : PairKind::kNamed;
    record.id = ids_.event_id(event);
    record.scope = ids_.scope(event);
  } else if (options_.clock == Clock::kCycles) {
    record.kind = PairKind::kTile;
  }
  event.batch.endpoints.push_back(record);
}

void KinetoEvents::add_instant(Event& event) {
  auto record = common<InstantRecord>(event);
  record.bytes = ids_.integer(event, EventField::kBytes);
  record.address = event.integer(EventField::kAddress);
  record.device_type = event.integer(EventField::kDeviceType);
  record.device_id = event.integer(EventField::kDeviceId);
  record.total_allocated = event.integer(EventField::kTotalAllocated);
  record.total_reserved = event.integer(EventField::kTotalReserved);
  event.batch.instants.push_back(record);
}

// A row for each member of args: rows of their own, but one event.
void KinetoEvents::add_counter(Event& event) {
  auto record = common<CounterRecord>(event);
  const std::vector<JsonMember> series = json_members(event[EventField::kArgs]);
  for (const JsonMember& member : series) {
    record.value = rate_of(member.value);
    record.series = ids_.text(member.key, event);
    event.batch.counters.push_back(record);
    record.args = 0;
    record.continued = 1;  // further series
  }
  if (!series.empty()) return;
  record.value = std::numeric_limits<double>::quiet_NaN();
  event.batch.counters.push_back(record);
}

void KinetoEvents::add_flow(Event& event) {
  const EventId id = ids_.event_id(event);
  // The common case saves a look-up.
  const bool named_alike = event.category != 0 && event[EventField::kName] == event[EventField::kCat];
  auto record =
      common<FlowRecord>(event, named_alike ? event.category : text_id(EventField::kName, event), ids_.thread(event));
  record.id = id;
  record.ph = event.ph[0];
  event.batch.flows.push_back(record);
}

void KinetoEvents::add_metadata(Event& event) {
  struct Entry {
    std::string_view name;
    MetadataKind kind;
    std::string_view value;
  };
  constexpr Entry kEntries[] = {
      {"process_name", MetadataKind::kProcessName, "name"},
      {"process_labels", MetadataKind::kProcessLabels, "labels"},
      {"process_sort_index", MetadataKind::kProcessSortIndex, "sort_index"},
      {"thread_name", MetadataKind::kThreadName, "name"},
      {"thread_sort_index", MetadataKind::kThreadSortIndex, "sort_index"},
  };
  event.skip(SkipReason::kMetadata);
  const std::string_view name = raw_string(event[EventField::kName]);
  for (const Entry& entry : kEntries) {
    if (entry.name != name) continue;
    const std::string_view value = event.argument(entry.value);
    event.batch.metadata.push_back({entry.kind, track_key(event[EventField::kPid]), track_key(event[EventField::kTid]),
                                    unescape(raw_string(value)).text,
                                    parse_int64(number_text(value)).value_or(kUnknownValue)});
  }
}

std::uint32_t KinetoEvents::category_id(const RawEvent& event) {
  const std::string_view text =
      event.gives(EventField::kCat) ? raw_string(event[EventField::kCat]) : std::string_view();
  return text.empty() ? 0 : ids_.text(text, event);
}

std::uint32_t KinetoEvents::name_id(const Event& event) {
  const std::string_view token = event[EventField::kName];
  if (!is_json_string(token)) event.issue(IssueKind::kMissingName, token);
  return value_text_id(is_null_token(token) ? std::string_view() : token, event);
}

std::uint32_t KinetoEvents::text_id(EventField field, const Event& event) {
  return event.gives(field) ? value_text_id(event[field], event) : 0;
}

// A list or object given for a text is its JSON, the same in pretty-printed and minified traces.
std::uint32_t KinetoEvents::value_text_id(std::string_view token, const Event& event) {
  const bool container = token.starts_with('[') || token.starts_with('{');
  return container ? ids_.text(minify(token), event) : ids_.text(raw_string(token), event);
}

std::uint32_t KinetoEvents::collective_index(const Event& event) {
  if (!event.gives(EventField::kCollectiveName) && !event.gives(EventField::kGroupName) &&
      !event.gives(EventField::kCommsId))
    return 0;
  CollectiveRecord record;
  record.name = text_id(EventField::kCollectiveName, event);
  record.group_name = text_id(EventField::kGroupName, event);
  record.group_description = text_id(EventField::kGroupDescription, event);
  record.ranks = text_id(EventField::kGroupRanks, event);
  record.dtype = text_id(EventField::kDtype, event);
  record.comms_id = text_id(EventField::kCommsId, event);
  record.in_splits = text_id(EventField::kInSplits, event);
  record.out_splits = text_id(EventField::kOutSplits, event);
  record.group_size = event.integer(EventField::kGroupSize);
  record.in_elements = event.integer(EventField::kInElements);
  record.out_elements = event.integer(EventField::kOutElements);
  record.sequence = event.integer(EventField::kCollectiveSequence);
  record.source_rank = event.integer(EventField::kSourceRank);
  record.destination_rank = event.integer(EventField::kDestinationRank);
  event.batch.collectives.push_back(record);
  return static_cast<std::uint32_t>(event.batch.collectives.size());
}

// Arguments of a performance model's operators are always kept: they hold what the operator stands for.
std::uint32_t KinetoEvents::args_index(const Event& event) const {
  const bool kept = options_.arguments == EventArguments::kKeep || event.fields.has(EventField::kKernelType);
  if (!kept || !event.fields.has(EventField::kArgs)) return 0;
  const std::string_view text = event[EventField::kArgs];
  const std::string_view value = text.substr(0, json_value_length(text));
  if (is_null_token(value)) return 0;
  event.batch.args.push_back(minify(value));
  return static_cast<std::uint32_t>(event.batch.args.size());
}

}  // namespace tracedb
