#include "compare/trace/recording.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/text/characters.h"
#include "base/unknown.h"
#include "index/packed_columns.h"
#include "passes/layers/model_names.h"
#include "trace/format_holds.h"

namespace tracedb {
namespace {

constexpr double kBound = 0.02;  // of the period

bool says(const Index& index, const char* key) {
  constexpr const char* kSql =
      "SELECT lower(trim(value, ' \"')) NOT IN ('', '0', 'false', 'null') FROM meta WHERE key = ?";
  return index.database().query_int64(kSql, key) == 1;
}

bool holds(const Index& index, const char* sql) { return index.database().query_int64(sql).value_or(0) != 0; }

// By device step: whether its kind, or its transition to another, is bound by the host: has a gap that matters, and so
// may have other steps of it.
std::vector<bool> bound_by_host(std::span<const std::int64_t> waiting, const StepSet& set, const StepWork& work,
                                const StepPeriods& periods) {
  std::set<std::pair<StepKind, StepKind>> bound;
  const auto kind_of = [&](std::size_t step) {
    const StepKind own = set.steps[work.steps[step].step - 1].info.kind;
    return std::pair(own, periods.within_kind[step] != kUnknownValue ? own : periods.transitions[step].to);
  };
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    const HostWaits own{.waiting = waiting[i], .periods = periods.to_next(i)};
    if (own.bound()) bound.insert(kind_of(i));
  }
  std::vector<bool> out;
  for (std::size_t i = 0; i < waiting.size(); ++i) out.push_back(waiting[i] > 0 && bound.contains(kind_of(i)));
  return out;
}

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

Recording recording_of(const Index& index) {
  return {
      row_count(index.database(), "python_call") > 0 ||
          (says(index, "trace.with_stack") && index.meta("ingest_options").value_or("").starts_with("stacks=no")),
      says(index, "trace.record_shapes") ||
          // XLA has them by the program, at no cost.
          (!is_xla(index.meta("format").value_or("")) &&
           holds(index, "SELECT EXISTS (SELECT 1 FROM op_shape WHERE dims IS NOT NULL AND dims NOT IN ('', '[]'))"))};
}

}  // namespace

std::string to_string(const Recording& recording) {
  if (recording.stacks) return recording.shapes ? "python stacks and shapes" : "python stacks";
  return recording.shapes ? "shapes" : "neither python stacks nor shapes";
}

RecordedGaps recorded_gaps(const Index& index, const EventTables& events, const StepSet& set, const StepWork& work,
                           const StepPeriods& periods) {
  const Recording recording = recording_of(index);
  if (!recording.any()) return {recording, {}, {}};
  const std::vector<DeviceStep>& steps = work.steps;
  static constexpr ScanColumn kStart{"ts"};
  BlockReader python(index.database(), "python_call", std::span(&kStart, 1));
  const auto kernels = events.kernels.int64s("ts"), memory = events.memory.int64s("ts"),
             operators = events.operators.int64s("ts");
  TextById kernel_launch(index, "SELECT r.ts FROM kernel k JOIN runtime_call r ON r.id = k.launch_id WHERE k.id = ?");
  TextById memory_launch(index,
                         "SELECT r.ts FROM memory_op m JOIN runtime_call r ON r.id = m.launch_id WHERE m.id = ?");
  const auto begin_of_gap = [&](std::size_t step) { return saturating_add(steps[step].first, steps[step].taken); };
  const auto calls_in_gap = [&](std::size_t step) {
    const std::int64_t begin = begin_of_gap(step);
    const std::int64_t end = saturating_add(steps[step].first + steps[step].wait, periods.to_next(step));
    const std::size_t before = python.rows_before(begin);
    return static_cast<std::int64_t>(python.rows_before(end) - before) +
           (std::ranges::lower_bound(operators, end) - std::ranges::lower_bound(operators, begin));
  };
  const auto launch_of_first = [&](const DeviceStep& step) {
    const std::uint32_t kernel = work.kernel_rows[step.begin];
    const bool copies = step.memory_begin < step.memory_end;
    const std::uint32_t copy = copies ? work.memory_rows[step.memory_begin] : 0;
    const bool copy_first = copies && memory[copy] < kernels[kernel];
    const auto* const launch =
        (copy_first ? memory_launch : kernel_launch).row(std::int64_t{copy_first ? copy : kernel} + 1);
    return launch != nullptr ? std::optional(launch->int64(0)) : std::nullopt;
  };
  RecordedGaps out{recording, std::vector<std::int64_t>(steps.size(), 0), std::vector<std::int64_t>(steps.size(), 0)};
  const std::vector<std::size_t> next = next_steps(work);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (next[i] == i || periods.to_next(i) == kUnknownValue || steps[i].between <= 0) continue;
    const std::optional<std::int64_t> launch = launch_of_first(steps[next[i]]);
    if (launch ? *launch > begin_of_gap(i) : calls_in_gap(i) > 0) out.waiting[i] = steps[i].between;
  }
  const std::vector<bool> is_bound = bound_by_host(out.waiting, set, work, periods);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (is_bound[i]) out.calls[i] = calls_in_gap(i);
  }
  return out;
}

