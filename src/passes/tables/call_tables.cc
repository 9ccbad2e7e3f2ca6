// Framework operators by name, path, and name and shapes, nn.Modules by class and path, and both: their time on the
// host and that of the device work below them. Kernel time by Python call path, and the sequences of kernels that
// repeat. Linear but for the order of rows.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/dense_index.h"
#include "base/statistics.h"
#include "base/unknown.h"
#include "index/packed_columns.h"
#include "passes/columns/group_stats.h"
#include "passes/stacks/sequences.h"
#include "passes/stacks/stack_times.h"
#include "passes/tables/pass_tables.h"
#include "trace/format_holds.h"
#include "trace/python_frame.h"
#include "trace/step_grammar.h"

namespace tracedb {
namespace {

// Of the calls of one group, and the device work below them.
struct CallSums : DeviceSums {
  std::int64_t calls = 0, host_total = 0, host_self = 0, device_self = 0;

  [[nodiscard]] bool empty() const { return calls == 0 && total == 0 && kernels == 0; }
  // As siblings in a tree are ordered.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> size() const { return {total, host_total}; }
  // `knows_host`: else the cells of the host are NULL.
  void add_to(TableRows& rows, bool knows_host) const {
    const auto of_host = [&](std::int64_t value) { return knows_host ? std::optional(value) : std::nullopt; };
    rows.add(of_host(calls), of_host(host_total), of_host(host_self), total, device_self, busy, kernels);
  }
};

// Adds calls to the sums of their groups. Of each moment the call that began last is the innermost, though it may
// outlast those around it.
template <class Sums>
class CallAdder {
 public:
  explicit CallAdder(std::vector<Sums>& sums) : sums_(sums) {}

  // In order of ts, the outer one first.
  void add(std::uint32_t thread, std::uint32_t group, std::int64_t ts, std::int64_t dur) {
    std::vector<Open>& open = for_id(open_, thread);
    std::erase_if(open, [ts](const Open& one) { return one.end <= ts; });
    const std::int64_t end = saturating_add(ts, dur);
    std::int64_t taken = ts, counted = ts;  // until when from the calls around it, and by others of the group
    for (auto outer = open.rbegin(); outer != open.rend(); ++outer) {
      const std::int64_t until = std::min(outer->end, end);
      if (until > taken) add_to(sums_[outer->group].host_self, std::exchange(taken, until) - until);
      if (outer->group == group) counted = std::max(counted, until);
    }
    ++sums_[group].calls;
    add_to(sums_[group].host_self, end - ts);
    add_to(sums_[group].host_total, end - counted);
    open.push_back({end, group});
  }

 private:
  struct Open {
    std::int64_t end;
    std::uint32_t group;
  };
  static void add_to(std::int64_t& sum, std::int64_t time) { sum = saturating_add(sum, time); }

  std::vector<Sums>& sums_;
  std::vector<std::vector<Open>> open_;  // by thread, the innermost last
};

constexpr std::string_view kNoOperator = "[no operator]";
constexpr std::size_t kDeepest = 4096;  // of nested operators; deeper, or in a circle, only a damaged index has them

struct OperatorSums : CallSums {
  std::vector<std::int64_t> delays;  // from the return of a launching call to the start of its first kernel
};

class OperatorSummer {
 public:
  // `alike`: by id of op_shape, the first that is alike; empty: by name alone. `by_path`: by name below those around
  // it.
  OperatorSummer(Workload& workload, std::span<const std::uint32_t> alike, bool by_path = false)
      : workload_(workload), columns_(workload.events().operators), name_of_(workload.index()) {
    columns_.read({"name_id", "parent_id", "shape_id", "thread_id", "ts", "dur"});
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
    add_device_events();
    add_calls();
  }

  [[nodiscard]] bool is_operator(std::size_t group) const { return group < keys.size(); }
  // Valid until the next call.
  std::string_view name(std::size_t group) {
    return is_operator(group) ? name_of_.of(keys[group].first).value_or("[no name]") : kNoOperator;
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
    const auto threads = columns_.ids("thread_id");
    const auto ts = columns_.int64s("ts"), dur = columns_.int64s("dur");
    CallAdder<OperatorSums> calls(sums);
    for (std::size_t i = 0; i < group_.size(); ++i) {
      if (all || launches_[i]) calls.add(threads[i], group_[i], ts[i], on_host ? duration_or_zero(dur[i]) : 0);
    }
  }

