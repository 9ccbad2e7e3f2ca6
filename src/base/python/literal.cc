#include "base/python/literal.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/python/text.h"
#include "base/text/ascii.h"

namespace tracedb::python {
namespace {

constexpr int kDeepest = 200;  // brackets within brackets

bool starts_word(char c) { return is_ascii_letter(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80; }

int hex_value(char c) {
  if (is_ascii_digit(c)) return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
}

// What is wrong makes the functions return false; the text is then no literal.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  bool document(Literal& out) {
    at_ = std::min(text_.find_first_not_of(" \t"), text_.size());
    if (!tuple_items(out)) return false;
    skip_space();
    return at_ == text_.size();
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  [[nodiscard]] bool done() const { return at_ >= text_.size(); }

  bool take(char c) {
    skip_space();
    if (done() || peek() != c) return false;
    ++at_;
    return true;
  }

  void skip_space() {
    while (!done()) {
      if (peek() == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (peek() == '\\' && peek(1) == '\n') {
        at_ += 2;
      } else if (std::string_view(" \t\n\f").find(peek()) != std::string_view::npos) {
        ++at_;
      } else {
        return;
      }
    }
  }

  // "x", or "x, y" and "x," which are tuples.
  bool tuple_items(Literal& out) {
    Literal first;
    if (!expression(first)) return false;
    if (!take(',')) {
      out = std::move(first);
      return true;
    }
    out.kind = LiteralKind::kTuple;
    out.items.push_back(std::move(first));
    for (skip_space(); !done() && peek() != ')'; skip_space()) {
      if (!expression(out.items.emplace_back())) return false;
      if (!take(',')) break;
    }
    return true;
  }

  bool expression(Literal& out) {
    skip_space();
    const char c = peek();
    if (done()) return false;
    if (c == '(' || c == '[' || c == '{') return bracketed(out);
    if (c == '+' || c == '-' || is_ascii_digit(c) || (c == '.' && is_ascii_digit(peek(1)))) return sum(out);
    if (c == '.') return ellipsis(out);
    if (c == '\'' || c == '"') return texts(out);
    return starts_word(c) && word(out);
  }

  bool bracketed(Literal& out) {
    if (++depth_ > kDeepest) return false;
    const char open = text_[at_++];
    const bool good = open == '(' ? parentheses(out) : open == '[' ? list(out) : braces(out);
    --depth_;
    return good;
  }

  bool parentheses(Literal& out) {
    if (take(')')) {
      out.kind = LiteralKind::kTuple;
      return true;
    }
    return tuple_items(out) && take(')');
  }

  bool list(Literal& out) {
    out.kind = LiteralKind::kList;
    while (!take(']')) {
      if (!expression(out.items.emplace_back())) return false;
      if (!take(',')) return take(']');
    }
    return true;
  }

  bool braces(Literal& out) {
    out.kind = LiteralKind::kDict;
    if (take('}')) return true;
    if (!expression(out.items.emplace_back())) return false;
    const bool dict = take(':');
    if (!dict) out.kind = LiteralKind::kSet;
    if (dict && !expression(out.items.emplace_back())) return false;
    while (take(',')) {
      if (take('}')) return true;
      if (!expression(out.items.emplace_back())) return false;
      if (dict && (!take(':') || !expression(out.items.emplace_back()))) return false;
    }
    return take('}');
  }

  bool ellipsis(Literal& out) {
    out.kind = LiteralKind::kEllipsis;
    if (!text_.substr(at_).starts_with("...")) return false;
    at_ += 3;
    return true;
  }

  // A number with its sign; a real one may be followed by an imaginary one.
  bool sum(Literal& out) {
    if (!signed_number(out)) return false;
    skip_space();
    if (peek() != '+' && peek() != '-') return true;
    ++at_;
    skip_space();
    Literal imaginary;
    if (out.kind == LiteralKind::kComplex || !number(imaginary) || imaginary.kind != LiteralKind::kComplex)
      return false;
    out = std::move(imaginary);
    return true;
  }

  bool signed_number(Literal& out) {
    const bool negative = peek() == '-';
    if (negative || peek() == '+') ++at_;
    skip_space();
    if (peek() == '(') return false;
    if (!number(out)) return false;
    if (negative) out.number = -out.number;
    return true;
  }

  bool number(Literal& out) {
    constexpr std::pair<char, int> kBases[] = {{'x', 16}, {'o', 8}, {'b', 2}};
    for (const auto& [letter, base] : kBases) {
      if (peek() == '0' && (peek(1) | 0x20) == letter) return based_integer(base, out);
    }
    std::string plain;
    const std::size_t begin = at_;
    const bool whole = digits(plain);
    bool real = false;
    if (peek() == '.') {
      real = true;
      plain += text_[at_++];
      if (!digits(plain) && !whole) return false;
    }
    if ((peek() | 0x20) == 'e' &&
        (is_ascii_digit(peek(1)) || ((peek(1) == '+' || peek(1) == '-') && is_ascii_digit(peek(2))))) {
      real = true;
      plain += text_[at_++];
      if (!is_ascii_digit(peek())) plain += text_[at_++];
      digits(plain);
    }
    if (begin == at_) return false;
    out.kind = real ? LiteralKind::kFloat : LiteralKind::kInt;
    out.number = std::strtod(plain.c_str(), nullptr);
    if ((peek() | 0x20) == 'j') {
      ++at_;
      out.kind = LiteralKind::kComplex;
    }
    const bool octal_of_old = out.kind == LiteralKind::kInt && plain.size() > 1 && plain[0] == '0' && out.number != 0;
    return !octal_of_old && !starts_word(peek()) && peek() != '_';
  }

  bool digits(std::string& out) {
    const std::size_t begin = at_;
    while (is_ascii_digit(peek()) || (peek() == '_' && at_ > begin && is_ascii_digit(peek(1)))) {
      if (peek() != '_') out += peek();
      ++at_;
    }
    return at_ > begin;
  }

  bool based_integer(int base, Literal& out) {
    out.kind = LiteralKind::kInt;
    at_ += 2;
    bool any = false;
    for (; hex_value(peek()) < base || (peek() == '_' && hex_value(peek(1)) < base); ++at_) {
      if (peek() == '_') continue;
      out.number = out.number * base + hex_value(peek());
      any = true;
    }
    return any && !starts_word(peek()) && !is_ascii_digit(peek());
  }

  bool word(Literal& out) {
    const std::size_t begin = at_;
    while (starts_word(peek()) || is_ascii_digit(peek())) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (peek() == '\'' || peek() == '"') {
      at_ = begin;
      return texts(out);
    }
    if (name == "set") {
      out.kind = LiteralKind::kSet;
      return take('(') && take(')');
    }
    out.kind = name == "None" ? LiteralKind::kNone : LiteralKind::kBool;
    out.number = name == "True" ? 1 : 0;
    return name == "None" || name == "True" || name == "False";
  }

  // Texts beside each other are one.
  bool texts(Literal& out) {
    bool first = true;
    for (;; first = false) {
      const std::size_t prefix = at_;
      while (starts_word(peek())) ++at_;
      if (peek() != '\'' && peek() != '"') {
        at_ = prefix;
        return !first;
      }
      const std::string letters = ascii_lower(text_.substr(prefix, at_ - prefix));
      const bool bytes = letters == "b" || letters == "br" || letters == "rb";
      const bool raw = letters == "r" || letters == "br" || letters == "rb";
      if (!bytes && !raw && !letters.empty() && letters != "u") return false;
      const LiteralKind kind = bytes ? LiteralKind::kBytes : LiteralKind::kText;
      if (!first && out.kind != kind) return false;
      out.kind = kind;
      if (!text_body(raw, bytes, out.text)) return false;
      skip_space();
    }
  }

  bool text_body(bool raw, bool bytes, std::string& out) {
    const char quote = peek();
    const bool tripled = peek(1) == quote && peek(2) == quote;
    const std::string end(tripled ? 3 : 1, quote);
    at_ += end.size();
    while (!done()) {
      if (text_.substr(at_).starts_with(end)) {
        at_ += end.size();
        return true;
      }
      const char c = text_[at_++];
      if ((c == '\n' && !tripled) || (bytes && static_cast<unsigned char>(c) >= 0x80)) return false;
      if (c != '\\') {
        out += c;
      } else if (raw) {
        out += c;
        if (!done()) out += text_[at_++];
      } else if (!escape(bytes, out)) {
        return false;
      }
    }
    return false;
  }

  bool escape(bool bytes, std::string& out) {
    if (done()) return false;
    const char c = text_[at_++];
    constexpr std::string_view kLetters = "\\'\"abfnrtv";
    constexpr std::string_view kMeanings = "\\'\"\a\b\f\n\r\t\v";
    if (const std::size_t found = kLetters.find(c); found != std::string_view::npos) {
      out += kMeanings[found];
      return true;
    }
    if (c == '\n') return true;
    if (c >= '0' && c <= '7') {
      --at_;
      return code(8, 1, 3, out);
    }
    if (c == 'x') return code(16, 2, 2, out);
    if (!bytes && c == 'u') return code(16, 4, 4, out);
    if (!bytes && c == 'U') return code(16, 8, 8, out);
    if (!bytes && c == 'N') return false;
    out += '\\';
    out += c;
    return true;
  }

  // A character by its number, of `least` to `most` digits.
  bool code(int base, int least, int most, std::string& out) {
    char32_t value = 0;
    int count = 0;
    for (; count < most && hex_value(peek()) < base; ++count) {
      value = value * static_cast<char32_t>(base) + static_cast<char32_t>(hex_value(text_[at_++]));
    }
    if (count < least || value > 0x10FFFF) return false;
    append_code_point(out, value);
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::optional<Literal> parse_literal(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return std::nullopt;
  Literal out;
  if (!Parser(text).document(out)) return std::nullopt;
  return out;
}

std::string_view type_name(const Literal& literal) {
  constexpr std::string_view kNames[] = {"NoneType", "bool",     "int",  "float", "complex", "str",
                                         "bytes",    "ellipsis", "list", "tuple", "set",     "dict"};
  return kNames[static_cast<std::size_t>(literal.kind)];
}

bool is_hashable(const Literal& literal) {
  if (literal.kind == LiteralKind::kTuple) return std::all_of(literal.items.begin(), literal.items.end(), is_hashable);
  return literal.kind < LiteralKind::kList;
}

}  // namespace tracedb::python
