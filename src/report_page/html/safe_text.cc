#include "report_page/html/safe_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "report/escape.h"

namespace tracedb {
namespace {

constexpr std::size_t kMostPlaces = 300;
constexpr std::size_t kMostBytes = 8 * kMostPlaces;  // that are looked at: of longer names the middle is cut off first

// The next place at which a character may begin.
std::size_t character_begin(std::string_view text, std::size_t at) {
  constexpr std::size_t kMostBehindFirst = 3;  // bytes of one character
  for (std::size_t i = 0; i < kMostBehindFirst && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U; ++i) ++at;
  return at;
}

}  // namespace

std::string inert_name(std::string_view text) {
  if (text.size() <= kMostBytes) return shorten_middle(escape_text(text), kMostPlaces);
  const std::size_t half = kMostBytes / 2;
  const std::string ends = escape_text(text.substr(0, character_begin(text, half))) +
                           escape_text(text.substr(character_begin(text, text.size() - half)));
  return shorten_middle(ends, kMostPlaces);
}

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : escape_text(text)) {
    const HtmlEntity* entity = std::ranges::find(kHtmlEntities, c, &HtmlEntity::first);
    if (entity == std::end(kHtmlEntities)) {
      out += c;
    } else {
      out += entity->second;
    }
  }
  return out;
}

std::string data_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : escape_json(inert_name(text))) {
    if (c == '&' || c == '<' || c == '>') {
      out += fmt::format("\\u{:04x}", int{c});
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::int64_t NameList::index_of(const std::string& name) {
  constexpr std::size_t kMostNameBytes = 80'000;
  const std::string others = "[others]";
  if (const auto found = index_.find(name); found != index_.end()) return found->second;
  bytes_ += data_string(name).size();
  if (bytes_ > kMostNameBytes && name != others) return index_of(others);
  names_.push_back(name);
  return index_[name] = static_cast<std::int64_t>(names_.size()) - 1;
}

}  // namespace tracedb
