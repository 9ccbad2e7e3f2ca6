// Text as rules look at it: letters, with the places where words begin. Words begin after punctuation, at "aB"
// (camelCase), at "ABc" before the B (acronyms), and where digits begin or end: "FusedAddRMSNorm2dFwd" is fused add rms
// norm 2 d fwd. Made in one pass.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

// Lower-case letters and digits; ':' stands for "::", ',' for other punctuation that separates (arguments, lists).
// Blanks, underscores and closing parentheses are dropped: they only begin words.
struct NormalizedName {
  std::string letters;
  std::vector<std::uint8_t> word_starts;  // 1: a word begins here; one more than letters, for the end
};

NormalizedName normalize_name(std::string_view text);
void normalize_name(std::string_view text, NormalizedName& out);  // reuses the memory of `out`

}  // namespace tracedb
