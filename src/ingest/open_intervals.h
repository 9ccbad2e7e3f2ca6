// The intervals of one thread that are open at a moving point in time, in order of their start. Unlike a plain stack it
// allows intervals that overlap without nesting, which real traces contain.
//
// An interval [ts, end) is live at t if t < end; one that ended exactly at t is kept until later, because clocks with a
// resolution of a microsecond let a child start when its parent already ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tracedb {

template <class Payload>
class OpenIntervals {
 public:
  struct Entry {
    std::int64_t end;
    Payload payload;
  };

  void push(std::int64_t end, const Payload& payload) { entries_.push_back({end, payload}); }

  // Forgets what ended before t. Calls must come with t that never goes back.
  void advance(std::int64_t t) {
    while (!entries_.empty() && entries_.back().end < t) entries_.pop_back();
    if (entries_.size() < compact_at_) return;
    // Overlapping intervals can hide ended ones below a live one.
    std::erase_if(entries_, [t](const Entry& entry) { return entry.end < t; });
    compact_at_ = entries_.size() * 2 + kCompact;
  }

  // Innermost interval that is live at t and for which `accept` holds; nullptr if none.
  template <class Accept>
  [[nodiscard]] const Payload* innermost(std::int64_t t, Accept accept) const {
    for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
      if (entry->end > t && accept(entry->payload)) return &entry->payload;
    }
    return nullptr;
  }
  [[nodiscard]] const Payload* innermost(std::int64_t t) const {
    return innermost(t, [](const Payload&) { return true; });
  }

  // Innermost interval for which `accept` holds, live or ended at this very moment.
  template <class Accept>
  [[nodiscard]] const Payload* find(std::int64_t t, Accept accept) const {
    for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
      if (entry->end >= t && accept(entry->payload)) return &entry->payload;
    }
    return nullptr;
  }

 private:
  static constexpr std::size_t kCompact = 256;
  std::vector<Entry> entries_;
  std::size_t compact_at_ = kCompact;
};

}  // namespace tracedb
