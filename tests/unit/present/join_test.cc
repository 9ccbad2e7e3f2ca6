#include "present/join.h"

#include <doctest/doctest.h>

namespace tracedb {
namespace {

Cell text_cell(const char* of) { return std::string(of); }

std::string heads(const Report& report) {
  std::string out;
  for (const Column& column : report.columns) out += (out.empty() ? "" : "|") + column.head;
  return out;
}

Report section(std::vector<Row> rows) {
  return {{{"op", "Operation", Unit::kText}, {"baseline", "Baseline", Unit::kTime}, {"change", "Change", Unit::kTime}},
          std::move(rows)};
}

}  // namespace

TEST_CASE("several candidates: one row for each thing, a group of columns for each candidate") {
  const Report joined =
      join_candidates(std::vector<Report>{section({{text_cell("norm"), 10.0, 1.0}, {text_cell("gemm"), 20.0, 2.0}}),
                                          section({{text_cell("gemm"), 20.0, 3.0}})});
  CHECK(heads(joined) == "Operation|Baseline|Change 1|Change 2");
  CHECK(joined.columns[3].key == "change_2");
  REQUIRE(joined.rows.size() == 2);
  CHECK(joined.rows[0] == Row{text_cell("norm"), 10.0, 1.0, Cell{}});
  CHECK(joined.rows[1] == Row{text_cell("gemm"), 20.0, 2.0, 3.0});
}

TEST_CASE("several candidates: a thing of one alone has a row, totals stay in the footer") {
  Report first = section({{text_cell("norm"), 10.0, 1.0}});
  first.footer = {{text_cell("[span]"), 10.0, 1.0}};
  Report second = section({{text_cell("sort"), 0.0, 4.0}});
  second.footer = {{text_cell("[span]"), 10.0, 4.0}};
  const Report joined = join_candidates(std::vector<Report>{first, second});
  REQUIRE(joined.rows.size() == 2);
  CHECK(joined.rows[1] == Row{text_cell("sort"), 0.0, Cell{}, 4.0});
  REQUIRE(joined.footer.size() == 1);
  CHECK(joined.footer[0] == Row{text_cell("[span]"), 10.0, 1.0, 4.0});
}

TEST_CASE("several candidates: a column that one report left out is unknown in its rows") {
  Report short_one{{{"op", "Operation", Unit::kText}, {"change", "Change", Unit::kTime}}, {{text_cell("norm"), 1.0}}};
  const Report joined = join_candidates(std::vector<Report>{short_one, section({{text_cell("norm"), 10.0, 2.0}})});
  CHECK(heads(joined) == "Operation|Baseline|Change 1|Change 2");
  CHECK(joined.rows == std::vector<Row>{{text_cell("norm"), 10.0, 1.0, 2.0}});
}

}  // namespace tracedb
