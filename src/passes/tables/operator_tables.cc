// Framework operators by name, and by name and shapes: their time on the host, and on the device that of what they
// launch. Linear but for the sorting of device events.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/dense_index.h"
#include "base/statistics.h"
#include "base/unknown.h"
#include "passes/select/selected_events.h"
#include "passes/stacks/call_tree.h"
#include "passes/tables/pass_tables.h"

namespace tracedb {
namespace {

constexpr std::string_view kNoOperator = "[no operator]";
constexpr std::size_t kDeepest = 4096;  // of nested operators; deeper, or in a circle, only a damaged index has them

struct OperatorSums : DeviceSums {
  std::int64_t calls = 0, host_total = 0, host_self = 0, device_self = 0;
  std::vector<std::int64_t> delays;  // from the return of a launching call to the start of its first kernel
};

class OperatorSummer {
 public:
  // `alike`: by id of op_shape, the first that is alike; empty: by name alone. `by_path`: by name below those around
  // it.
  OperatorSummer(Workload& workload, std::span<const std::uint32_t> alike, bool by_path = false)
      : workload_(workload), columns_(workload.index(), "cpu_op"), calls_(workload.index(), "runtime_call") {
    const auto names = columns_.ids("name_id"), parents = columns_.ids("parent_id");
    const auto shapes = alike.empty() ? std::span<const std::uint32_t>() : columns_.ids("shape_id");
    DenseIndex known;
    group_.reserve(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      std::uint32_t other = shapes.empty() || shapes[i] >= alike.size() ? 0 : alike[shapes[i]];
      // Operators come behind those around them.
      if (by_path && parents[i] > 0 && parents[i] <= i) other = group_[parents[i] - 1] + 1;
      const auto [place, is_new] = known.index_of(std::uint64_t{names[i]} << 32U | other);
      if (is_new) keys.emplace_back(names[i], other);
      group_.push_back(static_cast<std::uint32_t>(place));
    }
    sums.resize(keys.size() + 1);  // the last: no operator
  }

  void run() {
    add_device_events();
    add_calls();
  }

  // Of each group the name, and its shape; by path the group around it, plus 1.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> keys;
  std::vector<OperatorSums> sums;

 private:
  // An event counts once for each group that it is below, however often that is nested in itself.
  void add_device_events() {
    const auto parents = columns_.ids("parent_id");
    const auto call_ts = calls_.int64s("ts"), call_dur = calls_.int64s("dur");
    launches_.assign(group_.size(), false);
    std::vector<bool> seen(call_ts.size(), false);
    std::vector<std::uint32_t> chain;
    const EventIds op_of(workload_.events(), "cpu_op_id");
    for_each_selected(workload_, [&](const DeviceEvent& event) {
      std::uint32_t op = op_of[event.ref];
      const bool has_op = op > 0 && op <= group_.size();
      OperatorSums& own = sums[has_op ? group_[op - 1] : keys.size()];
      own.device_self = saturating_add(own.device_self, event.end - event.ts);
      chain.clear();
      for (std::size_t depth = 0; op > 0 && op <= group_.size() && depth < kDeepest; ++depth) {
        launches_[op - 1] = true;
        const std::uint32_t group = group_[op - 1];
        if (std::ranges::find(chain, group) == chain.end()) chain.push_back(group);
        op = parents[op - 1];
      }
      if (!has_op) chain.push_back(static_cast<std::uint32_t>(keys.size()));
      for (const std::uint32_t group : chain) sums[group].add(event);
      const std::size_t call = event.launch;
      if (event.ref.is_memory_op || call == 0 || call > seen.size() || seen[call - 1]) return;
      if (call_dur[call - 1] == kUnknownValue) return;
      seen[call - 1] = true;
      own.delays.push_back(std::max<std::int64_t>(event.ts - call_ts[call - 1] - call_dur[call - 1], 0));
    });
  }

  // Of a selection, those that launched some of it.
  void add_calls() {
    const bool all = workload_.filter().keeps_all();
    const auto parents = columns_.ids("parent_id");
    const auto dur = columns_.int64s("dur");
    for (std::size_t i = 0; i < group_.size(); ++i) {
      if (!all && !launches_[i]) continue;
      OperatorSums& own = sums[group_[i]];
      const std::int64_t time = duration_or_zero(dur[i]);
      ++own.calls;
      own.host_self = saturating_add(own.host_self, time);
      const std::uint32_t parent = parents[i];
      if (parent > 0 && parent <= group_.size() && (all || launches_[parent - 1])) {
        OperatorSums& outer = sums[group_[parent - 1]];
        outer.host_self = saturating_add(outer.host_self, -time);
      }
      if (!is_nested(i, parents)) own.host_total = saturating_add(own.host_total, time);
    }
  }

