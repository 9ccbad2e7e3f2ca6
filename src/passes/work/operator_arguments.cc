#include "passes/work/operator_arguments.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "base/text/characters.h"
#include "base/text/decimal.h"
#include "base/text/json_text.h"

namespace tracedb {
namespace {

constexpr std::size_t kMostDims = 64;

// Empty: nothing is wrong with them.
std::string_view read_dims(std::string_view list, Dims& out) {
  for (const std::string_view element : json_elements(list)) {
    const auto size = parse_int64(element);
    if (!size) return "a dimension is no number";
    if (*size < 0) return "a dimension is negative";
    if (out.size() == kMostDims) return "too many dimensions";
    out.push_back(*size);
  }
  return {};
}

// A tensor's, or those of a list of tensors.
std::string_view read_shape(std::string_view text, Argument& out) {
  const auto inner = json_elements(text);
  if (inner.empty() || !inner.front().starts_with('[')) return read_dims(text, out.dims);
  for (const std::string_view member : inner) {
    const std::string_view problem = read_dims(member, out.list.emplace_back());
    if (!problem.empty()) return problem;
  }
  return {};
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Of an element; nullopt: no type of tensors, or an unknown one. Case matters but behind "c10::".
std::optional<TypeSize> type_size(std::string_view type) {
  static constexpr std::pair<std::string_view, int> kPlainTypes[] = {
      {"double", 8}, {"long int", 8},     {"long", 8},        {"unsigned long", 8}, {"float", 4},
      {"int", 4},    {"unsigned int", 4}, {"short int", 2},   {"short", 2},         {"unsigned short", 2},
      {"bool", 1},   {"char", 1},         {"signed char", 1}, {"unsigned char", 1}};
  static constexpr std::pair<std::string_view, TypeSize> kC10[] = {
      {"complex<double>", {16}}, {"complex<float>", {8}},     {"half", {2}},        {"bfloat16", {2}},
      {"float8_e4m3fn", {1}},    {"float8_e4m3fnuz", {1}},    {"float8_e5m2", {1}}, {"float8_e5m2fnuz", {1}},
      {"float8_e8m0fnu", {1}},   {"float4_e2m1fn_x2", {1, 2}}};
  constexpr std::string_view kSpace = "c10::";
  if (!type.starts_with(kSpace)) {
    const auto* const found = std::ranges::find(kPlainTypes, type, &std::pair<std::string_view, int>::first);
    return found == std::end(kPlainTypes) ? std::nullopt : std::optional(TypeSize{found->second});
  }
  const std::string lower = ascii_lower(type.substr(kSpace.size()));
  const auto* const found = std::ranges::find(kC10, lower, &std::pair<std::string_view, TypeSize>::first);
  return found == std::end(kC10) ? std::nullopt : std::optional(found->second);
}

}  // namespace

Amount times(Amount a, Amount b) {
  if (!a || !b || *a < 0 || *b < 0) return std::nullopt;
  if (*b != 0 && *a > std::numeric_limits<std::int64_t>::max() / *b) return std::nullopt;
  return *a * *b;
}

Amount plus(Amount a, Amount b) {
  if (!a || !b || *a > std::numeric_limits<std::int64_t>::max() - *b) return std::nullopt;
  return *a + *b;
}

Amount elements(const Dims& dims) {
  Amount out = 1;
  if (std::ranges::find(dims, 0) != dims.end()) return 0;
  for (const std::int64_t size : dims) out = times(out, size);
  return out;
}

Amount Argument::bytes() const { return is_tensor() ? times(elements(dims), size->bytes) : Amount(0); }

std::optional<bool> Argument::flag() const {
  if (value == "True" || value == "true") return true;
  if (value == "False" || value == "false") return false;
  return std::nullopt;
}

std::optional<Dims> Argument::numbers() const {
  std::string_view text = trimmed(value);
  if (text.empty()) return std::nullopt;
  const bool is_list = text.front() == '[';
  if (is_list && text.back() != ']') return std::nullopt;
  if (is_list) text = trimmed(text.substr(1, text.size() - 2));
  Dims out;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const auto number = parse_int64(trimmed(text.substr(0, comma)));
    if (!number) return std::nullopt;
    out.push_back(*number);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return out;
}

OperatorArguments read_arguments(std::string_view dims, std::string_view types, std::string_view strides,
                                 std::string_view values) {
  const auto shape_list = json_elements(dims), type_list = json_elements(types), stride_list = json_elements(strides),
             value_list = json_elements(values);
  OperatorArguments out;
  if (!dims.empty() && json_value_length(dims) != dims.size()) out.problem = "the list of dimensions is cut short";
  if (!types.empty() && type_list.size() != shape_list.size()) out.problem = "not as many types as arguments";
  out.list.resize(shape_list.size());
  for (std::size_t i = 0; i < out.list.size(); ++i) {
    Argument& one = out.list[i];
    const auto text = [&](const auto& list) { return i < list.size() ? unescape(raw_string(list[i])).text : ""; };
    one.type = text(type_list);
    one.value = text(value_list);
    one.size = type_size(one.type);
    const std::string_view problem = read_shape(shape_list[i], one);
    if (!problem.empty()) out.problem = problem;
    if (i >= stride_list.size() || !one.list.empty()) continue;
    for (const std::string_view stride : json_elements(stride_list[i])) {
      one.strides.push_back(parse_int64(stride).value_or(0));
    }
  }
  return out;
}

}  // namespace tracedb
