// JSON as Python's json module reads and writes it.
//
// For the modes that reproduce Python programs byte for byte. Traces are read by src/ingest, which is far faster.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb::python {

// Values of Python: what its json module makes of a document, and what repr() prints. Texts are UTF-8.

enum class Kind : std::uint8_t { kNone, kBool, kInt, kFloat, kText, kList, kTuple, kDict };

struct Member;

struct Value {
  Kind kind = Kind::kNone;
  double number = 0;            // of kBool, kInt, kFloat
  std::string text;             // of kText; of kInt its decimal digits
  std::vector<Value> items;     // of kList, kTuple
  std::vector<Member> members;  // of kDict, in the document's order, also of equal keys

  // nullptr: no dict, or it has no such key. The last of equal keys counts.
  [[nodiscard]] const Value* find(std::string_view key) const;
  [[nodiscard]] bool is_text(std::string_view other) const { return kind == Kind::kText && text == other; }
  [[nodiscard]] bool is_number() const { return kind == Kind::kBool || kind == Kind::kInt || kind == Kind::kFloat; }
  [[nodiscard]] bool is_sequence() const { return kind == Kind::kList || kind == Kind::kTuple; }
  [[nodiscard]] bool is_true() const;  // as bool(x)
};

struct Member {
  std::string key;
  Value value;
};

Value integer(std::int64_t number);
Value real(double number);
Value text(std::string_view text);
Value list(std::vector<Value> items);
Value dict(std::vector<Member> members);

// str(x) of a float: the shortest text that reads back the same, "584.0", "1e+16", "-0.0".
std::string float_text(double number);
// str(x) of what is no list, tuple or dict.
std::string str(const Value& value);
// Equal for equal values: 0, 0.0 and False are one, "0" is another. Of what is no list, tuple or dict.
std::string key_of(const Value& value);

using EventVisit = std::function<void(const Value&)>;

// `name` is for messages. With `element`, the elements of a document that is a list go there one by one, and the list
// that is returned stays empty. Throws what element() throws, and Error{kInput}: no JSON by RFC 8259, where; so NaN and
// integers beyond 64 bits, which Python takes, are none.
Value read_json(std::string text, std::string_view name, const EventVisit& element = {});
Value read_json_file(const std::string& path, const EventVisit& element = {});

// visit() for the events of the file `path`, one after the other: its errors get the file and the number of the event,
// from 1. Throws Error{kInput}: an event is no dict.
EventVisit numbered_events(std::string_view path, EventVisit visit);
// Throws Error{kInput}: `events` of the file `path` are no list.
void require_list(const Value& events, std::string_view path);

enum class NonAscii : std::uint8_t { kEscaped, kRaw };  // ensure_ascii

// json.dumps(value, indent=2)
std::string to_json(const Value& value, NonAscii non_ascii);

// Source of Python's constants as its repr() prints them: numbers, texts, None, and lists and tuples of these.

// nullopt: anything else, also where Python itself could read it: dicts, sets, bytes, True and False, numbers that are
// no JSON, texts with escapes other than \\ \' \" \n \t \r.
std::optional<Value> parse_literal(std::string_view source);

}  // namespace tracedb::python
