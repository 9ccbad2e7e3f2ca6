#include "base/text/regular_expression.h"

#include <doctest/doctest.h>

#include <string>

namespace tracedb {
namespace {

std::string fault(std::string_view pattern) { return RegularExpression(pattern).fault(); }

}  // namespace

TEST_CASE("ordinary expressions") {
  for (const char* pattern :
       {"", "^nccl.*(Reduce|Gather)_[0-9]+$", "gemm\\(.*\\)", "a{3}|b{2,5}|c{4,}", "[\\x41]", "[]\\\\2]", "[^]\\\\3]x",
        "[[:digit:]_]", "(a|b{1,20}){1,50}", "(|a)(b|)", "a\\(b[(]", "((a)|(b))*", "\\Q(\\E", "\\\\(a)", "[a\\]b]"}) {
    CAPTURE(pattern);
    CHECK(fault(pattern).empty());
  }
}

TEST_CASE("expressions are found anywhere in a text") {
  CHECK(RegularExpression("Dev(Kernel|Op)").is_in("ncclDevKernel_Generic"));
  CHECK_FALSE(RegularExpression("^b").is_in("abc"));
  CHECK(RegularExpression("a.b$").is_in("xa\nb"));
  CHECK_FALSE(RegularExpression("^b").is_in("a\nb"));
  CHECK(RegularExpression("").is_in(""));
  CHECK(RegularExpression("^.$").is_in("\xC3\xA9"));
  CHECK(RegularExpression("b").is_in(std::string_view("a\0b", 3)));
  CHECK(RegularExpression("[a\\]]").is_in("]"));
}

TEST_CASE("groups have numbers and names") {
  const RegularExpression expression(R"(^(?<kind>\w+)(?: c=(\d+))?(?P<rest>.*)$)");
  REQUIRE(expression.fault().empty());
  CHECK(expression.groups() == 3);
  CHECK(expression.names() == std::map<int, std::string>{{1, "kind"}, {3, "rest"}});
  const auto found = expression.find("decode,");
  REQUIRE(found);
  CHECK((*found)[1] == "decode");
  CHECK_FALSE((*found)[2]);
  CHECK((*found)[3] == ",");
  CHECK_FALSE(expression.find(" "));
}

TEST_CASE("a search goes on behind a match") {
  const RegularExpression word("(?:^|,)(\\w+)");
  const std::string_view text = "a,bc,d";
  std::string found;
  std::size_t from = 0;
  while (const auto groups = word.find(text, from)) {
    found += std::string((*groups)[1].value_or("")) + ";";
    const std::string_view whole = (*groups)[0].value_or("");
    from = static_cast<std::size_t>(whole.data() + whole.size() - text.data());
  }
  CHECK(found == "a;bc;d;");
}

TEST_CASE("what other libraries know and this one does not is named") {
  for (const char* pattern : {"(a)\\1", "(.*)(.*)\\2\\1x", "[[:alpha:]](x)\\1", "[]](x)\\1", "\\\\(a)\\1"}) {
    CAPTURE(pattern);
    CHECK(fault(pattern).find("references back") != std::string::npos);
  }
  CHECK(fault("(a)\\1") == "references back to a group are not supported at character 4 of the expression");
  for (const char* pattern : {"(?=a)", "x(?!a)", "(?<=a)", "(?<!a)b"}) {
    CAPTURE(pattern);
    CHECK(fault(pattern).find("lookahead and lookbehind") != std::string::npos);
  }
  CHECK(fault("\\<a") == "the edge of a word is \\b at character 1 of the expression");
  CHECK(fault("[[.a.]]").find("collating") != std::string::npos);
}

TEST_CASE("expressions that would need much memory are refused") {
  for (const char* pattern :
       {"(a{255}){255}", "((a{30}){30}){30}", "a{30000}", "((a{200,}){10}){20}", "(a{200}){200}"}) {
    CAPTURE(pattern);
    CHECK(fault(pattern).find("repeat") != std::string::npos);
  }
  CHECK(fault(std::string(1001, 'a')) == "longer than 1000 bytes");
  CHECK(fault("(\\pL{300}){3}").find("too large") != std::string::npos);
}

TEST_CASE("a malformed expression has its fault where it begins") {
  struct Case {
    std::string pattern;
    std::string place;
  };
  for (const Case& c : {Case{"[", "1"},
                        {"ab[", "3"},
                        {"(a)[^]x", "4"},
                        {"(", "1"},
                        {"a(b(c)", "2"},
                        {"a(b(c", "4"},
                        {"a)b", "2"},
                        {"ab\\", "3"},
                        {"*a", "1"},
                        {"x[b-a]y", "3"},
                        {"a[[:nothing:]]", "3"},
                        {"gemm[0-9]+(a[z-a])", "14"},
                        {"[a{2,1}]a{2,1}b", "10"},
                        {"(?<a>x)(?<b>y)[z-a]", "16"},
                        {"\xC3\xA9x(", "3"}}) {
    CAPTURE(c.pattern);
    const std::string text = fault(c.pattern);
    CAPTURE(text);
    CHECK(text.ends_with(" at character " + c.place + " of the expression"));
    CHECK(text.find(" at ") > 0);
  }
}

}  // namespace tracedb
