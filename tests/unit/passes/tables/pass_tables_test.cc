// What all tables of passes have in common.
#include "passes/tables/pass_tables.h"

#include <doctest/doctest.h>

#include <set>

#include "sql/scripts.h"
#include "support/asked_passes.h"

namespace tracedb {

TEST_CASE("every table is declared whole, under a name of its own") {
  Database schema(":memory:", Database::Mode::kMemory);
  schema.execute(script("core"));
  schema.execute(script("views"));
  std::set<std::string_view> names;
  for (const PassTable& table : pass_tables()) {
    CAPTURE(table.name);
    CHECK(names.insert(table.name).second);
    CHECK_FALSE(table.meaning.empty());
    std::set<std::string_view> columns;
    for (const PassColumn& column : table.columns) {
      CAPTURE(column.name);
      CHECK(columns.insert(column.name).second);
      CHECK_FALSE(column.meaning.empty());
    }
    Statement taken(schema, "SELECT 1 FROM sqlite_schema WHERE name = ?");
    taken.bind(1, table.name);
    CHECK_FALSE(taken.step());
  }
}

TEST_CASE("SQL sees the columns as declared, and can join tables of passes with those of the index") {
  const ChangedIndex small;
  for (const PassTable& table : pass_tables()) {
    CAPTURE(table.name);
    std::string expected;
    for (const PassColumn& column : table.columns) {
      if (!column.is_in_table) continue;
      expected += (expected.empty() ? "" : "; ") + std::string(column.name) + " " + std::string(to_string(column.type));
    }
    CHECK(ask_passes(small.index, "SELECT name, type FROM pragma_table_info('" + std::string(table.name) + "')") ==
          expected);
    CHECK_NOTHROW(ask_passes(small.index, "SELECT * FROM " + std::string(table.name)));
  }
  CHECK(ask_passes(small.index,
                   "SELECT n.short_name, c.class FROM kernel_classes c JOIN kernel_name n ON n.id = c.name_id "
                   "ORDER BY n.id") == "gemm dense_gemm; ncclAllReduce communication");
}

TEST_CASE("a table that no statement reads costs nothing, and one that several read is made once") {
  const ChangedIndex small;
  const ActiveRules broken("no such rules");
  Workload workload(small.index, broken);
  const PassOptions options;
  add_pass_tables(workload, options);
  CHECK(rows_of(small.index, "SELECT count(*) FROM timeline") == "1");
  CHECK(workload.take_notes().empty());
  CHECK_THROWS_WITH_AS(rows_of(small.index, "SELECT * FROM ops"), doctest::Contains("no such rules"), Error);
  CHECK(rows_of(small.index, "SELECT count(*) FROM timeline a JOIN timeline b") == "1");
}

TEST_CASE("a table has the options it was added with, whatever becomes of the object that held them") {
  const ChangedIndex small;
  const ActiveRules rules;
  Workload workload(small.index, rules);
  PassOptions options;
  options.sequence_length = 2;
  options.sequence_least = 1;
  add_pass_tables(workload, options);
  options.sequence_length = 50;
  CHECK(rows_of(small.index, "SELECT count(*) > 0 FROM sequences") == "1");
}

}  // namespace tracedb
