#include "passes/steps/step_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text/ascii.h"
#include "base/text/decimal.h"

namespace tracedb {
namespace {

using Field = StepField;

struct FieldName {
  std::string_view name;
  Field field;
};
constexpr std::array<FieldName, 7> kFields = {{{"kind", Field::kKind},
                                               {"context_requests", Field::kContextRequests},
                                               {"context_tokens", Field::kContextTokens},
                                               {"context", Field::kContextTokens},
                                               {"generation_requests", Field::kGenerationRequests},
                                               {"generation_tokens", Field::kGenerationTokens},
                                               {"generation", Field::kGenerationTokens}}};
constexpr std::array<Field, 3> kByPlace = {Field::kKind, Field::kContextTokens, Field::kGenerationTokens};

[[noreturn]] void refuse_pattern(std::string_view pattern, std::string_view reason) {
  throw Error(ErrorCode::kUsage, fmt::format("--step-regex {}: {}", pattern, reason));
}

Field field_named(std::string_view name, std::string_view pattern) {
  const auto found = std::find_if(kFields.begin(), kFields.end(), [&](const FieldName& f) { return f.name == name; });
  if (found != kFields.end()) return found->field;
  refuse_pattern(pattern,
                 fmt::format("no group '{}'; known: kind, context_requests, context_tokens, generation_requests and "
                             "generation_tokens",
                             name));
}

// What each group of the expression means, by its number; those by name, or else the first by their places.
std::vector<Field> fields_of(const RegularExpression& expression, std::string_view pattern) {
  std::vector<Field> fields(expression.groups() + 1, Field::kNone);
  for (const auto& [group, name] : expression.names()) {
    fields[static_cast<std::size_t>(group)] = field_named(name, pattern);
  }
  if (!expression.names().empty()) return fields;
  for (std::size_t i = 0; i < kByPlace.size() && i + 1 < fields.size(); ++i) fields[i + 1] = kByPlace[i];
  return fields;
}

StepKind kind_word(std::string_view text) {
  const std::string word = ascii_lower(text);
  if (word == "extend" || word == "context") return StepKind::kPrefill;
  if (word == "generation") return StepKind::kDecode;
  return step_kind_from(word).value_or(StepKind::kUnknown);
}

void set(StepInfo& info, Field field, std::string_view text) {
  const std::optional<std::int64_t> value = parse_int64(text);
  switch (field) {
    case Field::kKind:
      info.kind = kind_word(text);
      break;
    case Field::kContextRequests:
      info.context_requests = value;
      break;
    case Field::kContextTokens:
      info.context_tokens = value;
      break;
    case Field::kGenerationRequests:
      info.generation_requests = value;
      break;
    case Field::kGenerationTokens:
      info.generation_tokens = value;
      break;
    case Field::kNone:
      break;
  }
}

void complete(StepInfo& info) {
  if (info.kind != StepKind::kUnknown) return;
  const bool context = info.context_requests.value_or(0) > 0 || info.context_tokens.value_or(0) > 0;
  const bool generation = info.generation_requests.value_or(0) > 0 || info.generation_tokens.value_or(0) > 0;
  if (context) info.kind = generation ? StepKind::kMixed : StepKind::kPrefill;
  if (generation && !context) info.kind = StepKind::kDecode;
}

}  // namespace

StepPattern::StepPattern(std::string_view pattern) : expression_(pattern) {
  if (!expression_.fault().empty()) refuse_pattern(pattern, expression_.fault());
  fields_ = fields_of(expression_, pattern);
}

std::optional<StepInfo> StepPattern::match(std::string_view name) const {
  const auto groups = expression_.find(name);
  if (!groups) return std::nullopt;
  StepInfo info;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if ((*groups)[i]) set(info, fields_[i], *(*groups)[i]);
  }
  complete(info);
  return info;
}

}  // namespace tracedb
