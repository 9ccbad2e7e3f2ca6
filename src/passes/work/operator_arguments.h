// The arguments of one call of a framework operator, as PyTorch's profiler records them with record_shapes: lists of
// dimensions, types, strides and values, one entry an argument (table op_shape).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

using Dims = std::vector<std::int64_t>;

// Products of counts and sizes; nullopt: not known, or more than 63 bits.
using Amount = std::optional<std::int64_t>;
Amount times(Amount a, Amount b);
Amount plus(Amount a, Amount b);
Amount elements(const Dims& dims);  // 1 of no dimensions

struct TypeSize {
  int bytes = 0;
  int values = 1;  // packed in one element
};

struct Argument {
  Dims dims;
  std::vector<Dims> list;  // of a list of tensors
  Dims strides;            // empty: not recorded
  std::string type;        // "" where an optional argument is absent
  std::string value;       // of what is no tensor, as text: "True", "[1, 1]"; "" if not recorded
  std::optional<TypeSize> size;

  // An empty list of dimensions with the type of a tensor is a tensor of no dimensions: one element.
  [[nodiscard]] bool is_tensor() const { return size && list.empty(); }
  [[nodiscard]] Amount bytes() const;  // 0 of what is no tensor
  [[nodiscard]] std::optional<bool> flag() const;
  [[nodiscard]] std::optional<Dims> numbers() const;  // of "[1, 1]" or "1"
};

struct OperatorArguments {
  std::vector<Argument> list;
  std::string_view problem;  // what is wrong with dimensions that cannot be: then there is no figure; "": nothing
};

// The four texts as stored; empty ones were not recorded.
OperatorArguments read_arguments(std::string_view dims, std::string_view types, std::string_view strides,
                                 std::string_view values);

}  // namespace tracedb
