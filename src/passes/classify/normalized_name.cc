#include "passes/classify/normalized_name.h"

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

constexpr std::array<Kind, 256> kKindOfChar = kinds();

Kind kind_of(char c) { return kKindOfChar[static_cast<unsigned char>(c)]; }

// Whether a word begins at a letter or digit, by its kind and those before and behind it.
constexpr bool begins_word(Kind before, Kind here, Kind behind) {
  if (before == Kind::kOther) return true;
  if (before == here) return here == Kind::kUpper && behind == Kind::kLower;
  return before == Kind::kDigit || here != Kind::kLower;
}

constexpr std::size_t place(Kind before, Kind here, Kind behind) {
  return static_cast<std::size_t>(before) << 4U | static_cast<std::size_t>(here) << 2U |
         static_cast<std::size_t>(behind);
}

// begins_word() for all, and 1 for punctuation. Tables, for branches on letters are rarely foreseen.
constexpr std::array<std::uint8_t, 64> kBegins = [] {
  constexpr std::array<Kind, 4> kAll = {Kind::kLower, Kind::kUpper, Kind::kDigit, Kind::kOther};
  std::array<std::uint8_t, 64> table{};
  for (const Kind before : kAll) {
    for (const Kind here : kAll) {
      for (const Kind behind : kAll) {
        const bool begins = here == Kind::kOther || begins_word(before, here, behind);
        table[place(before, here, behind)] = begins ? 1 : 0;
      }
    }
  }
  return table;
}();

// What a character becomes; 0: nothing.
constexpr std::array<char, 256> kLetters = [] {
  std::array<char, 256> table{};
  table.fill(',');
  for (int c = 'a'; c <= 'z'; ++c) table[static_cast<std::size_t>(c)] = static_cast<char>(c);
  for (int c = 'A'; c <= 'Z'; ++c) table[static_cast<std::size_t>(c)] = static_cast<char>(c - 'A' + 'a');
  for (int c = '0'; c <= '9'; ++c) table[static_cast<std::size_t>(c)] = static_cast<char>(c);
  table[':'] = ':';
  table['_'] = table[' '] = table[')'] = 0;
  return table;
}();

}  // namespace

NormalizedName normalize_name(std::string_view text) {
  NormalizedName out;
  normalize_name(text, out);
  return out;
}

void normalize_name(std::string_view text, NormalizedName& out) {
  out.letters.resize(text.size());
  out.word_starts.resize(text.size() + 1);
  char* letter = out.letters.data();
  std::uint8_t* start = out.word_starts.data();
  Kind before = Kind::kOther;
  Kind here = text.empty() ? Kind::kOther : kind_of(text[0]);
  bool behind_colon = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const Kind behind = i + 1 < text.size() ? kind_of(text[i + 1]) : Kind::kOther;
    const char out_letter = kLetters[static_cast<unsigned char>(text[i])];
    const bool kept = out_letter != 0 && !(behind_colon && out_letter == ':');
    *letter = out_letter;
    *start = kBegins[place(before, here, behind)];
    letter += kept ? 1 : 0;
    start += kept ? 1 : 0;
    behind_colon = out_letter == ':';
    before = here;
    here = behind;
  }
  *start = 1;
  const auto length = static_cast<std::size_t>(letter - out.letters.data());
  out.letters.resize(length);
  out.word_starts.resize(length + 1);
}

}  // namespace tracedb
