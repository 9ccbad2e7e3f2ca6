// Kernel time of a step by Python stack, of the user's and the framework's own code, or by module; both sides in one
// tree.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/unknown.h"
#include "passes/stacks/stack_times.h"
#include "report_page/html/safe_text.h"
#include "report_page/pictures/picture.h"
#include "trace/python_frame.h"

namespace tracedb {
namespace {

constexpr std::size_t kMostNodes = 1500;
constexpr double kLeastShare = 0.0005;  // of the root: smaller nodes are summed up
constexpr double kLeastKnown = 0.1;     // of the time has a path, or the picture tells nothing

// What a path is made of.
struct FlameBy {
  Frames frames;
  std::string_view id, by, title, note;
};
constexpr FlameBy kByPython = {Frames::kOwn, "flame", "python", "by Python stack",
                               "The user's and the framework's own frames"};
constexpr FlameBy kByModule = {Frames::kModuleClasses, "modules", "module", "by module",
                               "Classes of nn.Module, as they call each other; layers of one class are together"};

struct FlameNode {
  std::uint32_t parent = 0;
  std::string name;
  std::int64_t self[2] = {0, 0};  // sums over the group
  double weight = 0;              // ns per unit, of all sides, with what is below
};

// Parents before children; node 0 is the root.
class FlameTree {
 public:
  FlameTree() { nodes_.push_back({0, "all kernels", {0, 0}, 0}); }

  std::uint32_t child(std::uint32_t parent, const std::string& name) {
    const auto [entry, is_new] = children_.try_emplace({parent, name}, static_cast<std::uint32_t>(nodes_.size()));
    if (is_new) nodes_.push_back({parent, name, {0, 0}, 0});
    return entry->second;
  }
  void add(std::uint32_t node, std::size_t side, std::int64_t time) {
    nodes_[node].self[side] = saturating_add(nodes_[node].self[side], time);
  }

  [[nodiscard]] std::int64_t total(std::size_t side) const {
    std::int64_t sum = 0;
    for (const FlameNode& node : nodes_) sum = saturating_add(sum, node.self[side]);
    return sum;
  }

  // Those beyond the most, and those that are next to nothing, become one child of their parents.
  std::vector<FlameNode> cut(const std::vector<std::int64_t>& units) {
    weigh(units);
    std::vector<std::uint32_t> order(nodes_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, std::ranges::greater(), [&](std::uint32_t node) { return nodes_[node].weight; });
    std::vector<bool> kept(nodes_.size(), false);
    for (std::size_t i = 0; i < std::min(order.size(), kMostNodes); ++i) {
      kept[order[i]] = order[i] == 0 || nodes_[order[i]].weight >= kLeastShare * nodes_[0].weight;
    }
    return rebuilt(kept);
  }

 private:
  void weigh(const std::vector<std::int64_t>& units) {
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      FlameNode& node = nodes_[i];
      for (std::size_t side = 0; side < units.size(); ++side) {
        node.weight += static_cast<double>(node.self[side]) / static_cast<double>(units[side]);
      }
      if (i > 0) nodes_[node.parent].weight += node.weight;
    }
  }

  // A kept node's parent weighs at least as much, but among equal ones it may be left out: then so is the node.
  std::vector<FlameNode> rebuilt(std::vector<bool>& kept) {
    FlameTree out;
    std::vector<std::uint32_t> place(nodes_.size(), 0);
    for (std::uint32_t i = 1; i < nodes_.size(); ++i) {
      const FlameNode& node = nodes_[i];
      const bool folded = !kept[node.parent];  // its parent is part of a node already
      kept[i] = kept[i] && !folded;
      place[i] = kept[i]  ? out.child(place[node.parent], node.name)
                 : folded ? place[node.parent]
                          : out.child(place[node.parent], "(smaller)");
    }
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      for (std::size_t side = 0; side < 2; ++side) out.add(place[i], side, nodes_[i].self[side]);
    }
    return std::move(out.nodes_);
  }

  std::vector<FlameNode> nodes_;
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> children_;
};

