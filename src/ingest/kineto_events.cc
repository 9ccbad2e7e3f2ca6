#include "ingest/kineto_events.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/decimal.h"
#include "ingest/json_text.h"

namespace tracedb {
namespace {

constexpr std::uint32_t fold_python_id(std::int64_t id) {
  const auto bits = static_cast<std::uint64_t>(id);
  const auto folded = static_cast<std::uint32_t>(bits ^ (bits >> 32U));
  return std::min(folded, kRootPythonId - 1);
}

// A quoted number and a number are the same key: old traces write both for one thread.
TrackKey track_key(std::string_view token) {
  if (const auto number = parse_int64(number_text(token))) return {*number, {}};
  return {kUnset, unescape(raw_string(token)).text};
}

// "stream 7" and "7" alike; text that ends in no number stays text.
TrackKey stream_key(std::string_view token) {
  TrackKey key = track_key(token);
  constexpr std::string_view kPrefix = "stream ";
  if (key.number == kUnset && key.text.starts_with(kPrefix)) {
    if (const auto number = parse_int64(std::string_view(key.text).substr(kPrefix.size()))) return {*number, {}};
  }
  return key;
}

// The three numbers of "grid": [x, y, z].
std::array<std::int64_t, 3> triple(std::string_view token) {
  std::array<std::int64_t, 3> out = {kUnset, kUnset, kUnset};
  if (!token.starts_with('[')) return out;
  token = token.substr(1, token.size() - 2);
  for (std::int64_t& value : out) {
    const std::size_t comma = std::min(token.find(','), token.size());
    value = parse_int64(trim_json_space(token.substr(0, comma))).value_or(kUnset);
    token.remove_prefix(std::min(comma + 1, token.size()));
  }
  return out;
}

double rate(std::string_view token) {
  return parse_double(number_text(token)).value_or(std::numeric_limits<double>::quiet_NaN());
}

bool is_null_token(std::string_view token) { return token == "null"; }

}  // namespace

struct KinetoEvents::Context {
  const EventFields& fields;
  std::int64_t offset;
  EventBatch& batch;
  KindCount& count;
  std::uint32_t category = 0;
  std::string_view ph{};
  std::int64_t ts = kUnset;

