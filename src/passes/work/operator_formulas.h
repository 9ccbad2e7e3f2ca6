// The formulas of operator_work.cc: each reads the places of arguments that a rule names. What the figures mean, and
// where the formulas are from: schema/METRICS.md 13.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>

#include "passes/work/operator_work.h"

namespace tracedb {

using Args = std::span<const Argument>;

struct ArgumentPlaces {
  constexpr ArgumentPlaces(std::initializer_list<int> list) {
    for (const int place : list) at.at(count++) = place;
  }
  constexpr int operator[](std::size_t i) const { return at.at(i); }
  std::array<int, 9> at = {};
  std::size_t count = 0;
};

// Of the result of an operator; above 0: as the argument at that place says, and where it does not, sums of narrow
// integers are of 64 bits.
enum ResultType : int {
  kOwnResult = 0,  // of its operands
  kInPlace = -1,   // of the first
  kBoolResult = -2,
  kFloatResult = -3,  // also of integers
  kRealResult = -4,   // also of complex numbers
};

struct FormulaRule;
using Formula = void(Args args, const FormulaRule& rule, const StepLengths* step, OperatorWork& work);

// What a formula reads besides the arguments: places of arguments, or how each is used.
struct FormulaRule {
  std::string_view name;  // or names, with blanks between them
  WorkFamily family;
  Formula* formula;
  ArgumentPlaces at = {};
  std::string_view uses = {};  // by argument: r read, w written, b both, d read and one result like it written, t two;
                               // of attention: l lengths; of not_recorded: what is not
  int per_element = 0;         // FLOPs per element of argument at[0], else of the first tensor
};

// The argument at a place; an absent one where there is none.
const Argument& argument(Args args, int place);
bool is_given(const Argument& tensor);  // and has dimensions

// Convolutions: places of bias, stride, padding, dilation, transposed, output padding and groups. Where the operator
// itself says whether it is transposed, one of these stands for that place.
constexpr int kNotTransposed = -1, kTransposed = -2;

Formula gemm, grouped_gemm, attention, attention_of_step, convolution, convolution_backward, moved, batch_norm,
    elementwise, reduce, gather, moe, not_recorded;

}  // namespace tracedb
