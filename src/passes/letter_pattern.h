// A text in which '*' stands for any letters, made ready once to be compared with many texts. Immutable once made.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

class LetterPattern {
 public:
  explicit LetterPattern(std::string_view pattern);

  // The whole of `text`. Linear in it, for the short pieces that patterns have.
  [[nodiscard]] bool fits(std::string_view text) const;

 private:
  std::vector<std::string> pieces_;  // between the stars; one: no star
};

}  // namespace tracedb
