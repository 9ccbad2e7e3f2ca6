#include "base/text/sentence.h"

#include <doctest/doctest.h>

#include <stdexcept>

namespace tracedb {

TEST_CASE("a sentence is a template with figures, and keeps both") {
  const Sentence clause = say("clause.idle", "idles {change:time} longer{host}", {{"change", 25.6e6}, {"host", ""}});
  const Sentence told = say(
      "compare.headline", "{who} needs {time:time} where {other} needs {n:# gap}; {share:.0f%}: {why}",
      {{"who", "H100"}, {"time", 18.9e6}, {"other", std::string("A")}, {"n", 1234}, {"share", 0.54}, {"why", clause}});
  CHECK(told.text == "H100 needs 18.9 ms where A needs 1,234 gaps; 54 %: idles 25.6 ms longer");
  const Figures figures = {{"who", "H100"}, {"time", 18.9e6},       {"other", "A"},        {"n", std::int64_t{1234}},
                           {"share", 0.54}, {"why", "clause.idle"}, {"why.change", 25.6e6}};
  CHECK(told.figures == figures);
}

TEST_CASE("how figures are written") {
  const auto text = [](const char* form, const auto& value) { return say("", form, {{"x", value}}).text; };
  CHECK(text("{x:+time}", 787e3) == "+787 us");
  CHECK(text("{x:+time}", -787e3) == "-787 us");
  CHECK(text("{x:duration}", 2e6) == "2 ms");
  CHECK(text("{x:count}", 1.5) == "1.5");
  CHECK(text("{x:count}", 10858.4) == "10,858");
  CHECK(text("{x:# is|are}", 1) == "1 is");
  CHECK(text("{x:# is|are}", 2) == "2 are");
  CHECK(text("{x:+.1f%}", -0.124) == "-12.4 %");
  CHECK(text("{x:+.1fp}", -0.124) == "-12.4");
  CHECK(text("{x:.3f}", 1.0625) == "1.062");
  CHECK(text("{x}", 7) == "7");
}

TEST_CASE("figures beside the text, and sentences in a row") {
  const std::vector<Sentence> parts = {say("a", "{x}", {{"x", 1}}), say("", "{x}", {{"x", 2}})};
  const Sentence told = with(joined(parts, ", "), {"phase", "decode"});
  CHECK(told.text == "1, 2");
  const Figures figures = {{"0", "a"}, {"0.x", std::int64_t{1}}, {"1.x", std::int64_t{2}}, {"phase", "decode"}};
  CHECK(told.figures == figures);
}

TEST_CASE("a place without a figure and a figure without a place are errors of the program") {
  CHECK_THROWS_AS(say("a", "{x}"), std::logic_error);
  CHECK_THROWS_AS(say("a", "none", {{"x", 1}}), std::logic_error);
}

}  // namespace tracedb
