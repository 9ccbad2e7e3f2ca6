#include "passes/steps/step_pattern.h"

#include <doctest/doctest.h>

#include "base/error.h"

namespace tracedb {
namespace {

std::string captured_by(std::string_view pattern, std::string_view name) {
  const auto info = StepPattern(pattern).match(name);
  if (!info) return "none";
  const auto text = [](const std::optional<std::int64_t>& number) { return number ? std::to_string(*number) : "-"; };
  return std::string(to_string(info->kind)) + " " + text(info->context_requests) + "/" + text(info->context_tokens) +
         " " + text(info->generation_requests) + "/" + text(info->generation_tokens);
}

}  // namespace

TEST_CASE("step patterns: groups by name, by place, none") {
  CHECK(captured_by(R"(^iter \d+$)", "iter 12") == "unknown -/- -/-");
  CHECK(captured_by(R"(^iter \d+$)", "iter x") == "none");
  CHECK(captured_by(R"(^run_(\w+) c=(\d+) g=(\d+))", "run_Decode c=0 g=8") == "decode -/0 -/8");
  CHECK(captured_by(R"(^b(?<generation_requests>\d+)t(?P<generation>[\d]+))", "b4t9") == "decode -/- 4/9");
  CHECK(captured_by(R"(c(?<context>\d+)(?:,g(?<generation>\d+))?$)", "c7,g2") == "mixed -/7 -/2");
  CHECK(captured_by(R"(c(?<context>\d+)(?:,g(?<generation>\d+))?$)", "c7") == "prefill -/7 -/-");
  CHECK(captured_by(R"(^(?:a|b)_(extend))", "b_extend") == "prefill -/- -/-");
}

TEST_CASE("step patterns that cannot be used are refused") {
  for (const std::string_view pattern : {"(", "(?<tokens>x)", "(?=x)", "((a{255}){255}){255}", "(a)\\1"}) {
    CAPTURE(pattern);
    CHECK_THROWS_AS(StepPattern{pattern}, Error);
  }
}

}  // namespace tracedb
