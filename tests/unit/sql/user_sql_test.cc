#include "sql/user_sql.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "sql/functions.h"
#include "sql/safety.h"
#include "support/small_index.h"

namespace tracedb {
namespace {

struct Fixture {
  Database database{":memory:", Database::Mode::kMemory};
  Fixture() {
    register_functions(database);
    fill_small_index(database, SmallIndexContent::kRows);
    harden(database);
  }

  // First column of every row, joined; or "error: ...".
  std::string answer(const std::string& text, const std::map<std::string, std::string>& parameters = {},
                     const SqlLimits& limits = {}) {
    try {
      const SqlGuard guard(database, limits);
      UserSql sql(database, text);
      std::string rows;
      while (auto statement = sql.next(parameters)) {
        while (sql.step(*statement)) rows += (rows.empty() ? "" : " ") + std::string(statement->text(0));
      }
      return rows;
    } catch (const Error& error) {
      return std::string("error: ") + error.what();
    }
  }
};

bool is_error(const std::string& answer) { return answer.starts_with("error: "); }

}  // namespace

TEST_CASE("several statements, comments, parameters") {
  Fixture fixture;
  CHECK(fixture.answer("SELECT 1; -- one\n ;; SELECT id FROM kernel; -- end") == "1 1 2 3");
  CHECK(fixture.answer("SELECT :n + 1; SELECT $t", {{"n", "41"}, {"t", "'); drop table kernel"}}) ==
        "42 '); drop table kernel");
  CHECK(fixture.answer("SELECT typeof(:x)", {{"x", "1.5"}}) == "real");
  CHECK(fixture.answer("SELECT value FROM json_each('[4,5]')") == "4 5");
  CHECK(fixture.answer("PRAGMA user_version") == "0");
  CHECK(fixture.answer("-- nothing").empty());
}

TEST_CASE("errors name the statement and the place") {
  Fixture fixture;
  CHECK(fixture.answer("SELECT 1;\nSELECT 2,\n  nme FROM kernel") ==
        "error: SQL statement 2, line 3, column 3: no such column: nme");
  CHECK(fixture.answer("SELECT :x").find(":x has no value") != std::string::npos);
  CHECK(fixture.answer("SELECT ?1").find("parameter ?1 has no value") != std::string::npos);
  CHECK(fixture.answer("SELECT ?").find("must have names") != std::string::npos);
  CHECK(fixture.answer(std::string("SELECT 1;\n\0", 11)) ==
        "error: SQL line 2, column 1: a NUL byte; SQL is plain text");
  CHECK(fixture.answer(std::string("SELECT '\0'", 10)).find("column 9: a NUL byte") != std::string::npos);
  CHECK(fixture.answer("SELECT 'a' REGEXP '('").find("regular expression") != std::string::npos);
}

TEST_CASE("nothing but reading") {
  Fixture fixture;
  for (const char* hostile : {"DELETE FROM meta",
                              "UPDATE meta SET value = 1",
                              "INSERT INTO meta VALUES ('a', 'b')",
                              "DROP TABLE meta",
                              "CREATE TABLE t (a)",
                              "CREATE TEMP TABLE t (a)",
                              "CREATE VIEW v AS SELECT 1",
                              "CREATE VIRTUAL TABLE t USING fts5(a)",
                              "ALTER TABLE meta RENAME TO m",
                              "VACUUM",
                              "VACUUM INTO '/tmp/tracedb-test-never'",
                              "ATTACH ':memory:' AS x",
                              "DETACH main",
                              "BEGIN",
                              "COMMIT",
                              "SAVEPOINT s",
                              "REINDEX",
                              "ANALYZE",
                              "PRAGMA query_only = OFF",
                              "PRAGMA writable_schema = ON",
                              "PRAGMA user_version = 9",
                              "PRAGMA journal_mode = WAL",
                              "PRAGMA wal_checkpoint",
                              "PRAGMA mmap_size = 1000000",
                              "PRAGMA trusted_schema = ON",
                              "PRAGMA hard_heap_limit = 0",
                              "SELECT load_extension('x')",
                              "SELECT zeroblob(1000000000)",
                              "SELECT randomblob(1000000000)",
                              "SELECT length(hex(printf('%.*c', 60000000, 'x')))",
                              "EXPLAIN DELETE FROM meta",
                              "SELECT fts3_tokenizer('simple')"}) {
    CAPTURE(hostile);
    CHECK(is_error(fixture.answer(hostile)));
  }
  CHECK(fixture.answer("SELECT count(*) FROM kernel") == "3");
}

TEST_CASE("a deadline ends what never ends") {
  Fixture fixture;
  SqlLimits limits;
  limits.timeout = std::chrono::milliseconds(50);
  CHECK(
      fixture
          .answer("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c", {}, limits)
          .find("time limit") != std::string::npos);
  CHECK(fixture.answer("SELECT 1") == "1");
  // What runs inside one function call is refused instead: the deadline is only looked at between operations.
  CHECK(fixture.answer(R"(SELECT regexp('(.*)(.*)(.*)(.*)\1\2\3\4x', printf('%.*c', 300, 'a')))", {}, limits)
            .find("references back") != std::string::npos);
}

}  // namespace tracedb
