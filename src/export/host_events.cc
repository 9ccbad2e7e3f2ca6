// What ran on the host: python frames, operators, annotations, runtime calls, other slices, instants and counters.
#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>

#include "base/saturating.h"
#include "export/side_writer.h"
#include "export/statement_args.h"
#include "passes/columns/event_columns.h"

namespace tracedb {
namespace {

// In the order in which those that begin and end together enclose each other.
enum HostKind : std::uint32_t { kPythonEvent, kSliceEvent, kAnnotationEvent, kOperatorEvent, kCallEvent, kHostKinds };
constexpr std::array<std::string_view, kHostKinds> kHostTables = {"python_call", "slice", "annotation", "cpu_op",
                                                                  "runtime_call"};

std::string_view call_category(std::string_view name) {
  return name.starts_with("cu") && !name.starts_with("cuda") ? "cuda_driver" : "cuda_runtime";
}

// The last call of each path on each thread: the parents of those that follow.
class PythonParents {
 public:
  // The id of the call around one whose path lies in `parent_stack`; nullopt: it is not in the window.
  std::optional<std::int64_t> around(std::uint32_t thread, std::uint32_t parent_stack) const {
    const auto found = last_.find(key(thread, parent_stack));
    return found == last_.end() ? std::nullopt : std::optional(found->second);
  }
  void enter(std::uint32_t thread, std::uint32_t stack, std::int64_t id) { last_[key(thread, stack)] = id; }

 private:
  static std::uint64_t key(std::uint32_t thread, std::uint32_t stack) { return std::uint64_t{thread} << 32U | stack; }
  std::unordered_map<std::uint64_t, std::int64_t> last_;
};

}  // namespace

// One row at a time, by kind and id.
class SideWriter::HostRows {
 public:
  explicit HostRows(Database& database)
      : python_(database,
                "SELECT c.thread_id, t.value, c.stack_id, s.parent_id FROM python_call c JOIN stack s ON s.id = "
                "c.stack_id JOIN frame f ON f.id = s.frame_id JOIN string t ON t.id = f.name_id WHERE c.id = ?1"),
        slice_(database,
               "SELECT s.thread_id, t.value, g.value FROM slice s LEFT JOIN string t ON t.id = s.name_id LEFT JOIN "
               "string g ON g.id = s.category_id WHERE s.id = ?1"),
        annotation_(database,
                    "SELECT a.thread_id, t.value, a.external_id FROM annotation a JOIN string t ON t.id = a.name_id "
                    "WHERE a.id = ?1"),
        operator_(database,
                  "SELECT c.thread_id, t.value, c.external_id, c.sequence_number, CASE json_valid(h.dims) WHEN 1 THEN "
                  "h.dims WHEN 0 THEN json_quote(h.dims) END, CASE json_valid(h.types) WHEN 1 THEN h.types WHEN 0 THEN "
                  "json_quote(h.types) END, CASE json_valid(h.strides) WHEN 1 THEN h.strides WHEN 0 THEN "
                  "json_quote(h.strides) END, CASE json_valid(h.concrete_inputs) WHEN 1 THEN h.concrete_inputs WHEN 0 "
                  "THEN json_quote(h.concrete_inputs) END FROM cpu_op c JOIN string t ON t.id = c.name_id LEFT JOIN "
                  "op_shape h ON h.id = "
                  "c.shape_id WHERE c.id = ?1"),
        call_(database,
              "SELECT c.thread_id, t.value, c.external_id, c.correlation FROM runtime_call c JOIN string t ON t.id = "
              "c.name_id WHERE c.id = ?1") {}

  // Thread and name come first in each; null: there is no such row.
  const Statement* find(HostKind kind, std::uint32_t id) {
    Statement& row = statement(kind);
    row.reset();
    row.bind(1, std::int64_t{id});
    return row.step() ? &row : nullptr;
  }

  std::string category(HostKind kind, const Statement& row) const {
    switch (kind) {
      case kPythonEvent:
        return "python_function";
      case kSliceEvent:
        return std::string(row.text(2));
      case kAnnotationEvent:
        return "user_annotation";
      case kOperatorEvent:
        return "cpu_op";
      default:
        return std::string(call_category(row.text(1)));
    }
  }

