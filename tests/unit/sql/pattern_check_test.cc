#include "sql/pattern_check.h"

#include <doctest/doctest.h>

#include <string>

namespace tracedb {

TEST_CASE("ordinary patterns pass") {
  for (const char* pattern :
       {"", "^nccl.*(Reduce|Gather)_[0-9]+$", "gemm\\(.*\\)", "a{3}|b{2,5}|c{4,}", "[\\1]", "[]\\2]", "[^]\\3]x",
        "[[:digit:]\\4]", "(", ")", "[", "\\", "a{", "(a|b{1,200}){1,50}"}) {
    CAPTURE(pattern);
    CHECK(pattern_fault(pattern).empty());
  }
}

TEST_CASE("patterns that could take for ever, or all memory, are refused") {
  for (const char* pattern : {"(a)\\1", "(.*)(.*)\\2\\1x", "[[:alpha:]](x)\\1", "[]](x)\\1", "\\\\(a)\\1"}) {
    CAPTURE(pattern);
    CHECK(pattern_fault(pattern).find("back") != std::string_view::npos);
  }
  for (const char* pattern : {"(a{255}){255}", "((a{30}){30}){30}", "a{30000}", "((a{200,}){10}){20}",
                              "a{99999999999999999999999}", "a{200}{200}"}) {
    CAPTURE(pattern);
    CHECK(pattern_fault(pattern).find("repeats") != std::string_view::npos);
  }
  CHECK_FALSE(pattern_fault(std::string(1001, 'a')).empty());
}

}  // namespace tracedb
