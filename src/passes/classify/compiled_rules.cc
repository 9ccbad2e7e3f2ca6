#include "passes/classify/compiled_rules.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <utility>

#include "base/error.h"
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

constexpr std::uint32_t kNoWord = std::numeric_limits<std::uint32_t>::max();

}  // namespace

CompiledRules::CompiledRules(RuleSet rules) : rules_(std::move(rules)), matcher_({}) {
  for (const Rule& part : rules_.parts) parts_.push_back(compile_rule(part));
  for (const Rule& rule : rules_.rules) {
    compiled_.push_back(compile_rule(rule));
    for (const std::string& name : rule.parts) {
      const auto part =
          std::ranges::find_if(rules_.parts, [&](const Rule& candidate) { return candidate.name == name; });
      if (part != rules_.parts.end()) {
        compiled_.back().parts.push_back(static_cast<std::size_t>(part - rules_.parts.begin()));
      }
    }
  }
  for (const std::string& wrapper : rules_.wrappers) wrappers_.emplace_back(pattern_letters(wrapper));
  triggers_.resize(words_.size());
  always_ = BitSet(compiled_.size());
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
  always_.add(rule);
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

WordMatcher::WordMatcher(const std::vector<std::string>& words) {
  std::size_t letters = 1;
  for (const std::string& word : words) letters += word.size();
  next_.reserve(letters * kLetters);
  next_.assign(kLetters, 0);
  word_.push_back(kNoWord);
  for (std::size_t i = 0; i < words.size(); ++i) add(words[i], static_cast<std::uint32_t>(i));
  link();
}

void WordMatcher::add(std::string_view word, std::uint32_t index) {
  std::size_t state = 0;
  for (const char c : word) {
    const std::uint16_t next = next_[state * kLetters + letter(c)];
    state = next != 0 ? next : add_state(state, letter(c));
  }
  word_[state] = index;
}

std::uint16_t WordMatcher::add_state(std::size_t from, std::size_t letter) {
  if (word_.size() > kState) throw Error(ErrorCode::kUsage, "the rules have too many words");
  const auto state = static_cast<std::uint16_t>(word_.size());
  next_[from * kLetters + letter] = state;
  next_.resize(next_.size() + kLetters, 0);
  word_.push_back(kNoWord);
  return state;
}

// By distance from the root: the state a letter leads to elsewhere is that of the longest suffix that is a state.
void WordMatcher::link() {
  fail_.assign(word_.size(), 0);
  hit_.assign(word_.size(), 0);
  std::vector<std::uint16_t> queue = {0};
  queue.reserve(word_.size());
  const std::vector<std::uint16_t> nowhere(kLetters, 0);
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const std::uint16_t state = queue[head];
    std::uint16_t* const own = &next_[state * kLetters];
    const std::uint16_t* const elsewhere = state == 0 ? nowhere.data() : &next_[fail_[state] * kLetters];
    for (std::size_t c = 0; c < kLetters; ++c) {
      const std::uint16_t child = own[c];
      if (child == 0) continue;
      fail_[child] = elsewhere[c] & kState;
      hit_[child] = word_[child] != kNoWord ? child : hit_[fail_[child]];
      if (hit_[child] != 0) own[c] |= kHit;
      queue.push_back(child);
    }
    for (std::size_t c = 0; c < kLetters; ++c) own[c] = own[c] != 0 ? own[c] : elsewhere[c];
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

// Whether a word begins at a letter or digit, by its kind and those before and behind it.
constexpr bool begins_word(Kind before, Kind here, Kind behind) {
  if (before == Kind::kOther) return true;
  if (before == here) return here == Kind::kUpper && behind == Kind::kLower;
  return before == Kind::kDigit || here != Kind::kLower;
}

constexpr std::size_t place(Kind before, Kind here, Kind behind) {
  return static_cast<std::size_t>(before) << 4U | static_cast<std::size_t>(here) << 2U |
         static_cast<std::size_t>(behind);
}

// begins_word() for all, and 1 for punctuation. Tables, for branches on letters are rarely foreseen.
constexpr std::array<std::uint8_t, 64> kBegins = [] {
  constexpr std::array<Kind, 4> kAll = {Kind::kLower, Kind::kUpper, Kind::kDigit, Kind::kOther};
  std::array<std::uint8_t, 64> table{};
  for (const Kind before : kAll) {
    for (const Kind here : kAll) {
      for (const Kind behind : kAll) {
        const bool begins = here == Kind::kOther || begins_word(before, here, behind);
        table[place(before, here, behind)] = begins ? 1 : 0;
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

}  // namespace tracedb
