#include "sql/tables/set_table.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <string>

#include "base/error.h"

namespace tracedb {
namespace {

// Databases in memory: member i has the values 100 i to 100 i + 99, and "even" or "odd" beside each; its label is i.
class Hundreds : public DatabaseSet {
 public:
  Hundreds(std::size_t members, std::size_t threads) : members_(members), threads_(threads) {}

  std::size_t size() const override { return members_; }
  const std::vector<LabelColumn>& label_columns() const override {
    static const std::vector<LabelColumn> kSetColumns = {{"member", "INTEGER", ""}, {"name", "TEXT", ""}};
    return kSetColumns;
  }
  std::vector<SqlValue> known_labels(std::size_t member) const override { return {std::int64_t(member), {}}; }
  std::vector<SqlValue> labels(std::size_t member, Database&) const override {
    return {std::int64_t(member), member % 2 == 0 ? SqlValue("m" + std::to_string(member)) : SqlValue()};
  }
  std::shared_ptr<Database> open(std::size_t member) override {
    ++opened;
    if (member == broken) throw Error(ErrorCode::kInput, "broken");
    auto database = std::make_shared<Database>(":memory:", Database::Mode::kMemory);
    database->execute(fmt::format(
        "CREATE TABLE t (x INTEGER PRIMARY KEY, parity TEXT, raw); WITH RECURSIVE n(x) AS (SELECT {} UNION ALL SELECT "
        "x + 1 "
        "FROM n LIMIT 100) INSERT INTO t SELECT x, iif(x % 2, 'odd', 'even'), iif(x % 10, x'00ff', NULL) FROM n;"
        "CREATE VIEW v AS SELECT x, abs(x) + {} AS fails FROM t",
        100 * member, member == overflowing ? "9223372036854775807" : "0"));
    return database;
  }
  void leave_out(std::size_t member, const Error&) override { ++left_out[member]; }
  std::size_t threads() const override { return threads_; }
  const std::atomic<bool>* cancelled() const override { return &cancel; }

  static constexpr std::size_t kNone = 1'000'000;
  std::atomic<std::size_t> opened = 0;
  std::size_t broken = kNone, overflowing = kNone;
  std::map<std::size_t, int> left_out;
  std::atomic<bool> cancel = false;

 private:
  std::size_t members_, threads_;
};

const SetTable kTable = {"t", "", {{"x", "INTEGER"}, {"parity", "TEXT"}, {"raw", ""}}};

struct SetFixture {
  explicit SetFixture(std::size_t members, std::size_t threads = 1) : set(members, threads) {
    add_table_of_all(database, set, kTable);
  }
  std::string text(const std::string& sql) { return database.query_text(sql).value_or("NULL"); }
  std::string all_of(const std::string& sql) {
    Statement statement(database, sql);
    std::string out;
    while (statement.step()) {
      for (int c = 0; c < statement.column_count(); ++c) {
        out += statement.is_null(c) ? "NULL " : std::string(statement.text(c)) + ' ';
      }
      out += "| ";
    }
    return out;
  }
  std::size_t opened_by(const std::string& sql) {
    const std::size_t before = set.opened;
    database.execute(sql);
    return set.opened - before;
  }

