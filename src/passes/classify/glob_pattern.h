// A pattern in which '*' matches any letters, prepared once for comparison with many texts. Immutable after
// construction.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

class GlobPattern {
 public:
  explicit GlobPattern(std::string_view pattern);

  // The whole of `text`. Linear in it, for the short pieces that patterns have.
  [[nodiscard]] bool fits(std::string_view text) const;

 private:
  std::vector<std::string> pieces_;  // between the stars; one: no star
};

}  // namespace tracedb
