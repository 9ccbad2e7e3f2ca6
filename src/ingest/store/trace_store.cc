#include "ingest/store/trace_store.h"

#include <fmt/format.h>

#include <optional>

namespace tracedb {
namespace {

void push_slice(TraceStore& store, const SliceEndpointRecord& begin, const SliceEndpointRecord& end) {
  EventCount& count = store.kind(end.category, std::string_view(&end.ph, 1));
  ++count.skipped[static_cast<std::size_t>(SkipReason::kEndOfSlice)];
  store.slices.push({begin.ts, end.ts - begin.ts, begin.category, begin.name, begin.track, begin.args, end.args, 0});
}

// Of a begin that has no end.
void push_begin(TraceStore& store, const SliceEndpointRecord& begin) {
  store.issues.add(IssueKind::kBeginWithoutEnd, -1, store.strings.text(begin.name));
  store.slices.push({begin.ts, kUnknownValue, begin.category, begin.name, begin.track, begin.args, 0, 0});
}

// The begins of one group that no end closed yet. Each knows the next open one of its name below it, so that an end
// finds its begin at once however many others are open.
class OpenBegins {
 public:
  explicit OpenBegins(TraceStore& store) : store_(store), innermost_(store.strings.size() + 1) {}

  [[nodiscard]] bool empty() const { return open_.empty(); }
  [[nodiscard]] const SliceEndpointRecord& last() const { return open_.back().edge; }

  void push(const SliceEndpointRecord& edge) {
    open_.push_back({edge, innermost_[edge.name], false});
    innermost_[edge.name] = static_cast<std::uint32_t>(open_.size());
  }

  void end(const SliceEndpointRecord& end) {
    const std::string_view name = end.name == 0 ? std::string_view() : store_.strings.text(end.name);
    const std::size_t match = name.empty() ? open_.size() : innermost_[end.name];
    if (match == 0) {
      EventCount& count = store_.kind(end.category, std::string_view(&end.ph, 1));
      ++count.skipped[static_cast<std::size_t>(SkipReason::kEndWithoutBegin)];
      store_.issues.add(IssueKind::kEndWithoutBegin, -1, name);
      return;
    }
    push_slice(store_, open_[match - 1].edge, end);
    close(match - 1);
  }

  // At the end of the group.
  void keep_open() {
    for (const Begin& begin : open_) {
      innermost_[begin.edge.name] = 0;
      if (!begin.closed) push_begin(store_, begin.edge);
    }
    open_.clear();
    closed_ = 0;
  }

 private:
  struct Begin {
    SliceEndpointRecord edge;
    std::uint32_t below;  // position + 1 of the next open one of its name; 0: none
    bool closed;
  };

  // The innermost of its name. The last one of all is never closed.
  void close(std::size_t position) {
    innermost_[open_[position].edge.name] = open_[position].below;
    open_[position].closed = true;
    ++closed_;
    for (; !open_.empty() && open_.back().closed; --closed_) open_.pop_back();
    if (closed_ > open_.size() / 2 + kFew) compact();
  }

  void compact() {
    const std::vector<Begin> all = std::exchange(open_, {});
    for (const Begin& begin : all) innermost_[begin.edge.name] = 0;
    for (const Begin& begin : all) {
      if (!begin.closed) push(begin.edge);
    }
    closed_ = 0;
  }

