#include "base/python/json.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/failure.h"
#include "base/files/input_file.h"
#include "base/files/small_file.h"
#include "base/text/characters.h"
#include "base/text/decimal.h"

namespace tracedb::python {
namespace {

namespace json = simdjson::ondemand;

Value number_of(json::number number) {
  if (number.is_int64()) return integer(number.get_int64());
  if (!number.is_uint64()) return real(number.get_double());
  const std::uint64_t large = number.get_uint64();
  return {Kind::kInt, static_cast<double>(large), std::to_string(large), {}, {}};
}

// Throws simdjson_error.
template <class Source>
Value value_of(Source& source, int depth, const EventVisit& element = {}) {
  constexpr int kDeepest = 900;  // Python's own limit is about 990
  if (depth > kDeepest) throw simdjson::simdjson_error(simdjson::DEPTH_ERROR);
  Value out;
  switch (json::json_type(source.type())) {
    case json::json_type::array:
      out.kind = Kind::kList;
      for (json::value item : json::array(source.get_array())) {
        if (element) {
          element(value_of(item, depth + 1));
        } else {
          out.items.push_back(value_of(item, depth + 1));
        }
      }
      break;
    case json::json_type::object:
      out.kind = Kind::kDict;
      for (json::field field : json::object(source.get_object())) {
        const std::string_view key = field.unescaped_key();
        Member& member = out.members.emplace_back(Member{std::string(key), {}});
        member.value = value_of(field.value(), depth + 1);
      }
      break;
    case json::json_type::string:
      return text(source.get_string());
    case json::json_type::number:
      return number_of(source.get_number());
    case json::json_type::boolean:
      out.kind = Kind::kBool;
      out.number = bool(source.get_bool()) ? 1 : 0;
      break;
    case json::json_type::null:
      if (!source.is_null()) throw simdjson::simdjson_error(simdjson::N_ATOM_ERROR);
      break;
  }
  return out;
}

class Writer {
 public:
  explicit Writer(NonAscii non_ascii) : non_ascii_(non_ascii) {}

  void write(const Value& value, std::size_t depth) {
    switch (value.kind) {
      case Kind::kNone:
        out_ += "null";
        break;
      case Kind::kBool:
        out_ += value.number != 0 ? "true" : "false";
        break;
      case Kind::kInt:
        out_ += value.text;
        break;
      case Kind::kFloat:
        out_ += std::isfinite(value.number) ? float_text(value.number) : infinite(value.number);
        break;
      case Kind::kText:
        write_text(value.text);
        break;
      case Kind::kList:
      case Kind::kTuple:
        write_items(value.items, depth, "[]", [&](const Value& item) { write(item, depth + 1); });
        break;
      case Kind::kDict:
        write_items(value.members, depth, "{}", [&](const Member& member) {
          write_text(member.key);
          out_ += ": ";
          write(member.value, depth + 1);
        });
        break;
    }
  }

  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  static const char* infinite(double number) { return number > 0 ? "Infinity" : number < 0 ? "-Infinity" : "NaN"; }

  template <class Items, class Write>
  void write_items(const Items& items, std::size_t depth, std::string_view brackets, Write write_item) {
    constexpr std::size_t kIndent = 2;
    out_ += brackets.front();
    for (const auto& item : items) {
      out_ += &item == &items.front() ? "\n" : ",\n";
      out_.append(kIndent * (depth + 1), ' ');
      write_item(item);
    }
    if (!items.empty()) out_ += "\n" + std::string(kIndent * depth, ' ');
    out_ += brackets.back();
  }

  void write_text(std::string_view text) {
    constexpr std::string_view kCharacters = "\"\\\n\r\t\b\f", kLetters = "\"\\nrtbf";
    out_ += '"';
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t length = std::max<std::size_t>(1, utf8_sequence_length(text.substr(at)));
      const char c = text[at];
      if (const std::size_t letter = kCharacters.find(c); letter != std::string_view::npos) {
        out_ += {'\\', kLetters[letter]};
      } else if (static_cast<unsigned char>(c) < 0x20 ||
                 (non_ascii_ == NonAscii::kEscaped && (length > 1 || c == 0x7F))) {
        write_escape(text.substr(at, length));
      } else {
        out_ += text.substr(at, length);
      }
      at += length;
    }
    out_ += '"';
  }

