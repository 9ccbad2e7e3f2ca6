// Numbers for keys of 64 bits, in the order in which they first come: sums by key in an array beside it. Not for
// several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tracedb {

// Open addressing: one look at memory for a key that was met not long ago.
class KeyNumbers {
 public:
  KeyNumbers() : slots_(1024) {}

  // The number of a key, and whether it is new.
  std::pair<std::uint32_t, bool> number(std::uint64_t key) {
    if (2 * count_ >= slots_.size()) grow();
    Slot& slot = find(key);
    if (slot.number != kNone) return {slot.number, false};
    slot = {key, count_};
    return {count_++, true};
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t number = kNone;
  };

  Slot& find(std::uint64_t key) {
    constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;
    const std::size_t mask = slots_.size() - 1;
    std::size_t position = ((key * kSpread) >> 20) & mask;
    while (slots_[position].number != kNone && slots_[position].key != key) position = (position + 1) & mask;
    return slots_[position];
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.number != kNone) find(slot.key) = slot;
    }
  }

  std::vector<Slot> slots_;
  std::uint32_t count_ = 0;
};

}  // namespace tracedb
