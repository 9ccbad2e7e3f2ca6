#include "trace/rank_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text/characters.h"
#include "base/text/decimal.h"
#include "base/text/regular_expression.h"

namespace tracedb {
namespace {

// Behind which a word begins: "8rank3" is a size.
constexpr std::string_view kNoLetter = "(?:^|[^a-z])", kNeither = "(?:^|[^a-z0-9])";

// Whose ranks are not those of the job.
constexpr std::string_view kOfGroup =
    "(?:^|[^a-z])(?:local|tp|pp|dp|ep|cp|sp|mp|etp|edp|node|group|lora|low|matrix|intra|inter|re)[^a-z0-9]+$";
// First in the name, or after nothing but a time: elsewhere it may be a size.
constexpr std::string_view kOfSglang =
    "^(?:[^a-z]*[^a-z0-9])?tp-[0-9]{1,5}(?:$|[^a-z0-9]+(?:$|(?:trace|decode|extend|json|pt)(?:$|[^a-z])))";

class NameReader {
 public:
  explicit NameReader(std::string_view name) : name_(name), plain_(ascii_lower(name)) {
    std::ranges::replace_if(
        plain_, [](char c) { return static_cast<unsigned char>(c) > 0x7F; }, '~');
  }

  [[nodiscard]] std::optional<NamedRank> read() const {
    std::vector<Part> ranks = parts(kNeither, "(?:global|world)?rank", "-_=.: ");
    const RegularExpression of_group(kOfGroup);
    std::erase_if(ranks, [&](const Part& part) { return of_group.is_in(plain_.substr(0, part.begin)); });
    if (ranks.empty()) {
      // "ascend_pytorch_profiler_3.db", "profiler_info_3.json"
      ranks = parts(kNoLetter, "pytorch[^a-z0-9]+profiler|profiler[^a-z0-9]+info", "_");
      if (ranks.empty()) return from_positions();
      ranks.resize(1);
    }
    const Part& first = ranks.front();
    const bool agree = std::ranges::all_of(ranks, [&](const Part& part) { return part.number == first.number; });
    return agree ? std::optional(named(first.number, first, first)) : std::nullopt;
  }

 private:
  // Of the name: words and the number behind them.
  struct Part {
    std::string words;
    std::int64_t number = 0;
    std::size_t begin = 0, end = 0;
  };

  // One of `separators` may stand before the number. Six digits are a date, more are a process id or a time; a number
  // at which a word begins, other than "of", is a part of something else.
  [[nodiscard]] std::vector<Part> parts(std::string_view before, std::string_view words,
                                        std::string_view separators) const {
    const RegularExpression expression(
        fmt::format("{}(({})[{}]?([0-9]{{1,5}}))(?:$|[^a-z0-9]|of(?:$|[^a-z]))", before, words, separators));
    std::vector<Part> out;
    std::size_t end = 0;
    while (const auto groups = expression.find(plain_, end)) {
      const std::string_view whole = (*groups)[1].value();
      const auto begin = static_cast<std::size_t>(whole.data() - plain_.data());
      end = begin + whole.size();
      out.push_back({std::string((*groups)[2].value()), parse_int64((*groups)[3].value()).value(), begin, end});
    }
    return out;
  }

  [[nodiscard]] NamedRank named(std::int64_t rank, const Part& first, const Part& last) const {
    return {rank, std::string(name_.substr(first.begin, last.end - first.begin))};
  }

  // Sizes are written alike, but no size is 0: positions are known by the zeros of the others.
  [[nodiscard]] std::optional<NamedRank> from_positions() const {
    const std::vector<Part> positions = parts(kNeither, "tp|pp|dp|ep|cp|sp|dcp|pcp", "-_");
    const auto is_tensor = [](const Part& part) { return part.words == "tp"; };
    if (std::ranges::count_if(positions, is_tensor) != 1) return std::nullopt;
    const Part& tensor = *std::ranges::find_if(positions, is_tensor);
    const bool by_sglang = name_.substr(tensor.begin).starts_with("TP") && RegularExpression(kOfSglang).is_in(plain_);
    if (positions.size() == 1 && tensor.number != 0 && !by_sglang) return std::nullopt;
    for (const Part& part : positions) {
      // Experts are spread over the same devices: their position repeats the tensor-parallel one.
      const bool repeats = part.words == "ep" && part.number == tensor.number;
      if (!is_tensor(part) && part.number != 0 && !repeats) return std::nullopt;
    }
    return named(tensor.number, positions.front(), positions.back());
  }

  std::string_view name_;
  std::string plain_;  // in small letters, other characters than those of ASCII replaced
};

}  // namespace

std::optional<NamedRank> rank_in_name(std::string_view name) { return NameReader(name).read(); }

}  // namespace tracedb
