// Takes the batches of a trace in file order and holds everything ingest needs until the links are made: dictionaries
// in memory (they grow with the variety of a trace, not with its length), events in external sorters.
//
// One thread. Ids are global from here on: numbered from 1 in order of first appearance in the file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/unknown.h"
#include "ingest/store/event_batch.h"
#include "ingest/store/external_id_table.h"
#include "ingest/store/external_sorter.h"
#include "ingest/store/records.h"
#include "trace/tile_events.h"

namespace tracedb {

// Slices that a trace gives as two events, begin and end, to SliceRecords.
//
// Rules, those of the Chrome trace format. B and E pair on their thread; b and e by category, id and scope; S and F by
// category, id, scope and name. Events pair in the order of their times, at equal times in that of the file. An end
// closes the innermost open begin of its name; one without a name, which only S and F must have, the innermost of all.
// Events of tiles pair as TilePairs in trace_store.cc says.

// Orders the events of one pair of phases that can belong together, then by time.
struct ByPair {
  bool operator()(const SliceEndpointRecord& a, const SliceEndpointRecord& b) const {
    if (group_before(a, b)) return true;
    return !group_before(b, a) && a.ts < b.ts;
  }
  static bool group_before(const SliceEndpointRecord& a, const SliceEndpointRecord& b);
};

struct ProcessInfo {
  TrackKey pid;
  std::string name, labels;
  std::int64_t sort_index = kUnknownValue;
};

struct ThreadInfo {
  std::uint32_t process = 0;
  TrackKey tid;
  std::string name;
  std::int64_t sort_index = kUnknownValue;
  std::uint32_t caller = 0;  // the thread whose calls are drawn here, where that is another one; 0: this one
};

struct StreamInfo {
  std::uint32_t device = 0;  // from 1, into devices()
  TrackKey number;
  std::uint32_t process = 0;  // from 1, whose stream it is, where the trace says so: others number theirs alike
};

// The same for the same track only.
std::string track_text(const TrackKey& pid, const TrackKey& tid);

// Flows are one by category, name and id, as in the Chrome trace format.
struct ByFlow {
  bool operator()(const FlowRecord& a, const FlowRecord& b) const {
    return std::tie(a.category, a.name, a.id.type, a.id.number) < std::tie(b.category, b.name, b.id.type, b.id.number);
  }
};

// Where a flow arrives.
struct FlowEnd {
  std::int64_t ts;
  std::uint32_t thread;
};

// Memory for all sorters together, and where they spill.
struct StoreOptions {
  std::filesystem::path spool_directory;
  std::size_t memory_bytes = std::size_t{64} << 20U;
};

// From a worker's local ids (position + 1) to those of the store.
struct WorkerIds {
  std::vector<std::uint32_t> strings, numbers, scopes, threads, streams, configs, shapes, stacks;
};

class TraceStore {
  StoreOptions options_;  // goes first: sorters are made by them

 public:
  explicit TraceStore(StoreOptions options) : options_(std::move(options)) {}

  void add(EventBatch& batch);  // the batch's records are rewritten on the way
  void count(const CallRecord& call);
  void count(const DeviceRecord& event);
  void finish();  // after the last batch: pairs begins and ends, starts no sorter but theirs

  using Kinds = std::map<std::pair<std::uint32_t, std::string>, EventCount>;

  Interner strings;
  Interner numbers;  // wide ones, in decimal
  std::vector<ProcessInfo> processes;
  std::vector<ThreadInfo> threads;
  std::vector<TrackKey> devices;
  std::vector<StreamInfo> streams;
  std::unordered_map<std::string, std::uint32_t> stream_tracks;  // by track_text() of what its events are drawn on
  std::vector<LaunchConfig> configs;
  std::vector<ShapeDefinition> shapes;
  std::vector<std::vector<std::uint32_t>> stacks;
  std::vector<CollectiveRecord> collectives;
  TextSpool args{options_.spool_directory};

