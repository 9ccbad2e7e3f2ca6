#include "base/python/json.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/failure.h"
#include "base/files/input_file.h"
#include "base/files/small_file.h"
#include "base/text/utf8.h"

namespace tracedb::python {
namespace {

namespace json = simdjson::ondemand;

Value number_of(json::number number) {
  if (number.is_int64()) return integer(number.get_int64());
  if (!number.is_uint64()) return real(number.get_double());
  const std::uint64_t large = number.get_uint64();
  Value out = real(static_cast<double>(large));
  out.kind = Kind::kInt;
  out.text = std::to_string(large);
  return out;
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

}  // namespace tracedb::python
