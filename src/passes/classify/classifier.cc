#include "passes/classify/classifier.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <iterator>
#include <utility>

#include "base/text/characters.h"

namespace tracedb {

Classifier::Classifier(RuleSet rules, std::string platform)
    : own_(std::make_unique<const CompiledRules>(std::move(rules))), rules_(*own_), scan_(rules_, std::move(platform)) {
  classes_.number("other");
}

Classifier::Classifier(const CompiledRules& rules, std::string platform)
    : rules_(rules), scan_(rules_, std::move(platform)) {
  classes_.number("other");
}

Classification Classifier::classify(std::string_view name) {
  if (const auto hlo = parse_hlo_kernel(name)) {
    hlo_name_ = "hlo";
    const auto letters = [this](std::string_view part) {
      std::ranges::copy_if(part, std::back_inserter(hlo_name_), [](unsigned char c) { return std::isalnum(c) != 0; });
    };
    // Without HLO the operation's own name, which XLA begins with the opcode: "all-reduce-start.3".
    letters(hlo->opcode.empty() ? hlo->op.substr(0, hlo->op.find('.')) : hlo->opcode);
    if (!hlo->target.empty()) hlo_name_ += "::";
    letters(hlo->target);
    const Classification by_operation = classify(std::string_view(hlo_name_));
    return by_operation.rule_id != kNoRule ? by_operation : classify(hlo->kernel);
  }
  scan_.look_at(name);
  const RuleId rule = scan_.next_rule(0);
  return rule == kNoRule ? Classification{} : Classification{classes_.number(scan_.class_name(rule)), rule};
}

std::vector<RuleId> Classifier::matching_rules(std::string_view name) {
  std::vector<RuleId> matching;
  scan_.look_at(name);
  for (RuleId rule = scan_.next_rule(0); rule != kNoRule; rule = scan_.next_rule(rule + 1)) matching.push_back(rule);
  return matching;
}

Explanation Classifier::explain(std::string_view name) {
  Explanation explanation;
  explanation.result = classify(name);
  explanation.readable = readable_name(name);
  explanation.path = scan_.path();
  const RuleId rule = explanation.result.rule_id;
  if (rule == kNoRule) return explanation;
  explanation.label = label(name, rule);
  explanation.evidence = scan_.evidence(rule);
  return explanation;
}

std::string Classifier::label(std::string_view name, RuleId rule) const {
  constexpr std::string_view kName = "{name:";
  if (rule == kNoRule) return {};
  const std::string& pattern = rules().rules[rule].label;
  const std::size_t at = pattern.find(kName);
  if (at == std::string::npos) return pattern;
  const std::size_t end = pattern.find('}', at);
  if (end == std::string::npos) return pattern;
  std::size_t characters = 0;
  std::from_chars(pattern.data() + at + kName.size(), pattern.data() + end, characters);
  std::size_t bytes = 0;  // characters, not bytes: a name may be UTF-8
  for (; bytes < name.size(); ++bytes) {
    const bool continues = (static_cast<unsigned char>(name[bytes]) & 0xC0) == 0x80;
    if (!continues && characters-- == 0) break;
  }
  return pattern.substr(0, at) + std::string(name.substr(0, bytes)) + pattern.substr(end + 1);
}

namespace {

constexpr int kMostWrappers = 6;
constexpr std::uint32_t kNoPosition = UINT32_MAX;

// The first argument that can name a type: what a wrapper runs.
std::string_view first_type(const std::vector<std::string_view>& arguments) {
  for (std::string_view argument : arguments) {
    argument.remove_prefix(std::min(argument.find_first_not_of(' '), argument.size()));
    if (argument.empty() || argument == "true" || argument == "false") continue;
    const char c = argument.front();
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_') return argument;
  }
  return {};
}

}  // namespace

NameScan::NameScan(const CompiledRules& rules, std::string platform)
    : rules_(rules),
      platform_(std::move(platform)),
      found_(rules.words_.size()),
      terms_(rules.terms_),
      position_(rules.words_.size(), kNoPosition) {}

void NameScan::open_wrappers(std::string_view readable) {
  split_kernel_name(readable, parts_);
  if (parts_.path.empty()) parts_.path = readable;
  path_ = parts_.path;
  normalize_name(path_, words_);
  std::string_view inner = words_.letters;
  for (int level = 0; level < kMostWrappers && rules_.is_wrapper(inner); ++level) {
    const std::string_view type = first_type(parts_.argument_list);
    if (type.empty()) break;
    split_kernel_name(type, parts_);
    path_ += "::" + parts_.path;
    normalize_name(parts_.path, inner_);
    inner = inner_.letters;
  }
  if (path_.size() != parts_.path.size()) normalize_name(path_, words_);
}

void NameScan::look_at(std::string_view name) {
  readable_.clear();
  if (name.starts_with("_Z")) readable_ = readable_name(name);
  open_wrappers(readable_.empty() ? name : std::string_view(readable_));
  name_ = name;
  lower_.clear();
  found_.clear();
  terms_.clear();
  candidates_ = rules_.always_;
  path_length_ = words_.letters.size();
  own_begin_ = words_.letters.rfind(':') + 1;
  scan(words_, Scope::kFunction, 0);
  arguments_scanned_ = false;
}

// Most names are decided without their arguments, which are most of a name.
void NameScan::scan_arguments() {
  if (arguments_scanned_) return;
  arguments_scanned_ = true;
  normalize_name(parts_.arguments, words_);
  scan(words_, Scope::kArguments, path_length_ + 1);
}

void NameScan::scan(const NormalizedName& text, Scope scope, std::size_t offset) {
  rules_.matcher_.search(text.letters, [&](std::uint32_t id, std::size_t end) {
    const std::size_t begin = end - rules_.texts_[id].size();
    for (const std::uint32_t word : rules_.words_of_text_[id]) {
      const Scope wanted = rules_.words_[word].scope;
      if (is_function_scope(wanted) != is_function_scope(scope) || found_.has(word)) continue;
      if (wanted == Scope::kOwnName && begin < own_begin_) continue;
      if (!fits(rules_.words_[word], text, begin, end)) continue;
      found_.add(word);
      position_[word] = static_cast<std::uint32_t>(offset + begin);
      for (const RuleId rule : rules_.triggers_[word]) candidates_.add(rule);
      for (const std::uint32_t term : rules_.terms_of_word_[word]) terms_.add(term);
    }
  });
}

bool NameScan::fits(const CompiledRules::Word& word, const NormalizedName& text, std::size_t begin, std::size_t end) {
  if (text.word_starts[begin] == 0) {  // "*gemm" finds sgemm; it may not run from the middle of a word into the next
    const auto inside = text.word_starts.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto behind = text.word_starts.begin() + static_cast<std::ptrdiff_t>(end);
    if (!word.open_begin || std::find(inside, behind, 1) != behind) return false;
  }
  if (!word.open_end && text.word_starts[end] == 0) return false;
  const auto separates = [&](std::size_t i) { return text.letters[i] == ':' || text.letters[i] == ','; };
  if (word.part_begin && begin != 0 && !separates(begin - 1)) return false;
  return !word.part_end || end == text.letters.size() || separates(end);
}

bool NameScan::any_argument(const CompiledTerm& compiled) const {
  const std::size_t argument = compiled.term->argument;
  if (argument > parts_.argument_list.size()) return false;
  const std::string letters = normalize_name(parts_.argument_list[argument - 1]).letters;
  return std::ranges::any_of(compiled.patterns, [&](const GlobPattern& pattern) { return pattern.fits(letters); });
}

bool NameScan::any_raw(const Term& term) {
  if (term.scope == Scope::kRaw && lower_.empty()) lower_ = ascii_lower(name_);
  const std::string_view text = term.scope == Scope::kRaw ? std::string_view(lower_) : name_;
  return std::ranges::any_of(term.words, [&](std::string_view word) {
    return word.starts_with('^') ? text.starts_with(word.substr(1)) : text.find(word) != std::string_view::npos;
  });
}

bool NameScan::holds(const CompiledRule& rule) {
  return std::ranges::all_of(rule.terms, [&](const CompiledTerm& compiled) {
    const Term& term = *compiled.term;
    bool any = false;
    switch (term.scope) {
      case Scope::kArguments:
        scan_arguments();
        [[fallthrough]];
      case Scope::kFunction:
      case Scope::kOwnName:
        any = terms_.has(compiled.id);
        break;
      case Scope::kArgument:
        any = any_argument(compiled);
        break;
      case Scope::kRaw:
      case Scope::kRawCase:
        any = any_raw(term);
        break;
      case Scope::kPlatform:
        any = std::ranges::find(term.words, platform_) != term.words.end();
        break;
    }
    return any != term.negated;
  });
}

RuleId NameScan::next_rule(std::size_t from) {
  for (std::size_t block = from / 64; block < candidates_.words().size(); ++block) {
    std::uint64_t bits = candidates_.words()[block];
    if (block == from / 64) bits &= ~std::uint64_t{0} << (from % 64);
    for (; bits != 0; bits &= bits - 1) {
      const std::size_t rule = block * 64 + static_cast<std::size_t>(std::countr_zero(bits));
      if (holds(rules_.compiled_[rule])) return static_cast<RuleId>(rule);
    }
  }
  return kNoRule;
}

// Where the name shows what the rule is about: the first of the words of its first term.
std::uint32_t NameScan::place(const CompiledRule& rule) const {
  std::uint32_t first = kNoPosition;
  for (const CompiledTerm& term : rule.terms) {
    if (term.term->negated || term.words.empty()) continue;
    for (const std::uint32_t word : term.words) {
      if (found_.has(word)) first = std::min(first, position_[word]);
    }
    break;
  }
  return first;
}

std::string NameScan::class_name(RuleId id) {
  const Rule& rule = rules_.rules_.rules[id];
  if (rules_.compiled_[id].parts.empty()) return rule.class_name;
  std::vector<std::pair<std::uint32_t, std::string_view>> found = {{place(rules_.compiled_[id]), rule.class_name}};
  for (const std::size_t part : rules_.compiled_[id].parts) {
    const std::string& name = rules_.rules_.parts[part].class_name;
    const auto same = [&](const auto& other) { return other.second == name; };
    if (holds(rules_.parts_[part]) && std::ranges::none_of(found, same)) {
      found.emplace_back(place(rules_.parts_[part]), name);
    }
  }
  std::ranges::stable_sort(found, {}, [](const auto& one) { return one.first; });
  std::string text;
  for (const auto& [position, name] : found) text.append(text.empty() ? "" : "+").append(name);
  return text;
}

void NameScan::append_evidence(const CompiledRule& rule, std::vector<std::string>& out) const {
  for (const CompiledTerm& compiled : rule.terms) {
    if (compiled.term->negated) continue;
    Term shown = *compiled.term;
    if (!compiled.words.empty()) {
      shown.words.clear();
      for (std::size_t i = 0; i < compiled.words.size(); ++i) {
        if (found_.has(compiled.words[i]) && shown.words.empty()) shown.words = {compiled.term->words[i]};
      }
    }
    out.push_back(to_text(shown));
  }
}

std::vector<std::string> NameScan::evidence(RuleId id) {
  std::vector<std::string> out;
  append_evidence(rules_.compiled_[id], out);
  for (const std::size_t part : rules_.compiled_[id].parts) {
    if (holds(rules_.parts_[part])) append_evidence(rules_.parts_[part], out);
  }
  return out;
}

}  // namespace tracedb
