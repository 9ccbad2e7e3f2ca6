#include "sql/temp_table.h"

#include <doctest/doctest.h>
#include <sqlite3.h>

#include "base/error.h"

namespace tracedb {
namespace {

// While a statement that was interrupted is not at its end, every other statement fails as well.
class Interrupted {
 public:
  explicit Interrupted(Database& database)
      : endless_(database, "WITH t(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t) SELECT i FROM t") {
    endless_.step();
    sqlite3_interrupt(database.handle());
  }

 private:
  Statement endless_;
};

}  // namespace

TEST_CASE("a temporary table holds what was inserted, and the database is closed to writing again") {
  Database database(":memory:", Database::Mode::kMemory);
  {
    TempTable table(database, "found", "id INTEGER PRIMARY KEY, name TEXT", 2);
    table.insert().bind(1, std::int64_t{7}).bind(2, std::string_view("seven")).run();
  }
  CHECK(database.query_text("SELECT name FROM temp.found WHERE id = 7") == "seven");
  CHECK_THROWS_AS(database.execute("DELETE FROM temp.found"), Error);
}

TEST_CASE("a failure while a temporary table is filled is reported, whatever else fails at its end") {
  Database database(":memory:", Database::Mode::kMemory);
  const auto fill = [&] {
    TempTable table(database, "found", "id INTEGER", 1);
    const Interrupted interrupted(database);
    table.insert().bind(1, std::int64_t{1}).run();
  };
  CHECK_THROWS_AS(fill(), Error);
  TempTable again(database, "found", "id INTEGER", 1);
  again.insert().bind(1, std::int64_t{1}).run();
}

TEST_CASE("a temporary table that cannot be ended is not there, and nothing terminates") {
  Database database(":memory:", Database::Mode::kMemory);
  std::optional<Interrupted> interrupted;
  {
    TempTable table(database, "found", "id INTEGER", 1);
    table.insert().bind(1, std::int64_t{1}).run();
    interrupted.emplace(database);
  }
  interrupted.reset();
  TempTable again(database, "found", "id INTEGER", 1);
  again.insert().bind(1, std::int64_t{1}).run();
}

}  // namespace tracedb
