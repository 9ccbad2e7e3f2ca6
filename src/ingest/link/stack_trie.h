// Distinct call paths as a trie: a path is its parent path plus one frame. Ids from 1 in order of first appearance, so
// a parent's id is always smaller than its children's.
#pragma once

#include <cstdint>
#include <vector>

#include "base/dense_index.h"

namespace tracedb {

class StackTrie {
 public:
  struct Node {
    std::uint32_t parent;  // 0: outermost
    std::uint32_t frame;
    std::uint32_t depth;  // 1: outermost
  };

  // The path `parent` (0: none) extended by `frame`.
  std::uint32_t child(std::uint32_t parent, std::uint32_t frame) {
    const auto [index, is_new] = index_.index_of(std::uint64_t{parent} << 32U | frame);
    if (is_new) nodes_.push_back({parent, frame, parent == 0 ? 1 : nodes_[parent - 1].depth + 1});
    return index + 1;
  }

  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }

 private:
  std::vector<Node> nodes_;
  DenseIndex index_;
};

}  // namespace tracedb
