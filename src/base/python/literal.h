// Python source of a constant: numbers, texts, and lists, tuples, sets and dicts of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb::python {

enum class LiteralKind : std::uint8_t {
  kNone,
  kBool,
  kInt,
  kFloat,
  kComplex,
  kText,
  kBytes,
  kEllipsis,
  kList,
  kTuple,
  kSet,
  kDict
};

struct Literal {
  LiteralKind kind = LiteralKind::kNone;
  std::string text;            // of kText and kBytes, UTF-8
  double number = 0;           // of kBool, kInt, kFloat, and the imaginary part of kComplex
  std::vector<Literal> items;  // of kList, kTuple, kSet; of kDict keys and values in turn
};

// ast.literal_eval(text); nullopt where that raises ValueError or SyntaxError. Names of characters, "\N{...}", are not
// known here.
std::optional<Literal> parse_literal(std::string_view text);

std::string_view type_name(const Literal& literal);  // "NoneType", "bool", "int", ...
bool is_hashable(const Literal& literal);

}  // namespace tracedb::python
