#include "sql/tables/number_expression.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text/decimal.h"
#include "base/unknown.h"

namespace tracedb {

// Operators of one rank are applied from left to right, those of a later rank first.
class NumberParser {
 public:
  NumberParser(std::span<const SqlToken> tokens, const NumberExpression::ColumnOf& column_of)
      : tokens_(tokens), column_of_(column_of) {}

  std::optional<NumberExpression> parse() {
    if (!operation(0) || at_ != tokens_.size()) return std::nullopt;
    return std::move(out_);
  }

 private:
  using What = NumberExpression::What;
  struct Operator {
    std::string_view sign;
    std::size_t rank;
    What what;
  };
  static constexpr std::size_t kRanks = 4, kDeepest = 50;
  static constexpr Operator kOperators[] = {
      {"=", 0, What::kEqual},     {"==", 0, What::kEqual},
      {"<>", 0, What::kUnequal},  {"!=", 0, What::kUnequal},
      {"<", 1, What::kLess},      {"<=", 1, What::kLessOrEqual},
      {">", 1, What::kGreater},   {">=", 1, What::kGreaterOrEqual},
      {"+", 2, What::kAdd},       {"-", 2, What::kSubtract},
      {"*", 3, What::kMultiply},  {"/", 3, What::kDivide},
      {"%", 3, What::kRemainder},
  };

  bool operation(std::size_t rank) {
    if (rank == kRanks) return operand();
    if (!operation(rank + 1)) return false;
    while (const Operator* found = operator_of(rank)) {
      take();
      if (!operation(rank + 1)) return false;
      out_.steps_.push_back({found->what});
    }
    return true;
  }

  bool operand() {
    if (at_ == tokens_.size() || depth_ > kDeepest) return false;
    const SqlToken& token = tokens_[at_];
    if (token.is_sign("(")) return in_brackets();
    if (token.is_sign("-")) {
      take();
      ++depth_;
      if (!operand()) return false;
      --depth_;
      out_.steps_.push_back({What::kNegative});
      return true;
    }
    return token.kind == SqlToken::Kind::kNumber ? number() : column();
  }

  bool in_brackets() {
    take();
    ++depth_;
    if (!operation(0) || at_ == tokens_.size() || !tokens_[at_].is_sign(")")) return false;
    --depth_;
    take();
    return true;
  }

  bool number() {
    const auto value = parse_int64(tokens_[at_].text);
    if (!value) return false;
    take();
    out_.steps_.push_back({What::kNumber, *value});
    return true;
  }

  bool column() {
    const SqlToken& token = tokens_[at_];
    const int found = token.kind == SqlToken::Kind::kWord ? column_of_(token.text) : -1;
    if (found < 0) return false;
    take();
    out_.steps_.push_back({What::kColumn, found});
    return true;
  }

  [[nodiscard]] const Operator* operator_of(std::size_t rank) const {
    if (at_ == tokens_.size() || tokens_[at_].kind != SqlToken::Kind::kSign) return nullptr;
    const auto* const found = std::find_if(std::begin(kOperators), std::end(kOperators), [&](const Operator& one) {
      return one.rank == rank && one.sign == tokens_[at_].text;
    });
    return found == std::end(kOperators) ? nullptr : found;
  }

  void take() { out_.text_.append(out_.text_.empty() ? "" : " ").append(tokens_[at_++].text); }

