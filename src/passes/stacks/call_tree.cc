#include "passes/stacks/call_tree.h"

#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/unknown.h"

namespace tracedb {
namespace {

// Which instances a node was met with.
class Instances {
 public:
  bool is_new(std::size_t node, std::uint32_t instance) {
    return instance != kNoFrame && seen_.insert(std::uint64_t{node} << 32U | instance).second;
  }

 private:
  std::unordered_set<std::uint64_t> seen_;
};

// A tree under construction, in the order nodes were first met.
class TreeBuilder {
 public:
  std::uint32_t child(std::uint32_t parent, const StackEntry& called) {
    const std::uint32_t frame = called.frame;
    const std::uint64_t key = std::uint64_t{parent} << 32U | frame;
    const auto [entry, is_new] = ids_.try_emplace(key, static_cast<std::uint32_t>(nodes_.size()));
    if (is_new) {
      CallNode node;
      node.parent = parent;
      node.frame = frame;
      node.depth = parent == kNoNode ? 0 : nodes_[parent].depth + 1;
      nodes_.push_back(node);
    }
    if (instances_.is_new(entry->second, called.instance)) ++nodes_[entry->second].instances;
    return entry->second;
  }
  void end_at(std::uint32_t id, const PathTime& time) {
    CallNode& node = nodes_[id];
    node.self = saturating_add(node.self, time.time);
    node.self_count += time.count;
  }
  // Totals, then the reader's order.
  std::vector<CallNode> finish();

