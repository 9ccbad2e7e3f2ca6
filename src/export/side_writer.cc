// What ran on the devices: kernels, copies and fills with the flows from their launches, and annotations of the device.
#include "export/side_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <tuple>

#include "base/unknown.h"
#include "export/trace_events.h"
#include "passes/select/device_columns.h"

namespace tracedb {
namespace {

// Calls visit(place among the rows, statement) for each of them; the statement gives ids in column 0, those between its
// two parameters.
template <class Visit>
void for_each_row(Statement& statement, const std::vector<std::uint32_t>& rows, Visit visit) {
  constexpr std::uint32_t kNear = 32;  // stepping over so many rows is cheaper than looking one up
  for (std::size_t first = 0; first < rows.size();) {
    std::size_t last = first;
    while (last + 1 < rows.size() && rows[last + 1] - rows[last] <= kNear) ++last;
    statement.reset();
    statement.bind(1, std::int64_t{rows[first]} + 1).bind(2, std::int64_t{rows[last]} + 1);
    for (std::size_t next = first; next <= last && statement.step();) {
      if (statement.int64(0) != std::int64_t{rows[next]} + 1) continue;
      visit(next++, statement);
    }
    first = last + 1;
  }
}

constexpr const char* kKernelRows =
    "SELECT k.id, k.ts, k.dur, n.name, k.stream_id, k.launch_id, k.external_id, k.correlation, k.graph_id, "
    "k.graph_node_id, c.grid_x, c.grid_y, c.grid_z, c.block_x, c.block_y, c.block_z, c.registers, c.shared_memory, "
    "c.occupancy_pct, c.theoretical_occupancy_pct, c.blocks_per_sm, c.warps_per_sm, o.name, o.group_name, "
    "o.group_description, o.group_size, o.ranks, o.dtype, o.in_elements, o.out_elements, o.sequence, o.comms_id, "
    "o.source_rank, o.destination_rank FROM kernel k LEFT JOIN kernel_name n ON n.id = k.name_id LEFT JOIN "
    "launch_config c ON c.id = k.launch_config_id LEFT JOIN collective o ON o.kernel_id = k.id WHERE k.id BETWEEN ?1 "
    "AND ?2 ORDER BY k.id";

constexpr const char* kMemoryRows =
    "SELECT m.id, m.ts, m.dur, t.value, m.stream_id, m.launch_id, m.external_id, m.correlation, m.bytes, "
    "m.bandwidth_gb_s, m.kind, m.direction FROM memory_op m LEFT JOIN string t ON t.id = m.name_id WHERE m.id BETWEEN "
    "?1 AND ?2 ORDER BY m.id";

// Columns of kKernelRows in their order, by the names that profilers give them.
struct NamedCell {
  std::string_view name;
  void (*add)(JsonWriter& args, std::string_view key, const Statement& row, int column);
  int columns = 1;
};
constexpr int kFirstNamed = 8;
constexpr std::string_view kRangeCategory = "cuda_profiler_range";

constexpr NamedCell kNamedCells[] = {{"graph id", add_number},
                                     {"graph node id", add_number},
                                     {"grid", add_triple, 3},
                                     {"block", add_triple, 3},
                                     {"registers per thread", add_number},
                                     {"shared memory", add_number},
                                     {"est. achieved occupancy %", add_real},
                                     {"theoretical occupancy %", add_real},
                                     {"blocks per SM", add_real},
                                     {"warps per SM", add_real},
                                     {"Collective name", add_text},
                                     {"Process Group Name", add_text},
                                     {"Process Group Description", add_text},
                                     {"Group size", add_number},
                                     {"Process Group Ranks", add_text},
                                     {"dtype", add_text},
                                     {"In msg nelems", add_number},
                                     {"Out msg nelems", add_number},
                                     {"Seq", add_number},
                                     {"Comms Id", add_text},
                                     {"Src Rank", add_number},
                                     {"Dst Rank", add_number}};

void add_named(JsonWriter& args, const Statement& row) {
  int column = kFirstNamed;
  for (const NamedCell& cell : kNamedCells) {
    cell.add(args, cell.name, row, column);
    column += cell.columns;
  }
}

// What ran on the host: python frames, operators, annotations, runtime calls, other slices, instants and counters.

// In the order in which those that begin and end together enclose each other.
enum HostKind : std::uint32_t { kPythonEvent, kSliceEvent, kAnnotationEvent, kOperatorEvent, kCallEvent, kHostKinds };
struct HostTable {
  std::string_view table, category;  // none: the event says
  std::string_view row;              // of an id; thread and name come first
};
constexpr std::array<HostTable, kHostKinds> kHostTables = {{
    {"python_call", "python_function",
     "SELECT c.thread_id, t.value, c.stack_id, s.parent_id FROM python_call c JOIN stack s ON s.id = c.stack_id JOIN "
     "frame f ON f.id = s.frame_id JOIN string t ON t.id = f.name_id WHERE c.id = ?1"},
    {"slice", "",
     "SELECT s.thread_id, t.value, g.value FROM slice s LEFT JOIN string t ON t.id = s.name_id LEFT JOIN string g ON "
     "g.id = s.category_id WHERE s.id = ?1"},
    {"annotation", "user_annotation",
     "SELECT a.thread_id, t.value, a.external_id FROM annotation a JOIN string t ON t.id = a.name_id WHERE a.id = ?1"},
    {"cpu_op", "cpu_op",
     "SELECT c.thread_id, t.value, c.external_id, c.sequence_number, CASE json_valid(h.dims) WHEN 1 THEN h.dims WHEN 0 "
     "THEN json_quote(h.dims) END, CASE json_valid(h.types) WHEN 1 THEN h.types WHEN 0 THEN json_quote(h.types) END, "
     "CASE json_valid(h.strides) WHEN 1 THEN h.strides WHEN 0 THEN json_quote(h.strides) END, CASE "
     "json_valid(h.concrete_inputs) WHEN 1 THEN h.concrete_inputs WHEN 0 THEN json_quote(h.concrete_inputs) END FROM "
     "cpu_op c JOIN string t ON t.id = c.name_id LEFT JOIN op_shape h ON h.id = c.shape_id WHERE c.id = ?1"},
    {"runtime_call", "",
     "SELECT c.thread_id, t.value, c.external_id, c.correlation FROM runtime_call c JOIN string t ON t.id = c.name_id "
     "WHERE c.id = ?1"},
}};

std::string_view call_category(std::string_view name) {
  return name.starts_with("cu") && !name.starts_with("cuda") ? "cuda_driver" : "cuda_runtime";
}

std::string host_category(HostKind kind, const Statement& row) {
  if (kind == kSliceEvent) return std::string(row.text(2));
  return std::string(kind == kCallEvent ? call_category(row.text(1)) : kHostTables[kind].category);
}

// By thread and path: the parents of those that follow, where they are in the window.
using LastCalls = std::unordered_map<std::uint64_t, std::int64_t>;

void add_host_args(HostKind kind, std::uint32_t id, const Statement& row, LastCalls& last_calls, JsonWriter& args) {
  if (kind == kPythonEvent) {
    const std::uint64_t thread = std::uint64_t{row.id(0)} << 32U;
    args.member("Python id", id);
    if (row.is_null(3)) {
      args.key("Python parent id").json("null");
    } else if (const auto around = last_calls.find(thread | row.id(3)); around != last_calls.end()) {
      args.member("Python parent id", around->second);
    }
    last_calls[thread | row.id(2)] = id;
  }
  if (kind == kSliceEvent || kind == kPythonEvent) return;
  add_number(args, "External id", row, 2);
  if (kind == kCallEvent) add_number(args, "correlation", row, 3);
  if (kind != kOperatorEvent) return;
  add_number(args, "Sequence number", row, 3);
  constexpr std::string_view kShapes[] = {"Input Dims", "Input type", "Input Strides", "Concrete Inputs"};
  for (int i = 0; i < 4; ++i) add_json(args, kShapes[i], row, 4 + i);
}

// What the passes find, above the streams of each device: steps, layers, roles, and why the device was idle.

// Kernels of one device that follow each other and have something in common.
struct MarkRun {
  std::uint64_t key = 0;
  std::uint32_t row = 0, kernels = 0;  // the first, and how many
  std::int64_t ts = 0, end = 0;
};

using DeviceRuns = std::map<std::uint32_t, std::vector<MarkRun>>;

// To those of its device. The last `open` runs may take turns, as where the communication of one layer runs beside the
// computation of the next.
void add_mark(std::vector<MarkRun>& runs, std::size_t open, const MarkRun& kernel) {
  const std::size_t last = std::min(runs.size(), open);
  for (auto run = runs.rbegin(); run != runs.rbegin() + static_cast<std::ptrdiff_t>(last); ++run) {
    if (run->key != kernel.key) continue;
    run->end = std::max(run->end, kernel.end);
    ++run->kernels;
    return;
  }
  runs.push_back(kernel);
}

// Of steps and layers. Roles repeat within a layer: they do not take turns.
constexpr std::size_t kTakeTurns = 2;

// By start and name of its slice, what hardware counters counted in a range.
using RangeCounters = std::map<std::pair<std::int64_t, std::string>, std::vector<std::pair<std::string, double>>>;

RangeCounters range_counters(Database& database, std::int64_t from, std::int64_t to) {
  Statement rows(database,
                 "SELECT c.ts, t.value, s.value, c.value FROM string g CROSS JOIN counter c ON c.category_id = g.id "
                 "JOIN string t ON t.id = c.name_id JOIN string s ON s.id = c.series_id "
                 "WHERE g.value = ?1 AND c.value IS NOT NULL AND c.ts BETWEEN ?2 AND ?3 ORDER BY c.id",
                 kRangeCategory, from, to);
  RangeCounters out;
  while (rows.step()) out[{rows.int64(0), std::string(rows.text(1))}].emplace_back(rows.text(2), rows.real(3));
  return out;
}

}  // namespace

void SideWriter::write_device_events() {
  place_device_events();
  write_gpu_annotations();
  if (!window_.kernels.empty()) write_kernels();
  if (!window_.memory_ops.empty()) write_memory_ops();
}

// Kernels and copies share the tracks of their stream, so all of them are looked at in order of time.
void SideWriter::place_device_events() {
  struct Place {
    std::int64_t ts, end;
    std::uint32_t stream;
    EventTrack* track;
  };
  std::vector<Place> places;
  const auto add = [&](const EventColumns& columns, const std::vector<std::uint32_t>& rows,
                       std::vector<EventTrack>& tracks) {
    tracks.resize(rows.size());
    const auto ts = columns.int64s("ts");
    const auto dur = columns.int64s("dur");
    const auto stream = columns.ids("stream_id");
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::int64_t begin = ts[rows[i]];
      places.push_back({begin, saturating_add(begin, duration_or_zero(dur[rows[i]])), stream[rows[i]], &tracks[i]});
    }
  };
  add(workload_.events().kernels, window_.kernels, kernel_tracks_);
  add(workload_.events().memory, window_.memory_ops, memory_tracks_);
  std::ranges::stable_sort(places, {}, &Place::ts);
  for (const Place& place : places) *place.track = tracks_.stream(place.stream, place.ts, place.end);
}

