#include "sql/user/user_sql.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "sql/database.h"
#include "sql/safety.h"
#include "sql/user/functions.h"
#include "support/refused.h"
#include "support/small_index.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

struct UserSqlFixture {
  Database database{":memory:", Database::Mode::kMemory};
  UserSqlFixture() {
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

TEST_CASE("several statements, comments, parameters") {
  UserSqlFixture fixture;
  CHECK(fixture.answer("SELECT 1; -- one\n ;; SELECT id FROM kernel; -- end") == "1 1 2 3");
  CHECK(fixture.answer("SELECT :n + 1; SELECT $t", {{"n", "41"}, {"t", "'); drop table kernel"}}) ==
        "42 '); drop table kernel");
  CHECK(fixture.answer("SELECT typeof(:x)", {{"x", "1.5"}}) == "real");
  CHECK(fixture.answer("SELECT value FROM json_each('[4,5]')") == "4 5");
  CHECK(fixture.answer("PRAGMA user_version") == "0");
  CHECK(fixture.answer("-- nothing").empty());
}

TEST_CASE("errors name the statement and the place") {
  UserSqlFixture fixture;
  CHECK(fixture.answer("SELECT 1;\nSELECT 2,\n  nme FROM kernel")
            .starts_with("error: SQL statement 2, line 3, column 3: no such column: nme; kernel has id, ts, dur,"));
  CHECK(fixture.answer("SELECT :x").find(":x has no value") != std::string::npos);
  CHECK(fixture.answer("SELECT ?1").find("parameter ?1 has no value") != std::string::npos);
  CHECK(fixture.answer("SELECT ?").find("must have names") != std::string::npos);
  CHECK(fixture.answer(std::string("SELECT 1;\n\0", 11)) ==
        "error: SQL line 2, column 1: a NUL byte; SQL is plain text");
  CHECK(fixture.answer(std::string("SELECT '\0'", 10)).find("column 9: a NUL byte") != std::string::npos);
  CHECK(fixture.answer("SELECT 'a' REGEXP '('").find("regular expression") != std::string::npos);
}

TEST_CASE("what is unknown is compared with what there is") {
  UserSqlFixture fixture;
  const auto hint = [&](const char* sql) {
    const std::string answer = fixture.answer(sql);
    return answer.substr(std::min(answer.size(), answer.find(';')));
  };
  CHECK(hint("SELECT * FROM kernell") == "; did you mean 'kernel'?");
  CHECK(hint("SELECT * FROM main.kernell") == "; did you mean 'kernel'?");
  CHECK(hint("SELECT k.durr FROM \"KERNEL\" k").starts_with("; did you mean 'dur'?; "));
  CHECK(hint("SELECT duration FROM kernel").starts_with("; did you mean 'dur'?; "));
  CHECK(hint("SELECT id FROM kernel WHERE ts = decode").starts_with("; a text is written in quotes: 'decode'"));
  CHECK(hint("SELECT medain(dur) FROM kernel") == "; did you mean 'median'?");
  CHECK(hint("SELECT short_name FROM kernel").starts_with("; a column of kernel_name, kernel_stats, kernels; "));
  CHECK(hint("SELECT nothing_of_the_kind_at_all FROM kernel").starts_with("; kernel has id, ts, dur,"));
  CHECK(hint("SELECT \"'; x'\".y FROM kernel").find("mean") == std::string::npos);
}

TEST_CASE("a plan is a tree, and nothing runs") {
  UserSqlFixture fixture;
  UserSql sql(fixture.database, "SELECT id FROM kernel; SELECT name_id, sum(dur) FROM kernel GROUP BY 1");
  std::string text;
  while (const auto statement = sql.next({})) {
    CHECK_FALSE(statement->is_explain());
    Statement plan = sql.plan();
    CHECK(plan.is_explain());
    while (plan.step()) text += std::string(plan.text(3)) + '\n';
  }
  CHECK(text == "SCAN kernel\nSCAN kernel\nUSE TEMP B-TREE FOR GROUP BY\n");
}

TEST_CASE("expressions have a depth, and statements a length") {
  UserSqlFixture fixture;
  const auto repeated = [](const std::string& text, int times) {
    std::string out;
    for (int i = 0; i < times; ++i) out += text;
    return out;
  };
  std::vector<std::string> bombs = {
      "SELECT " + repeated("(", 5000) + "1" + repeated(")", 5000),
      "SELECT " + repeated("1+", 100000) + "1",
      "SELECT " + repeated("NOT ", 5000) + "1",
      "SELECT " + repeated("abs(", 3000) + "1" + repeated(")", 3000),
      "SELECT 1 " + repeated("UNION ALL SELECT 1 ", 5000),
      "SELECT * FROM " + repeated("(SELECT * FROM ", 3000) + "kernel" + repeated(")", 3000),
      "SELECT 1 WHERE 1 IN (" + repeated("SELECT 1 WHERE 1 IN (", 3000) + "1" + repeated(")", 3001),
      "SELECT '" + std::string(2 << 20, 'x') + "'",
      "SELECT * FROM kernel" + repeated(", kernel", 100),
      "SELECT " + repeated("1,", 5000) + "1",
      "SELECT json('" + repeated("[", 5000) + repeated("]", 5000) + "')",
  };
  for (const std::string& sql : bombs) {
    CAPTURE(sql.substr(0, 60));
    const std::string answer = fixture.answer(sql);
    CHECK(is_error(answer));
    CHECK(answer.find('\n') == std::string::npos);
  }
}

TEST_CASE("nothing but reading") {
  UserSqlFixture fixture;
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
                              "SELECT fts3_tokenizer('simple')",
                              "SELECT rtreecheck('kernel')"}) {
    CAPTURE(hostile);
    CHECK(is_error(fixture.answer(hostile)));
  }
  CHECK(fixture.answer("SELECT count(*) FROM kernel") == "3");
}

