#include "passes/module_layers.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <unordered_map>

#include "base/ascii.h"
#include "passes/event_columns.h"
#include "passes/group_stats.h"

namespace tracedb {
namespace {

constexpr std::string_view kModule = "nn.Module: ";

// A module frame: "nn.Module: Qwen2DecoderLayer_3" has kind "Qwen2DecoderLayer".
struct Module {
  std::string name;
  std::uint32_t kind = 0;
};

struct Modules {
  std::unordered_map<std::uint32_t, Module> by_frame;
  std::vector<std::string> kinds;
};

std::string_view kind_of(std::string_view name) {
  const std::size_t end = name.find_last_not_of("0123456789");
  if (end == std::string_view::npos || end + 1 == name.size() || name[end] != '_') return name;
  return name.substr(0, end);
}

Modules read_modules(const Index& index) {
  Modules modules;
  std::map<std::string, std::uint32_t, std::less<>> kinds;
  Statement rows(
      index.database(),
      "SELECT f.id, s.value FROM frame f JOIN string s ON s.id = f.name_id WHERE s.value >= 'nn.Module: ' AND "
      "s.value < 'nn.Module:!' AND f.id > 0 AND f.id < 134217728 ORDER BY f.id");
  while (rows.step()) {
    const std::string_view name = rows.text(1).substr(kModule.size());
    const auto [entry, is_new] = kinds.try_emplace(std::string(kind_of(name)), modules.kinds.size());
    if (is_new) modules.kinds.emplace_back(entry->first);
    modules.by_frame[static_cast<std::uint32_t>(rows.int64(0))] = {std::string(name), entry->second};
  }
  return modules;
}

// A module called from another one, frames of both; the outer one 0: none.
struct Call {
  std::int64_t time = 0;
  std::uint32_t first_kernel = UINT32_MAX;
};
using Calls = std::map<std::pair<std::uint32_t, std::uint32_t>, Call>;  // few: one for each module

class StackTrie {
 public:
  StackTrie(const Index& index, const Modules& modules) : stacks_(index, "stack", {"parent_id", "frame_id"}) {
    const auto parents = stacks_.ids("parent_id");
    const auto frames = stacks_.ids("frame_id");
    std::uint32_t largest = 0;
    for (const auto& [frame, module] : modules.by_frame) largest = std::max(largest, frame);
    std::vector<bool> is_module(std::size_t{largest} + 1);
    for (const auto& [frame, module] : modules.by_frame) is_module[frame] = true;
    innermost_.resize(stacks_.size() + 1, 0);
    for (std::size_t i = 0; i < stacks_.size(); ++i) {
      const bool sound = parents[i] <= i;  // a parent comes before its children
      innermost_[i + 1] = frames[i] <= largest && is_module[frames[i]] ? static_cast<std::uint32_t>(i + 1)
                          : sound                                      ? innermost_[parents[i]]
                                                                       : 0;
    }
  }

  [[nodiscard]] std::size_t size() const { return innermost_.size(); }
  // The innermost stack at or around one that ends in a module; 0: none.
  [[nodiscard]] std::uint32_t module_at(std::uint32_t stack) const { return stack < size() ? innermost_[stack] : 0; }
  [[nodiscard]] std::uint32_t around(std::uint32_t module) const {
    const std::uint32_t parent = stacks_.ids("parent_id")[module - 1];
    return parent < module ? innermost_[parent] : 0;
  }
  [[nodiscard]] std::uint32_t frame(std::uint32_t module) const {
    return module == 0 ? 0 : stacks_.ids("frame_id")[module - 1];
  }

  [[nodiscard]] Calls calls(const StackUse& use) const {
    // Time below each module, children before their parents.
    std::vector<std::int64_t> time(size(), 0);
    std::vector<std::uint32_t> first(size(), UINT32_MAX);
    for (std::uint32_t stack = 1; stack < size() && stack < use.time.size(); ++stack) {
      if (use.first_kernel[stack] == 0 || innermost_[stack] == 0) continue;
      const std::uint32_t module = innermost_[stack];
      time[module] = bounded_add(time[module], use.time[stack]);
      first[module] = std::min(first[module], use.first_kernel[stack]);
    }
    Calls calls;
    for (auto module = static_cast<std::uint32_t>(size()); module-- > 1;) {
      if (first[module] == UINT32_MAX) continue;
      const std::uint32_t outer = around(module);
      Call& call = calls[{frame(outer), frame(module)}];
      call.time = bounded_add(call.time, time[module]);
      call.first_kernel = std::min(call.first_kernel, first[module]);
      time[outer] = bounded_add(time[outer], time[module]);
      first[outer] = std::min(first[outer], first[module]);
    }
    return calls;
  }

