#include "sql/user/functions.h"

#include <doctest/doctest.h>

#include "base/error.h"

namespace tracedb {
namespace {

struct FunctionFixture {
  Database database{":memory:", Database::Mode::kMemory};
  FunctionFixture() { register_functions(database); }
  std::string value(const std::string& expression, const std::string& values = "(1)") {
    return database.query_text("WITH v(x) AS (VALUES " + values + ") SELECT " + expression + " FROM v")
        .value_or("NULL");
  }
};

}  // namespace

TEST_CASE("median, percentile and standard deviation") {
  FunctionFixture f;
  CHECK(f.value("median(x)", "(3), (1), (2)") == "2.0");
  CHECK(f.value("median(x)", "(4), (1), (NULL), (2), (3)") == "2.5");
  CHECK(f.value("median(x)", "(NULL), ('text')") == "NULL");
  CHECK(f.value("percentile(x, 90)", "(1),(2),(3),(4),(5),(6),(7),(8),(9),(10)") == "9.0");
  CHECK(f.value("percentile(x, 0)", "(5), (6)") == "5.0");
  CHECK(f.value("stddev(x)", "(5)") == "0.0");
  CHECK(f.value("round(stddev(x), 6)", "(1), (2), (3), (4)") == "1.290994");
  CHECK(f.value("bounded_sum(x)", "(1), (NULL), (2), ('text')") == "3");
  CHECK(f.value("bounded_sum(x)", "(NULL)") == "NULL");
  CHECK(f.value("bounded_sum(x)", "(9223372036854775807), (9223372036854775807), (-9223372036854775807)") ==
        "9223372036854775807");
  CHECK(f.value("bounded_sum(x)", "(9223372036854775807), (1)") == "9223372036854775807");
  CHECK(f.value("bounded_sum(x)", "(-9223372036854775807), (-9)") == "-9223372036854775808");
}

TEST_CASE("groups do not share their values") {
  FunctionFixture f;
  Statement statement(f.database,
                      "SELECT median(b) FROM (SELECT 1 AS a, 10 AS b UNION ALL SELECT 2, 20 UNION ALL SELECT 1, 30) "
                      "GROUP BY a ORDER BY a");
  REQUIRE(statement.step());
  CHECK(statement.real(0) == 20);
  REQUIRE(statement.step());
  CHECK(statement.real(0) == 20);
}

TEST_CASE("busy_ns and overlap_ns are times of the union") {
  FunctionFixture f;
  const auto of = [&](const std::string& function, const std::string& intervals) {
    return f.database
        .query_text("WITH v(ts, dur) AS (VALUES " + intervals + ") SELECT " + function + "(ts, dur) FROM v")
        .value_or("NULL");
  };
  const std::string some = "(100, 10), (0, 10), (5, 10), (8, 1), (100, 10), (50, NULL), (NULL, 5), (60, -7), ('x', 1)";
  CHECK(of("busy_ns", some) == "25");
  CHECK(of("overlap_ns", some) == "15");
  CHECK(of("busy_ns", "(0, NULL)") == "NULL");
  CHECK(of("overlap_ns", "(7, 3)") == "0");
  const std::string far = "(-9223372036854775807, 9223372036854775807), (9223372036854775807, 9223372036854775807)";
  CHECK(of("busy_ns", far) == "9223372036854775807");
  CHECK(of("busy_ns", "(-9223372036854775807, 9223372036854775807), (0, 9223372036854775807)") ==
        "9223372036854775807");
  CHECK(f.value("overlap_ns(0, 10, 5, 10)") == "5");
  CHECK(f.value("overlap_ns(5, 10, 0, 6)") == "1");
  CHECK(f.value("overlap_ns(5, 2, 0, 60)") == "2");
  CHECK(f.value("overlap_ns(0, 5, 5, 10)") == "0");
  CHECK(f.value("overlap_ns(0, NULL, 5, 10)") == "NULL");
}

TEST_CASE("every aggregate gives for a window what it gives for the rows in it as a group") {
  FunctionFixture f;
  f.database.execute(
      "CREATE TABLE v(i INTEGER PRIMARY KEY, x, ts INTEGER, dur INTEGER);"
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) INSERT INTO v "
      "SELECT i, CASE WHEN i % 7 = 0 THEN NULL WHEN i % 11 = 0 THEN 'text' WHEN i % 13 = 0 THEN 1e18 "
      "ELSE (i * 7919 % 31) END, i * 7919 % 97, CASE WHEN i % 5 > 0 THEN i * 31 % 17 END FROM n");
  for (const std::string call :
       {"median(x)", "percentile(x, 90)", "stddev(x)", "bounded_sum(x)", "busy_ns(ts, dur)", "overlap_ns(ts, dur)"}) {
    for (const auto& window :
         {std::pair<std::string, std::string>{"4 PRECEDING AND 3 FOLLOWING", "w.i BETWEEN v.i - 4 AND v.i + 3"},
          {"UNBOUNDED PRECEDING AND CURRENT ROW", "w.i <= v.i"},
          {"2 FOLLOWING AND 5 FOLLOWING", "w.i BETWEEN v.i + 2 AND v.i + 5"},
          {"CURRENT ROW AND UNBOUNDED FOLLOWING", "w.i >= v.i"}}) {
      const std::string& frame = window.first;
      CAPTURE(call);
      CAPTURE(frame);
      const auto list = [&](const std::string& values) {
        return f.database.query_text("SELECT group_concat(coalesce(a, 'NULL')) FROM (SELECT " + values +
                                     " AS a FROM v)");
      };
      CHECK(list(call + " OVER (ORDER BY i ROWS BETWEEN " + frame + ")") ==
            list("(SELECT " + call + " FROM (SELECT * FROM v w WHERE " + window.second + " ORDER BY i))"));
    }
  }
}

TEST_CASE("a window that only grows takes no quadratic time") {
  FunctionFixture f;
  const char* rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT ";
  CHECK(f.database
            .query_int64(std::string(rows) + "max(m) FROM (SELECT median(i * 7919 % 10007) OVER (ORDER BY i) AS m "
                                             "FROM n)")
            .value_or(0) > 5000);
  CHECK(f.database.query_int64(std::string(rows) +
                               "max(b) FROM (SELECT busy_ns(i, 2) OVER (ORDER BY i) AS b FROM n)") == 100001);
}

TEST_CASE("regexp finds anywhere, and says what is wrong with a pattern") {
  FunctionFixture f;
  CHECK(f.value("'ncclDevKernel_Generic' REGEXP 'Dev(Kernel|Op)'") == "1");
  CHECK(f.value("'abc' REGEXP '^b'") == "0");
  CHECK(f.value("NULL REGEXP 'a'") == "NULL");
  CHECK_THROWS_AS(f.value("'a' REGEXP '['"), Error);
}

TEST_CASE("human_ns") {
  FunctionFixture f;
  CHECK(f.value("human_ns(512)") == "512 ns");
  CHECK(f.value("human_ns(1234)") == "1.234 us");
  CHECK(f.value("human_ns(-2500000)") == "-2.500 ms");
  CHECK(f.value("human_ns(NULL)") == "NULL");
}

}  // namespace tracedb
