#include "passes/layers/module_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text/amounts.h"
#include "base/text/numbered_texts.h"
#include "base/text/split.h"
#include "base/unknown.h"
#include "trace/python_frame.h"

namespace tracedb {
namespace {

using Frame = std::uint32_t;

// A layer: its module, with those that do nothing but wrap it.
struct ModuleLayer {
  std::uint32_t first_kernel = UINT32_MAX;
  std::vector<Frame> frames;
  std::uint32_t kind = 0;  // of the innermost of those
};

struct ModuleStack {
  std::vector<ModuleLayer> layers;
  std::string name;
  std::vector<Frame> path;  // modules around, outermost first
};

struct Child {
  Frame frame = 0;
  const ModuleUse* call = nullptr;
};

// Children of one class.
struct Siblings {
  std::uint32_t kind = 0;
  std::int64_t time = 0;
  std::vector<Child> members;
};

class Chooser {
 public:
  Chooser(const Modules& modules, const ModuleCalls& calls, bool traits_known)
      : modules_(modules), traits_known_(traits_known) {
    for (const auto& [frames, call] : calls) {
      children_[frames.first].push_back({frames.second, &call});
      if (frames.first == 0) all_ = saturating_add(all_, call.time);
    }
    for (auto& [outer, of_one] : children_) {
      std::ranges::sort(of_one, {}, [](const Child& child) { return child.call->first_kernel; });
    }
  }

  std::vector<ModuleStack> choose() {
    visit(0);
    name_apart();
    std::ranges::stable_sort(out_, [](const ModuleStack& a, const ModuleStack& b) {
      return a.layers.front().first_kernel < b.layers.front().first_kernel;
    });
    return std::move(out_);
  }

 private:
  [[nodiscard]] const std::vector<Child>& children(Frame frame) const {
    static const std::vector<Child> kNone;
    const auto found = children_.find(frame);
    return found == children_.end() ? kNone : found->second;
  }
  [[nodiscard]] std::uint32_t kind(Frame frame) const { return modules_.by_frame.at(frame).kind; }

  // Each module once, from where it is called first.
  void visit(Frame outer) {
    if (!visited_.insert(outer).second) return;
    path_.push_back(outer);
    std::set<std::uint32_t> layers;
    std::vector<Siblings> chosen;
    for (Siblings& each : repeated(outer)) {
      if (!is_stack(each) || holds_stacks(each)) continue;
      layers.insert(each.kind);
      chosen.push_back(std::move(each));
    }
    add_stacks(chosen);
    for (const Child& child : children(outer)) {
      if (!layers.contains(kind(child.frame))) visit(child.frame);
    }
    path_.pop_back();
  }

  [[nodiscard]] std::vector<Siblings> repeated(Frame outer) const {
    std::vector<Siblings> all;
    for (const Child& child : children(outer)) {
      if (in_layer_.contains(child.frame)) continue;
      auto found = std::ranges::find_if(all, [&](const Siblings& s) { return s.kind == kind(child.frame); });
      if (found == all.end()) found = all.insert(all.end(), {kind(child.frame), 0, {}});
      found->time = saturating_add(found->time, child.call->time);
      found->members.push_back(child);
    }
    std::erase_if(all, [&](const Siblings& each) { return each.members.size() < 2 || are_lone(each); });
    return all;
  }

  // Single operations: norms, products, embeddings. A block that was compiled has no modules inside either, but does
  // more.
  [[nodiscard]] bool are_lone(const Siblings& siblings) const {
    return std::ranges::all_of(siblings.members, [&](const Child& child) {
      if (!children(child.frame).empty()) return false;
      const Traits traits = child.call->traits;
      const bool mixes = (traits & (kMixerTraits | kSoftmaxTrait)) != 0;
      const bool multiplies = (traits & (kGemmTrait | kConvolutionTrait)) != 0;
      return !(mixes && multiplies) && !(multiplies && (traits & kNormTrait) != 0);
    });
  }

  [[nodiscard]] bool is_stack(const Siblings& siblings) const {
    const auto mixing = std::ranges::count_if(siblings.members, [&](const Child& child) {
      return (child.call->traits & (kMixerTraits | kSoftmaxTrait)) != 0;
    });
    constexpr std::int64_t kMuch = 20;  // a twentieth
    return static_cast<std::size_t>(mixing) * 2 >= siblings.members.size() || siblings.time >= all_ / kMuch ||
           !traits_known_;
  }

  // Whether the siblings are few, and each calls many of one class in turn.
  [[nodiscard]] bool holds_stacks(const Siblings& siblings) const {
    constexpr std::size_t kFew = 3;
    if (siblings.members.size() > kFew) return false;
    std::int64_t inner = 0;
    std::size_t count = 0;
    for (const Child& member : siblings.members) {
      for (const Siblings& below : repeated(wrapped(member).back().frame)) {
        inner = saturating_add(inner, below.time);
        count += below.members.size();
      }
    }
    return inner >= siblings.time / 5 * 4 && count >= 2 * siblings.members.size() * siblings.members.size();
  }