  Hundreds set;
  Database database{":memory:", Database::Mode::kMemory};
};

}  // namespace

TEST_CASE("a table of all has the rows of every database in order, whatever the number of threads") {
  for (const std::size_t threads : {1U, 2U, 7U}) {
    SetFixture fixture(20, threads);
    CHECK(fixture.text("SELECT count(*) || ' ' || sum(x) || ' ' || sum(member) FROM all_t") == "2000 1999000 19000");
    CHECK(fixture.text(
              "SELECT max(x - row) || min(x - row) FROM (SELECT x, row_number() OVER () - 1 AS row FROM all_t)") ==
          "00");
    CHECK(fixture.text("SELECT count(*) || hex(max(raw)) || count(raw) FROM all_t") == "200000FF1800");
    CHECK(fixture.text("SELECT group_concat(n) FROM (SELECT count(*) n FROM all_t GROUP BY member % 3)") ==
          "700,700,600");
    CHECK(fixture.text("SELECT x FROM all_t LIMIT 1 OFFSET 1234") == "1234");
    CHECK(fixture.text(
              "SELECT count(*) || ' ' || min(n) || ' ' || max(n) || ' ' || sum(n) FROM (SELECT count(*) n FROM all_t "
              "GROUP BY member, parity)") == "40 50 50 2000");
    CHECK(fixture.text(
              "SELECT group_concat(member || parity) FROM (SELECT member, parity FROM all_t WHERE member < 2 GROUP BY "
              "parity, member ORDER BY member, parity DESC)") == "0odd,0even,1odd,1even");
    CHECK(fixture.text("SELECT count(*) FROM (SELECT DISTINCT member, raw FROM all_t)") == "40");
    CHECK(fixture.text(
              "SELECT group_concat(x) FROM (SELECT x FROM all_t WHERE parity = 'odd' ORDER BY x DESC LIMIT 3)") ==
          "1999,1997,1995");
    CHECK(fixture.text("SELECT count(DISTINCT parity) FROM all_t") == "2");
    CHECK(fixture.text("SELECT group_concat(parity) FROM (SELECT DISTINCT parity FROM all_t WHERE x > 150)") ==
          "odd,even");
  }
}

TEST_CASE("conditions give the same rows as they give of a plain table") {
  SetFixture fixture(5);
  fixture.database.execute("CREATE TABLE plain AS SELECT * FROM all_t");
  for (const char* condition : {"x = 205",
                                "x = '205'",
                                "x IN (1, 2, '3', 499, NULL)",
                                "parity = 'odd'",
                                "parity LIKE 'EV%'",
                                "parity GLOB 'EV*'",
                                "parity GLOB 'o*'",
                                "parity = 'ODD' COLLATE NOCASE",
                                "raw IS NULL",
                                "raw IS NOT NULL",
                                "raw IS x'00ff'",
                                "raw != x'00ff'",
                                "x > 450.5",
                                "x >= '450'",
                                "x BETWEEN 99 AND 101",
                                "x IS 7",
                                "member = 3",
                                "member = '3'",
                                "member > 2.5",
                                "member IN (0, 4)",
                                "name = 'm2'",
                                "name > 'm0'",
                                "name IS NULL",
                                "name IN ('m0', 'x')",
                                "name = 4",
                                "member = NULL",
                                "member IN (SELECT member FROM all_t WHERE x = 320)",
                                "rowid > 450",
                                "x = name",
                                "x = member",
                                "parity IN (SELECT 'even') AND member <= 1",
                                "NOT parity = 'even' AND x < 10",
                                "x < 3 OR x > 497"}) {
    CAPTURE(condition);
    const std::string sum = fmt::format("count(*) || ' ' || total(x) FROM %s WHERE {}", condition);
    const auto of = [&](const char* table) {
      std::string sql = "SELECT " + sum;
      return fixture.text(sql.replace(sql.find("%s"), 2, table));
    };
    CHECK(of("all_t") == of("plain"));
  }
}

TEST_CASE("databases that a condition excludes are not read, and unknown ones are not opened") {
  SetFixture fixture(20);
  CHECK(fixture.opened_by("SELECT * FROM all_t WHERE member = 7") == 1);
  CHECK(fixture.opened_by("SELECT * FROM all_t WHERE member IN (7, 8) AND x > 0") == 2);
  CHECK(fixture.opened_by("SELECT * FROM all_t WHERE member >= 15") == 5);
  CHECK(fixture.opened_by("SELECT count(*) FROM all_t") == 20);
  CHECK(fixture.opened_by("SELECT * FROM all_t LIMIT 1") == 1);
}

TEST_CASE("a database that cannot be read is left out, and a statement that fails ends") {
  for (const std::size_t threads : {1U, 3U}) {
    SetFixture fixture(9, threads);
    fixture.set.broken = 4;
    CHECK(fixture.text("SELECT count(*) FROM all_t") == "800");
    CHECK(fixture.set.left_out == std::map<std::size_t, int>{{4, 1}});
    fixture.set.overflowing = 6;
    add_table_of_all(fixture.database, fixture.set, {"v", "", {{"x", "INTEGER"}, {"fails", ""}}});
    CHECK(fixture.text("SELECT sum(x) > 0 FROM all_v") == "1");
    fixture.set.cancel = true;
    CHECK_THROWS_WITH_AS(fixture.database.execute("SELECT sum(x) FROM all_t"), "interrupted", Error);
  }
}

TEST_CASE("a schema has the tables of one database") {
  class One : public Hundreds {
   public:
    One() : Hundreds(1, 1) {}
    const std::vector<LabelColumn>& label_columns() const override {
      static const std::vector<LabelColumn> kNoLabels;
      return kNoLabels;
    }
    std::vector<SqlValue> known_labels(std::size_t) const override { return {}; }
    std::vector<SqlValue> labels(std::size_t, Database&) const override { return {}; }
  } one;
  Database database(":memory:", Database::Mode::kMemory);
  add_schema(database, one, "a \"b\"", std::vector{kTable});
  CHECK(database.query_int64(R"(SELECT sum(x) FROM "a ""b""".t WHERE parity = 'odd')") == 2500);
  CHECK(database.query_int64(R"(SELECT count(*) FROM "a ""b""".t a JOIN t b ON a.x = b.x + 1)") == 99);
  CHECK(database.query_text("SELECT group_concat(x) FROM (SELECT x FROM t WHERE x < 6 ORDER BY parity, x DESC)") ==
        "4,2,0,5,3,1");
  CHECK(database.query_int64("SELECT sum(n) FROM (SELECT count(*) n FROM t GROUP BY parity HAVING n = 50)") == 100);
  one.broken = 0;
  CHECK_THROWS_WITH_AS(database.execute("SELECT * FROM t"), "broken", Error);
}

}  // namespace tracedb