void SideWriter::write_gpu_annotations() {
  Statement rows(database_,
                 "SELECT a.id, a.ts, a.dur, t.value, a.stream_id, a.external_id FROM annotation a LEFT JOIN string t "
                 "ON t.id = a.name_id WHERE a.stream_id IS NOT NULL ORDER BY a.id");
  while (rows.step()) {
    const std::int64_t ts = rows.int64(1);
    const std::int64_t dur = rows.integer(2).value_or(kUnknownValue);
    const std::int64_t end = saturating_add(ts, duration_or_zero(dur));
    if (!window_.touches(ts, end)) continue;
    const std::uint32_t stream = rows.id(4);
    JsonWriter args;
    add_number(args, "External id", rows, 5);
    tracks_.add_place(stream, args);
    const EventTrack track = tracks_.mark(tracks_.device_of(stream), MarkTrack::kAnnotations, ts, end);
    TraceSlice slice{track, "gpu_user_annotation", rows.text(3)};
    clip(slice, ts, dur == kUnknownValue ? kUnknownValue : end, args);
    file_.events.slice(slice, args);
  }
}

template <class Describe>
void SideWriter::write_device_event(const Statement& row, const EventTrack& track, std::string_view category,
                                    Describe describe) {
  const std::int64_t ts = row.int64(1);
  JsonWriter args;
  add_number(args, "External id", row, 6);
  add_number(args, "correlation", row, 7);
  tracks_.add_place(row.id(4), args);
  describe(args);
  file_.events.slice({track, category, row.text(3), shifted(ts), row.integer(2).value_or(kUnknownValue)}, args);
  end_flow(row.id(5), track, ts);
}

