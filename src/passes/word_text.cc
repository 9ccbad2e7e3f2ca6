#include "passes/word_text.h"

#include <cstddef>

namespace tracedb {
namespace {

enum class Kind { kLower, kUpper, kDigit, kOther };

Kind kind_of(char c) {
  if (c >= 'a' && c <= 'z') return Kind::kLower;
  if (c >= 'A' && c <= 'Z') return Kind::kUpper;
  if (c >= '0' && c <= '9') return Kind::kDigit;
  return Kind::kOther;
}

bool begins_word(std::string_view text, std::size_t i) {
  if (i == 0) return true;
  const Kind before = kind_of(text[i - 1]);
  const Kind here = kind_of(text[i]);
  if (before == Kind::kOther) return true;
  if (here == Kind::kDigit || before == Kind::kDigit) return here != before;
  if (here == Kind::kUpper) {
    return before == Kind::kLower || (i + 1 < text.size() && kind_of(text[i + 1]) == Kind::kLower);
  }
  return false;
}

}  // namespace

WordText word_text(std::string_view text) {
  WordText out;
  out.letters.reserve(text.size());
  out.word_starts.reserve(text.size() + 1);
  bool start = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const Kind kind = kind_of(c);
    if (kind != Kind::kOther) {
      out.word_starts.push_back(start || begins_word(text, i) ? 1 : 0);
      out.letters += kind == Kind::kUpper ? static_cast<char>(c - 'A' + 'a') : c;
      start = false;
      continue;
    }
    start = true;
    if (c == '_' || c == ' ' || c == ')') continue;
    if (c == ':' && i > 0 && text[i - 1] == ':') continue;
    out.word_starts.push_back(1);
    out.letters += c == ':' ? ':' : ',';
  }
  out.word_starts.push_back(1);
  return out;
}

}  // namespace tracedb
