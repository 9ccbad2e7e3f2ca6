#include "base/python/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tracedb::python {

const Value* Value::find(std::string_view key) const {
  const auto found =
      std::find_if(members.rbegin(), members.rend(), [&](const auto& member) { return member.key == key; });
  return found == members.rend() ? nullptr : &found->value;
}

bool Value::is_true() const {
  return kind == Kind::kText ? !text.empty() : number != 0 || !items.empty() || !members.empty();
}

Value integer(std::int64_t number) {
  return {.kind = Kind::kInt, .number = static_cast<double>(number), .text = std::to_string(number)};
}
Value real(double number) { return {.kind = Kind::kFloat, .number = number}; }
Value text(std::string_view text) { return {.kind = Kind::kText, .text = std::string(text)}; }
Value list(std::vector<Value> items) { return {.kind = Kind::kList, .items = std::move(items)}; }
Value dict(std::vector<Member> members) { return {.kind = Kind::kDict, .members = std::move(members)}; }

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

}  // namespace tracedb::python
