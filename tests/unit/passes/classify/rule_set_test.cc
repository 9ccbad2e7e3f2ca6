#include "passes/classify/rule_set.h"

#include <doctest/doctest.h>

#include <fstream>
#include <set>
#include <string>
#include <string_view>

#include "base/error.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

std::string failure(std::string_view text) {
  try {
    parse_rules(text, "mine.rules");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kUsage);
    return error.what();
  }
  return "none";
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("rules are read with their conditions, parts, labels and places") {
  const RuleSet set = parse_rules(
      "# a comment\n"
      "class norm what it is\n"
      "class quantise\n"
      "words rms rmsnorm,*t5norm*\n"
      "wrapper ns::run* other\n"
      "part quant quantise : quant\n"
      "\n"
      "rule n.rms norm|quant : @rms,layernorm -args:copy arg2:true => \"a label\"  # the end\n",
      "mine.rules");
  CHECK(set.classes == std::vector<std::string>{"norm", "quantise"});
  CHECK(set.wrappers == std::vector<std::string>{"ns::run*", "other"});
  REQUIRE(set.rules.size() == 1);
  const Rule& rule = set.rules[0];
  CHECK(rule.name == "n.rms");
  CHECK(rule.class_name == "norm");
  CHECK(rule.parts == std::vector<std::string>{"quant"});
  CHECK(rule.label == "a label");
  CHECK(rule.source == "mine.rules:8");
  CHECK(to_text(rule.terms) == "rmsnorm,*t5norm*,layernorm -args:copy arg2:true");
  CHECK(rule.terms[0].words.size() == 3);
  CHECK(rule.terms[1].negated);
  CHECK(rule.terms[2].argument == 2);
}

TEST_CASE("classes may be quoted, and a rule may have no terms") {
  const RuleSet set = parse_rules("rule a \"Dense GEMM\" : => {name:4}\nrule b x+y : raw:z", "mine.rules");
  CHECK(set.rules[0].class_name == "Dense GEMM");
  CHECK(set.rules[0].terms.empty());
  CHECK(set.rules[0].label == "{name:4}");
  CHECK(set.rules[1].class_name == "x+y");
}

TEST_CASE("a line that begins with a blank goes on with the one before") {
  const RuleSet set = parse_rules("rule a x : b,\n    c  # more\n    -d\n\nrule e x : f,g\n", "mine.rules");
  REQUIRE(set.rules.size() == 2);
  CHECK(to_text(set.rules[0].terms) == "b,c -d");
  CHECK(set.rules[0].source == "mine.rules:1");
  CHECK(set.rules[1].source == "mine.rules:5");
}

TEST_CASE("wrong rules are told with their line") {
  CHECK(has(failure("rule a b : c\nrules x"), "mine.rules:2: 'rules' is not a statement"));
  CHECK(has(failure("rule"), "mine.rules:1: 'rule' needs more words"));
  CHECK(has(failure("rule a b c d"), "expected: rule NAME CLASS : TERM..."));
  CHECK(has(failure("rule a b : c\nrule a b : d"), "duplicate rule 'a'"));
  CHECK(has(failure("rule a b : what:c"), "'what:' is not a scope"));
  CHECK(has(failure("rule a b : arg:c"), "'arg:' is not a scope"));
  CHECK(has(failure("rule a b : arg0:c"), "'arg0:' is not a scope"));
  CHECK(has(failure("rule a b : args2:c"), "'args2:' is not a scope"));
  CHECK(has(failure("rule a b : c,,d"), "a term without a word"));
  CHECK(has(failure("rule a b : -"), "a term without a word"));
  CHECK(has(failure("rule a b : c*d"), "are allowed only at the ends of a word"));
  CHECK(has(failure("rule a b : c => d e"), "expected one label"));
  CHECK(has(failure("rule a b : @list"), "no words named '@list'"));
  CHECK(has(failure("words list"), "expected: words NAME"));
  CHECK(has(failure("class norm\nrule a nrom : c"), "no class 'nrom'; did you mean 'norm'?"));
  CHECK(has(failure("class norm\nrule a norm+x : c"), "no class 'x'"));
  CHECK(has(failure("rule a b|part : c"), "no part 'part'"));
  CHECK(has(failure("include nothing"), "no built-in rules named 'nothing'"));
}

TEST_CASE("families, unnamed work and companions are read, and name classes and rules there are") {
  const RuleSet set = parse_rules(
      "class norm\nclass add\nclass prompt\nclass attention\nrule sum add : sum\n"
      "family attention prompt,norm\nunnamed add norm\ncompanion sum attention\n",
      "t");
  REQUIRE(set.families.size() == 2);
  CHECK(set.families[1].first == "attention");
  CHECK(set.families[1].second == "norm");
  CHECK(set.unnamed.at(0).first == "add");
  CHECK(set.companions.at(0).first == "sum");
  CHECK(has(failure("class norm\nfamily norm nrom"), "no class 'nrom'"));
  CHECK(has(failure("class norm\nunnamed x norm"), "no class 'x'"));
  CHECK(has(failure("class norm\ncompanion x norm"), "no rule 'x'"));
  CHECK(has(failure("family norm"), "expected: family NAME"));
}

TEST_CASE("built-in sets are sound, and a file can extend them") {
  for (const std::string& name : rule_set_names()) {
    const RuleSet set = load_rules(name);
    CAPTURE(name);
    CHECK(set.name == name);
    CHECK(set.rules.size() > 20);
  }
  const TempDirectory folder;
  const auto path = folder.path() / "mine.rules";
  std::ofstream(path) << "rule mine.one other : mykernel\ninclude default\n";
  const RuleSet mine = load_rules(path.string());
  CHECK(mine.rules.front().name == "mine.one");
  CHECK(mine.rules.size() == load_rules("default").rules.size() + 1);
}

TEST_CASE("a file that is not there is named, with the sets there are") {
  try {
    load_rules("nowhere/x.rules");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kInput);
    CHECK(has(error.what(), "nowhere/x.rules: no such file, nor rules of that name (default, wafer)"));
  }
}

}  // namespace tracedb
