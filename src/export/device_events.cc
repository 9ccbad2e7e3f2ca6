// What ran on the devices: kernels, copies and fills with the flows from their launches, and annotations of the device.
#include <algorithm>

#include "base/saturating.h"
#include "export/side_writer.h"
#include "export/statement_args.h"
#include "trace/event_names.h"

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
    "launch_config c ON c.id = k.launch_config_id "
    "LEFT JOIN collective o ON o.kernel_id = k.id WHERE k.id BETWEEN ?1 AND ?2 ORDER BY k.id";

constexpr const char* kMemoryRows =
    "SELECT m.id, m.ts, m.dur, t.value, m.stream_id, m.launch_id, m.external_id, m.correlation, m.bytes, "
    "m.bandwidth_gb_s, m.kind, m.direction FROM memory_op m LEFT JOIN string t ON t.id = m.name_id "
    "WHERE m.id BETWEEN ?1 AND ?2 ORDER BY m.id";

// What both have in columns 6 and 7.
void add_ids(JsonMembers& args, const Statement& row) {
  add_number(args, "External id", row, 6);
  add_number(args, "correlation", row, 7);
}

// Columns of kKernelRows in their order, by the names that profilers give them.
struct NamedCell {
  std::string_view name;
  void (*add)(JsonMembers& args, std::string_view key, const Statement& row, int column);
  int columns = 1;
};
constexpr int kFirstNamed = 8;
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

void add_named(JsonMembers& args, const Statement& row) {
  int column = kFirstNamed;
  for (const NamedCell& cell : kNamedCells) {
    cell.add(args, cell.name, row, column);
    column += cell.columns;
  }
}

std::int64_t length_in(const Statement& row, int column) {
  return row.is_null(column) ? kUnknownValue : row.int64(column);
}

}  // namespace

// What the passes say of a kernel.
class SideWriter::KernelFacts {
 public:
  explicit KernelFacts(Workload& workload)
      : classes_(workload.classes()),
        steps_(workload.steps()),
        layers_(workload.layers()),
        roles_(workload.roles()),
        names_(workload.events().kernels.ids("name_id")) {}

  void add(std::uint32_t row, JsonMembers& args) const {
    args.text("op", classes_.class_of(names_[row]));
    if (const std::uint32_t step = steps_.of_kernel.empty() ? 0 : steps_.of_kernel[row]) {
      args.number("step", step - 1);
      args.text("phase", to_string(steps_.steps[step - 1].info.kind));
    }
    if (const std::int32_t layer = layers_.of_kernel.empty() ? kNoLayer : layers_.of_kernel[row]; layer != kNoLayer) {
      args.text("layer", layer_label(layer, layers_.stacks));
    }
    if (const Role role = roles_.of(row).role; role != Role::kNone) args.text("role", to_string(role));
  }

 private:
  const KernelClasses& classes_;
  const StepSet& steps_;
  const LayerSet& layers_;
  const KernelRoles& roles_;
  std::span<const std::uint32_t> names_;
};

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
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.ts < b.ts; });
  for (const Place& place : places) *place.track = tracks_.stream(place.stream, place.ts, place.end);
}

void SideWriter::write_gpu_annotations() {
  Statement rows(
      database_,
      "SELECT a.id, a.ts, a.dur, t.value, a.stream_id, a.external_id FROM annotation a LEFT JOIN string t ON "
      "t.id = a.name_id WHERE a.stream_id IS NOT NULL ORDER BY a.id");
  while (rows.step()) {
    const std::int64_t ts = rows.int64(1);
    const std::int64_t dur = length_in(rows, 2);
    const std::int64_t end = saturating_add(ts, duration_or_zero(dur));
    if (!window_.touches(ts, end)) continue;
    const std::uint32_t stream = rows.id(4);
    JsonMembers args;
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
  JsonMembers args;
  add_ids(args, row);
  tracks_.add_place(row.id(4), args);
  describe(args);
  file_.events.slice({track, category, row.text(3), shifted(ts), length_in(row, 2)}, args);
  end_flow(row.id(5), track, ts);
}

void SideWriter::write_kernels() {
  const KernelFacts facts(workload_);
  Statement statement(database_, kKernelRows);
  for_each_row(statement, window_.kernels, [&](std::size_t place, const Statement& row) {
    write_device_event(row, kernel_tracks_[place], "kernel", [&](JsonMembers& args) {
      add_named(args, row);
      facts.add(window_.kernels[place], args);
    });
    ++file_.counts.kernels;
  });
}

void SideWriter::write_memory_ops() {
  Statement statement(database_, kMemoryRows);
  for_each_row(statement, window_.memory_ops, [&](std::size_t place, const Statement& row) {
    const std::string_view category = row.text(10) == "memset" ? "gpu_memset" : "gpu_memcpy";
    write_device_event(row, memory_tracks_[place], category, [&](JsonMembers& args) {
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
    Statement call(database_, "SELECT ts, thread_id, correlation FROM runtime_call WHERE id = ?1");
    call.bind(1, std::int64_t{launch});
    if (call.step()) {
      const bool integer = call.type(2) == ValueType::kInteger;
      flow->second = file_.flows.take(integer ? call.int64(2) : -1);
      file_.events.flow_start(tracks_.thread(call.id(1)), shifted(call.int64(0)), flow->second);
    }
  }
  if (flow->second < 0) return;
  file_.events.flow_end(track, shifted(ts), flow->second);
  ++file_.counts.flows;
}

}  // namespace tracedb
