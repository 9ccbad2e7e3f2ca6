#include "sql/meta_update.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include "sql/database.h"

namespace tracedb {
namespace {

// A link would lead the writing to a file of another name.
bool is_plain_file(const std::filesystem::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1;
}

bool update_one(sqlite3* handle, const std::string& key, const std::string& value) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(handle, "UPDATE meta SET value = ?2 WHERE key = ?1", -1, &statement, nullptr) != SQLITE_OK) {
    return false;
  }
  sqlite3_bind_text64(statement, 1, key.data(), key.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  sqlite3_bind_text64(statement, 2, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  const int code = sqlite3_step(statement);
  sqlite3_finalize(statement);
  return code == SQLITE_DONE;
}

bool update_all(sqlite3* handle, const std::vector<std::pair<std::string, std::string>>& values) {
  // The schema may be hostile: no triggers, no functions of its making.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  if (sqlite3_exec(handle, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN", nullptr, nullptr, nullptr) !=
      SQLITE_OK) {
    return false;
  }
  for (const auto& [key, value] : values) {
    if (!update_one(handle, key, value)) return false;
  }
  return sqlite3_exec(handle, "COMMIT", nullptr, nullptr, nullptr) == SQLITE_OK;
}

}  // namespace

bool update_meta(const std::filesystem::path& index, const std::vector<std::pair<std::string, std::string>>& values) {
  if (!is_plain_file(index)) return false;
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(database_name(index).c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  const bool written = code == SQLITE_OK && update_all(handle, values);
  sqlite3_close_v2(handle);
  return written;
}

}  // namespace tracedb