TEST_CASE("printf is SQLite's, but makes no text that is too long") {
  UserSqlFixture fixture;
  const char* usual =
      "printf('%d|%5d|%-5d|%05.1f|%s|%.3s|%%|%,d|%q|%Q|%w|%x|%c|%*d|%.*f|%lld|%n', 42, 42, 42, 3.14159, 'text', "
      "'longer', "
      "1234567, 'it''s', 'it''s', 'a\"b', 255, 'c', 8, 1, 2, 2.71828, 9007199254740993)";
  Database own(":memory:", Database::Mode::kMemory);
  CHECK(fixture.answer(std::string("SELECT ") + usual) == own.query_text(std::string("SELECT ") + usual));
  CHECK(
      fixture.answer("SELECT format('%s', NULL) || typeof(printf(NULL)) || printf('%d') || length(printf('%.*c', -50, "
                     "'x'))") == own.query_text("SELECT format('%s', NULL) || typeof(printf(NULL)) || printf('%d') || "
                                                "length(printf('%.*c', -50, 'x'))"));
  SqlLimits limits;
  limits.value_bytes = 1 << 20;
  CHECK(fixture.answer("SELECT length(printf('%.*c', 1000000, 'x'))", {}, limits) == "1000000");
  for (const char* sql :
       {"printf('%.*c', 2000000000, 'x')", "printf('%2000000000d', 1)", "format('%-*s', -2000000000, 'x')",
        "printf('%700000d%700000d', 1, 2)", "printf('%.99999999999999999999f', 1.5)",
        "printf('%s%s', printf('%700000d', 1), printf('%700000d', 1))", "printf('%*d', -9223372036854775807 - 1, 1)"}) {
    CAPTURE(sql);
    CHECK(fixture.answer(std::string("SELECT length(") + sql + ")", {}, limits).find("too big") != std::string::npos);
  }
}

