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

namespace {

Value with_number(Kind kind, double number) {
  Value out;
  out.kind = kind;
  out.number = number;
  return out;
}

}  // namespace

Value integer(std::int64_t number) {
  Value out = with_number(Kind::kInt, static_cast<double>(number));
  out.text = std::to_string(number);
  return out;
}

Value real(double number) { return with_number(Kind::kFloat, number); }

Value text(std::string_view text) {
  Value out = with_number(Kind::kText, 0);
  out.text = text;
  return out;
}

Value list(std::vector<Value> items) {
  Value out = with_number(Kind::kList, 0);
  out.items = std::move(items);
  return out;
}

Value dict(std::vector<Member> members) {
  Value out = with_number(Kind::kDict, 0);
  out.members = std::move(members);
  return out;
}

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