  ExternalSorter<PythonRecord, ByTime> python{spool(16)};
  ExternalSorter<OperatorRecord, ByTime> operators{spool(8)};
  ExternalSorter<CallRecord, ByTime> calls{spool(6)};
  ExternalSorter<DeviceRecord, ByTimestamp> device_events{spool(16)};
  ExternalSorter<AnnotationRecord, ByTime> annotations{spool(2)};
  ExternalSorter<SliceRecord, ByTime> slices{spool(2)};
  ExternalSorter<TaskRecord, ByTime> tasks{spool(2)};               // until they are placed
  ExternalSorter<SliceEndpointRecord, ByPair> endpoints{spool(2)};  // until finish()
  ExternalSorter<InstantRecord, ByTimestamp> instants{spool(2)};
  ExternalSorter<CounterRecord, ByTimestamp> counters{spool(2)};
  ExternalSorter<FlowRecord, ByFlow> flows{spool(6)};
  ExternalSorter<HandoffRecord, ByTimestamp> handoffs{spool(2)};
  std::vector<FlowEnd> backward_flow_ends;  // of category `fwdbwd`: from a forward operator to its backward one

  bool operators_by_external_id = false;  // of device events, before all others
  bool operators_by_flow = false;         // a launch's own thread has no operators: flows to device events tell them

  Kinds kinds;
  std::int64_t first_ts = kUnknownValue;
  std::uint64_t read_to = 0;       // position in the trace behind what was added
  std::uint64_t uncorrelated = 0;  // device events without a correlation
  Correlations correlations;
  std::uint64_t derived_rows = 0;  // kernels and operators made of several events, which are stored too
  IssueLog issues;

  // Of some device events; of all of them, or of those that say nothing about it.
  [[nodiscard]] bool lacks_launches() const { return lacks_all_launches() || correlations.lost() > 0; }
  [[nodiscard]] bool lacks_all_launches() const { return uncorrelated > 0 || calls.size() == 0; }
  [[nodiscard]] std::uint32_t string_id(std::string_view text) { return strings.intern(text).id; }
  EventCount& kind(std::uint32_t category, std::string_view ph);
  [[nodiscard]] std::uint32_t caller_on(std::uint32_t thread) const {
    const std::uint32_t other = threads[thread - 1].caller;
    return other == 0 ? thread : other;
  }
  std::uint32_t thread_id(const TrackKey& pid, const TrackKey& tid);
  std::uint32_t stream_id(const TrackKey& device, const TrackKey& number, std::uint32_t process);
  std::uint32_t config_id(const LaunchConfig& config);
  [[nodiscard]] SpoolOptions spool(unsigned share) const {  // share: part of 64 of the memory
    return {options_.spool_directory, options_.memory_bytes / 64 * share};
  }

 private:
  void define(const EventBatch& batch, WorkerIds& ids);
  template <class Record>
  void to_global(Record& record, const WorkerIds& ids) const;
  void add_events(EventBatch& batch, const WorkerIds& ids);
  void keep_backward_end(const FlowRecord& flow);
  void keep(const MetadataRecord& record);
  void apply(const MetadataRecord& record);
  std::uint32_t process_id(const TrackKey& pid);
  std::uint32_t shape_id(const ShapeDefinition& shape);

  std::vector<WorkerIds> workers_;
  Interner scope_keys_, process_keys_, thread_keys_, device_keys_, stream_keys_, config_keys_, shape_keys_;
  // Latest metadata of each kind and track, in order of first appearance. Applied at the end: names must not influence
  // the numbering of processes and threads, which would then depend on where the chunks were cut.
  std::vector<MetadataRecord> metadata_;
  std::uint32_t flow_category_ = 0;  // of the last flow that ended, and whether it is `fwdbwd`
  bool is_backward_flow_ = false;
  Interner metadata_keys_;
};

}  // namespace tracedb
