// Middles and ranks of samples. All but the last two reorder the values; none takes an empty sample.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace tracedb {

// The middle value; of an even number of them the greater of the two.
template <class T>
T upper_median(std::span<T> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The mean of the middle one or two.
template <class T>
double median(std::span<T> values) {
  const auto upper = static_cast<double>(upper_median(values));
  if (values.size() % 2 == 1) return upper;
  const auto below = values.first(values.size() / 2);
  return (static_cast<double>(*std::ranges::max_element(below)) + upper) / 2;
}

// The same of sorted values.
template <class Sorted>
double sorted_median(const Sorted& values) {
  const std::size_t middle = values.size() / 2;
  const auto upper = static_cast<double>(values[middle]);
  return values.size() % 2 == 1 ? upper : (static_cast<double>(values[middle - 1]) + upper) / 2;
}

// Nearest rank: the position, among `count` sorted values, of the smallest with at least `percent` of all values at or
// below it.
inline std::size_t nearest_rank(std::size_t count, unsigned percent) { return (count * percent + 99) / 100 - 1; }

}  // namespace tracedb
