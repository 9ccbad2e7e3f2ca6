#include "passes/tables/coverage.h"

#include <algorithm>
#include <array>

#include "passes/columns/group_stats.h"
#include "passes/tables/name_order.h"
#include "sql/temp_table.h"

namespace tracedb {
namespace {

enum Code : std::size_t {
  kNoLaunch,
  kNoOperator,
  kNoStack,
  kGraphCollapsed,
  kClockOrder,
  kUnknownDuration,
  kStepless,
  kLayerless,
  kUnclassified,
  kCodes
};
constexpr std::array<std::string_view, kCodes> kCodeNames = {"no_launch",       "no_operator", "no_stack",
                                                             "graph_collapsed", "clock_order", "unknown_duration",
                                                             "no_step",         "no_layer",    "unclassified"};

// Why kernels have no operator, the first that holds: told apart because the advice differs.
enum Reason : std::size_t { kInGraph, kLaunchUnknown, kOutsideOperators, kReasons };
constexpr std::array<std::string_view, kReasons> kReasonNames = {"no_operator_graph", "no_operator_launch",
                                                                 "no_operator_outside"};

Reason reason_of(std::size_t set) {
  const auto holds = [set](Code code) { return (set >> code & 1) != 0; };
  return holds(kGraphCollapsed) ? kInGraph : holds(kNoLaunch) ? kLaunchUnknown : kOutsideOperators;
}

struct Measure {
  std::int64_t time = 0, count = 0;

  void add(const Measure& other) {
    time = bounded_add(time, other.time);
    count += other.count;
  }
};

std::vector<bool> unclassified_names(const Index& index) {
  std::vector<bool> out;
  Statement rows(index.database(), "SELECT name_id FROM temp.kernel_class WHERE class IN ('other', 'triton_fused')");
  while (rows.step()) {
    const std::size_t id = rows.id(0);
    if (id >= out.size()) out.resize(2 * id + 1);
    out[id] = true;
  }
  return out;
}

// Ids of rows are places + 1; 0: none.
class Launches {
 public:
  explicit Launches(const Index& index) : calls_(index, "runtime_call", {"ts", "kind"}) {}
  [[nodiscard]] bool is_graph(std::uint32_t id) const {
    return known(id) && kind_[id - 1] == static_cast<std::uint32_t>(StoredCallKind::kGraphLaunch);
  }
  [[nodiscard]] bool is_after(std::uint32_t id, std::int64_t ts) const { return known(id) && ts_[id - 1] > ts; }

 private:
  [[nodiscard]] bool known(std::uint32_t id) const { return id != 0 && id <= calls_.size(); }
  EventColumns calls_;
  std::span<const std::int64_t> ts_ = calls_.int64s("ts");
  std::span<const std::uint32_t> kind_ = calls_.ids("kind");
};

void write(TempTable& table, std::string_view code, const Measure& measure, const Measure& all, bool by_count) {
  const auto part = static_cast<double>(by_count ? measure.count : measure.time);
  const auto whole = static_cast<double>(by_count ? all.count : all.time);
  table.insert().bind(1, code);
  if (whole > 0) table.insert().bind(2, 100 * part / whole);
  table.insert().bind(3, measure.count).run();
}

}  // namespace

void make_measure_table(const Index& index, const EventTables& events, const StepSet& steps,
                        std::span<const std::int32_t> layers) {
  const EventColumns& kernels = events.kernels;
  const auto ts = kernels.int64s("ts");
  const auto dur = kernels.int64s("dur");
  const auto name = kernels.ids("name_id");
  const auto launch = kernels.ids("launch_id");
  const auto op = kernels.ids("cpu_op_id");
  const auto stack = kernels.ids("stack_id");
  const std::vector<bool> unclassified = unclassified_names(index);
  const Launches launches(index);
  // By set of codes, one bit each: a kernel is added once, whatever holds for it.
  std::vector<Measure> sets(std::size_t{1} << kCodes);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const auto holds = [](bool is, Code code) { return static_cast<std::size_t>(is) << code; };
    const std::size_t set =
        holds(launch[i] == 0, kNoLaunch) | holds(op[i] == 0, kNoOperator) | holds(stack[i] == 0, kNoStack) |
        holds(launches.is_graph(launch[i]), kGraphCollapsed) | holds(launches.is_after(launch[i], ts[i]), kClockOrder) |
        holds(dur[i] == kNullCell, kUnknownDuration) | holds(steps.of_kernel[i] == 0, kStepless) |
        holds(layers[i] < 0, kLayerless) | holds(name[i] < unclassified.size() && unclassified[name[i]], kUnclassified);
    sets[set].add({std::max<std::int64_t>(dur[i], 0), 1});
  }
  std::array<Measure, kCodes> measures;
  std::array<Measure, kReasons> reasons;
  Measure all;
  for (std::size_t set = 0; set < sets.size(); ++set) {
    all.add(sets[set]);
    if ((set >> kNoOperator & 1) != 0) reasons[reason_of(set)].add(sets[set]);
    for (std::size_t code = 0; code < kCodes; ++code) {
      if ((set >> code & 1) != 0) measures[code].add(sets[set]);
    }
  }
  TempTable table(index.database(), "measure", "code TEXT PRIMARY KEY, share REAL, count INTEGER", 3);
  for (std::size_t code = 0; code < kCodes; ++code)
    write(table, kCodeNames[code], measures[code], all, code == kUnknownDuration);
  for (std::size_t i = 0; i < kReasons; ++i) write(table, kReasonNames[i], reasons[i], all, false);
  const NameOrder order = find_names_out_of_step(index, kernels);
  write(table, "names_out_of_step", {order.time, order.kernels}, all, false);
}

}  // namespace tracedb
