#include "passes/capture/sequence_match.h"

#include <algorithm>
#include <unordered_map>

namespace tracedb {
namespace {

using Tokens = std::span<const std::uint32_t>;
using Places = std::unordered_map<std::uint32_t, std::vector<std::uint32_t>>;  // by token, in order

Places places_of(Tokens tokens) {
  Places places;
  for (std::uint32_t i = 0; i < tokens.size(); ++i) places[tokens[i]].push_back(i);
  return places;
}

// Of a table of lengths only the way back is kept, one step a cell.
enum class Way : std::uint8_t { kBoth, kSkipA, kSkipB };

void match_middle(Tokens a, Tokens b, std::uint32_t offset_a, std::uint32_t offset_b, std::vector<std::uint32_t>& out) {
  std::vector<Way> ways(a.size() * b.size());
  std::vector<std::uint32_t> above(b.size() + 1, 0), row(b.size() + 1, 0);  // lengths for the rest of both, from behind
  for (std::size_t i = a.size(); i-- > 0;) {
    row[b.size()] = 0;
    for (std::size_t j = b.size(); j-- > 0;) {
      const bool same = a[i] == b[j];
      row[j] = same ? above[j + 1] + 1 : std::max(above[j], row[j + 1]);
      ways[i * b.size() + j] = same ? Way::kBoth : above[j] >= row[j + 1] ? Way::kSkipA : Way::kSkipB;
    }
    std::swap(above, row);
  }
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Way way = ways[i * b.size() + j];
    if (way == Way::kBoth) out[offset_a + i] = static_cast<std::uint32_t>(offset_b + j);
    i += way != Way::kSkipB ? 1U : 0U;
    j += way != Way::kSkipA ? 1U : 0U;
  }
}

void match_in_order(Tokens a, Tokens b, std::size_t most_cells, std::vector<std::uint32_t>& out) {
  std::size_t front = 0;
  const std::size_t shorter = std::min(a.size(), b.size());
  while (front < shorter && a[front] == b[front]) ++front;
  std::size_t back = 0;
  while (back < shorter - front && a[a.size() - 1 - back] == b[b.size() - 1 - back]) ++back;
  for (std::size_t i = 0; i < front; ++i) out[i] = static_cast<std::uint32_t>(i);
  for (std::size_t i = 1; i <= back; ++i) out[a.size() - i] = static_cast<std::uint32_t>(b.size() - i);
  const std::size_t rows = a.size() - front - back;
  const std::size_t columns = b.size() - front - back;
  if (rows == 0 || columns == 0 || rows > most_cells / columns) return;
  const auto offset = static_cast<std::uint32_t>(front);
  match_middle(a.subspan(front, rows), b.subspan(front, columns), offset, offset, out);
}

// The nth of a token is the nth of the other sequence, for tokens that both have equally often.
void match_by_rank(const Places& a, const Places& b, std::vector<bool>& taken, std::vector<std::uint32_t>& out) {
  for (const auto& [token, places] : a) {
    const auto other = b.find(token);
    if (other == b.end() || other->second.size() != places.size()) continue;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const std::uint32_t partner = other->second[i];
      if (out[places[i]] != kUnmatched || taken[partner]) continue;
      out[places[i]] = partner;
      taken[partner] = true;
    }
  }
}

bool equally_often(const Places& a, const Places& b) {
  return a.size() == b.size() && std::all_of(a.begin(), a.end(), [&](const auto& entry) {
           const auto other = b.find(entry.first);
           return other != b.end() && other->second.size() == entry.second.size();
         });
}

}  // namespace

std::vector<std::uint32_t> match_sequences(Tokens a, Tokens b, std::size_t most_cells) {
  std::vector<std::uint32_t> out(a.size(), kUnmatched);
  const Places places_a = places_of(a);
  const Places places_b = places_of(b);
  if (!equally_often(places_a, places_b)) match_in_order(a, b, most_cells, out);
  std::vector<bool> taken(b.size());
  for (const std::uint32_t place : out) {
    if (place != kUnmatched) taken[place] = true;
  }
  match_by_rank(places_a, places_b, taken, out);
  return out;
}

std::size_t shared_elements(Tokens a, Tokens b) {
  std::unordered_map<std::uint32_t, std::size_t> left;
  for (const std::uint32_t token : a) ++left[token];
  std::size_t shared = 0;
  for (const std::uint32_t token : b) {
    const auto entry = left.find(token);
    if (entry == left.end() || entry->second == 0) continue;
    --entry->second;
    ++shared;
  }
  return shared;
}

}  // namespace tracedb