 private:
  EventColumns stacks_;
  std::vector<std::uint32_t> innermost_;
};

// The children of one module that are of a kind it has several of.
struct Container {
  std::int64_t time = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> children;  // first kernel, frame
};

Container repeated_children(Calls::const_iterator begin, Calls::const_iterator end, const Modules& modules) {
  struct Kind {
    std::int64_t time = 0;
    std::size_t count = 0;
  };
  std::map<std::uint32_t, Kind> kinds;
  for (auto call = begin; call != end; ++call) {
    Kind& kind = kinds[modules.by_frame.at(call->first.second).kind];
    kind.time = bounded_add(kind.time, call->second.time);
    ++kind.count;
  }
  std::int64_t most = 0;
  for (const auto& [id, kind] : kinds) most = std::max(most, kind.count > 1 ? kind.time : 0);
  Container out;
  for (auto call = begin; call != end; ++call) {
    const Kind& kind = kinds[modules.by_frame.at(call->first.second).kind];
    constexpr std::int64_t kNegligible = 30;  // embeddings and dropouts beside the layers
    if (kind.count < 2 || kind.time < most / kNegligible) continue;
    out.time = bounded_add(out.time, call->second.time);
    out.children.emplace_back(call->second.first_kernel, call->first.second);
  }
  std::sort(out.children.begin(), out.children.end());
  return out;
}

}  // namespace

ModuleLayers module_layers(const Index& index, const StackUse& use) {
  ModuleLayers out;
  const Modules modules = read_modules(index);
  if (modules.by_frame.size() < 2) return out;
  const StackTrie trie(index, modules);
  const Calls calls = trie.calls(use);
  Container best;
  std::uint32_t holder = 0;
  for (auto begin = calls.begin(); begin != calls.end();) {
    const std::uint32_t outer = begin->first.first;
    const auto end = calls.lower_bound({outer + 1, 0});
    Container found = repeated_children(begin, outer == UINT32_MAX ? calls.end() : end, modules);
    if (found.children.size() > 1 && found.time > best.time) best = std::move(found), holder = outer;
    begin = outer == UINT32_MAX ? calls.end() : end;
  }
  if (best.children.empty()) return out;
  std::unordered_map<std::uint32_t, std::int32_t> layer_of_frame;
  std::vector<std::uint32_t> kinds;
  for (const auto& [first_kernel, frame] : best.children) {
    layer_of_frame.emplace(frame, static_cast<std::int32_t>(layer_of_frame.size()));
    const std::uint32_t kind = modules.by_frame.at(frame).kind;
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
  }
  for (const std::uint32_t kind : kinds) out.kinds += (out.kinds.empty() ? "" : ", ") + modules.kinds[kind];
  out.layers = layer_of_frame.size();
  out.container = holder == 0 ? "the trace" : modules.by_frame.at(holder).name;
  out.of_stack.resize(trie.size(), -1);
  for (std::uint32_t stack = 1; stack < trie.size(); ++stack) {
    const std::uint32_t module = trie.module_at(stack);
    if (module == 0) continue;
    if (module != stack) {  // a parent comes before its children
      out.of_stack[stack] = out.of_stack[module];
      continue;
    }
    const std::uint32_t outer = trie.around(module);
    const auto layer = layer_of_frame.find(trie.frame(module));
    const bool is_layer = layer != layer_of_frame.end() && trie.frame(outer) == holder;
    out.of_stack[stack] = is_layer ? layer->second : outer == 0 ? -1 : out.of_stack[outer];
  }
  return out;
}

std::optional<std::int32_t> layer_number(std::string_view name) {
  const std::string text = ascii_lower(name);
  for (const std::string_view word : {"layers", "layer", "blocks", "block", ".h"}) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
      std::size_t begin = at + word.size();
      if (begin < text.size() && std::string_view("._ #:[/").find(text[begin]) != std::string_view::npos) ++begin;
      std::int32_t number = 0;
      const auto end = std::from_chars(text.data() + begin, text.data() + text.size(), number);
      const bool ends =
          end.ptr == text.data() + text.size() || std::string_view("._ #:]/)").find(*end.ptr) != std::string_view::npos;
      constexpr std::int32_t kMost = 10000;
      if (end.ec == std::errc{} && ends && number >= 0 && number < kMost) return number;
    }
  }
  return std::nullopt;
}

