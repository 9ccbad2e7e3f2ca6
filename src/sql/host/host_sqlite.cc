#include "sql/host/host_sqlite.h"

#include <fmt/format.h>
#include <sqlite3ext.h>

#include <mutex>
#include <utility>

const sqlite3_api_routines* sqlite3_api = nullptr;  // host_functions.h

namespace tracedb {

void use_host_sqlite(const sqlite3_api_routines* routines) {
  constexpr int kOldest = 3'040'000;  // what the statements of the passes are written for
  if (routines->libversion_number() < kOldest) {
    throw Error(ErrorCode::kUsage,
                fmt::format("tracedb needs SQLite 3.40 or later; this program has {}", routines->libversion()));
  }
  static std::mutex loading;  // on several threads at once
  const std::lock_guard lock(loading);
  if (sqlite3_api != nullptr && sqlite3_api != routines) {
    throw Error(
        ErrorCode::kUsage,
        "this process has two copies of SQLite, and tracedb was loaded into the other one first: use one of them");
  }
  sqlite3_api = routines;
}

int fail_loading(const sqlite3_api_routines* routines, char** message, std::string_view text) {
  if (message != nullptr) *message = routines->mprintf("%.*s", static_cast<int>(text.size()), text.data());
  return SQLITE_ERROR;
}

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
