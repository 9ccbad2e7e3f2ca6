// Arithmetic and comparisons of whole numbers, as SQLite computes them: for columns as arrays (array_column.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/large_vector.h"
#include "sql/tables/sql_token.h"

namespace tracedb {

class NumberExpression {
 public:
  // The number of a column of whole numbers by its name; -1: it is none.
  using ColumnOf = std::function<int(std::string_view name)>;

  // Of names, decimal numbers, + - * / %, comparisons and brackets. nullopt: there is something else.
  static std::optional<NumberExpression> parse(std::span<const SqlToken> tokens, const ColumnOf& column_of);

  [[nodiscard]] const std::string& text() const { return text_; }  // the same for the same tokens
  [[nodiscard]] bool is_column() const { return steps_.size() == 1 && steps_[0].what == What::kColumn; }
  [[nodiscard]] std::vector<int> columns() const;

  // Of each row, given the values of columns(), in that order. kUnknownValue is NULL. nullopt: one of them needs more
  // than 64 bits, where SQLite goes on with reals.
  [[nodiscard]] std::optional<LargeVector<std::int64_t>> values(std::span<const std::span<const std::int64_t>> columns,
                                                                std::size_t rows) const;

 private:
  friend class NumberParser;

  enum class What {
    kColumn,
    kNumber,
    kNegative,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kRemainder,
    kEqual,
    kUnequal,
    kLess,
    kLessOrEqual,
    kGreater,
    kGreaterOrEqual
  };
  struct Step {
    What what;
    std::int64_t number = 0;  // or that of the column
  };

  static bool apply(What what, std::span<std::int64_t> a, std::span<const std::int64_t> b);

  std::vector<Step> steps_;  // operands before their operator
  std::string text_;
};

}  // namespace tracedb
