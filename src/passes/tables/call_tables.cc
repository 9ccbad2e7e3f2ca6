// Calls of nn.Modules: their time on the host and that of the device work below them, by class, by path, and by the
// operators that launched it. Linear but for the order of rows.
#include <optional>

#include "base/dense_index.h"
#include "base/unknown.h"
#include "index/packed_columns.h"
#include "passes/stacks/stack_times.h"
#include "passes/tables/pass_tables.h"
#include "trace/python_frame.h"
#include "trace/step_grammar.h"

namespace tracedb {
namespace {

struct ModuleNode {
  std::uint32_t parent = kNoNode, frame = kNoFrame, depth = 0;
  std::uint32_t group = 0;  // row
  bool is_nested = false;   // below another node of its group
};

struct ModuleSums : DeviceSums {
  std::int64_t calls = 0, host_total = 0, host_self = 0, device_self = 0;
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

void add_calls(const Index& index, const ModulePaths& paths, std::vector<ModuleSums>& sums) {
  BlockReader calls(index.database(), "python_call", packed_table("python_call")->columns);
  while (calls.next()) {
    const auto dur = calls.numbers(1);
    const auto stacks = calls.ids(3);
    for (std::size_t i = 0; i < dur.size(); ++i) {
      if (stacks[i] >= paths.of_stack.size() || paths.stacks.stacks[stacks[i]].frame == kNoFrame) continue;
      const ModuleNode& node = paths.nodes[paths.of_stack[stacks[i]]];
      const std::int64_t time = duration_or_zero(dur[i]);
      ModuleSums& own = sums[node.group];
      ++own.calls;
      own.host_self = saturating_add(own.host_self, time);
      if (!node.is_nested) own.host_total = saturating_add(own.host_total, time);
      if (node.parent == kNoNode) continue;
      ModuleSums& outer = sums[paths.nodes[node.parent].group];
      outer.host_self = saturating_add(outer.host_self, -time);
    }
  }
}

std::vector<ModuleSums> sums_of(Workload& workload, EventModules& modules) {
  const ModulePaths& paths = modules.paths;
  std::vector<ModuleSums> sums(paths.groups + 2);
  for_each_selected(workload, [&](const DeviceEvent& event) {
    std::uint32_t node = modules.node(event);
    ModuleSums& own = sums[modules.group(node, event)];
    own.device_self = saturating_add(own.device_self, event.end - event.ts);
    if (node == kNoNode) own.add(event);
    for (; node != kNoNode; node = paths.nodes[node].parent) {
      if (!paths.nodes[node].is_nested) sums[paths.nodes[node].group].add(event);
    }
  });
  add_calls(workload.index(), paths, sums);
  return sums;
}

// Siblings by device time, then time on the host.
std::vector<std::uint32_t> order_of(const ModulePaths& paths, const std::vector<ModuleSums>& sums) {
  std::vector<std::uint32_t> parents;
  for (const ModuleNode& node : paths.nodes) parents.push_back(node.parent);
  return tree_order(parents, [&](std::uint32_t id) { return std::pair(sums[id].total, sums[id].host_total); });
}

template <bool kTree>
void fill_modules(Workload& workload, const PassOptions& options, TableRows& rows) {
  EventModules modules(workload, !kTree, options.follow_backward);
  const ModulePaths& paths = modules.paths;
  const std::vector<ModuleSums> sums = sums_of(workload, modules);
  const bool all = workload.filter().keeps_all();  // calls do not know what the selection is about
  std::int64_t position = 0;
  const auto add = [&](std::string_view name, const ModuleNode& node, const ModuleSums& own, bool is_module) {
    if (own.calls == 0 && own.total == 0 && own.kernels == 0) return;
    // What ran without a call was called unseen, as by XLA.
    const auto of_host = [&](std::int64_t value) {
      return all && is_module && own.calls > 0 ? std::optional(value) : std::nullopt;
    };
    rows.add(++position).add(name).add(std::int64_t{node.depth});
    rows.add(of_host(own.calls)).add(of_host(own.host_total)).add(of_host(own.host_self));
    rows.add(own.total).add(own.device_self).add(own.busy).add(own.kernels);
  };
  if constexpr (kTree) {
    for (const std::uint32_t id : order_of(paths, sums))
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
    rows.add(name_of.of(group.name).value_or("[no operator]"));
    const std::size_t classes = modules.paths.groups;
    rows.add(group.module < classes ? std::string_view(modules.paths.stacks.frames[group.module])
                                    : (group.module == classes ? kNoModule : kNoStack));
    rows.add(group.name == 0 ? std::nullopt : std::optional(group.calls));
    rows.add(group.total).add(group.busy).add(group.kernels);
  }
}

}  // namespace

std::vector<PassTable> module_tables() {
  return {declared_table("modules", fill_modules<false>), declared_table("module_tree", fill_modules<true>),
          declared_table("operator_modules", fill_operator_modules)};
}

}  // namespace tracedb