  // A module and what it wraps: modules that are called alone and do all the work.
  [[nodiscard]] std::vector<Child> wrapped(Child child) const {
    std::vector<Child> out = {child};
    constexpr std::size_t kDeepest = 8;
    while (out.size() < kDeepest) {
      const std::vector<Child>& inside = children(out.back().frame);
      if (inside.size() != 1 || children(inside[0].frame).empty()) break;
      if (inside[0].call->time < out.back().call->time / 20 * 19) break;
      out.push_back(inside[0]);
    }
    return out;
  }

  // Classes that follow each other are a stack each; those that take turns, one.
  void add_stacks(const std::vector<Siblings>& chosen) {
    std::vector<ModuleLayer> layers;
    for (const Siblings& siblings : chosen) {
      for (const Child& member : siblings.members) layers.push_back(layer_of(member));
    }
    std::ranges::sort(layers, {}, &ModuleLayer::first_kernel);
    std::size_t changes = 0;
    for (std::size_t i = 1; i < layers.size(); ++i) changes += layers[i].kind != layers[i - 1].kind ? 1 : 0;
    const bool turns = changes + 1 > chosen.size();
    for (std::size_t i = 0; i < layers.size();) {
      std::size_t end = i + 1;
      while (end < layers.size() && (turns || layers[end].kind == layers[i].kind)) ++end;
      ModuleStack stack;
      stack.path = path_;
      for (; i < end; ++i) stack.layers.push_back(std::move(layers[i]));
      stack.name = kinds_of(stack.layers);
      out_.push_back(std::move(stack));
    }
  }

  ModuleLayer layer_of(const Child& member) {
    ModuleLayer layer{member.call->first_kernel, {}, 0};
    for (const Child& each : wrapped(member)) {
      layer.frames.push_back(each.frame);
      layer.kind = kind(each.frame);
      in_layer_.insert(each.frame);
    }
    return layer;
  }

  [[nodiscard]] std::string kinds_of(const std::vector<ModuleLayer>& layers) const {
    std::vector<std::uint32_t> kinds;
    std::string text;
    for (const ModuleLayer& layer : layers) {
      if (std::ranges::find(kinds, layer.kind) != kinds.end()) continue;
      kinds.push_back(layer.kind);
      text += (text.empty() ? "" : "+") + modules_.kinds[layer.kind];
    }
    return text;
  }

  // Stacks of one class are told apart by the outermost modules around them that differ.
  void name_apart() {
    std::map<std::string, std::vector<std::size_t>> by_name;
    for (std::size_t i = 0; i < out_.size(); ++i) by_name[out_[i].name].push_back(i);
    for (const auto& [name, places] : by_name) {
      if (places.size() < 2) continue;
      const std::vector<std::string> around = distinct_modules(places);
      for (std::size_t i = 0; i < places.size(); ++i) out_[places[i]].name = around[i] + "." + name;
    }
  }

  [[nodiscard]] std::vector<std::string> distinct_modules(const std::vector<std::size_t>& places) const {
    std::size_t depth = SIZE_MAX;
    for (const std::size_t place : places) depth = std::min(depth, out_[place].path.size());
    for (const bool by_kind : {true, false}) {
      for (std::size_t d = 1; d < depth; ++d) {  // the first is the trace
        std::vector<std::string> names;
        for (const std::size_t place : places) {
          const Module& module = modules_.by_frame.at(out_[place].path[d]);
          names.push_back(by_kind ? modules_.kinds[module.kind] : module.name);
        }
        if (std::set<std::string>(names.begin(), names.end()).size() == names.size()) return names;
      }
    }
    std::vector<std::string> names;
    for (std::size_t i = 0; i < places.size(); ++i) names.push_back(std::to_string(i + 1));
    return names;
  }

