#include "passes/classify/rule_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/files/small_file.h"
#include "base/stream/content_hash.h"
#include "base/text/closest_name.h"
#include "base/text/split.h"
#include "sql/scripts.h"

namespace tracedb {
namespace {

constexpr std::array<std::string_view, 2> kSets = {"default", "wafer"};
constexpr std::string_view kFolder = "rules/";
constexpr std::size_t kMostBytes = 4 << 20;
constexpr int kDeepestInclude = 8;

constexpr std::pair<std::string_view, Scope> kScopeNames[] = {
    {"own", Scope::kOwnName},     {"args", Scope::kArguments},    {"raw", Scope::kRaw},
    {"rawcase", Scope::kRawCase}, {"platform", Scope::kPlatform}, {"arg", Scope::kArgument}};

// Words of one line; quotes keep blanks together and are dropped.
std::vector<std::string> line_words(std::string_view line) {
  std::vector<std::string> words;
  bool quoted = false;
  bool open = false;
  for (const char c : line) {
    if (c == '#' && !open) break;
    if (c == '"') {
      quoted = !quoted;
    } else if ((c == ' ' || c == '\t' || c == '\r') && !quoted) {
      open = false;
      continue;
    }
    if (!open) words.emplace_back();
    open = true;
    if (c != '"') words.back() += c;
  }
  return words;
}

// What follows a comma at the end of a line is glued to it.
void append_words(std::vector<std::string>& words, std::vector<std::string> more) {
  std::size_t from = 0;
  if (!words.empty() && !more.empty() && words.back().ends_with(',')) words.back() += more[from++];
  for (; from < more.size(); ++from) words.push_back(std::move(more[from]));
}

class Reader {
 public:
  explicit Reader(RuleSet& set) : set_(set) {}

  void read(std::string_view text, const std::string& source, int depth) {
    const std::string outer_source = std::exchange(source_, source);
    const std::size_t outer_line = std::exchange(line_, 0);
    std::vector<std::string> words;
    std::size_t first_line = 0;
    std::size_t line = 0;
    const auto finish = [&] {
      line_ = first_line;
      if (!words.empty()) statement(words, depth);
      words.clear();
    };
    for (const std::string_view one : split_lines(text)) {
      ++line;
      if (!one.starts_with(' ')) {
        finish();
        first_line = line;
      }
      append_words(words, line_words(one));
    }
    finish();
    source_ = outer_source;
    line_ = outer_line;
  }

  void check() const {
    std::set<std::string> names;
    for (const Rule& rule : set_.rules) {
      if (!names.insert(rule.name).second) fail_at(rule.source, fmt::format("duplicate rule '{}'", rule.name));
      for (const std::string_view part : split_text(rule.class_name, '+')) check_class(rule.source, part);
      for (const std::string& part : rule.parts) check_part(rule, part);
    }
    for (const Rule& part : set_.parts) check_class(part.source, part.class_name);
    for (const auto* relations : {&set_.families, &set_.unnamed}) {
      for (const ClassRelation& relation : *relations) check_class(relation.source, relation.first);
      for (const ClassRelation& relation : *relations) check_class(relation.source, relation.second);
    }
    for (const ClassRelation& companion : set_.companions) {
      check_class(companion.source, companion.second);
      if (!names.contains(companion.first)) fail_at(companion.source, fmt::format("no rule '{}'", companion.first));
    }
  }

 private:
  [[noreturn]] static void fail_at(const std::string& place, const std::string& reason) {
    throw Error(ErrorCode::kUsage, fmt::format("{}: {}", place, reason));
  }
  [[nodiscard]] std::string place() const { return fmt::format("{}:{}", source_, line_); }

  void statement(const std::vector<std::string>& words, int depth) {
    const std::string& kind = words[0];
    if (words.size() < 2) fail_at(place(), fmt::format("'{}' needs more words", kind));
    if (kind == "class") {
      set_.classes.push_back(words[1]);
    } else if (kind == "words") {
      if (words.size() != 3) fail_at(place(), "expected: words NAME WORD,WORD...");
      lists_["@" + words[1]] = expand(words[2]);
    } else if (kind == "wrapper") {
      set_.wrappers.insert(set_.wrappers.end(), words.begin() + 1, words.end());
    } else if (kind == "include") {
      include(words[1], depth);
    } else if (kind == "rule") {
      set_.rules.push_back(read_rule(words));
    } else if (kind == "part") {
      set_.parts.push_back(read_rule(words));
    } else if (kind == "family") {
      read_relation(words, set_.families);
    } else if (kind == "unnamed") {
      read_relation(words, set_.unnamed);
    } else if (kind == "companion") {
      read_relation(words, set_.companions);
    } else {
      fail_at(place(), fmt::format("'{}' is not a statement; known: class, words, wrapper, part, rule, include, "
                                   "family, unnamed and companion",
                                   kind));
    }
  }

  void read_relation(const std::vector<std::string>& words, std::vector<ClassRelation>& relations) const {
    if (words.size() != 3) fail_at(place(), fmt::format("expected: {} NAME CLASS,CLASS...", words[0]));
    for (const std::string_view second : split_text(words[2], ','))
      relations.push_back({words[1], std::string(second), place()});
  }

  void include(const std::string& name, int depth) {
    const std::string script_name = std::string(kFolder) + name;
    const auto known = std::ranges::any_of(scripts(), [&](const Script& script) { return script.name == script_name; });
    if (!known) fail_at(place(), fmt::format("no built-in rules named '{}'", name));
    if (depth >= kDeepestInclude) fail_at(place(), "too many rules include each other");
    read(script(script_name), name + ".rules", depth + 1);
  }