// By stack id, the time of the kernels of a group's side; element 0: kernels without a stack.
std::vector<std::int64_t> times_by_stack(const PictureGroupSide& side, std::size_t stacks) {
  const auto stack = side.trace.events.kernels.ids("stack_id");
  const auto dur = side.trace.events.kernels.int64s("dur");
  std::vector<std::int64_t> out(stacks + 1);
  for (const std::uint32_t number : side.steps.device_steps) {
    for (const std::uint32_t row : side.trace.work.kernels(side.trace.work.steps[number])) {
      std::int64_t& time = out[stack[row] <= stacks ? stack[row] : 0];
      time = saturating_add(time, duration_or_zero(dur[row]));
    }
  }
  return out;
}

std::size_t stacks_of(const StackPaths& paths, std::size_t side) {
  const std::size_t end = side + 1 < paths.first.size() ? paths.first[side + 1] : paths.stacks.size() - 1;
  return end - paths.first[side];
}

// Adds the kernels of one side, `joined` with those of another: without the lines of frames. The time of those that
// have a frame.
double grow(FlameTree& tree, const StackPaths& paths, const PictureGroupSide& of, std::size_t side, bool joined,
            const FlameBy& by) {
  const std::vector<std::int64_t> times = times_by_stack(of, stacks_of(paths, side));
  std::vector<std::uint32_t> node(times.size(), 0);
  double known = 0;
  if (times[0] > 0) tree.add(tree.child(0, std::string(kNoStack)), side, times[0]);
  for (std::size_t id = 1; id < times.size(); ++id) {
    const StackEntry& entry = paths.stacks[paths.first[side] + id];
    const std::uint32_t above = entry.parent == 0 ? 0 : node[entry.parent - paths.first[side]];
    const std::string& frame = paths.frames[entry.frame];
    node[id] = entry.frame == kNoFrame ? above : tree.child(above, joined ? without_line(frame) : frame);
    if (times[id] == 0) continue;
    if (node[id] != 0) known += static_cast<double>(times[id]);
    tree.add(node[id] == 0 ? tree.child(0, std::string(passed_over_text(by.frames))) : node[id], side, times[id]);
  }
  return known;
}

std::optional<Picture> flame(const PictureInput& in, const GroupComparison& group, const StackPaths& paths,
                             const FlameBy& by) {
  const std::vector<PictureGroupSide> sides = sides_of(in, group);
  FlameTree tree;
  std::vector<std::int64_t> units;
  double known = 0, all = 0;
  for (std::size_t side = 0; side < sides.size(); ++side) {
    units.push_back(sides[side].units);
    known += grow(tree, paths, sides[side], side, in.compares(), by);
    all += static_cast<double>(tree.total(side));
  }
  if (known < kLeastKnown * all || known == 0) return std::nullopt;
  std::vector<SharedOut> shares;
  for (const std::int64_t unit : units) shares.emplace_back(unit);
  NameList names;
  std::vector<std::int64_t> cut(units.size(), 0);
  DataWriter data;
  data.member("by", by.by).member("unit", "ns").member("phase", phase_of(group)).key("nodes").open('[');
  for (const FlameNode& node : tree.cut(units)) {
    data.open('[').value(node.parent).value(names.index_of(node.name));
    for (std::size_t side = 0; side < units.size(); ++side) {
      const std::int64_t time = shares[side].next(node.self[side]);
      if (node.name == "(smaller)") cut[side] += time;
      data.value(time);
    }
    data.close(']');
  }
  data.close(']').member("names", names.names()).member("cut_ns", cut);
  return Picture{id_of(by.id, group), "flame", fmt::format("Kernel time of {} {}", unit_words(in, group), by.title),
                 fmt::format("{}; paths below 0.05 % are in (smaller).", by.note), data.take()};
}

Pictures flames_of(const PictureInput& in, const FlameBy& by) {
  const StackPaths paths = stack_paths(in.indexes, {by.frames, {}});
  if (paths.stacks.size() < 2) return {};
  return of_groups(in, [&](const GroupComparison& group) { return flame(in, group, paths, by); });
}

}  // namespace

Pictures flames(const PictureInput& in) { return flames_of(in, kByPython); }

Pictures module_flames(const PictureInput& in) { return flames_of(in, kByModule); }

}  // namespace tracedb
