#include "compare/align/sequence_alignment.h"

#include <algorithm>

namespace tracedb {
namespace {

constexpr std::uint32_t kFar = UINT32_MAX / 2;
constexpr std::size_t kFirstBand = 64;              // on either side of the diagonal
constexpr std::size_t kThoroughCells = 4'000'000;   // up to here the path is proved to be the best
constexpr std::size_t kMostPathCells = 64'000'000;  // of the memory for the path

enum Move : std::uint8_t { kPair, kOnlyA, kOnlyB };

// The part of the table near the line from corner to corner: row i has columns [low(i), low(i) + width).
class Band {
 public:
  Band(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b, const AlignmentCosts& costs,
       std::size_t reach)
      : a_(a), b_(b), costs_(costs), reach_(reach), width_(std::min(2 * reach + 1, b.size() + 1)) {}

  [[nodiscard]] bool whole() const { return width_ == b_.size() + 1; }
  [[nodiscard]] std::size_t cells() const { return (a_.size() + 1) * width_; }

  [[nodiscard]] std::uint32_t cost() const { return cost_; }
  // Every path that leaves the band costs at least this: it goes beyond the edge by gaps of one sequence, and comes
  // back by gaps of the other.
  [[nodiscard]] std::uint64_t least_outside() const {
    const std::size_t difference = b_.size() > a_.size() ? b_.size() - a_.size() : a_.size() - b_.size();
    const std::size_t there = reach_ + 1;
    const std::size_t back = there > difference ? there - difference : 0;
    return std::uint64_t{*std::min_element(costs_.gap.begin(), costs_.gap.end())} * (there + back);
  }

  // False where the path touches the edge of the band, so that a better one may well lie outside.
  bool solve(std::vector<AlignedPair>& path) {
    moves_.resize(cells());
    fill();
    return trace(path);
  }

 private:
  [[nodiscard]] std::size_t low(std::size_t i) const {
    const std::size_t centre = a_.empty() ? 0 : i * b_.size() / a_.size();
    const std::size_t most = b_.size() + 1 - width_;
    return std::min(centre > reach_ ? centre - reach_ : 0, most);
  }

  [[nodiscard]] std::uint32_t pair_cost(std::size_t i, std::size_t j) const {
    if (costs_.pair.empty()) return a_[i] == b_[j] ? 0 : kFar;
    const std::uint16_t cost = costs_.pair[a_[i] * costs_.symbols + b_[j]];
    return cost == kNeverPaired ? kFar : cost;
  }

  void fill() {
    std::vector<std::uint32_t> before(width_, kFar), now(width_, kFar);
    for (std::size_t i = 0; i <= a_.size(); ++i) {
      const std::size_t shift = i == 0 ? 0 : low(i) - low(i - 1);
      const std::uint32_t gap_a = i == 0 ? 0 : costs_.gap[a_[i - 1]];
      std::uint8_t* moves = &moves_[i * width_];
      for (std::size_t c = 0; c < width_; ++c) {
        const std::size_t j = low(i) + c;
        std::uint32_t best = i == 0 && j == 0 ? 0 : kFar;
        std::uint8_t move = kPair;
        const std::size_t above = c + shift;
        if (i > 0 && j > 0 && above >= 1 && above - 1 < width_) {
          best = before[above - 1] + pair_cost(i - 1, j - 1);
        }
        if (i > 0 && above < width_ && before[above] + gap_a < best) {
          best = before[above] + gap_a;
          move = kOnlyA;
        }
        if (j > 0 && c > 0 && now[c - 1] + costs_.gap[b_[j - 1]] < best) {
          best = now[c - 1] + costs_.gap[b_[j - 1]];
          move = kOnlyB;
        }
        now[c] = std::min(best, kFar);
        moves[c] = move;
      }
      before.swap(now);
    }
    cost_ = before[width_ - 1];
  }

  bool trace(std::vector<AlignedPair>& path) const {
    path.clear();
    bool clear_of_edge = true;
    for (std::size_t i = a_.size(), j = b_.size(); i > 0 || j > 0;) {
      const std::size_t c = j - low(i);
      clear_of_edge = clear_of_edge && (c > 0 || low(i) == 0) && (c + 1 < width_ || low(i) + width_ == b_.size() + 1);
      const std::uint8_t move = moves_[i * width_ + c];
      AlignedPair pair;
      if (move != kOnlyB) pair.a = static_cast<std::uint32_t>(--i);
      if (move != kOnlyA) pair.b = static_cast<std::uint32_t>(--j);
      path.push_back(pair);
    }
    std::reverse(path.begin(), path.end());
    return clear_of_edge;
  }

  std::span<const std::uint32_t> a_, b_;
  const AlignmentCosts& costs_;
  std::size_t reach_, width_;
  std::vector<std::uint8_t> moves_;
  std::uint32_t cost_ = 0;
};

std::vector<AlignedPair> nothing_paired(std::size_t a, std::size_t b) {
  std::vector<AlignedPair> out;
  for (std::uint32_t i = 0; i < a; ++i) out.push_back({i, kNoPartner});
  for (std::uint32_t i = 0; i < b; ++i) out.push_back({kNoPartner, i});
  return out;
}

// The middle, between the common head and tail.
std::vector<AlignedPair> align_middle(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b,
                                      const AlignmentCosts& costs) {
  if (a.empty() || b.empty()) return nothing_paired(a.size(), b.size());
  const std::size_t difference = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  std::vector<AlignedPair> path;
  // Which of several equally good paths is taken must not depend on the order of the sides.
  const bool swap = a.size() != b.size() ? a.size() > b.size() : std::ranges::lexicographical_compare(b, a);
  const auto& first = swap ? b : a;
  const auto& second = swap ? a : b;
  const auto result = [&] {
    for (AlignedPair& pair : path) {
      if (swap) std::swap(pair.a, pair.b);
    }
    return std::move(path);
  };
  for (std::size_t reach = std::max(kFirstBand, difference / 4 + 8);; reach *= 2) {
    Band band(first, second, costs, reach);
    if (band.cells() > kMostPathCells) return path.empty() ? nothing_paired(a.size(), b.size()) : result();
    const bool clear_of_edge = band.solve(path);
    if (band.whole() || band.cost() <= band.least_outside()) return result();
    if (clear_of_edge && 2 * band.cells() > kThoroughCells) return result();
  }
}

}  // namespace

std::vector<AlignedPair> align_sequences(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b,
                                         const AlignmentCosts& costs) {
  if (std::max(a.size(), b.size()) > kLongestAlignment) return nothing_paired(a.size(), b.size());
  std::size_t head = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  std::size_t tail = 0;
  while (tail + head < a.size() && tail + head < b.size() && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  std::vector<AlignedPair> out;
  for (std::uint32_t i = 0; i < head; ++i) out.push_back({i, i});
  const auto middle_a = a.subspan(head, a.size() - head - tail);
  const auto middle_b = b.subspan(head, b.size() - head - tail);
  for (AlignedPair pair : align_middle(middle_a, middle_b, costs)) {
    if (pair.a != kNoPartner) pair.a += static_cast<std::uint32_t>(head);
    if (pair.b != kNoPartner) pair.b += static_cast<std::uint32_t>(head);
    out.push_back(pair);
  }
  for (std::size_t i = tail; i > 0; --i) {
    out.push_back({static_cast<std::uint32_t>(a.size() - i), static_cast<std::uint32_t>(b.size() - i)});
  }
  return out;
}

}  // namespace tracedb
