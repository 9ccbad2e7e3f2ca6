// A value as Python's json module makes it of a document. Texts are UTF-8; a lone surrogate, which only an escape can
// bring in, is three bytes as if it were a character.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb::python {

enum class Kind : std::uint8_t { kNone, kBool, kInt, kFloat, kText, kList, kDict };

struct Member;

struct Value {
  Kind kind = Kind::kNone;
  bool flag = false;            // of kBool
  double number = 0;            // of kFloat
  std::string text;             // of kText; of kInt its decimal digits, as Python prints them
  std::vector<Value> items;     // of kList
  std::vector<Member> members;  // of kDict, in the document's order, also of equal keys

  // nullptr: the dict has no such key. The last of equal keys counts.
  [[nodiscard]] const Value* find(std::string_view key) const;
  [[nodiscard]] bool is_text(std::string_view other) const { return kind == Kind::kText && text == other; }
  [[nodiscard]] bool is_true() const;  // as bool(x)
};

struct Member {
  std::string key;
  Value value;
};

std::string_view type_name(const Value& value);  // "NoneType", "bool", "int", "float", "str", "list", "dict"

}  // namespace tracedb::python
