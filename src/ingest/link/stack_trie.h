// Distinct call paths as a trie: a path is its parent path plus one frame. Ids from 1 in order of first appearance, so
// a parent's id is always smaller than its children's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tracedb {

class StackTrie {
 public:
  struct Node {
    std::uint32_t parent;  // 0: outermost
    std::uint32_t frame;
    std::uint32_t depth;  // 1: outermost
  };
  StackTrie() : slots_(kFirstSlots) {}

  // The path `parent` (0: none) extended by `frame`.
  std::uint32_t child(std::uint32_t parent, std::uint32_t frame) {
    std::size_t position = find(slots_, parent, frame);
    if (slots_[position] != 0) return slots_[position];
    nodes_.push_back({parent, frame, parent == 0 ? 1 : nodes_[parent - 1].depth + 1});
    slots_[position] = static_cast<std::uint32_t>(nodes_.size());
    if (nodes_.size() * 2 > slots_.size()) grow();
    return static_cast<std::uint32_t>(nodes_.size());
  }

  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }

 private:
  static constexpr std::size_t kFirstSlots = 4096;

  [[nodiscard]] std::size_t find(const std::vector<std::uint32_t>& slots, std::uint32_t parent,
                                 std::uint32_t frame) const {
    const std::uint64_t key = (std::uint64_t{parent} << 32U | frame) * 0x9E3779B97F4A7C15ULL;
    const std::size_t mask = slots.size() - 1;
    std::size_t position = (key >> 24U) & mask;
    while (slots[position] != 0) {
      const Node& node = nodes_[slots[position] - 1];
      if (node.parent == parent && node.frame == frame) break;
      position = (position + 1) & mask;
    }
    return position;
  }

  void grow() {
    std::vector<std::uint32_t> larger(slots_.size() * 2);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      larger[find(larger, nodes_[i].parent, nodes_[i].frame)] = static_cast<std::uint32_t>(i + 1);
    }
    slots_ = std::move(larger);
  }

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> slots_;
};

}  // namespace tracedb
