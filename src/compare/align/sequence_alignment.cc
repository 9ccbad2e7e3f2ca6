#include "compare/align/sequence_alignment.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "passes/classify/kernel_traits.h"

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
    return std::uint64_t{*std::ranges::min_element(costs_.gap)} * (there + back);
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
    std::ranges::reverse(path);
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

constexpr std::uint16_t kSameShortName = 5;
constexpr std::uint16_t kSameClass = 20;
constexpr std::uint16_t kMostByTime = 20;  // for taking much longer or shorter
constexpr std::uint16_t kSharedPart = 70;
constexpr double kLeastGap = 60, kGapByTime = 40, kMostGap = 200;

struct AlignedSymbol {
  NameId name = 0;
  double time = 0;      // the longer of both sides' means
  double relative = 0;  // to its side's mean
  std::size_t op = 0;   // position in ClassSimilarities
  [[nodiscard]] std::uint16_t gap() const {
    return static_cast<std::uint16_t>(std::min(kMostGap, kLeastGap + kGapByTime * relative));
  }
};

// Of every two classes of the symbols, so that it is not worked out for every two symbols.
class ClassSimilarities {
 public:
  ClassSimilarities(std::vector<AlignedSymbol>& symbols, const KernelNameTable& kernel_names) {
    std::map<OpId, std::size_t> positions;
    std::vector<OpId> ops;
    for (AlignedSymbol& symbol : symbols) {
      const auto [entry, is_new] = positions.try_emplace(kernel_names.op_of(symbol.name), ops.size());
      if (is_new) ops.push_back(entry->first);
      symbol.op = entry->second;
    }
    classes_ = ops.size();
    for (const OpId a : ops) {
      for (const OpId b : ops) all_.push_back(class_similarity(kernel_names.op_name(a), kernel_names.op_name(b)));
    }
  }
  [[nodiscard]] ClassSimilarity of(const AlignedSymbol& a, const AlignedSymbol& b) const {
    return all_[a.op * classes_ + b.op];
  }

 private:
  std::size_t classes_ = 0;
  std::vector<ClassSimilarity> all_;
};

double mean_time(std::span<const KernelUse> sequence) {
  double sum = 0;
  for (const KernelUse& use : sequence) sum += use.time;
  return sequence.empty() ? 0 : sum / static_cast<double>(sequence.size());
}

std::uint16_t pair_cost(const AlignedSymbol& a, const AlignedSymbol& b, const ClassSimilarities& similarities,
                        const KernelNameTable& kernel_names) {
  if (a.name == b.name) return 0;
  // Not less than this, or a kernel would rather stay unpaired next to one like it than keep its equal: an inserted
  // kernel must shift nothing.
  const int least = std::abs(int{a.gap()} - int{b.gap()}) + 1;
  const KernelNameEntry& first = kernel_names.entries()[a.name];
  const KernelNameEntry& second = kernel_names.entries()[b.name];
  int cost = kSameShortName;
  if (first.op != second.op || first.short_name.empty() || first.short_name != second.short_name) {
    const ClassSimilarity like = similarities.of(a, b);
    if (like == ClassSimilarity::kNone) return kNeverPaired;
    const double apart = a.relative > 0 && b.relative > 0 ? std::abs(std::log2(a.relative / b.relative)) : 0;
    cost = (like == ClassSimilarity::kSame ? kSameClass : kSharedPart) +
           static_cast<int>(std::min<double>(kMostByTime, 5 * apart));
  }
  return static_cast<std::uint16_t>(std::max(cost, least));
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

ClassSimilarity class_similarity(std::string_view op_a, std::string_view op_b) {
  if (op_a == op_b) return ClassSimilarity::kSame;
  const Traits a = traits_of_class(op_a);
  const Traits b = traits_of_class(op_b);
  constexpr Traits kHow = kPrefillTrait | kDecodeTrait;
  // Attention of prompts, of new tokens and of neither in particular are one operation.
  if ((a & ~kHow) == (b & ~kHow) && (a & kAttentionTrait) != 0) return ClassSimilarity::kSame;
  if ((a & kGemmTrait) != 0 && (b & kGemmTrait) != 0) return ClassSimilarity::kPart;
  for (const std::string_view part : op_parts(op_a)) {
    const auto others = op_parts(op_b);
    if (std::ranges::find(others, part) != others.end()) return ClassSimilarity::kPart;
  }
  return ClassSimilarity::kNone;
}

AlignedSymbols make_symbols(std::span<const KernelUse> a, std::span<const KernelUse> b,
                            const KernelNameTable& kernel_names) {
  const auto by_text = [&](NameId x, NameId y) {
    return kernel_names.entries()[x].name < kernel_names.entries()[y].name;
  };
  std::map<NameId, AlignedSymbol, decltype(by_text)> known(by_text);
  for (const auto sequence : {a, b}) {
    const double mean = mean_time(sequence);
    for (const KernelUse& use : sequence) {
      AlignedSymbol& symbol = known[use.name];
      symbol.name = use.name;
      symbol.time = std::max(symbol.time, use.time);
      symbol.relative = std::max(symbol.relative, mean > 0 ? use.time / mean : 0);
    }
  }
  std::map<NameId, std::uint32_t> number;
  std::vector<AlignedSymbol> symbols;
  for (const auto& [name, symbol] : known) {
    number[name] = static_cast<std::uint32_t>(symbols.size());
    symbols.push_back(symbol);
  }
  AlignedSymbols out;
  out.costs.symbols = symbols.size();
  for (const AlignedSymbol& symbol : symbols) out.costs.gap.push_back(symbol.gap());
  if (symbols.size() <= kMostPairedSymbols) {
    const ClassSimilarities similarities(symbols, kernel_names);
    for (const AlignedSymbol& symbol : symbols) {
      for (const AlignedSymbol& other : symbols)
        out.costs.pair.push_back(pair_cost(symbol, other, similarities, kernel_names));
    }
  }
  for (const KernelUse& use : a) out.a.push_back(number[use.name]);
  for (const KernelUse& use : b) out.b.push_back(number[use.name]);
  return out;
}

}  // namespace tracedb
