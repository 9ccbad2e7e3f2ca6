// The python frames of one thread that are open at a moving point in time, and which of them a frame or a call is in.
//
// Frames nest by time. A frame that ends after one that started before it and is still open outlasts it: the two
// cannot both be on one stack, and for as long as the earlier one is open the later one is on no path. So the path at a
// time t is that of the open frame that ends first, and the parent of a frame is, of the frames open at its start that
// end no earlier than it, the one that ends first; of several that end together the one that started last.
//
// Frames that nest lie on a stack, whose top ends first; only those that outlast another one are in a tree. A frame
// costs O(1) where all nest, O(log n) at worst.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace tracedb {

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
    const auto above = std::partition_point(nested_.begin(), nested_.end(),
                                            [least](const OpenFrame& frame) { return frame.end >= least; });
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

}  // namespace tracedb
