#include "base/text/regular_expression.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "base/text/characters.h"

namespace tracedb {
namespace {

constexpr std::size_t kLongestPattern = 1000;

struct Fault {
  std::string reason;
  std::size_t at = 0;  // byte of the expression, from 0
};

// The expression as RE2 reads it, with what RE2 would not tell of it: where groups begin, and what other libraries
// know and RE2 takes for something else.
class Translation {
 public:
  explicit Translation(std::string_view pattern) : pattern_(pattern) {
    while (at_ < pattern.size() && !fault_) take_element();
    if (!fault_ && !open_.empty()) fault_ = Fault{"missing )", open_.back()};
  }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::optional<Fault>& fault() const { return fault_; }
  // The byte of the expression for a byte of text().
  [[nodiscard]] std::size_t origin(std::size_t at) const {
    const auto before = std::ranges::lower_bound(inserted_, at) - inserted_.begin();
    return at - static_cast<std::size_t>(before);
  }

 private:
  [[nodiscard]] bool next_is(std::string_view what) const { return pattern_.substr(at_).starts_with(what); }
  void copy(std::size_t bytes) {
    const std::string_view part = pattern_.substr(at_, bytes);
    text_ += part;
    at_ += part.size();
  }

  void take_element() {
    switch (pattern_[at_]) {
      case '\\':
        return take_escape();
      case '[':
        return take_bracket();
      case '(':
        return open_group();
      case ')':
        if (open_.empty()) {
          fault_ = Fault{"unexpected )", at_};
          return;
        }
        open_.pop_back();
        return copy(1);
      default:
        return copy(1);
    }
  }

  void take_escape() {
    const char next = at_ + 1 < pattern_.size() ? pattern_[at_ + 1] : '\0';
    if (next >= '1' && next <= '9') fault_ = Fault{"references back to a group are not supported", at_};
    if (next == '<' || next == '>') fault_ = Fault{"the edge of a word is \\b", at_};
    if (next != 'Q') return copy(2);
    const std::size_t end = pattern_.find("\\E", at_);
    copy(end == std::string_view::npos ? pattern_.size() : end + 2 - at_);
  }

  // "]" is the first character of a class, or ends it; "[:" begins a name, and POSIX has two more of those.
  void take_bracket() {
    const std::size_t begin = at_;
    copy(next_is("[^") ? 2 : 1);
    if (next_is("]")) copy(1);
    while (at_ < pattern_.size() && !next_is("]")) {
      if (next_is("[.") || next_is("[=")) {
        fault_ = Fault{"collating elements are not supported", at_};
        return;
      }
      const std::size_t end = next_is("[:") ? pattern_.find(":]", at_) : std::string_view::npos;
      copy(end != std::string_view::npos ? end + 2 - at_ : next_is("\\") ? 2 : 1);
    }
    if (at_ == pattern_.size()) fault_ = Fault{"missing ]", begin};
    copy(1);
  }

  void open_group() {
    for (const std::string_view look : {"(?=", "(?!", "(?<=", "(?<!"}) {
      if (next_is(look)) fault_ = Fault{"lookahead and lookbehind are not supported", at_};
    }
    open_.push_back(at_);
    if (!next_is("(?<")) return copy(1);
    copy(2);
    inserted_.push_back(text_.size());
    text_ += 'P';
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
  std::string text_;
  std::vector<std::size_t> inserted_;  // bytes of text_ that are not of the expression
  std::vector<std::size_t> open_;      // groups
  std::optional<Fault> fault_;
};

re2::RE2::Options options() {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_dot_nl(true);
  return options;
}

std::size_t first_broken(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && utf8_sequence_length(text.substr(at)) > 0) at += utf8_sequence_length(text.substr(at));
  return at;
}

// RE2 quotes what it could not read: at its first place where it is the fault.
std::size_t place_of(const re2::RE2& expression, std::string_view text) {
  const std::string& quoted = expression.error_arg();
  if (expression.error_code() == re2::RE2::ErrorTrailingBackslash) return text.size() - 1;
  if (expression.error_code() == re2::RE2::ErrorBadUTF8) return first_broken(text);
  if (quoted.empty()) return 0;
  for (std::size_t at = text.find(quoted); at != std::string_view::npos; at = text.find(quoted, at + 1)) {
    const re2::RE2 beginning(std::string(text.substr(0, at + quoted.size())), options());
    if (beginning.error_code() == expression.error_code() && beginning.error_arg() == quoted) return at;
  }
  return 0;
}

std::optional<Fault> fault_of(const re2::RE2& expression, const Translation& translation) {
  if (translation.fault()) return translation.fault();
  if (expression.ok()) return std::nullopt;
  std::string reason = expression.error();
  reason.resize(std::min(reason.find(": "), reason.size()));
  if (expression.error_code() == re2::RE2::ErrorRepeatSize) reason = "repeats out of order, or too many of them";
  return Fault{reason, translation.origin(place_of(expression, translation.text()))};
}

}  // namespace

RegularExpression::RegularExpression(std::string_view pattern) {
  if (pattern.size() > kLongestPattern) {
    fault_ = fmt::format("longer than {} bytes", kLongestPattern);
    return;
  }
  const Translation translation(pattern);
  compiled_ = std::make_unique<re2::RE2>(translation.text(), options());
  const std::optional<Fault> fault = fault_of(*compiled_, translation);
  if (!fault) return;
  const std::string_view before = pattern.substr(0, fault->at);
  const auto characters = std::ranges::count_if(before, [](char c) { return (c & 0xC0) != 0x80; });
  fault_ = fmt::format("{} at character {} of the expression", fault->reason, characters + 1);
}

RegularExpression::~RegularExpression() = default;
RegularExpression::RegularExpression(RegularExpression&&) noexcept = default;
RegularExpression& RegularExpression::operator=(RegularExpression&&) noexcept = default;

bool RegularExpression::is_in(std::string_view text) const {
  return compiled_->Match({text.data(), text.size()}, 0, text.size(), re2::RE2::UNANCHORED, nullptr, 0);
}

std::optional<RegularExpression::Groups> RegularExpression::find(std::string_view text, std::size_t from) const {
  std::vector<re2::StringPiece> parts(groups() + 1);
  const bool found = compiled_->Match({text.data(), text.size()}, from, text.size(), re2::RE2::UNANCHORED, parts.data(),
                                      static_cast<int>(parts.size()));
  if (!found) return std::nullopt;
  Groups out;
  for (const re2::StringPiece& part : parts) {
    out.push_back(part.data() == nullptr ? std::nullopt : std::optional(std::string_view(part.data(), part.size())));
  }
  return out;
}

std::size_t RegularExpression::groups() const { return static_cast<std::size_t>(compiled_->NumberOfCapturingGroups()); }

const std::map<int, std::string>& RegularExpression::names() const { return compiled_->CapturingGroupNames(); }

}  // namespace tracedb