  Workload& workload_;
  const EventColumns& columns_;
  TextById name_of_;
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
  for (std::size_t g = 0; g < summer.sums.size(); ++g) {
    OperatorSums& sums = summer.sums[g];
    if (sums.empty()) continue;
    const bool is_operator = summer.is_operator(g);
    rows.add(summer.name(g));
    for (std::size_t i = 0; shapes && i < shapes->texts.size(); ++i)
      rows.add(known_text(shapes->texts[i][is_operator ? summer.keys[g].second : 0]));  // not recorded of id 0
    sums.add_to(rows, is_operator);
    rows.add(sums.delays.empty() ? std::nullopt : std::optional(median(std::span(sums.delays))));
  }
}

void fill_operator_tree(Workload& workload, const PassOptions&, TableRows& rows) {
  OperatorSummer summer(workload, {}, true);
  std::vector<std::uint32_t> parents, depth;
  for (const auto& [name, around] : summer.keys) {
    parents.push_back(around == 0 ? kNoNode : around - 1);
    depth.push_back(around == 0 ? 0 : depth[around - 1] + 1);
  }
  std::vector<std::uint32_t> order =
      tree_order(parents, [&](std::uint32_t group) { return summer.sums[group].size(); });
  depth.push_back(0);
  order.push_back(static_cast<std::uint32_t>(summer.keys.size()));  // no operator
  std::int64_t position = 0;
  for (const std::uint32_t group : order) {
    if (summer.sums[group].empty()) continue;
    rows.add(++position, summer.name(group), depth[group]);
    summer.sums[group].add_to(rows, summer.is_operator(group));
  }
}

struct ModuleNode {
  std::uint32_t parent = kNoNode, frame = kNoFrame, depth = 0;
  std::uint32_t group = 0;  // row
  bool is_nested = false;   // below another node of its group
};

// Python stacks as paths of modules. Parents come before their children.
struct ModulePaths {
  StackPaths stacks;
  std::vector<ModuleNode> nodes;
  std::vector<std::uint32_t> of_stack;  // by id; kNoNode: no module is on it
  std::size_t groups = 0;

  ModulePaths(const Index& index, bool by_class)
      : stacks(
            stack_paths(std::vector<const Index*>{&index}, {by_class ? Frames::kModuleClasses : Frames::kEachModule})) {
    DenseIndex known;
    of_stack.assign(stacks.stacks.size(), kNoNode);
    for (std::size_t id = 1; id < of_stack.size(); ++id) {
      const StackEntry& entry = stacks.stacks[id];
      const std::uint32_t parent = of_stack[entry.parent];
      if (entry.frame == kNoFrame) {
        of_stack[id] = parent;
        continue;
      }
      const auto [node, is_new] = known.index_of((std::uint64_t{parent} + 1) << 32U | entry.frame);
      of_stack[id] = static_cast<std::uint32_t>(node);
      if (!is_new) continue;
      ModuleNode& own = nodes.emplace_back();
      own = {parent, entry.frame, parent == kNoNode ? 0 : nodes[parent].depth + 1,
             by_class ? entry.frame : of_stack[id]};
      for (std::uint32_t outer = parent; outer != kNoNode && !own.is_nested; outer = nodes[outer].parent) {
        own.is_nested = nodes[outer].group == own.group;
      }
    }
    groups = by_class ? stacks.frames.size() : nodes.size();
  }
  [[nodiscard]] std::uint32_t node(std::uint32_t stack) const {
    return stack < of_stack.size() ? of_stack[stack] : kNoNode;
  }
  [[nodiscard]] std::string_view name(const ModuleNode& node) const {
    const std::string_view frame = stacks.frames[node.frame];
    return frame.starts_with(kModuleFrame) ? frame.substr(kModuleFrame.size()) : frame;
  }
};

// By process and sequence number: the module of the forward operator that autograd recorded under it, the last one to
// have it.
class ForwardModules {
 public:
  ForwardModules(const Workload& workload, const EventTables& events, const ModulePaths& paths)
      : operators_(workload.index(), "cpu_op"),
        parents_(operators_.ids("parent_id")),
        threads_(operators_.ids("thread_id")),
        sequence_(operators_.int64s("sequence_number")),
        process_of_thread_(ids_by_id(workload.index(), "thread", "process_id")) {
    const auto ops = events.kernels.ids("cpu_op_id"), stacks = events.kernels.ids("stack_id"),
               pass = events.kernels.ids("pass");
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const std::uint32_t node = paths.node(stacks[i]);
      if (pass[i] != kForward || node == kNoNode) continue;
      for_each_sequence(ops[i], [&](Last& last, std::uint32_t op) {
        if (op >= last.op) last = {op, node};
        return false;
      });
    }
  }
  // kNoNode: not known.
  std::uint32_t node(std::uint32_t op) {
    std::uint32_t out = kNoNode;
    for_each_sequence(op, [&](const Last& last, std::uint32_t) {
      out = last.node;
      return out != kNoNode;
    });
    return out;
  }