TEST_CASE("whatever a function of SQLite's says is the statement's fault") {
  const TempDirectory folder;
  write_small_index(folder / "x.tracedb");
  const Index index = Index::open(folder / "x.tracedb");
  const SqlGuard guard(index.database(), {});
  for (const char* sql : {"SELECT rtreecheck('kernel')", "SELECT rtreecheck('main', 'nothing')", "SELECT json('{')",
                          "SELECT abs(-9223372036854775808)", "SELECT * FROM dbstat", "SELECT rtreedepth(x'')",
                          "SELECT like('a', 'b', 'cc')", "SELECT printf('%s', zeroblob(1000000000))"}) {
    CAPTURE(sql);
    UserSql statements(index.database(), sql);
    const auto run = [&] {
      while (auto statement = statements.next({})) {
        while (statements.step(*statement)) {
        }
      }
    };
    CHECK_THROWS_WITH_AS(run(), doctest::Contains("SQL statement 1, line 1"), Error);
  }
}

TEST_CASE("a deadline ends what never ends") {
  Watchdog watchdog(std::chrono::milliseconds(50), [] {});
  UserSqlFixture fixture;
  fixture.database.end_by(watchdog);
  CHECK(fixture.answer("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c")
            .find("time limit") != std::string::npos);
  // What would run inside one function call is refused instead.
  UserSqlFixture without_deadline;
  CHECK(without_deadline.answer(R"(SELECT regexp('(.*)(.*)(.*)(.*)\1\2\3\4x', printf('%.*c', 300, 'a')))")
            .find("references back") != std::string::npos);
}

using std::chrono::milliseconds;

constexpr const char* kEndless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c";
// Few operations of the virtual machine, each of which takes long.
constexpr const char* kSlowCalls =
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT sum(length(printf('%.*c', 3000000 + x, "
    "'x'))) FROM c";

// Waits as long as it takes: what never happens is for the limit of the whole test to find.
void wait_for(const std::atomic<bool>& flag) {
  while (!flag) std::this_thread::sleep_for(milliseconds(1));
}

bool is_ended(Database& database, const char* sql) {
  return !refused(ErrorCode::kResource, [&] { database.execute(sql); }).empty();
}

TEST_CASE("statements end when the time is up, and those after them too") {
  Watchdog watchdog(milliseconds(20), [] {});
  Database first(":memory:", Database::Mode::kMemory), second(":memory:", Database::Mode::kMemory);
  first.end_by(watchdog);
  second.end_by(watchdog);
  CHECK(is_ended(first, kEndless));
  CHECK(watchdog.time_is_up());
  CHECK(is_ended(second, kSlowCalls));
  CHECK(is_ended(first, kEndless));
}

TEST_CASE("what looks at nothing is left to the last resort") {
  std::atomic<bool> last = false;
  const Watchdog watchdog(milliseconds(1), [&] { last = true; });
  wait_for(last);
  CHECK(watchdog.time_is_up());
}

TEST_CASE("the last resort is for those who do not end") {
  bool last = false;
  {
    const Watchdog watchdog(std::chrono::hours(1), [&] { last = true; });
  }
  CHECK_FALSE(last);
}

TEST_CASE("a database may end before its watchdog") {
  Watchdog watchdog(milliseconds(10), [] {});
  { Database(":memory:", Database::Mode::kMemory).end_by(watchdog); }
  Database database(":memory:", Database::Mode::kMemory);
  database.end_by(watchdog);
  CHECK(is_ended(database, kEndless));
}

TEST_CASE("the clock can be made to stand still") {
  Watchdog watchdog(std::chrono::hours(1), [] {});
  watchdog.pause();
  watchdog.pause();
  watchdog.resume();
  watchdog.resume();
  watchdog.pause();
  CHECK_FALSE(watchdog.time_is_up());
}

}  // namespace
}  // namespace tracedb
