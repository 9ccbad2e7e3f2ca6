#include "sql/temp_table.h"

#include <fmt/format.h>

#include <string>

namespace tracedb {
namespace {

// The index is opened so that nothing can be written, temporary tables included.
Statement opened(Database& database, std::string_view name, std::string_view columns, int count) {
  database.try_execute("ROLLBACK");  // of a table before, whose end failed
  database.execute(
      fmt::format("PRAGMA query_only=OFF; PRAGMA temp_store=MEMORY; DROP TABLE IF EXISTS temp.{0};"
                  "CREATE TEMP TABLE {0} ({1}); BEGIN",
                  name, columns));
  std::string marks = "?";
  for (int i = 1; i < count; ++i) marks += ", ?";
  return {database, fmt::format("INSERT INTO temp.{} VALUES ({})", name, marks)};
}

}  // namespace

TempTable::TempTable(Database& database, std::string_view name, std::string_view columns, int count)
    : database_(database), insert_(opened(database, name, columns, count)) {}

TempTable::~TempTable() {
  if (!database_.try_execute("COMMIT")) database_.try_execute("ROLLBACK");
  database_.try_execute("PRAGMA query_only=ON");
}

}  // namespace tracedb
