// Values of Python: what its json module makes of a document, and what repr() prints. Texts are UTF-8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb::python {

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

}  // namespace tracedb::python
