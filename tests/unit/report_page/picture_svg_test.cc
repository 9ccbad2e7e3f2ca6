#include "report_page/svg/picture_svg.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

#include "base/error.h"
#include "report_page/html/web_files.h"

namespace tracedb {
namespace {

constexpr const char* kPageData = R"({"sides": [{"label": "A"}, {"label": "B"}], "pictures": [
  {"id": "waterfall-decode", "kind": "waterfall", "title": "Why <b> & \ud83d\ude00 \u0001", "note": "a mean",
   "start": {"label": "A", "value": 3000}, "end": {"label": "B", "value": 2000},
   "rows": [{"label": "norm", "value": -1500, "class": "compute", "detail": ""},
            {"label": "copy", "value": 500, "class": "compute", "detail": ""}]},
  {"id": "odd", "kind": "waterfall", "title": "no rows"}]})";

bool draws() { return !web_files().static_script.empty(); }

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

TEST_CASE("a picture is drawn as SVG that stands alone") {
  if (!draws()) return;
  const std::string svg = picture_svg(kPageData, "waterfall-decode");
  CHECK(svg.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\""));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(contains(svg, "Why &lt;b&gt; &amp; &#128512; \xEF\xBF\xBD"));
  CHECK(contains(svg, ">-1.50 us<"));
  CHECK(contains(svg, ">+500 ns<"));
  CHECK(!contains(svg, "var("));  // colours of the page's style sheet
  CHECK(svg == picture_svg(kPageData, "waterfall-decode"));
}

TEST_CASE("no picture of that id is no text") {
  if (draws()) CHECK(picture_svg(kPageData, "nothing").empty());
}

TEST_CASE("a failure of the script is told") {
  if (draws())
    CHECK_THROWS_WITH_AS(picture_svg(kPageData, "odd"), doctest::Contains("picture odd: "), std::logic_error);
}

TEST_CASE("a program without Duktape says so") {
  if (!draws()) CHECK_THROWS_AS(picture_svg(kPageData, "waterfall-decode"), Error);
}

}  // namespace
}  // namespace tracedb
