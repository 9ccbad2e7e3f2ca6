#include "passes/classify/classifier.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>

#include "base/error.h"
#include "base/text/characters.h"
#include "base/text/split.h"

namespace tracedb {
namespace {

// Letters of a pattern, '*' kept.
std::string pattern_letters(std::string_view pattern) {
  std::string out;
  for (const std::string_view piece : split_text(pattern, '*')) out += normalize_name(piece).letters + '*';
  out.pop_back();
  return out;
}

}  // namespace

CompiledRules::CompiledRules(RuleSet rules) : rules_(std::move(rules)), matcher_({}) {
  for (const Rule& part : rules_.parts) parts_.push_back(compile_rule(part));
  for (const Rule& rule : rules_.rules) {
    compiled_.push_back(compile_rule(rule));
    for (const std::string& name : rule.parts) {
      const auto part =
          std::ranges::find_if(rules_.parts, [&](const Rule& candidate) { return candidate.name == name; });
      compiled_.back().parts.push_back(static_cast<std::size_t>(part - rules_.parts.begin()));
    }
  }
  for (const std::string& wrapper : rules_.wrappers) wrappers_.emplace_back(pattern_letters(wrapper));
  triggers_.resize(words_.size());
  always_.resize(compiled_.size());
  for (std::size_t i = 0; i < compiled_.size(); ++i) note_triggers(static_cast<RuleId>(i));
  matcher_ = WordMatcher(texts_);
}

CompiledRules::CompiledRule CompiledRules::compile_rule(const Rule& rule) {
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

std::uint32_t CompiledRules::word_id(const std::string& written, Scope scope) {
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
  const std::string letters = normalize_name(text).letters;
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
void CompiledRules::note_triggers(RuleId rule) {
  for (const CompiledTerm& term : compiled_[rule].terms) {
    if (term.term->negated || !is_function_scope(term.term->scope)) continue;
    for (const std::uint32_t word : term.words) triggers_[word].push_back(rule);
    return;
  }
  always_[rule] = true;
}

bool CompiledRules::is_wrapper(std::string_view letters) const {
  return std::ranges::any_of(wrappers_, [&](const GlobPattern& pattern) { return pattern.fits(letters); });
}

GlobPattern::GlobPattern(std::string_view pattern) {
  for (const std::string_view piece : split_text(pattern, '*')) pieces_.emplace_back(piece);
}

// The first and last piece have their place; what is between is taken where it comes first, which leaves most room.
bool GlobPattern::fits(std::string_view text) const {
  const std::string& first = pieces_.front();
  const std::string& last = pieces_.back();
  if (pieces_.size() == 1) return text == first;
  if (text.size() < first.size() + last.size() || !text.starts_with(first) || !text.ends_with(last)) return false;
  text = text.substr(first.size(), text.size() - first.size() - last.size());
  for (std::size_t i = 1; i + 1 < pieces_.size(); ++i) {
    const std::size_t at = text.find(pieces_[i]);
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + pieces_[i].size());
  }
  return true;
}

WordMatcher::WordMatcher(const std::vector<std::string>& words) : next_(kLetters), word_(1, kNoWord) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::size_t state = 0;
    for (const char c : words[i]) {
      const std::size_t edge = state * kLetters + letter(c);
      if (next_[edge] == 0) {
        if (word_.size() > std::numeric_limits<std::uint16_t>::max())
          throw Error(ErrorCode::kUsage, "the rules have too many words");
        next_[edge] = static_cast<std::uint16_t>(word_.size());
        next_.resize(next_.size() + kLetters);
        word_.push_back(kNoWord);
      }
      state = next_[edge];
    }
    word_[state] = static_cast<std::uint32_t>(i);
  }
}

const CompiledRules& default_rules() {
  static const CompiledRules kDefault(load_rules("default"));
  return kDefault;
}

