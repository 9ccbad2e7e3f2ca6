#include "sql/host/host_sqlite.h"

#include <sqlite3.h>

#include <utility>

namespace tracedb {

std::optional<std::filesystem::path> main_file(Database& host) {
  const char* name = sqlite3_db_filename(host.handle(), "main");
  return name == nullptr || *name == '\0' ? std::nullopt : std::optional<std::filesystem::path>(name);
}

bool has_main_moved(Database& host) {
  int moved = 0;
  return sqlite3_file_control(host.handle(), "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0;
}

bool has_function(Database& host, const std::string& call) {
  sqlite3_stmt* prepared = nullptr;
  const int code = sqlite3_prepare_v2(host.handle(), ("SELECT " + call).c_str(), -1, &prepared, nullptr);
  sqlite3_finalize(prepared);
  return code == SQLITE_OK;
}

void keep_until_closed(Database& host, std::shared_ptr<void> owned) {
  const auto forget = [](void* own) {
    std::unique_ptr<std::shared_ptr<void>>(static_cast<std::shared_ptr<void>*>(own)).reset();
  };
  const auto none = [](sqlite3_context*, int, sqlite3_value**) {};
  // SQLite destroys what belongs to a function with the connection. Nobody calls a function of this name, or defines
  // another one.
  const int code = sqlite3_create_function_v2(host.handle(), "tracedb: owner", 0, SQLITE_UTF8,
                                              std::make_unique<std::shared_ptr<void>>(std::move(owned)).release(), none,
                                              nullptr, nullptr, forget);
  if (code != SQLITE_OK) host.fail(code, "cannot register a function");
}

}  // namespace tracedb
