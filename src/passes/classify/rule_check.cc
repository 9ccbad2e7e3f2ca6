#include "passes/classify/rule_check.h"

#include <algorithm>
#include <array>

namespace tracedb {
namespace {

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
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
    if (term.negated) {
      return std::ranges::all_of(term.words, [&](const std::string& word) { return contains(other.words, word); });
    }
    if (is_word_scope(term.scope)) return all_imply(other.words, term.words);
    return std::ranges::all_of(other.words, [&](const std::string& word) { return contains(term.words, word); });
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