namespace {

enum class Kind : unsigned char { kLower, kUpper, kDigit, kOther };

constexpr std::array<Kind, 256> kinds() {
  std::array<Kind, 256> table{};
  table.fill(Kind::kOther);
  for (int c = 'a'; c <= 'z'; ++c) table[static_cast<std::size_t>(c)] = Kind::kLower;
  for (int c = 'A'; c <= 'Z'; ++c) table[static_cast<std::size_t>(c)] = Kind::kUpper;
  for (int c = '0'; c <= '9'; ++c) table[static_cast<std::size_t>(c)] = Kind::kDigit;
  return table;
}

constexpr std::array<Kind, 256> kKindOfChar = kinds();

Kind kind_of(char c) { return kKindOfChar[static_cast<unsigned char>(c)]; }

// Whether a word begins at a letter or digit behind another, by its kind and those before and behind it.
constexpr bool begins_word(Kind before, Kind here, Kind behind) {
  if (before == here) return here == Kind::kUpper && behind == Kind::kLower;
  return before == Kind::kDigit || here != Kind::kLower;
}

constexpr std::size_t place(Kind before, Kind here, Kind behind) {
  return static_cast<std::size_t>(before) << 4U | static_cast<std::size_t>(here) << 2U |
         static_cast<std::size_t>(behind);
}

// begins_word() for all; 2: behind punctuation, or that. Tables, for branches on letters are rarely foreseen.
constexpr std::array<std::uint8_t, 64> kBegins = [] {
  constexpr std::array<Kind, 4> kAll = {Kind::kLower, Kind::kUpper, Kind::kDigit, Kind::kOther};
  std::array<std::uint8_t, 64> table{};
  for (const Kind before : kAll) {
    for (const Kind here : kAll) {
      for (const Kind behind : kAll) {
        const bool separate = before == Kind::kOther || here == Kind::kOther;
        table[place(before, here, behind)] =
            separate ? 2 : static_cast<std::uint8_t>(begins_word(before, here, behind));
      }
    }
  }
  return table;
}();

// What a character becomes; 0: nothing.
constexpr std::array<char, 256> kLetters = [] {
  std::array<char, 256> table{};
  table.fill(',');
  for (int c = 'a'; c <= 'z'; ++c) table[static_cast<std::size_t>(c)] = static_cast<char>(c);
  for (int c = 'A'; c <= 'Z'; ++c) table[static_cast<std::size_t>(c)] = static_cast<char>(c - 'A' + 'a');
  for (int c = '0'; c <= '9'; ++c) table[static_cast<std::size_t>(c)] = static_cast<char>(c);
  table[':'] = ':';
  table['_'] = table[' '] = table[')'] = 0;
  return table;
}();

}  // namespace

NormalizedName normalize_name(std::string_view text) {
  NormalizedName out;
  normalize_name(text, out);
  return out;
}

void normalize_name(std::string_view text, NormalizedName& out) {
  out.letters.resize(text.size());
  out.word_starts.resize(text.size() + 1);
  char* letter = out.letters.data();
  std::uint8_t* start = out.word_starts.data();
  Kind before = Kind::kOther;
  Kind here = text.empty() ? Kind::kOther : kind_of(text[0]);
  bool behind_colon = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const Kind behind = i + 1 < text.size() ? kind_of(text[i + 1]) : Kind::kOther;
    const char out_letter = kLetters[static_cast<unsigned char>(text[i])];
    const bool kept = out_letter != 0 && !(behind_colon && out_letter == ':');
    *letter = out_letter;
    *start = kBegins[place(before, here, behind)];
    letter += kept ? 1 : 0;
    start += kept ? 1 : 0;
    behind_colon = out_letter == ':';
    before = here;
    here = behind;
  }
  *start = 1;
  const auto length = static_cast<std::size_t>(letter - out.letters.data());
  out.letters.resize(length);
  out.word_starts.resize(length + 1);
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
  look_at(name);
  const RuleId rule = next_rule(0);
  return rule == kNoRule ? Classification{} : Classification{classes_.number(class_by(rule)), rule};
}

std::vector<RuleId> Classifier::matching_rules(std::string_view name) {
  std::vector<RuleId> matching;
  look_at(name);
  for (RuleId rule = next_rule(0); rule != kNoRule; rule = next_rule(rule + 1)) matching.push_back(rule);
  return matching;
}

