// Unions of intervals of time, for figures of the kind "how much of a window is covered by what". Pure.
//
// Times are ns, half open: [begin, end). Making and uniting is linear, asking how much of a window is covered takes two
// binary searches.
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

class Cover {
 public:
  Cover() = default;
  // Of what is in them, in any order; fastest in order of begin.
  explicit Cover(std::span<const Extent> spans) {
    std::vector<Extent> sorted;
    if (!std::is_sorted(spans.begin(), spans.end())) {
      sorted.assign(spans.begin(), spans.end());
      std::sort(sorted.begin(), sorted.end());
      spans = sorted;
    }
    for (const Extent& span : spans) add(span);
  }

  [[nodiscard]] Cover united(const Cover& other) const {
    if (other.parts_.empty()) return *this;
    if (parts_.empty()) return other;
    Cover out;
    out.parts_.reserve(parts_.size() + other.parts_.size());
    auto own = parts_.begin(), theirs = other.parts_.begin();
    while (own != parts_.end() || theirs != other.parts_.end()) {
      const bool first = theirs == other.parts_.end() || (own != parts_.end() && own->begin < theirs->begin);
      const Part& next = first ? *own++ : *theirs++;
      out.add({next.begin, next.end});
    }
    return out;
  }

  // How much of the window is covered.
  [[nodiscard]] std::int64_t within(const Extent& window) const {
    return window.length() == 0 ? 0 : until(window.end) - until(window.begin);
  }

  // The last stretch that is covered and begins before a moment; of no length: there is none.
  [[nodiscard]] Extent last_before(std::int64_t time) const {
    const auto next = std::ranges::lower_bound(parts_, time, {}, &Part::begin);
    return next == parts_.begin() ? Extent{} : Extent(*std::prev(next));
  }

  // From its begin to its end; of no length where nothing is covered.
  [[nodiscard]] Extent bounds() const {
    return parts_.empty() ? Extent{} : Extent{parts_.front().begin, parts_.back().end};
  }

 private:
  struct Part : Extent {
    std::int64_t before = 0;  // how much the parts before it cover
  };

  // How much before a moment is covered.
  [[nodiscard]] std::int64_t until(std::int64_t time) const {
    const auto begins = [](const Part& part, std::int64_t when) { return part.begin < when; };
    const auto next = std::lower_bound(parts_.begin(), parts_.end(), time, begins);
    if (next == parts_.begin()) return 0;
    const Part& last = *std::prev(next);
    return saturating_add(last.before, std::min(time, last.end) - last.begin);
  }

  // Not before those before it.
  void add(const Extent& span) {
    if (span.length() == 0) return;
    if (parts_.empty()) {
      parts_.push_back({span, 0});
    } else if (Part& last = parts_.back(); span.begin <= last.end) {
      last.end = std::max(last.end, span.end);
    } else {
      parts_.push_back({span, saturating_add(last.before, last.length())});
    }
  }

  std::vector<Part> parts_;  // apart from each other, in order
};

}  // namespace tracedb