  [[nodiscard]] Rule read_rule(const std::vector<std::string>& words) const {
    if (words.size() < 4 || words[3] != ":") {
      fail_at(place(), fmt::format("expected: {} NAME CLASS : TERM...", words[0]));
    }
    Rule rule;
    rule.name = words[1];
    rule.source = place();
    const auto parts = split_text(words[2], '|');
    rule.class_name = parts[0];
    const auto more = parts.size() > 1 ? split_text(parts[1], ',') : std::vector<std::string_view>();
    rule.parts.assign(more.begin(), more.end());
    for (std::size_t i = 4; i < words.size(); ++i) {
      if (words[i] == "=>") {
        if (i + 2 != words.size()) fail_at(place(), "expected one label after '=>'");
        rule.label = words[i + 1];
        break;
      }
      rule.terms.push_back(read_term(words[i]));
    }
    return rule;
  }

  [[nodiscard]] Term read_term(std::string_view text) const {
    Term term;
    if (text.starts_with('-')) {
      term.negated = true;
      text.remove_prefix(1);
    }
    const std::size_t colon = text.find(':');
    if (colon != std::string_view::npos && !text.substr(colon).starts_with("::")) {
      read_scope(text.substr(0, colon), term);
      text.remove_prefix(colon + 1);
    }
    term.words = expand(text);
    for (const std::string& word : term.words) check_word(term.scope, word);
    return term;
  }

  void check_word(Scope scope, std::string_view word) const {
    const std::size_t first = word.find_first_not_of("^*");
    if (first == std::string_view::npos) fail_at(place(), "a term without a word");
    const std::string_view inner = word.substr(first, word.find_last_not_of("$*") + 1 - first);
    if (is_word_scope(scope) && inner.find_first_of("*^$") != std::string_view::npos) {
      fail_at(place(), fmt::format("'{}': '*', '^' and '$' are allowed only at the ends of a word", word));
    }
  }

  // Words of a list, those of named lists in place of their name.
  [[nodiscard]] std::vector<std::string> expand(std::string_view text) const {
    std::vector<std::string> words;
    for (const std::string_view word : split_text(text, ',')) {
      if (!word.starts_with('@')) {
        words.emplace_back(word);
        continue;
      }
      const auto list = lists_.find(word);
      if (list == lists_.end()) fail_at(place(), fmt::format("no words named '{}'", word));
      words.insert(words.end(), list->second.begin(), list->second.end());
    }
    return words;
  }

  void read_scope(std::string_view name, Term& term) const {
    const std::size_t digits = std::min(name.find_first_of("0123456789"), name.size());
    const auto* const found =
        std::ranges::find(kScopeNames, name.substr(0, digits), &std::pair<std::string_view, Scope>::first);
    const bool number = digits + 1 == name.size() && name[digits] != '0';
    const bool counted = found != std::end(kScopeNames) && found->second == Scope::kArgument;
    if (found == std::end(kScopeNames) || counted != number || (!counted && digits != name.size())) {
      fail_at(place(),
              fmt::format("'{}:' is not a scope; known: own, args, arg1 to arg9, raw, rawcase and platform", name));
    }
    term.scope = found->second;
    if (number) term.argument = static_cast<std::size_t>(name[digits] - '0');
  }

  void check_class(const std::string& source, std::string_view name) const {
    if (set_.classes.empty() || std::ranges::find(set_.classes, name) != set_.classes.end()) return;
    fail_at(source, fmt::format("no class '{}'{}", name, did_you_mean(name, set_.classes)));
  }

  void check_part(const Rule& rule, const std::string& name) const {
    if (std::ranges::any_of(set_.parts, [&](const Rule& part) { return part.name == name; })) return;
    fail_at(rule.source, fmt::format("no part '{}'", name));
  }

  RuleSet& set_;
  std::map<std::string, std::vector<std::string>, std::less<>> lists_;  // by "@name"
  std::string source_;
  std::size_t line_ = 0;
};

std::string read_rules(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::exists(path, unknown) || unknown) return read_small_file(path, kMostBytes);
  throw Error(ErrorCode::kInput,
              fmt::format("{}: no such file, nor rules of that name ({})", path, fmt::join(kSets, ", ")));
}

}  // namespace

RuleSet parse_rules(std::string_view text, const std::string& source) {
  RuleSet set;
  set.name = source;
  Reader reader(set);
  reader.read(text, source, 0);
  reader.check();
  return set;
}

RuleSet load_rules(const std::string& what) {
  if (std::ranges::find(kSets, what) == kSets.end()) return parse_rules(read_rules(what), what);
  RuleSet set = parse_rules(script(std::string(kFolder) + what), what + ".rules");
  set.name = what;
  return set;
}

std::string built_in_rules_hash() {
  std::string all;
  for (const Script& file : scripts()) {
    if (file.name.starts_with(kFolder)) all += fmt::format("{}\n{}\n", file.name, file.text);
  }
  return to_hex(hash_bytes(all));
}

std::vector<std::string> rule_set_names() { return {kSets.begin(), kSets.end()}; }

std::string to_text(const Term& term) {
  std::string text = term.negated ? "-" : "";
  for (const auto& [name, scope] : kScopeNames) {
    if (scope != term.scope) continue;
    text += name;
    if (term.scope == Scope::kArgument) text += std::to_string(term.argument);
    text += ':';
  }
  return text + fmt::format("{}", fmt::join(term.words, ","));
}

std::string to_text(const std::vector<Term>& terms) {
  std::string text;
  for (const Term& term : terms) text += (text.empty() ? "" : " ") + to_text(term);
  return text;
}

}  // namespace tracedb
