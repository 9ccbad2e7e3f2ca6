#include "sql/meta_update.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include "base/failure.h"
#include "sql/database.h"

namespace tracedb {
namespace {

// A link would lead the writing to a file of another name.
bool is_plain_file(const std::filesystem::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1;
}

}  // namespace

bool update_meta(const std::filesystem::path& index, const std::vector<std::pair<std::string, std::string>>& values) {
  if (!is_plain_file(index)) return false;
  return !catch_error([&] {
    Database database(index, Database::Mode::kReadWrite);
    // The schema may be hostile: no triggers, no functions of its making.
    sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    database.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
    Statement update(database, "UPDATE meta SET value = ?2 WHERE key = ?1");
    for (const auto& [key, value] : values)
      update.bind(1, std::string_view(key)).bind(2, std::string_view(value)).run();
    database.execute("COMMIT");
  });
}

}  // namespace tracedb
