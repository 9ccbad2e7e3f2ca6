// Small integers for repeated byte strings, numbered from 1 in order of first appearance. Bytes are compared, not only
// their hashes. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "base/dense_index.h"

namespace tracedb {

class Interner {
 public:
  struct Entry {
    std::uint32_t id;
    bool is_new;
  };

  Entry intern(std::string_view bytes);
  void forget_last(std::size_t count);  // the newest numbers; they will be given again
  [[nodiscard]] std::string_view text(std::uint32_t id) const { return texts_[id - 1]; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

 private:
  DenseIndex index_;
  std::deque<std::string> texts_;
};

}  // namespace tracedb
