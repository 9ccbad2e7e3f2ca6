#include "trace/rank_name.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text/characters.h"
#include "base/text/decimal.h"

namespace tracedb {
namespace {

constexpr std::size_t kMostDigits = 5;  // six are a date, more are a process id or a time

// A run of letters or of digits, and what stands before it.
struct Token {
  std::string_view text;
  std::size_t begin = 0;
  std::string_view before;  // neither letters nor digits
  [[nodiscard]] bool number() const { return is_ascii_digit(text.front()); }
};

std::vector<Token> tokens_of(std::string_view name) {
  std::vector<Token> tokens;
  std::size_t at = 0;
  while (at < name.size()) {
    const std::size_t start = at;
    while (at < name.size() && !is_ascii_digit(name[at]) && !is_ascii_letter(name[at])) ++at;
    const std::size_t begin = at;
    if (begin == name.size()) break;
    const bool digits = is_ascii_digit(name[at]);
    while (at < name.size() && (digits ? is_ascii_digit(name[at]) : is_ascii_letter(name[at]))) ++at;
    tokens.push_back({name.substr(begin, at - begin), begin, name.substr(start, begin - start)});
  }
  return tokens;
}

bool is_one_of(const std::string& word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

class NameReader {
 public:
  explicit NameReader(std::string_view name) : name_(name), tokens_(tokens_of(name)) {}

  [[nodiscard]] std::optional<NamedRank> read() const {
    std::vector<NamedRank> found;
    for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
      if (std::optional<NamedRank> rank = rank_at(i)) found.push_back(std::move(*rank));
    }
    if (found.empty()) return from_ascend() ? from_ascend() : from_positions();
    const bool agree =
        std::ranges::all_of(found, [&](const NamedRank& other) { return other.rank == found.front().rank; });
    return agree ? std::optional(std::move(found.front())) : std::nullopt;
  }

 private:
  struct Position {
    std::string kind;
    std::int64_t value;
    std::size_t first, last;  // tokens
  };

  [[nodiscard]] std::string word(std::size_t i) const { return ascii_lower(tokens_[i].text); }

  // The number in token `i`, if it is one, `separators` may stand before it, and no letter follows at once.
  [[nodiscard]] std::optional<std::int64_t> number_at(std::size_t i, std::string_view separators) const {
    const Token& token = tokens_[i];
    if (!token.number() || token.text.size() > kMostDigits) return std::nullopt;
    if (token.before.size() > 1 || token.before.find_first_not_of(separators) != std::string_view::npos) {
      return std::nullopt;
    }
    const bool glued = i + 1 < tokens_.size() && tokens_[i + 1].before.empty() && word(i + 1) != "of";
    return glued ? std::nullopt : parse_int64(token.text);
  }

  [[nodiscard]] NamedRank named(std::int64_t rank, std::size_t first, std::size_t last) const {
    const std::size_t begin = tokens_[first].begin;
    return {rank, std::string(name_.substr(begin, tokens_[last].begin + tokens_[last].text.size() - begin))};
  }

  [[nodiscard]] std::optional<NamedRank> rank_at(std::size_t i) const {
    const std::string name = word(i);
    if (!is_one_of(name, {"rank", "globalrank", "worldrank"})) return std::nullopt;
    if (i > 0 && tokens_[i].before.empty()) return std::nullopt;  // "8rank3"
    if (i > 0 && is_one_of(word(i - 1), {"local", "tp", "pp", "dp", "ep", "cp", "sp", "mp", "etp", "edp", "node",
                                         "group", "lora", "low", "matrix", "intra", "inter", "re"})) {
      return std::nullopt;
    }
    const std::optional<std::int64_t> rank = number_at(i + 1, "-_=.: ");
    return rank ? std::optional(named(*rank, i, i + 1)) : std::nullopt;
  }

  // "ascend_pytorch_profiler_3.db", "profiler_info_3.json"
  [[nodiscard]] std::optional<NamedRank> from_ascend() const {
    for (std::size_t i = 1; i + 1 < tokens_.size(); ++i) {
      const std::string before = word(i - 1), own = word(i);
      if ((before != "pytorch" || own != "profiler") && (before != "profiler" || own != "info")) continue;
      if (const std::optional<std::int64_t> rank = number_at(i + 1, "_")) return named(*rank, i - 1, i + 1);
    }
    return std::nullopt;
  }

  // Sizes are written alike, but no size is 0: positions are known by the zeros of the others.
  [[nodiscard]] std::optional<NamedRank> from_positions() const {
    const std::vector<Position> positions = positions_in_name();
    const auto is_tensor = [](const Position& position) { return position.kind == "tp"; };
    if (std::ranges::count_if(positions, is_tensor) != 1) return std::nullopt;
    const Position& tensor = *std::ranges::find_if(positions, is_tensor);
    const bool alone = positions.size() == 1;
    if (alone && tensor.value != 0 && !is_named_by_sglang(tensor)) return std::nullopt;
    for (const Position& position : positions) {
      // Experts are spread over the same devices: their position repeats the tensor-parallel one.
      const bool repeats = position.kind == "ep" && position.value == tensor.value;
      if (!is_tensor(position) && position.value != 0 && !repeats) return std::nullopt;
    }
    return named(tensor.value, positions.front().first, positions.back().last);
  }

  [[nodiscard]] std::vector<Position> positions_in_name() const {
    std::vector<Position> positions;
    for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
      const std::string kind = word(i);
      if (!is_one_of(kind, {"tp", "pp", "dp", "ep", "cp", "sp", "dcp", "pcp"})) continue;
      if (i > 0 && tokens_[i].before.empty()) continue;
      if (const std::optional<std::int64_t> value = number_at(i + 1, "-_"))
        positions.push_back({kind, *value, i, i + 1});
    }
    return positions;
  }

  // "TP-3" first in the name, or after nothing but a time: elsewhere it may be a size.
  [[nodiscard]] bool is_named_by_sglang(const Position& tensor) const {
    if (tokens_[tensor.first].text != "TP" || tokens_[tensor.last].before != "-") return false;
    if (tensor.last + 1 < tokens_.size() &&
        !is_one_of(word(tensor.last + 1), {"trace", "decode", "extend", "json", "pt"})) {
      return false;
    }
    return std::all_of(tokens_.begin(), tokens_.begin() + static_cast<std::ptrdiff_t>(tensor.first),
                       [](const Token& token) { return token.number(); });
  }

  std::string_view name_;
  std::vector<Token> tokens_;
};

}  // namespace

std::optional<NamedRank> rank_in_name(std::string_view name) { return NameReader(name).read(); }

}  // namespace tracedb