  static constexpr std::size_t kFew = 64;
  TraceStore& store_;
  std::vector<Begin> open_;
  std::size_t closed_ = 0;                // in open_, between others
  std::vector<std::uint32_t> innermost_;  // by name: position + 1 in open_; 0: none
};

std::uint32_t global(const std::vector<std::uint32_t>& ids, std::uint32_t local) {
  return local == 0 ? 0 : ids[local - 1];
}

template <class... Texts>
void texts_to_global(const WorkerIds& ids, Texts&... texts) {
  ((texts = global(ids.strings, texts)), ...);
}

// Those that are wide. No double that is positive looks so.
template <class... Numbers>
void numbers_to_global(const WorkerIds& ids, Numbers&... numbers) {
  const auto rewrite = [&ids](std::int64_t& value) {
    if (is_wide(value)) value = kUnknownValue + std::int64_t{global(ids.numbers, wide_id(value))};
  };
  if (!ids.numbers.empty()) (rewrite(numbers), ...);
}

// What only one kind of record has.
template <class Record>
void own_to_global(Record&, const WorkerIds&) {}

void own_to_global(PythonRecord& record, const WorkerIds& ids) {
  for (std::uint32_t* id : {&record.python_id, &record.parent_id}) {
    if (*id > kWidePythonId && *id < kRootPythonId) *id = kWidePythonId + global(ids.numbers, *id - kWidePythonId);
  }
}

void own_to_global(DeviceRecord& record, const WorkerIds& ids) {
  numbers_to_global(ids, record.graph_id_or_bytes, record.graph_node_id_or_bandwidth);
  record.stream = global(ids.streams, record.stream);
  record.config = global(record.type == DeviceEventType::kKernel ? ids.configs : ids.strings, record.config);
}

void own_to_global(SliceRecord& record, const WorkerIds& ids) {
  record.sync_stream = global(ids.streams, record.sync_stream);
}

void own_to_global(TaskRecord& record, const WorkerIds& ids) {
  texts_to_global(ids, record.type, record.data_type);
  numbers_to_global(ids, record.connection, record.model, record.elements);
}

std::string key_text(const TrackKey& key) {
  return key.number != kUnknownValue ? fmt::format("n{}", key.number) : fmt::format("t{}", key.text);
}

std::uint64_t key_of(const SliceEndpointRecord& edge) { return (std::uint64_t{edge.track} << 32U) | edge.name; }

std::string pid_text(const TrackKey& pid) {
  return pid.number != kUnknownValue ? std::to_string(pid.number) : pid.text;
}

// Begins and ends of the events of AI Engine tiles to SliceRecords, and the marks of their cores to kernels.
//
// An event of a tile is on or off: it never nests. A begin that finds its event on has lost an end, an end that finds
// it off has lost its begin and becomes an instant, so that no pair reaches across what is lost. Kernels are what
// trace/tile_events.h finds between the begins of INSTR_EVENT_0 and the ends of INSTR_EVENT_1 of a core.
class TilePairs {
 public:
  explicit TilePairs(TraceStore& store) : store_(store) {}

  // PairKind::kTile, in time order, one process after the other.
  void add(const SliceEndpointRecord& edge) {
    process_ = store_.threads[edge.track - 1].process;
    const TileEvent event = event_of(edge.name);
    if (event == TileEvent::kKernelStart && edge.is_end == 0) {
      starts_.push_back(edge.ts);
      start_name_ = edge.name;
    }
    if (event == TileEvent::kKernelEnd && edge.is_end != 0) {
      ends_.push_back(edge.ts);
      end_name_ = edge.name;
    }
    if (edge.ph == 'X') return;  // a slice already
    if (edge.is_end == 0) {
      const auto [entry, is_new] = open_.try_emplace(key_of(edge), edge);
      if (is_new) return;
      push_begin(store_, entry->second);
      entry->second = edge;
      return;
    }
    const auto found = open_.find(key_of(edge));
    if (found == open_.end()) return keep_end(edge);
    push_slice(store_, found->second, edge);
    open_.erase(found);
  }

  // Behind the last edge of a process.
  void finish() {
    if (process_ == 0) return;
    for (const auto& [key, begin] : open_) push_begin(store_, begin);
    open_.clear();
    add_kernels();
    starts_.clear();
    ends_.clear();
    process_ = 0;
  }

 private:
  void keep_end(const SliceEndpointRecord& end) {
    store_.issues.add(IssueKind::kEndWithoutBegin, -1,
                      end.name == 0 ? std::string_view() : store_.strings.text(end.name));
    auto instant = record_of<InstantRecord>(end.ts, 0, end.name, end.track);
    instant.category = end.category;
    instant.args = end.args;
    store_.instants.push(instant);
  }

  void add_kernels() {
    if (!is_core_process(store_.processes[process_ - 1].name)) return;
    const KernelPairs pairs = pair_kernels(starts_, ends_);
    if (pairs.kernels.empty()) return;
    auto record = record_of<DeviceRecord>(
        0, 0, store_.string_id(fmt::format("{}..{}", store_.strings.text(start_name_), store_.strings.text(end_name_))),
        store_.stream_id({kUnknownValue, "AI Engine"}, {kUnknownValue, label_of(process_)}, 0));
    for (const TileKernel& kernel : pairs.kernels) {
      record.ts = kernel.start;
      record.dur = kernel.duration();
      store_.device_events.push(record);
    }
    store_.derived_rows += pairs.kernels.size();
  }

