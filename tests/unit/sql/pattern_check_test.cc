#include "sql/pattern_check.h"

#include <doctest/doctest.h>

#include <string>

namespace tracedb {

TEST_CASE("ordinary patterns pass") {
  for (const char* pattern :
       {"", "^nccl.*(Reduce|Gather)_[0-9]+$", "gemm\\(.*\\)", "a{3}|b{2,5}|c{4,}", "[\\1]", "[]\\2]", "[^]\\3]x",
        "[[:digit:]\\4]", "(a|b{1,200}){1,50}", "(|a)(b|)", "a\\(b[(]", "((a)|(b))*"}) {
    CAPTURE(pattern);
    CHECK_FALSE(pattern_fault(pattern));
  }
}

TEST_CASE("patterns that could take for ever, or all memory, are refused") {
  for (const char* pattern : {"(a)\\1", "(.*)(.*)\\2\\1x", "[[:alpha:]](x)\\1", "[]](x)\\1", "\\\\(a)\\1"}) {
    CAPTURE(pattern);
    REQUIRE(pattern_fault(pattern));
    CHECK(pattern_fault(pattern)->reason.find("back") != std::string::npos);
    CHECK(pattern[pattern_fault(pattern)->at] == '\\');
  }
  for (const char* pattern : {"(a{255}){255}", "((a{30}){30}){30}", "a{30000}", "((a{200,}){10}){20}",
                              "a{99999999999999999999999}", "a{200}{200}"}) {
    CAPTURE(pattern);
    REQUIRE(pattern_fault(pattern));
    CHECK(pattern_fault(pattern)->reason.find("repeats") != std::string::npos);
  }
  CHECK(pattern_fault(std::string(1001, 'a')));
}

TEST_CASE("a malformed pattern has its fault where it begins") {
  struct Case {
    std::string pattern;
    std::size_t at;
  };
  for (const Case& c : {Case{"[", 0},
                        {"ab[", 2},
                        {"(a)[^]x", 3},
                        {"(", 0},
                        {"a(b(c)", 1},
                        {"a(b(c", 3},
                        {"ab\\", 2},
                        {"x[b-a]y", 1},
                        {"a[[:nothing:]]", 1},
                        {"gemm[0-9]+(a[z-a])", 12},
                        {"a{2,1}b", 1}}) {
    CAPTURE(c.pattern);
    const auto fault = pattern_fault(c.pattern);
    REQUIRE(fault);
    CHECK(fault->at == c.at);
    CHECK_FALSE(fault->reason.empty());
  }
  CHECK(fault_text({"unmatched", 3}, "\xC3\xA9x(") == "unmatched at character 3 of the expression");
}

}  // namespace tracedb
