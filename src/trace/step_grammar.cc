#include "trace/step_grammar.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/stream/content_hash.h"
#include "base/text/characters.h"
#include "base/text/decimal.h"
#include "base/text/regular_expression.h"

namespace tracedb {
namespace {

using Match = RegularExpression::Groups;

// Of group 0, the whole of it, nullopt.
std::optional<std::int64_t> group(const Match& match, std::size_t index) {
  return index > 0 && match[index] ? parse_int64(*match[index]) : std::nullopt;
}

StepKind kind_of_counts(const StepInfo& info) {
  const bool context = info.context_requests.value_or(0) > 0;
  const bool generation = info.generation_requests.value_or(0) > 0;
  if (context && generation) return StepKind::kMixed;
  if (context) return StepKind::kPrefill;
  return generation ? StepKind::kDecode : StepKind::kUnknown;
}

// By the groups that are requests and tokens, of the context and of what is generated; 0: it says nothing of them.
template <std::size_t ContextRequests, std::size_t ContextTokens, std::size_t Requests, std::size_t Tokens>
StepInfo from_counts(const Match& match) {
  StepInfo info{StepKind::kUnknown, group(match, ContextRequests), group(match, ContextTokens), group(match, Requests),
                group(match, Tokens)};
  info.kind = kind_of_counts(info);
  return info;
}

// SGLang: step[DECODE bs=32], step[EXTEND bs=15 toks=15360]. Modes of speculative decoding's draft stay unknown.
StepInfo from_sglang(const Match& match) {
  const std::string_view mode = match[1].value_or("");
  const auto requests = group(match, 2), tokens = group(match, 3);
  if (mode == "DECODE" || mode == "TARGET_VERIFY" || mode == "IDLE") {
    return {mode == "IDLE" ? StepKind::kOther : StepKind::kDecode, {}, {}, requests, match[3] ? tokens : requests};
  }
  if (mode == "EXTEND" || mode == "SPLIT_PREFILL" || mode == "MIXED") {
    return {mode == "MIXED" ? StepKind::kMixed : StepKind::kPrefill, requests, tokens, {}, {}};
  }
  return {};
}

// ATOM: prefill[bs=2 tok=300 ...], decode[bs=117/128 tok=117 ...]
StepInfo from_atom(const Match& match) {
  const auto requests = group(match, 2), tokens = group(match, 3);
  if (match[1] == "decode") return {StepKind::kDecode, {}, {}, requests, tokens};
  return {StepKind::kPrefill, requests, tokens, {}, {}};
}

template <StepKind Kind>
StepInfo of_kind(const Match& /*match*/) {
  return {Kind, {}, {}, {}, {}};
}

struct Rule {
  const char* name;
  std::string_view needle;  // must occur in the name: keeps the regular expressions off ordinary annotations
  const char* pattern;      // matched from the start of the name
  StepInfo (*build)(const Match&);
  StepScope scope = StepScope::kThread;
};

// vLLM: execute_context_1(888_788544)_generation_0(0); the number after "_" is a detail of patched builds. Before it
// counted tokens: execute_new_2_cached_30. A request seen before mostly decodes.
constexpr std::array<Rule, 9> kRules = {{
    {"vllm_detailed", "generation_", R"(^execute_\d+_context_(\d+)\(sq(\d+)[^)]*\)_generation_(\d+)\(sq(\d+)[^)]*\))",
     &from_counts<1, 2, 3, 4>},
    {"vllm", "generation_", R"(^execute_context_(\d+)\((\d+)[^)]*\)_generation_(\d+)\((\d+)[^)]*\))",
     &from_counts<1, 2, 3, 4>},
    {"sglang", "step[", R"(^step\[([A-Z_]+)(?:[^\]]*?\bbs=(\d+))?(?:[^\]]*?\btoks=(\d+))?)", &from_sglang},
    {"atom", "[bs=", R"(^(prefill|decode)\[bs=(\d+)(?:/\d+)?(?:[^\]]*?\btok=(\d+))?)", &from_atom},
    {"vllm_new_cached", "execute_new_", R"(^execute_new_(\d+)_cached_(\d+)$)", &from_counts<1, 0, 2, 0>},
    {"tensorrt_llm", "_forward_step",
     R"(^(?:\[Executor\] )?_forward_step \d+: (\d+) ctx reqs, (\d+) ctx tokens, (\d+) gen reqs)",
     &from_counts<1, 2, 3, 3>},
    {"train", "train", R"(^(?:## *)?(?:[A-Za-z_]+\.)?train(?:ing)?_(?:step|batch|iteration)(?:[ #:_]*\d+)?(?: *##)?$)",
     &of_kind<StepKind::kTrain>, StepScope::kProcess},
    {"diffusion", "execute_diffusion_", R"(^execute_diffusion_\d+)", &of_kind<StepKind::kOther>},
    {"profiler_step", "ProfilerStep", R"(^ProfilerStep#?\s*\*?\d+)", &of_kind<StepKind::kUnknown>, StepScope::kProcess},
}};

const std::vector<RegularExpression>& compiled() {
  static const std::vector<RegularExpression> kPatterns = [] {
    std::vector<RegularExpression> out;
    for (const Rule& rule : kRules) out.emplace_back(rule.pattern);
    return out;
  }();
  return kPatterns;
}

struct RuleMatch {
  const Rule* rule = nullptr;  // null: no rule knows the name
  Match match;
};

RuleMatch find_rule(std::string_view annotation) {
  constexpr std::size_t kLongestAnnotation = 1000;  // the longest real one has a few hundred bytes
  if (annotation.size() > kLongestAnnotation) return {};
  for (std::size_t i = 0; i < kRules.size(); ++i) {
    if (annotation.find(kRules[i].needle) == std::string_view::npos) continue;
    std::optional<Match> match = compiled()[i].find(annotation);
    if (!match) continue;
    return {&kRules[i], *std::move(match)};
  }
  return {};
}

bool is_word(char c) { return is_ascii_letter(c) || is_ascii_digit(c) || c == '_'; }

// A class name that ends in Backward, or in Backward and a number.
bool is_backward_node(std::string_view name) {
  while (!name.empty() && is_ascii_digit(name.back())) name.remove_suffix(1);
  constexpr std::string_view kSuffix = "Backward";
  return name.size() > kSuffix.size() && name.ends_with(kSuffix) && std::ranges::all_of(name, is_word);
}

}  // namespace

std::string_view to_string(StepKind kind) {
  constexpr std::array<std::string_view, kStepKinds> kNames = {"prefill", "decode",  "mixed", "train",
                                                               "other",   "unknown", "unit"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::optional<StepKind> step_kind_from(std::string_view text) {
  for (int kind = 0; kind <= static_cast<int>(StepKind::kUnknown); ++kind) {
    if (to_string(static_cast<StepKind>(kind)) == text) return static_cast<StepKind>(kind);
  }
  return std::nullopt;
}

std::optional<StepInfo> parse_step(std::string_view annotation) {
  const RuleMatch found = find_rule(annotation);
  return found.rule == nullptr ? std::nullopt : std::optional(found.rule->build(found.match));
}

StepScope step_scope(std::string_view annotation) {
  if (is_optimizer_step(annotation)) return StepScope::kProcess;
  const RuleMatch found = find_rule(annotation);
  return found.rule == nullptr ? StepScope::kBackward : found.rule->scope;
}

bool is_mark_among_operators(std::string_view name) {
  return name.starts_with("Optimizer.") || find_rule(name).rule != nullptr;
}

std::string step_rules_hash() {
  // Counts up whenever what a match means changes while its pattern stays.
  constexpr std::string_view kMeaning = "4";
  std::string text(kMeaning);
  for (const Rule& rule : kRules) text.append(rule.name).append("\t").append(rule.pattern).append("\n");
  return to_hex(hash_bytes(text));
}

bool is_optimizer_step(std::string_view annotation) { return annotation.starts_with("Optimizer.step#"); }

bool is_backward_operator(std::string_view name) {
  // JAX: the place of an operation in the transformed program.
  const bool transposed = name.starts_with("transpose(") || name.find("/transpose(") != std::string_view::npos ||
                          name.find("/rematted_computation/") != std::string_view::npos ||
                          name.find("/checkpoint/") != std::string_view::npos;
  return transposed || name.starts_with("autograd::engine::") || name.starts_with("torch::autograd::") ||
         is_backward_node(name);
}

}  // namespace tracedb
