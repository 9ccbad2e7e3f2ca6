// Regular expressions of users and of our own tables. RE2 matches them in time proportional to the text and in bounded
// memory, whatever the expression; so there are no references back to a group and no lookaround.
//
// RE2's syntax (https://github.com/google/re2/wiki/Syntax), found anywhere in the text, case-sensitive; "." also
// matches a line feed, "^" and "$" only the ends of the text. Groups have names by (?<name>...) or (?P<name>...).
// Texts are UTF-8.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}

namespace tracedb {

class RegularExpression {
 public:
  // Groups of a match by their number; 0 is the whole of it. nullopt: the group took no part.
  using Groups = std::vector<std::optional<std::string_view>>;

  // Never throws for a wrong expression: see fault().
  explicit RegularExpression(std::string_view pattern);
  ~RegularExpression();
  RegularExpression(RegularExpression&&) noexcept;
  RegularExpression& operator=(RegularExpression&&) noexcept;

  // Why it cannot be used, and at which character, from 1: "missing ] at character 3 of the expression". Empty: it can.
  [[nodiscard]] const std::string& fault() const { return fault_; }

  // These need an expression without fault. Any number of threads.
  [[nodiscard]] bool is_in(std::string_view text) const;
  // The first match that begins at `from` or later; nullopt: none. Views into `text`.
  [[nodiscard]] std::optional<Groups> find(std::string_view text, std::size_t from = 0) const;
  [[nodiscard]] std::size_t groups() const;                       // without the whole
  [[nodiscard]] const std::map<int, std::string>& names() const;  // of those groups that have one

 private:
  std::unique_ptr<re2::RE2> compiled_;
  std::string fault_;
};

}  // namespace tracedb
