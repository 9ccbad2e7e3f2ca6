// SQL text as SQLite takes it apart: for what has to be known of a statement before it is prepared.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace tracedb {

struct SqlToken {
  enum class Kind {
    kWord,    // a name or a keyword, not in quotes
    kNumber,  // decimal digits and nothing else
    kSign,    // an operator, a comma, a bracket ...
    kOther,   // names in quotes, texts, parameters, other numbers
  };
  Kind kind;
  std::size_t offset;
  std::string_view text;  // of the statement, which must outlive it

  [[nodiscard]] bool is_sign(std::string_view sign) const { return kind == Kind::kSign && text == sign; }
  [[nodiscard]] bool is_word(std::string_view word) const;  // in letters of any case
  [[nodiscard]] bool is_one_of(std::span<const std::string_view> words) const;
};

// Without blanks and comments.
std::vector<SqlToken> sql_tokens(std::string_view statement);

bool is_same_name(std::string_view a, std::string_view b);  // in letters of any case

}  // namespace tracedb