  static constexpr std::uint32_t kForward = 1;  // place in kPassNames, plus 1
  static_assert(kPassNames[kForward - 1] == "forward");

 private:
  struct Last {
    std::uint32_t op = 0, node = kNoNode;
  };

  // From the operator outwards, until visit(what its sequence number has, operator) is true.
  template <class Visit>
  void for_each_sequence(std::uint32_t op, Visit visit) {
    constexpr int kMostAround = 256;
    constexpr unsigned kNumberBits = 40;  // larger numbers than training counts to are left out
    for (int depth = 0; op > 0 && op <= sequence_.size() && depth < kMostAround; ++depth) {
      const std::int64_t number = sequence_[op - 1];
      if (number >= 0 && number >> kNumberBits == 0) {
        const std::uint32_t thread = threads_[op - 1];
        const std::uint64_t process = thread < process_of_thread_.size() ? process_of_thread_[thread] : 0;
        const auto [place, is_new] = numbers_.index_of(process << kNumberBits | static_cast<std::uint64_t>(number));
        if (is_new) last_.emplace_back();
        if (visit(last_[place], op)) return;
      }
      op = parents_[op - 1];
    }
  }

  EventColumns operators_;
  std::span<const std::uint32_t> parents_, threads_;
  std::span<const std::int64_t> sequence_;
  std::vector<std::uint32_t> process_of_thread_;
  DenseIndex numbers_;
  std::vector<Last> last_;  // by place in `numbers_`
};

// Which module launched a device event.
class EventModules {
 public:
  EventModules(Workload& workload, bool by_class, bool follow_backward)
      : paths(workload.index(), by_class),
        stack_of_(workload.events(), "stack_id"),
        op_of_(workload.events(), "cpu_op_id") {
    if (follow_backward) forward_.emplace(workload, workload.events(), paths);
  }
  // kNoNode: none.
  std::uint32_t node(const DeviceEvent& event) {
    const std::uint32_t node = paths.node(stack_of_[event.ref]);
    return node == kNoNode && forward_ ? forward_->node(op_of_[event.ref]) : node;
  }
  // Place of the sums of a node; of none, behind all groups: with a stack, then without.
  [[nodiscard]] std::size_t group(std::uint32_t node, const DeviceEvent& event) const {
    return node == kNoNode ? paths.groups + (stack_of_[event.ref] == 0 ? 1 : 0) : paths.nodes[node].group;
  }
  [[nodiscard]] std::uint32_t op(const DeviceEvent& event) const { return op_of_[event.ref]; }

  const ModulePaths paths;

