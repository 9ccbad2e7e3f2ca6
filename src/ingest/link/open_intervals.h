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
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/lookup.h"
#include "ingest/store/records.h"

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

// The python frames of one thread that are open at a moving point in time, and which of them a frame or a call is in.
//
// Frames nest by time. A frame that ends after one that started before it and is still open outlasts it: the two
// cannot both be on one stack, and for as long as the earlier one is open the later one is on no path. So the path at a
// time t is that of the open frame that ends first, and the parent of a frame is, of the frames open at its start that
// end no earlier than it, the one that ends first; of several that end together the one that started last.
//
// Frames that nest lie on a stack, whose top ends first; only those that outlast another one are in a tree. A frame
// costs O(1) where all nest, O(log n) at worst.
struct OpenFrame {
  std::int64_t end;
  std::uint64_t order;  // of the start: a later one is larger
  std::uint32_t python_id, stack;
};

class OpenFrames {
 public:
  // Forgets what ended before t. Calls must come with t that never goes back.
  void advance(std::int64_t t) {
    while (!nested_.empty() && nested_.back().end < t) nested_.pop_back();
    while (!outlasting_.empty() && outlasting_.begin()->first.first < t) outlasting_.erase(outlasting_.begin());
  }

  // A frame that starts at t, the time of the last advance().
  void push(std::int64_t t, std::int64_t end, std::uint32_t python_id, std::uint32_t stack) {
    while (!nested_.empty() && nested_.back().end <= t && nested_.back().end < end) nested_.pop_back();
    const OpenFrame frame{end, ++frames_, python_id, stack};
    if (nested_.empty() || end <= nested_.back().end) {
      nested_.push_back(frame);
    } else {
      outlasting_.emplace(std::pair(end, ~frame.order), frame);
    }
  }

  // Of the frames open at t, the last advance(), the innermost that ends at `end` or later; nullptr if there is none.
  [[nodiscard]] const OpenFrame* around(std::int64_t t, std::int64_t end) const {
    const std::int64_t least = end > t ? end : t + 1;
    const auto above =
        std::ranges::partition_point(nested_, [least](const OpenFrame& frame) { return frame.end >= least; });
    const OpenFrame* nested = above == nested_.begin() ? nullptr : &*(above - 1);
    const auto found = outlasting_.lower_bound({least, 0});
    const OpenFrame* other = found == outlasting_.end() ? nullptr : &found->second;
    if (nested == nullptr || other == nullptr) return nested == nullptr ? other : nested;
    const bool is_nested = nested->end != other->end ? nested->end < other->end : nested->order > other->order;
    return is_nested ? nested : other;
  }
  [[nodiscard]] const OpenFrame* innermost(std::int64_t t) const { return around(t, t); }

  // Of the kDeepest innermost frames that nest and end at `end` or later, the one with this python id; nullptr if it is
  // not among them.
  [[nodiscard]] const OpenFrame* named(std::uint32_t python_id, std::int64_t end) const {
    const std::size_t depth = std::min(nested_.size(), kDeepest);
    const auto found = std::find_if(nested_.rbegin(), nested_.rbegin() + static_cast<std::ptrdiff_t>(depth),
                                    [&](const OpenFrame& frame) { return frame.python_id == python_id; });
    return found == nested_.rbegin() + static_cast<std::ptrdiff_t>(depth) || found->end < end ? nullptr : &*found;
  }

 private:
  static constexpr std::size_t kDeepest = 1024;  // python gives up at a depth of 1000

  std::vector<OpenFrame> nested_;                                           // by end, the last one ends first
  std::map<std::pair<std::int64_t, std::uint64_t>, OpenFrame> outlasting_;  // by end and the later start first
  std::uint64_t frames_ = 0;
};

// Python frames with the same start and length: times do not tell which of them encloses which, but their parent ids
// may.

// Moves each frame after its parent, if that is among them; otherwise keeps the order.
inline void order_by_parents(std::vector<PythonRecord>& frames) {
  std::unordered_map<std::uint32_t, std::size_t> by_id;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (frames[i].python_id != kNoPythonId) by_id.try_emplace(frames[i].python_id, i);
  }
  std::vector<PythonRecord> ordered;
  std::vector<bool> placed(frames.size());
  std::vector<std::size_t> waiting;  // a frame, its parent, its parent's parent ...
  for (std::size_t i = 0; i < frames.size(); ++i) {
    for (std::size_t frame = i; !placed[frame];) {
      placed[frame] = true;
      waiting.push_back(frame);
      const auto parent = by_id.find(frames[frame].parent_id);
      if (parent == by_id.end()) break;
      frame = parent->second;
    }
    for (; !waiting.empty(); waiting.pop_back()) ordered.push_back(frames[waiting.back()]);
  }
  frames = std::move(ordered);
}

// Paths of the frames that were placed already. Tracks are ids of threads, from 1.
class TiedFrames {
 public:
  struct Around {  // the frame around all of a thread: its python id and its path
    std::uint32_t python_id, stack;
  };

  void clear() {
    stacks_.clear();
    around_.clear();
  }
  void add(std::uint32_t track, std::uint32_t python_id, std::uint32_t stack) {
    if (python_id < kRootPythonId) stacks_[key(track, python_id)] = stack;
  }
  void set_around(std::uint32_t track, const Around& around) { around_[track] = around; }

  [[nodiscard]] std::uint32_t stack_of(std::uint32_t track, std::uint32_t python_id) const {  // 0: none
    const auto found = stacks_.find(key(track, python_id));
    return found == stacks_.end() ? 0 : found->second;
  }
  [[nodiscard]] const Around* around(std::uint32_t track) const {  // nullptr: no frame of the thread was placed
    return find_in(around_, track);
  }

 private:
  static std::uint64_t key(std::uint32_t track, std::uint32_t python_id) {
    return std::uint64_t{track} << 32U | python_id;
  }

  std::unordered_map<std::uint64_t, std::uint32_t> stacks_;
  std::unordered_map<std::uint32_t, Around> around_;
};

}  // namespace tracedb
