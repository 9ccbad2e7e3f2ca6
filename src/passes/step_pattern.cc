#include "passes/step_pattern.h"

#include <fmt/format.h>
#include <regex.h>

#include <algorithm>
#include <array>
#include <new>
#include <vector>

#include "base/ascii.h"
#include "base/decimal.h"
#include "base/error.h"
#include "sql/pattern_check.h"

namespace tracedb {
namespace {

enum class Field { kNone, kKind, kContextRequests, kContextTokens, kGenerationRequests, kGenerationTokens };

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

[[noreturn]] void fail(std::string_view pattern, std::string_view reason) {
  throw Error(ErrorCode::kUsage, fmt::format("--step-regex {}: {}", pattern, reason));
}

Field field_named(std::string_view name, std::string_view pattern) {
  const auto found = std::find_if(kFields.begin(), kFields.end(), [&](const FieldName& f) { return f.name == name; });
  if (found != kFields.end()) return found->field;
  fail(pattern, fmt::format("no group '{}'; known: kind, context_requests, context_tokens, generation_requests and "
                            "generation_tokens",
                            name));
}

// The expression as the C library takes it, and what each of its groups means.
struct Translation {
  std::string text;
  std::vector<std::size_t> origins;  // by byte of text: the byte of the expression it is from
  std::vector<Field> groups;
  std::vector<bool> counts;  // a plain group: numbered
  bool named = false;
};

// What stands behind "(" at `at`: "?<name>", "?P<name>", "?:" or nothing. Returns its length.
std::size_t open_group(std::string_view pattern, std::size_t at, Translation& out) {
  const std::string_view rest = pattern.substr(at);
  const bool plain = !rest.starts_with('?');
  out.counts.push_back(plain);
  out.groups.push_back(Field::kNone);
  if (plain) return 0;
  if (rest.starts_with("?:")) return 2;
  const std::size_t begin = rest.starts_with("?<") ? 2 : rest.starts_with("?P<") ? 3 : 0;
  const std::size_t end = rest.find('>');
  if (begin == 0 || end == std::string_view::npos) fail(pattern, "groups are (...), (?:...) and (?<name>...)");
  out.groups.back() = field_named(rest.substr(begin, end - begin), pattern);
  out.named = true;
  return end + 1;
}

Translation translate(std::string_view pattern) {
  Translation out;
  bool in_bracket = false;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const char c = pattern[at];
    if (c == '\\' && at + 1 < pattern.size()) {
      const char next = pattern[++at];
      out.text += next == 'd' ? (in_bracket ? "0-9" : "[0-9]") : std::string{'\\', next};
      out.origins.resize(out.text.size(), at - 1);
      continue;
    }
    out.text += c;
    out.origins.push_back(at);
    if (c == '[') in_bracket = true;
    if (c == ']') in_bracket = false;
    if (c == '(' && !in_bracket) at += open_group(pattern, at + 1, out);
  }
  std::size_t place = 0;
  for (std::size_t i = 0; i < out.groups.size() && !out.named; ++i) {
    if (out.counts[i] && place < kByPlace.size()) out.groups[i] = kByPlace[place++];
  }
  return out;
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

struct StepPattern::Compiled {
  Translation translation;
  regex_t regex{};
  bool ready = false;

  explicit Compiled(std::string_view pattern) : translation(translate(pattern)) {
    if (auto fault = pattern_fault(translation.text)) {
      fault->at = fault->at < translation.origins.size() ? translation.origins[fault->at] : pattern.size();
      fail(pattern, fault_text(*fault, pattern));
    }
    ready = regcomp(&regex, translation.text.c_str(), REG_EXTENDED) == 0;
    if (!ready) throw std::bad_alloc();  // it compiled a moment ago
  }
  ~Compiled() {
    if (ready) regfree(&regex);
  }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
};

StepPattern::StepPattern(std::string_view pattern) : compiled_(std::make_unique<Compiled>(pattern)) {}
StepPattern::~StepPattern() = default;
StepPattern::StepPattern(StepPattern&&) noexcept = default;

std::optional<StepInfo> StepPattern::match(std::string_view name) const {
  const std::string text(name.substr(0, name.find('\0')));
  const std::vector<Field>& groups = compiled_->translation.groups;
  std::vector<regmatch_t> found(groups.size() + 1);
  if (regexec(&compiled_->regex, text.c_str(), found.size(), found.data(), 0) != 0) return std::nullopt;
  StepInfo info;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const regmatch_t& part = found[i + 1];
    if (part.rm_so < 0) continue;
    set(info, groups[i],
        std::string_view(text).substr(static_cast<std::size_t>(part.rm_so),
                                      static_cast<std::size_t>(part.rm_eo - part.rm_so)));
  }
  complete(info);
  return info;
}

}  // namespace tracedb