  std::span<const SqlToken> tokens_;
  const NumberExpression::ColumnOf& column_of_;
  NumberExpression out_;
  std::size_t at_ = 0, depth_ = 0;
};

std::optional<NumberExpression> NumberExpression::parse(std::span<const SqlToken> tokens, const ColumnOf& column_of) {
  return NumberParser(tokens, column_of).parse();
}

std::vector<int> NumberExpression::columns() const {
  std::vector<int> out;
  for (const Step& step : steps_) {
    const int column = static_cast<int>(step.number);
    if (step.what == What::kColumn && std::find(out.begin(), out.end(), column) == out.end()) out.push_back(column);
  }
  return out;
}

namespace {

// Of two numbers; false: the result needs more than 64 bits. NULL with anything is NULL.
template <class Operation>
bool combine(std::span<std::int64_t> a, std::span<const std::int64_t> b, Operation operation) {
  bool fits = true;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::int64_t out = kUnknownValue;
    if (a[i] != kUnknownValue && b[i] != kUnknownValue) fits &= operation(a[i], b[i], out);
    a[i] = out;
  }
  return fits;
}

template <class Test>
bool compare(std::span<std::int64_t> a, std::span<const std::int64_t> b, Test test) {
  return combine(a, b, [test](std::int64_t x, std::int64_t y, std::int64_t& out) {
    out = test(x, y) ? 1 : 0;
    return true;
  });
}

// For an operation that says whether the result needs more than 64 bits. kUnknownValue is a number, too, but one that
// cannot be told from NULL.
template <class Operation>
bool calculate(std::span<std::int64_t> a, std::span<const std::int64_t> b, Operation overflows) {
  return combine(a, b, [overflows](std::int64_t x, std::int64_t y, std::int64_t& out) {
    const bool is_too_large = overflows(x, y, out);
    return !is_too_large && out != kUnknownValue;
  });
}

}  // namespace

bool NumberExpression::apply(What what, std::span<std::int64_t> a, std::span<const std::int64_t> b) {
  using Number = std::int64_t;
  switch (what) {
    case What::kAdd:
      return calculate(a, b, [](Number x, Number y, Number& out) { return __builtin_add_overflow(x, y, &out); });
    case What::kSubtract:
      return calculate(a, b, [](Number x, Number y, Number& out) { return __builtin_sub_overflow(x, y, &out); });
    case What::kMultiply:
      return calculate(a, b, [](Number x, Number y, Number& out) { return __builtin_mul_overflow(x, y, &out); });
    case What::kDivide:
      return combine(a, b, [](Number x, Number y, Number& out) {
        if (y != 0) out = x / y;
        return true;
      });
    case What::kRemainder:
      return combine(a, b, [](Number x, Number y, Number& out) {
        if (y != 0) out = x % y;
        return true;
      });
    case What::kEqual:
      return compare(a, b, std::equal_to<>());
    case What::kUnequal:
      return compare(a, b, std::not_equal_to<>());
    case What::kLess:
      return compare(a, b, std::less<>());
    case What::kLessOrEqual:
      return compare(a, b, std::less_equal<>());
    case What::kGreater:
      return compare(a, b, std::greater<>());
    case What::kGreaterOrEqual:
      return compare(a, b, std::greater_equal<>());
    default:
      return false;
  }
}

// Some rows at a time, which stay in the processor's cache.
std::optional<LargeVector<std::int64_t>> NumberExpression::values(
    std::span<const std::span<const std::int64_t>> columns, std::size_t rows) const {
  constexpr std::size_t kRowsAtOnce = 1024;
  const std::vector<int> numbers = this->columns();
  LargeVector<std::int64_t> out(rows);
  std::vector<std::array<std::int64_t, kRowsAtOnce>> stack(steps_.size());
  for (std::size_t first = 0; first < rows; first += kRowsAtOnce) {
    const std::size_t count = std::min(kRowsAtOnce, rows - first);
    std::size_t depth = 0;
    for (const Step& step : steps_) {
      if (step.what == What::kColumn) {
        const auto place = std::find(numbers.begin(), numbers.end(), static_cast<int>(step.number)) - numbers.begin();
        const auto part = columns[static_cast<std::size_t>(place)].subspan(first, count);
        std::copy(part.begin(), part.end(), stack[depth++].begin());
      } else if (step.what == What::kNumber) {
        stack[depth++].fill(step.number);
      } else if (step.what == What::kNegative) {
        for (std::int64_t& value : stack[depth - 1]) value = value == kUnknownValue ? value : -value;
      } else {
        --depth;
        if (!apply(step.what, std::span(stack[depth - 1]).first(count), std::span(stack[depth]).first(count)))
          return {};
      }
    }
    std::copy_n(stack[0].begin(), count, out.begin() + static_cast<std::ptrdiff_t>(first));
  }
  return out;
}

}  // namespace tracedb
