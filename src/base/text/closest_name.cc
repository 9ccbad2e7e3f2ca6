#include "base/text/closest_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace tracedb {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

constexpr std::size_t kLongestWord = 60;  // longer ones are no slip of the finger

}  // namespace

std::string closest_name(std::string_view word, std::span<const std::string> known) {
  if (word.size() > kLongestWord) return {};
  std::string best;
  std::size_t best_distance = word.size() / 3 + 2;
  for (const std::string& candidate : known) {
    const bool is_longer = candidate.starts_with(word) && word.size() > 1;
    const bool is_shorter = word.starts_with(candidate) && candidate.size() > 2;  // "duration" for "dur"
    const std::size_t edits = is_longer ? 1 : edit_distance(word, candidate);
    const std::size_t distance = is_shorter ? std::min<std::size_t>(edits, 2) : edits;
    if (distance >= best_distance) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

std::vector<std::string> closest_first(std::string_view word, std::vector<std::string> known) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (std::string& one : known) {
    const std::size_t distance = edit_distance(word.substr(0, kLongestWord), one);
    ranked.emplace_back(distance, std::move(one));
  }
  std::ranges::sort(ranked);
  std::vector<std::string> out;
  for (auto& [distance, one] : ranked) out.push_back(std::move(one));
  return out;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
  const std::string name = closest_name(word, known);
  return name.empty() ? std::string() : fmt::format("; did you mean '{}'?", name);
}

}  // namespace tracedb