  // Within another call of its group.
  [[nodiscard]] bool is_nested(std::size_t op, std::span<const std::uint32_t> parents) const {
    std::uint32_t outer = parents[op];
    for (std::size_t depth = 0; outer > 0 && outer <= group_.size() && depth < kDeepest; ++depth) {
      if (group_[outer - 1] == group_[op]) return true;
      outer = parents[outer - 1];
    }
    return false;
  }

  Workload& workload_;
  EventColumns columns_, calls_;
  std::vector<std::uint32_t> group_;  // by operator
  std::vector<bool> launches_;        // by operator: something that is selected is below it
};

enum class RowsBy { kName, kShape, kArguments };

// What operators were called with. Of kShape, dimensions and types alone: strides and values may differ.
struct Shapes {
  std::vector<std::vector<std::string>> texts;  // by column, then by id of op_shape
  std::vector<std::uint32_t> alike;             // the first id with the same texts

  Shapes(const Index& index, RowsBy by) {
    for (const char* sql : {"SELECT id, dims FROM op_shape", "SELECT id, types FROM op_shape",
                            "SELECT id, strides FROM op_shape", "SELECT id, concrete_inputs FROM op_shape"}) {
      texts.push_back(by_id<std::string>(index, sql, [](const Statement& row) { return std::string(row.text(1)); }));
      texts.back().resize(texts.front().size());
      if (by == RowsBy::kShape && texts.size() == 2) break;
    }
    std::map<std::vector<std::string_view>, std::uint32_t> first;
    for (std::uint32_t id = 0; id < texts.front().size(); ++id) {
      std::vector<std::string_view> key;
      for (const auto& column : texts) key.emplace_back(column[id]);
      alike.push_back(first.try_emplace(std::move(key), id).first->second);
    }
  }
};

template <RowsBy kBy>
void fill_operators(Workload& workload, const PassOptions&, TableRows& rows) {
  std::optional<Shapes> shapes;
  if (kBy != RowsBy::kName) shapes.emplace(workload.index(), kBy);
  OperatorSummer summer(workload, shapes ? std::span(shapes->alike) : std::span<const std::uint32_t>());
  summer.run();
  TextById name_of(workload.index());
  for (std::size_t g = 0; g < summer.sums.size(); ++g) {
    OperatorSums& sums = summer.sums[g];
    const bool is_operator = g < summer.keys.size();
    if (sums.calls == 0 && sums.total == 0 && sums.kernels == 0) continue;
    rows.add(is_operator ? name_of.of(summer.keys[g].first).value_or("[no name]") : kNoOperator);
    for (std::size_t i = 0; shapes && i < shapes->texts.size(); ++i)
      rows.add(known_text(shapes->texts[i][is_operator ? summer.keys[g].second : 0]));  // not recorded of id 0
    const auto of_host = [&](std::int64_t value) { return is_operator ? std::optional(value) : std::nullopt; };
    rows.add(of_host(sums.calls)).add(of_host(sums.host_total)).add(of_host(sums.host_self));
    rows.add(sums.total).add(sums.device_self).add(sums.busy).add(sums.kernels);
    rows.add(sums.delays.empty() ? std::nullopt : std::optional(median(std::span(sums.delays))));
  }
}

void fill_tree(Workload& workload, const PassOptions&, TableRows& rows) {
  OperatorSummer summer(workload, {}, true);
  summer.run();
  const auto none = static_cast<std::uint32_t>(summer.keys.size());
  std::vector<std::uint32_t> parents, depth;
  for (const auto& [name, around] : summer.keys) {
    parents.push_back(around == 0 ? kNoNode : around - 1);
    depth.push_back(around == 0 ? 0 : depth[around - 1] + 1);
  }
  std::vector<std::uint32_t> order = tree_order(
      parents, [&](std::uint32_t group) { return std::pair(summer.sums[group].total, summer.sums[group].host_total); });
  order.push_back(none);
  TextById name_of(workload.index());
  std::int64_t position = 0;
  for (const std::uint32_t group : order) {
    const OperatorSums& sums = summer.sums[group];
    if (sums.calls == 0 && sums.total == 0 && sums.kernels == 0) continue;
    const auto of_host = [&](std::int64_t value) { return group == none ? std::nullopt : std::optional(value); };
    rows.add(++position).add(group == none ? kNoOperator : name_of.of(summer.keys[group].first).value_or("[no name]"));
    rows.add(group == none ? 0 : std::int64_t{depth[group]});
    rows.add(of_host(sums.calls)).add(of_host(sums.host_total)).add(of_host(sums.host_self));
    rows.add(sums.total).add(sums.device_self).add(sums.busy).add(sums.kernels);
  }
}

template <RowsBy kBy>
PassTable table_of_operators() {
  using enum ColumnType;
  std::vector<PassColumn> columns = {
      column("name", kText, "", "of the operator; [no operator]: device work without one", "Operator", "label", "7"),
      column("shape", kText, "", "dimensions of its inputs; NULL: not recorded", "Input Dims", "", "6"),
      column("types", kText, "", "of its inputs; NULL: not recorded", "Input Types", "", "3"),
      column("strides", kText, "", "of its inputs; NULL: not recorded", "Input Strides", "", "2"),
      column("concrete_inputs", kText, "", "values of inputs that are no tensors; NULL: not recorded", "Values", "",
             "2"),
      column("calls", kInteger, "count", "calls; of a selection, those that launched some of it", "Calls", "sum", "5"),
      column("host_total", kInteger, "ns", "time in its calls; where it is nested in itself, of the outermost",
             "Host Total", "", "4"),
      column("host_self", kInteger, "ns", "without the operators that it calls", "Host Self", "sum", "5"),
      column("device_total", kInteger, "ns", "durations of kernels, copies and fills launched in its calls",
             "Device Total", "", "6"),
      column("device_self", kInteger, "ns", "of these, with no other operator in between", "Device Self", "sum", "6"),
      column("device_busy", kInteger, "ns", "time during which any of these ran, added up over devices", "Device Busy",
             "", "3"),
      column("kernels", kInteger, "count", "kernels launched in its calls", "Kernels", "", "3"),
      column("launch_delay", kReal, "ns",
             "median time from the return of a launching call of its own to the start of its first kernel", "Delay Med",
             "", "2"),
      derived("device_pct", kReal, "percent", "device_self as a share of all device work selected", "Device (%)", "sum",
              "5", "100.0 * device_self / nullif(total(device_self) OVER (), 0)")};
  // Those that name the arguments come second.
  constexpr std::ptrdiff_t kShown = kBy == RowsBy::kName ? 0 : (kBy == RowsBy::kShape ? 2 : 4), kAll = 4;
  columns.erase(columns.begin() + 1 + kShown, columns.begin() + 1 + kAll);
  std::string names, order;
  for (std::ptrdiff_t i = 0; i <= kShown; ++i) {
    names += " " + std::string(columns[static_cast<std::size_t>(i)].name);
    order += ", " + std::string(columns[static_cast<std::size_t>(i)].name);
  }
  static const std::string kOrder = "device_self DESC, host_self DESC" + order;
  constexpr std::string_view kTable =
      kBy == RowsBy::kName ? "operators" : (kBy == RowsBy::kShape ? "operator_shapes" : "operator_arguments");
  constexpr std::string_view kMeaning =
      kBy == RowsBy::kName ? "framework operators by name"
                           : (kBy == RowsBy::kShape ? "framework operators by name, shapes and types of their inputs"
                                                    : "framework operators by name and all that is recorded of inputs");
  return {kTable,
          kMeaning,
          std::move(columns),
          fill_operators<kBy>,
          {kTable,
           "device_pct device_self device_total device_busy host_self host_total calls kernels launch_delay" + names,
           kOrder, "", "Sums of device_self are the time of all device work selected."}};
}

PassTable tree_of_operators() {
  PassTable out = table_of_operators<RowsBy::kName>();
  out.name = "operator_tree";
  out.meaning = "framework operators below those that call them, in reading order";
  std::erase_if(out.columns, [](const PassColumn& column) { return column.name == "launch_delay"; });
  using enum ColumnType;
  out.columns.insert(out.columns.begin() + 1, column("depth", kInteger, "count", "operators around it", "Depth"));
  out.columns.insert(out.columns.begin(), column("position", kInteger, "", "in reading order, from 1"));
  out.fill = fill_tree;
  out.report.name = out.name;
  out.report.columns = "device_pct device_self device_total device_busy host_self host_total calls kernels depth name";
  out.report.order = "position";
  return out;
}

}  // namespace

std::vector<PassTable> operator_tables() {
  return {table_of_operators<RowsBy::kName>(), table_of_operators<RowsBy::kShape>(),
          table_of_operators<RowsBy::kArguments>(), tree_of_operators()};
}

}  // namespace tracedb