  TileEvent event_of(std::uint32_t name) {
    if (name == 0) return TileEvent::kOther;
    for (auto id = static_cast<std::uint32_t>(events_.size()); id <= name; ++id) {
      events_.push_back(id == 0 ? TileEvent::kOther : tile_event(store_.strings.text(id)));
    }
    return events_[name];
  }

  const std::string& label_of(std::uint32_t process) {
    if (labels_.empty()) {
      std::vector<TileProcess> cores;
      std::vector<std::size_t> positions;
      labels_.resize(store_.processes.size());
      for (std::size_t i = 0; i < store_.processes.size(); ++i) {
        const ProcessInfo& info = store_.processes[i];
        if (!is_core_process(info.name)) continue;
        cores.push_back({info.name, pid_text(info.pid)});
        positions.push_back(i);
      }
      std::vector<std::string> labels = tile_labels(cores);
      for (std::size_t i = 0; i < labels.size(); ++i) labels_[positions[i]] = std::move(labels[i]);
    }
    return labels_[process - 1];
  }

  TraceStore& store_;
  std::map<std::uint64_t, SliceEndpointRecord> open_;  // by track and name
  std::vector<TileEvent> events_;                      // by name, as far as asked for
  std::vector<std::string> labels_;                    // of the tiles, by process
  std::vector<std::int64_t> starts_, ends_;            // of kernels
  std::uint32_t process_ = 0;                          // 0: no edge since the last finish()
  std::uint32_t start_name_ = 0, end_name_ = 0;
};

// Reads store.endpoints to its end. Adds to the store's slices, issues and counts.
void pair_slices(TraceStore& store) {
  if (store.endpoints.size() == 0) return;
  OpenBegins open(store);  // of the group at hand
  TilePairs tiles(store);
  std::optional<SliceEndpointRecord> last;  // of a tile
  store.endpoints.drain([&](const SliceEndpointRecord& edge) {
    if (last && ByPair::group_before(*last, edge)) tiles.finish();
    last.reset();
    if (edge.kind == PairKind::kTile) {
      tiles.add(edge);
      last = edge;
      return;
    }
    if (!open.empty() && ByPair::group_before(open.last(), edge)) open.keep_open();
    if (edge.is_end != 0) {
      open.end(edge);
    } else {
      open.push(edge);
    }
  });
  open.keep_open();
  tiles.finish();
}

}  // namespace

bool ByPair::group_before(const SliceEndpointRecord& a, const SliceEndpointRecord& b) {
  // An E may come without its category.
  const auto category = [](const SliceEndpointRecord& edge) {
    return edge.kind == PairKind::kThread || edge.kind == PairKind::kTile ? 0 : edge.category;
  };
  return std::tuple(a.kind, a.id.type, a.id.number, a.scope, category(a)) <
         std::tuple(b.kind, b.id.type, b.id.number, b.scope, category(b));
}

std::string track_text(const TrackKey& pid, const TrackKey& tid) {
  return fmt::format("{}\n{}", key_text(pid), key_text(tid));
}

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

void TraceStore::count(const CallRecord& call) {
  if (call.correlation != kUnknownValue && call.correlation != 0) correlations.add_call(call.correlation);
}

void TraceStore::count(const DeviceRecord& event) {
  if (event.correlation == kUnknownValue || event.correlation == 0) {
    ++uncorrelated;
  } else {
    correlations.add_device_event(event.correlation);
  }
}

void TraceStore::define(const EventBatch& batch, WorkerIds& ids) {
  for (const std::string& text : batch.strings) ids.strings.push_back(string_id(text));
  for (const std::string& text : batch.numbers) ids.numbers.push_back(numbers.intern(text).id);
  for (const std::string& key : batch.scopes) ids.scopes.push_back(scope_keys_.intern(key).id);
  for (const TrackDefinition& thread : batch.threads) ids.threads.push_back(thread_id(thread.owner, thread.track));
  for (const auto& [stream, drawn_on, process] : batch.streams) {
    ids.streams.push_back(stream_id(stream.owner, stream.track, process == TrackKey{} ? 0 : process_id(process)));
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
  for (const std::vector<std::uint32_t>& stack : batch.stacks) {
    stacks.emplace_back();
    for (const std::uint32_t frame : stack) stacks.back().push_back(global(ids.strings, frame));
    ids.stacks.push_back(static_cast<std::uint32_t>(stacks.size()));
  }
}

template <class Record>
void TraceStore::to_global(Record& record, const WorkerIds& ids) const {
  texts_to_global(ids, record.name);
  if constexpr (requires { record.category; }) texts_to_global(ids, record.category);
  if constexpr (requires { record.series; }) texts_to_global(ids, record.series);
  if constexpr (requires { record.correlation; }) numbers_to_global(ids, record.correlation);
  if constexpr (requires { record.external_id; }) numbers_to_global(ids, record.external_id);
  if constexpr (requires { record.sequence_number; }) numbers_to_global(ids, record.sequence_number);
  if constexpr (requires { record.bytes; }) numbers_to_global(ids, record.bytes);
  if constexpr (requires { record.shape; }) record.shape = global(ids.shapes, record.shape);
  if constexpr (requires { record.stack; }) record.stack = global(ids.stacks, record.stack);
  if constexpr (requires { record.scope; }) record.scope = global(ids.scopes, record.scope);
  if constexpr (requires { record.on_device; }) {
    record.track = global(record.on_device != 0 ? ids.streams : ids.threads, record.track);
  } else if constexpr (requires { record.track; }) {
    record.track = global(ids.threads, record.track);
  }
  if (record.args != 0) record.args += args.size();
  own_to_global(record, ids);
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
                              &record.comms_id, &record.in_splits, &record.out_splits}) {
      *id = global(ids.strings, *id);
    }
    collectives.push_back(record);
  }
  take(batch.python, python);
  take(batch.operators, operators);
  take(batch.calls, calls, [&](const CallRecord& record) { count(record); });
  take(batch.annotations, annotations);
  take(batch.device_events, device_events, [&](DeviceRecord& record) {
    if (record.collective != 0) record.collective += collective_base;
    count(record);
  });
  take(batch.slices, slices);
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
  for (const HandoffRecord& record : batch.handoffs) {
    handoffs.push({record.ts, record.asked_ts, global(ids.streams, record.stream), global(ids.threads, record.track)});
  }
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
  ProcessInfo& process = processes[process_id(record.pid) - 1];
  if (record.kind == MetadataKind::kProcessName) process.name = record.text;
  if (record.kind == MetadataKind::kProcessLabels) process.labels = record.text;
  if (record.kind == MetadataKind::kProcessSortIndex) process.sort_index = record.number;
  if (record.kind != MetadataKind::kThreadName && record.kind != MetadataKind::kThreadSortIndex) return;
  ThreadInfo& thread = threads[thread_id(record.pid, record.tid) - 1];
  if (record.kind == MetadataKind::kThreadName) {
    thread.name = record.text;
  } else {
    thread.sort_index = record.number;
  }
}

