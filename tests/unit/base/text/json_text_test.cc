#include "base/text/json_text.h"

#include <doctest/doctest.h>

namespace tracedb {

TEST_CASE("raw_string and number_text") {
  CHECK(raw_string(R"("a\"b")") == R"(a\"b)");
  CHECK(raw_string(R"("")").empty());
  CHECK(raw_string("12") == "12");
  CHECK(raw_string("\"") == "\"");
  CHECK(raw_string("").empty());
  CHECK(number_text(R"(" 12.5	")") == "12.5");
  CHECK(number_text("12.5") == "12.5");
  CHECK(number_text("").empty());
  CHECK(is_json_string("\"x"));
  CHECK_FALSE(is_json_string("x"));
  CHECK_FALSE(is_json_string(""));
}

TEST_CASE("unescape") {
  CHECK(unescape("plain").text == "plain");
  CHECK(unescape(R"(\"\\\/\b\f\n\r\t)").text == "\"\\/\b\f\n\r\t");
  CHECK(unescape(R"(\u0041\u00e9\u20AC\ud83d\ude00)").text == "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  CHECK(unescape(R"(\u0041)").replaced == 0);
  SUBCASE("what cannot be stored becomes U+FFFD and is counted") {
    for (const char* raw : {R"(\u0000)", R"(\ud83d)", R"(\ude00)", R"(\uD83Dx)", R"(\u00g1)", R"(\u12)"}) {
      CAPTURE(raw);
      const Unescaped out = unescape(raw);
      CHECK(out.text.starts_with("\xEF\xBF\xBD"));
      CHECK(out.replaced == 1);
    }
    CHECK(unescape(R"(\ud83d\u0041)").text ==
          "\xEF\xBF\xBD"
          "A");
    CHECK(unescape(R"(\ud83d\ud83d)").replaced == 2);
  }
  SUBCASE("a backslash that escapes nothing stays") {
    CHECK(unescape(R"(C:\xdir)").text == R"(C:\xdir)");
    CHECK(unescape("tail\\").text == "tail\\");
    CHECK(unescape("tail\\").replaced == 1);
  }
}

TEST_CASE("json_value_length") {
  constexpr auto kNone = std::string_view::npos;
  CHECK(json_value_length(R"("a}\"",1)") == 6);
  CHECK(json_value_length(R"({"a":[1,"]"]},2)") == 13);
  CHECK(json_value_length("[[],[]] ") == 7);
  CHECK(json_value_length("12.5,") == 4);
  CHECK(json_value_length("true}") == 4);
  CHECK(json_value_length("null ") == 4);
  CHECK(json_value_length("}") == 0);
  CHECK(json_value_length("12") == kNone);
  CHECK(json_value_length("[1") == kNone);
  CHECK(json_value_length("\"a") == kNone);
  CHECK(json_value_length("\"a\\") == kNone);
  CHECK(json_value_length("") == kNone);
}

TEST_CASE("json_members and json_elements") {
  const auto members = json_members(R"({ "a" : 1 , "b\"c":"x,}", "d":{"e":[1]} } trailing)");
  REQUIRE(members.size() == 3);
  CHECK(members[0].key == "a");
  CHECK(members[0].value == "1");
  CHECK(members[1].key == R"(b\"c)");
  CHECK(members[1].value == R"("x,}")");
  CHECK(members[2].value == R"({"e":[1]})");
  CHECK(json_members("{}").empty());
  CHECK(json_members("[1]").empty());
  CHECK(json_members("").empty());
  CHECK(json_members(R"({"a":1,"b":)").size() == 1);
  CHECK(json_members(R"({"a)").empty());

  const auto elements = json_elements(R"([1, "a]" ,[2,3],{"k":4} ])");
  REQUIRE(elements.size() == 4);
  CHECK(elements[1] == R"("a]")");
  CHECK(elements[3] == R"({"k":4})");
  CHECK(json_elements("[]").empty());
  CHECK(json_elements("{}").empty());
  CHECK(json_elements("[1,2").size() == 1);
}

TEST_CASE("minify leaves strings alone") {
  CHECK(minify("{ \"a b\" : [ 1 ,\r\n\t\"c \\\" d\" ] }") == "{\"a b\":[1,\"c \\\" d\"]}");
  CHECK(minify("").empty());
  CHECK(minify("\"open \\").size() == 7);
}

TEST_CASE("trim_json_space") {
  CHECK(trim_json_space(" \r\n\ta b \n") == "a b");
  CHECK(trim_json_space(" \n").empty());
}

}  // namespace tracedb
