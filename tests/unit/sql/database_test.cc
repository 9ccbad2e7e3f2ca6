// A statement of ours that is wrong is never the index's fault; a table that is gone is.
#include <doctest/doctest.h>

#include <string>

#include "base/error.h"
#include "support/small_index.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

std::string failure(const std::filesystem::path& path, const char* sql, ErrorCode code) {
  Database database(path, Database::Mode::kReadOnly);
  try {
    database.execute(sql);
  } catch (const Error& error) {
    CHECK(error.code() == code);
    return error.what();
  }
  return {};
}

bool says(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

}  // namespace

TEST_CASE("wrong statements on a sound index are internal errors") {
  const TempDirectory folder;
  const auto path = folder / "x.tracedb";
  {
    Database database(path, Database::Mode::kCreate);
    fill_small_index(database, SmallIndexContent::kRows);
  }
  for (const char* sql : {"SELECT nothing FROM kernel", "SELECT 1 FROM temp.kernel_class", "SELECT"}) {
    const std::string text = failure(path, sql, ErrorCode::kResource);
    CHECK(says(text, "internal error"));
    CHECK(says(text, sql));
    CHECK_FALSE(says(text, "damaged"));
  }
  CHECK(says(failure(path, "SELECT sum(9223372036854775807) FROM kernel", ErrorCode::kInput), "impossible value"));
  Database(path, Database::Mode::kReadWrite).execute("DROP VIEW kernels; ALTER TABLE kernel DROP COLUMN graph_id");
  const std::string text = failure(path, "SELECT graph_id FROM kernel", ErrorCode::kInput);
  CHECK(says(text, "damaged"));
  CHECK(says(text, "table kernel"));
}

}  // namespace tracedb
