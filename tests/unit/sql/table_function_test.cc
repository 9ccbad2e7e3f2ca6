#include "sql/table_function.h"

#include <doctest/doctest.h>

#include <array>
#include <stdexcept>

#include "base/error.h"

namespace tracedb {
namespace {

constexpr std::array<TableColumn, 3> kColumns = {{{"id", ColumnType::kInteger, "", "number"},
                                                  {"share", ColumnType::kReal, "percent", "part"},
                                                  {"name", ColumnType::kText, "", "text"}}};

struct Fixture {
  Database database{":memory:", Database::Mode::kMemory};
  int fills = 0;

  void add(FillTable fill) {
    add_table_function(database, "found", kColumns, [this, fill = std::move(fill)](TableRows& rows) {
      ++fills;
      fill(rows);
    });
  }
};

void three_rows(TableRows& rows) {
  rows.add(1).add(0.5).add("one").add(2).add_null().add(std::string("two\0x", 5));
  rows.add(std::optional<int>()).add(std::optional(2.5)).add(std::optional<std::string_view>("one"));
}

}  // namespace

TEST_CASE("a table is filled when a statement reads it, and once") {
  Fixture fixture;
  fixture.add(three_rows);
  const Statement prepared(fixture.database, "SELECT * FROM found");
  CHECK(fixture.fills == 0);
  CHECK(fixture.database.query_int64("SELECT count(*) FROM found") == 3);
  CHECK(fixture.database.query_text("SELECT name FROM found WHERE id = 1") == "one");
  CHECK(fixture.database.query_int64("SELECT length(CAST(name AS BLOB)) FROM found WHERE id = 2") == 5);
  CHECK(fixture.database.query_int64("SELECT count(*) FROM found a JOIN found b ON a.name = b.name") == 5);
  CHECK(fixture.database.query_text("SELECT group_concat(typeof(id) || typeof(share) || typeof(name)) FROM found") ==
        "integerrealtext,integernulltext,nullrealtext");
  CHECK(fixture.fills == 1);
}

TEST_CASE("nobody can write to it, and the database's own tables come first") {
  Fixture fixture;
  fixture.add(three_rows);
  for (const char* sql : {"DELETE FROM found", "INSERT INTO found VALUES (1, 2, 3)", "DROP TABLE found",
                          "CREATE VIRTUAL TABLE other USING found"}) {
    CHECK_THROWS_AS(fixture.database.execute(sql), Error);
  }
  fixture.database.execute("CREATE TABLE found (own)");
  CHECK(fixture.database.query_int64("SELECT count(own) FROM found") == 0);
  CHECK(fixture.fills == 0);
}

TEST_CASE("what the filling throws is what the statement throws") {
  Fixture fixture;
  fixture.add([](TableRows&) { throw Error(ErrorCode::kInput, "the layers are gone"); });
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      (void)fixture.database.query_int64("SELECT count(*) FROM found");
      FAIL("no error");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::kInput);
      CHECK(std::string_view(error.what()) == "the layers are gone");
    }
  }
  CHECK(fixture.database.query_int64("SELECT 7") == 7);
  Fixture torn;
  torn.add([](TableRows& rows) { rows.add(1); });
  CHECK_THROWS_AS((void)torn.database.query_int64("SELECT count(*) FROM found"), Error);
}

TEST_CASE("it may read the database that reads it") {
  Fixture fixture;
  fixture.database.execute("CREATE TABLE own (x); INSERT INTO own VALUES (3), (4)");
  fixture.add([&](TableRows& rows) {
    Statement own(fixture.database, "SELECT x FROM own");
    while (own.step()) rows.add(own.int64(0)).add_null().add_null();
  });
  CHECK(fixture.database.query_int64("SELECT sum(id) FROM own JOIN found ON id = x") == 7);
}

}  // namespace tracedb