  void issue(IssueKind kind, std::string_view sample) const { batch.issues.add(kind, offset, sample); }
  void skip(SkipReason reason) const { ++count.skipped[static_cast<std::size_t>(reason)]; }
};

KinetoEvents::Category KinetoEvents::category_of(std::string_view name) {
  struct Entry {
    std::string_view name;
    Category category;
  };
  constexpr Entry kEntries[] = {
      {"kernel", Category::kKernel},
      {"Kernel", Category::kKernel},
      {"gpu_memcpy", Category::kMemcpy},
      {"Memcpy", Category::kMemcpy},
      {"gpu_memset", Category::kMemset},
      {"Memset", Category::kMemset},
      {"cpu_op", Category::kOperator},
      {"Operator", Category::kOperator},
      {"cuda_runtime", Category::kCall},
      {"cuda_driver", Category::kCall},
      {"Runtime", Category::kCall},
      {"xpu_runtime", Category::kCall},
      {"privateuse1_runtime", Category::kCall},
      {"privateuse1_driver", Category::kCall},
      {"python_function", Category::kPython},
      {"user_annotation", Category::kAnnotation},
      {"gpu_user_annotation", Category::kGpuAnnotation},
  };
  for (const Entry& entry : kEntries) {
    if (entry.name == name) return entry.category;
  }
  return Category::kOther;
}

void KinetoEvents::begin(EventBatch& batch) {
  batch.worker = worker_;
  last_kind_ = 0;
}

KindCount& KinetoEvents::kind_count(std::uint32_t category, std::string_view ph, EventBatch& batch) {
  const auto matches = [&](const KindCount& kind) { return kind.category == category && kind.ph == ph; };
  if (last_kind_ < batch.kinds.size() && matches(batch.kinds[last_kind_])) return batch.kinds[last_kind_];
  const auto found = std::find_if(batch.kinds.begin(), batch.kinds.end(), matches);
  last_kind_ = static_cast<std::size_t>(found - batch.kinds.begin());
  if (found != batch.kinds.end()) return *found;
  KindCount& kind = batch.kinds.emplace_back();
  kind.category = category;
  kind.ph = ph;
  return kind;
}

void KinetoEvents::skip(SkipReason reason, EventBatch& batch) {
  KindCount& count = kind_count(0, {}, batch);
  ++count.read;
  ++count.skipped[static_cast<std::size_t>(reason)];
}

void KinetoEvents::add(const EventFields& event, std::int64_t offset, EventBatch& batch) {
  // The category's string id comes first, so that the event can be counted whatever becomes of it.
  KindCount unused;
  Context names{event, offset, batch, unused};
  const std::uint32_t category = event.has(Field::kCat) && !is_null_token(event[Field::kCat])
                                     ? string_id(event[Field::kCat], names)
                                     : 0;
  const std::string_view ph = raw_string(event[Field::kPh]);
  Context context{event, offset, batch, kind_count(category, ph, batch), category, ph};
  ++context.count.read;
  if (ph == "M") return add_metadata(context);
  if (ph.size() == 1 && std::string_view("XBEiIRPCstf").find(ph[0]) != std::string_view::npos) return add_timed(context);
  context.issue(IssueKind::kUnsupportedPhase, ph);
  context.skip(SkipReason::kUnsupportedPhase);
}

void KinetoEvents::add_timed(Context& context) {
  const std::string_view token = context.fields[Field::kTs];
  const auto ts = parse_microseconds(number_text(token));
  if (!ts) {
    context.issue(token.empty() ? IssueKind::kMissingTimestamp : IssueKind::kBadTimestamp,
                  token.empty() ? context.fields[Field::kName] : token);
    return context.skip(SkipReason::kNoTimestamp);
  }
  context.ts = *ts;
  EventBatch& batch = context.batch;
  if (batch.first_ts == kUnset || *ts < batch.first_ts) batch.first_ts = *ts;
  switch (context.ph[0]) {
    case 'X':
      return add_slice_event(context);
    case 'B':
    case 'E':
      return add_edge(context);
    case 'C':
      return add_counter(context);
    case 's':
    case 't':
    case 'f':
      return add_flow(context);
    default:
      return add_instant(context);
  }
}

void KinetoEvents::add_slice_event(Context& context) {
  switch (context.category == 0 ? Category::kOther : categories_[context.category - 1]) {
    case Category::kKernel:
      return add_kernel_or_copy(context, DeviceEventType::kKernel);
    case Category::kMemcpy:
      return add_kernel_or_copy(context, DeviceEventType::kMemcpy);
    case Category::kMemset:
      return add_kernel_or_copy(context, DeviceEventType::kMemset);
    case Category::kOperator:
      return add_operator(context);
    case Category::kCall:
      return add_call(context);
    case Category::kPython:
      return options_.stacks == Keep::kYes ? add_python(context) : context.skip(SkipReason::kOption);
    case Category::kAnnotation:
      return add_annotation(context, false);
    case Category::kGpuAnnotation:
      return add_annotation(context, true);
    case Category::kOther:
      return add_other(context);
  }
}

void KinetoEvents::add_kernel_or_copy(Context& context, DeviceEventType type) {
  DeviceRecord record{};
  record.ts = context.ts;
  record.dur = duration(context);
  record.correlation = integer(Field::kCorrelation, context);
  record.external_id = integer(Field::kExternalId, context);
  record.graph_id = integer(Field::kGraphId, context);
  record.graph_node_id = integer(Field::kGraphNodeId, context);
  record.bytes = integer(Field::kBytes, context);
  record.name = name_id(context);
  record.stream = stream_id(context);
  record.type = type;
  if (type == DeviceEventType::kKernel) {
    record.config = config_id(context);
    record.collective = collective_index(context);
  } else if (is_json_string(context.fields[Field::kCopyKind])) {
    record.config = string_id(context.fields[Field::kCopyKind], context);
  }
  record.args = args_index(context);
  context.batch.device_events.push_back(record);
}

void KinetoEvents::add_operator(Context& context) {
  OperatorRecord record{};
  record.ts = context.ts;
  record.dur = duration(context);
  record.external_id = integer(Field::kExternalId, context);
  record.sequence_number = integer(Field::kSequenceNumber, context);
  record.name = name_id(context);
  record.track = thread_id(context);
  record.shape = shape_id(context);
  record.args = args_index(context);
  context.batch.operators.push_back(record);
}

void KinetoEvents::add_call(Context& context) {
  CallRecord record{};
  record.ts = context.ts;
  record.dur = duration(context);
  record.correlation = integer(Field::kCorrelation, context);
  record.external_id = integer(Field::kExternalId, context);
  record.name = name_id(context);
  record.track = thread_id(context);
  record.args = args_index(context);
  context.batch.calls.push_back(record);
}

void KinetoEvents::add_python(Context& context) {
  const auto id = [&](Field field) {
    const std::string_view token = context.fields[field];
    if (token.empty()) return kNoPythonId;
    if (is_null_token(token)) return kRootPythonId;
    const std::int64_t value = integer(field, context);
    return value == kUnset ? kNoPythonId : fold_python_id(value);
  };
  PythonRecord record{};
  record.ts = context.ts;
  record.dur = duration(context);
  record.python_id = id(Field::kPythonId);
  record.parent_id = id(Field::kPythonParentId);
  record.name = name_id(context);
  record.track = thread_id(context);
  record.args = args_index(context);
  context.batch.python.push_back(record);
}

void KinetoEvents::add_annotation(Context& context, bool on_device) {
  AnnotationRecord record{};
  record.ts = context.ts;
  record.dur = duration(context);
  record.external_id = integer(Field::kExternalId, context);
  record.name = name_id(context);
  record.track = on_device ? stream_id(context) : thread_id(context);
  record.on_device = on_device ? 1 : 0;
  record.args = args_index(context);
  context.batch.annotations.push_back(record);
}

void KinetoEvents::add_other(Context& context) {
  SliceRecord record{};
  record.ts = context.ts;
  record.dur = duration(context);
  record.category = context.category;
  record.name = name_id(context);
  record.track = thread_id(context);
  record.args = args_index(context);
  context.batch.slices.push_back(record);
}

void KinetoEvents::add_edge(Context& context) {
  EdgeRecord record{};
  record.ts = context.ts;
  record.category = context.category;
  record.name = name_id(context);
  record.track = thread_id(context);
  record.args = args_index(context);
  record.ph = context.ph[0];
  context.batch.edges.push_back(record);
}

void KinetoEvents::add_instant(Context& context) {
  InstantRecord record{};
  record.ts = context.ts;
  record.bytes = integer(Field::kBytes, context);
  record.category = context.category;
  record.name = name_id(context);
  record.track = thread_id(context);
  record.args = args_index(context);
  context.batch.instants.push_back(record);
}

void KinetoEvents::add_counter(Context& context) {
  CounterRecord record{};
  record.ts = context.ts;
  record.category = context.category;
  record.name = name_id(context);
  record.track = thread_id(context);
  const std::vector<JsonMember> series = json_members(context.fields[Field::kArgs]);
  for (const JsonMember& member : series) {
    record.value = rate(member.value);
    record.series = strings_id(member.key, context);
    context.batch.counters.push_back(record);
    record.continued = 1;  // further series of one event: rows of their own, but one event
  }
  if (!series.empty()) return;
  record.value = std::numeric_limits<double>::quiet_NaN();
  context.batch.counters.push_back(record);
}

void KinetoEvents::add_flow(Context& context) {
  FlowRecord record{};
  const std::string_view token = context.fields[Field::kId];
  const auto number = parse_uint64(number_text(token));
  record.id_type = number ? FlowIdType::kInteger : FlowIdType::kText;
  record.id = number ? *number : string_id(token, context);
  record.ts = context.ts;
  record.category = context.category;
  record.track = thread_id(context);
  record.ph = context.ph[0];
  context.batch.flows.push_back(record);
}

void KinetoEvents::add_metadata(Context& context) {
  struct Entry {
    std::string_view name;
    MetadataKind kind;
    Field value;
  };
  constexpr Entry kEntries[] = {
      {"process_name", MetadataKind::kProcessName, Field::kArgName},
      {"process_labels", MetadataKind::kProcessLabels, Field::kLabels},
      {"process_sort_index", MetadataKind::kProcessSortIndex, Field::kSortIndex},
      {"thread_name", MetadataKind::kThreadName, Field::kArgName},
      {"thread_sort_index", MetadataKind::kThreadSortIndex, Field::kSortIndex},
  };
  context.skip(SkipReason::kMetadata);
  const std::string_view name = raw_string(context.fields[Field::kName]);
  for (const Entry& entry : kEntries) {
    if (entry.name != name) continue;
    const std::string_view value = context.fields[entry.value];
    context.batch.metadata.push_back({entry.kind, track_key(context.fields[Field::kPid]),
                                      track_key(context.fields[Field::kTid]), unescape(raw_string(value)).text,
                                      parse_int64(number_text(value)).value_or(kUnset)});
  }
}

std::uint32_t KinetoEvents::strings_id(std::string_view raw, Context& context) {
  const Interner::Entry entry = strings_.intern(raw);
  if (entry.is_new) {
    Unescaped text = unescape(raw);
    if (text.replaced > 0) context.issue(IssueKind::kReplacedCharacter, raw);
    categories_.push_back(category_of(text.text));
    context.batch.strings.push_back(std::move(text.text));
  }
  return entry.id;
}

std::uint32_t KinetoEvents::string_id(std::string_view token, Context& context) {
  return strings_id(raw_string(token), context);
}

std::uint32_t KinetoEvents::name_id(Context& context) {
  const std::string_view token = context.fields[Field::kName];
  if (!is_json_string(token)) context.issue(IssueKind::kMissingName, token);
  return string_id(token, context);
}

std::uint32_t KinetoEvents::thread_id(Context& context) {
  const std::string_view pid = context.fields[Field::kPid];
  const std::string_view tid = context.fields[Field::kTid];
  if (last_thread_ != 0 && pid == last_pid_ && tid == last_tid_) return last_thread_;
  key_.assign(pid).append("\n").append(tid);
  const Interner::Entry entry = threads_.intern(key_);
  if (entry.is_new) context.batch.threads.push_back({track_key(pid), track_key(tid)});
  last_pid_ = pid;
  last_tid_ = tid;
  last_thread_ = entry.id;
  return entry.id;
}

std::uint32_t KinetoEvents::stream_id(Context& context) {
  const EventFields& fields = context.fields;
  const std::string_view device = fields[fields.has(Field::kDevice) ? Field::kDevice : Field::kPid];
  const std::string_view stream = fields[fields.has(Field::kStream) ? Field::kStream : Field::kTid];
  key_.assign(device).append("\n").append(stream);
  const Interner::Entry entry = streams_.intern(key_);
  if (entry.is_new) context.batch.streams.push_back({track_key(device), stream_key(stream)});
  return entry.id;
}

std::uint32_t KinetoEvents::config_id(Context& context) {
  constexpr std::array kFields = {Field::kGrid,      Field::kBlock,      Field::kRegisters, Field::kSharedMemory,
                                  Field::kOccupancy, Field::kBlocksPerSm, Field::kWarpsPerSm};
  const EventFields& fields = context.fields;
  key_.clear();
  for (const Field field : kFields) key_.append(fields[field]).append("\n");
  if (key_.size() == kFields.size()) return 0;
  const Interner::Entry entry = configs_.intern(key_);
  if (!entry.is_new) return entry.id;
  LaunchConfig config{};
  const auto grid = triple(fields[Field::kGrid]);
  const auto block = triple(fields[Field::kBlock]);
  std::copy(grid.begin(), grid.end(), config.values);
  std::copy(block.begin(), block.end(), config.values + 3);
  config.values[6] = integer(Field::kRegisters, context);
  config.values[7] = integer(Field::kSharedMemory, context);
  config.rates[0] = rate(fields[Field::kOccupancy]);
  config.rates[1] = rate(fields[Field::kBlocksPerSm]);
  config.rates[2] = rate(fields[Field::kWarpsPerSm]);
  context.batch.configs.push_back(config);
  return entry.id;
}

std::uint32_t KinetoEvents::shape_id(Context& context) {
  constexpr std::array kFields = {Field::kInputDims, Field::kInputTypes, Field::kInputStrides, Field::kConcreteInputs};
  const EventFields& fields = context.fields;
  if (std::none_of(kFields.begin(), kFields.end(), [&](Field field) { return fields.has(field); })) return 0;
  key_.clear();
  for (const Field field : kFields) key_.append(fields[field]).append("\n");
  const Interner::Entry entry = shapes_.intern(key_);
  if (entry.is_new) {
    context.batch.shapes.push_back({minify(fields[Field::kInputDims]), minify(fields[Field::kInputTypes]),
                                    minify(fields[Field::kInputStrides]), minify(fields[Field::kConcreteInputs])});
  }
  return entry.id;
}

std::uint32_t KinetoEvents::collective_index(Context& context) {
  const EventFields& fields = context.fields;
  if (!fields.has(Field::kCollectiveName) && !fields.has(Field::kGroupName) && !fields.has(Field::kCommsId)) return 0;
  const auto text = [&](Field field) { return fields.has(field) ? string_id(fields[field], context) : 0; };
  CollectiveRecord record{};
  record.name = text(Field::kCollectiveName);
  record.group_name = text(Field::kGroupName);
  record.group_description = text(Field::kGroupDescription);
  record.ranks = text(Field::kGroupRanks);
  record.dtype = text(Field::kDtype);
  record.comms_id = text(Field::kCommsId);
  record.group_size = integer(Field::kGroupSize, context);
  record.in_elements = integer(Field::kInElements, context);
  record.out_elements = integer(Field::kOutElements, context);
  record.sequence = integer(Field::kCollectiveSequence, context);
  context.batch.collectives.push_back(record);
  return static_cast<std::uint32_t>(context.batch.collectives.size());
}

std::uint32_t KinetoEvents::args_index(Context& context) {
  if (options_.args == Keep::kNo || !context.fields.has(Field::kArgs)) return 0;
  const std::string_view text = context.fields[Field::kArgs];
  context.batch.args.push_back(minify(text.substr(0, json_value_length(text))));
  return static_cast<std::uint32_t>(context.batch.args.size());
}

std::int64_t KinetoEvents::integer(Field field, Context& context) {
  const std::string_view token = context.fields[field];
  if (token.empty() || is_null_token(token)) return kUnset;
  if (const auto value = parse_int64(number_text(token))) return *value;
  context.issue(IssueKind::kBadNumber, token);
  return kUnset;
}

std::int64_t KinetoEvents::duration(Context& context) {
  const std::string_view token = context.fields[Field::kDur];
  if (const auto value = parse_microseconds(number_text(token))) {
    if (*value >= 0) return *value;
    context.issue(IssueKind::kNegativeDuration, token);
    return kUnset;
  }
  const bool missing = token.empty() || is_null_token(token);
  context.issue(missing ? IssueKind::kMissingDuration : IssueKind::kBadDuration, token);
  return kUnset;
}

}  // namespace tracedb