  // Of one character.
  void write_escape(std::string_view sequence) {
    constexpr std::uint32_t kLeadBits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    std::uint32_t c = static_cast<unsigned char>(sequence[0]) & kLeadBits[sequence.size()];
    for (const char next : sequence.substr(1)) c = c << 6U | (static_cast<unsigned char>(next) & 0x3FU);
    if (c >= 0x10000) {
      out_ += fmt::format("\\u{:04x}", 0xD800 + ((c - 0x10000) >> 10U));
      c = 0xDC00 + ((c - 0x10000) & 0x3FFU);
    }
    out_ += fmt::format("\\u{:04x}", c);
  }

  NonAscii non_ascii_;
  std::string out_;
};

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

Value read_json(std::string text, std::string_view name, const EventVisit& element) {
  text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  json::parser parser;
  json::document document;
  const auto fault =
      parser.iterate(simdjson::padded_string_view(text.data(), text.size(), text.capacity())).get(document);
  if (fault != simdjson::SUCCESS) {
    throw Error(ErrorCode::kInput, fmt::format("{}: not JSON: {}", name, simdjson::error_message(fault)));
  }
  Value value;
  const auto error = catch_error([&] {
    value = value_of(document, 0, element);
    if (document.current_location().error() != simdjson::OUT_OF_BOUNDS) {
      throw simdjson::simdjson_error(simdjson::TRAILING_CONTENT);
    }
  });
  if (!error) return value;
  if (error->code() != ErrorCode::kResource) throw *error;  // of element()
  const char* at = nullptr;
  const bool is_known = document.current_location().get(at) == simdjson::SUCCESS;
  const std::size_t byte = is_known ? static_cast<std::size_t>(at - text.data()) : text.size();
  throw Error(ErrorCode::kInput, fmt::format("{}: not JSON, about byte {}: {}", name, byte, error->what()));
}

Value read_json_file(const std::string& path, const EventVisit& element) {
  constexpr std::size_t kLargest = std::size_t{4095} << 20U;  // of what simdjson takes
  return read_json(read_small_file(path, kLargest), printable_path(path), element);
}

EventVisit numbered_events(std::string_view path, EventVisit visit) {
  return [path = std::string(path), visit = std::move(visit), number = 0](const Value& event) mutable {
    ++number;
    const auto error = catch_error([&] {
      if (event.kind != Kind::kDict) throw Error(ErrorCode::kInput, "no JSON object");
      visit(event);
    });
    if (error) throw Error(error->code(), fmt::format("{}: event {}: {}", path, number, error->what()));
  };
}

void require_list(const Value& events, std::string_view path) {
  if (events.kind != Kind::kList) throw Error(ErrorCode::kInput, fmt::format("{}: no list of events", path));
}

std::string to_json(const Value& value, NonAscii non_ascii) {
  Writer writer(non_ascii);
  writer.write(value, 0);
  return writer.take();
}

const Value* Value::find(std::string_view key) const {
  const auto found =
      std::find_if(members.rbegin(), members.rend(), [&](const auto& member) { return member.key == key; });
  return found == members.rend() ? nullptr : &found->value;
}

bool Value::is_true() const {
  return kind == Kind::kText ? !text.empty() : number != 0 || !items.empty() || !members.empty();
}

Value integer(std::int64_t number) { return {Kind::kInt, static_cast<double>(number), std::to_string(number), {}, {}}; }

Value real(double number) { return {Kind::kFloat, number, {}, {}, {}}; }

Value text(std::string_view text) { return {Kind::kText, 0, std::string(text), {}, {}}; }

Value list(std::vector<Value> items) { return {Kind::kList, 0, {}, std::move(items), {}}; }

Value dict(std::vector<Member> members) { return {Kind::kDict, 0, {}, {}, std::move(members)}; }

std::string float_text(double number) {
  const std::string text = fmt::format("{}", number);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

std::string str(const Value& value) {
  if (value.kind == Kind::kFloat) return float_text(value.number);
  if (value.kind == Kind::kBool) return value.number != 0 ? "True" : "False";
  return value.kind == Kind::kNone ? "None" : value.text;
}

std::string key_of(const Value& value) {
  if (value.kind == Kind::kText) return "'" + value.text;
  const bool whole = value.is_number() && value.kind != Kind::kInt && value.number == std::trunc(value.number);
  return whole ? fmt::format("{:.0f}", value.number + 0.0) : str(value);
}

std::optional<Value> parse_literal(std::string_view source) {
  Value out;
  if (!Parser(source).document(out)) return std::nullopt;
  return out;
}

}  // namespace tracedb::python
