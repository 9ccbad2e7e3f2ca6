#include "ingest/store/trace_store.h"

#include <fmt/format.h>

#include "base/unknown.h"

namespace tracedb {
namespace {

std::uint32_t global(const std::vector<std::uint32_t>& ids, std::uint32_t local) {
  return local == 0 ? 0 : ids[local - 1];
}

std::string key_text(const TrackKey& key) {
  return key.number != kUnknownValue ? fmt::format("n{}", key.number) : fmt::format("t{}", key.text);
}

}  // namespace

std::string track_text(const TrackKey& pid, const TrackKey& tid) {
  return fmt::format("{}\n{}", key_text(pid), key_text(tid));
}

namespace {

SpoolOptions spool_share(const StoreOptions& options, unsigned share) {
  return {options.spool_directory, options.memory_bytes / 64 * share};
}

}  // namespace

TraceStore::TraceStore(const StoreOptions& options)
    : args(options.spool_directory),
      python(spool_share(options, 16)),
      operators(spool_share(options, 8)),
      calls(spool_share(options, 6)),
      device_events(spool_share(options, 16)),
      annotations(spool_share(options, 2)),
      slices(spool_share(options, 2)),
      tasks(spool_share(options, 2)),
      endpoints(spool_share(options, 2)),
      instants(spool_share(options, 2)),
      counters(spool_share(options, 2)),
      flows(spool_share(options, 6)),
      options_(options) {}

SpoolOptions TraceStore::spool(unsigned share) const { return spool_share(options_, share); }

void TraceStore::add(EventBatch& batch) {
  if (batch.worker >= workers_.size()) workers_.resize(batch.worker + 1);
  WorkerIds& ids = workers_[batch.worker];
  define(batch, ids);
  add_events(batch, ids);
  for (const EventCount& local : batch.kinds) {
    EventCount& count = kind(global(ids.strings, local.category), local.ph);
    count.read += local.read;
    for (std::size_t i = 0; i < std::size(count.skipped); ++i) count.skipped[i] += local.skipped[i];
  }
  for (const MetadataRecord& record : batch.metadata) keep(record);
  issues.merge(batch.issues);
  read_to = batch.end;
  if (batch.first_ts != kUnknownValue && (first_ts == kUnknownValue || batch.first_ts < first_ts))
    first_ts = batch.first_ts;
}

void TraceStore::define(const EventBatch& batch, WorkerIds& ids) {
  for (const std::string& text : batch.strings) ids.strings.push_back(string_id(text));
  for (const std::string& text : batch.numbers) ids.numbers.push_back(numbers.intern(text).id);
  for (const std::string& key : batch.scopes) ids.scopes.push_back(scope_keys_.intern(key).id);
  for (const TrackDefinition& thread : batch.threads) ids.threads.push_back(thread_id(thread.owner, thread.track));
  for (const auto& [stream, drawn_on, launching_process] : batch.streams) {
    ids.streams.push_back(stream_id(stream.owner, stream.track));
    if (launching_process != TrackKey{}) {
      StreamInfo& info = streams[ids.streams.back() - 1];
      const std::uint32_t process = process_id(launching_process);
      info.several_processes |= info.process != 0 && info.process != process;
      info.process = process;
    }
    stream_tracks.try_emplace(track_text(drawn_on.owner, drawn_on.track), ids.streams.back());
  }
  for (LaunchConfig config : batch.configs) {
    TaskInfo& task = config.task;
    for (std::uint32_t* text :
         {&task.name, &task.core, &task.state, &task.input_shapes, &task.input_types, &task.input_formats,
          &task.output_shapes, &task.output_types, &task.output_formats, &task.mix_blocks}) {
      *text = global(ids.strings, *text);
    }
    ids.configs.push_back(config_id(config));
  }
  for (const ShapeDefinition& shape : batch.shapes) ids.shapes.push_back(shape_id(shape));
}

template <class Record>
void TraceStore::to_global(Record& record, const WorkerIds& ids) const {
  const auto texts = [&ids](auto&... text) { ((text = global(ids.strings, text)), ...); };
  // No double that is positive looks wide.
  const auto rewrite_wide = [&ids](auto&... number) {
    const auto rewrite = [&ids](std::int64_t& value) {
      if (is_wide(value)) value = kUnknownValue + std::int64_t{global(ids.numbers, wide_id(value))};
    };
    if (!ids.numbers.empty()) (rewrite(number), ...);
  };
  texts(record.name);
  if constexpr (requires { record.category; }) texts(record.category);
  if constexpr (requires { record.series; }) texts(record.series);
  if constexpr (requires { record.correlation; }) rewrite_wide(record.correlation);
  if constexpr (requires { record.external_id; }) rewrite_wide(record.external_id);
  if constexpr (requires { record.sequence_number; }) rewrite_wide(record.sequence_number);
  if constexpr (requires { record.bytes; }) rewrite_wide(record.bytes);
  if constexpr (requires { record.shape; }) record.shape = global(ids.shapes, record.shape);
  if constexpr (requires { record.scope; }) record.scope = global(ids.scopes, record.scope);
  if constexpr (requires { record.on_device; }) {
    record.track = global(record.on_device != 0 ? ids.streams : ids.threads, record.track);
  } else if constexpr (requires { record.track; }) {
    record.track = global(ids.threads, record.track);
  }
  if (record.args != 0) record.args += args.size();
  if constexpr (std::is_same_v<Record, PythonRecord>) {
    for (std::uint32_t* id : {&record.python_id, &record.parent_id}) {
      if (*id > kWidePythonId && *id < kRootPythonId) *id = kWidePythonId + global(ids.numbers, *id - kWidePythonId);
    }
  } else if constexpr (std::is_same_v<Record, DeviceRecord>) {
    rewrite_wide(record.graph_id_or_bytes, record.graph_node_id_or_bandwidth);
    record.stream = global(ids.streams, record.stream);
    record.config = global(record.type == DeviceEventType::kKernel ? ids.configs : ids.strings, record.config);
  } else if constexpr (std::is_same_v<Record, TaskRecord>) {
    texts(record.type, record.data_type);
    rewrite_wide(record.connection, record.model, record.elements);
  }
}

void TraceStore::add_events(EventBatch& batch, const WorkerIds& ids) {
  const auto collective_base = static_cast<std::uint32_t>(collectives.size());
  const auto rewrite_id = [&ids](EventId& id) {
    if (id.type == EventIdType::kText) id.number = global(ids.strings, static_cast<std::uint32_t>(id.number));
  };
  // `also`: what is to be done for each before it is pushed.
  const auto take = [&](auto& records, auto& sorter, auto... also) {
    for (auto& record : records) {
      to_global(record, ids);
      (also(record), ...);
      sorter.push(record);
    }
  };
  for (CollectiveRecord& record : batch.collectives) {
    for (std::uint32_t* id : {&record.name, &record.group_name, &record.group_description, &record.ranks, &record.dtype,
                              &record.comms_id}) {
      *id = global(ids.strings, *id);
    }
    collectives.push_back(record);
  }
  take(batch.python, python);
  take(batch.operators, operators);
  take(batch.calls, calls);
  take(batch.annotations, annotations);
  take(batch.device_events, device_events, [&](DeviceRecord& record) {
    if (record.collective != 0) record.collective += collective_base;
    if (record.correlation == kUnknownValue || record.correlation == 0) ++uncorrelated;
  });
  take(batch.slices, slices, [this](const SliceRecord& record) {
    std::int64_t& time = slice_times[record.category];
    time = saturating_add(time, duration_or_zero(record.dur));
  });
  take(batch.tasks, tasks);
  take(batch.instants, instants);
  take(batch.counters, counters);
  take(batch.endpoints, endpoints, [&](SliceEndpointRecord& record) {
    if (record.kind == PairKind::kThread) record.id.number = record.track;
    if (record.kind == PairKind::kTile) record.id.number = threads[record.track - 1].process;
    rewrite_id(record.id);
  });
  take(batch.flows, flows, [&](FlowRecord& record) {
    rewrite_id(record.id);
    if (record.ph == 'f') keep_backward_end(record);
  });
  for (const std::string& text : batch.args) args.push(text);
}

void TraceStore::keep_backward_end(const FlowRecord& flow) {
  if (flow.category == 0) return;
  if (flow.category != flow_category_) is_backward_flow_ = strings.text(flow.category) == "fwdbwd";
  flow_category_ = flow.category;
  if (is_backward_flow_) backward_flow_ends.push_back({flow.ts, flow.track});
}

EventCount& TraceStore::kind(std::uint32_t category, std::string_view ph) {
  EventCount& count = kinds[{category, std::string(ph)}];
  count.category = category;
  count.ph = ph;
  return count;
}

void TraceStore::finish() {
  for (const MetadataRecord& record : metadata_) apply(record);
  pair_slices(*this);
}

void TraceStore::keep(const MetadataRecord& record) {
  const Interner::Entry entry = metadata_keys_.intern(
      fmt::format("{}\n{}\n{}", static_cast<int>(record.kind), key_text(record.pid), key_text(record.tid)));
  if (entry.is_new) {
    metadata_.push_back(record);
  } else {
    metadata_[entry.id - 1] = record;
  }
}

void TraceStore::apply(const MetadataRecord& record) {
  const std::uint32_t process = process_id(record.pid);
  switch (record.kind) {
    case MetadataKind::kProcessName:
      processes[process - 1].name = record.text;
      break;
    case MetadataKind::kProcessLabels:
      processes[process - 1].labels = record.text;
      break;
    case MetadataKind::kProcessSortIndex:
      processes[process - 1].sort_index = record.number;
      break;
    case MetadataKind::kThreadName:
      threads[thread_id(record.pid, record.tid) - 1].name = record.text;
      break;
    case MetadataKind::kThreadSortIndex:
      threads[thread_id(record.pid, record.tid) - 1].sort_index = record.number;
      break;
    case MetadataKind::kOther:
      break;
  }
}

std::uint32_t TraceStore::process_id(const TrackKey& pid) {
  const Interner::Entry entry = process_keys_.intern(key_text(pid));
  if (entry.is_new) processes.push_back({pid, {}, {}});
  return entry.id;
}

std::uint32_t TraceStore::thread_id(const TrackKey& pid, const TrackKey& tid) {
  const std::uint32_t process = process_id(pid);
  const Interner::Entry entry = thread_keys_.intern(fmt::format("{}\n{}", process, key_text(tid)));
  if (entry.is_new) threads.push_back({process, tid, {}});
  return entry.id;
}

std::uint32_t TraceStore::stream_id(const TrackKey& device, const TrackKey& number) {
  const Interner::Entry owner = device_keys_.intern(key_text(device));
  if (owner.is_new) devices.push_back(device);
  const Interner::Entry entry = stream_keys_.intern(fmt::format("{}\n{}", owner.id, key_text(number)));
  if (entry.is_new) streams.push_back({owner.id, number, 0, false});
  return entry.id;
}

std::uint32_t TraceStore::config_id(const LaunchConfig& config) {
  const Interner::Entry entry = config_keys_.intern({reinterpret_cast<const char*>(&config), sizeof(config)});
  if (entry.is_new) configs.push_back(config);
  return entry.id;
}

std::uint32_t TraceStore::shape_id(const ShapeDefinition& shape) {
  const Interner::Entry entry =
      shape_keys_.intern(fmt::format("{}\n{}\n{}\n{}", shape.dims, shape.types, shape.strides, shape.concrete_inputs));
  if (entry.is_new) shapes.push_back(shape);
  return entry.id;
}

}  // namespace tracedb
