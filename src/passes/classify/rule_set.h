// Rules of classification as data: what schema/rules/*.rules and a user's own file say, read and checked, not yet
// compiled. One statement a line, '#' begins a comment, a line that begins with a blank goes
// on with the one before:
//
//   class KEY [what it is]            the vocabulary; where a set has any, every class used must be in it
//   words NAME WORD,WORD...           a list that terms may use as @NAME
//   wrapper WORD...                   functions that only run their first type argument: its name counts as theirs
//   part NAME CLASS : TERM...         what a name may show beside its main work
//   rule NAME CLASS[|PART,PART] : TERM... [=> LABEL]
//   include NAME                      the rules of another set of ours, at this place
//   family CLASS CLASS,CLASS...       the latter name the former more finely
//   unnamed CLASS CLASS,CLASS...      work that kernels of the latter may do without their name saying so
//   companion RULE CLASS              kernels of the rule end the work of a kernel of that class, or of its family,
//                                     that runs before them
//
// The first rule whose terms all hold decides. CLASS may be quoted. With parts, the class becomes "norm+quantise" in
// the order in which the name shows them; LABEL is the pattern shown for the rule, {name:N} its first N characters.
//
// A term is [-][SCOPE:]WORD[,WORD...]: one of the words occurs, or with '-' none does. Scopes:
//
//   (none)    the function's qualified name, wrappers opened
//   own       the last part of that name, without namespaces
//   args      its template arguments, at any depth
//   arg1-9    its Nth template argument as a whole
//   raw       the lower-cased name as it is in the trace: a word is a substring, '^' asks for the begin of the name
//   rawcase   the same, not lower-cased
//   platform  the device vendor, as a whole
//
// A word begins and ends where words of the name do, whatever is between them: "rmsnorm" finds rms_norm, RMSNorm and
// rmsnorm2d. '*' at either end frees that end; '^' and '$' ask for the begin or end of a part of the qualified name;
// "a::b" spans parts.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

enum class Scope { kFunction, kOwnName, kArguments, kArgument, kRaw, kRawCase, kPlatform };
inline bool is_function_scope(Scope scope) { return scope == Scope::kFunction || scope == Scope::kOwnName; }
inline bool is_word_scope(Scope scope) { return is_function_scope(scope) || scope == Scope::kArguments; }

struct Term {
  Scope scope = Scope::kFunction;
  std::size_t argument = 0;  // kArgument: counted from 1
  bool negated = false;
  std::vector<std::string> words;  // as written
};

struct Rule {
  std::string name;
  std::string class_name;
  std::string label;  // empty: none
  std::vector<std::string> parts;
  std::vector<Term> terms;
  std::string source;  // "norm.rules:12"
};

// Of a family: the coarse class and one finer. Of unnamed work: its class and one that may do it unnamed. Of a
// companion: its rule and the class whose work it ends.
struct ClassRelation {
  std::string first, second;
  std::string source;  // "families.rules:3"
};

struct RuleSet {
  std::string name;
  std::vector<std::string> classes;
  std::vector<ClassRelation> families, unnamed, companions;
  std::vector<std::string> wrappers;
  std::vector<Rule> parts;  // name, class_name and terms
  std::vector<Rule> rules;
};

// `what` is the name of a built-in set ("default", "wafer") or else a file. Error{kUsage} for wrong rules, with their
// line; Error{kInput} for a file that cannot be read.
RuleSet load_rules(const std::string& what);

// Of all that the built-in rules say: 32 hexadecimal digits.
std::string built_in_rules_hash();

// Rules from text; `source` stands for it in messages.
RuleSet parse_rules(std::string_view text, const std::string& source);

std::string to_text(const Term& term);                // as in the file
std::string to_text(const std::vector<Term>& terms);  // the condition of a rule
std::vector<std::string> rule_set_names();            // built-in sets

}  // namespace tracedb
