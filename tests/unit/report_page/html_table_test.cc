#include "report_page/html/html_table.h"

#include <doctest/doctest.h>

#include <string>

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

}  // namespace
}  // namespace tracedb