std::vector<std::int32_t> annotation_layers(const Index& index) {
  const EventColumns annotations(index, "annotation", {"name_id", "parent_id"});
  const auto names = annotations.ids("name_id");
  const auto parents = annotations.ids("parent_id");
  constexpr std::uint32_t kMostNames = 1U << 27;  // ids of a damaged index may be anything
  std::vector<std::int32_t> of_name;              // -2: not looked at
  Statement text(index.database(), "SELECT value FROM string WHERE id = ?");
  std::vector<std::int32_t> out(annotations.size() + 1, -1);
  bool any = false;
  for (std::size_t i = 0; i < annotations.size(); ++i) {
    if (names[i] >= kMostNames) continue;
    if (names[i] >= of_name.size()) of_name.resize(std::size_t{names[i]} * 2 + 1, -2);
    std::int32_t& layer = of_name[names[i]];
    if (layer == -2) {
      text.bind(1, std::int64_t{names[i]});
      layer = text.step() ? layer_number(text.text(0)).value_or(-1) : -1;
      text.reset();
    }
    any = any || layer >= 0;
    out[i + 1] = layer >= 0 ? layer : parents[i] <= i ? out[parents[i]] : -1;
  }
  if (!any) out.clear();
  return out;
}

namespace {

// Layers of strings that may be names of operators, by id. Few strings have a number behind one of the words, so most
// traces end here.
std::unordered_map<std::uint32_t, std::int32_t> numbered_strings(const Index& index) {
  std::unordered_map<std::uint32_t, std::int32_t> layers;
  Statement rows(index.database(), "SELECT id, value FROM string WHERE id > 0 AND id < 4294967296");
  while (rows.step()) {
    const std::string_view value = rows.text(1);
    if (value.find_first_of("0123456789") == std::string_view::npos || value.starts_with(kModule)) continue;
    if (const auto layer = layer_number(value)) layers.emplace(static_cast<std::uint32_t>(rows.int64(0)), *layer);
  }
  return layers;
}

// Numbers of something else are few, or anything: a size, an address, the place in a list of kernels.
bool look_like_layers(const std::vector<std::int32_t>& layers) {
  std::vector<bool> seen;
  for (const std::int32_t layer : layers) {
    if (layer < 0) continue;
    const auto place = static_cast<std::size_t>(layer);
    if (place >= seen.size()) seen.resize(place + 1);
    seen[place] = true;
  }
  const auto count = static_cast<std::size_t>(std::count(seen.begin(), seen.end(), true));
  constexpr std::size_t kOneMissingOf = 10;
  return count > 1 && (seen.size() - count) * kOneMissingOf <= count + kOneMissingOf;
}

}  // namespace

std::vector<std::int32_t> operator_layers(const Index& index) {
  const auto layers = numbered_strings(index);
  if (layers.empty()) return {};
  const EventColumns operators(index, "cpu_op", {"name_id", "parent_id"});
  const auto names = operators.ids("name_id");
  const auto parents = operators.ids("parent_id");
  std::vector<std::int32_t> out(operators.size() + 1, -1);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::int32_t outer = parents[i] <= i ? out[parents[i]] : -1;
    const auto own = outer >= 0 ? layers.end() : layers.find(names[i]);
    out[i + 1] = own != layers.end() ? own->second : outer;
  }
  if (!look_like_layers(out)) out.clear();
  return out;
}

}  // namespace tracedb
