#include "report/sql_report.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "report/cell_text.h"
#include "sql/functions.h"
#include "sql/scripts.h"
#include "support/small_index.h"

namespace tracedb {
namespace {

struct Fixture {
  Database database{":memory:", Database::Mode::kMemory};
  explicit Fixture(SmallIndexContent content = SmallIndexContent::kRows) {
    register_functions(database);
    fill_small_index(database, content);
  }
};

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
  const auto columns = report_columns("-- head\n-- column: a | A b | ns | sum\n-- column: c | C | |\nSELECT 1");
  REQUIRE(columns.size() == 2);
  CHECK(columns[0].key == "a");
  CHECK(columns[0].head == "A b");
  CHECK(columns[0].unit == Unit::kTime);
  CHECK(columns[0].rest == Rest::kSum);
  CHECK(columns[1].unit == Unit::kAny);
}

TEST_CASE("kernels: from the sums and from the rows alike") {
  Fixture fixture;
  const Report sums = run_report(fixture.database, "kernels", {});
  const Report rows = run_report(fixture.database, "kernels_selected", {});
  REQUIRE(sums.rows.size() == 2);
  CHECK(is(at(sums, 0, "name"), "ncclAllReduce"));
  CHECK(is(at(sums, 1, "total_time"), 150));
  CHECK(is(at(sums, 1, "instances"), 2));
  CHECK(number(at(sums, 1, "time_pct")).value() == doctest::Approx(100.0 / 3));
  CHECK(number(at(sums, 1, "stddev")).value() == doctest::Approx(35.35533906));
  for (std::size_t r = 0; r < 2; ++r) {
    for (const Column& column : sums.columns) {
      CAPTURE(column.key);
      const auto value = number(at(sums, r, column.key));
      if (value) {
        CHECK(number(at(rows, r, column.key)).value() == doctest::Approx(*value));
      } else {
        CHECK(at(rows, r, column.key) == at(sums, r, column.key));
      }
    }
  }
}

TEST_CASE("kernels: every selection") {
  Fixture fixture;
  const auto instances = [&](const Parameters& parameters) {
    std::int64_t n = 0;
    const Report report = run_report(fixture.database, "kernels_selected", parameters);
    for (std::size_t r = 0; r < report.rows.size(); ++r) n += std::get<std::int64_t>(at(report, r, "instances"));
    return n;
  };
  CHECK(instances({{"phase", std::string("prefill")}}) == 2);
  CHECK(instances({{"phase", std::string("decode")}}) == 0);
  CHECK(instances({{"phase", std::string("none")}}) == 1);
  CHECK(instances({{"step_first", std::int64_t{0}}, {"step_last", std::int64_t{0}}}) == 2);
  CHECK(instances({{"step_first", std::int64_t{1}}}) == 0);
  CHECK(instances({{"device", std::int64_t{0}}}) == 3);
  CHECK(instances({{"device", std::int64_t{1}}}) == 0);
  CHECK(instances({{"stream", std::string("7")}}) == 2);
  CHECK(instances({{"stream", std::string("default")}}) == 1);
  CHECK(instances({{"glob", std::string("gemm")}}) == 2);  // the short name
  CHECK(instances({{"regex", std::string("^nccl.*duce$")}}) == 1);
  CHECK(instances({{"from_ts", std::int64_t{150}}, {"to_ts", std::int64_t{600}}}) == 1);
}

TEST_CASE("a limit leaves one row that makes the columns add up") {
  Fixture fixture;
  Report report = run_report(fixture.database, "kernels", {});
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
}

TEST_CASE("times whose sum exceeds an integer still get an answer, smaller ones stay exact") {
  Fixture fixture;
  fixture.database.execute(
      "UPDATE kernel SET dur = 4611686018427387000; UPDATE memory_op SET dur = 9007199254740993;"
      "INSERT INTO kernel SELECT id + 10, ts, dur, name_id, stream_id, correlation, external_id, "
      "launch_id, cpu_op_id, stack_id, annotation_id, step_id, graph_id, graph_node_id, "
      "launch_config_id, kind FROM kernel;"
      "UPDATE kernel_name_sum SET total = 9223372036854775807; UPDATE step SET last_kernel_id = 12;"
      "INSERT INTO memory_op (id, ts, dur, kind, direction, name_id, bytes, stream_id) VALUES "
      "(2, 1, 1, 'memcpy', 'HtoD', 9, 9223372036854775807, 1)");
  const Report rows = run_report(fixture.database, "kernels_selected", {});
  CHECK(number(at(rows, 0, "total_time")).value() == doctest::Approx(4 * 4.611686018427387e18));
  CHECK(number(at(rows, 0, "time_pct")).value() == doctest::Approx(200.0 / 3));
  Report sums = run_report(fixture.database, "kernels", {});
  CHECK(is(at(sums, 0, "total_time"), 9223372036854775807));
  CHECK(number(at(sums, 0, "time_pct")).value() == doctest::Approx(50));
  sums.rows.push_back(sums.rows[0]);
  limit_rows(sums, 1);
  CHECK(number(at(sums, 1, "total_time")).value() == doctest::Approx(2 * 9.223372036854775807e18));
  const Report copies = run_report(fixture.database, "memcpys", {});
  CHECK(is(at(copies, 0, "total_time"), 9007199254740994));
  CHECK(number(at(copies, 0, "bytes")).value() == doctest::Approx(9.223372036854775807e18));
  CHECK(fixture.database.query_text("SELECT typeof(kernel_time) FROM steps") == "real");
  CHECK(fixture.database.query_text("SELECT count(*) FROM kernel_stats WHERE time_pct = 50") == "2");
  Statement(fixture.database, script("reports/verify")).run();
}

TEST_CASE("sorting") {
  Fixture fixture;
  Report report = run_report(fixture.database, "kernels", {});
  sort_rows(report, parse_sort_key("Instances"));
  CHECK(is(at(report, 0, "instances"), 2));
  sort_rows(report, parse_sort_key("name:asc"));
  CHECK(is(at(report, 0, "name"), "gemm<float>"));
  CHECK_THROWS_AS(sort_rows(report, parse_sort_key("nme")), Error);
  CHECK_THROWS_AS(parse_sort_key("name:up"), Error);
}

TEST_CASE("every report answers on an empty index") {
  Fixture fixture(SmallIndexContent::kEmpty);
  for (const char* name : {"kernels", "kernels_selected", "memcpys", "issues"}) {
    CAPTURE(name);
    CHECK(run_report(fixture.database, name, {}).rows.empty());
  }
  CHECK_FALSE(run_report(fixture.database, "info", {}).rows.empty());
}

TEST_CASE("memcpys: bandwidth is bytes over time") {
  Fixture fixture;
  const Report report = run_report(fixture.database, "memcpys", {});
  REQUIRE(report.rows.size() == 1);
  CHECK(is(at(report, 0, "operation"), "memcpy HtoD"));
  CHECK(number(at(report, 0, "gb_per_s")).value() == 2.0);
}

TEST_CASE("each script's columns match its SELECT") {
  Fixture fixture;
  for (const char* name : {"kernels", "kernels_selected", "memcpys", "issues", "info"}) {
    CAPTURE(name);
    Statement statement(fixture.database, script("reports/" + std::string(name)));
    CHECK(static_cast<std::size_t>(statement.column_count()) ==
          report_columns(script("reports/" + std::string(name))).size());
  }
}

}  // namespace tracedb
