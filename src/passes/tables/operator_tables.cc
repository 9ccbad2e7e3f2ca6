// Framework operators by name, and by name and shapes: their time on the host, and on the device that of what they
// launch. Linear but for the sorting of device events.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/dense_index.h"
#include "base/statistics.h"
#include "base/unknown.h"
#include "passes/stacks/call_tree.h"
#include "passes/tables/pass_tables.h"
#include "trace/format_holds.h"

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
      : workload_(workload), columns_(workload.events().operators) {
    columns_.read({"name_id", "parent_id", "shape_id", "dur"});
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
    const auto call_ts = workload_.events().calls.int64s("ts"), call_dur = workload_.events().calls.int64s("dur");
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
    const bool on_host = operators_run_on_host(workload_.index().meta("vendor").value_or(""));
    const auto parents = columns_.ids("parent_id");
    const auto dur = columns_.int64s("dur");
    for (std::size_t i = 0; i < group_.size(); ++i) {
      if (!all && !launches_[i]) continue;
      OperatorSums& own = sums[group_[i]];
      const std::int64_t time = on_host ? duration_or_zero(dur[i]) : 0;
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
  const EventColumns& columns_;
  LargeVector<std::uint32_t> group_;  // by operator
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

}  // namespace

std::vector<PassTable> operator_tables() {
  using enum RowsBy;
  return {declared_table("operators", fill_operators<kName>), declared_table("operator_shapes", fill_operators<kShape>),
          declared_table("operator_arguments", fill_operators<kArguments>), declared_table("operator_tree", fill_tree)};
}

}  // namespace tracedb
