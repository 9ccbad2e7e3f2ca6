#include "report_page/html/safe_text.h"

#include <doctest/doctest.h>

#include <string>

namespace tracedb {
namespace {

TEST_CASE("text from a trace is no markup") {
  CHECK(html_text("<script>alert('1')</script> & \"x\"") ==
        "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;x&quot;");
  CHECK(html_text("a\x1b[31m\u202e") == "a\\x1b[31m\\u202e");
  CHECK(html_text("norm\u00e4l") == "norm\u00e4l");
}

TEST_CASE("data does not end its element, and says the same to a JSON parser") {
  CHECK(data_string("</script><!--&") == R"("\u003c/script\u003e\u003c!--\u0026")");
  CHECK(data_string("a\"b\\c") == R"("a\"b\\c")");
  CHECK(data_string("\u2028") == R"("\\u2028")");
}

TEST_CASE("a long name keeps both ends, whatever it is made of") {
  const std::string name = inert_name("begin" + std::string(1'000'000, 'x') + "end");
  CHECK(name.size() < 320);
  CHECK(name.starts_with("begin"));
  CHECK(name.ends_with("end"));
  CHECK(inert_name(std::string(100'000, '\x80')).size() < 400);
  CHECK(inert_name("short") == "short");
}

}  // namespace
}  // namespace tracedb