  const Modules& modules_;
  const bool traits_known_;
  std::map<Frame, std::vector<Child>> children_;  // by outer module, in the order of their first kernels
  std::int64_t all_ = 0;                          // time in modules
  std::set<Frame> visited_, in_layer_;
  std::vector<Frame> path_;
  std::vector<ModuleStack> out_;
};

std::string text_of(const std::vector<ModuleStack>& stacks, const Modules& modules) {
  std::string text;
  for (const ModuleStack& stack : stacks) {
    const Frame holder = stack.path.back();
    text += fmt::format("{}{} {} in {}", text.empty() ? "" : ", ", counted(stack.layers.size(), "module"), stack.name,
                        holder == 0 ? "the trace" : modules.by_frame.at(holder).name);
  }
  return text;
}

// A layer inside another one is part of it.
std::vector<std::int32_t> layers_of_stacks(const ModuleTrie& trie,
                                           const std::unordered_map<Frame, std::int32_t>& layer_of_frame) {
  std::vector<std::int32_t> of_stack(trie.size(), -1);
  for (std::uint32_t stack = 1; stack < trie.size(); ++stack) {
    const std::uint32_t module = trie.module_at(stack);
    if (module == 0) continue;
    if (module != stack) {  // a parent comes before its children
      of_stack[stack] = of_stack[module];
      continue;
    }
    const std::uint32_t outer = trie.around(module);
    of_stack[stack] = outer == 0 ? -1 : of_stack[outer];
    const auto layer = layer_of_frame.find(trie.frame(module));
    if (of_stack[stack] < 0 && layer != layer_of_frame.end()) of_stack[stack] = layer->second;
  }
  return of_stack;
}

}  // namespace

ModuleLayers module_layers(const Index& index, const StackUse& use) {
  ModuleLayers out;
  const Modules modules = read_modules(index);
  if (modules.by_frame.size() < 2) return out;
  const ModuleTrie trie(index, modules);
  const ModuleCalls calls = trie.calls(use);
  const std::vector<ModuleStack> stacks = Chooser(modules, calls, !use.traits.empty()).choose();
  if (stacks.empty()) return out;
  std::unordered_map<Frame, std::int32_t> layer_of_frame;
  std::int32_t next = 0;
  for (const ModuleStack& stack : stacks) {
    out.stacks.push_back({stack.name, next, static_cast<std::int32_t>(stack.layers.size()), 1});
    for (const ModuleLayer& layer : stack.layers) {
      for (const Frame frame : layer.frames) layer_of_frame.emplace(frame, next);
      ++next;
    }
  }
  out.text = text_of(stacks, modules);
  out.of_stack = layers_of_stacks(trie, layer_of_frame);
  return out;
}

Modules read_modules(const Index& index) {
  Modules modules;
  NumberedTexts kinds;
  Statement rows(index.database(),
                 "SELECT f.id, s.value FROM frame f JOIN string s ON s.id = f.name_id WHERE s.value >= 'nn.Module: ' "
                 "AND s.value < 'nn.Module:!' ORDER BY f.id");
  while (rows.step()) {
    const std::string_view name = rows.text(1).substr(kModuleFrame.size());
    modules.by_frame[rows.id(0)] = {std::string(name), kinds.number(std::string(without_number(name)))};
  }
  modules.kinds = kinds.all();
  return modules;
}

ModuleTrie::ModuleTrie(const Index& index, const Modules& modules)
    : stacks_(index, "stack", {"parent_id", "frame_id"}) {
  const auto parents = stacks_.ids("parent_id");
  const auto frames = stacks_.ids("frame_id");
  std::vector<bool> is_module;
  for (const auto& [frame, module] : modules.by_frame) for_id(is_module, frame) = true;
  innermost_.resize(stacks_.size() + 1, 0);
  for (std::size_t i = 0; i < stacks_.size(); ++i) {
    const bool sound = parents[i] <= i;  // a parent comes before its children
    innermost_[i + 1] = has_id(is_module, frames[i]) ? static_cast<std::uint32_t>(i + 1)
                        : sound                      ? innermost_[parents[i]]
                                                     : 0;
  }
}

std::uint32_t ModuleTrie::around(std::uint32_t module) const {
  const std::uint32_t parent = stacks_.ids("parent_id")[module - 1];
  return parent < module ? innermost_[parent] : 0;
}

std::uint32_t ModuleTrie::frame(std::uint32_t module) const {
  return module == 0 ? 0 : stacks_.ids("frame_id")[module - 1];
}

ModuleCalls ModuleTrie::calls(const StackUse& use) const {
  std::vector<ModuleUse> below(size());  // by module, itself included
  const auto add = [](ModuleUse& to, const ModuleUse& from) {
    to.time = saturating_add(to.time, from.time);
    to.first_kernel = std::min(to.first_kernel, from.first_kernel);
    to.traits |= from.traits;
  };
  for (std::uint32_t stack = 1; stack < size() && stack < use.time.size(); ++stack) {
    if (use.first_kernel[stack] == 0 || innermost_[stack] == 0) continue;
    add(below[innermost_[stack]],
        {use.time[stack], use.first_kernel[stack], stack < use.traits.size() ? use.traits[stack] : 0});
  }
  ModuleCalls calls;
  for (auto module = static_cast<std::uint32_t>(size()); module-- > 1;) {  // children before their parents
    if (below[module].first_kernel == UINT32_MAX) continue;
    const std::uint32_t outer = around(module);
    add(calls[{frame(outer), frame(module)}], below[module]);
    if (outer != 0) add(below[outer], below[module]);
  }
  return calls;
}

}  // namespace tracedb
