#include "base/python/literal.h"

#include <algorithm>
#include <utility>

#include "base/text/ascii.h"
#include "base/text/decimal.h"

namespace tracedb::python {
namespace {

constexpr int kDeepest = 200;  // brackets within brackets

// What is wrong makes the functions return false; the source is then no literal.
class Parser {
 public:
  explicit Parser(std::string_view source) : source_(source) {}

  bool document(Value& out) {
    if (!value(out, 0)) return false;
    skip_space();
    return at_ == source_.size();
  }

 private:
  void skip_space() { at_ = std::min(source_.find_first_not_of(" \t\r\n", at_), source_.size()); }

  bool take(std::string_view word) {
    skip_space();
    if (!source_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  bool value(Value& out, int depth) {
    if (depth > kDeepest) return false;
    if (take("[")) return items("]", Kind::kList, out, depth);
    if (take("(")) return items(")", Kind::kTuple, out, depth);
    if (take("'")) return text('\'', out);
    if (take("\"")) return text('"', out);
    return take("None") || number(out);
  }

  // "(x)" is x itself, "(x,)" a tuple.
  bool items(std::string_view end, Kind kind, Value& out, int depth) {
    out.kind = kind;
    bool comma = true;
    for (; !take(end); comma = take(",")) {
      if (!comma || !value(out.items.emplace_back(), depth + 1)) return false;
    }
    if (kind == Kind::kTuple && out.items.size() == 1 && !comma) out = Value(std::move(out.items[0]));
    return true;
  }

  bool number(Value& out) {
    const std::size_t end = std::min(source_.find_first_not_of("+-.0123456789eE", at_), source_.size());
    std::string_view digits = source_.substr(at_, end - at_);
    at_ = end;
    const auto parsed = parse_double(digits);
    if (digits.starts_with('-')) digits.remove_prefix(1);
    const bool octal = digits.size() > 1 && digits[0] == '0' && is_ascii_digit(digits[1]);
    if (!parsed || octal) return false;
    out = real(*parsed);
    return true;
  }

  // Behind the quote.
  bool text(char quote, Value& out) {
    constexpr std::string_view kLetters = "\\'\"ntr", kMeanings = "\\'\"\n\t\r";
    out.kind = Kind::kText;
    while (at_ < source_.size() && source_[at_] != '\n') {
      const char c = source_[at_++];
      if (c == quote) return true;
      if (c != '\\') {
        out.text += c;
        continue;
      }
      const std::size_t letter = at_ < source_.size() ? kLetters.find(source_[at_++]) : std::string_view::npos;
      if (letter == std::string_view::npos) return false;
      out.text += kMeanings[letter];
    }
    return false;
  }

  std::string_view source_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<Value> parse_literal(std::string_view source) {
  Value out;
  if (!Parser(source).document(out)) return std::nullopt;
  return out;
}

}  // namespace tracedb::python
