#include "passes/classify/classifier.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <utility>

#include "base/ascii.h"
#include "trace/kernel_name.h"

namespace tracedb {
namespace {

constexpr int kMostWrappers = 6;
constexpr std::uint32_t kNowhere = UINT32_MAX;

bool bit(const std::vector<std::uint64_t>& bits, std::size_t i) { return (bits[i / 64] >> (i % 64) & 1) != 0; }
void set_bit(std::vector<std::uint64_t>& bits, std::size_t i) { bits[i / 64] |= std::uint64_t{1} << (i % 64); }
std::size_t bit_words(std::size_t n) { return n / 64 + 1; }

bool is_function_scope(Scope scope) { return scope == Scope::kFunction || scope == Scope::kOwnName; }
bool is_word_scope(Scope scope) { return is_function_scope(scope) || scope == Scope::kArguments; }

// Letters of a pattern, '*' kept.
std::string pattern_letters(std::string_view pattern) {
  std::string out;
  while (true) {
    const std::size_t star = std::min(pattern.find('*'), pattern.size());
    out += word_text(pattern.substr(0, star)).letters;
    if (star == pattern.size()) return out;
    out += '*';
    pattern.remove_prefix(star + 1);
  }
}

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

Classifier::Classifier(RuleSet rules, std::string platform)
    : rules_(std::move(rules)), platform_(std::move(platform)), matcher_({}) {
  class_id("other");
  compile();
}

void Classifier::reserve() {
  std::size_t words = 0;
  for (const auto* rules : {&rules_.parts, &rules_.rules}) {
    for (const Rule& rule : *rules) {
      for (const Term& term : rule.terms) words += term.words.size();
    }
  }
  compiled_.reserve(rules_.rules.size());
  parts_.reserve(rules_.parts.size());
  words_.reserve(words);
  terms_of_word_.reserve(words);
  word_ids_.reserve(words);
  texts_.reserve(words);
  words_of_text_.reserve(words);
  text_ids_.reserve(words);
}

void Classifier::compile() {
  reserve();
  for (const Rule& part : rules_.parts) parts_.push_back(compile_rule(part));
  for (const Rule& rule : rules_.rules) {
    compiled_.push_back(compile_rule(rule));
    for (const std::string& name : rule.parts) {
      const auto part = std::find_if(rules_.parts.begin(), rules_.parts.end(),
                                     [&](const Rule& candidate) { return candidate.name == name; });
      if (part != rules_.parts.end()) {
        compiled_.back().parts.push_back(static_cast<std::size_t>(part - rules_.parts.begin()));
      }
    }
  }
  for (const std::string& wrapper : rules_.wrappers) wrappers_.emplace_back(pattern_letters(wrapper));
  triggers_.resize(words_.size());
  always_.assign(bit_words(compiled_.size()), 0);
  for (std::size_t i = 0; i < compiled_.size(); ++i) note_triggers(static_cast<RuleId>(i));
  matcher_ = WordMatcher(texts_);
  state_.found.assign(bit_words(words_.size()), 0);
  state_.terms.assign(bit_words(terms_), 0);
  state_.position.assign(words_.size(), kNowhere);
  state_.candidates.assign(always_.size(), 0);
}

Classifier::CompiledRule Classifier::compile_rule(const Rule& rule) {
  CompiledRule compiled;
  compiled.terms.reserve(rule.terms.size());
  for (const Term& term : rule.terms) {
    CompiledTerm& out = compiled.terms.emplace_back();
    out.term = &term;
    out.words.reserve(term.words.size());
    if (term.scope == Scope::kArgument) {
      for (const std::string& word : term.words) out.patterns.emplace_back(pattern_letters(word));
    }
    if (!is_word_scope(term.scope)) continue;
    out.id = terms_++;
    for (const std::string& word : term.words) {
      out.words.push_back(word_id(word, term.scope));
      terms_of_word_[out.words.back()].push_back(out.id);
    }
  }
  return compiled;
}

std::uint32_t Classifier::word_id(const std::string& written, Scope scope) {
  const std::string key = std::to_string(static_cast<int>(scope)) + written;
  if (const auto known = word_ids_.find(key); known != word_ids_.end()) return known->second;
  Word word;
  word.scope = scope;
  std::string_view text = written;
  for (; text.starts_with('^') || text.starts_with('*'); text.remove_prefix(1)) {
    (text.front() == '^' ? word.part_begin : word.open_begin) = true;
  }
  for (; text.ends_with('$') || text.ends_with('*'); text.remove_suffix(1)) {
    (text.back() == '$' ? word.part_end : word.open_end) = true;
  }
  const std::string letters = word_text(text).letters;
  const auto [entry, fresh] = text_ids_.emplace(letters, static_cast<std::uint32_t>(texts_.size()));
  if (fresh) {
    texts_.push_back(letters);
    words_of_text_.emplace_back();
  }
  const auto id = static_cast<std::uint32_t>(words_.size());
  words_of_text_[entry->second].push_back(id);
  words_.push_back(word);
  terms_of_word_.emplace_back();
  word_ids_.emplace(key, id);
  return id;
}

// A rule need only be looked at when one of the words of its first term on the function is there.
void Classifier::note_triggers(RuleId rule) {
  for (const CompiledTerm& term : compiled_[rule].terms) {
    if (term.term->negated || !is_function_scope(term.term->scope)) continue;
    for (const std::uint32_t word : term.words) triggers_[word].push_back(rule);
    return;
  }
  set_bit(always_, rule);
}

bool Classifier::is_wrapper(std::string_view letters) const {
  return std::any_of(wrappers_.begin(), wrappers_.end(),
                     [&](const LetterPattern& pattern) { return pattern.fits(letters); });
}

void Classifier::look_at(std::string_view name, std::string_view readable) {
  KernelName& parts = state_.parts;
  split_kernel_name(readable, parts);
  if (parts.path.empty()) parts.path = readable;
  state_.path = parts.path;
  word_text(state_.path, state_.words);
  std::string_view inner = state_.words.letters;
  for (int level = 0; level < kMostWrappers && is_wrapper(inner); ++level) {
    const std::string_view type = first_type(parts.argument_list);
    if (type.empty()) break;
    split_kernel_name(type, parts);
    state_.path += "::" + parts.path;
    word_text(parts.path, state_.inner);
    inner = state_.inner.letters;
  }
  if (state_.path.size() != parts.path.size()) word_text(state_.path, state_.words);
  state_.name = name;
  state_.lower.clear();
  std::fill(state_.found.begin(), state_.found.end(), 0);
  std::fill(state_.terms.begin(), state_.terms.end(), 0);
  state_.candidates = always_;
  state_.path_length = state_.words.letters.size();
  state_.own_begin = state_.words.letters.rfind(':') + 1;
  scan(state_.words, Scope::kFunction, 0);
  state_.arguments_scanned = false;
}

// Most names are decided without their arguments, which are most of a name.
void Classifier::scan_arguments() {
  if (state_.arguments_scanned) return;
  state_.arguments_scanned = true;
  word_text(state_.parts.arguments, state_.words);
  scan(state_.words, Scope::kArguments, state_.path_length + 1);
}

void Classifier::scan(const WordText& text, Scope scope, std::size_t offset) {
  matcher_.search(text.letters, [&](std::uint32_t id, std::size_t end) {
    const std::size_t begin = end - texts_[id].size();
    for (const std::uint32_t word : words_of_text_[id]) {
      const Scope wanted = words_[word].scope;
      if (is_function_scope(wanted) != is_function_scope(scope) || bit(state_.found, word)) continue;
      if (wanted == Scope::kOwnName && begin < state_.own_begin) continue;
      if (!fits(words_[word], text, begin, end)) continue;
      set_bit(state_.found, word);
      state_.position[word] = static_cast<std::uint32_t>(offset + begin);
      for (const RuleId rule : triggers_[word]) set_bit(state_.candidates, rule);
      for (const std::uint32_t term : terms_of_word_[word]) set_bit(state_.terms, term);
    }
  });
}

bool Classifier::fits(const Word& word, const WordText& text, std::size_t begin, std::size_t end) const {
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

bool Classifier::any_word(const CompiledTerm& term) {
  if (term.term->scope == Scope::kArguments) scan_arguments();
  return bit(state_.terms, term.id);
}

bool Classifier::any_argument(const CompiledTerm& compiled) const {
  const std::size_t argument = compiled.term->argument;
  if (argument > state_.parts.argument_list.size()) return false;
  const std::string letters = word_text(state_.parts.argument_list[argument - 1]).letters;
  return std::any_of(compiled.patterns.begin(), compiled.patterns.end(),
                     [&](const LetterPattern& pattern) { return pattern.fits(letters); });
}

bool Classifier::any_raw(const Term& term) {
  if (term.scope == Scope::kRaw && state_.lower.empty()) state_.lower = ascii_lower(state_.name);
  const std::string_view text = term.scope == Scope::kRaw ? std::string_view(state_.lower) : state_.name;
  return std::any_of(term.words.begin(), term.words.end(), [&](std::string_view word) {
    return word.starts_with('^') ? text.starts_with(word.substr(1)) : text.find(word) != std::string_view::npos;
  });
}

bool Classifier::holds(const CompiledRule& rule) {
  return std::all_of(rule.terms.begin(), rule.terms.end(), [&](const CompiledTerm& compiled) {
    const Term& term = *compiled.term;
    bool any = false;
    switch (term.scope) {
      case Scope::kFunction:
      case Scope::kOwnName:
      case Scope::kArguments:
        any = any_word(compiled);
        break;
      case Scope::kArgument:
        any = any_argument(compiled);
        break;
      case Scope::kRaw:
      case Scope::kRawCase:
        any = any_raw(term);
        break;
      case Scope::kPlatform:
        any = std::find(term.words.begin(), term.words.end(), platform_) != term.words.end();
        break;
    }
    return any != term.negated;
  });
}

RuleId Classifier::next_rule(std::size_t from) {
  for (std::size_t block = from / 64; block < state_.candidates.size(); ++block) {
    std::uint64_t bits = state_.candidates[block];
    if (block == from / 64) bits &= ~std::uint64_t{0} << (from % 64);
    for (; bits != 0; bits &= bits - 1) {
      const std::size_t rule = block * 64 + static_cast<std::size_t>(std::countr_zero(bits));
      if (holds(compiled_[rule])) return static_cast<RuleId>(rule);
    }
  }
  return kNoRule;
}

// Where the name shows what the rule is about: the first of the words of its first term.
std::uint32_t Classifier::place(const CompiledRule& rule) const {
  std::uint32_t first = kNowhere;
  for (const CompiledTerm& term : rule.terms) {
    if (term.term->negated || term.words.empty()) continue;
    for (const std::uint32_t word : term.words) {
      if (bit(state_.found, word)) first = std::min(first, state_.position[word]);
    }
    break;
  }
  return first;
}

ClassId Classifier::composed_class(RuleId id) {
  const Rule& rule = rules_.rules[id];
  if (compiled_[id].parts.empty()) return class_id(rule.class_name);
  std::vector<std::pair<std::uint32_t, std::string_view>> found = {{place(compiled_[id]), rule.class_name}};
  for (const std::size_t part : compiled_[id].parts) {
    const std::string& name = rules_.parts[part].class_name;
    const auto same = [&](const auto& other) { return other.second == name; };
    if (holds(parts_[part]) && std::none_of(found.begin(), found.end(), same)) {
      found.emplace_back(place(parts_[part]), name);
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text;
  for (const auto& [position, name] : found) text.append(text.empty() ? "" : "+").append(name);
  return class_id(text);
}

ClassId Classifier::class_id(const std::string& name) {
  const auto [entry, fresh] = class_ids_.try_emplace(name, static_cast<ClassId>(classes_.size()));
  if (fresh) classes_.push_back(name);
  return entry->second;
}

Classification Classifier::classify(std::string_view name) {
  state_.readable.clear();
  if (name.starts_with("_Z")) state_.readable = readable_name(name);
  look_at(name, state_.readable.empty() ? name : state_.readable);
  const RuleId rule = next_rule(0);
  return rule == kNoRule ? Classification{} : Classification{composed_class(rule), rule};
}

std::vector<RuleId> Classifier::matching_rules(std::string_view name) {
  std::vector<RuleId> matching;
  if (classify(name).rule_id == kNoRule) return matching;
  for (RuleId rule = next_rule(0); rule != kNoRule; rule = next_rule(rule + 1)) matching.push_back(rule);
  return matching;
}

void Classifier::append_evidence(const CompiledRule& rule, std::vector<std::string>& out) const {
  for (const CompiledTerm& compiled : rule.terms) {
    if (compiled.term->negated) continue;
    Term shown = *compiled.term;
    if (!compiled.words.empty()) {
      shown.words.clear();
      for (std::size_t i = 0; i < compiled.words.size(); ++i) {
        if (bit(state_.found, compiled.words[i]) && shown.words.empty()) shown.words = {compiled.term->words[i]};
      }
    }
    out.push_back(to_text(shown));
  }
}

Explanation Classifier::explain(std::string_view name) {
  Explanation explanation;
  explanation.result = classify(name);
  explanation.readable = readable_name(name);
  explanation.path = state_.path;
  const RuleId rule = explanation.result.rule_id;
  if (rule == kNoRule) return explanation;
  explanation.label = label(name, rule);
  append_evidence(compiled_[rule], explanation.evidence);
  for (const std::size_t part : compiled_[rule].parts) {
    if (holds(parts_[part])) append_evidence(parts_[part], explanation.evidence);
  }
  return explanation;
}

std::string Classifier::label(std::string_view name, RuleId rule) const {
  constexpr std::string_view kName = "{name:";
  if (rule == kNoRule) return {};
  const std::string& pattern = rules_.rules[rule].label;
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

}  // namespace tracedb