void SideWriter::write_kernels() {
  const KernelClasses& classes = workload_.classes();
  const StepSet& steps = workload_.steps();
  const LayerSet& layers = workload_.layers();
  const KernelRoles& roles = workload_.roles();
  const auto names = workload_.events().kernels.ids("name_id");
  const auto add_facts = [&](std::uint32_t row, JsonWriter& args) {
    args.member("op", classes.class_of(names[row]));
    if (const std::uint32_t step = steps.of_kernel.empty() ? 0 : steps.of_kernel[row]) {
      args.member("step", step - 1);
      args.member("phase", to_string(steps.steps[step - 1].info.kind));
    }
    if (const std::int32_t layer = layers.of_kernel.empty() ? kNoLayer : layers.of_kernel[row]; layer != kNoLayer) {
      args.member("layer", layer_label(layer, layers.stacks));
    }
    if (const Role role = roles.of(row).role; role != Role::kNone) args.member("role", to_string(role));
  };
  Statement statement(database_, kKernelRows);
  for_each_row(statement, window_.kernels, [&](std::size_t place, const Statement& row) {
    write_device_event(row, kernel_tracks_[place], "kernel", [&](JsonWriter& args) {
      add_named(args, row);
      add_facts(window_.kernels[place], args);
    });
    ++file_.counts.kernels;
  });
}

