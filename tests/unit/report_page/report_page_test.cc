#include "report_page/report_page.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "report_page/html/html_table.h"
#include "report_page/html/safe_text.h"
#include "report_page/html/web_files.h"

namespace tracedb {
namespace {

Report page_report(std::int64_t rows) {
  Report out{{{"name", "Name", Unit::kText, OthersAggregate::kLabel, {}, "what it \"is\""},
              {"time", "Time", Unit::kTime, OthersAggregate::kSum},
              {"n", "Number", Unit::kCount, OthersAggregate::kSum}},
             {}};
  for (std::int64_t i = 0; i < rows; ++i) out.rows.push_back({"<kernel " + std::to_string(i) + ">", 1'500 * i, i});
  return out;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST_CASE("cells have what is shown and the exact value") {
  const std::string html = html_table(page_report(2), {"kernels", {}}, 10, 100'000);
  CHECK(html.find("<th scope=\"col\" data-type=\"text\" title=\"what it &quot;is&quot;\">Name</th>") !=
        std::string::npos);
  CHECK(html.find("<th scope=\"col\" data-type=\"time\" data-unit=\"ns\">Time (ns)</th>") != std::string::npos);
  CHECK(html.find("<td>&lt;kernel 1&gt;</td><td data-value=\"1500\">1,500</td><td data-value=\"1\">1</td>") !=
        std::string::npos);
  CHECK(html.find("<tfoot>") == std::string::npos);
}

TEST_CASE("the column that names rows comes first") {
  Report report = page_report(1);
  for (Row& row : report.rows) std::swap(row[0], row[2]);
  std::swap(report.columns[0], report.columns[2]);
  const std::string html = html_table(report, {"kernels", {}}, 10, 100'000);
  CHECK(html.find("Name</th>") < html.find("Number</th>"));
  CHECK(html.find("<tr><td>&lt;kernel 0&gt;</td><td data-value=\"0\">") != std::string::npos);
}

TEST_CASE("rows that a limit cuts off are one row, so that sums close") {
  for (const std::string& html : {html_table(page_report(100), {"kernels", {}}, 10, 100'000),
                                  html_table(page_report(100), {"kernels", {}}, 1000, 1'500)}) {
    const std::size_t rows = count_of(html, "<tr>") - 2;  // of the head and of the others
    CHECK(rows <= 10);
    CHECK(rows > 0);
    const std::size_t sum = 99 * 100 / 2 - (rows - 1) * rows / 2;
    CHECK(html.find("<tfoot>\n<tr><td>[others]</td><td data-value=\"" + std::to_string(1500 * sum)) !=
          std::string::npos);
  }
}

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
  CHECK(html.find("<ol>\n<li class=\"slower\"><b>+25.6 ms</b> (43 %) idle &lt;i&gt; <code>trace-query gaps "
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
