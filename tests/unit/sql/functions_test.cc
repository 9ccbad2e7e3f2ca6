#include "sql/functions.h"

#include <doctest/doctest.h>

#include "base/error.h"

namespace tracedb {
namespace {

struct Fixture {
  Database database{":memory:", Database::Mode::kMemory};
  Fixture() { register_functions(database); }
  std::string value(const std::string& expression, const std::string& values = "(1)") {
    return database.query_text("WITH v(x) AS (VALUES " + values + ") SELECT " + expression + " FROM v")
        .value_or("NULL");
  }
};

}  // namespace

TEST_CASE("median, percentile and standard deviation") {
  Fixture f;
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
  Fixture f;
  Statement statement(f.database,
                      "SELECT median(b) FROM (SELECT 1 AS a, 10 AS b UNION ALL SELECT 2, 20 UNION ALL SELECT 1, 30) "
                      "GROUP BY a ORDER BY a");
  REQUIRE(statement.step());
  CHECK(statement.real(0) == 20);
  REQUIRE(statement.step());
  CHECK(statement.real(0) == 20);
}

TEST_CASE("regexp finds anywhere, and says what is wrong with a pattern") {
  Fixture f;
  CHECK(f.value("'ncclDevKernel_Generic' REGEXP 'Dev(Kernel|Op)'") == "1");
  CHECK(f.value("'abc' REGEXP '^b'") == "0");
  CHECK(f.value("NULL REGEXP 'a'") == "NULL");
  CHECK_THROWS_AS(f.value("'a' REGEXP '['"), Error);
}

TEST_CASE("human_ns") {
  Fixture f;
  CHECK(f.value("human_ns(512)") == "512 ns");
  CHECK(f.value("human_ns(1234)") == "1.234 us");
  CHECK(f.value("human_ns(-2500000)") == "-2.500 ms");
  CHECK(f.value("human_ns(NULL)") == "NULL");
}

}  // namespace tracedb
