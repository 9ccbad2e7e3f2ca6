#include "passes/layers/stack_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tracedb {
namespace {

constexpr std::size_t kUnplaced = SIZE_MAX;

class Table {
 public:
  std::vector<std::size_t> add(const std::vector<FoundStack>& own) {
    std::vector<std::size_t> place(own.size(), kUnplaced);
    std::vector<bool> taken(all_.size());
    const auto pair = [&](auto same) {
      for (std::size_t i = 0; i < own.size(); ++i) {
        for (std::size_t k = 0; k < taken.size() && place[i] == kUnplaced; ++k) {
          if (taken[k] || !same(all_[k], own[i])) continue;
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
    if (own.size() == all_.size()) pair(compatible);
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (place[i] == kUnplaced) {
        place[i] = all_.size();
        all_.push_back(own[i]);
      } else {
        unite(all_[place[i]], own[i]);
      }
    }
    return place;
  }

  [[nodiscard]] LayerStacks finish() const {
    LayerStacks out;
    std::size_t unnamed = 0;
    std::int32_t next = 0;
    for (const FoundStack& stack : all_) {
      out.push_back(
          {stack.name.empty() ? fmt::format("stack {}", ++unnamed) : stack.name, next, stack.width, stack.passes});
      next += stack.width;
    }
    return out;
  }

 private:
  static void unite(FoundStack& to, const FoundStack& from) {
    if (to.name.empty()) to.name = from.name;
    to.width = std::max(to.width, from.width);
    to.passes = std::max(to.passes, from.passes);
  }

  std::vector<FoundStack> all_;
};

}  // namespace

StackTable make_stack_table(const std::vector<std::vector<FoundStack>>& kinds) {
  // The kind with most stacks first: it gives their order.
  std::vector<std::size_t> order(kinds.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return kinds[a].size() > kinds[b].size(); });
  Table table;
  StackTable out;
  out.place.resize(kinds.size());
  for (const std::size_t kind : order) out.place[kind] = table.add(kinds[kind]);
  out.stacks = table.finish();
  return out;
}

}  // namespace tracedb
