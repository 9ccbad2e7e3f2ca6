#include "passes/work/element_types.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/text/characters.h"

namespace tracedb {
namespace {

using enum NumberKind;

constexpr auto kTypes = std::to_array<ElementType>({
    {"unsigned char", "uint8", 0, 1, kInteger},
    {"signed char", "int8", 1, 1, kInteger},
    {"char", "int8", 1, 1, kInteger},
    {"short int", "int16", 2, 2, kInteger},
    {"short", "int16", 2, 2, kInteger},
    {"int", "int32", 3, 4, kInteger},
    {"long int", "int64", 4, 8, kInteger},
    {"long", "int64", 4, 8, kInteger},
    {"c10::half", "float16", 5, 2, kFloat},
    {"float", "float32", 6, 4, kFloat},
    {"double", "float64", 7, 8, kFloat},
    {"c10::complex<float>", "complex64", 9, 8, kComplex},
    {"c10::complex<double>", "complex128", 10, 16, kComplex},
    {"bool", "bool", 11, 1, kBool},
    {"c10::bfloat16", "bfloat16", 15, 2, kFloat},
    {"c10::float8_e5m2", "float8_e5m2", 23, 1, kFloat},
    {"c10::float8_e4m3fn", "float8_e4m3fn", 24, 1, kFloat},
    {"c10::float8_e5m2fnuz", "float8_e5m2fnuz", 25, 1, kFloat},
    {"c10::float8_e4m3fnuz", "float8_e4m3fnuz", 26, 1, kFloat},
    {"short unsigned int", "uint16", 27, 2, kInteger},
    {"unsigned short", "uint16", 27, 2, kInteger},
    {"unsigned int", "uint32", 28, 4, kInteger},
    {"long unsigned int", "uint64", 29, 8, kInteger},
    {"unsigned long", "uint64", 29, 8, kInteger},
    {"c10::float8_e8m0fnu", "float8_e8m0fnu", 44, 1, kFloat},
    {"c10::float4_e2m1fn_x2", "float4_e2m1fn_x2", 45, 1, kFloat, 2},
});

const ElementType* known(const ElementType* found) { return found == kTypes.end() ? nullptr : found; }

}  // namespace

std::span<const ElementType> element_types() { return kTypes; }

const ElementType* element_type(std::string_view recorded) {
  const std::string name = recorded.starts_with("c10::") ? ascii_lower(recorded) : std::string(recorded);
  return known(std::ranges::find(kTypes, name, &ElementType::name));
}

const ElementType* element_type(std::int64_t number) {
  return known(std::ranges::find(kTypes, number, &ElementType::number));
}

const ElementType* wider(const ElementType* a, const ElementType* b) {
  constexpr std::int64_t kShort = 2, kSingle = 6;
  if (a == nullptr || b == nullptr) return nullptr;
  const auto width = [](const ElementType& one) { return std::pair(one.bytes, one.kind); };
  if (a->number != b->number && width(*a) == width(*b) && a->bytes <= 2) {
    return element_type(a->kind == kFloat ? kSingle : kShort);
  }
  return width(*a) < width(*b) ? b : a;
}

}  // namespace tracedb