void SideWriter::write_memory_ops() {
  Statement statement(database_, kMemoryRows);
  for_each_row(statement, window_.memory_ops, [&](std::size_t place, const Statement& row) {
    const std::string_view category = row.text(10) == "memset" ? "gpu_memset" : "gpu_memcpy";
    write_device_event(row, memory_tracks_[place], category, [&](JsonWriter& args) {
      add_number(args, "bytes", row, 8);
      add_real(args, "memory bandwidth (GB/s)", row, 9);
      if (copy_direction_index(row.text(3)) == 0) add_text(args, "kind", row, 11);
    });
    ++file_.counts.memory_ops;
  });
}

void SideWriter::end_flow(std::uint32_t launch, const EventTrack& track, std::int64_t ts) {
  if (launch == 0) return;
  const auto [flow, is_new] = flow_of_launch_.try_emplace(launch, -1);
  if (is_new) {
    if (const Statement* const call = calls_.row(launch)) {
      flow->second = file_.flows.take(call->integer(2));
      file_.events.flow_start(tracks_.thread(call->id(1)), shifted(call->int64(0)), flow->second);
    }
  }
  if (flow->second < 0) return;
  file_.events.flow_end(track, shifted(ts), flow->second);
  ++file_.counts.flows;
}

std::vector<SideWriter::HostEvent> SideWriter::find_host_events() const {
  std::vector<HostEvent> found;
  for (std::uint32_t kind = 0; kind < kHostKinds; ++kind) {
    const EventColumns columns(workload_.index(), kHostTables[kind].table, {"ts", "dur", "thread_id"});
    const auto ts = columns.int64s("ts");
    const auto dur = columns.int64s("dur");
    const auto thread = columns.ids("thread_id");
    for (std::uint32_t row = 0; row < ts.size(); ++row) {
      const std::int64_t end = saturating_add(ts[row], duration_or_zero(dur[row]));
      if (thread[row] == 0 || !window_.touches(ts[row], end)) continue;
      found.push_back({ts[row], dur[row] == kUnknownValue ? kUnknownValue : end, kind, row + 1});
    }
  }
  std::ranges::sort(found, [](const HostEvent& a, const HostEvent& b) {
    return std::tie(a.ts, b.end, a.kind, a.id) < std::tie(b.ts, a.end, b.kind, b.id);
  });
  return found;
}

