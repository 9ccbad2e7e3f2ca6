#include "compare/trace/recorded_work.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <unordered_map>

#include "passes/layers/model_names.h"

namespace tracedb {
namespace {

using Operand = std::vector<std::int64_t>;

// The innermost lists of numbers.
std::vector<Operand> operands_of(std::string_view dims) {
  std::vector<Operand> out;
  bool number = false;
  for (const char c : dims) {
    const bool digit = c >= '0' && c <= '9';
    if (c == '[') out.emplace_back();
    if (digit && !out.empty()) {
      if (!number) out.back().push_back(0);
      if (out.back().back() < INT32_MAX) out.back().back() = 10 * out.back().back() + (c - '0');
    }
    number = digit;
  }
  std::erase_if(out, [](const Operand& operand) { return operand.empty(); });
  return out;
}

double elements(const Operand& operand) {
  return std::accumulate(operand.begin(), operand.end(), 1.0, std::multiplies());
}

std::string text(const Operand& operand) { return fmt::format("[{}]", fmt::join(operand, ",")); }

bool contains_any(std::string_view name, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](auto word) { return name.find(word) != std::string_view::npos; });
}

}  // namespace

RecordedShape shape_of(std::string_view name, std::string_view dims) {
  const bool product = name.ends_with("mm"), attention = contains_any(name, {"attention", "attn", "::mha_"});
  const bool convolution = contains_any(name, {"convolution", "conv2d"});
  if ((!product && !attention && !convolution) || contains_any(name, {"backward", "Backward"})) return {};
  std::vector<Operand> operands = operands_of(dims);
  // Before the last two may be what is added to their product.
  for (std::size_t i = operands.size(); product && i-- > 1;) {
    const Operand &a = operands[i - 1], &b = operands[i];
    if (a.size() != b.size() || (a.size() != 2 && a.size() != 3) || a.back() != b[b.size() - 2]) continue;
    return {a.size() == 2 ? "linear layer" : "batched product", text(a) + " x " + text(b),
            elements(a) * static_cast<double>(b.back())};
  }
  std::erase_if(operands, [](const Operand& operand) { return operand.size() < 3; });
  if (attention && !operands.empty()) return {"attention", text(operands[0]), elements(operands[0])};
  if (!convolution || operands.size() < 2 || operands[0].size() != operands[1].size() || operands[0][1] == 0) return {};
  return {"convolution", text(operands[0]) + " x " + text(operands[1]),
          elements(operands[0]) / static_cast<double>(operands[0][1]) * elements(operands[1])};
}

RecordedWork recorded_work(const Index& index, const EventTables& events, const StepWork& work) {
  const auto launched_by = events.kernels.ids("cpu_op_id");
  RecordedWork out{model_name(index).value_or(""), {""}, {}, {}, {}};
  out.operator_of.resize(launched_by.size());
  out.by_step.resize(work.steps.size());
  const EventColumns ops(index, "cpu_op", {"name_id", "shape_id"});
  const auto names = ops.ids("name_id"), shapes = ops.ids("shape_id");
  Statement read(index.database(),
                 "SELECT s.value, coalesce(o.dims, '') FROM string s LEFT JOIN op_shape o ON o.id = ? WHERE s.id = ?");
  struct Kind {
    std::uint32_t name = 0, shape = UINT32_MAX;  // indices into `operators`, `shapes`
  };
  std::unordered_map<std::uint64_t, Kind> kinds;  // by name and shape
  std::unordered_map<std::string, std::uint32_t> numbers;
  const auto kind_of = [&](std::uint32_t op) {
    const auto [found, is_new] = kinds.try_emplace(std::uint64_t{names[op]} << 32 | shapes[op]);
    if (!is_new) return found->second;
    read.reset();
    read.bind(1, std::int64_t{shapes[op]}).bind(2, std::int64_t{names[op]});
    if (!read.step()) return found->second;
    const auto [number, is_name] = numbers.try_emplace(std::string(read.text(0)), out.operators.size());
    if (is_name) out.operators.push_back(number->first);
    RecordedShape shape = shape_of(number->first, read.text(1));
    found->second = {number->second, shape.work > 0 ? static_cast<std::uint32_t>(out.shapes.size()) : UINT32_MAX};
    if (shape.work > 0) out.shapes.push_back(std::move(shape));
    return found->second;
  };
  std::vector<bool> seen(ops.size());
  for (std::size_t i = 0; i < work.steps.size(); ++i) {
    for (std::size_t k = work.steps[i].begin; k < work.steps[i].end; ++k) {
      const std::uint32_t row = work.kernel_rows[k], op = launched_by[row] - 1;
      if (op >= ops.size()) continue;
      const Kind kind = kind_of(op);
      out.operator_of[row] = kind.name;
      if (kind.shape != UINT32_MAX && !seen[op]) out.by_step[i].push_back(kind.shape);
      seen[op] = true;
    }
  }
  return out;
}

}  // namespace tracedb
