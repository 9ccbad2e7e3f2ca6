// Types of the elements of tensors, as PyTorch's profiler names them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tracedb {

enum class NumberKind : std::uint8_t { kBool, kInteger, kFloat, kComplex };  // in the order in which PyTorch widens

struct ElementType {
  std::string_view name;   // as recorded: of C++; behind "c10::" in lower case, for there case varies
  std::string_view torch;  // in Python, without "torch."
  int number;              // PyTorch's, of its ScalarType
  int bytes;
  NumberKind kind;
  int values = 1;  // packed in one element
};

std::span<const ElementType> element_types();
const ElementType* element_type(std::string_view recorded);  // null: no type of tensors, or an unknown one
const ElementType* element_type(std::int64_t number);        // null: unknown

// Of an operation of both. As wide as the wider; halves of two kinds make floats, bytes of two kinds shorts. Null is
// unknown.
const ElementType* wider(const ElementType* a, const ElementType* b);

}  // namespace tracedb
