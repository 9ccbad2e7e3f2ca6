#include "compare/align/symbol_costs.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "passes/classify/kernel_traits.h"

namespace tracedb {
namespace {

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
    if (std::find(others.begin(), others.end(), part) != others.end()) return ClassSimilarity::kPart;
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
