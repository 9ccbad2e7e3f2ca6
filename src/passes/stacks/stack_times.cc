#include "passes/stacks/stack_times.h"

#include <fnmatch.h>

#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/text/numbered_texts.h"
#include "base/text/split.h"
#include "base/unknown.h"
#include "passes/columns/event_columns.h"
#include "trace/event_names.h"
#include "trace/python_frame.h"

namespace tracedb {

namespace {

using Instances = std::unordered_set<std::uint64_t>;  // that nodes were met with

// Whether a node was not met with an instance before.
bool is_first_met(Instances& seen, std::size_t node, std::uint32_t instance) {
  return instance != kNoFrame && seen.insert(std::uint64_t{node} << 32U | instance).second;
}

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

bool has_something(const PathTime& time) { return time.count > 0 || time.time > 0; }

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
  std::vector<CallNode> nodes;  // parents before their children
  std::unordered_map<std::uint64_t, std::uint32_t> ids;
  Instances instances;
  std::vector<std::size_t> path;
  for (std::size_t id = 1; id < stacks.size(); ++id) {
    if (!has_something(times[id])) continue;
    path.clear();
    for (std::size_t at = id; at != 0; at = stacks[at].parent) {
      if (stacks[at].frame != kNoFrame) path.push_back(at);
    }
    if (side == TreeSide::kOutside) std::ranges::reverse(path);
    std::uint32_t own = kNoNode;
    for (const std::size_t at : path) {
      const std::uint32_t parent = own, frame = stacks[at].frame;
      own =
          ids.try_emplace(std::uint64_t{parent} << 32U | frame, static_cast<std::uint32_t>(nodes.size())).first->second;
      if (own == nodes.size()) nodes.push_back({parent, frame});
      CallNode& node = nodes[own];
      if (is_first_met(instances, own, stacks[at].instance)) ++node.instances;
      node.total = saturating_add(node.total, times[id].time);
      node.count += times[id].count;
    }
    if (own == kNoNode) continue;
    nodes[own].self = saturating_add(nodes[own].self, times[id].time);
    nodes[own].self_count += times[id].count;
  }
  return rearranged(nodes, reading_order(nodes));
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
      const auto [entry, is_first] = places.try_emplace(stacks[at].frame, out.size());
      if (is_first) {
        out.emplace_back().frame = stacks[at].frame;
        last_path.push_back(0);
      }
      CallNode& node = out[entry->second];
      if (is_first_met(instances, entry->second, stacks[at].instance)) ++node.instances;
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

namespace {

bool matches_own(const FrameChoice& choice, std::string_view frame) {
  if (choice.own.empty()) return frame_origin(frame) == FrameOrigin::kOwn;
  const std::string file(frame_label(frame).file);
  if (file.empty()) return false;
  const auto matches = [&](std::size_t at) {
    return std::ranges::any_of(
        choice.own, [&](const std::string& glob) { return ::fnmatch(glob.c_str(), file.c_str() + at, 0) == 0; });
  };
  for (std::size_t at = 0; !matches(at);) {
    const std::size_t slash = file.find('/', at);
    if (slash == std::string::npos) return false;
    at = slash + 1;
  }
  return true;
}

// How a frame is written; "": it is passed over.
std::string frame_text(const FrameChoice& choice, std::string_view frame) {
  const bool is_module = frame.starts_with(kModuleFrame);
  switch (choice.which) {
    case Frames::kAll:
      return without_addresses(frame);
    case Frames::kOwn:
      return matches_own(choice, frame) ? without_addresses(frame) : "";
    case Frames::kEachModule:
      return is_module ? std::string(frame) : "";
    case Frames::kModules: {
      if (!is_module) return "";
      const std::string_view of_class = without_number(frame);
      return of_class.size() == frame.size() ? std::string(frame) : std::string(of_class) + "_*";
    }
    case Frames::kModuleClasses:
      return is_module ? std::string(without_number(frame.substr(kModuleFrame.size()))) : "";
  }
  return "";
}

struct FrameNumber {
  std::uint32_t text = kNoFrame;      // kNoFrame: it is passed over
  std::uint32_t instance = kNoFrame;  // of the frame itself, among those with one text
};

// Appends the stacks of an index: its id i becomes place `stacks.size() - 1 + i`.
void read_stacks(const Index& index, const std::vector<FrameNumber>& frames, std::vector<StackEntry>& stacks) {
  const EventColumns columns(index, "stack", {"parent_id", "frame_id"});
  const auto parents = columns.ids("parent_id");
  const auto frame_ids = columns.ids("frame_id");
  const auto base = static_cast<std::uint32_t>(stacks.size() - 1);
  stacks.resize(stacks.size() + columns.size());
  for (std::uint32_t id = 1; id <= columns.size(); ++id) {
    StackEntry& own = stacks[base + id];
    // A parent that comes later is a damaged index; it must not send us in circles.
    own.parent = parents[id - 1] < id && parents[id - 1] != 0 ? base + parents[id - 1] : 0;
    if (frame_ids[id - 1] >= frames.size()) continue;
    own.frame = frames[frame_ids[id - 1]].text;
    own.instance = frames[frame_ids[id - 1]].instance;
  }
}

// By row of kernel: place among the stacks. Those of the capture come behind `base`.
std::vector<std::uint32_t> places_of_stacks(Workload& workload, std::uint32_t base, std::size_t all) {
  const auto own = workload.events().kernels.ids("stack_id");
  std::vector<std::uint32_t> out(own.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = own[i] <= base ? own[i] : 0;
  if (workload.capture() == nullptr) return out;
  const std::vector<std::uint32_t>& launcher = workload.origins().launcher;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (launcher[i] == 0) continue;
    const std::uint32_t other = workload.capture()->capture.launchers[launcher[i] - 1].stack;
    if (other != 0 && other < all - base) out[i] = base + other;
  }
  return out;
}

}  // namespace

std::string_view passed_over_text(Frames which) { return which == Frames::kOwn ? kNotOwn : kNoModule; }

StackPaths stack_paths(std::span<const Index* const> indexes, const FrameChoice& choice) {
  StackPaths out;
  NumberedTexts texts, instances;
  texts.number("");
  const bool has_instances = choice.which == Frames::kModules || choice.which == Frames::kModuleClasses;
  const auto number = [&](const Statement& row) {
    FrameNumber own;
    std::string text = frame_text(choice, row.text(1));
    if (text.empty()) return own;
    own.text = texts.number(std::move(text));
    if (has_instances) own.instance = instances.number(std::string(row.text(1))) + 1;
    return own;
  };
  out.stacks.resize(1);
  for (const Index* index : indexes) {
    out.first.push_back(static_cast<std::uint32_t>(out.stacks.size() - 1));
    const auto numbers = by_id<FrameNumber>(
        *index, "SELECT f.id, s.value FROM frame f JOIN string s ON s.id = f.name_id ORDER BY f.id", number);
    read_stacks(*index, numbers, out.stacks);
  }
  out.frames = texts.all();
  return out;
}

InnermostModules::InnermostModules(const Index& index)
    : paths_(stack_paths(std::vector<const Index*>{&index}, {Frames::kModuleClasses})), frames_(paths_.stacks.size()) {
  for (std::size_t id = 1; id < frames_.size(); ++id) {
    const StackEntry& entry = paths_.stacks[id];
    frames_[id] = entry.frame != kNoFrame ? entry.frame : frames_[entry.parent];
  }
}

StackTimes stack_times(Workload& workload, const FrameChoice& choice) {
  std::vector<const Index*> indexes = {&workload.index()};
  if (workload.capture() != nullptr) indexes.push_back(&workload.capture()->index);
  StackTimes out{stack_paths(indexes, choice), {}, {}};
  const std::uint32_t base = indexes.size() > 1 ? out.first.back() : static_cast<std::uint32_t>(out.stacks.size() - 1);
  // Paths none of whose frames is looked at.
  std::vector<bool> empty(out.stacks.size(), true);
  for (std::size_t id = 1; id < empty.size(); ++id) {
    empty[id] = out.stacks[id].frame == kNoFrame && empty[out.stacks[id].parent];
  }
  const EventFilter filter = workload.filter();
  const auto dur = workload.events().kernels.int64s("dur");
  const std::vector<std::uint32_t> stack = places_of_stacks(workload, base, out.stacks.size());
  out.times.resize(out.stacks.size());
  for (std::size_t i = 0; i < stack.size(); ++i) {
    if (!filter.keeps_kernel(i)) continue;
    PathTime& time = stack[i] != 0 && empty[stack[i]] ? out.passed_over : out.times[stack[i]];
    ++time.count;
    if (dur[i] != kUnknownValue) time.time = saturating_add(time.time, dur[i]);
  }
  return out;
}

}  // namespace tracedb