void SideWriter::write_host_events() {
  std::deque<TextById> rows;  // by kind
  for (const HostTable& table : kHostTables) rows.emplace_back(workload_.index(), table.row);
  LastCalls last_calls;
  const RangeCounters counters = range_counters(database_, window_.hull().begin, window_.hull().end);
  for (const HostEvent& event : find_host_events()) {
    const auto kind = static_cast<HostKind>(event.kind);
    const Statement* const row = rows[kind].row(event.id);
    if (row == nullptr) continue;
    const std::string category = host_category(kind, *row);
    if (category == kMarkCategory) continue;
    JsonWriter args;
    add_host_args(kind, event.id, *row, last_calls, args);
    const std::string name(row->text(1));
    if (const auto found = counters.find({event.ts, name}); found != counters.end() && category == kRangeCategory) {
      for (const auto& [metric, value] : found->second) args.member(metric, value);
    }
    TraceSlice slice{tracks_.thread(row->id(0)), category, name};
    clip(slice, event.ts, event.end, args);
    file_.events.slice(slice, args);
    ++file_.counts.host_events;
  }
  write_instants();
  write_counters();
}

void SideWriter::write_instants() {
  Statement rows(database_,
                 "SELECT i.ts, i.thread_id, g.value, t.value, i.bytes FROM instant i LEFT JOIN string t ON t.id = "
                 "i.name_id LEFT JOIN string g ON g.id = i.category_id WHERE i.ts BETWEEN ?1 AND ?2 ORDER BY i.id",
                 window_.hull().begin, window_.hull().end);
  while (rows.step()) {
    const std::int64_t ts = rows.int64(0);
    if (!window_.touches(ts, ts)) continue;
    JsonWriter args;
    add_number(args, "Bytes", rows, 4);
    file_.events.instant({tracks_.thread(rows.id(1)), rows.text(2), rows.text(3), shifted(ts)}, args);
    ++file_.counts.host_events;
  }
}

// The series of one event follow each other. Those of ranges are arguments of their slices.
void SideWriter::write_counters() {
  Statement rows(database_,
                 "SELECT c.ts, c.process_id, g.value, t.value, s.value, c.value, c.continued FROM counter c LEFT JOIN "
                 "string t ON t.id = c.name_id LEFT JOIN string g ON g.id = c.category_id LEFT JOIN string s ON s.id = "
                 "c.series_id WHERE c.ts BETWEEN ?1 AND ?2 AND g.value IS NOT ?3 AND g.value IS NOT ?4 ORDER BY c.id",
                 window_.hull().begin, window_.hull().end, kMarkCategory, kRangeCategory);
  JsonWriter series;
  std::string category, name;
  std::optional<TraceSlice> sample;
  const auto flush = [&] {
    if (!sample) return;
    sample->category = category;
    sample->name = name;
    file_.events.counter(*sample, series);
    ++file_.counts.host_events;
    sample.reset();
    series = JsonWriter();
  };
  while (rows.step()) {
    if (rows.int64(6) == 0) flush();
    const std::int64_t ts = rows.int64(0);
    if (!window_.touches(ts, ts)) continue;
    if (!sample) sample = TraceSlice{tracks_.process(rows.id(1)), {}, {}, shifted(ts)};
    category = rows.text(2);
    name = rows.text(3);
    if (!rows.is_null(4)) add_real(series, rows.text(4), rows, 5);
  }
  flush();
}

