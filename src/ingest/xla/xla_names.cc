#include "ingest/xla/xla_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text/characters.h"
#include "base/text/decimal.h"
#include "base/unknown.h"
#include "ingest/rows/row_sink.h"

namespace tracedb {
namespace {

using std::string_view_literals::operator""sv;  // NOLINT(misc-unused-using-decls): used by the literals below

// Takes the word before `separator` off `rest`.
std::string_view take_word(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view word = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return word;
}

std::string_view detail_of(std::string_view details, std::string_view key) {
  for (std::string_view rest = details; !rest.empty();) {
    const std::string_view word = take_word(rest, ' ');
    if (word.starts_with(key)) return word.substr(key.size());
  }
  return {};
}

}  // namespace

// The number in "/device:GPU:3" behind `kind`, which a viewer may have put a host's name before; kUnknownValue: none.
std::int64_t ordinal_of(std::string_view plane, std::string_view kind) {
  const std::size_t at = plane.find(kind);
  if (at == std::string_view::npos) return kUnknownValue;
  return parse_int64(plane.substr(at + kind.size())).value_or(kUnknownValue);
}

// "file.py:12 fn" as other profilers write it: "file.py(12): fn".
std::string python_name(std::string_view name) {
  const std::size_t blank = name.find(' ');
  const std::size_t colon = name.substr(0, blank).rfind(':');
  if (blank == std::string_view::npos || colon == std::string_view::npos) return std::string(name);
  const std::string_view line = name.substr(colon + 1, blank - colon - 1);
  if (!parse_int64(line)) return std::string(name);
  return fmt::format("{}({}): {}", name.substr(0, colon), line, name.substr(blank + 1));
}

// Whether a call is one of an API ("cuLaunchKernel", "hipMemcpyAsync"): older files name it by the kernel it launches.
bool is_api_call(std::string_view name) {
  for (const std::string_view prefix : {"cuda"sv, "cu"sv, "hip"sv}) {
    if (name.starts_with(prefix) && name.size() > prefix.size() && name[prefix.size()] >= 'A' &&
        name[prefix.size()] <= 'Z')
      return true;
  }
  return contains_any(name, {"emcpy", "emset", "hsa_"});
}

// Calls that share a correlation with device work, but cannot have launched it.
bool cannot_launch(std::string_view name) {
  return contains_any(name, {"WaitEvent", "LaunchHostFunc", "EventRecord", "EventQuery", "Synchronize"});
}

// What the runtime of XLA calls its own work, as far as the names do not say so by "::".
bool is_runtime_name(std::string_view name) {
  constexpr std::array kNames = {"ParseArguments"sv,
                                 "CheckArguments"sv,
                                 "cpp_pjit_shard_arg_fallback"sv,
                                 "shard_args"sv,
                                 "DevicePut"sv,
                                 "RecordUsage"sv,
                                 "ComputeSemaphoreAcquire"sv,
                                 "Resolve constant globals"sv,
                                 "Build buffer allocations"sv,
                                 "MakeOutputBuffers"sv,
                                 "ThenExecuteCallback"sv};
  return contains_any(name, {"::", ":XLA GPU module", "PJRT_", "linkage"}) ||
         std::ranges::find(kNames, name) != kNames.end();
}

// "%fusion.2 = f32[8,128]{1,0} fusion(...), kind=kLoop": what is between the shape and its operands.
std::string_view opcode_of_text(std::string_view text) {
  const std::size_t equals = text.find(" = ");
  if (equals == std::string_view::npos) return {};
  std::size_t at = equals + 3;
  int depth = 0;
  for (; at < text.size() && (depth > 0 || text[at] != ' '); ++at) {
    if (text[at] == '(' || text[at] == '{' || text[at] == '[') ++depth;
    if (text[at] == ')' || text[at] == '}' || text[at] == ']') --depth;
  }
  if (at == text.size()) return {};
  const std::string_view rest = text.substr(at + 1);
  return rest.substr(0, rest.find_first_of("( "));
}

std::string_view kind_of_work(std::string_view category, std::string_view op_name) {
  constexpr std::string_view kFusion = " fusion", kConvolution = "convolution";
  const bool fused = category.ends_with(kFusion);
  if (fused) category.remove_suffix(kFusion.size());
  const std::string_view primitive = op_name.substr(op_name.rfind('/') + 1);
  const auto is_product = [primitive](std::string_view of) { return primitive.find(of) != std::string_view::npos; };
  constexpr std::array kProducts = {"dot"sv, "einsum"sv, "Einsum"sv, "matmul"sv, "MatMul"sv};
  if (category == kConvolution && std::ranges::any_of(kProducts, is_product)) return "dot";
  return fused ? category : std::string_view();
}

std::string without_layout(std::string_view shape) {
  std::string out;
  int depth = 0;
  for (const char c : shape) {
    depth += c == '{' ? 1 : 0;
    if (depth == 0) out += c;
    depth -= c == '}' ? 1 : 0;
  }
  return out;
}

std::int64_t rounded_ns(std::int64_t ps) {
  constexpr std::int64_t kHalf = 500;
  return ps / 1000 + (ps % 1000 >= kHalf ? 1 : ps % 1000 <= -kHalf ? -1 : 0);
}

std::string_view operation_of(std::string_view opcode) {
  opcode = opcode.substr(0, opcode.find('.'));
  for (const std::string_view part : {"-start"sv, "-done"sv}) {
    if (opcode.ends_with(part)) opcode.remove_suffix(part.size());
  }
  return opcode;
}

bool is_collective(std::string_view opcode) {
  constexpr std::array kCollectives = {
      "all-reduce"sv,         "all-gather"sv, "all-to-all"sv, "ragged-all-to-all"sv,   "reduce-scatter"sv,
      "collective-permute"sv, "send"sv,       "recv"sv,       "collective-broadcast"sv};
  return std::ranges::find(kCollectives, operation_of(opcode)) != kCollectives.end();
}

KernelDetails kernel_details(std::string_view text) {
  constexpr std::int64_t kLargestGrid = std::int64_t{1} << 31U;  // of one side
  constexpr std::int64_t kMostRegisters = 512, kMostThreads = 1024, kMostShared = std::int64_t{1} << 20U;
  KernelDetails out{unknown_launch_config(), false};
  auto& values = out.config.values;
  const auto number = [text](std::string_view key) {
    return parse_int64(detail_of(text, key)).value_or(kUnknownValue);
  };
  const auto size = [&](std::string_view key, std::size_t first, std::int64_t most) {
    std::string_view rest = detail_of(text, key);
    std::int64_t product = 1;
    for (std::size_t i = first; i < first + 3; ++i) {
      values[i] = parse_int64(take_word(rest, ',')).value_or(kUnknownValue);
      if (values[i] <= 0 || values[i] > most) product = most + 1;
      if (product <= most) product *= values[i];
    }
    if (values[first] == kUnknownValue || product <= most || most == kLargestGrid) return;
    std::fill_n(&values[first], 3, kUnknownValue);
    out.impossible = true;
  };
  size("grid:", 0, kLargestGrid);
  size("block:", 3, kMostThreads);
  values[6] = number("regs:");
  for (const std::string_view key : {"static_shared:"sv, "dynamic_shared:"sv, "shm:"sv, "group_mem:"sv}) {
    const std::int64_t part = number(key);
    if (part == kUnknownValue) continue;
    values[7] = std::max<std::int64_t>(values[7], 0) + std::clamp<std::int64_t>(part, -1, kMostShared + 1);
  }
  const auto check = [&](std::int64_t& value, std::int64_t least, std::int64_t most) {
    if (value == kUnknownValue || (value >= least && value <= most)) return;
    value = kUnknownValue;
    out.impossible = true;
  };
  check(values[6], 1, kMostRegisters);
  check(values[7], 0, kMostShared);
  if (const std::int64_t share = number("occ_pct:"); share > 0) out.config.rates[1] = static_cast<double>(share);
  return out;
}

std::string copy_direction(std::string_view details) {
  const std::string_view from = detail_of(details, "kind_src:"), to = detail_of(details, "kind_dst:");
  const auto side = [](std::string_view kind) { return kind.starts_with("device") ? 'D' : 'H'; };
  return from.empty() || to.empty() ? std::string() : fmt::format("{}to{}", side(from), side(to));
}

}  // namespace tracedb
