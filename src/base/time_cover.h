// Unions of intervals of time, for figures of the kind "how much of a window is covered by what". Pure.
//
// Times are ns, half open: [begin, end). Making and uniting is linear, a question takes two binary searches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "base/unknown.h"

namespace tracedb {

// A stretch of time.
struct Extent {
  std::int64_t begin = 0, end = 0;
  [[nodiscard]] std::int64_t length() const { return end > begin ? end - begin : 0; }
  friend bool operator<(const Extent& a, const Extent& b) { return a.begin < b.begin; }
};

class TimeCover {
 public:
  TimeCover() = default;
  // Of what is in them, in any order; fastest in order of begin.
  explicit TimeCover(std::span<const Extent> spans) {
    std::vector<Extent> sorted;
    if (!std::is_sorted(spans.begin(), spans.end())) {
      sorted.assign(spans.begin(), spans.end());
      std::sort(sorted.begin(), sorted.end());
      spans = sorted;
    }
    for (const Extent& span : spans) add(span.begin, span.end);
  }

  // In order of begin.
  void add(std::int64_t begin, std::int64_t end) {
    if (end <= begin) return;
    if (parts_.empty()) {
      parts_.push_back({{begin, end}, 0});
    } else if (Part& last = parts_.back(); begin <= last.end) {
      last.end = std::max(last.end, end);
    } else {
      parts_.push_back({{begin, end}, saturating_add(last.before, last.length())});
    }
  }

  // ns of [from, to) that it covers.
  [[nodiscard]] std::int64_t covered(std::int64_t from, std::int64_t to) const {
    return to > from ? until(to) - until(from) : 0;
  }

  // What of [from, to) it does not cover, in order: take(begin, end).
  template <class Take>
  void for_each_gap(std::int64_t from, std::int64_t to, Take take) const {
    auto next = std::ranges::upper_bound(parts_, from, {}, &Part::end);
    for (; from < to; ++next) {
      const std::int64_t until = next != parts_.end() ? std::min(next->begin, to) : to;
      if (until > from) take(from, until);
      if (next == parts_.end()) return;
      from = std::max(from, next->end);
    }
  }

  // The last stretch that is covered and begins before a moment; of no length: there is none.
  [[nodiscard]] Extent last_before(std::int64_t time) const {
    const auto next = std::ranges::lower_bound(parts_, time, {}, &Part::begin);
    return next == parts_.begin() ? Extent{} : Extent(*std::prev(next));
  }

  // Its stretches, apart from each other, in order.
  [[nodiscard]] std::size_t size() const { return parts_.size(); }
  [[nodiscard]] Extent operator[](std::size_t place) const { return parts_[place]; }

  // From its begin to its end; of no length where nothing is covered.
  [[nodiscard]] Extent bounds() const {
    return parts_.empty() ? Extent{} : Extent{parts_.front().begin, parts_.back().end};
  }

 private:
  struct Part : Extent {
    std::int64_t before = 0;  // ns that the parts before it cover
  };

  // ns that it covers before `time`.
  [[nodiscard]] std::int64_t until(std::int64_t time) const {
    const auto next = std::ranges::lower_bound(parts_, time, {}, &Part::begin);
    if (next == parts_.begin()) return 0;
    const Part& last = *std::prev(next);
    return saturating_add(last.before, std::min(time, last.end) - last.begin);
  }

  std::vector<Part> parts_;  // apart from each other, in order
};

}  // namespace tracedb