void SideWriter::write_kernel_marks() {
  const EventColumns& kernels = workload_.events().kernels;
  const auto ts = kernels.int64s("ts");
  const auto dur = kernels.int64s("dur");
  const auto stream = kernels.ids("stream_id");
  const StepSet& steps = workload_.steps();
  const LayerSet& layers = workload_.layers();
  const KernelRoles& roles = workload_.roles();
  DeviceRuns step_runs, layer_runs, role_runs;
  for (const std::uint32_t row : window_.kernels) {
    const std::uint32_t device = tracks_.device_of(stream[row]);
    const std::uint32_t step = steps.of_kernel.empty() ? 0 : steps.of_kernel[row];
    const std::int32_t layer = layers.of_kernel.empty() ? kNoLayer : layers.of_kernel[row];
    const Role role = roles.of(row).role;
    MarkRun kernel{step, row, 1, ts[row], saturating_add(ts[row], duration_or_zero(dur[row]))};
    if (step != 0) add_mark(step_runs[device], kTakeTurns, kernel);
    kernel.key = std::uint64_t{step} << 32U | static_cast<std::uint32_t>(layer);
    if (layer != kNoLayer) add_mark(layer_runs[device], kTakeTurns, kernel);
    kernel.key = static_cast<std::uint64_t>(role);
    // A kernel without a role ends a run.
    add_mark(role_runs[device], 1, kernel);
  }
  for (auto& [device, runs] : role_runs) {
    std::erase_if(runs, [](const MarkRun& run) { return run.key == static_cast<std::uint64_t>(Role::kNone); });
  }
  const auto write = [&](MarkTrack track, const DeviceRuns& all, auto name) {
    for (const auto& [device, runs] : all) {
      for (const MarkRun& run : runs) {
        write_mark(device, track, {run.ts, run.end}, name(run.row), JsonWriter().member("kernels", run.kernels));
      }
    }
  };
  write(MarkTrack::kSteps, step_runs, [&](std::uint32_t row) {
    const std::uint32_t step = steps.of_kernel[row] - 1;
    return fmt::format("step {} ({})", step, to_string(steps.steps[step].info.kind));
  });
  write(MarkTrack::kLayers, layer_runs,
        [&](std::uint32_t row) { return "layer " + layer_label(layers.of_kernel[row], layers.stacks); });
  write(MarkTrack::kRoles, role_runs, [&](std::uint32_t row) { return std::string(to_string(roles.of(row).role)); });
}

void SideWriter::write_idle() {
  const DeviceColumns columns(workload_.events(), LaneBy::kDevice);
  const GapSteps steps(workload_);
  TextById kernels(workload_.index(),
                   "SELECT n.short_name FROM kernel k JOIN kernel_name n ON n.id = k.name_id WHERE k.id = ?1");
  TextById copies(workload_.index(),
                  "SELECT t.value FROM memory_op m JOIN string t ON t.id = m.name_id WHERE m.id = ?1");
  const auto name_of = [&](const EventRef& event) {
    return std::string((event.is_memory_op ? copies : kernels).of(event.id).value_or(""));
  };
  TimelineOptions options;
  options.window = {std::max<std::int64_t>(window_.hull().begin, 0), window_.hull().end};
  for (const Gap& gap : gaps_in_order(columns.work(), launch_calls(workload_.events().calls), options).listed) {
    const Extent idle{gap.ts, gap.ts + gap.dur};
    if (!window_.touches(idle.begin, idle.end)) continue;
    JsonWriter args;
    args.member("before", name_of(gap.before)).member("next", name_of(gap.after));
    if (const auto between = steps.is_between(gap)) args.key("between steps").json(*between ? "true" : "false");
    write_mark(columns.lane_id(gap.lane), MarkTrack::kIdle, idle, to_string(gap.cause), args);
  }
}

void SideWriter::write_mark(std::uint32_t device, MarkTrack track, const Extent& time, std::string_view name,
                            const JsonWriter& args) {
  const EventTrack place = tracks_.mark(device, track, time.begin, time.end);
  file_.events.slice({place, kMarkCategory, name, shifted(time.begin), time.end - time.begin}, args);
}

void SideWriter::write_marks() {
  if (!window_.kernels.empty()) write_kernel_marks();
  write_idle();
}

}  // namespace tracedb
