// The intervals of one thread that are open at a moving point in time, in order of their start. Unlike a plain stack it
// allows intervals that overlap without nesting, which real traces contain.
//
// An interval [ts, end) is live at t if t < end; one that ended exactly at t is kept until later, because clocks with a
// resolution of a microsecond let a child start when its parent already ended.
//
// Each interval knows the nearest earlier one that outlasts it, so that what ended, or ends at this moment, need not be
// walked through one by one: every call costs amortised O(1), find() at most kDeepest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tracedb {

template <class Payload>
class OpenIntervals {
 public:
  void push(std::int64_t end, const Payload& payload) {
    const std::uint32_t outer = outlasting(end);
    entries_.push_back({end, outer, payload});
  }

  // Forgets what ended before t. Calls must come with t that never goes back.
  void advance(std::int64_t t) {
    while (!entries_.empty() && entries_.back().end < t) entries_.pop_back();
    if (entries_.size() >= compact_at_) compact(t);
  }

  // Innermost interval that is live at t; nullptr if none.
  [[nodiscard]] const Payload* innermost(std::int64_t t) const {
    const std::uint32_t found = outlasting(t);
    return found == 0 ? nullptr : &entries_[found - 1].payload;
  }

  // Innermost interval for which `accept` holds, live or ended at this very moment; of the kDeepest innermost ones.
  template <class Accept>
  [[nodiscard]] const Payload* find(std::int64_t t, Accept accept) const {
    const std::size_t last = entries_.size() - std::min(entries_.size(), kDeepest);
    for (std::size_t i = entries_.size(); i > last; --i) {
      const Entry& entry = entries_[i - 1];
      if (entry.end >= t && accept(entry.payload)) return &entry.payload;
    }
    return nullptr;
  }

 private:
  static constexpr std::size_t kCompact = 256;
  static constexpr std::size_t kDeepest = 1024;
  struct Entry {
    std::int64_t end;
    std::uint32_t outer;  // position + 1 of the nearest earlier entry that ends later; 0: none
    Payload payload;
  };

  // Position + 1 of the last entry that ends after t; 0: none.
  [[nodiscard]] std::uint32_t outlasting(std::int64_t t) const {
    auto position = static_cast<std::uint32_t>(entries_.size());
    while (position != 0 && entries_[position - 1].end <= t) position = entries_[position - 1].outer;
    return position;
  }

  // Overlapping intervals can hide ended ones below a live one.
  void compact(std::int64_t t) {
    for (const Entry& entry : std::exchange(entries_, {})) {
      if (entry.end >= t) push(entry.end, entry.payload);
    }
    compact_at_ = entries_.size() * 2 + kCompact;
  }

  std::vector<Entry> entries_;
  std::size_t compact_at_ = kCompact;
};

}  // namespace tracedb