bool HostWaits::bound() const { return waiting > 0 && share() >= kBound; }

double HostWaits::share() const {
  return periods > 0 ? static_cast<double>(waiting) / static_cast<double>(periods) : 0;
}

double HostWaits::calls_per_gap() const {
  return gaps > 0 ? static_cast<double>(calls) / static_cast<double>(gaps) : 0;
}

bool are_slowing(double calls, double time) {
  constexpr double kPerCall = 5000, kLeastPart = 0.1;
  return calls * kPerCall >= kLeastPart * time;
}

HostWaits sum_host_waits(const RecordedGaps& gaps, std::span<const std::uint32_t> group,
                         std::span<const std::int64_t> periods) {
  HostWaits out;
  for (const std::uint32_t step : group) {
    if (step >= gaps.waiting.size() || periods[step] == kUnknownValue) continue;
    out.periods = saturating_add(out.periods, periods[step]);
    out.waiting = saturating_add(out.waiting, gaps.waiting[step]);
    out.calls = saturating_add(out.calls, gaps.calls[step]);
    out.gaps += gaps.waiting[step] > 0 ? 1 : 0;
  }
  return out;
}

std::string recording_difference(const std::optional<Recording>& baseline, const std::optional<Recording>& candidate) {
  if (!baseline || !candidate || *baseline == *candidate) return "";
  return fmt::format("the baseline records {}, the candidate {}", to_string(*baseline), to_string(*candidate));
}

std::string first_type(std::string_view types) {
  for (std::size_t from = 0, quote = 0; (quote = types.find('"', from)) != std::string_view::npos;) {
    const std::string_view word = types.substr(quote + 1, types.find('"', quote + 1) - quote - 1);
    if (!word.empty()) return std::string(word.substr(word.starts_with("c10::") ? 5 : 0));
    from = quote + 2;
  }
  return "";
}

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
  const EventColumns& operators = events.operators;
  const auto launched_by = events.kernels.ids("cpu_op_id");
  RecordedWork out{model_name(index).value_or(""), {""}, {}, {}, {}};
  out.operator_of.resize(launched_by.size());
  out.by_step.resize(work.steps.size());
  const auto names = operators.ids("name_id"), shapes = operators.ids("shape_id");
  Statement read(index.database(),
                 "SELECT s.value, coalesce(o.dims, ''), coalesce(o.types, '') FROM string s LEFT JOIN op_shape o ON "
                 "o.id = ? WHERE s.id = ?");
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
    shape.type = first_type(read.text(2));
    found->second = {number->second, shape.work > 0 ? static_cast<std::uint32_t>(out.shapes.size()) : UINT32_MAX};
    if (shape.work > 0) out.shapes.push_back(std::move(shape));
    return found->second;
  };
  std::vector<bool> seen(operators.size());
  for (std::size_t i = 0; i < work.steps.size(); ++i) {
    for (const std::uint32_t row : work.kernels(work.steps[i])) {
      const std::uint32_t op = launched_by[row] - 1;
      if (op >= operators.size()) continue;
      const Kind kind = kind_of(op);
      out.operator_of[row] = kind.name;
      if (kind.shape != UINT32_MAX && !seen[op]) out.by_step[i].push_back(kind.shape);
      seen[op] = true;
    }
  }
  return out;
}

}  // namespace tracedb
