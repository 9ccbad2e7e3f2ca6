#include "sql/tables/table_function.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"

namespace tracedb {
namespace {

constexpr std::array<TableColumn, 3> kTestColumns = {{{"id", ColumnType::kInteger, "", "number"},
                                                      {"share", ColumnType::kReal, "percent", "part"},
                                                      {"name", ColumnType::kText, "", "text"}}};

struct TableFixture {
  Database database{":memory:", Database::Mode::kMemory};
  int fills = 0;

  void add(FillTable fill) {
    add_table_function(database, "found", kTestColumns, [this, fill = std::move(fill)](TableRows& rows) {
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
  TableFixture fixture;
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
  TableFixture fixture;
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
  TableFixture fixture;
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
  TableFixture torn;
  torn.add([](TableRows& rows) { rows.add(1); });
  CHECK_THROWS_AS((void)torn.database.query_int64("SELECT count(*) FROM found"), Error);
}

TEST_CASE("columns and rows that no statement reads may be left out") {
  Database database(":memory:", Database::Mode::kMemory);
  std::vector<std::size_t> fills;  // rows of each
  const auto fill = [&](TableRows& rows) {
    const std::size_t all = 9;
    const std::size_t most = rows.most();
    fills.push_back(most == 0 ? all : std::min(most, all));
    const bool name = rows.wants(2);
    for (std::size_t i = 0; i < fills.back(); ++i) {
      rows.add(all - i).add(0.5);
      name ? rows.add("x") : rows.add_null();
    }
  };
  add_table_function(database, "found", kTestColumns, fill, {{0, true}, {1}});
  const auto sum = [&](const std::string& sql) { return database.query_int64("SELECT sum(id) FROM (" + sql + ")"); };
  CHECK(sum("SELECT id FROM found ORDER BY id DESC LIMIT 2") == 17);
  CHECK(sum("SELECT id FROM found ORDER BY id DESC, share LIMIT 1 OFFSET 2") == 7);
  CHECK(sum("SELECT id FROM found LIMIT 1") == 9);
  CHECK(sum("SELECT id FROM found ORDER BY id DESC LIMIT 0") == std::nullopt);
  CHECK(fills == std::vector<std::size_t>{2, 3});
  CHECK(sum("SELECT id FROM found ORDER BY id LIMIT 2") == 3);  // another order: all rows, from now on
  CHECK(sum("SELECT id FROM found WHERE id < 9 ORDER BY id DESC LIMIT 2") == 15);
  CHECK(sum("SELECT id FROM found ORDER BY id DESC LIMIT -1") == 45);
  CHECK(fills == std::vector<std::size_t>{2, 3, 9});
  CHECK(sum("SELECT id, name FROM found WHERE name = 'x' ORDER BY id DESC LIMIT 2") == 17);
  CHECK(fills == std::vector<std::size_t>{2, 3, 9, 9});
  CHECK(sum("SELECT a.id FROM found a JOIN found b ON b.id = a.id - 1 ORDER BY a.id DESC LIMIT 3") == 24);
  CHECK(fills.size() == 4);
}

TEST_CASE("it may read the database that reads it") {
  TableFixture fixture;
  fixture.database.execute("CREATE TABLE own (x); INSERT INTO own VALUES (3), (4)");
  fixture.add([&](TableRows& rows) {
    Statement own(fixture.database, "SELECT x FROM own");
    while (own.step()) rows.add(own.int64(0)).add_null().add_null();
  });
  CHECK(fixture.database.query_int64("SELECT sum(id) FROM own JOIN found ON id = x") == 7);
}

}  // namespace tracedb