 private:
  std::vector<CallNode> nodes_;
  std::unordered_map<std::uint64_t, std::uint32_t> ids_;
  Instances instances_;
};

// Of siblings of one total, those of the smaller frame come first.
std::vector<std::uint32_t> reading_order(std::span<const CallNode> nodes) {
  std::vector<std::uint32_t> parents;
  for (const CallNode& node : nodes) parents.push_back(node.parent);
  return tree_order(parents, [&](std::uint32_t id) { return std::pair(nodes[id].total, ~nodes[id].frame); });
}

// The nodes in `order`, which has parents before children; parents that are left out are passed over.
std::vector<CallNode> rearranged(std::span<const CallNode> nodes, std::span<const std::uint32_t> order) {
  std::vector<std::uint32_t> place(nodes.size(), kNoNode);
  std::vector<CallNode> out;
  for (const std::uint32_t id : order) {
    CallNode node = nodes[id];
    while (node.parent != kNoNode && place[node.parent] == kNoNode) node.parent = nodes[node.parent].parent;
    if (node.parent != kNoNode) node.parent = place[node.parent];
    node.depth = node.parent == kNoNode ? 0 : out[node.parent].depth + 1;
    place[id] = static_cast<std::uint32_t>(out.size());
    out.push_back(node);
  }
  return out;
}

std::vector<CallNode> TreeBuilder::finish() {
  for (CallNode& node : nodes_) {
    node.total = node.self;
    node.count = node.self_count;
  }
  for (std::size_t id = nodes_.size(); id-- > 0;) {
    if (nodes_[id].parent == kNoNode) continue;
    CallNode& parent = nodes_[nodes_[id].parent];
    parent.total = saturating_add(parent.total, nodes_[id].total);
    parent.count += nodes_[id].count;
  }
  return rearranged(nodes_, reading_order(nodes_));
}

bool has_something(const PathTime& time) { return time.count > 0 || time.time > 0; }

std::vector<CallNode> from_outside(std::span<const StackEntry> stacks, std::span<const PathTime> times) {
  std::vector<bool> needed(stacks.size(), false);
  for (std::size_t id = stacks.size(); id-- > 1;) {
    if (!needed[id] && !has_something(times[id])) continue;
    needed[id] = true;
    needed[stacks[id].parent] = true;
  }
  TreeBuilder tree;
  std::vector<std::uint32_t> node(stacks.size(), kNoNode);
  for (std::size_t id = 1; id < stacks.size(); ++id) {
    if (!needed[id]) continue;
    const std::uint32_t above = node[stacks[id].parent];
    node[id] = stacks[id].frame == kNoFrame ? above : tree.child(above, stacks[id]);
    if (node[id] != kNoNode && has_something(times[id])) tree.end_at(node[id], times[id]);
  }
  return tree.finish();
}

std::vector<CallNode> from_inside(std::span<const StackEntry> stacks, std::span<const PathTime> times) {
  TreeBuilder tree;
  for (std::size_t id = 1; id < stacks.size(); ++id) {
    if (!has_something(times[id])) continue;
    std::uint32_t node = kNoNode;
    for (std::size_t at = id; at != 0; at = stacks[at].parent) {
      if (stacks[at].frame != kNoFrame) node = tree.child(node, stacks[at]);
    }
    if (node != kNoNode) tree.end_at(node, times[id]);
  }
  return tree.finish();
}

bool is_idle(const CallNode& node) { return node.self == 0 && node.self_count == 0; }

// Frames that are alike and got one parent by what is left out between them, such as the forward() of every layer: each
// gets the outermost frame left out before it, which differs, and stays itself only where it ran something.
void tell_apart(std::span<const CallNode> tree, std::vector<bool>& keep) {
  std::vector<std::uint32_t> top(tree.size());  // of what is left out right before a node; itself where nothing is
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> alike;  // by parent that stays, frame
  for (std::uint32_t id = 0; id < tree.size(); ++id) {
    const std::uint32_t parent = tree[id].parent;
    top[id] = parent == kNoNode || keep[parent] ? id : top[parent];
    if (keep[id]) alike[{tree[top[id]].parent, tree[id].frame}].push_back(id);
  }
  for (const auto& [place, nodes] : alike) {
    if (nodes.size() < 2) continue;
    for (const std::uint32_t id : nodes) {
      if (top[id] == id) continue;
      keep[top[id]] = true;
      if (is_idle(tree[id])) keep[id] = false;
    }
  }
}

}  // namespace

std::vector<CallNode> call_tree(std::span<const StackEntry> stacks, std::span<const PathTime> times, TreeSide side) {
  return side == TreeSide::kOutside ? from_outside(stacks, times) : from_inside(stacks, times);
}

std::vector<CallNode> flat_profile(std::span<const StackEntry> stacks, std::span<const PathTime> times) {
  std::unordered_map<std::uint32_t, std::size_t> places;
  std::vector<CallNode> out;
  std::vector<std::size_t> last_path;  // by place: the path that counted it last
  Instances instances;
  for (std::size_t id = 1; id < stacks.size(); ++id) {
    if (!has_something(times[id])) continue;
    bool innermost = true;
    for (std::size_t at = id; at != 0; at = stacks[at].parent) {
      if (stacks[at].frame == kNoFrame) continue;
      const auto [entry, is_new] = places.try_emplace(stacks[at].frame, out.size());
      if (is_new) {
        out.emplace_back().frame = stacks[at].frame;
        last_path.push_back(0);
      }
      CallNode& node = out[entry->second];
      if (instances.is_new(entry->second, stacks[at].instance)) ++node.instances;
      if (std::exchange(innermost, false)) {
        node.self = saturating_add(node.self, times[id].time);
        node.self_count += times[id].count;
      }
      if (std::exchange(last_path[entry->second], id) == id) continue;
      node.total = saturating_add(node.total, times[id].time);
      node.count += times[id].count;
    }
  }
  std::ranges::sort(out, [](const CallNode& a, const CallNode& b) {
    return std::tie(b.self, b.total, a.frame) < std::tie(a.self, a.total, b.frame);
  });
  return out;
}

std::vector<CallNode> without_chains(std::span<const CallNode> tree, TreeSide side) {
  std::vector<std::uint32_t> children(tree.size(), 0);
  for (const CallNode& node : tree) {
    if (node.parent != kNoNode) ++children[node.parent];
  }
  std::vector<bool> keep(tree.size());
  for (std::uint32_t id = 0; id < tree.size(); ++id) {
    const bool launched = side == TreeSide::kInside && tree[id].depth == 0;
    keep[id] = launched || !is_idle(tree[id]) || children[id] != 1;
  }
  tell_apart(tree, keep);
  std::vector<std::uint32_t> kept;
  for (std::uint32_t id = 0; id < tree.size(); ++id) {
    if (keep[id]) kept.push_back(id);
  }
  return rearranged(tree, kept);
}

std::vector<std::uint32_t> largest_first(std::span<const CallNode> tree, std::size_t most) {
  std::vector<std::uint32_t> order(tree.size());
  std::iota(order.begin(), order.end(), 0U);
  if (most == 0 || most >= tree.size()) return order;
  // No child is larger than its parent, and parents come first among equals: what is taken is a tree.
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) { return tree[a].total > tree[b].total; });
  const auto cut = order.begin() + static_cast<std::ptrdiff_t>(most);
  std::sort(order.begin(), cut);
  std::sort(cut, order.end());
  return order;
}

}  // namespace tracedb