 private:
  EventIds stack_of_, op_of_;
  std::optional<ForwardModules> forward_;
};

void add_calls(const Index& index, const ModulePaths& paths, std::vector<CallSums>& sums) {
  CallAdder<CallSums> adder(sums);
  BlockReader calls(index.database(), "python_call", packed_table("python_call")->columns);
  while (calls.next()) {
    const auto ts = calls.numbers(0), dur = calls.numbers(1);
    const auto threads = calls.ids(2), stacks = calls.ids(3);
    for (std::size_t i = 0; i < dur.size(); ++i) {
      if (stacks[i] >= paths.of_stack.size() || paths.stacks.stacks[stacks[i]].frame == kNoFrame) continue;
      adder.add(threads[i], paths.nodes[paths.of_stack[stacks[i]]].group, ts[i], duration_or_zero(dur[i]));
    }
  }
}

std::vector<CallSums> sums_of(Workload& workload, EventModules& modules) {
  const ModulePaths& paths = modules.paths;
  std::vector<CallSums> sums(paths.groups + 2);
  for_each_selected(workload, [&](const DeviceEvent& event) {
    std::uint32_t node = modules.node(event);
    CallSums& own = sums[modules.group(node, event)];
    own.device_self = saturating_add(own.device_self, event.end - event.ts);
    if (node == kNoNode) own.add(event);
    for (; node != kNoNode; node = paths.nodes[node].parent) {
      if (!paths.nodes[node].is_nested) sums[paths.nodes[node].group].add(event);
    }
  });
  add_calls(workload.index(), paths, sums);
  return sums;
}

template <bool kTree>
void fill_modules(Workload& workload, const PassOptions& options, TableRows& rows) {
  EventModules modules(workload, !kTree, options.follow_backward);
  const ModulePaths& paths = modules.paths;
  const std::vector<CallSums> sums = sums_of(workload, modules);
  const bool all = workload.filter().keeps_all();  // calls do not know what the selection is about
  std::int64_t position = 0;
  const auto add = [&](std::string_view name, const ModuleNode& node, const CallSums& own, bool is_module) {
    if (own.empty()) return;
    rows.add(++position, name, node.depth);
    own.add_to(rows, all && is_module && own.calls > 0);  // what ran without a call was called unseen, as by XLA
  };
  if constexpr (kTree) {
    std::vector<std::uint32_t> parents;
    for (const ModuleNode& node : paths.nodes) parents.push_back(node.parent);
    for (const std::uint32_t id : tree_order(parents, [&](std::uint32_t node) { return sums[node].size(); }))
      add(paths.name(paths.nodes[id]), paths.nodes[id], sums[id], true);
  } else {
    for (std::uint32_t frame = 1; frame < paths.groups; ++frame) add(paths.stacks.frames[frame], {}, sums[frame], true);
  }
  add(kNoModule, {}, sums[paths.groups], false);
  add(kNoStack, {}, sums[paths.groups + 1], false);
}

// Innermost operator and innermost module around the launch.
void fill_operator_modules(Workload& workload, const PassOptions& options, TableRows& rows) {
  struct Launched : DeviceSums {
    std::uint32_t name = 0, module = 0;  // id of string; place
    std::int64_t calls = 0;
  };
  const Index& index = workload.index();
  EventModules modules(workload, true, options.follow_backward);
  const auto names = workload.events().operators.ids("name_id");
  std::vector<bool> seen(names.size());
  DenseIndex known;
  std::vector<Launched> groups;
  for_each_selected(workload, [&](const DeviceEvent& event) {
    const std::uint32_t op = modules.op(event);
    const auto module = static_cast<std::uint32_t>(modules.group(modules.node(event), event));
    const std::uint32_t name = op > 0 && op <= names.size() ? names[op - 1] : 0;
    const auto [place, is_new] = known.index_of(std::uint64_t{name} << 32U | module);
    if (is_new) groups.emplace_back().name = name, groups.back().module = module;
    groups[place].add(event);
    if (name == 0 || seen[op - 1]) return;
    seen[op - 1] = true;
    ++groups[place].calls;
  });
  TextById name_of(index);
  for (const Launched& group : groups) {
    rows.add(name_of.of(group.name).value_or(kNoOperator));
    const std::size_t classes = modules.paths.groups;
    rows.add(group.module < classes ? std::string_view(modules.paths.stacks.frames[group.module])
                                    : (group.module == classes ? kNoModule : kNoStack));
    rows.add(group.name == 0 ? std::nullopt : std::optional(group.calls), group.total, group.busy, group.kernels);
  }
}

}  // namespace

std::vector<PassTable> call_tables() {
  using enum RowsBy;
  return {declared_table("operators", fill_operators<kName>),
          declared_table("operator_shapes", fill_operators<kShape>),
          declared_table("operator_arguments", fill_operators<kArguments>),
          declared_table("operator_tree", fill_operator_tree),
          declared_table("modules", fill_modules<false>),
          declared_table("module_tree", fill_modules<true>),
          declared_table("operator_modules", fill_operator_modules)};
}