Explanation Classifier::explain(std::string_view name) {
  Explanation explanation;
  explanation.result = classify(name);
  explanation.readable = readable_name(name);
  explanation.path = path_;
  const RuleId rule = explanation.result.rule_id;
  if (rule == kNoRule) return explanation;
  explanation.label = label(name, rule);
  explanation.evidence = evidence(rule);
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

Classifier::Classifier(std::shared_ptr<const CompiledRules> rules, std::string platform)
    : owned_(std::move(rules)),
      rules_(*owned_),
      platform_(std::move(platform)),
      found_(rules_.words_.size()),
      terms_(rules_.terms_),
      position_(rules_.words_.size(), kNoPosition) {
  classes_.number("other");
}

void Classifier::open_wrappers(std::string_view readable) {
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

void Classifier::look_at(std::string_view name) {
  readable_.clear();
  if (name.starts_with("_Z")) readable_ = readable_name(name);
  open_wrappers(readable_.empty() ? name : std::string_view(readable_));
  name_ = name;
  lower_.clear();
  found_.assign(found_.size(), false);
  terms_.assign(terms_.size(), false);
  candidates_ = rules_.always_;
  path_length_ = words_.letters.size();
  own_begin_ = words_.letters.rfind(':') + 1;
  scan(words_, Scope::kFunction, 0);
  arguments_scanned_ = false;
}

// Most names are decided without their arguments, which are most of a name.
void Classifier::scan_arguments() {
  if (arguments_scanned_) return;
  arguments_scanned_ = true;
  normalize_name(parts_.arguments, words_);
  scan(words_, Scope::kArguments, path_length_ + 1);
}

void Classifier::scan(const NormalizedName& text, Scope scope, std::size_t offset) {
  rules_.matcher_.search(text.letters, [&](std::uint32_t id, std::size_t end) {
    const std::size_t begin = end - rules_.texts_[id].size();
    for (const std::uint32_t word : rules_.words_of_text_[id]) {
      const Scope wanted = rules_.words_[word].scope;
      if (is_function_scope(wanted) != is_function_scope(scope) || found_[word]) continue;
      if (wanted == Scope::kOwnName && begin < own_begin_) continue;
      if (!fits(rules_.words_[word], text, begin, end)) continue;
      found_[word] = true;
      position_[word] = static_cast<std::uint32_t>(offset + begin);
      for (const RuleId rule : rules_.triggers_[word]) candidates_[rule] = true;
      for (const std::uint32_t term : rules_.terms_of_word_[word]) terms_[term] = true;
    }
  });
}

bool Classifier::fits(const CompiledRules::Word& word, const NormalizedName& text, std::size_t begin, std::size_t end) {
  if (text.word_starts[begin] == 0) {  // "*gemm" finds sgemm; it may not run from the middle of a word into the next
    const auto inside = text.word_starts.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto behind = text.word_starts.begin() + static_cast<std::ptrdiff_t>(end);
    if (!word.open_begin || std::any_of(inside, behind, [](std::uint8_t start) { return start != 0; })) return false;
  }
  // A lone letter before an underscore begins no word with what is behind that: "schedS_sm100" has no "ssm".
  if (text.word_starts[begin] == 1 && begin + 1 < end && text.word_starts[begin + 1] == 2) return false;
  if (!word.open_end && text.word_starts[end] == 0) return false;
  const auto separates = [&](std::size_t i) { return text.letters[i] == ':' || text.letters[i] == ','; };
  if (word.part_begin && begin != 0 && !separates(begin - 1)) return false;
  return !word.part_end || end == text.letters.size() || separates(end);
}

bool Classifier::any_argument(const CompiledTerm& compiled) const {
  const std::size_t argument = compiled.term->argument;
  if (argument > parts_.argument_list.size()) return false;
  const std::string letters = normalize_name(parts_.argument_list[argument - 1]).letters;
  return std::ranges::any_of(compiled.patterns, [&](const GlobPattern& pattern) { return pattern.fits(letters); });
}

bool Classifier::any_raw(const Term& term) {
  if (term.scope == Scope::kRaw && lower_.empty()) lower_ = ascii_lower(name_);
  const std::string_view text = term.scope == Scope::kRaw ? std::string_view(lower_) : name_;
  return std::ranges::any_of(term.words, [&](std::string_view word) {
    return word.starts_with('^') ? text.starts_with(word.substr(1)) : text.find(word) != std::string_view::npos;
  });
}

bool Classifier::holds(const CompiledRule& rule) {
  return std::ranges::all_of(rule.terms, [&](const CompiledTerm& compiled) {
    const Term& term = *compiled.term;
    bool any = false;
    switch (term.scope) {
      case Scope::kArguments:
        scan_arguments();
        [[fallthrough]];
      case Scope::kFunction:
      case Scope::kOwnName:
        any = terms_[compiled.id];
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

RuleId Classifier::next_rule(std::size_t from) {
  for (std::size_t rule = from; rule < candidates_.size(); ++rule) {
    if (candidates_[rule] && holds(rules_.compiled_[rule])) return static_cast<RuleId>(rule);
  }
  return kNoRule;
}

// Where the name shows what the rule is about: the first of the words of its first term.
std::uint32_t Classifier::place(const CompiledRule& rule) const {
  std::uint32_t first = kNoPosition;
  for (const CompiledTerm& term : rule.terms) {
    if (term.term->negated || term.words.empty()) continue;
    for (const std::uint32_t word : term.words) {
      if (found_[word]) first = std::min(first, position_[word]);
    }
    break;
  }
  return first;
}

std::string Classifier::class_by(RuleId id) {
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

void Classifier::append_evidence(const CompiledRule& rule, std::vector<std::string>& out) const {
  for (const CompiledTerm& compiled : rule.terms) {
    if (compiled.term->negated) continue;
    Term shown = *compiled.term;
    if (!compiled.words.empty()) {
      shown.words.clear();
      for (std::size_t i = 0; i < compiled.words.size(); ++i) {
        if (found_[compiled.words[i]] && shown.words.empty()) shown.words = {compiled.term->words[i]};
      }
    }
    out.push_back(to_text(shown));
  }
}

std::vector<std::string> Classifier::evidence(RuleId id) {
  std::vector<std::string> out;
  append_evidence(rules_.compiled_[id], out);
  for (const std::size_t part : rules_.compiled_[id].parts) {
    if (holds(rules_.parts_[part])) append_evidence(rules_.parts_[part], out);
  }
  return out;
}

namespace {

bool all_in(const std::vector<std::string>& some, const std::vector<std::string>& all) {
  return std::ranges::all_of(some, [&](const std::string& word) { return std::ranges::find(all, word) != all.end(); });
}

// Whether a name in which `narrow` is found has `wide` too: the same word, with ends free that were not.
bool implies(std::string_view narrow, std::string_view wide) {
  if (narrow == wide) return true;
  const bool open_begin = wide.starts_with('*');
  const bool open_end = wide.ends_with('*');
  if (narrow.starts_with('*') != open_begin && !open_begin) return false;
  if (narrow.ends_with('*') != open_end && !open_end) return false;
  const auto core = [](std::string_view word) {
    const std::size_t first = word.find_first_not_of("^*");
    const std::size_t last = word.find_last_not_of("$*");
    return word.substr(first, last - first + 1);
  };
  if (wide.starts_with('^') && !narrow.starts_with('^')) return false;
  if (wide.ends_with('$') && !narrow.ends_with('$')) return false;
  const std::string_view inner = core(narrow);
  const std::string_view outer = core(wide);
  if (open_begin && open_end) return inner.find(outer) != std::string_view::npos;
  if (open_end) return inner.starts_with(outer);
  if (open_begin) return inner.ends_with(outer);
  return inner == outer;
}

bool all_imply(const std::vector<std::string>& narrow, const std::vector<std::string>& wide) {
  return std::ranges::all_of(narrow, [&](const std::string& word) {
    return std::ranges::any_of(wide, [&](const std::string& other) { return implies(word, other); });
  });
}

// `term` holds whenever one of `given` does.
bool follows(const Term& term, const std::vector<Term>& given) {
  return std::ranges::any_of(given, [&](const Term& other) {
    if (other.scope != term.scope || other.argument != term.argument || other.negated != term.negated) return false;
    if (term.negated) return all_in(term.words, other.words);
    return is_word_scope(term.scope) ? all_imply(other.words, term.words) : all_in(other.words, term.words);
  });
}

bool covers(const Rule& earlier, const Rule& later) {
  return std::ranges::all_of(earlier.terms, [&](const Term& term) { return follows(term, later.terms); });
}

RuleId covering_rule(const std::vector<Rule>& rules, RuleId later) {
  for (RuleId earlier = 0; earlier < later; ++earlier) {
    if (covers(rules[earlier], rules[later])) return earlier;
  }
  return kNoRule;
}

}  // namespace

std::string_view to_string(RuleState state) {
  constexpr std::array<std::string_view, 4> kNames = {"never reached", "shadowed", "unused", "used"};
  return kNames.at(static_cast<std::size_t>(state));
}

std::vector<RuleFinding> check_rules(Classifier& classifier, const std::vector<std::string>& names) {
  std::vector<RuleFinding> findings(classifier.rules().rules.size());
  for (const std::string& name : names) {
    const std::vector<RuleId> matching = classifier.matching_rules(name);
    for (const RuleId rule : matching) {
      RuleFinding& finding = findings[rule];
      ++finding.held;
      if (rule == matching.front()) {
        ++finding.decided;
      } else if (finding.by == kNoRule) {
        finding.by = matching.front();
      }
    }
  }
  for (RuleId rule = 0; rule < findings.size(); ++rule) {
    RuleFinding& finding = findings[rule];
    finding.rule = rule;
    if (finding.held > 0) finding.state = finding.decided > 0 ? RuleState::kUsed : RuleState::kShadowed;
    if (finding.decided > 0) finding.by = kNoRule;
    const RuleId covering = covering_rule(classifier.rules().rules, rule);
    if (covering == kNoRule) continue;
    finding.state = RuleState::kNeverReached;
    finding.by = covering;
  }
  return findings;
}

}  // namespace tracedb
