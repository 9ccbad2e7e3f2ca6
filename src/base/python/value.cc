#include "base/python/value.h"

#include <algorithm>

namespace tracedb::python {

const Value* Value::find(std::string_view key) const {
  const auto found =
      std::find_if(members.rbegin(), members.rend(), [&](const auto& member) { return member.key == key; });
  return found == members.rend() ? nullptr : &found->value;
}

bool Value::is_true() const {
  switch (kind) {
    case Kind::kNone:
      return false;
    case Kind::kBool:
      return flag;
    case Kind::kInt:
      return text != "0";
    case Kind::kFloat:
      return number != 0;
    case Kind::kText:
      return !text.empty();
    case Kind::kList:
      return !items.empty();
    case Kind::kDict:
      return !members.empty();
  }
  return false;
}

std::string_view type_name(const Value& value) {
  constexpr std::string_view kNames[] = {"NoneType", "bool", "int", "float", "str", "list", "dict"};
  return kNames[static_cast<std::size_t>(value.kind)];
}

}  // namespace tracedb::python
