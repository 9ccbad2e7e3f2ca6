#include "report/sql_report.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "passes/tables/pass_tables.h"
#include "report/cell_text.h"
#include "sql/scripts.h"
#include "support/small_index.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

struct Fixture {
  TempDirectory folder;
  Index index;
  Database& database;
  ActiveRules rules;
  PassOptions options;
  Workload workload;
  explicit Fixture(SmallIndexContent content = SmallIndexContent::kRows)
      : index(open_small_index(folder / "small.tracedb", content)), database(index.database()), workload(index, rules) {
    add_pass_tables(workload, options);
  }
};

Report kernels(const Fixture& fixture) { return run_report(fixture.database, report_script("kernels"), {}); }

Cell at(const Report& report, std::size_t row, const std::string& key) {
  for (std::size_t c = 0; c < report.columns.size(); ++c) {
    if (report.columns[c].key == key) return report.rows.at(row).at(c);
  }
  FAIL("no column " << key);
  return {};
}

bool is(const Cell& cell, std::int64_t value) { return cell == Cell(value); }
bool is(const Cell& cell, const char* value) { return cell == Cell(std::string(value)); }

}  // namespace

TEST_CASE("columns are read from the script") {
  const auto columns =
      report_columns("-- head\n-- column: a | A b | ns | sum\n-- column: c | C | | | 7 names | what | it is\nSELECT 1");
  REQUIRE(columns.size() == 2);
  CHECK(columns[0].key == "a");
  CHECK(columns[0].head == "A b");
  CHECK(columns[0].unit == Unit::kTime);
  CHECK(columns[0].others == OthersAggregate::kSum);
  CHECK(columns[1].unit == Unit::kAny);
  CHECK(columns[1].fit == Fit{7, false, true});
  CHECK(columns[1].meaning == "what | it is");
}

TEST_CASE("a limit leaves one row that makes the columns add up") {
  Fixture fixture;
  Report report = kernels(fixture);
  limit_rows(report, 1);
  REQUIRE(report.rows.size() == 2);
  CHECK(is(at(report, 1, "name"), "[others]"));
  CHECK(is(at(report, 1, "total_time"), 150));
  CHECK(number(at(report, 1, "avg")).value() == 75);
  CHECK(is(at(report, 1, "min"), 50));
  CHECK(at(report, 1, "med") == Cell());
  CHECK(number(at(report, 0, "time_pct")).value() + number(at(report, 1, "time_pct")).value() == doctest::Approx(100));
  limit_rows(report, 2);
  CHECK(report.rows.size() == 2);
  report.whole = true;
  limit_rows(report, 1);
  CHECK(report.rows.size() == 2);
}

TEST_CASE("sorting") {
  Fixture fixture;
  Report report = kernels(fixture);
  sort_rows(report, parse_sort_key("Instances"));
  CHECK(is(at(report, 0, "instances"), 2));
  sort_rows(report, parse_sort_key("name:asc"));
  CHECK(is(at(report, 0, "name"), "gemm<float>"));
  CHECK_THROWS_AS(sort_rows(report, parse_sort_key("nme")), Error);
  CHECK_THROWS_AS(parse_sort_key("name:up"), Error);
}

TEST_CASE("texts that are whole numbers are sorted as numbers, before other texts") {
  Report report;
  report.columns.push_back({"layer", "Layer", Unit::kText});
  for (const char* layer : {"10", "[head]", "9", "0-3", "007", "7", "[tail]", "1"})
    report.rows.push_back({Cell(std::string(layer))});
  report.rows.push_back({Cell()});
  const auto sorted = [&](const char* key) {
    sort_rows(report, parse_sort_key(key));
    std::string out;
    for (const Row& row : report.rows)
      out += std::get_if<std::string>(row.data()) ? std::get<std::string>(row[0]) + " " : "-";
    return out;
  };
  CHECK(sorted("layer:asc") == "1 007 7 9 10 0-3 [head] [tail] -");
  CHECK(sorted("layer:desc") == "[tail] [head] 0-3 10 9 7 007 1 -");
}

TEST_CASE("columns of choice") {
  Fixture fixture;
  Report report = kernels(fixture);
  choose_columns(report, "name,Instances");
  REQUIRE(report.columns.size() == 2);
  CHECK(report.columns[1].key == "instances");
  CHECK(is(at(report, 0, "name"), "ncclAllReduce"));
  CHECK(report.rows[1] == Row{std::string("gemm<float>"), std::int64_t{2}});
  CHECK_THROWS_AS(choose_columns(report, "name,"), Error);
  CHECK_THROWS_AS(choose_columns(report, "min"), Error);
}

TEST_CASE("every report answers on an empty index") {
  Fixture fixture(SmallIndexContent::kEmpty);
  for (const std::string& name : report_names()) {
    CAPTURE(name);
    const bool says_something = name == "info" || name == "verify" || name == "warnings";
    CHECK((run_report(fixture.database, report_script(name), {}).rows.empty() || says_something));
  }
}

TEST_CASE("memcpys: bandwidth is bytes over time") {
  Fixture fixture;
  const Report report = run_report(fixture.database, report_script("memcpys"), {});
  REQUIRE(report.rows.size() == 1);
  CHECK(is(at(report, 0, "operation"), "memcpy HtoD"));
  CHECK(number(at(report, 0, "gb_per_s")).value() == 2.0);
}

TEST_CASE("each script's columns match its SELECT") {
  Fixture fixture;
  for (const std::string& name : report_names()) {
    CAPTURE(name);
    if (name == "verify") continue;  // many statements, whose rows the command words
    Statement statement(fixture.database, report_script(name));
    CHECK(static_cast<std::size_t>(statement.column_count()) == report_columns(report_script(name)).size());
  }
}

TEST_CASE("mean, min and max of several rows stay behind them") {
  Report report;
  report.columns = {{"device", "Device"},
                    {"span", "Span", Unit::kTime},
                    {"name", "Name", Unit::kText},
                    {"x", "X", Unit::kPercent},
                    {"stream", "Stream"}};
  report.rows = {{std::int64_t{0}, std::int64_t{10}, "a", Cell(), std::int64_t{7}},
                 {std::int64_t{1}, std::int64_t{15}, "b", 2.5, std::int64_t{20}}};
  add_extremes(report);
  REQUIRE(report.footer.size() == 3);
  CHECK(report.footer[0] == Row{"mean", 12.5, Cell(), 2.5, Cell()});
  CHECK(report.footer[1] == Row{"min", std::int64_t{10}, Cell(), 2.5, Cell()});
  CHECK(report.footer[2] == Row{"max", std::int64_t{15}, Cell(), 2.5, Cell()});
  limit_rows(report, 1);
  CHECK(report.rows.size() == 2);
  CHECK(report.footer.size() == 3);
  Report one{report.columns, {report.rows[0]}};
  add_extremes(one);
  CHECK(one.footer.empty());
}

}  // namespace tracedb
