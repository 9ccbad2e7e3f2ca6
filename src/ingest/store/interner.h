// Small integers for repeated byte strings, numbered from 1 in order of first appearance. Bytes are compared, not only
// their hashes. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

class Interner {
 public:
  struct Entry {
    std::uint32_t id;
    bool is_new;
  };
  Interner() : slots_(kFirstSlots) {}

  Entry intern(std::string_view bytes);
  void forget_last(std::size_t count);  // the newest numbers; they will be given again
  [[nodiscard]] std::string_view text(std::uint32_t id) const { return texts_[id - 1]; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

 private:
  static constexpr std::size_t kFirstSlots = 1024;
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t id = 0;  // 0: free
  };
  void place(std::size_t slots);
  void free_slot(std::uint32_t id);

  std::vector<Slot> slots_;  // open addressing, size a power of two
  std::deque<std::string> texts_;
};

}  // namespace tracedb