std::uint32_t TraceStore::process_id(const TrackKey& pid) {
  return process_keys_.id_of(key_text(pid), [&] { processes.push_back({pid, {}, {}}); });
}

std::uint32_t TraceStore::thread_id(const TrackKey& pid, const TrackKey& tid) {
  const std::uint32_t process = process_id(pid);
  return thread_keys_.id_of(fmt::format("{}\n{}", process, key_text(tid)), [&] {
    threads.push_back({process, tid, {}});
  });
}

std::uint32_t TraceStore::stream_id(const TrackKey& device, const TrackKey& number, std::uint32_t process) {
  const std::uint32_t owner = device_keys_.id_of(key_text(device), [&] { devices.push_back(device); });
  return stream_keys_.id_of(fmt::format("{}\n{}\n{}", owner, process, key_text(number)), [&] {
    streams.push_back({owner, number, process});
  });
}

std::uint32_t TraceStore::config_id(const LaunchConfig& config) {
  return config_keys_.id_of({reinterpret_cast<const char*>(&config), sizeof(config)},
                            [&] { configs.push_back(config); });
}

std::uint32_t TraceStore::shape_id(const ShapeDefinition& shape) {
  return shape_keys_.id_of(
      fmt::format("{}\n{}\n{}\n{}\n{}", shape.dims, shape.types, shape.strides, shape.concrete_inputs, shape.detail),
      [&] { shapes.push_back(shape); });
}

}  // namespace tracedb
