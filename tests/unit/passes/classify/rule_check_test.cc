#include "passes/classify/rule_check.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace tracedb {
namespace {

std::vector<std::string> states(const std::string& rules, const std::vector<std::string>& names) {
  Classifier classifier(parse_rules(rules, "t"));
  std::vector<std::string> out;
  for (const RuleFinding& finding : check_rules(classifier, names)) {
    std::string text(to_string(finding.state));
    if (finding.by != kNoRule) text += " by " + std::string(classifier.rule_name(finding.by));
    out.push_back(text);
  }
  return out;
}

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("used, shadowed and unused rules, by names") {
  CHECK(states("rule a x : p\nrule b x : q\nrule c x : r", {"p", "p_q", "p_q_z"}) ==
        Strings{"used", "shadowed by a", "unused"});
}

TEST_CASE("rules that can never decide are found without names") {
  const Strings covered = {"unused", "never reached by a"};
  CHECK(states("rule a x : p\nrule b x : p q", {}) == covered);
  CHECK(states("rule a x : p,q\nrule b x : q", {}) == covered);
  CHECK(states("rule a x : gemm*\nrule b x : gemmex", {}) == covered);
  CHECK(states("rule a x : *gemm*\nrule b x : sgemm", {}) == covered);
  CHECK(states("rule a x :\nrule b x : p", {}) == covered);
  CHECK(states("rule a x : raw:p\nrule b x : raw:p raw:q", {}) == covered);
  CHECK(states("rule a x : p -q\nrule b x : p -q,r", {}) == covered);
}

TEST_CASE("rules that another does not cover are left alone") {
  const Strings free = {"unused", "unused"};
  CHECK(states("rule a x : p q\nrule b x : p", {}) == free);
  CHECK(states("rule a x : p\nrule b x : p,q", {}) == free);
  CHECK(states("rule a x : gemm\nrule b x : gemm*", {}) == free);
  CHECK(states("rule a x : p -q\nrule b x : p", {}) == free);
  CHECK(states("rule a x : args:p\nrule b x : p", {}) == free);
  CHECK(states("rule a x : arg1:p\nrule b x : arg2:p", {}) == free);
  CHECK(states("rule a x : ^p\nrule b x : p", {}) == free);
}

TEST_CASE("the built-in rules reach all of themselves") {
  for (const std::string& name : rule_set_names()) {
    Classifier classifier(load_rules(name));
    for (const RuleFinding& finding : check_rules(classifier, {})) {
      CAPTURE(classifier.rule_name(finding.rule));
      CHECK(finding.state != RuleState::kNeverReached);
    }
  }
}

}  // namespace tracedb
