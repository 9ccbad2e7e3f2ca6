// What a call of a framework operator has to compute and to move at least, by the shapes and types of its arguments.
// The operators known are one table (operator_work.cc); what the figures mean: schema/METRICS.md 13.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

// Types of the elements of tensors, as PyTorch's profiler names them.
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

// The arguments of one call of a framework operator, as PyTorch's profiler records them with record_shapes: lists of
// dimensions, types, strides and values, one entry an argument (table op_shape).

using Dims = std::vector<std::int64_t>;

// Products of counts and sizes; nullopt: not known, or more than 63 bits.
using Amount = std::optional<std::int64_t>;
Amount times(Amount a, Amount b);
Amount plus(Amount a, Amount b);
Amount elements(const Dims& dims);  // 1 of no dimensions

struct Argument {
  Dims dims;
  std::vector<Dims> list;                // of a list of tensors
  Dims strides;                          // empty: not recorded
  std::string type;                      // "" where an optional argument is absent
  std::string value;                     // of what is no tensor, as text: "True", "[1, 1]"; "" if not recorded
  const ElementType* element = nullptr;  // null: no type of tensors, or an unknown one
  bool is_sparse = false;                // it has dimensions, but no strides where those of others are recorded

  // An empty list of dimensions with the type of a tensor is a tensor of no dimensions: one element.
  [[nodiscard]] bool is_tensor() const { return element != nullptr && list.empty(); }
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

enum class WorkFamily : std::uint8_t {
  kNone,  // the operator is not known
  kGemm,
  kAttention,
  kConvolution,
  kMoe,
  kNorm,
  kElementwise,
  kCopy,
  kReduce,
  kGather,
  kGenerated,
};
std::string_view family_name(WorkFamily family);  // "gemm", "attention" ...

// Families whose multiplications run on matrix units; only these are in model FLOPs utilisation (MFU).
constexpr bool uses_matrix_units(WorkFamily family) {
  return family >= WorkFamily::kGemm && family <= WorkFamily::kMoe;
}

// Sums over the requests of a step, of query and key lengths, where a call's own are in a tensor: what vLLM and SGLang
// write into the annotation of the step.
struct RequestLengths {
  std::int64_t q = 0, k = 0, qq = 0, qk = 0;
};
struct StepLengths {
  RequestLengths context, generation;
};
std::optional<StepLengths> step_lengths(std::string_view annotation);

struct OperatorWork {
  WorkFamily family = WorkFamily::kNone;
  Amount flops, bytes;       // of one call
  Amount b, m, n, k;         // of products of matrices
  std::string type;          // of its matrices or of its first tensor
  std::string layout;        // of A and B as [M, K] and [K, N]: N row-major, T column-major; "" if not recorded
  std::string_view missing;  // why a figure is not known; "" if they are, or the family is unknown
};

WorkFamily family_of(std::string_view operator_name);

// `lengths`: of the step, null if its annotation does not say.
OperatorWork work_of(std::string_view operator_name, const std::vector<Argument>& arguments,
                     const StepLengths* lengths = nullptr);

// Whether the lengths of a step matter to it.
bool needs_step_lengths(std::string_view operator_name);

}  // namespace tracedb
