// Numbers things 0, 1, 2 ... in the order in which they first come, so that what is known of each can lie in an array.
// One thread.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace tracedb {

// Open addressing: one look at memory for a key that was met not long ago.
class DenseIndex {
 public:
  struct Entry {
    std::uint32_t index;
    bool is_new;
  };
  DenseIndex() : slots_(1024) {}

  Entry index_of(std::uint64_t key) {
    return index_of(key, [](std::uint32_t) { return true; });
  }

  // Of a key that came before; nullopt: it did not.
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint64_t key) const {
    std::size_t at = home(key);
    while (slots_[at].index != kNone && slots_[at].hash != key) at = next(at);
    return slots_[at].index == kNone ? std::nullopt : std::optional(slots_[at].index);
  }

  // Of a thing with this hash. `same(index)`: whether the one of that index, which has this hash, is the same thing.
  template <class Same>
  Entry index_of(std::uint64_t hash, Same same) {
    std::size_t at = home(hash);
    for (; slots_[at].index != kNone; at = next(at)) {
      if (slots_[at].hash == hash && same(slots_[at].index)) return {slots_[at].index, false};
    }
    slots_[at] = {hash, size_};
    if (std::size_t{2} * ++size_ > slots_.size()) grow();
    return {size_ - 1, true};
  }

  // Forgets the one with the largest index, which has this hash: that index will be given again.
  void forget_last(std::uint64_t hash) {
    std::size_t free = home(hash);
    while (slots_[free].index != size_ - 1) free = next(free);
    // Those behind it that found its slot taken move up, as if it had never been there.
    for (std::size_t at = next(free); slots_[at].index != kNone; at = next(at)) {
      if (distance(home(slots_[at].hash), at) < distance(free, at)) continue;
      slots_[free] = slots_[at];
      free = at;
    }
    slots_[free] = {};
    --size_;
  }

  [[nodiscard]] std::uint32_t size() const { return size_; }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t index = kNone;
  };

  // The upper bits of the product: they depend on every bit of the key, such as a pair of ids.
  [[nodiscard]] std::size_t home(std::uint64_t hash) const {
    constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;
    return hash * kSpread >> shift_;
  }
  [[nodiscard]] std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }
  [[nodiscard]] std::size_t distance(std::size_t from, std::size_t to) const {
    return (to - from) & (slots_.size() - 1);
  }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    --shift_;
    for (const Slot& slot : old) {
      if (slot.index == kNone) continue;
      std::size_t at = home(slot.hash);
      while (slots_[at].index != kNone) at = next(at);
      slots_[at] = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two
  int shift_ = std::countl_zero(slots_.size()) + 1;
  std::uint32_t size_ = 0;
};

}  // namespace tracedb