// Kernel time by Python call path, and the sequences of kernels that repeat.

namespace {

std::vector<CallNode> nodes_of(const StackTimes& times, const PassOptions& options) {
  if (options.view == CallTreeView::kFlat) return flat_profile(times.stacks, times.times);
  const TreeSide side = options.view == CallTreeView::kTree ? TreeSide::kOutside : TreeSide::kInside;
  std::vector<CallNode> tree = call_tree(times.stacks, times.times, side);
  const bool all_frames = options.all_frames || options.frames.which != Frames::kAll;
  return all_frames ? tree : without_chains(tree, side);
}

// The texts of the labels, and by name_id which a kernel has: its short name or operation class.
struct SequenceLabels {
  std::vector<std::uint32_t> of_name;
  std::vector<std::string> texts;
};

SequenceLabels labels_of(Workload& workload, bool by_op) {
  std::vector<std::pair<std::string, std::uint32_t>> names;
  Statement rows(workload.index().database(), "SELECT id, short_name FROM kernel_name");
  while (rows.step()) {
    const std::uint32_t id = rows.id(0);
    names.emplace_back(by_op ? workload.classes().class_of(id) : rows.text(1), id);
  }
  std::ranges::sort(names);
  SequenceLabels labels;
  for (const auto& [text, id] : names) {
    if (labels.texts.empty() || labels.texts.back() != text) labels.texts.push_back(text);
    for_id(labels.of_name, id, kNoLabel) = static_cast<std::uint32_t>(labels.texts.size() - 1);
  }
  return labels;
}

}  // namespace

// In reading order: what a limit leaves must be a tree too.
void fill_call_tree(Workload& workload, const PassOptions& options, TableRows& rows) {
  const StackTimes times = stack_times(workload, options.frames);
  const std::vector<CallNode> nodes = nodes_of(times, options);
  std::int64_t all = times.passed_over.time;
  for (const PathTime& path : times.times) all = saturating_add(all, path.time);
  std::int64_t position = 0;
  const auto add = [&](const CallNode& node, std::string_view frame) {
    rows.add(++position, node.total, node.self, node.count, node.depth, frame, all);
    rows.add(std::max<std::int64_t>(node.instances, 1));
  };
  std::size_t most = options.most_frames;
  const auto add_rest = [&](const PathTime& rest, std::string_view name) {
    if (rest.count == 0) return;
    CallNode node;
    node.total = node.self = rest.time;
    node.count = rest.count;
    add(node, name);
    if (most > 1) --most;
  };
  add_rest(times.times[0], kNoStack);
  add_rest(times.passed_over, passed_over_text(options.frames.which));
  if (options.view == CallTreeView::kFlat) most = 0;  // no tree: the rows of the largest self time stay first
  for (const std::uint32_t id : largest_first(nodes, most)) add(nodes[id], times.frames[nodes[id].frame]);
}

void fill_sequences(Workload& workload, const PassOptions& options, TableRows& rows) {
  const EventColumns& kernels = workload.events().kernels;
  const EventFilter filter = workload.filter();
  const SequenceLabels labels = labels_of(workload, options.sequences_by_op);
  const auto dur = kernels.int64s("dur");
  const auto name = kernels.ids("name_id");
  LargeVector<std::uint32_t> label(kernels.size(), kNoLabel);
  std::int64_t all = 0;
  for (std::size_t i = 0; i < label.size(); ++i) {
    if (!filter.keeps_kernel(i) || name[i] >= labels.of_name.size()) continue;
    label[i] = labels.of_name[name[i]];
    all = saturating_add(all, std::max<std::int64_t>(dur[i], 0));
  }
  std::int64_t position = 0;
  const LabelledKernels labelled{dur, kernels.ids("stream_id"), label};
  for (const SequenceStats& found : find_sequences(labelled, options.sequence_length, options.sequence_least)) {
    std::string text;
    for (const std::uint32_t one : found.labels) {
      const std::string& written = labels.texts[one];
      text += (text.empty() ? "" : " > ") + (options.sequence_name ? options.sequence_name(written) : written);
    }
    rows.add(++position, found.count, found.total, found.min, found.max, text, all);
  }
}

}  // namespace tracedb
