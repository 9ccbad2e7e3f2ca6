// A union of intervals that answers how much of a window it covers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tracedb {

class TimeCover {
 public:
  // In order of begin.
  void add(std::int64_t begin, std::int64_t end) {
    if (end <= begin) return;
    if (!begin_.empty() && begin <= end_.back()) {
      if (end > end_.back()) end_.back() = end;
      return;
    }
    before_.push_back(begin_.empty() ? 0 : before_.back() + (end_.back() - begin_.back()));
    begin_.push_back(begin);
    end_.push_back(end);
  }

  // ns of [from, to) that it covers.
  [[nodiscard]] std::int64_t covered(std::int64_t from, std::int64_t to) const {
    return to > from ? until(to) - until(from) : 0;
  }

  // What of [from, to) it does not cover, in order: take(begin, end).
  template <class Take>
  void for_each_gap(std::int64_t from, std::int64_t to, Take take) const {
    auto next = static_cast<std::size_t>(std::ranges::upper_bound(end_, from) - end_.begin());
    for (; from < to; ++next) {
      const std::int64_t until = next < begin_.size() ? std::min(begin_[next], to) : to;
      if (until > from) take(from, until);
      if (next >= begin_.size()) return;
      from = std::max(from, end_[next]);
    }
  }

 private:
  // ns that it covers before `at`.
  [[nodiscard]] std::int64_t until(std::int64_t at) const {
    const auto next = static_cast<std::size_t>(std::ranges::upper_bound(begin_, at) - begin_.begin());
    if (next == 0) return 0;
    return before_[next - 1] + std::min(at, end_[next - 1]) - begin_[next - 1];
  }

  std::vector<std::int64_t> begin_, end_, before_;
};

}  // namespace tracedb
