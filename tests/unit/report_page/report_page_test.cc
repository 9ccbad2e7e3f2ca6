#include "report_page/report_page.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "report_page/html/safe_text.h"
#include "report_page/html/web_files.h"

namespace tracedb {
namespace {

TEST_CASE("times that are shared out add up") {
  SharedOut by_three(3);
  std::int64_t sum = 0;
  for (const std::int64_t time : {10, 10, 10, 1, 1}) sum += by_three.next(time);
  CHECK(sum == 11);  // 32 / 3, rounded
  SharedOut large(2);
  CHECK(large.next(std::numeric_limits<std::int64_t>::max()) == (std::int64_t{1} << 62));
  CHECK(large.next(5) == 0);  // sums stop at the largest number
}

TEST_CASE("data is written with its commas") {
  DataWriter data;
  data.open('{').member("a", 1).key("b").row(2, std::vector<double>{}, std::optional<int>(), 0.5, std::nan(""));
  data.member("c", std::vector<std::string>{"x", "<y>"}).key("d").open('{').close('}').close('}');
  CHECK(data.take() == R"({"a":1,"b":[2,[],null,0.5,null],"c":["x","\u003cy\u003e"],"d":{}})");
}

TEST_CASE("a page allows its own scripts and styles, and nothing else") {
  ReportPage page;
  page.kind = "trace";
  page.title = "{{data}}<b>";
  page.sides = {{"a", "label", "file", "gpu"}};
  page.text = {{BlockKind::kHeadline, "", "{{script}}"},
               {BlockKind::kHeading, "", "Why it is slow"},
               {BlockKind::kItem, "1.", "+25.6 ms (43 %) idle <i>"},
               {BlockKind::kCommand, "   ", "trace-query gaps $A"},
               {BlockKind::kItem, "rest:", "little"}};
  page.pictures = {{"waterfall-decode", "waterfall", "title", "note", "\"unit\":\"ns\""}};
  const std::string html = html_page(page);
  CHECK(html.find("<title>{{data}}&lt;b&gt;</title>") != std::string::npos);
  CHECK(html.find("<h1>{{script}}</h1>") != std::string::npos);
  CHECK(html.find("<ol>\n<li class=\"slower\"><b>+25.6 ms</b> (43 %) idle &lt;i&gt;<code>trace-query gaps "
                  "$A</code></li>\n</ol>\n") != std::string::npos);
  CHECK(html.find("<ul>\n<li><b>rest:</b> little</li>\n</ul>\n</section>") != std::string::npos);
  CHECK(html.find(R"({"id":"waterfall-decode","kind":"waterfall","title":"title","note":"note","unit":"ns"})") !=
        std::string::npos);
  const std::string policy = "content=\"default-src 'none'; script-src '" + std::string(web_files().library_hash) +
                             "' '" + std::string(web_files().script_hash) + "'; style-src '" +
                             std::string(web_files().style_hash) + "'; base-uri 'none'; form-action 'none'\"";
  CHECK(html.find(policy) != std::string::npos);
  CHECK(html.find("<style>" + std::string(web_files().style) + "</style>") != std::string::npos);
  CHECK(html_page(page) == html);
}

}  // namespace
}  // namespace tracedb