  void add_args(HostKind kind, std::uint32_t id, const Statement& row, JsonMembers& args) {
    if (kind == kPythonEvent) {
      const std::uint32_t thread = row.id(0);
      args.number("Python id", id);
      if (row.is_null(3)) {
        args.json("Python parent id", "null");
      } else if (const auto around = parents_.around(thread, row.id(3))) {
        args.number("Python parent id", *around);
      }
      parents_.enter(thread, row.id(2), id);
    }
    if (kind == kSliceEvent || kind == kPythonEvent) return;
    add_number(args, "External id", row, 2);
    if (kind == kCallEvent) add_number(args, "correlation", row, 3);
    if (kind != kOperatorEvent) return;
    add_number(args, "Sequence number", row, 3);
    constexpr std::string_view kShapes[] = {"Input Dims", "Input type", "Input Strides", "Concrete Inputs"};
    for (int i = 0; i < 4; ++i) add_json(args, kShapes[i], row, 4 + i);
  }

 private:
  Statement& statement(HostKind kind) {
    const std::array<Statement*, kHostKinds> all = {&python_, &slice_, &annotation_, &operator_, &call_};
    return *all[kind];
  }

  Statement python_, slice_, annotation_, operator_, call_;
  PythonParents parents_;
};

std::vector<SideWriter::HostEvent> SideWriter::find_host_events() const {
  std::vector<HostEvent> found;
  for (std::uint32_t kind = 0; kind < kHostKinds; ++kind) {
    const EventColumns columns(workload_.index(), kHostTables[kind], {"ts", "dur", "thread_id"});
    const auto ts = columns.int64s("ts");
    const auto dur = columns.int64s("dur");
    const auto thread = columns.ids("thread_id");
    for (std::uint32_t row = 0; row < ts.size(); ++row) {
      const std::int64_t end = saturating_add(ts[row], duration_or_zero(dur[row]));
      if (thread[row] == 0 || !window_.touches(ts[row], end)) continue;
      found.push_back({ts[row], dur[row] == kUnknownValue ? kUnknownValue : end, kind, row + 1});
    }
  }
  std::sort(found.begin(), found.end(), [](const HostEvent& a, const HostEvent& b) {
    return std::tie(a.ts, b.end, a.kind, a.id) < std::tie(b.ts, a.end, b.kind, b.id);
  });
  return found;
}

void SideWriter::write_host_events() {
  HostRows rows(database_);
  for (const HostEvent& event : find_host_events()) {
    const auto kind = static_cast<HostKind>(event.kind);
    const Statement* row = rows.find(kind, event.id);
    if (row == nullptr) continue;
    const std::string category = rows.category(kind, *row);
    if (category == kMarkCategory) continue;
    JsonMembers args;
    rows.add_args(kind, event.id, *row, args);
    const std::string name(row->text(1));
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
                 "i.name_id LEFT JOIN string g ON g.id = i.category_id WHERE i.ts BETWEEN ?1 AND ?2 ORDER BY i.id");
  rows.bind(1, window_.hull().begin).bind(2, window_.hull().end);
  while (rows.step()) {
    const std::int64_t ts = rows.int64(0);
    if (!window_.touches(ts, ts)) continue;
    JsonMembers args;
    add_number(args, "Bytes", rows, 4);
    file_.events.instant({tracks_.thread(rows.id(1)), rows.text(2), rows.text(3), shifted(ts)}, args);
    ++file_.counts.host_events;
  }
}

// The series of one event follow each other.
void SideWriter::write_counters() {
  Statement rows(database_,
                 "SELECT c.ts, c.process_id, g.value, t.value, s.value, c.value, c.continued FROM counter c LEFT JOIN "
                 "string t ON t.id = c.name_id LEFT JOIN string g ON g.id = c.category_id LEFT JOIN string s ON s.id = "
                 "c.series_id WHERE c.ts BETWEEN ?1 AND ?2 ORDER BY c.id");
  rows.bind(1, window_.hull().begin).bind(2, window_.hull().end);
  JsonMembers series;
  std::string category, name;
  std::optional<TraceSlice> sample;
  const auto flush = [&] {
    if (!sample) return;
    sample->category = category;
    sample->name = name;
    file_.events.counter(*sample, series);
    ++file_.counts.host_events;
    sample.reset();
    series.clear();
  };
  while (rows.step()) {
    if (rows.int64(6) == 0) flush();
    const std::int64_t ts = rows.int64(0);
    if (!window_.touches(ts, ts)) continue;
    if (!sample) sample = TraceSlice{tracks_.process(rows.id(1)), {}, {}, shifted(ts)};
    category = rows.text(2);
    name = rows.text(3);
    if (!rows.is_null(4) && !rows.is_null(5)) series.real(rows.text(4), rows.real(5));
  }
  flush();
}

}  // namespace tracedb
