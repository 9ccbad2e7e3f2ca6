#include "sql/tables/sql_token.h"

#include <strings.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace tracedb {
namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word_part(char c) { return is_letter(c) || is_digit(c) || c == '$'; }

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) {}

  std::vector<SqlToken> all() {
    while (skip_blanks(), at_ < text_.size()) {
      const std::size_t start = at_;
      const SqlToken::Kind kind = next();
      tokens_.push_back({kind, start, text_.substr(start, at_ - start)});
    }
    return std::move(tokens_);
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
        ++at_;
      } else if (text_.substr(at_).starts_with("--")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_.substr(at_).starts_with("/*")) {
        const std::size_t end = text_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? text_.size() : end + 2;
      } else {
        return;
      }
    }
  }

  SqlToken::Kind next() {
    const char first = text_[at_];
    if (first == '\'' || first == '"' || first == '`') return quoted(first);
    if (first == '[') return quoted(']');
    if (is_letter(first)) return word();
    if (is_digit(first)) return number();
    if (first == ':' || first == '@' || first == '$' || first == '?' || first == '#') {
      ++at_;
      word();
      return SqlToken::Kind::kOther;
    }
    return sign();
  }

  // A quote within is written twice.
  SqlToken::Kind quoted(char end) {
    ++at_;
    while (at_ < text_.size()) {
      if (text_[at_++] != end) continue;
      if (end == ']' || at_ == text_.size() || text_[at_] != end) break;
      ++at_;
    }
    return SqlToken::Kind::kOther;
  }

  SqlToken::Kind word() {
    while (at_ < text_.size() && is_word_part(text_[at_])) ++at_;
    return SqlToken::Kind::kWord;
  }

  SqlToken::Kind number() {
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    if (at_ == text_.size() || (!is_word_part(text_[at_]) && text_[at_] != '.')) return SqlToken::Kind::kNumber;
    while (at_ < text_.size() && (is_word_part(text_[at_]) || text_[at_] == '.')) ++at_;
    return SqlToken::Kind::kOther;
  }

  SqlToken::Kind sign() {
    constexpr std::array<std::string_view, 10> kLong = {"<=", ">=", "<>", "==", "!=", "||", "<<", ">>", "->>", "->"};
    const std::string_view rest = text_.substr(at_);
    const auto* const found = std::find_if(kLong.begin(), kLong.end(), [&](auto one) { return rest.starts_with(one); });
    at_ += found == kLong.end() ? 1 : found->size();
    return SqlToken::Kind::kSign;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<SqlToken> tokens_;
};

}  // namespace

bool is_same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

bool SqlToken::is_word(std::string_view word) const { return kind == Kind::kWord && is_same_name(text, word); }

bool SqlToken::is_one_of(std::span<const std::string_view> words) const {
  return std::any_of(words.begin(), words.end(), [this](std::string_view word) { return is_word(word); });
}

std::vector<SqlToken> sql_tokens(std::string_view statement) { return Tokenizer(statement).all(); }

}  // namespace tracedb
