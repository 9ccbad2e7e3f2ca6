// Which annotation names mark a step of the workload, and what they say about it. One table for all dialects; the hash
// of the table is stored in every index (meta.step_rules), so that steps found under other rules are told apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tracedb {

enum class StepKind : std::uint8_t { kPrefill, kDecode, kMixed, kTrain, kOther, kUnknown };
std::string_view to_string(StepKind kind);
std::optional<StepKind> step_kind_from(std::string_view text);

struct StepInfo {
  StepKind kind = StepKind::kUnknown;
  std::optional<std::int64_t> context_requests;
  std::optional<std::int64_t> context_tokens;
  std::optional<std::int64_t> generation_requests;
  std::optional<std::int64_t> generation_tokens;
};

// nullopt: the name is no step. Deterministic, no state.
std::optional<StepInfo> parse_step(std::string_view annotation);

std::string step_rules_hash();  // 32 hexadecimal digits

}  // namespace tracedb
