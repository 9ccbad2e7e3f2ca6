#include "passes/layers/stack_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "base/error.h"
#include "base/text/decimal.h"

namespace tracedb {
namespace {

constexpr std::size_t kUnplaced = SIZE_MAX;

// By place of a kind's stack: its place among all stacks. Those that are new are added, what is known of the others is
// united.
std::vector<std::size_t> add_stacks(const std::vector<FoundStack>& own, std::vector<FoundStack>& all) {
  std::vector<std::size_t> place(own.size(), kUnplaced);
  std::vector<bool> taken(all.size());
  const auto pair = [&](auto same) {
    for (std::size_t i = 0; i < own.size(); ++i) {
      for (std::size_t k = 0; k < taken.size() && place[i] == kUnplaced; ++k) {
        if (taken[k] || !same(all[k], own[i])) continue;
        place[i] = k;
        taken[k] = true;
      }
    }
  };
  const auto compatible = [](const FoundStack& a, const FoundStack& b) {
    return a.name.empty() || b.name.empty() || a.name == b.name;
  };
  pair([](const FoundStack& a, const FoundStack& b) { return !a.name.empty() && a.name == b.name; });
  pair([&](const FoundStack& a, const FoundStack& b) {
    return compatible(a, b) && a.width == b.width && a.mixers == b.mixers;
  });
  pair([&](const FoundStack& a, const FoundStack& b) { return compatible(a, b) && a.width == b.width; });
  if (own.size() == all.size()) pair(compatible);
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (place[i] == kUnplaced) {
      place[i] = all.size();
      all.push_back(own[i]);
      continue;
    }
    FoundStack& known = all[place[i]];
    if (known.name.empty()) known.name = own[i].name;
    known.width = std::max(known.width, own[i].width);
    known.passes = std::max(known.passes, own[i].passes);
  }
  return place;
}

constexpr std::int32_t kLast = std::numeric_limits<std::int32_t>::max();

std::optional<std::int32_t> bound(std::string_view text, std::int32_t open) {
  if (text.empty()) return open;
  const auto value = parse_int64(text);
  if (!value || *value < 0 || *value > kLast) return std::nullopt;
  return static_cast<std::int32_t>(*value);
}

std::optional<LayerRange> numbers(std::string_view text) {
  const std::size_t dots = text.find("..");
  if (text.empty() || text == "..") return std::nullopt;
  const bool range = dots != std::string_view::npos;
  const auto first = bound(text.substr(0, dots), 0);
  const auto last = range ? bound(text.substr(dots + 2), kLast) : first;
  if (!first || !last) return std::nullopt;
  return LayerRange{*first, *last};
}

std::optional<LayerRange> around_layers(std::string_view text) {
  if (text == "head") return LayerRange{kHead, kHead};
  if (text == "tail") return LayerRange{kTail, kTail};
  if (text == "none") return LayerRange{kNoLayer, kNoLayer};
  return std::nullopt;
}

// "T5Block:3..5" -> the stack's name and the rest; without a colon the name is empty.
std::pair<std::string_view, std::string_view> split(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return {{}, text};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

std::string names_of(const LayerStacks& stacks) {
  std::string text;
  for (const LayerStack& stack : stacks) text += (text.empty() ? "" : ", ") + stack_text(stack, true);
  return text;
}

[[noreturn]] void fail(std::string_view text, const std::string& reason) {
  throw Error(ErrorCode::kUsage, fmt::format("--layer {}: {}", text, reason));
}

LayerRange within(const LayerStack& stack, LayerRange range) {
  if (range.first >= stack.count || range.first > range.last) return {};  // no such layer: nothing is selected
  return {stack.first + range.first, stack.first + std::min(range.last, stack.count - 1)};
}

}  // namespace

StackTable make_stack_table(const std::vector<std::vector<FoundStack>>& kinds) {
  // The kind with most stacks first: it gives their order.
  std::vector<std::size_t> order(kinds.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return kinds[a].size() > kinds[b].size(); });
  std::vector<FoundStack> all;
  StackTable out;
  out.place.resize(kinds.size());
  for (const std::size_t kind : order) out.place[kind] = add_stacks(kinds[kind], all);
  std::size_t unnamed = 0;
  std::int32_t next = 0;
  for (const FoundStack& stack : all) {
    out.stacks.push_back(
        {stack.name.empty() ? fmt::format("stack {}", ++unnamed) : stack.name, next, stack.width, stack.passes});
    next += stack.width;
  }
  return out;
}

const LayerStack* stack_of(std::int32_t layer, const LayerStacks& stacks) {
  const auto found = std::ranges::find_if(stacks, [&](const LayerStack& stack) { return stack.has(layer); });
  return found == stacks.end() ? nullptr : &*found;
}

std::string layer_label(std::int32_t layer, const LayerStacks& stacks) {
  if (layer < 0) return layer == kHead ? "[head]" : layer == kTail ? "[tail]" : "[no layer]";
  const LayerStack* stack = stacks.size() > 1 ? stack_of(layer, stacks) : nullptr;
  return stack == nullptr ? std::to_string(layer) : fmt::format("{}:{}", stack->name, layer - stack->first);
}

std::string layers_label(const std::vector<std::int32_t>& layers, const LayerStacks& stacks) {
  std::string text;
  for (std::size_t i = 0; i < layers.size();) {
    const LayerStack* stack = stacks.size() > 1 ? stack_of(layers[i], stacks) : nullptr;
    const auto follows = [&](std::size_t at) {
      return layers[at] == layers[at - 1] + 1 && (stack == nullptr || stack->has(layers[at]));
    };
    std::size_t end = i + 1;
    while (end < layers.size() && layers[i] >= 0 && follows(end)) ++end;
    if (!text.empty()) text += ',';
    text += layer_label(layers[i], stacks);
    if (end - i > 1) text += fmt::format("..{}", layers[end - 1] - (stack == nullptr ? 0 : stack->first));
    i = end;
  }
  return text;
}

std::string stack_text(const LayerStack& stack, bool named) {
  std::string text = named ? fmt::format("{} {}", stack.name, stack.layers()) : std::to_string(stack.layers());
  if (stack.passes > 1) text += fmt::format(" x {} passes", stack.passes);
  return text;
}

bool can_name_layers(std::string_view text) {
  const auto [name, rest] = split(text);
  if (!name.empty()) return numbers(rest).has_value();
  if (numbers(text) || around_layers(text)) return true;
  // A stack alone. Names begin with a letter, so that a mistyped range is none.
  const char first = text.empty() ? '.' : text.front();
  const bool letter = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first == '_';
  return letter && text.find(':') == std::string_view::npos;
}

LayerRange layer_range(std::string_view text, const LayerStacks& stacks) {
  if (const auto around = around_layers(text)) return *around;
  const auto [name, rest] = split(text);
  const auto range = numbers(rest);
  if (name.empty() && range) {
    if (range->first == 0 && range->last == kLast) return *range;
    if (stacks.size() > 1) fail(text, fmt::format("which stack? Give STACK:{}, of {}", text, names_of(stacks)));
    return *range;
  }
  const std::string_view wanted = name.empty() ? text : name;
  const auto stack = std::ranges::find_if(stacks, [&](const LayerStack& each) { return each.name == wanted; });
  if (stack == stacks.end()) {
    fail(text, stacks.empty() ? "the layers of the trace are unknown"
                              : fmt::format("no stack of layers is named {}; known: {}", wanted, names_of(stacks)));
  }
  return within(*stack, range.value_or(LayerRange{0, kLast}));
}

}  // namespace tracedb
