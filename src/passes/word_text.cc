#include "passes/word_text.h"

#include <array>
#include <cstddef>

namespace tracedb {
namespace {

enum class Kind : unsigned char { kLower, kUpper, kDigit, kOther };

constexpr std::array<Kind, 256> kinds() {
  std::array<Kind, 256> table{};
  table.fill(Kind::kOther);
  for (int c = 'a'; c <= 'z'; ++c) table[static_cast<std::size_t>(c)] = Kind::kLower;
  for (int c = 'A'; c <= 'Z'; ++c) table[static_cast<std::size_t>(c)] = Kind::kUpper;
  for (int c = '0'; c <= '9'; ++c) table[static_cast<std::size_t>(c)] = Kind::kDigit;
  return table;
}

constexpr std::array<Kind, 256> kKinds = kinds();

Kind kind_of(char c) { return kKinds[static_cast<unsigned char>(c)]; }

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
  word_text(text, out);
  return out;
}

void word_text(std::string_view text, WordText& out) {
  out.letters.resize(text.size());
  out.word_starts.resize(text.size() + 1);
  char* letter = out.letters.data();
  std::uint8_t* start = out.word_starts.data();
  bool begins = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const Kind kind = kind_of(c);
    if (kind != Kind::kOther) {
      *start++ = begins || begins_word(text, i) ? 1 : 0;
      *letter++ = kind == Kind::kUpper ? static_cast<char>(c - 'A' + 'a') : c;
      begins = false;
      continue;
    }
    begins = true;
    if (c == '_' || c == ' ' || c == ')') continue;
    if (c == ':' && i > 0 && text[i - 1] == ':') continue;
    *start++ = 1;
    *letter++ = c == ':' ? ':' : ',';
  }
  *start = 1;
  const auto length = static_cast<std::size_t>(letter - out.letters.data());
  out.letters.resize(length);
  out.word_starts.resize(length + 1);
}

}  // namespace tracedb
